# SPDX-License-Identifier: GPL-2.0
"""Regions are charged to the group whose handshake made them, and freed when no connection uses them.

covers: RMB-24 RMB-25 RMB-26
"""
import json
import os
import signal
import socket
import struct
import threading

from common import serve

timeout = 240
RINGS = 2 * 65536           # of a connection, at one end
CGROUP = "/sys/fs/cgroup"
MEM = 0x01010000
SO_RESERVE_MEM = 73


def join(group):
    with open(f"{CGROUP}/{group}/cgroup.procs", "w") as f:
        f.write(str(os.getpid()))


def answer_all(h, ls, n):
    """The order of accept() need not be that of connect()."""
    socks = [h.accept(ls) for _ in range(n)]
    for c in socks:
        c.sendall(h.recv_exact(c, 4))
    return socks


def end_all(h, socks):
    """Both sides say that they are done on all connections, then wait for it."""
    h.gate("end")
    for s in socks:
        s.shutdown(socket.SHUT_WR)
    for s in socks:
        h.at_end(s)
    for s in socks:
        s.close()
    h.mark("closed")
    h.gate("leave")


def server(h, port, n, group, first=None, waits=False):
    """The listener is of group FIRST, or of GROUP; what is accepted is of that one."""
    join(first or group)
    ls = h.listen(port, backlog=256)
    join(group)
    if waits:
        h.gate("accept")
    socks = answer_all(h, ls, n)
    h.mark("open")
    end_all(h, socks)
    ls.close()


def exchange(h, socks):
    for s in socks:
        s.sendall(b"abcd")
    for s in socks:
        h.recv_exact(s, 4)


def client(h, port, n, group, size=0):
    join(group)
    socks = [h.connect(port, sndbuf=size, rcvbuf=size) for _ in range(n)]
    h.mark("connected")
    exchange(h, socks)
    h.mark("open")
    end_all(h, socks)


def sleeper(group):
    """A process that the OOM killer of a group could kill."""
    pid = os.fork()
    if not pid:
        try:
            join(group)
            signal.pause()
        finally:
            os._exit(0)
    return pid


def limited(h, port, n, group, size=0, cached=0):
    """Sockets that belong to a group in which the process is no longer.

    Nor does anything else charge that group while they connect, so what happens
    there comes of the connections. CACHED bytes of files are the group's, too.
    """
    pid = sleeper(group)
    join(group)
    socks = [h.socket() for _ in range(n)]
    for s in socks:
        h.sized(s, size, size)
    for path in files("/host/usr/lib", cached):
        with open(path, "rb") as f:
            while f.read(1 << 18):
                pass
    join("")
    h.mark("ready")
    h.gate("connect")
    for s in socks:
        s.connect((h.config["peer4"], port))
    h.mark("connected")
    exchange(h, socks)
    h.mark("open")
    end_all(h, socks)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)


def files(top, total):
    """Large files, so many that they hold TOTAL bytes."""
    for where, _, names in os.walk(top):
        for name in names:
            path = os.path.join(where, name)
            if total <= 0:
                return
            if os.path.islink(path) or os.path.getsize(path) < 1 << 20:
                continue
            total -= os.path.getsize(path)
            yield path


def churn(h, port, threads, rounds):
    """Connections that come while others go."""
    errors = []

    def some():
        try:
            for _ in range(rounds):
                with h.connect(port) as s:
                    h.request(s)
        except Exception as e:
            errors.append(e)

    all_of = [threading.Thread(target=some, daemon=True) for _ in range(threads)]
    for th in all_of:
        th.start()
    for th in all_of:
        th.join(h.left())
        h.check(not th.is_alive(), "a connection did not end")
    if errors:
        raise errors[0]


def cgroup(vm, name):
    vm.run(f"mountpoint -q {CGROUP} || mount -t cgroup2 none {CGROUP}\n"
           f"echo +memory > {CGROUP}/cgroup.subtree_control\n"
           f"mkdir -p {CGROUP}/{name}")


