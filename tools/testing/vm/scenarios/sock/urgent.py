# SPDX-License-Identifier: GPL-2.0
"""A program sees urgent data on SMC as on TCP.

One list of steps runs over TCP, over SMC and over TCP after a Decline; each step must have
the listed result on all three. A closed window, which a test cannot cause on TCP, follows
for SMC alone.

covers: URG-01 URG-03 URG-04 URG-06 URG-07 URG-08 URG-10 URG-11 URG-12 URG-13 API-11
"""
import errno
import fcntl
import json
import os
import select
import signal
import socket
import struct
import termios
import threading

from common import keep, serve
from halves import is_asleep

timeout = 60

OOB, PEEK, DONTWAIT, WAITALL = (socket.MSG_OOB, socket.MSG_PEEK, socket.MSG_DONTWAIT,
                                socket.MSG_WAITALL)
SIOCATMARK = 0x8905
BIG = 20_000
BOTH = 300_000
ELEMENT = 16384
TCP_NOTSENT_LOWAT = 25


def commanded(h, port, addr=None):
    """The writer: sends as commanded over a connection of plain TCP."""
    ctl = h.connect(port + 1, family="tcp").makefile("rw")
    s = h.connect(port, addr, sndbuf=4 * 65536)
    for line in ctl:
        word, text, n = json.loads(line)
        data = text.encode() * n
        if word == "lowat":
            s.setsockopt(socket.IPPROTO_TCP, TCP_NOTSENT_LOWAT, int(text))
        else:
            h.equal(s.send(data, OOB if word == "urgent" else 0), len(data), word)
        ctl.write("done\n")
        ctl.flush()
    h.finish(s)


class Reader:
    def __init__(self, h, port, rcvbuf=0):
        ctl = h.listen(port + 1, family="tcp", mark=False)
        ls = h.listen(port, rcvbuf=rcvbuf)
        self.ctl = h.accept(ctl).makefile("rw")
        self.s = h.accept(ls)
        self.h = h
        self.signals = 0
        signal.signal(signal.SIGURG, self.count)
        fcntl.fcntl(self.s, fcntl.F_SETOWN, os.getpid())
        self.poll = select.poll()
        self.poll.register(self.s, select.POLLIN | select.POLLPRI)
        self.quiet = select.poll()
        self.quiet.register(self.s, select.POLLIN)

    def count(self, *_):
        self.signals += 1

    def tell(self, word, text, n=1):
        self.ctl.write(json.dumps([word, text, n]) + "\n")
        self.ctl.flush()
        self.h.equal(self.ctl.readline(), "done\n", "the writer")

    def close(self):
        self.ctl.close()
        self.h.finish(self.s)

    def ioctl(self, request):
        return struct.unpack("i", fcntl.ioctl(self.s, request, b"\0" * 4))[0]

    def now(self):
        """What a program may ask without reading."""
        bits = dict(self.poll.poll(0)).get(self.s.fileno(), 0)
        return (("I" if bits & select.POLLIN else "") +
                ("P" if bits & select.POLLPRI else "") +
                ("M" if self.ioctl(SIOCATMARK) else "") + str(self.ioctl(termios.FIONREAD)))

    def recv(self, n, flags=0):
        try:
            return self.s.recv(n, flags | DONTWAIT).decode()
        except OSError as e:
            return errno.errorcode[e.errno]

    def comes(self, what):
        self.h.wait(lambda: self.now() == what, f"{what}, it is {self.now()}", 10)

    def inline(self, on):
        self.s.setsockopt(socket.SOL_SOCKET, socket.SO_OOBINLINE, on)

    def holds(self, *pairs):
        for i, (got, want) in enumerate(pairs):
            self.h.equal(got(), want, f"{i + 1} of {[p[1] for p in pairs]}")


