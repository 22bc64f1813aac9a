# SPDX-License-Identifier: GPL-2.0
"""Random calls on SMC sockets of both machines race with each other and break nothing.

An administrator of each machine changes settings, MTU, RNIC, policy and control groups
beside them, and verified streams run between the machines: they may break, but not
change. Afterwards connections still work, no socket is left, the modules unload, and the
debug kernel reports nothing.

Forty seconds with a fixed seed; with --long ten minutes or a third of it, and a new seed.
SMC_FUZZ_SECONDS is another duration, SMC_FUZZ_SEED repeats the choices of a run. In the
RFC dialect connections within a machine use RDMA, too; with two processors calls run in
parallel.

covers: API-01 API-03
"""
import contextlib
import fcntl
import os
import random
import signal
import socket
import struct
import subprocess
import threading
import time

import smcdiag
import smcnl
from common import stream_client, stream_server

kernels = ("debug", "stock")
vcpus = (1, 2)
timeout = 1200
N = 300_007
SEED = 43
STREAM_PORT = 7720
MANY = 100      # calls of a kind, of which one must succeed
SETTINGS = "/proc/sys/net/smc"
CGROUP = "/sys/fs/cgroup"
DRAIN = "/sys/module/smc/parameters/drain"
SIOCSIFMTU = 0x8922
# a process that dies in the kernel leaves the log of calls; namespaces end slowly
MACHINE = {"kernel.panic_on_oops": 0, "user.max_net_namespaces": 40}
VALUES = (0, 1, 2, 16, 100, 500, 4096, 16384, 65536, 1 << 20)
KEPT = ("dialect", "rdma_ack_exponent")     # the run depends on them


def write(path, text):
    with open(path, "w", encoding="ascii") as f:
        f.write(str(text))


def read(path):
    with open(path, encoding="ascii") as f:
        return f.read()


