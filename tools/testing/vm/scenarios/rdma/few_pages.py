# SPDX-License-Identifier: GPL-2.0
"""An adapter that has no page lists for large regions costs no connection SMC.

The adapters refuse memory regions of more pages than one ring has: regions do not grow, and each
connection is SMC. With the default, erdma, a receive also has one SGE only.

covers: RMB-02 RKEY-02
"""
from common import connect_all, serve

rnic = "erdma"
timeout = 120
PORT, N, PAGES = 5410, 12, 64


def client(h, port, n):
    """All connect before any asks."""
    socks = connect_all(h, port, n, 4)
    h.mark("open")
    h.gate("ask")
    for s in socks:
        h.request(s, 50, 3000)
        h.finish(s)


def run(t):
    if t.family != "smc":
        return
    t.no_groups()
    for vm in (t.a, t.b):
        # each region is a turn of its own, with verbs as slow as the profile's
        t.set(vm, clc_timeout_ms=60000)
        vm.write("/sys/kernel/debug/rnic/rxe0/fault", f"alloc_pages {PAGES}")
    s = t.half(t.a, serve, port=PORT, count=N, backlog=64)
    s.expect("listening")
    c = t.half(t.b, client, port=PORT, n=N)
    t.expect_all("open", c)
    for vm in (t.a, t.b):
        t.mode(vm, "SMC-R", PORT, N)
    c.gate("ask")
    t.wait_all(s, c)
    for vm in (t.a, t.b):
        vm.write("/sys/kernel/debug/rnic/rxe0/fault", "alloc_pages 0")
    t.restore("clc_timeout_ms")
