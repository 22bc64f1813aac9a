# SPDX-License-Identifier: GPL-2.0
"""SMC_GEN_NETLINK shows groups, links, devices and counters as they are, and sends events.

Requests and answers are those of deployed tools, by root, by others, and from other
namespaces. Counters agree with what was sent and with those of the RDMA device. The library of the
kernel's sources reads the same by Documentation/netlink, and makes requests.

covers: LG-09 LID-05 LID-06
"""
import ctypes
import errno
import ipaddress
import os
import socket
import struct

import netns
import smcnl
import specified
from common import serve, stream_client, stream_server

timeout = 120
PEERNOSMC = 0x03010000
CLOSED = 5833
N_OUT, N_IN = 300_007, 200_003
MANY = 24
CLONE_NEWNET = 0x40000000
READS = range(1, 9)
OWNER_READS = (100, 101)
KNOWN = {
    smcnl.SYS_INFO: {1, 2, 3, 4, 6},
    smcnl.LGR: {1, 2, 3, 4, 5, 6, 9, 11, 12, 13},
    smcnl.LINK: set(range(1, 11)),
    smcnl.DEV: set(range(1, 9)) | {10},
    smcnl.STATS: {2, 3, 4},
}
HW = "/sys/class/infiniband/{}/ports/1/hw_counters/rdma_sends"
(TX_BYTES, RX_BYTES, TX_MSGS, RX_MSGS, RETRIES, TX_CLOSED, RX_CLOSED, WAITS, TX_ERRORS,
 RX_ERRORS, LEAKS) = range(1, 12)


def complete(h, number, nest):
    """Every attribute that tools read is there."""
    h.check(KNOWN[number] <= nest.keys(), f"nest {number} lacks {KNOWN[number] - nest.keys()}")


def counter(name):
    return smcnl.counters()[name]


def by_gid(h, f):
    """The device that serves eth0."""
    devices = f.nests(smcnl.DEV)
    for d in devices:
        complete(h, smcnl.DEV, d)
        h.equal(sorted(d[8]), list(range(1, 7)), "attributes of a port")
    mine = [d for d in devices if d[8][3] == socket.if_nametoindex("eth0")]
    h.equal(len(mine), 1, "devices at eth0")
    return mine[0]


def sends(device):
    with open(HW.format(device), encoding="ascii") as f:
        return int(f.read())


def snapshot(h, f):
    """(statistics, device, SENDs by the device's own counter without those of others)."""
    stats = f.nests(smcnl.STATS)
    h.equal(len(stats), 1, "messages with statistics")
    complete(h, smcnl.STATS, stats[0])
    h.equal(sorted(stats[0][2]), list(range(1, 22)), "attributes of SMCR_TECH")
    return stats[0], by_gid(h, f)


def info(h, f):
    got = f.nests(smcnl.SYS_INFO)
    h.equal(len(got), 1, "messages with SYS_INFO")
    complete(h, smcnl.SYS_INFO, got[0])
    # tools overrun their table
    h.check(not {7, 8, 9, 10} & got[0].keys(), f"numbers of {got[0]}")
    h.equal((got[0][1], got[0][2], got[0][3], got[0][6]), (2, 1, 0, 1), "versions")
    h.equal(got[0][4], os.uname().nodename.ljust(32), "host")
    for cmd in (smcnl.LGR_D, smcnl.DEV_D):
        h.equal(f.dump(cmd), [], f"answer to {cmd}")


def group_and_link(h, f, role):
    groups = f.nests(smcnl.LGR)
    h.equal(len(groups), 1, "groups")
    group = groups[0]
    complete(h, smcnl.LGR, group)
    h.equal((group[2], group[3], group[6], group[65]), (role, 1, 1, 1), "role, type, members")
    h.check(group[12] >= group[74] > 0 and group[13] >= group[75] > 0, f"memory of {group}")
    out = f.dump(smcnl.LINK)
    h.equal([cmd for cmd, _ in out], [smcnl.LGR, smcnl.LINK], "order of messages")
    h.equal(list(out[0][1]), [smcnl.LGR], "nest of the group")
    h.equal(out[0][1][smcnl.LGR][1], group[1], "its number")
    link = out[1][1][smcnl.LINK]
    complete(h, smcnl.LINK, link)
    h.equal((link[3], link[6], link[10], link[64]), (1, 1, 3, group[1]), "port, state, group")
    h.equal(link[7], socket.if_nametoindex("eth0"), "interface")
    h.equal([len(link[i]) for i in (4, 5)], [39, 39], "length of GIDs")
    return group, link


