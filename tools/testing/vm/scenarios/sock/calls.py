# SPDX-License-Identifier: GPL-2.0
"""Flags of send and recv, time limits, splice, tee and sendfile work as on TCP.

Each step runs over TCP and over SMC, with --long also over TCP after a Decline. It must have the
result that the step expects, the same on all.

covers: TX-02 TX-06 TX-07 TX-08 API-03 API-04
"""
import ctypes
import errno
import fcntl
import json
import mmap
import os
import select
import signal
import socket
import struct
import termios
import threading
import time

from halves import Pattern

timeout = 60

PEEK, DONTWAIT, WAITALL, TRUNC, MORE, NOSIGNAL, ERRQUEUE = (
    socket.MSG_PEEK, socket.MSG_DONTWAIT, socket.MSG_WAITALL, socket.MSG_TRUNC,
    socket.MSG_MORE, socket.MSG_NOSIGNAL, socket.MSG_ERRQUEUE)
SO_PEEK_OFF, SO_TIMESTAMP, SO_TIMESTAMPNS, TCP_INQ = 42, 29, 35, 36
PAGE = 4096
F_SETPIPE_SZ = 1031

libc = ctypes.CDLL(None, use_errno=True)
for name in ("recv", "send"):
    getattr(libc, name).argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t,
                                    ctypes.c_int]
libc.tee.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_size_t, ctypes.c_uint]


def told(func, *args):
    """The value of FUNC, or the name of its errno."""
    try:
        return func(*args)
    except OSError as e:
        return errno.errorcode[e.errno]


def raw(name, s, addr, n, flags=0):
    rc = getattr(libc, name)(s.fileno(), addr, n, flags)
    return errno.errorcode[ctypes.get_errno()] if rc < 0 else rc


def tee(src, dst, n):
    rc = libc.tee(src, dst, n, 0)
    return errno.errorcode[ctypes.get_errno()] if rc < 0 else rc


class HalfMapped:
    """Two pages of a mapping, the second of which is inaccessible."""

    def __init__(self):
        self.map = mmap.mmap(-1, 2 * PAGE)
        self.addr = ctypes.addressof(ctypes.c_char.from_buffer(self.map))
        libc.mprotect(ctypes.c_void_p(self.addr + PAGE), PAGE, 0)

    def in_front(self, n):
        """The address of N good bytes that end at the bad page."""
        return self.addr + PAGE - n

    def read(self, n):
        return ctypes.string_at(self.addr + PAGE - n, n)


class Two:
    """A connected socket, and a control connection to the other end."""

    def __init__(self, h, s, ctl):
        self.h, self.s, self.ctl = h, s, ctl.makefile("rw")
        s.setblocking(True)

    def tell(self, word, **args):
        """Let the other end do WORD; return its result."""
        self.ctl.write(json.dumps([word, args]) + "\n")
        self.ctl.flush()
        return self.reply()

    def start(self, word, **args):
        self.ctl.write(json.dumps([word, args]) + "\n")
        self.ctl.flush()

    def reply(self):
        return json.loads(self.ctl.readline())

    def inq(self):
        return struct.unpack("i", fcntl.ioctl(self.s, termios.FIONREAD, b"\0" * 4))[0]

    def comes(self, n):
        self.h.wait(lambda: self.inq() == n, f"{n} bytes, there are {self.inq()}", 10)

    def readable(self, seconds=0):
        p = select.poll()
        p.register(self.s, select.POLLIN)
        return bool(self.h.poll(p, seconds))

    def opt(self, name, val):
        self.s.setsockopt(socket.SOL_SOCKET, name, val)

    def holds(self, what, got, want):
        self.h.equal(got, want, what)


# The end that executes commands

def obey(h, port, addr=None):
    ctl = h.connect(port + 1, family="tcp")
    s = h.connect(port, addr, sndbuf=65536)
    two = Two(h, s, ctl)
    for line in two.ctl:
        word, args = json.loads(line)
        val = ORDERS[word](two, **args)
        two.ctl.write(json.dumps(val) + "\n")
        two.ctl.flush()
    s.close()


def order_send(two, text, flags=0):
    return two.s.send(text.encode(), flags)


def order_pour(two, n):
    """N bytes of pattern 1."""
    two.h.send_stream(two.s, n, 1)
    return n


def order_drink(two, n):
    two.h.recv_stream(two.s, n, 1)
    return n


def order_option(two, level, name, val):
    two.s.setsockopt(level, name, val)


def order_shutdown(two):
    two.s.shutdown(socket.SHUT_WR)


def order_faulty_send(two, good, asked):
    m = HalfMapped()
    ctypes.memmove(m.in_front(good), bytes(Pattern(1).at(0, good)), good)
    return raw("send", two.s, m.in_front(good), asked)


