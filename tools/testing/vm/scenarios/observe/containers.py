# SPDX-License-Identifier: GPL-2.0
"""Static programs in Go use SMC in containers: by a control group, and by the DaemonSet.

runc makes the containers: groups below a parent that is attached, and pods as Kubernetes lays
them out, whose groups the script of examples/kubernetes attaches when they are made, if a simulated
API names them. Their network namespaces are joined by veth. A pod without the label has TCP, and
so have all when the script ends.

covers: API-01
"""
import json
import os
import re

kernels = ("stock",)
dialects = (0,)
timeout = 200
MOUNT = "/sys/fs/cgroup"
CONF, API = "/run/conf", "/run/api"
ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"
PODS = {"web": "11111111-2222-3333-4444-555555555555",
        "client": "66666666-7777-8888-9999-000000000000",
        "other": "aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee",
        "old": "bbbbbbbb-cccc-dddd-eeee-ffffffffffff"}
# as the drivers of the kubelet name groups
GROUPS = {"web": "kubepods/burstable/pod{}",
          "client": "kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod{}.slice",
          "other": "kubepods/besteffort/pod{}",
          "old": "kubepods/pod{}"}
NETWORK = """set -e
mountpoint -q /sys/fs/cgroup || mount -t cgroup2 cgroup2 /sys/fs/cgroup
mkdir -p /run/rootfs /usr/local/bin
mount --bind / /run/rootfs
for n in 1 2 3; do ip netns add c$n; ip -n c$n link set lo up; done
for n in 2 3; do
	ip -n c1 link add eth$n type veth peer name eth0 netns c$n
	ip -n c1 addr add 10.9.$n.1/24 dev eth$n
	ip -n c$n addr add 10.9.$n.2/24 dev eth0
	ip -n c1 link set eth$n up
	ip -n c$n link set eth0 up
done
"""
TIDY = """smc detach -a
umount /run/rootfs
for n in 1 2 3; do ip netns del c$n; done
find /sys/fs/cgroup/kubepods* /sys/fs/cgroup/smc.slice -depth -type d -delete
rm -rf /run/smc-node /run/conf /run/api"""


def container(vm, name, group, netns, *argv, sysctl=None):
    """Run a container; its root is the machine's, read-only."""
    conf = {
        "ociVersion": "1.0.2",
        "process": {"terminal": False, "user": {"uid": 0, "gid": 0}, "args": argv, "cwd": "/",
                    "env": ["PATH=/usr/local/bin:/usr/bin:/bin"], "noNewPrivileges": True},
        "root": {"path": "/run/rootfs", "readonly": True},
        "mounts": [{"destination": "/proc", "type": "proc", "source": "proc"},
                   {"destination": "/dev", "type": "tmpfs", "source": "tmpfs"}],
        "linux": {"cgroupsPath": "/" + group, "sysctl": sysctl or {},
                  "namespaces": [{"type": "network", "path": f"/run/netns/{netns}"},
                                 *({"type": n} for n in ("pid", "mount", "ipc", "uts"))]},
    }
    vm.run(f"mkdir -p /run/{name}")
    vm.write(f"/run/{name}/config.json", json.dumps(conf))
    return vm.spawn(["runc", "run", "--bundle", f"/run/{name}", name])


def end(t, *procs):
    """End the containers, clients first."""
    for p in procs:
        p.close_stdin()
        p.kill(15)
        p.wait(check=False)
    t.wait(lambda: json.loads(t.a.run("runc list -f json").out) is None, "end of containers", 60)


def by_parent(t):
    """Containers below an attached group, with a setting that runc makes."""
    t.a.run(f"mkdir -p {MOUNT}/smc.slice && smc attach smc.slice")
    shared = {"net.smc.memory": "2"}
    web = container(t.a, "web", "smc.slice/web", "c1", "web", "serve", ":8080",
                    sysctl=shared)
    web.expect_out("listening")
    client = container(t.a, "client", "smc.slice/client", "c2", "web", "get",
                       "http://10.9.2.1:8080/", sysctl=shared)
    client.expect_out("moved 10485760")
    for ns in ("c1", "c2"):
        t.mode(t.a, "memory", 8080, netns=ns)
    t.equal(t.a.stats("c2")["client_memory"], 1, "connections in memory")
    end(t, client, web)
    t.a.run("smc detach -a; for n in 1 2; do ip netns exec c$n sh -c "
            "'echo 1 >/proc/sys/net/smc/memory'; done")


def daemon(t):
    """Start the script of the DaemonSet, with a simulated API of Kubernetes."""
    from smcvm import kernel
    folder = os.path.join(kernel.TOP, "Documentation/examples/kubernetes")
    t.a.run(f"mkdir -p {CONF}/pod/etc/smc {API}/api/v1 {ACCOUNT} && echo key | "
            f"tee {ACCOUNT}/token >{ACCOUNT}/ca.crt")
    t.a.run("mkdir -p " + " ".join(f"{MOUNT}/{os.path.dirname(g)}" for g in GROUPS.values()))
    for name, path in (("smc-node", "smc-node"), ("node.conf", "node.conf"),
                       ("pod.conf", "pod.conf"), ("pod.pnetids", "pod/etc/smc/pnetids")):
        t.a.run(f"cp {t.guest_path(os.path.join(folder, name))} {CONF}/{path}")
    t.a.write(f"{API}/api/v1/pods", json.dumps(
        {"items": [{"metadata": {"name": n, "uid": PODS[n]}} for n in ("web", "client", "old")]}))
    api = t.a.spawn(f"exec python3 -m http.server -d {API} --bind 127.0.0.1 8001")
    t.wait(lambda: t.a.run("ss -tlnH 'sport = :8001'").out, "the API", 20)
    # the modules are loaded, and no kernel has to have them among its own
    t.a.run("mv /etc/modprobe.d/bench.conf /run/bench.conf; for m in smc smc_diag; do "
            "echo install $m true; done >/etc/modprobe.d/bench.conf")
    t.a.run(f"mkdir {MOUNT}/{GROUPS['old'].format(PODS['old'])}")
    script = t.a.spawn(f"NODE=a CONF={CONF} API=http://127.0.0.1:8001 exec {CONF}/smc-node")
    t.wait(lambda: sorted(attached(t)) == ["old"], "a pod that exists to be attached", 60)
    return api, script


