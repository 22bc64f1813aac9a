# SPDX-License-Identifier: GPL-2.0
"""Malformed Accepts and Confirms of version 2 cause a reset or a Decline and leave no state.

The peer is a raw one, first of the server, then of the client. A message that cannot be
parsed resets its connection. One that can be parsed but not agreed on is declined with the
right code, and the connection goes on as TCP. After each one the same peer with a correct
message gets as far as RDMA, and another host gets a connection over RDMA.

The Accept has the name of the server's UTS namespace, as that of a container.

covers: ERR-05 ERR-15 ERR-16 SEC-08 CLC-02 CLC-05 CFRM-04 SC-10
"""
import socket
import struct

from common import serve_any
from halves import libc
from rawpeer import ACCEPT, CONFIRM, DECLINE, EYE, RawHost

ipv = (4,)
dialects = (0,)
timeout = 100
PORT = 5365
EID = "SMC-BENCH.LIAR"
RESET, TAKEN = "reset", "taken"
NO_EXT, NO_EID, RELEASE_ERR, MAX_CONNS, MAX_LINKS, UNKNOWN, OTHER_VERSION, NO_ROUTE, SYNC = (
    0x03030004, 0x03030008, 0x03030009, 0x0303000a, 0x0303000b, 0x03040000, 0x030c0000,
    0x030e0000, 0x04000000)
# where things are
LENGTH, GID, MAC, QPN, INDEX, SIZE_MTU, EID_AT, FCE, GIDS = 5, 16, 32, 38, 45, 50, 64, 104, 156
FCE_HOST, NAME, CLONE_NEWUTS = FCE + 4, "container", 0x04000000
FCE_RELEASE, FCE_CONNS, FCE_LINKS = FCE + 1, FCE + 36, FCE + 37
RELEASE = 2 << 4    # and the operating system
HOST = "10.43.0.84"
qpn = 0x100


def with_(msg, *changes):
    """A copy with other bytes: (place, bytes or a number of one byte) each."""
    msg = bytearray(msg)
    for at, what in changes:
        what = bytes([what]) if isinstance(what, int) else what
        msg[at:at + len(what)] = what
    return bytes(msg)


def cut(msg, size):
    """Only so many bytes in front of the trailer."""
    return with_(msg[:size] + EYE, (LENGTH, struct.pack("!H", size + 4)))


def ipv4(*addr):
    return bytes(10) + b"\xff\xff" + bytes(addr)


def unreadable(good):
    """What both messages have in common."""
    for n in (68, 100, FCE - 1):
        yield f"{n} bytes", cut(good, n), RESET
    for n in (0, 1, 35, 36, 51):
        yield f"{n} bytes of the extension", cut(good, FCE + n), RESET
    for n in (0, 7, 11, 12, 67, 69, 107):
        yield f"length {n}", with_(good, (LENGTH, struct.pack("!H", n))), RESET
    yield "the rest does not come", with_(good, (LENGTH, struct.pack("!H", 0xffff))), RESET
    yield "no GID", with_(good, (GID, bytes(16))), RESET
    yield "multicast MAC address", with_(good, (MAC, 1)), RESET
    yield "element 0", with_(good, (INDEX, 0)), RESET
    for n in (0, 6, 15):
        yield f"MTU {n}", with_(good, (SIZE_MTU, 2 << 4 | n)), UNKNOWN
    for eid in (b"OTHER", b"", EID.lower().encode(), EID.encode() + b"\0"):
        yield f"EID {eid}", with_(good, (EID_AT, eid.ljust(32))), NO_EID
    yield "no EID", with_(good, (EID_AT, bytes(32))), NO_EID
    for n in (2, 15):
        yield f"release {n}", with_(good, (FCE_RELEASE, RELEASE | n)), RELEASE_ERR
    for what, gid in (("multicast", ipv4(224, 0, 0, 1)), ("loopback", ipv4(127, 0, 0, 1)),
                      ("a host out of reach", ipv4(10, 99, 0, 1)),
                      ("IPv6", b"\xfd\x43" + bytes(13) + b"\x54"), ("all ones", b"\xff" * 16)):
        yield f"GID: {what}", with_(good, (GID, gid)), NO_ROUTE


def accepts(host, client):
    good = host.answer_v2(ACCEPT, EID)
    yield from unreadable(good)
    yield "GID: the client's own", with_(good, (GID, ipv4(*client))), NO_ROUTE
    yield "release 0, short extension", with_(cut(good, FCE + 36), (FCE_RELEASE, RELEASE)), TAKEN
    for n in (0, 1, 15):
        yield f"{n} connections", with_(good, (FCE_CONNS, n)), MAX_CONNS
    for n in (0, 3, 255):
        yield f"{n} links", with_(good, (FCE_LINKS, n)), MAX_LINKS
    yield "of a link that is not there", host.answer_v2(ACCEPT, EID, first=False), SYNC


def confirms(host, conns, links):
    good = host.answer_v2(CONFIRM, EID, conns=conns, links=links)
    yield from unreadable(good)
    yield "GID: another one", with_(good, (GID, ipv4(10, 43, 0, 2))), NO_ROUTE
    yield "release 0", with_(good, (FCE_RELEASE, RELEASE)), RELEASE_ERR
    for n in {0, 15, conns - 1, 255} - {conns}:
        yield f"{n} connections", with_(good, (FCE_CONNS, n)), MAX_CONNS
    for n in {0, 2, 255} - {links}:
        yield f"{n} links", with_(good, (FCE_LINKS, n)), MAX_LINKS
    yield "no list of GIDs", cut(good, GIDS), TAKEN
    for n in (2, 9, 255):
        yield f"count of GIDs {n}", with_(good, (GIDS, n)), RESET
    yield "no first contact", host.answer_v2(CONFIRM, EID, first=False), NO_EXT
    yield "version 1", host.accept_or_confirm(CONFIRM), OTHER_VERSION


