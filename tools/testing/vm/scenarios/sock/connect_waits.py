# SPDX-License-Identifier: GPL-2.0
"""The call that waits for the SYN-ACK continues connect(), or the next call does.

A connect() may end by its timeout or a signal before the SYN-ACK comes. Then a poller or
any other call continues the handshake. Without SMC at the peer this needs no worker, even
where the program makes no call and waits for a signal. A call that comes before connect(), or
outlives it, acts on the state that it found.

covers: OPT-09 OPT-10
"""
import errno
import fcntl
import functools
import os
import select
import signal
import socket
import struct
import threading

from common import serve
from halves import is_asleep
from trap import Trap

vcpus = (1, 2)
timeout = 60
PORT = 5460
PEERNOSMC = 0x03010000
SYN_ACK, RST = 0x12, 4
EVENT = "/sys/kernel/tracing/events/workqueue/workqueue_execute_start/enable"


class Alarm(Exception):
    pass


def stays(h, s, addr):
    """The call waits until the connection is established."""
    h.mark("left")
    s.connect(addr)


def in_vain(h, s, addr):
    """SO_SNDTIMEO ends the call, not the attempt."""
    s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", 0, 200000))
    h.raises("connect() for 0.2 s", errno.EINPROGRESS, s.connect, addr)
    h.raises("connect() for 0.2 s more", errno.EALREADY, s.connect, addr)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", 0, 0))
    h.mark("left")
    until_writable(h, s)


def signalled(h, s, addr):
    """A signal ends the call, not the attempt."""
    def ring(_number, _frame):
        raise Alarm
    signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    try:
        s.connect(addr)
        h.check(False, "connect() came back without a connection")
    except Alarm:
        pass
    h.mark("left")
    until_writable(h, s)


def polls(h, s, addr):
    """The call does not wait."""
    s.setblocking(False)
    h.equal(s.connect_ex(addr), errno.EINPROGRESS, "connect()")
    s.setblocking(True)
    h.mark("left")
    until_writable(h, s)


def sends(h, s, addr):
    """The call does not wait, but the send() after it does."""
    s.setblocking(False)
    h.equal(s.connect_ex(addr), errno.EINPROGRESS, "connect()")
    s.setblocking(True)
    h.mark("left")


def edges(h, s, addr):
    """The call does not wait; edge-triggered epoll reports the outcome once."""
    s.setblocking(False)
    h.equal(s.connect_ex(addr), errno.EINPROGRESS, "connect()")
    ep = select.epoll()
    ep.register(s, select.EPOLLIN | select.EPOLLOUT | select.EPOLLET)
    h.equal(ep.poll(0), [], "events before the answer")
    h.mark("left")
    h.equal(ep.poll(h.left()), [(s.fileno(), select.EPOLLOUT)], "events")
    h.equal(ep.poll(0.1), [], "more events")
    ep.close()
    s.setblocking(True)


def until_writable(h, s):
    p = select.poll()
    p.register(s, select.POLLIN | select.POLLOUT)
    h.equal([ev for _, ev in p.poll(h.left() * 1000)], [select.POLLOUT], "events")
    h.equal(s.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR), 0, "SO_ERROR")


WAYS = {f.__name__: f for f in (stays, in_vain, signalled, polls, edges, sends)}


def client(h, port, way):
    s = h.socket()
    WAYS[way](h, s, (h.config["peer4"], port))
    h.request(s)
    h.mark("asked")
    h.gate("end")
    h.finish(s)


def closes(h, s):
    """The first call: RST, as SO_LINGER says."""
    h.gate("up")
    s.close()


def met_closes(h, c):
    h.raises("read", errno.ECONNRESET, c.recv, 1)


def shuts(h, s):
    """The first call ends one direction and nothing else."""
    h.gate("up")
    s.shutdown(socket.SHUT_WR)
    s.setblocking(True)
    h.equal(h.recv_exact(s, 3), b"bye", "what the server says")
    h.at_end(s)


def met_shuts(h, c):
    h.at_end(c)
    c.sendall(b"bye")


def is_asked(h, s):
    """No call at all: SIGURG, and once."""
    h.check(signal.sigtimedwait([signal.SIGURG], h.left()), "no SIGURG")
    h.equal(s.recv(1, socket.MSG_OOB), b"!", "urgent byte")
    s.setblocking(True)
    h.at_end(s)
    h.check(signal.SIGURG not in signal.sigpending(), "a second SIGURG")


def met_is_asked(h, c):
    c.send(b"!", socket.MSG_OOB)
    c.shutdown(socket.SHUT_WR)
    h.at_end(c)


def is_told(h, s):
    """No call at all: SIGIO."""
    h.check(signal.sigtimedwait([signal.SIGIO], h.left()), "no SIGIO")
    h.equal(s.send(b"?"), 1, "send()")


def met_is_told(h, c):
    h.equal(c.recv(2), b"?", "what the client says")
    h.at_end(c)


