# SPDX-License-Identifier: GPL-2.0
"""Hostile landing records end the connection concerned; others lose nothing.

First a peer from the protocol's text alone (guest/smcpeer.py) sends them: impossible, twice, cut
short, longer, not agreed on, during the handshake, while the connection closes. Then one record
between two modules is changed, and the other connections of its group land. Then both sides land at
the same moment.

covers: CLOSE-01 ABRT-01
"""
import errno

from common import serve_any, stays
from driven import application
from smccase import run_cases
from smcpeer import (
    A, ACCEPT, ADD_LINK, ALL, C, CONFIRM_RKEY, D, DELETE_LINK, EYE, OPERATOR, Fields)
from streams import client, server  # noqa: F401, halves

ipv = (4,)
timeout = 120
PORT = 5710
RESET = (errno.ECONNRESET, errno.ECONNABORTED, errno.EPIPE)
AGREED = bytes.fromhex("00 a51d6c38 02 000000")
SIZE = 44
RECORD = {"kind": (4, 1), "length": (5, 2), "version": (7, 1), "token": (8, 4), "flags": (12, 1),
          "received": (16, 8), "consumed": (24, 8), "urgent": (32, 8), "trailer": (40, 4)}
IN, OUT = b"to the application", b"from the application"


# Between a hostile peer and the module


def up(t, rest=AGREED):
    """A connection on which each side has received some bytes; (connection, socket)."""
    peer = t.another()
    listener, port = t.listener()
    conn = peer.first_contact(port)
    peer.confirm_link(conn.link, rest=rest)
    peer.refuse(conn.link, conn.link.hear(ADD_LINK))
    sock = t.accepted(listener)
    t.both_ways(conn, sock)
    # the module has the cursor, too
    conn.cdc()
    conn.link.probe()
    return conn, sock


def record(conn, **changes):
    """The record of a peer that has received OUT, and read it."""
    raw = EYE + bytes(SIZE - 8) + EYE
    return bytes(Fields(raw, RECORD).put(**{
        "kind": 0x20, "length": SIZE, "version": 0x10, "token": conn.peer_token,
        "received": len(OUT), "consumed": len(OUT), **changes}).raw)


def answer(t, conn):
    """The module's record."""
    raw = conn.tcp.recv(SIZE, t.h.within(6))
    t.equal((raw[:8], raw[-4:]), (record(conn)[:8], EYE), "frame of the module's record")
    msg = Fields(raw, RECORD)
    t.equal((msg.token, msg.received, msg.consumed, msg.urgent),
            (conn.token, len(IN), len(IN), 0), "fields of the module's record")


def goes_on(t, conn, sock, before=b""):
    """The connection is TCP's, in both directions."""
    conn.tcp.send(IN)
    t.equal(t.received(sock, len(before + IN)), before + IN, "bytes at the application")
    t.app.do(sock, "send", data=OUT.hex())
    t.equal(conn.tcp.recv(len(OUT), t.h.within(6)), OUT, "bytes at the peer")
    # the module's end of the group is gone
    conn.group.peer.groups.remove(conn.group)


def is_refused(t, conn, sock, what, is_frame=False):
    """The connection is reset; a record that IS_FRAME of one has ended the group before."""
    t.is_reset(conn, what)
    t.check(t.fails(t.app.start(sock, "recv", size=1), what) in RESET, f"{what}: errno")
    if is_frame:
        conn.group.peer.groups.remove(conn.group)


def lands(t):
    """A record that is right."""
    conn, sock = up(t)
    conn.tcp.send(record(conn))
    answer(t, conn)
    goes_on(t, conn, sock)


def impossible(t):
    """Positions and fields that cannot be."""
    for change in ({"received": len(OUT) + 1}, {"received": 1 << 63}, {"received": len(OUT) - 1},
                   {"received": 0, "consumed": 0}, {"consumed": len(OUT) + 1},
                   {"consumed": len(OUT) - 1}, {"token": 0}, {"flags": A}, {"flags": 0x10},
                   {"urgent": 1 << 40}, {"urgent": (1 << 64) - 1}, {"kind": 0x21}, {"version": 0},
                   {"trailer": 0}, {"length": SIZE + 1}, {"length": SIZE - 1}):
        conn, sock = up(t)
        conn.tcp.send(record(conn, **change))
        is_refused(t, conn, sock, f"record with {change}",
                   not {"kind", "version", "length", "trailer"} & set(change))


