# SPDX-License-Identifier: GPL-2.0
"""A validation message shows after the loss of a link whether any message is missing.

The relay changes one so that it names messages that were never sent, as if they had been
acknowledged and then lost behind the peer's RNIC. The connection waits for them, because
they may be in the queue of another link, and is then reset on both sides. A second
connection of the group, whose validation message is unchanged, goes on.

covers: FAIL-08 FAIL-10 FAIL-11
"""
import errno

from common import serve_any, stays

nics = 2
ipv = (4,)
timeout = 180
PORT = 5395
RESET = (errno.ECONNRESET, errno.ECONNABORTED, errno.EPIPE)
FAILOVER = "24:08"
MORE_SENT = "2:0040"    # in a connection of a few messages


def lost(t, frm):
    """Change the validation message of the machine FRM, and check the results of both sides."""
    from smcvm.links import active, add, delete
    sayer, hearer = (t.a, t.b) if frm == "a" else (t.b, t.a)
    s = t.half(t.a, serve_any, port=PORT)
    s.expect("listening")
    both = [t.half(t.b, stays, port=PORT) for _ in range(2)]
    for c in both:
        c.expect("connected", t.left())
    t.wait(lambda: [len(active(vm)) for vm in (t.a, t.b)] == [2, 2], "two links", 30)
    held, sent = t.stat(hearer, "cdc_held"), t.stat(sayer, "conn_moved")
    rule = t.relay.rule(frm=frm, cdc=1, at=FAILOVER, xor=MORE_SENT, count=1)
    # each has its own link: one loses it, then the other one
    for i in (0, 1):
        delete(t.b, i)
        t.wait(lambda: [len(active(vm)) for vm in (t.a, t.b)] == [1, 1], "one link", 20)
        add(t, t.b, i)
        t.wait(lambda: [len(active(vm)) for vm in (t.a, t.b)] == [2, 2], "two links again", 30)
    t.check(t.stat(sayer, "conn_moved") > sent, "no connection has moved")
    t.wait(lambda: t.relay.hits(rule)[1] == 1, "a validation message", 10)
    t.wait(lambda: t.stat(hearer, "cdc_held") > held, "messages to be waited for", 10)
    t.wait(lambda: s.expect("broken", t.left()) is not None, "the server's end", 20)
    for c in both:
        c.gate("more")
    t.wait(lambda: all(c.rc is not None or c.find("more0") is not None for c in both),
           "the outcome of a request on each connection", 20)
    for c in both:
        if c.rc is None:
            c.gate("end")
    t.wait_all(*both)
    values = sorted(c.value for c in both)
    t.check(values[0] == 0 and values[1] in RESET, f"{frm}: errnos {values}")
    t.relay.unrule(rule)
    s.gate("stop")
    t.wait_all(s)


def run(t):
    if t.family != "smc":
        return
    from smcvm.links import several
    several(t)
    for frm in "ab":
        t.step(f"{frm} says so")
        t.no_groups()
        lost(t, frm)
