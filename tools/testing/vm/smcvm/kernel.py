# SPDX-License-Identifier: GPL-2.0
"""Builds kernels, initramfs and modules for the machines.

All output is in the cache, never in the tree. Two runners may work in parallel: files are
made under a lock and renamed into place.
"""
import atexit
import contextlib
import ctypes
import fcntl
import functools
import hashlib
import lzma
import os
import shutil
import signal
import subprocess
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.dirname(os.path.dirname(os.path.abspath(__file__))))))
VM = os.path.join(TOP, "tools/testing/vm")
CACHE = os.environ.get("SMC_CACHE") or os.path.expanduser("~/.cache/smc-bench")
INITRAMFS_MODULES = ("virtio_pci", "virtio_console", "virtio_net",
                     "9pnet_virtio", "9p", "overlay")
# for a machine with a disk
DISK_MODULES = ("virtio_blk", "crc32c_generic", "ext4")
PROBE_TIMEOUT = 25
# Of each kernel the names in scripts/kernel of image, modules and release; how many times as
# slow as "stock" it is; the seconds in which two machines at once boot on an idle host.
KINDS = {
    "stock": ("vmlinuz-6.12", "modules-6.12", "6.12", 1, 8),
    "debug": ("debug-vmlinuz", "debug-modules", "debug", 4, 20),
    "debug-6.12-least": ("debug-6.12-least-vmlinuz", "debug-6.12-least-modules",
                         "debug-6.12-least", 4, 20),
    "debug-6.12-kcsan": ("debug-6.12-kcsan-vmlinuz", "debug-6.12-kcsan-modules",
                         "debug-6.12-kcsan", 6, 25),
    "debug-backports-bpf": ("debug-backports-bpf-vmlinuz", "debug-backports-bpf-modules",
                            "debug-backports-bpf", 4, 20),
    "stock-6.1": ("vmlinuz-6.1", "modules-6.1", "6.1", 1, 8),
    "6.12-rt": ("vmlinuz-6.12-rt", "modules-6.12-rt", "6.12-rt", 1, 12),
    "backports": ("vmlinuz-backports", "modules-backports", "backports", 1, 8),
    "forky": ("vmlinuz-forky", "modules-forky", "forky", 1, 8),
    "forky-s390x": ("vmlinuz-forky-s390x", "modules-forky-s390x", "forky-s390x", 4, 30),
}


class BenchError(Exception):
    """The test environment itself failed."""


def run(argv, **kw):
    p = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                       text=True, **kw)
    if p.returncode:
        raise BenchError(f"{' '.join(argv)} failed:\n{p.stdout[-4000:]}")
    return p.stdout


libc = ctypes.CDLL(None)
PR_SET_PDEATHSIG = 1


def die_with_parent():
    """In a child process: be killed when the runner ends for any reason."""
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


@contextlib.contextmanager
def locked(name):
    os.makedirs(CACHE, exist_ok=True)
    with open(os.path.join(CACHE, f".lock-vm-{name}"), "w") as f:
        fcntl.flock(f, fcntl.LOCK_EX)
        yield


