# SPDX-License-Identifier: GPL-2.0
"""Without configuration, hosts in one subnet use version 2; in different subnets they use TCP.

The default EID counts for hosts without a router between them, and only where a subnet of both
proves that: a network that drops RoCE between subnets costs no connection time. It does not
count where one side is without it, nor where settings ask for what version 2 lacks; then
hosts in one subnet use version 1. With RoCE v1 only there is nothing for soft-RoCE.

covers: FC-03 CLC-05 SEC-02
"""
from common import stream_client, stream_server

kernels = ("stock", "debug")
dialects = (2,)
ipv = (4, 6)
timeout = 90
PORT = 5990
PEER_DECLINED = 0x05000000
# with one of these there is no version 2 without an EID of the operator
ONLY_V1 = ({"default_eid": 0}, {"dialect": 1}, {"smcr_max_links_per_lgr": 3},
           {"smcr_max_conns_per_lgr": 15})
VERSIONS = ("client_smc_v1", "client_smc_v2", "client_tcp")


def talk(t, mode, version, what, addr=None, reason=None):
    """One connection from B in MODE, counted by B as VERSION."""
    before = [t.stat(t.b, name) for name in VERSIONS]
    t.in_step(stream_server, stream_client, PORT, vm_mode=(mode, mode),
              check=lambda: t.mode(t.b, mode, PORT, reason=reason),
              cargs={"addr": addr} if addr else None, n_in=200_003, n_out=100_001)
    t.equal([t.stat(t.b, name) - was for name, was in zip(VERSIONS, before)],
            [name == version for name in VERSIONS], f"{what}: by version")
    for vm in (t.a, t.b):
        t.no_sockets(vm, PORT)


def settings(t):
    """What one side sets, the other one follows."""
    for vm in (t.a, t.b):
        for setting in ONLY_V1:
            what = f"{vm.name} has {setting}"
            t.step(what)
            t.set(vm, **setting)
            talk(t, "SMC-R", "client_smc_v1", what)
            t.restore(*setting)
        t.set(vm, roce=1)
        talk(t, "TCP", "client_tcp", f"{vm.name} has RoCE v1 only")
        t.restore("roce")
        t.set(vm, roce=2)
        talk(t, "SMC-R", "client_smc_v2", f"{vm.name} has RoCE v2 only")
        t.restore("roce")


def subnets(t):
    """On one LAN, and by a gateway: TCP as soon as a Decline comes, and no frame of RoCE."""
    from smcvm import links
    for gateway in (False, True):
        with links.afar(t, gateway):
            t.step(f"other subnets, gateway {gateway}")
            t.rdma_start()
            talk(t, "TCP", "client_tcp", "other subnets", links.AFAR[0], PEER_DECLINED)
            for vm in (t.a, t.b):
                t.not_carried(vm)
    # the client would use its EID on any path, and the server would not
    with links.afar(t, True):
        t.set(t.b, default_eid=1)
        talk(t, "TCP", "client_tcp", "an EID at one side", links.AFAR[0], PEER_DECLINED)
        t.restore("default_eid")


def run(t):
    t.no_groups()
    talk(t, "SMC-R", "client_smc_v2", "one subnet")
    settings(t)
    if t.ipv == 4:
        subnets(t)
    talk(t, "SMC-R", "client_smc_v2", "one subnet, at last")
