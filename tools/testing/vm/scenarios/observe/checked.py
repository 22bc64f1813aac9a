# SPDX-License-Identifier: GPL-2.0
"""`smc check` says of each part of the set-up whether it is right, and what to mend.

Without a host it says whether this one is fit, also before the module is loaded, which stays so.

covers: API-01
"""
import json

kernels = ("stock",)
dialects = (0,)
PORT, TCP_PORT, CLOSED = 5820, 5821, 5822


def verdicts(t, target, status):
    """The verdict and the text by the name of the check."""
    r = t.b.run(f"{t.smc} check --try {target} -j", check=False)
    t.equal(r.rc, status, f"exit status of check {target}: {r.out} {r.err}")
    return {c["check"]: (c["verdict"], c["text"], c["mend"]) for c in json.loads(r.out)["checks"]}


FILTER = """nft add table inet checked
nft add chain inet checked input '{ type filter hook input priority 0; }'
nft add rule inet checked input ip saddr 203.0.113.1 """


def alone(t, status):
    """What B says of itself: verdict and text by the name of the check, and the whole."""
    r = t.b.run(f"{t.smc} check -j", check=False)
    t.equal(r.rc, status, f"exit status: {r.out} {r.err}")
    out = json.loads(r.out)
    t.check(all(c["mend"] for c in out["checks"] if c["verdict"] != "right"), f"mends: {out}")
    return {c["check"]: (c["verdict"], c["text"]) for c in out["checks"]}, out


def fit(t):
    """A host without another one: adapters, filters, the module loaded or not."""
    got, out = alone(t, 0)
    for name in ("kernel", "headers", "module", "same host", "RDMA", "MTU", "UDP 4791"):
        t.equal(got[name][0], "right", f"{name}: {got[name]}")
    t.check("rxe0 port 1 is active on eth0" in got["RDMA"][1], f"adapter: {got['RDMA']}")
    t.equal((out["is_fit"], out["offers_v2"], out["offers_memory"]), (True, True, True), "fit")

    for rule, status, verdict in (("drop", 0, "doubtful"), ("udp dport 4791 drop", 1, "wrong"),
                                  ("udp dport 4791 accept", 0, "right")):
        t.b.run(FILTER + rule)
        got, _ = alone(t, status)
        t.equal(got["UDP 4791"][0], verdict, f"filter {rule}: {got['UDP 4791']}")
        t.b.run("nft delete table inet checked")

    t.b.run("rdma link del rxe0")
    got, out = alone(t, 0)
    t.check("no adapter" in got["RDMA"][1], f"no adapter: {got['RDMA']}")
    t.equal((out["offers_v2"], out["offers_memory"]), (False, True), "memory needs no adapter")
    t.b.run("rdma link add rxe0 type rxe netdev eth0")
    t.pair.wait_gid(t.b, 0)

    t.pair.unload("b")
    # the machine has the files of the host, which may have headers of this kernel
    has_headers = not t.b.run("[ -e /lib/modules/$(uname -r)/build/Makefile ]", check=False).rc
    got, out = alone(t, 0 if has_headers else 1)
    t.equal(got["kernel"][0], "right", f"kernel: {got['kernel']}")
    t.check("not installed" in got["module"][1], f"module: {got['module']}")
    t.equal((got["headers"][0], out["is_fit"]), ("right" if has_headers else "wrong", has_headers),
            "to build the module takes headers")
    t.check("rxe0 port 1 is active" in got["RDMA"][1], f"without the module: {got['RDMA']}")
    t.b.run("[ ! -d /sys/module/smc ]")
    t.load(t.b)


def run(t):
    from smcvm import kernel
    t.smc = t.guest_path(kernel.user_tool("smc"))
    servers = [t.a.spawn(f"exec nc -lk {PORT} </dev/null", t.preload()),
               t.a.spawn(f"exec nc -lk {TCP_PORT} </dev/null")]
    t.wait(lambda: t.a.run(f"ss -tlnH 'sport = :{PORT} or sport = :{TCP_PORT}'").out.count("LISTEN")
           >= 2, "servers", 20)

    t.step("a set-up that works")
    got = verdicts(t, f"{t.a.ip}:{PORT}", 0)
    for name in ("module", "route", "RDMA", "MTU", "connection"):
        t.equal(got[name][0], "right", f"{name}: {got[name]}")
    t.check("SMC-R" in got["connection"][1], f"connection: {got['connection']}")
    t.equal(got["EID"][0], "doubtful", "no EID within a subnet")
    text = t.b.run(f"{t.smc} check --try {t.a.ip}:{PORT}").out
    t.check("mend: smc ueid add" in text, text)

    t.step("a server without SMC, and none")
    got = verdicts(t, f"{t.a.ip}:{TCP_PORT}", 1)
    t.check("does not speak SMC" in got["connection"][1] and "smc run" in got["connection"][2],
            f"TCP: {got['connection']}")
    got = verdicts(t, f"{t.a.ip}:{CLOSED}", 1)
    t.check("refused" in got["connection"][1], f"closed: {got['connection']}")
    r = t.b.run(f"{t.smc} check -j {t.a.ip}")
    t.check("connection" not in [c["check"] for c in json.loads(r.out)["checks"]], f"tried: {r}")

    t.step("no device, and this host itself")
    t.b.run("rdma link del rxe0")
    got = verdicts(t, f"{t.a.ip}:{PORT}", 1)
    t.equal(got["RDMA"][0], "wrong", "no device")
    t.equal(got["connection"][0], "wrong", "a connection without a device")
    t.b.run("rdma link add rxe0 type rxe netdev eth0")
    r = t.b.run(f"{t.smc} check -j 127.0.0.1", check=False)
    t.equal([c["verdict"] for c in json.loads(r.out)["checks"] if c["check"] == "same host"],
            ["right"], "this host")
    for s in servers:
        s.kill()
        s.wait(check=False)

    t.step(fit.__doc__)
    fit(t)
