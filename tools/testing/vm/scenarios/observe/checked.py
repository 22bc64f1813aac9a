# SPDX-License-Identifier: GPL-2.0
"""`smc check` says of each part of the set-up whether it is right, and what to mend.

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
