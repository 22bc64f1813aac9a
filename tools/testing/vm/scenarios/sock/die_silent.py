# SPDX-License-Identifier: GPL-2.0
"""connect() fails without fallback if a server is silent, sends garbage or resets.

A server or a middlebox may repeat TCP options that it does not know. Where no CLC message
came, the next connect() to the same service is TCP and works.

covers: CLC-13 ERR-14 ERR-15 ERR-16 TMR-01 SEC-08
"""
import errno
import json
import time

from rawpeer import ACCEPT, CONFIRM, RawHost

timeout = 60
PORT, HOST, PEERNOSMC = 5045, "10.43.0.77", 0x03010000

ANSWERED = "reset after accept"
# the action of the raw server, each at a port of its own, and the errno of the client's connect()
CASES = {
    "silent": errno.ETIMEDOUT,
    "half an accept": errno.ETIMEDOUT,
    "garbage": errno.ECONNRESET,
    "echo": errno.ECONNRESET,
    "speaks first": errno.ECONNRESET,
    "wrong type": errno.ECONNRESET,
    "wrong length": errno.ECONNRESET,
    "wrong trailer": errno.ECONNRESET,
    "reset": errno.ECONNRESET,
    "end": errno.ECONNRESET,
    ANSWERED: errno.ECONNRESET,
}


def raw_server(h, port):
    host = RawHost()
    for i in range(len(CASES)):
        host.listen(port + i)
    h.mark("listening")
    for i, case in enumerate(CASES):
        one_case(h, host, port + i, case)
        if case == ANSWERED:
            continue
        c = host.accept(port + i, h.left())
        h.check(not c.peer_offers_smc, f"{case}: offered again")
        c.send(b"plain")
        h.equal(c.ended(h.within(40)), "fin", f"{case}: end of TCP")
        h.equal(c.data, b"TCP", f"{case}: bytes of the client")
        c.close()


def one_case(h, host, port, case):
    c = host.accept(port, h.left())
    if case == "speaks first":
        c.send(b"220 mail.example.org ESMTP ready\r\n")
    msg = c.recv_clc(h.within(20))
    h.equal(msg[4:5], b"\x01", f"{case}: Proposal ({msg.hex()})")
    accept = host.accept_or_confirm(ACCEPT)
    if case == "half an accept":
        c.send(accept[:33])
    elif case == "garbage":
        c.send(b"220 mail.example.org ESMTP ready\r\n" * 3)
    elif case == "echo":
        c.send(msg)
    elif case == "wrong type":
        c.send(host.accept_or_confirm(CONFIRM))
    elif case == "wrong length":
        c.send(accept[:5] + b"\x00\x43" + accept[7:])
    elif case == "wrong trailer":
        c.send(accept[:-1] + b"\x00")
    elif case == "reset":
        c.abort()
    elif case == "end":
        c.close()
    elif case == ANSWERED:
        c.send(accept)
        c.recv_clc(h.within(20))  # the Confirm
        c.abort()
    if "reset" not in case:
        how = c.ended(h.within(40))
        h.check(how, f"{case}: the client did not end the connection")
        if case == "end":
            return
        h.equal(how, "reset", f"{case}: end by the client")


def client(h, port):
    """The result of connect() in each case, and its duration."""
    out = {}
    for i, case in enumerate(CASES):
        t0 = time.monotonic()
        try:
            h.connect(port + i, HOST).close()
            err = 0
        except OSError as e:
            err = e.errno
        out[case] = (err, round(time.monotonic() - t0, 1))
        if case != ANSWERED:
            with h.connect(port + i, HOST) as s:
                h.equal(h.recv_exact(s, 5), b"plain", f"{case}: TCP")
                s.sendall(b"TCP")
    return out


def run(t):
    before = t.queue_pairs(t.b)
    t.set(t.b, clc_timeout_ms=1500 * t.slow)
    s = t.half(t.a, raw_server, port=PORT)
    s.expect("listening")
    c = t.half(t.b, client, port=PORT)
    t.wait_all(s, c)
    wrong = {case: errno.errorcode.get(c.value[case][0], "success")
             for case, want in CASES.items() if c.value[case][0] != want}
    t.check(not wrong, f"connect gave {wrong}, want "
            f"{[errno.errorcode[CASES[case]] for case in wrong]}")
    t.note(f"silent server: {c.value['silent'][1]} s")
    peers = json.loads(t.run_smc(t.b, "peers -j").out)["peers"]
    # an older one may have given its slot to a newer one
    t.check((HOST, PORT + len(CASES) - 2, PEERNOSMC) in
            [(p["peer_address"], p.get("peer_port"), t.reason(p)) for p in peers],
            f"the last service is not remembered: {peers}")
    history = json.loads(t.run_smc(t.b, "history -j").out)["history"]
    t.equal([(r["peer_port"], t.reason(r)) for r in history
             if r["peer_address"] == HOST and r.get("age_ms") and t.reason(r) == PEERNOSMC],
            [(PORT + i, PEERNOSMC) for i in range(len(CASES) - 1)], "history")
    for i in range(len(CASES)):
        t.no_sockets(t.b, PORT + i)
    t.wait(lambda: t.queue_pairs(t.b) == before, "end of queue pairs", 10)
