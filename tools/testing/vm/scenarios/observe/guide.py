# SPDX-License-Identifier: GPL-2.0
"""Each command of the operations guide works, and answers; examples for monitoring fit.

The commands are the code blocks of Documentation/operations.md, in its order. After the
comment `quiet` those of a block may print nothing. The metrics of the module are OpenMetrics,
alert rules and dashboard name no others, and the socket unit serves them by HTTP; those of all
network namespaces are those of each.

covers: API-01
"""
import json
import os
import re
import signal
import tempfile

from common import requests, serve, serve_any

kernels = ("stock",)
dialects = (0,)
timeout = 300
PORT, HTTP = 5201, 9469
GROUP = "3f2a1100"
CGROUPS = "/sys/fs/cgroup"
# what runs until it is interrupted
ENDLESS = ("smc events",)


def client(h, port):
    s = h.connect(port)
    h.request(s)
    h.mark("asked")
    h.gate("end")
    s.close()


def blocks(text):
    """Yield (may be quiet, commands) of each block of code."""
    for m in re.finditer(r"(<!-- quiet -->\n)?\n((?:    \S.*\n)+)", text):
        lines = [line[4:] for line in m[2].splitlines()]
        yield bool(m[1]), [line for line in lines if not line.startswith("#")]


def here(t, command):
    """COMMAND with the names of this pair in place of those of the guide."""
    words = {"192.0.2.1": t.a.ip, "mlx5_0": "rxe0"}
    if GROUP in command:
        groups = json.loads(t.b.run("smc groups -j").out)["groups"]
        words.update({f"{GROUP} 2": groups[0]["id"] + " 1", GROUP: groups[0]["id"]})
    for old, new in words.items():
        command = command.replace(old, new)
    return command


def connected(t):
    """A connection on SMC, from B to A."""
    c = t.half(t.b, client, port=PORT)
    c.expect("asked")
    return c


def endless(t, command):
    """It prints what happens while link groups end and come up."""
    p = t.b.spawn("exec " + command)

    def printed():
        t.b.run("for g in $(smc groups | awk 'NR > 1 { print $1 }'); do "
                "smc groups del $g; done")
        c = connected(t)
        c.gate("end")
        t.wait_all(c)
        return p.out
    t.wait(printed, f"output of {command}", 60)
    p.kill(signal.SIGINT)
    t.equal(p.wait(check=False).rc, -signal.SIGINT, f"{command}, interrupted")


def commands(t):
    from smcvm import kernel
    with open(os.path.join(kernel.TOP, "Documentation/operations.md"), encoding="utf-8") as f:
        found = list(blocks(f.read()))
    t.check(len(found) >= 10, f"{len(found)} blocks")
    count = 0
    for may_be_quiet, lines in found:
        c = connected(t)
        t.mode(t.b, "SMC-R", PORT)
        for line in lines:
            if GROUP in line:
                # the line before has ended the group
                c.gate("end")
                c = connected(t)
            command = here(t, line)
            t.step(command)
            count += 1
            if command.split("#")[0].strip() in ENDLESS:
                endless(t, command)
                continue
            r = t.b.run(command, check=False)
            t.check(not r.rc and (r.out.strip() or may_be_quiet), f"{line!r}: {r}")
        c.gate("end")
        c.wait(check=False)
    t.note(f"{count} commands")


def examples(t):
    """The names in rules and dashboard are those of the module; the socket unit answers."""
    from smcvm import kernel
    folder = os.path.join(kernel.TOP, "Documentation/examples/monitoring")
    # reasons for TCP are metrics once there is a fallback
    s = t.half(t.a, serve, "tcp", port=PORT + 1, count=1)
    s.expect("listening")
    t.wait_all(s, t.half(t.b, requests, port=PORT + 1))
    text = t.b.run("smc metrics --all").out
    with tempfile.NamedTemporaryFile("w", suffix=".prom") as f:
        f.write(text)
        f.flush()
        kernel.run([os.path.join(kernel.TOP, "tools/smc/test-examples"), f.name, "--names"])
    with open(os.path.join(folder, "smc-exporter@.service"), encoding="ascii") as f:
        script = re.search(r"ExecStart=/bin/sh -c '(.*)'", f.read(), re.S)[1]
    script = script.replace("\\\n", "\n").replace("$$", "$")
    p = t.b.spawn(["systemd-socket-activate", "--accept", "--inetd", "-l", HTTP,
                   "-E", "PATH", "/bin/sh", "-c", script])
    t.wait(lambda: t.b.run(f"ss -tlnH 'sport = :{HTTP}'").out, "the socket", 20)
    t.equal(t.b.run(f"curl -s http://127.0.0.1:{HTTP}/metrics | tail -n 1").out, "# EOF\n",
            "metrics by HTTP")
    p.kill()
    p.wait(check=False)
    for unit in ("smc-metrics.timer", "smc-exporter.socket"):
        kernel.run(["systemd-analyze", "verify", "--man=no", os.path.join(folder, unit)])


def namespaces(t):
    """Metrics of all network namespaces are those of each: with a name, without one, unused."""
    t.b.run("ip netns add unused; ip -n pod link set lo up")
    servers = [t.b.spawn(f"exec {enter} smc run python3 -m http.server")
               for enter in ("ip netns exec pod", "unshare -n")]
    for p in servers:
        t.wait(lambda p=p: t.b.run(f"nsenter -n -t {p.pid} smc list | grep LISTEN", check=False).out,
               "a listener in another namespace", 60)
    number = t.b.run(f"stat -Lc %i /proc/{servers[1].pid}/ns/net").out.strip()
    found = {}
    for line in t.b.run("smc metrics --all").out.splitlines():
        m = re.fullmatch(r'(\w+)\{netns="([^"]+)",uid="",?(.*)\} (\d+)', line)
        t.check(m or line.startswith("#"), line)
        if m:
            found.setdefault(m[2], []).append(f"{m[1]}{{{m[3]}}} {m[4]}".replace("{}", ""))
    t.equal(set(found), {"host", "pod", number}, "namespaces")
    own = t.b.run("ip netns exec pod smc metrics | grep -v '^#'").out
    t.equal(found["pod"], own.splitlines(), "metrics of one of them")
    for p in servers:
        p.kill()
        p.wait(check=False)
    t.b.run("ip netns del unused")


def run(t):
    from smcvm import kernel
    t.b.run(f"""mkdir -p /usr/local/bin /usr/local/lib/smc
ln -sf {t.guest_path(kernel.user_tool("smc"))} /usr/local/bin/smc
ln -sf {t.guest_path(kernel.preload_library())} /usr/local/lib/smc""")
    t.b.run(f"""mountpoint -q {CGROUPS} || mount -t cgroup2 cgroup2 {CGROUPS}
mkdir -p {CGROUPS}/pod; ip netns add pod""")
    # the guide moves its connections to TCP, which new groups agree on
    t.no_groups()
    t.restore("lgr_idle_ms")
    for vm in (t.a, t.b):
        t.set(vm, landing=1)
    s = t.half(t.a, serve_any, port=PORT)
    s.expect("listening")
    try:
        commands(t)
        t.step(examples.__doc__)
        examples(t)
        t.step(namespaces.__doc__)
        namespaces(t)
    finally:
        t.b.run(f"rmdir {CGROUPS}/pod; ip netns del pod; nft flush ruleset; smc ueid flush; "
                "smc pnet flush; sysctl -q net.smc.memory=1", check=False)
    s.gate("stop")
    t.wait_all(s)
