# SPDX-License-Identifier: GPL-2.0
"""A router between the machines: SMC-R version 2 crosses it, version 1 becomes TCP.

covers: FC-03 SEC-02 CLC-05
"""
from common import requests, serve, stream_client, stream_server

nics = 2
ipv = (4,)
dialects = (0,)
timeout = 90
PORT = 5096
EID = "SMC-BENCH.ROUTED"
N_IN, N_OUT = 300_007, 200_003
# the network card that each machine keeps
CARD = {"a": 0, "b": 1}


def rdma_sent(t):
    return [vm.counters(f"rxe{CARD[vm.name]}")["sent_pkts"] for vm in (t.a, t.b)]


def forwarded(router):
    """How many packets the router has passed on."""
    lines = [x.split() for x in router.run("cat /proc/net/snmp").out.splitlines()
             if x.startswith("Ip:")]
    return int(dict(zip(*lines))["ForwDatagrams"])


def talk(t, router, mode, reason=None):
    """Bytes both ways; they all went through the router, and by RDMA if so said."""
    rdma, passed = rdma_sent(t), forwarded(router)
    t.in_step(stream_server, stream_client, PORT, vm_mode=(mode, mode),
              check=lambda: t.mode(t.b, mode, PORT, reason=reason), n_in=N_IN, n_out=N_OUT)
    for vm in (t.a, t.b):
        t.no_sockets(vm, PORT)
    rdma = [now - was for now, was in zip(rdma_sent(t), rdma)]
    passed = forwarded(router) - passed
    if mode == "SMC-R":
        t.check(rdma[0] >= N_OUT // 4096 and rdma[1] >= N_IN // 4096,
                f"RDMA packets: {rdma}")
        t.check(passed >= sum(rdma), f"{passed} packets passed on, {sum(rdma)} of RDMA sent")
    else:
        t.check(max(rdma) <= 10, f"RDMA packets: {rdma}")
        # large ones, as its network card takes them
        t.check(passed >= (N_IN + N_OUT) >> 16, f"{passed} packets passed on")


def part(t):
    """Each machine keeps one network card, in a subnet of its own."""
    for vm, peer in ((t.a, t.b), (t.b, t.a)):
        net = CARD[peer.name]
        vm.run(f"ip link set eth{net} down; "
               f"ip route add 10.43.{net}.0/24 via 10.43.{CARD[vm.name]}.3")


def join(t):
    for vm, peer in ((t.a, t.b), (t.b, t.a)):
        net = CARD[peer.name]
        vm.run(f"ip route del 10.43.{net}.0/24 via 10.43.{CARD[vm.name]}.3; "
               f"ip link set eth{net} up; "
               f"ip -6 addr add fd43:{net or ''}::{vm.number}/64 dev eth{net} nodad"
               .replace("fd43:::", "fd43::"), check=False)
        t.pair.wait_gid(vm, net)


def run(t):
    t.no_groups()
    with t.pair.router() as router:
        part(t)
        try:
            talk(t, router, "TCP", 0x05000000)
            for vm in (t.a, t.b):
                t.ueid(vm, EID)
            talk(t, router, "SMC-R")
            before = [t.stat(vm, "client_smc") + t.stat(vm, "server_smc")
                      for vm in (t.a, t.b)]
            t.both(serve, requests, PORT, sargs={"count": 20}, cargs={"n": 20})
            for vm, was in zip((t.a, t.b), before):
                t.check(t.stat(vm, "client_smc") + t.stat(vm, "server_smc") >= was + 20,
                        f"{vm.name}: not all connections were SMC-R")
        finally:
            for vm in (t.a, t.b):
                if vm.alive():
                    t.ueid(vm, "--flush")
            join(t)
