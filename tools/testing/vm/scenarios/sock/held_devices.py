# SPDX-License-Identifier: GPL-2.0
"""Calls that block in a page fault during connect() hold no worker and no device.

The owner of the page decides how long such a call holds its socket's lock. Meanwhile the
handshake of the socket cannot go on. It still ends in its time and returns what it has of the
RDMA device, so that others connect and an operator can remove the device. In one half all
handshakes wait for the Accept; in the other one the calls come at any time of a handshake.

covers: ERR-14 TMR-01
"""
import functools
import select
import threading

from common import serve
from trap import Trap

timeout = 120
vcpus = (1, 2)
COUNT = 60
PORT, OTHER = 5070, 5071
CLC_MS = 2000


def held_listener(h, port):
    """A listener with a call that is stuck, so that it answers no Proposal, until the gate."""
    ls = h.listen(port, backlog=COUNT, mark=False)
    trap = Trap(2, every=2)
    trap.ip_options(ls, 0)
    trap.wait()
    h.mark("listening")
    h.gate("stop")
    h.equal(trap.let_go(h), [0], "setsockopt() on the listener")
    ls.close()


def open_listener(h, port):
    """A listener whose connections are accepted and kept."""
    ls = h.listen(port, backlog=COUNT)
    socks = []
    while not h.gate_open("stop"):
        if select.select([ls], [], [], 0.05)[0]:
            socks.append(ls.accept()[0])
    for s in [ls, *socks]:
        s.close()


def begin_connect(h, port):
    s = h.socket()
    s.setblocking(False)
    try:
        s.connect((h.config["peer4"], port))
    except BlockingIOError:
        pass
    return s


def client(h, port, waits):
    """A call is stuck on each socket; with WAITS not before the gate."""
    threading.stack_size(128 << 10)
    trap = Trap(2 * COUNT, every=2)
    socks = []
    for i in range(COUNT):
        socks.append(begin_connect(h, port))
        if not waits:
            trap.ip_options(socks[i], i)
    if waits:
        h.mark("connecting")
        h.gate("stick")
        for i, s in enumerate(socks):
            trap.ip_options(s, i)
    trap.wait()
    h.mark("stuck")
    h.gate("go")
    h.equal(set(trap.let_go(h)), {0}, "what setsockopt() returned")
    # each handshake has an outcome, and the socket a usable state
    for s in socks:
        p = select.poll()
        p.register(s, select.POLLOUT)
        h.wait(functools.partial(p.poll, 0), "an end of connect()", 10)
        s.close()


def ask(h, port):
    s = h.connect(port)
    h.request(s)
    h.finish(s)


def stuck(t, listener, waits):
    from smcvm.links import add
    before = t.stat(t.b, "clc_tx")
    s = t.half(t.a, listener, port=PORT)
    o = t.half(t.a, serve, port=OTHER)
    t.expect_all("listening", s, o)
    c = t.half(t.b, client, port=PORT, waits=waits)
    if waits:
        c.expect("connecting", t.left())
        if t.family == "smc":
            t.wait(lambda: t.stat(t.b, "clc_tx") >= before + COUNT, "Proposals")
        c.gate("stick")
    c.expect("stuck", t.left())
    t.wait_all(t.half(t.b, ask, port=OTHER))
    if t.family == "smc":
        t.b.run("rdma link delete rxe0", t.left())
    c.gate("go")
    s.gate("stop")
    t.wait_all(c, s)
    if t.family == "smc":
        add(t, t.b, 0)
    t.no_groups()
    t.rdma_start()
    t.wait_all(t.half(t.b, ask, port=OTHER))
    t.carried(t.b, 100)
    o.gate("stop")
    t.wait_all(o)
    for vm in (t.a, t.b):
        t.no_sockets(vm, PORT)
        t.no_sockets(vm, OTHER)


def run(t):
    t.no_groups()
    for vm in (t.a, t.b):
        t.set(vm, clc_timeout_ms=CLC_MS * t.slow)
    t.step("calls while the Accept is awaited")
    stuck(t, held_listener, True)
    t.step("calls at any time")
    stuck(t, open_listener, False)
