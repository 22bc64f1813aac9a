# SPDX-License-Identifier: GPL-2.0
"""Containers of one host use SMC between their namespaces, over veth and a bridge.

The only RNIC is in the first namespace. Two more are joined by a pair of veth and, with the
first, by a bridge. Both ends must have net.smc.same_host on. A peer on another host that
claims to be on this one gains nothing. The namespaces and the module can be removed while
link groups exist, the RNIC and namespaces also under live connections.

covers: PID-05 LG-03 LG-05 LG-06 SC-05 SC-09 SEC-08 DCLN-08 FC-03 PEER-01 PEER-03
"""
import errno
import socket
import struct

from common import keep_answering, keep_asking, parallel, serve, serve_any
from common import stream_client, stream_server
from rawpeer import ACCEPT, ACK, CONFIRM, DECLINE, MSS_OPTION, PROPOSAL, SMC_OPTION, SYN
from rawpeer import RawConn, RawHost

timeout = 400
NODEV, PEERDECL, DIFFPREFIX = 0x03030002, 0x05000000, 0x03070000
HOST = None
# addresses by namespace: on the pair of veth, on the bridge
PAIR = {"c1": "10.99.1.1", "c2": "10.99.1.2"}
PAIR6 = {"c1": "fd99:1::1", "c2": "fd99:1::2"}
BRIDGE = {"c1": "10.99.2.1", "c2": "10.99.2.2", HOST: "10.99.2.254"}
BRIDGE6 = {"c1": "fd99:2::1", "c2": "fd99:2::2", HOST: "fd99:2::fe"}
VLAN = {"c1": "10.99.3.1", "c2": "10.99.3.2"}
# of a device on top of the RNIC's
MACVLAN = "10.43.0.9"
EID = "SMC-BENCH.SAME-HOST"
LIAR = "10.99.2.77"
TOLD = (errno.ECONNRESET, errno.ECONNABORTED, errno.EPIPE, errno.ETIMEDOUT)

JOIN = """set -e
ip link add br0 type bridge forward_delay 0
ip addr add 10.99.2.254/24 dev br0
ip -6 addr add fd99:2::fe/64 dev br0 nodad
ip link set br0 up
for n in 1 2; do
	ip netns add c$n
	ip -n c$n link set lo up
	ip link add port$n type veth peer name bridge netns c$n
	ip link set port$n master br0 up
	ip -n c$n addr add 10.99.2.$n/24 dev bridge
	ip -n c$n -6 addr add fd99:2::$n/64 dev bridge nodad
	ip -n c$n link set bridge up
done
ip -n c1 link add pair type veth peer name pair netns c2
for n in 1 2; do
	ip -n c$n addr add 10.99.1.$n/24 dev pair
	ip -n c$n -6 addr add fd99:1::$n/64 dev pair nodad
	ip -n c$n link set pair up
	ip -n c$n link add link pair name vlan7 type vlan id 7
	ip -n c$n addr add 10.99.3.$n/24 dev vlan7
	ip -n c$n link set vlan7 up
done
"""
PART = """for n in 1 2; do
	ip link del port$n 2>/dev/null
	ip netns del c$n 2>/dev/null
done
ip link del br0 2>/dev/null
true"""


def inside(t, ns, cmd, **kw):
    return t.a.run(f"ip netns exec {ns} {cmd}" if ns else cmd, **kw)


def switch(t, *on):
    """Enable same_host in the namespaces ON only; other settings are those of the first."""
    # idle groups send nothing, so that packets can be counted
    t.set(t.a, same_host=int(HOST in on), peer_memory_ms=0, smcr_testlink_time=0)
    bits = " ".join(str(int(ns in on)) for ns in ("c1", "c2"))
    t.a.run(f"""cd /proc/sys/net/smc; grep '' * | grep -v ^mem: >/run/smc.set
set {bits}
for ns in c1 c2; do
	(cat /run/smc.set; echo same_host:$1) | ip netns exec $ns sh -c '
		cd /proc/sys/net/smc; while IFS=: read file value; do echo $value >$file; done'
	shift
done""")