def charge(vm, name, what="vmalloc"):
    """What a group is charged for regions, or for sockets."""
    for line in vm.read(f"{CGROUP}/{name}/memory.stat").split("\n"):
        if line.startswith(what + " "):
            return int(line.split()[1])
    raise AssertionError(f"no {what} in memory.stat")


def memory(vm, name, what):
    return int(vm.read(f"{CGROUP}/{name}/memory.{what}"))


def events(vm, name, what):
    for line in vm.read(f"{CGROUP}/{name}/memory.events").split("\n"):
        if line.startswith(what + " "):
            return int(line.split()[1])
    raise AssertionError(f"no {what} in memory.events")


def opened(t, port, n):
    s = t.half(t.a, server, port=port, n=n, group="bench")
    s.expect("listening", t.left())
    c = t.half(t.b, client, port=port, n=n, group="bench")
    t.expect_all("open", s, c)
    for vm in (t.a, t.b):
        t.mode(vm, "SMC-R", port, n)
    return s, c


def closed(t, *halves):
    for half in halves:
        half.gate("end")
    t.expect_all("closed", *halves)


def left(t, *halves):
    for half in halves:
        half.gate("leave")
    t.wait_all(*halves)


def thinned_server(h, port, n, group=""):
    """Ends connections on which the client says so."""
    join(group)
    ls = h.listen(port, backlog=256)
    socks = answer_all(h, ls, n)
    kept = []
    for c in socks:
        if h.recv_exact(c, 1) == b"k":
            kept.append(c)
        else:
            h.finish(c)
    h.mark("thin")
    end_all(h, kept)
    ls.close()


def thinned_client(h, port, n, keep, group=""):
    """N connections, one after another; ends all but some."""
    join(group)
    socks = [h.connect(port) for _ in range(n)]
    exchange(h, socks)
    h.mark("whole")
    h.gate("thin")
    for i, s in enumerate(socks):
        s.sendall(b"k" if i in keep else b"x")
    gone = [s for i, s in enumerate(socks) if i not in keep]
    for s in gone:
        s.shutdown(socket.SHUT_WR)
    for s in gone:
        h.at_end(s)
        s.close()
    h.mark("thin")
    end_all(h, [socks[i] for i in keep])


def reserve(h, group):
    """The errno of SO_RESERVE_MEM for 1 MiB, or 0."""
    join(group)
    with h.socket() as s:
        try:
            s.setsockopt(socket.SOL_SOCKET, SO_RESERVE_MEM, 1 << 20)
        except OSError as e:
            return e.errno
    return 0


