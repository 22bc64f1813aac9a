# SPDX-License-Identifier: GPL-2.0
"""connect() and reused sockets have the same values, errnos and events on TCP and on SMC.

The exceptions are differences that the RFC requires.

covers: API-01 API-02
"""
import ctypes
import errno
import fcntl
import os
import select
import socket
import struct
import threading

from halves import is_asleep, libc
from like import (
    ABORT, another, await_signal, connect, ENDED, FIONREAD, forget, has_shut_read,
    has_shut_write, has_unread, have_signal, ioctl, is_still, MSG_ERRQUEUE, MSG_NOSIGNAL,
    peer_has_shut, POLL_ERR, POLL_IN, serve, STATES, tcp_state)

timeout = 120
ipv = (4, 6)

CLONE_NEWNET = 0x40000000
TCP_FASTOPEN_CONNECT = 30


def no_connection(x, server):
    """All calls on a socket that is not connected."""
    s = x.socket()
    x.poll("new", s)
    x.ioctls("new", s)
    x.call("name", lambda: s.getsockname()[1])
    x.call("peer", s.getpeername)
    x.call("accept", s.accept)
    x.call("recv", s.recv, 1)
    x.call("recv nothing", s.recv, 0)
    x.call("urgent", s.recv, 1, socket.MSG_OOB)
    x.call("send", s.send, b"x", MSG_NOSIGNAL)
    x.call("error queue", s.recv, 1, MSG_ERRQUEUE)
    for how in range(4):
        x.call(f"shutdown {how}", s.shutdown, how)
    x.call("unknown ioctl", ioctl, s, 0x5499)
    s.bind(x.any())
    x.call("bind again", s.bind, x.any())
    x.poll("bound", s)
    x.call("foreign bind", x.socket().bind, ("2001:db8::1" if x.h.v6 else "192.0.2.1", 0))
    x.call("listen", s.listen, 1)
    x.poll("listening", s)
    x.ioctls("listening", s)
    x.call("listen again", s.listen, 5)
    x.call("recv listening", s.recv, 1)
    x.call("send listening", s.send, b"x", MSG_NOSIGNAL)
    x.call("peer listening", s.getpeername)
    x.call("connect listening", s.connect, x.addr())
    s.setblocking(False)
    x.call("accept listening", s.accept)
    for how in (1, 0):
        x.call(f"shutdown {how} listening", s.shutdown, how)
        x.poll(f"after shutdown {how}", s)
        x.call("accept after shutdown", s.accept)
    x.call("listen after shutdown", s.listen, 1)
    x.sync()


def raw_connect(s, data, length=None):
    if libc.connect(s.fileno(), data, len(data) if length is None else length):
        err = ctypes.get_errno()
        raise OSError(err, os.strerror(err))
    return 0


def bad_addresses(x, server):
    s = x.socket()
    for family, size in ((0, 16), (0, 1), (1, 16), (2, 8), (10, 16), (99, 128), (2, 16)):
        if family == 2 and size == 16:
            x.call("connect to port 0", raw_connect, s, struct.pack("HH4s8x", 2, 0, b"\1\2\3\4"))
        else:
            x.call(f"connect {family}, {size}", raw_connect, s,
                   struct.pack("H126x", family)[:size])
    x.poll("after", s)
    x.sync()


def refused(x, server):
    x.sync()
    if not server:
        s = x.socket()
        s.setblocking(True)
        x.call("connect", s.connect, x.addr())
        x.poll("refused", s)
        x.call("error", s.getsockopt, 1, socket.SO_ERROR)
        x.call("shutdown", s.shutdown, 2)
        x.call("connect again", s.connect, x.addr())
        x.sync()
        x.sync()
        x.call("connect at last", s.connect, x.addr())
        x.call("name", lambda: s.getpeername()[:2] == x.addr())
        x.sync()
        return
    x.sync()
    # there was no listener until now
    ls = x.listen()
    c = x.keep(x.h.accept(ls))
    x.poll("server", c)
    x.sync()


