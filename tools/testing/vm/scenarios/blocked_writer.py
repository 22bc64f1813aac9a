# SPDX-License-Identifier: GPL-2.0
"""A writer blocked on a full window: woken by the reader, by the end, by a signal.

covers: BLK-04 BLK-06 API-03
"""
import errno
import select
import signal
import socket
import struct
import threading

from halves import Pattern

TOTAL = 700_001
RING = 65536


def server(h, port, how):
    ls = h.listen(port, rcvbuf=RING)
    c = h.accept(ls)
    h.gate("go")
    if how == "read":
        h.recv_stream(c, TOTAL, 1)
        h.finish(c)
    else:
        c.close()


def client(h, port, how):
    s = h.connect(port, sndbuf=RING)
    off = h.fill(s, Pattern(1))
    p = select.poll()
    p.register(s, select.POLLOUT)
    h.equal(p.poll(0), [], "writable although full")
    h.raises("send without waiting", errno.EAGAIN, s.send, b"x", socket.MSG_DONTWAIT)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", 0, 300000))
    h.raises("send with a time limit", errno.EAGAIN, s.send, b"x")
    s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", 0, 0))
    interrupted(h, s)
    ended = []

    def blocked():
        try:
            pos = off
            while pos < TOTAL:
                pos += s.send(Pattern(1).at(pos, min(60000, TOTAL - pos)))
            ended.append(0)
        except OSError as e:
            ended.append(e.errno)

    th = threading.Thread(target=blocked, daemon=True)
    th.start()
    th.join(0.5)
    h.check(th.is_alive(), "the writer did not block")
    h.mark("blocked")
    th.join(h.left())
    h.check(not th.is_alive(), "the writer is still blocked")
    if how == "read":
        h.equal(ended, [0], "end of the writer")
        h.finish(s)
    else:
        h.check(ended[0] in (errno.ECONNRESET, errno.EPIPE), f"the writer got {ended}")


def interrupted(h, s):
    """A signal with a handler that raises ends a blocked send."""
    class Alarm(Exception):
        pass

    def handler(*_):
        raise Alarm

    signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    try:
        s.send(b"x")
        h.check(False, "send went through a full window")
    except Alarm:
        pass
    signal.signal(signal.SIGALRM, signal.SIG_DFL)


def run(t):
    for how in ("read", "close"):
        s = t.half(t.a, server, port=5014, how=how)
        s.expect("listening")
        c = t.half(t.b, client, port=5014, how=how)
        t.expect_all("blocked", c)
        s.gate("go")
        t.wait_all(s, c)
        t.no_sockets(t.b, 5014)
