# SPDX-License-Identifier: GPL-2.0
"""Hosts without IPv4 get a second link at once, as any other host does.

An IPv4 subnet shows which ports are on one LAN; without one only the port of the first link
is known. The server must still offer a link, because clients wait for the offer.

covers: SL-01 SL-02 FC-05
"""
import ipaddress

from common import requests, serve

ipv = (6,)
timeout = 60
PORT = 5470


def has_gid(vm, addr):
    gids = "cd /sys/class/infiniband/rxe0/ports/1/gids; cat ? ??"
    return ipaddress.ip_address(addr).exploded in vm.run(gids).out.split()


def talk(t):
    t.no_groups()
    for vm in (t.a, t.b):
        # one group for all, also where one connection ends before the next one begins
        t.set(vm, lgr_idle_ms=60000)
    before = [t.stat(vm, name) for vm in (t.a, t.b) for name in ("llc_timeout", "lgr_new")]
    t.rdma_start()
    t.both(serve, requests, PORT, sargs={"count": 3}, cargs={"n": 3, "back": 30000})
    t.carried(t.a, 90000)
    after = [t.stat(vm, name) for vm in (t.a, t.b) for name in ("llc_timeout", "lgr_new")]
    t.equal([x - y for x, y in zip(after, before)], [0, 1, 0, 1],
            "LLC messages that nobody sent, and new link groups, of A and of B")


def run(t):
    if t.family != "smc":
        return
    try:
        for vm in (t.a, t.b):
            vm.run(f"ip addr del {vm.ip}/24 dev eth0")
            t.wait(lambda vm=vm: not has_gid(vm, f"::ffff:{vm.ip}") and has_gid(vm, vm.ip6),
                   "GIDs without IPv4", 20)
        talk(t)
    finally:
        for vm in (t.a, t.b):
            vm.run(f"ip addr add {vm.ip}/24 dev eth0", check=False)
            t.pair.wait_gid(vm, 0)
