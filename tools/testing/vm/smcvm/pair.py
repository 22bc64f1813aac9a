# SPDX-License-Identifier: GPL-2.0
"""Two machines and the relay between them, set up for SMC."""
import contextlib
import os
import re
import shlex
import shutil
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

from . import kernel
from .kernel import BenchError
from .machine import LIMIT, Failed, Machine
from .relay import Relay

# our module; "own" is built with SMC_OWN_OPTION
OURS = {"ours", "own"}
HOSTS = {"a": 1, "b": 2}
ROUTER, THIRD, SYSTEM = 3, 4, 5
# The factor by which a host may be slower than an idle one before a machine counts as hung;
# BUSY applies while another pair of machines runs.
IDLE, BUSY = 4, 8
# A host on which a boot takes longer than on an idle one gets that much more; a host that is
# busy later has the reserve of IDLE.
MOST_PATIENT = 32
LEAK_SCANS = 3      # must all report a leak: one scan may miss a pointer that moves
LEAK_AGE = 6        # kmemleak reports nothing younger than five seconds
# The name of its number gives the kind of an RDMA object; CHANGING values may differ later.
KIND = re.compile(r"\b(lqpn|cqn|mrn|pdn)\b")
CHANGING = re.compile(r"(users|pdn|cqe|mrn|ctxn|state|sq-psn|rq-psn|local_dma_lkey) \S+ ?")
SYSCTL_DIR = "/proc/sys/net/smc"
VIOLATIONS = "/sys/kernel/debug/rnic/violations"


def at_once(func, items):
    """Call FUNC with each of ITEMS in parallel; return the results or raise the first error.

    Each machine has a CPU of the host, so work on both takes as long as on one.
    """
    items = list(items)
    with ThreadPoolExecutor(max(1, len(items))) as pool:
        return [f.result() for f in [pool.submit(func, x) for x in items]]


