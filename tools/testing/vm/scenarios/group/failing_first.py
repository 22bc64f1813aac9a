# SPDX-License-Identifier: GPL-2.0
"""Verbs and allocations that fail at first contact end in SMC or TCP, never a leak or a hang.

Every byte is in its place. There is no link group before. Each call that first contact
makes of a device fails in turn, on either side, then each allocation of memory and of
pages. Nothing of the attempt remains, and the next connection is SMC. A connection is reset
only where fallback is impossible, and ENOMEM is the only error of a call. Without --long
some calls of each kind fail, at the client.

covers: ERR-05 ERR-06 ERR-09 ERR-12 ERR-21 ERR-22 FC-05
"""
import collections

from failing import newcomer, server, wind  # noqa: F401, the halves

kernels = ("debug",)
nics = 2
timeout = 1200
# calls of each on one side, at least, and those of the short run
CALLS = {"fail_qp": (1, [1]), "fail_modify": (2, [2]), "fail_reg": (2, [1]),
         "fail_post": (3, [1, 2, 4]), "fail_map": (1, [1]), "failslab": (20, [1, 19]),
         "fail_page_alloc": (3, [2])}
# what became of a connection of which such a call has failed
KINDS = {"fail_qp": {"SMC", "TCP"}, "fail_modify": {"SMC", "TCP"},
         "fail_reg": {"SMC", "TCP"}, "fail_map": {"SMC", "TCP"},
         "fail_post": {"SMC", "TCP", "ECONNRESET"},
         "failslab": {"SMC", "TCP", "ENOMEM", "ENOBUFS", "ENFILE", "ECONNRESET"},
         "fail_page_alloc": {"SMC", "TCP", "ENOMEM", "ENOBUFS", "ENFILE", "ECONNRESET"}}


def run(t):
    if t.family != "smc":
        return
    from smcvm import faults
    x = faults.Newcomers(t, 5348)
    for vm, name, how in faults.kinds(t, CALLS):
        ends = faults.each_call(t, vm, name, *how, x.try_one)
        t.equal(set(ends) - KINDS[name], set(), f"what became of them, {name}")
        t.note(f"{vm.name} {name} {dict(collections.Counter(ends))}")
    x.stop()
