# SPDX-License-Identifier: GPL-2.0
"""Connections one after the other share one link group: sixty, with --long five hundred.

covers: LG-20 RMB-25
"""
from common import requests, serve

timeout = 60


def run(t):
    n = 500 if t.long else 60
    t.rdma_start()
    s = t.half(t.a, serve, port=5004, count=n + 20)
    s.expect("listening")
    t.wait_all(t.half(t.b, requests, port=5004, n=20))
    qps, regions = t.queue_pairs(t.a), t.memory_regions(t.a)
    if t.family == "smc":
        t.equal(qps, 1, "RC queue pairs after twenty connections")
    c = t.half(t.b, requests, port=5004, n=n)
    t.wait_all(s, c)
    t.carried(t.a, 1000 * n)
    after = t.queue_pairs(t.a)
    t.equal(after, qps, "RC queue pairs after all connections")
    if t.family == "smc":
        # elements are used again; RMBs may have grown while one was not yet free
        after = t.memory_regions(t.a)
        t.check(after <= regions + 6, f"memory regions grew from {regions} to {after}")
    times = sorted(c.value)
    t.note(f"connect median {times[n // 2] * 1e3:.1f} ms, slowest {times[-1] * 1e3:.0f} ms")
    t.no_sockets(t.a, 5004)
    t.no_sockets(t.b, 5004)
