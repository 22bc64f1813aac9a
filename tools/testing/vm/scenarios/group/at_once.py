# SPDX-License-Identifier: GPL-2.0
"""Hundreds of connections that begin at once are all SMC, and each costs as much as one alone.

They wait for the first contact, and then for memory, which a group gets piece by piece.

covers: LG-20
"""
import select
import socket
import time

timeout = 60
PORT = 5016
N = 256
RUNS = 10       # of the work item of one handshake, at most
EVENT = "/sys/kernel/tracing/events/workqueue/workqueue_execute_start/enable"


def server(h, port, n):
    ls = h.listen(port, backlog=2 * n)
    socks = [h.accept(ls) for _ in range(n)]
    h.mark("accepted")
    for s in socks:
        h.equal(h.recv_exact(s, 5), b"hello", "greeting")
        s.close()


def client(h, port, n):
    """Returns the seconds until each was connected."""
    ep, socks, times = select.epoll(), {}, []
    began = time.monotonic()
    for _ in range(n):
        s = h.socket()
        s.setblocking(False)
        s.connect_ex((h.config["peer6" if h.v6 else "peer4"], port))
        socks[s.fileno()] = s
        ep.register(s, select.EPOLLOUT | select.EPOLLONESHOT)
    while len(times) < n:
        for fd, _ in ep.poll(h.left()):
            h.equal(socks[fd].getsockopt(socket.SOL_SOCKET, socket.SO_ERROR), 0, "connect()")
            times.append(time.monotonic() - began)
    h.mark("connected")
    h.gate("end")
    for s in socks.values():
        s.setblocking(True)
        s.sendall(b"hello")
    for s in socks.values():
        h.at_end(s)
        s.close()
    return times


def count_runs(t, vm, func):
    """Call FUNC; return how often the work item of a handshake ran on machine VM meanwhile."""
    vm.write("/sys/kernel/tracing/buffer_size_kb", 16384)
    vm.run("echo > /sys/kernel/tracing/trace")
    vm.write(EVENT, 1)
    func()
    vm.write(EVENT, 0)
    return int(vm.run("grep -c 'function smc_hs_work' /sys/kernel/tracing/trace || true").out)


def run(t):
    if t.family == "smc":
        # the first contact is one of them, and no region of memory is there
        t.no_groups()
        for vm in (t.a, t.b):
            # a busy host takes longer for so many than one handshake may
            t.set(vm, clc_timeout_ms=60000)
    for port, family in enumerate(("tcp", t.family), PORT):
        s = t.half(t.a, server, family, port=port, n=N)
        s.expect("listening")
        c = t.half(t.b, client, family, port=port, n=N)

        def connected():
            t.expect_all("connected", c)
            t.expect_all("accepted", s)
        runs = count_runs(t, t.b, connected)
        if family == "smc":
            t.mode(t.b, "SMC-R", port, N)
            t.mode(t.a, "SMC-R", port, N)
            # what one waits for does not wake the others
            t.check(runs < RUNS * N, f"{runs} runs of work items for {N} connections")
        c.gate("end")
        t.wait_all(s, c)
        times = sorted(c.value)
        t.note(f"{family}: half after {times[N // 2] * 1e3:.0f} ms, all after "
               f"{times[-1] * 1e3:.0f} ms, {runs / N:.1f} runs of a work item for one")
