# SPDX-License-Identifier: GPL-2.0
"""One script of socket calls on TCP and on SMC: the same values, errnos and events.

But for what the RFC wants otherwise, which is as it wants it.

covers: CLOSE-07 ABRT-08 API-01 API-02 API-03 CLOSE-03 CLOSE-04 CLOSE-17 CLOSE-25 ABRT-05
"""
import array
import ctypes
import errno
import fcntl
import itertools
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import threading
import time

from common import drops, queue_info
from halves import is_asleep, libc

timeout = 180
ipv = (4, 6)

MUCH = 32 << 20     # bytes, more than TCP buffers
FIONREAD, SIOCOUTQ, SIOCOUTQNSD, SIOCATMARK = 0x541B, 0x5411, 0x894B, 0x8905
MSG_NOSIGNAL, MSG_ERRQUEUE, MSG_TRUNC = 0x4000, 0x2000, 0x20
ABORT = struct.pack("ii", 1, 0)
EVENTS = {1: "IN", 2: "PRI", 4: "OUT", 8: "ERR", 0x10: "HUP", 0x20: "NVAL", 0x2000: "RDHUP"}
CLONE_NEWNET = 0x40000000
TCP_FASTOPEN_CONNECT = 30
F_SETSIG, F_SETOWN_EX = 10, 15
POLL_IN, POLL_OUT, POLL_ERR = 1, 2, 4
PORT = 5400


class Script:
    """One half of a case: makes calls, writes down what they said."""

    def __init__(self, h, port, ctl):
        self.h, self.port, self.ctl, self.said = h, port, ctl, []
        self.open = []

    def say(self, what, value):
        self.said.append(f"{what}: {value}")

    def call(self, what, func, *args):
        """Write down the value or the errno; returns the value."""
        try:
            val = func(*args)
        except OSError as e:
            self.say(what, errno.errorcode.get(e.errno, e.errno))
            return None
        shown = "socket" if isinstance(val, socket.socket) else val
        self.say(what, shown[:20] if isinstance(shown, bytes) else shown)
        return val

    def sync(self):
        """Both halves have come to this line."""
        self.ctl.sendall(b".")
        self.h.equal(self.ctl.recv(1), b".", "other half")

    def keep(self, s):
        self.open.append(s)
        return s

    def socket(self):
        return self.keep(self.h.socket())

    def addr(self, port=None):
        return (self.h.config["peer6" if self.h.v6 else "peer4"], port or self.port)

    def any(self, port=0):
        return ("::" if self.h.v6 else "0.0.0.0", port)

    def listen(self, backlog=8):
        s = self.keep(self.h.listen(self.port, backlog=backlog, mark=False))
        self.sync()
        return s

    def pair(self, server):
        """A connection; each half gets its end."""
        if server:
            ls = self.listen()
            c = self.keep(self.h.accept(ls))
            ls.close()
        else:
            self.sync()
            c = self.socket()
            c.connect(self.addr())
        c.settimeout(None)
        self.sync()
        return c

    def events(self, s):
        p = select.poll()
        p.register(s, 0x2017)
        got = p.poll(0)
        return "|".join(EVENTS[b] for b in EVENTS if got and got[0][1] & b)

    def poll(self, what, s):
        self.say(f"poll {what}", self.events(s))

    def until(self, s, event):
        """Wait for the event; others may come along."""
        self.h.wait(lambda: event in self.events(s).split("|"), f"event {event}")

    def ioctls(self, what, s):
        for name, number in (("FIONREAD", FIONREAD), ("SIOCOUTQ", SIOCOUTQ),
                             ("SIOCOUTQNSD", SIOCOUTQNSD), ("SIOCATMARK", SIOCATMARK)):
            self.call(f"{name} {what}", ioctl, s, number)

    def ends(self, what, s):
        """What a dead or half-dead socket says to everything."""
        self.poll(what, s)
        self.call(f"urgent {what}", s.recv, 1, socket.MSG_OOB | socket.MSG_DONTWAIT)
        self.call(f"recv {what}", s.recv, 10, socket.MSG_DONTWAIT)
        self.call(f"recv again {what}", s.recv, 10, socket.MSG_DONTWAIT)
        self.call(f"send {what}", s.send, b"x", MSG_NOSIGNAL | socket.MSG_DONTWAIT)
        self.call(f"error {what}", s.getsockopt, socket.SOL_SOCKET, socket.SO_ERROR)

    def close_all(self):
        for s in self.open:
            s.close()


def ioctl(s, number):
    buf = array.array("i", [-7])
    fcntl.ioctl(s, number, buf)
    return buf[0]


# Cases: a server's and a client's half each, one after the other


def no_connection(x, server):
    """Everything on a socket that is not connected."""
    s = x.socket()
    x.poll("new", s)
    x.ioctls("new", s)
    x.call("name", lambda: s.getsockname()[1])
    x.call("peer", s.getpeername)
    x.call("accept", s.accept)
    x.call("recv", s.recv, 1)
    x.call("recv nothing", s.recv, 0)
    x.call("urgent", s.recv, 1, socket.MSG_OOB)
    x.call("send", s.send, b"x", MSG_NOSIGNAL)
    x.call("error queue", s.recv, 1, MSG_ERRQUEUE)
    for how in range(4):
        x.call(f"shutdown {how}", s.shutdown, how)
    x.call("unknown ioctl", ioctl, s, 0x5499)
    s.bind(x.any())
    x.call("bind again", s.bind, x.any())
    x.poll("bound", s)
    x.call("foreign bind", x.socket().bind, ("2001:db8::1" if x.h.v6 else "192.0.2.1", 0))
    x.call("listen", s.listen, 1)
    x.poll("listening", s)
    x.ioctls("listening", s)
    x.call("listen again", s.listen, 5)
    x.call("recv listening", s.recv, 1)
    x.call("send listening", s.send, b"x", MSG_NOSIGNAL)
    x.call("peer listening", s.getpeername)
    x.call("connect listening", s.connect, x.addr())
    s.setblocking(False)
    x.call("accept listening", s.accept)
    for how in (1, 0):
        x.call(f"shutdown {how} listening", s.shutdown, how)
        x.poll(f"after shutdown {how}", s)
        x.call("accept after shutdown", s.accept)
    x.call("listen after shutdown", s.listen, 1)
    x.sync()


