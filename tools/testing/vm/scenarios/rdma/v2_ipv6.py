# SPDX-License-Identifier: GPL-2.0
"""Version 2 over IPv6 uses TCP's addresses as GIDs, in both directions.

The scenario covers one prefix and two prefixes, direct and by a gateway, hosts without
IPv4, and link-local addresses. A host without such a GID gets TCP at once. IPv4 in IPv6
sockets is IPv4.

covers: FC-04 SEC-02 CLC-05 PROP-09
"""
import contextlib
import ipaddress
import socket

from common import requests, serve, stream_client, stream_server

ipv = (6,)
dialects = (0,)
timeout = 90
PORT = 5098
EID = "SMC-BENCH.IPV6"
N_IN, N_OUT = 200_003, 100_001
NO_SUBNET, DECLINED = 0x03000000, 0x05000000


def scoped_client(h, port, addr, n_in, n_out):
    """stream_client() for a link-local address."""
    s = h.socket()
    s.connect((addr, port, 0, socket.if_nametoindex("eth0")))
    h.both_ways(s, n_in, 1, n_out, 2, 30011)
    h.mark("moved")
    h.gate("end")
    h.finish(s)


def local(vm):
    """The link-local address of a machine."""
    return vm.run("ip -6 -o addr show dev eth0 scope link").out.split()[3].split("/")[0]


def has_gid(vm, addr):
    # the first of a thousand entries, which take their time on a debug kernel
    gids = "cd /sys/class/infiniband/rxe0/ports/1/gids; cat ? ??"
    return ipaddress.ip_address(addr).exploded in vm.run(gids).out.split()


@contextlib.contextmanager
def configured(t, *commands, gids=()):
    """Commands for ip(8), each (machine, what, how to undo it); and GIDs they make."""
    try:
        for vm, do, _ in commands:
            vm.run(f"ip {do}")
        for vm, addr in gids:
            t.wait(lambda: has_gid(vm, addr), f"GID {addr}", 20)
        yield
    finally:
        for vm, _, undo in reversed(commands):
            if vm.alive():
                vm.run(f"ip {undo}", check=False)


def addr(vm, what):
    return vm, f"-6 addr add {what} nodad", f"-6 addr del {what}"


def route(vm, what):
    return vm, f"-6 route add {what}", f"-6 route del {what}"


def gids_in_use(socks):
    return {tuple(str(ipaddress.ip_address(s["lgr"][k])) for k in ("gid", "peer_gid"))
            for s in socks}


def talk(t, server, client, to, frm, client_half=stream_client, port=PORT):
    """Bytes both ways from machine CLIENT to SERVER; the GIDs are TO and FRM."""
    t.rdma_start()
    s = t.half(server, stream_server, port=port, n_in=N_IN, n_out=N_OUT)
    s.expect("listening")
    c = t.half(client, client_half, port=port, addr=to, n_in=N_IN, n_out=N_OUT)
    t.expect_all("moved", s, c)
    if to.startswith("::ffff:"):
        to, frm = (str(ipaddress.ip_address(x)) for x in (to, frm))
    t.equal(gids_in_use(t.mode(server, "SMC-R", port)), {(to, frm)}, "GIDs of the server")
    t.equal(gids_in_use(t.mode(client, "SMC-R", port)), {(frm, to)}, "GIDs of the client")
    for p in (s, c):
        p.gate("end")
    t.wait_all(s, c)
    t.carried(client, N_IN)
    t.carried(server, N_OUT)
    for vm in (t.a, t.b):
        t.no_sockets(vm, port)


def tcp(t, server, client, to, why):
    """Fall back, the client for the reason WHY, without waiting for a message."""
    from smcvm.links import WAITS
    for vm in (t.a, t.b):
        t.set(vm, **WAITS)
    s = t.half(server, stream_server, port=PORT, n_in=N_IN, n_out=N_OUT)
    s.expect("listening")
    c = t.half(client, stream_client, port=PORT, addr=to, n_in=N_IN, n_out=N_OUT)
    t.expect_all("moved", s, c)
    t.mode(server, "TCP", PORT)
    t.mode(client, "TCP", PORT, reason=why)
    for p in (s, c):
        p.gate("end")
    t.wait_all(s, c)
    for name in WAITS:
        t.restore(name)


