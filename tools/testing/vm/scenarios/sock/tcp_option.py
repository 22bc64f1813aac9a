# SPDX-License-Identifier: GPL-2.0
"""The TCP option is recognised in every shape, with SYN cookies, filters and keepalive probes.

A raw peer sends options that our TCP must recognise, or must not. A connection is SMC only
if both sides have the option.

covers: ERR-03 OPT-06 OPT-07 OPT-12 API-10 SEC-04 SEC-06 KA-08 KA-09 KA-11 KA-12
"""
import errno
import os
import re
import socket
import struct

from common import serve, stays
from rawpeer import ACK, EYE, MSS_OPTION, PSH, SMC_OPTION, SYN, RawHost

timeout = 60
PORT = 5210
OWNER = 1234
IPSEC = 0x03020000  # the reason that a Decline gives
GOOD = SMC_OPTION[2:]
# name: (bytes of the option on SYN, is it one)
SHAPES = {
    "good": (b"\1\1" + GOOD, True),
    "in front of the others": (GOOD + b"\1\1", True),
    "twice": (GOOD + GOOD, True),
    "cut short": (b"\1\1\1\1" + GOOD[:4], False),
    "behind the end of options": (b"\0\0" + GOOD, False),
    "other ExID": (bytes.fromhex("0101fe06e2d4c3d8"), False),
    # with a length above 6 the kernel's TCP takes the ExID alone for the option
    "two-byte ExID": (bytes.fromhex("fe04e2d4") + b"\1\1\1\1", False),
    "kind 253": (bytes.fromhex("0101fd06e2d4c3d9"), False),
}


class OptionHost(RawHost):
    """A host with options of its own on its SYNs and on the first ACK."""

    def __init__(self, **kw):
        super().__init__(**kw)
        self.on_syn = self.on_ack = b""
        self.got = []  # options of the ACKs that came

    def send_tcp(self, key, seq, ack, flags, options, payload):
        if flags == SYN:
            options = MSS_OPTION + self.on_syn
        elif flags == ACK and self.on_ack:
            options, self.on_ack = self.on_ack, b""
        super().send_tcp(key, seq, ack, flags, options, payload)

    def input_ip(self, frame):
        seg = frame[14 + (frame[14] & 15) * 4:]
        if frame[23] == 6 and seg[13] & (SYN | ACK) == ACK:
            self.got.append(seg[20:(seg[12] >> 4) * 4])
        super().input_ip(frame)

    def open(self, h, port, on_syn, on_ack=b""):
        self.on_syn, self.on_ack = on_syn, on_ack
        conn = self.connect(h.config["peer4"], port)
        h.check(not self.on_ack, "no ACK was sent with the option")
        return conn


def echoed(h, conn, what):
    """It is a TCP connection: the server answers a request right away."""
    conn.send(struct.pack("!II", 0, 4))
    h.equal(len(conn.recv(4, h.within(20))), 4, f"{what}: answer over TCP")
    conn.close()
    h.equal(conn.ended(h.within(20)), "fin", f"{what}: end")


def accepted(h, host, conn, what):
    """It is an SMC connection: the server answers a Proposal."""
    conn.send(host.proposal())
    msg = conn.recv_clc(h.within(20))
    h.equal(msg[4:5], b"\x02", f"{what}: Accept ({msg.hex()})")
    conn.abort()


def raw_client(h, port):
    host = OptionHost()
    for name, (options, is_smc) in SHAPES.items():
        conn = host.open(h, port, options)
        h.equal(conn.peer_offers_smc, is_smc, f"{name}: option on the SYN-ACK")
        if is_smc:
            accepted(h, host, conn, name)
        else:
            echoed(h, conn, name)
    # the ACK does not count: with or without the option, the SYN has decided
    conn = host.open(h, port, b"\1\1" + GOOD, b"\1\1" + GOOD)
    accepted(h, host, conn, "option on SYN and ACK")
    conn = host.open(h, port, b"", b"\1\1" + GOOD)
    h.check(not conn.peer_offers_smc, "option on the SYN-ACK to a SYN without")
    echoed(h, conn, "option on the ACK alone")