def raw_connect(s, data, length=None):
    if libc.connect(s.fileno(), data, len(data) if length is None else length):
        err = ctypes.get_errno()
        raise OSError(err, os.strerror(err))
    return 0


def bad_addresses(x, server):
    s = x.socket()
    for family, size in ((0, 16), (0, 1), (1, 16), (2, 8), (10, 16), (99, 128), (2, 16)):
        if family == 2 and size == 16:
            x.call("connect to port 0", raw_connect, s, struct.pack("HH4s8x", 2, 0, b"\1\2\3\4"))
        else:
            x.call(f"connect {family}, {size}", raw_connect, s,
                   struct.pack("H126x", family)[:size])
    x.poll("after", s)
    x.sync()


def refused(x, server):
    x.sync()
    if not server:
        s = x.socket()
        s.setblocking(True)
        x.call("connect", s.connect, x.addr())
        x.poll("refused", s)
        x.call("error", s.getsockopt, 1, socket.SO_ERROR)
        x.call("shutdown", s.shutdown, 2)
        x.call("connect again", s.connect, x.addr())
        x.sync()
        x.sync()
        x.call("connect at last", s.connect, x.addr())
        x.call("name", lambda: s.getpeername()[:2] == x.addr())
        x.sync()
        return
    x.sync()
    # nobody was there until now
    ls = x.listen()
    c = x.keep(x.h.accept(ls))
    x.poll("server", c)
    x.sync()


def refused_later(x, server):
    """A connect() that does not wait fails: so says all that may ask."""
    x.sync()
    if server:
        return
    s = x.socket()
    s.setblocking(False)
    x.call("connect", s.connect, x.addr())
    x.until(s, "ERR")
    x.poll("refused", s)
    x.call("urgent", s.recv, 1, socket.MSG_OOB)
    x.call("recv", s.recv, 10)
    x.call("recv again", s.recv, 10)
    x.call("send", s.send, b"x")
    x.poll("told", s)
    x.call("connect again", s.connect, x.addr())
    x.poll("once more", s)
    # an option that makes it a TCP socket leaves the error to be told
    s = x.socket()
    s.setblocking(False)
    x.call("another connect", s.connect, x.addr())
    x.until(s, "ERR")
    x.call("fast open", s.setsockopt, socket.IPPROTO_TCP, TCP_FASTOPEN_CONNECT, 1)
    x.call("error", s.getsockopt, socket.SOL_SOCKET, socket.SO_ERROR)


def outcome_by_shutdown(x, server):
    """shutdown() is told before the second connect() what the first has come to."""
    ls = x.listen() if server else x.sync()
    if server:
        x.keep(x.h.accept(ls))
        c = x.h.accept(ls)
        c.setsockopt(1, socket.SO_LINGER, ABORT)
        c.close()
        x.sync()
        return
    for what, port, event in (("accepted", x.port, "OUT"), ("refused", 9, "OUT"),
                              ("aborted", x.port, "ERR")):
        c = x.socket()
        c.setblocking(False)
        x.call(f"connect, {what}", c.connect, x.addr(port))
        x.until(c, event)
        x.call(f"shutdown, {what}", c.shutdown, 1)
        x.call(f"connect again, {what}", c.connect, x.addr(x.port))
        x.poll(what, c)
    x.sync()


def connect_twice(x, server):
    c = x.pair(server)
    if not server:
        x.call("connect again", c.connect, x.addr())
        x.call("connect elsewhere", c.connect, x.addr(x.port + 1))
    x.call("bind", c.bind, x.any())
    x.call("listen", c.listen, 1)
    x.call("accept", c.accept)
    x.poll("connected", c)
    x.ioctls("connected", c)
    x.sync()


def connect_self(x, server):
    """A socket that connects to itself hears what it says."""
    s = x.socket()
    s.bind(("::1" if x.h.v6 else "127.0.0.1", 0))
    x.call("connect", s.connect, s.getsockname())
    x.call("names", lambda: s.getsockname() == s.getpeername())
    x.call("send", s.send, b"hello")
    x.call("recv", s.recv, 10)
    x.poll("self", s)
    x.call("shutdown", s.shutdown, 1)
    x.call("end", s.recv, 1)
    x.sync()


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
    c.setsockopt(1, 42, 3)  # SO_PEEK_OFF
    x.call("peek at 3", c.recv, 2, socket.MSG_PEEK)
    x.call("peek at 5", c.recv, 2, socket.MSG_PEEK)
    x.call("peek offset", c.getsockopt, 1, 42)
    x.call("take 2", c.recv, 2)
    x.call("peek offset", c.getsockopt, 1, 42)
    x.call("peek on", c.recv, 10, socket.MSG_PEEK | socket.MSG_DONTWAIT)
    c.setsockopt(1, 42, -1)
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
    """More is asked of a file than it has: its last bytes wait for no more."""
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


def forget(sig):
    """What has been told so far is of no interest."""
    while signal.sigtimedwait([sig], 0):
        pass


def have_signal(s):
    """O_ASYNC: this thread gets the signal, and takes it when it likes."""
    sig = signal.SIGRTMIN + 1
    signal.pthread_sigmask(signal.SIG_BLOCK, [sig])
    # of an earlier case
    forget(sig)
    fcntl.fcntl(s, F_SETSIG, sig)
    fcntl.fcntl(s, F_SETOWN_EX, struct.pack("ii", 0, threading.get_native_id()))
    fcntl.fcntl(s, fcntl.F_SETFL, os.O_NONBLOCK | os.O_ASYNC)
    return sig


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
        # the outcome may be told twice, and then as late as this
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


def await_signal(x, sig, code):
    """Wait for a signal of this kind, after others perhaps; what came of it."""
    got = signal.sigtimedwait([sig], x.h.left() / 2)
    while got and got.si_code != code:
        got = signal.sigtimedwait([sig], x.h.left() / 2)
    return got and got.si_code


