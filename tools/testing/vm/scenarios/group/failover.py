# SPDX-License-Identifier: GPL-2.0
"""Streams go on while one of two links is lost and comes back, on either side.

A link is lost when the wire drops RoCE frames, or only the acknowledgments of the RNICs;
with its RDMA device; with its network card; by the operator's command. No byte may be
lost, repeated or out of place, including urgent data, peeked data and connections closed
in one direction. The streams go on before the link can come back, and no timer helps
them: the timers of exchanges are longer than the scenario. Only where acknowledgments
alone are lost is the timer for replies short, because links come up repeatedly there and
are then held back. The scenario reports the longest pause of the streams. After the
streams have paused each link carries some of them again.

covers: FAIL-01 FAIL-02 FAIL-03 FAIL-08 FAIL-11 FAIL-17 LG-01 LG-13 LB-03 LB-05 LB-06 ADDL-01
covers: ADDL-03 ADDL-06 DELL-02 DELL-08 LGT-03 FAIL-18 FAIL-19 SL-08 RKEY-02 RKEY-22 ERR-56
covers: ERR-58 ERR-59 KA-05
"""
from functools import partial
from itertools import product

from streams import client, server  # noqa: F401, the halves

nics = 2
timeout = 400
RC_ACK = 0x11


def losses(t):
    """(kind, what, break, mend); the short run makes do with the first five.

    The kind tells what brings a link back: the news of an "rnic", or another attempt on the
    "wire", which may look as if it had succeeded where "acks" are lost.
    """
    from smcvm.links import add, card_up, delete, give_up
    rule = []

    def cut(seg, **which):
        rule.append(t.relay.rule(seg=seg, proto="roce", drop=1, **which))

    def mend():
        t.check(t.relay.hits(rule[-1])[1], "nothing was lost on the wire")
        t.relay.unrule(rule.pop())

    def both(first, second, action):
        for vm in (first, second):
            action(vm)

    def operate(vm):
        given_up.append(give_up(vm))

    def renew(vm):
        """The link is not retried, and its RNIC was not removed."""
        i = int(given_up.pop().removeprefix("rxe"))
        delete(vm, i)
        add(t, vm, i)

    given_up = []
    yield "rnic", "rxe0 of A deleted", partial(delete, t.a, 0), partial(add, t, t.a, 0)
    yield "rnic", "a link given up on A", partial(operate, t.a), partial(renew, t.a)
    yield "wire", "RoCE lost on segment 1", partial(cut, 1), mend
    for vm in (t.a, t.b):
        yield ("acks", f"acknowledgments of {vm.name} lost on segment 1",
               partial(cut, 1, frm=vm.name, opcode=RC_ACK), mend)
    if not t.long:
        return
    yield "wire", "RoCE lost on segment 0", partial(cut, 0), mend
    for vm in (t.a, t.b):
        # what the other one sends arrives, so here, too, a link may come up for a moment
        yield ("acks", f"RoCE of {vm.name} lost on segment 0",
               partial(cut, 0, frm=vm.name), mend)
    for vm, i in ((t.b, 1), (t.a, 1), (t.b, 0)):
        yield ("rnic", f"rxe{i} of {vm.name} deleted", partial(delete, vm, i),
               partial(add, t, vm, i))
    pairs = ((t.a, t.b), (t.b, t.a))
    for down, up in product(pairs, pairs):
        yield ("rnic",
               f"rxe1 deleted on {down[0].name} and {down[1].name}, back on {up[0].name} first",
               partial(both, *down, lambda vm: delete(vm, 1)),
               partial(both, *up, lambda vm: add(t, vm, 1)))
    for vm in (t.b, t.a):
        yield ("rnic", f"eth1 of {vm.name} down", partial(vm.run, "ip link set eth1 down"),
               partial(card_up, t, vm, 1))
    yield "rnic", "a link given up on B", partial(operate, t.b), partial(renew, t.b)


def settings(t, kind):
    """Arguments of several() for groups with losses of KIND."""
    from smcvm.links import NEVER
    yield "llc_delete_link_ms", NEVER
    if kind != "acks":
        yield "llc_reply_ms", NEVER
    if kind == "rnic":
        yield "llc_add_link_retry_ms", 0
    if kind == "wire":
        # of attempts that fail there may be a dozen in the time of a reply, here in 24 s
        yield "llc_add_link_retry_ms", 2000 * t.slow * t.patience


def lose(t, port, kind, some):
    """Run streams in a group of their own through SOME losses; return their longest pause."""
    from smcvm.links import Streams, nimble, several
    several(t, **nimble(t), **dict(settings(t, kind)))
    x = Streams(t, port, 16 if t.long else 4)
    x.have(2)
    x.more()
    # validation messages, FAIL-08: each connection that moves begins with one
    said = {vm: t.relay.rule(frm=vm.name, cdc=1, at="24:08") for vm in (t.a, t.b)}
    gaps = [x.lose(*loss) for loss in some]
    x.stop()
    # all leave the link that is lost, and some go to the one that comes up in its place
    t.check(x.least("conn_moved") >= 2 * len(gaps), f"connections moved: {x.least('conn_moved')}")
    for (vm, rule), start in zip(said.items(), x.start):
        seen, moved = t.relay.hits(rule)[0], t.stat(vm, "conn_moved") - start["conn_moved"]
        t.check(seen >= moved, f"{vm.name}: {moved} connections moved, {seen} validations")
        t.relay.unrule(rule)
    return gaps


def run(t):
    if t.family != "smc":
        return
    gaps, port = [], 5300
    for kind in ("rnic", "wire", "acks"):
        mine = [loss for of, *loss in losses(t) if of == kind]
        # where links live for less than llc_reply_ms, no more than so many in a row
        while mine:
            gaps += lose(t, port, kind, mine[:4])
            del mine[:4]
            port += 1
    t.note("stood still for " + ", ".join(f"{g:.2f}" for g in gaps) + " s")
