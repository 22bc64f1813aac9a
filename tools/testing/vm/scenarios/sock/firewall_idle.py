# SPDX-License-Identifier: GPL-2.0
"""A firewall that forgets an idle TCP connection ends no connection whose data RDMA carries.

TCP is probed often enough that a firewall does not forget it. Where one has forgotten it, and then
resets or drops what it sees of it, the connection goes on, and ends in order without TCP. Where
RDMA is dead, too, the connection is reset.

covers: KA-08 KA-11 KA-12 ABRT-01 ABRT-10 CLOSE-01
"""
import contextlib
import errno
import json
import socket

kernels = ("stock",)  # the debug kernel tracks no connections
timeout = 90
PORT = 5820
N = 20_011
FORGETS = 5     # seconds of idle TCP
PROBES = 2 * FORGETS
SOL_TCP, IDLE, INTVL, CNT, TCP_INFO = 6, 4, 5, 6, 11
VIEW = (socket.SOL_SOCKET, socket.SO_KEEPALIVE), (SOL_TCP, IDLE), (SOL_TCP, INTVL), (SOL_TCP, CNT)


def keep(s):
    for name, value in ((IDLE, 1), (INTVL, 1), (CNT, 2)):
        s.setsockopt(SOL_TCP, name, value)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)


def move(h, c, role):
    mine, theirs = (2, 1) if role == "server" else (1, 2)
    h.both_ways(c, N, mine, N, theirs)
    h.mark("moved")


def begin(h, port, role, keeps):
    c = h.accept(h.listen(port)) if role == "server" else h.connect(port)
    if keeps:
        keep(c)
    move(h, c, role)
    return c


def seen(c):
    """What the application sees of its connection."""
    return (c.getsockname(), c.getpeername(), [c.getsockopt(*x) for x in VIEW],
            c.getsockopt(SOL_TCP, TCP_INFO, 8)[0], c.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR))


def goes_on(h, port, role, keeps=False, is_ours=True):
    """A connection that moves data before and after what the runner does, and ends in order."""
    c = begin(h, port, role, keeps)
    was = seen(c)
    h.gate("again")
    # the distribution's module has no names for a connection without TCP
    if is_ours:
        h.equal(seen(c), was, "names, options of keepalive, state in TCP_INFO, SO_ERROR")
    move(h, c, role)
    h.gate("end")
    # nor does its shutdown() work
    if is_ours:
        c.shutdown(socket.SHUT_WR)
    h.at_end(c)
    c.close()


def is_reset(h, port, role, is_ours=True):
    """A connection that the runner breaks; the errno."""
    c = begin(h, port, role, False)
    try:
        c.recv(1)
    except OSError as e:
        return e.errno
    return 0


def pair(t, port, func=goes_on, **args):
    ours = t.ours()
    s = t.half(t.a, func, port=port, role="server", is_ours=t.a in ours, **args)
    s.expect("listening")
    c = t.half(t.b, func, port=port, role="client", is_ours=t.b in ours, **args)
    t.expect_all("moved", s, c)
    for vm in (t.a, t.b):
        t.mode(vm, "SMC-R", port)
    return s, c


def end(t, port, *procs):
    for gate in ("again", "end"):
        for p in procs:
            p.gate(gate)
        if gate == "again":
            t.expect_all("moved", *procs)
    t.wait_all(*procs)
    for vm in (t.a, t.b):
        t.no_sockets(vm, port)


@contextlib.contextmanager
def firewall(t, *rules):
    """An nft firewall in A. RULES begin with the port; the verdict meets both directions.

    Its own RST passes.
    """
    lines = ["add table inet box",
             "add chain inet box in { type filter hook input priority 0; }",
             "add chain inet box out { type filter hook output priority 0; }"]
    for port, rest in rules:
        lines += [f"add counter inet box p{port}",
                  f"add rule inet box in tcp dport {port} tcp flags & rst == 0 {rest}",
                  f"add rule inet box out tcp sport {port} tcp flags & rst == 0 {rest}"]
    t.a.run("nft -f - << 'END'\n" + "\n".join(lines) + "\nEND")
    try:
        yield
    finally:
        if t.a.alive():
            t.a.run("nft delete table inet box", check=False)


