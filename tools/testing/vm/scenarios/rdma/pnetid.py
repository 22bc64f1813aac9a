# SPDX-License-Identifier: GPL-2.0
"""By PNETIDs connections use an RNIC whose network device does not carry them.

SMC_PNETID lets tools manage a table for each namespace, and checks who may do so. An RNIC
beside the interface of the route is used, and so is one of the host for a container behind a
pair of veth, with a second RNIC for a second link. RDMA and VLANs restrict that as before.

covers: SEC-01 SEC-02 ADDL-02 FC-03
"""
import errno
import ipaddress
import os
import struct
import sys

import netns
from common import stream_client, stream_server

kernels = ("stock", "debug")
dialects = (0,)
ipv = (4,)
nics = 2
timeout = 150
PORT = 5980
N_IN, N_OUT = 200_003, 150_001
EID = "SMC-BENCH.PNETID"
NODEV, PEERDECL, PEERNOSMC = 0x03030002, 0x05000000, 0x03010000

GET, ADD, DEL, FLUSH = range(1, 5)
NAME, ETH, IB, IBPORT = range(1, 5)
LIMIT = 256
SOL_NETLINK, NETLINK_CAP_ACK, NETLINK_EXT_ACK = 270, 10, 11
NLM_F_REQUEST, NLM_F_ACK, NLM_F_DUMP, NLM_F_ACK_TLVS = 1, 4, 0x300, 0x200
NLMSG_ERROR, NLMSG_DONE = 2, 3
HEAD, GENL_HEAD, MSGERR = 16, 4, 36


# Requests as tools send them

class Table:
    """The family SMC_PNETID."""

    def __init__(self):
        sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../../../bench"))
        import genl
        self.genl = genl
        self.family = genl.Family("SMC_PNETID")
        for option in (NETLINK_CAP_ACK, NETLINK_EXT_ACK):
            self.family.sock.setsockopt(SOL_NETLINK, option, 1)

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.family.sock.close()

    def attrs(self, name=None, eth=None, ib=None, port=None):
        """Strings get a final NUL, bytes are sent as they are."""
        out = b""
        for kind, value in ((NAME, name), (ETH, eth), (IB, ib), (IBPORT, port)):
            if isinstance(value, int):
                value = bytes([value])
            elif isinstance(value, str):
                value = value.encode() + b"\0"
            if value is not None:
                out += self.genl.attribute(kind, value)
        return out

    def ask(self, cmd, flags=NLM_F_ACK, **attrs):
        """The errno, its text, and the attributes of each message of the answer."""
        body = struct.pack("=BBH", cmd, 1, 0) + self.attrs(**attrs)
        self.family.sock.send(struct.pack("=IHHII", HEAD + len(body), self.family.id,
                                          NLM_F_REQUEST | flags, 9, 0) + body)
        found = []
        while True:
            data = self.family.sock.recv(1 << 16)
            while data:
                size, kind, flag = struct.unpack_from("=IHH", data)
                if kind == NLMSG_ERROR:
                    code = -struct.unpack_from("=i", data, HEAD)[0]
                    tlvs = data[MSGERR:size] if flag & NLM_F_ACK_TLVS else b""
                    text = self.genl.attributes(tlvs).get(1, b"").rstrip(b"\0").decode()
                    return code, text, found
                if kind == NLMSG_DONE and flags != NLM_F_ACK:
                    return 0, "", found
                if kind != NLMSG_DONE:
                    found.append(self.genl.attributes(data[HEAD + GENL_HEAD:size]))
                data = data[(size + 3) & ~3:]

    def dump(self):
        return self.ask(GET, NLM_F_DUMP)[2]


def ask(h, cmd, **attrs):
    """One request from a namespace."""
    with Table() as table:
        code, text, _ = table.ask(cmd, **attrs)
    return code, text


def row(name, eth="n/a", ib="n/a", port=255):
    """An entry as tools read it: they need all attributes."""
    return {NAME: name.encode() + b"\0", ETH: eth.encode() + b"\0",
            IB: ib.encode() + b"\0", IBPORT: bytes([port])}


# The family

