# SPDX-License-Identifier: GPL-2.0
"""Verified bytes arrive although the wire loses, duplicates and reorders RoCE frames.

The RNIC reads the send ring again for a retransmission: data must stay there until it is
acknowledged.

covers: TX-04
"""
from common import stream_client, stream_server

timeout = 90


def run(t):
    n = t.pick(3_000_017, 600_011)
    for what, rule in (("lost", {"drop": 1, "share": 0.3}),
                       ("doubled", {"dup": 1, "share": 3}),
                       ("out of order", {"hold": 1, "share": 1})):
        t.step(what)
        t.rdma_start()
        r = t.relay.rule(proto="roce", **rule)
        t.in_step(stream_server, stream_client, 5150, lambda: t.carried(t.b, n),
                  n_in=n, n_out=n)
        if t.family == "smc":
            t.check(t.relay.hits(r)[1] > 2, f"{what}: too few frames met the rule")
        t.relay.unrule(r)
