# SPDX-License-Identifier: GPL-2.0
"""Verbs and allocations that fail while a link is added cost a link or SMC, never a leak or hang.

Each call that adding a link makes of a device fails in turn, on either side, then each
allocation of memory and of pages. An existing connection goes on: only where a message
cannot be posted its link is lost, and with a single link the group ends. Without --long
some calls of each kind fail, at the client.

covers: ERR-05 ERR-56 ERR-57 SL-12 ADDL-01
"""
from failing import asker, server, wind  # noqa: F401, the halves

rnic = "strictest,direct"
nics = 2
timeout = 1500
# Calls of each that adding a link makes on one side, at least, and those of the short run. The link
# that is added has the device rxe1, the existing one rxe0.
CALLS = {"rxe1/create": (4, [4]), "rxe1/modify": (3, [1, 2, 3]), "rxe1/recv": (0, [2]),
         "rxe1/alloc": (2, [2]), "rxe1/reg": (2, [1]), "rxe1/post": (1, [1]), "rxe0/post": (1, [1]),
         "failslab": (8, [1, 3, 6]), "fail_page_alloc": (1, [1])}


def run(t):
    if t.family != "smc":
        return
    from smcvm import faults
    from smcvm.links import card_up
    x = faults.Bench(t, 5340)

    def link_ups():
        return [t.stat(vm, "link_up") for vm in (t.a, t.b)]

    def add_link(vm, kind, nth):
        """Wait until the link is added after a failure; return the number of resets.

        None if there was no such call.
        """
        what = f"call {nth} of {kind} on {vm.name} failed"
        before = x.resets
        # Quicker than an RNIC that goes and comes, and on the server: to a client that
        # has its links taken down as soon as they are up it is slow to add another.
        t.a.run(["ip", "link", "set", "eth1", "down"])
        t.wait(lambda: x.links() == [1, 1] and x.queue_pairs() == [1, 1], f"{what}: one link", 20)
        ups = link_ups()
        faults.fail_at(t, vm, kind, nth)
        t.a.run(["ip", "link", "set", "eth1", "up"])
        # to read of links would be a call that may fail; counters are free of them
        t.wait(lambda: faults.has_failed(vm, kind) or
               link_ups() == [n + 1 for n in ups], what, 20)
        was_due = faults.enough(vm, kind)
        x.ask()
        x.two_links(what)
        # what comes late is of this call, too
        resets = x.ask() - before
        most = 1 if was_due and kind == "rxe0/post" else 0
        t.check(resets <= most, f"{what}: {resets} connections were reset")
        return resets if was_due else None

    for vm, name, how in faults.kinds(t, CALLS):
        ends = faults.each_call(t, vm, name, *how, add_link)
        t.wait(lambda: x.regions() == x.few,
               f"no more memory registered than before calls of {name} failed", 20)
        t.note(f"{vm.name} {name} {len(ends)} ({sum(ends)} reset)")
    card_up(t, t.a, 1)
    x.stop()
