# SPDX-License-Identifier: GPL-2.0
"""A server on two networks, whose packets return by the other network, uses the right RNIC.

It answers with the RNIC of the network that it shares with the client; without one there,
the connection is TCP. A client that only claims to be in a network is not answered by the
RNIC of that network, nor is one in a VRF. A client with two cards in one network whose
socket is bound to the second card uses that card in version 2.

covers: ACPT-03 FC-03 FC-04 SEC-01
"""
import ipaddress
import socket

from common import serve_any, stream_client, stream_server
from rawpeer import ACCEPT, DECLINE, RawHost

nics = 2
timeout = 60
ipv = (4, 6)
PORT = 5970
BYTES = 150_001
DIFFPREFIX = 0x03070000
EID = "SMC-BENCH.BOUND"


def talk(t, mode, reason=None):
    """Bytes both ways; with MODE SMC-R by RDMA on the first cable."""
    roce = [t.relay.rule(seg=seg, proto="roce") for seg in (0, 1)]
    tcp = t.relay.rule(seg=1, proto="tcp", frm="a", port=PORT)
    t.in_step(stream_server, stream_client, PORT, vm_mode=(mode, mode),
              check=lambda: t.mode(t.a, mode, PORT, reason=reason), n_in=BYTES, n_out=BYTES)
    frames = [t.relay.hits(rule)[0] for rule in roce]
    t.check(t.relay.hits(tcp)[0], "no packet went back by the second cable")
    if mode == "SMC-R":
        t.check(frames[0] > 2 * BYTES // 1024, f"RoCE frames by cable: {frames}")
    t.check(frames[1] < 10, f"RoCE frames by cable: {frames}")
    for rule in (*roce, tcp):
        t.relay.unrule(rule)
    for vm in (t.a, t.b):
        t.no_sockets(vm, PORT)


def bound_client(h, port, n_in, n_out, addr):
    s = h.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, b"eth1\0")
    s.connect((addr, port))
    h.both_ways(s, n_in, 1, n_out, 2)
    h.mark("moved")
    h.gate("end")
    h.finish(s)


def address(t, vm, i, host, what="replace"):
    """Card I of a machine is host number HOST of a network that both its cards are in.

    Of IPv4: an IPv6 packet for a GID that it has not crashes soft-RoCE (pkt->qp in
    rxe_rcv()).
    """
    vm.run(f"ip addr {what} 10.46.0.{host}/24 dev eth{i}", check=what != "del")
    if what != "del":
        gid = ipaddress.ip_address(f"::ffff:10.46.0.{host}").exploded
        t.wait(lambda: gid in vm.run(f"cat /sys/class/infiniband/rxe{i}/ports/1/gids/*").out,
               f"GID of 10.46.0.{host}", 20)


def bound(t):
    """By the second cable, though the first one has the first route."""
    cards = ((t.a, 1, 1), (t.b, 0, 2), (t.b, 1, 3))
    try:
        for card in cards:
            address(t, *card)
        for vm in (t.a, t.b):
            t.ueid(vm, EID)
        rules = [t.relay.rule(seg=seg, proto="roce") for seg in (0, 1)]
        t.in_step(stream_server, bound_client, PORT,
                  cargs={"addr": "10.46.0.1" if t.ipv == 4 else "::ffff:10.46.0.1"},
                  n_in=BYTES, n_out=BYTES)
        frames = [t.relay.hits(rule)[0] for rule in rules]
        t.check(frames[1] > 2 * BYTES // 1024 and frames[0] < 10,
                f"RoCE frames by cable: {frames}")
        for rule in rules:
            t.relay.unrule(rule)
        for vm in (t.a, t.b):
            t.no_sockets(vm, PORT)
    finally:
        for vm in (t.a, t.b):
            if vm.alive():
                t.ueid(vm, "--flush")
        for card in cards:
            if card[0].alive():
                address(t, *card, what="del")


def claim(h, rows):
    """Proposals by the second cable: (own address, server, first 3 bytes of the subnet) each.

    Returns the MAC address of each Accept, and the diagnosis of each Decline.
    """
    told = []
    for ip, server, *subnet in rows:
        host = RawHost(dev="eth1", ip=ip, mac="525400437785")
        c = host.connect(server, PORT)
        msg = bytearray(host.proposal())
        msg[40:43] = bytes(subnet)
        c.send(bytes(msg))
        msg = c.recv_clc(h.within(20))
        h.check(msg[4] in (ACCEPT, DECLINE), f"answer {msg.hex()}")
        told.append(msg[32:38].hex(":") if msg[4] == ACCEPT else int.from_bytes(msg[16:20], "big"))
        c.abort()
        host.everyone.remove(host)
    return told


def strangers(t):
    """Clients on the outer network claim to be in the inner one."""
    def mac(name):
        return t.a.read(f"/sys/class/net/{name}/address").strip()

    t.step(strangers.__doc__)
    s = t.half(t.a, serve_any, port=PORT)
    s.expect("listening")

    def expect(*rows):
        c = t.half(t.b, claim, rows=[row[:-1] for row in rows])
        t.wait_all(c)
        t.equal(c.value, [row[-1] for row in rows], "answers")

    expect(("10.43.1.77", "10.43.1.1", 10, 43, 1, mac("eth1")),
           ("10.43.1.77", "10.43.1.1", 10, 43, 0, DIFFPREFIX),
           ("10.43.1.77", "10.43.0.1", 10, 43, 0, mac("eth0")))
    # there by the first cable, though its packets take the second
    t.a.run("""set -e
        ip link add inner link eth0 type macvlan mode bridge
        ip addr add 10.47.0.1/24 dev inner
        ip link set inner up
        ip route add 10.47.0.77 dev eth1""")
    there = ("10.47.0.77", "10.43.1.1", 10, 47, 0)
    expect((*there, mac("inner")))
    if t.kind != "debug":    # the debug kernel has no VRF
        t.a.run("""set -e
            modprobe vrf
            ip link add vrf1 type vrf table 99
            ip link set vrf1 up
            ip link set inner master vrf1""")
        expect((*there, DIFFPREFIX))
    s.gate("stop")
    t.wait_all(s)


def run(t):
    for vm in (t.a, t.b):
        vm.run("sysctl -qw net.ipv4.conf.all.rp_filter=0 net.ipv4.conf.eth0.rp_filter=0 "
               "net.ipv4.conf.eth1.rp_filter=0")
    try:
        t.a.run("ip route add 10.43.0.2/32 via 10.43.1.2 src 10.43.0.1 && "
                "ip -6 route add fd43::2/128 via fd43:1::2 src fd43::1")
        t.no_groups()
        talk(t, "SMC-R" if t.family == "smc" else "TCP")
        if t.family == "smc":
            t.step("no RNIC on the network of the client")
            t.a.run("rdma link delete rxe0")
            talk(t, "TCP", DIFFPREFIX)
            t.a.run("rdma link add rxe0 type rxe netdev eth0")
            t.pair.wait_gid(t.a, 0)
            talk(t, "SMC-R")
            strangers(t)
            t.step("two cards in one network")
            bound(t)
    finally:
        t.a.run("ip link del inner; ip link del vrf1; ip route del 10.47.0.77", check=False)
        t.a.run("ip route del 10.43.0.2/32; ip -6 route del fd43::2/128; "
                "rdma link show rxe0/1 || rdma link add rxe0 type rxe netdev eth0")