def charged(t, n):
    """Both ends pay for the regions of N connections as long as they exist."""
    halves = opened(t, 5300, n)
    for vm in (t.a, t.b):
        t.wait(lambda vm=vm: charge(vm, "bench") >= n * RINGS, f"{vm.name}: {n} connections", 20)
        # twice as many rings as in the regions before, and a region of its own for the first
        t.check(charge(vm, "bench") < 3 * n * RINGS,
                f"{vm.name}: {charge(vm, 'bench')} bytes charged")
        t.check(pages(vm) >= n * RINGS // 4096, f"{vm.name}: {pages(vm)} pages of the protocol")
    closed(t, *halves)
    left(t, *halves)
    for vm in (t.a, t.b):
        t.check(charge(vm, "bench") >= n * RINGS, f"{vm.name}: idle regions are not charged")


def given_back(t, n):
    """Nothing goes by itself here; then the kernel asks."""
    for vm in (t.a, t.b):
        t.check(t.memory_regions(vm) >= 2, f"{vm.name}: no region is left to ask for")
        vm.write("/proc/sys/vm/drop_caches", "2")
        t.wait(lambda vm=vm: not t.memory_regions(vm), f"{vm.name}: all regions back", 30)
        t.check(t.stat(vm, "rmb_freed") >= 2, f"{vm.name}: regions are not counted")
        t.wait(lambda vm=vm: charge(vm, "bench") < RINGS, f"{vm.name}: all uncharged", 30)
    # a region with a connection stays, and all works as before
    halves = opened(t, 5301, 2)
    had = [t.memory_regions(vm) for vm in (t.a, t.b)]
    for vm in (t.a, t.b):
        vm.write("/proc/sys/vm/drop_caches", "2")
    more = opened(t, 5302, n)
    closed(t, *more)
    left(t, *more)
    for vm, at_least in zip((t.a, t.b), had):
        t.check(t.memory_regions(vm) >= min(at_least, 2), f"{vm.name}: regions in use went")
    closed(t, *halves)
    left(t, *halves)


def all_back(t, what, asks=False):
    for vm in (t.a, t.b):
        if asks:
            vm.write("/proc/sys/vm/drop_caches", "2")
        t.wait(lambda vm=vm: not t.memory_regions(vm), f"{vm.name}: all regions back, {what}", 30)


def timed(t, n):
    """An idle region goes after a while, also while others come and go."""
    for vm in (t.a, t.b):
        # each connection waits for regions, of which one is added or dropped at a time
        t.set(vm, rmb_idle_ms=200, clc_timeout_ms=60000)
    all_back(t, "first")
    halves = opened(t, 5303, n)
    closed(t, *halves)
    left(t, *halves)
    all_back(t, "after all at once")
    threads, rounds = 8, t.pick(12, 4)
    t.both(serve, churn, port=5305, sargs=dict(count=threads * rounds),
           cargs=dict(threads=threads, rounds=rounds))
    all_back(t, "after some came while others went")
    for vm in (t.a, t.b):
        t.set(vm, rmb_idle_ms=3600000)
    t.restore("clc_timeout_ms")


def kept(t, n):
    """One connection after another, and a burst after another, find the regions of the last."""
    all_back(t, "before what is kept", True)
    for port in (5321, 5322):
        halves = opened(t, port, n)
        closed(t, *halves)
        left(t, *halves)
        if port == 5321:
            made = [t.stat(vm, "rmb_new") + t.stat(vm, "sndbuf_new") for vm in (t.a, t.b)]
    t.both(serve, churn, port=5323, sargs=dict(count=8), cargs=dict(threads=1, rounds=8))
    t.equal([t.stat(vm, "rmb_new") + t.stat(vm, "sndbuf_new") for vm in (t.a, t.b)], made,
            "regions made by later connections")


def accepted(t, n):
    """The listener's group pays for the regions of its children, also after accept()."""
    all_back(t, "before accept()", True)
    s = t.half(t.a, server, port=5306, n=n, group="bench", first="front", waits=True)
    s.expect("listening", t.left())
    had = charge(t.a, "bench")
    c = t.half(t.b, client, port=5306, n=n, group="bench")
    c.expect("connected", t.left())
    rings = n * RINGS
    t.wait(lambda: charge(t.a, "front") >= rings, "rings charged to the listener", 20)
    t.check(charge(t.a, "bench") - had < rings // 2, "rings charged before accept()")
    s.gate("accept")
    t.expect_all("open", s, c)
    t.mode(t.a, "SMC-R", 5306, n)
    t.check(charge(t.a, "bench") - had < rings // 2, "rings charged to accept()'s caller")
    t.check(charge(t.a, "front") >= rings, "rings not charged to the listener")
    closed(t, s, c)
    left(t, s, c)
    all_back(t, "after accept()", True)
    t.wait(lambda: charge(t.a, "front") < RINGS, "all given back", 30)


def late_server(h, port, n):
    """Accepts what has ended before, in another group than that of the listener."""
    join("behind")
    ls = h.listen(port, backlog=256)
    join("ahead")
    h.gate("accept")
    for _ in range(n):
        h.accept(ls).close()
    join("")
    ls.close()


def resets_all(h, port, n):
    socks = [h.connect(port) for _ in range(n)]
    h.mark("connected")
    h.gate("reset")
    for s in socks:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        s.close()


def dying(vm):
    """Groups that were removed, but still have a reference."""
    for line in vm.read(f"{CGROUP}/cgroup.stat").split("\n"):
        if line.startswith("nr_dying_descendants "):
            return int(line.split()[1])
    raise AssertionError("no nr_dying_descendants in cgroup.stat")


def reset_before_accept(t, n):
    """Both groups have all their references, and no more, when accept() finds ended children."""
    had = dying(t.a)
    for name in ("behind", "ahead"):
        cgroup(t.a, name)
    all_back(t, "before resets", True)
    s = t.half(t.a, late_server, port=5320, n=n)
    s.expect("listening", t.left())
    c = t.half(t.b, resets_all, port=5320, n=n)
    c.expect("connected", t.left())
    rings = n * RINGS
    t.wait(lambda: charge(t.a, "behind") >= rings, "rings charged to the listener", 20)
    c.gate("reset")
    t.wait_all(c)
    s.gate("accept")
    t.wait_all(s)
    t.no_sockets(t.a, 5320)
    all_back(t, "after resets", True)
    for name in ("behind", "ahead"):
        t.wait(lambda name=name: charge(t.a, name) < RINGS, f"rings of {name} given back", 30)
        t.equal(charge(t.a, name, "sock"), 0, f"bytes of sockets charged to {name}")
        # files that the group has read keep it, too
        t.a.run(f"echo 1G > {CGROUP}/{name}/memory.reclaim; rmdir {CGROUP}/{name}")
    t.wait(lambda: dying(t.a) <= had, "both groups are gone", 30)


def at_the_limit(t, port, size, n):
    """A connection beyond the limit of the client's group is TCP, and no process is killed.

    A ring leaves 64 pages. TCP does not ask: each connection that is TCP takes up to two pages, so N
    allows fewer than 32 of them.
    """
    all_back(t, "before the limit", True)
    s = t.half(t.a, server, port=port, n=n, group="bench")
    s.expect("listening", t.left())
    c = t.half(t.b, limited, port=port, n=n, group="small", size=size)
    c.expect("ready", t.left())
    # files of the group would make room for rings
    t.b.write("/proc/sys/vm/drop_caches", "3")
    t.b.write(f"{CGROUP}/small/memory.max", str(memory(t.b, "small", "current") + 8 * RINGS))
    c.gate("connect")
    t.expect_all("open", s, c)
    t.mode(t.b, "SMC-R", port, 1)
    poor = t.mode(t.b, "TCP", port, 5, MEM)
    t.note(f"{len(poor)} of {n} connections beyond the limit")
    closed(t, s, c)
    left(t, s, c)
    t.equal(events(t.b, "small", "oom_kill"), 0, "processes killed")
    t.b.write(f"{CGROUP}/small/memory.max", "max")


def at_the_limit_of_a_listener(t, _n):
    """A connection beyond the limit of the listener's group is TCP; strangers use no more."""
    n = 40      # the smallest rings of 32 fit
    all_back(t, "before the limit of a listener", True)
    s = t.half(t.a, server, port=5309, n=n, group="bench", first="small", waits=True)
    s.expect("listening", t.left())
    before = memory(t.a, "small", "current")
    t.a.write(f"{CGROUP}/small/memory.max", str(before + 8 * RINGS))
    c = t.half(t.b, client, port=5309, n=n, group="bench")
    c.expect("connected", t.left())
    t.check(memory(t.a, "small", "current") <= before + 8 * RINGS, "more than the limit")
    s.gate("accept")
    t.expect_all("open", s, c)
    t.mode(t.a, "SMC-R", 5309, 1)
    poor = t.mode(t.a, "TCP", 5309, 5, MEM)
    t.note(f"{len(poor)} of {n} accepted beyond the limit")
    closed(t, s, c)
    left(t, s, c)
    t.a.write(f"{CGROUP}/small/memory.max", "max")


def above_the_mark(t, n):
    """A group above memory.high gives up what else it has for its rings."""
    all_back(t, "before the mark", True)
    s = t.half(t.a, server, port=5310, n=n, group="bench")
    s.expect("listening", t.left())
    t.b.write("/proc/sys/vm/drop_caches", "1")
    c = t.half(t.b, limited, port=5310, n=n, group="tight", cached=4 * n * RINGS)
    c.expect("ready", t.left())
    mark = memory(t.b, "tight", "current") + 4096
    t.check(mark >= 3 * n * RINGS, f"{mark} bytes in the group: no files")
    t.b.write(f"{CGROUP}/tight/memory.high", str(mark))
    c.gate("connect")
    t.expect_all("open", s, c)
    t.mode(t.b, "SMC-R", 5310, n)
    t.check(charge(t.b, "tight") >= n * RINGS, "rings not charged")
    now = memory(t.b, "tight", "current")
    t.note(f"{now - mark:+d} bytes above memory.high with {n * RINGS} of rings")
    t.check(now <= mark + n * RINGS // 2, f"{now - mark} bytes above memory.high")
    t.check(events(t.b, "tight", "high") > 0, "memory.high was not noticed")
    closed(t, s, c)
    left(t, s, c)


def reserved(t, _n):
    """What SO_RESERVE_MEM has got, where the core takes it, goes with the socket."""
    before = charge(t.b, "bench", "sock")
    half = t.half(t.b, reserve, group="bench")
    t.wait_all(half)
    if t.b.kernel.kind == "stock-6.1":
        t.equal(half.value, 0, "SO_RESERVE_MEM")
    t.wait(lambda: charge(t.b, "bench", "sock") <= before, "what was reserved is given back", 20)


def pages(vm):
    return int(vm.run("awk '$1 == \"SMC\" { print $4 }' /proc/net/protocols").out)


def whole_regions(t, _n):
    """A region with one connection counts as a whole in the limit of the host."""
    # regions of 1, 2, 4 and 8 elements, and the first connection of each
    n, keep = 15, (0, 1, 3, 7)
    all_back(t, "before regions that stay", True)
    s = t.half(t.a, thinned_server, port=5314, n=n)
    s.expect("listening", t.left())
    c = t.half(t.b, thinned_client, port=5314, n=n, keep=keep)
    c.expect("whole", t.left())
    c.gate("thin")
    t.expect_all("thin", s, c)
    t.mode(t.b, "SMC-R", 5314, len(keep))
    for vm in (t.a, t.b):
        vm.write("/proc/sys/vm/drop_caches", "2")
        t.equal(t.memory_regions(vm), 2 * len(keep), f"{vm.name}: regions with a connection")
        t.check(pages(vm) >= n * RINGS // 4096, f"{vm.name}: {pages(vm)} pages counted")
    low, pressure, _ = mem = t.b.sysctl("net.smc.mem").split()
    t.b.sysctl("net.smc.mem", f"{low} {pressure} {pages(t.b)}")
    # rings of that size are free; of another one there are none
    halves = opened(t, 5315, 1)
    poor = t.half(t.a, server, port=5316, n=1, group="bench")
    poor.expect("listening", t.left())
    other = t.half(t.b, client, port=5316, n=1, group="bench", size=2 * RINGS)
    t.expect_all("open", poor, other)
    t.mode(t.b, "TCP", 5316, 1, MEM)
    t.b.sysctl("net.smc.mem", " ".join(mem))
    closed(t, s, c, poor, other, *halves)
    left(t, s, c, poor, other, *halves)


def held_by_few(t, _n):
    """What a few connections keep of the regions of many stays charged."""
    n, keep = 15, (0, 1, 3, 7)
    all_back(t, "before few that hold much", True)
    s = t.half(t.a, thinned_server, port=5318, n=n, group="bench")
    s.expect("listening", t.left())
    c = t.half(t.b, thinned_client, port=5318, n=n, keep=keep, group="bench")
    c.expect("whole", t.left())
    c.gate("thin")
    t.expect_all("thin", s, c)
    for vm in (t.a, t.b):
        vm.write("/proc/sys/vm/drop_caches", "2")
        t.equal(t.memory_regions(vm), 2 * len(keep), f"{vm.name}: regions with a connection")
    t.check(charge(t.b, "bench") >= n * RINGS, "unused rings of regions are not charged")
    t.note(f"{charge(t.b, 'bench')} bytes charged for {len(keep)} connections")
    # those of another group use them, and pay nothing
    had = charge(t.b, "front")
    s2 = t.half(t.a, server, port=5319, n=4, group="bench")
    s2.expect("listening", t.left())
    c2 = t.half(t.b, client, port=5319, n=4, group="front")
    t.expect_all("open", s2, c2)
    t.mode(t.b, "SMC-R", 5319, 4)
    t.check(charge(t.b, "front") - had < RINGS, "free rings are charged again")
    closed(t, s, c, s2, c2)
    left(t, s, c, s2, c2)


def charged_first(t, _n):
    """For a group that may not have the rings, none are made."""
    all_back(t, "before rings of a group without room", True)
    most = {name: t.b.sysctl(name) for name in ("net.core.rmem_max", "net.core.wmem_max")}
    for name in most:
        t.b.sysctl(name, str(16 * RINGS))
    s = t.half(t.a, server, port=5317, n=1, group="bench")
    s.expect("listening", t.left())
    c = t.half(t.b, limited, port=5317, n=1, group="small", size=16 * RINGS)
    c.expect("ready", t.left())
    before = {name: t.stat(t.b, name) for name in ("sndbuf_new", "rmb_new")}
    t.b.write(f"{CGROUP}/small/memory.max", str(memory(t.b, "small", "current") + 4 * RINGS))
    c.gate("connect")
    t.expect_all("open", s, c)
    t.mode(t.b, "TCP", 5317, 1, MEM)
    t.equal({name: t.stat(t.b, name) for name in before}, before, "regions made")
    for name, value in most.items():
        t.b.sysctl(name, value)
    closed(t, s, c)
    left(t, s, c)
    t.b.write(f"{CGROUP}/small/memory.max", "max")


def conn_of(t, vm, port):
    """What the tool lists of the one connection of a port."""
    from smcvm import kernel
    tool = t.guest_path(kernel.user_tool("smc"))
    conns = [s["connection"] for s in json.loads(vm.run(f"{tool} list -j").out)["sockets"]
             if "connection" in s and
             f"{port}" in (s["local"].split(":")[-1], s["peer"].split(":")[-1])]
    t.equal(len(conns), 1, f"{vm.name}: connections of port {port}")
    return conns[0]


def rings_that_fit(t, _n):
    """Little memory makes rings smaller, of the host or of the control group."""
    for vm in (t.a, t.b):
        t.restore("rmem")
        t.restore("wmem")
        t.equal(vm.sysctl("net.smc.rmem"), "262144", f"{vm.name}: default ring")
        # an idle element of up to twice the size would serve
        vm.write("/proc/sys/vm/drop_caches", "2")
    all_back(t, "before other sizes")
    mem = t.b.sysctl("net.smc.mem")
    sizes = {}
    for port, low, group_max in ((5311, None, "max"), (5312, 256, "max"), (5313, None, 64 << 20)):
        t.b.write(f"{CGROUP}/bench/memory.max", str(group_max))
        if low:
            t.b.sysctl("net.smc.mem", f"{low} {mem.split(maxsplit=1)[1]}")
        halves = opened(t, port, 1)
        sizes[port] = conn_of(t, t.b, port)["rmbe_size"]
        closed(t, *halves)
        left(t, *halves)
        t.b.sysctl("net.smc.mem", mem)
    t.b.write(f"{CGROUP}/bench/memory.max", "max")
    t.equal(sizes, {5311: 1 << 18, 5312: 1 << 14, 5313: 1 << 15}, "receive rings")


def run(t):
    if t.family != "smc":
        return
    n = t.pick(40, 16)
    for vm in (t.a, t.b):
        for name in ("bench", "front", "small", "tight"):
            cgroup(vm, name)
        t.set(vm, rmb_idle_ms=3600000, rmem=RINGS // 2, wmem=RINGS // 2)
    for part in (reserved, charged, given_back, whole_regions, held_by_few, charged_first, timed,
                 kept, accepted, reset_before_accept, at_the_limit_of_a_listener, above_the_mark):
        t.step(part.__name__)
        part(t, n)
    # the application's sizes: others would fit the group
    for port, size, n in ((5307, RINGS // 2, 16), (5308, RINGS // 4, 32)):
        t.step(f"at the limit, buffers of {size} bytes")
        at_the_limit(t, port, size, n)
    t.step("rings that fit")
    rings_that_fit(t, n)
