# SPDX-License-Identifier: GPL-2.0
"""Loads scenario files, and provides the object t that they work with.

A scenario is a file scenarios/WING/NAME.py. The first line of its docstring states what
it proves, "covers:" lines there or in its cases name requirements. The file sets names of
DEFAULTS where it needs other values. Its halves run inside the machines: functions with h as
first argument, see guest/halves.py. Its function run(t) controls the halves.
"""
import functools
import glob
import importlib.util
import os
import re
import secrets
import time

from . import kernel
from .machine import Died, Failed
from .pair import OURS, at_once

SCENARIOS = os.path.join(kernel.VM, "scenarios")
DEFAULTS = {
    "kernels": ("debug", "stock"),
    "dialects": (0, 1),         # indexes of DIALECTS
    "sides": ("ours", "ours"),  # modules of A and B
    "nics": 1,
    "cx16": False,              # True if its programs need cmpxchg16b
    "words": "",                # for the command lines of the kernels
    "rnic": None,               # "PROFILE" or "PROFILE,DMA" of the model, in place of soft-RoCE
    "soft_roce": "",            # why it does not apply to the model
    "vcpus": (1,),              # the first is what `check` uses
    "ipv": (4,),
    "family": "smc",
    "timeout": 40,              # seconds on the stock kernel
    "fresh": False,             # True if it needs a boot of its own
}


# Version 1 in both dialects; and version 2, which hosts in one subnet use by default. Only with the
# last one has our module the default EID.
DIALECTS = ("deployed", "rfc", "v2")

# the EID that our module and the distribution's share
EID = "SMC-BENCH.STRANGERS"


class NotApplicable(Exception):
    """The case has not what the scenario needs."""


class Scenario:
    def __init__(self, name):
        if name not in paths():
            raise kernel.BenchError(f"no scenario {name}")
        self.name = name
        self.path = paths()[name]
        spec = importlib.util.spec_from_file_location("scenario_" + name.replace("-", "_"),
                                                      self.path)
        mod = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(mod)
        if not mod.__doc__ or not hasattr(mod, "run"):
            raise kernel.BenchError(f"{self.path}: no docstring or no run(t)")
        self.run = mod.run
        self.title = mod.__doc__.strip().split("\n")[0]
        with open(self.path, encoding="utf-8") as f:
            self.covers = " ".join(re.findall(r"^[\s#]*covers:\s*(.*)$", f.read(), re.M))
        for key, val in DEFAULTS.items():
            setattr(self, key, getattr(mod, key, val))


@functools.cache
def paths():
    """The file of each scenario, by name."""
    files = glob.glob(os.path.join(SCENARIOS, "*/*.py"))
    found = {os.path.basename(path)[:-3]: path for path in files}
    if len(found) != len(files):
        raise kernel.BenchError("two scenarios have one name")
    return found


def all_names():
    return sorted(paths())


class Case:
    """One scenario in one variant; SIDES may replace the scenario's modules."""

    def __init__(self, scenario, kind, dialect, vcpus, ipv, family=None, sides=None,
                 rnic=None):
        self.scenario = scenario
        self.rnic = rnic or scenario.rnic
        self.kind = kind
        self.dialect = dialect
        self.vcpus = vcpus
        self.ipv = ipv
        self.family = family or scenario.family
        self.is_swapped = sides not in (None, scenario.sides)
        self.sides = (sides or scenario.sides) if self.family == "smc" else ("none", "none")

    def __str__(self):
        s = self.scenario
        words = [self.kind]
        if OURS & set(self.sides):
            words.append(DIALECTS[self.dialect])
        if self.family != "smc":
            words.append(self.family)
        if len(s.ipv) > 1 or self.ipv == 6:
            words.append(f"ipv{self.ipv}")
        if self.vcpus > 1:
            words.append(f"{self.vcpus}cpu")
        if self.is_swapped:
            words.append(" with ".join(self.sides))
        if self.rnic:
            words.append(f"rnic {self.rnic}")
        return f"{s.name} ({' '.join(words)})"

    def are_strangers(self):
        """True if one machine has another module than the scenario expects."""
        return self.is_swapped and "stock" in self.sides

    def has_bounce_buffers(self):
        """True if the devices of the case reach copies of memory only."""
        return bool(self.rnic) and not re.search(",(direct|iommu)", self.rnic)

    def boot_key(self):
        s = self.scenario
        return (self.kind, self.vcpus, s.nics, s.cx16, s.words, self.rnic or "")