def refused_later(x, server):
    """A non-blocking connect() fails: each call reports that."""
    x.sync()
    if server:
        return
    s = x.socket()
    s.setblocking(False)
    x.call("connect", s.connect, x.addr())
    x.until(s, "ERR")
    x.poll("refused", s)
    x.call("urgent", s.recv, 1, socket.MSG_OOB)
    x.call("recv", s.recv, 10)
    x.call("recv again", s.recv, 10)
    x.call("send", s.send, b"x")
    x.poll("error taken", s)
    x.call("connect again", s.connect, x.addr())
    x.poll("once more", s)
    # an option that makes it a TCP socket leaves the error pending
    s = x.socket()
    s.setblocking(False)
    x.call("another connect", s.connect, x.addr())
    x.until(s, "ERR")
    x.call("fast open", s.setsockopt, socket.IPPROTO_TCP, TCP_FASTOPEN_CONNECT, 1)
    x.call("error", s.getsockopt, socket.SOL_SOCKET, socket.SO_ERROR)


def outcome_by_shutdown(x, server):
    """shutdown() before the second connect() reports the outcome of the first."""
    ls = x.listen() if server else x.sync()
    if server:
        x.keep(x.h.accept(ls))
        c = x.h.accept(ls)
        c.setsockopt(1, socket.SO_LINGER, ABORT)
        c.close()
        x.sync()
        return
    for what, port, event in (("accepted", x.port, "OUT"), ("refused", 9, "OUT"),
                              ("aborted", x.port, "ERR")):
        c = x.socket()
        c.setblocking(False)
        x.call(f"connect, {what}", c.connect, x.addr(port))
        x.until(c, event)
        x.call(f"shutdown, {what}", c.shutdown, 1)
        x.call(f"connect again, {what}", c.connect, x.addr(x.port))
        x.poll(what, c)
    x.sync()


def connect_twice(x, server):
    c = x.pair(server)
    if not server:
        x.call("connect again", c.connect, x.addr())
        x.call("connect elsewhere", c.connect, x.addr(x.port + 1))
    x.call("bind", c.bind, x.any())
    x.call("listen", c.listen, 1)
    x.call("accept", c.accept)
    x.poll("connected", c)
    x.ioctls("connected", c)
    x.sync()


def connect_self(x, server):
    """A socket that connects to itself receives its own data."""
    s = x.socket()
    s.bind(("::1" if x.h.v6 else "127.0.0.1", 0))
    x.call("connect", s.connect, s.getsockname())
    x.call("names", lambda: s.getsockname() == s.getpeername())
    x.call("send", s.send, b"hello")
    x.call("recv", s.recv, 10)
    x.poll("self", s)
    x.call("shutdown", s.shutdown, 1)
    x.call("end", s.recv, 1)
    x.sync()


def link_local(dev):
    """The link-local address of a device of this machine."""
    with open("/proc/net/if_inet6", encoding="ascii") as f:
        for line in f:
            addr, _, _, scope, _, name = line.split()
            if scope == "20" and name == dev:
                return socket.inet_ntop(socket.AF_INET6, bytes.fromhex(addr))
    raise LookupError(f"{dev} has no link-local address")


def device_of_address(x, server):
    """bind() to a link-local address binds the socket to its device for good."""
    if server or not x.h.v6:
        return
    index = socket.if_nametoindex("eth0")
    s = x.socket()
    x.call("device", s.getsockopt, socket.SOL_SOCKET, socket.SO_BINDTODEVICE, 16)
    x.call("bind", s.bind, (link_local("eth0"), 0, 0, index))
    x.call("device, bound", s.getsockopt, socket.SOL_SOCKET, socket.SO_BINDTODEVICE, 16)
    x.call("listen", s.listen)
    x.call("device, listening", s.getsockopt, socket.SOL_SOCKET, socket.SO_BINDTODEVICE, 16)
    x.say("scope", s.getsockname()[3] == index)


