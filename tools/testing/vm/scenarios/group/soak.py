# SPDX-License-Identifier: GPL-2.0
"""Hours of random actions leave no socket, queue pair, MR or memory behind.

A round has each action of ACTIONS once, in random order and with random numbers: connections
that end in every way, links that are lost, namespaces, little memory, modules that are
reloaded, machines that are paused or killed, processes that are killed. Then both machines
become quiet, and are compared with the end of the first round, which has made what is
made once.

`make soak HOURS=n` runs for n hours on the debug kernel, --long there for one; otherwise
there are two rounds. The seed is printed; `make soak SEED=s` repeats the order.

covers: PEER-02 PEER-03 PID-02 PID-06 LG-05 RMB-24 SC-09
"""
import os
import random
import socket
import struct
import time

from common import drink, drink_server, keep, pour, pour_server  # noqa: F401, halves
from common import serve_any, serve_till_lost  # noqa: F401, halves
from streams import client, server  # noqa: F401, halves

kernels = ("debug", "stock")
dialects = (0,)     # the action "reload" changes it
nics = 2
timeout = 300       # of each action, not of all
RDMA_KINDS = ("lqpn", "cqn", "mrn", "pdn")
CGROUP = "/sys/fs/cgroup"
# caches whose objects are counted one by one, after the quarantine of KASAN is empty
CACHES = ("TCP", "TCPv6", "sock_inode_cache", "net_namespace")
# What may grow beyond the first round: it has the logs of the module, which are bounded, tables of
# the network stack, and the agent: 40 KiB and 280 KiB after two rounds on the stock kernel. A round
# there makes some hundred connections: to lose 256 bytes of each exceeds the limit in a quarter of
# an hour. On the debug kernel kmemleak finds one. Timers and work items are not counted: there
# each deleted namespace adds 7 to 80 objects to debug_objects, also without this module.
MAY_GROW = {"kmalloc KiB": 256, "pages KiB": 8192}
# groups and memory of peers end at once, and losses are detected soon
BASE = {"lgr_idle_ms": 1, "peer_memory_ms": 1, "smcr_testlink_time": 1, "rdma_retries": 2}
NAMESPACES = """set -e
for n in 1 2; do ip netns add soak$n; ip -n soak$n link set lo up; done
ip -n soak1 link add pair type veth peer name pair netns soak2
for n in 1 2; do
	ip -n soak$n addr add 10.97.0.$n/24 dev pair
	ip -n soak$n link set pair up
	(cd /proc/sys/net/smc; grep '' * | grep -v ^mem:; echo memory:2) |
		ip netns exec soak$n sh -c 'cd /proc/sys/net/smc
			while IFS=: read file value; do echo $value >$file; done'
done"""


# Halves


def join(group):
    with open(f"{CGROUP}/{group}/cgroup.procs", "w", encoding="ascii") as f:
        f.write(str(os.getpid()))


def whole(h, s, rng):
    h.request(s, rng.randint(1, 60_000), rng.randint(0, 60_000))
    h.finish(s)


def abort(h, s, rng):
    h.request(s, rng.randint(1, 3000), rng.randint(0, 3000))
    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    s.close()


def unread(_h, s, rng):
    """Close before the answer is read."""
    s.sendall(struct.pack("!II", 0, rng.randint(1, 200_000)))
    s.close()


def torn(h, s, rng):
    """End the stream inside a request; the server closes."""
    s.sendall(struct.pack("!II", rng.randint(2, 9000), 10) + b"x")
    s.shutdown(socket.SHUT_WR)
    try:
        h.at_end(s)
    except ConnectionResetError:
        pass
    s.close()


def unused(_h, s, _rng):
    s.close()


ENDS = (whole, whole, whole, abort, unread, torn, unused)


def visit(h, port, seed, n, addr=None, group=None):
    """Make N connections that end in random ways; a third of them stay open until the end.

    The sockets are charged to the control group GROUP, which the process has left meanwhile.
    """
    rng, waiting = random.Random(seed), []
    if group:
        join(group)
    socks = [h.socket() for _ in range(n)]
    if group:
        join("")
    for s in socks:
        if rng.randrange(3) == 0:
            h.sized(s, rng.choice((8192, 65536, 300_000)), rng.choice((8192, 65536, 300_000)))
        s.connect((addr or h.config["peer6" if h.v6 else "peer4"], port))
        end = rng.choice(ENDS)
        if rng.randrange(3) == 0:
            waiting.append((end, s))
        else:
            end(h, s, rng)
    h.mark("open")
    for end, s in waiting:
        end(h, s, rng)


# Actions: functions of the test, the random numbers and a port of their own


