# SPDX-License-Identifier: GPL-2.0
"""A socket can be used again after connect() to AF_UNSPEC and after failed handshakes.

like_tcp_connect compares the results with TCP. This scenario checks what TCP lacks: a CLC
handshake under way, elements, link groups, and that none of them leaks.

covers: ABRT-03 ABRT-06 ABRT-13 ERR-14
"""
import contextlib
import errno
import os
import re
import select
import socket
import struct
import threading

from halves import is_asleep, libc

timeout = 120
ROUNDS = 40
N = 50_000
SYN, ACK = 2, 16
SO_ZEROCOPY, MSG_ZEROCOPY = 60, 0x4000000
OPTMEM = "/proc/sys/net/core/optmem_max"
PREEMPT = "/sys/kernel/debug/sched/preempt"


def dissolve(s):
    if libc.connect(s.fileno(), bytes(16), 16):
        raise OSError(errno.EIO, "AF_UNSPEC was refused")


def again(h, port):
    """The peer is silent in CLC: ended by AF_UNSPEC, shutdown(), time, and close()."""
    peer = (h.config["peer4"], port)
    s = h.socket()
    s.setblocking(False)
    for end in (dissolve, lambda s: s.shutdown(socket.SHUT_WR)):
        h.equal(s.connect_ex(peer), errno.EINPROGRESS, "connect")
        h.mark("silent")
        h.gate("seen")
        h.equal(s.connect_ex(peer), errno.EALREADY, "connect again")
        end(s)
        h.equal(s.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR), errno.ECONNRESET, "error")
        h.raises("name", errno.ENOTCONN, s.getpeername)
    # a handshake that fails by itself
    h.mark("late")
    h.gate("short")
    s.setblocking(True)
    s.settimeout(None)
    h.raises("no answer", (errno.ETIMEDOUT, errno.ECONNRESET), s.connect, peer)
    # a handshake that other calls wait for
    told = []

    def connects():
        try:
            told.append(s.connect(peer))
        except OSError as e:
            told.append(e.errno)

    h.mark("long")
    h.gate("long")
    for end, want in ((dissolve, errno.EPIPE),
                      (lambda s: s.shutdown(socket.SHUT_RDWR), errno.ECONNRESET)):
        th = threading.Thread(target=connects)
        th.start()
        h.mark("silent")
        h.gate("seen")
        end(s)
        th.join(h.within(20))
        h.equal(told, [want], "result of the waiting connect()")
        told.clear()
    gone = h.socket()
    gone.setblocking(False)
    gone.connect_ex(peer)
    h.mark("silent")
    h.gate("seen")
    dissolve(gone)
    gone.close()
    # now the peer sends
    h.mark("speaks")
    h.gate("speaks")
    s.connect(peer)
    h.request(s, N, N)
    h.mark("open")
    h.gate("end")
    h.finish(s)


def many(h, port):
    """One socket, one connection after the other, with data under way."""
    s = h.socket()
    peer = (h.config["peer4"], port)
    cookie = s.getsockopt(socket.SOL_SOCKET, 57, 8)
    twin = None
    for i in range(ROUNDS):
        s.connect(peer)
        h.request(s, 100, 3000)
        # the answer is under way, or half of it, or read
        s.sendall(struct.pack("!II", 4, 20000) + b"\0" * (4 if i % 2 else 0))
        if i == ROUNDS // 2:
            twin = os.dup(s.fileno())  # keeps the old connection's socket
        dissolve(s)
    h.equal(s.getsockopt(socket.SOL_SOCKET, 57, 8), cookie, "cookie")
    s.connect(peer)
    h.request(s, N, N)
    h.mark("open")
    h.gate("end")
    h.finish(s)
    os.close(twin)


def unread(h, port):
    """Notices of MSG_ZEROCOPY that nobody reads do not add up to ENOBUFS."""
    data = bytes(N)
    # Small ones are copied, and their notices come at once. Notices of one kind are merged.
    for n in (N, 100):
        s = h.socket()
        s.setsockopt(socket.SOL_SOCKET, SO_ZEROCOPY, 1)
        for _ in range(ROUNDS):
            s.connect((h.config["peer4"], port))
            s.sendall(struct.pack("!II", n, 0))
            done = 0
            while done < n:
                done += s.send(memoryview(data)[done:n], MSG_ZEROCOPY)
            dissolve(s)
        s.close()


