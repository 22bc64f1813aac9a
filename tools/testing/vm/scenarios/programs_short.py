# SPDX-License-Identifier: GPL-2.0
"""A choice of programs and python_suites: test_socket over RDMA; nginx, wrk, curl.

covers: GEN-01 API-01 API-03
"""
import os
import sys

from smcvm import kernel

sys.path.insert(1, os.path.join(kernel.TOP, "tools/testing/programs"))
import compare  # noqa: E402
import work  # noqa: E402
from rows import ROWS  # noqa: E402

kernels = ("stock",)
dialects = (0,)
timeout = 240


def run(t):
    compare.run(t, {"b": ["test_socket"]}, ("tcp", "same_host"))
    work.run_rows(t, [r for r in ROWS if r.name in ("nginx, wrk", "nginx, curl")], 1, 1)