def signal_of_room(x, server):
    """O_ASYNC: poll() has found no room to send, then there is some."""
    c = x.pair(server)
    if server:
        make_room(x, c)
        return
    sig = have_signal(c)
    # nothing is refused: it is poll() that asks for the signal
    fill(x, c)
    x.sync()
    x.say("signal", await_signal(x, sig, POLL_OUT))
    c.close()


def uids(x, server):
    """Who owns the connections of a port, as TCP says."""
    found = []
    for name in ("/proc/net/tcp", "/proc/net/tcp6"):
        with open(name, encoding="ascii") as f:
            for line in f:
                word = line.split()
                if word[3] == "01" and word[1 if server else 2].endswith(f":{x.port:04X}"):
                    found.append(int(word[7]))
    return found


def accept_timed(x, server):
    """accept() with SO_RCVTIMEO: nobody comes in time, then somebody does."""
    if not server:
        x.sync()
        x.sync()
        x.socket().connect(x.addr())
        x.sync()
        return
    ls = x.listen()
    ls.settimeout(None)
    ls.setsockopt(1, socket.SO_RCVTIMEO, struct.pack("qq", 0, 300000))
    began = time.monotonic()
    x.call("nobody", ls.accept)
    x.say("waited", time.monotonic() - began > 0.2)
    ls.setsockopt(1, socket.SO_RCVTIMEO, struct.pack("qq", 1000, 0))

    def take():
        c = x.call("somebody", x.h.accept, ls)
        if c:
            x.keep(c)

    th = threading.Thread(target=take, daemon=True)
    th.start()
    x.h.wait(lambda: is_asleep(th.native_id) or not th.is_alive(), "a sleeper")
    x.say("asleep", th.is_alive())
    x.sync()
    th.join(x.h.within(20))
    x.sync()


def owner(x, server):
    """The user who calls accept() or connect() owns the connection."""
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


def half_closed(x, server):
    """shutdown() in both directions, one after the other."""
    c = x.pair(server)
    if server:
        c.sendall(b"bye")
        x.call("shutdown write", c.shutdown, 1)
        x.call("shutdown write again", c.shutdown, 1)
        x.call("send", c.send, b"x", MSG_NOSIGNAL)
        x.poll("write shut", c)
        x.sync()
        x.sync()
        x.call("recv", x.h.recv_exact, c, 4)
        x.call("end", c.recv, 1)
        x.ends("ended", c)
        x.call("shutdown", c.shutdown, 2)
        return
    x.sync()
    x.until(c, "RDHUP")
    x.poll("peer's end", c)
    x.ioctls("peer's end", c)
    x.call("recv", c.recv, 10)
    x.call("end", c.recv, 10)
    x.ioctls("end", c)
    x.call("send", c.send, b"more")
    x.call("peer's name", lambda: c.getpeername()[:2] == x.addr())
    x.call("shutdown read", c.shutdown, 0)
    x.poll("read shut", c)
    x.call("shutdown write", c.shutdown, 1)
    x.sync()
    x.call("send", c.send, b"x", MSG_NOSIGNAL)


def read_shut(x, server):
    """shutdown(SHUT_RD): the end for the reader, nothing to the peer."""
    c = x.pair(server)
    if server:
        x.call("shutdown read", c.shutdown, 0)
        x.poll("read shut", c)
        x.call("recv", c.recv, 10)
        x.call("send", c.send, b"still")
        x.sync()
        return
    x.sync()
    x.call("recv", c.recv, 10)
    x.poll("peer's reading shut", c)


def both_close(x, server):
    """Both shut down everything at the same time."""
    c = x.pair(server)
    x.call("shutdown", c.shutdown, 2)
    x.sync()
    x.until(c, "HUP")
    x.ends("both", c)


def closed_by_peer(x, server):
    """The peer closes; what it sent is still read."""
    c = x.pair(server)
    if server:
        c.sendall(b"last words")
        c.close()
        x.sync()
        x.sync()
        return
    x.sync()
    x.until(c, "RDHUP")
    x.poll("closed", c)
    x.call("recv", c.recv, 40)
    x.call("end", c.recv, 40)
    x.call("end again", c.recv, 40)
    x.poll("read", c)
    x.sync()


def link_local(dev):
    """The link-local address of a device of this machine."""
    with open("/proc/net/if_inet6", encoding="ascii") as f:
        for line in f:
            addr, _, _, scope, _, name = line.split()
            if scope == "20" and name == dev:
                return socket.inet_ntop(socket.AF_INET6, bytes.fromhex(addr))
    raise LookupError(f"{dev} has no link-local address")


def device_of_address(x, server):
    """bind() to a link-local address binds to its device, which stays so."""
    if server or not x.h.v6:
        return
    index = socket.if_nametoindex("eth0")
    s = x.socket()
    x.call("device", s.getsockopt, socket.SOL_SOCKET, socket.SO_BINDTODEVICE, 16)
    x.call("bind", s.bind, (link_local("eth0"), 0, 0, index))
    x.call("device, bound", s.getsockopt, socket.SOL_SOCKET, socket.SO_BINDTODEVICE, 16)
    x.call("listen", s.listen)
    x.call("device, listening", s.getsockopt, socket.SOL_SOCKET, socket.SO_BINDTODEVICE, 16)
    x.say("scope", s.getsockname()[3] == index)


def sent_in_vain(x, server):
    """The peer has closed; what is sent after that tells both of it."""
    c = x.pair(server)
    if server:
        c.close()
        x.sync()
        x.sync()
        return
    x.until(c, "RDHUP")
    x.sync()
    x.call("send", c.send, b"in vain")
    x.until(c, "ERR")
    x.poll("reset", c)
    x.call("name", c.getpeername)
    x.call("shutdown", c.shutdown, 1)
    x.call("recv", c.recv, 10)
    x.call("error", c.getsockopt, socket.SOL_SOCKET, socket.SO_ERROR)
    x.ends("told", c)
    x.sync()


