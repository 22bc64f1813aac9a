# SPDX-License-Identifier: GPL-2.0
"""nginx, wrk and curl run unmodified with the distribution's module at the other end.

There are connections kept alive, connections for each request, and a big file, in both
roles. The other module registers, announces and deletes an RMB for every connection.

covers: GEN-01 GEN-04 API-01 RKEY-04
"""
import os
import sys

from smcvm import kernel
from smcvm.machine import Failed

sys.path.insert(1, os.path.join(kernel.TOP, "tools/testing/programs"))
import rows  # noqa: E402
import work  # noqa: E402

kernels = ("stock",)
dialects = (0,)
sides = ("ours", "stock")
timeout = 120
PORT = 8080
# what it is, how, and the least number of connections
ROWS = (("keep-alive", rows.nginx_keepalive, 8),
        ("close", rows.nginx_close, 20),
        ("big file", rows.nginx_curl, 1))


def counts(t, ours):
    return {n: t.stat(ours, n) for n in ("client_smc", "server_smc", "client_tcp", "server_tcp",
                                         "client_failed", "server_failed", "link_down")}


def one(t, ours, files, name, func, conns):
    """A row of `programs`; our module has counted only SMC-R in the role it had."""
    role = "server" if ours is t.a else "client"
    before = counts(t, ours)
    t.rdma_start()
    w = work.Work(t, files, 2, "smc")
    try:
        rate, unit, _ = func(w)
    except (AssertionError, Failed) as e:
        raise Failed(f"{name}: {e}\n{work.state(t, w)}") from None
    finally:
        w.stop()
    grown = {n: now - before[n] for n, now in counts(t, ours).items()}
    made = grown.pop(f"{role}_smc")
    t.check(made >= conns, f"{name}: {made} connections over SMC-R, want {conns}")
    t.check(not any(grown.values()), f"{name}: {grown}")
    if name == "big file":
        t.carried(t.a, files.sizes["big"])
    else:
        # each answer is two packets at least
        t.carried(t.a, 20 * files.sizes["10k"])
    for vm in (t.a, t.b):
        t.no_sockets(vm, PORT)
    t.note(f"{name} {rate:.0f} {unit}")


def run(t):
    files = work.Files(t, 1, 60)
    for sides_now in (("ours", "stock"), ("stock", "ours")):
        ours, _ = t.strangers(sides_now)
        t.note(" and ".join(sides_now))
        for row in ROWS:
            one(t, ours, files, *row)
