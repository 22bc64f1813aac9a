# SPDX-License-Identifier: GPL-2.0
"""Halves of the scenarios in which verbs and allocations fail: clean errors only."""
import errno
import time

CLEAN = (errno.ENOMEM, errno.ENOBUFS, errno.ECONNRESET, errno.ETIMEDOUT, errno.EPIPE,
         errno.EADDRNOTAVAIL, errno.ECONNABORTED, errno.ENFILE)


def check_clean(h, e):
    h.check(e.errno in CLEAN, f"errno {errno.errorcode[e.errno]}")


def wind(h, path):
    """Make allocations of the module until one of them has failed."""
    def has_failed():
        with open(f"{path}/times", encoding="ascii") as f:
            return f.read().strip() == "0"

    while not has_failed():
        try:
            h.socket().close()
        except OSError as e:
            check_clean(h, e)


def server(h, port, size=0):
    """Answers requests until the gate "stop". A connection may be reset, no more."""
    bad = []

    def broken(e):
        if not isinstance(e, OSError) or e.errno not in CLEAN:
            bad.append(repr(e))

    h.serve(port, on_break=broken, sndbuf=size, rcvbuf=size)
    h.equal(bad, [], "ends of connections")


def asker(h, port):
    """A request at each gate, each time on the connection of the time before.

    Then a new one takes its place, which is SMC if the one before had to be TCP.
    Marks how many were reset so far.
    """
    resets = 0
    s = h.connect(port)
    h.request(s)
    h.mark("connected")
    while not h.gate_open("stop"):
        if not h.gate_open("ask"):
            time.sleep(0.01)
            continue
        try:
            h.request(s, 3000, 3000)
        except OSError as e:
            check_clean(h, e)
            resets += 1
        old, s = s, h.connect(port)
        old.close()
        h.request(s, 3000, 3000)
        h.mark("asked", resets=resets)
    h.finish(s)


def bigger(h, port, size, n):
    """Connections with a ring that needs a new RMB; what became of them."""
    result = {}
    for _ in range(n):
        try:
            s = h.connect(port, sndbuf=size, rcvbuf=size)
            h.request(s, 2000, 20000)
            h.finish(s)
            name = "good"
        except OSError as e:
            check_clean(h, e)
            name = errno.errorcode[e.errno]
        result[name] = result.get(name, 0) + 1
    return result


def newcomer(h, port):
    """A connection at each gate "ask"; marks what became of it."""
    while not h.gate_open("stop"):
        if not h.gate_open("ask"):
            time.sleep(0.01)
            continue
        end = "good"
        try:
            s = h.connect(port)
            h.request(s, 3000, 20000)
            h.finish(s)
        except OSError as e:
            check_clean(h, e)
            end = errno.errorcode[e.errno]
        h.mark("asked", end=end)