class Sleepers:
    """Each asleep in a call of its own that waits for nothing but urgent data."""

    def __init__(self, h, s):
        self.h, self.fd, self.told = h, s.fileno(), {}
        level, edge = select.poll(), select.epoll()
        level.register(s, select.POLLPRI)
        edge.register(s, select.EPOLLPRI | select.EPOLLET)
        calls = {"poll": level.poll, "epoll": edge.poll,
                 "select": lambda: [(fd, select.POLLPRI)
                                    for fd in select.select([], [], [self.fd])[2]]}
        # SIGURG would wake them: it is for the main thread
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGURG])
        self.tasks = [threading.Thread(target=self.sleep, args=(name, call), daemon=True)
                      for name, call in calls.items()]
        for task in self.tasks:
            task.start()
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGURG])
        h.wait(lambda: all(is_asleep(task.native_id) for task in self.tasks), "sleepers",
               10)
        self.want = {name: [(self.fd, select.POLLPRI)] for name in calls}

    def sleep(self, name, call):
        self.told[name] = call()

    def awake(self):
        for task in self.tasks:
            task.join(self.h.within(10))
        self.h.equal(self.told, self.want, "events of the sleepers")


def steps(h, port):
    """The reader. What now() says: In, Pri, Mark, bytes that FIONREAD counts."""
    r = Reader(h, port)
    recv, now = r.recv, r.now

    # in front of the mark, at it, behind it
    sleepers = Sleepers(h, r.s)
    r.tell("urgent", "abc")
    r.comes("IP2")
    sleepers.awake()
    h.wait(lambda: r.signals == 1, "SIGURG", 10)
    r.holds((lambda: recv(10), "ab"), (now, "PM0"), (lambda: recv(1, OOB | PEEK), "c"),
            (lambda: recv(1, OOB), "c"), (lambda: recv(1, OOB), "EINVAL"), (now, "M0"))
    r.tell("plain", "def")
    h.check(h.poll(r.quiet, 10), "data behind the mark")
    r.holds((now, "IM0"), (lambda: recv(10), "def"), (now, "0"),
            (lambda: recv(10), "EAGAIN"))

    # read out of line first, while data in front of it waits
    r.tell("urgent", "xyz!")
    r.comes("IP3")
    r.holds((lambda: recv(9, OOB), "!"), (now, "I3"), (lambda: recv(2), "xy"),
            (now, "I1"), (lambda: recv(9, WAITALL), "z"), (now, "M0"),
            (lambda: recv(9), "EAGAIN"), (now, "0"))

    # not asked for: a read that begins at the mark passes it
    r.tell("urgent", "1")
    r.comes("PM0")
    r.tell("plain", "more")
    h.check(h.poll(r.quiet, 10), "data after a mark that was not read")
    r.holds((lambda: recv(2, PEEK), "mo"), (now, "IPM0"), (lambda: recv(9), "more"),
            (lambda: recv(1, OOB), "EINVAL"), (now, "0"))

    # a second one before the first was read: the first is gone
    r.tell("urgent", "1")
    r.comes("PM0")
    r.tell("urgent", "2")
    h.wait(lambda: recv(1, OOB | PEEK) == "2", "the second urgent byte", 10)
    r.holds((now, "PM0"), (lambda: recv(1, OOB), "2"), (now, "M0"))
    r.tell("plain", "q")
    h.check(h.poll(r.quiet, 10), "data behind two marks")
    r.holds((lambda: recv(9), "q"), (now, "0"))

    # peeking stops at the mark as well
    r.tell("urgent", "mn")
    r.comes("IP1")
    r.holds((lambda: recv(9, PEEK), "m"), (lambda: r.s.recv(9, PEEK | WAITALL), b"m"),
            (lambda: recv(9), "m"), (now, "PM0"), (lambda: recv(9), "EAGAIN"),
            (lambda: recv(1, OOB), "EINVAL"))

    # in line
    r.inline(1)
    r.tell("urgent", "uvw")
    r.comes("IP3")
    r.holds((lambda: recv(1, OOB), "EINVAL"), (lambda: recv(9, PEEK), "uv"),
            (lambda: recv(9), "uv"), (now, "IPM1"), (lambda: recv(9, PEEK), "w"),
            (lambda: recv(9), "w"), (now, "0"))
    r.inline(0)

    # in line only after it has come
    r.tell("urgent", "Z")
    r.comes("PM0")
    r.inline(1)
    r.holds((now, "IPM1"), (lambda: recv(9, PEEK), "Z"), (lambda: recv(9), "Z"), (now, "0"))
    r.inline(0)

    # the last byte of a long send; a fault loses it
    r.tell("urgent", "L", BIG)
    r.comes(f"IP{BIG - 1}")
    got = h.recv_exact(r.s, BIG - 1)
    h.equal(got, b"L" * (BIG - 1), "bytes in front of the mark")
    h.equal(recv(1, OOB | PEEK), "L", "the urgent byte")
    h.equal(fault(r.s, OOB), "EFAULT", "an urgent byte to nowhere")
    h.equal(recv(1, OOB), "EINVAL", "the urgent byte after that")
    r.tell("plain", "end")
    h.equal(h.recv_exact(r.s, 3), b"end", "the last bytes")
    h.check(r.signals >= 9, f"{r.signals} signals")
    r.close()