class Administrator:
    """Changes things of one machine for a moment each, and looks at others.

    PARENT is the process whose children make calls, TOOL the user tool, MTU that of eth0.
    """

    def __init__(self, h, seed, parent, tool, mtu):
        self.h, self.parent, self.tool, self.mtu = h, parent, tool, mtu
        self.rng = random.Random(seed)
        self.done = {}
        self.nr_groups = 0
        self.is_smc = h.family == "smc"

    def pause(self, seconds):
        time.sleep(self.rng.random() * seconds * self.h.slow)

    def run(self, *words):
        subprocess.run(words, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def setting(self):
        name = self.rng.choice([x for x in os.listdir(SETTINGS) if x not in KEPT])
        path = f"{SETTINGS}/{name}"
        old, value = read(path), self.rng.choice(VALUES)
        try:
            with contextlib.suppress(OSError):
                write(path, f"{value} {value} {value}" if name == "mem" else value)
            self.pause(0.5)
        finally:
            write(path, old)
        return f"{name} {value}"

    def change_mtu(self):
        value = self.rng.choice((1280, 1300, 1400, self.mtu))
        try:
            self.set_mtu(value)
            self.pause(1)
        finally:
            self.set_mtu(self.mtu)
        return str(value)

    def set_mtu(self, value):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            fcntl.ioctl(s, SIOCSIFMTU, struct.pack("16si20x", b"eth0", value))

    def device(self):
        self.run("rdma", "link", "delete", "rxe0")
        self.pause(0.5)
        self.run("rdma", "link", "add", "rxe0", "type", "rxe", "netdev", "eth0")
        self.pause(3)

    def policy(self):
        rule = ["tcp", "port", str(7700 + self.rng.randrange(4))]
        try:
            self.run(self.tool, "policy", "add", *rule)
            self.pause(0.5)
        finally:
            self.run(self.tool, "policy", "flush")

    def drain(self):
        try:
            write(DRAIN, "Y")
            self.pause(0.3)
        finally:
            write(DRAIN, "N")

    def groups(self):
        """Move each process that makes calls to a control group of its own, or out of it."""
        if not os.path.exists(f"{CGROUP}/cgroup.procs"):
            return
        self.nr_groups += 1
        name = f"{CGROUP}/fuzz{self.nr_groups}"
        os.mkdir(name)
        for pid in self.children():
            with contextlib.suppress(OSError):
                write(f"{self.rng.choice((CGROUP, name))}/cgroup.procs", pid)
        self.remove_groups()

    def remove_groups(self):
        for name in os.listdir(CGROUP):
            if name.startswith("fuzz"):
                with contextlib.suppress(OSError):
                    os.rmdir(f"{CGROUP}/{name}")

    def children(self):
        for pid in filter(str.isdigit, os.listdir("/proc")):
            with contextlib.suppress(OSError):
                if int(read(f"/proc/{pid}/stat").rsplit(")", 1)[1].split()[1]) == self.parent:
                    yield pid

    def look(self):
        """What shows sockets, groups and peers."""
        smcdiag.sockets()
        for name in ("sockstat", "tcp"):
            with contextlib.suppress(FileNotFoundError):
                read(f"/proc/net/{name}")
        smcnl.counters()
        with smcnl.Family() as nl:
            for cmd in (smcnl.LGR, smcnl.LINK, smcnl.DEV, smcnl.STATS, smcnl.FBACK):
                nl.dump(cmd)

    WEIGHTS = {setting: 8, change_mtu: 2, device: 1, policy: 1, drain: 1, groups: 4, look: 2}

    def step(self):
        action = self.rng.choices(list(self.WEIGHTS), self.WEIGHTS.values())[0]
        write("/dev/kmsg", f"<6>smc-bench: {action.__name__}\n")
        text = action(self)
        if text:
            write("/dev/kmsg", f"<6>smc-bench: {action.__name__} was {text}\n")
        self.done[action.__name__] = self.done.get(action.__name__, 0) + 1
        self.pause(0.2)


def administrator(h, **args):
    """Change things until the gate "stop" opens; return the number of each change."""
    one = Administrator(h, **args)
    if one.is_smc:
        while not h.gate_open("stop"):
            one.step()
        one.remove_groups()
    return one.done


# Verified streams beside the calls


def serve_streams(h, port):
    """Answer requests until the gate "stop" opens; a connection may break, not change."""
    wrong = []

    def broke(e):
        if not isinstance(e, OSError):
            wrong.append(e)
    h.serve(port, on_break=broke)
    if wrong:
        raise wrong[0]


def stream(h, port, seed):
    """Make requests on connection after connection until the gate "stop" opens.

    Returns the bytes of whole answers, and the connections that broke.
    """
    rng, moved, broken, stop = random.Random(seed), [0], [0], threading.Event()

    def requests():
        s = h.connect(port)
        with s:
            for _ in range(rng.randint(1, 20)):
                n, back = rng.randint(1, 20_000), rng.randint(0, 20_000)
                h.request(s, n, back)
                moved[0] += n + back
                if stop.wait(0.1 * h.slow):
                    break
            h.finish(s)

    def run():
        while not stop.is_set():
            try:
                requests()
            except OSError:
                broken[0] += 1
                time.sleep(0.1)

    errors = []

    def guard():
        try:
            run()
        except BaseException as e:
            errors.append(e)
    th = threading.Thread(target=guard, daemon=True)
    th.start()
    h.gate("stop")
    stop.set()
    th.join(h.left())
    h.check(not th.is_alive(), "a request does not end")
    if errors:
        raise errors[0]
    return moved[0], broken[0]


def machines_talk(t, port):
    """A connection made now carries data by RDMA."""
    t.rdma_start()
    t.in_step(stream_server, stream_client, port, n_in=N, n_out=N)
    for vm in (t.a, t.b):
        t.carried(vm, N)


# The module keeps one, from which socks take their class of SELinux; nothing binds or connects it.
NO_SOCKS = [0, 0, 1]


def socks(vm):
    """The socks of TCP that still exist: in use, orphans, allocated."""
    words = vm.read("/proc/net/sockstat").split("TCP: ")[1].split()
    return [int(words[i]) for i in (1, 3, 7)]


def judge(t, procs):
    """The calls of all kinds, and those that succeeded."""
    tried = worked = 0
    for p in procs:
        for line in p.out.splitlines()[1:]:
            name, n, good = line.rsplit(None, 2)
            tried, worked = tried + int(n), worked + int(good)
            if t.family == "smc" and int(n) > MANY:
                t.check(int(good), f"no {name} of {n} succeeded: the fuzzer reaches nothing\n"
                        + p.out)
    t.note(f"{tried} calls, {worked} succeeded")


def play(t, seed, seconds):
    """Calls, streams and administrators on both machines until the calls end."""
    from smcvm import kernel
    from smcvm.machine import Failed
    fuzz = t.program("fuzz", "-luring")
    tool = t.guest_path(kernel.user_tool("smc"))
    server = t.half(t.a, serve_streams, port=STREAM_PORT)
    server.expect("listening")
    client = t.half(t.b, stream, port=STREAM_PORT, seed=seed)
    procs, admins = [], []
    for i, (vm, peer) in enumerate(((t.a, t.b), (t.b, t.a))):
        procs.append(vm.spawn([fuzz, seed + i, vm.ip, peer.ip]))
        admins.append(t.half(vm, administrator, seed=seed + i, parent=procs[i].pid, tool=tool,
                             mtu=t.pair.mtu))
    until = time.monotonic() + seconds
    while time.monotonic() < until and all(p.rc is None for p in procs + admins + [client, server]):
        time.sleep(0.2)
    for p in procs:
        p.kill(signal.SIGTERM)
    for p in procs:
        if p.wait(200 * t.slow, check=False).rc:
            raise Failed(f"seed {seed}\n{p}: rc {p.rc}\n{p.out}{p.err}")
    for p in admins:
        p.gate("stop")
    t.wait_all(*admins)
    for p in (client, server):
        p.gate("stop")
        t.wait_all(p)
    judge(t, procs)
    for vm, p in zip((t.a, t.b), admins):
        t.note(f"changes of {vm.name}: " + " ".join(f"{k} {n}" for k, n in p.value.items()))
    moved, broken = client.value
    t.note(f"{moved} bytes of streams, {broken} broken")
    t.check(moved, "the streams stood still")


@contextlib.contextmanager
def prepared(t):
    """The machines have control groups, and settings for the duration of the context."""
    old = {(vm, name): vm.sysctl(name) for vm in (t.a, t.b) for name in MACHINE}
    for vm in (t.a, t.b):
        t.set(vm, memory=t.dialect)
        vm.run(f"mountpoint -q {CGROUP} || mount -t cgroup2 none {CGROUP}; "
               f"echo +memory >{CGROUP}/cgroup.subtree_control")
        for name, value in MACHINE.items():
            vm.sysctl(name, value)
    try:
        yield
    finally:
        for (vm, name), value in old.items():
            if vm.alive():
                vm.sysctl(name, value)


def run(t):
    plain = t.dialect == 0 and t.case.vcpus == 1
    seconds = int(os.environ.get("SMC_FUZZ_SECONDS") or
                  (40 if not t.long else 600 if plain else 200))
    seed = int(os.environ.get("SMC_FUZZ_SEED") or (t.seed if t.long else SEED))
    t.note(f"seed {seed}")
    print(f"  seed {seed}", flush=True)
    with prepared(t):
        play(t, seed, seconds)
    if t.family == "smc":
        used = sum(vm.stats()["client_smc"] for vm in (t.a, t.b))
        t.note(f"{used} connections used RDMA")
        t.check(used, "no connection used RDMA")
        for vm in (t.a, t.b):
            t.wait(lambda vm=vm: socks(vm) == NO_SOCKS, f"{vm.name}: end of all socks", 60)
            t.reload(vm)
    machines_talk(t, 5999)
