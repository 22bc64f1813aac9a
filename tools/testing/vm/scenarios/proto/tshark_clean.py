# SPDX-License-Identifier: GPL-2.0
"""An independent dissector finds no malformed SMC message in a capture.

covers: OPT-01 OPT-02 OPT-03 CLC-01 PROP-01 CFRM-03 GEN-04 GEN-05 MAXL-03 LID-02
covers: TMR-10
"""
import os

from common import requests, serve, stream_client, stream_server

OTHER = 3306    # tshark's port of MySQL, as a client's port may belong to a protocol by chance


def check_proposal(t, msg):
    """The form of RFC 7609 A.2.2 for IPv4, with both eye catchers."""
    eye = bytes.fromhex("e2d4c3d9")
    t.equal((msg[:4], msg[4], msg[5:7], msg[-4:]), (eye, 1, b"\0\x34", eye), "Proposal")
    t.equal((msg[7] >> 4, msg[38:40]), (1, b"\0\0"), "version and offset of the Proposal")
    t.equal((msg[40:43], msg[44], msg[47]), (b"\x0a\x2b\0", 24, 0), "subnet of the Proposal")


def run(t):
    if t.family != "smc":
        return
    from smcvm import dissect

    def tshark(*args):
        return dissect.tshark(path, *args).splitlines()

    t.reload(t.a, t.b)  # so that first contact is seen
    path = os.path.join(t.pair.dir, "tshark.pcap")
    n = 400_003
    t.relay.capture(path)
    t.in_step(stream_server, stream_client, OTHER, n_in=n, n_out=n)
    ended = t.relay.rule(llc=4)
    for vm in (t.a, t.b):
        t.set(vm, lgr_idle_ms=100)
    t.both(serve, requests, 5111, sargs={"count": 10}, cargs={"n": 10})
    t.wait(lambda: t.relay.hits(ended)[0], "DELETE LINK of the idle link group", 20)
    t.reload(t.a, t.b)
    t.relay.capture(None)
    smc = tshark("-Y", "smc")
    # The dissector knows the Proposal of deployed peers only, which has a growth
    # area: it runs over the end of the 52 bytes of RFC 7609 A.2.2.
    bad = tshark("-Y", "_ws.malformed && !(smc && tcp.len == 52)")
    short = tshark("-Y", "smc && tcp.len == 52", "-T", "fields", "-e", "tcp.payload")
    for line in short:
        check_proposal(t, bytes.fromhex(line.replace(":", "")))
    t.check(not bad, "malformed:\n" + "\n".join(bad[:20]))
    text = "\n".join(smc)
    for what in ("Proposal", "Accept", "Confirm", "Confirm Link", "Confirm Link(Resp)",
                 "Add Link", "Add Link(Resp)", "CDC Message", "Delete Link"):
        t.check(what in text, f"no {what} in the capture of {len(smc)} SMC messages:\n"
                + "\n".join(smc[:60]))
    # a busy host has some segments sent again; the dissector of CLC sees only the first of each
    once = ("!tcp.analysis.retransmission && !tcp.analysis.fast_retransmission && "
            "!tcp.analysis.spurious_retransmission")
    options = tshark("-Y", f"tcp.flags.syn == 1 && tcp.options.experimental.exid == 0xe2d4 && "
                     f"{once}")
    t.equal(len(options), 22, "SYN and SYN-ACK segments with the option")
    # no byte of the application by TCP: all TCP payload is CLC messages
    plain = tshark("-Y", f"tcp.len > 0 && !smc && {once} && "
                   f"(tcp.port == {OTHER} || tcp.port == 5111)")
    t.check(not plain, "TCP payload that is no CLC message:\n" + "\n".join(plain[:20]))
    t.note(f"{len(smc)} SMC messages")
