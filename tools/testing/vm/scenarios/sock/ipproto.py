# SPDX-License-Identifier: GPL-2.0
"""Sockets of AF_INET and AF_INET6 with IPPROTO_SMC behave as those of AF_SMC and as TCP's do.

The scenario checks the options that show the kind of a socket; connections between both
kinds of SMC socket, over RDMA and over TCP; references to the module; a control group that
counts or refuses such sockets; and Landlock's rules for TCP. A program under the preload
library uses TCP where these sockets are refused.

covers: API-01 API-02
"""
import ctypes
import errno
import os
import socket
import struct
import subprocess
import sys

import bpf
from common import stream_client, stream_server
from halves import AF_SMC, IPPROTO_SMC, libc

timeout = 120
ipv = (4, 6)
N = 200_003
GROUP, COUNTED = "/sys/fs/cgroup/ipproto", "/sys/fs/cgroup/ipproto-counted"
SO_PROTOCOL, SO_DOMAIN = 38, 39
PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS, SECCOMP_MODE_FILTER = 22, 38, 2
# a program without knowledge of SMC
PLAIN = """
import socket
with socket.create_server(("127.0.0.1", 0)) as ls, \\
        socket.create_connection(ls.getsockname()) as c, ls.accept()[0] as s:
    c.sendall(b"here")
    assert s.recv(4, socket.MSG_WAITALL) == b"here"
"""


def who(s):
    """The domain, type and protocol in the kernel."""
    return tuple(s.getsockopt(socket.SOL_SOCKET, o)
                 for o in (SO_DOMAIN, socket.SO_TYPE, SO_PROTOCOL))


