# SPDX-License-Identifier: GPL-2.0
"""Connections end with the same values, errnos and events on TCP and on SMC.

The exceptions are differences that the RFC requires.

covers: CLOSE-07 CLOSE-03 CLOSE-04 CLOSE-17 CLOSE-25 ABRT-05
"""
import itertools
import socket

from like import (
    ABORT, another, connect, ENDED, FIONREAD, has_shut_read, has_unread, ioctl, is_still,
    MSG_NOSIGNAL, peer_has_closed, peer_has_shut, serve, STATES, tcp_state)

timeout = 120
ipv = (4, 6)

MUCH = 32 << 20     # bytes, more than TCP buffers


def half_closed(x, server):
    """shutdown() in both directions, one after the other."""
    c = x.pair(server)
    if server:
        c.sendall(b"bye")
        x.call("shutdown write", c.shutdown, 1)
        x.call("shutdown write again", c.shutdown, 1)
        x.call("send", c.send, b"x", MSG_NOSIGNAL)
        x.poll("write shut", c)
        x.sync()
        x.sync()
        x.call("recv", x.h.recv_exact, c, 4)
        x.call("end", c.recv, 1)
        x.ends("ended", c)
        x.call("shutdown", c.shutdown, 2)
        return
    x.sync()
    x.until(c, "RDHUP")
    x.poll("peer's end", c)
    x.ioctls("peer's end", c)
    x.call("recv", c.recv, 10)
    x.call("end", c.recv, 10)
    x.ioctls("end", c)
    x.call("send", c.send, b"more")
    x.call("peer's name", lambda: c.getpeername()[:2] == x.addr())
    x.call("shutdown read", c.shutdown, 0)
    x.poll("read shut", c)
    x.call("shutdown write", c.shutdown, 1)
    x.sync()
    x.call("send", c.send, b"x", MSG_NOSIGNAL)


def read_shut(x, server):
    """shutdown(SHUT_RD): the end for the reader, nothing to the peer."""
    c = x.pair(server)
    if server:
        x.call("shutdown read", c.shutdown, 0)
        x.poll("read shut", c)
        x.call("recv", c.recv, 10)
        x.call("send", c.send, b"still")
        x.sync()
        return
    x.sync()
    x.call("recv", c.recv, 10)
    x.poll("peer's reading shut", c)


def both_close(x, server):
    """Both shut down everything at the same time."""
    c = x.pair(server)
    x.call("shutdown", c.shutdown, 2)
    x.sync()
    x.until(c, "HUP")
    x.ends("both", c)


def closed_by_peer(x, server):
    """The peer closes; its data are still readable."""
    c = x.pair(server)
    if server:
        c.sendall(b"last words")
        c.close()
        x.sync()
        x.sync()
        return
    x.sync()
    x.until(c, "RDHUP")
    x.poll("closed", c)
    x.call("recv", c.recv, 40)
    x.call("end", c.recv, 40)
    x.call("end again", c.recv, 40)
    x.poll("read", c)
    x.sync()


def sent_in_vain(x, server):
    """The peer has closed; later data cause errors on both sides."""
    c = x.pair(server)
    if server:
        c.close()
        x.sync()
        x.sync()
        return
    x.until(c, "RDHUP")
    x.sync()
    x.call("send", c.send, b"useless")
    x.until(c, "ERR")
    x.poll("reset", c)
    x.call("name", c.getpeername)
    x.call("shutdown", c.shutdown, 1)
    x.call("recv", c.recv, 10)
    x.call("error", c.getsockopt, socket.SOL_SOCKET, socket.SO_ERROR)
    x.ends("end", c)
    x.sync()


def much_in_vain(x, server):
    """The same with more than one send() takes: the next send() gets the error."""
    c = x.pair(server)
    if server:
        c.close()
        x.sync()
        x.sync()
        return
    x.until(c, "RDHUP")
    x.sync()
    c.setblocking(False)
    x.say("took everything", c.send(bytes(MUCH)) == MUCH)
    x.until(c, "ERR")
    x.poll("reset", c)
    x.call("the rest", c.send, b"rest", MSG_NOSIGNAL)
    x.ends("end", c)
    x.sync()


def aborted(x, server):
    """SO_LINGER of 0: the peer is reset."""
    c = x.pair(server)
    if server:
        c.sendall(b"read")
        x.sync()
        c.setsockopt(1, socket.SO_LINGER, ABORT)
        c.close()
        x.sync()
        return
    x.call("recv", c.recv, 40)
    x.sync()
    x.sync()
    x.until(c, "ERR")
    x.poll("aborted", c)
    x.call("send", c.send, b"x", MSG_NOSIGNAL)
    x.ends("aborted", c)
    x.call("shutdown", c.shutdown, 1)


def closed_unread(x, server):
    """close() with unread data aborts."""
    c = x.pair(server)
    if server:
        x.until(c, "IN")
        c.close()
        x.sync()
        return
    c.sendall(b"unread")
    x.sync()
    x.until(c, "ERR")
    x.call("error", c.getsockopt, 1, socket.SO_ERROR)
    x.ends("reset", c)


