# SPDX-License-Identifier: GPL-2.0
"""Halves of scenarios in which verbs and allocations fail: they accept clean errors only."""
import errno
import time

CLEAN = (errno.ENOMEM, errno.ENOBUFS, errno.ECONNRESET, errno.ETIMEDOUT, errno.EPIPE,
         errno.EADDRNOTAVAIL, errno.ECONNABORTED, errno.ENFILE)


def check_clean(h, e):
    h.check(e.errno in CLEAN, f"errno {errno.errorcode[e.errno]}")


def wind(h, path):
    """Make the module allocate until an allocation fails."""
    def has_failed():
        with open(f"{path}/times", encoding="ascii") as f:
            return f.read().strip() == "0"

    while not has_failed():
        try:
            h.socket().close()
        except OSError as e:
            check_clean(h, e)


def server(h, port, size=0):
    """Answer requests until the gate "stop"; a reset is the only accepted error."""
    bad = []

    def broken(e):
        if not isinstance(e, OSError) or e.errno not in CLEAN:
            bad.append(repr(e))

    h.serve(port, on_break=broken, sndbuf=size, rcvbuf=size)
    h.equal(bad, [], "ends of connections")


def asker(h, port):
    """At each gate make a request on the present connection, then replace the connection.

    The new connection must be SMC if the one before was TCP. Marks report the number of
    resets so far.
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
    """Make connections with a ring that needs a new RMB; return their results."""
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
    """Make a connection at each gate "ask"; marks report its result."""
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
