# SPDX-License-Identifier: GPL-2.0
"""A server written from the RFC alone meets the module as client, on the wire.

See peer_is_client; here the link groups are those of the peer.
"""
import errno

from driven import application
from smccase import run_cases
from smcpeer import (
    ADD_CONT, ADD_LINK, ALL, BAD_MTU, C, CONFIRM_LINK, CONFIRM_RKEY, DECLINE, DELETE_LINK,
    LOST_PATH, NEGATIVE, OPERATOR, ORDERLY, R, REJECTED, RETRY, UNKNOWN_LINK, continuation)

ipv = (4,)
timeout = 120
PORT = 6900
OTHER_SIZE = 16384      # so the module needs another RMB
RESET = (errno.ECONNRESET, errno.ECONNABORTED, errno.EPIPE)


# First contact, data, and the end


def plain(t):
    """One connection; the only RNICs of both sides make no second link.

    covers: CFRM-02 SL-06 MAXL-04 CLC-03 LLC-12
    """
    conn, sock = t.client()
    t.equal(bytes(conn.confirm.raw[51:52] + conn.confirm.raw[60:61]), bytes(2),
            "reserved bytes of Confirm")
    t.both_ways(conn, sock)
    t.equal(conn.eye(), conn.EYE, "eye catcher of the element")
    t.app.do(sock, "close")
    conn.hear(C, "C of the module")
    conn.cdc(state=C)
    conn.fin()


def second_link(t):
    """Another RNIC of the server and the client's only one: the reply joins these.

    connect() returns when the second link is confirmed, and both links carry data.

    covers: SL-09 SL-10 FC-12 LID-05 ADDL-11 ERR-11
    """
    port = t.listen()
    sock, call = t.connects(port)
    conn = t.peer.welcome(port)
    t.peer.ask_link(conn.link)
    link = t.peer.offer(conn.group, conn.link, 2, 1)
    reply = conn.link.hear(ADD_LINK, R)
    t.equal((reply.num, reply.gid), (2, conn.link.peer[1]), "number and GID of the reply")
    link.connect(reply)
    t.equal(t.peer.server_keys(conn.group, conn.link, link), [1], "counts of the client")
    t.check(not t.app.is_done(call), "connect() returned before the link is confirmed")
    t.equal(bytes(conn.rmb.memory[4:]), bytes(len(conn.rmb.memory) - 4), "the element")
    t.peer.ask_link(link)
    t.succeeds(call, "connect()")
    t.both_ways(conn, sock)
    t.to_app(conn, sock, b"on the other link", link=link)
    t.from_app(conn, sock)
    t.check(conn.link.peer_user_id != link.peer_user_id, "one link user ID for two links")


def more_keys(t):
    """Five RMBs against one: the client keeps on replying with no keys.

    covers: ADDL-14 RKEY-10 RKEY-21
    """
    conn, sock = t.client()
    for _ in range(4):
        _, said = t.peer.new_rmb(conn.group, conn.link)
        t.peer.takes_keys(said, conn.link)
    link = t.peer.offer(conn.group, conn.link, 3, 1)
    link.connect(conn.link.hear(ADD_LINK, R))
    t.equal(t.peer.server_keys(conn.group, conn.link, link), [1, 0, 0], "counts of the client")
    t.peer.ask_link(link)
    t.both_ways(conn, sock)


def declined_too_late(t):
    """The client has refused a second link: it does not take a Decline any more.

    covers: ERR-11 LLC-03
    """
    conn, sock = t.client()
    recv = t.app.start(sock, "recv", size=1)
    conn.tcp.send(t.front.decline())
    t.is_reset(conn, "Decline behind the point of no return")
    t.check(t.fails(recv, "recv()") in RESET, "errno of recv()")


# Exchanges that cross


def second_conn(t):
    """The module connects again and needs another RMB, which it announces."""
    port = t.listen()
    sock, call = t.connects(port, rcvbuf=OTHER_SIZE)
    tcp, _ = t.peer.proposal(port)
    return tcp, sock, call


