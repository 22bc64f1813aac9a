# SPDX-License-Identifier: GPL-2.0
"""A link is cut silently under a trickle of data.

With TCP_NODELAY something is posted every few milliseconds, and the rings do not fill:
soft-RoCE waits for an acknowledgment anew with each post, and would not find out for
long. It is the module that sees that nothing completes. Connections go on by the other
link within three seconds; when it was the last one they are reset within five. Two of
them pass before it says so, whatever the host: a slow one gets more for the rest.

covers: KA-05 FAIL-02 FAIL-03 GEN-07
"""
import time

from streams import client, server  # noqa: F401, halves

nics = 2
timeout = 150
PORT = 5390
TOLD = {"ECONNRESET", "ECONNABORTED", "EPIPE", "ETIMEDOUT"}


def lose(t, x, seg, most):
    """A segment is silent for a while; the longest time a stream stood still, less than MOST."""
    t.step(f"segment {seg} silent")
    x.more()
    was_up, was_down = x.least("link_up"), x.least("link_down")
    began = time.monotonic()
    rule = t.relay.rule(seg=seg, proto="roce", drop=1)
    t.wait(lambda: x.least("link_down") > was_down, "a link to go down", 15)
    took = time.monotonic() - began
    gap = x.more()
    t.relay.unrule(rule)
    t.wait(lambda: x.least("link_up") > was_up, "another link to come up", 30)
    x.have(2)
    gap = max(gap, x.more())
    t.check(gap < most, f"segment {seg} silent: streams stood still for {gap:.2f} s, "
            f"the link was noticed to be down within {took:.2f} s")
    return gap


def run(t):
    if t.family != "smc":
        return
    from smcvm.links import Streams, several
    slow = t.slow * t.patience
    # posts come faster than the RNIC's attempts, and the machines keep up with them
    several(t, rdma_ack_exponent=t.pick(15, 17), rdma_retries=t.pick(6, 1))
    trickle = {"count": 2, "piece": 100, "pause": 0.08 * t.slow, "is_nodelay": True}
    x = Streams(t, PORT, **trickle)
    x.have(2)
    for seg in (0, 1):
        t.note(f"segment {seg} silent: {lose(t, x, seg, 3 * slow):.2f} s")
    x.stop()

    t.step("no link is left")
    procs = []
    for vm, half in ((t.a, "server"), (t.b, "client")):
        procs.append(t.half(vm, half, port=PORT, end="broken", **trickle))
        t.expect_all("connected" if procs[1:] else "listening", procs[-1])
    t.mode(t.a, "SMC-R", PORT, trickle["count"])
    began = time.monotonic()
    t.relay.rule(proto="roce", drop=1)
    t.wait_all(*procs)
    took = time.monotonic() - began
    t.check(took < 5 * slow, f"connections were reset after {took:.1f} s")
    for p in procs:
        t.check(set(p.value) <= TOLD, f"{p} ended with {p.value}")
    t.relay.unrule()
    t.note(f"reset after {took:.1f} s")