def overtaken(h, port):
    """AF_UNSPEC, and another thread connects before the call returns.

    It has the one processor as soon as it is woken for the new sock, where the kernel lets
    it. It may be woken before for what happens to the old one, and sleeps on then.
    """
    os.sched_setaffinity(0, {0})
    s = h.socket()
    peer = (h.config["peer4"], port)
    s.connect(peer)
    h.request(s, N, N)
    s.setblocking(False)
    told, thread = [], []

    def connects():
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
        poller = select.epoll()
        # with the end of the stream, which a new sock does not report
        poller.register(s, select.EPOLLIN | select.EPOLLRDHUP | select.EPOLLET)
        thread.append(threading.get_native_id())
        while poller.poll()[0][1] & select.EPOLLRDHUP:
            pass
        told.append(s.connect_ex(peer))

    th = threading.Thread(target=connects, daemon=True)
    th.start()
    h.wait(lambda: thread and is_asleep(thread[0]), "a thread that waits")
    h.mark("asleep")
    h.gate("silent")
    dissolve(s)
    told.append("dissolved")
    th.join(h.within(20))
    h.equal(told, [errno.EINPROGRESS, "dissolved"], "results of both calls, in order")
    # the attempt of the other thread is the only one
    h.equal(s.connect_ex(peer), errno.EALREADY, "connect again")
    h.mark("under way")
    poller = select.poll()
    poller.register(s, select.POLLOUT)
    h.check(h.poll(poller, 30), "no end of the attempt")
    h.equal(s.connect_ex(peer), 0, "the outcome of the attempt")
    s.setblocking(True)
    h.request(s, N, N)
    h.finish(s)


def racing(h, port):
    """Threads that use one socket while another one dissolves and connects it."""
    s = h.socket()
    s.settimeout(None)
    peer = (h.config["peer4"], port)
    stop = threading.Event()
    calls = [lambda: s.send(b"x" * 5000, socket.MSG_NOSIGNAL | socket.MSG_DONTWAIT),
             lambda: s.recv(3000, socket.MSG_DONTWAIT),
             lambda: s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, 1),
             lambda: s.getsockopt(socket.SOL_TCP, socket.TCP_INFO, 104),
             lambda: s.connect_ex(peer), lambda: s.shutdown(socket.SHUT_WR),
             lambda: dissolve(s), lambda: s.recv(1),
             lambda: s.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)]
    done = [0] * len(calls)

    def hammer(i):
        while not stop.is_set():
            try:
                calls[i]()
            except OSError:
                pass
            done[i] += 1

    threads = [threading.Thread(target=hammer, args=(i,), daemon=True)
               for i in range(len(calls))]
    for th in threads:
        th.start()
    h.wait(lambda: done[6] > 200 and done[4] > 50, f"calls: {done}", 60)
    stop.set()
    while any(th.is_alive() for th in threads):
        try:
            dissolve(s)  # wakes all sleepers
            s.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
    s.close()
    return done


def discards(h, port):
    """A server that reads all data."""
    ls = h.listen(port)

    def one(c):
        try:
            while c.recv(65536):
                pass
        except OSError:
            pass
        c.close()

    ls.settimeout(0.2)
    while not h.gate_open("stop"):
        try:
            threading.Thread(target=one, args=(h.accept(ls),), daemon=True).start()
        except (socket.timeout, ConnectionError):
            pass
    ls.close()


