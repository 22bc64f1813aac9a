# SPDX-License-Identifier: GPL-2.0
"""io_uring calls have the same results on TCP, on SMC-R and after a Decline.

The program is guest/uring.c, one process at each end. Zero-copy sends work on all three.

covers: API-01 API-02 API-03
"""
timeout = 150
ipv = (4, 6)

AFAR = ("10.46.0.1", "10.47.0.2")  # of A and B, in different subnets: declined
NOBODY = ("10.43.0.77", "fd43::77")
BULK = 1 << 20


def play(t, program, family, host, port):
    """The lines that the server and the client printed."""
    t.step(f"io_uring over {family}, server {host}")
    args = [family, t.ipv, host, port, NOBODY[t.ipv == 6]]
    procs = [vm.spawn([program, role, *args])
             for vm, role in ((t.a, "server"), (t.b, "client"))]
    t.wait_all(*procs)
    return [p.out.splitlines() for p in procs]


def compare(t, program):
    near = t.a.ip6 if t.ipv == 6 else t.a.ip
    kinds = [("smc", near, 5270)]
    if t.ipv == 4:
        kinds.append(("tcp", AFAR[0], 5280))
    bad = []
    want = play(t, program, "tcp", near, 5260)
    for kind, host, port in kinds:
        before = [t.stat(t.b, k) for k in ("client_smc", "client_tcp", "decline_rx")]
        t.rdma_start()
        got = play(t, program, t.family, host, port)
        after = [t.stat(t.b, k) for k in ("client_smc", "client_tcp", "decline_rx")]
        if kind == "smc":
            t.carried(t.b, BULK)
        if t.family == "smc":
            # a socket that fell back and is dissolved connects as TCP's
            new = [n - m for n, m in zip(after, before)]
            t.equal(new, [27, 0, 0] if kind == "smc" else [0, 26, 26],
                    f"connections with SMC and TCP to {host}, and Declines")
        for side, lines, right in zip(("server", "client"), got, want):
            t.equal(len(lines), len(right), f"lines of the {side}: {lines}")
            bad += [f"{side} to {host}: TCP says {w!r}, here {g!r}"
                    for w, g in zip(right, lines) if w != g]
    t.check(not bad, "\n  ".join([f"{len(bad)} differences:"] + bad))
    t.note(f"{sum(map(len, want))} calls")


def run(t):
    program = t.program("uring", "-luring")
    # each is to be declined
    t.set(t.b, peer_memory_ms=0)
    for vm, own, peer in ((t.a, *AFAR), (t.b, *AFAR[::-1])):
        vm.run(f"ip addr add {own}/24 dev eth0; ip route add {peer} dev eth0 src {own}")
    try:
        compare(t, program)
    finally:
        for vm, own, peer in ((t.a, *AFAR), (t.b, *AFAR[::-1])):
            vm.run(f"ip route del {peer} dev eth0; ip addr del {own}/24 dev eth0")
