# SPDX-License-Identifier: GPL-2.0
"""Numbers and tables of the bench as text."""
import math


def text(value, precision):
    return "-" if value is None else f"{value:.{precision}f}"


def digits(value):
    """Decimal places that leave three significant digits, four places at most."""
    return min(4, max(0, 2 - math.floor(math.log10(value)))) if value else 0


def markdown(head, rows):
    """A table of Markdown, with numbers to the right."""
    cells = [[c if isinstance(c, str) else text(c, digits(c)) for c in row] for row in rows]
    marks = ["---" if isinstance(c, str) else "--:" for c in rows[0]]
    return ["| " + " | ".join(line) + " |" for line in (head, marks, *cells)]


def in_columns(lines, left):
    """The lines of a table as text; the first LEFT columns are flush left."""
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    return "\n".join("  ".join(
        f"{cell:<{w}}" if i < left else f"{cell:>{w}}"
        for i, (cell, w) in enumerate(zip(line, widths))) for line in lines)