FIRST = {f.__name__: f for f in (closes, shuts, is_asked, is_told)}


def first_client(h, port, way):
    """No call waits for the SYN-ACK; WAY is the next event of the socket."""
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGURG, signal.SIGIO])
    s = h.socket()
    s.setblocking(False)
    fcntl.fcntl(s, fcntl.F_SETOWN, os.getpid())
    if way == "is_told":
        fcntl.fcntl(s, fcntl.F_SETFL, os.O_NONBLOCK | os.O_ASYNC)
    if way == "closes":
        s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    h.equal(s.connect_ex((h.config["peer4"], port)), errno.EINPROGRESS, "connect()")
    h.mark("left")
    FIRST[way](h, s)
    s.close()


def first_server(h, port):
    ls = h.listen(port)
    for way in FIRST:
        c = h.accept(ls)
        globals()["met_" + way](h, c)
        c.close()


def speaks_first(h, port, count):
    ls = h.listen(port)
    for _ in range(count):
        c = h.accept(ls)
        c.sendall(b"x")
        h.at_end(c)
        c.close()


def two_poll(h, port, count):
    """Two pollers for each connection both wake, although a worker may fall back meanwhile."""
    for i in range(count):
        s = h.socket()
        s.setblocking(False)
        h.equal(s.connect_ex((h.config["peer4"], port)), errno.EINPROGRESS, "connect()")
        events = []
        pollers = [threading.Thread(target=waits_for, args=(h, s, event, events))
                   for event in (select.POLLIN, select.POLLOUT)]
        for p in pollers:
            p.start()
        for p in pollers:
            p.join()
        h.equal(len(events), 2, f"events of the pollers of connection {i}: {events}")
        h.equal(s.recv(2), b"x", "what the server says")
        s.close()


def waits_for(h, s, event, told):
    p = select.poll()
    p.register(s, event)
    told += [got for _, got in h.poll(p, 20)]


def nobody(h, port):
    """The RST of a closed port comes late."""
    s = h.socket()
    h.mark("left")
    h.raises("connect() to nobody", errno.ECONNREFUSED, s.connect, (h.config["peer4"], port))
    s.close()


def awaits_lock(thread):
    """True if a call of the thread waits for a socket's lock."""
    try:
        with open(f"/proc/self/task/{thread.native_id}/wchan", encoding="ascii") as f:
            return "lock_sock" in f.read()
    except FileNotFoundError:
        return False


def comes_to_wait(h, thread, is_urgent):
    """Wait until a call waits for a lock or has ended; an urgent one runs as soon as it can."""
    if is_urgent:
        os.sched_setscheduler(thread.native_id, os.SCHED_FIFO, os.sched_param(1))
    h.wait(lambda: awaits_lock(thread) or not thread.is_alive(), "a call that waits", 5)


def stuck_call(s):
    """A call that gets stuck with the lock of S held."""
    trap = Trap(2, every=2)
    trap.ip_options(s, 0)
    return trap


def in_turn(h, s, first, second, holds=0):
    """The errnos of two calls; the second one gets the lock of S when the first releases it.

    That is after HOLDS others of the first one's holds.
    """
    def run(i, func, *args):
        try:
            func(*args)
        except OSError as e:
            errnos[i] = e.errno

    def begin(i, call):
        threads.append(threading.Thread(target=run, args=(i, *call), daemon=True))
        threads[i].start()
        comes_to_wait(h, threads[i], i)
    errnos, threads = [0, 0], []
    trap = stuck_call(s)
    trap.wait()
    begin(0, first)
    for _ in range(holds):
        now, trap = trap, stuck_call(s)
        comes_to_wait(h, trap.calls[0][0], True)
        now.let_go(h)
        trap.wait()
        comes_to_wait(h, threads[0], False)
    begin(1, second)
    h.equal(trap.let_go(h), [0], "setsockopt()")
    for i, th in enumerate(threads):
        th.join(h.within(10))
        h.check(not th.is_alive(), f"call {i} hangs")
    return errnos


def others_first(h, port):
    """Calls on a socket without a connection that meet connect() or shutdown()."""
    addr = (h.config["peer4"], port)
    for name, arg, err in (("send", b"early", errno.EPIPE), ("recv", 1, errno.ENOTCONN)):
        s = h.socket()
        h.equal(in_turn(h, s, (getattr(s, name), arg), (s.connect, addr)), [err, 0],
                f"errnos of {name}() and connect()")
        h.request(s)
        h.finish(s)
    for name, arg, err, listens in (("connect", addr, errno.EISCONN, 1),
                                    ("shutdown", socket.SHUT_RD, 0, 0)):
        s = h.socket()
        # a security module asks for the name of the socket first: two holds on SMC
        h.equal(in_turn(h, s, (s.listen,), (getattr(s, name), arg), 2), [0, err],
                f"errnos of listen() and {name}()")
        h.equal(s.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN), listens, "SO_ACCEPTCONN")
        s.close()