def much_in_vain(x, server):
    """The same with more than is taken at once: who has more to send is told."""
    c = x.pair(server)
    if server:
        c.close()
        x.sync()
        x.sync()
        return
    x.until(c, "RDHUP")
    x.sync()
    c.setblocking(False)
    x.say("took everything", c.send(bytes(MUCH)) == MUCH)
    x.until(c, "ERR")
    x.poll("reset", c)
    x.call("the rest", c.send, b"rest", MSG_NOSIGNAL)
    x.ends("told", c)
    x.sync()


def aborted(x, server):
    """SO_LINGER of 0: the peer is reset."""
    c = x.pair(server)
    if server:
        c.sendall(b"read")
        x.sync()
        c.setsockopt(1, socket.SO_LINGER, ABORT)
        c.close()
        x.sync()
        return
    x.call("recv", c.recv, 40)
    x.sync()
    x.sync()
    x.until(c, "ERR")
    x.poll("aborted", c)
    x.call("send", c.send, b"x", MSG_NOSIGNAL)
    x.ends("aborted", c)
    x.call("shutdown", c.shutdown, 1)


def closed_unread(x, server):
    """close() with unread data aborts."""
    c = x.pair(server)
    if server:
        x.until(c, "IN")
        c.close()
        x.sync()
        return
    c.sendall(b"unread")
    x.sync()
    x.until(c, "ERR")
    x.call("error", c.getsockopt, 1, socket.SO_ERROR)
    x.ends("reset", c)


def dissolved(x, server):
    """connect() to AF_UNSPEC: an attempt, a listener, a connection."""
    s = x.socket()
    s.bind(x.any())
    s.listen(1)
    x.call("listener", raw_connect, s, bytes(16))
    x.poll("listener", s)
    s.setblocking(False)
    x.call("accept", s.accept)
    c = x.pair(server)
    if server:
        x.sync()
        x.until(c, "ERR")
        x.call("recv", c.recv, 1)
        x.call("recv", c.recv, 1)
        return
    x.call("connection", raw_connect, c, bytes(16))
    x.sync()
    x.call("send", c.send, b"x", MSG_NOSIGNAL)
    x.call("name", c.getpeername)


def is_still(x, c, server):
    pass


def has_unread(x, c, server):
    if server:
        c.sendall(b"never read")
    else:
        x.until(c, "IN")


def has_shut_write(x, c, server):
    if not server:
        c.shutdown(1)
    else:
        # the end comes by RDMA, and a reset that follows at once by TCP: it may overtake
        x.until(c, "RDHUP")


def has_shut_read(x, c, server):
    if not server:
        c.shutdown(0)


def peer_has_shut(x, c, server):
    if server:
        c.shutdown(1)
    else:
        x.until(c, "RDHUP")


def both_have_shut(x, c, server):
    if not server:
        c.shutdown(1)
    x.until(c, "RDHUP")
    if server:
        c.shutdown(1)
    x.until(c, "HUP")


def peer_has_closed(x, c, server):
    if server:
        c.close()
    else:
        x.until(c, "RDHUP")


def all_is_closed(x, c, server):
    peer_has_closed(x, c, server)
    if not server:
        c.shutdown(1)
        x.until(c, "HUP")


def all_is_shut(x, c, server):
    """As both_have_shut(), but the second one shuts down both directions at once."""
    peer_has_shut(x, c, server)
    if not server:
        c.shutdown(2)
    x.until(c, "HUP")


def peer_has_reset(x, c, server):
    if server:
        c.setsockopt(1, socket.SO_LINGER, ABORT)
        c.close()
    else:
        x.until(c, "ERR")


def was_told_of_reset(x, c, server):
    peer_has_reset(x, c, server)
    if not server:
        x.call("error", c.getsockopt, 1, socket.SO_ERROR)


STATES = (is_still, has_unread, has_shut_write, has_shut_read, peer_has_shut, both_have_shut,
          peer_has_closed, all_is_closed, all_is_shut, peer_has_reset, was_told_of_reset)
ENDED = (both_have_shut, all_is_closed, all_is_shut)


def another(x, ls):
    """A connection: by accept() from the listener LS, or to it where that is None."""
    if ls:
        c = x.keep(x.h.accept(ls))
        c.settimeout(None)
    else:
        c = x.socket()
        c.connect(x.addr())
    return c


def tcp_state(s):
    return s.getsockopt(6, socket.TCP_INFO, 1)[0]


def named(x, server):
    """The peer has a name as long as there is a connection."""
    ls = x.listen() if server else x.sync()
    for state in STATES:
        what = state.__name__
        c = another(x, ls)
        x.sync()
        state(x, c, server)
        x.sync()
        if c.fileno() >= 0:
            if state in ENDED:
                # TCP's last acknowledgment
                x.h.wait(lambda s=c: tcp_state(s) == 7, f"the end of all when {what}")
            x.call(f"name when {what}", lambda s=c: s.getpeername()[0] == x.addr()[0])
        x.sync()


def shut_in_state(x, server):
    """shutdown() of each direction in every state of a connection."""
    ls = x.listen() if server else x.sync()
    for state, how in itertools.product(STATES, range(3)):
        if (state, how) == (has_unread, 2):
            continue    # see APART
        what = f"{how} when {state.__name__}"
        c = another(x, ls)
        x.sync()
        state(x, c, server)
        x.sync()
        if state in ENDED and c.fileno() >= 0:
            x.h.wait(lambda s=c: tcp_state(s) == 7, f"the end of all when {state.__name__}")
        x.sync()
        if not server:
            x.call(f"shutdown {what}", c.shutdown, how)
            x.poll(f"shut {what}", c)
        elif how and state in (is_still, has_unread, has_shut_read, peer_has_shut):
            x.until(c, "HUP" if state is peer_has_shut else "RDHUP")
            x.poll(f"peer has shut {what}", c)
            x.call(f"recv, peer has shut {what}", c.recv, 10)
        x.sync()
        if not server:
            x.call(f"recv {what}", c.recv, 10, socket.MSG_DONTWAIT)
            x.call(f"recv again {what}", c.recv, 10, socket.MSG_DONTWAIT)
            if how:
                x.call(f"send {what}", c.send, b"x", MSG_NOSIGNAL | socket.MSG_DONTWAIT)
            x.call(f"error {what}", c.getsockopt, 1, socket.SO_ERROR)
            if how and state in (peer_has_shut, peer_has_closed):
                # the peer's last acknowledgment
                x.h.wait(lambda s=c: tcp_state(s) == 7, f"the end of all, {what}")
            x.call(f"shutdown again {what}", c.shutdown, how)
        x.sync()


