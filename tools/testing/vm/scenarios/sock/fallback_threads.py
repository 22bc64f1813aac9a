# SPDX-License-Identifier: GPL-2.0
"""Threads may poll, send, set options and close while their connection falls back to TCP.

covers: GEN-06
"""
import errno
import select
import socket
import struct
import threading

from common import serve

vcpus = (1, 2)
SO_MEMINFO, OPTMEM = 55, 6


def one_round(h, port):
    """All calls in parallel on a socket whose connect() is under way."""
    s = h.socket()
    s.setblocking(False)
    err = s.connect_ex((h.config["peer4"], port))
    h.check(err in (0, errno.EINPROGRESS), f"connect: {err}")
    stop = threading.Event()
    bad, seen = [], set()

    def poller(name, wait):
        try:
            while not stop.is_set():
                seen.update((name, ev) for ev in wait())
        except BaseException as e:
            bad.append(f"{name}: {e!r}")

    p = select.poll()
    p.register(s, select.POLLIN | select.POLLOUT)
    ep = select.epoll()
    ep.register(s, select.EPOLLIN | select.EPOLLOUT | select.EPOLLET)
    ask = {
        "poll": lambda: [ev for _, ev in p.poll(20)],
        "epoll": lambda: [ev for _, ev in ep.poll(0.02)],
        "name": lambda: [s.getsockname()[0] and 0],
        "option": lambda: [s.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR),
                           s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1) or 0],
    }
    threads = [threading.Thread(target=poller, args=item, daemon=True)
               for item in ask.items()]
    for th in threads:
        th.start()
    # send as soon as the connection takes it
    head = b"\0\0\0\x64\0\0\x10\0"
    while True:
        try:
            s.send(head)
            break
        except (BlockingIOError, OSError) as e:
            h.check(e.errno in (errno.EAGAIN, errno.ENOTCONN), f"early send: {e}")
            select.select([], [s], [], 0.02)
    s.setblocking(True)
    from halves import Pattern
    s.sendall(Pattern(5).at(0, 100))
    h.recv_stream(s, 4096, 6)
    stop.set()
    for th in threads:
        th.join(h.left())
        h.check(not th.is_alive(), "a poller hangs")
    h.check(not bad, "; ".join(bad))
    kinds = {name for name, ev in seen if ev}
    h.check({"poll", "epoll"} <= kinds, f"events seen: {seen}")
    h.check(not any(ev & (select.POLLERR | select.POLLHUP | select.POLLNVAL)
                    for name, ev in seen if "poll" in name), f"error events: {seen}")
    h.finish(s)


def client(h, port, n):
    for _ in range(n):
        one_round(h, port)


def closing(h, port, n):
    """No call waits when the answer comes, but a close() may be under way."""
    for i in range(n):
        s = h.socket()
        s.setblocking(False)
        err = s.connect_ex((h.config["peer4"], port))
        h.check(err in (0, errno.EINPROGRESS), f"connect: {err}")
        # earlier, later, and after the outcome, which SO_ERROR does not look for
        for _ in range(i % 40 * 25):
            s.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        s.close()


def charged(h, port, n):
    """Control data of a sendmsg() that sleeps during the fallback are processed by TCP."""
    for i in range(n):
        s = h.socket()
        s.setblocking(False)
        err = s.connect_ex((h.config["peer4"], port))
        h.check(err in (0, errno.EINPROGRESS), f"connect: {err}")
        s.setblocking(True)
        try:
            # of a level that TCP ignores
            s.sendmsg([b"x"], [(99, 1, bytes(500))])
        except ConnectionError:
            pass
        mem = struct.unpack("9I", s.getsockopt(socket.SOL_SOCKET, SO_MEMINFO, 36))
        h.equal(mem[OPTMEM], 0, f"charge for options, connection {i}")
        s.close()


def until(h, port):
    ls = h.listen(port)
    ls.settimeout(0.2)
    while not h.gate_open("stop"):
        try:
            h.accept(ls).close()
        except (socket.timeout, ConnectionError):
            pass
    ls.close()


def holders(t):
    """The reference count of the client's module."""
    return int(t.b.run("cat /sys/module/smc/refcnt").out) if t.family == "smc" else 0


def closes(t, n, server, before):
    s = t.half(t.a, until, server, port=5049)
    s.expect("listening")
    c = t.half(t.b, closing, port=5049, n=n)
    t.wait_all(c)
    t.wait_all(t.half(t.b, charged, port=5049, n=n))
    s.gate("stop")
    t.wait_all(s)
    # the same number as at first
    t.wait(lambda: holders(t) == before, f"the module to be held {before} times", 20)


def run(t):
    n = t.pick(40, 15) if t.long else t.pick(20, 6)
    before = holders(t)
    # Decline by the server, by the client, and no option at all
    for where in (t.a, t.b, None):
        if where:
            where.run("rdma link delete rxe0")
        t.both(serve, client, 5048, sargs={"count": n}, cargs={"n": n})  \
            if where else plain(t, n)
        closes(t, 10 * n, None if where else "tcp", before)
        if where:
            where.run("rdma link add rxe0 type rxe netdev eth0")
            t.pair.wait_gid(where, 0)
    t.no_sockets(t.b, 5048)


def plain(t, n):
    s = t.half(t.a, serve, "tcp", port=5048, count=n)
    s.expect("listening")
    c = t.half(t.b, client, port=5048, n=n)
    t.wait_all(s, c)