def announcing(t, links=1):
    """A group, a second connection of the module, and its CONFIRM RKEY."""
    conn, sock = t.client()
    if links > 1:
        t.peer.add(conn.group, conn.link, 3)
    tcp, other, call = second_conn(t)
    new = t.peer.accept(tcp, conn.group)
    t.until(lambda: any(x.has_mail() for x in conn.group.links), "CONFIRM RKEY")
    link = next(x for x in conn.group.links if x.inbox)
    return conn, sock, (new, other, call), link, link.hear(CONFIRM_RKEY)


def finish(t, new, sock, call):
    """Take the Confirm of the second connection, which then works."""
    t.peer.confirmed(new)
    t.succeeds(call, "connect()")
    t.both_ways(new, sock)


def while_announcing(t):
    """TEST LINK and the server's CONFIRM RKEY cross the client's; Confirm waits for it.

    covers: SER-05 SER-16 SER-22 RKEY-14
    """
    conn, sock, (new, other, call), link, request = announcing(t)
    t.equal(request.count, 0, "other links in CONFIRM RKEY")
    link.probe()
    _, said = t.peer.new_rmb(conn.group, link)
    t.peer.takes_keys(said, link)
    t.equal(bytes(new.tcp.data), b"", "CLC before the reply to CONFIRM RKEY")
    t.peer.learn_keys(conn.group, link, request)
    finish(t, new, other, call)
    t.both_ways(conn, sock)


def add_while_announcing(t):
    """ADD LINK crosses CONFIRM RKEY: it goes first; then the keys come for both links.

    covers: SER-18 SER-10 SER-02 RKEY-11 RKEY-12
    """
    conn, sock, (new, other, call), carrier, request = announcing(t)
    link = t.peer.offer(conn.group, carrier, 3, 1)
    t.peer.echo(carrier, request, NEGATIVE | RETRY)
    link.connect(carrier.hear(ADD_LINK, R))
    # SER-06
    carrier.probe()
    t.peer.server_keys(conn.group, carrier, link)
    carrier.silent(0.3)
    t.peer.ask_link(link)
    t.until(lambda: carrier.has_mail() or link.has_mail(), "CONFIRM RKEY")
    on = carrier if carrier.inbox else link
    again = on.hear(CONFIRM_RKEY)
    t.equal((again.count, again.num1), (1, (link if on is carrier else carrier).num),
            "the other link in CONFIRM RKEY")
    t.peer.learn_keys(conn.group, on, again)
    finish(t, new, other, call)
    t.both_ways(conn, sock)


def delete_while_announcing(t):
    """DELETE LINK crosses CONFIRM RKEY: it goes first; then the key comes for one link.

    covers: SER-20 RKEY-11
    """
    conn, sock, (new, other, call), carrier, request = announcing(t, 2)
    one, two = conn.group.links
    t.equal(request.count, 1, "other links in CONFIRM RKEY")
    gone, stays = (two, one) if carrier is one else (one, two)
    carrier.say(DELETE_LINK, ORDERLY, num=gone.num, reason=OPERATOR)
    t.peer.echo(carrier, request, NEGATIVE | RETRY)
    reply = carrier.hear(DELETE_LINK, R, either=ORDERLY)
    t.equal(reply.num, gone.num, "link number of the reply")
    conn.group.links.remove(gone)
    again = stays.hear(CONFIRM_RKEY)
    t.equal(again.count, 0, "other links in the second CONFIRM RKEY")
    t.peer.learn_keys(conn.group, stays, again)
    new.link = conn.link = stays
    finish(t, new, other, call)
    t.both_ways(conn, sock)


def all_while_announcing(t):
    """The server ends the group during the client's CONFIRM RKEY; the new connection uses TCP.

    covers: SER-21
    """
    conn, _, (new, _, call), link, _ = announcing(t)
    link.say(DELETE_LINK, ALL, reason=OPERATOR)
    t.is_reset(conn, "the group ends")
    # the new connection may still be declined
    t.peer.hear_clc(new.tcp, DECLINE)
    t.succeeds(call, "connect()")