def says(h, table, cmd, want, text="", **attrs):
    """The command ends with the errno WANT, 0 for none, and a TEXT."""
    got, why, _ = table.ask(cmd, **attrs)
    h.equal(errno.errorcode.get(got, got), errno.errorcode.get(want, want),
            f"command {cmd} with {attrs} ({why})")
    h.check(text in why if text else want or not why, f"command {cmd} with {attrs}: {why!r}")


LETTERS, NETDEV, RDMADEV = "letters and digits", "a network device has", "an RDMA device has"
BAD = (
    ({}, LETTERS),
    ({"eth": "eth0"}, LETTERS),
    ({"name": "", "eth": "eth0"}, LETTERS),
    ({"name": "  ", "eth": "eth0"}, LETTERS),
    ({"name": "NET 1", "eth": "eth0"}, LETTERS),
    ({"name": "NET-1", "eth": "eth0"}, LETTERS),
    ({"name": "N" * 17, "eth": "eth0"}, LETTERS),
    ({"name": "N" * 5000, "eth": "eth0"}, LETTERS),
    ({"name": "NET1"}, "needs a network device or an RDMA device"),
    ({"name": "NET1", "port": 1}, "needs a network device or an RDMA device"),
    ({"name": "NET1", "eth": ""}, NETDEV),
    ({"name": "NET1", "eth": "e" * 16}, NETDEV),
    ({"name": "NET1", "eth": "e" * 5000}, NETDEV),
    ({"name": "NET1", "eth": "eth 0"}, NETDEV),
    ({"name": "NET1", "eth": "e*0"}, NETDEV),
    ({"name": "NET1", "eth": "n/a"}, NETDEV),
    ({"name": "NET1", "ib": ""}, RDMADEV),
    ({"name": "NET1", "ib": "r" * 64}, RDMADEV),
    ({"name": "NET1", "ib": "rxe0", "port": 0}, "a port is 1 or 2"),
    ({"name": "NET1", "ib": "rxe0", "port": 3}, "a port is 1 or 2"),
    ({"name": "NET1", "ib": "rxe0", "port": 255}, "a port is 1 or 2"),
    # one bad part spoils the whole
    ({"name": "NET1", "eth": "eth0", "ib": "rxe0", "port": 9}, "a port is 1 or 2"),
    ({"name": "NET1", "eth": "eth/0", "ib": "rxe0"}, NETDEV),
    # no string, no number
    ({"name": b"NET1", "eth": "eth0"}, ""),
    ({"name": "NET1", "eth": b"eth0"}, ""),
    ({"name": "NET1", "ib": b""}, ""),
)


def by_root(h, table):
    for attrs, text in BAD:
        says(h, table, ADD, errno.EINVAL, text, **attrs)
    code = table.ask(ADD, name="NET1", ib="rxe0", port=b"")[0]
    h.check(code, "a port of no bytes was taken")
    for cmd in (GET, DEL):
        says(h, table, cmd, errno.EINVAL, LETTERS)
        says(h, table, cmd, errno.EINVAL, LETTERS, name="NET/1")
    says(h, table, DEL, errno.ENOENT, "no device has", name="NET1")
    says(h, table, FLUSH, 0)
    h.equal(table.dump(), [], "entries after that")
    h.equal(table.ask(GET, 0, name="NET1"), (0, "", []), "entries of a name that has none")

    rows = []
    for attrs, what in (
            ({"name": " net1 ", "eth": "eth0"}, [row("NET1", "eth0")]),
            ({"name": "NET2", "ib": "rxe0"}, [row("NET2", ib="rxe0", port=1)]),
            ({"name": "NET3", "ib": "rxe0", "port": 2}, [row("NET3", ib="rxe0", port=2)]),
            ({"name": "ABCDEFGHIJKLMNO9", "eth": "not-there-yet*", "ib": "0000:00:1f.0",
              "port": 2}, [row("ABCDEFGHIJKLMNO9", "not-there-yet*"),
                           row("ABCDEFGHIJKLMNO9", ib="0000:00:1f.0", port=2)]),
            # the part that is new
            ({"name": "NET1", "eth": "eth0", "ib": "mlx5_*"}, [row("NET1", ib="mlx5_*", port=1)])):
        says(h, table, ADD, 0, **attrs)
        rows += what
        h.equal(table.dump(), rows, f"entries after {attrs}")
        says(h, table, ADD, errno.EEXIST, "has a PNETID already", **attrs)
        says(h, table, ADD, errno.EEXIST, "has a PNETID already", **{**attrs, "name": "OTHER"})
    h.equal(table.ask(GET, 0, name="net1")[2], [rows[0], rows[5]], "entries of NET1")
    says(h, table, DEL, 0, name="net1")
    h.equal(table.dump(), rows[1:5], "entries that are left")
    says(h, table, FLUSH, 0)