def stream(t, port, server, client, addr, v6=False, want="SMC-R", reasons=(None, None)):
    """One verified stream both ways, and sock_diag's entries of both ends."""
    n_in, n_out = t.pick(2_000_037, 300_003), t.pick(1_500_017, 200_001)
    t.rdma_start()
    s = t.half(t.a, stream_server, netns=server, ipv=6 if v6 else 4, port=port,
               n_in=n_in, n_out=n_out)
    s.expect("listening", t.left())
    c = t.half(t.a, stream_client, netns=client, port=port, addr=addr, v6=v6, n_in=n_in,
               n_out=n_out)
    t.expect_all("moved", s, c)
    both = 2 if server == client else 1
    ends = [t.mode(t.a, want, port, both, reason, netns=ns)
            for ns, reason in ((server, reasons[0]), (client, reasons[1]))]
    if want == "SMC-R":
        t.carried(t.a, n_in + n_out)
        roles = sorted(e["lgr"]["role"] for end in ends for e in end)
        t.equal(roles, [0, 0, 1, 1] if both == 2 else [0, 1], "roles of the two ends")
    else:
        t.not_carried(t.a)
    for half in (s, c):
        half.gate("end")
    t.wait_all(s, c)
    for ns in (server, client):
        t.no_sockets(t.a, port, netns=ns)
    return [e[0] for e in ends]


def one_side(t):
    t.step("off at both ends, or at one")
    qps = t.queue_pairs(t.a)
    switch(t)
    _, c = stream(t, 5300, "c2", "c1", PAIR["c2"], want="TCP", reasons=(PEERDECL, NODEV))
    switch(t, "c2")
    s, _ = stream(t, 5301, "c2", "c1", PAIR["c2"], want="TCP", reasons=(PEERDECL, NODEV))
    t.equal(s["peer_diagnosis"], NODEV, "the server knows why")
    switch(t, "c1")
    _, c = stream(t, 5302, "c2", "c1", BRIDGE["c2"], want="TCP", reasons=(NODEV, PEERDECL))
    t.equal(c["peer_diagnosis"], NODEV, "the client knows why")
    # an RNIC of its own does not help a client, if the server does not allow it
    switch(t, HOST, "c1")
    stream(t, 5303, "c2", HOST, BRIDGE["c2"], want="TCP", reasons=(NODEV, PEERDECL))
    t.equal(t.queue_pairs(t.a), qps, "RC queue pairs after all that")


def everywhere(t):
    """Each direction has a group with one link, whatever the addresses."""
    switch(t, HOST, "c1", "c2")
    port, qps = 5310, 0
    for server, client, places in (
            ("c2", "c1", ((PAIR["c2"], False), (PAIR6["c2"], True), (BRIDGE["c2"], False),
                          (BRIDGE6["c2"], True), (VLAN["c2"], False))),
            ("c1", "c2", ((PAIR["c1"], False), (BRIDGE6["c1"], True))),
            ("c1", HOST, ((BRIDGE["c1"], False), (BRIDGE6["c1"], True))),
            (HOST, "c1", ((BRIDGE[HOST], False), (BRIDGE6[HOST], True))),
            ("c1", "c1", (("127.0.0.1", False), ("::1", True), (PAIR["c1"], False)))):
        t.step(f"on: {client or 'first namespace'} to {server or 'first namespace'}")
        qps += 2
        for addr, v6 in places:
            ends = stream(t, port, server, client, addr, v6)
            t.equal([e["lgr"]["dev"] for e in ends], ["rxe0"] * 2, "RNIC")
            t.equal(t.queue_pairs(t.a), qps, f"RC queue pairs, {client} to {server}, {addr}")
            port += 1


