# SPDX-License-Identifier: GPL-2.0
"""A further link comes when its RNIC does: nobody tries again by and by.

With llc_add_link_retry_ms 0 nothing else brings one. The RNIC is removed and added, and
its network interface taken down and up, on either side in turns.

covers: ERR-58 ERR-59 ADDL-01 ADDL-06
"""
from streams import client, server  # noqa: F401, the halves

nics = 2
timeout = 400


def run(t):
    if t.family != "smc":
        return
    from smcvm import links
    for vm in (t.a, t.b):
        links.delete(vm, 1)
    links.several(t, llc_add_link_retry_ms=0)
    x = links.Streams(t, 5370)
    x.have(1)
    t.step("a second RNIC at both")
    links.add(t, t.a, 1)
    links.add(t, t.b, 1)
    x.have(2)
    x.more()
    for vm in (t.a, t.b):
        t.step(f"{vm.name} loses an RNIC and gets it back")
        links.delete(vm, 1)
        x.have(1)
        links.add(t, vm, 1)
        x.have(2)
        x.more()
        t.step(f"the same with a network interface of {vm.name}")
        vm.run("ip link set eth1 down")
        x.have(1)
        links.card_up(t, vm, 1)
        x.have(2)
        x.more()
    x.stop()
