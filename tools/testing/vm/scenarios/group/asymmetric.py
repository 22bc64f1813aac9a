# SPDX-License-Identifier: GPL-2.0
"""A group has the expected links with one, two and three RNICs on either side.

More RNICs are devices of type macvlan on top of eth0, so all are on one LAN. A link that
shares an RNIC is made where it is the only redundancy, and is deleted when a better one
exists. Two links between the same RNICs are never made, nor a link to an RNIC of another
network. Streams run all the time.

covers: LG-10 LG-11 LG-12 LG-14 LG-16 LG-17 LG-18 SL-01 SL-02 SL-03 SL-05 SL-11 SL-12 ADDL-04
covers: ADDL-02 ADDL-06 ADDL-08 ADDL-18 LB-01 ERR-57
"""
from streams import client, server  # noqa: F401, the halves

timeout = 300
ADD_LINK, DELETE_LINK = 2, 4


class Lan:
    """The links after RNICs were added and removed."""

    def __init__(self, t):
        from smcvm import links
        self.t, self.links = t, links
        self.streams = None

    def kinds(self):
        return tuple(self.links.kind(vm) for vm in (self.t.a, self.t.b))

    def becomes(self, what, links, *kinds):
        """Wait until there are LINKS of these kinds, at A and at B, and streams go on."""
        self.t.wait(lambda: self.kinds() == kinds,
                    f"{what}: {kinds}, it is {self.kinds()}", 30)
        # without two symmetric links the server goes on trying
        self.streams.have(links, f"links {what}", spare=kinds[0] != "SYMMETRIC")
        self.streams.more()


def two_and_one(t, x, rich, poor):
    """One side has two RNICs; the other one gets a second and loses it again."""
    seen = ("ASYMMETRIC_PEER", "ASYMMETRIC_LOCAL")
    # the side with one RNIC shares it
    kinds = seen if rich is t.a else seen[::-1]
    name = f"with two RNICs at {rich.name}"
    t.step(name)
    x.links.appear(rich, 1)
    x.becomes(name, 2, *kinds)
    x.streams.spread()

    t.step(f"the second RNIC of {poor.name}")
    goodbye = t.relay.rule(llc=DELETE_LINK, frm="a", at="5:00050000")
    x.links.appear(poor, 1)
    x.becomes("with two RNICs at both", 2, "SYMMETRIC", "SYMMETRIC")
    t.check(t.relay.hits(goodbye)[0], "no DELETE LINK with reason 00050000")
    t.relay.unrule(goodbye)
    x.streams.spread()

    t.step(f"{poor.name} loses its first RNIC")
    # of the RNICs in use it is the one that CLC has chosen
    poor.run("rdma link delete rxe0")
    x.becomes("with one other RNIC", 2, *kinds)
    poor.run("rdma link add rxe0 type rxe netdev eth0")
    t.pair.wait_gid(poor, 0)
    x.becomes("with the first one again", 2, "SYMMETRIC", "SYMMETRIC")

    t.step(f"{poor.name} loses its second RNIC")
    x.links.vanish(poor, 1)
    x.becomes("with one RNIC again", 2, *kinds)
    x.links.vanish(rich, 1)
    x.becomes("with one RNIC at both", 1, "SINGLE", "SINGLE")


def no_parallel(t, x):
    """The server offers the RNIC it has, and the client none that is in use.

    So it is when there is a second RNIC, but in no network that the peer has, too.
    """
    for vm in (None, t.a, t.b):
        if vm:
            x.links.appear(vm, 1, net=44)
        refused(t, x)
        if vm:
            x.links.vanish(vm, 1)


def refused(t, x):
    offers = t.relay.rule(llc=ADD_LINK, frm="a", at="3:00")
    refusals = t.relay.rule(llc=ADD_LINK, frm="b", at="3:c0")
    # any of them may be seen twice: the RNIC sends again what was not acknowledged
    t.wait(lambda: t.relay.hits(refusals)[0] > 2, "refusals of a parallel link", 20)
    t.check(t.relay.hits(offers)[0], "no offers")
    x.becomes("with refused offers", 1, "SINGLE", "SINGLE")
    for rule in (offers, refusals):
        t.relay.unrule(rule)


def three(t, x):
    """Three RNICs on either side: a third link before one of two stops."""
    for i in (1, 2):
        for vm in (t.a, t.b):
            x.links.appear(vm, i)
    x.becomes("with three RNICs", 3, "SYMMETRIC", "SYMMETRIC")
    x.streams.spread()
    for vm in (t.a, t.b):
        t.step(f"{vm.name} loses one of three")
        x.links.vanish(vm, 1)
        x.becomes("with one RNIC less", 2, "SYMMETRIC", "SYMMETRIC")
        x.links.appear(vm, 1)
        x.becomes("with three again", 3, "SYMMETRIC", "SYMMETRIC")
    for i in (1, 2):
        for vm in (t.a, t.b):
            x.links.vanish(vm, i)
    x.becomes("with one RNIC again", 1, "SINGLE", "SINGLE")


def play(t, x):
    x.streams = x.links.Streams(t, 5310)
    x.becomes("with one RNIC", 1, "SINGLE", "SINGLE")
    no_parallel(t, x)
    two_and_one(t, x, t.a, t.b)
    two_and_one(t, x, t.b, t.a)
    t.step(three.__doc__)
    three(t, x)
    x.streams.stop()


def run(t):
    if t.family != "smc":
        return
    x = Lan(t)
    x.links.several(t, 3)
    for vm in (t.a, t.b):
        x.links.lan(vm)
    try:
        play(t, x)
    finally:
        for i in (1, 2):
            for vm in (t.a, t.b):
                x.links.vanish(vm, i)
