# SPDX-License-Identifier: GPL-2.0
"""The peer machine is frozen under load, thawed, then killed and started again.

covers: PEER-02 PID-06
"""
import errno

from common import drink, drink_server, pour, pour_server, requests, serve

TOLD = (errno.ECONNRESET, errno.ECONNABORTED, errno.EPIPE, errno.ETIMEDOUT,
        errno.EHOSTUNREACH)
timeout = 90


def load(t, port):
    procs = []
    for server, client, p in ((pour_server, drink, port), (drink_server, pour, port + 1)):
        s = t.half(t.a, server, port=p)
        s.expect("listening")
        procs += [s, t.half(t.b, client, port=p)]
    t.expect_all("flowing", procs[1], procs[2])
    return procs


def works(t, port):
    t.rdma_start()
    # the first may meet the other side's end of the old link group, and decline
    t.both(serve, requests, port, sargs={"count": 5}, cargs={"n": 5, "back": 50000})
    t.carried(t.a, 150000)


def run(t):
    # the path is as good as before when the peer is there again
    for vm in (t.a, t.b):
        t.set(vm, peer_memory_ms=1)
    procs = load(t, 5080)
    mine = [p for p in procs if p.vm is t.a]
    t.b.freeze()
    t.wait_all(*mine)
    for p in mine:
        t.check(p.value in TOLD, f"peer frozen: {p} ended with {p.value}")
    t.b.thaw()
    t.wait_all(*procs)
    for p in procs:
        t.check(p.value in TOLD, f"after the freeze: {p} ended with {p.value}")
    works(t, 5085)

    procs = load(t, 5090)
    mine = [p for p in procs if p.vm is t.a]
    t.b.destroy()
    t.wait_all(*mine)
    for p in mine:
        t.check(p.value in TOLD, f"peer killed: {p} ended with {p.value}")
    t.reboot(t.b)
    works(t, 5095)
    for port in (5080, 5081, 5090, 5091):
        t.no_sockets(t.a, port)
