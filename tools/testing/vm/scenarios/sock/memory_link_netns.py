# SPDX-License-Identifier: GPL-2.0
"""Ends in two network namespaces of one host share memory where both have net.smc.memory 2.

Two containers are joined by a pair of veth and, with the first namespace, by a bridge. With
another setting at either end they are TCP, as is a container with another host. A namespace
can be deleted under a live connection, and the module unloaded afterwards.

covers: DCLN-08 PEER-01
"""
import errno

from common import keep_answering, keep_asking, parallel, serve, stream_client, stream_server

timeout = 400
PEERNOSMC, NODEV, PEERDECL = 0x03010000, 0x03030002, 0x05000000
HOST = None
OFF, INSIDE, ACROSS = range(3)
# addresses by namespace: on the pair of veth, on the bridge
PAIR = {"c1": "10.99.1.1", "c2": "10.99.1.2"}
PAIR6 = {"c1": "fd99:1::1", "c2": "fd99:1::2"}
BRIDGE = {"c1": "10.99.2.1", "c2": "10.99.2.2", HOST: "10.99.2.254"}
BRIDGE6 = {"c1": "fd99:2::1", "c2": "fd99:2::2", HOST: "fd99:2::fe"}
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
done
"""
PART = """for n in 1 2; do
	ip link del port$n 2>/dev/null
	ip netns del c$n 2>/dev/null
done
ip link del br0 2>/dev/null
true"""


def switch(t, host=ACROSS, c1=ACROSS, c2=ACROSS):
    """net.smc.memory of the three namespaces; other settings are those of the first."""
    t.set(t.a, memory=host, peer_memory_ms=0)
    t.a.run(f"""cd /proc/sys/net/smc; grep '' * | grep -v ^mem: >/run/smc.set
set {c1} {c2}
for ns in c1 c2; do
	(cat /run/smc.set; echo memory:$1) | ip netns exec $ns sh -c '
		cd /proc/sys/net/smc; while IFS=: read file value; do echo $value >$file; done'
	shift
done""")


def use(t, server, client):
    s, c = t.a.stats(server), t.a.stats(client)
    return [s.get("server_memory", 0), c.get("client_memory", 0),
            s.get("clc_tx", 0) + c.get("clc_tx", 0)]


def stream(t, port, server, client, addr, v6=False, in_memory=True, reasons=(None, None)):
    """One verified stream both ways, and not by RDMA; no CLC message is sent."""
    n_in, n_out = t.pick(2_000_037, 300_003), t.pick(1_500_017, 200_001)
    if in_memory:
        t.rdma_start()
    before = use(t, server, client)
    s = t.half(t.a, stream_server, netns=server, ipv=6 if v6 else 4, port=port,
               n_in=n_in, n_out=n_out)
    s.expect("listening", t.left())
    c = t.half(t.a, stream_client, netns=client, port=port, addr=addr, v6=v6, n_in=n_in,
               n_out=n_out)
    t.expect_all("moved", s, c)
    for ns, reason in ((server, reasons[0]), (client, reasons[1])):
        t.mode(t.a, "memory" if in_memory else "TCP", port, 2 if server == client else 1, reason,
               netns=ns)
    now = use(t, server, client)
    t.equal([n - b for n, b in zip(now, before)], [int(in_memory), int(in_memory), 0],
            f"connections in memory, server and client, and CLC messages; {client} to {addr}")
    if in_memory:
        t.not_carried(t.a)
    for half in (s, c):
        half.gate("end")
    t.wait_all(s, c)
    for ns in (server, client):
        t.no_sockets(t.a, port, netns=ns)


def not_allowed(t):
    """Both ends have a say, and a container inside itself only the one."""
    for i, (c1, c2) in enumerate(((INSIDE, INSIDE), (ACROSS, INSIDE), (INSIDE, ACROSS),
                                  (ACROSS, OFF), (OFF, ACROSS))):
        t.step(f"client {c1}, server {c2}")
        switch(t, OFF, c1, c2)
        t.a.run("rdma link delete rxe0")
        try:
            stream(t, 5300 + i, "c2", "c1", PAIR["c2"], in_memory=False)
        finally:
            t.a.run("rdma link add rxe0 type rxe netdev eth0")
            t.pair.wait_gid(t.a, 0)
    switch(t, OFF, INSIDE, OFF)
    stream(t, 5306, "c1", "c1", "127.0.0.1")
    stream(t, 5307, "c1", "c1", PAIR["c1"])
    stream(t, 5308, "c2", "c2", "127.0.0.1", in_memory=False)


def everywhere(t):
    switch(t)
    port = 5310
    for server, client, places in (
            ("c2", "c1", ((PAIR["c2"], False), (PAIR6["c2"], True), (BRIDGE["c2"], False),
                          (BRIDGE6["c2"], True))),
            ("c1", "c2", ((PAIR["c1"], False), (BRIDGE6["c1"], True))),
            ("c1", HOST, ((BRIDGE["c1"], False), (BRIDGE6["c1"], True))),
            (HOST, "c1", ((BRIDGE[HOST], False), (BRIDGE6[HOST], True))),
            ("c1", "c1", (("127.0.0.1", False), ("::1", True), (PAIR["c1"], False)))):
        t.step(f"{client or 'first namespace'} to {server or 'first namespace'}")
        for addr, v6 in places:
            stream(t, port, server, client, addr, v6)
            port += 1


def at_once(t):
    t.step("many at once between two namespaces")
    n, rounds = 40, t.pick(20, 3)
    before = use(t, "c2", "c1")
    s = t.half(t.a, serve, netns="c2", port=5340, count=n, backlog=256)
    s.expect("listening", t.left())
    c = t.half(t.a, parallel, netns="c1", port=5340, n=n, rounds=rounds, addr=PAIR["c2"])
    t.expect_all("open", c)
    c.gate("ask")
    t.wait_all(s, c)
    now = use(t, "c2", "c1")
    # a client that waits for a CPU for too long takes its server for one of another host
    t.check(now[0] - before[0] == now[1] - before[1] > n // 2, f"in memory: {before}, then {now}")
    t.no_sockets(t.a, 5340, netns="c2")


def elsewhere(t):
    """A container has no RNIC for other hosts: TCP, and a Decline where the server has one."""
    t.step(elsewhere.__doc__)
    t.set(t.b, memory=ACROSS, peer_memory_ms=0)
    t.a.run("""sysctl -qw net.ipv4.ip_forward=1
