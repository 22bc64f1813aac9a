# SPDX-License-Identifier: GPL-2.0
"""A client that sends garbage gets a reset; accept() never returns it.

One that sends what begins no CLC message, in place of a Proposal, is TCP from its first byte on.

covers: CLC-07 ERR-15 ERR-16 TMR-01
"""
from common import requests, serve
from rawpeer import CONFIRM, RawHost

timeout = 60
PORT = 5046


def raw_client(h, port):
    host = RawHost()
    good = host.proposal()
    cases = {
        "wrong type": host.accept_or_confirm(CONFIRM),
        "wrong length": good[:5] + b"\x00\x33" + good[7:],
        "huge length": good[:5] + b"\xff\xff" + good[7:],
        "tiny length": good[:5] + b"\x00\x07" + good[7:],
        "wrong trailer": good[:-1] + b"\x00",
        "nine prefixes": good[:47] + b"\x09" + good[48:],
        "offset outside": good[:38] + b"\x7f\xff" + good[40:],
        "half a proposal": good[:20],
        "silence": b"",
    }
    out = {}
    for name, data in cases.items():
        c = host.connect(h.config["peer4"], port)
        if data:
            c.send(data)
        out[name] = c.ended(h.within(40))
    c = host.connect(h.config["peer4"], port)
    c.send(good)
    msg = c.recv_clc(h.within(20))
    h.equal(msg[4:5], b"\x02", f"Accept ({msg.hex()})")
    c.send(b"this is no confirm" * 4)
    out["no confirm"] = c.ended(h.within(40))
    c = host.connect(h.config["peer4"], port)
    c.send(good)
    msg = c.recv_clc(h.within(20))
    h.equal(msg[4:5], b"\x02", f"Accept ({msg.hex()})")
    c.send(b"no")
    out["no confirm, shorter than a header"] = c.ended(h.within(40))
    # a request of 0 bytes for 4, in two pieces
    c = host.connect(h.config["peer4"], port)
    c.send(b"\0\0\0")
    c.send(b"\0\0\0\0\x04")
    h.equal(len(c.recv(4, h.within(20))), 4, "answer to application data")
    c.close()
    h.equal(c.ended(h.within(20)), "fin", "end of a TCP connection")
    return out


def run(t):
    # the host goes on getting the option
    t.set(t.a, clc_timeout_ms=1500 * t.slow, peer_memory_ms=0)
    s = t.half(t.a, serve, port=PORT, count=4)
    s.expect("listening")
    c = t.half(t.b, raw_client, port=PORT)
    t.wait_all(c)
    wrong = {k: v for k, v in c.value.items() if v != "reset"}
    t.check(not wrong, f"not reset: {wrong}")
    # the server saw one of them and serves good clients
    t.wait_all(t.half(t.b, requests, port=PORT, n=3), s)
    t.no_sockets(t.a, PORT)