def fault(s, flags):
    """recv() into memory that is not there."""
    import ctypes
    libc = ctypes.CDLL(None, use_errno=True)
    libc.recv.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    rc = libc.recv(s.fileno(), 8, 1, flags)
    return errno.errorcode[ctypes.get_errno()] if rc < 0 else str(rc)


def closed_window(h, port):
    """More than the element holds, then an urgent byte: it is announced at once."""
    r = Reader(h, port, rcvbuf=ELEMENT)
    r.tell("plain", "p", 2 * ELEMENT)
    h.wait(lambda: r.ioctl(termios.FIONREAD) >= ELEMENT - 4, "a full element", 10)
    h.check("P" not in r.now(), "urgent too early")
    sleepers = Sleepers(h, r.s)
    r.tell("urgent", "!")
    sleepers.awake()
    r.tell("plain", "behind")
    h.wait(lambda: "P" in r.now(), "news of the urgent byte", 10)
    h.wait(lambda: r.signals == 1, "SIGURG", 10)
    h.equal(r.recv(1, OOB), "EAGAIN", "an urgent byte that is under way")
    h.equal(h.recv_exact(r.s, 2 * ELEMENT), b"p" * 2 * ELEMENT, "data in front of it")
    h.wait(lambda: r.recv(1, OOB | PEEK) == "!", "the urgent byte", 10)
    h.equal(r.signals, 1, "signals for one urgent byte")
    h.equal(r.recv(1, OOB), "!", "the urgent byte")
    h.equal(h.recv_exact(r.s, 6), b"behind", "data behind it")
    r.close()


def long_send(h, port):
    """An urgent send of more than rings and elements hold has one urgent byte."""
    r = Reader(h, port, rcvbuf=ELEMENT)
    n = 700_000
    r.ctl.write(json.dumps(["urgent", "x", n]) + "\n")
    r.ctl.flush()
    h.equal(h.recv_exact(r.s, n - 1), b"x" * (n - 1), "data in front of it")
    h.wait(lambda: r.recv(1, OOB | PEEK) == "x", "the urgent byte", 10)
    h.equal(r.now(), "PM0", "at the end")
    h.equal(r.ctl.readline(), "done\n", "the writer")
    r.close()


def held_byte(h, port):
    """A writer that is to have next to nothing unsent goes on behind the byte held back."""
    r = Reader(h, port, rcvbuf=ELEMENT)
    n = 40_000
    r.tell("lowat", "1")
    r.ctl.write(json.dumps(["urgent", "x", n]) + "\n")
    r.ctl.flush()
    h.equal(h.recv_exact(r.s, n - 1), b"x" * (n - 1), "data in front of it")
    h.wait(lambda: r.recv(1, OOB | PEEK) == "x", "the urgent byte", 10)
    h.equal(r.ctl.readline(), "done\n", "the writer")
    r.close()


