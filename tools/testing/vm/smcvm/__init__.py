# SPDX-License-Identifier: GPL-2.0
"""Tests on two machines: kernels, relay, machines, scenarios."""
