# SPDX-License-Identifier: GPL-2.0
"""Operators see a connection in memory: which process is at its other end, and what it moves.

Tools of deployed hosts see it as SMC-D over a loopback device. `smc check` says beforehand that
a connection of the host to itself is in memory, and what it is where the setting is 0.

covers: API-01
"""
import json
import os

from common import serve_any

kernels = ("stock", "debug")
dialects = (0,)
ipv = (4,)
timeout = 150
PORT = 5870
N = 300_007
NODEV, POLICY = 0x03030002, 0x03F00000
LOOPBACK = 0xffff
NOBODY = "setpriv --reuid=65534 --regid=65534 --clear-groups"
TRACE = "/sys/kernel/tracing"
JOIN = """set -e
ip netns add other
ip link add near type veth peer name far netns other
ip addr add 10.98.0.1/24 dev near
ip link set near up
ip -n other addr add 10.98.0.2/24 dev far
ip -n other link set far up
ip -n other link set lo up
ip netns exec other sh -c 'echo 2 >/proc/sys/net/smc/memory'"""


def server(h, port, addr):
    ls = h.listen(port, addr=addr, mark=False)
    h.mark("listening", pid=os.getpid())
    c = h.accept(ls)
    h.recv_stream(c, N, 1)
    h.mark("moved")
    h.gate("end")
    h.finish(c)
    ls.close()


def client(h, port, addr):
    s = h.connect(port, addr=addr)
    h.send_stream(s, N, 1)
    h.mark("moved", pid=os.getpid())
    h.gate("end")
    h.finish(s)


def start(t, port, addr, netns=None):
    """A connection of A to a server in NETNS; return both halves and their processes."""
    s = t.half(t.a, server, netns=netns, port=port, addr=addr)
    pids = [s.expect("listening", t.left())["pid"]]
    c = t.half(t.a, client, port=port, addr=addr)
    pids.append(c.expect("moved", t.left())["pid"])
    s.expect("moved", t.left())
    return (s, c), pids


def end(t, halves, port):
    for half in halves:
        half.gate("end")
    t.wait_all(*halves)
    t.no_sockets(t.a, port)


def listed(t, who="", netns=None):
    inside = f"ip netns exec {netns}" if netns else ""
    rows = json.loads(t.run_smc(t.a, "list -j", who=f"{who} {inside}").out)["sockets"]
    return [r for r in rows if r["state"] == "ACTIVE"]


def by_diag(t, port):
    """What unmodified tools read: each end has what the other one says of it."""
    ends = {s["pair"]["role"]: s for s in t.mode(t.a, "memory", port, 2)}
    t.equal(sorted(ends), [0, 1], "roles")
    for role, s in ends.items():
        other, dmb = ends[1 - role], s["dmb"]
        t.check("lgr" not in s, f"a link: {s}")
        t.equal(dmb["linkid"], LOOPBACK, "link")
        t.check(dmb["my_gid"] and dmb["my_gid"] == dmb["peer_gid"], f"namespaces: {dmb}")
        t.equal((dmb["token"], dmb["peer_token"]), (s["conn"]["token"], other["conn"]["token"]),
                "tokens")
        t.equal(s["pair"]["peer_inode"], other["inode"], "inode of the other end")
        t.equal(s["conn"]["peer"], other["conn"]["rcvbuf"], "ring of the other end")


def by_the_tool(t, port, pids):
    """The list names processes; not those of others to a user."""
    rows = {r["memory"]["role"]: r for r in listed(t)}
    for role, pid in (("server", pids[1]), ("client", pids[0])):
        t.equal(rows[role]["mode"], "memory", "mode")
        t.equal([p["pid"] for p in rows[role]["memory"]["peer_processes"]], [pid],
                f"processes at the other end of the {role}")
    name = t.a.read(f"/proc/{pids[0]}/comm").strip()
    text = t.run_smc(t.a, "list").out
    t.check(f" with {name}[{pids[0]}]\n" in text, text)
    t.check(" memory " in text, text)
    t.equal([r["memory"]["peer_processes"] for r in listed(t, NOBODY)], [[], []], "of nobody")
    t.check("with a process that is not shown" in t.run_smc(t.a, "list", who=NOBODY).out,
            "list of nobody")
    inode = rows["client"]["inode"]
    out = t.run_smc(t.a, f"check --socket {inode}").out
    t.check(f" with {name}[{pids[0]}]" in out, out)
    t.check(" mem " in t.run_smc(t.a, "watch --number 1").out, "watch")


