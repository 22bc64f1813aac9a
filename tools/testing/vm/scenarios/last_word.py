# SPDX-License-Identifier: GPL-2.0
"""Many connections end at once, and every peer hears of it.

A link has 64 slots for messages of connections, and on this wire they come back late. A
server that answers the close of three times as many clients has used them up, so the
last word of most has to wait, though the application and TCP have done with them. No
client may be left in a state in which it waits for that word.

covers: CLOSE-02
"""
import os

from common import connect_all

timeout = 60
COUNT = 200
HOUR = 3600000  # ms


def close_all(socks):
    """By one call, so that nothing completes in between."""
    fds = sorted(s.detach() for s in socks)
    for first, last in runs(fds):
        os.closerange(first, last + 1)


def runs(fds):
    """Descriptors without a gap, as (first, last)."""
    first = last = fds[0]
    for fd in fds[1:]:
        if fd != last + 1:
            yield first, last
            first = fd
        last = fd
    yield first, last


def server(h, port, unread):
    ls = h.listen(port, backlog=256)
    socks = [h.accept(ls) for _ in range(COUNT)]
    for s in socks:
        if unread:
            # what is not read makes an abort of a close
            s.recv(1)
        else:
            h.at_end(s)
    h.mark("at the end")
    h.gate("close")
    close_all(socks)


def client(h, port, unread):
    socks = connect_all(h, port, COUNT, 10)
    if unread:
        for s in socks:
            s.sendall(b"read and unread")
        h.mark("sent")
        h.gate("close")
    close_all(socks)


def run(t):
    if t.family != "smc":
        return
    for k, unread in enumerate((False, True)):
        port = 5440 + k
        t.step("aborts" if unread else "closes")
        for vm in (t.a, t.b):
            t.set(vm, close_timeout_ms=HOUR)
        s = t.half(t.a, server, port=port, unread=unread)
        s.expect("listening", t.left())
        c = t.half(t.b, client, port=port, unread=unread)
        s.expect("at the end", t.left())
        late = t.relay.rule(proto="roce", delay=50)
        s.gate("close")
        if unread:
            c.gate("close")
        t.wait_all(s, c)
        t.no_sockets(t.a, port)
        t.no_sockets(t.b, port)
        t.check(t.relay.hits(late)[1], "nothing was late")
        t.relay.unrule(late)
