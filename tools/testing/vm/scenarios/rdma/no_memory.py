# SPDX-License-Identifier: GPL-2.0
"""Allocations of the module that fail cause SMC, TCP or a clean error.

First one allocation fails for each connect() of the client, another one each time, then
every few allocations at the server. A connect() that failed is repeated on the same socket.

covers: ERR-05
"""
import errno

from common import requests, serve, serve_any
from failing import wind

kernels = ("debug",)
FAILSLAB = "/sys/kernel/debug/failslab"
CLEAN = (errno.ENOMEM, errno.ENOBUFS, errno.ECONNRESET, errno.ETIMEDOUT,
         errno.EADDRNOTAVAIL, errno.ECONNABORTED, errno.ENFILE)


def put(**values):
    for name, value in values.items():
        with open(f"{FAILSLAB}/{name.replace('_', '-')}", "w") as f:
            f.write(str(value))


def aim():
    """Let only allocations fail that have the module on their stack."""
    with open("/proc/modules") as f:
        size, addr = next((int(line.split()[1]), int(line.split()[5], 16))
                          for line in f if line.startswith("smc "))
    put(ignore_gfp_wait="N", verbose=0, stacktrace_depth=32,
        require_start=addr, require_end=addr + size)


def left_to_fail():
    with open(f"{FAILSLAB}/times") as f:
        return int(f.read())


def one(h, port, what, result):
    try:
        s = h.connect(port)
        h.request(s, 2000, 20000)
        h.finish(s)
        name = "good"
    except OSError as e:
        h.check(e.errno in CLEAN, f"{what}: errno {errno.errorcode[e.errno]}")
        name = errno.errorcode[e.errno]
    result[name] = result.get(name, 0) + 1


def failing(h, port, n):
    """Connections with one failing allocation each; returns what became of them."""
    aim()
    result, failed = {}, 0
    for i in range(1, n + 1):
        put(interval=i, times=1, probability=100)
        # they are counted from whatever they were before
        wind(h, FAILSLAB)
        put(times=1)
        one(h, port, f"allocation {i}", result)
        failed += left_to_fail() == 0
        put(probability=0)
    result["failed allocations"] = failed
    return result


def again(h, port, n):
    """A refused connect() with a failing allocation: the next connect() acts as with TCP."""
    aim()
    failed = 0
    peer = h.config["peer6" if h.v6 else "peer4"]
    for i in range(1, n + 1):
        s = h.socket()
        put(interval=i, times=1, probability=100)
        wind(h, FAILSLAB)
        put(times=1)
        h.raises(f"allocation {i}", CLEAN + (errno.ECONNREFUSED,), s.connect, (peer, port + 1))
        failed += left_to_fail() == 0
        put(probability=0)
        h.raises(f"the next one behind allocation {i}", errno.ECONNREFUSED, s.connect,
                 (peer, port + 1))
        s.connect((peer, port))
        h.request(s)
        h.finish(s)
    return failed


def many(h, port, n):
    result = {}
    for i in range(n):
        one(h, port, f"connection {i}", result)
    return result


def shortage(h):
    aim()
    put(interval=9, times=-1, probability=100)


def run(t):
    if t.family != "smc":
        return
    for vm in (t.a, t.b):
        # a second link would be made by a worker, where vmalloc() of soft-RoCE warns
        t.set(vm, clc_timeout_ms=500 * t.slow, smcr_max_links_per_lgr=1)
    s = t.half(t.a, serve_any, port=5120)
    s.expect("listening")
    c = t.half(t.b, failing, port=5120, n=40)
    t.wait_all(c)
    t.check(c.value["failed allocations"] > 10, f"too few allocations failed: {c.value}")
    t.note(f"client {c.value}")
    c = t.half(t.b, again, port=5120, n=12)
    t.wait_all(c)
    t.check(c.value > 2, f"{c.value} allocations failed")

    t.wait_all(t.half(t.a, shortage))
    try:
        c = t.half(t.b, many, port=5120, n=40)
        t.wait_all(c)
    finally:
        for vm in (t.a, t.b):
            vm.run(f"echo 0 > {FAILSLAB}/probability")
    # a connection that the server could not take is not forgotten
    t.check("ETIMEDOUT" not in c.value, f"clients without an answer: {c.value}")
    t.note(f"server {c.value}")
    s.gate("stop")
    s.wait(t.left())

    t.reload(t.a, t.b)
    t.rdma_start()
    t.both(serve, requests, 5121, sargs={"count": 3}, cargs={"n": 3})
    t.carried(t.a, 3000)
