# SPDX-License-Identifier: GPL-2.0
"""IPv6 with the distribution's module at the other end is TCP at once; IPv4 is unchanged.

That module knows IPv4 GIDs only, so it makes no offer on IPv6 connections over soft-RoCE.
Its reaction to an IPv6 GID in our offer must cost neither time nor data: our module waits
without limit for a message that does not come, and connect() of the other one fails.

covers: CLC-05 PROP-09 ERR-01
"""
import socket

from common import requests, serve, stream_client, stream_server

kernels = ("stock",)
dialects = (0,)
ipv = (6,)
sides = ("ours", "stock")
timeout = 90
PORT = 5099
N_IN, N_OUT = 200_003, 100_001


def scoped_client(h, port, addr, **n):
    """stream_client() for a link-local address."""
    s = h.socket()
    s.connect((addr, port, 0, socket.if_nametoindex("eth0")))
    h.both_ways(s, n["n_in"], 1, n["n_out"], 2, 30011)
    h.mark("moved")
    h.gate("end")
    h.finish(s)


def local(vm):
    """The link-local address of a machine."""
    return vm.run("ip -6 -o addr show dev eth0 scope link").out.split()[3].split("/")[0]


def talk(t, mode, half=stream_client, ipv=6, **where):
    """Bytes both ways, B to A, where A listens for both kinds of address."""
    t.rdma_start()
    s = t.half(t.a, stream_server, port=PORT, n_in=N_IN, n_out=N_OUT)
    s.expect("listening")
    c = t.half(t.b, half, ipv=ipv, port=PORT, n_in=N_IN, n_out=N_OUT, **where)
    t.expect_all("moved", s, c)
    for vm in (t.a, t.b):
        t.mode(vm, mode, PORT)
    for p in (s, c):
        p.gate("end")
    t.wait_all(s, c)
    if mode == "SMC-R":
        t.carried(t.b, N_IN)
        t.carried(t.a, N_OUT)
    else:
        t.not_carried(t.a)
        t.not_carried(t.b)
    for vm in (t.a, t.b):
        t.no_sockets(vm, PORT)


def configured(t, commands, part):
    """Run PART with commands for ip(8), each (machine, what, how to undo it)."""
    for vm, do, _ in commands:
        vm.run(f"ip {do}")
    try:
        part()
    finally:
        for vm, _, undo in commands[::-1]:
            if vm.alive():
                vm.run(f"ip {undo}", check=False)


def link_local(t):
    """Without any other IPv6 address B has no prefix to offer."""
    addr = f"{t.b.ip6}/64 dev eth0"
    configured(t, ((t.b, f"-6 addr del {addr}", f"-6 addr add {addr} nodad"),),
               lambda: talk(t, "TCP", scoped_client, addr=local(t.a)))


def like_ipv4(t):
    """What the other module may take for IPv4 addresses of B's GID and A's TCP."""
    addr = f"fd43::{t.b.ip}"
    commands = ((t.b, f"-6 addr add {addr}/128 dev eth0 nodad",
                 f"-6 addr del {addr}/128 dev eth0"),
                (t.b, f"-6 route add {t.a.ip6}/128 dev eth0 src {addr}",
                 f"-6 route del {t.a.ip6}/128 dev eth0"),
                (t.a, f"-6 route add {addr}/128 dev eth0",
                 f"-6 route del {addr}/128 dev eth0"),
                # TCP over IPv6 has 127.0.0.6 where others have an address
                (t.a, "addr add 127.0.0.9/24 dev eth0", "addr del 127.0.0.9/24 dev eth0"))
    configured(t, commands, lambda: talk(t, "TCP"))


def run(t):
    from smcvm.links import WAITS
    for sides_now in (("ours", "stock"), ("stock", "ours")):
        ours, _ = t.strangers(sides_now)
        t.set(ours, **WAITS)
        talk(t, "SMC-R", ipv=4)
        talk(t, "TCP")
        t.step("link-local")
        link_local(t)
        if ours is t.b:
            t.step("an IPv4 address in IPv6 sockets")
            talk(t, "SMC-R", addr=f"::ffff:{t.a.ip}")
            t.step("a GID like an IPv4 address")
            like_ipv4(t)
        s = t.half(t.a, serve, port=PORT, count=20)
        s.expect("listening")
        c = t.half(t.b, requests, port=PORT, n=20)
        t.wait_all(s, c)
        talk(t, "SMC-R", ipv=4)
