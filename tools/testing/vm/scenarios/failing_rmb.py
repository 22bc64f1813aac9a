# SPDX-License-Identifier: GPL-2.0
"""Verbs and allocations fail while a connection gets an RMB of its own: SMC, TCP or a
clean error, and every byte in its place.

Where the message of a first write cannot be posted, its connection goes on over the
other link, and nothing may overtake what was not written. Without --long it is the
client that fails.

covers: FAIL-12 ERR-05 RKEY-22
"""
from failing import asker, bigger, server, wind  # noqa: F401, the halves

kernels = ("debug",)
nics = 2
timeout = 300
PORT, SIZE = 5345, 1 << 17


def add_rmb(t, x, vm, path, nth):
    """A connection that needs an RMB, then all is well; did a call fail?"""
    from smcvm import faults
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
    return was_due


def run(t):
    if t.family != "smc":
        return
    from smcvm import faults
    x = faults.Bench(t, PORT)
    for vm in (t.a, t.b) if t.long else (t.b,):
        faults.aim(vm)
        hits = 0
        for path, most in ((f"{faults.SMC}/fail_reg", 3), (f"{faults.SMC}/fail_post", 3),
                           (faults.FAILSLAB, 12 if t.long else 6)):
            for nth in range(1, most + 1):
                t.step(f"call {nth} of {path} on {vm.name}")
                hits += add_rmb(t, x, vm, path, nth)
        t.check(hits > 8, f"{vm.name}: only {hits} calls failed")
        t.note(f"{vm.name}: {hits} calls")
    x.stop()