def anew(x, what, s):
    """The socket, dissolved before, connects and carries data."""
    x.call(f"connect after {what}", s.connect, x.addr())
    x.poll(f"connected after {what}", s)
    x.call(f"error after {what}", s.getsockopt, 1, socket.SO_ERROR)
    x.call(f"name after {what}", lambda: s.getpeername()[:2] == x.addr())
    x.call(f"send after {what}", s.send, b"anew")
    x.call(f"recv after {what}", x.h.recv_exact, s, 4)


def answer_anew(x, ls):
    """The server of anew()."""
    c = x.keep(x.h.accept(ls))
    c.settimeout(None)
    x.h.recv_exact(c, 4)
    c.sendall(b"yes!")
    return c


def dissolved_in_state(x, server):
    """AF_UNSPEC in every state of a connection; then the socket is as new."""
    ls = x.listen() if server else x.sync()
    for state in STATES:
        what = state.__name__
        c = another(x, ls)
        if not server:
            c.setsockopt(6, socket.TCP_NODELAY, 1)
            c.setsockopt(1, socket.SO_PRIORITY, 3)
            c.setsockopt(1, 42, 5)  # SO_PEEK_OFF
            cookie = c.getsockopt(1, 57, 8)
        x.sync()
        state(x, c, server)
        x.sync()
        if server:
            x.sync()
            if state in (is_still, has_unread, has_shut_write, has_shut_read, peer_has_shut):
                x.until(c, "ERR")
                x.ends(f"dissolved when {what}", c)
            answer_anew(x, ls)
            x.sync()
            continue
        x.call(f"dissolve when {what}", raw_connect, c, bytes(16))
        x.sync()
        x.poll(what, c)
        x.call(f"FIONREAD {what}", ioctl, c, FIONREAD)
        if state is not has_unread:  # its error stays until connect()
            x.ends(what, c)
        x.call(f"peer {what}", c.getpeername)
        x.call(f"port {what}", lambda: c.getsockname()[1] > 0)
        x.call(f"shutdown {what}", c.shutdown, 1)
        x.call(f"dissolve again when {what}", raw_connect, c, bytes(16))
        for level, name in ((6, socket.TCP_NODELAY), (1, socket.SO_PRIORITY), (1, 42)):
            x.call(f"option {level}, {name} {what}", c.getsockopt, level, name)
        x.say(f"cookie {what}", c.getsockopt(1, 57, 8) == cookie)
        anew(x, what, c)
        # and once more, with nothing in between
        x.call(f"dissolve {what}", raw_connect, c, bytes(16))
        x.sync()


def dissolved_listens(x, server):
    """A connection is dissolved; its socket listens, and is a client again."""
    c = x.pair(server)
    if not server:
        x.sync()
        for _ in range(2):
            anew(x, "listen", x.socket())
        x.sync()
        x.listen()
        x.sync()
        answer_anew(x, x.open[-1])
        return
    x.call("dissolve", raw_connect, c, bytes(16))
    x.call("listen unbound", c.listen, 1)
    x.call("dissolve listener", raw_connect, c, bytes(16))
    c.setsockopt(1, socket.SO_REUSEADDR, 1)
    x.call("bind", c.bind, x.any(x.port))
    x.call("listen", c.listen, 4)
    x.poll("listening", c)
    x.sync()
    for _ in range(2):
        answer_anew(x, c)
    x.sync()
    x.call("dissolve listener again", raw_connect, c, bytes(16))
    x.poll("no listener", c)
    x.sync()
    x.sync()
    anew(x, "listening", c)


def nobody(x):
    """An address from which nothing comes back."""
    return ("fd43::77" if x.h.v6 else "10.43.0.77", x.port)


def is_trying(s):
    """Has it sent a SYN?"""
    return s.getsockopt(6, socket.TCP_INFO, 1) == b"\2"


def attempt_ended(x, server):
    """connect() under way meets AF_UNSPEC, shutdown(), and who waits for it."""
    if server:
        ls = x.listen()
        for _ in range(5):
            answer_anew(x, ls)
        x.sync()
        return
    x.sync()
    for how, end in (("dissolve", lambda s: raw_connect(s, bytes(16))),
                     ("shutdown", lambda s: s.shutdown(1))):
        s = x.socket()
        s.setblocking(False)
        x.call("connect", s.connect, nobody(x))
        x.call("connect again", s.connect, nobody(x))
        x.poll("connecting", s)
        x.call(how, end, s)
        x.poll(f"after {how}", s)
        x.call(f"error after {how}", s.getsockopt, 1, socket.SO_ERROR)
        s.setblocking(True)
        anew(x, how, s)

        s = x.socket()
        told = []

        def connects():
            addr = nobody(x)
            data = (struct.pack("=HHI16sI", 10, socket.htons(addr[1]), 0,
                                socket.inet_pton(10, addr[0]), 0) if x.h.v6 else
                    struct.pack("=HH4s8x", 2, socket.htons(addr[1]), socket.inet_aton(addr[0])))
            try:
                told.append(raw_connect(s, data))
            except OSError as e:
                told.append(errno.errorcode[e.errno])

        s.setblocking(True)
        th = threading.Thread(target=connects)
        th.start()
        x.h.wait(lambda: is_trying(s), "a SYN")
        x.call(how, end, s)
        th.join(x.h.within(20))
        x.say(f"who waited for connect(), {how}", told)
        anew(x, f"{how} from aside", s)
    # a time limit; the attempt goes on
    s = x.socket()
    s.settimeout(None)
    s.setsockopt(1, socket.SO_SNDTIMEO, struct.pack("qq", 0, 100000))
    x.call("limited", s.connect, nobody(x))
    x.call("limited again", s.connect, nobody(x))
    x.call("dissolve", raw_connect, s, bytes(16))
    s.setsockopt(1, socket.SO_SNDTIMEO, struct.pack("qq", 0, 0))
    anew(x, "limit", s)
    x.sync()


