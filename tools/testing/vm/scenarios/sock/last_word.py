# SPDX-License-Identifier: GPL-2.0
"""Many connections end at once, and every peer gets the last message.

A link has 64 slots for messages of connections, and on this wire acknowledgments are
late. A server that answers the close of three times as many clients uses up the slots,
so most last messages are pending after the application and TCP have finished. No client
may wait forever for that message.

The same holds when the link is lost just after the last message was posted: it is
repeated on another link.

covers: CLOSE-02 FAIL-12
"""
import os

from common import connect_all

nics = 2
timeout = 90
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
            # unread data turn a close into an abort
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


def one_server(h, port):
    ls = h.listen(port)
    other = h.accept(ls)
    s = h.accept(ls)
    ls.close()
    h.at_end(s)
    h.mark("at the end")
    h.gate("close")
    s.close()
    h.mark("closed")
    h.at_end(other)
    other.close()


def one_client(h, port):
    """Another connection keeps the group, whose end would end all connections."""
    other = h.connect(port)
    h.connect(port).close()
    h.mark("closed")
    h.gate("end")
    other.close()


def on_lost_link(t, port):
    """The link that carries the server's answer to a close is lost at that moment."""
    from smcvm.links import several
    several(t, close_timeout_ms=HOUR)
    s = t.half(t.a, one_server, port=port)
    s.expect("listening", t.left())
    c = t.half(t.b, one_client, port=port)
    s.expect("at the end", t.left())
    c.expect("closed", t.left())
    lost = t.stat(t.a, "link_down")
    sock, = t.a.sockets(sport=port, state="APPCLOSEWAIT1")
    cut = t.relay.rule(seg=int(sock["lgr"]["dev"][-1]), proto="roce", drop=1)
    s.gate("close")
    s.expect("closed", t.left())
    for vm in (t.a, t.b):
        t.wait(lambda vm=vm: len(vm.sockets(mode="SMC-R")) == 1,
               f"{vm.name}: the end of the connection that was closed")
    t.check(t.relay.hits(cut)[1], "nothing was lost")
    t.check(t.stat(t.a, "link_down") > lost, "no link was lost")
    t.relay.unrule(cut)
    c.gate("end")
    t.wait_all(s, c)
    t.no_sockets(t.a, port)
    t.no_sockets(t.b, port)


def run(t):
    if t.family != "smc":
        return
    t.step("on a link that is lost")
    on_lost_link(t, 5443)
    t.no_groups()
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
