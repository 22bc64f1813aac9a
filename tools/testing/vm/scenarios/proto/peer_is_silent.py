# SPDX-License-Identifier: GPL-2.0
"""A peer that does not answer, on the wire: the timers of the LLC, in both roles.

See peer_is_client and peer_is_server. Most of the time passes with waiting, so several
processes take a share of the cases each.
"""
import errno

from driven import application
from smccase import run_cases
from smcpeer import (
    A, ADD_CONT, ADD_LINK, C, CONFIRM, CONFIRM_LINK, CONFIRM_RKEY, DECLINE, DELETE_LINK,
    LOST_PATH, OFFER, ORDERLY, R, TEST_LINK, continuation, read_clc)

ipv = (4,)
timeout = 120
PORT = 7900
SHARES = 6
OTHER_SIZE = 16384      # so the module needs another RMB
RESET = (errno.ECONNRESET, errno.ECONNABORTED, errno.EPIPE, errno.ETIMEDOUT)


# The module is server


def no_confirm_link_reply(t):
    """First contact without a reply to CONFIRM LINK: reset.

    covers: ERR-24 TMR-04 ERR-18
    """
    _, port = t.listener()
    conn = t.peer.first_contact(port)
    conn.link.hear(CONFIRM_LINK, either=OFFER)
    t.is_reset(conn, "no reply to CONFIRM LINK")


def second_link_not_confirmed(t):
    """First contact: DELETE LINK on the first link; no data before its reply.

    covers: ERR-25 SL-16 SL-17 LLC-15
    """
    listener, port = t.listener()
    conn = t.peer.first_contact(port)
    t.peer.confirm_link(conn.link)
    link = t.peer.accept_offer(conn.group, conn.link, conn.link.hear(ADD_LINK))
    accept = t.app.start(t.name(), "accept", listener=listener)
    t.peer.client_keys(conn.group, conn.link, link)
    link.hear(CONFIRM_LINK, either=OFFER)
    msg = conn.link.hear(DELETE_LINK, either=ORDERLY)
    t.equal(msg.num, link.num, "link to delete")
    t.check(not t.app.is_done(accept), "accept() before the reply to DELETE LINK")
    t.peer.echo(conn.link, msg)
    conn.group.links.remove(link)
    t.succeeds(accept, "accept()")
    t.both_ways(conn, f"{t.number}.{t.nr_socks}")


def adding(t):
    """A group of one link; the server has just offered a second one."""
    conn, sock = t.server()
    t.peer.asks_link(conn.link)
    return conn, sock, conn.link.hear(ADD_LINK)


def later_link_not_confirmed(t):
    """Not first contact: DELETE LINK; the server tries again after a while.

    covers: ERR-26 TMR-12
    """
    conn, sock, offer = adding(t)
    link = t.peer.accept_offer(conn.group, conn.link, offer)
    t.peer.client_keys(conn.group, conn.link, link)
    link.hear(CONFIRM_LINK, either=OFFER)
    msg = conn.link.hear(DELETE_LINK, either=ORDERLY)
    t.equal(msg.num, link.num, "link to delete")
    t.peer.echo(conn.link, msg)
    conn.group.links.remove(link)
    t.both_ways(conn, sock)
    t.peer.refuse(conn.link, conn.link.hear(ADD_LINK))
    t.both_ways(conn, sock)


def no_add_link_reply(t):
    """In first contact, and later: the carrying link counts as failed.

    covers: ERR-28 ERR-29
    """
    _, port = t.listener()
    conn = t.peer.first_contact(port)
    t.peer.confirm_link(conn.link)
    conn.link.hear(ADD_LINK)
    t.is_reset(conn, "no reply to ADD LINK of first contact")
    conn, _, _ = adding(t)
    t.is_reset(conn, "no reply to ADD LINK")


def lost_while_adding(t):
    """The client reports the only link as lost in place of its ADD LINK reply.

    covers: SER-08
    """
    conn, _, _ = adding(t)
    conn.link.say(DELETE_LINK, num=conn.link.num, reason=LOST_PATH)
    t.is_reset(conn, "the only link is lost")


def no_continuation_reply(t):
    """First contact without a reply to ADD LINK CONTINUATION: reset.

    covers: ERR-33
    """
    _, port = t.listener()
    conn = t.peer.first_contact(port)
    t.peer.confirm_link(conn.link)
    t.peer.accept_offer(conn.group, conn.link, conn.link.hear(ADD_LINK))
    conn.link.hear(ADD_CONT)
    t.is_reset(conn, "no reply to ADD LINK CONTINUATION")


def two_links(t):
    conn, sock, offer = adding(t)
    link = t.peer.accept_offer(conn.group, conn.link, offer)
    t.peer.client_keys(conn.group, conn.link, link)
    t.peer.confirm_link(link)
    return conn, sock, link