ORDERS = {"send": order_send, "pour": order_pour, "drink": order_drink,
          "option": order_option, "shutdown": order_shutdown,
          "faulty_send": order_faulty_send}


# The end that checks

def looks(h, port):
    ctl = h.listen(port + 1, family="tcp", mark=False)
    ls = h.listen(port)
    ctl = h.accept(ctl)
    two = Two(h, h.accept(ls), ctl)
    lacks = [what for step in STEPS if (what := step(two))]
    two.ctl.close()
    ctl.close()
    two.s.close()
    return lacks


def step_flags(two):
    s, holds = two.s, two.holds
    two.tell("send", text="0123456789")
    two.comes(10)
    holds("peek", s.recv(4, PEEK), b"0123")
    holds("peek again", s.recv(99, PEEK), b"0123456789")
    holds("discard", raw("recv", s, None, 3, TRUNC), 3)
    holds("look and discard", raw("recv", s, None, 99, TRUNC | PEEK), 7)
    holds("rest", s.recv(99, DONTWAIT), b"3456789")
    holds("no more", told(s.recv, 1, DONTWAIT), "EAGAIN")
    holds("no more to see", told(s.recv, 1, DONTWAIT | PEEK), "EAGAIN")
    holds("empty error queue", told(s.recv, 1, ERRQUEUE), "EAGAIN")
    holds("nothing to send", s.send(b""), 0)


def step_peek_off(two):
    s, holds = two.s, two.holds
    if told(two.opt, SO_PEEK_OFF, 0) in ("EOPNOTSUPP", "ENOTSUP"):
        return "SO_PEEK_OFF"
    two.tell("send", text="abcdefgh")
    two.comes(8)
    holds("first", s.recv(2, PEEK), b"ab")
    holds("next", s.recv(2, PEEK), b"cd")
    holds("read", s.recv(3), b"abc")
    holds("after a read", s.recv(2, PEEK), b"ef")
    two.opt(SO_PEEK_OFF, 1)
    holds("set", s.recv(9, PEEK), b"efgh")
    holds("behind the end", told(s.recv, 9, PEEK | DONTWAIT), "EAGAIN")
    two.opt(SO_PEEK_OFF, -1)
    holds("off", s.recv(2, PEEK), b"de")
    holds("all", s.recv(9), b"defgh")


def step_control(two):
    """Control messages: the time of the data, and the number of bytes left."""
    two.s.setsockopt(socket.SOL_TCP, TCP_INQ, 1)
    for name, form, unit in ((SO_TIMESTAMP, "ll", 1e6), (SO_TIMESTAMPNS, "ll", 1e9)):
        two.opt(name, 1)
        control, tries = {}, 0
        # a kernel starts to stamp after a moment
        while (socket.SOL_SOCKET, name) not in control and tries < 100:
            tries += 1
            two.tell("send", text="12345")
            two.comes(5)
            data, control = two.s.recvmsg(3, 200)[:2]
            control = {(level, kind): val for level, kind, val in control}
            two.holds("data", data, b"123")
            two.holds("left", control.get((socket.SOL_TCP, TCP_INQ)), struct.pack("i", 2))
            two.holds("rest", two.s.recv(9), b"45")
        sec, part = struct.unpack(form, control[(socket.SOL_SOCKET, name)])
        two.h.check(abs(sec + part / unit - time.time()) < 60, f"came at {sec}")
        two.opt(name, 0)
    two.s.setsockopt(socket.SOL_TCP, TCP_INQ, 0)
    two.tell("send", text="x")
    two.holds("no more control messages", two.s.recvmsg(3, 200)[1], [])


def step_waitall(two):
    got = []
    th = threading.Thread(target=lambda: got.append(two.s.recv(12, WAITALL)))
    th.start()
    two.tell("send", text="half. ")
    th.join(0.2)
    two.holds("all of it or nothing", got, [])
    two.tell("send", text="other.xx")
    th.join(two.h.within(10))
    two.holds("all", got, [b"half. other."])
    two.holds("rest", two.s.recv(9), b"xx")
    # a time limit ends it with what is there
    two.opt(socket.SO_RCVTIMEO, struct.pack("ll", 0, 300000))
    two.tell("send", text="part")
    two.comes(4)
    two.holds("what came in time", two.s.recv(9, WAITALL), b"part")
    t0 = time.monotonic()
    two.holds("nothing in time", told(two.s.recv, 9), "EAGAIN")
    two.h.check(time.monotonic() - t0 > 0.25, "the time limit was not waited for")
    two.opt(socket.SO_RCVTIMEO, struct.pack("ll", 0, 0))