def full(h, table):
    """More than one message holds."""
    rows = [row("LONG", f"device-{i}") for i in range(LIMIT)]
    for i in range(LIMIT):
        says(h, table, ADD, 0, name="LONG", eth=f"device-{i}")
    says(h, table, ADD, errno.ENOSPC, f"{LIMIT} entries", name="LONG", eth="one-more")
    h.equal(table.dump(), rows, "a full table")
    h.equal(table.ask(GET, 0, name="LONG")[2], rows, "a full table by its name")


def with_table(h, func):
    with Table() as table:
        func(h, table)


def by_nobody(h, table):
    """Everybody may read the table."""
    h.equal(len(table.dump()), LIMIT, "entries")
    h.equal(len(table.ask(GET, 0, name="LONG")[2]), LIMIT, "entries by name")
    for cmd in (ADD, DEL, FLUSH):
        says(h, table, cmd, errno.EPERM, name="LONG", eth="eth0")
    h.equal(len(table.dump()), LIMIT, "entries after that")


def in_namespace(h, table):
    """Root in a namespace of the host: a table of its own."""
    h.equal(table.dump(), [], "entries in a new namespace")
    says(h, table, ADD, 0, name="NET1", eth="eth0", ib="rxe0")
    h.equal(table.dump(), [row("NET1", "eth0"), row("NET1", ib="rxe0", port=1)], "entries there")


def by_owner(h, table):
    """The owner of a namespace has no say about the RDMA devices of the host."""
    says(h, table, ADD, 0, name="NET1", eth="eth0")
    for attrs in ({"ib": "rxe0"}, {"ib": "*"}, {"eth": "eth1", "ib": "rxe0"}):
        says(h, table, ADD, errno.EPERM, "CAP_NET_ADMIN of the host", name="NET1", **attrs)
    h.equal(table.dump(), [row("NET1", "eth0")], "entries of the owner")
    says(h, table, DEL, 0, name="NET1")
    says(h, table, FLUSH, 0)


def tool(h):
    with Table() as table:
        says(h, table, FLUSH, 0)
        by_root(h, table)
        full(h, table)
        netns.in_child(h, with_table, by_nobody, uid=65534)
        netns.in_child(h, with_table, in_namespace, unshare=netns.CLONE_NEWNET)
        netns.in_child(h, with_table, by_owner, uid=65534,
                       unshare=netns.CLONE_NEWUSER | netns.CLONE_NEWNET)
        h.equal(len(table.dump()), LIMIT, "entries of the first namespace")
        says(h, table, FLUSH, 0)
        h.equal(table.dump(), [], "entries in the end")


# Connections

def change(t, vm, cmd, ns=None, **attrs):
    p = t.half(vm, ask, netns=ns, cmd=cmd, **attrs)
    t.wait_all(p)
    t.equal(p.value[0], 0, f"{vm.name}: errno of {cmd} {attrs} ({p.value[1]})")


def talk(t, client, server, addr, mode, reasons=(None, None)):
    """Bytes both ways between (machine, namespace) CLIENT and SERVER; their sockets."""
    s = t.half(server[0], stream_server, netns=server[1], port=PORT, n_in=N_IN, n_out=N_OUT)
    s.expect("listening", t.left())
    c = t.half(client[0], stream_client, netns=client[1], port=PORT, addr=addr, n_in=N_IN,
               n_out=N_OUT)
    t.expect_all("moved", s, c)
    ends = [t.mode(vm, mode, PORT, 1, reason, netns=ns)[0]
            for (vm, ns), reason in ((client, reasons[0]), (server, reasons[1]))]
    for half in (s, c):
        half.gate("end")
    t.wait_all(s, c)
    for vm, ns in (client, server):
        t.no_sockets(vm, PORT, netns=ns)
    return ends


