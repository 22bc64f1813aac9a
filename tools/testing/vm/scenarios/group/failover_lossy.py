# SPDX-License-Identifier: GPL-2.0
"""Links are lost and come back while the wire loses, delays and reorders packets.

The streams are those of the scenario failover. The wire loses one packet of a hundred or of
twenty, delays all, reorders some, or duplicates them.

covers: FAIL-02 FAIL-03 FAIL-12 FAIL-17 TX-04
"""
from functools import partial

from streams import client, server  # noqa: F401, the halves

nics = 2
timeout = 500
WIRES = (("1 % lost", {"drop": 1, "share": 1}), ("5 % lost", {"drop": 1, "share": 5}),
         ("all 20 ms late", {"delay": 20}), ("2 % overtaken", {"hold": 2, "share": 2}),
         ("5 % doubled", {"dup": 1, "share": 5}))


class Wire:
    """Rules of the relay for all RoCE frames, in front of which one may come."""

    def __init__(self, t, rule):
        self.relay, self.rule = t.relay, rule
        self.acted, self.cuts = 0, []
        self.bad = self.relay.rule(proto="roce", **rule)

    def off(self):
        self.acted += self.relay.hits(self.bad)[1]
        self.relay.unrule(self.bad)

    def cut(self, seg):
        # a frame that one rule has acted on is not looked at by the next
        self.off()
        self.cuts.append(self.relay.rule(seg=seg, proto="roce", drop=1))
        self.bad = self.relay.rule(proto="roce", **self.rule)

    def mend(self):
        self.relay.unrule(self.cuts.pop())


def run(t):
    if t.family != "smc":
        return
    from smcvm.links import Streams, add, delete, nimble, several
    # what is sent again and again is slow to go on, and LLC messages wait behind it
    several(t, llc_reply_ms=20000 * t.slow, **nimble(t))
    x = Streams(t, 5370)
    x.have(2)
    for k, (what, rule) in enumerate(WIRES):
        wire = Wire(t, rule)
        vm = (t.a, t.b)[k % 2]
        gaps = [x.lose(f"{what}, rxe{i} of {vm.name} deleted", partial(delete, vm, i),
                       partial(add, t, vm, i)) for i in (0, 1)]
        gaps.append(x.lose(f"{what}, segment 1 silent", partial(wire.cut, 1), wire.mend))
        wire.off()
        t.check(wire.acted > 2, f"{what}: too few frames met the rule")
        t.note(f"{what}: " + ", ".join(f"{g:.2f}" for g in gaps) + " s")
    x.stop()
