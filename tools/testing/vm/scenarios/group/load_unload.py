# SPDX-License-Identifier: GPL-2.0
"""Rounds of load, traffic and unload work, 30 in the long run; an open socket prevents unload.

covers: PID-02 PEER-01
"""
import re

from common import requests, serve, stream_client, stream_server

timeout = 180


def hold(h, port):
    ls = h.listen(port)
    h.gate("end")
    ls.close()


def knock(h, port):
    s = h.socket()
    s.setblocking(False)
    s.connect_ex((h.config["peer4"], port))
    h.gate("end")
    s.close()


def outlives(t, retransmits):
    """Unload the module beside a request whose client is gone; return whether it is left."""
    listener = t.half(t.a, hold, port=5104)
    listener.expect("listening")
    lost = t.relay.rule(proto="tcp", frm="a", sport=5104, drop=1)
    client = t.half(t.b, knock, port=5104)
    requests_left = "ss -Htan state syn-recv sport = :5104"
    t.wait(lambda: t.relay.hits(lost)[0], "a SYN-ACK", 20)
    client.gate("end")
    t.wait_all(client)
    sent = t.relay.hits(lost)[0]
    t.wait(lambda: t.relay.hits(lost)[0] >= sent + retransmits, "retransmits of the SYN-ACK", 60)
    listener.gate("end")
    t.wait_all(listener)
    t.pair.unload(t.a.name)
    outlived = bool(t.a.run(requests_left).out)
    t.wait(lambda: not t.a.run(requests_left).out, "the end of the request", 60)
    t.relay.unrule(lost)
    t.load(t.a)
    return outlived


def half_open(t):
    """A request that nobody acknowledges outlives its listener and the module."""
    # without a listener it ends when the next retransmit is due: 8, 16 or 32 seconds later
    t.check(any(outlives(t, n) for n in (3, 4, 5)), "no request outlived the module")


def no_test_timers(t):
    """Without the parameter test_timers operators see 23 settings at most, no timeouts of LLC."""
    t.pair.unload(t.a.name)
    t.a.run(["insmod", t.guest_path(t.a.kernel.smc_modules(t.case.sides[0])["smc"])])
    names = t.a.run("ls /proc/sys/net/smc; rmmod smc").out.split()
    t.check("wmem" in names and "llc_reply_ms" not in names, f"settings: {names}")
    # hs_ctrl needs a TCP that asks BPF programs
    t.check(len(set(names) - {"hs_ctrl"}) <= 23, f"{len(names)} settings")
    t.load(t.a)


def run(t):
    if t.family != "smc":
        return
    t.step(no_test_timers.__doc__)
    no_test_timers(t)
    t.step(half_open.__doc__)
    half_open(t)
    start = len(t.b.log)
    ended = t.relay.rule(llc=4)
    rounds = 30 if t.long else 8
    for i in range(rounds):
        t.reload(t.a, t.b, look=i % 8 == 7)
        if i == 1:
            t.check(t.relay.hits(ended)[0], "no DELETE LINK when the module was unloaded")
        t.rdma_start()
        if i % 3 == 0:
            t.in_step(stream_server, stream_client, 5100, n_in=70_003, n_out=40_009)
            t.carried(t.b, 70_003)
        else:
            t.both(serve, requests, 5101, sargs={"count": 3}, cargs={"n": 3})
            t.carried(t.a, 3000)
        if i == 1:
            # each machine is the server of one group and the client of another
            s = t.half(t.b, serve, port=5103, count=1)
            s.expect("listening", t.left())
            t.wait_all(s, t.half(t.a, requests, port=5103))
            # requests: all links, in good order
            both = t.relay.rule(llc=4, frm="a", at="3:60")
            t.reload(t.a)
            t.check(t.relay.hits(both)[0] >= 2, "a group did not announce its end")
            t.relay.unrule(both)
        if i == 0:
            p = t.half(t.a, hold, port=5102)
            p.expect("listening")
            r = t.a.run("rmmod smc_diag; rmmod smc", check=False)
            t.check(r.rc and "in use" in r.err, f"rmmod with an open socket: {r}")
            t.a.run(["insmod", t.guest_path(t.a.kernel.smc_modules(t.case.sides[0])["smc_diag"])])
            p.gate("end")
            t.wait_all(p)
    # a server is a new instance after each load
    ids = re.findall(r"with peer ([0-9a-f]+) is up", "\n".join(t.b.dmesg(start)))
    t.check(len(set(ids)) > rounds * 4 // 5, f"peer IDs of the server: {ids}")
