# SPDX-License-Identifier: GPL-2.0
"""A router between the machines: SMC-R version 2 crosses it, version 1 becomes TCP.

The distribution's module at one end has other reasons for TCP.

Another gateway replaces the first one: new connections use the new one, in a group of
their own. The effect on a link through the old gateway depends on the RNIC. Soft-RoCE
looks up the route of each packet, so its link goes on; a real RNIC keeps the MAC address
of the link, so the relay drops what a real RNIC would have sent.

covers: FC-03 FC-04 SEC-02 CLC-05 LG-19
"""
import errno
import ipaddress

from common import requests, serve, serve_any, stays, stream_client, stream_server

nics = 2
ipv = (4, 6)
dialects = (0,)
timeout = 120
PORT = 5096
EID = "SMC-BENCH.ROUTED"
N_IN, N_OUT = 300_007, 200_003
# the network card that each machine keeps
CARD = {"a": 0, "b": 1}


def rdma_sent(t):
    return [vm.counters(f"rxe{CARD[vm.name]}")["sent_pkts"] for vm in (t.a, t.b)]


def forwarded(t, router):
    """How many packets the router has passed on."""
    if t.ipv == 6:
        text = router.run("cat /proc/net/snmp6").out
        return int(dict(x.split() for x in text.splitlines())["Ip6OutForwDatagrams"])
    lines = [x.split() for x in router.run("cat /proc/net/snmp").out.splitlines()
             if x.startswith("Ip:")]
    return int(dict(zip(*lines))["ForwDatagrams"])


def net(t, i):
    """The subnet of segment I."""
    return f"10.43.{i}." if t.ipv == 4 else f"fd43:{i}::" if i else "fd43::"


def gids(t):
    """GIDs at both ends of the links in use: the addresses on the far sides."""
    def used(vm):
        return {tuple(str(ipaddress.ip_address(s["lgr"][k])) for k in ("gid", "peer_gid"))
                for s in t.mode(vm, "SMC-R", PORT)}
    prefix = "::ffff:" if t.ipv == 4 else ""
    a, b = (str(ipaddress.ip_address(f"{prefix}{net(t, CARD[vm.name])}{vm.number}"))
            for vm in (t.a, t.b))
    t.equal(used(t.a), {(a, b)}, "GIDs of A")
    t.equal(used(t.b), {(b, a)}, "GIDs of B")


def talk(t, router, mode, reason=None):
    """Bytes both ways, all through the router; with MODE SMC-R by RDMA."""
    if t.case.are_strangers():
        reason = None

    def check():
        t.mode(t.b, mode, PORT, reason=reason)
        if mode == "SMC-R":
            gids(t)

    rdma, passed = rdma_sent(t), forwarded(t, router)
    t.in_step(stream_server, stream_client, PORT, vm_mode=(mode, mode), check=check,
              n_in=N_IN, n_out=N_OUT)
    for vm in (t.a, t.b):
        t.no_sockets(vm, PORT)
    rdma = [now - was for now, was in zip(rdma_sent(t), rdma)]
    passed = forwarded(t, router) - passed
    if mode == "SMC-R":
        t.check(rdma[0] >= N_OUT // 4096 and rdma[1] >= N_IN // 4096,
                f"RDMA packets: {rdma}")
        t.check(passed >= sum(rdma), f"{passed} packets passed on, {sum(rdma)} of RDMA sent")
    else:
        t.check(max(rdma) <= 10, f"RDMA packets: {rdma}")
        # large ones, as its network card takes them
        t.check(passed >= (N_IN + N_OUT) >> 16, f"{passed} packets passed on")


def contacts(t):
    return [t.stat(vm, "first_contact") for vm in (t.a, t.b)]


def other_gateway(t, router):
    """The gateway's addresses are those of another machine now."""
    t.step(other_gateway.__doc__)
    for vm in (t.a, t.b):
        t.set(vm, rdma_retries=2)
    s = t.half(t.a, serve_any, port=PORT + 1)
    s.expect("listening")
    c = t.half(t.b, stays, port=PORT + 1)
    c.expect("connected", t.left())
    t.mode(t.b, "SMC-R", PORT + 1)

    router.run("\n".join(f"ip link set eth{i} address 52:54:00:43:99:0{i}" for i in (0, 1)))
    forget_neighbours(t)
    before = contacts(t)
    talk(t, router, "SMC-R")
    t.equal(contacts(t), [n + 1 for n in before], "first contacts by the other gateway")
    c.gate("more")
    c.expect("more0", t.left())

    rule = t.relay.rule(proto="roce", drop=1)
    c.gate("more")
    t.wait_all(c)
    t.check(c.value in (errno.ECONNRESET, errno.EPIPE, errno.ECONNABORTED, errno.ETIMEDOUT),
            f"errno {c.value} with the link to the first gateway")
    t.wait(lambda: [t.queue_pairs(vm) for vm in (t.a, t.b)] == [0, 0], "end of the link", 20)
    t.check(t.relay.hits(rule)[1], "nothing was lost")
    t.relay.unrule(rule)
    before = contacts(t)
    talk(t, router, "SMC-R")
    t.equal(contacts(t), [n + 1 for n in before], "first contacts after the loss")
    s.gate("stop")
    t.wait_all(s)


def forget_neighbours(t):
    for vm in (t.a, t.b):
        vm.run(f"ip neigh flush dev eth{CARD[vm.name]}; ip -6 neigh flush dev eth{CARD[vm.name]}")


def far(t, vm, peer):
    """Route to the segment that PEER keeps."""
    subnet = net(t, CARD[peer.name]) + ("0/24" if t.ipv == 4 else "/64")
    return f"{subnet} via {net(t, CARD[vm.name])}3"


def part(t):
    """Each machine keeps one network card, in a subnet of its own."""
    for vm, peer in ((t.a, t.b), (t.b, t.a)):
        vm.run(f"ip link set eth{CARD[peer.name]} down; ip route add {far(t, vm, peer)}")


def join(t):
    for vm, peer in ((t.a, t.b), (t.b, t.a)):
        card = CARD[peer.name]
        vm.run(f"ip route del {far(t, vm, peer)}; ip link set eth{card} up; "
               f"ip -6 addr add fd43:{card or ''}::{vm.number}/64 dev eth{card} nodad"
               .replace("fd43:::", "fd43::"), check=False)
        t.pair.wait_gid(vm, card)


def run(t):
    for vm in (t.a, t.b):
        t.ueid(vm, "--flush")
    t.no_groups()
    with t.pair.router() as router:
        part(t)
        try:
            talk(t, router, "TCP", 0x05000000)
            for vm in (t.a, t.b):
                t.ueid(vm, EID)
            talk(t, router, "SMC-R")
            before = [t.stat(vm, "client_smc") + t.stat(vm, "server_smc")
                      for vm in t.ours()]
            t.both(serve, requests, PORT, sargs={"count": 20}, cargs={"n": 20})
            for vm, was in zip(t.ours(), before):
                t.check(t.stat(vm, "client_smc") + t.stat(vm, "server_smc") >= was + 20,
                        f"{vm.name}: not all connections were SMC-R")
            if not t.case.are_strangers():
                other_gateway(t, router)
        finally:
            for vm in (t.a, t.b):
                if vm.alive():
                    t.ueid(vm, "--flush")
            join(t)
            forget_neighbours(t)