class Test:
    """The argument t of run(t)."""

    def __init__(self, pair, case, outdir, args):
        self.pair = pair
        self.case = case
        self.a, self.b = pair.a, pair.b
        self.relay = pair.relay
        # 0 deployed, also in version 2; 1 rfc
        self.dialect = case.dialect % 2
        self.family = case.family
        self.ipv = case.ipv
        self.kind = kernel.base(case.kind)
        self.slow = pair.slow
        self.patience = pair.patience
        self.outdir = outdir
        self.long = args.long
        self.hours = args.hours
        self.seed = secrets.randbits(32) if args.seed is None else args.seed
        self.timeout = case.scenario.timeout * pair.slow * pair.patience
        self.end = time.monotonic() + self.timeout
        self.count0 = {}
        self.changed = {}
        self.with_eids = set()
        self.notes = []

    # Numbers that depend on the kernel

    def pick(self, stock, debug):
        return debug if self.kind == "debug" else stock

    def step(self, text):
        """Announce a step in the kernel logs, and so in the report of a failure."""
        for vm in (self.a, self.b):
            if vm.alive() and not vm.paused:
                vm.call("say", text=f"smc-bench: {text}")

    def note(self, text):
        """Add text to the line of the result."""
        self.notes.append(text)

    def need(self, cond, text):
        """End the scenario as not applicable, unless COND: TEXT says why."""
        if not cond:
            raise NotApplicable(text)

    def left(self):
        return max(0.1, self.end - time.monotonic())

    def set(self, vm, **settings):
        """Change settings of net.smc until the end of the scenario.

        This affects our module only, not the distribution's.
        """
        if self.family != "smc" or self.pair.sides[vm.name] == "stock":
            return
        for name, value in settings.items():
            name = "net.smc." + name
            self.changed.setdefault((vm, name), vm.sysctl(name))
            vm.sysctl(name, value)

    def restore(self, only=None):
        """Undo set(), of all settings or of one name; without one, also ueid()."""
        for (vm, name), value in list(self.changed.items()):
            if only and name != "net.smc." + only:
                continue
            if vm.alive():
                vm.sysctl(name, value)
            del self.changed[vm, name]
        # the next case may have our module as it is
        for vm in self.ours() if not only else ():
            if vm in self.with_eids and vm.alive():
                self.ueid(vm, "--flush")

    def no_groups(self):
        """End all link groups; from now on a group ends with its last connection.

        A group gets its idle time when it becomes idle. So the groups of an earlier scenario
        are ended by a reload of the module, which keeps the settings.
        """
        machines = (self.a, self.b)
        if all((vm, "net.smc.lgr_idle_ms") in self.changed for vm in machines):
            self.wait(lambda: not any(map(self.queue_pairs, machines)),
                      "end of all link groups", 20)
            return
        for vm in machines:
            if self.queue_pairs(vm):
                kept = {name.rpartition(".")[2]: vm.sysctl(name)
                        for of, name in self.changed if of is vm}
                self.reload(vm, look=False)
                self.set(vm, **kept)
            self.set(vm, lgr_idle_ms=1, peer_memory_ms=1)

    # Halves

    def half(self, vm, func, family=None, ipv=None, netns=None, **args):
        """Start the function FUNC of the scenario's file on machine VM.

        NETNS is the network namespace to run in.
        """
        peer = self.b if vm is self.a else self.a
        config = {"family": family or self.family, "ipv": ipv or self.ipv,
                  "slow": self.slow, "patience": self.patience,
                  "peer4": peer.ip, "peer6": peer.ip6,
                  "deadline": max(1, self.left() - 5), "dialect": self.dialect,
                  "netns": netns}
        name = func if isinstance(func, str) else func.__name__
        return vm.half(self.guest_path(self.case.scenario.path), name, args, config)

    def both(self, server, client, port=5000, sargs=None, cargs=None, **args):
        """Start a server half on A and, when it listens, a client half on B.

        Wait for both; return their values.
        """
        s = self.half(self.a, server, port=port, **args, **(sargs or {}))
        s.expect("listening", self.left())
        c = self.half(self.b, client, port=port, **args, **(cargs or {}))
        self.wait_all(s, c)
        return s.value, c.value

    def wait_all(self, *procs):
        """Wait until all processes have succeeded; fail as soon as one fails."""
        self.all_of(procs, lambda p: p.rc == 0, "end")

    def expect_all(self, name, *procs):
        """Wait until all halves have reached the mark NAME; return its data."""
        self.all_of(procs, lambda p: p.find(name) is not None, f"mark {name}")
        return [p.expect(name, 1) for p in procs]

    def all_of(self, procs, good, what):
        while not all(good(p) for p in procs):
            for p in procs:
                if p.rc is not None and not good(p):
                    raise Failed("\n".join(q.explain() for q in procs))
            if self.left() <= 0.2:
                raise Failed(f"deadline passed while waiting for: {what}\n"
                             + "\n".join(q.explain() for q in procs))
            late = next(p for p in procs if not good(p))
            with late.vm.cond:
                if not good(late) and late.rc is None:
                    late.vm.cond.wait(0.2)
            for p in procs:
                if not p.vm.alive() and not good(p):
                    raise Died(f"{p.vm.name} died\n" + p.vm.tail(p.vm.console))

    def in_step(self, server, client, port, check=None, vm_mode=("SMC-R", "SMC-R"),
                count=1, cargs=None, **args):
        """Run halves that stop at the mark "moved" until the gate "end" opens.

        CARGS are further arguments of the client. When both have reached the mark, the
        machines must list COUNT sockets in the modes VM_MODE; then CHECK() is called.
        """
        s = self.half(self.a, server, port=port, **args)
        s.expect("listening", self.left())
        c = self.half(self.b, client, port=port, **args, **(cargs or {}))
        self.expect_all("moved", s, c)
        for vm, mode in zip((self.a, self.b), vm_mode):
            if mode:
                self.mode(vm, mode, port, count)
        if check:
            check()
        for p in (s, c):
            p.gate("end")
        self.wait_all(s, c)
        return s.value, c.value

    # Checks

    def check(self, cond, text):
        if not cond:
            raise Failed(text)

    def equal(self, got, want, what):
        if got != want:
            raise Failed(f"{what}: got {got!r}, want {want!r}")

    def wait(self, cond, what, timeout=None):
        """Wait until COND() holds; returns its value."""
        end = time.monotonic() + min(
            timeout * self.slow * self.patience if timeout else 1e9, self.left())
        while True:
            val = cond()
            if val:
                return val
            if time.monotonic() > end:
                raise Failed(f"timed out waiting for: {what}")
            time.sleep(0.1)

    def rdma_start(self):
        """Remember the packet counts of the RDMA devices."""
        for vm in (self.a, self.b):
            self.count0[vm.name] = vm.counters()

    def rdma_packets(self, vm, counter="sent_pkts"):
        return vm.counters()[counter] - self.count0[vm.name][counter]

    def carried(self, vm, nbytes):
        """RDMA must have carried at least NBYTES from machine VM."""
        if self.family != "smc":
            return
        mtu = 1024 if self.pair.mtu < 2200 else 4096
        sent = self.rdma_packets(vm)
        if sent < nbytes // mtu:
            raise Failed(f"{vm.name}: {sent} RDMA packets cannot carry {nbytes} bytes")

    def not_carried(self, vm, most=10):
        """RDMA must have carried at most MOST packets from VM.

        An idle link group of an earlier scenario may send a few.
        """
        sent = self.rdma_packets(vm)
        if sent > most:
            raise Failed(f"{vm.name}: {sent} RDMA packets, want at most {most}")

    def mode(self, vm, want, port, count=1, reason=None, netns=None):
        """Wait until VM lists COUNT sockets of PORT in mode WANT ("SMC-R", "memory", "TCP")."""
        if self.family != "smc":
            return []
        seen = []

        def there():
            seen[:] = [s for s in vm.sockets(netns) if port in (s["sport"], s["dport"])
                       and s["state"] not in ("LISTEN", "INIT")]
            good = [s for s in seen if s["mode"] == want and
                    (reason is None or s["reason"] == reason)]
            return good if len(good) >= count else None
        try:
            return self.wait(there, "mode", 20)
        except Failed:
            raise Failed(f"{vm.name} {netns or ''}: {count} sockets of mode {want}"
                         f"{'' if reason is None else f' and reason {reason:#010x}'} "
                         f"on port {port} wanted, there are: {seen}") from None

    def no_sockets(self, vm, port, netns=None):
        """Wait until VM has no SMC socket of PORT any more."""
        if self.family != "smc":
            return
        seen = []

        def gone():
            seen[:] = [s for s in vm.sockets(netns) if port in (s["sport"], s["dport"])]
            return not seen
        try:
            self.wait(gone, "", 60)
        except Failed:
            raise Failed(f"{vm.name}: sockets of port {port} remain: {seen}") from None

    def stat(self, vm, name):
        """The counter NAME of machine VM's module."""
        if self.family != "smc":
            return 0
        return vm.stats()[name]

    def queue_pairs(self, vm):
        """The number of RC queue pairs of machine VM."""
        return vm.run("rdma resource show qp").out.count("type RC")

    def memory_regions(self, vm):
        """The number of memory regions of machine VM."""
        return len(vm.run("rdma resource show mr").out.splitlines())

    # Machines

    def guest_path(self, path):
        """The path of a host file inside a machine."""
        return "/host" + os.path.abspath(path)

    def preload(self):
        """Environment that makes an unmodified program use SMC sockets."""
        if self.family != "smc":
            return {}
        return {"LD_PRELOAD": self.guest_path(kernel.preload_library())}

    def ueid(self, vm, what):
        """Add an EID to the module of machine VM, ours or stock; "--flush" deletes all."""
        tool = os.path.join(kernel.TOP, "tools/bench/ueid")
        if what == "--flush":
            self.with_eids.discard(vm)
        else:
            self.with_eids.add(vm)
        vm.run(f"python3 {self.guest_path(tool)} {what}")

    def share_eid(self):
        """Set one EID on both modules, ours or stock, and no other."""
        for vm in (self.a, self.b):
            self.ueid(vm, "--flush")
            self.ueid(vm, EID)

    def ours(self):
        """The machines with our module."""
        return [vm for vm in (self.a, self.b) if self.pair.sides[vm.name] in OURS]

    def strangers(self, sides):
        """Reload both modules, strangers with an EID in common; returns (ours, the other).

        Our module forgets peers at once, and its counters are not compared with a baseline.
        """
        self.step("modules: " + " ".join(sides))
        self.pair.load_all(("none", "none"))
        self.pair.load_all(sides, 0)
        self.share_eid()
        self.changed = {}
        ours, stock = (self.a, self.b) if sides[0] in OURS else (self.b, self.a)
        self.set(ours, peer_memory_ms=0)
        return ours, stock

    def program(self, name, *flags):
        """Compile guest/NAME.c; return its path inside the machines."""
        src = os.path.join(kernel.VM, "guest", name + ".c")
        return self.guest_path(kernel.compile_c(src, "-pthread", *flags))

    def run_smc(self, vm, words, status=0, who=""):
        """Run the user tool in VM, by the command WHO; it must end with STATUS."""
        out = vm.run(f"{who} {self.guest_path(kernel.user_tool('smc'))} {words}", check=False)
        self.equal(out.rc, status, f"{vm.name}: smc {words}: {out.err}")
        return out

    @staticmethod
    def reason(row, name="reason"):
        """The code of a reason in the tool's JSON, None without one."""
        return int(row[name]["code"], 16) if name in row else None

    def reload(self, *vms, look=True):
        """Reload the module, which ends all link groups and the cache of peers.

        With LOOK, check that the module leaves no objects on the RDMA device.
        """
        self.changed = {k: v for k, v in self.changed.items() if k[0] not in vms}
        at_once(lambda vm: self.reload_one(vm, look), vms)

    def reload_one(self, vm, look):
        self.pair.unload(vm.name, look)
        self.load(vm)

    def load(self, vm):
        """Load what the case wants in machine VM."""
        self.pair.load(vm.name, self.case.sides["ab".index(vm.name)],
                       self.dialect or self.case.dialect & 2)
        if self.case.are_strangers():
            self.ueid(vm, EID)

    def reboot(self, vm):
        """Boot a killed machine again, with what the case has loaded."""
        self.changed = {k: v for k, v in self.changed.items() if k[0] is not vm}
        self.pair.reboot(vm.name)
        self.pair.dialect[vm.name] = None
        self.load(vm)