def cookie_client(h, port):
    """The server keeps nothing of the SYN: it must not promise anything."""
    host = RawHost(ip="10.43.0.78", mac="525400437778")
    conn = host.connect(h.config["peer4"], port)
    h.check(not conn.peer_offers_smc, "SYN cookie and option on one SYN-ACK")
    echoed(h, conn, "SYN cookie")


def third_segment(h, port):
    """Our own client's ACKs carry no option: it has put one on the SYN."""
    host = OptionHost()
    host.listen(port)
    h.mark("listening")
    conn = host.accept(port, h.left())
    h.check(conn.peer_offers_smc, "no option on the SYN")
    h.equal(conn.recv_clc(h.within(20))[:4], EYE, "Proposal")
    h.check(host.got, "no ACK came")
    h.equal([o for o in host.got if GOOD in o], [], "ACKs with the option")
    conn.send(host.decline())
    conn.ended(h.within(20))
    conn.close()


def decline_client(h, port):
    h.connect(port, "10.43.0.77").close()


def one(h, port, addr=None, size=3000):
    """Make one connection; return its errno or 0."""
    try:
        s = h.connect(port, addr)
        h.request(s, size, size)
        h.finish(s)
        return 0
    except OSError as e:
        return e.errno


def quiet(h, port):
    """A connection with fine keepalive timers, idle until the gate, then used."""
    s = h.connect(port)
    h.request(s, 100, 100)
    for name, val in (("TCP_KEEPIDLE", 1), ("TCP_KEEPINTVL", 1), ("TCP_KEEPCNT", 3)):
        s.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), val)
        h.equal(s.getsockopt(socket.IPPROTO_TCP, getattr(socket, name)), val, name)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    h.mark("idle")
    # data moves while probes pass
    while not h.gate_open("end"):
        h.request(s, 50000, 50000)
    h.finish(s)


def keepalive(t, path):
    """Probes on TCP, each acknowledged; the stream does not notice."""
    from smcvm import frames as wire
    port = PORT + 3
    s = t.half(t.a, serve, port=port, count=1)
    s.expect("listening")
    t.relay.capture(path)
    c = t.half(t.b, quiet, port=port)
    t.expect_all("idle", c)
    probes = t.relay.rule(proto="tcp", frm="b", dport=port, flags=ACK, nflags=PSH)
    answers = t.relay.rule(proto="tcp", frm="a", sport=port, flags=ACK, nflags=PSH)
    t.rdma_start()
    t.wait(lambda: t.relay.hits(probes)[0] >= 3 and t.relay.hits(answers)[0] >= 3,
           "keepalive probes and their ACKs", 30)
    t.carried(t.b, 50000)
    t.mode(t.b, "SMC-R", port)
    c.gate("end")
    t.wait_all(c, s)
    t.relay.capture(None)
    hs, = wire.handshakes(wire.read(path), port)
    after = [f for f in hs.tcp if f.n > hs.confirm.n]
    t.equal([f for f in after if f.payload], [], "TCP payload behind the Confirm")
    t.equal([f for f in after if f.flags & wire.RST], [], "resets")


def filtered(t):
    """A filter on connection set-up works on SMC as on TCP."""
    port = PORT + 4
    s = t.half(t.a, serve, port=port)
    s.expect("listening")
    t.a.run("nft add table inet bench; nft add chain inet bench in "
            "'{ type filter hook input priority 0; }'; nft add rule inet bench in "
            f"tcp dport {port} tcp flags syn reject with tcp reset")
    c = t.half(t.b, one, port=port)
    t.wait_all(c)
    t.equal(c.value, errno.ECONNREFUSED, "connection that a filter rejects")
    t.a.run("nft delete table inet bench")
    c = t.half(t.b, one, port=port)
    t.wait_all(c)
    t.equal(c.value, 0, "connection without the filter")
    s.gate("stop")
    t.wait_all(s)


