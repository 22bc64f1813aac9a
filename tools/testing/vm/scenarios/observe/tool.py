# SPDX-License-Identifier: GPL-2.0
"""The tool shows groups, links, peers, counters, rates and events as they are.

What its commands print agrees with what was sent, with each other and with the
counters of the RDMA device. A host and a service that are remembered are events. A report for a bug
has all of that.

covers: API-01 LG-09
"""
import ipaddress
import json
import re

import specified
from common import requests, serve, stream_client, stream_server

kernels = ("stock",)
dialects = (0,)
timeout = 120
PORT = 5860
N_OUT, N_IN = 300_007, 200_003
NOSMCRDEV = 0x03030002
IN_A_ROW = 8
ELSEWHERE = """ip link add aside type dummy && ip addr add 10.99.0.1/24 dev aside &&
    ip link set aside up && rdma link add rxe9 type rxe netdev aside && rdma link del rxe0"""
BACK = """rdma link add rxe0 type rxe netdev eth0; rdma link del rxe9; ip link del aside"""


def said(t, vm, what):
    """The output of a command for programs."""
    out = json.loads(vm.run(f"{t.smc} {what} -j").out)
    t.equal(out["schema"], 2, "schema")
    return out


def collected(h, source):
    """Events of a host and a service, when the run says that all have happened."""
    f = specified.family(source)
    f.ntf_subscribe("events")
    h.mark("watching")
    h.gate("all")
    seen = {}

    def there():
        f.check_ntf()
        seen.update((m["name"], m["msg"]["event"]) for m in f.async_msg_queue)
        return {"event-peer", "event-service"} <= seen.keys()
    h.wait(there, "events of a host and of a service", 20)
    return seen["event-peer"], seen["event-service"]


def remembered(t):
    """A service that declines, then a path that fails."""
    from smcvm import kernel
    watch = t.half(t.b, collected, source=t.guest_path(kernel.script("path", "source-6.12")))
    watch.expect("watching", t.left())
    tool = t.b.spawn(["sh", "-c", f"exec {t.smc} events -j"])

    def heard():
        t.both(serve, requests, PORT + 2, sargs={"count": 1}, cargs={"n": 1})
        return tool.out
    t.wait(heard, "an event of the tool", 20)
    t.a.run(ELSEWHERE)
    s = t.half(t.a, serve, port=PORT + 1)
    s.expect("listening", t.left())
    t.wait_all(t.half(t.b, requests, port=PORT + 1, n=IN_A_ROW))
    s.gate("stop")
    t.wait_all(s)
    t.a.run(BACK)
    t.pair.wait_gid(t.a, 0)

    hole = t.relay.rule(proto="roce", drop=1)
    t.in_step(stream_server, stream_client, PORT, None, ("TCP", "TCP"), n_in=N_IN, n_out=N_OUT)
    t.check(t.relay.hits(hole)[0], "RoCE was not tried")
    t.relay.unrule(hole)
    watch.gate("all")
    t.wait_all(watch)

    peer, service = watch.value
    for event in (peer, service):
        addr = ipaddress.ip_address(event["peer-addr"])
        t.equal(str(addr.ipv4_mapped), t.a.ip, f"address: {event}")
        t.check(event["text"], f"no text: {event}")
    t.check("peer-port" not in peer and 0 < peer["ms"] <= 60000, f"the host: {peer}")
    t.equal(service["peer-port"], PORT + 1, f"the service: {service}")
    t.equal((service["reason"], service["peer-diagnosis"]), ("peerdecl", NOSMCRDEV),
            "why it is remembered")
    t.check(0 < service["ms"] <= 1000, f"the service: {service}")
    for kind in ("peer", "service"):
        tool.expect_out(f'"event": ?"{kind}-remembered"', 20)
    tool.kill()
    tool.wait(check=False)