def balanced(before, after, base, imm):
    """Messages of the device's links are SENDs of the device, or immediate data."""
    return after[64][TX_MSGS] - before[64][TX_MSGS] == sends(after[10]) - base + imm


def ends(h, port, is_server, n_out, n_in):
    """One connection: statistics, device, group and link before and after its bytes."""
    role = int(is_server)
    with smcnl.Family() as f:
        info(h, f)
        stats, device = snapshot(h, f)
        base, imm = sends(device[10]), counter("imm_tx")
        h.mark("ready")
        if is_server:
            c = h.accept(h.listen(port))
        else:
            h.gate("go")
            c = h.connect(port)
        h.both_ways(c, n_out, 1 + role, n_in, 2 - role)
        h.mark("moved")
        h.gate("look")
        now = {}

        def done():
            now["stats"], now["device"] = snapshot(h, f)
            now["group"], now["link"] = group_and_link(h, f, role)
            return now["link"][68][TX_BYTES] >= n_out and \
                balanced(device, now["device"], base, counter("imm_tx") - imm)
        h.wait(done, f"counters that balance: {now}", 20)
        tech = {i: now["stats"][2][i] - stats[2][i] for i in range(7, 20)}
        h.equal((tech[16], tech[17]), (n_in, n_out), "bytes of statistics")
        h.equal(tech[9 if is_server else 7], 1, "connections")
        for calls, sizes in ((18, 4), (19, 3)):
            classes = [now["stats"][2][sizes][i] - stats[2][sizes][i] for i in range(1, 10)]
            h.check(tech[calls] >= sum(classes) > 0, f"classes {classes} of {tech[calls]} calls")
        for sizes in (1, 2):
            classes = [now["stats"][2][sizes][i] - stats[2][sizes][i] for i in range(1, 10)]
            h.equal(sum(classes), 1, f"rings {classes}")
        count = now["link"][68]
        h.equal(count[RX_BYTES], n_in, "bytes that the link received")
        # the path probe is a WRITE, too
        h.check(n_out <= count[TX_BYTES] <= n_out + 8192, f"bytes written: {count}")
        h.equal([count[i] for i in (TX_ERRORS, RX_ERRORS, RETRIES, LEAKS)], [0] * 4, "errors")
        h.check(now["group"][76] == count, f"{now['group'][76]} of the only link {count}")
        h.equal((now["device"][2], now["device"][8][6]), (1, 1), "links of the device")
        link, group = now["link"], now["group"]
        uids = [socket.ntohl(n) for n in (link[8], link[9])]
        h.mark("looked", uid=uids, gid=[link[4], link[5]], qpn=[link[65], link[66]],
               group=group[1])
        h.gate("end")
        h.finish(c)


