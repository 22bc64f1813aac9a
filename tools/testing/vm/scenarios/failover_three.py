# SPDX-License-Identifier: GPL-2.0
"""Streams go on while two of three links are cut silently, in every order.

RoCE frames of a segment vanish on the wire: no event tells of it, on either side. Then
those of a second one, so that one link is left; both come back, the first or the second
first. Not a byte may be lost, doubled or out of place, no stream stands still for more
than 3 s, and there are three links in the end. Without --long in one order only.

covers: FAIL-01 FAIL-02 FAIL-03 FAIL-08 FAIL-11 FAIL-17 LG-01 LG-13 LB-03 MAXL-02 ADDL-01
covers: ERR-56 ERR-57 RKEY-22
"""
from itertools import permutations

from streams import client, server  # noqa: F401, the halves

nics = 3
timeout = 600


class Segments:
    """Those that are cut, and what it takes until streams go on and links are back."""

    def __init__(self, t, x):
        self.t, self.x = t, x
        self.rules = {}
        self.gaps = []

    def cut(self, seg):
        t, x = self.t, self.x
        t.step(f"segment {seg} silent, besides {list(self.rules)}")
        x.more()
        before = x.least("link_down")
        self.rules[seg] = t.relay.rule(seg=seg, proto="roce", drop=1)
        t.wait(lambda: x.least("link_down") > before, f"loss of the link on segment {seg}", 15)
        self.gaps.append(x.more())
        # attempts at the links that are missing come and go
        x.have(3 - len(self.rules), f"links without {list(self.rules)}", spare=1)

    def mend(self, seg):
        t = self.t
        rule = self.rules.pop(seg)
        t.check(t.relay.hits(rule)[1], f"nothing went over segment {seg}")
        t.relay.unrule(rule)
        self.x.have(3 - len(self.rules), f"links with segment {seg} again",
                    spare=min(1, len(self.rules)))


def run(t):
    if t.family != "smc":
        return
    from smcvm.links import Streams, nimble, several
    several(t, links=3, **nimble())
    x = Streams(t, 5330, 16)
    x.have(3)
    cuts = Segments(t, x)
    orders = list(permutations(range(3), 2))
    for pair in orders if t.long else orders[:1]:
        for back in (pair, pair[::-1]) if t.long else (pair,):
            for seg in pair:
                cuts.cut(seg)
            for seg in back:
                cuts.mend(seg)
            x.more()
    x.stop()
    t.note(f"stood still for at most {max(cuts.gaps):.2f} s, "
           f"{sum(cuts.gaps) / len(cuts.gaps):.2f} s on average")
