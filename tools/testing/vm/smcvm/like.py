# SPDX-License-Identifier: GPL-2.0
"""Run one script of socket calls on TCP and on SMC, and compare the results."""
from .links import AFAR, afar

PORT = 5400


def both(t, server, client, port, kinds, peers=(None, None)):
    """The results of both halves on sockets of the families KINDS."""
    s = t.half(t.a, server, kinds[0], port=port, peer=peers[1])
    s.expect("listening", t.left())
    c = t.half(t.b, client, kinds[1], port=port, peer=peers[0])
    t.wait_all(s, c)
    return s.value, c.value


def declined(t, server, client, nr_cases, port):
    """The results where both offer SMC and the server declines each connection."""
    for vm in (t.a, t.b):
        t.set(vm, peer_memory_ms=0)
    before = t.stat(t.a, "decline_tx")
    with afar(t):
        got = both(t, server, client, port, (t.family, t.family), AFAR)
    t.check(t.stat(t.a, "decline_tx") >= before + nr_cases, "few connections were declined")
    t.restore("peer_memory_ms")
    return got


def compare(t, server, client, nr_cases):
    """Fail if results on SMC differ from those on TCP."""
    results = {}
    pairs = [("tcp", "tcp"), (t.family, t.family), ("tcp", t.family), (t.family, "tcp")]
    if t.family == "smc":
        pairs += [("inet_smc", "inet_smc"), ("inet_smc", "tcp")]
    for i, kinds in enumerate(pairs):
        t.step(f"server on {kinds[0]}, client on {kinds[1]}")
        results[kinds] = both(t, server, client, PORT + i * (nr_cases + 1), kinds)
    if t.long and t.family == "smc" and t.ipv == 4:
        t.step("declined")
        results["declined"] = declined(t, server, client, nr_cases,
                                       PORT + len(pairs) * (nr_cases + 1))
    bad = []
    for kinds, halves in results.items():
        for side, want, got in zip(("server", "client"), results["tcp", "tcp"], halves):
            for case in want:
                if want[case] != got[case]:
                    differ = [p for p in zip(want[case], got[case]) if p[0] != p[1]]
                    bad.append(f"{case}, {side} of {kinds} (TCP, here): {differ or got[case]}")
    t.check(not bad, "\n  ".join([f"{len(bad)} differences:"] + bad))
