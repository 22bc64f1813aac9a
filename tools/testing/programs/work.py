# SPDX-License-Identifier: GPL-2.0
"""Runs a row of rows.py on the machines, and checks its result."""
import os
import time

from smcvm import kernel
from smcvm.machine import Died, Failed

import rows
import table

MODES = ("tcp", "smc")
PRELOAD = "/tmp/libsmc-preload.so"  # a copy that every user may read
# with same-host SMC this share of the connections within one host must use memory
MEMORY_SHARE = 0.5
# Bytes that differ from block to block, the same on both machines
STREAM = "openssl enc -aes-128-ctr -nosalt -K 00 -iv 00 -in /dev/zero 2>/dev/null"


class Work:
    """One row in one mode: "tcp", "smc" or "memory"."""

    def __init__(self, t, files, seconds, mode):
        self.t = t
        self.a, self.b = t.a, t.b
        self.mode = mode
        self.env = {} if mode == "tcp" else {"LD_PRELOAD": PRELOAD}
        self.seconds = seconds
        self.files = files
        self.procs = []
        self.last = None
        self.end = time.monotonic() + files.limit

    def left(self):
        return max(1, self.end - time.monotonic())

    def start(self, vm, cmd, env=None):
        p = vm.spawn(cmd, self.env if env is None else env)
        self.procs.append(p)
        return p

    def until(self, what, cond):
        while not cond():
            if time.monotonic() > self.end:
                raise Failed(f"timed out before {what}")
            time.sleep(0.1)

    def serve(self, vm, cmd, port):
        """Start a server and wait until it listens."""
        p = self.start(vm, cmd)

        def listens():
            if p.rc is not None:
                raise Failed(p.explain())
            return vm.run(f"ss -Hltn 'sport = :{port}'").out.strip()
        self.until(f"{cmd} listens", listens)
        return p

    def client(self, cmd, env=None):
        """Run a command on B to its end; return its output."""
        p = self.start(self.b, cmd, env)
        self.last = p.wait(self.left())
        return self.last.out

    def timed(self, cmd):
        """Run a command on B; return its duration in seconds."""
        t0 = time.monotonic()
        self.client(cmd)
        return time.monotonic() - t0

    def digest(self, name):
        return self.files.digest[name]

    def size(self, name):
        return self.files.sizes[name]

    def stop(self):
        """End all clients and servers, and their child processes."""
        for p in reversed(self.procs):
            if p.rc is None:
                p.kill(15)
        for p in self.procs:
            try:
                p.wait(5, check=False)
            except Died:
                raise
            except Failed:
                p.kill()
        for vm in (self.a, self.b):
            vm.kill_leftovers()
            vm.until(lambda v=vm: not [x for x in v.leftovers() if x["state"] != "Z"],
                     20, "end of all processes")


class Files:
    """The files that are served and copied, the same on both machines.

    They are made once, on the host, with their digests.
    """

    def __init__(self, t, scp_mib, limit):
        self.limit = limit + scp_mib
        self.sizes = {"10k": 10240, "item": 900_000, "medium": 4 << 20, "big": 32 << 20,
                      "copied": scp_mib << 20}
        self.digest = {}
        lines = [f"mkdir -p {rows.FILES}",
                 f"cp /host{kernel.preload_library()} {PRELOAD} && chmod 644 {PRELOAD}"]
        for name, size in self.sizes.items():
            path, self.digest[name] = made(size)
            lines.append(f"ln -sfn /host{path} {rows.FILES}/{name}")
        for vm in (t.a, t.b):
            vm.run("\n".join(lines))


def made(size):
    """A file of SIZE bytes in the cache of the host: its path and SHA-256."""
    path = os.path.join(kernel.CACHE, f"programs-{size}")
    with kernel.locked("programs"):
        # the pipe's status is that of head
        if not os.path.exists(path) or os.path.getsize(path) != size:
            kernel.run(["/bin/sh", "-c", f"{STREAM} | head -c {size} > {path}.new && "
                                         f"[ $(stat -c %s {path}.new) = {size} ] && "
                                         f"mv {path}.new {path}"])
        return path, kernel.run(["/bin/sh", "-c", rows.sha256(path)]).strip()


def grown(t, before):
    """The growth of the module's counters on both machines since BEFORE."""
    now = counted(t)
    return {k: v - before.get(k, 0) for k, v in now.items()}


def counted(t):
    """The module's counters, as sums of both machines."""
    out = {}
    for vm in (t.a, t.b):
        stats = vm.stats()
        if not stats:
            continue
        for name, value in stats.items():
            out[name] = out.get(name, 0) + value
        out["packets"] = out.get("packets", 0) + vm.counters()["sent_pkts"]
    return out


