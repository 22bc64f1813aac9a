# SPDX-License-Identifier: GPL-2.0
"""Rings are paid for by who has them, and go back when nobody does.

covers: RMB-24 RMB-25 RMB-26
"""
import os

timeout = 120
RINGS = 2 * 65536           # of a connection, at one end
CGROUP = "/sys/fs/cgroup"
MEM = 0x01010000


def join(group):
    with open(f"{CGROUP}/{group}/cgroup.procs", "w") as f:
        f.write(str(os.getpid()))


def server(h, port, n, group):
    """The listener is nobody's; what is accepted is the group's."""
    ls = h.listen(port, backlog=256)
    join(group)
    socks = [h.accept(ls) for _ in range(n)]
    for c in socks:
        c.sendall(h.recv_exact(c, 4))
    h.mark("open")
    h.gate("end")
    for c in socks:
        h.finish(c)
    ls.close()
    h.mark("closed")
    h.gate("leave")


def exchange(h, socks):
    """The order of accept() need not be that of connect()."""
    for s in socks:
        s.sendall(b"abcd")
    for s in socks:
        h.recv_exact(s, 4)


def client(h, port, n, group):
    join(group)
    socks = [h.connect(port) for _ in range(n)]
    exchange(h, socks)
    h.mark("open")
    h.gate("end")
    for s in socks:
        h.finish(s)
    h.mark("closed")
    h.gate("leave")


def limited(h, port, n, group):
    """Sockets that belong to a group in which the process is no longer."""
    join(group)
    socks = [h.socket() for _ in range(n)]
    join("")
    h.mark("ready")
    h.gate("connect")
    for s in socks:
        s.connect((h.config["peer4"], port))
    exchange(h, socks)
    h.mark("open")
    h.gate("end")
    for s in socks:
        h.finish(s)


def cgroup(vm, name):
    vm.run(f"mountpoint -q {CGROUP} || mount -t cgroup2 none {CGROUP}\n"
           f"echo +memory > {CGROUP}/cgroup.subtree_control\n"
           f"mkdir -p {CGROUP}/{name}")


def sock_mem(vm, name):
    for line in vm.read(f"{CGROUP}/{name}/memory.stat").split("\n"):
        if line.startswith("sock "):
            return int(line.split()[1])
    raise AssertionError("no sock in memory.stat")


def opened(t, port, n, groups=("bench", "bench")):
    s = t.half(t.a, server, port=port, n=n, group=groups[0])
    s.expect("listening", t.left())
    c = t.half(t.b, client, port=port, n=n, group=groups[1])
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


def charged(t, n):
    """Both ends pay for N connections while they have them."""
    halves = opened(t, 5300, n)
    for vm in (t.a, t.b):
        t.wait(lambda vm=vm: sock_mem(vm, "bench") >= n * RINGS * 8 // 10,
               f"{vm.name}: {n} connections charged", 20)
        t.check(sock_mem(vm, "bench") < 2 * n * RINGS,
                f"{vm.name}: {sock_mem(vm, 'bench')} bytes charged")
        pages = vm.run("awk '$1 == \"SMC\" { print $4 }' /proc/net/protocols").out
        # each CPU may keep 1 MiB to itself
        t.check(int(pages) >= n * RINGS // 4096 - 256 * t.case.vcpus,
                f"{vm.name}: {pages} pages of the protocol")
    closed(t, *halves)
    for vm in (t.a, t.b):
        t.wait(lambda vm=vm: sock_mem(vm, "bench") < n * RINGS * 3 // 10,
               f"{vm.name}: {n} connections given back", 30)
    left(t, *halves)


def given_back(t, n):
    """Nothing goes by itself here; then the kernel asks."""
    for vm in (t.a, t.b):
        t.check(t.memory_regions(vm) >= 2, f"{vm.name}: no area is left to ask for")
        vm.write("/proc/sys/vm/drop_caches", "2")
        t.wait(lambda vm=vm: not t.memory_regions(vm), f"{vm.name}: all areas back", 30)
        t.check(t.stat(vm, "area_back") >= 2, f"{vm.name}: areas are not counted")
    # an area with a connection stays, and all works as before
    halves = opened(t, 5301, 2)
    had = [t.memory_regions(vm) for vm in (t.a, t.b)]
    for vm in (t.a, t.b):
        vm.write("/proc/sys/vm/drop_caches", "2")
    more = opened(t, 5302, n)
    closed(t, *more)
    left(t, *more)
    for vm, at_least in zip((t.a, t.b), had):
        t.check(t.memory_regions(vm) >= min(at_least, 2), f"{vm.name}: areas in use went")
    closed(t, *halves)
    left(t, *halves)


def bounded(t, n):
    """With no room for unused rings an area goes with its last connection."""
    for vm in (t.a, t.b):
        t.set(vm, spare_mem=0)
        vm.write("/proc/sys/vm/drop_caches", "2")
        t.wait(lambda vm=vm: not t.memory_regions(vm), f"{vm.name}: all areas back", 30)
    halves = opened(t, 5303, n)
    for vm in (t.a, t.b):
        # one element each: none was bought ahead
        t.equal(t.memory_regions(vm), 2 * n, f"{vm.name}: areas")
    closed(t, *halves)
    left(t, *halves)
    for vm in (t.a, t.b):
        t.wait(lambda vm=vm: t.memory_regions(vm) <= 2, f"{vm.name}: areas back", 30)
    t.restore("spare_mem")


def at_the_limit(t, n):
    """What a control group cannot pay for is TCP, and nobody is killed."""
    s = t.half(t.a, server, port=5304, n=n, group="bench")
    s.expect("listening", t.left())
    c = t.half(t.b, limited, port=5304, n=n, group="small")
    c.expect("ready", t.left())
    now = int(t.b.read(f"{CGROUP}/small/memory.current"))
    t.b.write(f"{CGROUP}/small/memory.max", str(now + 8 * RINGS))
    c.gate("connect")
    t.expect_all("open", s, c)
    t.mode(t.b, "SMC-R", 5304, 1)
    poor = t.mode(t.b, "TCP", 5304, 5, MEM)
    t.note(f"{len(poor)} of {n} connections beyond the limit")
    for half in (s, c):
        half.gate("end")
    t.wait_all(c)
    s.expect("closed", t.left())
    left(t, s)
    t.check("oom_kill 0" in t.b.read(f"{CGROUP}/small/memory.events"), "somebody was killed")


def run(t):
    if t.family != "smc":
        return
    n = t.pick(40, 16)
    for vm in (t.a, t.b):
        cgroup(vm, "bench")
        cgroup(vm, "small")
        t.set(vm, rmb_idle_ms=3600000)
    for part in (charged, given_back, bounded):
        t.step(part.__name__)
        part(t, n)
    t.step("at the limit")
    at_the_limit(t, 40)
