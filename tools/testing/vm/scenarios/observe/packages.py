# SPDX-License-Identifier: GPL-2.0
"""The packages of `make deb` work on a fresh Debian: install, use, upgrade, new kernel, purge.

The packages for each system are built, and tested by autopkgtest, in a copy of its smallest
root (`scripts/debian --packages`). A third machine boots Debian's own system and kernel, with
systemd. DKMS builds the module in it. SMC_SYSTEMS="bookworm trixie" in the environment selects
the systems.

covers: API-01
"""
import glob
import json
import os

kernels = ("stock",)
dialects = (0,)
sides = ("none", "none")
timeout = 3600
soft_roce = "the system that it installs has soft-RoCE"

EID = "PACKAGES.KEPT"
PACKAGES = "smc-dkms smc-tools-ng smc-ng-dev libsmc-preload-ng"
# An emulated machine compiles for a quarter of an hour what the host has compiled before.
CCACHE = ("export DEBIAN_KERNEL_USE_CCACHE=1 CCACHE_DIR=/var/cache/ccache "
          "CCACHE_SLOPPINESS=include_file_mtime,include_file_ctime; ")
# all is local or in apt's cache; with --no-download apt refuses files
APT = CCACHE + "DEBIAN_FRONTEND=noninteractive apt-get -y -q --no-install-recommends"
SERVER = """
import socket
with socket.create_server(("10.9.0.1", 7000)) as l:
    print("listening", flush=True)
    c, _ = l.accept()
    c.sendall(b"%d" % len(c.recv(1_000_000, socket.MSG_WAITALL)))
    c.recv(1)
"""
CLIENT = """
import socket
s = socket.create_connection(("10.9.0.1", 7000))
s.sendall(bytes(1_000_000))
print("moved", s.recv(10), flush=True)
input()
"""
NETWORK = """set -e
ip link set eth0 up
ip addr add 10.43.0.5/24 dev eth0
modprobe rdma_rxe
rdma link add rxe0 type rxe netdev eth0
ip netns add c1
ip netns add c2
ip -n c1 link add pair type veth peer name pair netns c2
for n in 1 2; do
	ip -n c$n addr add 10.9.0.$n/24 dev pair
	ip -n c$n link set pair up
	ip netns exec c$n sh -c 'echo 2 >/proc/sys/net/smc/memory'
done
"""


def build(t, system):
    """Build the packages on SYSTEM, and those of the next version; return the directory of each."""
    from smcvm import kernel
    first = os.path.join(t.pair.dir, "deb-" + system)
    kernel.run(["make", "-s", "-C", kernel.TOP, "deb-source", f"OUT={first}"])
    changelog = "smc-ng/debian/changelog"
    version = kernel.run(["dpkg-parsechangelog", "-l", f"{first}/{changelog}", "-S",
                          "Version"]).strip()
    following = version + ".1"
    second = os.path.join(t.pair.dir, "next-" + system)
    kernel.run(["cp", "-r", first, second])
    kernel.run(["sed", "-i", f"1s/{version}/{following}/", f"{second}/{changelog}"])
    for path in (first, second):
        kernel.run([f"{kernel.TOP}/scripts/debian", "--packages", system, path])
    return (version, first), (following, second)


def compile_once(t, root, releases, versions):
    """Compile in a copy of ROOT, on this host, what DKMS will compile; ccache keeps it."""
    from smcvm import kernel
    work = os.path.join(t.pair.dir, "copy")
    debs = " ".join(f"{path}/smc-dkms_{version}_all.deb" for version, path in versions)
    (first, _), (second, _) = versions
    kernel.run(["unshare", "-m", "sh", "-ec", f"""
mkdir -p {work} {root}/var/cache/ccache
mount -t tmpfs tmpfs {work}
cd {work}
mkdir up work root
mount -t overlay -o lowerdir={root},upperdir=up,workdir=work overlay root
mount --bind {root}/var/cache/ccache root/var/cache/ccache
mount -t proc proc root/proc
for deb in root/var/cache/apt/archives/linux-headers-*.deb {debs}; do
	# /lib stays a link
	dpkg-deb --fsys-tarfile $deb | tar -x --keep-directory-symlink -C root
done
exec chroot root sh -ec '{CCACHE}
for v in {first} {second}; do dkms add smc/$v; dkms build smc/$v -k {releases[0]}; done
dkms build smc/{second} -k {releases[1]}'"""])


def install(t, vm, path):
    debs = [d for d in glob.glob(path + "/*.deb") if "dbgsym" not in d]
    vm.run(f"{APT} install {' '.join(map(t.guest_path, debs))}", timeout=t.left())


def reload(vm):
    """Replace the loaded modules by those that modprobe finds now."""
    vm.run("modprobe -r smc_diag smc && modprobe -a smc smc_diag")


def is_stock(t, vm, what):
    release = vm.run("uname -r").out.strip()
    for name in ("smc", "smc_diag"):
        path = vm.run(f"modinfo -n {name}").out
        t.check(f"{release}/kernel/net/smc/{name}.ko" in path, f"{what}: {name} is {path}")
    t.check(not vm.call("exists", path="/sys/module/smc/version")["yes"],
            f"{what}: the loaded module is not the distribution's")


