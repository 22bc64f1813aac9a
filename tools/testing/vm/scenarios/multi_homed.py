# SPDX-License-Identifier: GPL-2.0
"""A server on two networks, whose packets go back by the other one.

It answers with the RNIC of the network that it shares with the client; if it has
none there, the connection is TCP.

covers: ACPT-03 FC-03 FC-04
"""
from common import stream_client, stream_server

nics = 2
timeout = 60
ipv = (4, 6)
PORT = 5970
BYTES = 150_001
DIFFPREFIX = 0x03070000


def talk(t, mode, reason=None):
    """Bytes both ways, by RDMA on the first cable if so said."""
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
    finally:
        t.a.run("ip route del 10.43.0.2/32; ip -6 route del fd43::2/128; "
                "rdma link show rxe0/1 || rdma link add rxe0 type rxe netdev eth0")
