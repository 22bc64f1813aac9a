# SPDX-License-Identifier: GPL-2.0
"""Non-blocking connect() and epoll work, edge and level triggered.

covers: OPT-09 API-02
"""
import errno
import select
import socket

from common import serve

BURSTS = 30
ASKERS = 20
ESTABLISHED, SYN_SENT = 1, 2     # tcpi_state


def begin(h, port):
    s = h.socket()
    s.setblocking(False)
    err = s.connect_ex((h.config["peer6" if h.v6 else "peer4"], port))
    h.check(err in (0, errno.EINPROGRESS), f"connect gave {errno.errorcode.get(err, err)}")
    return s, err


def connect(h, port):
    """A connect(), a refused connect(), and the results of calls meanwhile."""
    s, err = begin(h, port)
    if err:
        again = s.connect_ex((h.config["peer4"], port))
        h.check(again in (errno.EALREADY, errno.EISCONN, 0), f"second connect: {again}")
    p = select.poll()
    p.register(s, select.POLLOUT | select.POLLIN)
    ev = p.poll(h.left() * 1000)
    h.check(ev and ev[0][1] == select.POLLOUT, f"events after connect: {ev}")
    h.equal(s.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR), 0, "SO_ERROR")
    h.equal(s.getpeername()[:2], (h.config["peer4"], port), "peer's name")
    h.raises("read of nothing", errno.EAGAIN, s.recv, 1)
    s.setblocking(True)
    h.request(s)
    h.finish(s)

    s, err = begin(h, port + 1)  # no listener there
    p = select.poll()
    p.register(s, select.POLLOUT | select.POLLIN)
    ev = p.poll(h.left() * 1000)
    h.check(ev and ev[0][1] & select.POLLERR, f"events after refusal: {ev}")
    h.equal(s.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR), errno.ECONNREFUSED,
            "SO_ERROR after refusal")
    s.close()

    s = h.socket()
    s.settimeout(None)
    h.raises("blocking connect to nobody", errno.ECONNREFUSED, s.connect,
             (h.config["peer4"], port + 1))
    s.close()


def ask_again(h, port, times):
    """A program that only polls TCP_INFO until it is connected."""
    for _ in range(times):
        s, _ = begin(h, port)
        while s.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)[0] == SYN_SENT:
            h.check(h.left() > 1, "not connected, for all the asking")
        h.equal(s.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)[0], ESTABLISHED, "state")
        s.setblocking(True)
        h.request(s)
        h.finish(s)


def accept(h, port):
    """The listener under poll, and bursts of bytes for the epoll client."""
    ls = h.listen(port, mark=False)
    ls.setblocking(False)
    h.raises("accept of nothing", errno.EAGAIN, ls.accept)
    h.mark("listening")
    p = select.poll()
    p.register(ls, select.POLLIN)
    h.check(p.poll(h.left() * 1000), "no event on the listener")
    c, _ = ls.accept()
    c.setblocking(True)
    for i in range(BURSTS):
        c.sendall(bytes([i]) * (1 + i * 997))
        h.equal(h.recv_exact(c, 1), b"k", "answer")
    h.finish(c)


def drain(s):
    """Read until the ring is empty; return the number of bytes."""
    got = 0
    while True:
        try:
            data = s.recv(4096)
        except BlockingIOError:
            return got
        if not data:
            return got
        got += len(data)


def epoll(h, port, edge):
    """Every burst gives an event; under edge trigger only one per burst read."""
    s, err = begin(h, port)
    ep = select.epoll()
    flags = select.EPOLLIN | select.EPOLLOUT | (select.EPOLLET if edge else 0)
    ep.register(s, flags)
    ready = False
    while not ready:
        for _, ev in ep.poll(h.left()):
            h.check(not ev & (select.EPOLLERR | select.EPOLLHUP), f"event {ev:#x}")
            ready = bool(ev & select.EPOLLOUT)
    if not edge:
        ep.modify(s, select.EPOLLIN)
    for i in range(BURSTS):
        want = 1 + i * 997
        got = drain(s) if edge else 0  # its edge may have come with EPOLLOUT
        while got < want:
            evs = ep.poll(h.left())
            h.check(evs, f"no event for burst {i}: {got} of {want}")
            if evs[0][1] & select.EPOLLIN:
                got += drain(s) if edge else len(s.recv(100 + want // 3))
        h.equal(got, want, "bytes of a burst")
        h.equal(s.send(b"k"), 1, "send")
    s.shutdown(socket.SHUT_WR)
    while True:
        evs = ep.poll(h.left())
        h.check(evs, "no event for the end")
        if evs[0][1] & (select.EPOLLIN | select.EPOLLRDHUP | select.EPOLLHUP):
            try:
                h.equal(s.recv(1), b"", "end")
                break
            except BlockingIOError:
                pass
    s.close()


def run(t):
    t.rdma_start()
    t.both(serve, connect, 5010, sargs={"count": 1})
    t.both(serve, ask_again, 5014, sargs={"count": ASKERS}, cargs={"times": ASKERS})
    for edge in (False, True):
        t.both(accept, epoll, 5012, cargs={"edge": edge})
    t.carried(t.a, 2 * sum(1 + i * 997 for i in range(BURSTS)))
    t.no_sockets(t.b, 5012)