def transport(row, mode, count):
    """The transport in words; raises Failed if it is not the expected one."""
    smc = count.get("client_smc", 0)
    fell = count.get("client_tcp", 0)
    tcp = fell + count.get("server_tcp", 0)
    packets = count.get("packets", 0)
    if mode == "tcp":
        if smc:
            raise Failed(f"{smc} connections of plain TCP used SMC")
        return "TCP"
    if row.fallen is None and mode == "smc":
        if tcp < row.conns or smc:
            raise Failed(f"{tcp} connections fell back, want {row.conns}; {smc} did not")
        return f"TCP (fallback), {tcp} sockets"
    if smc < row.conns:
        raise Failed(f"{smc} connections used SMC-R, want {row.conns}; {tcp} fell back")
    if row.fallen is not None and tcp > row.fallen:
        raise Failed(f"{tcp} connections fell back, {row.fallen} may; {smc} used SMC-R")
    if row.fallen is None:
        return in_memory(count, smc, fell)
    if packets < 4 * smc:
        raise Failed(f"{packets} RDMA packets cannot carry {smc} connections")
    return f"SMC-R, {smc} connection{'s' * (smc > 1)}, {packets} packets"


def in_memory(count, smc, fell):
    used = count.get("client_memory", 0)
    if used < (smc + fell) * MEMORY_SHARE:
        raise Failed(f"{used} of {smc} connections used memory, {fell} fell back")
    return f"memory, {used} connection{'s' * (used > 1)}; {fell} fell back"


def memory(t, value=None):
    """Set net.smc.memory on both machines; true if they have it."""
    path = "/proc/sys/net/smc/memory"
    if not all(vm.call("exists", path=path)["yes"] for vm in (t.a, t.b)):
        return False
    if value is not None:
        for vm in (t.a, t.b):
            vm.write(path, value)
    return True


def modes(t, row):
    """The modes of a row; rows on one host also run with same-host SMC."""
    return MODES + ("memory",) * (row.fallen is None and memory(t))


def run_row(t, files, row, mode, seconds):
    """Run a row in a mode; return (rate, unit, words, transport)."""
    w = Work(t, files, seconds, mode)
    t.step(f"{row.name} {mode}")
    memory(t, int(mode == "memory"))
    before = counted(t)
    try:
        try:
            rate, unit, words = row.func(w)
            count = grown(t, before)
        except (AssertionError, Failed) as e:
            raise Failed(f"{e}\n{state(t, w)}") from None
        return rate, unit, words, transport(row, mode, count)
    finally:
        w.stop()
        memory(t, 1)


def state(t, w):
    """The state after a failure: processes, where they sleep, and sockets."""
    text = ""
    for p in w.procs:
        text += p.explain()[-2500:] + "\n"
    for vm in (t.a, t.b):
        if not vm.alive():
            continue
        text += f"--- {vm.name}: SMC sockets\n"
        text += "\n".join(str({k: v for k, v in s.items() if k != "lgr"})
                          for s in vm.sockets()[:12]) + "\n"
        text += vm.run("ss -tanp | head -20; for p in /proc/[0-9]*; do read -r n < $p/comm; "
                       "grep -qsE 'smc_|tcp_|inet_|sk_' $p/stack && echo $n && "
                       "head -5 $p/stack; done 2>/dev/null; true").out
    return text


def run_modes(t, files, row, seconds):
    """Run a row in all modes; return {mode: result} and texts of the failures."""
    results, wrong = {}, []
    for mode in modes(t, row):
        try:
            results[mode] = run_row(t, files, row, mode, seconds)
        except Died:
            raise
        except Failed as e:
            wrong.append(f"{row.name} {mode}: {e}")
    return results, wrong


def run_rows(t, chosen, scp_mib, seconds):
    """Run rows in both modes; return lines for the table. Fails if a row fails."""
    files = Files(t, scp_mib, 300)
    wrong, lines = [], []
    for row in chosen:
        results, bad = run_modes(t, files, row, seconds)
        wrong += bad
        for mode in modes(t, row)[1:]:
            lines.append(table.line(row, results, mode))
            print("  " + lines[-1], flush=True)
        for text in bad:
            print("  | " + text.replace("\n", "\n  | "), flush=True)
    t.check(not wrong, f"{len(wrong)} runs failed\n" + "\n".join(wrong))
    t.note(f"{len(chosen)} programs")
    return lines