def sleepers(x, server):
    """Whoever sleeps in recv(), send() or poll() when AF_UNSPEC comes."""
    for what in ("recv", "send", "poll"):
        c = x.pair(server)
        if server:
            x.until(c, "ERR")
            x.sync()
            continue
        c.settimeout(None)
        c.setsockopt(1, socket.SO_SNDBUF, 4096)
        told, begun = [], threading.Event()

        def sleeps():
            begun.set()
            try:
                if what == "recv":
                    told.append(c.recv(1))
                elif what == "poll":
                    p = select.poll()
                    p.register(c, select.POLLPRI)
                    told.append([ev for _, ev in p.poll()])
                else:
                    while True:
                        c.send(bytes(65536), MSG_NOSIGNAL)
            except OSError as e:
                told.append(errno.errorcode[e.errno])

        th = threading.Thread(target=sleeps)
        th.start()
        begun.wait()
        x.h.wait(lambda: is_asleep(th.native_id), "a sleeper")
        x.call(f"dissolve under {what}", raw_connect, c, bytes(16))
        th.join(x.h.within(20))
        x.say(f"{what} that slept", told)
        x.sync()


def signal_anew(x, server):
    """O_ASYNC: AF_UNSPEC and shutdown() are told, and what comes after them."""
    ls = x.listen() if server else x.sync()
    if server:
        c = another(x, ls)
        x.until(c, "ERR")
        x.sync()
        c = another(x, ls)
        x.sync()
        c.send(b"anew")
        x.sync()
        return
    for how, end in (("dissolve", lambda s: raw_connect(s, bytes(16))),
                     ("shutdown", lambda s: s.shutdown(1))):
        s = x.socket()
        sig = have_signal(s)
        x.call("connect", s.connect, nobody(x))
        forget(sig)
        x.call(how, end, s)
        x.say(f"signal of {how}", await_signal(x, sig, POLL_ERR))

    # somebody sleeps in recv() meanwhile, which notes that the signal can wait
    c, told = another(x, None), []
    sig = have_signal(c)
    c.setblocking(True)

    def sleeps():
        try:
            told.append(c.recv(1))
        except OSError as e:
            told.append(errno.errorcode[e.errno])

    th = threading.Thread(target=sleeps)
    th.start()
    x.h.wait(lambda: is_asleep(th.native_id), "a sleeper")
    c.setblocking(False)
    x.call("dissolve", raw_connect, c, bytes(16))
    x.say("signal of dissolve", await_signal(x, sig, POLL_ERR))
    th.join(x.h.within(20))
    x.say("who slept", told)
    x.sync()
    x.call("connect anew", c.connect, x.addr())
    x.until(c, "OUT")
    forget(sig)
    x.sync()
    x.say("signal of data", await_signal(x, sig, POLL_IN))
    x.call("recv", c.recv, 10)
    x.sync()


def listener_closed(x, server):
    """Nobody accepted: the peer is reset."""
    if server:
        ls = x.listen()
        x.until(ls, "IN")
        # a reset that overtakes connect() is its error
        x.sync()
        ls.close()
        x.sync()
        return
    x.sync()
    s = x.socket()
    x.call("connect", s.connect, x.addr())
    x.sync()
    x.sync()
    x.until(s, "ERR")
    x.ends("reset", s)


def listener_killed(x, server):
    """An operator ends it: who sleeps in accept() is told, and it can listen again."""
    if not server:
        x.sync()
        x.sync()
        s = x.socket()
        x.call("connect", s.connect, x.addr())
        x.sync()
        return
    ls, told = x.listen(), []
    ls.settimeout(None)

    def accepts():
        try:
            told.append(ls.accept())
        except OSError as e:
            told.append(errno.errorcode[e.errno])

    th = threading.Thread(target=accepts, daemon=True)
    th.start()
    x.h.wait(lambda: is_asleep(th.native_id), "a sleeper")
    subprocess.run(["ss", "-tK", "state", "listening", f"sport = :{x.port}"], check=True,
                   stdout=subprocess.DEVNULL)
    th.join(x.h.within(20))
    x.say("who slept in accept()", told)
    x.poll("killed", ls)
    x.call("error", ls.getsockopt, 1, socket.SO_ERROR)
    x.poll("after that", ls)
    x.call("accept", ls.accept)
    x.call("listen", ls.listen, 4)
    x.poll("listening", ls)
    x.sync()
    x.until(ls, "IN")
    x.call("accept again", lambda: x.keep(ls.accept()[0]))
    x.sync()


def full_backlog(x, server):
    """A backlog of 2 takes three; the fourth waits until there is room."""
    if server:
        ls = x.listen(2)
        x.sync()
        # who has connected may be ahead of the server, and the fourth would get in; who has
        # not may be in TCP's queue, and out of it again for the handshake
        x.h.wait(lambda: queue_info(ls)[1] == 3, "a full queue")
        x.say("TCP_INFO of a full queue", queue_info(ls))
        before = drops()
        x.sync()
        x.sync()
        x.h.wait(lambda: drops() > before, "a refused SYN")
        x.sync()
        for i in range(4):
            x.call("accept", x.h.accept, ls).close()
            # the fourth follows when it likes
            if i == 3:
                x.say("TCP_INFO of an empty queue", queue_info(ls))
        return
    x.sync()
    for _ in range(3):
        x.call("connect", x.socket().connect, x.addr())
    x.sync()
    x.sync()
    late = x.socket()
    late.setblocking(False)
    x.call("fourth", late.connect, x.addr())
    x.sync()
    x.poll("fourth", late)
    x.sync()
    x.until(late, "OUT")
    x.call("fourth at last", late.getsockopt, 1, socket.SO_ERROR)


