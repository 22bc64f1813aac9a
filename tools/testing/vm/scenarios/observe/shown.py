# SPDX-License-Identifier: GPL-2.0
"""Operators see the attributes of a link, its group and its memory.

covers: LG-17 LID-06 RMB-07
"""
import json
import os
import re

# what scripts for deployed hosts read of a tracepoint
TRACED = {
    "smc_switch_to_fallback": {"sk", "clcsk", "net_cookie", "fallback_rsn"},
    "smc_tx_sendmsg": {"smc", "net_cookie", "len", "name"},
    "smc_rx_recvmsg": {"smc", "net_cookie", "len", "name"},
    "smcr_link_down": {"lnk", "lgr", "net_cookie", "state", "name", "location"},
}
OWNER = 1000
CHOSEN_PORT = 5799
SIZES = (16384, 65536, 131072, 65536)


def server(h, port):
    """One connection for each ring size, so that there are several RMBs."""
    out = []
    for size in SIZES:
        ls = h.listen(port, mark=False, rcvbuf=size)
        h.mark(f"listening {size} {len(out)}")
        out.append(h.accept(ls))
        ls.close()
    h.mark("moved")
    h.gate("end")
    for c in out:
        h.finish(c)


def client(h, port):
    out = []
    for i, size in enumerate(SIZES):
        h.gate(f"{i}")
        out.append(h.connect(port, rcvbuf=size))
        h.mark(f"connected {i}")
    h.mark("moved")
    h.gate("end")
    for s in out:
        h.finish(s)


def user_ids(t):
    """Each side shows both names of the link, and that it is the only one."""
    a, b = [t.mode(vm, "SMC-R", 5800, len(SIZES)) for vm in (t.a, t.b)]
    for s in a + b:
        t.equal(s["group"]["links"], 1, "links of a group")
    ours = {(s["group"]["uid"], s["group"]["peer_uid"]) for s in a}
    theirs = {(s["group"]["peer_uid"], s["group"]["uid"]) for s in b}
    t.equal(len(ours), 1, "names of one link")
    t.equal(ours, theirs, "names of the link at both ends")
    t.check(all(ours.copy().pop()), f"a link without a name: {ours}")
    return ours.pop()


def by_the_tool(t, ids):
    from smcvm import kernel
    tool = t.guest_path(kernel.user_tool("smc"))
    text = t.a.run(f"{tool} list -v").out
    want = f"link user ID {ids[0]:08x}, of the peer {ids[1]:08x}, links in the group: 1, " \
           "no redundancy"
    t.check(want in text, f"'{want}' is not in\n{text}")
    links = [s["link"] for s in json.loads(t.a.run(f"{tool} list -j").out)["sockets"]
             if "link" in s]
    t.check(links and all((n["user_id"], n["peer_user_id"], n["links"]) == (*ids, 1)
                          for n in links), f"JSON: {links}")


def chosen(t):
    """The kernel gives those sockets that a user asks for."""
    def listed(wanted, words=""):
        rows = json.loads(t.run_smc(t.a, f"list -j {words}").out)["sockets"]
        return sorted((s["inode"], s["peer"]) for s in rows if wanted(s))

    listener = t.a.spawn(f"exec nc -l {CHOSEN_PORT} </dev/null", t.preload())
    t.wait(lambda: f":{CHOSEN_PORT}" in t.a.run("ss -tlnH").out, "a listener", 20)
    ports = f"{CHOSEN_PORT - 1}-{CHOSEN_PORT}"
    for words, wanted in ((f"peer {t.b.ip}", lambda s: t.b.ip in s["peer"]),
                          (f"peer {t.a.ip}", lambda s: t.a.ip in s["peer"]),
                          ("state listen", lambda s: s["state"] == "LISTEN"),
                          (f"port {ports}", lambda s: s["local"].endswith(f":{CHOSEN_PORT}")),
                          ("mode smc-r", lambda s: s["mode"] == "SMC-R"),
                          ("mode tcp", lambda s: s["mode"] == "TCP")):
        rows = listed(lambda _: True, words)
        t.equal(rows, listed(wanted), words)
        t.equal(bool(rows), "mode tcp" != words and t.a.ip not in words, f"any with {words}")
    listener.kill()
    listener.wait(check=False)