def step_lowat(two):
    two.opt(socket.SO_RCVLOWAT, 8)
    two.tell("send", text="12345")
    two.comes(5)
    two.holds("below the mark", two.readable(), False)
    two.holds("a call that does not wait", told(two.s.recv, 99, DONTWAIT), b"12345")
    got = []
    th = threading.Thread(target=lambda: got.append(two.s.recv(99)))
    th.start()
    two.tell("send", text="12345")
    th.join(0.2)
    two.holds("waits for more", got, [])
    # TCP does not count what a sleeping reader has taken, so eight more
    two.tell("send", text="678abcde")
    th.join(two.h.within(10))
    two.holds("enough", got, [b"12345678abcde"])
    two.tell("send", text="abcdefghij")
    two.holds("above the mark", two.readable(10), True)
    two.holds("at once", two.s.recv(99), b"abcdefghij")
    two.opt(socket.SO_RCVLOWAT, 1)


def step_more(two):
    """MSG_MORE and TCP_CORK hold data back for at most 200 ms or so."""
    for flags in (MORE, 0):
        if not flags:
            two.tell("option", level=socket.SOL_TCP, name=socket.TCP_CORK, val=1)
        t0 = time.monotonic()
        two.tell("send", text="held", flags=flags)
        there = two.inq()
        if time.monotonic() - t0 < 0.15:
            two.holds("held back", there, 0)
        two.h.wait(lambda: two.inq() == 4, "what was held back", 5)
        if not flags:
            two.tell("send", text="+")
            two.tell("option", level=socket.SOL_TCP, name=socket.TCP_CORK, val=0)
        else:
            two.tell("send", text="+")
        two.comes(5)
        two.holds("together", two.s.recv(99), b"held+")
    # many small sends leave, and nothing is delayed with Nagle off
    two.tell("option", level=socket.SOL_TCP, name=socket.TCP_NODELAY, val=1)
    for i in range(20):
        two.tell("send", text="s")
    two.comes(20)
    two.holds("small ones", two.s.recv(99), b"s" * 20)
    two.tell("option", level=socket.SOL_TCP, name=socket.TCP_NODELAY, val=0)


def step_faults(two):
    """A fault in the middle: copied bytes count, the rest is not lost."""
    m = HalfMapped()
    two.holds("nothing to take it from", two.tell("faulty_send", good=0, asked=5), "EFAULT")
    n = two.tell("faulty_send", good=1000, asked=3000)
    two.h.check(n in (1000, "EFAULT"), f"a faulty send took {n}")
    if n == 1000:
        two.holds("its good bytes", two.h.recv_exact(two.s, 1000),
                  bytes(Pattern(1).at(0, 1000)))
    two.tell("pour", n=3000)
    two.comes(3000)
    two.holds("nowhere to put it", raw("recv", two.s, m.in_front(0), 3000), "EFAULT")
    two.comes(3000)
    n = raw("recv", two.s, m.in_front(700), 3000)
    two.h.check(n in (700, "EFAULT"), f"a faulty recv took {n}")
    if n == "EFAULT":
        n = 0
    else:
        two.holds("the good bytes", m.read(700), bytes(Pattern(1).at(0, 700)))
    two.h.recv_stream(two.s, 3000 - n, 1, start=n)


def pipe_of(pages):
    r, w = os.pipe()
    fcntl.fcntl(w, F_SETPIPE_SZ, pages * PAGE)
    return r, w


def step_splice_read(two):
    """Into pipes that keep the bytes while the peer fills the ring again."""
    pat = Pattern(1)
    r, w = pipe_of(16)
    r2, w2 = pipe_of(16)
    two.tell("pour", n=30000)
    two.comes(30000)
    n = os.splice(two.s.fileno(), w, 20000)
    two.h.check(0 < n <= 20000, f"splice moved {n}")
    copied = tee(r, w2, n)
    two.h.check(isinstance(copied, int) and 0 < copied <= n, f"tee: {copied}")
    # the ring wraps several times before the pipes are read
    two.h.recv_stream(two.s, 30000 - n, 1, start=n)
    two.start("pour", n=400_000)
    two.h.recv_stream(two.s, 400_000, 1)
    two.holds("poured", two.reply(), 400_000)
    for fd, size in ((r, n), (r2, copied)):
        got = b""
        while len(got) < size:
            got += os.read(fd, size - len(got))
        two.holds("bytes that waited in a pipe", pat.first_difference(0, got), None)
    for fd in (r, w, r2, w2):
        os.close(fd)


def step_splice_errors(two):
    r, w = pipe_of(4)
    two.s.setblocking(False)
    two.holds("splice of nothing", told(os.splice, two.s.fileno(), w, 100), "EAGAIN")
    two.s.setblocking(True)
    two.h.check(told(os.splice, two.s.fileno(), w, 100, 5) in ("ESPIPE", "EINVAL"),
                "splice at an offset")
    # data beyond the room of a pipe stays in the socket
    two.tell("pour", n=40000)
    two.comes(40000)
    got = 0
    pat = Pattern(1)
    while got < 40000:
        n = os.splice(two.s.fileno(), w, 40000 - got)
        two.h.check(0 < n < 40000, f"a pipe of four pages took {n}")
        data = b""
        while len(data) < n:
            data += os.read(r, n - len(data))
        two.holds("spliced", pat.first_difference(got, data), None)
        got += n
    os.close(r)
    os.close(w)


