# SPDX-License-Identifier: GPL-2.0
"""A socket that fell back is a TCP socket: domain, kTLS, IPV6_ADDRFORM, no module reference.

The connections go on when the module is unloaded.

covers: GEN-06
"""
import socket
import struct

SO_PROTOCOL, SO_DOMAIN = 38, 39
TCP_ULP, SOL_TLS, TLS_TX, TLS_RX = 31, 282, 1, 2
IPV6_ADDRFORM = 1
N = 100_003


def is_tcp(h, s, domain):
    h.equal(s.getsockopt(socket.SOL_SOCKET, SO_DOMAIN), domain, "domain")
    h.equal(s.getsockopt(socket.SOL_SOCKET, SO_PROTOCOL), socket.IPPROTO_TCP, "protocol")


def use_tls(s):
    """Kernel TLS 1.2 with fixed keys, the same for both directions."""
    s.setsockopt(socket.IPPROTO_TCP, TCP_ULP, b"tls")
    info = struct.pack("=HH", 0x0303, 51) + b"ivivivIV" + b"k" * 16 + b"salt" + bytes(8)
    s.setsockopt(SOL_TLS, TLS_TX, info)
    s.setsockopt(SOL_TLS, TLS_RX, info)


def steps(h, s, end, v6_server):
    """Both halves do the same at the same time; END is 0 at the server."""
    h.both_ways(s, N, 1 + end, N, 2 - end)
    if v6_server:
        if end == 0:
            is_tcp(h, s, socket.AF_INET6)
            s.setsockopt(socket.IPPROTO_IPV6, IPV6_ADDRFORM,
                         struct.pack("i", socket.AF_INET))
        h.both_ways(s, N, 1 + end, N, 2 - end)
    is_tcp(h, s, socket.AF_INET)
    h.mark("fallen")
    h.gate("unloaded")
    h.both_ways(s, N, 1 + end, N, 2 - end)
    use_tls(s)
    h.mark("tls")
    h.gate("go")
    h.both_ways(s, N, 1 + end, N, 2 - end, 9001)
    s.shutdown(socket.SHUT_WR)
    h.at_end(s)
    s.close()


def server(h, port, v6):
    ls = h.listen(port, v6=v6)
    c = h.accept(ls)
    ls.close()
    steps(h, c, 0, v6)


def client(h, port, v6):
    steps(h, h.connect(port, v6=False), 1, v6)


def run(t):
    for vm in (t.a, t.b):
        vm.run("modprobe -q tls || true")
    for i, plain in enumerate((t.b, t.a)):
        smc = t.a if plain is t.b else t.b
        for v6 in (False, True):
            t.step(f"{smc.name} falls back, {'IPv6' if v6 else 'IPv4'} server")
            port = 5160 + 2 * i + v6
            s = t.half(t.a, server, "tcp" if plain is t.a else None, port=port, v6=v6)
            s.expect("listening")
            c = t.half(t.b, client, "tcp" if plain is t.b else None, port=port, v6=v6)
            t.expect_all("fallen", s, c)
            if t.family == "smc":
                t.pair.unload(smc.name)
            for p in (s, c):
                p.gate("unloaded")
            t.expect_all("tls", s, c)
            for p in (s, c):
                p.gate("go")
            t.wait_all(s, c)
            t.pair.load(smc.name, t.case.sides["ab".index(smc.name)], t.case.dialect)