def counted(t, before):
    grown = {k: v - before.get(k, 0) for k, v in t.a.stats().items()}
    want = {"client_memory": 1, "server_memory": 1, "memory_bytes": N, "tx_bytes": 0,
            "clc_tx": 0, "cdc_tx": 0}
    t.equal({k: grown[k] for k in want}, want, "counters")
    text = t.run_smc(t.a, "metrics").out
    for role in ("client", "server"):
        t.check(f'smc_connections{{mode="memory",role="{role}"}} 1\n' in text, text)
        t.check(f"\nsmc_{role}_memory_total " in text, text)
    t.check("\nsmc_memory_bytes_total " in text, text)
    stats = t.run_smc(t.a, "stats").out
    t.check("memory_bytes" in stats, stats)


def checked(t, wanted, reason=None, addr="127.0.0.1", words=""):
    out = json.loads(t.run_smc(t.a, f"check {words} -j {addr}", int(reason is not None)).out)
    t.equal((out["offers_memory"], t.reason(out)), (wanted, reason), f"check of {addr}")
    return {c["check"]: c["text"] for c in out["checks"]}


def check(t):
    """The setting, the policy and a connection."""
    for addr in ("127.0.0.1", "::1", t.a.ip):
        t.equal(checked(t, 1, addr=addr)["same host"],
                "memory: both ends are in this network namespace", addr)
    t.check("a connection uses memory" in t.run_smc(t.a, "explain 127.0.0.1").out, "explain")
    s = t.half(t.a, serve_any, port=PORT)
    s.expect("listening", t.left())
    said = checked(t, 1, addr=f"127.0.0.1:{PORT}", words="--try")["connection"]
    t.check(said.startswith("memory, with "), said)
    s.gate("stop")
    t.wait_all(s)
    t.run_smc(t.a, f"policy add tcp connect port {PORT}")
    checked(t, 0, POLICY, f"127.0.0.1:{PORT}")
    t.run_smc(t.a, "policy flush")
    t.set(t.a, memory=0)
    checked(t, 0, NODEV)
    t.restore("memory")


def across(t):
    """Between two namespaces, each end says that the other is in another one."""
    t.set(t.a, memory=2)
    t.a.run(JOIN)
    try:
        said = json.loads(t.a.run(f"{tool(t)} check -j 10.98.0.2", check=False).out)
        t.equal(said["offers_memory"], 1, "check of another namespace")
        halves, pids = start(t, PORT, "10.98.0.2", "other")
        for netns, pid in ((None, pids[0]), ("other", pids[1])):
            row, = [r["memory"] for r in listed(t, netns=netns)]
            t.equal([p["pid"] for p in row["peer_processes"]], [pid], f"other end of {netns}")
            t.check(row["netns"] and row["peer_netns"] not in (0, row["netns"]), str(row))
        t.check("], in another network namespace\n" in t.run_smc(t.a, "list").out, "list")
        end(t, halves, PORT)
    finally:
        t.a.run("ip netns del other", check=False)
        t.restore("memory")


def tool(t):
    from smcvm import kernel
    return t.guest_path(kernel.user_tool("smc"))


def run(t):
    before = t.a.stats()
    t.a.run(f"echo 1 >{TRACE}/events/smc/smc_tx_sendmsg/enable; : >{TRACE}/trace")
    halves, pids = start(t, PORT, "127.0.0.1")
    trace = t.a.run(f"echo 0 >{TRACE}/events/smc/smc_tx_sendmsg/enable; cat {TRACE}/trace").out
    t.check("dev=memory" in trace, trace[-2000:])
    for func, args in ((by_diag, (PORT,)), (by_the_tool, (PORT, pids)), (counted, (before,))):
        t.step(func.__doc__ or "counters")
        func(t, *args)
    end(t, halves, PORT)
    for func in (check, across):
        t.step(func.__doc__)
        func(t)
