# SPDX-License-Identifier: GPL-2.0
"""An independent dissector names the same fields and values as the module's decoders.

It reads every message of a link group with two links, one of which is deleted, with urgent
bytes and half closes; a Decline; and CLC of version 2.

covers: PROP-02
"""
import os

from common import parallel, requests, serve
from streams import client, server  # noqa: F401, halves

kernels = ("stock",)
dialects = (0,)
nics = 2
timeout = 90
PORT = 5980
EID = "SMC-BENCH.FIELDS"
KINDS = {"proposal", "accept", "confirm", "decline", "confirm_link", "add_link", "add_link_cont",
         "delete_link", "confirm_rkey", "delete_rkey", "test_link", "cdc"}


def two_links(t):
    from smcvm.links import Streams, give_up, several
    several(t, smcr_testlink_time=3, rmb_idle_ms=100)
    x = Streams(t, PORT)
    x.have(2)
    x.more()
    # rings of another size: an RMB of their own, which goes again
    gone = t.relay.rule(llc=9)
    t.both(serve, requests, PORT + 1, sargs={"count": 1, "sndbuf": 1 << 16, "rcvbuf": 1 << 16},
           cargs={"sndbuf": 1 << 16, "rcvbuf": 1 << 16})
    t.wait(lambda: t.relay.hits(gone)[0] > 1, "DELETE RKEY and its reply", 20)
    t.relay.unrule(gone)
    give_up(t.a)
    x.have(2)
    x.more()
    x.stop()
    t.wait(lambda: not any(map(t.queue_pairs, (t.a, t.b))), "end of the link group", 20)


def idle(t):
    s = t.half(t.a, serve, port=PORT + 4, count=1)
    s.expect("listening", t.left())
    c = t.half(t.b, parallel, port=PORT + 4, n=1, rounds=1)
    c.expect("open", t.left())
    probed = t.relay.rule(llc=7)
    t.wait(lambda: t.relay.hits(probed)[0] > 1, "TEST LINK and its reply", 20)
    t.relay.unrule(probed)
    c.gate("ask")
    t.wait_all(s, c)


def declined(t):
    t.a.run("rdma link delete rxe0")
    t.both(serve, requests, PORT + 2, sargs={"count": 1})
    t.a.run("rdma link add rxe0 type rxe netdev eth0")
    t.pair.wait_gid(t.a, 0)


def version_2(t):
    try:
        for vm in (t.a, t.b):
            t.ueid(vm, EID)
        t.both(serve, requests, PORT + 3, sargs={"count": 2}, cargs={"n": 2})
    finally:
        for vm in (t.a, t.b):
            t.ueid(vm, "--flush")


def run(t):
    if t.family != "smc":
        return
    from smcvm import dissect
    path = os.path.join(t.pair.dir, "fields.pcap")
    t.no_groups()
    t.relay.capture(path)
    two_links(t)
    idle(t)
    declined(t)
    version_2(t)
    t.relay.capture(None)
    seen = dissect.compare(path)
    t.check(not KINDS - set(seen), f"not in the capture: {KINDS - set(seen)}")
    t.note(", ".join(f"{n} {kind}" for kind, n in sorted(seen.items())))