def by_rxe0(t, ends):
    """The RNIC of both ends is that of the first card."""
    for end, vm in zip(ends, (t.b, t.a)):
        t.equal(end["lgr"]["dev"], "rxe0", f"{vm.name}: RNIC")
        t.equal(ipaddress.ip_address(end["lgr"]["gid"]),
                ipaddress.ip_address(f"::ffff:{vm.ip}"), f"{vm.name}: GID")


def listed(t, vm, what):
    from smcvm import kernel
    return "".join(vm.run(f"{t.guest_path(kernel.user_tool('smc'))} {what} -j").out.split())


def beside(t):
    """The second card has no RNIC and carries TCP; the RNIC of the first one carries the data."""
    for vm in (t.a, t.b):
        vm.run("rdma link delete rxe1")
    host = (t.b, None), (t.a, None), "10.43.1.1"
    t.step("no entries")
    talk(t, *host, "TCP", (NODEV, PEERNOSMC))
    change(t, t.b, ADD, name="NET1", eth="eth1", ib="rxe0")
    t.step("entries at the client only")
    talk(t, *host, "TCP", (PEERDECL, NODEV))
    change(t, t.a, ADD, name="NET1", eth="eth*", ib="rxe0")
    for vm in (t.a, t.b):
        t.check('"pnetid":"NET1"' in listed(t, vm, "devices"), f"{vm.name}: devices without PNETID")
    for eid in (None, EID):
        t.step(f"entries at both, EID {eid}")
        for vm in (t.a, t.b):
            t.ueid(vm, eid or "--flush")
        roce = [t.relay.rule(seg=seg, proto="roce") for seg in (0, 1)]
        tcp = t.relay.rule(seg=1, proto="tcp", frm="b", port=PORT)
        by_rxe0(t, talk(t, *host, "SMC-R"))
        frames = [t.relay.hits(rule)[0] for rule in roce]
        t.check(frames[0] > (N_IN + N_OUT) // 4096 and not frames[1],
                f"RoCE frames by cable: {frames}")
        t.check(t.relay.hits(tcp)[0], "TCP did not use the second cable")
        for rule in (*roce, tcp):
            t.relay.unrule(rule)

    t.step("the entry of a port's network device")
    change(t, t.b, DEL, name="NET1")
    change(t, t.b, ADD, name="NET1", eth="eth*")
    by_rxe0(t, talk(t, *host, "SMC-R"))
    t.step("another PNETID, also of the port of the route")
    change(t, t.b, ADD, name="NET2", ib="rxe0")
    talk(t, *host, "TCP", (NODEV, PEERNOSMC))
    talk(t, (t.b, None), (t.a, None), t.a.ip, "TCP", (NODEV, PEERNOSMC))
    for vm in (t.a, t.b):
        change(t, vm, FLUSH)
    talk(t, *host, "TCP", (NODEV, PEERNOSMC))
    by_rxe0(t, talk(t, (t.b, None), (t.a, None), t.a.ip, "SMC-R"))
    for vm in (t.a, t.b):
        vm.run("rdma link add rxe1 type rxe netdev eth1")
        t.pair.wait_gid(vm, 1)


POD = """set -e
ip netns add c1
ip link add pod0 type veth peer name eth0 netns c1
ip addr add 10.99.0.1/24 dev pod0
ip link set pod0 up
ip -n c1 link set lo up
ip -n c1 addr add 10.99.0.2/24 dev eth0
ip -n c1 link set eth0 up
ip -n c1 route add default via 10.99.0.1
sysctl -qw net.ipv4.ip_forward=1
ip netns exec c1 sysctl -qw net.smc.peer_memory_ms=0 net.smc.lgr_idle_ms=1
"""
GONE = """ip netns del c1 2>/dev/null
ip link del pod0 2>/dev/null
ip link del eth0.7 2>/dev/null
sysctl -qw net.ipv4.ip_forward=0"""
# the container has a VLAN, and so has the host on its RNIC
VLAN = """set -e
ip link add link eth0 name eth0.7 type vlan id 7
ip addr add 10.47.0.2/24 dev eth0.7
ip link set eth0.7 up
ip link add link pod0 name pod0.7 type vlan id 7
ip addr add 10.99.7.1/24 dev pod0.7
ip link set pod0.7 up
ip -n c1 link add link eth0 name eth0.7 type vlan id 7
ip -n c1 addr add 10.99.7.2/24 dev eth0.7
ip -n c1 link set eth0.7 up
ip -n c1 route replace default via 10.99.7.1"""