def watch(h, role):
    """Collect events until the run says that all have happened."""
    with smcnl.Family() as f:
        f.join()
        h.mark("watching")
        seen = []
        f.sock.setblocking(False)

        def all_there():
            try:
                while True:
                    seen.extend(f.events())
            except BlockingIOError:
                pass
            return {smcnl.LGR_UP, smcnl.LINK_UP, smcnl.LGR_DOWN, smcnl.TCP} <= \
                {cmd for cmd, _ in seen}
        h.gate("all")
        h.wait(all_there, "events", 20)
    order = [cmd for cmd, _ in seen]
    for cmd, attrs in seen:
        h.check(smcnl.EVENT in attrs and attrs[smcnl.EVENT][1] > 1 << 60, f"{cmd}: {attrs}")
        if cmd in (smcnl.LGR_UP, smcnl.LINK_UP, smcnl.LGR_DOWN):
            complete(h, smcnl.LGR, attrs[smcnl.LGR])
        if cmd == smcnl.LINK_UP:
            complete(h, smcnl.LINK, attrs[smcnl.LINK])
            h.equal(attrs[smcnl.LINK][64], attrs[smcnl.LGR][1], "group of the link")
        if cmd == smcnl.LGR_DOWN:
            h.check(attrs[smcnl.EVENT][2], "a group that is down without a reason")
    h.equal(order.count(smcnl.LGR_UP), order.count(smcnl.LGR_DOWN), f"ends of groups: {order}")
    event = next(a[smcnl.EVENT] for cmd, a in seen if cmd == smcnl.TCP)
    h.equal((event[3], event[5]), (PEERNOSMC, role), "reason and role")
    h.check(event[2] and event[9 - 2 * role] == 5832, f"the connection on TCP: {event}")


def fallback(h, f):
    return {(r[1], r[4]): r for r in f.nests(smcnl.FBACK)}


def counted(h, role, before):
    """The reasons of connections on TCP; the first message has the sums."""
    with smcnl.Family() as f:
        out = f.nests(smcnl.FBACK)
        h.equal([i for i, r in enumerate(out) if 2 in r or 3 in r], [0], "messages with sums")
        for role_, place in ((1, 2), (0, 3)):
            h.equal(out[0][place], sum(r[64] for r in out if r[1] == role_), "sum of a side")
        one = fallback(h, f)[role, PEERNOSMC]
        h.check(one[64] == before + 1 and one[5] == min(one[64], 65535) and one[65],
                f"{one}, before {before}")


def count_before(h, role):
    with smcnl.Family() as f:
        h.mark("count", n=fallback(h, f).get((role, PEERNOSMC), {64: 0})[64])


