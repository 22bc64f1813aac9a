# SPDX-License-Identifier: GPL-2.0
"""Connections go on in TCP when their adapter reports a fatal error, and when it is removed.

The model of an RNIC crashes under checked streams, on each side once, in a random manner: no
byte is lost or repeated. The next one is removed under them. Afterwards connections use SMC again.

covers: ERR-12 GEN-07
"""
from common import requests, serve
from streams import client, server  # noqa: F401, the halves

kernels = ("stock", "debug")
rnic = "strictest"
timeout = 200
PORT = 5780
DEBUG = "/sys/kernel/debug/rnic/rxe0/fault"


def lose(t, vm, what, port):
    from smcvm.links import Streams, add, delete
    t.step(f"{what} on {vm.name}")
    was = [t.stat(m, "landed") for m in (t.a, t.b)]
    x = Streams(t, port)
    if what == "fatal":
        vm.write(DEBUG, "fatal 1")
    else:
        delete(vm, 0)
    t.wait(lambda: all(t.stat(m, "landed") == n + x.count for m, n in zip((t.a, t.b), was)),
           f"{what}: all connections in TCP", 60)
    t.note(f"{what} on {vm.name}: {x.more():.2f} s")
    if what == "fatal":
        delete(vm, 0)
    add(t, vm, 0)
    x.stop()
    t.both(serve, requests, port + 1, sargs={"count": 1}, cargs={"n": 1})


def run(t):
    from smcvm.links import several
    several(t, links=1, landing=1, peer_memory_ms=0, rdma_ack_exponent=t.pick(15, 17),
            rdma_retries=t.pick(6, 1), smcr_testlink_time=1)
    lose(t, t.a, "fatal", PORT)
    lose(t, t.b, "fatal", PORT + 2)
    lose(t, t.b, "removal", PORT + 4)
