# SPDX-License-Identifier: GPL-2.0
"""Small messages alternate, each answered before the next is sent.

covers: CDC-11 TX-02 TX-06
"""
import time

ipv = (4, 6)


def server(h, port, n, size):
    ls = h.listen(port)
    c = h.accept(ls)
    for i in range(n):
        c.sendall(h.recv_exact(c, 1 + i % size))
    h.mark("moved")
    h.gate("end")
    h.finish(c)


def client(h, port, n, size):
    s = h.connect(port)
    t0 = time.monotonic()
    for i in range(n):
        want = bytes([(i + k) & 255 for k in range(1 + i % size)])
        s.sendall(want)
        h.equal(h.recv_exact(s, len(want)), want, f"round {i}")
    took = time.monotonic() - t0
    h.mark("moved")
    h.gate("end")
    h.finish(s)
    return took


def run(t):
    n = t.pick(3000, 600)
    t.rdma_start()

    def moved():
        if t.family == "smc":
            for vm in (t.a, t.b):
                t.check(t.rdma_packets(vm) >= n, f"{vm.name}: too few RDMA packets")

    _, took = t.in_step(server, client, 5003, moved, n=n, size=113)
    t.note(f"{took / n * 1e6:.0f} us per round")