def shut_in_state(x, server):
    """shutdown() of each direction in every state of a connection."""
    ls = x.listen() if server else x.sync()
    for state, how in itertools.product(STATES, range(3)):
        if (state, how) == (has_unread, 2):
            continue    # see APART
        what = f"{how} when {state.__name__}"
        c = another(x, ls)
        x.sync()
        state(x, c, server)
        x.sync()
        if state in ENDED and c.fileno() >= 0:
            x.h.wait(lambda s=c: tcp_state(s) == 7, f"the end of all when {state.__name__}")
        x.sync()
        if not server:
            x.call(f"shutdown {what}", c.shutdown, how)
            x.poll(f"shut {what}", c)
        elif how and state in (is_still, has_unread, has_shut_read, peer_has_shut):
            x.until(c, "HUP" if state is peer_has_shut else "RDHUP")
            x.poll(f"peer has shut {what}", c)
            x.call(f"recv, peer has shut {what}", c.recv, 10)
        x.sync()
        if not server:
            x.call(f"recv {what}", c.recv, 10, socket.MSG_DONTWAIT)
            x.call(f"recv again {what}", c.recv, 10, socket.MSG_DONTWAIT)
            if how:
                x.call(f"send {what}", c.send, b"x", MSG_NOSIGNAL | socket.MSG_DONTWAIT)
            x.call(f"error {what}", c.getsockopt, 1, socket.SO_ERROR)
            if how and state in (peer_has_shut, peer_has_closed):
                # the peer's last acknowledgment
                x.h.wait(lambda s=c: tcp_state(s) == 7, f"the end of all, {what}")
            x.call(f"shutdown again {what}", c.shutdown, how)
        x.sync()


def has_come(x, c, n):
    x.h.wait(lambda: ioctl(c, FIONREAD) == n, f"{n} bytes")


def shut_unread(x, server):
    """shutdown(SHUT_RDWR) with unread received data."""
    c = x.pair(server)
    if server:
        c.sendall(b"unread")
        x.sync()
        x.until(c, "RDHUP")
        x.call("recv", c.recv, 10)
        return
    has_come(x, c, 6)
    x.call("shutdown", c.shutdown, 2)
    x.call("recv", c.recv, 10)
    x.sync()


def reset_unread(x, server):
    """The peer resets a connection on which data wait to be read."""
    c = x.pair(server)
    if server:
        c.sendall(b"unread")
        x.sync()
        c.setsockopt(1, socket.SO_LINGER, ABORT)
        c.close()
        return
    has_come(x, c, 6)
    x.sync()
    x.until(c, "ERR")
    x.call("recv", c.recv, 10)
    x.call("recv again", c.recv, 10)


def answered_unread(x, server):
    """The peer answers and closes with bytes unread: the answer is readable after the reset."""
    for order in ("recv", "recv", "send"), ("send", "recv", "recv"), ("send", "send", "recv"):
        c = x.pair(server)
        if server:
            x.until(c, "IN")
            c.recv(1)
            c.sendall(b"bad request")
            c.close()
            x.sync()
            continue
        c.sendall(b"request, and more of it")
        x.sync()
        x.until(c, "ERR")
        x.poll("reset", c)
        x.ioctls("reset", c)
        for i, what in enumerate(order):
            if what == "recv":
                x.call(f"{i}: recv", c.recv, 20)
            else:
                x.call(f"{i}: send", c.send, b"x", MSG_NOSIGNAL)
        x.call("end", c.recv, 20)
        c.close()


CASES = (half_closed, read_shut, both_close, closed_by_peer, sent_in_vain, much_in_vain,
         aborted, closed_unread, shut_in_state, reset_unread, answered_unread)


def server(h, port, peer=None):
    return serve(h, port, CASES, peer)


def client(h, port, peer=None):
    return connect(h, port, CASES, peer)


# The results on TCP and on SMC: those of the server, those of the client
APART = {
    shut_unread: {
        "tcp": (["recv: b''"], ["shutdown: None", "recv: b'unread'"]),
        # CLOSE-03, CLOSE-07
        "smc": (["recv: ECONNRESET"], ["shutdown: None", "recv: ECONNRESET"]),
    },
}


def apart_server(h, port):
    return serve(h, port, APART)


def apart_client(h, port):
    return connect(h, port, APART)


def apart(t, first_port):
    """Differences that the RFC requires."""
    t.step(apart.__doc__)
    for i, family in enumerate(("tcp", t.family)):
        port = first_port + 10 * i
        s = t.half(t.a, apart_server, family, port=port)
        s.expect("listening", t.left())
        c = t.half(t.b, apart_client, family, port=port)
        t.wait_all(s, c)
        for case, want in APART.items():
            t.equal((s.value[case.__name__], c.value[case.__name__]), want[family],
                    f"{case.__name__} on {family}")


def run(t):
    from smcvm.like import PORT, compare
    compare(t, server, client, len(CASES))
    apart(t, PORT + 1000)
