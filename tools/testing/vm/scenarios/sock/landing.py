# SPDX-License-Identifier: GPL-2.0
"""Connections that lose their last link go on in TCP: no byte is lost or repeated.

Plain, peeked at, urgent and half closed streams, with data under way: RDMA is filtered for good; an
operator moves them, over RDMA and in memory, and exchanges the module under them. New connections
use SMC again when a first contact works.

covers: GEN-07
"""
from streams import client, connect_numbered, ends_of, server  # noqa: F401, halves

timeout = 100
PORT = 5700
COUNT = 8


def near(h, port, count, **pace):
    """The clients, on the machine of the server."""
    h.config["peer4"] = "127.0.0.1"
    socks = connect_numbered(h, port, count)
    h.mark("connected")
    return ends_of(h, socks, False, "stop", **pace)


def landed(t, vm):
    return t.stat(vm, "landed")


def land(t, x, what, how, nr=None):
    """Streams X land after HOW: NR more on each of their machines."""
    t.step(what)
    was = [landed(t, vm) for vm in x.ours]
    x.more()
    how()
    t.wait(lambda: all(landed(t, vm) == n + (nr or x.count) for vm, n in zip(x.ours, was)),
           f"{what}: all connections on TCP", 60)
    gap = x.more()
    for vm in x.ours:
        t.mode(vm, "TCP", x.port, x.count)
    t.note(f"{what}: {gap:.2f} s")


def move(t, *vms):
    for vm in vms:
        t.run_smc(vm, "drain --move --wait 20")


def exchange(t, x, *vms):
    """The modules of machines VMS are exchanged; streams X do not notice."""
    t.step("the module is exchanged")
    t.reload(*vms)
    x.more()
    x.stop()


class Near:
    """Streams of guest/streams.py within A."""

    def __init__(self, t, port, count):
        from smcvm.links import Streams
        self.__class__ = type("Near", (Near, Streams), {})
        self.t, self.port, self.count, self.ours, self.steps = t, port, count, (t.a,), 0
        self.s = t.half(t.a, server, port=port, count=count)
        self.s.expect("listening", t.left())
        self.c = t.half(t.a, near, port=port, count=count)
        t.expect_all("connected", self.c)
        t.mode(t.a, "memory", port, 2 * count)


def run(t):
    if t.family != "smc":
        return
    from smcvm import kernel
    from smcvm.links import Streams, several
    t.smc = t.guest_path(kernel.user_tool("smc"))
    several(t, landing=1, rdma_ack_exponent=t.pick(15, 17), rdma_retries=t.pick(6, 1),
            smcr_testlink_time=1, peer_memory_ms=0)
    x = Streams(t, PORT, COUNT)
    rule = []
    land(t, x, "RDMA is filtered", lambda: rule.append(t.relay.rule(proto="roce", drop=1)))
    t.relay.unrule(rule.pop())
    x.stop()
    x = Streams(t, PORT + 1, COUNT)
    land(t, x, "an operator moves them", lambda: move(t, t.a))
    move(t, t.b)
    exchange(t, x, t.a, t.b)
    x = Near(t, PORT + 2, COUNT)
    land(t, x, "an operator moves them in memory", lambda: move(t, t.a), 2 * COUNT)
    exchange(t, x, t.a)
    t.step("new connections use SMC again")
    x = Streams(t, PORT + 3, COUNT)
    x.more()
    x.stop()