def twice(t):
    """The second one is what TCP carries from then on."""
    conn, sock = up(t)
    conn.tcp.send(2 * record(conn))
    answer(t, conn)
    goes_on(t, conn, sock, record(conn))


def in_pieces(t):
    """Until it is complete the connection goes on over RDMA."""
    conn, sock = up(t)
    for at in range(SIZE - 1):
        conn.tcp.send(record(conn)[at:at + 1])
    t.both_ways(conn, sock)
    t.check(not conn.tcp.data, f"bytes on TCP: {conn.tcp.data.hex()}")
    # its positions are behind by now
    conn.tcp.send(record(conn)[-1:])
    is_refused(t, conn, sock, "old record", True)


def cut_short(t):
    """TCP ends within it, or is reset."""
    for end in ("close", "abort"):
        conn, sock = up(t)
        conn.tcp.send(record(conn)[:SIZE // 2])
        t.peer.until(lambda conn=conn: not conn.tcp.unsent, "acknowledgment")
        getattr(conn.tcp, end)()
        t.check(t.fails(t.app.start(sock, "recv", size=1), "recv()") in RESET, "errno")


def ends_with_it(t):
    """TCP ends with the last byte, before the module has answered."""
    conn, sock = up(t)
    conn.tcp.send(record(conn)[:-1])
    t.peer.until(lambda: not conn.tcp.unsent, "acknowledgment")
    conn.tcp.send(record(conn)[-1:])
    conn.tcp.close()
    t.check(t.fails(t.app.start(sock, "recv", size=1), "recv()") in RESET, "errno")
    conn.group.peer.groups.remove(conn.group)


def silent(t):
    """Behind the record comes nothing but a reset."""
    conn, sock = up(t)
    conn.tcp.send(record(conn))
    answer(t, conn)
    call = t.app.start(sock, "recv", size=1)
    conn.tcp.abort()
    t.check(t.fails(call, "recv()") in RESET, "errno")


def not_agreed(t):
    """Nothing was agreed on."""
    conn, sock = up(t, bytes(9))
    conn.tcp.send(record(conn))
    is_refused(t, conn, sock, "record that was not agreed on")


def before_confirm(t):
    """In place of the Confirm."""
    listener, port = t.listener()
    tcp = t.peer.propose(port)
    t.peer.hear_clc(tcp, ACCEPT)
    tcp.send(EYE + b"\x20\x00\x2c\x10" + bytes(SIZE - 12) + EYE)
    t.equal(tcp.ended(t.h.within(6)), "reset", "end of TCP")
    del listener


def behind_confirm(t):
    """In the midst of a first contact, and behind the Confirm of a subsequent one, which lands."""
    _, port = t.listener()
    conn = t.peer.first_contact(port)
    conn.tcp.send(record(conn, received=0, consumed=0))
    t.is_reset(conn, "a record before the link is confirmed")
    conn, _ = up(t)
    listener, port = t.listener()
    peer, link = conn.group.peer, conn.link
    other = peer.subsequent(conn.group, port, lambda: peer.learn_keys(
        conn.group, link, link.hear(CONFIRM_RKEY)))
    other.tcp.send(record(other, received=0, consumed=0))
    sock = t.accepted(listener)
    t.equal(other.tcp.recv(SIZE, t.h.within(6))[4:5], b"\x20", "type of the module's record")
    goes_on(t, other, sock)


def in_place_of_accept(t):
    """A server answers a Proposal by a record."""
    port = t.listen()
    _, call = t.connects(port)
    tcp, _ = t.peer.proposal(port)
    tcp.send(EYE + b"\x20\x00\x2c\x10" + bytes(SIZE - 12) + EYE)
    t.fails(call, "connect()")
    t.equal(tcp.ended(t.h.within(6)), "reset", "end of TCP")


def half_closed(t):
    """The peer has ended its stream, or closed: the end follows on TCP."""
    for state in (D, C):
        conn, sock = up(t)
        conn.cdc(state=state)
        t.equal(t.app.do(sock, "recv", size=1), "", "recv() behind the end")
        conn.tcp.send(record(conn, flags=state))
        answer(t, conn)
        conn.tcp.close()
        t.app.do(sock, "send", data=OUT.hex())
        t.equal(conn.tcp.recv(len(OUT), t.h.within(6)), OUT, "bytes at the peer")
        t.app.do(sock, "close")
        conn.group.peer.groups.remove(conn.group)


def while_closing(t):
    """The application has closed: the record belongs to nothing."""
    conn, sock = up(t)
    t.app.do(sock, "close")
    conn.hear(C, "C of the module")
    conn.tcp.send(record(conn))
    t.check(conn.tcp.ended(t.h.within(6)), "TCP goes on without C")


def deleted(t):
    """The group is deleted, and a record that is wrong comes: the module has sent its own."""
    conn, sock = up(t)
    conn.link.say(DELETE_LINK, ALL, reason=OPERATOR)
    answer(t, conn)
    conn.tcp.send(record(conn, received=len(OUT) + 1))
    is_refused(t, conn, sock, "record behind the module's", True)


CASES = [lands, impossible, twice, in_pieces, cut_short, ends_with_it, silent, not_agreed,
         before_confirm, behind_confirm, in_place_of_accept, half_closed, while_closing, deleted]


def run_hostile(h, port):
    return run_cases(h, port, CASES)


def against_a_peer(t):
    app = t.half(t.a, application, port=PORT)
    app.expect("listening")
    peer = t.half(t.b, run_hostile, port=PORT)
    t.wait_all(peer, app)
    t.check(not peer.value, "cases that failed:\n" + "\n".join(map(str, peer.value)))


# Between two modules


def victim(h, port):
    """A connection whose record is changed; returns its errno."""
    s = h.connect(port)
    h.request(s)
    h.mark("connected")
    try:
        return len(s.recv(1))
    except OSError as e:
        return -e.errno


def changed(t):
    """Records of a victim are changed in turn; those beside it in its group land."""
    from smcvm.links import give_up
    s = t.half(t.a, serve_any, port=PORT + 100)
    v = t.half(t.a, serve_any, port=PORT + 101)
    t.expect_all("listening", s, v)
    for what in ("16:7f", "23:00", "8:00000000", "40:00"):
        beside = [t.half(t.b, stays, port=PORT + 100) for _ in range(4)]
        c = t.half(t.b, victim, port=PORT + 101)
        t.expect_all("connected", c, *beside)
        r = t.relay.rule(frm="b", dport=PORT + 101, at=f"0:{EYE.hex()}20", count=1, set=what)
        was = t.stat(t.a, "landed")
        give_up(t.a, "all")
        t.wait_all(c)
        t.check(-c.value in RESET, f"{what}: the victim ended with {c.value}")
        t.equal(t.relay.hits(r)[1], 1, f"{what}: records changed")
        t.relay.unrule(r)
        for each in beside:
            each.gate("more")
        t.expect_all("more0", *beside)
        t.equal(t.stat(t.a, "landed"), was + 4, f"{what}: those beside it")
        for each in beside:
            each.gate("end")
        t.wait_all(*beside)
        t.equal([each.value for each in beside], 4 * [0], f"{what}: end of those beside it")
    for half in (s, v):
        half.gate("stop")
    t.wait_all(s, v)
    # a victim's other end waits for the abort that its links have lost
    for vm in (t.a, t.b):
        t.no_sockets(vm, PORT + 101)


def both_at_once(t):
    """An operator of each side lands the connections at the same moment."""
    from smcvm import kernel
    from smcvm.links import Streams
    smc = t.guest_path(kernel.user_tool("smc"))
    x = Streams(t, PORT + 102, 8)
    x.more()
    t.wait_all(*(vm.spawn([smc, "drain", "--move", "--wait", "20"]) for vm in (t.a, t.b)))
    x.more()
    for vm in (t.a, t.b):
        t.mode(vm, "TCP", x.port, 8)
    t.reload(t.a, t.b)
    x.more()
    x.stop()


def run(t):
    if t.family != "smc":
        return
    from smcvm.links import NEVER, WAITS
    t.no_groups()
    for vm in (t.a, t.b):
        t.set(vm, landing=1, peer_memory_ms=0, close_timeout_ms=2000)
    t.step("a hostile peer")
    kept = {**dict.fromkeys(("llc_reply_ms", "llc_delete_link_ms"), NEVER), **WAITS}
    t.set(t.a, smcr_testlink_time=0, smcr_max_links_per_lgr=8, **kept)
    against_a_peer(t)
    t.no_sockets(t.a, PORT)
    for name in (*kept, "smcr_testlink_time", "smcr_max_links_per_lgr"):
        t.restore(name)
    t.step(changed.__doc__)
    changed(t)
    t.step(both_at_once.__doc__)
    both_at_once(t)
