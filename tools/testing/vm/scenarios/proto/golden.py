# SPDX-License-Identifier: GPL-2.0
"""An independent reader finds correct exchanges of version 1 in both dialects and of version 2.1.

The scenario records a link group with two links from first contact to end. Code that shares
nothing with the module reads the messages and checks an order that the RFC allows.
tools/testing/kunit/vectors makes golden vectors of the captures, which stay in the directory
SMC_GOLDEN if there is one.

covers: CLC-07 FC-10 FC-11 SC-04 SC-08 RMB-23 SL-14 SL-15 ADDL-12 ADDL-16
"""
import os
from collections import Counter

from common import parallel, requests, serve

kernels = ("stock",)
ipv = (4,)
dialects = (0,)
nics = 2
timeout = 150
PORT = 5370
EID = "SMC-BENCH.GOLDEN"
HANDSHAKE = ("proposal", "accept", "confirm")
LINK = ("confirm_link", "confirm_link_reply")
ADD_LINK = ("add_link", "add_link_reply")
ADD_LINK_CONT = ("add_link_cont", "add_link_cont_reply")
TEST_LINK = 7


def rings(t, **how):
    """A connection with rings of a size of their own, whose RMBs go when it has ended."""
    before = [t.memory_regions(vm) for vm in (t.a, t.b)]
    size = {"sndbuf": 1 << 16, "rcvbuf": 1 << 16}
    s = t.half(t.a, serve, ipv=how["ipv"], port=PORT + 1, count=1, **size)
    s.expect("listening", t.left())
    t.wait_all(s, t.half(t.b, requests, port=PORT + 1, **how, **size))
    t.wait(lambda: [t.memory_regions(vm) for vm in (t.a, t.b)] == before, "end of its RMBs", 20)


def exchange(t, name, links=2, ipv=4, addr=None):
    """Record a link group from first contact to its end, and check its messages."""
    from smcvm import golden
    from smcvm.links import active
    t.step(name)
    where = os.environ.get("SMC_GOLDEN") or t.pair.dir
    paths = [os.path.join(where, f"{name}.{seg}.pcap") for seg in range(nics)]
    how = {"ipv": ipv, "addr": addr}
    t.no_groups()
    for seg, path in enumerate(paths):
        t.relay.capture(path, seg)
    s = t.half(t.a, serve, ipv=ipv, port=PORT, count=1)
    s.expect("listening", t.left())
    c = t.half(t.b, parallel, port=PORT, n=1, rounds=1, **how)
    c.expect("open", t.left())
    t.wait(lambda: all(len(active(vm)) == links for vm in (t.a, t.b)), f"{links} links", 30)
    rings(t, **how)
    probed = t.relay.rule(llc=TEST_LINK)
    t.wait(lambda: t.relay.hits(probed)[0] >= 2, "TEST LINK and its reply", 20)
    t.relay.unrule(probed)
    c.gate("ask")
    t.wait_all(s, c)
    t.no_groups()
    for seg in range(nics):
        t.relay.capture(None, seg)
    messages = list(golden.read(paths, name.endswith("rfc")))
    look(t, name, messages, links)
    return messages


def look(t, name, messages, links):
    """The required order of messages; others may come at any time."""
    is_v2 = name.startswith("v2")
    clc = [m for m in messages if m.kind == "clc"]
    t.equal([m.name for m in clc], [*HANDSHAKE] * 2, f"{name}: CLC messages")
    t.equal({m.data[7] >> 4 for m in clc if m.name != "proposal"}, {2 if is_v2 else 1},
            f"{name}: version")
    t.equal([m.says["accept"]["first_contact"] for m in clc if m.name == "accept"],
            [True, False], f"{name}: first contacts")
    want = [*HANDSHAKE, *LINK]
    if links > 1:
        want += [*ADD_LINK, *(() if is_v2 else ADD_LINK_CONT), *LINK]
    said = (m.name for m in messages)
    for what in [*want, *HANDSHAKE]:
        t.check(what in said, f"{name}: no {what} where it belongs: "
                f"{[m.name for m in messages]}")
    look_at_pairs(t, name, messages)
    look_at_keys(t, name, messages)
    t.check(any(m.kind == "cdc" for m in messages), f"{name}: no CDC")


def look_at_pairs(t, name, messages):
    """Replies follow requests, and all requests but the last before the end have one."""
    asked = Counter()
    for m in messages:
        if m.kind == "llc" and m.says["is_reply"]:
            what = 3 - m.sender, m.name.removesuffix("_reply")
            asked[what] -= 1
            t.check(asked[what] >= 0, f"{name}: reply without a request: {m}")
        elif m.kind == "llc":
            asked[m.sender, m.name] += 1
    left = {what for _, what in +asked}
    t.check(left <= {"delete_link", "test_link"}, f"{name}: without a reply: {left}")


def look_at_keys(t, name, messages):
    """No connection uses an RMB before the peer has confirmed to know it."""
    known, is_first = set(), False
    for m in messages:
        if m.name == "accept":
            is_first = m.says["accept"]["first_contact"]
        if m.name in ("accept", "confirm"):
            key = m.sender, m.says["accept"]["rkey"]
            t.check(is_first or key in known, f"{name}: unknown key in {m}")
            known.add(key)
        elif m.name == "confirm_rkey_reply":
            rkey = m.says["confirm_rkey"]
            known |= {(3 - m.sender, x["rkey"]) for x in (rkey["here"], *rkey["other"])}


def is_direct(messages):
    return next(m for m in messages if m.name == "accept").says["accept"]["fce"]["is_direct"]


def version_2(t):
    from smcvm.links import AFAR, afar
    t.check(is_direct(exchange(t, "v2_ipv4")), "way by IPv4 is not direct")
    t.check(is_direct(exchange(t, "v2_ipv6", ipv=6)), "way by IPv6 is not direct")
    for vm in (t.a, t.b):
        t.set(vm, smcr_max_links_per_lgr=1)
    with afar(t, gateway=True):
        for vm, gid in ((t.a, "ffff:0a30:0001"), (t.b, "ffff:0a31:0002")):
            t.wait(lambda vm=vm, gid=gid: gid in vm.run(
                "cat /sys/class/infiniband/rxe0/ports/1/gids/*").out, "GID of the address", 20)
        t.check(not is_direct(exchange(t, "v2_routed", 1, addr=AFAR[0])),
                "way by a gateway is direct")


def run(t):
    if t.family != "smc":
        return
    from smcvm.links import several
    several(t, smcr_testlink_time=1, rmb_idle_ms=100)
    exchange(t, "v1_deployed")
    for vm in (t.a, t.b):
        t.set(vm, dialect=1)
    exchange(t, "v1_rfc", ipv=6)
    for vm in (t.a, t.b):
        t.ueid(vm, EID)
    try:
        version_2(t)
    finally:
        for vm in (t.a, t.b):
            if vm.alive():
                t.ueid(vm, "--flush")
