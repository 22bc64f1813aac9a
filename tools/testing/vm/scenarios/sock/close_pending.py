# SPDX-License-Identifier: GPL-2.0
"""close() with data pending to a peer that does not read comes to an end.

A peer that reads in time gets all of the data. The limit for that is independent of the
limit for the peer's close. With SO_LINGER close() blocks for the linger time, unless a
signal comes or the process ends.

covers: API-04 CLOSE-08 CLOSE-23 CLOSE-24 TMR-16 ABRT-01 ABRT-08
"""
import errno
import fcntl
import os
import select
import signal
import socket
import struct
import termios
import threading
import time

from halves import Pattern, is_asleep

timeout = 60
RING = 65536


def reader(h, port, is_late):
    """Read nothing before the gate opens, or the end; returns bytes and errno."""
    ls = h.listen(port, rcvbuf=RING)
    c = h.accept(ls)
    ls.close()
    # an element is smaller than its ring by an eye catcher at most
    enough = RING - 64 if h.config["family"] == "smc" else 1
    h.wait(lambda: struct.unpack("i", fcntl.ioctl(c, termios.FIONREAD, b"\0" * 4))[0] >= enough,
           "a full ring")
    h.mark("full")
    if is_late:
        p = select.poll()
        p.register(c, 0)  # errors only
        h.check(p.poll(h.left() * 1000), "the writer's connection did not end")
    else:
        h.gate("read")
    pat, off = Pattern(1), 0
    try:
        while True:
            data = c.recv(RING)
            if not data:
                return off, 0
            h.check(pat.first_difference(off, data) is None, f"wrong byte behind {off}")
            off += len(data)
    except OSError as e:
        return off, e.errno


def fill(s, pat, off):
    try:
        while True:
            off += s.send(pat.at(off, 20011))
    except BlockingIOError:
        return off


def close(h, s, linger, end):
    """close() with SO_LINGER; return its duration."""
    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, linger))
    if end == "exit":
        return close_by_exit(h, s)
    th = threading.Thread(target=s.close)
    began = time.monotonic()
    th.start()
    h.wait(lambda: is_asleep(th.native_id), "close() to wait")
    h.mark("closing")
    if end == "signal":
        signal.signal(signal.SIGUSR1, lambda *_: None)
        signal.pthread_kill(th.ident, signal.SIGUSR1)
    th.join(h.within(20) if end == "signal" else h.left())
    h.check(not th.is_alive(), "close() does not return")
    return time.monotonic() - began


def close_by_exit(h, s):
    """The last process with the socket ends; return the duration."""
    began = time.monotonic()
    r, w = os.pipe()
    pid = os.fork()
    if not pid:
        os.close(w)
        os.read(r, 1)
        # no signal is pending, which would end the wait as well
        os._exit(0)
    s.close()
    os.close(r)
    os.close(w)
    h.wait(lambda: os.waitpid(pid, os.WNOHANG)[0], "a process to end", 20)
    h.mark("closing")
    return time.monotonic() - began


def writer(h, port, linger=0, end=None):
    """Fill the peer's ring, then ours, then close; return the number of bytes sent."""
    s = h.connect(port, sndbuf=RING)
    s.setblocking(False)
    pat = Pattern(1)
    off = fill(s, pat, 0)
    h.gate("again")
    off = fill(s, pat, off)
    queued = struct.unpack("i", fcntl.ioctl(s, termios.TIOCOUTQ, b"\0" * 4))[0]
    h.check(0 < queued <= off, f"SIOCOUTQ says {queued} of {off}, with a full ring")
    if linger:
        return off, close(h, s, linger, end)
    s.close()
    return off


def start(t, port, is_late, linger=0, end=None, family=None):
    s = t.half(t.a, reader, family, port=port, is_late=is_late)
    s.expect("listening")
    c = t.half(t.b, writer, port=port, linger=linger, end=end)
    s.expect("full", t.left())
    c.gate("again")
    if linger:
        c.expect("closing", t.left())
    else:
        t.wait_all(c)
    return s, c


def lingers(t, port, family=None):
    """close() returns when the peer has room for all data, at its time limit, or by a signal."""
    t.step(f"{lingers.__doc__} The peer is {family or t.family}.")
    for linger, end in ((1000, "read"), (1, "time"), (1000, "signal"), (1000, "exit")):
        s, c = start(t, port, False, linger, end, family)
        if end == "read":
            s.gate("read")
        t.wait_all(c)
        sent, took = c.value
        # a linger time of 1000 s is longer than the scenario
        if end == "time":
            t.check(took > linger * 0.9, f"close() took {took:.1f} s")
        if end != "read":
            # the connection goes on without the application
            s.gate("read")
        t.wait_all(s)
        t.equal(s.value, [sent, 0], "read by the peer of a lingering close()")
        port += 1


def run(t):
    s, c = start(t, 5170, False)
    s.gate("read")
    t.wait_all(s)
    t.equal(s.value, [c.value, 0], "read by a peer in time")
    lingers(t, 5172)

    if t.family != "smc":
        return
    lingers(t, 5176, "tcp")
    t.set(t.b, close_timeout_ms=100, close_pending_ms=3000 * t.slow)
    # a little before close(), or a slow host would seem to give up early
    began = time.monotonic()
    s, c = start(t, 5171, True)
    t.wait_all(s)
    took = time.monotonic() - began
    t.check(took > 3 * t.slow, f"the close was given up after {took:.1f} s")
    t.equal(s.value[1], errno.ECONNRESET, "errno of a peer that is late")
    t.check(s.value[0] < c.value, f"{s.value[0]} bytes of {c.value} were read")
    for vm in (t.a, t.b):
        t.no_sockets(vm, 5171)
