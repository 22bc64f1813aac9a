# SPDX-License-Identifier: GPL-2.0
"""Both ends on one host use SMC over the RNIC's own loopback if the operator enables it.

covers: PID-04 PID-05 LG-05 LG-06 LG-19 SC-05 SC-09 RACE-01 RACE-02 RACE-04 RMB-33
"""
import ctypes
import errno
import os
import select
import socket
import threading

from common import (aborts, ends_first, goes_on, is_reset, parallel, serve, stream_client,
                    stream_server)

timeout = 120
N = 300_007
SETTINGS = "/proc/sys/net/smc"
CLONE_NEWNET = 0x40000000
CAP_VERSION, CAP_NET_ADMIN = 0x20080522, 12
EID = "SMC-BENCH.SAME-HOST"
# values that the owner of a namespace may not set, and some that it may
REFUSED = (("rdma_ack_exponent", (16, 24), ()), ("smcr_max_links_per_lgr", (3, 8), (1, 2)),
           ("smcr_testlink_time", (0, 31, 1 << 30), (1, 30)), ("rmb_idle_ms", (0,), (1,)),
           ("smcr_max_conns_per_lgr", (1, 254), (255,)),
           ("llc_add_link_retry_ms", (0, 100, 29_999), (30_000, 60_000)),
           ("max_lgrs_per_peer", (65,), (64, 1)), ("dialect", (), (1, 0)))


def one_process(h, port, addr, v6):
    """Both ends in one process; a forked child serves; a socket meets itself."""
    ls = h.listen(port, addr=addr, v6=v6, mark=False)

    def pair():
        s = h.connect(port, addr=addr, v6=v6)
        return s, h.accept(ls)

    for client, server, args in ((ends_first, goes_on, (N,)), (goes_on, ends_first, (N,)),
                                 (aborts, is_reset, ()), (is_reset, aborts, ())):
        s, c = pair()
        th = threading.Thread(target=client, args=(h, s, *args), daemon=True)
        th.start()
        server(h, c, *args)
        th.join(h.left())
        h.check(not th.is_alive(), f"{client.__name__} did not end")

    s, c = pair()
    pid = os.fork()
    if not pid:
        code = 1
        try:
            ls.close()
            s.close()
            h.recv_stream(c, N, 1)
            h.send_stream(c, N, 2)
            h.finish(c)
            code = 0
        finally:
            os._exit(code)
    c.close()
    h.send_stream(s, N, 1)
    h.recv_stream(s, N, 2)
    h.finish(s)
    h.equal(os.waitpid(pid, 0)[1], 0, "exit status of the child")
    ls.close()


def meets_itself(h, port, addr, v6):
    s = h.socket(v6=v6)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    s.bind((addr, port))
    s.connect((addr, port))
    s.sendall(b"who is there")
    h.equal(h.recv_exact(s, 12), b"who is there", "what a socket says to itself")
    s.close()


def modes(t, port):
    return [s["mode"] for s in t.a.sockets()
            if port in (s["sport"], s["dport"]) and s["state"] not in ("LISTEN", "INIT")]


def not_offered(t, port, addr, v6):
    """The path has no RNIC: connections are TCP without a Decline."""
    before = t.stat(t.a, "decline_tx")
    stream(t, port, addr, v6, "TCP")
    t.equal(t.stat(t.a, "decline_tx"), before, "Declines")


def stream(t, port, addr, v6, mode, reason=None):
    n_in, n_out = t.pick(4_000_037, 1_000_003), t.pick(3_000_017, 700_001)
    t.rdma_start()
    s = t.half(t.a, stream_server, ipv=6 if v6 else 4, port=port, n_in=n_in, n_out=n_out)
    s.expect("listening", t.left())
    c = t.half(t.a, stream_client, port=port, addr=addr, v6=v6, n_in=n_in, n_out=n_out)
    t.expect_all("moved", s, c)
    t.mode(t.a, mode, port, 2, reason)
    if mode == "SMC-R":
        t.carried(t.a, n_in + n_out)
    else:
        t.not_carried(t.a)
    for half in (s, c):
        half.gate("end")
    t.wait_all(s, c)
    t.no_sockets(t.a, port)


def other_host(t, port):
    """A connection from B, with a first contact of its own."""
    t.rdma_start()
    before = t.stat(t.b, "first_contact")
    s = t.half(t.a, stream_server, port=port, n_in=N, n_out=N)
    s.expect("listening", t.left())
    c = t.half(t.b, stream_client, port=port, addr=t.a.ip, v6=False, n_in=N, n_out=N)
    t.expect_all("moved", s, c)
    t.mode(t.b, "SMC-R", port)
    t.carried(t.b, N)
    for half in (s, c):
        half.gate("end")
    t.wait_all(s, c)
    t.equal(t.stat(t.b, "first_contact"), before + 1, "first contacts of the other host")


def with_eid(t, places):
    """Version 2 changes connections to other hosts only."""
    t.step(with_eid.__doc__)
    qps = t.queue_pairs(t.a)
    try:
        for vm in (t.a, t.b):
            t.ueid(vm, EID)
        for i, (addr, v6) in enumerate(places):
            stream(t, 5250 + i, addr, v6, "SMC-R")
        t.equal(t.queue_pairs(t.a), qps, "RC queue pairs")
        # version 2 has groups of its own
        other_host(t, 5260)
    finally:
        for vm in (t.a, t.b):
            if vm.alive():
                t.ueid(vm, "--flush")


