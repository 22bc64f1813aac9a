# SPDX-License-Identifier: GPL-2.0
"""Connections outlive what TCP outlives: outages of the wire, of a port, of one direction.

While no other link answers, a link is not given up, with any peer. An outage of two links costs at
most one of them, and one link that is out while the other one answers is left. With a peer that
agreed, connections whose only link is out for long go on in TCP.

covers: KA-05 FAIL-02
"""
import time

from streams import client, server  # noqa: F401, halves

nics = 2
timeout = 150
PORT = 5720
COUNT = 4


def out(t, seconds, **rule):
    """Nothing passes for so many seconds: the length of an outage is no wait for its effect."""
    numbers = [t.relay.rule(drop=1, **rule)]
    time.sleep(seconds)
    for n in numbers:
        t.relay.unrule(n)


def survive(t, x, what, outage):
    """Streams X go on after OUTAGE."""
    t.step(what)
    x.more()
    outage()
    gap = x.more()
    t.mode(x.ours[0], "SMC-R", x.port, x.count)
    t.note(f"{what}: {gap:.1f} s")


def port_down(t, vm):
    from smcvm import links
    vm.run("ip link set eth0 down")
    time.sleep(1)
    links.card_up(t, vm, 0)


def run(t):
    if t.family != "smc":
        return
    from smcvm.links import Streams, several
    ours = [vm for vm, side in zip((t.a, t.b), t.case.sides) if side == "ours"]
    patient = {"rdma_retries": 7, "peer_memory_ms": 0}
    if t.case.rnic:
        # soft-RoCE goes on for ever, an adapter for eight attempts
        patient["rdma_ack_exponent"] = 18
    if len(ours) == 2:
        several(t, links=1, **patient)
    else:
        t.set(t.a, roce=2, smcr_max_links_per_lgr=1, **patient)
    x = Streams(t, PORT, COUNT, ours)
    for seconds in (0.5, 1.2, 4):
        survive(t, x, f"nothing passes for {seconds} s", lambda s=seconds: out(t, s))
    survive(t, x, "nothing passes to A for 3 s", lambda: out(t, 3, frm="b"))
    if t.case.rnic:
        # soft-RoCE gives a queue pair up that finds no route
        survive(t, x, "A's port is down for 1 s", lambda: port_down(t, t.a))
    x.stop()
    if len(ours) < 2:
        return

    t.step("with two links")
    several(t, links=2, **patient)
    x = Streams(t, PORT + 1, COUNT)
    x.have(2)
    survive(t, x, "nothing passes on two links for 3 s", lambda: out(t, 3))
    x.have(2)
    rule = []
    gap = x.lose("one link is out",
                 lambda: rule.append(t.relay.rule(seg=0, proto="roce", drop=1)),
                 lambda: t.relay.unrule(rule.pop()))
    t.note(f"one link is out: {gap:.1f} s")
    x.stop()

    t.step("the peer agreed on landing")
    several(t, links=1, landing=1, **patient)
    x = Streams(t, PORT + 2, COUNT)
    survive(t, x, "nothing passes for 2 s", lambda: out(t, 2))
    was = t.stat(t.a, "landed")
    out(t, 6)
    t.wait(lambda: t.stat(t.a, "landed") == was + COUNT, "landings", 30)
    t.note(f"nothing passes for 6 s: {x.more():.1f} s")
    x.stop()
