# SPDX-License-Identifier: GPL-2.0
"""Patterns of kernel messages that report a fault.

machine.py and tools/testing/kunit/ktap.py search for them; each has its own list of
harmless lines.
"""
import re

# The last message of an orderly shutdown ("reboot: Power down") matches none.
SPLAT = re.compile("|".join([
    r"\bWARNING:",
    r"\bBUG[: ]",
    r"cut here",
    r"\bOops\b",
    r"general protection",
    r"Call Trace:",
    r"Kernel panic",
    r"invalid opcode|divide error|double fault",
    r"Unable to handle|unable to handle (page fault|kernel)",
    r"KASAN:|KCSAN:|UBSAN:|ODEBUG",
    r"use-after-free",
    r"stack guard page|stack-protector",
    r"usercopy:",
    r"[Bb]ad page",
    r"slab.*(corrupt|Redzone|Poison)",
    r"Objects remaining",
    r"has leaked",
    r"list_(add|del) corruption",
    r"refcount_t:|ref_tracker:",
    r"unregister_netdevice: waiting",
    r"proc_dir_entry",
    r"Out of memory:",
    r"page allocation failure",
    r"kmemleak: \d+ new suspected",
    r"kmemleak: .*(pool empty|disabled|Cannot allocate)",
    # lockdep
    r"DEBUG_LOCKS_WARN",
    r"INFO: (possible|trying to register|inconsistent) ",
    r"possible (circular|recursive|irq) lock",
    r"inconsistent lock state",
    r"suspicious RCU",
    r"lock held (when|at)|still held|held lock freed|still has|bad unlock balance",
    r"memory used for lock",
    r"sleeping function called",
    r"scheduling while atomic",
    # stalls
    r"INFO: (task|rcu)",
    r"blocked for more than",
    r"rcu.*\bstall|detected stall|self-detected",
    r"soft lockup|hard LOCKUP|watchdog:.*lockup|workqueue lockup",
    r"WQ_MEM_RECLAIM",
    # modules that do not fit
    r"disagrees about version|Unknown symbol|module verification failed",
    # from the agent of a machine
    r"kernel messages lost",
]))

RACE = re.compile(r"\bBUG: KCSAN:")
OURS = re.compile(r"\[smc(_diag)?\]")
RULE = "=" * 60


def race_of_others(lines):
    """The length of the report that LINES begin with, if none of our functions races in it.

    The first line names the functions that race. Ours may be below them in a stack that an
    interrupt extends, or TCP. 0 for all else, a report without an end among them.
    """
    if not RACE.search(lines[0]) or OURS.search(lines[0]):
        return 0
    for i, line in enumerate(lines):
        if RULE in line:
            return i + 1
    return 0
