# SPDX-License-Identifier: GPL-2.0
"""Plots of the bench, as text of SVG."""
import math
import re
import textwrap
from html import escape

WIDTH, HEIGHT = 800, 400
LEFT, RIGHT, TOP, BOTTOM = 70, 110, 44, 56
INNER_W, INNER_H = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM
# colours that colour-blind readers can tell apart
COLOURS = {"tcp": "#777777", "ours": "#0072b2", "stock": "#d55e00", "rsockets": "#009e73",
           "verbs": "#cc79a7", "verbs-imm": "#b58900",
           "memory": "#0072b2", "unix": "#56b4e9", "pipe": "#d55e00"}
STYLE = ("text{font:12px sans-serif;fill:#222}.title{font-size:15px;font-weight:bold}"
         ".grid{stroke:#ddd}.axis{stroke:#555}")


def label(value):
    """A number as short as an axis wants it."""
    for unit, size in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value:.3g}"


def size_label(size):
    """Bytes with a binary unit."""
    for unit, factor in (("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size >= factor:
            return f"{size // factor} {unit}"
    return f"{size} B"


def text(x, y, words, anchor="middle", more=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{more}>{escape(words)}</text>'


def line(x1, y1, x2, y2, kind):
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="{kind}"/>'


def page(title, y_name, body):
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" '
        f'viewBox="0 0 {WIDTH} {HEIGHT}">', f"<style>{STYLE}</style>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        text(LEFT, 22, title, "start", ' class="title"'),
        text(LEFT, 38, y_name, "start"), *body, "</svg>", ""])


def legend(names):
    """The names at the right edge, each with its colour."""
    x = WIDTH - RIGHT + 14
    for i, name in enumerate(names):
        y = TOP + 12 + 18 * i
        yield f'<rect x="{x}" y="{y - 9}" width="10" height="10" fill="{COLOURS[name]}"/>'
        yield text(x + 16, y, name, "start")


def frame():
    yield line(LEFT, TOP, LEFT, TOP + INNER_H, "axis")
    yield line(LEFT, TOP + INNER_H, LEFT + INNER_W, TOP + INNER_H, "axis")


def grid(ticks, at_y):
    for tick in ticks:
        yield line(LEFT, at_y(tick), LEFT + INNER_W, at_y(tick), "grid")
        yield text(LEFT - 8, at_y(tick) + 4, label(tick), "end")


def decades(low, high):
    """Ticks at powers of ten, with steps between them where there are few."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    steps = (1,) if last - first > 3 else (1, 2, 5)
    ticks = [s * 10.0 ** e for e in range(first, last + 1) for s in steps]
    start = max(i for i, t in enumerate(ticks) if t <= low)
    end = min(i for i, t in enumerate(ticks) if t >= high)
    return ticks[start:max(end, start + 1) + 1]


def curves(title, x_name, y_name, x_labels, series):
    """Curves on logarithmic axes: {name: {x: y}}, and the labels of all x as {x: label}."""
    values = [y for points in series.values() for y in points.values()]
    ticks = decades(min(values), max(values))
    low, high = math.log(ticks[0]), math.log(ticks[-1])
    xs = sorted(x_labels)
    span = math.log(xs[-1] / xs[0]) or 1

    def at_x(x):
        return LEFT + 16 + math.log(x / xs[0]) / span * (INNER_W - 32)

    def at_y(y):
        return TOP + 6 + (high - math.log(y)) / (high - low) * (INNER_H - 6)

    body = [*grid(ticks, at_y), *frame()]
    body += [text(at_x(x), TOP + INNER_H + 18, x_labels[x]) for x in xs]
    body.append(text(LEFT + INNER_W / 2, HEIGHT - 12, x_name))
    for name, points in series.items():
        path = " ".join(f"{at_x(x):.1f},{at_y(y):.1f}" for x, y in sorted(points.items()))
        body.append(f'<polyline points="{path}" fill="none" stroke="{COLOURS[name]}" '
                    'stroke-width="2"/>')
        body += [f'<circle cx="{at_x(x):.1f}" cy="{at_y(y):.1f}" r="3" fill="{COLOURS[name]}"/>'
                 for x, y in points.items()]
    return page(title, y_name, [*body, *legend(series)])


def steps(high):
    """About five ticks from zero to HIGH or above."""
    rough = high / 5
    size = 10.0 ** math.floor(math.log10(rough))
    step = next(s * size for s in (1, 2, 5, 10) if s * size >= rough)
    return [step * i for i in range(math.ceil(high / step - 1e-9) + 1)]


def wrapped(words, width):
    """Lines of a label; a number stays with its unit."""
    joined = re.sub(r"(\d) ", "\\1\xa0", words)
    return textwrap.wrap(joined, max(1, int(width / 7)), break_long_words=False)


def bars(title, y_name, groups, is_log=False):
    """Groups of bars, each {name: value}, by the label of the group."""
    names = [n for n in COLOURS if any(n in group for group in groups.values())]
    values = [v for group in groups.values() for v in group.values()]
    ticks = decades(min(values), max(values)) if is_log else steps(max(values))
    scale = math.log if is_log else float
    low, high = scale(ticks[0]), scale(ticks[-1])
    width = INNER_W / len(groups)
    one = width * 0.8 / len(names)

    def at_y(y):
        return TOP + 6 + (high - scale(y)) / (high - low) * (INNER_H - 6)

    body = list(grid(ticks, at_y))
    for i, (group, mine) in enumerate(groups.items()):
        for k, name in enumerate(names):
            if name in mine:
                x, y = LEFT + width * (i + 0.1) + one * k, at_y(mine[name])
                body.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{one - 1:.1f}" '
                            f'height="{TOP + INNER_H - y:.1f}" fill="{COLOURS[name]}"/>')
        for row, words in enumerate(wrapped(group, width)):
            body.append(text(LEFT + width * (i + 0.5), TOP + INNER_H + 17 + 14 * row, words))
    return page(title, y_name, [*body, *frame(), *legend(names)])
