#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Check that ktap.py reports every kind of defect in a run of the suites."""

import re
import unittest

import ktap
from smcvm.splats import race_of_others

GOOD = """\
SMC-KUNIT begin
SMC-KUNIT leaks-watched
SMC-KUNIT loaded
SMC-KUNIT suite smc_a
KTAP version 1
1..1
    KTAP version 1
    # Subtest: smc_a
    1..2
    ok 1 cdc_05_first
        KTAP version 1
        # Subtest: win_02_second
        ok 1 one
        ok 2 two
    ok 2 win_02_second
ok 1 smc_a
SMC-KUNIT suite-end
SMC-KUNIT unloaded
SMC-KUNIT leaks
SMC-KUNIT leaks-end
SMC-KUNIT console
[    1.0] smc_kunit: loading out-of-tree module taints kernel.
SMC-KUNIT console-end
SMC-KUNIT end
"""

CONSOLE = "[   24.7] reboot: Power down\n"


def judge(results, console=CONSOLE, **kw):
    run = ktap.Run(**kw)
    run.parse(results.splitlines(keepends=True))
    run.judge(console.splitlines(keepends=True))
    return run


def without(text):
    """The good run without the lines that contain a text."""
    return "".join(line for line in GOOD.splitlines(keepends=True)
                   if text not in line)