def grown(t):
    """The container's group gets a second link, on an RNIC without an interface of its own."""
    from smcvm import links

    def carried_by(*rnics):
        for vm, ns in ((t.a, None), (t.b, "c1")):
            t.wait(lambda vm=vm, ns=ns:
                   sorted(x.device for x in links.active(vm, ns)) == list(rnics),
                   f"{vm.name}: links by {rnics}", 40)

    s = t.half(t.a, stream_server, port=PORT, n_in=N_IN, n_out=N_OUT)
    s.expect("listening", t.left())
    c = t.half(t.b, stream_client, netns="c1", port=PORT, addr=t.a.ip, n_in=N_IN, n_out=N_OUT)
    t.expect_all("moved", s, c)
    carried_by("rxe0")
    change(t, t.b, ADD, "c1", name="POD", ib="rxe1")
    carried_by("rxe0", "rxe1")
    for half in (s, c):
        half.gate("end")
    t.wait_all(s, c)


def pod(t):
    """A container behind a pair of veth, routed by the host."""
    out, back = ((t.b, "c1"), (t.a, None), t.a.ip), ((t.a, None), (t.b, "c1"), "10.99.0.2")
    t.step("a container, entries in the first namespace only")
    change(t, t.b, ADD, name="POD", eth="*", ib="rxe0")
    talk(t, *out, "TCP", (NODEV, PEERNOSMC))
    change(t, t.b, FLUSH)
    change(t, t.b, ADD, "c1", name="POD", eth="e*")
    talk(t, *out, "TCP", (NODEV, PEERNOSMC))
    t.step("a container with an RNIC of the host")
    change(t, t.b, ADD, "c1", name="POD", ib="rxe0")
    by_rxe0(t, talk(t, *out, "SMC-R"))
    by_rxe0(t, talk(t, *back, "SMC-R")[::-1])
    t.step(grown.__doc__)
    grown(t)

    t.step("a VLAN of the container is none of the host")
    t.b.run(VLAN)
    t.a.run("ip route add 10.99.7.0/24 via 10.43.0.2")
    t.wait(lambda: "ffff:0a2f:0002" in t.b.run("cat /sys/class/infiniband/rxe0/ports/1/gids/*").out,
           "GID of the host's VLAN", 20)
    talk(t, *out, "TCP", (NODEV, PEERNOSMC))


def exclusive(t):
    """RDMA keeps its devices to the first namespace: an entry does not help."""
    t.b.run(GONE)
    t.wait(lambda: not t.b.run("rdma system set netns exclusive", check=False).rc,
           "leave to change the mode of RDMA", 60)
    t.b.run(POD)
    change(t, t.b, ADD, "c1", name="POD", eth="e*", ib="rxe0")
    talk(t, (t.b, "c1"), (t.a, None), t.a.ip, "TCP", (NODEV, PEERNOSMC))


def run(t):
    t.wait_all(t.half(t.a, tool))
    t.no_groups()
    for vm in (t.a, t.b):
        t.set(vm, peer_memory_ms=0)
    try:
        beside(t)
        for vm in (t.a, t.b):
            t.ueid(vm, "--flush")
            t.ueid(vm, EID)
        t.b.run(POD)
        t.a.run("ip route add 10.99.0.0/24 via 10.43.0.2")
        pod(t)
        t.step(exclusive.__doc__)
        exclusive(t)
    finally:
        for vm in (t.a, t.b):
            if not vm.alive():
                continue
            t.ueid(vm, "--flush")
            vm.run("rdma link show rxe1/1 >/dev/null || "
                   "rdma link add rxe1 type rxe netdev eth1", check=False)
            change(t, vm, FLUSH)
        t.a.run("ip route del 10.99.0.0/24; ip route del 10.99.7.0/24", check=False)
        t.b.run(GONE, check=False)
        t.wait(lambda: not t.b.run("rdma system set netns shared", check=False).rc,
               "leave to change the mode of RDMA back", 60)
