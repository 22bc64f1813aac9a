# SPDX-License-Identifier: GPL-2.0
"""Makes verbs and allocations of a machine fail, and checks the results.

Import this within run(): the machines cannot import it.
"""
import os

from . import links
from .machine import Failed
from .pair import at_once

RNIC = "/sys/kernel/debug/rnic"
# kinds of calls that fail: these, and of the model of an RNIC "VERB" or "DEVICE/VERB"
FAILSLAB, FAIL_PAGE = MEMORY = ("failslab", "fail_page_alloc")
MOST = 400      # more calls of a kind than this are an endless loop
FOR_EVER = 1000000


def of(kind):
    """The directory of the kernel's fault injection for a kind of MEMORY."""
    return f"/sys/kernel/debug/{kind}"


def put(vm, kind, **values):
    """Write VALUES to files of fault injection, in order; names have - in place of _."""
    for name, value in values.items():
        vm.write(f"{of(kind)}/{name.replace('_', '-')}", value)


def calls_of(kind):
    """The file that counts calls of such a verb of the model, and the verb."""
    *device, verb = kind.split("/")
    return "/".join([RNIC, *device, "calls"]), verb


def set_verb(vm, kind, nr, skip=0):
    """Let NR calls of a verb of the model fail, after SKIP calls."""
    path, verb = calls_of(kind)
    vm.write(path, f"{verb} {nr} {skip}")


def fail_at(t, vm, kind, nth):
    """Let the NTH call from now on fail, and no other.

    Each call of fault injection subtracts its size from the budget; the size is one except for
    allocations of failslab. The budget of failslab starts at an unknown value, so allocations are
    made until it restarts: the scenario's file has the half wind.
    """
    if kind not in MEMORY:
        set_verb(vm, kind, 1, nth - 1)
        return
    if kind == FAIL_PAGE:
        put(vm, kind, verbose=0, times=1, interval=1, space=nth, probability=100)
        return
    put(vm, kind, verbose=0, times=1, interval=nth, space=0, probability=100)
    if nth > 1:
        t.wait_all(t.half(vm, "wind", path=of(kind)))
    put(vm, kind, times=1)


def has_failed(vm, kind):
    if kind in MEMORY:
        return vm.read(f"{of(kind)}/times").strip() == "0"
    path, verb = calls_of(kind)
    calls = dict(line.split(None, 1) for line in vm.read(path).splitlines())
    return not calls[verb].endswith("failed 0")


def enough(vm, kind):
    """Stop the failures; true if a call has failed."""
    if kind in MEMORY:
        put(vm, kind, probability=0)
    else:
        set_verb(vm, kind, 0)
    return has_failed(vm, kind)


def aim(vm):
    """Restrict failures to allocations with the module on their stack."""
    line = next(x.split() for x in vm.read("/proc/modules").splitlines()
                if x.startswith("smc "))
    start, size = int(line[5], 16), int(line[1])
    put(vm, FAIL_PAGE, min_order=0, ignore_gfp_highmem="N")
    for kind in MEMORY:
        put(vm, kind, ignore_gfp_wait="N", stacktrace_depth=32, require_start=start,
            require_end=start + size)


def kinds(t, calls):
    """The (machine, kind, how) of the CALLS that must fail; without --long those of the client.

    Memory fails on the debug kernel only. All of them take hours on a slow machine. SMC_FAULTS in
    the environment selects some: "b" is a machine, "failslab rxe0/create" are kinds.
    """
    words = set(os.environ.get("SMC_FAULTS", "").split())
    chosen = [(vm, name, how) for vm in ((t.a, t.b) if t.long else (t.b,))
              if not words & {"a", "b"} or vm.name in words
              for name, how in calls.items()
              if (not words - {"a", "b"} or name in words)
              and (name not in MEMORY or t.kind == "debug")]
    t.check(chosen and words <= {"a", "b", *calls}, f"SMC_FAULTS: {words} chooses nothing")
    for vm, name, how in chosen:
        if name in MEMORY:
            aim(vm)
        yield vm, name, how


