#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Judge a run of the suites by the records of init and by the kernel log.

The results are KTAP from KUnit's debugfs files, one document per suite, between
marks that init writes. A result that is missing, out of order or not "ok" is a
failure. So is a line on the console that a healthy kernel does not print.
The exit status is 0 only for a run without failures in which at least one case
passed.

A program of user space (native/) prints the same records. It has no module and no leak
scan. Its console is its standard error, which must stay empty.

The KUnit of Linux 6.1 keeps only the last parameter of a case, with its number.
The result of the case counts all parameters there, too.
"""

import argparse
import bisect
import os
import re
import sys

TESTING = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
sys.path.insert(0, os.path.join(TESTING, "vm"))

from smcvm.splats import SPLAT  # noqa: E402

MARK = "SMC-KUNIT "

# The marks that a whole run has, and what is wrong without them.
MACHINE = {
    "begin": "the machine never came up",
    "loaded": "the module was not loaded",
    "unloaded": "the module was not unloaded",
    "leaks-watched": "kmemleak does not work",
    "leaks-end": "no leak scan",
    "console-end": "no kernel log",
    "end": "no end mark",
}
PROGRAM = {
    "begin": "the program never began",
    "end": "no end mark",
}

# A splat by its words only. The lines of the boot are searched, too.
HARMLESS = re.compile(r"use-after-free debug is enabled")

# The number of lines that are shown of a failed case.
MAX_NOTES = 12

RESULT = re.compile(r"(not ok|ok) (\d+) ?-? ?(.*?)(?: # (\w+).*)?$")
NOISE = re.compile(r"KTAP version|# Subtest:|# module:")
BARE = re.compile(r"(?<=    )0xffffffff[0-9a-f]{8}$")
PLAN = re.compile(r"1\.\.(\d+)$")


def find_splats(lines):
    """Return the lines that no healthy kernel prints."""
    return [line.rstrip() for line in lines
            if SPLAT.search(line) and not HARMLESS.search(line)]


class Level:
    """One level of a KTAP document: its plan and the results seen so far."""

    def __init__(self):
        self.plan = None
        self.seen = 0


class Suite:
    """Parse one suite's document into cases and errors."""

    def __init__(self, name, last_parameter=False):
        self.name = name
        self.last_parameter = last_parameter
        self.passed = []
        self.failed = []
        self.skipped = []
        self.errors = []
        self.levels = []
        self.notes = []
        self.closed = False

    def error(self, text):
        self.errors.append(f"{self.name}: {text}")

    def level(self, depth):
        """Return the level at this depth."""
        while len(self.levels) <= depth:
            self.levels.append(Level())
        return self.levels[depth]

    def finish_below(self, depth):
        """Check and drop the levels deeper than depth."""
        while len(self.levels) > depth + 1:
            deep = self.levels.pop()
            # the parameters of a case have no plan
            if deep.plan is None and len(self.levels) < 2:
                self.error("no plan")
            if deep.plan is not None and deep.plan != deep.seen:
                self.error(f"plan of {deep.plan}, {deep.seen} results")

    def feed(self, line):
        text = line.lstrip(" ")
        depth = (len(line) - len(text)) // 4
        match = PLAN.match(text)
        if match:
            self.level(depth).plan = int(match.group(1))
            return
        match = RESULT.match(text)
        if match:
            self.result(depth, *match.groups())
            return
        if text and not NOISE.match(text):
            self.notes.append(text)

    def result(self, depth, word, number, name, directive):
        self.finish_below(depth)
        level = self.level(depth)
        level.seen += 1
        if depth == 2 and self.last_parameter and level.seen == 1:
            level.seen = int(number)
        if int(number) != level.seen:
            self.error(f"result {number} where {level.seen} was due")
        if depth == 0:
            self.closed = True
            if word != "ok":
                self.error("not ok")
        elif depth == 1:
            self.case(word, name, directive)
        elif word != "ok":
            self.notes.append(f"# parameter: {name}")

    def case(self, word, name, directive):
        if directive == "SKIP":
            self.skipped.append(name)
        elif word == "ok":
            self.passed.append(name)
        else:
            self.failed.append((name, self.notes))
        self.notes = []

    def finish(self):
        self.finish_below(-1)
        if not self.closed:
            self.error("no result of the suite")
        if not self.passed and not self.failed:
            self.error("no case was run")
        for name in self.skipped:
            self.error(f"{name} was skipped")


