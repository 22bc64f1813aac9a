# SPDX-License-Identifier: GPL-2.0
"""Tests of other projects that pass on TCP pass on SMC: Python's, libuv's, Ruby's and others.

Each suite runs as plain TCP and then with SMC sockets, in the same machine and the same
boot; half of the suites run on A, half on B. SMC runs twice: with sockets that fall back,
because both ends are on one host, and, where the module can, with same-host SMC.
tools/testing/programs/suites.exceptions has the exceptions; one that passes is a failure.
Without --long a selection runs, in the last mode only, and all its tests must pass.

SMC_SUITES="NAME ..." in the environment runs these suites only; NAME:few of a suite of
tools/testing/programs/foreign.py is its short choice.

covers: API-01 API-03 GEN-01
"""
import os
import sys

from smcvm import kernel

sys.path.insert(1, os.path.join(kernel.TOP, "tools/testing/programs"))
import compare  # noqa: E402

kernels = ("stock",)
dialects = (0,)
timeout = 3600


def run(t):
    only = os.environ.get("SMC_SUITES", "").split()
    for vm in (t.a, t.b):
        # the suites switch it, each for its own run
        t.set(vm, memory=0)
    is_short = not only and not t.long
    suites = compare.SHORT if is_short else compare.SUITES
    compare.run(t, {vm: [n for n in only if n.partition(":")[0] in names] if only else names
                    for vm, names in suites.items()}, is_short)
