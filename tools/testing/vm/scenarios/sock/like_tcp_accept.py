# SPDX-License-Identifier: GPL-2.0
"""Listeners and accept() have the same values, errnos and events on TCP and on SMC.

The exceptions are differences that the RFC requires.

covers: API-01
"""
import errno
import fcntl
import os
import select
import socket
import struct
import subprocess
import threading
import time

from common import drops, dumped_queue, queue_info
from halves import is_asleep, libc
from like import connect, serve

timeout = 120
ipv = (4, 6)


def accept_timed(x, server):
    """accept() with SO_RCVTIMEO: it times out, then a client comes in time."""
    if not server:
        x.sync()
        x.sync()
        x.socket().connect(x.addr())
        x.sync()
        return
    ls = x.listen()
    ls.settimeout(None)
    ls.setsockopt(1, socket.SO_RCVTIMEO, struct.pack("qq", 0, 300000))
    began = time.monotonic()
    x.call("nobody", ls.accept)
    x.say("waited", time.monotonic() - began > 0.2)
    ls.setsockopt(1, socket.SO_RCVTIMEO, struct.pack("qq", 1000, 0))

    def take():
        c = x.call("somebody", x.h.accept, ls)
        if c:
            x.keep(c)

    th = threading.Thread(target=take, daemon=True)
    th.start()
    x.h.wait(lambda: is_asleep(th.native_id) or not th.is_alive(), "a sleeper")
    x.say("asleep", th.is_alive())
    x.sync()
    th.join(x.h.within(20))
    x.sync()


def listener_closed(x, server):
    """A listener that closes resets a peer that was not accepted."""
    if server:
        ls = x.listen()
        x.until(ls, "IN")
        # a reset that overtakes connect() is its error
        x.sync()
        ls.close()
        x.sync()
        return
    x.sync()
    s = x.socket()
    x.call("connect", s.connect, x.addr())
    x.sync()
    x.sync()
    x.until(s, "ERR")
    x.ends("reset", s)


def listener_killed(x, server):
    """An operator ends the listener: accept() returns an error, and it can listen again."""
    if not server:
        x.sync()
        x.sync()
        s = x.socket()
        x.call("connect", s.connect, x.addr())
        x.sync()
        return
    ls, told = x.listen(), []
    ls.settimeout(None)

    def accepts():
        try:
            told.append(ls.accept())
        except OSError as e:
            told.append(errno.errorcode[e.errno])

    th = threading.Thread(target=accepts, daemon=True)
    th.start()
    x.h.wait(lambda: is_asleep(th.native_id), "a sleeper")
    subprocess.run(["ss", "-tK", "state", "listening", f"sport = :{x.port}"], check=True,
                   stdout=subprocess.DEVNULL)
    th.join(x.h.within(20))
    x.say("result of accept()", told)
    x.poll("killed", ls)
    x.call("error", ls.getsockopt, 1, socket.SO_ERROR)
    x.poll("after that", ls)
    x.call("accept", ls.accept)
    x.call("listen", ls.listen, 4)
    x.poll("listening", ls)
    x.sync()
    x.until(ls, "IN")
    x.call("accept again", lambda: x.keep(ls.accept()[0]))
    x.sync()


def full_backlog(x, server):
    """A backlog of 2 takes three; the fourth waits until there is room."""
    if server:
        ls = x.listen(2)
        x.sync()
        # A client's connect() may end before the server has queued the child: the fourth
        # would get in. A child may be in TCP's queue and leave it again for the handshake.
        x.h.wait(lambda: queue_info(ls)[1] == 3, "a full queue")
        x.say("TCP_INFO of a full queue", queue_info(ls))
        x.say("TCP's dumps of a full queue", dumped_queue(x.port))
        before = drops()
        x.sync()
        x.sync()
        x.h.wait(lambda: drops() > before, "a refused SYN")
        x.sync()
        for i in range(4):
            x.call("accept", x.h.accept, ls).close()
            # the fourth may follow at any time
            if i == 3:
                x.say("TCP_INFO of an empty queue", queue_info(ls))
                x.say("TCP's dumps of an empty queue", dumped_queue(x.port))
        return
    x.sync()
    for _ in range(3):
        x.call("connect", x.socket().connect, x.addr())
    x.sync()
    x.sync()
    late = x.socket()
    late.setblocking(False)
    x.call("fourth", late.connect, x.addr())
    x.sync()
    x.poll("fourth", late)
    x.sync()
    x.until(late, "OUT")
    x.call("fourth at last", late.getsockopt, 1, socket.SO_ERROR)