def at_once(t):
    t.step("many at once between two namespaces")
    t.reload(t.a)
    switch(t, "c1", "c2")
    n, rounds = 40, t.pick(20, 3)
    t.rdma_start()
    s = t.half(t.a, serve, netns="c2", port=5340, count=n, backlog=256)
    s.expect("listening", t.left())
    c = t.half(t.a, parallel, netns="c1", port=5340, n=n, rounds=rounds, addr=PAIR["c2"])
    t.expect_all("open", c)
    for ns in ("c1", "c2"):
        t.mode(t.a, "SMC-R", 5340, n, netns=ns)
    t.equal(t.queue_pairs(t.a), 2, "RC queue pairs of one link with both its ends here")
    c.gate("ask")
    t.wait_all(s, c)
    t.carried(t.a, n * rounds * 2000)
    t.no_sockets(t.a, 5340, netns="c2")


# Wrong names of an RNIC

class Between(RawHost):
    """Accepts a connection only after the host behind it has sent its number."""

    def __init__(self, **kw):
        super().__init__(**kw)
        self.asked = {}

    def take(self, key, seq, options):
        self.asked.setdefault(key, seq)

    def answer(self, key, isn):
        conn = self.conns[key] = RawConn(self, key)
        conn.rcv = self.asked.pop(key) + 1 & 0xffffffff
        conn.state = "open"
        conn.snd = isn
        conn.send_segment(SYN | ACK, options=MSS_OPTION + SMC_OPTION)
        conn.snd = conn.una = isn + 1 & 0xffffffff
        return conn


def kind(h, msg, want, what):
    h.equal(msg[4:5], bytes([want]), f"{what} ({msg.hex()})")
    return msg


def changed(msg, at):
    return msg[:at] + bytes([msg[at] ^ 1]) + msg[at + 1:]


def lies(h, port, to):
    """A host on the bridge that copies the RNIC's names from other hosts' messages.

    As a server it accepts a client of this host with the RNIC's own names; as a
    client it proposes what that client has proposed.
    """
    host = RawHost("br0", LIAR)
    host.listen(port)
    h.mark("listening")
    c = host.accept(port, h.left())
    prop = kind(h, c.recv_clc(h.within(20)), PROPOSAL, "Proposal")
    # the client offers other hosts only its own address
    net, bits = struct.unpack_from("!IB", prop, 40 + struct.unpack_from("!H", prop, 38)[0])
    h.equal((socket.inet_ntoa(struct.pack("!I", net)), bits), (BRIDGE["c1"], 32), "subnet")
    acc = host.accept_or_confirm(ACCEPT)
    c.send(acc[:8] + prop[8:38] + acc[38:])
    kind(h, c.recv_clc(h.within(20)), DECLINE, "answer to a liar's Accept")
    c.abort()
    h.mark("declined")

    s = host.connect(BRIDGE["c2"], to)
    s.send(prop)
    msg = kind(h, s.recv_clc(h.within(20)), DECLINE, "answer to a liar's Proposal")
    h.equal(struct.unpack_from("!I", msg, 16)[0], NODEV, "diagnosis of it")
    s.abort()


def relays(h, port, to, at=None):
    """Two connections with the same numbers: AT is the byte that is changed, of a type."""
    host = Between(dev="br0", ip=LIAR)
    host.listen(port)
    h.mark("listening")
    host.until(lambda: host.asked, h.left())
    key, seq = next(iter(host.asked.items()))
    s = host.connect(BRIDGE["c2"], to, seq=seq)
    c = host.answer(key, s.rcv - 1 & 0xffffffff)
    for frm, dst, what in ((c, s, PROPOSAL), (s, c, ACCEPT), (c, s, CONFIRM)):
        msg = kind(h, frm.recv_clc(h.within(20)), what, "message to relay")
        dst.send(changed(msg, at[1]) if at and at[0] == what else msg)
        if at and at[0] == what:
            end = dst.ended(h.within(20))
            frm.abort()
            return end
    h.mark("relayed")
    # only the end follows on this connection
    host.until(lambda: c.fin or c.reset or c.data or s.data, h.left())
    h.check(c.fin and not c.data and not s.data, "something else than the end of TCP came")
    s.close()
    host.until(lambda: s.fin or s.reset, h.left())
    c.close()
    h.check(host.until(lambda: c.una == c.snd and s.una == s.snd, h.left()), "FIN not taken")
    return "fin"


