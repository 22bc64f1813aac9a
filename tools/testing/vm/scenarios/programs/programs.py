# SPDX-License-Identifier: GPL-2.0
"""Real programs work between the machines, as plain TCP and over SMC.

The scenario checks the work of each program, and that it used SMC-R. Without --long a
selection runs. SMC_ROWS="WORD ..." in the environment runs the rows with such a word in
their name, SMC_TABLE=FILE writes the table, SMC_SCP_MIB is the size of scp's copy,
SMC_SECONDS the duration of programs that measure.

covers: GEN-01 GEN-04 API-01 API-03 SEC-07
"""
import os
import sys

from smcvm import kernel

sys.path.insert(1, os.path.join(kernel.TOP, "tools/testing/programs"))
import table  # noqa: E402
import work  # noqa: E402
from rows import ROWS  # noqa: E402

kernels = ("stock",)
dialects = (0,)
timeout = 3600
cx16 = True     # haproxy
SHORT = ("nginx, wrk", "nginx, curl", "iperf3 -Z")


def chosen(t):
    words = os.environ.get("SMC_ROWS", "").split()
    if words:
        return [r for r in ROWS if any(w in r.name for w in words)]
    return ROWS if t.long else [r for r in ROWS if r.name in SHORT]


def run(t):
    lines = work.run_rows(t, chosen(t), int(os.environ.get("SMC_SCP_MIB", "32")),
                          int(os.environ.get("SMC_SECONDS", "3" if t.long else "1")))
    if os.environ.get("SMC_TABLE"):
        table.write(os.environ["SMC_TABLE"], lines, t)
