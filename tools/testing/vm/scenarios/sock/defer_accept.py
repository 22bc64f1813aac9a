# SPDX-License-Identifier: GPL-2.0
"""TCP_DEFER_ACCEPT delays accept() until the first byte, on TCP, SMC-R and after a Decline.

Later events show that an event has not happened: a client that connects later and sends is
accepted before a silent one.

covers: API-04 API-06
"""
import errno
import select
import socket
import struct

timeout = 120

AFAR = ("10.48.0.1", "10.49.0.2")  # of A and B, in different subnets: declined
DEFER = socket.TCP_DEFER_ACCEPT
ABORT = struct.pack("ii", 1, 0)
LONG = 30  # seconds, more than the rest of a step takes


def server(h, port, ctl_port):
    """Listens; each step commands the client and checks the result."""
    ctl = h.accept(h.listen(ctl_port, family="tcp"))

    def tell(word):
        ctl.sendall(word.encode() + b"\n")
        h.equal(h.recv_exact(ctl, 1), b".", f"client's answer to {word}")

    ls = listener(h, port, LONG)
    out = {}
    for step in (order, ends, aborts, edges, crowd, closes):
        h.mark(step.__name__)
        ls = step(h, ls, tell, out) or ls
    ls.close()
    ls = listener(h, port, 1)
    in_time(h, ls, tell, out)
    tell("bye")
    return out


def listener(h, port, seconds, backlog=16):
    ls = h.socket()
    ls.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    ls.setsockopt(socket.IPPROTO_TCP, DEFER, seconds)
    ls.bind(("0.0.0.0", port))
    ls.listen(backlog)
    ls.settimeout(h.left())
    return ls


def readable(ls, seconds=0):
    return bool(select.select([ls], [], [], seconds)[0])


def said(h, c):
    c.settimeout(h.left())
    return c.recv(1).decode()


def order(h, ls, tell, out):
    """The client that sends first is accepted first."""
    tell("connect a")
    tell("connect b")
    h.check(not readable(ls), "a silent client can be accepted")
    h.raises("accept of silent clients", errno.EAGAIN, nonblocking, ls)
    tell("send b")
    out["first"] = said(h, h.accept(ls))
    tell("send a")
    out["second"] = said(h, h.accept(ls))
    tell("close")


def nonblocking(ls):
    limit = ls.gettimeout()
    ls.setblocking(False)
    try:
        return ls.accept()
    finally:
        ls.settimeout(limit)


def ends(h, ls, tell, out):
    """The end of the stream counts as a first byte."""
    tell("connect a")
    tell("connect b")
    tell("shut b")
    c = h.accept(ls)
    out["end"] = said(h, c)
    tell("close a")
    out["closed"] = said(h, h.accept(ls))
    tell("close")


def aborts(h, ls, tell, out):
    """A client that aborts before it sends is never accepted; one that has sent is."""
    tell("connect a")
    tell("connect b")
    tell("abort a")
    tell("send b")
    out["after an abort"] = said(h, h.accept(ls))
    h.check(not readable(ls), "an aborted client can be accepted")
    tell("close")


def edges(h, ls, tell, out):
    """epoll on the listener: nothing, then one edge for each client's first byte."""
    ep = select.epoll()
    ep.register(ls, select.EPOLLIN | select.EPOLLET)
    tell("connect a")
    tell("connect b")
    out["silence"] = ep.poll(0)
    for name in "ab":
        tell(f"send {name}")
        evs = ep.poll(h.left())
        out[f"edge {name}"] = [ev for _, ev in evs]
        out[f"word {name}"] = said(h, h.accept(ls))
        out[f"no edge {name}"] = ep.poll(0)
    tell("close")


def crowd(h, ls, tell, out):
    """Silent clients take no place in the backlog."""
    ls.listen(4)
    for name in "abcdefgh":
        tell(f"connect {name}")
        if name > "d":
            tell(f"send {name}")
    out["crowd"] = [said(h, h.accept(ls)) for _ in "efgh"]
    for name in "dcba":
        tell(f"send {name}")
        out[f"crowd {name}"] = said(h, h.accept(ls))
    ls.listen(16)
    tell("close")


