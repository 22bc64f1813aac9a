# SPDX-License-Identifier: GPL-2.0
"""A writer in memory whose control group has no memory left gets ENOMEM; nobody is killed.

What it has written is the reader's, outside of the group, and is charged until that is read. Others
on the host do not notice. At the limit of the host a new connection is TCP, and those in memory go
on.

covers: RMB-24 RMB-25
"""
import errno
import os
import signal
import socket

from common import serve, stays, stream_client, stream_server
from halves import Pattern, libc

kernels = ("stock", "debug")
timeout = 120
LO = "127.0.0.1"
CGROUP = "/sys/fs/cgroup"
GROUP = "smc-small"
N = 200_003
CONNS = 12
ROOM = 3 << 20      # of the group: less than the rings of CONNS connections
CHUNK = 32768
MCL_CURRENT = 1


def join(group):
    with open(f"{CGROUP}/{group}/cgroup.procs", "w", encoding="ascii") as f:
        f.write(str(os.getpid()))


def fill(s, off, pat):
    """Send without waiting; the stream offset, and the errno that ended it."""
    while True:
        try:
            off += s.send(pat.at(off, 60_000), socket.MSG_DONTWAIT)
        except OSError as e:
            return off, e.errno


def writer(h, port):
    """Beside a process that could be killed in its place; nothing but send() charges the group."""
    if not (pid := os.fork()):
        join(GROUP)
        signal.pause()
    pat = Pattern(1)
    socks = [h.connect(port, addr=LO) for _ in range(CONNS)]
    for s in socks:
        s.sendall(pat.at(0, 1))
    outside = os.open(f"{CGROUP}/cgroup.procs", os.O_WRONLY)
    # otherwise a page fault of this process finds the group without memory
    h.equal(libc.mlockall(MCL_CURRENT), 0, "mlockall")
    h.mark("ready")
    h.gate("write")
    join(GROUP)
    offs, ends = zip(*(fill(s, 1, pat) for s in socks))
    poor = ends.index(errno.ENOMEM)
    h.raises("send that may wait", errno.ENOMEM, socks[poor].send, pat.at(offs[poor], 60_000))
    os.write(outside, b"0")
    h.check(set(ends) <= {errno.ENOMEM, errno.EAGAIN}, f"errnos {ends}")
    h.mark("limited", offs=offs)
    h.gate("more")
    # all was read, so the group has room
    join(GROUP)
    for s, off in zip(socks, offs):
        s.sendall(pat.at(off, 1000))
    os.write(outside, b"0")
    # first all, since the reader ends them in another order
    for s in socks:
        s.shutdown(socket.SHUT_WR)
    for s in socks:
        h.at_end(s)
        s.close()
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)


def reader(h, port):
    ls = h.listen(port)
    socks = [h.accept(ls) for _ in range(CONNS)]
    for s in socks:
        h.recv_stream(s, 1, 1)
    h.mark("open")
    h.gate("read")
    # the order of accept() need not be that of connect(), and a socket does not know how much comes
    offs = []
    for s in socks:
        off = 1
        s.setblocking(False)
        try:
            while data := s.recv(50_000):
                h.equal(Pattern(1).first_difference(off, data), None, "a wrong byte at")
                off += len(data)
        except BlockingIOError:
            pass
        s.setblocking(True)
        offs.append(off)
    h.mark("read", offs=offs)
    for s, off in zip(socks, offs):
        h.recv_stream(s, 1000, 1, start=off)
        h.finish(s)
    ls.close()


def stat(t, file, name):
    for line in t.a.read(f"{CGROUP}/{GROUP}/{file}").splitlines():
        if line.startswith(name + " "):
            return int(line.split()[1])
    raise AssertionError(f"no {name} in {file}")


def pages(t):
    return int(t.a.run("awk '$1 == \"SMC\" { print $4 }' /proc/net/protocols").out)


def start(t, port, mode="memory"):
    s = t.half(t.a, stream_server, port=port, n_in=N, n_out=N)
    s.expect("listening", t.left())
    c = t.half(t.a, stream_client, port=port, addr=LO, n_in=N, n_out=N)
    t.expect_all("moved", s, c)
    t.mode(t.a, mode, port, 2 if mode == "memory" else 1)
    return s, c


def end(t, halves):
    for half in halves:
        half.gate("end")
    t.wait_all(*halves)


def of_a_group(t):
    """A control group at memory.max."""
    t.a.run(f"mountpoint -q {CGROUP} || mount -t cgroup2 none {CGROUP}\n"
            f"echo +memory >{CGROUP}/cgroup.subtree_control; mkdir -p {CGROUP}/{GROUP}")
    r = t.half(t.a, reader, port=5800)
    r.expect("listening", t.left())
    w = t.half(t.a, writer, port=5800)
    t.expect_all("open", r)
    w.expect("ready", t.left())
    t.mode(t.a, "memory", 5800, 2 * CONNS)
    before, had = stat(t, "memory.stat", "kernel"), pages(t)
    now = int(t.a.read(f"{CGROUP}/{GROUP}/memory.current"))
    t.a.write(f"{CGROUP}/{GROUP}/memory.max", str(now + ROOM))
    w.gate("write")
    offs = w.expect("limited", t.left())["offs"]
    t.check(stat(t, "memory.stat", "kernel") - before >= sum(offs) - CONNS * CHUNK,
            f"{sum(offs)} bytes are unread, and not charged")
    t.note(f"{sum(offs)} bytes in a group with {ROOM} left")
    # in the same host, outside of the group
    end(t, start(t, 5801))
    r.gate("read")
    t.equal(sorted(r.expect("read", t.left())["offs"]), sorted(offs), "what the reader got")
    t.wait(lambda: stat(t, "memory.stat", "kernel") < before + 2 * CONNS * CHUNK,
           "the charge to go back", 20)
    w.gate("more")
    t.wait_all(w, r)
    t.equal(stat(t, "memory.events", "oom_kill"), 0, "processes killed")
    t.no_sockets(t.a, 5800)
    t.wait(lambda: pages(t) <= had, "pages to go back", 20)
    t.a.run(f"rmdir {CGROUP}/{GROUP}")


def of_the_host(t):
    """net.smc.mem is used up."""
    s = t.half(t.a, serve, port=5810, count=1)
    s.expect("listening", t.left())
    c = t.half(t.a, stays, port=5810, addr=LO)
    c.expect("connected", t.left())
    t.mode(t.a, "memory", 5810, 2)
    mem = t.a.sysctl("net.smc.mem")
    t.a.sysctl("net.smc.mem", "0 0 1")
    try:
        end(t, start(t, 5811, "TCP"))
        c.gate("more")
        c.expect("more0", t.left())
    finally:
        t.a.sysctl("net.smc.mem", mem)
    end(t, start(t, 5812))
    c.gate("end")
    t.wait_all(s, c)


def run(t):
    if t.family != "smc":
        return
    t.set(t.a, memory=1, peer_memory_ms=0)
    for part in (of_a_group, of_the_host):
        t.step(part.__doc__)
        part(t)
