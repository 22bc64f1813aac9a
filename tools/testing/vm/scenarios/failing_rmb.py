# SPDX-License-Identifier: GPL-2.0
"""Verbs and allocations fail while a connection gets an RMB of its own: SMC, TCP or a
clean error, and every byte in its place.

Each call in turn, on either side. Where the message of a first write cannot be posted,
its connection goes on over the other link, and nothing may overtake what was not
written. Without --long some calls of each kind, at the client.

covers: FAIL-12 ERR-05 RKEY-22
"""
from failing import asker, bigger, server, wind  # noqa: F401, the halves

kernels = ("debug",)
nics = 2
timeout = 900
PORT, SIZE = 5345, 1 << 17
# calls of each on one side, at least, and those of the short run: an RMB and a send
# area are registered for two links
CALLS = {"fail_reg": (4, [1, 2, 3, 4]), "fail_post": (3, [1, 2, 3]),
         "failslab": (8, [1, 3, 6]), "fail_page_alloc": (1, [1])}


def run(t):
    if t.family != "smc":
        return
    from smcvm import faults
    x = faults.Bench(t, PORT)

    def add_rmb(vm, path, nth):
        """A connection that needs an RMB, then all is well; True if a call has failed."""
        what = f"call {nth} of {path} on {vm.name} failed"
        faults.fail_at(t, vm, path, nth)
        t.wait_all(t.half(t.b, bigger, port=PORT, size=SIZE, n=1))
        was_due = faults.enough(vm, path)
        x.ask()
        x.two_links(what)
        # the area is known on all links, or is not there
        downs = [t.stat(m, "link_down") for m in (t.a, t.b)]
        c = t.half(t.b, bigger, port=PORT, size=SIZE, n=3)
        t.wait_all(c)
        t.equal(c.value, {"good": 3}, f"connections after {what}")
        t.equal([t.stat(m, "link_down") for m in (t.a, t.b)], downs, f"links lost after {what}")
        t.wait(lambda: x.regions() == x.few, f"{what}: end of the area", 20)
        return was_due or None

    for vm in (t.a, t.b) if t.long else (t.b,):
        faults.aim(vm)
        for name, how in CALLS.items():
            t.note(f"{vm.name} {name} {len(faults.each_call(t, vm, name, *how, add_rmb))}")
    x.stop()