def dissolved(x, server):
    """connect() to AF_UNSPEC: an attempt, a listener, a connection."""
    s = x.socket()
    s.bind(x.any())
    s.listen(1)
    x.call("listener", raw_connect, s, bytes(16))
    x.poll("listener", s)
    s.setblocking(False)
    x.call("accept", s.accept)
    c = x.pair(server)
    if server:
        x.sync()
        x.until(c, "ERR")
        x.call("recv", c.recv, 1)
        x.call("recv", c.recv, 1)
        return
    x.call("connection", raw_connect, c, bytes(16))
    x.sync()
    x.call("send", c.send, b"x", MSG_NOSIGNAL)
    x.call("name", c.getpeername)


def named(x, server):
    """getpeername() works while there is a connection."""
    ls = x.listen() if server else x.sync()
    for state in STATES:
        what = state.__name__
        c = another(x, ls)
        x.sync()
        state(x, c, server)
        x.sync()
        if c.fileno() >= 0:
            if state in ENDED:
                # TCP's last acknowledgment
                x.h.wait(lambda s=c: tcp_state(s) == 7, f"the end of all when {what}")
            x.call(f"name when {what}", lambda s=c: s.getpeername()[0] == x.addr()[0])
        x.sync()


def use_again(x, what, s):
    """The socket, dissolved before, connects and carries data."""
    x.call(f"connect after {what}", s.connect, x.addr())
    x.poll(f"connected after {what}", s)
    x.call(f"error after {what}", s.getsockopt, 1, socket.SO_ERROR)
    x.call(f"name after {what}", lambda: s.getpeername()[:2] == x.addr())
    x.call(f"send after {what}", s.send, b"next")
    x.call(f"recv after {what}", x.h.recv_exact, s, 4)


def answer_again(x, ls):
    """Answer the client of another connect()."""
    c = x.keep(x.h.accept(ls))
    c.settimeout(None)
    x.h.recv_exact(c, 4)
    c.sendall(b"yes!")
    return c


def dissolved_in_state(x, server):
    """AF_UNSPEC in every state of a connection; then the socket is as new."""
    ls = x.listen() if server else x.sync()
    for state in STATES:
        what = state.__name__
        c = another(x, ls)
        if not server:
            c.setsockopt(6, socket.TCP_NODELAY, 1)
            c.setsockopt(1, socket.SO_PRIORITY, 3)
            x.call("set peek offset", c.setsockopt, 1, 42, 5)  # SO_PEEK_OFF
            cookie = c.getsockopt(1, 57, 8)
        x.sync()
        state(x, c, server)
        x.sync()
        if server:
            x.sync()
            if state in (is_still, has_unread, has_shut_write, has_shut_read, peer_has_shut):
                x.until(c, "ERR")
                x.ends(f"dissolved when {what}", c)
            answer_again(x, ls)
            x.sync()
            continue
        x.call(f"dissolve when {what}", raw_connect, c, bytes(16))
        x.sync()
        x.poll(what, c)
        x.call(f"FIONREAD {what}", ioctl, c, FIONREAD)
        if state is not has_unread:  # its error stays until connect()
            x.ends(what, c)
        x.call(f"peer {what}", c.getpeername)
        x.call(f"port {what}", lambda: c.getsockname()[1] > 0)
        x.call(f"shutdown {what}", c.shutdown, 1)
        x.call(f"dissolve again when {what}", raw_connect, c, bytes(16))
        for level, name in ((6, socket.TCP_NODELAY), (1, socket.SO_PRIORITY), (1, 42)):
            x.call(f"option {level}, {name} {what}", c.getsockopt, level, name)
        x.say(f"cookie {what}", c.getsockopt(1, 57, 8) == cookie)
        use_again(x, what, c)
        # and again at once
        x.call(f"dissolve {what}", raw_connect, c, bytes(16))
        x.sync()


