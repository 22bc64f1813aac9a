# SPDX-License-Identifier: GPL-2.0
"""Tests on several sides, and their results as tables, plots and files."""
import json
import os
import re
import statistics
import sys

import guard
import insns
import plots
import table
from plots import size_label
from report import digits, in_columns, markdown, text
from smcvm.kernel import BenchError
from smcvm.machine import Died, Failed
from tests import DETAILED, SCALES, SIZES, Count, Versus

HERE = os.path.dirname(os.path.realpath(__file__))
OWN = object()          # --least without a number
COUNTS = os.path.join(HERE, "counts.json")
ATTEMPTS = 12           # to get as low again; a stream does in two of three
MARK = "<!-- table: written by tools/bench/bench{} --doc -->"


def named_tables(lines):
    """The tables in LINES by the bold name above each; that of the first is empty."""
    found, name = {}, ""
    for line in lines:
        if line.startswith("**"):
            name = line.strip("*")
        elif line.startswith("|"):
            found.setdefault(name, []).append(line)
    return found


class Runs:
    """The tests of one kind, on the sides that the command line selects.

    A subclass has the machines: it loads the module of a side and runs a test.
    """

    machines = {}       # the names of the pair's machines in tables
    modules = ()        # the sides with a module
    own = ""            # the side of this module
    guards = {}         # machines and counts of each test that --check compares
    detailed = DETAILED  # tests with a table of all events
    shows_least = False  # also without --least
    options = ""        # of the command, in the marks of its tables
    name = ""           # of the files
    suffix = ""         # of the names of the other plots

    def __init__(self, pair, args, known):
        self.pair = pair
        self.args = args
        self.tests = [t for t in known if re.search(args.only, t.name)]
        if args.least is not None and not any(map(self.has_least, self.tests)):
            raise BenchError("--least: none of the tests has a least rate")
        # values[test name][side] = one value for each round, None where it failed
        self.values = {t.name: {s: [] for s in {"tcp", *args.sides}} for t in self.tests}
        self.wrong = []
        self.symbols = {}

    def load(self, side):
        """Load the module of a side."""
        raise NotImplementedError

    def measure(self, test, side):
        """One result of one test; raises if the result is invalid."""
        raise NotImplementedError

    def has_least(self, test):
        """True if --least applies to the test."""
        raise NotImplementedError

    def read_symbols(self):
        """Read the addresses of all functions; they change when a module is loaded."""
        for name in self.machines if self.args.count or self.args.functions else ():
            found = self.pair.vms[name].run("cat /proc/kallsyms").out
            self.symbols[name] = insns.Symbols(found)

    def snapshots(self):
        """What the machines have executed so far."""
        return {name: insns.snapshot(self.pair.vms[name].insns) for name in self.machines}

    def run_count(self, test, side, client):
        client.expect_out(rf"^{test.n}$")
        before = self.snapshots()
        client.write("\n")
        client.expect_out(rf"^{2 * test.n}$")
        after = self.snapshots()
        client.close_stdin()
        client.wait()
        counts = {name: insns.Counts(before[name], after[name]) for name in after}
        events = {self.machines[name]: insns.events(c, self.symbols[name], test.n)
                  for name, c in counts.items()}
        test.events.setdefault(side, []).append(events)
        self.print_functions(test, side, counts, test.n)
        return sum(e[insns.INSNS] for e in events.values())

    def print_functions(self, test, side, counts, n):
        for name, c in counts.items() if self.args.functions else ():
            print(f"--- {test.name}, {side}, {self.machines[name]}: instructions and calls for one")
            print("\n".join(insns.top(c, self.symbols[name], n, self.args.functions)))

    def cpu_seconds(self):
        """CPU seconds of the machines on the host, which do not grow with its load."""
        ticks = 0
        for name in self.machines:
            with open(f"/proc/{self.pair.vms[name].qemu.pid}/stat", encoding="ascii") as file:
                ticks += sum(map(int, file.read().rpartition(")")[2].split()[11:13]))
        return ticks / os.sysconf("SC_CLK_TCK")

    def used(self):
        """The bytes of memory that machine A cannot reclaim.

        Measured when the value is stable, because some memory is freed later.
        """
        last, now = 0, self.used_now()
        for _ in range(20):
            if abs(now - last) < 65536:
                break
            last, now = now, self.used_now()
        return now

    def used_now(self):
        out = self.pair.a.run("echo 3 > /proc/sys/vm/drop_caches; "
                              "cat /proc/meminfo /proc/zoneinfo").out
        kib = dict(re.findall(r"^(\w+): +(\d+)", out, re.M))
        # free pages that a CPU keeps, not counted in MemFree: megabytes
        kept = sum(map(int, re.findall(r"^ +count: +(\d+)$", out, re.M)))
        return 1024 * (int(kib["MemTotal"]) - sum(int(kib[name]) for name in
                                                  ("MemFree", "Buffers", "Cached"))) - 4096 * kept

    def play(self):
        for _ in range(self.args.rounds):
            for side in self.args.sides:
                self.load(side)
                for test in self.tests:
                    if test.runs_on(side):
                        self.try_one(test, side)
                self.end_side()

    def end_side(self):
        """End what load() has started."""

    def try_one(self, test, side):
        value = None
        try:
            value = self.measure(test, side)
        except Died:
            raise
        except (Failed, ValueError, KeyError, IndexError) as error:
            self.wrong.append(f"{test.name} with {side}: {error}")
            print(self.wrong[-1], file=sys.stderr, flush=True)
            for vm in self.pair.vms.values():
                vm.kill_leftovers()
        self.values[test.name][side].append(value)

    def middle(self, test, side):
        values = [v for v in self.values[test.name][side] if v is not None]
        if not values:
            return None
        return min(values) if isinstance(test, Count) else statistics.median(values)

    def ratio(self, test, side):
        if isinstance(test, Versus) and test.ratios.get(side):
            return statistics.median(test.ratios[side])
        mine, tcp = self.middle(test, side), self.middle(test, "tcp")
        if not mine or not tcp:
            return None
        return mine / tcp if test.is_rate else tcp / mine

    def least(self, test):
        """The share of TCP's rate that a test must reach, or None."""
        if not self.has_least(test) or self.args.least is None and not self.shows_least:
            return None
        return test.least if self.args.least in (OWN, None) else self.args.least

    def too_slow(self):
        """Tests of this module that do not reach --least."""
        found = []
        for test in filter(self.has_least, self.tests):
            ratio, least = self.ratio(test, self.own), self.least(test)
            if least is not None and (ratio is None or ratio < least):
                found.append(f"{test.name}: {text(ratio, 3)} of TCP's rate, "
                             f"want {least:.2f}")
        return found

    def table(self):
        others = [s for s in self.args.sides if s != "tcp"]
        head = ["test", "unit"] + list(self.args.sides) + [f"{s}:tcp" for s in others]
        pair = {"ours", "stock"} <= set(others)
        if pair:
            head.append("ours:stock")
        shows_least = self.args.least is not None or self.shows_least
        if shows_least:
            head.append("least")
        lines = [head]
        for t in self.tests:
            ratios = [self.ratio(t, s) for s in others]
            if pair:
                mine, stock = self.ratio(t, "ours"), self.ratio(t, "stock")
                ratios.append(mine / stock if mine and stock else None)
            if shows_least:
                ratios.append(self.least(t))
            lines.append([t.name, t.unit]
                         + [text(self.middle(t, s), 0) for s in self.args.sides]
                         + [text(r, 2) for r in ratios])
        return in_columns(lines, 2)

    def event_table(self):
        """Events of one operation, for each test, side and machine."""
        lines = [["test", "side", "machine", *insns.COLUMNS]]
        for t in self.counted():
            for side in filter(t.runs_on, self.args.sides):
                for machine in self.machines.values():
                    values = [t.event(side, machine, name) for name in insns.COLUMNS]
                    lines.append([t.name, side, machine,
                                  *(text(v, digits(v)) for v in values)])
        return in_columns(lines, 3)

    def counted(self):
        return [t for t in self.tests if isinstance(t, Count)]

    def is_complete(self):
        return all(v is not None for t in self.counted() for s in self.args.sides
                   for v in self.values[t.name][s])

    def document(self, path):
        """Write the counts of each operation into the file PATH; those of other tests stay."""
        mark = MARK.format(self.options)
        old = named_tables(table.between(path, mark))
        rows = {table.cells(x): x for x in old.pop("", ())}
        is_partial = len(rows) > len(self.summary())
        rows.update({table.cells(x): x for x in self.summary()})
        old.update({t.name: self.details(t) for t in self.counted() if t.name in self.detailed})
        lines = [*([table.OLDER, ""] if is_partial else ()), *rows.values()]
        for name, details in old.items():
            lines += ["", f"**{name}**", "", *details]
        table.replace(path, mark, lines, self.pair)

    def summary(self):
        """Instructions of each operation on each machine, as a table of Markdown."""
        columns = [(s, name) for s in self.args.sides for name in (insns.INSNS, insns.MODULE)
                   if name == insns.INSNS or s in self.modules]
        rows = [[t.name, m, *(t.event(s, m, name) for s, name in columns)]
                for t in self.counted() for m in self.machines.values()]
        return markdown(["Instructions for one", "machine",
                         *(s if name == insns.INSNS else name for s, name in columns)], rows)

    def details(self, test):
        """The events of a test on both machines, as a table of Markdown."""
        columns = [(m, s) for m in self.machines.values()
                   for s in filter(test.runs_on, self.args.sides)]
        rows = [[name, *(test.event(s, m, name) for m, s in columns)] for name in insns.COLUMNS]
        return markdown(["For one", *(f"{m}, {s}" for m, s in columns)],
                        [row for row in rows if any(v is not None for v in row[1:])])

    def plot(self):
        """The plots that the tests allow, as {name of a file: SVG}."""
        out = {}
        for name, title, grows, points in SCALES if self.args.count else ():
            series = {side: self.curve(side, points) for side in self.args.sides}
            series = {side: curve for side, curve in series.items() if len(curve) > 1}
            if series:
                labels = {x: size_label(x) if x in SIZES and "bytes" in grows else str(x)
                          for x in points}
                out[name] = plots.curves(title, grows, "instructions of both machines for one",
                                         labels, series)
        return {f"{name}.svg": svg for name, svg in {**out, **self.plot_bars()}.items()}

    def curve(self, side, points):
        """The instructions of the tests in POINTS that have run on SIDE."""
        tests = {t.name: t for t in self.tests}
        values = {x: self.middle(tests[name], side) for x, name in points.items() if name in tests}
        return {x: value for x, value in values.items() if value}

    def plot_bars(self):
        """Rates beside TCP's, or the instructions of this protocol's modules."""
        if not self.args.count:
            groups = {t.name: {s: self.ratio(t, s) for s in self.args.sides if s != "tcp"}
                      for t in self.tests if not t.is_fallback() and t.unit != "bytes"}
            return self.bars(self.name, "Rates", "as multiples of TCP's", groups)
        groups = {t.name: {s: self.of_module(t, s) for s in self.modules}
                  for t in self.counted() if t.name in self.detailed}
        return self.bars("module" + self.suffix, "The module's own instructions",
                         "of both machines for one, logarithmic", groups, True)

    @staticmethod
    def bars(name, title, y_name, groups, is_log=False):
        groups = {g: {s: v for s, v in values.items() if v} for g, values in groups.items()}
        groups = {g: values for g, values in groups.items() if values}
        return {name: plots.bars(title, y_name, groups, is_log)} if groups else {}

    def of_module(self, test, side):
        values = [test.event(side, m, insns.MODULE) for m in self.machines.values()]
        return None if None in values else sum(values)

    def write(self, folder):
        """Write the tables, all values and the plots into a directory."""
        os.makedirs(folder, exist_ok=True)
        files = {f"{self.name}.txt": self.tables() + "\n",
                 f"{self.name}.json": json.dumps(self.as_json(), indent=1) + "\n",
                 **({} if self.args.rnic else self.plot())}
        for file, content in files.items():
            with open(os.path.join(folder, file), "w", encoding="utf-8") as out:
                out.write(content)
        print(f"{', '.join(files)} in {folder}")

    def tables(self):
        return self.table() + (f"\n\n{self.event_table()}\n" if self.args.count else "")

    def least_counts(self, test):
        """The least value of each guarded count, as {"count, machine": value}."""
        machines, names = self.guards[test.name]
        values = {f"{name}, {m}": test.rounds(self.own, m, name) for m in machines for name in names}
        return {key: round(min(v), 2) for key, v in values.items() if v}

    def guarded(self, compare, least):
        """What one of the comparisons of guard.py finds, for all tests."""
        return compare(least, {t.name: self.least_counts(t) for t in self.counted()})

    def check(self):
        """Count guarded operations, repeatedly if one seems worse; return how many are worse.

        Chance only adds to a count, for example the events of a peer that is late. A run that
        fails is repeated, too: a starved machine loses its link, and scenarios test the rest.
        """
        least = stored()
        self.load(self.own)
        worse = self.tests
        for _ in range(ATTEMPTS):
            for test in worse:
                self.try_one(test, self.own)
            worse = [t for t in self.tests
                     if guard.above(least, {t.name: self.least_counts(t)})]
        self.wrong = self.guarded(guard.above, least)
        for line in self.guarded(guard.below, least):
            print(f"{line}: better, write it by tools/bench/bench --store")
        return len(worse)


    def as_json(self):
        return {
            "kernel": self.pair.kernel.release, "vcpus": self.args.vcpus,
            "mtu": self.args.mtu, "rounds": self.args.rounds,
            "seconds": self.args.seconds, "accel": self.pair.accel,
            "tests": [{"name": t.name, "unit": t.unit, "higher_is_better": t.is_rate,
                       "values": self.values[t.name],
                       "events": getattr(t, "events", None),
                       "median": {s: self.middle(t, s) for s in self.args.sides},
                       "ratio_to_tcp": {s: self.ratio(t, s) for s in self.args.sides}}
                      for t in self.tests],
            "wrong": self.wrong,
        }


def stored():
    with open(COUNTS, encoding="ascii") as file:
        return json.load(file)


def store(all_runs):
    """Write the guarded counts of runs into COUNTS where they are less than ever before."""
    least, now = stored(), {}
    for runs in all_runs:
        now.update({t.name: runs.least_counts(t) for t in runs.counted()})
    for line in guard.above(least, {name: now[name] for name in now if name in least}):
        print(f"{line}: not written; to allow it is an edit of the file")
    with open(COUNTS, "w", encoding="ascii") as file:
        json.dump(guard.lowered(least, now), file, indent=1)
        file.write("\n")
