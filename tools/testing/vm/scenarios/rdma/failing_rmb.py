# SPDX-License-Identifier: GPL-2.0
"""Verbs and allocations that fail while a connection gets its own RMB never corrupt the stream.

The connection is SMC or TCP, or a call returns a clean error. Each call fails in turn, on
either side. Where RDMA cannot be used the connection is TCP; only the client's calls that
need memory for themselves return errors. Where the message of a first write cannot be
posted, the connection goes on over the other link, and later data must not overtake the
unwritten data. An existing connection is not reset. Without --long some calls of each kind
fail, at the client.

covers: FAIL-12 ERR-05 RKEY-22
"""
import collections

from failing import asker, bigger, server, wind  # noqa: F401, the halves

rnic = "strictest,direct"
nics = 2
timeout = 900
PORT, BIG_PORT, SIZE = 5345, 5346, 1 << 17
# calls of each on one side, at least, and those of the short run: an RMB and a send
# region are registered for two links
CALLS = {"alloc": (4, [2, 4]), "reg": (4, [1, 2, 3, 4]), "post": (3, [1, 2, 3]),
         "failslab": (8, [1, 3, 6]), "fail_page_alloc": (1, [1])}
# socket() says ENFILE where there is no memory for an inode
NO_MEMORY = {"ENOMEM", "ENOBUFS", "ENFILE"}


def run(t):
    if t.family != "smc":
        return
    from smcvm import faults
    for vm in (t.a, t.b):
        # no element of another connection is as large as SIZE
        t.set(vm, wmem=16384, rmem=16384)
    x = faults.Bench(t, PORT)
    big = t.half(t.a, server, port=BIG_PORT, size=SIZE)
    big.expect("listening")

    def may_end(vm, kind):
        """The allowed outcomes of the client's connection when such a call fails on VM."""
        is_memory = kind in faults.MEMORY
        return {"SMC", "TCP"} | (NO_MEMORY if is_memory and vm is t.b else set())

    def add_rmb(vm, kind, nth):
        """What became of a connection that needs an RMB; then all is well.

        None if no call has failed.
        """
        what = f"call {nth} of {kind} on {vm.name} failed"
        resets, smc = x.resets, t.stat(t.b, "client_smc")
        faults.fail_at(t, vm, kind, nth)
        c = t.half(t.b, bigger, port=BIG_PORT, size=SIZE, n=1)
        t.wait_all(c)
        was_due = faults.enough(vm, kind)
        end, = c.value
        if end == "good":
            end = "SMC" if t.stat(t.b, "client_smc") > smc else "TCP"
        t.check(end in may_end(vm, kind), f"{what}: the connection ended with {end}")
        x.ask()
        x.two_links(what)
        t.equal(x.ask() - resets, 0, f"connections reset beside, {what}")
        # the region is known on all links, or is not there
        downs = [t.stat(m, "link_down") for m in (t.a, t.b)]
        c = t.half(t.b, bigger, port=BIG_PORT, size=SIZE, n=3)
        t.wait_all(c)
        t.equal(c.value, {"good": 3}, f"connections after {what}")
        t.equal([t.stat(m, "link_down") for m in (t.a, t.b)], downs, f"links lost after {what}")
        t.wait(lambda: x.regions() == x.few, f"{what}: end of the region", 20)
        if not was_due:
            t.equal(end, "SMC", f"a connection without a call {nth} of {kind}")
            return None
        return end

    for vm, name, how in faults.kinds(t, CALLS):
        ends = faults.each_call(t, vm, name, *how, add_rmb)
        t.note(f"{vm.name} {name} {dict(collections.Counter(ends))}")
    big.gate("stop")
    t.wait_all(big)
    x.stop()