def silent_peer(t):
    """The wire drops the Accept twice."""
    s = t.half(t.a, tolerant, port=5340)
    s.expect("listening")
    groups = t.queue_pairs(t.b)
    c = t.half(t.b, again, port=5340)
    lost = t.relay.rule(clc=2, frm="a", drop=1)
    # otherwise the connection after the failed one is TCP
    t.set(t.b, clc_timeout_ms=60000, peer_memory_ms=0)

    def nth_silent(n, word="silent"):
        t.wait(lambda: sum(m["name"] == word for m in c.marks) >= n or c.rc is not None,
               f"{n} times {word}", 60)
        t.wait(lambda: t.relay.hits(lost)[0] > nth_silent.hits, "an Accept", 20)
        nth_silent.hits = t.relay.hits(lost)[0]
        c.gate("seen")

    nth_silent.hits = 0
    for n in (1, 2):
        nth_silent(n)
    c.expect("late")
    t.set(t.b, clc_timeout_ms=500 * t.slow)
    c.gate("short")
    c.expect("long")
    t.set(t.b, clc_timeout_ms=60000)
    nth_silent.hits = t.relay.hits(lost)[0]
    c.gate("long")
    for n in (3, 4, 5):
        nth_silent(n)
    c.expect("speaks")
    t.relay.unrule(lost)
    c.gate("speaks")
    t.expect_all("open", c)
    t.mode(t.b, "SMC-R", 5340)
    c.gate("end")
    s.gate("stop")
    t.wait_all(c, s)
    t.restore()
    t.check(t.queue_pairs(t.b) <= groups + 1, "queue pairs are left")


def tolerant(h, port):
    """Answer requests; a broken connection is no failure."""
    ls = h.listen(port)

    def one(c):
        try:
            h.answer(c)
        except Exception:
            pass
        c.close()

    ls.settimeout(0.2)
    threads = []
    while not h.gate_open("stop"):
        try:
            th = threading.Thread(target=one, args=(h.accept(ls),), daemon=True)
        except (socket.timeout, ConnectionError):
            continue
        th.start()
        threads.append(th)
    for th in threads:
        th.join(h.left())
    ls.close()


@contextlib.contextmanager
def preemptible(vm):
    """In the context a woken thread preempts a call, as on the debug kernel."""
    was = None
    if vm.run(f"test -e {PREEMPT}", check=False).rc == 0:
        was = re.search(r"\((\w+)\)", vm.read(PREEMPT))[1]
        vm.run(f"echo full >{PREEMPT}")
    try:
        yield
    finally:
        if was:
            vm.run(f"echo {was} >{PREEMPT}")


def late_step(t):
    """Delayed work of AF_UNSPEC does not affect the next attempt."""
    s = t.half(t.a, tolerant, port=5343)
    s.expect("listening")
    with preemptible(t.b):
        c = t.half(t.b, overtaken, port=5343)
        t.expect_all("asleep", c)
        held = t.relay.rule(proto="tcp", frm="a", port=5343, flags=SYN | ACK, drop=1)
        c.gate("silent")
        t.expect_all("under way", c)
        t.relay.unrule(held)
        t.wait_all(c)
    s.gate("stop")
    t.wait_all(s)
    t.no_sockets(t.b, 5343)


def run(t):
    if t.family != "smc":
        return
    silent_peer(t)
    late_step(t)
    t.rdma_start()
    s = t.half(t.a, tolerant, port=5341)
    s.expect("listening")
    c = t.half(t.b, many, port=5341)
    t.expect_all("open", c)
    t.mode(t.b, "SMC-R", 5341)
    t.carried(t.b, ROUNDS * 100 + N)
    c.gate("end")
    s.gate("stop")
    t.wait_all(c, s)
    t.step(unread.__doc__)
    was = t.b.read(OPTMEM)
    t.b.run(f"echo 20480 >{OPTMEM}")
    s = t.half(t.a, tolerant, port=5344)
    s.expect("listening")
    t.wait_all(t.half(t.b, unread, port=5344))
    s.gate("stop")
    t.wait_all(s)
    t.b.run(f"echo {was} >{OPTMEM}")
    s = t.half(t.a, discards, port=5342)
    s.expect("listening")
    c = t.half(t.b, racing, port=5342)
    t.wait_all(c)
    s.gate("stop")
    t.wait_all(s)
    for vm in (t.a, t.b):
        t.no_sockets(vm, 5341)
        t.no_sockets(vm, 5342)
