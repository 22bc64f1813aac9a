# SPDX-License-Identifier: GPL-2.0
"""A group has eight links, the most there can be, between as many RNICs on either side.

More RNICs are devices of type macvlan on top of eth0. A key for each link makes CONFIRM RKEY
three messages long. Links go, two and more at a time, and come back, while streams run on
the others.

covers: MAXL-01 LG-13 RKEY-02 RKEY-05 RKEY-06 RKEY-22 LB-01 FAIL-01 ADDL-12 LID-01
"""
from common import requests, serve
from streams import client, server  # noqa: F401, the halves

timeout = 400
ipv = (4,)
LINKS = 8
PORT = 5330
CONFIRM_RKEY, CONT = 6, 8


def losses(t):
    """The RNICs that are lost together, by machine."""
    yield t.b, (3,)
    yield t.a, (1, 2)
    yield t.b, (0, 4, 5)
    yield t.a, (1, 2, 3, 4, 5, 6, 7)


def lose(t, x, vm, which):
    """Streams go on without these RNICs, and with them again."""
    from smcvm.links import active, appear, vanish
    name = f"{vm.name} loses {len(which)} of {LINKS}"
    t.step(name)
    for i in which:
        if i:
            vanish(vm, i)
        else:
            vm.run("rdma link delete rxe0")
    # an RNIC that has lost its peer's may be shared
    left = LINKS - len(which)
    t.wait(lambda: all(left <= len(active(v)) < LINKS for v in (t.a, t.b)),
           f"{name}: links to go", 30)
    x.more()
    for i in which:
        if i:
            appear(vm, i)
        else:
            vm.run("rdma link add rxe0 type rxe netdev eth0")
            t.pair.wait_gid(vm, 0)
    x.have(LINKS, f"links after {name}")
    x.more()


def more_memory(t):
    """An RMB of another size: its keys for all links, in three messages."""
    t.step(more_memory.__doc__)
    size = 1 << 16
    for frm in "ab":
        rules = [t.relay.rule(frm=frm, llc=kind, at="3:00") for kind in (CONFIRM_RKEY, CONT)]
        s = t.half(t.a, serve, port=PORT + 1, count=1, rcvbuf=size if frm == "a" else 0)
        s.expect("listening", t.left())
        c = t.half(t.b, requests, port=PORT + 1, rcvbuf=size if frm == "b" else 0)
        t.wait_all(s, c)
        first, more = (t.relay.hits(rule)[0] for rule in rules)
        t.check(first and more >= 2 * first, f"{frm}: {first} CONFIRM RKEY, {more} continued")
        for rule in rules:
            t.relay.unrule(rule)


def run(t):
    if t.family != "smc":
        return
    from smcvm.links import Streams, appear, lan, several, vanish
    several(t, LINKS)
    for vm in (t.a, t.b):
        lan(vm)
    try:
        for i in range(1, LINKS):
            for vm in (t.a, t.b):
                appear(vm, i)
        x = Streams(t, PORT, LINKS)
        x.have(LINKS)
        x.more()
        more_memory(t)
        for vm, which in losses(t):
            lose(t, x, vm, which)
        x.stop()
    finally:
        for i in range(1, LINKS):
            for vm in (t.a, t.b):
                vanish(vm, i)
