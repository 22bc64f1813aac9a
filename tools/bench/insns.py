#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Reads the counts of the plugin insns.c by function and by event. Run by itself, tests itself.

A machine's kernel must not be moved (nokaslr) or reloaded between the snapshots.
"""
import bisect
import os
import re
import struct
import sys

TEXT = 0xffffffff80000000
BUCKET = 16
PAGE = 4096
CODE = re.compile(r"^([0-9a-f]+) [tTwW] (\S+)(?:\t\[(\S+)\])?$", re.M)
OURS = "smc"
MODEL = "smc_rnic"      # stands for an adapter, which executes none of the host's instructions

# What happens, and the functions that are called then. A function that a kernel or a side does
# not have counts nothing.
EVENTS = {
    "posts": ("rxe_post_send", "rnic_post_send"),
    "recv posts": ("rxe_post_recv", "rnic_post_recv"),
    "packets": ("rxe_xmit_packet",),
    "CQEs": ("rxe_cq_post",),
    # the completion handlers: ours, the RDMA core's, a program's, or what one with a tasklet calls
    "CQ events": ("smc_wr_cq_event", "ib_cq_completion_softirq", "ib_cq_completion_workqueue",
                  "ib_uverbs_comp_handler", "__tasklet_schedule"),
    "wake-ups": ("try_to_wake_up",),
    "switches": ("__switch_to",),
    "softirqs": ("handle_softirqs", "__do_softirq"),
    "bh locks": ("_raw_spin_lock_bh",),
    "slots": ("smc_wr_slot_get",),
    "work items": ("__queue_work",),
    "timers": ("mod_timer", "add_timer", "mod_timer_pending"),
}
INSNS = "insns"
MODULE = "smc.ko"
COLUMNS = (INSNS, MODULE, *EVENTS)


def snapshot(path):
    """The pages of the counters that are not empty, as {offset: bytes}."""
    pages = {}
    fd = os.open(path, os.O_RDONLY)
    try:
        end = 0
        while True:
            try:
                start = os.lseek(fd, end, os.SEEK_DATA)
            except OSError:     # no more data
                return pages
            end = os.lseek(fd, start, os.SEEK_HOLE)
            for at in range(start, end, PAGE):
                pages[at] = os.pread(fd, PAGE, at)
    finally:
        os.close(fd)


class Counts:
    """What a machine has executed between two snapshots, by address."""

    def __init__(self, before, after):
        self.insns, self.calls = {}, {}
        for at, page in after.items():
            was = before.get(at, bytes(PAGE))
            if page != was:
                self.add_page(TEXT + at, struct.unpack("=512Q", was),
                              struct.unpack("=512Q", page))
        self.total = self.insns.pop(TEXT, 0)

    def add_page(self, addr, was, now):
        for i in range(0, len(now), 2):
            if now[i] != was[i]:
                self.insns[addr + 8 * i] = now[i] - was[i]
            if now[i + 1] != was[i + 1]:
                self.calls[addr + 8 * i] = now[i + 1] - was[i + 1]


class Symbols:
    """The functions of a running kernel, from the text of its /proc/kallsyms."""

    def __init__(self, kallsyms):
        found = sorted((int(addr, 16), name, module)
                       for addr, name, module in CODE.findall(kallsyms))
        found = [s for s in found if s[0] >= TEXT and not s[1].startswith("__pfx_")]
        self.addrs = [s[0] for s in found]
        self.names = [(s[1], s[2]) for s in found]
        self.by_name = {}
        for addr, name, _ in found:
            self.by_name.setdefault(name, []).append(addr)

    def at(self, addr):
        """The address, the name and the module of the function of a bucket."""
        i = bisect.bisect(self.addrs, addr) - 1
        return (self.addrs[i], *self.names[i]) if i >= 0 else (0, "?", "")

    def calls(self, counts, names):
        """The calls of functions, or None if there is no such function."""
        addrs = {a for name in names for a in self.by_name.get(name, ())}
        uneven = [f"{a:x}" for a in addrs if a % BUCKET]
        if uneven:
            raise ValueError(f"no multiples of {BUCKET}: {names} at {uneven}")
        return sum(counts.calls.get(a, 0) for a in addrs) if addrs else None

    def functions(self, counts):
        """Instructions and calls, as {(address, name, module): [insns, calls]}."""
        out = {}
        for addr, n in counts.insns.items():
            function = self.at(addr)
            mine = out.setdefault(function, [0, counts.calls.get(function[0], 0)])
            mine[0] += n
        return out


def events(counts, symbols, n):
    """A value of each of COLUMNS for one of N operations; None where there is none."""
    functions = symbols.functions(counts)
    of = {name: sum(v[0] for (_, _, module), v in functions.items() if module == name)
          for name in (OURS, MODEL)}
    out = {INSNS: (counts.total - of[MODEL]) / n, MODULE: of[OURS] / n}
    for name, called in EVENTS.items():
        calls = symbols.calls(counts, called)
        out[name] = None if calls is None else calls / n
    return out


def top(counts, symbols, n, how_many):
    """The functions with the most instructions, for one of N operations, as lines."""
    functions = symbols.functions(counts)
    inside = sum(v[0] for v in functions.values())
    lines = [f"{(counts.total - inside) / n:10.1f}            outside the kernel"]
    for (_, name, module), (insns, calls) in sorted(
            functions.items(), key=lambda x: -x[1][0])[:how_many]:
        lines.append(f"{insns / n:10.1f} {calls / n:9.2f}  {name}"
                     + (f" [{module}]" if module else ""))
    return lines


def wrong():
    """What the functions above do not do."""
    symbols = Symbols("ffffffff80000010 T vfs_read\n"
                      "ffffffff80000030 t smc_tx_sendmsg\t[smc]\n"
                      "ffffffff80000050 t rnic_post_send\t[smc_rnic]\n")
    # insns and entries of each bucket; the first has all instructions
    page = [1000, 0, 100, 4, 20, 0, 60, 2, 0, 0, 300, 8]
    page += [0] * (PAGE // 8 - len(page))
    counts = Counts({}, {0: struct.pack("=512Q", *page)})
    found = events(counts, symbols, 2)
    cases = [(INSNS, 350), (MODULE, 30), ("posts", 4), ("wake-ups", None)]
    return [f"insns: {name}: {found[name]}, not {wanted}"
            for name, wanted in cases if found[name] != wanted]


if __name__ == "__main__":
    print("\n".join(wrong()), end="")
    sys.exit(bool(wrong()))