def wait_for_turn():
    """Wait until no other pair of machines runs: two pairs on one host miss deadlines.

    The turn lasts until the caller closes the returned file.
    """
    os.makedirs(CACHE, exist_ok=True)
    turn = open(os.path.join(CACHE, "vm.lock"), "w", encoding="ascii")
    try:
        fcntl.flock(turn, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        print("waiting for another run of machines on this host", file=sys.stderr, flush=True)
        fcntl.flock(turn, fcntl.LOCK_EX)
    return turn


def script(*args):
    """Run scripts/kernel; return its output."""
    p = subprocess.run([os.path.join(TOP, "scripts/kernel"), *args],
                       stdout=subprocess.PIPE, text=True)
    if p.returncode:
        raise BenchError(f"scripts/kernel {' '.join(args)} failed")
    return p.stdout.strip().split("\n")[-1]


def kinds(text):
    """The kernels of machines A and B that TEXT names: "A,B", or one for both."""
    names = tuple(text.split(","))
    if len(names) > 2 or not set(names) <= set(KINDS):
        raise BenchError(f"no such kernels: {text}, only {', '.join(KINDS)}")
    return names if len(names) == 2 else names * 2


def base(text):
    """"debug" if one of the kernels that TEXT names is a debug kernel, else "stock"."""
    return "debug" if any(k.startswith("debug") for k in kinds(text)) else "stock"


@functools.lru_cache(maxsize=4)
def get(kind):
    """The kernel of a name in KINDS, found or built once in a run."""
    return Kernel(kind)


class Kernel:
    """One kernel to boot: one of KINDS."""

    boot_modules = INITRAMFS_MODULES
    processor = "amd64"
    root = "/"      # the directory of the host that its machines have as root

    def __init__(self, kind):
        image, mods, release, self.slow, self.boot_time = KINDS[kind]
        self.release = script("release", release)
        self.kind = kind
        self.has_sysctl = not kind.endswith("-least")    # nor procfs and IPv6
        if self.release.endswith("-s390x"):
            self.processor = "s390x"
            self.root = script("path", "root-s390x")
        self.image = script("path", image)
        self.modroot = script("path", mods)
        self.moddir = os.path.join(self.modroot, "lib/modules", self.release)
        if not os.path.exists(os.path.join(self.moddir, "modules.dep")):
            raise BenchError(f"no modules.dep in {self.moddir}")

    def module_order(self):
        """The files to load for BOOT_MODULES, in order."""
        deps, by_name = {}, {}
        with open(os.path.join(self.moddir, "modules.dep")) as f:
            for line in f:
                path, _, rest = line.partition(":")
                deps[path] = rest.split()
                name = os.path.basename(path).split(".")[0].replace("-", "_")
                by_name[name] = path
        order = []
        for name in self.boot_modules:
            path = by_name.get(name)
            if not path:
                continue  # built in
            for p in reversed(deps[path]):
                if p not in order:
                    order.append(p)
            if path not in order:
                order.append(path)
        return order

    def initramfs(self):
        """The path of the initramfs, which is built again when its contents change."""
        init = os.path.join(VM, "guest/init")
        with open(init, "rb") as f:
            mark = hashlib.sha256(f.read() + self.release.encode() +
                                  " ".join(self.module_order()).encode())
        st = os.stat(self.image)
        mark.update(f"{st.st_mtime} {st.st_size}".encode())
        path = os.path.join(CACHE, f"vm-initramfs-{self.kind}-{mark.hexdigest()[:16]}")
        with locked("initramfs"):
            if not os.path.exists(path):
                self.make_initramfs(path, init)
        return path

    def make_initramfs(self, path, init):
        work = path + ".tree"
        shutil.rmtree(work, ignore_errors=True)
        for d in ("bin", "mod"):
            os.makedirs(os.path.join(work, d))
        shutil.copy(init, os.path.join(work, "init"))
        shutil.copy(os.path.join(self.root, "bin/busybox"), os.path.join(work, "bin/busybox"))
        names = []
        for mod in self.module_order():
            with open(os.path.join(self.moddir, mod), "rb") as f:
                data = f.read()
            name = os.path.basename(mod)
            if name.endswith(".xz"):
                data, name = lzma.decompress(data), name[:-3]
            with open(os.path.join(work, "mod", name), "wb") as f:
                f.write(data)
            names.append(name)
        with open(os.path.join(work, "mod/order"), "w") as f:
            f.write("".join(n + "\n" for n in names))
        files = subprocess.run(["find", ".", "-print0"], cwd=work,
                               stdout=subprocess.PIPE, check=True).stdout
        with open(path + ".new", "wb") as f:
            subprocess.run(["cpio", "-0", "-o", "-H", "newc", "--quiet"],
                           cwd=work, input=files, stdout=f, check=True)
        shutil.rmtree(work)
        os.rename(path + ".new", path)

    @staticmethod
    @functools.lru_cache(maxsize=16)
    def depends(path):
        """The names of the modules that the module PATH needs."""
        return [d for d in run(["/sbin/modinfo", "-F", "depends", path]).strip().split(",")
                if d]

    @functools.lru_cache(maxsize=8)
    def smc_modules(self, side):
        """Build our modules for this kernel, once in a run; return {name: path}.

        SIDE "own" has the TCP option by our own means, not by those of the kernel's TCP.

        The paths are copies, because another run may build again meanwhile.
        """
        copy = tempfile.mkdtemp(prefix="vm-modules-", dir=CACHE)
        atexit.register(shutil.rmtree, copy, True)
        env = {**os.environ, "SMC_OWN_OPTION": "1"} if side == "own" else None
        run([os.path.join(TOP, "scripts/modules"), self.kind, copy], env=env)
        mods = {name[:-3]: os.path.join(copy, name) for name in os.listdir(copy)}
        if "smc" not in mods:
            raise BenchError("the build made no smc.ko")
        return mods


    @functools.lru_cache(maxsize=1)
    def rnic_module(self):
        """Build the model of an RNIC for this kernel, once in a run; return the path of a copy."""
        copy = tempfile.mkdtemp(prefix="vm-modules-", dir=CACHE)
        atexit.register(shutil.rmtree, copy, True)
        run([os.path.join(TOP, "scripts/modules"), "--rnic", self.kind, copy])
        return os.path.join(copy, "smc_rnic.ko")


class Installed(Kernel):
    """A kernel that is installed in the system of a directory."""

    boot_modules = INITRAMFS_MODULES + DISK_MODULES
    has_sysctl = True

    def __init__(self, root, release):
        self.release = release
        self.kind = release
        self.image = os.path.join(root, "boot/vmlinuz-" + release)
        self.modroot = root
        self.moddir = os.path.join(root, "lib/modules", release)


def qemu_accel(kernels):
    """'kvm' if that boots the first of the kernels, else 'tcg'; the answer is cached."""
    if (not os.access("/dev/kvm", os.R_OK | os.W_OK) or
            any(k.processor != "amd64" for k in kernels)):
        return "tcg"
    with open("/proc/sys/kernel/random/boot_id") as f:
        name = os.path.join(CACHE, "vm-accel-" + f.read().strip())
    with locked("accel"):
        if os.path.exists(name):
            with open(name) as f:
                return f.read().strip()
        accel = "kvm" if kvm_boots(kernels[0]) else "tcg"
        with open(name, "w") as f:
            f.write(accel)
    return accel


@functools.lru_cache(maxsize=None)
def user_tool(name):
    """Build NAME of tools/smc in the cache; return its path.

    Dependency files name the sources, so each tree has a directory of its own, which
    scripts/check uses, too.
    """
    out = os.path.join(CACHE, "tools", hashlib.sha256(TOP.encode()).hexdigest()[:8], "tools/smc")
    with locked("tools"):
        os.makedirs(out, exist_ok=True)
        run(["make", "-s", "-C", os.path.join(TOP, "tools/smc"), f"OUT={out}",
             f"{out}/{name}"])
    return os.path.join(out, name)


def preload_library():
    return user_tool("libsmc-preload.so")


@functools.lru_cache(maxsize=1)
def tsc_khz():
    """The frequency of the host's time stamp counter; see tsckhz.c."""
    return int(run([compile_c(os.path.join(VM, "tsckhz.c"))]))


def kvm_boots(kernel):
    """True if the kernel boots under kvm up to its search for a root file system."""
    argv = ["qemu-system-x86_64", "-accel", "kvm", "-M", "q35", "-m", "512",
            "-display", "none", "-nodefaults", "-serial", "stdio", "-no-reboot",
            "-kernel", kernel.image, "-append", "console=ttyS0 panic=-1"]
    try:
        p = subprocess.run(argv, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL,
                           stderr=subprocess.STDOUT, timeout=PROBE_TIMEOUT)
    except subprocess.TimeoutExpired:
        return False
    return b"Unable to mount root" in p.stdout


def compile_c(src, *flags):
    """Compile a C program of the tests into the cache; return its path.

    It is found by the text that the compiler reads, so it is compiled again when a header
    changes, but not for a tree at another path.
    """
    text = run(["gcc", "--version"]) + run(["gcc", "-E", "-P", src, *flags])
    mark = hashlib.sha256((text + " ".join(flags).replace(TOP, "")).encode()).hexdigest()[:16]
    name = os.path.basename(src)[:-2]
    path = os.path.join(CACHE, f"vm-{name}-{mark}")
    with locked("cc"):
        if not os.path.exists(path):
            run(["gcc", "-O2", "-Wall", "-Wextra", "-o", path + ".new", src, *flags])
            os.rename(path + ".new", path)
    return path


def compile_policy(*srcs):
    """Compile a policy of SELinux and its modules, in CIL, into the cache; return its path."""
    text = run(["cat", *srcs])
    mark = hashlib.sha256(text.encode()).hexdigest()[:16]
    path = os.path.join(CACHE, f"vm-{os.path.basename(srcs[0])[:-4]}-{mark}")
    with locked("cil"):
        if not os.path.exists(path):
            run(["secilc", "-c", "33", "-f", "/dev/null", "-o", path + ".new", *srcs])
            os.rename(path + ".new", path)
    return path


def compile_go(src):
    """Compile a static program in Go into the cache; return its path."""
    with open(src, "rb") as f:
        mark = hashlib.sha256(f.read()).hexdigest()[:16]
    path = os.path.join(CACHE, f"vm-{os.path.basename(src)[:-3]}-{mark}")
    with locked("go"):
        if not os.path.exists(path):
            run(["go", "build", "-o", path, src],
                env=dict(os.environ, CGO_ENABLED="0", GOCACHE=os.path.join(CACHE, "go-build"),
                         GO111MODULE="off"))
    return path