def behind_plain(x, server):
    """connect() does not wait for accept() of earlier clients, of TCP or of SMC."""
    if server:
        ls = x.listen(8)
        x.sync()
        for _ in range(8):
            c = x.call("accept", x.h.accept, ls)
            c.sendall(b"here")
            c.close()
        return
    x.sync()
    socks = []
    for is_plain in (True, False, True, True, False, False, True, False):
        s = x.keep(socket.socket(socket.AF_INET6 if x.h.v6 else socket.AF_INET)) \
            if is_plain else x.socket()
        # accept() starts after the last connect()
        s.settimeout(x.h.left())
        x.call("connect", s.connect, x.addr())
        socks.append(s)
    x.sync()
    for s in socks:
        x.call("recv", x.h.recv_exact, s, 4)


def accept_flags(x, server):
    if not server:
        x.sync()
        x.socket().connect(x.addr())
        x.socket().connect(x.addr())
        x.sync()
        return
    ls = x.listen()
    for flags in (0, socket.SOCK_NONBLOCK | socket.SOCK_CLOEXEC):
        fd = libc.accept4(ls.fileno(), None, None, flags)
        x.say(f"accept4 {flags:#x} nonblock", bool(fcntl.fcntl(fd, fcntl.F_GETFL) & os.O_NONBLOCK))
        x.say(f"accept4 {flags:#x} cloexec", fcntl.fcntl(fd, fcntl.F_GETFD))
        os.close(fd)
    x.say("accept4 of nonsense", libc.accept4(ls.fileno(), None, None, 0x1234567))
    x.sync()


def shared_listener(x, server):
    """Threads that wait for the same listener by EPOLLEXCLUSIVE, and in accept()."""
    if not server:
        x.sync()
        for _ in range(2):
            for _ in range(4):
                s = x.socket()
                s.connect(x.addr())
                x.call("greeting", x.h.recv_exact, s, 2)
            x.sync()
        return
    ls = x.listen()
    for how in ("epoll", "accept"):
        ls.setblocking(how == "accept")
        taken, lock = [], threading.Lock()

        def serve():
            ep = select.epoll()
            ep.register(ls, select.EPOLLIN | select.EPOLLEXCLUSIVE)
            while len(taken) < 4:
                if how == "epoll" and not ep.poll(0.1):
                    continue
                try:
                    c = ls.accept()[0]
                except OSError:
                    continue
                with lock:
                    taken.append(c)
                c.sendall(b"hi")

        threads = [threading.Thread(target=serve, daemon=True) for _ in range(3)]
        for th in threads:
            th.start()
        x.h.wait(lambda: len(taken) == 4, "four connections")
        if how == "accept":
            ls.shutdown(socket.SHUT_RDWR)
        for th in threads:
            th.join(x.h.within(20))
        x.say(f"{how}: threads left", sum(th.is_alive() for th in threads))
        x.open += taken
        x.sync()


CASES = (listener_closed, listener_killed, full_backlog, behind_plain, accept_flags,
         accept_timed, shared_listener)


def server(h, port, peer=None):
    return serve(h, port, CASES, peer)


def client(h, port, peer=None):
    return connect(h, port, CASES, peer)


def run(t):
    from smcvm.like import compare
    compare(t, server, client, len(CASES))