def behind_plain(x, server):
    """connect() waits for no accept() of who came before, whatever these speak."""
    if server:
        ls = x.listen(8)
        x.sync()
        for _ in range(8):
            c = x.call("accept", x.h.accept, ls)
            c.sendall(b"here")
            c.close()
        return
    x.sync()
    socks = []
    for is_plain in (True, False, True, True, False, False, True, False):
        s = x.keep(socket.socket(socket.AF_INET6 if x.h.v6 else socket.AF_INET)) \
            if is_plain else x.socket()
        # nobody accepts before the last one is connected
        s.settimeout(x.h.left())
        x.call("connect", s.connect, x.addr())
        socks.append(s)
    x.sync()
    for s in socks:
        x.call("recv", x.h.recv_exact, s, 4)


def accept_flags(x, server):
    if not server:
        x.sync()
        x.socket().connect(x.addr())
        x.socket().connect(x.addr())
        x.sync()
        return
    ls = x.listen()
    for flags in (0, socket.SOCK_NONBLOCK | socket.SOCK_CLOEXEC):
        fd = libc.accept4(ls.fileno(), None, None, flags)
        x.say(f"accept4 {flags:#x} nonblock", bool(fcntl.fcntl(fd, fcntl.F_GETFL) & os.O_NONBLOCK))
        x.say(f"accept4 {flags:#x} cloexec", fcntl.fcntl(fd, fcntl.F_GETFD))
        os.close(fd)
    x.say("accept4 of nonsense", libc.accept4(ls.fileno(), None, None, 0x1234567))
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
        """Nobody is on the way: who is not asleep has returned; False while somebody is."""
        alive = [th for th in threads if th.is_alive()]
        return all(is_asleep(th.native_id) for th in alive) and len(alive) + len(told) == 4

    x.h.wait(lambda: still_asleep() and not told, "sleepers")
    x.sync()
    x.h.wait(lambda: told and still_asleep(), "somebody to wake up")
    x.say("woken by a message", told)
    x.call("recv", x.h.recv_exact, c, 11)
    x.sync()
    x.h.wait(lambda: len(told) > 1 and still_asleep(), "somebody else to wake up")
    x.say("woken by the end", told)
    x.sync()


def epoll_room(x, server):
    """Level, edge, oneshot and exclusive, where there is room to send and where not."""
    c = x.pair(server)
    if server:
        make_room(x, c)
        return
    c.setblocking(False)

    def is_full():
        fill(x, c)
        # nothing is on its way that may make room
        return ioctl(c, SIOCOUTQ) == ioctl(c, SIOCOUTQNSD) and "OUT" not in x.events(c)

    x.h.wait(is_full, "a full window")
    eps = [select.epoll() for _ in range(4)]
    for ep, mode in zip(eps, (0, select.EPOLLET, select.EPOLLONESHOT, select.EPOLLEXCLUSIVE)):
        ep.register(c, select.EPOLLOUT | mode)
    x.say("full", [ep.poll(0) for ep in eps])
    x.sync()
    x.h.wait(lambda: ioctl(c, SIOCOUTQ) == 0, "all to be taken")
    x.say("room", [[ev for _, ev in ep.poll(0)] for ep in eps])
    # of edges there may be one for each piece that was taken
    x.say("room again", [bool(eps[i].poll(0)) for i in (0, 2, 3)])
    c.close()


def passed_on(x, server):
    """The descriptor goes to another process, by exec and by SCM_RIGHTS."""
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
    """sendmmsg() and recvmmsg(): one call, many of them."""
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


def shared_listener(x, server):
    """Threads that wait for the same listener by EPOLLEXCLUSIVE, and in accept()."""
    if not server:
        x.sync()
        for _ in range(2):
            for _ in range(4):
                s = x.socket()
                s.connect(x.addr())
                x.call("greeting", x.h.recv_exact, s, 2)
            x.sync()
        return
    ls = x.listen()
    for how in ("epoll", "accept"):
        ls.setblocking(how == "accept")
        taken, lock = [], threading.Lock()

        def serve():
            ep = select.epoll()
            ep.register(ls, select.EPOLLIN | select.EPOLLEXCLUSIVE)
            while len(taken) < 4:
                if how == "epoll" and not ep.poll(0.1):
                    continue
                try:
                    c = ls.accept()[0]
                except OSError:
                    continue
                with lock:
                    taken.append(c)
                c.sendall(b"hi")

        threads = [threading.Thread(target=serve, daemon=True) for _ in range(3)]
        for th in threads:
            th.start()
        x.h.wait(lambda: len(taken) == 4, "four connections")
        if how == "accept":
            ls.shutdown(socket.SHUT_RDWR)
        for th in threads:
            th.join(x.h.within(20))
        x.say(f"{how}: threads left", sum(th.is_alive() for th in threads))
        x.open += taken
        x.sync()


def namespace(x, server):
    """Both ends in a network namespace of their own."""
    pid = os.fork()
    if not pid:
        rc = 1
        try:
            rc = in_namespace(x)
        finally:
            os._exit(rc)
    x.say("child", os.waitpid(pid, 0)[1])
    x.sync()


def in_namespace(x):
    if libc.unshare(CLONE_NEWNET):
        return 2
    lo = struct.pack("16sh22x", b"lo", 0x41)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        fcntl.ioctl(s, 0x8914, lo)
    ls = x.h.socket()
    ls.bind(("::1" if x.h.v6 else "127.0.0.1", 7000))
    ls.listen(1)
    c = x.h.socket()
    c.connect(ls.getsockname())
    a, _ = ls.accept()
    c.sendall(b"inside")
    return 0 if x.h.recv_exact(a, 6) == b"inside" else 3


def has_come(x, c, n):
    x.h.wait(lambda: ioctl(c, FIONREAD) == n, f"{n} bytes")


def shut_unread(x, server):
    """shutdown(SHUT_RDWR) with received data that nobody has read."""
    c = x.pair(server)
    if server:
        c.sendall(b"unread")
        x.sync()
        x.until(c, "RDHUP")
        x.call("recv", c.recv, 10)
        return
    has_come(x, c, 6)
    x.call("shutdown", c.shutdown, 2)
    x.call("recv", c.recv, 10)
    x.sync()


