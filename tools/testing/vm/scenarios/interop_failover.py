# SPDX-License-Identifier: GPL-2.0
"""Two links with the distribution's module, one of them lost and regained, in both roles.

That module finds a second RDMA device by PNETID, for which it is given a table, and by
an address in the subnet of TCP's; ours needs neither. Streams go on while the RDMA
device of a link goes away, at either side in turn, and comes back; not a byte is lost
or doubled.

covers: FAIL-01 LG-13 ADDL-01 DELL-02 RKEY-20 RKEY-22
"""
import ipaddress
import os

from streams import Stream, pump

kernels = ("stock",)
nics = 2
ipv = (4,)
dialects = (0,)
sides = ("ours", "stock")
timeout = 240
EID = "SMC-BENCH.INTEROP"
PORT = 5350
# plain, peek, and half closed by either side; urgent data is not in line there
STREAMS = (0, 1, 3, 7)


def server(h, port):
    ls = h.listen(port)
    socks = [h.accept(ls) for _ in STREAMS]
    ls.close()
    return pump(h, [Stream(h, s, i, True) for i, s in zip(STREAMS, socks)])


def client(h, port):
    # the server sends when all are there
    socks = [h.connect(port) for _ in STREAMS]
    h.mark("connected")
    return pump(h, [Stream(h, s, i, False) for i, s in zip(STREAMS, socks)])


def second(vm):
    """Address of eth1, in the subnet of eth0's."""
    return f"10.43.0.{10 + vm.number}"


def one_subnet(t):
    """Both cards of a machine are in one subnet, by eth0 where nobody says otherwise."""
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


def set_up(t, sides):
    """Both modules anew, with an EID in common; (the machine that has ours, the other)."""
    t.pair.load_all(("none", "none"))
    t.pair.load_all(sides, 0)
    ours, stock = (t.a, t.b) if sides[0] == "ours" else (t.b, t.a)
    for vm in (t.a, t.b):
        t.ueid(vm, EID)
    name_networks(t, stock)
    t.changed = {}
    t.set(ours, peer_memory_ms=0, max_links=2, llc_add_link_retry_ms=1000)
    return ours, stock


class Pair:
    """The streams, and the links that both sides say they have."""

    def __init__(self, t, ours, stock):
        self.t, self.ours, self.stock = t, ours, stock
        self.steps = 0
        self.s = t.half(t.a, server, port=PORT)
        self.s.expect("listening")
        self.c = t.half(t.b, client, port=PORT)
        t.expect_all("connected", self.c)
        t.mode(ours, "SMC-R", PORT, len(STREAMS))

    def more(self):
        """All streams go on on both sides; the longest time one stood still."""
        for p in (self.s, self.c):
            p.gate("more")
        marks = self.t.expect_all(f"more{self.steps}", self.s, self.c)
        self.steps += 1
        return max(m["gap"] for m in marks)

    def have(self, links, spare=0):
        """Wait until both sides have so many links; SPARE may be tried for besides.

        An RNIC more at one side is good for an asymmetric link elsewhere; here the two
        segments are not connected, so that each attempt fails.
        """
        from smcvm.links import active

        def there():
            for p in (self.s, self.c):
                self.t.check(p.rc is None, p.explain())
            return len(active(self.ours)) == links and \
                all(0 <= self.t.queue_pairs(vm) - links <= spare
                    for vm in (self.ours, self.stock))
        self.t.wait(there, f"{links} links on either side", 30)

    def lose(self, vm, i):
        """The RDMA device I of machine VM goes away and comes back."""
        from smcvm.links import delete
        self.t.step(f"rxe{i} of {vm.name} deleted")
        self.more()
        delete(vm, i)
        self.have(1, spare=1)
        gap = self.more()
        vm.run(f"rdma link add rxe{i} type rxe netdev eth{i}")
        wait_gids(self.t, vm)
        if vm is self.stock:
            name_networks(self.t, vm)
        self.have(2)
        self.more()
        return gap

    def stop(self):
        """End the streams in good order; not a byte was lost or doubled."""
        t = self.t
        for p in (self.s, self.c):
            p.gate("stop")
        t.wait_all(self.s, self.c)
        for i, (here, there) in enumerate(zip(self.s.value, self.c.value)):
            t.equal(here[0], there[1], f"bytes of stream {i} from A")
            t.equal(there[0], here[1], f"bytes of stream {i} from B")


def run(t):
    one_subnet(t)
    try:
        for sides_now in (("ours", "stock"), ("stock", "ours")):
            t.step("modules: " + " ".join(sides_now))
            ours, stock = set_up(t, sides_now)
            x = Pair(t, ours, stock)
            x.have(2)
            gaps = [x.lose(vm, i) for vm in (ours, stock) for i in (0, 1)]
            x.stop()
            for vm in (t.a, t.b):
                t.no_sockets(vm, PORT)
            t.note("stood still for " + ", ".join(f"{g:.2f}" for g in gaps) + " s")
    finally:
        two_subnets(t)
