# SPDX-License-Identifier: GPL-2.0
"""A side without SMC socket gets plain TCP from the first byte, in both roles.

A machine without the module sends the same segments as a socket of TCP.

covers: OPT-04 OPT-05 OPT-08 OPT-10
"""
from common import stream_client, stream_server

PEERNOSMC = 0x03010000


def run(t):
    n = t.pick(2_000_003, 400_009)
    for plain in (t.a, t.b):
        smc = t.b if plain is t.a else t.a
        port = 5020 if plain is t.a else 5021
        t.rdma_start()
        clc = t.relay.rule(proto="tcp", find="e2d4c3d9", port=port, nflags=2)
        s = t.half(t.a, stream_server, "tcp" if plain is t.a else None, port=port,
                   n_in=n, n_out=n)
        s.expect("listening")
        c = t.half(t.b, stream_client, "tcp" if plain is t.b else None, port=port,
                   n_in=n, n_out=n)
        t.expect_all("moved", s, c)
        t.mode(smc, "TCP", port, reason=PEERNOSMC)
        out = smc.run(f"ss -tnpH '( sport = :{port} or dport = :{port} )'").out
        t.check("python3" in out, f"ss shows no process for the socket: {out!r}")
        for p in (s, c):
            p.gate("end")
        t.wait_all(s, c)
        for vm in (t.a, t.b):
            t.not_carried(vm)
        t.equal(t.relay.hits(clc)[0], 0, "CLC messages on the wire")
        t.no_sockets(smc, port)
