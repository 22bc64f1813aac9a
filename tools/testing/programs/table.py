# SPDX-License-Identifier: GPL-2.0
"""The table of Documentation/programs.md."""
BEGIN = "<!-- table: written by make programs -->"
END = "<!-- end of table -->"
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


def line(row, results, mode):
    smc, tcp = results.get(mode), results.get("tcp")
    ratio = ""
    if smc and tcp and smc[0] and tcp[0]:
        ratio = f"{smc[0] / tcp[0]:.2f}"
    what = row.what + ("; same-host SMC" if mode == "same_host" else "")
    if smc and smc[0] is not None and smc[2]:
        what += f" ({smc[2]})"
    return f"| {row.name} | {what} | {smc[3] if smc else ''} | {value(smc)} | " \
           f"{value(tcp)} | {ratio} |"


def write(path, lines, t):
    """Replace the table between the two marks of the file PATH."""
    with open(path, encoding="utf-8") as f:
        text = f.read()
    head, rest = text.split(BEGIN)
    _, tail = rest.split(END)
    with open(path, "w", encoding="utf-8") as f:
        f.write("\n".join([head + BEGIN, "", f"Kernel {t.pair.kernel.release}.", "", HEAD,
                           *lines, "", END]) + tail)
