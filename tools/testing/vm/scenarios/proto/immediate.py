# SPDX-License-Identifier: GPL-2.0
"""Immediate data takes the place of CDC messages if both sides offer it, and is checked.

A bad step ends its connection, and an unknown name is dropped, as in a CDC. Other
connections on the link go on, and the next connection works.

covers: CUR-12 CDC-09
"""
import errno

from common import requests, serve_any, stays
from halves import Failure

timeout = 180
PORT = 5250
WRITE_ONLY_IMM = 0x0b
TOLD = (errno.ECONNRESET, errno.ECONNABORTED, errno.EPIPE, errno.ETIMEDOUT)

# the immediate data lie behind the RETH of 16 bytes: the name, then the step
BAD_STEPS = {"a step of nothing": "18:0000", "a step beyond the window": "18:ffff"}
BAD_NAMES = {"an earlier use of the index": "16:80", "an index without connection": "17:60"}


def chatty(h, port):
    """Small requests, before and after the gate; returns the errno, or 0."""
    s = h.connect(port)
    for _ in range(20):
        h.request(s, 16, 16)
    h.mark("ready")
    h.gate("go")
    try:
        for _ in range(20):
            h.request(s, 16, 16)
    except OSError as e:
        return e.errno
    except Failure:
        return 0
    h.finish(s)
    return 0


def counts(t):
    return [t.stat(vm, name) for vm in (t.a, t.b) for name in ("imm_tx", "imm_rx")]


def talk(t):
    """Small requests in a new group; returns how the counters have grown, and packets."""
    from smcvm.links import groups
    t.no_groups()
    seen = t.relay.rule(proto="roce", opcode=WRITE_ONLY_IMM)
    had = counts(t)
    s = t.half(t.a, serve_any, port=PORT)
    s.expect("listening")
    c = t.half(t.b, chatty, port=PORT)
    t.expect_all("ready", c)
    shown = [any(g.immediate for g in groups(vm)) for vm in (t.a, t.b)]
    c.gate("go")
    t.wait_all(c)
    t.equal(c.value, 0, "the connection")
    s.gate("stop")
    t.wait_all(s)
    packets = t.relay.hits(seen)[0]
    t.relay.unrule(seen)
    return [n - was for n, was in zip(counts(t), had)], packets, shown


def agreed(t):
    grown, packets, shown = talk(t)
    t.check(all(n >= 30 for n in grown), f"immediate data sent and received: {grown}")
    t.check(packets >= sum(grown) // 2, f"{packets} packets with immediate data")
    t.equal(shown, [True, True], "shown by both")
    for vm in (t.a, t.b):
        t.step(f"{vm.name} does not offer it")
        t.set(vm, immediate_data=0)
        t.equal(talk(t), ([0] * 4, 0, [False, False]), f"{vm.name} does not offer it")
        t.restore("immediate_data")


def change(t, what, **how):
    """Change the immediate data of one packet of B."""
    from smcvm.changed import change_one
    c = t.half(t.b, chatty, port=PORT)
    r = change_one(t, c, proto="roce", opcode=WRITE_ONLY_IMM, **how)
    t.wait(lambda: t.relay.hits(r)[1] == 1, f"{what}: changed data", 20)
    t.relay.unrule(r)
    return c


def go_on(t, beside, what):
    beside.goes_on(what)
    t.wait_all(t.half(t.b, requests, port=PORT, back=50000))


def checked(t):
    from smcvm.changed import Beside
    t.reload(t.a, t.b)
    for vm in (t.a, t.b):
        # in larger rings the longest step may be right
        t.set(vm, rmem=1 << 16, wmem=1 << 16)
    s = t.half(t.a, serve_any, port=PORT)
    s.expect("listening")
    beside = Beside(t, PORT)
    for what, data in BAD_STEPS.items():
        t.step(what)
        bad = t.stat(t.a, "cdc_bad")
        c = change(t, what, set=data)
        t.wait_all(c)
        t.check(c.value in TOLD, f"{what}: the connection ended with {c.value}")
        t.equal(t.stat(t.a, "cdc_bad"), bad + 1, f"{what}: counted")
        go_on(t, beside, what)
    for what, data in BAD_NAMES.items():
        t.step(what)
        unknown = t.stat(t.a, "cdc_no_conn")
        c = change(t, what, xor=data)
        t.wait(lambda: t.stat(t.a, "cdc_no_conn") == unknown + 1, f"{what}: counted", 20)
        c.kill()
        go_on(t, beside, what)
    beside.c.gate("end")
    t.wait_all(beside.c)
    s.gate("stop")
    s.wait(t.left())


def run(t):
    if t.family != "smc":
        return
    agreed(t)
    checked(t)