def until_reset(h, port, addr):
    """A connection that ends with a reset, in connect() or after it; the errno."""
    try:
        s = h.connect(port, addr=addr)
        s.sendall(b"x")
        s.recv(1)
    except OSError as e:
        return e.errno
    return 0


def takes_one(h, port):
    """A server of one connection, which may fail."""
    ls = h.listen(port)
    c = h.accept(ls)
    try:
        h.answer(c)
    except OSError:
        pass
    c.close()
    ls.close()


def liars(t):
    t.step("a stranger with the RNIC's names")
    # a client whose Confirm was changed gets no answer to its abort
    t.set(t.a, close_timeout_ms=1000 * t.slow)
    switch(t, "c1", "c2")
    qps = t.queue_pairs(t.a)
    t.rdma_start()
    s = t.half(t.a, serve_any, netns="c2", port=5350)
    raw = t.half(t.a, lies, port=5351, to=5350)
    t.expect_all("listening", s, raw)
    c = t.half(t.a, until_reset, netns="c1", port=5351, addr=LIAR)
    t.wait_all(raw, c)
    t.equal(t.queue_pairs(t.a), qps, "RC queue pairs after a false claim")
    s.gate("stop")
    t.wait_all(s)

    t.step("a host between the two that forwards everything")
    s = t.half(t.a, stream_server, netns="c2", port=5352, n_in=100_003, n_out=100_003)
    raw = t.half(t.a, relays, port=5353, to=5352)
    t.expect_all("listening", s, raw)
    c = t.half(t.a, stream_client, netns="c1", port=5353, addr=LIAR, n_in=100_003,
               n_out=100_003)
    t.expect_all("moved", s, c)
    t.mode(t.a, "SMC-R", 5352, netns="c2")
    t.mode(t.a, "SMC-R", 5353, netns="c1")
    for half in (s, c):
        half.gate("end")
    t.wait_all(s, c, raw)
    for port, ns in ((5352, "c2"), (5353, "c1")):
        t.no_sockets(t.a, port, netns=ns)

    # rkey of the server, queue pair of the client
    for i, (what, at) in enumerate(((ACCEPT, 41), (CONFIRM, 39))):
        t.step(f"a host between the two that changes message {what}")
        port = 5354 + 2 * i
        s = t.half(t.a, takes_one, netns="c2", port=port)
        raw = t.half(t.a, relays, port=port + 1, to=port, at=[what, at])
        t.expect_all("listening", s, raw)
        c = t.half(t.a, until_reset, netns="c1", port=port + 1, addr=LIAR)
        t.wait_all(raw, c)
        t.equal(raw.value, "reset", f"what came of changed message {what}")
        t.equal(c.value, errno.ECONNRESET, "errno of the client")
        s.kill()
        for ns, last in (("c1", port + 1), ("c2", port)):
            t.no_sockets(t.a, last, netns=ns)
    t.restore("close_timeout_ms")