def each_call(t, vm, name, least, some, attempt):
    """Results of attempts in which each call of a kind fails in turn.

    ATTEMPT(vm, name, nth) returns a result, or None if there was no NTH call: that is the
    end. There must be at LEAST as many calls. Without --long, or if LEAST is 0, only SOME fail.
    """
    ends = []
    for nth in range(1, MOST) if t.long and least else some:
        t.step(f"call {nth} of {name} on {vm.name}")
        end = attempt(vm, name, nth)
        if end is None:
            break
        ends.append(end)
    t.check(len(ends) >= (t.long and least or len(some)),
            f"{name} on {vm.name}: only {len(ends)} calls failed")
    t.check(len(ends) < MOST - 1, f"{name} on {vm.name}: there is no end of it")
    return ends


class Bench:
    """A group of two links, and one connection that makes requests."""

    def __init__(self, t, port):
        self.t = t
        # A client waits for llc_reply_ms when links that its server deletes were brief.
        links.several(t, peer_memory_ms=1, rmb_idle_ms=100, smcr_testlink_time=3,
                      llc_reply_ms=6000)
        self.s = t.half(t.a, "server", port=port)
        self.s.expect("listening")
        self.c = t.half(t.b, "asker", port=port)
        t.expect_all("connected", self.c)
        self.two_links("the beginning")
        self.ask()
        # of one connection, on two links: an RMB and a send region; others go when they are idle
        self.few = [4, 4]
        t.wait(lambda: self.regions() == self.few, "the memory regions of one connection", 20)

    def regions(self):
        return at_once(self.t.memory_regions, (self.t.a, self.t.b))

    def ask(self):
        """Make a request; return the number of connections that were reset so far."""
        self.c.gate("ask")
        self.resets = self.c.expect("asked", self.t.left())["resets"]
        return self.resets

    def links(self):
        return [len(links.active(vm)) for vm in (self.t.a, self.t.b)]

    def queue_pairs(self):
        return at_once(self.t.queue_pairs, (self.t.a, self.t.b))

    def two_links(self, what):
        """Wait for two links, of a new group if the old one ended."""
        def there():
            now = self.links()
            if not any(now):
                self.ask()
            return now == [2, 2] and self.queue_pairs() == [2, 2]
        self.t.wait(there, f"two links after {what}", 40)

    def stop(self):
        for p in (self.c, self.s):
            p.gate("stop")
            self.t.wait_all(p)


class Newcomers:
    """A server, and a client that makes one connection at a time.

    Before each connection there is no link group and nothing else of an earlier one.
    """

    def __init__(self, t, port):
        self.t = t
        links.several(t, peer_memory_ms=1)
        self.s = t.half(t.a, "server", port=port)
        self.s.expect("listening")
        self.c = t.half(t.b, "newcomer", port=port)

    def clean(self, what):
        """Wait until nothing is left of the connection, on either side."""
        t, left = self.t, {}

        def is_clean():
            # Reading the names of all objects takes as long as all else, so counters come
            # first. Reading the groups would make calls that may fail; counters make none.
            if any(t.stat(vm, "lgr_new") != t.stat(vm, "lgr_end") for vm in (t.a, t.b)):
                return False
            for vm, now in zip((t.a, t.b), at_once(t.pair.rdma_objects, (t.a, t.b))):
                base = t.pair.rdma_base[vm.name]
                left[vm.name] = [x for x in now if x not in base]
            return not any(left.values())
        try:
            t.wait(is_clean, what, 40)
        except Failed as e:
            raise Failed(f"{e}, there is {left}") from None

    def ask(self):
        """Make one connection; return its errno, or "SMC" or "TCP" if it works."""
        before = self.t.stat(self.t.b, "client_smc")
        self.c.gate("ask")
        end = self.c.expect("asked", self.t.left())["end"]
        if end != "good":
            return end
        return "SMC" if self.t.stat(self.t.b, "client_smc") > before else "TCP"

    def try_one(self, vm, kind, nth):
        """Make a connection whose NTH call fails; return its result, None without such a call.

        The next connection must be SMC.
        """
        what = f"call {nth} of {kind} on {vm.name} failed"
        fail_at(self.t, vm, kind, nth)
        end = self.ask()
        self.clean(f"end of all, {what}")
        if not enough(vm, kind):
            self.t.equal(end, "SMC", f"a connection without a call {nth} of {kind}")
            return None
        self.t.equal(self.ask(), "SMC", f"a connection after {what}")
        self.clean(f"end of all, after {what}")
        return end

    def stop(self):
        for p in (self.c, self.s):
            p.gate("stop")
            self.t.wait_all(p)
