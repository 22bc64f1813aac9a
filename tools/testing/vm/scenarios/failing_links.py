# SPDX-License-Identifier: GPL-2.0
"""Verbs and allocations fail while a link is added: one link for a while, or TCP,
never a leak or a hang.

Each call that adding a link makes of a device fails in turn, on either side, then
each allocation. The connection that was there before goes on: only where a message
cannot be posted its link is lost, and with a single link that is the end of the
group. Without --long it is the client that fails.

covers: ERR-05 ERR-56 ERR-57 SL-12 ADDL-01
"""
from failing import asker, server, wind  # noqa: F401, the halves

kernels = ("debug",)
nics = 2
timeout = 600
# calls of each that adding a link makes on one side, at least
CALLS = {"fail_qp": 1, "fail_modify": 2, "fail_reg": 2, "fail_post": 3}


def add_link(t, x, vm, path, nth):
    """The link comes at last, whatever failed; was there such a call?"""
    from smcvm import faults
    from smcvm.links import delete
    what = f"call {nth} of {path} on {vm.name} failed"
    delete(t.b, 1)
    t.wait(lambda: x.links() == [1, 1], f"{what}: one link", 20)
    faults.fail_at(t, vm, path, nth)
    t.b.run("rdma link add rxe1 type rxe netdev eth1")
    t.pair.wait_gid(t.b, 1)
    t.wait(lambda: faults.has_failed(vm, path) or x.links() == [2, 2], what, 20)
    was_due = faults.enough(vm, path)
    x.ask()
    x.two_links(what)
    return was_due


def run(t):
    if t.family != "smc":
        return
    from smcvm import faults
    x = faults.Bench(t, 5340)
    for vm in (t.a, t.b) if t.long else (t.b,):
        for name, least in CALLS.items():
            nth = 1
            while add_link(t, x, vm, f"{faults.SMC}/{name}", nth) and nth < 6:
                nth += 1
            t.check(nth > least, f"{name} on {vm.name}: {nth - 1} calls failed")
        faults.aim(vm)
        hits = sum(add_link(t, x, vm, faults.FAILSLAB, nth)
                   for nth in range(1, 25 if t.long else 9))
        t.check(hits > 5, f"{vm.name}: only {hits} allocations failed")
        t.note(f"{vm.name}: {hits} allocations")
    x.stop()