def ended(t):
    """A record of each connection that leaves SMC."""
    tools = [vm.spawn(["sh", "-c", f"exec {t.smc} events --ends -j"]) for vm in (t.a, t.b)]

    def heard():
        t.both(serve, requests, PORT + 2, sargs={"count": 1}, cargs={"n": 1})
        return all(tool.out for tool in tools)
    t.wait(heard, "a record of the tool", 20)
    t.in_step(stream_server, stream_client, PORT, n_in=N_IN, n_out=N_OUT)
    for tool, vm, other, role, tx, rx in ((tools[0], t.a, t.b, "server", N_OUT, N_IN),
                                          (tools[1], t.b, t.a, "client", N_IN, N_OUT)):
        found = tool.expect_out(f'^.*"tx_bytes": ?{tx},.*\\n', 20)
        end = json.loads(found.group())
        t.equal({k: end[k] for k in ("event", "role", "mode", "tx_bytes", "rx_bytes")},
                {"event": "connection-end", "role": role, "mode": "SMC-R", "tx_bytes": tx,
                 "rx_bytes": rx}, f"{vm.name}: record")
        t.check(other.ip in end["peer_address"] and vm.ip in end["local_address"], f"{end}")
        t.check(end["cgroup"] and 0 < end["duration_ms"] < 1000 * timeout, f"{end}")
        tool.kill()
        tool.wait(check=False)


def lists(t, vm):
    """Lists of one machine that agree: groups, links, peers, devices."""
    groups, links = said(t, vm, "groups")["groups"], said(t, vm, "links")["links"]
    peers, devices = said(t, vm, "stats --peers")["peers"], said(t, vm, "devices")["devices"]
    t.equal(sorted(g["role"] for g in groups), ["client", "server"], f"{vm.name}: groups")
    t.equal([g["connections"] for g in groups], [1, 1], "connections")
    t.equal(sorted(n["group"] for n in links), sorted(g["id"] for g in groups), "links")
    for g in groups:
        t.equal([n["counts"] for n in links if n["group"] == g["id"]], [g["counts"]],
                f"counts of group {g['id']} and of its link")
    total = {k: sum(g["counts"][k] for g in groups) for k in groups[0]["counts"]}
    t.equal(len(peers), 1, f"peers: {peers}")
    t.equal((peers[0]["groups"], peers[0]["links"], peers[0]["connections"]), (2, 2, 2), "peer")
    t.equal(peers[0]["counts"], total, "sums of the peer")
    other = t.a if vm is t.b else t.b
    t.equal((peers[0]["address"], peers[0]["id"]), (other.ip, groups[0]["peer_id"]), "the peer")
    rxe = [d for d in devices if d["name"] == "rxe0"]
    t.equal([d["port1"]["links"] for d in rxe], [2], "links of the device")
    for what in ("groups", "links"):
        text = vm.run(f"{t.smc} {what}").out.splitlines()
        t.equal(len(text), 3, f"lines of {what}: {text}")
        t.check(all(any(line.startswith(g["id"]) for line in text) for g in groups), f"{text}")
    return total


def counters(t, vm):
    return said(t, vm, "stats")["counters"]


def sent(vm):
    """RDMA packets by `rdma statistic`."""
    found = re.findall(r"sent_pkts (\d+)", vm.run("rdma statistic show link rxe0/1").out)
    return int(found[0])


def metrics(t, vm, links, stats):
    """The values of OpenMetrics; counters, links and devices as other commands have them."""
    lines = vm.run(f"{t.smc} metrics").out.splitlines()
    t.equal(lines[-1], "# EOF", "last line")
    values = {name: int(value) for name, value in
              (line.rsplit(" ", 1) for line in lines if not line.startswith("#"))}
    # a link may be tested meanwhile
    later = counters(t, vm)
    wrong = {k: (stats[k], values[f"smc_{k}_total"], later[k]) for k in stats
             if not stats[k] <= values[f"smc_{k}_total"] <= later[k]}
    t.equal(wrong, {}, "counters before, of metrics, and later")
    for role in ("client", "server"):
        t.equal(values[f'smc_connections{{mode="SMC-R",role="{role}"}}'], 1, "connections")
    t.equal(values['smc_links{device="rxe0",state="active"}'], len(links), "links")
    t.equal(values['smc_link_connections{device="rxe0"}'], sum(n["connections"] for n in links),
            "connections on links")
    device = next(d for d in said(t, vm, "devices")["devices"] if d["name"] == "rxe0")
    t.equal({k: values[f'smc_device_{k}_total{{device="rxe0"}}'] for k in device["counts"]},
            device["counts"], "counters of the device")