class Run:
    """All records of init, split at its marks."""

    def __init__(self, last_parameter=False):
        self.last_parameter = last_parameter
        self.suites = []
        self.marks = set()
        self.leaks = []
        self.symbols = []
        self.log = []
        self.errors = []

    def parse(self, lines):
        sink = None
        for raw in lines:
            line = raw.rstrip("\r\n")
            if not line.startswith(MARK):
                if sink:
                    sink(line)
                continue
            sink = self.mark(line[len(MARK):])
        for suite in self.suites:
            suite.finish()

    def mark(self, words):
        """Handle a mark; return the function for the lines after it."""
        word, _, rest = words.partition(" ")
        self.marks.add(word)
        if word == "suite":
            suite = Suite(rest, self.last_parameter)
            self.suites.append(suite)
            return suite.feed
        if word == "leaks":
            return self.leaks.append
        if word == "symbols":
            return self.symbol
        if word == "console":
            return self.log.append
        return None

    def symbol(self, line):
        """Store a line of /proc/kallsyms."""
        words = line.split()
        if len(words) >= 3:
            bisect.insort(self.symbols, (int(words[0], 16), words[2]))

    def named(self, line):
        """Name a bare address in a backtrace of the module."""
        match = BARE.search(line)
        if not match or not self.symbols:
            return line
        address = int(match.group(0), 16)
        at = bisect.bisect(self.symbols, (address, "~")) - 1
        if at < 0:
            return line
        start, name = self.symbols[at]
        return BARE.sub(f"{name}+{address - start:#x} [smc_kunit]", line)

    def judge(self, console, wanted=MACHINE):
        for word, text in wanted.items():
            if word not in self.marks:
                self.errors.append(text)
        for suite in self.suites:
            self.errors += suite.errors
        if not self.suites:
            self.errors.append("no suite was run")
        if wanted is PROGRAM:
            self.errors += [f"stderr: {line.rstrip()}" for line in console]
            return
        splats = find_splats(console)
        splats += [s for s in find_splats(self.log) if s not in splats]
        self.errors += [f"kernel: {line}" for line in splats]
        self.errors += [f"leak: {self.named(line)}"
                        for line in self.leaks if line.strip()]


def show(suite, verbose):
    total = len(suite.passed) + len(suite.failed) + len(suite.skipped)
    state = "not ok" if suite.failed or suite.errors else "ok"
    print(f"{state} {suite.name}: {len(suite.passed)} of {total} cases passed")
    if verbose:
        for name in suite.passed:
            print(f"    ok {name}")
    for name, notes in suite.failed:
        print(f"    not ok {name}")
        for note in notes[:MAX_NOTES]:
            print(f"        {note}")
        if len(notes) > MAX_NOTES:
            print(f"        ... {len(notes) - MAX_NOTES} lines more")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-v", "--verbose", action="store_true",
                        help="print the cases that passed, too")
    parser.add_argument("--filtered", action="store_true",
                        help="suites without a case are those filtered out")
    parser.add_argument("--last-parameter", action="store_true",
                        help="KUnit keeps the last parameter of a case only")
    parser.add_argument("--program", action="store_true",
                        help="of a program, not of a machine")
    parser.add_argument("results")
    parser.add_argument("console")
    args = parser.parse_args()

    run = Run(args.last_parameter)
    with open(args.results, encoding="utf-8", errors="replace") as file:
        run.parse(file)
    with open(args.console, encoding="utf-8", errors="replace") as file:
        console = file.readlines()
    if args.filtered:
        run.suites = [s for s in run.suites
                      if s.passed or s.failed or s.skipped]
    run.judge(console, PROGRAM if args.program else MACHINE)

    for suite in run.suites:
        show(suite, args.verbose)
    for text in run.errors:
        print(f"kunit: {text}")
    passed = sum(len(suite.passed) for suite in run.suites)
    failed = sum(len(suite.failed) for suite in run.suites)
    print(f"kunit: {passed} passed, {failed} failed, "
          f"{len(run.errors)} other errors")
    return 0 if passed and not failed and not run.errors else 1


if __name__ == "__main__":
    sys.exit(main())
