# SPDX-License-Identifier: GPL-2.0
"""A group is formed with one link where the server cannot create a second one.

Its memory regions are not available on a second link, or there is no queue pair for it.
A second link comes when the fault is over. A client of the RFC dialect cannot get an
offer without a queue pair: it falls back, and its next connections may use SMC.

covers: SL-01 ERR-56 ERR-57
"""
from failing import asker, server  # noqa: F401, the halves

kernels = ("debug",)
nics = 2
timeout = 300
PORT = 5350
# the first call that fails: the first link needs a queue pair, too
FIRST = {"fail_map": 1, "fail_qp": 2}


def play(t, name, mode):
    from smcvm import faults, links
    t.step(f"{name}: {mode}")
    links.several(t)
    before = [t.stat(vm, "peer_remembered") for vm in (t.a, t.b)]
    path = f"{faults.SMC}/{name}"
    faults.fail_from(t.a, path, FIRST[name])
    s = t.half(t.a, "server", port=PORT)
    s.expect("listening")
    c = t.half(t.b, "asker", port=PORT)
    t.expect_all("connected", c)
    t.mode(t.a, mode, PORT)
    if mode == "SMC-R":
        t.equal([len(links.active(vm)) for vm in (t.a, t.b)], [1, 1], "links")
    faults.enough(t.a, path)
    # on TCP before, the next connection forms a group
    c.gate("ask")
    c.expect("asked", t.left())
    t.wait(lambda: [len(links.active(vm)) for vm in (t.a, t.b)] == [2, 2],
           f"{name}: two links in the end", 30)
    for p in (c, s):
        p.gate("stop")
        t.wait_all(p)
    t.equal([t.stat(vm, "peer_remembered") for vm in (t.a, t.b)], before,
            "peers remembered")


def run(t):
    if t.family != "smc":
        return
    play(t, "fail_map", "SMC-R")
    play(t, "fail_qp", "TCP" if t.dialect else "SMC-R")
