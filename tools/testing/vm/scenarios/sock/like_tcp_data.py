# SPDX-License-Identifier: GPL-2.0
"""Calls that move or await data have the same values, errnos and events on TCP and on SMC.

The exceptions are differences that the RFC requires.

covers: API-01 API-03
"""
import ctypes
import fcntl
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import threading

from halves import is_asleep, libc
from like import (
    await_signal, connect, FIONREAD, forget, have_signal, ioctl, MSG_ERRQUEUE,
    MSG_NOSIGNAL, POLL_OUT, serve, SIOCOUTQ, SIOCOUTQNSD)

timeout = 120
ipv = (4, 6)


def reading(x, server):
    """Flags of recv(), and counts."""
    c = x.pair(server)
    if not server:
        x.call("send", c.send, b"0123456789")
        x.call("send nothing", c.send, b"")
        x.h.wait(lambda: ioctl(c, SIOCOUTQ) == 0, "an empty send queue")
        x.ioctls("sent", c)
        x.sync()
        x.sync()
        c.sendall(b"abc")
        x.sync()
        c.sendall(b"def")
        return
    x.sync()
    x.until(c, "IN")
    x.h.wait(lambda: ioctl(c, FIONREAD) == 10, "all bytes")
    x.ioctls("data", c)
    x.call("peek", c.recv, 4, socket.MSG_PEEK)
    x.call("peek again", c.recv, 40, socket.MSG_PEEK)
    x.call("nothing", c.recv, 0)
    x.call("error queue", c.recv, 1, MSG_ERRQUEUE)
    x.call("urgent", c.recv, 1, socket.MSG_OOB)
    x.call("two", c.recv, 2)
    x.call("peek rest", c.recv, 40, socket.MSG_PEEK | socket.MSG_DONTWAIT)
    x.call("set peek offset", c.setsockopt, 1, 42, 3)  # SO_PEEK_OFF
    x.call("peek at 3", c.recv, 2, socket.MSG_PEEK)
    x.call("peek at 5", c.recv, 2, socket.MSG_PEEK)
    x.call("peek offset", c.getsockopt, 1, 42)
    x.call("take 2", c.recv, 2)
    x.call("peek offset", c.getsockopt, 1, 42)
    x.call("peek on", c.recv, 10, socket.MSG_PEEK | socket.MSG_DONTWAIT)
    x.call("no peek offset", c.setsockopt, 1, 42, -1)
    x.call("rest", c.recv, 40)
    x.call("none", c.recv, 1, socket.MSG_DONTWAIT)
    x.ioctls("empty", c)
    x.sync()
    x.call("first of all", c.recv, 1)
    x.sync()
    x.call("wait for all", c.recv, 5, socket.MSG_WAITALL)
    c.settimeout(None)
    c.setsockopt(1, socket.SO_RCVTIMEO, struct.pack("qq", 0, 50000))
    x.call("timed", c.recv, 1)
    c.setsockopt(6, 36, 1)  # TCP_INQ
    x.call("no fault", lambda: c.recvmsg(1, 64, socket.MSG_DONTWAIT))


def file_sent(x, server):
    """sendfile() of more bytes than a file has: its last bytes leave at once."""
    c = x.pair(server)
    if server:
        x.say("bytes", len(x.h.recv_exact(c, 100)))
    else:
        fd = os.memfd_create("hundred")
        os.write(fd, bytes(100))
        x.call("sendfile", os.sendfile, c.fileno(), fd, 0, 5000)
        x.call("not sent", ioctl, c, SIOCOUTQNSD)
        os.close(fd)
    x.sync()


