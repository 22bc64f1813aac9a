# SPDX-License-Identifier: GPL-2.0
"""`smc attach` lets static programs of a control group use SMC, and of the groups below it.

The programs make system calls of their own, as those in Go do; a listener asks for MPTCP, as
those of Go do. The BPF program outlives the tool and goes with the last group. A watch attaches
new groups by name.

covers: API-01
"""
import json

kernels = ("stock",)
dialects = (0,)
timeout = 60
MOUNT = "/sys/fs/cgroup"
TCP, MPTCP = 6, 262


def start(vm, group, *argv):
    """Run a program in a control group."""
    p = vm.spawn(["/bin/sh", "-c", f"echo $$ >{MOUNT}/{group}/cgroup.procs && exec \"$@\"",
                  "sh", *argv])
    p.expect_out("listening|moved")
    return p


def attached(t, vm):
    """The numbers of sockets by group."""
    out = json.loads(vm.run(f"{t.smc} status -j").out)
    t.equal(out["schema"], 2, "schema")
    return {g.get("path"): g["sockets"] for g in out["cgroups"]}


def end(t, *clients):
    for c in clients:
        c.close_stdin()
    t.wait_all(*clients)


def groups(t):
    """Nested groups, one beside them, and one that is deleted while it is attached."""
    for vm in (t.a, t.b):
        vm.run(f"mountpoint -q {MOUNT} || mount -t cgroup2 cgroup2 {MOUNT}")
        vm.run(f"mkdir -p {MOUNT}/pod/inner/most {MOUNT}/beside {MOUNT}/gone")
        for _ in range(2):
            vm.run(f"{t.smc} attach pod {MOUNT}/gone")
        vm.run(f"rmdir {MOUNT}/gone")
        t.equal(attached(t, vm), {"pod": 0, None: 0}, "groups")
        vm.run(f"{t.smc} attach pod")
        t.equal(attached(t, vm), {"pod": 0}, "groups that exist")


def wrong(t):
    """Wrong words are refused, and nothing is attached then."""
    for words, status in ((f"pod {MOUNT}/none", 1), ("beside /tmp", 1), ("", 2), ("-x pod", 2)):
        t.equal(t.a.run(f"{t.smc} attach {words}", check=False).rc, status, f"attach {words}")
    t.equal(t.a.run(f"{t.smc} detach", check=False).rc, 2, "detach of nothing")
    as_user = f"setpriv --reuid 1000 --regid 1000 --clear-groups {t.smc} attach beside"
    t.check(t.a.run(as_user, check=False).rc, "an unprivileged user attached a group")
    t.equal(attached(t, t.a), {"pod": 0}, "groups after wrong words")


def watched(t, program):
    """New groups that match are attached when they are made; others and those before are not."""
    made = f"{MOUNT}/pods/web-"
    t.a.run(f"mkdir -p {made}before {MOUNT}/pods/deep")
    watch = t.a.spawn(["sh", "-c", f"exec {t.smc} attach --watch 'pods/web-*' "
                       f"{MOUNT}/pods/deep/'?'"])
    watch.expect_out("watching\n")
    t.a.run(f"mkdir {made}new {MOUNT}/pods/other {MOUNT}/pods/deep/x {made}new/web-inner")
    watch.expect_out(f"{MOUNT}/pods/deep/x\n")
    t.equal(watch.out.splitlines()[1:], [f"{made}new", f"{MOUNT}/pods/deep/x"], "groups")
    t.equal(attached(t, t.a), {"pods/web-new": 0, "pods/deep/x": 0}, "attached groups")
    servers = [start(t.a, f"pods/{g}", program, "server", port, TCP) for g, port in
               (("web-new/web-inner", 5813), ("web-before", 5814), ("other", 5815))]
    for port in (5814, 5815):
        t.no_sockets(t.a, port)
    t.equal(attached(t, t.a), {"pods/web-new": 1, "pods/deep/x": 0}, "sockets")
    for s in servers:
        s.kill()
        s.wait(check=False)

    # the program goes with the last group, and comes back
    t.a.run(f"{t.smc} detach -a && mkdir {made}last")
    watch.expect_out(f"{made}last\n")
    t.equal(attached(t, t.a), {"pods/web-last": 0}, "groups after detach")
    t.a.run(f"{t.smc} detach -a; find {MOUNT}/pods -depth -type d -delete")
    t.check(watch.wait(check=False).rc == 1 and " is gone" in watch.err, f"its end: {watch.err}")
    for words, status in (("none/x*", 1), ("", 2)):
        t.equal(t.a.run(f"{t.smc} attach --watch {words}", check=False).rc, status, words)


def run(t):
    from smcvm import kernel
    t.smc = t.guest_path(kernel.user_tool("smc"))
    program = t.program("rawtcp", "-static")
    t.step(groups.__doc__)
    groups(t)
    t.step(wrong.__doc__)
    wrong(t)

    t.step("a listener two levels below, clients inside and beside")
    t.rdma_start()
    servers = [start(t.a, "pod/inner/most", program, "server", port, MPTCP)
               for port in (5810, 5811, 5812)]
    inside = start(t.b, "pod", program, "client", t.a.ip, 5810, 0)
    t.mode(t.a, "SMC-R", 5810)
    t.mode(t.b, "SMC-R", 5810)
    t.carried(t.b, 100_000)
    beside = start(t.b, "beside", program, "client", t.a.ip, 5811, 0)
    t.mode(t.a, "TCP", 5811)
    t.no_sockets(t.b, 5811)
    t.equal(attached(t, t.a), {"pod": 3}, "sockets of the servers")
    t.equal(attached(t, t.b), {"pod": 1}, "sockets of the client")

    t.step("detached: connections stay, new sockets are TCP")
    t.b.run(f"{t.smc} attach beside")
    t.b.run(f"{t.smc} detach pod")
    after = start(t.b, "pod/inner", program, "client", t.a.ip, 5812, TCP)
    t.no_sockets(t.b, 5812)
    t.mode(t.b, "SMC-R", 5810)
    end(t, after)
    t.b.run(f"{t.smc} detach pod")
    after = start(t.b, "beside", program, "client", t.a.ip, 5812, TCP)
    t.mode(t.b, "SMC-R", 5812)
    end(t, inside, beside, after)
    for s in servers:
        s.kill()
        s.wait(check=False)

    t.step(watched.__doc__)
    t.a.run(f"{t.smc} detach -a")
    watched(t, program)

    t.step("nothing is left of the last group")
    for vm in (t.a, t.b):
        vm.run(f"{t.smc} detach -a")
        t.equal(attached(t, vm), {}, "groups")
        t.equal(vm.run("ls /sys/fs/bpf").out, "", "pinned objects")
        vm.run(f"rmdir {MOUNT}/pod/inner/most {MOUNT}/pod/inner {MOUNT}/pod {MOUNT}/beside")