def dissolved_listens(x, server):
    """A connection is dissolved; its socket listens, and is a client again."""
    c = x.pair(server)
    if not server:
        x.sync()
        for _ in range(2):
            use_again(x, "listen", x.socket())
        x.sync()
        x.listen()
        x.sync()
        answer_again(x, x.open[-1])
        return
    x.call("dissolve", raw_connect, c, bytes(16))
    x.call("listen unbound", c.listen, 1)
    x.call("dissolve listener", raw_connect, c, bytes(16))
    c.setsockopt(1, socket.SO_REUSEADDR, 1)
    x.call("bind", c.bind, x.any(x.port))
    x.call("listen", c.listen, 4)
    x.poll("listening", c)
    x.sync()
    for _ in range(2):
        answer_again(x, c)
    x.sync()
    x.call("dissolve listener again", raw_connect, c, bytes(16))
    x.poll("no listener", c)
    x.sync()
    x.sync()
    use_again(x, "listening", c)


NOBODY4, NOBODY6 = "10.43.0.77", "fd43::77"


def nobody(x):
    """An address that does not answer."""
    return (NOBODY6 if x.h.v6 else NOBODY4, x.port)


def is_trying(s):
    """True if it has sent a SYN."""
    return s.getsockopt(6, socket.TCP_INFO, 1) == b"\2"


def attempt_ended(x, server):
    """A connect() under way meets AF_UNSPEC, shutdown(), and calls that wait for it."""
    if server:
        ls = x.listen()
        for _ in range(5):
            answer_again(x, ls)
        x.sync()
        return
    x.sync()
    for how, end in (("dissolve", lambda s: raw_connect(s, bytes(16))),
                     ("shutdown", lambda s: s.shutdown(1))):
        s = x.socket()
        s.setblocking(False)
        x.call("connect", s.connect, nobody(x))
        x.call("connect again", s.connect, nobody(x))
        x.poll("connecting", s)
        x.call(how, end, s)
        x.poll(f"after {how}", s)
        x.call(f"error after {how}", s.getsockopt, 1, socket.SO_ERROR)
        s.setblocking(True)
        use_again(x, how, s)

        s = x.socket()
        told = []

        def connects():
            addr = nobody(x)
            data = (struct.pack("=HHI16sI", 10, socket.htons(addr[1]), 0,
                                socket.inet_pton(10, addr[0]), 0) if x.h.v6 else
                    struct.pack("=HH4s8x", 2, socket.htons(addr[1]), socket.inet_aton(addr[0])))
            try:
                told.append(raw_connect(s, data))
            except OSError as e:
                told.append(errno.errorcode[e.errno])

        s.setblocking(True)
        th = threading.Thread(target=connects)
        th.start()
        x.h.wait(lambda: is_trying(s), "a SYN")
        x.call(how, end, s)
        th.join(x.h.within(20))
        x.say(f"who waited for connect(), {how}", told)
        use_again(x, f"{how} from aside", s)
    # a time limit; the attempt goes on
    s = x.socket()
    s.settimeout(None)
    s.setsockopt(1, socket.SO_SNDTIMEO, struct.pack("qq", 0, 100000))
    x.call("limited", s.connect, nobody(x))
    x.call("limited again", s.connect, nobody(x))
    x.call("dissolve", raw_connect, s, bytes(16))
    s.setsockopt(1, socket.SO_SNDTIMEO, struct.pack("qq", 0, 0))
    use_again(x, "limit", s)
    x.sync()


def sleepers(x, server):
    """AF_UNSPEC wakes sleepers in recv(), send() and poll()."""
    for what in ("recv", "send", "poll"):
        c = x.pair(server)
        if server:
            x.until(c, "ERR")
            x.sync()
            continue
        c.settimeout(None)
        c.setsockopt(1, socket.SO_SNDBUF, 4096)
        told, begun = [], threading.Event()

        def sleeps():
            begun.set()
            try:
                if what == "recv":
                    told.append(c.recv(1))
                elif what == "poll":
                    p = select.poll()
                    p.register(c, select.POLLPRI)
                    told.append([ev for _, ev in p.poll()])
                else:
                    while True:
                        c.send(bytes(65536), MSG_NOSIGNAL)
            except OSError as e:
                told.append(errno.errorcode[e.errno])

        th = threading.Thread(target=sleeps)
        th.start()
        begun.wait()
        x.h.wait(lambda: is_asleep(th.native_id), "a sleeper")
        x.call(f"dissolve under {what}", raw_connect, c, bytes(16))
        th.join(x.h.within(20))
        x.say(f"{what} that slept", told)
        x.sync()


