# SPDX-License-Identifier: GPL-2.0
"""The first send() after the peer has closed succeeds, the next fails, as on TCP.

covers: CLOSE-16 API-03
"""
import errno
import select
import signal

ipv = (4, 6)


def closes(h, s):
    h.recv_exact(s, 3)
    s.close()
    h.mark("closed")


def goes_on(h, s):
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    s.sendall(b"abc")
    h.at_end(s)
    h.gate("peer closed")
    h.equal(s.send(b""), 0, "send of nothing")
    h.equal(s.send(b"useless"), 7, "first send")
    p = select.poll()
    p.register(s, 0)
    h.check(p.poll(h.left() * 1000), "poll() did not report the end of the connection")
    h.raises("second send", errno.EPIPE, s.send, b"x")
    h.raises("third send", errno.EPIPE, s.send, b"x")
    h.at_end(s, "end of stream, after the failure")
    s.close()


def server(h, port, first):
    ls = h.listen(port)
    c = h.accept(ls)
    (closes if first == "server" else goes_on)(h, c)


def client(h, port, first):
    s = h.connect(port)
    (closes if first == "client" else goes_on)(h, s)


def run(t):
    for first in ("client", "server"):
        s = t.half(t.a, server, port=5046, first=first)
        s.expect("listening", t.left())
        c = t.half(t.b, client, port=5046, first=first)
        closer, other = (c, s) if first == "client" else (s, c)
        t.expect_all("closed", closer)
        t.mode(other.vm, "SMC-R", 5046)
        other.gate("peer closed")
        t.wait_all(s, c)
        for vm in (t.a, t.b):
            t.no_sockets(vm, 5046)
