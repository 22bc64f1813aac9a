# SPDX-License-Identifier: GPL-2.0
"""Connections are reset when the RDMA device is removed or its port goes down under load.

Both applications get the error. When the device is back new connections use it. By default a link
over soft-RoCE survives three seconds without an acknowledgment.

covers: GEN-07 PEER-03 ERR-12 ERR-13
"""
import errno

import time

from common import drink, drink_server, pour, pour_server, requests, serve

# the error of the connection comes first, before any broken pipe
TOLD = (errno.ECONNRESET, errno.ECONNABORTED, errno.ETIMEDOUT)
timeout = 70


def load(t, port):
    """A connection that pours from A to B and one from B to A."""
    procs = []
    for server, client, p in ((pour_server, drink, port), (drink_server, pour, port + 1)):
        s = t.half(t.a, server, port=p)
        s.expect("listening")
        procs += [s, t.half(t.b, client, port=p)]
    t.expect_all("flowing", procs[1], procs[2])
    return procs


def starved_client(h, port):
    """Send a byte that is not acknowledged; report how long the connection lives."""
    s = h.connect(port)
    h.mark("ready")
    h.gate("go")
    began = time.monotonic()
    s.sendall(b"x")
    h.raises("recv() on a lost link", TOLD, s.recv, 1)
    h.mark("lost", after=time.monotonic() - began)
    s.close()


def starved_server(h, port):
    c = h.accept(h.listen(port))
    h.mark("accepted")
    h.gate("end")
    c.close()


def is_carried(t, port):
    before = t.stat(t.b, "client_smc")
    t.both(serve, requests, port, sargs={"count": 1}, cargs={"n": 1})
    return t.stat(t.b, "client_smc") > before


def starve(t, port):
    for vm in (t.a, t.b):
        t.set(vm, rdma_ack_exponent=0)
    s = t.half(t.a, starved_server, port=port)
    s.expect("listening")
    c = t.half(t.b, starved_client, port=port)
    t.expect_all("ready", c)
    rule = t.relay.rule(proto="roce", drop=1)
    c.gate("go")
    after = t.expect_all("lost", c)[0]["after"]
    t.relay.unrule(rule)
    # the timers of the adapter expire late on a slow host, but never early
    t.check(after > 3, f"the link lived for {after:.1f} s")
    s.gate("end")
    t.wait_all(s, c)
    t.restore("rdma_ack_exponent")
    # The server's group stays until TEST LINK gets no answer. Its connections are TCP, since the
    # client is out of sync (ERR-13). The next case must not find it.
    t.wait(lambda: is_carried(t, port + 1), "a connection on SMC", 20)


def run(t):
    port = 5050
    for vm in (t.a, t.b):
        # on a slow host the last DELETE LINK comes too late: the peer then avoids this machine
        t.set(vm, peer_memory_ms=1)
    # (machine, break, mend)
    cases = [
        (t.a, "rdma link delete rxe0", "rdma link add rxe0 type rxe netdev eth0"),
        (t.b, "rdma link delete rxe0", "rdma link add rxe0 type rxe netdev eth0"),
        (t.b, "ip link set eth0 down",
         "ip link set eth0 up; ip -6 addr add fd43::2/64 dev eth0 nodad"),
    ]
    for vm, down, up in cases:
        port += 10
        t.step(f"{down} on {vm.name}")
        procs = load(t, port)
        vm.run(down)
        if "ip link" in down:
            # the other side finds out by RoCE errors alone
            t.all_of([p for p in procs if p.vm is not vm], lambda p: p.rc == 0, "end")
        if "ip link" not in down:
            t.wait_all(*procs)
        vm.run(up)
        t.pair.wait_gid(vm, 0)
        t.wait_all(*procs)
        for p in procs:
            t.check(p.value in TOLD, f"{down} on {vm.name}: {p} ended with {p.value}")
        # The server may not have noticed yet and offer the link that is gone:
        # out of sync, this one connection goes to TCP and the old group ends
        # (ERR-13).
        t.both(serve, requests, port + 4, sargs={"count": 1}, cargs={"n": 1})
        t.rdma_start()
        t.both(serve, requests, port + 5, sargs={"count": 3}, cargs={"n": 3, "back": 50000})
        t.carried(t.a, 150000)
        for end in (t.a, t.b):
            t.no_sockets(end, port)
            t.no_sockets(end, port + 1)
    starve(t, port + 6)
