# SPDX-License-Identifier: GPL-2.0
"""Two hundred connections can be open and busy at the same time.

Their link group stays when they have gone, except with a limit of no idle groups. A peer
beyond its limit of groups gets TCP.

covers: LG-19 LGT-02
"""
from common import connect_all, requests, serve

vcpus = (1, 2)
LGRLIMIT, PEERDECL = 0x03F20000, 0x05000000
timeout = 60


def client(h, port, n):
    """All connect before any asks; then all ask three times, mixed."""
    socks = connect_all(h, port, n, min(n, 10))
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
    if t.family == "smc":
        t.no_groups()
        t.restore("lgr_idle_ms")
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
    if t.family != "smc":
        return
    t.equal(t.queue_pairs(t.a), 1, "RC queue pairs of an idle group")
    t.set(t.ours()[0], lgr_idle_ms=0)
    s = t.half(t.a, serve, port=5006, count=1)
    s.expect("listening")
    t.wait_all(s, t.half(t.b, requests, port=5006))
    t.wait(lambda: not t.queue_pairs(t.a) and not t.queue_pairs(t.b), "end of the group", 20)
    if len(t.ours()) == 2:
        limited(t)


def limited(t):
    """With two groups of one connection each, a third connection is TCP."""
    t.set(t.a, smcr_max_conns_per_lgr=1, max_lgrs_per_peer=2)
    s = t.half(t.a, serve, port=5007, count=3, backlog=256)
    s.expect("listening")
    c = t.half(t.b, client, port=5007, n=3)
    t.expect_all("open", c)
    t.mode(t.a, "SMC-R", 5007, 2)
    t.mode(t.a, "TCP", 5007, 1, LGRLIMIT)
    t.mode(t.b, "SMC-R", 5007, 2)
    t.mode(t.b, "TCP", 5007, 1, PEERDECL)
    c.gate("ask")
    t.wait_all(s, c)