def one_prefix(t):
    for server, client in ((t.a, t.b), (t.b, t.a)):
        talk(t, server, client, server.ip6, client.ip6)
    before = t.stat(t.b, "client_smc")
    t.both(serve, requests, PORT, sargs={"count": 20}, cargs={"n": 20})
    t.equal(t.stat(t.b, "client_smc"), before + 20, "connections over SMC-R")


def second_addresses(t):
    """Of several GIDs the one that TCP uses."""
    a, b = "fd43::11", "fd43::22"
    with configured(t, addr(t.a, f"{a}/64 dev eth0"), addr(t.b, f"{b}/64 dev eth0"),
                    route(t.b, f"{a}/128 dev eth0 src {b}"),
                    route(t.a, f"{b}/128 dev eth0 src {a}"), gids=((t.a, a), (t.b, b))):
        for server, client, to, frm in ((t.a, t.b, a, b), (t.b, t.a, b, a)):
            talk(t, server, client, to, frm)


def two_prefixes(t):
    a, b = "fd44::1", "fd45::1"
    for how in ("direct", "gateway"):
        t.step(f"two prefixes, {how}")
        via = {vm.name: f"via {local(peer)} " if how == "gateway" else ""
               for vm, peer in ((t.a, t.b), (t.b, t.a))}
        with configured(t, addr(t.a, f"{a}/64 dev eth0"), addr(t.b, f"{b}/64 dev eth0"),
                        route(t.a, f"{b}/128 {via['a']}dev eth0 src {a}"),
                        route(t.b, f"{a}/128 {via['b']}dev eth0 src {b}"),
                        gids=((t.a, a), (t.b, b))):
            for server, client, to, frm in ((t.a, t.b, a, b), (t.b, t.a, b, a)):
                talk(t, server, client, to, frm)


def without_ipv4(t):
    """No IPv4 address; then no IPv6 address either but the link-local one."""
    def gone(vm):
        return (vm, f"addr del {vm.ip}/24 dev eth0", f"addr add {vm.ip}/24 dev eth0")

    def gone6(vm):
        return (vm, f"-6 addr del {vm.ip6}/64 dev eth0",
                f"-6 addr add {vm.ip6}/64 dev eth0 nodad")

    with configured(t, gone(t.a), gone(t.b)):
        for server, client in ((t.a, t.b), (t.b, t.a)):
            talk(t, server, client, server.ip6, client.ip6)
        t.step("link-local addresses")
        with configured(t, gone6(t.a), gone6(t.b)):
            for server, client in ((t.a, t.b), (t.b, t.a)):
                talk(t, server, client, local(server), local(client), scoped_client)
    for vm in (t.a, t.b):
        t.pair.wait_gid(vm, 0)
        t.wait(lambda: has_gid(vm, vm.ip6), "GID", 20)


def without_gid(t):
    """TCP leaves by the RNIC's interface, but with an address that is not its own."""
    a = "fd46::1"
    with configured(t, (t.a, f"-6 addr del {t.a.ip6}/64 dev eth0",
                        f"-6 addr add {t.a.ip6}/64 dev eth0 nodad"),
                    addr(t.a, f"{a}/128 dev lo"),
                    route(t.a, f"fd43::/64 dev eth0 src {a}"),
                    route(t.b, f"{a}/128 via {local(t.a)} dev eth0")):
        tcp(t, t.a, t.b, a, DECLINED)
        tcp(t, t.b, t.a, t.b.ip6, NO_SUBNET)
    t.wait(lambda: has_gid(t.a, t.a.ip6), "GID", 20)


def mapped(t):
    for server, client in ((t.a, t.b), (t.b, t.a)):
        talk(t, server, client, f"::ffff:{server.ip}", f"::ffff:{client.ip}")


def run(t):
    t.no_groups()
    for vm in (t.a, t.b):
        t.wait(lambda: has_gid(vm, vm.ip6), "GID", 20)
        t.ueid(vm, EID)
    try:
        for part in (one_prefix, second_addresses, two_prefixes, mapped, without_gid,
                     without_ipv4):
            t.step(part.__name__)
            part(t)
    finally:
        for vm in (t.a, t.b):
            if vm.alive():
                t.ueid(vm, "--flush")
