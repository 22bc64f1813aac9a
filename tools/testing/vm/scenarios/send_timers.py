# SPDX-License-Identifier: GPL-2.0
"""What is held back leaves in time; who waits for its peer's close waits not for ever.

covers: TX-07 TX-08 TMR-16 TMR-18 API-08
"""
import socket

RC_ACK, RST = 0x11, 4
N = 60


def held_client(h, port, how):
    """Bytes that wait for more, and no more come."""
    s = h.connect(port)
    if how == "cork":
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, 1)
    s.send(b"0123456789", socket.MSG_MORE if how == "more" else 0)
    h.mark("sent")
    h.gate("end")
    s.close()


def held_server(h, port):
    c = h.accept(h.listen(port))
    c.settimeout(10 * h.slow)
    h.equal(h.recv_exact(c, 10), b"0123456789", "bytes held back")
    h.mark("got")
    c.settimeout(None)
    h.at_end(c)


def small_client(h, port, nodelay):
    """N small sends in a row; the first byte opens the window of the count."""
    s = h.connect(port)
    h.equal(s.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY), 0, "default of TCP_NODELAY")
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, nodelay)
    h.equal(bool(s.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)), bool(nodelay),
            "TCP_NODELAY")
    h.mark("ready")
    h.gate("go")
    for _ in range(N):
        s.sendall(b"x")
    h.recv_exact(s, 1)
    h.mark("done")
    h.gate("end")
    h.finish(s)


def small_server(h, port):
    c = h.accept(h.listen(port))
    h.recv_exact(c, N)
    c.sendall(b"y")
    h.finish(c)


def coalesced(t, port, nodelay):
    """How many messages N small sends took while each ACK takes its time."""
    s = t.half(t.a, small_server, port=port)
    s.expect("listening")
    c = t.half(t.b, small_client, port=port, nodelay=nodelay)
    t.expect_all("ready", c)
    t.relay.rule(proto="roce", opcode=RC_ACK, frm="a", delay=60)
    sent = t.relay.rule(cdc=1, frm="b")
    c.gate("go")
    t.expect_all("done", c)
    n = t.relay.hits(sent)[0]
    t.relay.unrule()
    c.gate("end")
    t.wait_all(s, c)
    return n


def closing(h, port):
    h.connect(port).close()


def staying(h, port):
    """A peer that sees the end and does not close."""
    c = h.accept(h.listen(port))
    h.at_end(c)
    h.mark("end")
    h.gate("close")
    c.close()


def run(t):
    if t.family != "smc":
        return
    for i, how in enumerate(("more", "cork")):
        s = t.half(t.a, held_server, port=5240 + i)
        s.expect("listening")
        c = t.half(t.b, held_client, port=5240 + i, how=how)
        t.expect_all("got", s)
        c.gate("end")
        t.wait_all(s, c)

    few, many = coalesced(t, 5242, 0), coalesced(t, 5243, 1)
    t.check(many >= N, f"{many} messages for {N} sends with TCP_NODELAY")
    t.check(few <= N // 2, f"{few} messages for {N} sends without TCP_NODELAY")
    t.note(f"{few} and {many} messages for {N} sends")

    t.set(t.b, close_timeout_ms=500 * t.slow)
    s = t.half(t.a, staying, port=5244)
    s.expect("listening")
    reset = t.relay.rule(proto="tcp", frm="b", dport=5244, flags=RST)
    c = t.half(t.b, closing, port=5244)
    t.wait_all(c)
    t.expect_all("end", s)
    t.wait(lambda: t.relay.hits(reset)[0], "RST of a close that waited in vain", 10)
    t.no_sockets(t.b, 5244)
    s.gate("close")
    t.wait_all(s)
    t.no_sockets(t.a, 5244)