def signal_of_end(x, server):
    """O_ASYNC: connect() has an outcome, then the peer has no more to say."""
    if server:
        ls = x.listen()
        c = x.keep(x.h.accept(ls))
        x.sync()
        c.shutdown(socket.SHUT_WR)
        x.sync()
        return
    x.sync()
    s = x.socket()
    sig = have_signal(s)
    x.call("connect", s.connect, x.addr())
    told = None
    for what in ("connected", "at the end"):
        got = signal.sigtimedwait([sig], x.h.left() / 2)
        # the outcome may be signalled twice, the second time as late as this
        while got and got.si_code == told:
            got = signal.sigtimedwait([sig], x.h.left() / 2)
        told = got and got.si_code
        x.say(f"signal {what}", told)
        forget(sig)
        x.sync()


def fill(x, c):
    """Send as long as there is room."""
    while "OUT" in x.events(c):
        c.send(bytes(2000))


def make_room(x, c):
    """Read to the end, once the other side has filled the window."""
    x.sync()
    while c.recv(65536):
        pass


def signal_of_room(x, server):
    """O_ASYNC: poll() has found no room to send, then there is some."""
    c = x.pair(server)
    if server:
        make_room(x, c)
        return
    sig = have_signal(c)
    # no send() fails: poll() requests the signal
    fill(x, c)
    x.sync()
    x.say("signal", await_signal(x, sig, POLL_OUT))
    c.close()


def uids(x, server):
    """The UIDs of the connections of a port in /proc/net/tcp."""
    found = []
    for name in ("/proc/net/tcp", "/proc/net/tcp6"):
        with open(name, encoding="ascii") as f:
            for line in f:
                word = line.split()
                if word[3] == "01" and word[1 if server else 2].endswith(f":{x.port:04X}"):
                    found.append(int(word[7]))
    return found


def owner(x, server):
    """The caller of accept() or connect() owns the connection."""
    ls = None
    try:
        os.seteuid(1234)
        if server:
            ls = x.listen()
            os.seteuid(0)
            os.seteuid(1235)
            c = x.keep(x.h.accept(ls))
        else:
            x.sync()
            c = x.socket()
            c.connect(x.addr())
    finally:
        os.seteuid(0)
    x.sync()
    x.say("owner", uids(x, server))
    x.say("inode", os.fstat(c.fileno()).st_uid)
    x.sync()


def epoll_modes(x, server):
    """Level, edge, oneshot and exclusive, on the same data."""
    c = x.pair(server)
    if not server:
        for _ in range(2):
            c.sendall(b"abc")
            x.sync()
            x.sync()
        return
    modes = {"level": 0, "edge": select.EPOLLET, "oneshot": select.EPOLLONESHOT,
             "exclusive": select.EPOLLEXCLUSIVE}
    eps = {name: select.epoll() for name in modes}
    for name, flag in modes.items():
        eps[name].register(c, select.EPOLLIN | flag)
    for burst in (1, 2):
        x.sync()
        x.until(c, "IN")
        for again in ("", " again"):
            for name, ep in eps.items():
                x.say(f"{name} {burst}{again}", [ev for _, ev in ep.poll(0)])
        x.call("recv", x.h.recv_exact, c, 3)
        for name, ep in eps.items():
            x.say(f"{name} {burst} read", [ev for _, ev in ep.poll(0)])
        x.sync()


def exclusive(x, server):
    """Each thread asleep in an epoll instance of its own, all with EPOLLEXCLUSIVE."""
    c = x.pair(server)
    if not server:
        x.sync()
        c.sendall(b"one for one")
        x.sync()
        c.shutdown(1)
        x.sync()
        return
    eps, told = [select.epoll() for _ in range(4)], []
    for ep in eps:
        ep.register(c, select.EPOLLIN | select.EPOLLEXCLUSIVE)
    threads = [threading.Thread(target=lambda ep=ep: told.append([ev for _, ev in ep.poll()]),
                                daemon=True) for ep in eps]
    for th in threads:
        th.start()

    def still_asleep():
        """True if each thread has returned or is asleep."""
        alive = [th for th in threads if th.is_alive()]
        return all(is_asleep(th.native_id) for th in alive) and len(alive) + len(told) == 4

    x.h.wait(lambda: still_asleep() and not told, "sleepers")
    x.sync()
    x.h.wait(lambda: told and still_asleep(), "a sleeper that wakes")
    x.say("woken by a message", told)
    x.call("recv", x.h.recv_exact, c, 11)
    x.sync()
    x.h.wait(lambda: len(told) > 1 and still_asleep(), "another sleeper that wakes")
    x.say("woken by the end", told)
    x.sync()


