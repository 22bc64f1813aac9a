# SPDX-License-Identifier: GPL-2.0
"""What stands between two hosts costs a connection no more than on TCP, or only the first one.

A box drops, refuses or changes packets with TCP options that it does not know; a BPF program of
the client's control group exchanges the address of connect(); an address moves to another host.
Afterwards both hosts use TCP where SMC does not work, and only there.

covers: OPT-03 OPT-08 OPT-12 ERR-14 ERR-15 TMR-01 LG-06
"""
import contextlib
import errno
import ipaddress
import json
import os
import socket

import bpf
from common import serve
from rawpeer import ACK, SYN, RawHost

nics = 2
timeout = 90
PORT = 5410
GROUP = "/sys/fs/cgroup/middleboxes"
REPEATER, NOWHERE, VIP = "10.43.0.77", "10.43.0.99", "10.43.{}.5{}"
PEERNOSMC, POLICY = 0x03010000, 0x03f00000
GREETING, REQUEST, ANSWER = b"220 ready\r\n", b"PING\r\n", b"PONG\r\n"
SYNS = {"proto": "tcp", "frm": "b", "flags": SYN, "nflags": ACK}


def greeter(h, port):
    """Speaks first, then answers one request, of each connection."""
    ls = h.listen(port)
    while True:
        with h.accept(ls) as c, contextlib.suppress(ConnectionResetError):
            c.sendall(GREETING)
            h.equal(h.recv_exact(c, len(REQUEST)), REQUEST, "request")
            c.sendall(ANSWER)
            # the client closes first
            c.recv(1)


def ask(h, port, times=1, addr=None, speaks_first=False):
    """Connections one after the other, each with a request; the errno of each, or 0."""
    out = []
    for _ in range(times):
        try:
            with h.connect(port, addr=addr) as s:
                if speaks_first:
                    s.sendall(REQUEST)
                h.equal(h.recv_exact(s, len(GREETING)), GREETING, "greeting")
                if not speaks_first:
                    s.sendall(REQUEST)
                h.equal(h.recv_exact(s, len(ANSWER)), ANSWER, "answer")
            out.append(0)
        except OSError as e:
            out.append(e.errno)
    return out


def give_up(h, port):
    """A connection that the application gives up after a retransmit; then another one."""
    s = h.socket()
    s.setblocking(False)
    h.equal(s.connect_ex((h.config["peer4"], port)), errno.EINPROGRESS, "connect()")
    h.mark("asked")
    h.gate("again")
    s.close()
    return ask(h, port)


def stay(h, port, addr=None):
    """A connection with a request now and one later."""
    s = h.connect(port, addr=addr)
    h.request(s)
    h.mark("connected")
    h.gate("ask")
    h.request(s, 1000, 50_000)
    h.finish(s)


def redirected(h, port, to, times):
    """ask() from a control group whose program exchanges the address."""
    os.makedirs(GROUP, exist_ok=True)
    with open(f"{GROUP}/cgroup.procs", "w", encoding="ascii") as f:
        f.write(str(os.getpid()))
    where = os.open(GROUP, os.O_RDONLY | os.O_DIRECTORY)
    bpf.attach(bpf.go_elsewhere(socket.inet_aton(to)), where, bpf.AT_CONNECT4)
    return ask(h, port, times, NOWHERE)


def repeater(h, port, times):
    """A host that repeats the option of each SYN, and answers with text."""
    host = RawHost(ip=REPEATER)
    host.listen(port)
    h.mark("listening")
    offers = []
    for _ in range(times):
        conn = host.accept(port, h.left())
        offers.append(conn.peer_offers_smc)
        conn.send(GREETING)
        if conn.recv(len(REQUEST), h.within(20)) == REQUEST:
            conn.send(ANSWER)
        conn.ended(h.within(20))
        conn.close()
    return offers


class Box:
    """A middlebox in front of VM: an nft rule for the packets of PORT, and what its clients do."""

    def __init__(self, t, vm, rule):
        self.t, self.vm, self.rule = t, vm, rule

    def __enter__(self):
        self.vm.run("nft add table inet box; nft add chain inet box pre "
                    "'{ type filter hook input priority -300; }'; "
                    f"nft add rule inet box pre '{self.rule}'")
        return self

    def __exit__(self, *_):
        if self.vm.alive():
            self.vm.run("nft delete table inet box", check=False)


def remembered(t, vm):
    """What connections of VM use TCP for: (address, port or kind, reason)."""
    peers = json.loads(t.run_smc(vm, "peers -j").out)["peers"]
    return [(p["peer_address"], p.get("peer_port", p.get("failure")), t.reason(p)) for p in peers]


def forget(t):
    for vm in (t.a, t.b):
        t.run_smc(vm, "peers flush")


def ends(t, half, want, what):
    t.wait_all(half)
    t.equal(half.value, want, what)