def fast_open(h, port, other):
    """sendto(MSG_FASTOPEN) waits for an attempt, which fails, and begins none."""
    def run(func, *args):
        try:
            func(*args)
        except OSError as e:
            errnos.append(e.errno)
    s, errnos = h.socket(), []
    first = threading.Thread(target=run, args=(s.connect, (h.config["peer4"], port)), daemon=True)
    second = threading.Thread(target=run, args=(s.sendto, b"x", socket.MSG_FASTOPEN,
                                                (h.config["peer4"], other)), daemon=True)
    for th in first, second:
        th.start()
        h.wait(functools.partial(is_asleep, th.native_id), "a call that waits", 10)
    # connect() takes the error first
    os.sched_setscheduler(first.native_id, os.SCHED_FIFO, os.sched_param(1))
    h.mark("left")
    for th in first, second:
        th.join(h.left())
    h.equal(sorted(errnos), [errno.ECONNABORTED, errno.ECONNREFUSED], "errnos")
    s.close()


def held(t, c, flags):
    """Delay the server's answer until C has reported that it left connect()."""
    t.expect_all("left", c)
    t.wait(lambda: t.relay.hits(flags)[0], "an answer that is held", 20)
    t.relay.unrule(flags)


def holders(t):
    """The reference count of the client's module, which includes connections being closed."""
    return int(t.b.run("cat /sys/module/smc/refcnt").out) if t.family == "smc" else 0


def one(t, server, port, way):
    is_plain = server == "tcp" or t.family == "tcp"
    t.step(f"{way}, {server} server")
    before = holders(t)
    rule = t.relay.rule(proto="tcp", frm="a", port=port, flags=SYN_ACK, drop=1)
    c = t.half(t.b, client, port=port, way=way)
    held(t, c, rule)
    t.expect_all("asked", c)
    t.mode(t.b, "TCP" if is_plain else "SMC-R", port, reason=PEERNOSMC if is_plain else None)
    if is_plain and way == "stays":
        t.wait(lambda: holders(t) <= before,
               "end of our socket under a connection that fell back", 10)
    c.gate("end")
    t.wait_all(c)


def first_call(t, port, way):
    t.step(f"{way}: {FIRST[way].__doc__}")
    rule = t.relay.rule(proto="tcp", frm="a", port=port, flags=SYN_ACK, drop=1)
    c = t.half(t.b, first_client, port=port, way=way)
    held(t, c, rule)
    if way in ("closes", "shuts"):
        t.wait(lambda: t.b.run(f"ss -tnH state established dport = :{port}").out,
               "a connection", 20)
        c.gate("up")
    t.wait_all(c)


def workers(t, func):
    """The number of handshake workers that the client's machine ran during FUNC()."""
    t.b.write(EVENT, 1)
    t.b.run("echo > /sys/kernel/tracing/trace")
    func()
    t.b.write(EVENT, 0)
    return int(t.b.run("grep -c 'function smc_hs_work' /sys/kernel/tracing/trace || true").out)


def run(t):
    for i, server in enumerate(("tcp", t.family)):
        port = PORT + 2 * i
        s = t.half(t.a, serve, server, port=port, count=len(WAYS))
        s.expect("listening")
        for way in WAYS:
            ran = workers(t, lambda p=port, w=way, k=server: one(t, k, p, w))
            if t.family == "smc":
                t.equal(bool(ran), server == "smc", f"worker, {way}, {server} server, {ran}")
        t.wait_all(s)
    port = PORT + 4
    s = t.half(t.a, first_server, "tcp", port=port)
    s.expect("listening")
    for way in FIRST:
        ran = workers(t, lambda w=way: first_call(t, port, w))
        if t.family == "smc":
            t.equal(ran, 0, f"workers, {way}")
    t.wait_all(s)
    t.step(two_poll.__doc__)
    args = {"port": PORT + 5, "count": 100}
    s = t.half(t.a, speaks_first, "tcp", **args)
    s.expect("listening")
    t.wait_all(s, t.half(t.b, two_poll, **args))
    t.step(others_first.__doc__)
    t.both(serve, others_first, PORT + 6, sargs={"count": 2})
    t.step(nobody.__doc__)
    rule = t.relay.rule(proto="tcp", frm="a", port=PORT + 1, flags=RST, drop=1)
    c = t.half(t.b, nobody, port=PORT + 1)
    held(t, c, rule)
    t.wait_all(c)
    t.step(fast_open.__doc__)
    s = t.half(t.a, serve, "tcp", port=PORT + 7)
    s.expect("listening")
    rule = t.relay.rule(proto="tcp", frm="a", port=PORT + 1, flags=RST, drop=1)
    c = t.half(t.b, fast_open, port=PORT + 1, other=PORT + 7)
    held(t, c, rule)
    t.wait_all(c)
    s.gate("stop")
    t.wait_all(s)
    t.no_sockets(t.b, PORT)