def epoll_room(x, server):
    """Level, edge, oneshot and exclusive, with and without room to send."""
    c = x.pair(server)
    if server:
        make_room(x, c)
        return
    c.setblocking(False)

    def is_full():
        fill(x, c)
        # no window update is under way
        return ioctl(c, SIOCOUTQ) == ioctl(c, SIOCOUTQNSD) and "OUT" not in x.events(c)

    x.h.wait(is_full, "a full window")
    eps = [select.epoll() for _ in range(4)]
    for ep, mode in zip(eps, (0, select.EPOLLET, select.EPOLLONESHOT, select.EPOLLEXCLUSIVE)):
        ep.register(c, select.EPOLLOUT | mode)
    x.say("full", [ep.poll(0) for ep in eps])
    x.sync()
    x.h.wait(lambda: ioctl(c, SIOCOUTQ) == 0, "all to be taken")
    x.say("room", [[ev for _, ev in ep.poll(0)] for ep in eps])
    # there may be an edge for each piece that was read
    x.say("room again", [bool(eps[i].poll(0)) for i in (0, 2, 3)])
    c.close()


def passed_on(x, server):
    """Another process gets the descriptor, by exec and by SCM_RIGHTS."""
    c = x.pair(server)
    if not server:
        for word in (b"one", b"two"):
            c.sendall(word)
            x.call("answer", x.h.recv_exact, c, 3)
        return
    child = "import os, sys; fd = int(sys.argv[1]); os.write(fd, os.read(fd, 3).upper())"
    x.call("exec", lambda: subprocess.run([sys.executable, "-c", child, str(c.fileno())],
                                          pass_fds=(c.fileno(),), check=True).returncode)
    here, there = socket.socketpair()
    pid = os.fork()
    if not pid:
        _, fds, _, _ = socket.recv_fds(there, 1, 1)
        os.write(fds[0], os.read(fds[0], 3).upper())
        os._exit(0)
    socket.send_fds(here, [b"x"], [c.fileno()])
    x.say("child", os.waitpid(pid, 0)[1])


def duplicates(x, server):
    """dup(): one description, two descriptors."""
    c = x.pair(server)
    if not server:
        x.call("word", x.h.recv_exact, c, 4)
        x.sync()
        x.poll("one of two closed", c)
        c.sendall(b"to the other")
        x.until(c, "RDHUP")
        x.call("last words", c.recv, 40)
        x.poll("the other shut", c)
        x.sync()
        x.sync()
        x.call("end", c.recv, 1)
        return
    twin = x.keep(socket.socket(c.family, c.type, 0, os.dup(c.fileno())))
    third = libc.dup3(c.fileno(), 900, os.O_CLOEXEC)
    x.say("dup3", (third, fcntl.fcntl(third, fcntl.F_GETFD)))
    os.close(third)
    fcntl.fcntl(twin, fcntl.F_SETFL, os.O_NONBLOCK)
    x.say("flags are shared", bool(fcntl.fcntl(c, fcntl.F_GETFL) & os.O_NONBLOCK))
    fcntl.fcntl(twin, fcntl.F_SETFL, 0)
    x.call("option", c.setsockopt, 1, socket.SO_KEEPALIVE, 1)
    x.call("option is shared", twin.getsockopt, 1, socket.SO_KEEPALIVE)
    x.call("names", lambda: c.getpeername() == twin.getpeername())
    c.sendall(b"word")
    c.close()
    x.sync()
    twin.settimeout(None)
    x.call("recv", x.h.recv_exact, twin, 12)
    x.call("send", twin.send, b"bye")
    x.call("shutdown", twin.shutdown, 1)
    x.sync()
    twin.close()
    x.sync()


