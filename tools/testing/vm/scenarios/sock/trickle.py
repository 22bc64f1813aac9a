# SPDX-License-Identifier: GPL-2.0
"""A link that is cut silently under a trickle of data is detected.

Without coalescing something is posted every few milliseconds, and the rings do not fill.
Soft-RoCE restarts its acknowledgment timer with each post, and would detect the cut only
when the rings are full, after most of a minute. The module detects that nothing
completes: there is no TEST LINK, and the scenario waits for a quarter of that minute.
Connections go on over the other link while the wire is cut; after the last link they are
reset.

covers: KA-05 FAIL-02 FAIL-03 GEN-07
"""
import time

from streams import client, server  # noqa: F401, halves

nics = 2
timeout = 150
PORT = 5390
TOLD = {"ECONNRESET", "ECONNABORTED", "EPIPE", "ETIMEDOUT"}


def run(t):
    if t.family != "smc":
        return
    from smcvm.links import Streams, several
    # posts come faster than the RNIC's attempts, and the machines keep up with them
    several(t, rdma_ack_exponent=t.pick(15, 17), rdma_retries=t.pick(6, 1),
            smcr_testlink_time=0, autocorking_size=0)
    trickle = {"count": 2, "piece": 100, "pause": 0.08 * t.slow, "is_nodelay": True}
    x = Streams(t, PORT, **trickle)
    x.have(2)
    for seg in (0, 1):
        rules = []
        gap = x.lose(f"segment {seg} silent",
                     lambda s=seg: rules.append(t.relay.rule(seg=s, proto="roce", drop=1)),
                     lambda: t.relay.unrule(rules.pop()))
        t.note(f"segment {seg} silent: {gap:.2f} s")
    x.stop()

    t.step("no link is left")
    procs = []
    for vm, half in ((t.a, "server"), (t.b, "client")):
        procs.append(t.half(vm, half, port=PORT, end="broken", **trickle))
        t.expect_all("connected" if procs[1:] else "listening", procs[-1])
    t.mode(t.a, "SMC-R", PORT, trickle["count"])
    began = time.monotonic()
    t.relay.rule(proto="roce", drop=1)
    t.wait(lambda: all(p.rc is not None for p in procs), "end of the connections", 15)
    t.wait_all(*procs)
    took = time.monotonic() - began
    for p in procs:
        t.check(set(p.value) <= TOLD, f"{p} ended with {p.value}")
    t.relay.unrule()
    t.note(f"reset after {took:.1f} s")