class Judge(unittest.TestCase):
    def test_last_parameter_only(self):
        last = without("ok 1 one")
        self.assertEqual(judge(last, last_parameter=True).errors, [])
        self.fails(last, "result 2 where 1 was due")
        twice = last.replace("ok 2 two\n", "ok 2 two\n        ok 4 four\n")
        self.assertNotEqual(judge(twice, last_parameter=True).errors, [])

    def passes(self, results, console=CONSOLE):
        run = judge(results, console)
        self.assertEqual(run.errors, [])
        self.assertEqual(run.suites[0].failed, [])

    def fails(self, results, words, console=CONSOLE):
        run = judge(results, console)
        said = run.errors + [name for suite in run.suites
                             for name, _ in suite.failed]
        self.assertTrue(any(words in text for text in said), said)

    def test_good_run(self):
        self.passes(GOOD)
        self.assertEqual(judge(GOOD).suites[0].passed,
                         ["cdc_05_first", "win_02_second"])

    def test_nothing_at_all(self):
        self.fails("", "the machine never came up")
        self.fails("", "no suite was run")

    def test_each_mark_is_needed(self):
        for mark in ("begin", "loaded", "unloaded", "leaks-watched",
                     "leaks-end", "console-end"):
            with self.subTest(mark):
                self.assertTrue(judge(without(f"SMC-KUNIT {mark}\n")).errors)
        self.fails(GOOD.replace("SMC-KUNIT end\n", ""), "no end mark")

    def test_program(self):
        """A program has two marks and leaves its standard error empty."""
        text = "".join(line for line in GOOD.splitlines(keepends=True)
                       if not re.match(r"SMC-KUNIT (loaded|unloaded|leaks)|.*console|\[", line))
        run = ktap.Run()
        run.parse(text.splitlines())
        run.judge([], ktap.PROGRAM)
        self.assertEqual(run.errors, [])
        for results, console, words in (
                (text.replace("SMC-KUNIT begin", ""), [], "the program never began"),
                (text.replace("SMC-KUNIT end", ""), [], "no end mark"),
                ("SMC-KUNIT begin\nSMC-KUNIT end\n", [], "no suite was run"),
                (text, ["a.c:1: runtime error: shift\n"], "stderr: a.c:1: runtime error")):
            with self.subTest(words):
                run = ktap.Run()
                run.parse(results.splitlines())
                run.judge(console, ktap.PROGRAM)
                self.assertIn(words, "\n".join(run.errors))

    def test_failed_case(self):
        self.fails(GOOD.replace("    ok 1 cdc", "    not ok 1 cdc"),
                   "cdc_05_first")

    def test_failed_suite(self):
        self.fails(GOOD.replace("\nok 1 smc_a", "\nnot ok 1 smc_a"), "not ok")

    def test_skipped_case(self):
        self.fails(GOOD.replace("05_first", "05_first # SKIP no"), "skipped")

    def test_missing_case(self):
        self.fails(without("ok 1 cdc_05"), "where 1 was due")
        self.fails(without("ok 2 win_02"), "plan of 2")

    def test_missing_plan(self):
        self.fails(without("1..2"), "no plan")
        self.fails(without("1..1"), "no plan")

    def test_cut_document(self):
        self.fails(GOOD.replace("\nok 1 smc_a", ""),
                   "no result of the suite")

    def test_suite_without_cases(self):
        lines = [line for line in GOOD.splitlines(keepends=True)
                 if not line.startswith("    ")]
        self.fails("".join(lines), "no case was run")

    def test_leak(self):
        self.fails(GOOD.replace("SMC-KUNIT leaks\n",
                                "SMC-KUNIT leaks\nunreferenced object\n"),
                   "leak: unreferenced object")

    def test_leak_is_named(self):
        text = GOOD.replace("SMC-KUNIT unloaded\n", """\
SMC-KUNIT symbols
ffffffffa0000100 t smc_f [smc_kunit]
ffffffffa0000200 t smc_g [smc_kunit]
SMC-KUNIT symbols-end
SMC-KUNIT unloaded
""").replace("SMC-KUNIT leaks\n",
             "SMC-KUNIT leaks\n    0xffffffffa0000126\n")
        self.fails(text, "leak:     smc_f+0x26 [smc_kunit]")

    def test_race_of_others(self):
        report = ["BUG: KCSAN: data-race in tcp_poll / tcp_rcv_established", "",
                  "read to 0xffff888006d8a018 of 4 bytes by task 411 on cpu 1:",
                  " tcp_poll+0x5c/0x3b0", "value changed: 0x00000001 -> 0x00000002", "=" * 66]
        self.assertEqual(race_of_others(report + ["next"]), len(report))
        self.assertEqual(race_of_others(report[:-1]), 0)
        self.assertEqual(race_of_others(["WARNING: CPU: 0"] + report[1:]), 0)
        below = report[:4] + [" smc_poll+0x1f/0x80 [smc]"] + report[4:]
        self.assertEqual(race_of_others(below), len(below))
        for ours in ("smc_poll [smc]", "smc_diag_dump [smc_diag]"):
            title = f"BUG: KCSAN: data-race in {ours} / tcp_poll"
            self.assertEqual(race_of_others([title] + report[1:]), 0)

    def test_splats(self):
        for text in (
                "WARNING: CPU: 0 PID: 83 at net/smc/proto/smc_ring.c:8 f+0x0/0x10",
                "WARNING: possible circular locking dependency detected",
                "WARNING: suspicious RCU usage",
                "BUG: KASAN: slab-out-of-bounds in f+0x33/0x50",
                "BUG: sleeping function called from invalid context",
                "BUG: scheduling while atomic: insmod/83",
                "kernel BUG at lib/list_debug.c:56!",
                "UBSAN: array-index-out-of-bounds in smc_ring.c:3:4",
                "refcount_t: underflow; use-after-free.",
                "BUG smc_sock (Not tainted): Right Redzone overwritten",
                "BUG: Bad page state in process insmod  pfn:01234",
                "proc_dir_entry 'net/smc_stats' already registered",
                "DEBUG_LOCKS_WARN_ON(lock->magic != lock)",
                "list_add corruption. prev->next should be next",
                "ODEBUG: free active (active state 0) object",
                "INFO: task kworker/0:1 blocked for more than 61 seconds.",
                "watchdog: BUG: soft lockup - CPU#0 stuck for 22s!",
                "rcu: INFO: rcu_preempt self-detected stall on CPU",
                "Oops: general protection fault, probably for address",
                "Kernel panic - not syncing: Attempted to kill init!",
                "kmemleak: 1 new suspected memory leaks",
                "smc_kunit: Unknown symbol ib_modify_qp (err -2)"):
            with self.subTest(text):
                self.fails(GOOD, text, CONSOLE + f"[   12.0] {text}\n")
                self.fails(GOOD.replace("[    1.0]", f"[ 0.9] {text}\n[ 1.0]"),
                           text)

    def test_harmless_lines(self):
        for text in ("Lock dependency validator: Copyright (c) 2006 Red Hat",
                     "kmemleak: Kernel memory leak detector initialized "
                     "(mem pool available: 31191)",
                     "debug: WQ_WATCHDOG enabled",
                     "rcu: Preemptible hierarchical RCU implementation.",
                     "rcu: RCU callback double-/use-after-free debug is enabled."):
            with self.subTest(text):
                self.passes(GOOD, f"[ 0.1] {text}\n{CONSOLE}")


if __name__ == "__main__":
    unittest.main()
