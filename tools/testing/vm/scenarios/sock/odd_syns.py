# SPDX-License-Identifier: GPL-2.0
"""SYNs that are lost, that cross, that come in pieces, or that a middlebox changes.

The same happens whether TCP handles the option or the module does (module side "own"): both
ends come to the same conclusion, and no byte of CLC reaches a program.

covers: OPT-02 OPT-03 OPT-08 OPT-10 OPT-12
"""
import errno
import socket
import struct

from common import ask_once, serve, stays
from rawpeer import ACK, SYN, RawHost, checksum

timeout = 90
PORT = 5230
MORE_FRAGMENTS = 0x2000


class OddHost(RawHost):
    """Sends data with its SYN, or the SYN in two fragments."""

    data = b""
    cut = 0

    def send_tcp(self, key, seq, ack, flags, options, payload):
        if flags == SYN:
            payload = self.data
        super().send_tcp(key, seq, ack, flags, options, payload)

    def send_ip(self, dst, proto, payload):
        if proto != 6 or not self.cut or payload[13] != SYN:
            super().send_ip(dst, proto, payload)
            return
        self.ipid = self.ipid + 1 & 0xffff
        for at, part, more in ((0, payload[:self.cut], MORE_FRAGMENTS),
                               (self.cut // 8, payload[self.cut:], 0)):
            head = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(part), self.ipid,
                               more | at, 64, proto, 0, self.ip, dst)
            head = head[:10] + struct.pack("!H", checksum(head)) + head[12:]
            self.sock.send(self.resolve(dst) + self.mac + b"\x08\0" + head + part)


def odd(h, port):
    """What the SYN also is does not matter: the option counts."""
    for name, data, cut in (("data", b"not for the program", 0), ("fragments", b"", 24),
                            ("data and fragments", b"x" * 100, 32)):
        host = OddHost()
        host.data, host.cut = data, cut
        conn = host.connect(h.config["peer4"], port)
        h.check(conn.peer_offers_smc, f"{name}: no option on the SYN-ACK")
        conn.send(host.proposal())
        msg = conn.recv_clc(h.within(20))
        h.equal(msg[4:5], b"\x02", f"{name}: Accept ({msg.hex()})")
        conn.abort()
        host.sock.close()
        RawHost.everyone.remove(host)


def crossing(h, port):
    """Connect from PORT to PORT; the errno, after a request of the connection if there is one."""
    s = h.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    s.bind(("", port))
    h.mark("bound")
    h.gate("go")
    try:
        s.connect((h.config["peer4"], port))
        s.sendall(b"hello")
        h.equal(h.recv_exact(s, 5), b"hello", "bytes of the peer")
        h.mark("moved")
        h.gate("end")
        return 0
    except OSError as e:
        return e.errno
    finally:
        s.close()


def cross(t, port, **families):
    """The errnos of A and B. Both have sent a SYN before one arrives."""
    halves = [t.half(vm, crossing, families.get(vm.name), port=port) for vm in (t.a, t.b)]
    t.expect_all("bound", *halves)
    held = [t.relay.rule(proto="tcp", frm=n, dport=port, flags=SYN, drop=1) for n in "ab"]
    for p in halves:
        p.gate("go")
    t.wait(lambda: all(t.relay.hits(n)[0] for n in held), "a SYN of each side", 30)
    for n in held:
        t.relay.unrule(n)
    if families:
        t.expect_all("moved", *halves)
        for vm in t.ours():
            t.check(all(s["mode"] == "TCP" for s in vm.sockets()
                        if port in (s["sport"], s["dport"])), "SMC with a client of TCP")
    for p in halves:
        p.gate("end")
    t.wait_all(*halves)
    return [p.value for p in halves]


def goes(t, port, mode, reason=None, ipv=None, server_ipv=None, **kw):
    """A connection of B to A gets the mode at both ends, and works."""
    s = t.half(t.a, serve, ipv=server_ipv or ipv, port=port, count=1)
    s.expect("listening")
    c = t.half(t.b, stays, ipv=ipv, port=port, **kw)
    t.expect_all("connected", c)
    t.mode(t.b, mode, port, reason=reason)
    t.mode(t.a, mode, port)
    c.gate("end")
    t.wait_all(c, s)
    t.equal(c.value, 0, "connection")


def stripped(t, vm, port, way):
    """A middlebox before VM takes the option out of packets whose WAY port is PORT."""
    vm.run("nft add table inet box; nft add chain inet box pre "
           "'{ type filter hook prerouting priority -300; }'; nft add rule inet box pre "
           f"'tcp {way} {port} tcp flags & syn == syn reset tcp option 254'")
    try:
        s = t.half(t.a, serve, port=port)
        s.expect("listening")
        c = t.half(t.b, ask_once, port=port)
        t.wait_all(c)
        s.gate("stop")
        t.wait_all(s)
        t.equal(c.value, 0, f"connection, option stripped before {vm.name}")
    finally:
        vm.run("nft delete table inet box")


def run(t):
    if t.family != "smc":
        return
    t.step("addresses")
    goes(t, PORT, "SMC-R", ipv=4)
    goes(t, PORT, "SMC-R", ipv=6)
    goes(t, PORT, "SMC-R", ipv=4, server_ipv=6)
    goes(t, PORT, "SMC-R", ipv=6, addr=f"::ffff:{t.a.ip}")
    t.step("lost SYN, lost SYN-ACK")
    for port, keys in ((PORT + 1, {"dport": PORT + 1, "flags": SYN, "nflags": ACK}),
                       (PORT + 2, {"sport": PORT + 2, "flags": SYN | ACK})):
        lost = t.relay.rule(proto="tcp", count=1, drop=1, **keys)
        goes(t, port, "SMC-R")
        t.equal(t.relay.hits(lost)[0] >= 1, True, "a packet was lost")
        t.relay.unrule(lost)
    lost = t.relay.rule(proto="tcp", count=1, drop=1, dport=PORT + 3, flags=SYN, nflags=ACK)
    goes(t, PORT + 3, "SMC-R", ipv=6, addr=f"::ffff:{t.a.ip}")
    t.relay.unrule(lost)
    t.step("data, fragments")
    s = t.half(t.a, serve, port=PORT + 4)
    s.expect("listening")
    t.wait_all(t.half(t.b, odd, port=PORT + 4))
    s.gate("stop")
    t.wait_all(s)
    t.step("middlebox")
    stripped(t, t.a, PORT + 5, "dport")
    stripped(t, t.b, PORT + 6, "sport")
    t.step("crossing SYNs")
    # a client would offer nothing to a service that has not answered
    for vm in t.ours():
        t.set(vm, peer_memory_ms=0)
    t.equal(cross(t, PORT + 7), [errno.ECONNRESET] * 2, "two clients of SMC")
    t.equal(cross(t, PORT + 8, a="tcp"), [0, 0], "a client of TCP and one of SMC")
    t.equal(cross(t, PORT + 9, b="tcp"), [0, 0], "a client of SMC and one of TCP")