def owned(h, port, is_server):
    """A connection of the user OWNER; the errno of connect()."""
    os.seteuid(OWNER)
    s = h.listen(port) if is_server else h.socket()
    if is_server:
        c = h.accept(s)
        c.setsockopt(socket.SOL_TCP, socket.TCP_KEEPIDLE, 1)
        c.setsockopt(socket.SOL_TCP, socket.TCP_KEEPINTVL, 1)
        c.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        h.mark("accepted")
        h.gate("end")
        return 0
    err = s.connect_ex((h.config["peer4"], port))
    if not err:
        h.mark("connected")
        h.gate("end")
    return err


def filtered_by_owner(t):
    """A filter knows whose the packets of both ends are, from the SYN on."""
    port = PORT + 6

    def packets(vm):
        return int(re.search(r"packets (\d+)", vm.run("nft list table inet bench").out)[1])

    for vm, way in ((t.a, "sport"), (t.b, "dport")):
        vm.run("nft add table inet bench; nft add chain inet bench out "
               "'{ type filter hook output priority 0; }'; nft add rule inet bench out "
               f"tcp {way} {port} meta skuid {OWNER} counter")
    s = t.half(t.a, owned, port=port, is_server=True)
    s.expect("listening")
    c = t.half(t.b, owned, port=port, is_server=False)
    t.expect_all("connected", c)
    t.expect_all("accepted", s)
    t.mode(t.b, "SMC-R", port)
    # the SYN, what acknowledges its answer, and CLC
    t.check(packets(t.b) >= 3, f"{packets(t.b)} packets of the client")
    seen = packets(t.a)
    t.check(seen, "no packet of the listener")
    t.wait(lambda: packets(t.a) > seen, "a packet of what was accepted")
    for p in (s, c):
        p.gate("end")
    t.wait_all(s, c)
    t.b.run(f"nft add rule inet bench out meta skuid {OWNER} reject with tcp reset")
    c = t.half(t.b, owned, port=port, is_server=False)
    t.wait_all(c)
    t.equal(c.value, errno.ECONNREFUSED, "connection of a user that a filter rejects")
    for vm in (t.a, t.b):
        vm.run("nft delete table inet bench")


def protected(t, path):
    """A connection that IPsec protects is TCP inside ESP, and stays so."""
    port = PORT + 5
    spi = {"out": 0x101, "in": 0x102}
    for vm, own, peer in ((t.a, "10.43.0.1", "10.43.0.2"), (t.b, "10.43.0.2", "10.43.0.1")):
        cmds = []
        for src, dst, no in ((t.a.ip, t.b.ip, spi["out"]), (t.b.ip, t.a.ip, spi["in"])):
            cmds.append(f"ip xfrm state add src {src} dst {dst} proto esp spi {no} mode transport "
                        f"auth-trunc 'hmac(sha256)' 0x{'11' * 32} 128 enc ecb'(cipher_null)' ''")
        for way, src, dst, sel in (("out", own, peer, "d" if vm is t.b else "s"),
                                   ("in", peer, own, "s" if vm is t.b else "d")):
            cmds.append(f"ip xfrm policy add src {src} dst {dst} proto tcp {sel}port {port} "
                        f"dir {way} tmpl src {src} dst {dst} proto esp mode transport")
        vm.run("set -e; " + "; ".join(cmds))
    t.relay.capture(path)
    s = t.half(t.a, serve, port=port, count=1)
    s.expect("listening")
    t.rdma_start()
    c = t.half(t.b, one, port=port, size=100000)
    t.wait_all(c, s)
    t.relay.capture(None)
    for vm in (t.a, t.b):
        vm.run("ip xfrm policy flush; ip xfrm state flush")
    t.equal(c.value, 0, "connection with IPsec")
    t.not_carried(t.b)
    with open(path, "rb") as f:
        raw = f.read()
    # the null cipher hides nothing: a Decline in place of the Proposal
    t.equal([raw.count(EYE + head) for head in (b"\1\0\x34", b"\2\0\x44", b"\3\0\x44",
                                                b"\4\0\x1c")], [0, 0, 0, 1],
            "Proposals, Accepts, Confirms and Declines inside ESP")
    t.check(len(raw) > 200000, f"only {len(raw)} bytes on the wire")


