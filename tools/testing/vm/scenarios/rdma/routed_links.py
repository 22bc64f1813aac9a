# SPDX-License-Identifier: GPL-2.0
"""Two RNICs on each side with a router between them have two links, and one suffices.

Each of the four network cards is in a subnet of its own. The first link crosses the router
as the TCP connection does, the second one uses the other cards. The second link carries all
streams when the first is lost, and a lost link comes back on the same path.

covers: FAIL-01 LG-13 ADDL-01 ADDL-06 SL-08 ERR-56 ERR-58 CLC-05
"""
import ipaddress
from functools import partial

from streams import client, server  # noqa: F401, the halves

nics = 2
ipv = (4,)
dialects = (0,)
timeout = 150
PORT = 5380
EID = "SMC-BENCH.TWO-WAYS"
# address of each card of each machine
CARDS = {"a": ("10.43.0.1", "10.47.1.1"), "b": ("10.45.0.2", "10.48.1.2")}


def own(vm, i):
    """The address that a card has in other scenarios."""
    return f"10.43.{i}.{vm.number}"


def subnet(addr):
    return addr.rsplit(".", 1)[0] + ".0/24"


def gateway(addr):
    return addr.rsplit(".", 1)[0] + ".3"


def wait_gid(t, vm, i, addr):
    gid = ipaddress.ip_address(f"::ffff:{addr}").exploded
    t.wait(lambda: gid in vm.run(f"cat /sys/class/infiniband/rxe{i}/ports/1/gids/*").out,
           f"GID of {addr}", 20)


def part(t, router):
    """Every card into a subnet of its own, with the router in each."""
    router.run("for f in all default eth0 eth1; do sysctl -qw net.ipv4.conf.$f.send_redirects=0; "
               "done")
    for vm, peer in ((t.a, t.b), (t.b, t.a)):
        for i, addr in enumerate(CARDS[vm.name]):
            if addr != own(vm, i):
                vm.run(f"ip addr del {own(vm, i)}/24 dev eth{i}; ip addr add {addr}/24 dev eth{i}")
            router.run(f"ip addr replace {gateway(addr)}/24 dev eth{i}")
            vm.run(f"ip route add {subnet(CARDS[peer.name][i])} via {gateway(addr)}")
            wait_gid(t, vm, i, addr)


def join(t):
    for vm, peer in ((t.a, t.b), (t.b, t.a)):
        for i, addr in enumerate(CARDS[vm.name]):
            vm.run(f"ip route del {subnet(CARDS[peer.name][i])}", check=False)
            if addr != own(vm, i):
                vm.run(f"ip addr del {addr}/24 dev eth{i}; ip addr add {own(vm, i)}/24 "
                       f"dev eth{i}", check=False)
            vm.run(f"rdma link show rxe{i}/1 || rdma link add rxe{i} type rxe netdev eth{i}")
            t.pair.wait_gid(vm, i)


def gids(t, vm, peer):
    """Each link joins the two cards of a number, and no others."""
    from smcvm.links import active
    ends = [(x.gid, x.peer_gid) for x in active(vm)]
    got = {tuple(str(ipaddress.ip_address(x).ipv4_mapped) for x in end) for end in ends}
    t.equal(got, set(zip(CARDS[vm.name], CARDS[peer.name])), f"{vm.name}: ends of links")


def forwarded(router):
    lines = [x.split() for x in router.run("cat /proc/net/snmp").out.splitlines()
             if x.startswith("Ip:")]
    return int(dict(zip(*lines))["ForwDatagrams"])


def lose(t, router, x, vm, i):
    """Without one of its RNICs all goes by the other's link, and by the router."""
    from smcvm.links import delete

    def mend():
        before = forwarded(router)
        packets = t.b.counters(f"rxe{1 - i}")["sent_pkts"]
        x.more()
        packets = t.b.counters(f"rxe{1 - i}")["sent_pkts"] - packets
        t.check(packets > 10, f"{packets} packets by the other link")
        t.check(forwarded(router) - before >= packets, "packets went past the router")
        vm.run(f"rdma link add rxe{i} type rxe netdev eth{i}")
        wait_gid(t, vm, i, CARDS[vm.name][i])
    x.lose(f"rxe{i} of {vm.name} deleted", partial(delete, vm, i), mend)


def run(t):
    if t.family != "smc":
        return
    from smcvm.links import Streams, several
    several(t)
    with t.pair.router() as router:
        try:
            part(t, router)
            for vm in (t.a, t.b):
                t.ueid(vm, EID)
            x = Streams(t, PORT, 4)
            x.have(2)
            for vm, peer in ((t.a, t.b), (t.b, t.a)):
                gids(t, vm, peer)
            lose(t, router, x, t.a, 0)
            lose(t, router, x, t.b, 1)
            for vm, peer in ((t.a, t.b), (t.b, t.a)):
                gids(t, vm, peer)
            x.stop()
        finally:
            for vm in (t.a, t.b):
                if vm.alive():
                    t.ueid(vm, "--flush")
            join(t)