def hits(t, port):
    """Segments of connections of PORT that the firewall did not know."""
    listed = json.loads(t.a.run("nft -j list counters table inet box").out)["nftables"]
    return next(x["counter"]["packets"] for x in listed
                if x.get("counter", {}).get("name") == f"p{port}")


def probes(vm):
    return int(vm.run("nstat -asz TcpExtTCPKeepAlive | awk '/KeepAlive/ {print $2}'").out)


def has_tcp(vm, port):
    return vm.run(f"ss -Htn state connected '( sport = :{port} or dport = :{port} )'").out != ""


def remembers(t, ours):
    """A firewall that forgets sees the probes of one connection, and none of another one."""
    t.step(remembers.__doc__)
    t.a.run("modprobe nf_conntrack; cd /proc/sys/net/netfilter; echo 0 > nf_conntrack_tcp_loose; "
            f"echo {FORGETS} > nf_conntrack_tcp_timeout_established")
    unknown = [(port, f"ct state invalid counter name p{port} reject with tcp reset")
               for port in (PORT, PORT + 1)]
    with firewall(t, *unknown):
        for vm in ours:
            t.set(vm, tcp_keepalive=0)
        idle = pair(t, PORT)
        for vm in ours:
            t.set(vm, tcp_keepalive=1)
        probed = pair(t, PORT + 1)
        was = [probes(vm) for vm in ours]
        t.wait(lambda: all(probes(vm) >= n + PROBES for vm, n in zip(ours, was)), "probes", 60)
        end(t, PORT + 1, *probed)
        t.equal(hits(t, PORT + 1), 0, "segments of the connection with probes that were unknown")
        end(t, PORT, *idle)
        t.wait(lambda: hits(t, PORT), "FIN of the connection without probes to be unknown")


def forgets(t, ours, port, verdict, keeps):
    """TCP alone ends."""
    t.step(f"{verdict}: {forgets.__doc__}")
    procs = pair(t, port, keeps=keeps)
    was = [t.stat(vm, "tcp_lost") for vm in ours]
    with firewall(t, (port, verdict)):
        t.wait(lambda: all(t.stat(vm, "tcp_lost") == n + 1 for vm, n in zip(ours, was)),
               "connections without TCP", 60)
        for vm in ours:
            t.check(not has_tcp(vm, port), f"TCP is there in {vm.name}")
            t.mode(vm, "SMC-R", port)
            t.check("TCP is lost" in t.run_smc(vm, f"list port {port} state active").out, vm.name)
        end(t, port, *procs)


def dies(t, ours, port):
    """RDMA and TCP end."""
    t.step(dies.__doc__)
    procs = pair(t, port, is_reset)
    was = [t.stat(vm, "tcp_lost") for vm in ours]
    rule = t.relay.rule(proto="roce", drop=1)
    with firewall(t, (port, "reject with tcp reset")):
        t.wait_all(*procs)
    t.relay.unrule(rule)
    t.equal([p.value for p in procs], [errno.ECONNRESET] * 2, "errnos")
    t.equal([t.stat(vm, "tcp_lost") for vm in ours], was, "connections without TCP")


def run(t):
    if t.family != "smc":
        return
    ours = t.ours()
    if not t.case.are_strangers():
        # the cut of RDMA leaves none behind that recovers
        t.no_groups()
    remembers(t, ours)
    forgets(t, ours, PORT + 2, "reject with tcp reset", False)
    forgets(t, ours, PORT + 3, "drop", True)
    if not t.case.are_strangers():
        dies(t, ours, PORT + 4)
        # its group takes seconds to die, and the next case must not meet it
        t.no_groups()
