# SPDX-License-Identifier: GPL-2.0
"""Malformed Proposals of version 2 cause a reset or a Decline and leave no state.

Offsets and counts are 0, maximal and wrapping; areas overlap or leave the message; EIDs and
GIDs are invalid; limits are impossible. A message that cannot be parsed resets its
connection. One that can be parsed but not agreed on is declined with the right code, and
the connection goes on as TCP. After each one its sender, with a correct Proposal, and
another host get a link group.

covers: ERR-15 ERR-16 SEC-08 DCLN-08 CLC-02 CLC-05 PROP-05 PROP-06
"""
import struct

from common import serve
from rawpeer import DECLINE, EYE, PATH_NONE, PATH_R, PROPOSAL, RawHost

ipv = (4,)
dialects = (0,)
timeout = 150
PORT = 5360
EID = "SMC-BENCH.LIAR"
PATH_D, PATH_BOTH = 1, 3
RESET, TAKEN = "reset", "Accept"
NO_SMC, NO_EID, MAX_CONNS, MAX_LINKS, NO_ROUTE, PREFIX = (
    0x03010000, 0x03030008, 0x0303000a, 0x0303000b, 0x030e0000, 0x03070000)
# where things are: in every Proposal, and in the one that has the extension at 80
LENGTH, FLAGS, IP_OFFSET, EXT_OFFSET = 5, 7, 38, 50
NR_EIDS, NR_GIDS, RELEASE, ISM_OFFSET, GID, CONNS, LINKS, FIRST_EID = (
    80, 81, 83, 86, 88, 104, 105, 120)


def with_(msg, *changes):
    """A copy with other bytes: (place, bytes or a number of one byte) each."""
    msg = bytearray(msg)
    for at, what in changes:
        what = bytes([what]) if isinstance(what, int) else what
        msg[at:at + len(what)] = what
    return bytes(msg)


def u16(n):
    return struct.pack("!H", n)


def paths(v2, v1, version=2):
    return version << 4 | v2 << 2 | v1


def eids(msg, *names):
    """With other EIDs, and as long as that makes it."""
    msg = msg[:FIRST_EID] + b"".join(names) + EYE
    return with_(msg, (NR_EIDS, len(names)), (LENGTH, u16(len(msg))))


def ipv4(*addr):
    return bytes(10) + b"\xff\xff" + bytes(addr)


def offsets(good):
    yield "no extension", with_(good, (EXT_OFFSET, u16(0))), RESET
    for n in (1, 27, 61, 200, 0x7fff, 0x8000, 0xffcc, 0xffe4, 0xfffe, 0xffff):
        yield f"extension at offset {n:#x}", with_(good, (EXT_OFFSET, u16(n))), RESET
    yield "extension as late as possible", with_(good, (EXT_OFFSET, u16(60))), NO_EID
    for n in (len(good) - 1, len(good) + 1, 52, 51, 0, 1, 0x7fff, 0xffff):
        yield f"length {n}", with_(good, (LENGTH, u16(n))), RESET
    yield "longest, without its trailer", with_(good + bytes(500), (LENGTH, u16(652))), RESET
    yield "longest, and the rest does not come", with_(good, (LENGTH, u16(652))), RESET


def counts(good):
    yield "no EID", eids(good), NO_EID
    for n in (2, 8, 9, 127, 128, 255):
        yield f"count of EIDs {n}", with_(good, (NR_EIDS, n)), RESET
    names = [b"OTHER.%d" % i for i in range(8)]
    names = [x.ljust(32) for x in names]
    yield "8 EIDs, none of ours", eids(good, *names), NO_EID
    yield "8 EIDs, the last is ours", eids(good, *names[:7], EID.encode().ljust(32)), TAKEN
    yield "9 EIDs", eids(good, *names, EID.encode().ljust(32)), RESET
    yield "GIDs of SMC-D that are not offered", with_(good, (NR_GIDS, 255)), TAKEN
    dism = with_(good, (FLAGS, paths(PATH_BOTH, PATH_NONE)))
    yield "SMC-D, its extension left out", dism, TAKEN
    yield "9 GIDs of SMC-D", with_(dism, (NR_GIDS, 9)), RESET
    for n in (1, 31, 32, 64, 0x7fff, 0x8000, 0xffa8, 0xffff):
        yield f"extension of SMC-D at {n:#x}", with_(dism, (ISM_OFFSET, u16(n))), RESET


def names(good):
    for name in (b"smc-bench", b".SMC", b"-SMC", b" SMC", b"SMC BENCH", b"SMC\0", b"SMC\xe9",
                 b"SMC_BENCH", b"", b"\0" * 32, b"\xff" * 32):
        yield f"EID {name}", eids(good, name.ljust(32)), RESET
    yield "EID that is none behind ours", eids(good, EID.encode().ljust(32),
                                               b"none of them".ljust(32)), RESET


def addresses(good, server):
    yield "no GID", with_(good, (GID, bytes(16))), RESET
    for what, gid in (("multicast", ipv4(224, 0, 0, 1)), ("broadcast", ipv4(255, 255, 255, 255)),
                      ("loopback", ipv4(127, 0, 0, 1)), ("no address", ipv4(0, 0, 0, 0)),
                      ("the server's own", ipv4(*server)),
                      ("broadcast of the LAN", ipv4(*server[:3], 255)),
                      ("IPv6 loopback", bytes(15) + b"\1"),
                      ("IPv6 multicast", b"\xff\x02" + bytes(13) + b"\1"),
                      ("all ones", b"\xff" * 16)):
        yield f"GID: {what}", with_(good, (GID, gid)), NO_ROUTE


