# SPDX-License-Identifier: GPL-2.0
"""BPF programs of control groups and sockmaps see an SMC socket's TCP socket correctly.

A program of a control group sees TCP's sockets. A sockmap refuses a connection on which SMC
has been agreed, at either end, as it refuses kTLS; it takes connections that are TCP. Data
is correct and complete in all cases.

covers: DCLN-02 API-01 API-04
"""
import errno
import os
import select
import socket

import bpf
from common import stream_client, stream_server

timeout = 120
GROUP = "/sys/fs/cgroup/bpf"
NOWHERE = "10.43.0.99"


def group(port):
    """Move the process and its sockets to a control group; return its directory's descriptor."""
    path = f"{GROUP}{port}"
    os.makedirs(path, exist_ok=True)
    with open(f"{path}/cgroup.procs", "w", encoding="ascii") as f:
        f.write(str(os.getpid()))
    return os.open(path, os.O_RDONLY | os.O_DIRECTORY)


def mapped(port, verdicts):
    """All TCP connections of the group enter a sockmap, with programs if VERDICTS."""
    fd = bpf.sockhash()
    if verdicts:
        bpf.attach(bpf.load_prog(bpf.SK_MSG, bpf.answer(1)), fd, bpf.AT_MSG_VERDICT)
        bpf.attach(bpf.load_prog(bpf.SK_SKB, bpf.answer(1)), fd, bpf.AT_STREAM_VERDICT)
    bpf.attach(bpf.take_established(fd), group(port), bpf.AT_SOCK_OPS)
    return fd


class Woken:
    """A socket whose recv() may have nothing to give: a verdict program has woken it
    too early, and TCP says EAGAIN, though the socket blocks."""

    def __init__(self, s):
        self.s = s

    def __getattr__(self, name):
        return getattr(self.s, name)

    def recv(self, *args):
        while True:
            try:
                return self.s.recv(*args)
            except BlockingIOError:
                select.select([self.s], [], [])


def move(h, s, n_in, n_out, seed_in):
    """Verified bytes both ways, and an end in good order."""
    s = Woken(s)
    h.both_ways(s, n_out, 3 - seed_in, n_in, seed_in)
    h.mark("moved")
    h.gate("end")
    h.finish(s)


def mapped_server(h, port, n_in, n_out, verdicts=True):
    fd = mapped(port, verdicts)
    ls = h.listen(port)
    move(h, h.accept(ls), n_in, n_out, 1)
    ls.close()
    os.close(fd)


def mapped_client(h, port, n_in, n_out, verdicts=True):
    fd = mapped(port, verdicts)
    move(h, h.connect(port), n_out, n_in, 2)
    os.close(fd)


def redirected_client(h, port, n_in, n_out):
    """connect() to an unused address; programs of the group also act on options."""
    to = socket.inet_aton(h.config["peer4"])
    where = group(port)
    bpf.attach(bpf.go_elsewhere(to), where, bpf.AT_CONNECT4)
    for place in (bpf.AT_GETSOCKOPT, bpf.AT_SETSOCKOPT):
        bpf.attach(bpf.load_prog(bpf.CGROUP_SOCKOPT, bpf.answer(1), place), where, place)
    s = h.connect(port, addr=NOWHERE)
    h.equal(s.getpeername()[0], h.config["peer4"], "peer")
    s.setsockopt(socket.SOL_TCP, socket.TCP_NODELAY, 1)
    h.equal(s.getsockopt(socket.SOL_TCP, socket.TCP_NODELAY), 1, "TCP_NODELAY")
    # no program lets it pass: EPERM, as on TCP
    deny = bpf.load_prog(bpf.CGROUP_SOCKOPT, bpf.answer(0), bpf.AT_SETSOCKOPT)
    bpf.attach(deny, where, bpf.AT_SETSOCKOPT)
    h.raises("setsockopt() that a program refuses", errno.EPERM, s.setsockopt,
             socket.SOL_TCP, socket.TCP_NODELAY, 0)
    h.equal(s.getsockopt(socket.SOL_TCP, socket.TCP_NODELAY), 1, "TCP_NODELAY")
    h.send_stream(s, n_out, 1)
    h.recv_stream(s, n_in, 2)
    h.mark("moved")
    h.gate("end")
    h.finish(s)


