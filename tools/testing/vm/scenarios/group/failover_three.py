# SPDX-License-Identifier: GPL-2.0
"""Streams go on while two of three links are lost, in every order.

The wire drops the RoCE frames of a segment, without an event on either side, then those of
a second one, so that one link is left; the segments come back in either order. The same
happens with the RDMA devices of a segment, deleted on one machine after the other. No byte
may be lost, repeated or out of place. Each stream goes on before a segment comes back, and
there are three links in the end. Without --long the scenario uses one order, on the wire.

covers: FAIL-01 FAIL-02 FAIL-03 FAIL-08 FAIL-11 FAIL-17 LG-01 LG-13 LB-03 MAXL-02 ADDL-01
covers: ERR-56 ERR-57 RKEY-22
"""
from itertools import permutations

from streams import client, server  # noqa: F401, the halves

nics = 3
timeout = 900


class Silence:
    """The wire drops all RoCE frames of a segment."""

    def __init__(self, t):
        self.t, self.rules = t, {}

    def cut(self, seg):
        self.rules[seg] = self.t.relay.rule(seg=seg, proto="roce", drop=1)

    def mend(self, seg):
        rule = self.rules.pop(seg)
        self.t.check(self.t.relay.hits(rule)[1], f"nothing went over segment {seg}")
        self.t.relay.unrule(rule)


class Removal:
    """The devices of a segment are removed, A's first; B's come back first."""

    def __init__(self, t):
        self.t = t

    def cut(self, seg):
        from smcvm.links import delete
        for vm in (self.t.a, self.t.b):
            delete(vm, seg)

    def mend(self, seg):
        from smcvm.links import add
        for vm in (self.t.b, self.t.a):
            add(self.t, vm, seg)


class Segments:
    """Cut segments, and wait until streams go on and links are back."""

    def __init__(self, t, x, way):
        self.t, self.x, self.way = t, x, way
        self.gone = []
        self.gaps = []

    def cut(self, seg):
        t, x = self.t, self.x
        t.step(f"{type(self.way).__name__} of segment {seg}, besides {self.gone}")
        x.more()
        before = x.least("link_down")
        self.way.cut(seg)
        self.gone.append(seg)
        t.wait(lambda: x.least("link_down") > before, f"loss of the link on segment {seg}", 15)
        self.gaps.append(x.more())
        # attempts at the links that are missing come and go
        x.have(3 - len(self.gone), f"links without {self.gone}", spare=1)

    def mend(self, seg):
        self.gone.remove(seg)
        self.way.mend(seg)
        self.x.have(3 - len(self.gone), f"links with segment {seg} again",
                    spare=min(1, len(self.gone)))


def run(t):
    if t.family != "smc":
        return
    from smcvm.links import Streams, nimble, several
    several(t, links=3, **nimble(t))
    x = Streams(t, 5330, 16)
    x.have(3)
    orders = list(permutations(range(3), 2))
    for way in (Silence, Removal) if t.long else (Silence,):
        cuts = Segments(t, x, way(t))
        for pair in orders if t.long else orders[:1]:
            for back in (pair, pair[::-1]) if t.long else (pair,):
                for seg in pair:
                    cuts.cut(seg)
                for seg in back:
                    cuts.mend(seg)
                x.more()
        t.note(f"{way.__name__}: stood still for at most {max(cuts.gaps):.2f} s, "
               f"{sum(cuts.gaps) / len(cuts.gaps):.2f} s on average")
    x.stop()