def elsewhere(t):
    """Other hosts are unaffected by same_host; a container has no RNIC for them."""
    t.step("a container and another host")
    switch(t, HOST, "c1", "c2")
    t.set(t.b, same_host=1, peer_memory_ms=0, smcr_testlink_time=0)
    t.a.run("""sysctl -qw net.ipv4.ip_forward=1
for n in 1 2; do ip -n c$n route add default via 10.99.2.254; done""")
    t.b.run("ip route add 10.99.2.0/24 via 10.43.0.1")
    n = t.pick(500_009, 100_003)
    for port, (client, cns), (server, sns), addr, mode, reasons in (
            (5380, (t.a, "c1"), (t.b, HOST), t.b.ip, "TCP", (PEERDECL, DIFFPREFIX)),
            (5381, (t.b, HOST), (t.a, "c2"), BRIDGE["c2"], "TCP", (PEERDECL, NODEV)),
            (5382, (t.b, HOST), (t.a, HOST), t.a.ip, "SMC-R", (None, None)),
            (5383, (t.a, HOST), (t.b, HOST), t.b.ip, "SMC-R", (None, None))):
        t.rdma_start()
        s = t.half(server, stream_server, netns=sns, port=port, n_in=n, n_out=n)
        s.expect("listening", t.left())
        c = t.half(client, stream_client, netns=cns, port=port, addr=addr, n_in=n, n_out=n)
        t.expect_all("moved", s, c)
        t.mode(client, mode, port, 1, reasons[0], netns=cns)
        t.mode(server, mode, port, 1, reasons[1], netns=sns)
        for vm in (t.a, t.b):
            if mode == "TCP":
                t.not_carried(vm)
            else:
                t.carried(vm, n)
        for half in (s, c):
            half.gate("end")
        t.wait_all(s, c)
    t.b.run("ip route del 10.99.2.0/24")
    t.a.run("sysctl -qw net.ipv4.ip_forward=0")
    t.restore("same_host")


def with_eid(t):
    """An EID changes nothing in here; by a macvlan a container asks for version 2, too."""
    t.step(with_eid.__doc__)
    # none of the container's own is left of the steps before
    t.reload(t.a)
    switch(t, HOST, "c1", "c2")
    t.set(t.b, peer_memory_ms=0)
    t.a.run(f"""set -e
ip link add link eth0 name macvlan netns c1 type macvlan mode bridge
ip -n c1 addr add {MACVLAN}/24 dev macvlan
ip -n c1 link set macvlan up""")
    try:
        for vm in (t.a, t.b):
            t.ueid(vm, EID)
        for i, (server, client, addr) in enumerate((
                ("c2", "c1", PAIR["c2"]), ("c1", HOST, BRIDGE["c1"]))):
            t.step(f"{client} to {server} with an EID")
            stream(t, 5400 + i, server, client, addr)
        # soft-RoCE sends from the first namespace only
        n = 100_003
        for port, (client, cns), (server, sns), addr in (
                (5410, (t.a, "c1"), (t.b, HOST), t.b.ip), (5411, (t.b, HOST), (t.a, "c1"), MACVLAN)):
            s = t.half(server, stream_server, netns=sns, port=port, n_in=n, n_out=n)
            s.expect("listening", t.left())
            c = t.half(client, stream_client, netns=cns, port=port, addr=addr, n_in=n, n_out=n)
            t.expect_all("moved", s, c)
            for vm, ns in ((client, cns), (server, sns)):
                t.mode(vm, "TCP", port, netns=ns)
            for half in (s, c):
                half.gate("end")
            t.wait_all(s, c)
    finally:
        for vm in (t.a, t.b):
            if vm.alive():
                t.ueid(vm, "--flush")
        t.a.run("ip -n c1 link del macvlan", check=False)
    t.restore("peer_memory_ms")


def busy(t, port, server, client):
    """A connection with data under way at all times."""
    s = t.half(t.a, keep_answering, netns=server, port=port)
    s.expect("listening", t.left())
    c = t.half(t.a, keep_asking, netns=client, port=port, addr=PAIR[server])
    t.expect_all("connected", s, c)
    for ns in (server, client):
        t.mode(t.a, "SMC-R", port, netns=ns)
    return s, c


def nothing_left(t, what):
    t.wait(lambda: not t.queue_pairs(t.a) and not t.memory_regions(t.a),
           f"no queue pair and no memory region, {what}", 60)


def has_link(t, name):
    return not t.a.run(f"ip link show {name}", check=False).rc


