# SPDX-License-Identifier: GPL-2.0
"""Verbs and allocations of a machine that fail, and two links that stand it.

Imported within run(): machines have no use for it.
"""
from . import links

SMC = "/sys/kernel/debug/smc"
FAILSLAB = "/sys/kernel/debug/failslab"


def fail(vm, path, nth):
    """Let the NTH call from now on fail, and no other."""
    vm.run(f"cd {path} && echo 0 >verbose && echo 1 >times && echo {nth} >interval && "
           "echo 100 >probability")


def fail_from(vm, path, nth):
    """Let the NTH call from now on fail, and all that follow."""
    vm.run(f"cd {path} && echo 0 >verbose && echo -1 >times && echo 1 >interval && "
           f"echo {nth} >space && echo 100 >probability")


def has_failed(vm, path):
    return vm.run(f"cat {path}/times").out.strip() == "0"


def enough(vm, path):
    """No call is to fail any more; has one?"""
    vm.run(f"echo 0 >{path}/probability")
    return has_failed(vm, path)


def aim(vm):
    """Let only allocations fail that have the module on their stack."""
    line = vm.run("grep '^smc ' /proc/modules").out.split()
    start, size = int(line[5], 16), int(line[1])
    vm.run(f"""cd {FAILSLAB}; echo N >ignore-gfp-wait; echo 32 >stacktrace-depth
        echo {start:#x} >require-start; echo {start + size:#x} >require-end""")


class Bench:
    """A group of two links, and one connection that is asked now and then."""

    def __init__(self, t, port):
        self.t = t
        links.several(t, peer_memory_ms=1, rmb_idle_ms=100, smcr_testlink_time=3)
        self.s = t.half(t.a, "server", port=port)
        self.s.expect("listening")
        self.c = t.half(t.b, "asker", port=port)
        t.expect_all("connected", self.c)
        self.two_links("the beginning")
        self.ask()
        # what one connection needs
        self.few = self.regions()

    def regions(self):
        return [self.t.memory_regions(vm) for vm in (self.t.a, self.t.b)]

    def ask(self):
        self.c.gate("ask")
        self.c.expect("asked", self.t.left())

    def links(self):
        return [len(links.active(vm)) for vm in (self.t.a, self.t.b)]

    def two_links(self, what):
        """Two links, of a new group where the old one had to end."""
        def there():
            now = self.links()
            if not any(now):
                self.ask()
            return now == [2, 2] and all(self.t.queue_pairs(vm) == 2
                                         for vm in (self.t.a, self.t.b))
        self.t.wait(there, f"two links after {what}", 40)

    def stop(self):
        for p in (self.c, self.s):
            p.gate("stop")
            self.t.wait_all(p)