def keys_while_adding(t):
    """A connection that needs an RMB waits for the end of ADD LINK with its CONFIRM RKEY.

    covers: RKEY-15 SER-02 SER-06
    """
    conn, _ = t.client()
    link = t.peer.offer(conn.group, conn.link, 3, 1)
    link.connect(conn.link.hear(ADD_LINK, R))
    tcp, other, call = second_conn(t)
    new = t.peer.accept(tcp, conn.group)
    conn.link.silent()
    conn.link.probe()
    t.peer.server_keys(conn.group, conn.link, link)
    conn.link.silent(0.3)
    t.peer.ask_link(link)
    t.until(lambda: conn.link.has_mail() or link.has_mail(), "CONFIRM RKEY")
    on = link if link.inbox else conn.link
    request = on.hear(CONFIRM_RKEY)
    t.equal(request.count, 1, "other links in CONFIRM RKEY")
    t.peer.learn_keys(conn.group, on, request)
    finish(t, new, other, call)


def keys_refused_for_good(t):
    """Z without C: the next connection that needs an RMB asks again, nothing else does.

    covers: RKEY-13
    """
    conn, sock, (new, _, _), link, request = announcing(t)
    t.peer.echo(link, request, NEGATIVE)
    t.until(lambda: len(new.tcp.data) >= 8 or new.tcp.fin or new.tcp.reset, "answer to Accept")
    link.silent(1)
    tcp, other, call = second_conn(t)
    new = t.peer.accept(tcp, conn.group)
    t.peer.learn_keys(conn.group, link, link.hear(CONFIRM_RKEY))
    finish(t, new, other, call)
    t.both_ways(conn, sock)


def while_deleting(t):
    """TEST LINK crosses DELETE LINK for a link; the rest goes on with the other one.

    covers: SER-11 SER-04 DELL-05
    """
    conn, sock = t.client()
    link = t.peer.add(conn.group, conn.link, 3)
    conn.link.say(DELETE_LINK, ORDERLY, num=3, reason=OPERATOR)
    conn.link.probe()
    reply = conn.link.hear(DELETE_LINK, R, either=ORDERLY)
    t.equal(reply.num, 3, "link number of the reply")
    conn.group.links.remove(link)
    t.both_ways(conn, sock)


def all_while_adding(t):
    """The server ends the group in the middle of ADD LINK.

    covers: SER-09 LGT-05
    """
    conn, _ = t.client()
    link = t.peer.offer(conn.group, conn.link, 3, 1)
    link.connect(conn.link.hear(ADD_LINK, R))
    conn.link.say(DELETE_LINK, ALL | ORDERLY, reason=OPERATOR)
    t.is_reset(conn, "the group ends")


# LLC messages that are not valid


def bad_mtu(t):
    """Undefined MTUs are refused with reason 2; a good offer is taken then.

    covers: ERR-44 SL-11
    """
    conn, sock = t.client()
    for num, mtu in ((3, 0), (4, 6), (5, 15)):
        link = t.peer.offer(conn.group, conn.link, num, 1, mtu=mtu)
        reply = conn.link.hear(ADD_LINK, R | REJECTED)
        t.equal((reply.num, reply.reason & 15), (num, BAD_MTU), f"rejection of MTU {mtu}")
        conn.group.links.remove(link)
    t.peer.add(conn.group, conn.link, 6)
    t.both_ways(conn, sock)


def unknown_link(t):
    """DELETE LINK for a link that the group never had.

    covers: ERR-49
    """
    conn, sock = t.client()
    conn.link.say(DELETE_LINK, num=77, reason=LOST_PATH)
    reply = conn.link.hear(DELETE_LINK, R, either=ORDERLY)
    t.equal((reply.num, reply.reason), (77, UNKNOWN_LINK), "the reply")
    t.both_ways(conn, sock)


