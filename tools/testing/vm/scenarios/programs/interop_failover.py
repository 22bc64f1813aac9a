# SPDX-License-Identifier: GPL-2.0
"""Two links with the distribution's module survive the loss of one, in both roles.

That module finds a second RDMA device by PNETID, from a table, and by an address in the
subnet of TCP's; our module needs neither. Streams go on while the RDMA device of a link is
removed, on either side in turn, and comes back. No byte is lost or repeated.

covers: FAIL-01 LG-13 ADDL-01 DELL-02 RKEY-20 RKEY-22
"""
import ipaddress
import os

from streams import accept_numbered, connect_numbered, pump, streams

kernels = ("stock",)
nics = 2
ipv = (4,)
dialects = (0,)
sides = ("ours", "stock")
timeout = 240
PORT = 5350
# plain, and peek; urgent data is not in line there
STREAMS = (0, 1)
# half closed by server and client. That module loses data of a connection that it moves
# when its peer has closed one direction: so it is the one that does.
HALF = {"ours": 7, "stock": 3}


def server(h, port, count, half):
    socks = accept_numbered(h, h.listen(port), count)
    return pump(h, streams(h, zip((*STREAMS, half), socks), True))


def client(h, port, count, half):
    socks = connect_numbered(h, port, count)
    h.mark("connected")
    return pump(h, streams(h, zip((*STREAMS, half), socks), False))


def second(vm):
    """Address of eth1, in the subnet of eth0's."""
    return f"10.43.0.{10 + vm.number}"


def one_subnet(t):
    """Both cards of a machine are in one subnet; eth0 has the default route to it."""
    for vm, peer in ((t.a, t.b), (t.b, t.a)):
        vm.run(f"ip addr del 10.43.1.{vm.number}/24 dev eth1; "
               f"ip addr add {second(vm)}/24 dev eth1 noprefixroute; "
               f"ip route add {second(peer)}/32 dev eth1; "
               "ip route add 10.43.0.0/24 dev eth1 metric 1000")
        wait_gids(t, vm)


def two_subnets(t):
    for vm, peer in ((t.a, t.b), (t.b, t.a)):
        if vm.alive():
            vm.run("ip route del 10.43.0.0/24 dev eth1 metric 1000; "
                   f"ip route del {second(peer)}/32 dev eth1; "
                   f"ip addr del {second(vm)}/24 dev eth1; "
                   f"ip addr add 10.43.1.{vm.number}/24 dev eth1", check=False)
            t.pair.wait_gid(vm, 1)


def wait_gids(t, vm):
    """Both RDMA devices are up and have the GIDs of their addresses."""
    for i, addr in enumerate((vm.ip, second(vm))):
        gid = ipaddress.ip_address(f"::ffff:{addr}").exploded
        t.wait(lambda: gid in vm.run("cd /sys/class/infiniband/rxe%d/ports/1; grep -h ACTIVE "
                                     "state && cat gids/? gids/??" % i, check=False).out,
               f"GID {addr}", 20)


def name_networks(t, vm):
    from smcvm import kernel
    tool = os.path.join(kernel.TOP, "tools/bench/pnetid")
    vm.run(f"python3 {t.guest_path(tool)} BENCH eth0,rxe0 eth1,rxe1")


def lose(t, x, stock, vm, i):
    """The RDMA device I of machine VM goes away and comes back."""
    from smcvm.links import delete

    def mend():
        vm.run(f"rdma link add rxe{i} type rxe netdev eth{i}")
        wait_gids(t, vm)
        if vm is stock:
            name_networks(t, vm)
    return x.lose(f"rxe{i} of {vm.name} deleted", lambda: delete(vm, i), mend)


def run(t):
    from smcvm.links import Streams
    one_subnet(t)
    try:
        for sides_now in (("ours", "stock"), ("stock", "ours")):
            ours, stock = t.strangers(sides_now)
            name_networks(t, stock)
            t.set(ours, smcr_max_links_per_lgr=2, llc_add_link_retry_ms=1000)
            x = Streams(t, PORT, len(STREAMS) + 1, (ours,), half=HALF[sides_now[0]])
            x.have(2)
            gaps = [lose(t, x, stock, vm, i) for vm in (ours, stock) for i in (0, 1)]
            x.stop()
            t.note("stood still for " + ", ".join(f"{g:.2f}" for g in gaps) + " s")
    finally:
        two_subnets(t)
