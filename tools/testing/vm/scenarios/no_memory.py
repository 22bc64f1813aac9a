# SPDX-License-Identifier: GPL-2.0
"""Allocations fail, each in turn: a connection is SMC, TCP, or a clean error.

The client's system calls fail at their first, second, third ... allocation; at
the server allocations with our module on the stack fail at random.

covers: ERR-05
"""
import errno
import os

from common import requests, serve

kernels = ("debug",)
FAILSLAB = "/sys/kernel/debug/failslab"
FAIL_PAGES = "/sys/kernel/debug/fail_page_alloc"
MOST = 400  # allocations of one connect
CLEAN = (errno.EFAULT, errno.ENOMEM, errno.ENOBUFS, errno.ECONNRESET, errno.ETIMEDOUT,
         errno.EADDRNOTAVAIL, errno.ECONNABORTED)


def put(path, **values):
    for name, value in values.items():
        with open(f"{path}/{name.replace('_', '-')}", "w") as f:
            f.write(str(value))


def faults_left(fd):
    """Was the fault still to come? None comes after this.

    The question copies from and to user memory and may be what fails.
    """
    left = 0
    for ask in (lambda: int(os.pread(fd, 20, 0)), lambda: os.pwrite(fd, b"0", 0) * 0):
        try:
            left += ask()
        except OSError as e:
            if e.errno != errno.EFAULT:
                raise
            left += 1
    os.pwrite(fd, b"0", 0)
    return left


def failing(h, port, step):
    """Connections whose Nth allocation fails; returns what became of them."""
    for path in (FAILSLAB, FAIL_PAGES):
        put(path, ignore_gfp_wait="N", verbose=0)
    fd = os.open("/proc/thread-self/fail-nth", os.O_RDWR)
    good, errors, n = 0, {}, 1
    while n < MOST:
        s = h.socket()
        err = 0
        addr = (h.config["peer4"], port)
        os.pwrite(fd, b"%d" % n, 0)
        try:
            s.connect(addr)
        except OSError as e:
            err = e.errno
        left = faults_left(fd)
        if err:
            h.check(err in CLEAN, f"allocation {n}: errno {errno.errorcode[err]}")
            errors[errno.errorcode[err]] = errors.get(errno.errorcode[err], 0) + 1
            s.close()
        else:
            good += 1
            h.request(s)
            h.finish(s)
        if left:
            break  # connect has fewer allocations than that
        n += step
    os.close(fd)
    return {"allocations": n, "good": good, "errors": errors}


def some_fail(h, port, n):
    """N connections to a server short of memory."""
    errors = 0
    for _ in range(n):
        try:
            s = h.connect(port)
            h.request(s, 2000, 20000)
            h.finish(s)
        except OSError as e:
            h.check(e.errno in CLEAN, f"errno {errno.errorcode[e.errno]}")
            errors += 1
    return errors


def shortage(h, on):
    """Let a share of the module's allocations fail, or none."""
    with open("/proc/modules") as f:
        size, addr = next((int(line.split()[1]), int(line.split()[5], 16))
                          for line in f if line.startswith("smc "))
    put(FAILSLAB, ignore_gfp_wait="N", verbose=0, times=-1, interval=1,
        require_start=addr, require_end=addr + size, stacktrace_depth=32,
        probability=25 if on else 0)


def run(t):
    if t.family != "smc":
        return
    s = t.half(t.a, serve, port=5120)
    s.expect("listening")
    c = t.half(t.b, failing, port=5120, step=1)
    t.wait_all(c)
    t.check(c.value["allocations"] > 10, f"no allocation failed: {c.value}")
    t.note(str(c.value))
    t.b.run(f"echo 0 > {FAILSLAB}/probability")

    t.wait_all(t.half(t.a, "shortage", on=True))
    c = t.half(t.b, some_fail, port=5120, n=40)
    t.wait_all(c)
    t.note(f"server: {c.value} of 40 failed")
    t.wait_all(t.half(t.a, "shortage", on=False))
    for vm in (t.a, t.b):
        t.set(vm, peer_memory_ms=1)
    t.wait_all(t.half(t.b, requests, port=5120))
    t.rdma_start()
    t.wait_all(t.half(t.b, requests, port=5120, n=3))
    t.carried(t.a, 3000)
    s.gate("stop")
    s.wait(t.left())
