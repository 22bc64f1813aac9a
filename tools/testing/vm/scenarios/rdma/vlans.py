# SPDX-License-Identifier: GPL-2.0
"""Each VLAN has a link group of its own, whose frames are tagged as IP's are.

Three networks share a cable and two RNICs on either side. Frames of a VLAN are in no other,
links of a group are all in its VLAN, and an RNIC without that VLAN is not used. Then the
RNIC is a bridge or a bond, with a VLAN on top of it.

covers: LG-04 SEC-01 ADDL-02 LG-03
"""
from common import serve

ipv = (4,)
nics = 2
timeout = 150
PORT = 5930
VLANS = (0, 10, 20)


def addr(vlan, nic, number):
    return f"10.{45 if vlan else 43}.{2 * vlan + nic}.{number}"


def talk(h, port, addr):
    s = h.connect(port, addr=addr)
    h.request(s)
    h.mark("connected")
    h.gate("talk")
    h.request(s, 100_003, 200_003)
    h.mark("talked")
    h.gate("end")
    h.finish(s)


def add_vlan(t, vm, vlan, nic, below=None):
    below = below or f"eth{nic}"
    ip = addr(vlan, nic, vm.number)
    vm.run(f"""set -e
        ip link add link {below} name {below}.{vlan} type vlan id {vlan}
        ip addr add {ip}/24 dev {below}.{vlan}
        ip link set {below}.{vlan} up""")
    wait_gid(t, vm, nic, ip)


def wait_gid(t, vm, nic, ip):
    a, b, c, d = map(int, ip.split("."))
    gid = f"ffff:{a:02x}{b:02x}:{c:02x}{d:02x}"
    t.wait(lambda: gid in vm.run(f"cat /sys/class/infiniband/rxe{nic}/ports/1/gids/*").out,
           f"{vm.name}: GID for {ip}", 20)


class Wire:
    """The number of RoCE frames in each VLAN, on one cable or all."""

    def __init__(self, t, **where):
        self.relay = t.relay
        self.rules = {v: t.relay.rule(vlan=v, proto="roce", **where)
                      for v in (*VLANS, *(v + 1 for v in VLANS))}
        self.last = self.read()

    def read(self):
        return {v: self.relay.hits(rule)[0] for v, rule in self.rules.items()}

    def passed(self):
        last, self.last = self.last, self.read()
        return {v: self.last[v] - n for v, n in last.items()}

    def off(self):
        for rule in self.rules.values():
            self.relay.unrule(rule)


def groups(vm):
    """Link groups with something to carry."""
    from smcvm import links
    return [g for g in links.groups(vm) if any(x.conns for x in g.links)]


def begin(t, vlan, nic=0):
    c = t.half(t.b, talk, port=PORT, addr=addr(vlan, nic, t.a.number))
    c.expect("connected", t.left())
    return c


def alone(t, wire, c, vlan):
    """What this connection carries is in its VLAN, and nothing is elsewhere."""
    wire.passed()
    c.gate("talk")
    c.expect("talked", t.left())
    if t.family != "smc":
        return
    seen = wire.passed()
    t.check(seen.pop(vlan) >= 290, f"VLAN {vlan}: too few RoCE frames")
    # an idle link may be tested
    t.check(max(seen.values()) < 10, f"VLAN {vlan}: frames in others: {seen}")


def end(t, *clients):
    for c in clients:
        c.gate("end")
    t.wait_all(*clients)


def one_cable(t, vlans=VLANS):
    """A group for each VLAN; connections of one VLAN share theirs."""
    wire = Wire(t)
    clients = [begin(t, v) for v in (*vlans, vlans[1])]
    for vm in (t.a, t.b):
        t.mode(vm, "SMC-R", PORT, len(clients))
        conns = sorted(sum(x.conns for x in g.links) for g in groups(vm))
        t.equal(conns, [1, 1, 2], f"{vm.name}: connections by link group")
    for c, v in zip(clients, vlans):
        alone(t, wire, c, v)
    clients[-1].gate("talk")
    end(t, *clients)
    wire.off()


def two_links(t):
    """The second link is in the VLAN, too; an RNIC that has no such VLAN is not used."""
    from smcvm import links
    links.several(t)
    wire = Wire(t, seg=1)
    clients = {v: begin(t, v) for v in (10, 20)}
    for vm in (t.a, t.b):
        t.wait(lambda vm=vm: sorted(len(g.links) for g in groups(vm)) == [1, 2],
               f"{vm.name}: a group with two links", 30)
    for c in clients.values():
        c.gate("talk")
        c.expect("talked", t.left())
    end(t, clients[20])
    # so is the link that has carried nothing yet
    links.delete(t.b, 0)
    t.wait(lambda: [len(g.links) for g in groups(t.a)] == [1], "loss of the first link", 30)
    wire.passed()
    end(t, clients[10])
    seen = wire.passed()
    t.check(seen.pop(10) > 0 and not any(seen.values()), f"second cable: {seen}")
    wire.off()
    links.add(t, t.b, 0)


def rebuilt(t, vm, kind):
    """RNIC 1 is that of a bridge or bond over eth1."""
    more = "mode active-backup" if kind == "bond" else "forward_delay 0"
    vm.run(f"""set -e
        rdma link delete rxe1
        ip addr flush dev eth1
        ip link set eth1 down
        ip link add {kind}0 type {kind} {more}
        ip link set eth1 master {kind}0
        ip link set eth1 up
        ip link set {kind}0 up
        ip addr add {addr(0, 1, vm.number)}/24 dev {kind}0
        rdma link add rxe1 type rxe netdev {kind}0""")
    wait_gid(t, vm, 1, addr(0, 1, vm.number))


def restored(t, vm, kind):
    vm.run(f"""rdma link delete rxe1
        ip link delete {kind}0
        ip link set eth1 up
        ip addr replace {addr(0, 1, vm.number)}/24 dev eth1
        ip -6 addr replace fd43:1::{vm.number}/64 dev eth1 nodad
        rdma link show | grep -q rxe1 || rdma link add rxe1 type rxe netdev eth1""")


def upper(t, kind):
    wire = Wire(t, seg=1)
    for vm in (t.a, t.b):
        rebuilt(t, vm, kind)
        add_vlan(t, vm, 10, 1, f"{kind}0")
    t.no_groups()
    clients = {v: begin(t, v, 1) for v in (0, 10)}
    for vm in (t.a, t.b):
        t.mode(vm, "SMC-R", PORT, 2)
    for v, c in clients.items():
        alone(t, wire, c, v)
    end(t, *clients.values())
    wire.off()


def run(t):
    t.no_groups()
    s = t.half(t.a, serve, port=PORT)
    s.expect("listening", t.left())
    try:
        for vm in (t.a, t.b):
            for v in VLANS[1:]:
                add_vlan(t, vm, v, 0)
        t.step(one_cable.__doc__)
        one_cable(t)
        if t.family == "smc":
            for vm in (t.a, t.b):
                add_vlan(t, vm, 10, 1)
            t.step(two_links.__doc__)
            two_links(t)
    finally:
        for vm in (t.a, t.b):
            vm.run("for d in eth0.10 eth0.20 eth1.10; do ip link delete $d; done 2>/dev/null; true")
    for kind in ("bridge", "bond"):
        t.step(f"a VLAN of a {kind}")
        try:
            upper(t, kind)
        finally:
            for vm in (t.a, t.b):
                restored(t, vm, kind)
                t.pair.wait_gid(vm, 1)
    s.gate("stop")
    t.wait_all(s)
    for vm in (t.a, t.b):
        t.no_sockets(vm, PORT)
