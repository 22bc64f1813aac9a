# SPDX-License-Identifier: GPL-2.0
"""Close with bytes unread resets the connection, as TCP does.

covers: ABRT-05 ABRT-08
"""
import errno
import select

RESET = (errno.ECONNRESET, errno.EPIPE)


def closer(h, s):
    """Let bytes arrive, read none of them, close."""
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