def outcome(h, c, msg):
    """The reaction to a message of ours: the next message, a Decline, or the end.

    Each has a queue pair of its own: packets to an earlier one do not count.
    """
    global qpn
    qpn += 1
    name = qpn.to_bytes(3, "big")
    c.host.roce.clear()
    c.send(with_(msg, (QPN, name)))

    def is_called():
        return any(packet[5:8] == name for packet in c.host.roce)

    h.check(c.host.until(lambda: len(c.data) >= 8 or c.fin or c.reset or is_called(),
                         h.within(40)), "no answer")
    if is_called():
        c.abort()
        return TAKEN
    if c.reset or c.fin:
        return RESET if c.reset else "the end of the stream"
    got = c.recv_clc(h.within(20))
    if got[4] != DECLINE:
        c.abort()
        return TAKEN
    return struct.unpack_from("!I", got, 16)[0]


def lying_server(h, port):
    """Send the client the number of connections."""
    host = RawHost(ip=HOST, mac="525400437784")
    host.listen(port)
    good = host.answer_v2(ACCEPT, EID)
    client = [int(x) for x in h.config["peer4"].split(".")]
    cases = list(accepts(host, client))
    h.mark("listening", count=2 * len(cases))
    wrong = []
    for what, msg, want in cases:
        for say, is_wanted in ((msg, want), (good, TAKEN)):
            c = host.accept(port, h.left())
            h.equal(c.recv_clc(h.within(20))[4:5], b"\1", "Proposal")
            got = outcome(h, c, say)
            if got != is_wanted:
                wrong.append((what, got, is_wanted))
            if isinstance(got, int):
                c.send(b"over tcp")
                h.equal(c.recv(8, h.within(20)), b"over tcp", "echo behind the Decline")
                c.ended(h.within(20))
                c.close()
    return wrong


def echo_client(h, port, count, addr):
    for _ in range(count):
        try:
            s = h.connect(port, addr)
            s.sendall(h.recv_exact(s, 8))
            s.close()
        except OSError:
            pass


def named_server(h, port):
    """Serve in a UTS namespace, as a container does."""
    h.equal(libc.unshare(CLONE_NEWUTS), 0, "unshare()")
    socket.sethostname(NAME)
    return serve_any(h, port)


def lying_client(h, port):
    host = RawHost(ip=HOST, mac="525400437784")

    def begin():
        c = host.connect(h.config["peer4"], port)
        c.send(host.proposal_v2(host.gid(), EID))
        accept = c.recv_clc(h.within(20))
        h.equal((accept[4], len(accept)), (ACCEPT, 160), "Accept")
        h.equal(accept[FCE_HOST:FCE_HOST + 32], NAME.encode().ljust(32), "name of the host")
        return c, accept[FCE_CONNS], accept[FCE_LINKS]

    c, conns, links = begin()
    c.abort()
    good = host.answer_v2(CONFIRM, EID, conns=conns, links=links)
    wrong = []
    cases = list(confirms(host, conns, links))
    for what, msg, want in cases:
        for say, is_wanted in ((msg, want), (good, TAKEN)):
            c, _, _ = begin()
            got = outcome(h, c, say)
            if got != is_wanted:
                wrong.append((what, got, is_wanted))
            if isinstance(got, int):
                # TCP now: a request of 0 bytes for 4
                c.send(struct.pack("!II", 0, 4))
                h.equal(len(c.recv(4, h.within(20))), 4, "bytes behind the Decline")
                c.close()
                h.equal(c.ended(h.within(20)), "fin", "end behind the Decline")
        s = h.connect(port)
        h.request(s)
        h.finish(s)
    return wrong, len(cases)


def at_client(t):
    t.step("Accepts")
    s = t.half(t.a, lying_server, port=PORT)
    count = s.expect("listening")["count"]
    c = t.half(t.b, echo_client, port=PORT, count=count, addr=HOST)
    t.wait_all(s, c)
    return s.value, count // 2


def at_server(t):
    t.step("Confirms")
    before = t.stat(t.a, "server_smc")
    s = t.half(t.a, named_server, port=PORT + 1)
    s.expect("listening")
    c = t.half(t.b, lying_client, port=PORT + 1)
    t.wait_all(c)
    s.gate("stop")
    t.wait_all(s)
    wrong, count = c.value
    t.equal(t.stat(t.a, "server_smc"), before + count, "connections of the other host over SMC-R")
    return wrong, count


def run(t):
    if t.family != "smc":
        return
    # an idle group of another version would be a second one in the end
    t.reload(t.a, t.b)
    for vm in (t.a, t.b):
        t.ueid(vm, EID)
        t.set(vm, clc_timeout_ms=1500 * t.slow, llc_confirm_link_ms=1500 * t.slow,
              peer_memory_ms=0)
    try:
        for side in (at_client, at_server):
            wrong, count = side(t)
            t.check(not wrong, "answered otherwise (what, got, want):\n"
                    + "\n".join(map(str, wrong)))
            t.note(f"{count} {'Accepts' if side is at_client else 'Confirms'}")
        # the group of the other host is the only one
        t.wait(lambda: (t.queue_pairs(t.a), t.queue_pairs(t.b)) == (1, 1),
               "end of the malformed sender's handshakes", 20)
        for port in (PORT, PORT + 1):
            for vm in (t.a, t.b):
                t.no_sockets(vm, port)
    finally:
        for vm in (t.a, t.b):
            if vm.alive():
                t.ueid(vm, "--flush")
