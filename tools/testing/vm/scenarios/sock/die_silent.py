# SPDX-License-Identifier: GPL-2.0
"""connect() fails without fallback if a server is silent, sends garbage or resets.

covers: CLC-13 ERR-14 ERR-15 ERR-16 TMR-01 SEC-08
"""
import errno
import time

from rawpeer import ACCEPT, CONFIRM, RawHost

timeout = 60

# the action of the raw server, and the errno of the client's connect()
CASES = {
    "silent": errno.ETIMEDOUT,
    "half an accept": errno.ETIMEDOUT,
    "garbage": errno.ECONNRESET,
    "wrong type": errno.ECONNRESET,
    "wrong length": errno.ECONNRESET,
    "wrong trailer": errno.ECONNRESET,
    "reset": errno.ECONNRESET,
    "end": errno.ECONNRESET,
    "reset after accept": errno.ECONNRESET,
}


def raw_server(h, port):
    host = RawHost()
    host.listen(port)
    h.mark("listening")
    for case in CASES:
        c = host.accept(port, h.left())
        msg = c.recv_clc(h.within(20))
        h.equal(msg[4:5], b"\x01", f"{case}: Proposal ({msg.hex()})")
        accept = host.accept_or_confirm(ACCEPT)
        if case == "half an accept":
            c.send(accept[:33])
        elif case == "garbage":
            c.send(b"220 mail.example.org ESMTP ready\r\n" * 3)
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
        elif case == "reset after accept":
            c.send(accept)
            c.recv_clc(h.within(20))  # the Confirm
            c.abort()
        if "reset" not in case:
            how = c.ended(h.within(40))
            h.check(how, f"{case}: the client did not end the connection")
            if case == "end":
                continue
            h.equal(how, "reset", f"{case}: end by the client")


def client(h, port):
    """The result of connect() in each case, and its duration."""
    out = {}
    for case in CASES:
        t0 = time.monotonic()
        try:
            h.connect(port, "10.43.0.77").close()
            err = 0
        except OSError as e:
            err = e.errno
        out[case] = (err, round(time.monotonic() - t0, 1))
    return out


def run(t):
    before = t.queue_pairs(t.b)
    t.set(t.b, clc_timeout_ms=1500 * t.slow)
    s = t.half(t.a, raw_server, port=5045)
    s.expect("listening")
    c = t.half(t.b, client, port=5045)
    t.wait_all(s, c)
    wrong = {case: errno.errorcode.get(c.value[case][0], "success")
             for case, want in CASES.items() if c.value[case][0] != want}
    t.check(not wrong, f"connect gave {wrong}, want "
            f"{[errno.errorcode[CASES[case]] for case in wrong]}")
    t.note(f"silent server: {c.value['silent'][1]} s")
    t.no_sockets(t.b, 5045)
    t.wait(lambda: t.queue_pairs(t.b) == before, "end of queue pairs", 10)
