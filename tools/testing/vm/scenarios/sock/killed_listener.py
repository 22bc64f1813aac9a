# SPDX-License-Identifier: GPL-2.0
"""A listener that an operator ends (`ss -K`) resets the children that wait for accept().

That is as with TCP. TCP's counters stay consistent: a warning in the kernel log fails a
run. The children use SMC, or were declined, because the RNIC is not on their network. A
user without privileges does the same in namespaces of his own.
"""
import errno
import select
import socket

import netns
import smcdiag
from common import dumped_queue, end_listeners, queue_info
from halves import is_smc

timeout = 60
nics = 2
PORT = 5372
CLIENTS, BACKLOG = 4, 8
LISTEN = 10


def is_queued(h, ls, port, n):
    """True if TCP_INFO, TCP's dumps and sock_diag show N queued children."""
    return queue_info(ls) == (LISTEN, n, BACKLOG) and \
        dumped_queue(port) == ((n, BACKLOG), [n]) and (
        h.family == "tcp" or
        [(s["listener"]["queue"], s["listener"]["queue_max"], s["listener"]["handshakes"])
         for s in smcdiag.sockets() if "listener" in s and s["sport"] == port] ==
        [(n, BACKLOG, 0)])


def server(h, port, addr, wants_smc):
    ls = h.listen(port, backlog=BACKLOG, addr=addr, mark=False)
    h.wait(lambda: is_queued(h, ls, port, 0), "an empty queue")
    h.mark("listening")
    h.gate("connected")
    h.wait(lambda: is_queued(h, ls, port, CLIENTS), "all in the queue")
    h.equal(end_listeners(port), 1, "listeners that were ended")
    h.mark("killed")
    poller = select.poll()
    poller.register(ls, select.POLLIN)
    h.check(h.poll(poller, 20), "the listener was not woken")
    ls.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
    h.raises("accept()", errno.EINVAL, ls.accept)
    ls.listen(BACKLOG)
    h.wait(lambda: is_queued(h, ls, port, 0), "an empty queue again")
    h.mark("listening again")
    h.gate("connected again")
    for i in range(CLIENTS, 0, -1):
        h.wait(lambda n=i: is_queued(h, ls, port, n), f"{i} in the queue")
        with h.accept(ls) as c:
            h.equal(is_smc(c), wants_smc, "whether a child is SMC")
    ls.close()


def clients(h, port, addr):
    socks = [h.connect(port, addr=addr) for _ in range(CLIENTS)]
    h.mark("connected")
    for s in socks:
        h.raises("recv() of a client that was not accepted", errno.ECONNRESET, s.recv, 1)
        s.close()
    h.gate("listening again")
    socks = [h.connect(port, addr=addr) for _ in range(CLIENTS)]
    h.mark("connected again")
    for s in socks:
        h.at_end(s)
        s.close()


def alone(h, port):
    """Both ends on one host, in namespaces of an unprivileged user."""
    for addr in "127.0.0.1", "::1":
        ls = h.listen(port, backlog=BACKLOG, addr=addr, v6=":" in addr, mark=False)
        for _ in range(2):
            socks = [h.connect(port, addr=addr, v6=":" in addr) for _ in range(CLIENTS)]
            h.wait(lambda: is_queued(h, ls, port, CLIENTS), "all in the queue")
            h.equal(end_listeners(port), 1, "listeners that were ended")
            for s in socks:
                h.raises("recv() of a client", errno.ECONNRESET, s.recv, 1)
                s.close()
            h.raises("accept()", errno.EINVAL, ls.accept)
            ls.listen(BACKLOG)
        ls.close()
        port += 1


def apart(h, port):
    netns.apart(h, alone, port)


def killed(t, port, addr, wants_smc):
    s = t.half(t.a, server, port=port, addr=addr, wants_smc=wants_smc)
    s.expect("listening")
    c = t.half(t.b, clients, port=port, addr=addr)
    for who, what, whom in ((c, "connected", s), (s, "listening again", c),
                            (c, "connected again", s)):
        t.expect_all(what, who)
        whom.gate(what)
    t.wait_all(s, c)
    for vm in (t.a, t.b):
        t.no_sockets(vm, port)


def run(t):
    has_smc = t.family == "smc"
    killed(t, PORT, "10.43.0.1", has_smc)
    t.step("no RNIC on the network of the clients")
    if has_smc:
        t.a.run("rdma link delete rxe1")
    try:
        killed(t, PORT + 1, "10.43.1.1", False)
    finally:
        if has_smc and t.a.alive():
            t.a.run("rdma link add rxe1 type rxe netdev eth1")
            t.pair.wait_gid(t.a, 1)
    t.step("a user without rights")
    t.wait_all(t.half(t.a, apart, port=PORT + 2))
