#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Writes the table of Documentation/programs.md, and other tables of measurements.

As a program: prints where its rows differ from rows.py; exit status 1 if they do.
"""
import os
import subprocess
import sys

TOP = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.dirname(os.path.abspath(__file__)))))
PROGRAMS = os.path.join(TOP, "Documentation/programs.md")
BEGIN = "<!-- table: written by make programs -->"
END = "<!-- end of table -->"
OLDER = "Rows that did not run then are older."
HEAD = """| Program | What it does | Transport used | SMC | TCP | SMC : TCP |
|---|---|---|--:|--:|--:|"""


def value(result):
    if result is None:
        return "failed"
    rate, unit, words, _ = result
    if rate is None:
        return words
    number = f"{rate:.0f}" if rate >= 100 else f"{rate:.1f}"
    return f"{number} {unit}"


def task(row, mode):
    return row.what + ("; same-host SMC" if mode == "memory" else "")


def line(row, results, mode):
    smc, tcp = results.get(mode), results.get("tcp")
    ratio = ""
    if smc and tcp and smc[0] and tcp[0]:
        ratio = f"{smc[0] / tcp[0]:.2f}"
    what = task(row, mode)
    if smc and smc[0] is not None and smc[2]:
        what += f" ({smc[2]})"
    return f"| {row.name} | {what} | {smc[3] if smc else ''} | {value(smc)} | " \
           f"{value(tcp)} | {ratio} |"


def write(path, lines, t):
    """Write LINES into the table of the programs in the file PATH; other rows stay."""
    new = {cells(x): x for x in lines}
    old = {cells(x): x for x in lines_of(path)}
    found = [next((x for rows in (new, old) for key, x in rows.items() if is_row(key, want)), None)
             for want in wanted()]
    lines = [HEAD, *filter(None, found)]
    if len(new) < len(lines) - 1:
        lines += ["", OLDER]
    replace(path, BEGIN, lines, t.pair)


def replace(path, begin, lines, pair):
    """Replace the lines between the mark BEGIN and the next END of the file PATH."""
    with open(path, encoding="utf-8") as f:
        text = f.read()
    head, rest = text.split(begin)
    _, tail = rest.split(END, 1)
    # before the write makes the tree differ from the commit
    where = origin(pair)
    with open(path, "w", encoding="utf-8") as f:
        f.write("\n".join([head + begin, "", where, "", *lines, "", END]) + tail)


def origin(pair):
    """The version of the source, and the machine that it ran on."""
    git = subprocess.run(["git", "-C", TOP, "describe", "--always", "--dirty", "--exclude=*"],
                         stdout=subprocess.PIPE, text=True, check=False)
    return f"Made of commit {git.stdout.strip() or 'unknown'}; kernel {pair.kernel.release}, " \
           f"QEMU with {pair.accel}."


def cells(row):
    """The name of a row of the table, and what it does."""
    return tuple(cell.strip() for cell in row.strip("|").split("|")[:2])


def between(path, begin):
    """The lines between the mark BEGIN and the next END of the file PATH."""
    with open(path, encoding="utf-8") as f:
        return f.read().split(begin)[1].split(END)[0].splitlines()


def lines_of(path):
    """The rows between the marks of the file PATH, without their head."""
    return [x for x in between(path, BEGIN) if x.startswith("|")][2:]


def wanted():
    """The rows of rows.py: (name, what it does)."""
    sys.dont_write_bytecode = True
    from rows import ROWS

    return [(row.name, task(row, mode)) for row in ROWS
            for mode in ("smc", "memory")[:1 + (row.fallen is None)]]


def is_row(got, want):
    """Words of the run may follow a task, in parentheses."""
    return got[0] == want[0] and (got[1] == want[1] or got[1].startswith(want[1] + " ("))


def check(path):
    """Check the rows of the table in the file PATH; return texts of the errors."""
    want = wanted()
    got = [cells(x) for x in lines_of(path)]
    wrong = [f"{w[0]}: {w[1]}: the table has {g[0]}: {g[1]}" for w, g in zip(want, got)
             if not is_row(g, w)]
    if len(want) != len(got):
        wrong.append(f"{len(got)} rows in the table, {len(want)} in rows.py")
    return wrong


if __name__ == "__main__":
    found = check(PROGRAMS)
    print("\n".join(found))
    sys.exit(bool(found))