def closes(h, ls, tell, out):
    """A close of the listener resets silent clients, at the latest when they send."""
    port = ls.getsockname()[1]
    tell("connect a")
    ls.close()
    tell("reset a")
    tell("close")
    return listener(h, port, LONG)


def in_time(h, ls, tell, out):
    """After the time of the option a silent client is accepted."""
    tell("connect a")
    c = h.accept(ls)
    c.settimeout(None)
    out["late"] = told(c)
    tell("send a")
    c.settimeout(h.left())
    out["late word"] = said(h, c)
    tell("close")


def told(c):
    try:
        return c.recv(1, socket.MSG_DONTWAIT).decode()
    except OSError as e:
        return errno.errorcode[e.errno]


def client(h, port, ctl_port, host):
    ctl = h.connect(ctl_port, family="tcp").makefile("rw")
    socks = {}
    for line in ctl:
        word, _, name = line.strip().partition(" ")
        if word == "connect":
            socks[name] = h.socket()
            socks[name].connect((host, port))
        elif word == "send":
            socks[name].sendall(name.encode())
        elif word == "shut":
            socks[name].shutdown(socket.SHUT_WR)
        elif word == "abort":
            socks[name].setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, ABORT)
            socks.pop(name).close()
        elif word == "reset":
            h.wait(lambda: is_reset(socks[name]), "a reset")
        elif word == "close":
            for s in [socks.pop(name)] if name else [socks.pop(n) for n in list(socks)]:
                s.close()
        ctl.write(".")
        ctl.flush()


def is_reset(s):
    s.setblocking(False)
    try:
        s.send(b"x", socket.MSG_NOSIGNAL)
        s.recv(1)
    except BlockingIOError:
        return False
    except OSError as e:
        return e.errno in (errno.ECONNRESET, errno.EPIPE)
    return False


def play(t, port, family, host, client_family=None):
    t.step(f"deferred over {family} to {host}, client on {client_family or family}")
    s = t.half(t.a, server, family, port=port, ctl_port=port + 1)
    s.expect("listening", t.left())
    c = t.half(t.b, client, client_family or family, port=port, ctl_port=port + 1, host=host)
    t.wait_all(s, c)
    return s.value


def compare(t):
    want = play(t, 5300, "tcp", t.a.ip)
    before = {k: t.stat(t.a, k) for k in ("server_smc", "server_tcp")}
    got = {"SMC-R": play(t, 5310, t.family, t.a.ip)}
    if t.family == "smc":
        new = t.stat(t.a, "server_smc") - before["server_smc"]
        t.check(new >= 15, f"{new} connections with SMC")
    declined = t.stat(t.b, "decline_rx")
    got["declined"] = play(t, 5320, t.family, AFAR[0])
    if t.family == "smc":
        new = t.stat(t.b, "decline_rx") - declined
        t.check(new >= 12, f"{new} Declines")
    got["TCP client"] = play(t, 5330, t.family, t.a.ip, "tcp")
    if t.family == "smc":
        new = t.stat(t.a, "server_tcp") - before["server_tcp"]
        t.check(new >= 25, f"{new} connections with TCP")
    for kind, value in got.items():
        bad = {k: (want[k], value.get(k)) for k in want if value.get(k) != want[k]}
        t.check(not bad, f"{kind}: (TCP, here) {bad}")
    t.equal((want["first"], want["second"], want["end"], want["late"], want["silence"]),
            ("b", "a", "", "EAGAIN", []), "TCP itself")
    for vm in (t.a, t.b):
        t.no_sockets(vm, 5310)


def run(t):
    # each is to be declined
    t.set(t.b, peer_memory_ms=0)
    for vm, own, peer in ((t.a, *AFAR), (t.b, *AFAR[::-1])):
        vm.run(f"ip addr add {own}/24 dev eth0; ip route add {peer} dev eth0 src {own}")
    try:
        compare(t)
    finally:
        for vm, own, peer in ((t.a, *AFAR), (t.b, *AFAR[::-1])):
            vm.run(f"ip route del {peer} dev eth0; ip addr del {own}/24 dev eth0")
