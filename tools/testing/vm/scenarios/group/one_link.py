# SPDX-License-Identifier: GPL-2.0
"""A group is formed with one link where the server cannot create a second one.

Its memory regions are not available on a second link, or there is no queue pair for it.
A second link comes when the fault is over. A client of the RFC dialect cannot get an
offer without a queue pair: it falls back, and its next connections may use SMC.

covers: SL-01 ERR-56 ERR-57
"""
from failing import asker, server  # noqa: F401, the halves

rnic = "strictest,direct"
nics = 2
timeout = 300
PORT = 5350


def play(t, verb, mode):
    """Such calls fail on the second device of the server."""
    from smcvm import faults, links
    t.step(f"{verb}: {mode}")
    links.several(t)
    before = [t.stat(vm, "peer_remembered") for vm in (t.a, t.b)]
    faults.set_verb(t.a, f"rxe1/{verb}", faults.FOR_EVER)
    s = t.half(t.a, "server", port=PORT)
    s.expect("listening")
    c = t.half(t.b, "asker", port=PORT)
    t.expect_all("connected", c)
    t.mode(t.a, mode, PORT)
    if mode == "SMC-R":
        t.equal([len(links.active(vm)) for vm in (t.a, t.b)], [1, 1], "links")
    t.check(faults.enough(t.a, f"rxe1/{verb}"), f"no call of {verb} has failed")
    # on TCP before, the next connection forms a group
    c.gate("ask")
    c.expect("asked", t.left())
    t.wait(lambda: [len(links.active(vm)) for vm in (t.a, t.b)] == [2, 2],
           f"{verb}: two links in the end", 30)
    for p in (c, s):
        p.gate("stop")
        t.wait_all(p)
    t.equal([t.stat(vm, "peer_remembered") for vm in (t.a, t.b)], before,
            "peers remembered")


def run(t):
    if t.family != "smc":
        return
    play(t, "alloc", "SMC-R")
    play(t, "create", "TCP" if t.dialect else "SMC-R")
