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

rnic = "strictest,direct"
nics = 2
timeout = 1200
# Calls of each on one side, at least, and those of the short run. The second link has the device
# rxe1. Of the calls that create, the last is that of the queue pair.
CALLS = {"rxe0/create": (4, [3, 4]), "rxe0/modify": (3, [1, 2, 3]), "rxe0/recv": (0, [2]),
         "rxe0/alloc": (2, [2]), "rxe0/reg": (2, [1]), "rxe0/post": (4, [1, 2, 4]),
         "rxe1/create": (4, [4]), "rxe1/alloc": (1, [1]),
         "failslab": (20, [1, 19]), "fail_page_alloc": (3, [2])}
NO_MEMORY = {"ENOMEM", "ENOBUFS", "ENFILE", "ECONNRESET"}
# what may become of a connection of which such a call has failed, besides SMC or TCP
MAY_BE = {"rxe0/post": {"ECONNRESET"}, "rxe0/recv": {"ECONNRESET"}, "failslab": NO_MEMORY,
          "fail_page_alloc": NO_MEMORY}


def run(t):
    if t.family != "smc":
        return
    from smcvm import faults
    x = faults.Newcomers(t, 5348)
    for vm, name, how in faults.kinds(t, CALLS):
        ends = faults.each_call(t, vm, name, *how, x.try_one)
        t.equal(set(ends) - {"SMC", "TCP"} - MAY_BE.get(name, set()), set(),
                f"what became of them, {name}")
        t.note(f"{vm.name} {name} {dict(collections.Counter(ends))}")
    x.stop()
