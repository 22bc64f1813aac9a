# SPDX-License-Identifier: GPL-2.0
"""An independent dissector names the same fields and values as the module's decoders.

It reads every message of a link group with two links, one of which is deleted, with urgent
bytes and half closes; a Decline; and CLC of version 2. In version 1 it finds no malformed message,
and no payload by TCP on connections that use SMC.

covers: PROP-02 OPT-01 OPT-02 OPT-03 CLC-01 PROP-01 CFRM-03 GEN-04 GEN-05 MAXL-03 LID-02
covers: TMR-10
"""
import os

from common import parallel, requests, serve
from streams import client, server  # noqa: F401, halves

kernels = ("stock",)
dialects = (0,)
nics = 2
timeout = 90
PORT = 5980
DECLINED = str(PORT + 2)
OTHER = 3306    # tshark's port of MySQL, as a client's port may belong to a protocol by chance
EID = "SMC-BENCH.FIELDS"
OPTION = "0xe2d4"
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
    s = t.half(t.a, serve, port=OTHER, count=1)
    s.expect("listening", t.left())
    c = t.half(t.b, parallel, port=OTHER, n=1, rounds=1)
    c.expect("open", t.left())
    probed = t.relay.rule(llc=7)
    t.wait(lambda: t.relay.hits(probed)[0] > 1, "TEST LINK and its reply", 20)
    t.relay.unrule(probed)
    c.gate("ask")
    t.wait_all(s, c)


def declined(t):
    t.a.run("rdma link delete rxe0")
    t.both(serve, requests, int(DECLINED), sargs={"count": 1})
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


def check_proposal(t, msg):
    """The form of RFC 7609 A.2.2 for IPv4, with both eye catchers."""
    eye = bytes.fromhex("e2d4c3d9")
    t.equal((msg[:4], msg[4], msg[5:7], msg[-4:]), (eye, 1, b"\0\x34", eye), "Proposal")
    t.equal((msg[7] >> 4, msg[38:40]), (1, b"\0\0"), "version and offset of the Proposal")
    t.equal((msg[40:43], msg[44], msg[47]), (b"\x0a\x2b\0", 24, 0), "subnet of the Proposal")


def clean(t, path):
    """No message is malformed, each SYN has the option, and TCP carries only CLC."""
    from smcvm import dissect
    again = ("retransmission", "fast_retransmission", "spurious_retransmission")
    names = ["_ws.malformed", "smc", "tcp.len", "tcp.payload", "tcp.flags.syn", "tcp.srcport",
             "tcp.dstport", "tcp.options.experimental.exid", *(f"tcp.analysis.{x}" for x in again)]
    text = dissect.tshark(path, "-Y", "smc || tcp || _ws.malformed", "-T", "fields", "-E",
                          "separator=|", *(x for name in names for x in ("-e", name)))
    syns, proposals = 0, 0
    for line in text.splitlines():
        f = dict(zip(names, line.split("|")))
        # The dissector knows the Proposal of deployed peers only, which has a growth
        # area: it runs over the end of the 52 bytes of RFC 7609 A.2.2.
        if f["smc"] and f["tcp.len"] == "52":
            check_proposal(t, bytes.fromhex(f["tcp.payload"].replace(":", "")))
            proposals += 1
        else:
            t.check(not f["_ws.malformed"], f"malformed: {line}")
        if f["tcp.flags.syn"] in ("1", "True"):
            t.equal(f["tcp.options.experimental.exid"], OPTION, f"option of {line}")
            syns += 1
        # a busy host has some segments sent again; the dissector of CLC sees the first of each
        is_plain = f["tcp.len"] not in ("", "0") and not f["smc"] and \
            not any(f[f"tcp.analysis.{x}"] for x in again)
        t.check(not is_plain or DECLINED in (f["tcp.srcport"], f["tcp.dstport"]),
                f"TCP payload that is no CLC message: {line}")
    t.check(syns >= 14 and proposals >= 7, f"{syns} SYN, {proposals} Proposals in the capture")


def record(t, name, *parts):
    path = os.path.join(t.pair.dir, name + ".pcap")
    t.relay.capture(path)
    for part in parts:
        part(t)
    t.relay.capture(None)
    return path


def run(t):
    if t.family != "smc":
        return
    from smcvm import dissect
    t.no_groups()
    first = record(t, "v1", two_links, idle, declined)
    clean(t, first)
    seen = dissect.compare(first)
    t.check(not KINDS - set(seen), f"not in the capture: {KINDS - set(seen)}")
    v2 = dissect.compare(record(t, "v2", version_2))
    t.check(not {"proposal", "accept", "confirm"} - set(v2), f"of version 2: {v2}")
    t.note(", ".join(f"{n} {kind}" for kind, n in sorted(seen.items())))
