# SPDX-License-Identifier: GPL-2.0
"""Verified bytes move through rings of the smallest size and of unequal sizes.

covers: RMB-08 RMB-18 API-07
"""
from common import stream_client, stream_server

RING = 16384


def run(t):
    n = t.pick(6_000_011, 300_007)
    t.rdma_start()

    def conn(vm):
        return t.mode(vm, "SMC-R", 5002)[0].get("conn")

    def small():
        t.carried(t.b, n)
        if t.family == "smc":
            for vm in (t.a, t.b):
                c = conn(vm)
                t.equal((c["sndbuf"], c["rcvbuf"]), (RING, RING), f"{vm.name}: rings")

    t.in_step(stream_server, stream_client, 5002, small, n_in=n, n_out=n,
              sndbuf=RING, rcvbuf=RING)

    def mixed():
        if t.family == "smc":
            a, b = conn(t.a), conn(t.b)
            t.check(a["rcvbuf"] != b["rcvbuf"], f"rings are equal: {a} {b}")
            t.equal(a["peer"], b["rcvbuf"], "ring of B as A knows it")

    t.in_step("server_small", stream_client, 5002, mixed, n_in=n, n_out=n)


def server_small(h, port, n_in, n_out):
    stream_server(h, port, n_in, n_out, sndbuf=RING, rcvbuf=RING, limit=5003)