def many(h, port, n):
    """N connections, each in a group of its own; half of them are replaced on request."""
    out = [h.connect(port) for _ in range(n)]
    h.mark("connected")
    h.gate("swap")
    for s in out[:n // 2]:
        h.finish(s)
    out = out[n // 2:] + [h.connect(port) for _ in range(n // 2)]
    h.mark("swapped")
    h.gate("end")
    for s in out:
        h.finish(s)


def interrupted(h, n):
    """A dump in small pieces, while groups come and go."""
    with smcnl.Family(buffer=4096) as f:
        before = [g[1] for g in f.nests(smcnl.LGR)]
        h.check(f.nr_reads > 3, f"{f.nr_reads} reads of {n} groups")
        h.equal((len(before), len(set(before))), (n, n), "groups")
        f.send(f.id, smcnl.LINK, b"", smcnl.NLM_F_REQUEST | smcnl.NLM_F_DUMP)
        answers = f.answers()
        first = next(answers)
        h.mark("began")
        h.gate("go on")
        out = [(cmd, smcnl.decode(data, smcnl.TOP, "link")) for cmd, data in [first, *answers]]
        after = [g[1] for g in f.nests(smcnl.LGR)]
    ids = [a[smcnl.LGR][1] for cmd, a in out if cmd == smcnl.LGR]
    h.equal(len(ids), len(set(ids)), f"groups that are shown twice in {ids}")
    stay = set(before) & set(after)
    h.check(stay and stay <= set(ids), f"groups that stayed: {stay} of {ids}")
    h.check(set(before) != set(after), "no group has come and gone")
    uids = [a[smcnl.LINK][8] for cmd, a in out if cmd == smcnl.LINK]
    h.check(len(uids) == len(set(uids)) > 1, f"link user IDs {uids}")
    group = None
    for cmd, attrs in out:
        if cmd == smcnl.LGR:
            group = attrs[smcnl.LGR][1]
        else:
            h.equal(attrs[smcnl.LINK][64], group, "the group in front of a link")


def malformed():
    """Attributes that no request has: missing parts, twice, too short, too long."""
    for number in (0, 1, 2, 8, 64, 0x3fff):
        for size in (0, 1, 3, 4, 33, 500):
            one = struct.pack("=HH", 4 + size, number) + b"A" * size + b"\0" * (-size % 4)
            yield one
            yield one + one
    yield struct.pack("=HH", 3, 1)
    yield struct.pack("=HH", 400, 1) + b"AAAA"
    yield b"\0"
    yield b"\xff" * 31


def refuses(h, f, send, what):
    send()
    try:
        for _ in f.answers():
            pass
        got = 0
    except OSError as e:
        got = e.errno
    h.check(got in (errno.EINVAL, errno.EPERM, errno.EOPNOTSUPP), f"{what}: errno {got}")


def fuzz(h, f):
    """No malformed request is answered. Unprivileged, so that none changes anything."""
    for cmd in (*range(0, 20), 64, 70, 255):
        for attrs in malformed():
            what = f"command {cmd} with {attrs[:40]!r}"
            for flags in (smcnl.NLM_F_DUMP, smcnl.NLM_F_ACK):
                refuses(h, f, lambda: f.send(f.id, cmd, attrs, smcnl.NLM_F_REQUEST | flags), what)
    # and still answers
    info(h, f)


def orders(h, f):
    """Only what exists can end."""
    group, link = f.nests(smcnl.LGR)[0][1], f.dump(smcnl.LINK)[1][1][smcnl.LINK][1]
    for args in ((group, link + 1), (group ^ 1,), (group ^ 1, link)):
        h.raises(f"end of {args}", errno.ENOENT, f.end_link, *args)
    f.send(f.id, smcnl.END_LINK, struct.pack("=HHBxxx", 5, 1, link),
           smcnl.NLM_F_REQUEST | smcnl.NLM_F_ACK)
    h.raises("end of nothing", errno.EINVAL, lambda: list(f.answers(done=False)))
    h.equal(f.nests(smcnl.LGR)[0][1], group, "the group")


def by_nobody(h, want):
    """What exists, any user sees; not what others did before."""
    with smcnl.Family() as f:
        h.equal([g[1] for g in f.nests(smcnl.LGR)], want, "groups for anybody")
        for cmd in READS:
            f.dump(cmd)
        for cmd in OWNER_READS:
            h.raises(f"dump {cmd} of a user", errno.EPERM, f.dump, cmd)
        h.raises("events of a user", errno.EPERM, f.join)
        h.raises("end of a group by a user", errno.EPERM, f.end_link, want[0])
        fuzz(h, f)


def nothing(h, where, group=None):
    with smcnl.Family() as f:
        info(h, f)
        if group:
            h.raises(f"end of a group of another than {where}", errno.ENOENT, f.end_link, group)
        h.equal((f.dump(smcnl.LGR), f.dump(smcnl.LINK), f.dump(smcnl.FBACK)), ([], [], []),
                f"groups, links, reasons in {where}")
        stats = f.nests(smcnl.STATS)[0]
        h.check(not any(stats[2][i] for i in range(7, 22)), f"counters of {where}: {stats}")
        for device in f.nests(smcnl.DEV):
            complete(h, smcnl.DEV, device)
            h.equal((device[2], device[8][3]), (0, 0), f"what a device is for {where}")
            # there are links in the first namespace, which has the device
            h.equal((64 in device, device[8][6]), (False, 0), f"counts of {device} in {where}")


def in_user_namespace(h):
    nothing(h, "a user namespace")
    # the owner sees what happens there
    with smcnl.Family() as f:
        for cmd in OWNER_READS:
            h.equal(f.dump(cmd), [], f"dump {cmd} of the owner")
        f.join()


def elsewhere(h):
    """Others see the same; another namespace has groups and counters of its own."""
    with smcnl.Family() as f:
        want = [g[1] for g in f.nests(smcnl.LGR)]
        h.check(want, "no group to hide")
        orders(h, f)
        netns.in_child(h, by_nobody, want, uid=65534)
        netns.apart(h, in_user_namespace)
        h.equal(ctypes.CDLL(None).unshare(CLONE_NEWNET), 0, "unshare")
        nothing(h, "a network namespace", want[0])
        # a socket stays where it was made
        h.equal([g[1] for g in f.nests(smcnl.LGR)], want, "groups of the first namespace")


def numbered(f, space, attrs):
    """Attributes by number, with numbers for names, as smcnl has them."""
    out = {}
    for name, value in attrs.items():
        spec = f.attr_sets[space][name]
        if isinstance(value, dict):
            value = numbered(f, spec["nested-attributes"], value)
        elif "enum" in spec:
            value = f.consts[spec["enum"]].entries[value].value
        elif spec.byte_order == "big-endian":
            value = socket.htonl(value)
        elif spec.get("display-hint") == "ipv6":
            value = ipaddress.ip_address(value).packed
        out[spec.value] = value
    return out


def reads(h, f):
    """Each dump is the same in both ways, once counters rest."""
    with smcnl.Family() as own:
        for name in ("get-sys-info", "get-lgr-smcr", "get-link-smcr", "get-dev-smcr", "get-stats",
                     "get-fback-stats", "dump-counters"):
            cmd, seen = f.ops[name].req_value, {}

            def same():
                # the library takes no second kind of message in a dump
                seen["own"] = [attrs for got, attrs in own.dump(cmd) if got == cmd]
                seen["by the specification"] = [numbered(f, "top", m) for m in f.dump(name, {})]
                return seen["own"] == seen["by the specification"]
            h.wait(same, f"{name} to be the same", 20)
            h.check(seen["own"], f"{name}: empty")
        for name in ("get-lgr-smcd", "get-dev-smcd", "dump-unfit"):
            h.equal(f.dump(name, {}), [], name)
        # scenarios before may have left more
        h.check("peernosmc" in [m["event"]["reason"] for m in f.dump("dump-history", {})],
                "dump-history")


def remembered(h, f):
    """A service that refuses an offer is remembered until it is forgotten."""
    f.do("flush-peers", {})
    h.raises("a closed port", errno.ECONNREFUSED, h.connect, CLOSED)
    services = [m["event"] for m in f.dump("dump-peers", {})]
    h.equal([(e["peer-port"], e["reason"]) for e in services], [(CLOSED, "peernosmc")],
            "dump-peers")
    f.do("forget-peer", {"peer-addr": ipaddress.ip_address(services[0]["peer-addr"]).packed})
    h.equal(f.dump("dump-peers", {}), [], "what is left of it")


def fails(h, want, f, name, attrs):
    from lib import NlError
    try:
        f.do(name, attrs)
        got = 0
    except NlError as e:
        got = e.error
    h.equal(got, want, f"{name} {attrs}")


def by_specification(h, source):
    """Dumps, peers, rules, EIDs, settings and PNETIDs by the names of the specification."""
    f = specified.family(source)
    reads(h, f)
    remembered(h, f)
    rule = {"action": 1, "port-first": 7, "port-last": 9,
            "peer-addr": bytes(10) + b"\xff\xff\n\0\0\0", "prefix": 104, "uid": 1000}
    f.do("add-policy", dict(rule))
    fails(h, errno.EEXIST, f, "add-policy", dict(rule))
    shown = f.dump("dump-policy", {})
    h.equal(shown, [{**rule, "id": shown[0]["id"], "hits": 0}], "rules")
    fails(h, errno.ERANGE, f, "add-policy", {"action": 2})
    f.do("del-policy", {"id": shown[0]["id"]})
    fails(h, errno.ENOENT, f, "del-policy", {"id": shown[0]["id"]})
    eid = "SMC-BENCH.SPEC".ljust(32)
    f.do("add-ueid", {"entry": eid})
    h.equal(f.dump("dump-ueid", {}), [{"entry": eid}], "EIDs")
    f.do("remove-ueid", {"entry": eid})
    h.equal(f.dump("dump-ueid", {}), [], "EIDs")
    before = f.dump("dump-hs-limitation", {})[0]["enabled"]
    for name, want in (("enable-hs-limitation", 1), ("disable-hs-limitation", 0)):
        f.do(name, {})
        h.equal(f.dump("dump-hs-limitation", {}), [{"enabled": want}], name)
    f.do("enable-hs-limitation" if before else "disable-hs-limitation", {})
    fails(h, errno.ENOENT, f, "forget-peer", {"peer-addr": bytes(16)})
    fails(h, errno.ENOENT, f, "stop-dev", {"ib-name": "none0"})
    group = f.dump("get-lgr-smcr", {})[0]["lgr-smcr"]["id"]
    fails(h, errno.ENOENT, f, "end-link", {"lgr-id": group ^ 1})
    pnet = specified.family(source, "smc_pnetid")
    entry = {"name": "SPEC1", "ethname": "lo"}
    pnet.do("add", dict(entry))
    h.equal(pnet.dump("get", {}), [{**entry, "ibname": "n/a", "ibport": 255}], "PNETIDs")
    pnet.do("del", {"name": "SPEC1"})
    h.equal(pnet.dump("get", {}), [], "PNETIDs")


def moved(t):
    """Returns what both ends say about one link."""
    port = 5830
    s = t.half(t.a, ends, port=port, is_server=True, n_out=N_IN, n_in=N_OUT)
    s.expect("ready", t.left())
    s.expect("listening", t.left())
    c = t.half(t.b, ends, port=port, is_server=False, n_out=N_OUT, n_in=N_IN)
    c.expect("ready", t.left())
    c.gate("go")
    t.expect_all("moved", s, c)
    for p in (s, c):
        p.gate("look")
    a, b = [p.expect("looked", t.left()) for p in (s, c)]
    for what in ("uid", "gid", "qpn"):
        t.equal(a[what], b[what][::-1], f"{what} at both ends")
        t.check(all(a[what]), f"{what}: {a[what]}")
    t.wait_all(t.half(t.a, elsewhere))
    # a service that refuses an offer is remembered for a 64th of it
    t.set(t.b, peer_memory_ms=3600000)
    t.wait_all(t.half(t.b, by_specification, source=source(t)))
    for p in (s, c):
        p.gate("end")
    t.wait_all(s, c)


def source(t):
    """The kernel's sources in a machine. Their schema fits the specifications."""
    from smcvm import kernel
    path = kernel.script("path", "source-6.12")
    kernel.run([os.path.join(kernel.TOP, "scripts/gen-netlink"), "--check",
                os.path.join(path, "Documentation/netlink/genetlink-legacy.yaml")])
    return t.guest_path(path)


def plain(t, server_family, client_family, vm, role):
    """One end has no SMC: the other one counts the reason."""
    before = t.half(vm, count_before, role=role)
    n = before.expect("count", t.left())["n"]
    t.wait_all(before)
    s = t.half(t.a, stream_server, server_family, port=5832, n_in=1000, n_out=1000)
    s.expect("listening", t.left())
    c = t.half(t.b, stream_client, client_family, port=5832, n_in=1000, n_out=1000)
    t.expect_all("moved", s, c)
    for p in (s, c):
        p.gate("end")
    t.wait_all(s, c)
    t.wait_all(t.half(vm, counted, role=role, before=n))


def run(t):
    t.no_groups()
    watches = [t.half(vm, watch, role=role) for vm, role in ((t.a, 1), (t.b, 0))]
    t.expect_all("watching", *watches)
    t.step("reasons for TCP")
    plain(t, "tcp", None, t.b, 0)
    plain(t, None, "tcp", t.a, 1)
    t.step("one link")
    moved(t)
    t.no_groups()
    for w in watches:
        w.gate("all")
    t.wait_all(*watches)
    t.step("dumps of many groups")
    for vm in (t.a, t.b):
        t.set(vm, smcr_max_conns_per_lgr=1, lgr_idle_ms=0)
    s = t.half(t.a, serve, port=5831)
    s.expect("listening", t.left())
    c = t.half(t.b, many, port=5831, n=MANY)
    c.expect("connected", t.left())
    d = t.half(t.b, interrupted, n=MANY)
    d.expect("began", t.left())
    c.gate("swap")
    c.expect("swapped", t.left())
    d.gate("go on")
    t.wait_all(d)
    c.gate("end")
    t.wait_all(c)
    s.gate("stop")
    t.wait_all(s)