def attached(t):
    """The names of the pods whose groups are attached."""
    groups = json.loads(t.a.run("smc status -j").out)["cgroups"]
    paths = " ".join(g.get("path", "").replace("_", "-") for g in groups)
    return [name for name, uid in PODS.items() if uid in paths]


def pod(t, name, netns):
    """Make the sandbox of a pod; return it and the pod's group."""
    uid = PODS[name]
    group = GROUPS[name].format(uid.replace("-", "_") if "slice" in GROUPS[name] else uid)
    # ends with its input; a first process ignores SIGTERM
    sandbox = container(t.a, f"{name}-sandbox", group + "/sandbox", netns, "cat")
    if name != "other":
        # as the first container of a pod
        t.wait(lambda: t.a.run(f"ip netns exec {netns} cat /proc/sys/net/smc/memory").out == "2\n",
               f"the pod {name} to be set up", 60)
        t.check(name in attached(t), f"the pod {name} is not attached")
    return sandbox, group


def by_daemon(t):
    """Pods with the label, and one without; then the script ends."""
    procs = daemon(t)
    sandboxes, groups = zip(*(pod(t, n, ns) for n, ns in
                              (("web", "c1"), ("client", "c2"), ("other", "c3"))))
    t.wait(lambda: sorted(attached(t)) == ["client", "old", "web"], "the choice", 60)
    web = container(t.a, "web", groups[0] + "/web", "c1", "web", "serve", ":8080")
    web.expect_out("listening")
    client = container(t.a, "client", groups[1] + "/client", "c2", "web", "get",
                       "http://10.9.2.1:8080/")
    client.expect_out("moved 10485760")
    for ns in ("c1", "c2"):
        t.mode(t.a, "memory", 8080, netns=ns)
    end_one = container(t.a, "other", groups[2] + "/other", "c3", "web", "get",
                        "http://10.9.3.1:8080/")
    end_one.expect_out("moved 10485760")
    t.no_sockets(t.a, 8080, netns="c3")
    pods = dict(re.findall(r'smc_connections\{netns="(\w+)",uid="(.*?)"',
                           t.a.run("smc metrics --all").out))
    t.equal([pods.get(n) for n in ("host", "c1", "c2")], ["", PODS["web"], PODS["client"]],
            "pods of metrics")
    t.equal(t.a.stats("c2")["client_memory"], 2, "connections in memory, with that by the parent")
    t.equal(t.a.read("/proc/sys/net/smc/memory").strip(), "2", "setting of the node")
    t.equal(procs[1].rc, None, f"the script runs: {procs[1].err}")
    procs[1].kill(15)
    t.equal(procs[1].wait(90, check=False).rc, 0, f"end of the script: {procs[1].err}")
    t.note(procs[1].out.splitlines()[-1])
    t.equal(attached(t), [], "groups that are left")
    t.equal(t.a.read("/sys/module/smc/parameters/drain").strip(), "Y", "drain")
    t.no_sockets(t.a, 8080, netns="c2")
    t.a.run("smc drain --undo")
    end(t, end_one, client, web, *sandboxes)
    procs[0].kill()
    procs[0].wait(check=False)
    t.a.run("mv /run/bench.conf /etc/modprobe.d/bench.conf")
    t.a.write("/proc/sys/net/smc/memory", "1")


def two_hosts(t):
    """The same programs between two machines, without namespaces."""
    for vm in (t.a, t.b):
        vm.run(f"mkdir -p {MOUNT}/smc.slice/web && smc attach smc.slice")
    run = f"echo $$ >{MOUNT}/smc.slice/web/cgroup.procs && exec web "
    web = t.a.spawn(run + "serve :8080")
    web.expect_out("listening")
    t.rdma_start()
    client = t.b.spawn(run + f"get http://{t.a.ip}:8080/")
    client.expect_out("moved 10485760")
    for vm in (t.a, t.b):
        t.mode(vm, "SMC-R", 8080)
    client.close_stdin()
    t.wait_all(client)
    web.kill()
    web.wait(check=False)


def run(t):
    from smcvm import kernel
    tool = t.guest_path(kernel.user_tool("smc"))
    program = t.guest_path(kernel.compile_go(os.path.join(kernel.VM, "guest/web.go")))
    for vm in (t.a, t.b):
        vm.run(f"{NETWORK}\ncp --remove-destination {tool} {program} /usr/local/bin\n"
               f"cd /usr/local/bin; mv {os.path.basename(program)} web")
    try:
        for part in (by_parent, by_daemon, two_hosts):
            t.step(part.__doc__)
            part(t)
    finally:
        for vm in (t.a, t.b):
            vm.run(TIDY, check=False)