def drops(t, port, **how):
    """A box drops SYNs with the option: the third one has none, nor have those that follow."""
    t.step(drops.__doc__)
    with Box(t, t.a, f"tcp dport {port} tcp option 254 exists drop"):
        syns = t.relay.rule(dport=port, **SYNS)
        ends(t, t.half(t.b, ask, port=port, **how), [0], "connection past the box")
        t.equal(t.relay.hits(syns)[0], 3, "SYNs")
        t.check((t.a.ip, port, PEERNOSMC) in remembered(t, t.b), "the service is not remembered")
        ends(t, t.half(t.b, ask, port=port, times=2, **how), [0, 0], "the next ones")
        t.equal(t.relay.hits(syns)[0], 5, "SYNs")
        t.relay.unrule(syns)
    forget(t)


def drops_and_gives_up(t, port):
    """The same with an application that waits for one retransmit only."""
    t.step(drops_and_gives_up.__doc__)
    with Box(t, t.a, f"tcp dport {port} tcp option 254 exists drop"):
        syns = t.relay.rule(dport=port, **SYNS)
        c = t.half(t.b, give_up, port=port)
        t.wait(lambda: t.relay.hits(syns)[0] >= 2, "a retransmit", 20)
        c.gate("again")
        ends(t, c, [0], "the second connection")
        t.check((t.a.ip, port, PEERNOSMC) in remembered(t, t.b), "the service is not remembered")
        t.relay.unrule(syns)
    forget(t)


def late_answer(t, port):
    """SYN-ACKs are lost until the client has withdrawn its offer: it is SMC."""
    t.step(late_answer.__doc__)
    lost = t.relay.rule(proto="tcp", frm="a", sport=port, flags=SYN | ACK, drop=1)
    syns = t.relay.rule(dport=port, **SYNS)
    c = t.half(t.b, stay, port=port)
    t.wait(lambda: t.relay.hits(syns)[0] >= 3, "the third SYN", 20)
    t.relay.unrule(lost)
    t.expect_all("connected", c)
    for vm in (t.a, t.b):
        t.mode(vm, "SMC-R", port)
    c.gate("ask")
    t.wait_all(c)
    t.relay.unrule(syns)
    t.equal(remembered(t, t.b), [], "services that are remembered")


def refuses(t, port):
    """A box refuses SYNs with the option."""
    t.step(refuses.__doc__)
    with Box(t, t.a, f"tcp dport {port} tcp option 254 exists reject with tcp reset"):
        ends(t, t.half(t.b, ask, port=port, times=3), [errno.ECONNREFUSED, 0, 0], "connections")
        t.check((t.a.ip, port, PEERNOSMC) in remembered(t, t.b), "the service is not remembered")
    forget(t)


def is_down(t, port):
    """A service that is down refuses both, and gets SMC once it is up."""
    t.step(is_down.__doc__)
    ends(t, t.half(t.b, ask, port=port, times=5), [errno.ECONNREFUSED] * 5, "no service")
    s = t.half(t.a, serve, port=port, count=1)
    s.expect("listening")
    c = t.half(t.b, stay, port=port)
    t.expect_all("connected", c)
    t.mode(t.b, "SMC-R", port)
    c.gate("ask")
    t.wait_all(c, s)


def strips(t, port):
    """A box takes the option off SYN-ACKs: a client that speaks first is served."""
    t.step(strips.__doc__)
    t.rdma_start()
    with Box(t, t.b, f"tcp sport {port} tcp flags & syn == syn reset tcp option 254"):
        late = t.stat(t.a, "clc_timeout")
        ends(t, t.half(t.b, ask, port=port, times=2, speaks_first=True), [0, 0], "connections")
        t.equal(t.stat(t.a, "clc_timeout"), late, "clients that timed out")
        # twice in a row
        t.check((t.b.ip, "client", PEERNOSMC) in remembered(t, t.a),
                "the client is not remembered")
        ends(t, t.half(t.b, ask, port=port), [0], "a client that does not speak")
        forget(t)
        # the round trip is known, so half of it is enough
        t.set(t.a, clc_timeout_ms=2000 * t.slow)
        ends(t, t.half(t.b, ask, port=port, times=3), [errno.ECONNRESET] * 2 + [0],
             "clients that do not speak")
        t.equal(t.stat(t.a, "clc_timeout"), late + 2, "clients that timed out")
        t.restore("clc_timeout_ms")
    t.not_carried(t.b)
    forget(t)