def reset_unread(x, server):
    """The peer resets a connection on which data wait to be read."""
    c = x.pair(server)
    if server:
        c.sendall(b"unread")
        x.sync()
        c.setsockopt(1, socket.SO_LINGER, ABORT)
        c.close()
        return
    has_come(x, c, 6)
    x.sync()
    x.until(c, "ERR")
    x.call("recv", c.recv, 10)
    x.call("recv again", c.recv, 10)


def answered_unread(x, server):
    """The peer answers, and closes with bytes unread: who is reset reads the answer."""
    for order in ("recv", "recv", "send"), ("send", "recv", "recv"), ("send", "send", "recv"):
        c = x.pair(server)
        if server:
            x.until(c, "IN")
            c.recv(1)
            c.sendall(b"bad request")
            c.close()
            x.sync()
            continue
        c.sendall(b"request, and more of it")
        x.sync()
        x.until(c, "ERR")
        x.poll("reset", c)
        x.ioctls("reset", c)
        for i, what in enumerate(order):
            if what == "recv":
                x.call(f"{i}: recv", c.recv, 20)
            else:
                x.call(f"{i}: send", c.send, b"x", MSG_NOSIGNAL)
        x.call("end", c.recv, 20)
        c.close()


CASES = (no_connection, bad_addresses, refused, refused_later, outcome_by_shutdown,
         connect_twice, connect_self, reading, file_sent, signal_of_end, signal_of_room,
         half_closed, read_shut, both_close, closed_by_peer, sent_in_vain, much_in_vain,
         aborted, closed_unread, named, device_of_address, shut_in_state, dissolved,
         dissolved_in_state, dissolved_listens,
         attempt_ended, sleepers, signal_anew, listener_closed, listener_killed, full_backlog,
         behind_plain, accept_flags, accept_timed, owner, epoll_modes, exclusive, epoll_room,
         passed_on, duplicates, forked, many_messages, shared_listener, namespace,
         reset_unread, answered_unread)


# What they say on TCP and on SMC: that of the server, that of the client
APART = {
    shut_unread: {
        "tcp": (["recv: b''"], ["shutdown: None", "recv: b'unread'"]),
        # CLOSE-03, CLOSE-07
        "smc": (["recv: ECONNRESET"], ["shutdown: None", "recv: ECONNRESET"]),
    },
    reset_unread: {
        "tcp": ([], ["recv: b'unread'", "recv again: ECONNRESET"]),
        # ABRT-08, with abort_purges
        "smc": ([], ["recv: ECONNRESET", "recv again: b''"]),
    },
}


def play(h, port, ctl, is_server, cases):
    said = {}
    for i, case in enumerate(cases):
        x = Script(h, port + 1 + i, ctl)
        h.mark(case.__name__)
        case(x, is_server)
        x.sync()
        x.close_all()
        said[case.__name__] = x.said
    return said


def at_address(h, peer):
    """The halves' peer has another address than the one it is known by."""
    if peer:
        h.config["peer4"] = peer


def server(h, port, is_apart=False, peer=None):
    at_address(h, peer)
    ls = socket.create_server(("", port))
    h.mark("listening")
    return play(h, port, ls.accept()[0], True, APART if is_apart else CASES)


def client(h, port, is_apart=False, peer=None):
    at_address(h, peer)
    ctl = socket.create_connection((h.config["peer4"], port))
    return play(h, port, ctl, False, APART if is_apart else CASES)


def apart(t):
    """What differs, and has to."""
    t.step(apart.__doc__)
    for vm in (t.a, t.b):
        t.set(vm, abort_purges=1)
    for i, family in enumerate(("tcp", t.family)):
        port = PORT + 1000 + 10 * i
        s = t.half(t.a, server, family, port=port, is_apart=True)
        s.expect("listening", t.left())
        c = t.half(t.b, client, family, port=port, is_apart=True)
        t.wait_all(s, c)
        for case, want in APART.items():
            t.equal((s.value[case.__name__], c.value[case.__name__]), want[family],
                    f"{case.__name__} on {family}")


def both(t, number, of_server, of_client, peers=(None, None)):
    """What the halves said, on sockets of such families."""
    port = PORT + number * (len(CASES) + 1)
    s = t.half(t.a, server, of_server, port=port, peer=peers[1])
    s.expect("listening", t.left())
    c = t.half(t.b, client, of_client, port=port, peer=peers[0])
    t.wait_all(s, c)
    return s.value, c.value


def declined(t, number):
    """Both offer SMC, and the server declines: each time."""
    from smcvm.links import AFAR, afar
    for vm in (t.a, t.b):
        t.set(vm, peer_memory_ms=0)
    before = t.stat(t.a, "decline_tx")
    with afar(t):
        said = both(t, number, t.family, t.family, AFAR)
    t.check(t.stat(t.a, "decline_tx") >= before + len(CASES), "few connections were declined")
    t.restore("peer_memory_ms")
    return said


def run(t):
    said = {}
    pairs = [("tcp", "tcp"), (t.family, t.family), ("tcp", t.family), (t.family, "tcp")]
    if t.family == "smc":
        pairs += [("inet_smc", "inet_smc"), ("inet_smc", "tcp")]
    for i, kinds in enumerate(pairs):
        t.step(f"server on {kinds[0]}, client on {kinds[1]}")
        said[kinds] = both(t, i, *kinds)
    if t.long and t.family == "smc" and t.ipv == 4:
        t.step("declined")
        said["declined"] = declined(t, len(pairs))
    bad = []
    for kinds, halves in said.items():
        for side, want, got in zip(("server", "client"), said["tcp", "tcp"], halves):
            for case in want:
                if want[case] != got[case]:
                    pairs = [p for p in zip(want[case], got[case]) if p[0] != p[1]]
                    bad.append(f"{case}, {side} of {kinds} (TCP, here): {pairs or got[case]}")
    t.check(not bad, "\n  ".join([f"{len(bad)} differences:"] + bad))
    apart(t)
