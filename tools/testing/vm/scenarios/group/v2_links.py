# SPDX-License-Identifier: GPL-2.0
"""In version 2 a group gets a second link, loses one under streams, and gets it back.

This is failover for the messages of version 2; the detection of a loss is the same. Each
side announces all its RMBs in ADD LINK itself, also where they do not fit into a short
message. A client with another RNIC asks for a link by REQ ADD LINK.

covers: FAIL-01 LG-13 ADDL-01 ADDL-03 ADDL-06 RKEY-20 RKEY-22 SL-08 ERR-56 ERR-58
"""
import ipaddress
import re
from functools import partial

from streams import client, server  # noqa: F401, the halves

nics = 2
ipv = (4, 6)
dialects = (0,)
timeout = 240
EID = "SMC-BENCH.LINKS"
PORT = 5330
SIZES = (16384, 32768, 131072, 200000)
TRACE = "/sys/kernel/tracing"
ADD_LINK, ADD_LINK_CONT, REQ_ADD_LINK = 0x22, 0x23, 0x25
SHORT = 128     # what a send slot has room for
REPLY = 0x80


def keeper_server(h, port):
    """Connections with rings of many sizes, and so many RMBs."""
    socks = []
    for i, size in enumerate(SIZES):
        ls = h.listen(port + i, mark=False, rcvbuf=size)
        h.mark(f"listening{i}")
        socks.append(h.accept(ls))
    h.gate("end")
    for c in socks:
        h.equal(h.recv_exact(c, 5), b"still", "what came in the end")
        c.sendall(b"there")
        h.finish(c)


def keeper_client(h, port):
    socks = []
    for i, size in enumerate(SIZES):
        h.gate(f"connect{i}")
        socks.append(h.connect(port + i, rcvbuf=size))
    h.mark("connected")
    h.gate("end")
    for s in socks:
        s.sendall(b"still")
        h.equal(h.recv_exact(s, 5), b"there", "what came in the end")
        h.finish(s)


def many_rmbs(t):
    s, c = t.half(t.a, keeper_server, port=PORT + 1), t.half(t.b, keeper_client, port=PORT + 1)
    for i in range(len(SIZES)):
        s.expect(f"listening{i}")
        c.gate(f"connect{i}")
    c.expect("connected")
    return s, c


def said(vm):
    """LLC messages that a machine has sent: (length, type, flags) of each."""
    text = vm.run(f"cat {TRACE}/trace").out
    return [(int(m[1]), int(m[2], 16), int(m[3], 16)) for m in re.finditer(
        r"smc_llc_tx: lgr=\S+ link=\d+ len=(\d+) (\w\w) \w\w \w\w (\w\w)", text)]


def gids(t, vm):
    """GIDs of all links: addresses of the kind that TCP has, and of two subnets."""
    from smcvm.links import groups
    ends = [(x.gid, x.peer_gid) for g in groups(vm) for x in g.links]
    t.equal(len(ends), 2, "links")
    subnets = set()
    for end in ends:
        own, peer = (ipaddress.ip_address(x) for x in end)
        t.check(all(bool(x.ipv4_mapped) == (t.ipv == 4) and not x.is_link_local
                    for x in (own, peer)), f"{vm.name}: GIDs {own} and {peer}")
        t.equal(int(own) >> 8, int(peer) >> 8, "subnets of a link")
        subnets.add(int(own) >> 8)
    t.equal(len(subnets), 2, "subnets")


def longest(messages, flags):
    return max((size for size, what, has in messages if what == ADD_LINK and has == flags),
               default=0)


def one_link(t, vm):
    """One side wants no second link in version 2.1, and none is offered."""
    from smcvm.links import Streams
    t.step(one_link.__doc__)
    t.no_groups()
    vm.run(f"echo >{TRACE}/trace")
    t.set(vm, smcr_max_links_per_lgr=1)
    x = Streams(t, PORT, 1)
    x.have(1)
    x.more()
    x.stop()
    t.check(not any(what == ADD_LINK for _, what, _ in said(vm)), "there was an ADD LINK")
    t.set(vm, smcr_max_links_per_lgr=2)


def run(t):
    if t.family != "smc":
        return
    from smcvm.links import Streams, add, delete, give_up, kind, several
    several(t)
    for vm in (t.a, t.b):
        t.ueid(vm, EID)
        vm.run(f"mountpoint -q {TRACE} || mount -t tracefs none {TRACE}; echo >{TRACE}/trace; "
               f"echo 1 >{TRACE}/events/smc/smc_llc_tx/enable")
    try:
        x = Streams(t, PORT, 4)
        x.have(2)
        for vm in (t.a, t.b):
            gids(t, vm)
        keepers = many_rmbs(t)
        x.more()
        x.lose("rxe0 of A deleted", partial(delete, t.a, 0), partial(add, t, t.a, 0))
        x.lose("a link given up on B", partial(give_up, t.b), lambda: None)
        # one more of the server's RNICs than of the client's meanwhile
        x.lose("rxe1 of B deleted", partial(delete, t.b, 1), partial(add, t, t.b, 1))
        t.wait(lambda: kind(t.a) == kind(t.b) == "SYMMETRIC", "two symmetric links", 30)
        x.stop()
        for p in keepers:
            p.gate("end")
        t.wait_all(*keepers)
        a, b = said(t.a), said(t.b)
        for name, messages in (("A", a), ("B", b)):
            other = {what for _, what, _ in messages if what >> 4 != 2 or what == ADD_LINK_CONT}
            t.check(not other, f"{name} sent {other}")
        t.check(longest(a, 0) > SHORT, f"longest ADD LINK: {longest(a, 0)}")
        t.check(longest(b, REPLY) > SHORT, f"longest ADD LINK reply: {longest(b, REPLY)}")
        t.check(any(what == REQ_ADD_LINK and not flags & REPLY for _, what, flags in b),
                "B did not ask for a link")
        one_link(t, t.a)
    finally:
        for vm in (t.a, t.b):
            if vm.alive():
                vm.run(f"echo 0 >{TRACE}/events/smc/smc_llc_tx/enable; echo >{TRACE}/trace")
                t.ueid(vm, "--flush")
