# SPDX-License-Identifier: GPL-2.0
"""Verified bytes move both ways at once, many times round the rings, in odd sizes.

covers: GEN-09 ACPT-05 ACPT-09 RMB-04 LG-11 API-01 CDC-10 TX-03
"""
from common import stream_client, stream_server

ipv = (4, 6)
vcpus = (1, 2)
timeout = 60


def run(t):
    n_in = t.pick(24_000_019, 2_000_017)
    n_out = t.pick(16_000_057, 1_500_007)
    t.rdma_start()

    def moved():
        t.carried(t.b, n_in)
        t.carried(t.a, n_out)

    t.in_step(stream_server, stream_client, 5001, moved, n_in=n_in, n_out=n_out)
    t.no_sockets(t.a, 5001)
    t.no_sockets(t.b, 5001)