def forked(x, server):
    """A child has the descriptor: the connection lives until both have closed it."""
    c = x.pair(server)
    if not server:
        x.sync()
        x.poll("parent has closed", c)
        c.sendall(b"child")
        x.call("answer", x.h.recv_exact, c, 5)
        c.sendall(b"end")
        x.until(c, "RDHUP")
        x.poll("child is gone", c)
        x.call("end", c.recv, 1)
        x.sync()
        return
    pid = os.fork()
    if not pid:
        rc = 1
        try:
            c.sendall(x.h.recv_exact(c, 5).upper())
            rc = 0 if x.h.recv_exact(c, 3) == b"end" else 2
        finally:
            os._exit(rc)
    c.close()
    x.sync()
    x.say("child", os.waitpid(pid, 0)[1])
    x.sync()


class Messages:
    """An array of struct mmsghdr with one buffer each."""

    def __init__(self, bufs):
        self.bufs = [ctypes.create_string_buffer(b, len(b)) for b in bufs]
        self.iov = [struct.pack("PN", ctypes.addressof(b), len(b)) for b in self.bufs]
        self.iov = [ctypes.create_string_buffer(i, len(i)) for i in self.iov]
        raw = b"".join(struct.pack("PI4xPNPNi4xI4x", 0, 0, ctypes.addressof(i), 1, 0, 0, 0, 0)
                       for i in self.iov)
        self.raw = ctypes.create_string_buffer(raw, len(raw))
        self.size = len(raw) // len(bufs)

    def call(self, func, s, flags, *rest):
        rc = func(s.fileno(), self.raw, len(self.bufs), flags, *rest)
        if rc < 0:
            raise OSError(ctypes.get_errno(), "")
        lens = [struct.unpack_from("I", self.raw, i * self.size + 56)[0] for i in range(rc)]
        return [b.raw[:n] for b, n in zip(self.bufs, lens)]


def many_messages(x, server):
    """sendmmsg() and recvmmsg(): one call, many messages."""
    c = x.pair(server)
    if server:
        out = Messages([b"one", b"and two", b"three"])
        x.call("sendmmsg", out.call, libc.sendmmsg, c, MSG_NOSIGNAL)
        x.sync()
        x.sync()
        x.call("sendmmsg again", out.call, libc.sendmmsg, c, MSG_NOSIGNAL)
        c.shutdown(1)
        x.call("sendmmsg to nobody", out.call, libc.sendmmsg, c, MSG_NOSIGNAL)
        x.sync()
        return
    x.sync()
    x.h.wait(lambda: ioctl(c, FIONREAD) == 15, "all of them")
    box = Messages([bytes(3), bytes(7), bytes(99), bytes(5)])
    x.call("recvmmsg", box.call, libc.recvmmsg, c, socket.MSG_DONTWAIT, None)
    x.call("recvmmsg of none", box.call, libc.recvmmsg, c, socket.MSG_DONTWAIT, None)
    x.sync()
    x.until(c, "RDHUP")
    x.call("recvmmsg for one", box.call, libc.recvmmsg, c, 0x10000, None)
    x.call("recvmmsg at the end", box.call, libc.recvmmsg, c, 0, None)
    x.sync()


CASES = (reading, file_sent, signal_of_end, signal_of_room, owner, epoll_modes, exclusive,
         epoll_room, passed_on, duplicates, forked, many_messages)


def server(h, port, peer=None):
    return serve(h, port, CASES, peer)


def client(h, port, peer=None):
    return connect(h, port, CASES, peer)


def run(t):
    from smcvm.like import compare
    compare(t, server, client, len(CASES))