def rnic_goes(t):
    t.step("the RNIC goes under live connections")
    switch(t, "c1", "c2")
    procs = busy(t, 5390, "c2", "c1") + busy(t, 5391, "c1", "c2")
    t.a.run("rdma link delete rxe0")
    t.wait_all(*procs)
    for p in procs:
        t.check(p.value in TOLD, f"{p} ended with {p.value}")
    for port in (5390, 5391):
        for ns in ("c1", "c2"):
            t.no_sockets(t.a, port, netns=ns)
    nothing_left(t, "with the RNIC")
    t.a.run("rdma link add rxe0 type rxe netdev eth0")
    t.pair.wait_gid(t.a, 0)
    stream(t, 5392, "c2", "c1", PAIR["c2"])


def namespace_goes(t):
    t.step("a namespace is deleted under a live connection, then loses its last process")
    s, c = busy(t, 5393, "c2", "c1")
    t.a.run("ip netns del c2")
    t.rdma_start()
    t.wait(lambda: t.rdma_packets(t.a) > 100, "more data on the connection", 30)
    s.kill()
    t.wait_all(c)
    t.check(c.value in TOLD + (0,), f"the other end ended with {c.value}")
    t.no_sockets(t.a, 5393, netns="c1")
    # its interfaces go with it, and what they were joined to
    t.wait(lambda: not has_link(t, "port2"), "the end of the namespace", 60)
    nothing_left(t, "with the namespace")

    t.step("two namespaces go with all that is in them, then the module")
    t.a.run(PART)
    t.a.run(JOIN)
    switch(t, "c1", "c2")
    procs = busy(t, 5394, "c2", "c1") + busy(t, 5395, "c1", "c2")
    t.a.run("ip netns del c1; ip netns del c2")
    for p in procs:
        p.kill()
    t.wait(lambda: not has_link(t, "port1") and not has_link(t, "port2"),
           "the end of both namespaces", 60)
    t.reload(t.a)
    nothing_left(t, "with the module")
    t.a.run(PART)
    t.a.run(JOIN)


def not_everybody(t):
    t.step("a process that may not configure the host's network cannot enable same_host")
    switch(t)
    r = inside(t, "c1", "setpriv --bounding-set -net_admin sh -c 'cd /proc/sys/net/smc; "
               "echo 1 >same_host; echo 20000 >wmem; cat same_host wmem'", check=False)
    t.equal(r.out.split(), ["0", "20000"], f"same_host, wmem ({r.err})")


def exclusive(t):
    t.step("an RNIC that RDMA keeps to one namespace")
    t.a.run(PART)
    t.wait(lambda: not t.a.run("rdma system set netns exclusive", check=False).rc,
           "leave to change the mode of RDMA", 60)
    t.a.run(JOIN)
    switch(t, HOST, "c1", "c2")
    stream(t, 5370, "c2", "c1", PAIR["c2"], want="TCP", reasons=(PEERDECL, NODEV))
    stream(t, 5371, "c1", "c1", "127.0.0.1", want="TCP")
    # its owner may use it, but the other end may not
    stream(t, 5372, "c2", HOST, BRIDGE["c2"], want="TCP", reasons=(NODEV, PEERDECL))
    stream(t, 5373, HOST, "c2", BRIDGE[HOST], want="TCP", reasons=(PEERDECL, NODEV))
    stream(t, 5374, HOST, HOST, "127.0.0.1")
    t.a.run(PART)
    t.wait(lambda: shared(t), "leave to change the mode of RDMA back", 60)
    t.a.run(JOIN)
    switch(t, "c1", "c2")
    stream(t, 5375, "c2", "c1", PAIR["c2"])


def shared(t):
    return not t.a.run("rdma system set netns shared", check=False).rc


def run(t):
    if t.family != "smc":
        return
    t.reload(t.a)
    t.a.run(PART)
    try:
        t.a.run(JOIN)
        one_side(t)
        everywhere(t)
        elsewhere(t)
        with_eid(t)
        not_everybody(t)
        at_once(t)
        liars(t)
        rnic_goes(t)
        namespace_goes(t)
        exclusive(t)
        t.step("unloading with groups of several namespaces")
        t.reload(t.a)
    finally:
        t.a.run(PART)
        shared(t)
