# SPDX-License-Identifier: GPL-2.0
"""Runs scripts of socket calls on TCP and on SMC, for the scenarios like_tcp_*."""
import array
import errno
import fcntl
import os
import select
import signal
import socket
import struct
import threading

FIONREAD, SIOCOUTQ, SIOCOUTQNSD, SIOCATMARK = 0x541B, 0x5411, 0x894B, 0x8905
MSG_NOSIGNAL, MSG_ERRQUEUE, MSG_TRUNC = 0x4000, 0x2000, 0x20
ABORT = struct.pack("ii", 1, 0)
EVENTS = {1: "IN", 2: "PRI", 4: "OUT", 8: "ERR", 0x10: "HUP", 0x20: "NVAL", 0x2000: "RDHUP"}
F_SETSIG, F_SETOWN_EX = 10, 15
POLL_IN, POLL_OUT, POLL_ERR = 1, 2, 4


class Script:
    """One half of a case: makes calls and records their results."""

    def __init__(self, h, port, ctl):
        self.h, self.port, self.ctl, self.said = h, port, ctl, []
        self.open = []

    def say(self, what, value):
        self.said.append(f"{what}: {value}")

    def call(self, what, func, *args):
        """Call FUNC and record its value or errno; return the value."""
        try:
            val = func(*args)
        except OSError as e:
            self.say(what, errno.errorcode.get(e.errno, e.errno))
            return None
        shown = "socket" if isinstance(val, socket.socket) else val
        self.say(what, shown[:20] if isinstance(shown, bytes) else shown)
        return val

    def sync(self):
        """Wait until both halves have reached this line."""
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
        """Make a connection; each half gets its end."""
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
        """Wait for the event; others may come with it."""
        self.h.wait(lambda: event in self.events(s).split("|"), f"event {event}")

    def ioctls(self, what, s):
        for name, number in (("FIONREAD", FIONREAD), ("SIOCOUTQ", SIOCOUTQ),
                             ("SIOCOUTQNSD", SIOCOUTQNSD), ("SIOCATMARK", SIOCATMARK)):
            self.call(f"{name} {what}", ioctl, s, number)

    def ends(self, what, s):
        """Record the results of all calls on a socket whose connection has ended."""
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


def forget(sig):
    """Discard the pending signals SIG."""
    while signal.sigtimedwait([sig], 0):
        pass


def have_signal(s):
    """Set O_ASYNC: this thread gets the signal, and accepts it by sigtimedwait()."""
    sig = signal.SIGRTMIN + 1
    signal.pthread_sigmask(signal.SIG_BLOCK, [sig])
    # discard signals of an earlier case
    forget(sig)
    fcntl.fcntl(s, F_SETSIG, sig)
    fcntl.fcntl(s, F_SETOWN_EX, struct.pack("ii", 0, threading.get_native_id()))
    fcntl.fcntl(s, fcntl.F_SETFL, os.O_NONBLOCK | os.O_ASYNC)
    return sig


def await_signal(x, sig, code):
    """Wait for a signal with CODE, possibly after others; return the outcome."""
    got = signal.sigtimedwait([sig], x.h.left() / 2)
    while got and got.si_code != code:
        got = signal.sigtimedwait([sig], x.h.left() / 2)
    return got and got.si_code


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
        # the end comes by RDMA, a reset right after it by TCP, which may overtake the end
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
    """As both_have_shut(), but the second end shuts down both directions at once."""
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
    """A connection by accept() from the listener LS, or by connect() if LS is None."""
    if ls:
        c = x.keep(x.h.accept(ls))
        c.settimeout(None)
    else:
        c = x.socket()
        c.connect(x.addr())
    return c


def tcp_state(s):
    return s.getsockopt(6, socket.TCP_INFO, 1)[0]


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
    """Use the address PEER instead of the peer's default address."""
    if peer:
        h.config["peer4"] = peer


def serve(h, port, cases, peer=None):
    """The server's half of all cases."""
    at_address(h, peer)
    ls = socket.create_server(("", port))
    h.mark("listening")
    return play(h, port, ls.accept()[0], True, cases)


def connect(h, port, cases, peer=None):
    """The client's half of all cases."""
    at_address(h, peer)
    ctl = socket.create_connection((h.config["peer4"], port))
    return play(h, port, ctl, False, cases)