def some(t, rng, least, most):
    """A number of connections; fewer where each takes longer, so that rounds are many."""
    return rng.randint(max(1, least // t.slow), most // t.slow)


def visits(t, rng, port, **args):
    """Connections of one client; all must succeed."""
    vms = [t.a, t.b]
    rng.shuffle(vms)
    ipv = rng.choice((4, 6))
    s = t.half(vms[0], serve_any, port=port, ipv=ipv,
               family=rng.choice(("smc", "smc", "smc", "tcp", "inet_smc")))
    s.expect("listening", t.left())
    c = t.half(vms[1], visit, port=port, ipv=ipv, seed=rng.random(), n=some(t, rng, 10, 40),
               family=rng.choice(("smc", "smc", "smc", "tcp", "inet_smc")), **args)
    t.wait_all(c)
    s.gate("stop")
    t.wait_all(s)


def crowd(t, rng, port):
    """Clients on both machines at once."""
    procs = []
    for k, (of, to) in enumerate(((t.a, t.b), (t.b, t.a))):
        s = t.half(of, serve_any, port=port + k)
        s.expect("listening", t.left())
        procs.append((s, [t.half(to, visit, port=port + k, seed=rng.random(),
                                 n=some(t, rng, 5, 15)) for _ in range(2)]))
    for s, clients in procs:
        t.wait_all(*clients)
        s.gate("stop")
        t.wait_all(s)


def links(t, rng, port):
    """Streams over two links, of which one is lost and comes back."""
    from smcvm.links import Streams, add, card_up, delete, nimble, several
    several(t, **nimble(t))
    x = Streams(t, port, rng.randint(2, 4))
    x.have(2)
    for _ in range(rng.randint(1, 2)):
        vm = rng.choice((t.a, t.b))
        x.lose(*rng.choice((
            ("card", lambda vm=vm: vm.run("ip link set eth1 down"),
             lambda vm=vm: card_up(t, vm, 1)),
            ("rnic", lambda vm=vm: delete(vm, 1), lambda vm=vm: add(t, vm, 1)))))
    x.stop()


def namespaces(t, rng, port):
    """Two namespaces of one host talk; they may be deleted under their connections."""
    t.a.run(NAMESPACES)
    s = t.half(t.a, serve_any, port=port, netns="soak1")
    s.expect("listening", t.left())
    c = t.half(t.a, visit, port=port, netns="soak2", addr="10.97.0.1", seed=rng.random(),
               n=some(t, rng, 5, 20))
    is_live = rng.randrange(2)
    if is_live:
        c.expect("open", t.left())
    else:
        t.wait_all(c)
        s.gate("stop")
        t.wait_all(s)
    t.a.run("ip netns del soak1; ip netns del soak2")
    if is_live:
        for p in (s, c):
            p.kill()
            p.wait(check=False)


def little_memory(t, rng, port):
    """Limits of the module or of a control group: connections may be TCP, all work."""
    vm = rng.choice((t.a, t.b))
    if rng.randrange(2):
        mem = vm.sysctl("net.smc.mem")
        vm.sysctl("net.smc.mem", f"{rng.randint(1, 2000)} 2000 2000")
        visits(t, rng, port)
        vm.sysctl("net.smc.mem", mem)
        return
    for one in (t.a, t.b):
        one.run(f"mountpoint -q {CGROUP} || mount -t cgroup2 none {CGROUP}\n"
                f"echo +memory >{CGROUP}/cgroup.subtree_control\nmkdir -p {CGROUP}/soak\n"
                f"echo {rng.randint(4, 16) << 20} >{CGROUP}/soak/memory.max")
    visits(t, rng, port, group="soak")


def reload(t, rng, port):
    """Unload with idle groups, in another dialect; then it works."""
    t.set(t.a, lgr_idle_ms=60000)
    t.set(t.b, lgr_idle_ms=60000)
    visits(t, rng, port)
    t.dialect = rng.randrange(2)
    t.reload(t.a, t.b)
    settle(t)
    visits(t, rng, port + 1)


def load(t, port):
    """One stream in each direction; (those of A, those of B)."""
    pairs = []
    for k, (first, second) in enumerate((("pour_server", "drink"), ("drink_server", "pour"))):
        s = t.half(t.a, first, port=port + k)
        s.expect("listening", t.left())
        pairs.append((s, t.half(t.b, second, port=port + k)))
    t.expect_all("flowing", pairs[0][1], pairs[1][0])
    for k in range(2):
        t.mode(t.a, "SMC-R", port + k)
    return list(zip(*pairs))


def frozen(t, rng, port):
    """One machine is paused under load until the other one has given it up."""
    k = rng.randrange(2)
    victim, procs = (t.a, t.b)[k], load(t, port)
    victim.freeze()
    t.wait_all(*procs[1 - k])
    victim.thaw()
    t.wait_all(*procs[k])


def killed(t, _rng, port):
    """Machine B is killed under load, and boots again."""
    procs = load(t, port)
    t.b.destroy()
    t.wait_all(*procs[0])
    t.reboot(t.b)


def processes(t, rng, port):
    """The processes of one end are killed with open connections."""
    s = t.half(t.a, serve_till_lost, port=port)
    s.expect("listening", t.left())
    clients = [t.half(t.b, keep, port=port) for _ in range(rng.randint(2, 5))]
    t.expect_all("open", *clients)
    dies, stays = (clients, [s]) if rng.randrange(2) else ([s], clients)
    for p in dies:
        p.kill()
    for p in dies:
        p.wait(check=False)
    if s in stays:
        s.gate("stop")
        t.wait_all(s)
    else:
        for p in clients:
            p.kill()
            p.wait(check=False)


ACTIONS = (visits, crowd, links, namespaces, little_memory, reload, frozen, killed, processes)


# Comparison


def settle(t):
    """Undo the settings of an action; those of BASE never change between actions."""
    for name in {name.rpartition(".")[2] for _, name in t.changed} - BASE.keys():
        t.restore(name)
    for vm in (t.a, t.b):
        t.set(vm, **BASE)


def counts(t, vm):
    """What must be the same in each quiet state: {name: number}."""
    objects = [x.split(":")[0] for x in t.pair.rdma_objects(vm)]
    out = {kind: objects.count(kind) for kind in RDMA_KINDS}
    out["SMC sockets"] = len(vm.sockets())
    out["module references"] = int(vm.read("/sys/module/smc/refcnt"))
    tcp = vm.read("/proc/net/sockstat").split("TCP: ")[1].split()
    # "inuse orphan tw alloc mem": a sock that is never freed is in "alloc" only
    for name, at in (("TCP sockets", 1), ("TCP orphans", 3), ("TCP socks", 7)):
        out[name] = int(tcp[at])
    return out


def memory(vm):
    """Memory after caches are empty: {name: number}."""
    vm.run("sync; echo 3 >/proc/sys/vm/drop_caches; cd /sys/kernel/slab; for c in "
           f"{' '.join(CACHES)} kmalloc-*; do [ ! -e $c/shrink ] || echo 1 >$c/shrink; done")
    rows = [line.split() for line in vm.run("cat /proc/slabinfo").out.splitlines()[2:]]
    slab = {r[0]: (int(r[1]), int(r[3])) for r in rows}
    info = {name: int(rest.split()[0]) for name, rest in
            (line.split(":") for line in vm.read("/proc/meminfo").splitlines())}
    out = {name: slab[name][0] for name in CACHES if name in slab}
    out["kmalloc KiB"] = sum(n * size for name, (n, size) in slab.items()
                             if name.startswith("kmalloc")) >> 10
    out["pages KiB"] = info["MemTotal"] - info["MemFree"] - info["Cached"] - info["Buffers"] \
        - info["Slab"]
    return out


def quiet(t):
    """Wait until nothing of the actions is left: groups, queue pairs, sockets, namespaces."""
    for vm in (t.a, t.b):
        base = set(t.pair.rdma_base[vm.name])
        t.wait(lambda vm=vm: not vm.sockets() and not t.queue_pairs(vm) and
               not t.memory_regions(vm), f"{vm.name}: no socket, queue pair or region", 60)
        t.wait(lambda vm=vm, base=base: counts(t, vm)["TCP sockets"] == 0,
               f"{vm.name}: end of TCP's sockets", 60)


def compare(t, vm, first):
    """Compare machine VM with FIRST; repeat while what is freed late is still there."""
    from smcvm.machine import Failed
    seen = []

    def grown():
        now = {**counts(t, vm), **memory(vm)}
        more = {name: n - first[name] for name, n in now.items()}
        seen[:] = [f"{name} {n - more[name]} -> {n}" for name, n in now.items()
                   if (more[name] > MAY_GROW[name] if name in MAY_GROW else more[name])]
        t.soaked = more
        return not seen
    try:
        t.wait(grown, "", 15)
    except Failed as e:
        raise Failed(f"seed {t.seed}: {vm.name} differs from the end of the first round: "
                     f"{', '.join(seen) or e}") from e


def act(t, action, rng, port):
    """One action; afterwards its groups have ended."""
    from smcvm.machine import Failed
    t.end = time.monotonic() + t.timeout
    settle(t)
    t.step(f"{action.__name__} at port {port}")
    began = time.monotonic()
    try:
        action(t, rng, port)
        settle(t)
        quiet(t)
    except Failed as e:
        raise Failed(f"seed {t.seed}, port {port}, {action.__name__}: {e}") from e
    print(f"  {action.__name__} {time.monotonic() - began:.0f} s", flush=True)


def run(t):
    if t.family != "smc":
        return
    print(f"  seed {t.seed}", flush=True)
    rng, port, rounds, first = random.Random(t.seed), 20000, 0, {}
    hours = t.pick(0, t.long) if t.hours is None else t.hours
    until = time.monotonic() + 3600 * hours
    t.no_groups()
    while rounds < 2 or time.monotonic() < until:
        # a machine that boots cannot be compared with itself: that is for every other round
        todo = [x for x in ACTIONS if x is not killed or not rounds % 2]
        for action in rng.sample(todo, len(todo)):
            act(t, action, rng, port)
            port = 20000 + (port - 20000 + 10) % 12000
        for vm in (t.a, t.b):
            if (vm, vm.boots) not in first:
                first[vm, vm.boots] = {**counts(t, vm), **memory(vm)}
            else:
                compare(t, vm, first[vm, vm.boots])
                print(f"  {vm.name} grew by {t.soaked}", flush=True)
        rounds += 1
    t.note(f"seed {t.seed}, {rounds} rounds")
