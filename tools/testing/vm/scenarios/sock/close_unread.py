# SPDX-License-Identifier: GPL-2.0
"""Close with bytes unread resets the connection, as TCP does.

The peer reads the data sent before the close, then gets the error, also where the RST of
TCP overtakes the data.

covers: ABRT-02 ABRT-05 ABRT-08 ABRT-10
"""
import errno
import select

RST = 4


def closer(h, s):
    """Wait for bytes, read none of them, close."""
    select.select([s], [], [], h.left())
    h.gate("close")
    s.close()


def told(h, s):
    h.send_stream(s, 9000, 1)
    h.mark("sent")
    h.raises("read", errno.ECONNRESET, s.recv, 1)
    h.raises("send", errno.EPIPE, s.send, b"x")
    s.close()


def server(h, port, who):
    ls = h.listen(port)
    (closer if who == "server" else told)(h, h.accept(ls))


def client(h, port, who):
    s = h.connect(port)
    (closer if who == "client" else told)(h, s)


def answers(h, port):
    """Let bytes arrive, answer, and close with them unread."""
    c = h.accept(h.listen(port))
    select.select([c], [], [], h.left())
    h.mark("asked")
    h.gate("answer")
    c.sendall(b"answer")
    c.close()


def reads(h, port):
    s = h.connect(port)
    s.sendall(b"request")
    h.mark("sent")
    h.equal(h.recv_exact(s, 6), b"answer", "what comes before the reset")
    h.raises("read", errno.ECONNRESET, s.recv, 1)
    h.equal(s.recv(1), b"", "read again")
    h.raises("send", errno.EPIPE, s.send, b"x")
    s.close()


def overtaken(t):
    """RDMA retransmits until TCP's reset has arrived."""
    from smcvm.links import NEVER
    t.no_groups()
    for vm in (t.a, t.b):
        # the link survives, and only the peer's own abort ends the wait for it
        t.set(vm, rdma_ack_exponent=18, llc_test_link_ms=NEVER)
    s = t.half(t.a, answers, port=5007)
    s.expect("listening")
    c = t.half(t.b, reads, port=5007)
    t.expect_all("asked", s)
    held = t.relay.rule(proto="roce", frm="a", drop=1)
    reset = t.relay.rule(proto="tcp", frm="a", sport=5007, flags=RST)
    s.gate("answer")
    t.wait(lambda: t.relay.hits(reset)[0], "a reset of TCP", 20)
    t.wait_all(s)
    t.relay.unrule(held)
    t.wait_all(c)
    t.no_sockets(t.b, 5007)


def run(t):
    for who in ("client", "server"):
        s = t.half(t.a, server, port=5007, who=who)
        s.expect("listening")
        c = t.half(t.b, client, port=5007, who=who)
        quits, other = (c, s) if who == "client" else (s, c)
        t.expect_all("sent", other)
        quits.gate("close")
        t.wait_all(s, c)
        t.no_sockets(t.a, 5007)
        t.no_sockets(t.b, 5007)
    t.step(overtaken.__doc__)
    overtaken(t)