def watched(t, vm, links):
    """One look, into a file and on a terminal."""
    text = vm.run(f"{t.smc} watch -n 1").out
    t.check("\033" not in text, f"control characters in a file: {text!r}")
    for link in links:
        t.check(re.search(rf"^{link['group']} {link['id']} +active +rxe0 +1 ", text, re.M),
                f"link {link['group']} is not in\n{text}")
    port = rf"{re.escape(vm.ip)}:\d+ +\S+:{PORT}" if vm is t.b else rf"{re.escape(vm.ip)}:{PORT}"
    t.check(re.search(port, text), f"the connection is not in\n{text}")
    screen = vm.run(f"script -qec 'stty rows 40 cols 132; {t.smc} watch -n 1' /dev/null").out
    t.check(screen.startswith("\033[H\033[J") and "LOCAL" in screen, f"screen {screen!r}")


def reported(t, vm, links):
    """One text with a section for each command, on standard output or in a file."""
    r = vm.run(f"{t.smc} report; {t.smc} report /tmp/report; stat -c %a /tmp/report >&2")
    t.check(r.err.endswith("600\n") and "before you pass it on" in r.err, f"errors: {r.err}")
    parts = dict(re.findall(r"^# (.*)\n\n((?:(?!# ).*\n)*)", r.out, re.M))
    kept = vm.run("cat /tmp/report; rm /tmp/report").out
    t.equal(re.findall("^# .*", kept, re.M), re.findall("^# .*", r.out, re.M), "sections")
    for name, text in (("smc --version", "module smc: "), ("smc check", "rxe0 port 1 is active"),
                       ("/proc/sys/net/smc/*", "/proc/sys/net/smc/rmem: "),
                       ("rdma link", "rxe0/1"), ("smc list -v", str(PORT)), ("smc stats", "tx_bytes"),
                       ("smc groups", links[0]["group"]), ("smc links -j", links[1]["group"]),
                       ("smc devices", "rxe0"), ("the kernel log: smc", links[0]["group"])):
        t.check(text in parts[name], f"{text!r} is not in {name}: {parts[name]}")
    # it fails, unless a scenario before has mounted cgroup2
    t.check(re.match("smc: no cgroup2 is mounted|no control group is attached",
                     parts["smc status"]), f"no group: {parts['smc status']}")
    for name, text in parts.items():
        if name.startswith("smc ") and name != "smc status":
            t.check("(ended" not in text and "(exit" not in text, f"{name}: {text}")


def run(t):
    from smcvm import kernel
    t.smc = t.guest_path(kernel.user_tool("smc"))
    t.no_groups()
    # no_groups() lets hosts be remembered for a moment only
    t.restore("peer_memory_ms")
    t.step(remembered.__doc__)
    remembered(t)
    # nothing is remembered after that
    t.reload(t.a, t.b)

    t.step(ended.__doc__)
    ended(t)
    t.no_groups()
    t.step("one connection in each direction")
    before = {vm: (counters(t, vm), sent(vm)) for vm in (t.a, t.b)}
    halves = []
    for here, there, port in ((t.a, t.b, PORT), (t.b, t.a, PORT + 1)):
        s = t.half(here, stream_server, port=port, n_in=N_IN, n_out=N_OUT)
        s.expect("listening", t.left())
        halves += [s, t.half(there, stream_client, port=port, n_in=N_IN, n_out=N_OUT)]
    t.expect_all("moved", *halves)
    for vm in (t.a, t.b):
        t.mode(vm, "SMC-R", PORT)
        t.mode(vm, "SMC-R", PORT + 1)
        # late messages still change counters
        t.wait(lambda vm=vm: counters(t, vm) == counters(t, vm), "quiet", 20)
        total = lists(t, vm)
        stats = counters(t, vm)
        moved = {k: stats[k] - before[vm][0][k] for k in stats}
        for name in ("tx_bytes", "rx_bytes"):
            t.equal(moved[name], N_IN + N_OUT, f"{vm.name}: {name}")
        t.check(N_IN + N_OUT <= total["tx_bytes"] <= N_IN + N_OUT + 2 * 8192,
                f"{vm.name}: bytes of links: {total}")
        t.equal(total["rx_bytes"], N_IN + N_OUT, f"{vm.name}: bytes received")
        t.equal((total["retries"], total["tx_errors"], total["rx_errors"]), (0, 0, 0), "errors")
        t.check(sent(vm) - before[vm][1] >= (N_IN + N_OUT) // 4096, f"{vm.name}: packets")
        links = said(t, vm, "links")["links"]
        metrics(t, vm, links, stats)
        watched(t, vm, links)
        reported(t, vm, links)
    for p in halves:
        p.gate("end")
    t.wait_all(*halves)