def signal_after_reuse(x, server):
    """O_ASYNC: AF_UNSPEC, shutdown() and later events cause signals."""
    ls = x.listen() if server else x.sync()
    if server:
        c = another(x, ls)
        x.until(c, "ERR")
        x.sync()
        c = another(x, ls)
        x.sync()
        c.send(b"next")
        x.sync()
        return
    for how, end in (("dissolve", lambda s: raw_connect(s, bytes(16))),
                     ("shutdown", lambda s: s.shutdown(1))):
        s = x.socket()
        sig = have_signal(s)
        x.call("connect", s.connect, nobody(x))
        forget(sig)
        x.call(how, end, s)
        x.say(f"signal of {how}", await_signal(x, sig, POLL_ERR))

    # a thread sleeps in recv() meanwhile, which suppresses the signal
    c, told = another(x, None), []
    sig = have_signal(c)
    c.setblocking(True)

    def sleeps():
        try:
            told.append(c.recv(1))
        except OSError as e:
            told.append(errno.errorcode[e.errno])

    th = threading.Thread(target=sleeps)
    th.start()
    x.h.wait(lambda: is_asleep(th.native_id), "a sleeper")
    c.setblocking(False)
    x.call("dissolve", raw_connect, c, bytes(16))
    x.say("signal of dissolve", await_signal(x, sig, POLL_ERR))
    th.join(x.h.within(20))
    x.say("result of the sleeper", told)
    x.sync()
    x.call("connect again", c.connect, x.addr())
    x.until(c, "OUT")
    forget(sig)
    x.sync()
    x.say("signal of data", await_signal(x, sig, POLL_IN))
    x.call("recv", c.recv, 10)
    x.sync()


def namespace(x, server):
    """Both ends in a network namespace of their own."""
    pid = os.fork()
    if not pid:
        rc = 1
        try:
            rc = in_namespace(x)
        finally:
            os._exit(rc)
    x.say("child", os.waitpid(pid, 0)[1])
    x.sync()


def in_namespace(x):
    if libc.unshare(CLONE_NEWNET):
        return 2
    lo = struct.pack("16sh22x", b"lo", 0x41)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        fcntl.ioctl(s, 0x8914, lo)
    ls = x.h.socket()
    ls.bind(("::1" if x.h.v6 else "127.0.0.1", 7000))
    ls.listen(1)
    c = x.h.socket()
    c.connect(ls.getsockname())
    a, _ = ls.accept()
    c.sendall(b"inside")
    return 0 if x.h.recv_exact(a, 6) == b"inside" else 3


CASES = (no_connection, bad_addresses, refused, refused_later, outcome_by_shutdown,
         connect_twice, connect_self, named, device_of_address, dissolved, dissolved_in_state,
         dissolved_listens, attempt_ended, sleepers, signal_after_reuse, namespace)


def server(h, port, peer=None):
    return serve(h, port, CASES, peer)


def client(h, port, peer=None):
    return connect(h, port, CASES, peer)


def run(t):
    from smcvm.like import compare
    # without a MAC address an attempt fails after three seconds, within whatever call
    for ip in (NOBODY4, NOBODY6):
        t.b.run(f"ip neigh replace {ip} lladdr 02:00:00:00:00:77 nud permanent dev eth0")
    try:
        compare(t, server, client, len(CASES))
    finally:
        for ip in (NOBODY4, NOBODY6):
            t.b.run(f"ip neigh del {ip} dev eth0", check=False)