def settle(name, value):
    with open(f"{SETTINGS}/{name}", "w", encoding="ascii") as f:
        f.write(str(value))


def mere_owner(h):
    """A process that may set the sysctls of a namespace, but lacks the host's CAP_NET_ADMIN."""
    libc = ctypes.CDLL(None)
    h.equal(libc.unshare(CLONE_NEWNET), 0, "unshare")
    who, caps = (ctypes.c_uint32 * 2)(CAP_VERSION), (ctypes.c_uint32 * 6)()
    h.equal(libc.capget(who, caps), 0, "capget")
    caps[0] &= ~(1 << CAP_NET_ADMIN)
    h.equal(libc.capset(who, caps), 0, "capset")
    h.raises("same_host", errno.EINVAL, settle, "same_host", 1)
    for name in os.listdir(SETTINGS):
        if not name.endswith("_ms") or name == "llc_add_link_retry_ms":
            continue
        with open(f"{SETTINGS}/{name}", encoding="ascii") as f:
            default = int(f.read())
        settle(name, default // 2)
        settle(name, default)
        h.raises(f"{name} beyond its default", errno.EINVAL, settle, name, default + 1)
    # more links, no end of a dead peer, messages and queue pairs at a faster pace
    for name, bad, good in REFUSED:
        for value in bad:
            h.raises(f"{name} {value}", errno.EINVAL, settle, name, value)
        for value in good:
            settle(name, value)


def by_one_loop(h, port, n):
    """connect() has ended when accept() returns a connection, as with TCP, each time."""
    ls = h.listen(port, backlog=n)
    listens = select.poll()
    listens.register(ls, select.POLLIN)
    for i in range(n):
        s = h.socket()
        s.setblocking(False)
        s.connect_ex(("127.0.0.1", port))
        h.check(h.poll(listens, 10), f"connection {i}")
        connects = select.poll()
        connects.register(s, select.POLLOUT)
        h.equal(connects.poll(0), [(s.fileno(), select.POLLOUT)], f"client of connection {i}")
        c = ls.accept()[0]
        c.close()
        s.close()


def run(t):
    from smcvm.links import NEVER
    if t.family != "smc":
        return
    places = (("127.0.0.1", False), (t.a.ip, False), ("::1", True), (t.a.ip6, True))
    for i, (addr, v6) in enumerate((("127.0.0.1", False), ("127.3.4.5", False), ("0.0.0.0", False),
                                    ("::1", True), ("::ffff:127.0.0.1", True), ("::", True))):
        t.step(f"off: {addr}")
        not_offered(t, 5190 + i, addr, v6)
    for i, (addr, v6) in enumerate(places[1::2]):
        t.step(f"off: {addr}")
        stream(t, 5200 + i, addr, v6, "TCP")

    t.set(t.a, same_host=1, peer_memory_ms=0)
    for i, (addr, v6) in enumerate(places):
        t.step(f"on: {addr}")
        stream(t, 5210 + i, addr, v6, "SMC-R")
        port = 5220 + i
        t.rdma_start()
        t.wait_all(t.half(t.a, one_process, port=port, addr=addr, v6=v6))
        t.carried(t.a, 6 * N)
        t.no_sockets(t.a, port)
        t.wait_all(t.half(t.a, meets_itself, port=5230 + i, addr=addr, v6=v6))

    t.step("many at once, and the first of them forms the group")
    t.reload(t.a)
    # an adapter whose commands are slow makes a region for each; also the limit of accept()'s wait
    # for connect()
    t.set(t.a, same_host=1, peer_memory_ms=0, clc_timeout_ms=NEVER)
    n, rounds = 50, t.pick(20, 4)
    t.rdma_start()
    s = t.half(t.a, serve, port=5240, count=n, backlog=256)
    s.expect("listening", t.left())
    c = t.half(t.a, parallel, port=5240, addr="127.0.0.1", v6=False, n=n, rounds=rounds)
    t.expect_all("open", c)
    t.mode(t.a, "SMC-R", 5240, 2 * n)
    t.equal(modes(t, 5240).count("TCP"), 0, "connections that fell back")
    t.equal(t.queue_pairs(t.a), 2, "RC queue pairs of one link with both its ends here")
    c.gate("ask")
    t.wait_all(s, c)
    t.carried(t.a, n * rounds * 2000)
    t.no_sockets(t.a, 5240)

    t.step(by_one_loop.__doc__)
    before = t.stat(t.a, "client_smc")
    t.wait_all(t.half(t.a, by_one_loop, port=5242, n=t.pick(1000, 100)))
    t.equal(t.stat(t.a, "client_smc") - before, t.pick(1000, 100), "connections on SMC")
    t.no_sockets(t.a, 5242)
    t.restore("clc_timeout_ms")

    # the other host works as before, and there are two more groups
    other_host(t, 5241)
    with_eid(t, places)

    t.step("settings that are the host's")
    t.wait_all(t.half(t.a, mere_owner))

    t.step("unloading, with groups that end at both ends at once")
    t.reload(t.a)
