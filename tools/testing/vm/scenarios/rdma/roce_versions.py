# SPDX-License-Identifier: GPL-2.0
"""Adapters with both versions of RoCE, and a network that carries only one of them.

With the default EID hosts in one subnet use RoCE v2 at once. In version 1 the first contact by
RoCE v1 fails, and the next one takes RoCE v2, and so do those that follow. When RoCE v2 fails as
well connections are TCP at once, and afterwards RoCE v1 is the first again.

covers: FC-05
"""
from common import stream_client, stream_server

kernels = ("stock",)
dialects = (0, 2)
rnic = "mlx5"
timeout = 120
PORT = 6005
# Messages of LLC: a SEND of RoCE v1, whose header is that of IPv6, and all of RoCE v2
V1, V2 = {"proto": "ip6", "opcode": 4}, {"proto": "udp", "port": 4791}


def talk(t, mode, what):
    t.step(what)
    t.in_step(stream_server, stream_client, PORT, vm_mode=(mode, mode), n_in=20_011, n_out=20_011)
    for vm in (t.a, t.b):
        t.no_sockets(vm, PORT)
    t.wait(lambda: not t.queue_pairs(t.a) + t.queue_pairs(t.b), f"{what}: end of the group", 20)


def lost(t, rule):
    return t.relay.hits(rule)[0]


def version_1(t):
    talk(t, "SMC-R", "RoCE v1")
    hole = t.relay.rule(drop=1, **V1)
    talk(t, "TCP", "RoCE v1 does not arrive")
    seen = lost(t, hole)
    t.check(seen, "RoCE v1 was not even tried")
    for _ in range(2):
        talk(t, "SMC-R", "RoCE v2")
    t.equal(lost(t, hole), seen, "frames of RoCE v1 after that")
    t.relay.unrule(hole)
    hole = t.relay.rule(drop=1, **V2)
    talk(t, "TCP", "RoCE v2 does not arrive")
    seen = lost(t, hole)
    t.check(seen, "RoCE v2 was not even tried")
    talk(t, "TCP", "TCP at once")
    t.equal(lost(t, hole), seen, "packets of RoCE v2 after that")
    for vm in (t.a, t.b):
        t.run_smc(vm, "peers flush")
    talk(t, "SMC-R", "RoCE v1 again")
    t.equal(lost(t, hole), seen, "packets of RoCE v2 in the end")
    t.relay.unrule(hole)


def version_2(t):
    hole = t.relay.rule(drop=1, **V1)
    talk(t, "SMC-R", "RoCE v2 without RoCE v1")
    t.equal(lost(t, hole), 0, "frames of RoCE v1")
    t.relay.unrule(hole)


def run(t):
    for vm in (t.a, t.b):
        t.set(vm, lgr_idle_ms=1, rdma_ack_exponent=15, rdma_retries=2)
    (version_2 if t.case.dialect == 2 else version_1)(t)
