# SPDX-License-Identifier: GPL-2.0
"""Two servers behind one address have link groups of their own.

The client's address translation sends every other connection to another host. Only the peer
ID identifies the server.

covers: PID-05 PROP-08 LG-06
"""
from common import serve

ipv = (4,)
kernels = ("stock",)    # the other one has no address translation
timeout = 90
PORT = 5960
SHARED = "10.43.0.100"
ROUNDS = 8

NAT = f"""modprobe -a nft_chain_nat nft_nat nft_numgen && nft -f - <<'END'
table ip bench {{
	chain out {{
		type nat hook output priority -100;
		ip daddr {SHARED} dnat to numgen inc mod 2 map {{ 0 : 10.43.0.1, 1 : 10.43.0.4 }}
	}}
}}
END
"""


def stays(h, port, count):
    """Connections to the shared address that stay, and ask in turn."""
    socks = []
    for _ in range(count):
        s = h.connect(port, addr=SHARED)
        h.request(s)
        h.equal(s.getpeername(), (SHARED, port), "peer")
        socks.append(s)
    h.mark("connected")
    h.gate("ask")
    for k in range(3):
        for i, s in enumerate(socks):
            h.request(s, 20_000 + i, 50_000 + k)
    h.mark("asked")
    h.gate("end")
    for s in socks:
        h.finish(s)


def play(t, other):
    from smcvm import links
    servers = [t.half(vm, serve, port=PORT) for vm in (t.a, other)]
    t.expect_all("listening", *servers)
    c = t.half(t.b, stays, port=PORT, count=ROUNDS)
    c.expect("connected", t.left())
    t.mode(t.b, "SMC-R", PORT, ROUNDS)
    before = [vm.counters()["sent_pkts"] for vm in (t.a, other)]
    for vm in (t.a, other):
        t.mode(vm, "SMC-R", PORT, ROUNDS // 2)
    if t.family == "smc":
        conns = [x.conns for g in links.groups(t.b) for x in g.links if x.conns]
        t.equal(conns, [ROUNDS // 2] * 2, "connections of the client by link")
    c.gate("ask")
    c.expect("asked", t.left())
    for vm, was in zip((t.a, other), before):
        sent = vm.counters()["sent_pkts"] - was
        t.check(t.family != "smc" or sent > ROUNDS // 2 * 3 * 50_000 // 1024,
                f"{vm.name}: only {sent} RDMA packets")
    c.gate("end")
    t.wait_all(c)
    for s in servers:
        s.gate("stop")
    t.wait_all(*servers)
    for vm in (t.a, other):
        t.no_sockets(vm, PORT)


def run(t):
    with t.pair.third(t.case.dialect) as other:
        t.b.run(NAT)
        try:
            play(t, other)
        finally:
            t.b.run("nft delete table ip bench")