for n in 1 2; do ip -n c$n route add default via 10.99.2.254; done""")
    t.b.run("ip route add 10.99.2.0/24 via 10.43.0.1")
    n = t.pick(500_009, 100_003)
    for port, (client, cns), (server, sns), addr, mode, reasons in (
            (5380, (t.a, "c1"), (t.b, HOST), t.b.ip, "TCP", (NODEV, PEERDECL)),
            (5382, (t.b, HOST), (t.a, HOST), t.a.ip, "SMC-R", (None, None)),
            (5383, (t.a, HOST), (t.b, HOST), t.b.ip, "SMC-R", (None, None))):
        s = t.half(server, stream_server, netns=sns, port=port, n_in=n, n_out=n)
        s.expect("listening", t.left())
        c = t.half(client, stream_client, netns=cns, port=port, addr=addr, n_in=n, n_out=n)
        t.expect_all("moved", s, c)
        t.mode(client, mode, port, 1, reasons[0], netns=cns)
        t.mode(server, mode, port, 1, reasons[1], netns=sns)
        for half in (s, c):
            half.gate("end")
        t.wait_all(s, c)
    t.b.run("ip route del 10.99.2.0/24")
    t.a.run("sysctl -qw net.ipv4.ip_forward=0")
    t.restore("memory")


def busy(t, port, server, client):
    """A connection with data under way at all times."""
    s = t.half(t.a, keep_answering, netns=server, port=port)
    s.expect("listening", t.left())
    c = t.half(t.a, keep_asking, netns=client, port=port, addr=PAIR[server])
    t.expect_all("connected", s, c)
    for ns in (server, client):
        t.mode(t.a, "memory", port, netns=ns)
    return s, c


def has_link(t, name):
    return not t.a.run(f"ip link show {name}", check=False).rc


def namespace_goes(t):
    t.step("a namespace is deleted under a live connection, then loses its last process")
    switch(t)
    s, c = busy(t, 5393, "c2", "c1")
    t.a.run("ip netns del c2")
    s.kill()
    t.wait_all(c)
    t.check(c.value in TOLD + (0,), f"the other end ended with {c.value}")
    t.no_sockets(t.a, 5393, netns="c1")
    # its interfaces go with it, and what they were joined to
    t.wait(lambda: not has_link(t, "port2"), "the end of the namespace", 60)

    t.step("two namespaces go with all that is in them, then the module")
    t.a.run(PART)
    t.a.run(JOIN)
    switch(t)
    procs = busy(t, 5394, "c2", "c1") + busy(t, 5395, "c1", "c2")
    t.a.run("ip netns del c1; ip netns del c2")
    for p in procs:
        p.kill()
    t.wait(lambda: not has_link(t, "port1") and not has_link(t, "port2"),
           "the end of both namespaces", 60)
    t.reload(t.a)


def not_everybody(t):
    t.step("a process that may not configure the host's network cannot choose other namespaces")
    switch(t, c1=INSIDE)
    r = t.a.run("ip netns exec c1 setpriv --bounding-set -net_admin sh -c 'cd /proc/sys/net/smc; "
                "echo 2 >memory; cat memory; echo 0 >memory; cat memory'", check=False)
    t.equal(r.out.split(), ["1", "0"], f"memory ({r.err})")


def run(t):
    if t.family != "smc":
        return
    t.reload(t.a)
    t.a.run(PART)
    try:
        t.a.run(JOIN)
        not_allowed(t)
        everywhere(t)
        at_once(t)
        elsewhere(t)
        not_everybody(t)
        namespace_goes(t)
    finally:
        t.a.run(PART)
