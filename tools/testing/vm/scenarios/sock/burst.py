# SPDX-License-Identifier: GPL-2.0
"""More handshakes may be under way than the backlog has room for.

Handshakes take no place in the backlog (Documentation/architecture.md), so accept() returns
all children that were admitted. The queue then exceeds its limit, and new clients wait for
room, as with TCP.
"""
import errno
import socket

from common import drops, keep, queue_info, serve
from halves import is_smc

timeout = 60
PORT = 5350
BACKLOG, MANY = 2, 8
CONFIRM = 3


def server(h, port):
    ls = h.listen(port, backlog=BACKLOG)
    h.gate("under way")
    h.equal(queue_info(ls)[1:], (0, BACKLOG), "queue and backlog, handshakes under way")
    ls.setblocking(False)
    h.raises("accept(), handshakes under way", errno.EAGAIN, ls.accept)
    h.mark("empty")
    h.wait(lambda: queue_info(ls)[1] == MANY, "all in the queue", 20)
    before = drops()
    h.mark("full")
    h.wait(lambda: drops() > before, "a refused SYN", 20)
    h.mark("refused")
    h.gate("accept")
    ls.setblocking(True)
    socks = [h.accept(ls) for _ in range(MANY + 1)]
    h.equal(queue_info(ls)[1:], (0, BACKLOG), "queue and backlog in the end")
    for c in socks:
        h.check(is_smc(c), "a connection that is TCP")
        h.equal(h.recv_exact(c, 5), b"hello", "data")
        c.shutdown(socket.SHUT_WR)
    end_all(h, socks)
    ls.close()


def clients(h, port):
    """The connection of each client is established when it has sent its Confirm."""
    socks = [h.connect(port) for _ in range(MANY)]
    h.mark("connected")
    h.gate("late")
    late = h.socket()
    late.setblocking(False)
    h.check(late.connect_ex((h.config["peer4"], port)), "connect() that did not wait")
    h.mark("late")
    h.gate("refused")
    h.check(late.connect_ex((h.config["peer4"], port)), "connected to a full queue")
    h.mark("still late")
    late.setblocking(True)
    h.wait(lambda: is_connected(late), "a place in the queue", 20)
    # accept() finds them in whatever order
    socks.append(late)
    for s in socks:
        s.sendall(b"hello")
        s.shutdown(socket.SHUT_WR)
    end_all(h, socks)


def end_all(h, socks):
    for s in socks:
        h.at_end(s)
        s.close()


def is_connected(s):
    try:
        s.getpeername()
        return True
    except OSError:
        return False


def run(t):
    if t.family != "smc":
        return
    first = t.half(t.a, serve, port=PORT, count=1)
    first.expect("listening")
    holder = t.half(t.b, keep, port=PORT)
    t.expect_all("open", holder)
    s = t.half(t.a, server, port=PORT + 1)
    s.expect("listening")
    held = t.relay.rule(clc=CONFIRM, frm="b", drop=1)
    c = t.half(t.b, clients, port=PORT + 1)
    t.expect_all("connected", c)
    t.wait(lambda: t.relay.hits(held)[1] >= MANY, "Confirms that are held back", 20)
    s.gate("under way")
    t.expect_all("empty", s)
    t.relay.unrule(held)
    t.expect_all("full", s)
    c.gate("late")
    t.expect_all("refused", s)
    c.gate("refused")
    t.expect_all("still late", c)
    s.gate("accept")
    t.wait_all(s, c)
    holder.gate("end")
    t.wait_all(first, holder)
    for vm in (t.a, t.b):
        t.no_sockets(vm, PORT + 1)
