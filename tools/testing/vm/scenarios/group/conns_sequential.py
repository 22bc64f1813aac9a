# SPDX-License-Identifier: GPL-2.0
"""Connections one after the other share one link group: sixty, with --long five hundred.

The side that closes first has TIME_WAIT, as on TCP. So a client whose server closes has its local
port back: few ports suffice for many connections.

covers: LG-20 RMB-25 CLOSE-01
"""
import socket

from common import requests, serve

timeout = 60
PORT = 5014
PORTS, MANY = 20, 200       # local ports of the client, connections
RANGE = "net.ipv4.ip_local_port_range"


def closes(h, s):
    s.close()


def shuts(h, s):
    """The other side answers after the end of this one's stream."""
    s.shutdown(socket.SHUT_WR)
    h.recv_exact(s, 6)
    h.at_end(s)
    s.close()


def answers(h, s):
    h.at_end(s)
    try:
        s.sendall(b"answer")
    except OSError:
        pass        # the other side reads no more
    s.close()


ENDS = {"closes": closes, "shuts": shuts}


def end(h, s, how, is_first):
    h.recv_exact(s, 5)
    if is_first:
        ENDS[how](h, s)
    elif how == "shuts":
        answers(h, s)
    else:
        h.at_end(s)
        s.close()


def ender(h, port, n, how, first):
    ls = h.listen(port, backlog=64)
    for _ in range(n):
        c = h.accept(ls)
        c.sendall(b"hello")
        end(h, c, how, first == "server")


def knocker(h, port, n, how, first):
    for _ in range(n):
        s = h.connect(port)
        s.sendall(b"hello")
        end(h, s, how, first == "client")


def time_waits(vm, port):
    """The sockets of machine VM in TIME_WAIT, of connections to or from PORT."""
    return len(vm.run(f"ss -Htan state time-wait '( sport = :{port} or dport = :{port} )'")
               .out.splitlines())


def few_ports(t):
    was = t.b.sysctl(RANGE)
    port = PORT
    for how, first, n in (("closes", "server", MANY), ("shuts", "server", 10),
                          ("closes", "client", 10), ("shuts", "client", 10)):
        for family in ("tcp", t.family):
            t.step(f"{family}: the {first} {how} first")
            if n == MANY:
                t.b.sysctl(RANGE, f"40000 {40000 + PORTS - 1}")
            s = t.half(t.a, ender, family, port=port, n=n, how=how, first=first)
            s.expect("listening")
            t.wait_all(s, t.half(t.b, knocker, family, port=port, n=n, how=how, first=first))
            t.b.sysctl(RANGE, was)
            waits = {vm: time_waits(vm, port) for vm in (t.a, t.b)}
            other = t.b if first == "server" else t.a
            t.note(f"{family}, the {first} {how} first: {waits[t.a]} and {waits[t.b]} TIME_WAIT")
            # a machine that stops for 200 ms lets its peer be first
            t.check(waits[other] <= n // 4, f"{waits[other]} TIME_WAIT at {other.name}")
            port += 1


def run(t):
    n = 500 if t.long else 60
    t.rdma_start()
    s = t.half(t.a, serve, port=5004, count=n + 20)
    s.expect("listening")
    t.wait_all(t.half(t.b, requests, port=5004, n=20))
    qps, regions = t.queue_pairs(t.a), t.memory_regions(t.a)
    if t.family == "smc":
        t.equal(qps, 1, "RC queue pairs after twenty connections")
    c = t.half(t.b, requests, port=5004, n=n)
    t.wait_all(s, c)
    t.carried(t.a, 1000 * n)
    after = t.queue_pairs(t.a)
    t.equal(after, qps, "RC queue pairs after all connections")
    if t.family == "smc":
        # elements are used again; RMBs may have grown while one was not yet free
        after = t.memory_regions(t.a)
        t.check(after <= regions + 6, f"memory regions grew from {regions} to {after}")
    times = sorted(c.value)
    t.note(f"connect median {times[n // 2] * 1e3:.1f} ms, slowest {times[-1] * 1e3:.0f} ms")
    t.no_sockets(t.a, 5004)
    t.no_sockets(t.b, 5004)
    few_ports(t)