def step_splice_write(two):
    """From a pipe and from a file."""
    pat = Pattern(1)
    n = 300_000
    two.start("drink", n=n)
    fd = os.memfd_create("file")
    off = 0
    while off < n:
        part = bytes(pat.at(off, min(30000, n - off)))
        os.write(fd, part)
        off += len(part)
    off = 0
    while off < n:
        off += os.sendfile(two.s.fileno(), fd, off, min(70000, n - off))
    two.holds("sendfile", two.reply(), n)
    os.close(fd)

    n = 60_000
    two.start("drink", n=n)
    r, w = pipe_of(16)
    off = 0
    while off < n:
        part = os.write(w, bytes(pat.at(off, min(9000, n - off))))
        end = off + part
        while off < end:
            off += os.splice(r, two.s.fileno(), end - off)
    two.holds("splice from a pipe", two.reply(), n)

    # two pipes have the same pages: one goes into the socket, the other is read
    r2, w2 = pipe_of(16)
    two.start("drink", n=n)
    off = 0
    while off < n:
        part = os.write(w, bytes(pat.at(off, min(9000, n - off))))
        copied = tee(r, w2, part)
        two.holds("tee", copied, part)
        end = off + part
        while off < end:
            off += os.splice(r2, two.s.fileno(), end - off)
        got = b""
        while len(got) < part:
            got += os.read(r, part - len(got))
        two.holds("what was copied from", pat.first_difference(end - part, got), None)
    two.holds("splice of a copy", two.reply(), n)
    for fd in (r, w, r2, w2):
        os.close(fd)


def step_full(two):
    """A full ring: time limits apply, and nothing is lost."""
    two.s.settimeout(None)
    pat = Pattern(1)
    off = two.h.fill(two.s, pat)
    two.opt(socket.SO_SNDTIMEO, struct.pack("ll", 0, 200000))
    two.holds("send with a limit", told(two.s.send, pat.at(off, 100)), "EAGAIN")
    two.opt(socket.SO_SNDTIMEO, struct.pack("ll", 0, 0))
    two.start("drink", n=off + 50000)
    two.h.send_stream(two.s, 50000, 1, start=off)
    two.holds("drunk", two.reply(), off + 50000)


def step_end(two):
    """Data before the end come first; afterwards EPIPE and a signal."""
    two.tell("send", text="last")
    two.tell("shutdown")
    two.holds("less than asked for", two.s.recv(9, WAITALL), b"last")
    two.holds("end", two.s.recv(9), b"")
    two.holds("end to one who peeks", two.s.recv(9, PEEK), b"")
    two.holds("the other way is open", two.s.send(b"x"), 1)
    two.s.shutdown(socket.SHUT_WR)
    pipes = []
    signal.signal(signal.SIGPIPE, lambda *_: pipes.append(1))
    two.holds("after the end", told(two.s.send, b"x"), "EPIPE")
    two.holds("signals", len(pipes), 1)
    two.holds("without a signal", told(two.s.send, b"x", NOSIGNAL), "EPIPE")
    two.holds("no further signal", len(pipes), 1)
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)


STEPS = (step_flags, step_peek_off, step_control, step_waitall, step_lowat, step_more,
         step_faults, step_splice_read, step_splice_errors, step_splice_write, step_full, step_end)


def run(t):
    lacks = ["SO_PEEK_OFF"] if t.a.kernel.release.startswith("6.1.") else []
    if lacks:
        t.note("without SO_PEEK_OFF, which TCP of this kernel lacks")
    t.rdma_start()
    for i, family in enumerate(("tcp", t.family)):
        t.step(f"calls over {family}")
        port = 5220 + 2 * i
        s = t.half(t.a, looks, port=port, family=family)
        s.expect("listening", t.left())
        t.wait_all(s, t.half(t.b, obey, port=port, family=family))
        t.equal(s.value, lacks, "what TCP of this kernel lacks")
    t.carried(t.b, 400_000)
    if t.family != "smc" or not t.long:
        return
    from smcvm.links import AFAR, afar
    t.step("calls behind a Decline")
    before = t.stat(t.a, "decline_tx")
    with afar(t):
        s = t.half(t.a, looks, port=5224)
        s.expect("listening", t.left())
        t.wait_all(s, t.half(t.b, obey, port=5224, addr=AFAR[0]))
    t.equal(t.stat(t.a, "decline_tx"), before + 1, "Declines")