def two_tasks(h, port):
    """Two tasks write to one socket, one of them more urgent data than its ring holds."""
    s = h.connect(port, sndbuf=ELEMENT)
    ends = []

    def send(data, flags):
        try:
            ends.append(s.send(data, flags))
        except OSError as e:
            ends.append(e)
    tasks = [threading.Thread(target=send, args=(word * BOTH, flags), daemon=True)
             for word, flags in ((b"u", OOB), (b"p", 0))]
    for task in tasks:
        task.start()
    for task in tasks:
        task.join(h.left())
    h.equal(ends, [BOTH, BOTH], "results of send()")
    h.finish(s)


def read_two_tasks(h, port):
    """In line: where one task has written behind the other's last byte, that one is urgent."""
    ls = h.listen(port, rcvbuf=ELEMENT, mark=False)
    ls.setsockopt(socket.SOL_SOCKET, socket.SO_OOBINLINE, 1)
    h.mark("listening")
    c = h.accept(ls)
    got = h.recv_exact(c, 2 * BOTH)
    h.equal((got.count(b"u"), got.count(b"p")), (BOTH, BOTH), "what both have written")
    h.finish(c)


def early(h, port):
    """The first message of a connection, before its Confirm is there."""
    s = h.connect(port)
    h.equal(s.send(b"!", OOB), 1, "an urgent byte")
    h.mark("sent")
    s.sendall(b"behind")
    h.finish(s)


def read_early(h, port):
    c = h.accept(h.listen(port))
    h.equal(h.recv_exact(c, 6), b"behind", "data behind the mark")
    h.finish(c)


def before_confirm(t, port):
    """Its Confirm may be slower than its first message, on a link that is there already."""
    first = t.half(t.a, serve, port=port + 1, count=1)
    first.expect("listening", t.left())
    c1 = t.half(t.b, keep, port=port + 1)
    t.expect_all("open", c1)
    held = t.relay.rule(clc=3, frm="b", drop=1)
    s = t.half(t.a, read_early, port=port)
    s.expect("listening", t.left())
    before = t.stat(t.a, "cdc_rx")
    c = t.half(t.b, early, port=port)
    t.expect_all("sent", c)
    t.wait(lambda: t.stat(t.a, "cdc_rx") > before and t.relay.hits(held)[1],
           "a message without a Confirm", 20)
    t.relay.unrule(held)
    t.wait_all(s, c)
    c1.gate("end")
    t.wait_all(c1, first)


def run(t):
    port = 5200
    for family in ("tcp", t.family):
        t.step(f"steps over {family}")
        s = t.half(t.a, steps, port=port, family=family)
        s.expect("listening", t.left())
        t.wait_all(s, t.half(t.b, commanded, port=port, family=family))
        t.both(read_two_tasks, two_tasks, port + 1, family=family)
        port += 2
    if t.family != "smc":
        return
    from smcvm.links import AFAR, afar
    t.step("steps behind a Decline")
    before = t.stat(t.a, "decline_tx")
    with afar(t):
        s = t.half(t.a, steps, port=port)
        s.expect("listening", t.left())
        t.wait_all(s, t.half(t.b, commanded, port=port, addr=AFAR[0]))
    t.equal(t.stat(t.a, "decline_tx"), before + 1, "Declines")
    port += 2
    t.rdma_start()
    for half in (closed_window, long_send, held_byte):
        t.step(half.__name__)
        s = t.half(t.a, half, port=port)
        s.expect("listening", t.left())
        t.wait_all(s, t.half(t.b, commanded, port=port))
        port += 2
    t.step(before_confirm.__doc__)
    before_confirm(t, port)
    t.carried(t.b, 700_000)
