# SPDX-License-Identifier: GPL-2.0
"""Both ends in one network namespace share memory, with an RDMA device or without.

No byte of CLC is sent, and no adapter carries anything. net.smc.memory 0 makes them TCP.

covers: RACE-04 OPT-10 DCLN-08
"""
import ctypes
import errno
import os
import select
import socket
import threading
import time

from common import (aborts, ends_first, goes_on, is_reset, parallel, serve, stream_client,
                    stream_server)

timeout = 120
N = 300_007
PEERNOSMC, NODEV = 0x03010000, 0x03030002
SETTINGS = "/proc/sys/net/smc"
CLONE_NEWNET = 0x40000000
CAP_VERSION, CAP_NET_ADMIN = 0x20080522, 12
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


def use(t):
    """The counters of connections in memory, and of all that is sent besides."""
    return {n: t.stat(t.a, n) for n in
            ("client_memory", "server_memory", "client_smc", "server_smc", "clc_tx", "decline_tx")}


def grown(t, before, n, what):
    """N connections more, at both ends, and nothing else."""
    now = {k: v - before[k] for k, v in use(t).items()}
    t.equal(now, dict.fromkeys(("client_memory", "server_memory", "client_smc", "server_smc"), n) |
            {"clc_tx": 0, "decline_tx": 0}, what)


def stream(t, port, addr, v6, in_memory):
    n_in, n_out = t.pick(4_000_037, 1_000_003), t.pick(3_000_017, 700_001)
    before = use(t)
    t.rdma_start()
    s = t.half(t.a, stream_server, ipv=6 if v6 else 4, port=port, n_in=n_in, n_out=n_out)
    s.expect("listening", t.left())
    c = t.half(t.a, stream_client, port=port, addr=addr, v6=v6, n_in=n_in, n_out=n_out)
    t.expect_all("moved", s, c)
    t.mode(t.a, "memory" if in_memory else "TCP", port, 2)
    grown(t, before, int(in_memory), f"connections to {addr}")
    t.not_carried(t.a)
    for half in (s, c):
        half.gate("end")
    t.wait_all(s, c)
    t.no_sockets(t.a, port)


def other_host(t, port):
    """A connection from B uses RDMA."""
    t.rdma_start()
    before = use(t)
    s = t.half(t.a, stream_server, port=port, n_in=N, n_out=N)
    s.expect("listening", t.left())
    c = t.half(t.b, stream_client, port=port, addr=t.a.ip, v6=False, n_in=N, n_out=N)
    t.expect_all("moved", s, c)
    t.mode(t.b, "SMC-R", port)
    t.carried(t.b, N)
    t.equal(use(t)["server_memory"], before["server_memory"], "connections in memory")
    for half in (s, c):
        half.gate("end")
    t.wait_all(s, c)


def deferred(h, port):
    """TCP_DEFER_ACCEPT: connect() ends at once, accept() after the first byte."""
    ls = h.socket()
    ls.setsockopt(socket.IPPROTO_TCP, socket.TCP_DEFER_ACCEPT, 30)
    ls.bind(("127.0.0.1", port))
    ls.listen(8)
    listens = select.poll()
    listens.register(ls, select.POLLIN)
    began = time.monotonic()
    s = h.connect(port, addr="127.0.0.1")
    took = time.monotonic() - began
    h.check(took < 1, f"connect() to a server that defers took {took:.2f} s")
    h.equal(listens.poll(300), [], "accept() before the first byte")
    s.sendall(b"x")
    h.check(h.poll(listens, 10), "accept() after the first byte")
    c = ls.accept()[0]
    h.equal(h.recv_exact(c, 1), b"x", "the first byte")
    for one in (c, s, ls):
        one.close()


def given_up(h, port, n):
    """connect() that is given up, or whose socket is used again, harms nobody."""
    ls = h.listen(port, backlog=n)
    for i in range(n):
        s = h.socket()
        s.setblocking(False)
        s.connect_ex(("127.0.0.1", port))
        if i % 3 == 1:
            # AF_UNSPEC, and once more
            dissolve(s)
            s.connect_ex(("127.0.0.1", port))
        if i % 3 == 2:
            s.shutdown(socket.SHUT_RDWR)
        s.close()
    ls.settimeout(1)
    while True:
        try:
            ls.accept()[0].close()
        except TimeoutError:
            break
    s = h.connect(port, addr="127.0.0.1")
    c = h.accept(ls)
    s.sendall(b"still there")
    h.equal(h.recv_exact(c, 11), b"still there", "the next connection")
    for one in (c, s, ls):
        one.close()