def is_ours(t, vm, version, what):
    t.equal(vm.read("/sys/module/smc/version").strip(), version, f"{what}: loaded module")
    t.check("updates/dkms/smc.ko" in vm.run("modinfo -n smc").out, f"{what}: file of the module")
    t.equal(vm.run("smc --version").out.split(), ["smc", version, "module", "smc:", version], what)
    t.wait(lambda: EID in vm.run("smc ueid").out, f"{what}: the EID of /etc/smc", 60)


def moves(t, vm):
    """A connection between two namespaces, in memory."""
    server = vm.spawn(["ip", "netns", "exec", "c1", "smc", "run", "python3", "-c", SERVER])
    server.expect_out("listening")
    client = vm.spawn(["ip", "netns", "exec", "c2", "smc", "run", "python3", "-c", CLIENT])
    client.expect_out("moved b'1000000'")
    for ns in ("c1", "c2"):
        modes = [row["mode"] for row in json.loads(
            vm.run(f"ip netns exec {ns} smc list -j").out)["sockets"] if row["state"] == "ACTIVE"]
        t.equal(modes, ["memory"], f"{ns}: modes of connections")
    client.write("\n")
    t.wait_all(client, server)


def named(vm):
    """The files whose names have to do with SMC."""
    found = vm.run("find / -xdev -name '*smc*' ! -path '/usr/src/linux-*' ! -path '/tmp/*' "
                   "! -path '/var/log/*' ! -path '/proc/*' ! -path '/sys/*'").out
    return set(found.split())


def boot(t, vm, root, release):
    """Boot the kernel RELEASE, which is a package in the cache of the system."""
    from smcvm import kernel
    tree = os.path.join(t.pair.dir, "kernel-" + release)
    deb, = glob.glob(f"{root}/var/cache/apt/archives/linux-image-{release}_*.deb")
    kernel.run(["dpkg-deb", "-x", deb, tree])
    if not os.path.isdir(f"{tree}/lib"):
        os.symlink("usr/lib", f"{tree}/lib")
    kernel.run(["/sbin/depmod", "-b", tree, release])
    vm.run("sync")
    vm.power_off()
    vm.kernel = kernel.Installed(tree, release)
    vm.start()
    vm.wait_up()
    t.equal(vm.run("uname -r").out.strip(), release, "the kernel that runs")


def whole_life(t, vm, root, releases, versions):
    (first, debs), (second, newer_debs) = versions
    before = named(vm)
    vm.run("modprobe -a smc smc_diag")
    is_stock(t, vm, "fresh system")

    t.step("install")
    vm.run(f"mkdir /etc/smc && echo {EID} >/etc/smc/eids")
    install(t, vm, debs)
    t.check("installed" in vm.run("dkms status smc").out, vm.run("dkms status").out)
    reload(vm)
    is_ours(t, vm, first, "installed")
    vm.run(f"cd {t.guest_path(debs)}/smc-ng && AUTOPKGTEST_TMP=/tmp debian/tests/module")
    t.wait(lambda: EID in vm.run("smc ueid").out, "the EID of /etc/smc, again", 60)
    vm.run(NETWORK)
    moves(t, vm)

    t.step("upgrade")
    vm.run("ip netns del c1; ip netns del c2; rdma link del rxe0")
    install(t, vm, newer_debs)
    t.check(f"smc/{first}," not in vm.run("dkms status").out, "the old version is still there")
    reload(vm)
    is_ours(t, vm, second, "upgraded")

    t.step("a new kernel")
    vm.run(f"{APT} install linux-image-{releases[1]} linux-headers-{releases[1]}",
           timeout=t.left())
    boot(t, vm, root, releases[1])
    t.wait(lambda: vm.call("exists", path="/sys/module/smc_diag")["yes"],
           "the modules that a file names in modules-load.d", 60)
    is_ours(t, vm, second, "new kernel")
    vm.run(NETWORK)
    moves(t, vm)

    t.step("purge")
    vm.run("ip netns del c1; ip netns del c2; rdma link del rxe0")
    vm.run(f"{APT} purge {PACKAGES}", timeout=t.left())
    left = {f for f in named(vm) - before if releases[1] not in f}
    t.equal(left, set(), "files after the purge")
    t.equal(vm.run("dkms status").out, "", "dkms status after the purge")
    reload(vm)
    is_stock(t, vm, "purged")


def run(t):
    from smcvm import kernel
    for name in os.environ.get("SMC_SYSTEMS", "bookworm trixie").split():
        versions = build(t, name)
        root = kernel.run([f"{kernel.TOP}/scripts/debian", name]).split()[-1]
        with open(f"{root}/etc/smc-bench.kernels", encoding="ascii") as f:
            releases = f.read().split()
        compile_once(t, root, releases, versions)
        with t.pair.system(root, releases[0]) as vm:
            t.step(f"{name}: {' '.join(releases)}")
            whole_life(t, vm, root, releases, versions)
        os.unlink(vm.disk())
        t.note(f"{name} {releases[0]}, {releases[1]}")
