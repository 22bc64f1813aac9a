# SPDX-License-Identifier: GPL-2.0
"""A writer blocked on a full window wakes for the reader, for the end and for a signal.

A reader of a full ring wakes too, if it only peeks or waits for more than the ring holds.

covers: BLK-04 BLK-06 API-03
"""
import errno
import fcntl
import select
import signal
import socket
import struct
import termios
import threading

from halves import Pattern

TOTAL = 700_001
RING = 65536
LAST, MORE = 100, 900


def server(h, port, how):
    ls = h.listen(port, rcvbuf=RING)
    c = h.accept(ls)
    h.gate("go")
    if how == "read":
        if h.family == "smc":  # TCP waits for ever for what the peer cannot send
            seen = c.recv(TOTAL, socket.MSG_PEEK | socket.MSG_WAITALL)
            h.check(len(seen) >= RING // 2, f"{len(seen)} bytes in a full ring")
            h.equal(Pattern(1).first_difference(0, seen), None, "wrong byte at")
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


def waits_for_more(h, port):
    """SO_RCVLOWAT applies again after a full ring has been read."""
    told = h.listen(port + 1, family="tcp", mark=False)
    ls = h.listen(port, rcvbuf=RING)
    ctl, c = h.accept(told), h.accept(ls)
    n, = struct.unpack("!I", h.recv_exact(ctl, 4))
    h.recv_stream(c, n - LAST, 1)
    h.wait(lambda: struct.unpack("i", fcntl.ioctl(c, termios.FIONREAD, bytes(4)))[0] == LAST,
           "the last bytes")
    c.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, LAST + MORE)
    p = select.poll()
    p.register(c, select.POLLIN)
    h.equal(p.poll(0), [], "readable with less than SO_RCVLOWAT")
    ctl.sendall(b"+")
    h.check(h.poll(p, 20), "not readable with SO_RCVLOWAT")
    h.recv_stream(c, LAST + MORE, 1, start=n - LAST)
    h.finish(c)


def fills(h, port):
    ctl = h.connect(port + 1, family="tcp")
    s = h.connect(port, sndbuf=RING)
    n = h.fill(s, Pattern(1))
    ctl.sendall(struct.pack("!I", n))
    h.recv_exact(ctl, 1)
    s.sendall(Pattern(1).at(n, MORE))
    h.finish(s)


def run(t):
    t.both(waits_for_more, fills, 5012)
    for how in ("read", "close"):
        s = t.half(t.a, server, port=5014, how=how)
        s.expect("listening")
        c = t.half(t.b, client, port=5014, how=how)
        t.expect_all("blocked", c)
        s.gate("go")
        t.wait_all(s, c)
        t.no_sockets(t.b, 5014)
