# SPDX-License-Identifier: GPL-2.0
"""Calls that block in a page fault of their process delay no other socket.

A call that copies may wait for a page without limit, as the owner of the page decides
(FUSE, userfaultfd), and holds its socket's lock meanwhile. Work for that socket is done
afterwards. Even more such sockets than a work queue has workers must not stop others from
connecting and closing.
"""
import errno
import select
import threading
import time

from common import connect_all
from trap import PAGE, Trap

timeout = 120
COUNT = 530         # a work queue runs 512 items at a time
CLC_MS = 6000       # in which all of them have to be stuck
WORD = b"what is read at last"


def many_server(h, port):
    threading.stack_size(128 << 10)
    ls = h.listen(port, backlog=COUNT, rcvbuf=8192, sndbuf=8192)
    socks = [h.accept(ls) for _ in range(COUNT)]
    ls.close()
    trap = Trap(COUNT)
    for i, s in enumerate(socks):
        trap.recv(s, i, len(WORD))
    trap.wait()
    h.mark("stuck")
    h.gate("go")
    h.equal(set(trap.let_go(h)), {len(WORD)}, "what recv() returned")
    for i, s in enumerate(socks):
        h.equal(trap.map[i * PAGE:i * PAGE + len(WORD)], WORD, "what was read")
        h.at_end(s)
        s.close()


def many_client(h, port):
    socks = connect_all(h, port, COUNT, 10, rcvbuf=8192, sndbuf=8192)
    for s in socks:
        s.sendall(WORD)
    h.mark("sent")
    h.gate("close")
    for s in socks:
        s.close()
    h.mark("closed")
    h.gate("end")


def echo(h, s):
    s.sendall(h.recv_exact(s, 5))
    h.at_end(s)
    s.close()


def hello(h, s):
    s.sendall(b"hello")
    h.equal(h.recv_exact(s, 5), b"hello", "echo")
    s.close()


def other_server(h, port):
    """Serve other_client() until the gate opens."""
    ls = h.listen(port)
    while not h.gate_open("stop"):
        if select.select([ls], [], [], 0.05)[0]:
            echo(h, h.accept(ls))
    ls.close()


def other_client(h, port):
    hello(h, h.connect(port))


def held_listener(h, port, backlog=128):
    """A listener with a call that is stuck until the gate opens."""
    ls = h.listen(port, backlog=backlog, mark=False)
    trap = Trap(2, every=2)
    trap.ip_options(ls, 0)
    trap.wait()
    h.mark("listening")
    h.gate("go")
    h.equal(trap.let_go(h), [0], "setsockopt() on the listener")
    return ls


def begin_connect(h, port):
    s = h.socket()
    s.setblocking(False)
    try:
        s.connect((h.config["peer4"], port))
    except BlockingIOError:
        pass
    return s


def late_server(h, port):
    """A call on the listener is stuck while a client comes."""
    ls = held_listener(h, port)
    s = h.accept(ls)
    h.mark("accepted")
    h.gate("end")
    echo(h, s)
    ls.close()


def late_client(h, port):
    """A call on the socket is stuck when the Accept comes."""
    s = begin_connect(h, port)
    h.mark("connecting")
    h.gate("stick")
    if h.family == "smc":  # TCP is connected, but connect() has no outcome yet
        h.raises("the peer's name", errno.ENOTCONN, s.getpeername)
    trap = Trap(2, every=2)
    trap.ip_options(s, 0)
    trap.wait()
    h.mark("stuck")
    h.gate("look")
    p = select.poll()
    p.register(s, select.POLLOUT)
    if h.family == "smc":
        h.equal(p.poll(0), [], "events while a call is stuck")
    h.equal(trap.let_go(h), [0], "setsockopt() during connect()")
    h.equal([ev for _, ev in p.poll(1000 * h.left())], [select.POLLOUT], "events at last")
    s.setblocking(True)
    h.equal(s.getpeername()[:2], (h.config["peer4"], port), "the peer's name")
    hello(h, s)


def many_connects_client(h, port, other):
    """More calls are stuck in connect()'s time than there are workers."""
    threading.stack_size(128 << 10)
    socks = [begin_connect(h, port) for _ in range(COUNT)]
    h.mark("connecting")
    h.gate("stick")
    trap = Trap(2 * COUNT, every=2)
    for i, s in enumerate(socks):
        trap.ip_options(s, i)
    trap.wait()
    # longer than a handshake waits for the peer: then its worker would look
    end = time.monotonic() + 2 * h.slow * CLC_MS / 1000
    n = 0
    while n < 4 or time.monotonic() < end:
        other_client(h, other)
        n += 1
    h.mark("others")
    h.equal(set(trap.let_go(h)), {0}, "what setsockopt() returned")
    for s in socks:
        s.close()


def many_connects_server(h, port):
    held_listener(h, port, backlog=COUNT).close()


def in_connect(t):
    t.set(t.b, clc_timeout_ms=CLC_MS * t.slow)
    before = t.stat(t.b, "clc_tx")
    s = t.half(t.a, many_connects_server, port=5914)
    s.expect("listening", t.left())
    o = t.half(t.a, other_server, port=5915)
    o.expect("listening", t.left())
    c = t.half(t.b, many_connects_client, port=5914, other=5915)
    c.expect("connecting", t.left())
    if t.family == "smc":
        t.wait(lambda: t.stat(t.b, "clc_tx") >= before + COUNT, "Proposals")
    c.gate("stick")
    c.expect("others", t.left())
    s.gate("go")
    o.gate("stop")
    t.wait_all(s, o, c)
    t.no_sockets(t.b, 5914)


def run(t):
    t.step("each work item that has to wait for a stuck call")
    for vm in (t.a, t.b):
        t.set(vm, clc_timeout_ms=20000 * t.slow)
    before, accepts = t.stat(t.b, "clc_tx"), t.stat(t.a, "clc_tx")
    s = t.half(t.a, late_server, port=5911)
    s.expect("listening", t.left())
    c = t.half(t.b, late_client, port=5911)
    c.expect("connecting", t.left())
    if t.family == "smc":
        t.wait(lambda: t.stat(t.b, "clc_tx") > before, "a Proposal")
    c.gate("stick")
    c.expect("stuck", t.left())
    s.gate("go")
    if t.family == "smc":
        t.wait(lambda: t.stat(t.a, "clc_tx") > accepts, "an Accept")
    c.gate("look")
    s.expect("accepted", t.left())
    t.mode(t.a, "SMC-R", 5911)
    s.gate("end")
    t.wait_all(s, c)
    t.no_sockets(t.a, 5911)

    t.step("more of them than there are workers")
    s = t.half(t.a, many_server, port=5912)
    s.expect("listening", t.left())
    c = t.half(t.b, many_client, port=5912)
    s.expect("stuck", t.left())
    t.mode(t.a, "SMC-R", 5912, COUNT)
    c.gate("close")
    c.expect("closed", t.left())
    o = t.half(t.a, other_server, port=5913)
    o.expect("listening", t.left())
    t.half(t.b, other_client, port=5913).wait(t.left())
    o.gate("stop")
    o.wait(t.left())
    t.no_sockets(t.a, 5913)
    t.no_sockets(t.b, 5913)
    s.gate("go")
    s.wait(t.left())
    t.no_sockets(t.a, 5912)
    c.gate("end")
    t.wait_all(s, c)
    t.no_sockets(t.b, 5912)

    if t.long:
        t.step("more of them in connect() than there are workers")
        in_connect(t)