def dissolve(s):
    addr = (ctypes.c_uint16 * 8)(socket.AF_UNSPEC)
    ctypes.CDLL(None).connect(s.fileno(), addr, ctypes.sizeof(addr))


def without_device(t):
    """A host without RDMA: memory inside, and no offer to others."""
    t.step(without_device.__doc__)
    t.a.run("rdma link delete rxe0")
    try:
        stream_without(t, 5270)
        stream_without(t, 5271, "::1", True)
        for client, server, port in ((t.a, t.b, 5272), (t.b, t.a, 5273)):
            before = [t.stat(vm, n) for vm in (t.a, t.b) for n in ("clc_tx", "decline_tx")]
            s = t.half(server, stream_server, port=port, n_in=N, n_out=N)
            s.expect("listening", t.left())
            c = t.half(client, stream_client, port=port, addr=server.ip, v6=False, n_in=N, n_out=N)
            t.expect_all("moved", s, c)
            t.mode(t.b, "TCP", port, reason=PEERNOSMC)
            t.mode(t.a, "TCP", port, reason=NODEV)
            t.equal([t.stat(vm, n) for vm in (t.a, t.b) for n in ("clc_tx", "decline_tx")], before,
                    "CLC messages")
            for half in (s, c):
                half.gate("end")
            t.wait_all(s, c)
    finally:
        t.a.run("rdma link add rxe0 type rxe netdev eth0")
        t.pair.wait_gid(t.a, 0)


def stream_without(t, port, addr="127.0.0.1", v6=False):
    before = use(t)
    s = t.half(t.a, stream_server, ipv=6 if v6 else 4, port=port, n_in=N, n_out=N)
    s.expect("listening", t.left())
    c = t.half(t.a, stream_client, port=port, addr=addr, v6=v6, n_in=N, n_out=N)
    t.expect_all("moved", s, c)
    grown(t, before, 1, "connections without an RDMA device")
    for half in (s, c):
        half.gate("end")
    t.wait_all(s, c)


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
    h.raises("memory 2", errno.EINVAL, settle, "memory", 2)
    for value in (0, 1):
        settle("memory", value)
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
    if t.family != "smc":
        return
    places = (("127.0.0.1", False), (t.a.ip, False), ("::1", True), (t.a.ip6, True),
              ("127.3.4.5", False), ("0.0.0.0", False), ("::ffff:127.0.0.1", True), ("::", True))
    t.set(t.a, memory=0)
    for i, (addr, v6) in enumerate(places):
        t.step(f"off: {addr}")
        stream(t, 5190 + i, addr, v6, False)

    t.set(t.a, memory=1, peer_memory_ms=0)
    for i, (addr, v6) in enumerate(places):
        t.step(f"on: {addr}")
        stream(t, 5210 + i, addr, v6, True)
        if i >= 4:
            continue
        port = 5220 + i
        before = use(t)
        t.wait_all(t.half(t.a, one_process, port=port, addr=addr, v6=v6))
        grown(t, before, 5, "connections of one process")
        t.no_sockets(t.a, port)
        t.wait_all(t.half(t.a, meets_itself, port=5230 + i, addr=addr, v6=v6))

    t.step("many at once")
    n, rounds = 50, t.pick(20, 4)
    qps, before = t.queue_pairs(t.a), use(t)
    s = t.half(t.a, serve, port=5240, count=n, backlog=256)
    s.expect("listening", t.left())
    c = t.half(t.a, parallel, port=5240, addr="127.0.0.1", v6=False, n=n, rounds=rounds)
    t.expect_all("open", c)
    grown(t, before, n, "connections at once")
    t.equal(t.queue_pairs(t.a), qps, "RC queue pairs")
    c.gate("ask")
    t.wait_all(s, c)
    t.no_sockets(t.a, 5240)

    t.step(by_one_loop.__doc__)
    before = use(t)
    t.wait_all(t.half(t.a, by_one_loop, port=5242, n=t.pick(1000, 100)))
    grown(t, before, t.pick(1000, 100), "connections one after the other")
    t.no_sockets(t.a, 5242)

    for case, port, args in ((deferred, 5243, {}), (given_up, 5244, {"n": 30})):
        t.step(case.__doc__)
        t.wait_all(t.half(t.a, case, port=port, **args))
        t.no_sockets(t.a, port)

    # the other host works as before
    other_host(t, 5241)
    without_device(t)

    t.step("settings that are the host's")
    t.wait_all(t.half(t.a, mere_owner))

    t.step("unloading")
    t.reload(t.a)
