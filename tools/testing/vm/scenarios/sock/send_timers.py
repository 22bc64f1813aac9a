# SPDX-License-Identifier: GPL-2.0
"""Data held back leave in time and in one piece; the wait for the peer's close has a limit.

covers: TX-07 TX-08 TMR-16 TMR-18 API-08
"""
import socket
import time

RC_ACK, RST = 0x11, 4
N, HELD = 60, 20


def held_client(h, port, how):
    """Held bytes leave although no more follow."""
    s = h.connect(port)
    if how == "cork":
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, 1)
    s.send(b"0123456789", socket.MSG_MORE if how == "more" else 0)
    h.mark("sent")
    h.gate("end")
    s.close()


def held_server(h, port):
    c = h.accept(h.listen(port))
    c.settimeout(h.within(10))
    h.equal(h.recv_exact(c, 10), b"0123456789", "bytes held back")
    h.mark("got")
    c.settimeout(None)
    h.at_end(c)


def small_client(h, port, n, nodelay, how=None):
    """N small sends in a row; the first byte opens the window of the count."""
    s = h.connect(port)
    h.equal(s.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY), 0, "default of TCP_NODELAY")
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, nodelay)
    h.equal(bool(s.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)), bool(nodelay),
            "TCP_NODELAY")
    h.mark("ready")
    h.gate("go")
    began = time.monotonic()
    if how == "cork":
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, 1)
    for i in range(n):
        s.sendall(b"x", socket.MSG_MORE if how == "more" and i < n - 1 else 0)
    if how == "cork":
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, 0)
    took = time.monotonic() - began
    h.recv_exact(s, 1)
    h.mark("done", took=took)
    h.gate("end")
    h.finish(s)


def small_server(h, port, n):
    c = h.accept(h.listen(port))
    h.recv_exact(c, n)
    c.sendall(b"y")
    h.finish(c)


def counted(t, port, n, delay=0, **args):
    """The number of messages of N small sends, and the duration; each ACK takes DELAY ms."""
    s = t.half(t.a, small_server, port=port, n=n)
    s.expect("listening")
    c = t.half(t.b, small_client, port=port, n=n, **args)
    t.expect_all("ready", c)
    if delay:
        t.relay.rule(proto="roce", opcode=RC_ACK, frm="a", delay=delay)
    sent = t.relay.rule(cdc=1, frm="b")
    c.gate("go")
    took = t.expect_all("done", c)[0]["took"]
    messages = t.relay.hits(sent)[0]
    t.relay.unrule()
    c.gate("end")
    t.wait_all(s, c)
    return messages, took


def held_back(t, port, how):
    """Small sends under MSG_MORE or TCP_CORK are one message, though Nagle is off.

    What is held back for 200 ms leaves, so a slow machine may need more.
    """
    n, took = counted(t, port, HELD, nodelay=1, how=how)
    t.check(n <= 3 + took / 0.2, f"{n} messages for {HELD} sends under {how}, in {took:.2f} s")
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
    # it counts CDC messages
    t.set(t.a, immediate_data=0)
    t.no_groups()
    for i, how in enumerate(("more", "cork")):
        s = t.half(t.a, held_server, port=5240 + i)
        s.expect("listening")
        c = t.half(t.b, held_client, port=5240 + i, how=how)
        t.expect_all("got", s)
        c.gate("end")
        t.wait_all(s, c)

    few = counted(t, 5242, N, 60, nodelay=1)[0]
    t.check(few <= N // 2, f"{few} messages for {N} sends")
    t.set(t.b, autocorking_size=0)
    many = counted(t, 5243, N, 60, nodelay=1)[0]
    t.check(many >= N, f"{many} messages for {N} sends without coalescing")
    t.restore("autocorking_size")
    held = [held_back(t, 5245 + i, how) for i, how in enumerate(("more", "cork"))]
    t.note(f"{few} and {many} messages for {N} sends, {held} for {HELD} held back")

    t.set(t.b, close_timeout_ms=500 * t.slow)
    s = t.half(t.a, staying, port=5244)
    s.expect("listening")
    reset = t.relay.rule(proto="tcp", frm="b", dport=5244, flags=RST)
    c = t.half(t.b, closing, port=5244)
    t.wait_all(c)
    t.expect_all("end", s)
    t.wait(lambda: t.relay.hits(reset)[0], "RST of a close without an answer", 10)
    t.no_sockets(t.b, 5244)
    s.gate("close")
    t.wait_all(s)
    t.no_sockets(t.a, 5244)