def no_delete_link_reply(t):
    """The carrying link has failed, too: none is left.

    covers: ERR-38
    """
    conn, _, link = two_links(t)
    conn.link.say(DELETE_LINK, ORDERLY, num=link.num, reason=0x20000)
    t.until(lambda: conn.link.has_mail() or link.has_mail(), "DELETE LINK")
    t.is_reset(conn, "no reply to DELETE LINK", 40)


def no_rkey_reply(t):
    """The carrying link has failed: DELETE LINK for it on the other one, which serves on.

    covers: ERR-40 LLC-14
    """
    conn, sock, link = two_links(t)
    _, port = t.listener(rcvbuf=OTHER_SIZE)
    tcp = t.peer.propose(port)
    t.until(lambda: conn.link.has_mail() or link.has_mail(), "CONFIRM RKEY")
    carrier, other = (conn.link, link) if conn.link.inbox else (link, conn.link)
    carrier.hear(CONFIRM_RKEY)
    msg = other.hear(DELETE_LINK, either=ORDERLY)
    t.equal(msg.num, carrier.num, "link to delete")
    t.peer.echo(other, msg)
    conn.group.links.remove(carrier)
    conn.link = other
    t.until(other.has_mail, "the next exchange")
    if other.inbox[0].kind == ADD_LINK:
        t.peer.refuse(other, other.hear(ADD_LINK))
    t.peer.learn_keys(conn.group, other, other.hear(CONFIRM_RKEY))
    t.peer.hear_clc(tcp, 2)
    t.both_ways(conn, sock)


def no_test_link_reply(t):
    """The link has failed, and it is the only one.

    covers: ERR-42
    """
    conn, sock = t.server()
    conn.link.is_mute = True
    recv = t.app.start(sock, "recv", size=1)
    t.is_reset(conn, "no reply to TEST LINK", 40)
    t.check(t.fails(recv, "recv()") in RESET, "errno of recv()")


def wrong_test_link_reply(t):
    """A reply to TEST LINK with other data: the link is down.

    covers: ERR-52
    """
    conn, _ = t.server()
    conn.link.is_mute = True
    t.until(lambda: conn.link.has_test(), "TEST LINK")
    conn.link.say(TEST_LINK, R, data=bytes(15) + b"\1")
    t.is_reset(conn, "a reply with other data")


def no_answer_to_abort(t):
    """The socket is gone for the application at once, the element after the timer.

    covers: ABRT-07 TMR-17
    """
    conn, sock = t.server()
    t.app.do(sock, "abort")
    conn.hear(A, "A of the module")
    t.check(conn.tcp.ended(t.h.within(20)), "TCP does not end")


def nobody_takes_the_end(t):
    """The last connection ends; DELETE LINK for the group has no completion. It ends.

    covers: ERR-37
    """
    conn, sock = t.server()
    t.app.do(sock, "close")
    conn.hear(C, "C of the module")
    conn.cdc(state=C)
    conn.link.qp.is_deaf = True
    conn.fin()


# The module is client


def no_add_link(t):
    """The RFC's client resets without an ADD LINK.

    covers: ERR-27 TMR-05
    """
    port = t.listen()
    _, call = t.connects(port)
    conn = t.peer.welcome(port)
    t.peer.ask_link(conn.link)
    t.is_reset(conn, "no ADD LINK")
    t.check(t.fails(call, "connect()") in RESET, "errno of connect()")


def new_link_not_asked(t):
    """No CONFIRM LINK on the new link: DELETE LINK to the server, whose request ends it.

    In first contact connect() waits for that; later the carrying link is unaffected.

    covers: ERR-31 ERR-32 ERR-46
    """
    port = t.listen()
    sock, call = t.connects(port)
    conn = t.peer.welcome(port)
    t.peer.ask_link(conn.link)
    for num in (2, 3):
        link = t.peer.offer(conn.group, conn.link, num, 1)
        link.connect(conn.link.hear(ADD_LINK, R))
        t.peer.server_keys(conn.group, conn.link, link)
        notice = conn.link.hear(DELETE_LINK, either=ORDERLY)
        t.equal(notice.num, num, "link of the client's DELETE LINK")
        if num == 2:
            t.check(not t.app.is_done(call), "connect() before the server's DELETE LINK")
        # too late
        link.say(CONFIRM_LINK, **link.end(), user_id=1, max_links=8)
        conn.link.say(DELETE_LINK, num=num, reason=notice.reason)
        t.equal(conn.link.hear(DELETE_LINK, R, either=ORDERLY).num, num, "link of the reply")
        conn.group.links.remove(link)
        if num == 2:
            t.succeeds(call, "connect()")
        t.both_ways(conn, sock)


def no_delete_link_request(t):
    """The client's DELETE LINK has no request for an answer: its last link counts as failed.

    covers: ERR-36
    """
    conn, _ = t.client()
    link = t.peer.offer(conn.group, conn.link, 3, 1)
    link.connect(conn.link.hear(ADD_LINK, R))
    t.peer.server_keys(conn.group, conn.link, link)
    conn.link.hear(DELETE_LINK, either=ORDERLY)
    t.is_reset(conn, "no DELETE LINK of the server", 40)