def refused_server(h, port, n_in, n_out):
    """A child belongs to its listener's control group, as with TCP."""
    where = group(port)
    ls = h.listen(port)
    c = h.accept(ls)
    deny = bpf.load_prog(bpf.CGROUP_SOCKOPT, bpf.answer(0), bpf.AT_SETSOCKOPT)
    bpf.attach(deny, where, bpf.AT_SETSOCKOPT)
    for s in (ls, c):
        h.raises("setsockopt() that a program refuses", errno.EPERM, s.setsockopt,
                 socket.SOL_TCP, socket.TCP_NODELAY, 1)
    move(h, c, n_in, n_out, 1)
    ls.close()


def by_hand(h, port, want):
    """A program puts its own socket into a sockmap: TCP may go there, SMC may not."""
    s = h.connect(port)
    fd = bpf.sockhash()
    key = bytes(8)
    if want == "SMC-R":
        h.raises("a socket on SMC in a sockmap", errno.EOPNOTSUPP, bpf.update, fd, key,
                 s.fileno())
        h.check(not bpf.has(fd, key), "it is in there")
    else:
        bpf.update(fd, key, s.fileno())
    h.request(s, 5000, 5000)
    if want == "TCP":
        h.check(bpf.has(fd, key), "it is not in there")
    h.request(s, 5000, 5000)
    h.mark("moved")
    h.gate("end")
    h.finish(s)


def answers(h, port):
    ls = h.listen(port)
    c = h.accept(ls)
    h.answer(c)
    c.close()
    ls.close()


def both(t, port, server, client, want, skw=None, ckw=None):
    """One verified stream, and sock_diag's entries of its ends."""
    n = t.pick(1_500_007, 200_003)
    t.rdma_start()
    s = t.half(t.a, server, port=port, n_in=n, n_out=n, **(skw or {}))
    s.expect("listening", t.left())
    c = t.half(t.b, client, port=port, n_in=n, n_out=n, **(ckw or {}))
    t.expect_all("moved", s, c)
    for vm in (t.a, t.b):
        t.mode(vm, want, port)
        if want == "SMC-R":
            t.carried(vm, n)
        else:
            t.not_carried(vm)
    for half in (s, c):
        half.gate("end")
    t.wait_all(s, c)
    for vm in (t.a, t.b):
        t.no_sockets(vm, port)


def play(t):
    port = 5900
    for verdicts in (False, True):
        what = "with programs" if verdicts else "alone"
        kw = {"verdicts": verdicts}
        t.step(f"a sockmap, {what}, wants what the server's TCP accepts")
        both(t, port, mapped_server, stream_client, "SMC-R", skw=kw)
        t.step(f"a sockmap, {what}, wants what the client's TCP has connected")
        both(t, port + 1, stream_server, mapped_client, "SMC-R", ckw=kw)
        t.step(f"both, {what}")
        both(t, port + 2, mapped_server, mapped_client, "SMC-R", skw=kw, ckw=kw)
        port += 3
    t.step("a program of the client's group chooses another address")
    both(t, port, stream_server, redirected_client, "SMC-R")
    t.step("a program of the server's group sees what accept() has returned")
    port += 1
    both(t, port, refused_server, stream_client, "SMC-R")
    for family, want in (("smc", "SMC-R"), ("tcp", "TCP")):
        t.step(f"sockets put into a sockmap by hand, {want}")
        port += 1
        s = t.half(t.a, answers, family, port=port)
        s.expect("listening", t.left())
        c = t.half(t.b, by_hand, port=port, want=want)
        c.expect("moved", t.left())
        t.mode(t.b, want, port)
        c.gate("end")
        t.wait_all(s, c)


def run(t):
    if t.family != "smc":
        return
    for vm in (t.a, t.b):
        vm.run("mountpoint -q /sys/fs/cgroup || mount -t cgroup2 none /sys/fs/cgroup")
    try:
        play(t)
    finally:
        for vm in (t.a, t.b):
            vm.run(f"rmdir {GROUP}*; true")