def names(h, port):
    """The kinds of a socket, a listener, and both ends of a connection within the machine."""
    inet = socket.AF_INET6 if h.v6 else socket.AF_INET
    mine = (inet, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    said = [who(h.socket())]
    ls = h.listen(port, mark=False)
    said.append(who(ls))
    c = socket.socket(inet, socket.SOCK_STREAM, IPPROTO_SMC)
    c.connect(("::1" if h.v6 else "127.0.0.1", port))
    s = h.accept(ls)
    c.sendall(b"here")
    h.equal(s.recv(4, socket.MSG_WAITALL), b"here", "bytes")
    h.equal(said, [mine] * 2, "domain, type and protocol")
    for kind in (socket.SOCK_DGRAM, socket.SOCK_SEQPACKET):
        h.raises(f"type {kind}", (errno.EPROTONOSUPPORT, errno.ESOCKTNOSUPPORT),
                socket.socket, inet, kind, IPPROTO_SMC)
    for x in (c, s, ls):
        x.close()


def server(h, port):
    """A child is of its listener's kind."""
    ls = h.listen(port)
    mine = who(ls)
    c = h.accept(ls)
    h.equal(who(c), mine, "domain, type and protocol of a child")
    h.mark("accepted")
    h.gate("end")
    c.close()
    ls.close()


def client(h, port):
    s = h.connect(port)
    h.gate("end")
    h.equal(s.recv(1), b"", "end")
    s.close()


def join(group):
    """Join a control group; return its directory."""
    os.makedirs(group, exist_ok=True)
    with open(f"{group}/cgroup.procs", "w", encoding="ascii") as f:
        f.write(str(os.getpid()))
    return os.open(group, os.O_DIRECTORY)


def counted(h, port):
    """A control group's programs run when a socket is made, and when it is released."""
    group = join(COUNTED)
    made, gone = range(2)
    told = bpf.counters(2)
    for n, where in ((made, bpf.AT_SOCK_CREATE), (gone, bpf.AT_SOCK_RELEASE)):
        bpf.attach(bpf.count_sockets(told, n, socket.IPPROTO_TCP, where), group, where)

    def counts(what, *want):
        h.equal([bpf.counter(told, n) for n in (made, gone)], list(want), what)

    s = h.socket()
    counts("a socket", 1, 0)
    s.close()
    counts("closed", 1, 1)
    s = h.connect(port)
    counts("a connection over RDMA", 2, 1)
    s.close()
    counts("closed", 2, 2)
    s = h.connect(port + 1)
    counts("a connection over TCP", 3, 2)
    s.close()
    counts("closed", 3, 3)


def no_smc():
    """A filter of system calls: socket() of AF_SMC or IPPROTO_SMC fails with EACCES."""
    ld, jeq, ret = 0x20, 0x15, 0x06
    nr, domain, protocol = 0, 16, 32    # in struct seccomp_data
    allow, refuse = 0x7fff0000, 0x50000 | errno.EACCES
    insns = [(ld, 0, 0, nr), (jeq, 0, 4, 41), (ld, 0, 0, domain), (jeq, 3, 0, AF_SMC),
             (ld, 0, 0, protocol), (jeq, 1, 0, IPPROTO_SMC), (ret, 0, 0, allow),
             (ret, 0, 0, refuse)]
    code = ctypes.create_string_buffer(b"".join(struct.pack("<HBBI", *i) for i in insns))
    prog = struct.pack("@HP", len(insns), ctypes.addressof(code))
    for args in ((PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), (PR_SET_SECCOMP, SECCOMP_MODE_FILTER, prog)):
        if libc.prctl(*args):
            raise OSError(ctypes.get_errno(), "prctl")


def plain(h, preload, want, before=None):
    """A program under the preload library, which reports WANT of its socket."""
    r = subprocess.run([sys.executable, "-c", PLAIN], preexec_fn=before, text=True,
                       capture_output=True, env={"LD_PRELOAD": preload, "SMC_DEBUG": "1"})
    h.equal(r.returncode, 0, f"exit status, {r.stderr}")
    if want not in r.stderr:
        raise AssertionError(f"{want!r} is not in {r.stderr!r}")


def unwanted(h, preload):
    """The preload library uses TCP where SMC is refused; a control group refuses all sockets."""
    plain(h, preload, "is SMC in place of TCP")
    plain(h, preload, "(Permission denied), TCP is used", no_smc)
    group = join(GROUP)
    inet = socket.AF_INET6 if h.v6 else socket.AF_INET
    none = bpf.load_prog(bpf.CGROUP_SOCK, bpf.answer(0), bpf.AT_SOCK_CREATE)
    bpf.attach(none, group, bpf.AT_SOCK_CREATE)
    h.raises("socket() without TCP", errno.EPERM, socket.socket, inet, socket.SOCK_STREAM,
            IPPROTO_SMC)
    h.raises("socket() of AF_SMC without TCP", errno.EPERM, lambda: h.socket(family="smc"))


def restrict(port):
    """Landlock: this process may use only TCP port PORT."""
    create_ruleset, add_rule, restrict_self = 444, 445, 446
    rule_net_port, bind_and_connect = 2, 1 | 2

    def call(nr, *args):
        got = libc.syscall(nr, *args)
        if got < 0:
            raise OSError(ctypes.get_errno(), f"system call {nr}")
        return got

    handled = struct.pack("=QQ", 0, bind_and_connect)
    rules = call(create_ruleset, handled, len(handled), 0)
    call(add_rule, rules, rule_net_port, struct.pack("=QQ", bind_and_connect, port), 0)
    if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl")
    call(restrict_self, rules, 0)
    os.close(rules)


def landlocked(h, port):
    """Landlock's rules for TCP apply to sockets of SMC."""
    addr = "::1" if h.v6 else "127.0.0.1"
    other = h.listen(port + 1, mark=False)
    restrict(port)
    with h.socket() as s:
        h.raises("bind() to a port that is not allowed", errno.EACCES, s.bind, (addr, port + 2))
        h.raises("connect() to such a port", errno.EACCES, s.connect, (addr, port + 1))
    with h.listen(port, mark=False) as ls, h.connect(port, addr=addr) as c, h.accept(ls) as s:
        c.sendall(b"here")
        h.equal(s.recv(4, socket.MSG_WAITALL), b"here", "bytes")
    other.close()


def hold(h):
    s = h.socket()
    h.mark("there")
    h.gate("end")
    s.close()


def run(t):
    if t.family != "smc":
        return
    from smcvm import kernel
    mine = "inet_smc"
    t.step("names")
    t.wait_all(t.half(t.a, names, mine, port=5600))

    for i, (there, here) in enumerate(((mine, mine), (mine, "smc"), ("smc", mine))):
        t.step(f"server {there}, client {here}")
        t.rdma_start()
        port = 5610 + i
        s = t.half(t.a, stream_server, there, port=port, n_in=N, n_out=N)
        s.expect("listening", t.left())
        anywhere = f"{'[::]' if t.ipv == 6 else '0.0.0.0'}:{port}"
        listed = t.a.run([t.guest_path(kernel.user_tool("smc")), "list"]).out
        t.check(anywhere in listed.split(), f"{anywhere} is not listed: {listed}")
        c = t.half(t.b, stream_client, here, port=port, n_in=N, n_out=N)
        t.expect_all("moved", s, c)
        for vm, family in ((t.a, there), (t.b, here)):
            one, = t.mode(vm, "SMC-R", port)
            t.equal(one["family"], 43, f"family of {family} by sock_diag")
        for p in (s, c):
            p.gate("end")
        t.wait_all(s, c)
        for vm in (t.a, t.b):
            t.carried(vm, N)

    for i, (there, here) in enumerate(((mine, "tcp"), ("tcp", mine))):
        t.step(f"server {there}, client {here}")
        s = t.half(t.a, stream_server, there, port=5620 + i, n_in=N, n_out=N)
        s.expect("listening", t.left())
        c = t.half(t.b, stream_client, here, port=5620 + i, n_in=N, n_out=N)
        t.expect_all("moved", s, c)
        for p in (s, c):
            p.gate("end")
        t.wait_all(s, c)

    t.step("a child")
    s = t.half(t.a, server, mine, port=5630)
    s.expect("listening", t.left())
    c = t.half(t.b, client, mine, port=5630)
    s.expect("accepted", t.left())
    for p in (s, c):
        p.gate("end")
    t.wait_all(s, c)

    t.step(landlocked.__doc__)
    for kind, port in (("tcp", 5650), (mine, 5660), ("smc", 5670)):
        t.wait_all(t.half(t.a, landlocked, kind, port=port))

    t.step("sockets that keep the module loaded")
    p = t.half(t.a, hold, mine)
    p.expect("there", t.left())
    r = t.a.run("rmmod smc_diag; rmmod smc", check=False)
    t.check(r.rc and "in use" in r.err, f"rmmod with an open socket: {r}")
    t.a.run(["insmod", t.guest_path(t.a.kernel.smc_modules(t.case.sides[0])["smc_diag"])])
    p.gate("end")
    t.wait_all(p)

    t.b.run("mountpoint -q /sys/fs/cgroup || mount -t cgroup2 none /sys/fs/cgroup")
    t.step(counted.__doc__)
    servers = [t.half(t.a, stream_server, kind, port=port, n_in=0, n_out=0)
               for kind, port in ((mine, 5640), ("tcp", 5641))]
    t.expect_all("listening", *servers)
    c = t.half(t.b, counted, mine, port=5640)
    for p in (*servers, c):
        p.gate("end")
    t.wait_all(*servers, c)

    t.step(unwanted.__doc__)
    t.wait_all(t.half(t.b, unwanted, mine,
                      preload=t.guest_path(kernel.preload_library())))
    t.reload(t.a, t.b)
