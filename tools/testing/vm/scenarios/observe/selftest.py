# SPDX-License-Identifier: GPL-2.0
"""`smc survey` counts known traffic, and `smc selftest` passes over RDMA and in memory.

The traffic is TCP: within a host, to a neighbour by an interface with an RDMA device, through a
router, and by an interface without a device. The selftest moves a connection to another link, and
to TCP; it fails where it gets no SMC.

covers: API-01
"""
import json
import re

from common import serve

kernels = ("stock",)
dialects = (0,)
nics = 2
ipv = (4,)
timeout = 400
PORT = 5880
SIZE, BACK = 700, 9000
KEPT, SHORT = 1000, 15
DRAIN = "0x03f10000"
CLASSES = ("host", "subnet", "routed", "none")
OUTCOME = re.compile(r"^(passed|FAILED|not run) +(\S+(?: \S+)?) {2,}(.*)$", re.M)
TESTS = ("first contact", "sizes", "half close", "rate", "round trips", "failover", "landing")


def talk(h, port, addr):
    """Connections of one request each, then one of many."""
    for n in [1] * SHORT + [KEPT]:
        s = h.connect(port, addr)
        for _ in range(n):
            h.request(s, SIZE, BACK)
        h.finish(s)


def is_watching(vm):
    """The survey hears of the ends of connections, and sleeps after its first dump."""
    groups = vm.run("awk '$2 == 4 && $4 != \"00000000\"' /proc/net/netlink").out
    return groups and vm.run("ps -o state= -C smc").out.strip() == "S"


def surveyed(t, peers):
    """What a survey of B shows of traffic with each of PEERS, on a port each."""
    survey = t.b.spawn(f"exec {t.smc} survey -j 3600")
    t.wait(lambda: is_watching(t.b), "the survey", 20)
    servers = [t.half(t.b if i == 0 else t.a, serve, port=PORT + i, family="tcp")
               for i in range(len(peers))]
    t.expect_all("listening", *servers)
    t.wait_all(*[t.half(t.b, talk, port=PORT + i, addr=peer, family="tcp")
                 for i, peer in enumerate(peers)])
    survey.kill(2)
    survey.wait(t.left())
    for s in servers:
        s.gate("stop")
    t.wait_all(*servers)
    return json.loads(survey.out)["survey"]


def survey(t):
    """The survey finds each class, and the services."""
    from smcvm.links import AFAR, add, afar, delete
    delete(t.b, 1)
    with afar(t, gateway=True):
        got = surveyed(t, ["127.0.0.1", t.a.ip, AFAR[0], "10.43.1.1"])
    add(t, t.b, 1)
    each = 8 + SIZE + BACK
    for found, name in zip(got["classes"], CLASSES, strict=True):
        t.equal(found["class"], name, "class")
        t.equal((found["open"], found["new"]), (0, SHORT + 1), f"connections: {found}")
        for key, nr in (("bytes", KEPT + SHORT), ("kept_bytes", KEPT)):
            t.check(0 <= found[key] - nr * each <= 3 * (SHORT + 1), f"{key}: {found}")
        # segments that are sent again are more
        t.check(KEPT + SHORT <= found["requests"] <= 1.1 * (KEPT + SHORT), f"requests: {found}")
        t.check(found["bytes_percent"] == 25 and found["min_rtt_us"], f"share: {found}")
    t.check(got["is_complete"], f"ends were lost: {got}")
    t.equal({(s["port"], s["side"], s["connections"], s["smc_bytes"] > 0)
             for s in got["services"]},
            {(PORT, "both", SHORT + 1, True), (PORT + 1, "client", SHORT + 1, True),
             (PORT + 2, "client", SHORT + 1, False), (PORT + 3, "client", SHORT + 1, False)},
            "services")
    bytes_, requests = (sum(c[k] for c in got["classes"]) for k in ("bytes", "requests"))
    is_enough = bytes_ >= 1e6 * got["seconds"] or requests >= 100 * got["seconds"]
    t.equal(got["worth"], "partly" if is_enough else "unknown", f"verdict: {got}")


def tried(t, vm, words, status=0):
    """(outcome, text) by the name of the test, and all that was printed."""
    out = t.run_smc(vm, f"selftest --wait 300 {words}", status).out
    return {m[2]: (m[1], m[3]) for m in OUTCOME.finditer(out)}, out


def run(t):
    from smcvm import kernel
    from smcvm.links import several
    t.smc = t.guest_path(kernel.user_tool("smc"))
    t.step(survey.__doc__)
    survey(t)

    t.step("a selftest over RDMA")
    several(t, landing=1, peer_memory_ms=0)
    server = t.a.spawn(f"exec {t.smc} selftest --serve")
    server.expect_out("serving on port 14791", 20)
    before = {vm: (t.stat(vm, "landed"), t.stat(vm, "conn_moved")) for vm in (t.a, t.b)}
    got, out = tried(t, t.b, f"--landing {t.a.ip}")
    t.equal({name: got[name][0] for name in got}, dict.fromkeys(TESTS, "passed"), out)
    t.check(re.match(r"SMC-R in [\d.]+ ms, with a new link group", got["first contact"][1]), out)
    t.check(re.search(r"^### rxe0 port 1, [^,]+, \d{4}-\d\d-\d\d\n\n\| Test", out, re.M), out)
    t.check("| failover | passed: from link " in out and "| MTU | " in out, out)
    t.check("round trips: done" in server.out and "sizes: done" in server.out, server.out)
    for vm, (landed, moved) in before.items():
        t.equal(t.stat(vm, "landed") - landed, 1, f"{vm.name}: landed")
        t.check(t.stat(vm, "conn_moved") > moved, f"{vm.name}: no connection moved")
    t.equal(t.b.run("cat /sys/module/smc/parameters/drain").out.strip(), "N", "drain")

    t.step("in memory")
    t.set(t.a, memory=1)
    got, out = tried(t, t.a, "--landing 127.0.0.1:14791")
    want = dict.fromkeys(TESTS, "passed")
    want["failover"] = "not run"
    t.equal({name: got[name][0] for name in got}, want, out)
    t.check(got["first contact"][1].startswith("memory in "), out)
    t.check("###" not in out, f"a block without an adapter: {out}")

    t.step("where it is TCP")
    t.run_smc(t.b, "drain --wait 100")
    got, out = tried(t, t.b, t.a.ip, 1)
    t.run_smc(t.b, "drain --undo")
    t.equal(got["first contact"][0], "FAILED", out)
    t.check(DRAIN in got["first contact"][1], out)
    t.equal(got["sizes"][0], "passed", out)
    server.kill()
    server.wait(check=False)