class Pair:
    """The machines A and B and their relay.

    Options: kernel (one of kernel.KINDS, or "A,B" for different ones), vcpus, nics, mtu, cx16
    (for programs), words (for the kernels' command lines). PATIENCE is IDLE or BUSY. With a PLUGIN (tools/bench/insns.c) the machines are emulated and count
    their instructions. LEAN machines do without a cost that an RNIC would not cause or that
    hides what is measured: checksums in software loops, and zeroed memory. RNIC is "PROFILE" or
    "PROFILE,DMA" of the model in tools/testing/rnic, which then takes the place of soft-RoCE;
    further words are parameters of the model. BY_INSNS has the clocks of emulated machines advance
    by a nanosecond with each instruction, and with the time while they are idle.
    """

    def __init__(self, kind="debug", vcpus=1, nics=1, mtu=1500, names="ab", plugin=None,
                 cx16=False, patience=IDLE, lean=False, words="", rnic=None, by_insns=False):
        kernels = [kernel.get(k) for k in kernel.kinds(kind)]
        self.kernel = kernels[0]    # that of A, and of further machines
        self.mtu = mtu
        self.nics = nics
        self.cx16 = cx16
        self.lean = lean
        self.rnic = rnic
        if rnic and ",swiotlb" in rnic:
            words += " swiotlb=force"
        devices = []
        if rnic and ",iommu" in rnic:
            if any(k.kind.startswith("debug") for k in kernels):
                raise kernel.BenchError("the debug kernel has no ACPI and so finds no IOMMU")
            words += " intel_iommu=on iommu.strict=1"
            # first, to be there for the PCI functions that take the part of adapters; rnic_selftest
            # needs two
            devices = ["intel-iommu,intremap=off"] + ["edu"] * max(nics, 2)
        self.slow = max(k.slow for k in kernels)
        self.boot_time = max(k.boot_time for k in kernels)
        if vcpus > 1:
            self.slow *= 2
        self.vms = {}
        self.be_patient(patience)
        self.dir = tempfile.mkdtemp(prefix="smcvm-")
        self.sides = {n: None for n in names}
        self.dialect = {n: None for n in names}
        self.rdma_base = {}
        self.at_boot = {}
        self.accel = "tcg" if plugin or by_insns else kernel.qemu_accel(kernels)
        self.relay = Relay(self.dir, self.limit)
        self.vms = {n: Machine(n, HOSTS[n], kernels["ab".index(n)], self.relay, self.dir,
                               vcpus, nics, self.accel, plugin, cx16, self.limit, lean,
                               words=words, devices=devices, by_insns=by_insns)
                    for n in names}
        for n, vm in self.vms.items():
            setattr(self, n, vm)

    def be_patient(self, patience):
        """Set all limits. They only end hung machines, so generous ones cost nothing."""
        self.patience = patience
        self.limit = LIMIT * self.slow * patience
        for vm in self.vms.values():
            vm.limit = self.limit
        # A link is lost after seven attempts of 4.096 us * 2^n, which outlast a pause of the
        # machine by its host: 0 stands for 17. A slow kernel needs more: if it acknowledges
        # 64 KiB late, the peer retransmits the same packets repeatedly.
        self.ack_exponent = 18 if self.slow > 1 or patience > BUSY else 0

    # Life

    def boot(self, names=None):
        names = names or list(self.vms)
        began = time.monotonic()
        for n in names:
            self.vms[n].start()
        at_once(self.wait_up, names)
        times = (time.monotonic() - began) / self.boot_time
        self.be_patient(max(self.patience, min(MOST_PATIENT, round(IDLE * times))))
        for n in names:
            self.relay.greet(n)

    def wait_up(self, name):
        self.vms[name].wait_up()
        self.setup(self.vms[name])
        self.at_boot[name] = self.devices(self.vms[name])
        self.sides[name] = "none"

    @staticmethod
    def devices(vm):
        """Network and RDMA devices of a machine and their addresses."""
        return vm.run("ip -br addr | sort; rdma link | sort").out

    def setup(self, vm):
        """Set up modules, addresses and RDMA devices of one machine."""
        mods = shlex.quote("/host" + vm.kernel.moddir)
        lines = [
            "set -e",
            f"mkdir -p /lib/modules; ln -sfn {mods} /lib/modules/{vm.kernel.release}",
            # the kernel must not load the distribution's modules on demand
            "for m in smc smc_diag; do echo install $m /bin/false; done"
            " > /etc/modprobe.d/bench.conf",
            f"[ $(nproc) -eq {vm.vcpus} ]",
            "ip link set lo up",
            "modprobe -q crc32_generic || true",
            "modprobe crc32_pclmul" if self.lean else "",
            *self.insert_rnic(vm),
        ]
        if vm.kernel.has_sysctl:
            lines += [
                "sysctl -qw kernel.hung_task_timeout_secs=240 || true",
                "sysctl -qw net.ipv6.conf.default.accept_dad=0",
                "sysctl -qw vm.overcommit_memory=1",
            ]
        for i in range(self.nics):
            lines += [
                f"ip link set eth{i} mtu {self.mtu} up",
                f"ip addr add 10.43.{i}.{vm.number}/24 dev eth{i}",
                f"ip -6 addr add fd43:{i or ''}::{vm.number}/64 dev eth{i} nodad"
                .replace("fd43:::", "fd43::") if vm.kernel.has_sysctl else "",
                f"rdma link add rxe{i} type rxe netdev eth{i}",
            ]
        vm.run("\n".join(lines))
        for i in range(self.nics):
            self.wait_gid(vm, i)
        self.rdma_base[vm.name] = self.rdma_objects(vm)

    def insert_rnic(self, vm):
        """Commands that load soft-RoCE, or the model of an RNIC with its name for links."""
        if not self.rnic:
            return ["modprobe rdma_rxe"]
        path = vm.kernel.rnic_module()
        profile, dma, *more = (self.rnic + "," * ("," not in self.rnic)).split(",")
        dma = {"": "bounce", "swiotlb": "direct"}.get(dma, dma)
        return [f"modprobe {dep}" for dep in vm.kernel.depends(path)] + [
            f"insmod {shlex.quote('/host' + path)} type=rxe profile={profile} dma={dma} "
            + " ".join(more)]

    def remove_rnic(self, vm):
        """Remove the model, which reports what is left; return its violations as a problem."""
        if not self.rnic:
            return []
        nr = vm.read(VIOLATIONS).strip()
        vm.run("rmmod smc_rnic")
        return [] if nr == "0" else [f"{vm.name}: {nr} violations of the RNIC's rules"]

    def wait_gid(self, vm, i):
        """Wait until the port is active and its GID table has the IPv4 address."""
        gid = f"0000:0000:0000:0000:0000:ffff:0a2b:{i:02x}{vm.number:02x}"
        base = f"/sys/class/infiniband/rxe{i}/ports/1"
        vm.run(f"n=0; until grep -q ACTIVE {base}/state && "
               f"grep -qs {gid} {base}/gids/*; do n=$((n+1)); "
               f"[ $n -lt {10 * self.limit} ] || {{ cat {base}/state; echo no {gid}; exit 1; }}; "
               "sleep 0.1; done")

    @contextlib.contextmanager
    def router(self):
        """Run a third machine, which forwards between two segments, during the context.

        It is 10.43.0.3 and fd43::3 on one, 10.43.1.3 and fd43:1::3 on the other. It has no
        RDMA device.
        """
        vm = Machine("r", ROUTER, self.kernel, self.relay, self.dir, 1, 2, self.accel,
                     limit=self.limit)
        try:
            vm.start()
            vm.wait_up()
            vm.run("set -e; sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1\n"
                   + "\n".join(
                       f"ip addr add 10.43.{i}.{ROUTER}/24 dev eth{i}; "
                       f"ip -6 addr add fd43:{i or ''}::{ROUTER}/64 dev eth{i} nodad; "
                       f"ip link set eth{i} mtu {self.mtu} up".replace("fd43:::", "fd43::")
                       for i in (0, 1)))
            yield vm
            vm.power_off()
            wrong = vm.judge()
            if wrong:
                raise Failed("\n".join(wrong))
        finally:
            vm.destroy()

    @contextlib.contextmanager
    def third(self, dialect=0):
        """Run a third machine with RNIC and our module, 10.43.0.4, during the context."""
        name = "c"
        vm = Machine(name, THIRD, self.kernel, self.relay, self.dir, 1, self.nics, self.accel,
                     cx16=self.cx16, limit=self.limit)
        self.vms[name] = vm
        self.sides[name] = self.dialect[name] = None
        try:
            self.boot([name])
            self.load(name, "ours", dialect)
            yield vm
            wrong = self.finish_one(name)
            if wrong:
                raise Failed("\n".join(wrong))
        finally:
            vm.destroy()
            for table in (self.vms, self.sides, self.dialect):
                del table[name]

    @contextlib.contextmanager
    def system(self, root, release):
        """Run a machine with the system in ROOT, booted by its own init, during the context.

        It is 10.43.0.5, not set up. What it changes is on a disk, also when it boots again.
        """
        vm = Machine("d", SYSTEM, kernel.Installed(root, release), self.relay, self.dir, 2, 1,
                     self.accel, limit=self.limit, root=root)
        try:
            vm.start()
            vm.wait_up()
            yield vm
            vm.run("sync")
            vm.power_off()
            wrong = vm.judge()
            if wrong:
                raise Failed("\n".join(wrong))
        finally:
            vm.destroy()

    def reboot(self, name):
        """Restart a machine after kill(), or to discard its state."""
        vm = self.vms[name]
        vm.destroy()
        self.boot([name])

    # Modules

    def load_all(self, sides, dialect=0):
        """Load on each machine the module that SIDES names, in parallel."""
        for vm, side in zip(self.vms.values(), sides):
            if side in OURS:
                vm.kernel.smc_modules(side)
        at_once(lambda x: self.load(*x, dialect), zip(self.vms, sides))

    def load(self, name, side, dialect=0):
        """Load the module SIDE on machine NAME: "ours", "own", "stock" or "none"."""
        vm = self.vms[name]
        if self.sides[name] == side and (side not in OURS or self.dialect[name] == dialect):
            return
        self.unload(name)
        if side in OURS:
            self.insert_ours(vm, side, dialect)
        elif side == "stock":
            vm.run("rm -f /etc/modprobe.d/bench.conf; modprobe smc; modprobe smc_diag")
        elif side != "none":
            raise BenchError(f"no such side: {side}")
        self.sides[name] = side
        self.dialect[name] = dialect

    def insert_ours(self, vm, side, dialect):
        """Load our modules and apply the settings of the run."""
        lines = ["set -e"]
        for name in ("smc", "smc_diag"):
            path = vm.kernel.smc_modules(side)[name]
            for dep in vm.kernel.depends(path):
                if dep != "smc":
                    lines.append(f"[ -d /sys/module/{dep} ] || modprobe {dep}")
            timers = " test_timers=1" if name == "smc" else ""
            lines.append(f"insmod {shlex.quote('/host' + path)}{timers}")
        if vm.kernel.has_sysctl:
            lines.append(f"cd {SYSCTL_DIR}; echo {dialect % 2} > dialect; "
                         f"echo {dialect & 2} > default_eid")
            # a link is lost soon, with what this does to connections with any peer; scenarios
            # of landings and outages change that
            lines.append("echo 0 > landing; echo 6 > rdma_retries")
            lines.append(f"echo {self.ack_exponent} > rdma_ack_exponent")
        elif dialect:
            raise BenchError("without sysctls there is only the deployed dialect")
        vm.run("\n".join(lines))
        if self.slow > 1:
            # the protocol's timers scale with the slowness of the kernel
            vm.call("scale", dir=SYSCTL_DIR, factor=self.slow,
                    names=["clc_timeout_ms", "close_*_ms", "llc_*_ms"])

    def unload(self, name, look=True):
        """Unload the modules; a refused rmmod or remaining RDMA objects are a failure."""
        vm = self.vms[name]
        if self.sides[name] in (None, "none"):
            return
        # a socket may close later than its process ends; a test may have removed the module
        n = 25 * self.slow * self.patience
        r = vm.run("[ ! -d /sys/module/smc_diag ] || rmmod smc_diag; n=0; "
                   "until [ ! -d /sys/module/smc ] || err=$(rmmod smc 2>&1); do "
                   f"n=$((n+1)); [ $n -lt {n} ] || break; sleep 0.2; done; "
                   "for m in smc smc_diag; do echo install $m /bin/false; done "
                   "> /etc/modprobe.d/bench.conf; echo \"$err\"; ! [ -d /sys/module/smc ]",
                   check=False)
        if r.rc:
            raise Failed(f"{name}: rmmod refused: {r.out}{r.err}")
        self.sides[name] = "none"
        if not look:
            return
        now = self.rdma_objects(vm)
        base = self.rdma_base[name]
        extra = [x for x in now if x not in base]
        if extra:
            raise Failed(f"{name}: RDMA objects are left after rmmod: {extra}")

    def rdma_objects(self, vm):
        """A description of each RDMA object, without values that change over time."""
        # a program takes most of a second to start on a debug kernel: one call for all kinds
        text = vm.run("for o in qp cq mr pd; do echo resource show $o; done | rdma -b -").out
        return [KIND.search(line)[0] + ": " + CHANGING.sub("", line).strip()
                for line in text.splitlines()]

    # End

    def quiesce(self, name):
        """Kill remaining processes; return their descriptions."""
        vm = self.vms[name]
        left = [p for p in vm.leftovers() if p["state"] != "Z"]
        if left:
            vm.kill_leftovers()
        return left

    def leaks(self, name):
        """Memory that kmemleak reports as unreferenced in LEAK_SCANS scans.

        A scan only takes the checksum of an object that is new to it, and ignores objects
        younger than five seconds. So the first scan reports nothing, and gives objects time
        to age.
        """
        vm = self.vms[name]
        path = "/sys/kernel/debug/kmemleak"
        if not vm.call("exists", path=path)["yes"]:
            return ""
        old = time.monotonic() + LEAK_AGE
        vm.call("write", path=path, data="scan")
        time.sleep(max(0, old - time.monotonic()))
        for _ in range(LEAK_SCANS):
            vm.call("write", path=path, data="scan")
            text = vm.call("read", path=path)["data"]
            if not text:
                return ""
        return text

    def finish(self):
        """End a boot; return a list of problems."""
        return sum(at_once(self.finish_one, self.vms), [])

    def finish_one(self, name):
        vm = self.vms[name]
        if not vm.alive():
            return [f"{name}: not running at the end of the boot"] + vm.judge()
        if vm.paused:
            vm.thaw()
        wrong = []
        try:
            left = self.quiesce(name)
            if left:
                wrong.append(f"{name}: processes at the end of the boot: {left}")
            self.unload(name)
            wrong += self.remove_rnic(vm)
            text = self.leaks(name)
            if text:
                wrong.append(f"{name}: kmemleak:\n{text[:6000]}")
            vm.power_off()
        except (Failed, BenchError) as e:
            wrong.append(f"{name}: {e}")
        return wrong + vm.judge()

    def close(self, keep_logs=None):
        """Kill the machines and the relay. Logs go to the directory KEEP_LOGS."""
        for vm in self.vms.values():
            vm.destroy()
        self.relay.close()
        if keep_logs:
            os.makedirs(keep_logs, exist_ok=True)
            for vm in self.vms.values():
                with open(os.path.join(keep_logs, f"dmesg-{vm.name}.log"), "w") as f:
                    f.write("\n".join(vm.dmesg()) + "\n")
            for f in os.listdir(self.dir):
                path = os.path.join(self.dir, f)
                if f.endswith(".log") and os.path.getsize(path):
                    shutil.copy(path, keep_logs)
        shutil.rmtree(self.dir, ignore_errors=True)
