# SPDX-License-Identifier: GPL-2.0
"""The two-machine bench: kernels, relay, machines, scenarios."""