def limits(good):
    for n in (0, 1, 15):
        yield f"{n} connections", with_(good, (CONNS, n)), MAX_CONNS
    yield "no links", with_(good, (LINKS, 0)), MAX_LINKS
    yield "255 links", with_(good, (LINKS, 255)), TAKEN
    yield "release 0 has no limits", with_(good, (RELEASE, 0), (CONNS, 0), (LINKS, 0)), TAKEN
    yield "a release to come", with_(good, (RELEASE, 0xf0)), TAKEN


def versions(good):
    yield "nothing offered", with_(good, (FLAGS, paths(PATH_NONE, PATH_NONE))), RESET
    yield "SMC-D only", with_(good, (FLAGS, paths(PATH_D, PATH_NONE))), NO_SMC
    yield "version 1", with_(good, (FLAGS, paths(PATH_R, PATH_NONE, 1))), RESET
    yield "a version to come", with_(good, (FLAGS, paths(PATH_R, PATH_NONE, 15))), TAKEN


def areas(two, size):
    """The IP area on the extension, outside, and with counts of its own that lie."""
    yield "both versions", two, TAKEN
    for at in (0, 1, 39, 40, 41, 48, 80, size - 41, size - 39, size, 0x7fff, 0x8000,
               0xffd8, 0xffff):
        yield f"IP area at offset {at:#x}", with_(two, (IP_OFFSET, u16(at))), RESET
    ip = size  # of the trailer before
    for n in (1, 8, 9, 255):
        yield f"{n} IPv6 prefixes", with_(two, (ip - 4 + 7, n)), RESET
    for n in (33, 255):
        yield f"prefix of {n} bits", with_(two, (ip - 4 + 4, n)), RESET
    yield "no GID of version 1", with_(two, (16, bytes(16))), RESET
    yield "multicast MAC address", with_(two, (32, b"\1")), RESET


def answer(h, c, msg):
    """The outcome of a connection whose client sends MSG."""
    c.send(msg)
    # nothing but a CLC message or the end can come
    h.check(c.host.until(lambda: len(c.data) >= 8 or c.fin or c.reset, h.within(40)),
            "no answer")
    if c.reset or c.fin:
        return RESET if c.reset else "the end of the stream"
    got = c.recv_clc(h.within(20))
    if got[4] != DECLINE:
        c.abort()
        return TAKEN
    # TCP now: a request of 0 bytes for 4
    c.send(struct.pack("!II", 0, 4))
    h.equal(len(c.recv(4, h.within(20))), 4, "bytes behind the Decline")
    c.close()
    h.equal(c.ended(h.within(20)), "fin", "end behind the Decline")
    return struct.unpack_from("!I", got, 16)[0]


def liar(h, port):
    """All of them; those that were answered otherwise, and how many there were."""
    host = RawHost(ip="10.43.0.83", mac="525400437783")
    good = host.proposal_v2(host.gid(), EID)
    two = host.with_v1(good)
    server = [int(x) for x in h.config["peer4"].split(".")]
    cases = [*offsets(good), *counts(good), *names(good), *addresses(good, server),
             *limits(good), *versions(good), *areas(two, len(good))]
    wrong, taken = [], 0
    for what, msg, want in cases:
        got = answer(h, host.connect(h.config["peer4"], port), msg)
        if got != want:
            wrong.append((what, got, want))
        taken += got == TAKEN
        if answer(h, host.connect(h.config["peer4"], port), good) != TAKEN:
            wrong.append((what, "declined afterwards", TAKEN))
        s = h.connect(port)
        h.request(s)
        h.finish(s)
    return wrong, len(cases)


def run(t):
    if t.family != "smc":
        return
    # an idle group of another version would be a second one in the end
    t.reload(t.a, t.b)
    for vm in (t.a, t.b):
        t.ueid(vm, EID)
    t.set(t.a, clc_timeout_ms=1500 * t.slow)
    try:
        before = {k: t.stat(t.a, k) for k in ("peer_remembered", "server_smc")}
        s = t.half(t.a, serve, port=PORT)
        s.expect("listening")
        c = t.half(t.b, liar, port=PORT)
        t.wait_all(c)
        wrong, count = c.value
        s.gate("stop")
        t.wait_all(s)
        t.check(not wrong, "answered otherwise (what, got, want):\n"
                + "\n".join(map(str, wrong)))
        t.equal(t.stat(t.a, "peer_remembered"), before["peer_remembered"], "peers remembered")
        t.equal(t.stat(t.a, "server_smc"), before["server_smc"] + count,
                "connections of the other host over SMC-R")
        # its group is the only one
        t.wait(lambda: t.queue_pairs(t.a) == 1, "end of the malformed sender's handshakes", 20)
        t.no_sockets(t.a, PORT)
        t.note(f"{count} Proposals")
    finally:
        for vm in (t.a, t.b):
            if vm.alive():
                t.ueid(vm, "--flush")
