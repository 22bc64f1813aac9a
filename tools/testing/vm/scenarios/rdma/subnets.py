# SPDX-License-Identifier: GPL-2.0
"""Hosts in different subnets use TCP in version 1 and SMC-R in version 2, also by a gateway.

The distribution's module at one end has other reasons for TCP, no EID by default, and no
version 1 over soft-RoCE.

In the subnet that they share, both versions are SMC-R. The gateway is the peer itself under
another address: its MAC address is the peer's, its subnet and the hop limit are those of a
routed network. When the route changes, a new connection uses the new route, in a group of
its own, and an old one goes on. When one of two addresses is removed, the connection to the
other goes on.

covers: FC-03 FC-04 SEC-02 CLC-05 LG-19
"""
import errno

from common import (keep_asking, requests, serve, serve_any, stays, stream_client,
                    stream_server)

ipv = (4,)
dialects = (0,)
timeout = 100
PORT = 5095
EID = "SMC-BENCH.SUBNETS"
ADDR = {"a": "10.44.0.1", "b": "10.45.0.1"}


def wait_gid(t, vm):
    """The RNIC has a GID for the new address."""
    a, b, c, d = map(int, ADDR[vm.name].split("."))
    gid = f"ffff:{a:02x}{b:02x}:{c:02x}{d:02x}"
    t.wait(lambda: gid in vm.run("cat /sys/class/infiniband/rxe0/ports/1/gids/*").out,
           "GID of the new address", 20)


def set_routes(t, how):
    """HOW to reach the other subnet: "dev eth0", or "via" the peer."""
    for vm, peer in ((t.a, t.b), (t.b, t.a)):
        via = "dev eth0" if how == "direct" else f"via {peer.ip}"
        vm.run(f"ip route replace {ADDR[peer.name]}/32 {via} src {ADDR[vm.name]}")


def talk(t, mode, reason=None, addr=ADDR["a"]):
    if t.case.are_strangers():
        reason = None
    t.rdma_start()
    t.in_step(stream_server, stream_client, PORT, vm_mode=(mode, mode), cargs={"addr": addr},
              check=lambda: t.mode(t.b, mode, PORT, reason=reason),
              n_in=200_003, n_out=100_001)
    if mode == "SMC-R":
        t.carried(t.b, 200_000)
        t.carried(t.a, 100_000)
    for vm in (t.a, t.b):
        t.no_sockets(vm, PORT)


def ask_a(h, port, n):
    return requests(h, port, n, addr="10.44.0.1")


def eids(t, what):
    for vm in (t.a, t.b):
        t.ueid(vm, what)


def smc_conns(t):
    """How many connections over SMC-R our module has had on each machine."""
    return {vm: t.stat(vm, "client_smc") + t.stat(vm, "server_smc") for vm in t.ours()}


def default_eid(t):
    t.step("default EID")
    t.set(t.a, default_eid=1)
    talk(t, "TCP", 0x05000000)
    t.set(t.b, default_eid=1)
    talk(t, "SMC-R")


def first_contacts(t):
    return [t.stat(vm, "first_contact") for vm in (t.a, t.b)]


def kept(t, addr):
    """A connection to an address of A that stays over SMC-R, and its server."""
    s = t.half(t.a, serve, port=PORT + 1)
    s.expect("listening")
    c = t.half(t.b, stays, port=PORT + 1, addr=addr)
    c.expect("connected", t.left())
    for vm in (t.a, t.b):
        t.mode(vm, "SMC-R", PORT + 1)
    return s, c


def more(t, k, s, c):
    """It goes on, over SMC-R."""
    t.rdma_start()
    c.gate("more")
    c.expect(f"more{k}", t.left())
    for vm in (t.a, t.b):
        t.carried(vm, 100_000)


def end(t, s, c):
    c.gate("end")
    t.wait_all(c)
    t.equal(c.value, 0, "errno of the connection that stayed")
    s.gate("stop")
    t.wait_all(s)
    for vm in (t.a, t.b):
        t.no_sockets(vm, PORT + 1)


def changed_routes(t):
    """Connections after a change of the route have another group, until the change is undone."""
    t.step(changed_routes.__doc__)
    set_routes(t, "direct")
    old = kept(t, ADDR["a"])
    for k, (how, contacts) in enumerate((("gateway", 1), ("direct", 0), ("gateway", 1))):
        set_routes(t, how)
        before = first_contacts(t)
        talk(t, "SMC-R")
        t.equal([now - was for now, was in zip(first_contacts(t), before)],
                [contacts] * 2, f"first contacts, {how}")
        more(t, k, *old)
    t.wait(lambda: t.queue_pairs(t.a) == 1, "end of all groups but the old one", 20)
    end(t, *old)


def lost_address(t):
    """The removal of one of two addresses ends only the connections to that address."""
    t.step(lost_address.__doc__)
    set_routes(t, "direct")
    for vm in (t.a, t.b):
        t.set(vm, rdma_retries=2)
    stay = kept(t, t.a.ip)
    s = t.half(t.a, serve_any, port=PORT + 2)
    s.expect("listening")
    c = t.half(t.b, keep_asking, port=PORT + 2, addr=ADDR["a"])
    c.expect("connected", t.left())
    t.mode(t.b, "SMC-R", PORT + 2)
    # the server's spare one for ADD LINK may still be going away
    t.wait(lambda: [t.queue_pairs(vm) for vm in (t.a, t.b)] == [2, 2], "two queue pairs", 20)
    t.a.run(f"ip addr del {ADDR['a']}/24 dev eth0")
    t.wait_all(c)
    t.check(c.value in (errno.ECONNRESET, errno.EPIPE, errno.ECONNABORTED, errno.ETIMEDOUT),
            f"errno {c.value} where the address went")
    t.wait(lambda: [t.queue_pairs(vm) for vm in (t.a, t.b)] == [1, 1], "end of its link", 20)
    more(t, 0, *stay)
    s.gate("stop")
    t.wait_all(s)
    t.a.run(f"ip addr add {ADDR['a']}/24 dev eth0")
    wait_gid(t, t.a)
    set_routes(t, "direct")
    talk(t, "SMC-R")
    end(t, *stay)


def run(t):
    eids(t, "--flush")
    for vm in (t.a, t.b):
        vm.run(f"ip addr replace {ADDR[vm.name]}/24 dev eth0")
        wait_gid(t, vm)
    t.no_groups()
    try:
        for how in ("direct", "gateway"):
            t.step(how)
            set_routes(t, how)
            if not t.case.are_strangers():
                talk(t, "SMC-R", addr=t.a.ip)
            talk(t, "TCP", 0x05000000)
            eids(t, EID)
            before = smc_conns(t)
            talk(t, "SMC-R")
            talk(t, "SMC-R", addr=t.a.ip)
            s = t.half(t.a, serve, port=PORT, count=20)
            s.expect("listening")
            t.wait_all(s, t.half(t.b, ask_a, port=PORT, n=20))
            for vm, count in smc_conns(t).items():
                t.equal(count, before[vm] + 22, f"{vm.name}: connections over SMC-R")
            eids(t, "--flush")
        if not t.case.are_strangers():
            eids(t, EID)
            changed_routes(t)
            lost_address(t)
            eids(t, "--flush")
            default_eid(t)
    finally:
        for vm, peer in ((t.a, t.b), (t.b, t.a)):
            if vm.alive():
                t.ueid(vm, "--flush")
                vm.run(f"ip route del {ADDR[peer.name]}/32; ip addr del {ADDR[vm.name]}/24 "
                       "dev eth0", check=False)