def no_continuation(t):
    """First contact: no key at all. Later: the server owes some. The carrying link has failed.

    covers: ERR-30 ERR-34 ERR-35
    """
    port = t.listen()
    _, call = t.connects(port)
    conn = t.peer.welcome(port)
    t.peer.ask_link(conn.link)
    t.peer.offer(conn.group, conn.link, 2, 1)
    conn.link.hear(ADD_LINK, R)
    t.is_reset(conn, "no ADD LINK CONTINUATION in first contact")
    t.fails(call, "connect()")
    conn, _ = t.client()
    for _ in range(4):
        _, said = t.peer.new_rmb(conn.group, conn.link)
        t.peer.takes_keys(said, conn.link)
    link = t.peer.offer(conn.group, conn.link, 3, 1)
    link.connect(conn.link.hear(ADD_LINK, R))
    conn.link.say(ADD_CONT, **continuation(3, conn.group.rtokens(conn.link, link)))
    conn.link.hear(ADD_CONT, R)
    t.is_reset(conn, "no further ADD LINK CONTINUATION")


def no_rkey_reply_of_server(t):
    """The carrying link has failed: DELETE LINK for it on the other one, which serves on.

    The Accept named the link that is lost. So the Confirm names the other one, or once the
    first is gone the client declines.

    covers: ERR-39
    """
    conn, sock = t.client()
    link = t.peer.add(conn.group, conn.link, 3)
    port = t.listen()
    _, call = t.connects(port, rcvbuf=OTHER_SIZE)
    tcp, _ = t.peer.proposal(port)
    t.peer.accept(tcp, conn.group)
    t.until(lambda: conn.link.has_mail() or link.has_mail(), "CONFIRM RKEY")
    carrier, other = (conn.link, link) if conn.link.inbox else (link, conn.link)
    carrier.hear(CONFIRM_RKEY)
    notice = other.hear(DELETE_LINK, either=ORDERLY)
    t.equal(notice.num, carrier.num, "link of the client's DELETE LINK")
    other.say(DELETE_LINK, num=carrier.num, reason=LOST_PATH)
    t.equal(other.hear(DELETE_LINK, R, either=ORDERLY).num, carrier.num, "link of the reply")
    conn.group.links.remove(carrier)
    conn.link = other
    t.peer.learn_keys(conn.group, other, other.hear(CONFIRM_RKEY))
    answer = read_clc(tcp.recv_clc(t.h.within(6)))
    t.check(answer.kind in (CONFIRM, DECLINE), f"the answer {answer.raw.hex()}")
    if answer.kind == CONFIRM:
        t.equal((answer.gid, answer.qpn), other.peer[1:], "link of the Confirm")
    t.succeeds(call, "connect()")
    t.both_ways(conn, sock)


def no_test_link_reply_of_server(t):
    """The same as client.

    covers: ERR-41
    """
    conn, _ = t.client()
    conn.link.is_mute = True
    t.is_reset(conn, "no reply to TEST LINK", 40)


CASES = [
    no_test_link_reply, no_test_link_reply_of_server, no_delete_link_reply, no_continuation,
    no_add_link_reply, new_link_not_asked, no_confirm_link_reply, second_link_not_confirmed,
    later_link_not_confirmed, no_continuation_reply, no_rkey_reply, wrong_test_link_reply,
    lost_while_adding,
    no_answer_to_abort, nobody_takes_the_end, no_add_link, no_delete_link_request,
    no_rkey_reply_of_server,
]


def run_share(h, port, share):
    return run_cases(h, port, CASES, share, SHARES)


def run(t):
    if t.family != "smc":
        return
    t.no_groups()
    soon = 1500 * t.slow * t.patience
    t.set(t.a, smcr_max_links_per_lgr=8, smcr_testlink_time=2, llc_add_link_retry_ms=soon,
          close_timeout_ms=soon, **dict.fromkeys((
              "llc_confirm_link_ms", "llc_first_reply_ms", "llc_add_link_ms", "llc_reply_ms",
              "llc_delete_link_ms", "llc_terminate_ms", "llc_test_link_ms"), soon))
    qps = t.queue_pairs(t.a)
    halves = []
    for share in range(SHARES):
        port = PORT + 300 * share
        halves.append(t.half(t.a, application, port=port))
        halves[-1].expect("listening")
        halves.append(t.half(t.b, run_share, port=port, share=share))
    t.wait_all(*halves)
    wrong = [row for half in halves[1::2] for row in half.value]
    t.check(not wrong, "cases that failed:\n" + "\n".join(map(str, wrong)))
    t.note(f"{len(CASES)} cases")
    t.wait(lambda: t.queue_pairs(t.a) <= qps, "end of the peer's groups", 20)
