# SPDX-License-Identifier: GPL-2.0
"""A server falls back to TCP if the client's machine has no SMC at all.

covers: OPT-05
"""
from common import requests, serve, stream_client, stream_server

sides = ("ours", "none")
dialects = (0,)


def run(t):
    n = t.pick(2_000_003, 400_009)
    t.rdma_start()
    s = t.half(t.a, stream_server, port=5022, n_in=n, n_out=n)
    s.expect("listening")
    c = t.half(t.b, stream_client, "tcp", port=5022, n_in=n, n_out=n)
    t.expect_all("moved", s, c)
    t.mode(t.a, "TCP", 5022)
    for p in (s, c):
        p.gate("end")
    t.wait_all(s, c)
    t.not_carried(t.a)
    # and as a client of such a machine
    s = t.half(t.b, serve, "tcp", port=5023, count=10)
    s.expect("listening")
    c = t.half(t.a, requests, port=5023, n=10)
    t.wait_all(s, c)
    t.not_carried(t.a)