def keys(t, vm):
    """One protection domain for the queue pair, and a key in it for each region."""
    pds = [int(n) for n in re.findall(r"users (\d+).*comm \[?smc\]?",
                                      vm.run("rdma resource show pd").out)]
    mrs = re.findall(r"rkey (0x[0-9a-f]+).*comm \[?smc\]?",
                     vm.run("rdma resource show mr -dd").out)
    t.equal(len(set(mrs)), len(mrs), f"{vm.name}: keys that differ of {mrs}")
    t.check(len(mrs) >= 2 * 3, f"{vm.name}: {len(mrs)} regions of three sizes, {pds}")
    t.equal(pds, [1 + len(mrs)], f"{vm.name}: users of protection domains")


def owned(h, port):
    """fchown() names another owner: of the packets, too, for routes and filters."""
    s = h.socket()
    os.fchown(s.fileno(), OWNER, -1)
    s.bind(("0.0.0.0", port))
    s.listen(1)
    with open("/proc/net/tcp", encoding="ascii") as f:
        uids = [line.split()[7] for line in f if f":{port:04X} 00000000:0000 0A" in line]
    h.equal(uids, [str(OWNER)], "owner of the listener on TCP")


def traced(t):
    for event, fields in TRACED.items():
        text = t.a.run(f"cat /sys/kernel/tracing/events/smc/{event}/format").out
        has = set(re.findall(r"(\w+)(?:\[\d*\])?;\s+offset:", text))
        t.check(fields <= has, f"{event}: no {fields - has} among {has}")


def held(h, port):
    """A listener and a connection of one process, whose PID is a mark."""
    ls = h.listen(port, mark=False)
    h.mark("listening", pid=os.getpid())
    c = h.accept(ls)
    h.gate("end")
    h.finish(c)
    ls.close()


def connected(h, port):
    s = h.connect(port)
    h.mark("connected", pid=os.getpid())
    h.gate("end")
    h.finish(s)


def named(t, port):
    """Tools for TCP show the owners of a listener and a connection."""
    s = t.half(t.a, held, port=port)
    server_pid = s.expect("listening", t.left())["pid"]
    c = t.half(t.b, connected, port=port)
    client_pid = c.expect("connected", t.left())["pid"]
    t.mode(t.a, "SMC-R", port)
    for vm, pid, where in ((t.a, server_pid, f"sport = :{port}"),
                           (t.b, client_pid, f"dport = :{port}")):
        for flags in ("-tnpH", "-tnlpH") if vm is t.a else ("-tnpH",):
            out = vm.run(f"ss {flags} '{where}'").out
            t.check(f"pid={pid}," in out, f"ss {flags} of process {pid}: {out!r}")
        if t.family == "smc":
            out = vm.run(f"ss -tniH '{where}'").out
            t.check("tcp-ulp-smc" in out, f"ss -ti: {out!r}")
        out = vm.run(f"lsof -nP -a -p {pid} -iTCP:{port} -Fp").out
        t.equal(out.split()[:1], [f"p{pid}"], "lsof -i")
    out = t.a.run(f"fuser -n tcp {port} 2>/dev/null").out
    t.check(str(server_pid) in out.split(), f"fuser: {out!r}")
    for half in (s, c):
        half.gate("end")
    t.wait_all(s, c)


def run(t):
    t.step(named.__doc__)
    named(t, 5802)
    t.wait_all(t.half(t.a, owned, port=5801))
    t.no_groups()
    s = t.half(t.a, server, port=5800)
    c = t.half(t.b, client, port=5800)
    for i, size in enumerate(SIZES):
        s.expect(f"listening {size} {i}", t.left())
        c.gate(f"{i}")
    t.expect_all("moved", s, c)
    if t.family == "smc":
        t.step("tracepoints")
        traced(t)
        t.step("links")
        ids = user_ids(t)
        by_the_tool(t, ids)
        t.step(chosen.__doc__)
        chosen(t)
        t.step("memory")
        for vm in (t.a, t.b):
            keys(t, vm)
    for p in (s, c):
        p.gate("end")
    t.wait_all(s, c)