def wrong_confirm_link(t):
    """CONFIRM LINK with other data on the second link: the client wants it deleted.

    A message of the server on a link that the client has given up counts no more, and the
    server's DELETE LINK ends it.

    covers: ERR-43 ERR-46
    """
    for field in ("mac", "gid", "qpn"):
        conn, sock = t.client()
        link = t.peer.offer(conn.group, conn.link, 3, 1)
        link.connect(conn.link.hear(ADD_LINK, R))
        t.peer.server_keys(conn.group, conn.link, link)
        wrong = {**link.end(), "user_id": 1, "max_links": 8}
        value = wrong[field]
        wrong[field] = value ^ 1 if isinstance(value, int) else value[:-1] + bytes(
            [value[-1] ^ 1])
        link.say(CONFIRM_LINK, **wrong)
        notice = conn.link.hear(DELETE_LINK)
        t.equal((notice.num, notice.reason >> 16), (3, 4), f"DELETE LINK, wrong {field}")
        link.say(CONFIRM_LINK, **link.end(), user_id=1, max_links=8)
        conn.link.say(DELETE_LINK, num=3, reason=notice.reason)
        t.equal(conn.link.hear(DELETE_LINK, R, either=ORDERLY).num, 3, "link number of the reply")
        conn.group.links.remove(link)
        t.both_ways(conn, sock)


def wrong_count(t):
    """The server announces five keys, then again five: the link is out of sync.

    covers: ERR-47
    """
    conn, _ = t.client()
    for _ in range(4):
        _, said = t.peer.new_rmb(conn.group, conn.link)
        t.peer.takes_keys(said, conn.link)
    link = t.peer.offer(conn.group, conn.link, 3, 1)
    link.connect(conn.link.hear(ADD_LINK, R))
    keys = continuation(3, conn.group.rtokens(conn.link, link))
    conn.link.say(ADD_CONT, **keys)
    conn.link.hear(ADD_CONT, R)
    conn.link.say(ADD_CONT, **keys)
    t.is_reset(conn, "the only link is out of sync")


def missing_key(t):
    """CONFIRM RKEY without a key for the second link: the client reports that link as lost.

    covers: ERR-50
    """
    conn, sock = t.client()
    link = t.peer.add(conn.group, conn.link, 3)
    t.peer.new_rmb(conn.group, conn.link)
    _, notice = conn.link.hear_each((CONFIRM_RKEY, R), (DELETE_LINK, 0))
    t.equal(notice.num, 3, "link of the client's DELETE LINK")
    conn.link.say(DELETE_LINK, num=3, reason=LOST_PATH)
    conn.link.hear(DELETE_LINK, R, either=ORDERLY)
    conn.group.links.remove(link)
    t.both_ways(conn, sock)


CASES = [
    plain, second_link, more_keys, declined_too_late, while_announcing, add_while_announcing,
    delete_while_announcing, all_while_announcing, keys_while_adding, keys_refused_for_good,
    while_deleting, all_while_adding, bad_mtu, unknown_link, wrong_confirm_link, wrong_count,
    missing_key,
]


def run_server(h, port):
    return run_cases(h, port, CASES)


def run(t):
    if t.family != "smc":
        return
    from smcvm.links import NEVER, WAITS
    t.no_groups()
    t.set(t.a, smcr_max_links_per_lgr=8, smcr_testlink_time=0, llc_reply_ms=NEVER,
          llc_delete_link_ms=NEVER,
          **WAITS)
    qps = t.queue_pairs(t.a)
    app = t.half(t.a, application, port=PORT)
    app.expect("listening")
    peer = t.half(t.b, run_server, port=PORT)
    t.wait_all(peer, app)
    t.check(not peer.value, "cases that failed:\n" + "\n".join(map(str, peer.value)))
    t.note(f"{len(CASES)} cases")
    t.wait(lambda: t.queue_pairs(t.a) <= qps, "end of the peer's groups", 20)