def redirects(t, port):
    """A BPF program exchanges the address: memory and policy are asked for the final one."""
    t.step(redirects.__doc__)
    s = t.half(t.a, repeater, port=port, times=4)
    s.expect("listening")
    c = t.half(t.b, redirected, port=port, to=REPEATER, times=4)
    t.wait_all(c, s)
    t.equal(c.value, [errno.ECONNRESET, 0, 0, 0], "connections to a service that repeats options")
    t.equal(s.value, [True, False, False, False], "offers")
    s = t.half(t.a, serve, port=port + 1)
    s.expect("listening")
    for rule, reason in ((NOWHERE, None), (t.a.ip, POLICY)):
        t.run_smc(t.b, f"policy add tcp connect peer {rule}")
        c = t.half(t.b, redirected_stay, port=port + 1, to=t.a.ip)
        t.expect_all("connected", c)
        t.mode(t.b, "TCP" if reason else "SMC-R", port + 1, reason=reason)
        c.gate("ask")
        t.wait_all(c)
        t.run_smc(t.b, "policy flush")
    s.gate("stop")
    t.wait_all(s)


def redirects_to_itself(t, port):
    """A BPF program sends connections back to this host: both ends share memory."""
    t.step(redirects_to_itself.__doc__)
    declines = t.stat(t.b, "decline_tx")
    s = t.half(t.b, serve, port=port, count=1)
    s.expect("listening")
    c = t.half(t.b, redirected_stay, port=port, to="127.0.0.1")
    t.expect_all("connected", c)
    t.mode(t.b, "memory", port, 2)
    c.gate("ask")
    t.wait_all(c, s)
    t.equal(t.stat(t.b, "decline_tx"), declines, "Declines")


def redirected_stay(h, port, to):
    redirected(h, port, to, 0)
    stay(h, port, NOWHERE)


def gids(t, vm):
    """The GIDs at VM's end of the links of its only group."""
    return sorted(x["gid"] for x in json.loads(t.run_smc(vm, "links -j").out)["links"])


def add_vip(t, vm, i):
    """Add the address of a service to card I of VM, at a lower place than the card's own.

    Returns the card's own GID.
    """
    own, places = vm.ip.replace("43.0.", f"43.{i}."), []
    vm.run(f"ip addr del {own}/24 dev eth{i}")
    for addr in (f"{VIP.format(i, vm.number)}/32", f"{own}/24"):
        gid = ipaddress.ip_address("::ffff:" + addr.split("/")[0]).exploded
        vm.run(f"ip addr add {addr} dev eth{i}")
        places.append(t.wait(lambda: place(vm, i, gid), f"GID {gid}", 20))
    t.equal(places, sorted(places), "places of the GIDs")
    return gid


def place(vm, i, gid):
    """The place of GID in the table of card I, from 1 on; None if it is not there."""
    table = vm.run(f"cat /sys/class/infiniband/rxe{i}/ports/1/gids/* 2>/dev/null", check=False)
    names = vm.run(f"ls /sys/class/infiniband/rxe{i}/ports/1/gids").out.split()
    by_name = dict(zip(names, table.out.split()))
    return next((int(n) + 1 for n, x in by_name.items() if x == gid), None)


def moves(t, port):
    """The address of a service moves to another host: connections to others stay."""
    t.step(moves.__doc__)
    own = {}
    for vm in (t.a, t.b):
        own[vm] = [add_vip(t, vm, i) for i in (0, 1)]
    s = t.half(t.a, serve, port=port, count=1)
    s.expect("listening")
    c = t.half(t.b, stay, port=port)
    t.expect_all("connected", c)
    t.mode(t.b, "SMC-R", port)
    for vm in (t.a, t.b):
        t.wait(lambda vm=vm: len(gids(t, vm)) == 2, "two links", 20)
        t.equal(gids(t, vm), own[vm], f"GIDs of {vm.name}")
    for vm in (t.a, t.b):
        for i in (0, 1):
            vm.run(f"ip addr del {VIP.format(i, vm.number)}/32 dev eth{i}")
    c.gate("ask")
    t.wait_all(c, s)


def run(t):
    if t.family != "smc":
        return
    t.no_groups()
    for vm in (t.a, t.b):
        t.set(vm, peer_memory_ms=60000)
    t.b.run("mountpoint -q /sys/fs/cgroup || mount -t cgroup2 none /sys/fs/cgroup")
    s = t.half(t.a, greeter, port=PORT)
    s.expect("listening")
    try:
        drops(t, PORT)
        drops(t, PORT, ipv=6, addr=f"::ffff:{t.a.ip}")
        drops_and_gives_up(t, PORT)
        refuses(t, PORT)
        strips(t, PORT)
        is_down(t, PORT + 1)
        s2 = t.half(t.a, serve, port=PORT + 2, count=1)
        s2.expect("listening")
        late_answer(t, PORT + 2)
        t.wait_all(s2)
        redirects(t, PORT + 3)
        redirects_to_itself(t, PORT + 5)
        moves(t, PORT + 6)
    finally:
        s.kill()
        s.wait(check=False)
        for vm in (t.a, t.b):
            if vm.alive():
                t.run_smc(vm, "policy flush")
                vm.run(f"rmdir {GROUP}", check=False)
                for i in (0, 1):
                    vm.run(f"ip addr del {VIP.format(i, vm.number)}/32 dev eth{i}", check=False)
