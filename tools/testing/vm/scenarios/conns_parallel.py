# SPDX-License-Identifier: GPL-2.0
"""Two hundred connections that are open and busy at the same time.

covers: LG-19 RMB-18
"""
from common import connect_all, serve

vcpus = (1, 2)
timeout = 60


def client(h, port, n):
    """All connect before any asks; then all ask three times, mixed."""
    socks = connect_all(h, port, n, 10)
    h.mark("open")
    h.gate("ask")
    for k in range(3):
        for i, s in enumerate(socks):
            h.request(s, 50 + i, 3000 - 10 * i + k)
    for s in socks:
        h.finish(s)
    return len(socks)


def run(t):
    n = 200
    t.rdma_start()
    s = t.half(t.a, serve, port=5005, count=n, backlog=256)
    s.expect("listening")
    c = t.half(t.b, client, port=5005, n=n)
    t.expect_all("open", c)
    t.mode(t.b, "SMC-R", 5005, n)
    t.mode(t.a, "SMC-R", 5005, n)
    if t.family == "smc":
        qps = t.queue_pairs(t.a)
        t.equal(qps, 1, "RC queue pairs of 200 connections")
    c.gate("ask")
    t.wait_all(s, c)
    t.carried(t.a, 3 * n * 2000)
    t.no_sockets(t.a, 5005)
    t.no_sockets(t.b, 5005)