def protected_at_server(t, path):
    """Only what the server sends is protected: the client offers, and the server declines."""
    port = PORT + 7
    state = (f"ip xfrm state add src {t.a.ip} dst {t.b.ip} proto esp spi 0x103 mode transport "
             f"auth-trunc 'hmac(sha256)' 0x{'11' * 32} 128 enc ecb'(cipher_null)' ''")
    # a host without a policy accepts what it can decipher
    t.b.run(state)
    t.a.run(f"set -e; {state}; ip xfrm policy add src {t.a.ip} dst {t.b.ip} proto tcp "
            f"sport {port} dir out tmpl src {t.a.ip} dst {t.b.ip} proto esp mode transport")
    t.relay.capture(path)
    s = t.half(t.a, serve, port=port, count=1)
    s.expect("listening")
    t.rdma_start()
    c = t.half(t.b, stays, port=port)
    t.expect_all("connected", c)
    t.mode(t.a, "TCP", port, reason=IPSEC)
    c.gate("end")
    t.wait_all(c, s)
    t.relay.capture(None)
    for vm in (t.a, t.b):
        vm.run("ip xfrm policy flush; ip xfrm state flush")
    t.equal(c.value, 0, "connection with IPsec one way")
    t.not_carried(t.b)
    with open(path, "rb") as f:
        raw = f.read()
    # TYPE, version and what follows differ; the length of an Accept is that of a Confirm
    said = [raw[at + 4] for at in range(len(raw) - 28) if raw[at:at + 4] == EYE
            and raw[at + 4] in (1, 2, 3, 4) and raw[at + 5] == 0]
    t.equal(said, [1, 4], "types of the CLC messages, in their order")
    decline = raw[raw.index(EYE + b"\4\0\x1c"):][:28]
    t.equal(int.from_bytes(decline[16:20], "big"), IPSEC, f"reason in {decline.hex()}")


def run(t):
    if t.family != "smc":
        return
    s = t.half(t.a, serve, port=PORT)
    s.expect("listening")
    t.step("shapes of the option")
    t.wait_all(t.half(t.b, raw_client, port=PORT))
    t.step("SYN cookies")
    t.a.sysctl("net.ipv4.tcp_syncookies", 2)
    try:
        t.wait_all(t.half(t.b, cookie_client, port=PORT))
        # both ends of our own come to the same conclusion
        t.rdma_start()
        c = t.half(t.b, one, port=PORT, size=50000)
        t.wait_all(c)
        t.equal(c.value, 0, "connection with SYN cookies")
        t.not_carried(t.b)
    finally:
        t.a.sysctl("net.ipv4.tcp_syncookies", 1)
    s.gate("stop")
    t.wait_all(s)
    t.step("third segment")
    s = t.half(t.a, third_segment, port=PORT + 1)
    s.expect("listening")
    t.wait_all(s, t.half(t.b, "decline_client", port=PORT + 1))
    t.step("keepalive")
    keepalive(t, os.path.join(t.pair.dir, "keepalive.pcap"))
    t.step("filter")
    filtered(t)
    t.step("filter by owner")
    filtered_by_owner(t)
    t.step("IPsec")
    protected(t, os.path.join(t.pair.dir, "ipsec.pcap"))
    protected_at_server(t, os.path.join(t.pair.dir, "ipsec.pcap"))
