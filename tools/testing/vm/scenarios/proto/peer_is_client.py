# SPDX-License-Identifier: GPL-2.0
"""A client written from the RFC alone meets the module as server, on the wire.

The peer (guest/smcpeer.py) is on machine B, in user space, with as many RNICs as a case wants.
It drives an application on machine A, which has one RNIC. Each function below is a case.
"""
import errno
import select

from driven import application
from smccase import run_cases
from smcpeer import (
    A, ADD_CONT, ADD_LINK, ALL, B, C, CONFIRM_LINK, CONFIRM_RKEY, D, DECLINE, DELETE_LINK,
    DELETE_RKEY, LOST_PATH, NEGATIVE, OFFER, OPERATOR, ORDERLY, R, REQUEST, RETRY, SIZE,
    TEST_LINK, UNKNOWN_LINK)

ipv = (4,)
timeout = 120
PORT = 5900
OTHER_SIZE = 16384      # so the module needs another RMB
WINDOW = SIZE - 4       # of our elements
SHUT_WR = 1
RESET = (errno.ECONNRESET, errno.ECONNABORTED, errno.EPIPE)


# First contact, data, and the end


def plain(t):
    """One connection: reserved bytes are zero, numbers begin where the RFC says.

    covers: CLC-03 ACPT-02 MAXL-04 LLC-01 CUR-04 CDC-01 TX-05
    """
    conn, sock = t.server()
    t.both_ways(conn, sock)
    first = conn.cdcs[0]
    # the write says where it ends: the first byte is at 4
    t.equal((first.seq, first.prod_wrap, first.prod), (1, 0, 4 + len(b"from the application")),
            "first CDC")
    t.equal(bytes(first.raw[26:]), bytes(18), "reserved bytes of CDC")
    t.equal(conn.eye(), conn.EYE, "eye catcher of the element")
    t.app.do(sock, "close")
    conn.hear(C, "C of the module")
    conn.cdc(state=C)
    conn.fin()


def closes_first(t):
    """The peer's C comes first: the application reads zero bytes, closes, and C is the answer.

    covers: CLOSE-11 CLOSE-14 CLOSE-20
    """
    conn, sock = t.server()
    conn.send(b"last", state=C)
    t.equal(t.received(sock, 4), b"last", "data in front of C")
    t.equal(t.app.do(sock, "recv", size=1), "", "recv() behind C")
    t.check(not conn.has_state(C), "C before the application closes")
    t.app.do(sock, "close")
    conn.hear(C, "C of the module")
    conn.fin()


def declined_in_llc(t):
    """In place of the CONFIRM LINK reply comes a Decline: TCP at once, without a timer.

    covers: ERR-23 DCLN-06
    """
    listener, port = t.listener()
    conn = t.peer.first_contact(port)
    conn.link.hear(CONFIRM_LINK, either=OFFER)
    conn.tcp.send(t.front.decline())
    sock = t.accepted(listener)
    t.app.do(sock, "send", data=b"by TCP".hex())
    t.equal(conn.tcp.recv(6, t.h.within(20)), b"by TCP", "bytes behind the Decline")


def failed_in_llc(t):
    """An ADD LINK without completion: a Decline. An error behind its completion: RST.

    covers: ERR-10 ERR-12
    """
    listener, port = t.listener()
    conn = t.peer.first_contact(port)
    t.peer.confirm_link(conn.link)
    conn.link.qp.is_deaf = True
    t.peer.hear_clc(conn.tcp, DECLINE, 20)
    conn.tcp.send(b"by TCP")
    t.equal(t.received(t.accepted(listener), 6), b"by TCP", "bytes behind the Decline")
    conn = t.another().first_contact(port)
    conn.group.peer.confirm_link(conn.link)
    conn.link.hear(ADD_LINK)
    # the completion takes a moment
    conn.link.probe()
    conn.link.silent()
    conn.link.say(0x41)
    t.is_reset(conn, "an error behind the point of no return")


def second_link(t):
    """The second link joins the server's only RNIC to another one of the client.

    Until it is there the module writes nothing. Then both links carry data, and the link user
    IDs differ, also from those of another group.

    covers: SL-07 SL-10 SL-13 ADDL-17 FC-12 LID-04 LID-05 ADDL-11 LLC-04 MAXL-08
    """
    listener, port = t.listener()
    conn = t.peer.first_contact(port)
    first = t.peer.confirm_link(conn.link)
    t.check(2 <= first.max_links <= 8, f"limit of links {first.max_links}")
    offer = conn.link.hear(ADD_LINK)
    link = t.peer.accept_offer(conn.group, conn.link, offer)
    accept = t.app.start(t.name(), "accept", listener=listener)
    t.equal(t.peer.client_keys(conn.group, conn.link, link), [1], "counts of RTokens")
    msg = link.hear(CONFIRM_LINK, either=OFFER)
    # the path probe is all zeros
    t.equal(bytes(conn.rmb.memory[4:]), bytes(len(conn.rmb.memory) - 4), "the element")
    t.check(not t.app.is_done(accept), "accept() before the second link is confirmed")
    link.peer_user_id = msg.user_id
    link.say(CONFIRM_LINK, R, **link.end(), user_id=link.user_id, max_links=1)
    t.succeeds(accept, "accept()")
    sock = f"{t.number}.{t.nr_socks}"
    t.both_ways(conn, sock)
    t.to_app(conn, sock, b"on the other link", link=link)
    t.from_app(conn, sock)
    other, _ = t.server(peer=t.another())
    t.equal(len({conn.link.peer_user_id, link.peer_user_id, other.link.peer_user_id}), 3,
            "different link user IDs")


def more_keys(t):
    """Five RMBs against one: the server sends empty requests until the client has sent all.

    covers: ADDL-15 ADDL-07 RKEY-10 RKEY-21 RKEY-03
    """
    conn, sock = t.server()
    for _ in range(4):
        _, said = t.peer.new_rmb(conn.group, conn.link)
        t.peer.takes_keys(said, conn.link)
    t.peer.asks_link(conn.link)
    link = t.peer.accept_offer(conn.group, conn.link, conn.link.hear(ADD_LINK))
    t.equal(t.peer.client_keys(conn.group, conn.link, link), [1, 0, 0], "counts of the server")
    t.peer.confirm_link(link)
    t.both_ways(conn, sock)


# While the server adds a link


def adding(t):
    """A group of one link; the server has just offered a second one."""
    conn, sock = t.server()
    t.peer.asks_link(conn.link)
    return conn, sock, conn.link.hear(ADD_LINK)


def while_adding(t):
    """TEST LINK, a notice, CONFIRM RKEY cross ADD LINK.

    covers: SER-02 SER-03 SER-06 SER-07 SER-10 ADDL-10
    """
    conn, sock, offer = adding(t)
    conn.link.probe()
    t.peer.asks_link(conn.link, 2)
    rmb, _ = t.peer.new_rmb(conn.group, conn.link)
    conn.link.hear(CONFIRM_RKEY, R | NEGATIVE | RETRY)
    conn.group.rmbs.remove(rmb)
    link = t.peer.accept_offer(conn.group, conn.link, offer)
    conn.link.probe()
    t.peer.client_keys(conn.group, conn.link, link)
    t.peer.confirm_link(link)
    # the notice was answered by the offer; now the keys go for both links
    t.peer.takes_keys(t.peer.say_keys(rmb, conn.link, [link]), conn.link)
    conn.link.silent()
    t.both_ways(conn, sock)


def delete_while_adding(t):
    """An orderly DELETE LINK of the client waits for the end of ADD LINK.

    covers: SER-08 DELL-08
    """
    conn, sock, offer = adding(t)
    conn.link.say(DELETE_LINK, ORDERLY, num=conn.link.num, reason=OPERATOR)
    conn.link.silent()
    link = t.peer.accept_offer(conn.group, conn.link, offer)
    t.peer.client_keys(conn.group, conn.link, link)
    t.peer.confirm_link(link)
    deleted(t, conn.link, conn.group)
    conn.link = link
    t.both_ways(conn, sock)


def all_while_adding(t):
    """The client ends the group during ADD LINK: the server does not finish the exchange.

    covers: SER-09 DELL-13
    """
    conn, _, _ = adding(t)
    ends_all(t, conn)


def ends_all(t, conn):
    """The client's DELETE LINK for all is answered by the server's at once."""
    conn.link.say(DELETE_LINK, ALL | ORDERLY, reason=OPERATOR)
    msg = conn.link.hear(DELETE_LINK, ALL, either=ORDERLY)
    t.equal(msg.num, 0, "link number of DELETE LINK for all")
    t.is_reset(conn, "the group ends")


def deleted(t, link, group, reason=None):
    """The server deletes LINK; the request comes on either link, and is answered there."""
    def there():
        group.sort()
        return [x for x in group.links if x.inbox]
    t.until(there, "DELETE LINK")
    carrier = there()[0]
    msg = carrier.hear(DELETE_LINK, either=ORDERLY)
    t.equal(msg.num, link.num, "link to delete")
    if reason:
        t.equal(msg.reason, reason, "reason of DELETE LINK")
    t.peer.echo(carrier, msg)
    group.links.remove(link)


# While the server deletes a link


def deleting(t, flags=ORDERLY, reason=OPERATOR):
    """Two links; the server has asked for the end of the second one, as the client wants."""
    conn, sock, offer = adding(t)
    link = t.peer.accept_offer(conn.group, conn.link, offer)
    t.peer.client_keys(conn.group, conn.link, link)
    t.peer.confirm_link(link)
    conn.link.say(DELETE_LINK, flags, num=link.num, reason=reason)
    return conn, sock, link, conn.link.hear(DELETE_LINK, either=ORDERLY)


def while_deleting(t):
    """TEST LINK, CONFIRM RKEY, ADD LINK cross DELETE LINK. The link stays until the reply.

    covers: SER-04 SER-11 SER-12 SER-15 DELL-04 DELL-10
    """
    conn, sock, link, request = deleting(t)
    t.equal(request.num, link.num, "link to delete")
    conn.link.probe()
    link.probe()
    rmb, _ = t.peer.new_rmb(conn.group, conn.link)
    conn.link.hear(CONFIRM_RKEY, R | NEGATIVE | RETRY)
    t.peer.asks_link(conn.link, 2)
    conn.link.silent()
    t.peer.echo(conn.link, request)
    conn.group.links.remove(link)
    offer = conn.link.hear(ADD_LINK)
    t.peer.refuse(conn.link, offer)
    t.peer.takes_keys(t.peer.say_keys(rmb, conn.link), conn.link)
    t.both_ways(conn, sock)


def lost_link(t):
    """A disorderly DELETE LINK: the server deletes the link at once, for the same reason.

    covers: DELL-09 DELL-01
    """
    conn, sock, link, request = deleting(t, 0, LOST_PATH)
    t.equal((request.num, request.flags, request.reason), (link.num, 0, LOST_PATH),
            "DELETE LINK of the server")
    t.peer.echo(conn.link, request)
    conn.group.links.remove(link)
    t.both_ways(conn, sock)


def delete_while_deleting(t):
    """An orderly DELETE LINK of the client waits for the end of the other one.

    covers: SER-13
    """
    conn, _, link, request = deleting(t)
    conn.link.say(DELETE_LINK, ORDERLY, num=conn.link.num, reason=OPERATOR)
    conn.link.silent()
    t.peer.echo(conn.link, request)
    conn.group.links.remove(link)
    msg = conn.link.hear(DELETE_LINK, either=ORDERLY | ALL)
    t.check(msg.num in (0, conn.link.num), f"link number of {msg.raw.hex()}")


def all_while_deleting(t):
    """The client ends the group during DELETE LINK of a link.

    covers: SER-14 DELL-06
    """
    conn, *_ = deleting(t)
    ends_all(t, conn)


# While the server announces an RMB


def announcing(t, links=1):
    """A second connection needs another RMB of the server, which has announced it."""
    listener, port = t.listener()
    _, other = t.listener(rcvbuf=OTHER_SIZE)
    if links == 1:
        conn = t.peer.up(port)
    else:
        conn = t.peer.first_contact(port)
        t.peer.confirm_link(conn.link)
        t.peer.second_link(conn.group, conn.link)
    sock = t.accepted(listener)
    tcp = t.peer.propose(other)
    t.until(lambda: any(x.has_mail() for x in conn.group.links), "CONFIRM RKEY")
    link = next(x for x in conn.group.links if x.inbox)
    return conn, sock, tcp, link, link.hear(CONFIRM_RKEY)


def while_announcing(t):
    """TEST LINK, a notice, CONFIRM RKEY cross the server's CONFIRM RKEY; Accept waits for it.

    covers: SER-05 SER-16 SER-17 SER-22 RKEY-14 RKEY-15
    """
    conn, sock, tcp, link, request = announcing(t)
    t.equal(request.count, 0, "other links in CONFIRM RKEY")
    link.probe()
    t.peer.asks_link(link)
    _, said = t.peer.new_rmb(conn.group, link)
    t.peer.takes_keys(said, link)
    link.silent()
    t.equal(bytes(tcp.data), b"", "CLC before the reply to CONFIRM RKEY")
    t.peer.learn_keys(conn.group, link, request)
    t.peer.hear_clc(tcp, 2)
    t.peer.refuse(link, link.hear(ADD_LINK))
    t.both_ways(conn, sock)


def delete_while_announcing(t):
    """An orderly DELETE LINK waits for the end of CONFIRM RKEY, which has keys for both links.

    covers: SER-19 RKEY-03
    """
    conn, sock, tcp, carrier, request = announcing(t, 2)
    one, two = conn.group.links
    t.equal((request.count, request.num1), (1, (two if carrier is one else one).num),
            "the other link in CONFIRM RKEY")
    carrier.say(DELETE_LINK, ORDERLY, num=two.num, reason=OPERATOR)
    carrier.silent()
    t.peer.learn_keys(conn.group, carrier, request)
    deleted(t, two, conn.group)
    t.peer.hear_clc(tcp, 2)
    conn.link = one
    t.both_ways(conn, sock)


def all_while_announcing(t):
    """The client ends the group during the server's CONFIRM RKEY.

    covers: SER-21
    """
    conn, *_ = announcing(t)
    ends_all(t, conn)


def refused_keys(t):
    """Z and C: CONFIRM RKEY comes again, from the beginning.

    covers: RKEY-11 RKEY-12
    """
    conn, _, tcp, link, request = announcing(t)
    t.peer.echo(link, request, NEGATIVE | RETRY)
    again = link.hear(CONFIRM_RKEY)
    t.equal((again.rkey, again.addr), (request.rkey, request.addr), "key in the second try")
    t.peer.learn_keys(conn.group, link, again)
    t.peer.hear_clc(tcp, 2)


def keys_refused_for_good(t):
    """Z without C: the next connection that needs an RMB asks again, nothing else does.

    covers: RKEY-13
    """
    conn, sock, tcp, link, request = announcing(t)
    t.peer.echo(link, request, NEGATIVE)
    t.until(lambda: len(tcp.data) >= 8 or tcp.fin or tcp.reset, "answer to the Proposal")
    link.silent(1)
    _, port = t.listener(rcvbuf=OTHER_SIZE)
    tcp = t.peer.propose(port)
    t.peer.learn_keys(conn.group, link, link.hear(CONFIRM_RKEY))
    t.peer.hear_clc(tcp, 2)
    t.both_ways(conn, sock)


# LLC messages that are not valid


def parallel_link(t):
    """An ADD LINK reply that joins the same RNICs again: DELETE LINK for it.

    covers: ERR-45
    """
    conn, sock, offer = adding(t)
    link = t.peer.accept_offer(conn.group, conn.link, offer, rnic=0)
    deleted(t, link, conn.group)
    t.both_ways(conn, sock)


def unknown_link(t):
    """DELETE LINK for a link that the group never had.

    covers: ERR-48
    """
    conn, sock = t.server()
    conn.link.say(DELETE_LINK, num=77, reason=LOST_PATH)
    reply = conn.link.hear(DELETE_LINK, R, either=ORDERLY)
    t.equal((reply.num, reply.reason), (77, UNKNOWN_LINK), "the reply")
    t.both_ways(conn, sock)


def missing_key(t):
    """CONFIRM RKEY without a key for the second link: that link counts as failed.

    covers: ERR-50 DELL-03
    """
    conn, sock, link, request = deleting(t)
    t.peer.echo(conn.link, request)
    conn.group.links.remove(link)
    t.peer.asks_link(conn.link, 2)
    link = t.peer.accept_offer(conn.group, conn.link, conn.link.hear(ADD_LINK), rnic=2)
    t.peer.client_keys(conn.group, conn.link, link)
    t.peer.confirm_link(link)
    t.peer.new_rmb(conn.group, conn.link)
    _, request = conn.link.hear_each((CONFIRM_RKEY, R), (DELETE_LINK, 0))
    t.equal(request.num, link.num, "link to delete")
    t.peer.echo(conn.link, request)
    conn.group.links.remove(link)
    t.both_ways(conn, sock)


def unknown_rkeys(t):
    """The mask names the second and the fourth of four keys; the reply repeats the rest.

    covers: ERR-51 RKEY-17
    """
    conn, sock = t.server()
    keys = []
    for _ in range(2):
        rmb, said = t.peer.new_rmb(conn.group, conn.link)
        t.peer.takes_keys(said, conn.link)
        keys += [rmb.on(conn.link).rkey, 0x12345678 + len(keys)]
    said = conn.link.say(DELETE_RKEY, count=4, **{f"rkey{i}": k for i, k in enumerate(keys, 1)})
    reply = conn.link.hear(DELETE_RKEY, R | NEGATIVE)
    t.equal(reply.mask, 0x50, "error mask")
    said.raw[3], said.raw[5] = R | NEGATIVE, 0x50
    t.equal(bytes(reply.raw), bytes(said.raw), "reply to DELETE RKEY")
    t.both_ways(conn, sock)


def wrong_count(t):
    """The client announces five keys, then again five: the link is out of sync.

    covers: ERR-47
    """
    conn, _, offer = adding(t)
    link = t.peer.accept_offer(conn.group, conn.link, offer)
    for _ in range(2):
        conn.link.hear(ADD_CONT)
        keys = [(conn.rmb.on(conn.link).rkey, conn.rmb.on(link).rkey, conn.rmb.on(link).addr)]
        from_peer = {"num": link.num, "count": 5, "ref1": keys[0][0], "rkey1": keys[0][1],
                     "addr1": keys[0][2], "ref2": keys[0][0], "rkey2": keys[0][1],
                     "addr2": keys[0][2]}
        conn.link.say(ADD_CONT, R, **from_peer)
    t.is_reset(conn, "the only link is out of sync")


def optional_types(t):
    """Types with the high bits 10 are dropped.

    covers: LLC-09 ERR-53
    """
    conn, sock = t.server()
    for kind in (0x80, 0x9f, 0xbf):
        conn.link.say(kind)
    conn.link.probe()
    conn.link.silent()
    t.both_ways(conn, sock)


def bad_type(kind, flags=0, raw=None):
    def case(t):
        conn, _ = t.server()
        msg = conn.link.say(kind, flags) if raw is None else conn.link.qp.send(raw)
        t.is_reset(conn, f"LLC type {kind:#x}, {msg}")
    case.__name__ = f"bad_type_{kind:x}_{flags:x}{'' if raw is None else '_' + raw[:2].hex()}"
    return case


# covers: LLC-11 ERR-54 ERR-55 LLC-12
BAD_TYPES = [bad_type(0x41), bad_type(5), bad_type(0xff), bad_type(DELETE_LINK, R),
             bad_type(CONFIRM_RKEY, R), bad_type(TEST_LINK, R), bad_type(CONFIRM_LINK),
             bad_type(TEST_LINK, raw=bytes([TEST_LINK, 43]) + bytes(42))]


# What a CDC message wakes


def waits(t):
    """A CDC message wakes a reader in poll() and in recv(), and a writer without room.

    covers: CDC-11
    """
    conn, sock = t.server(sndbuf=OTHER_SIZE)
    poll = t.app.start(sock, "poll", events=select.POLLIN)
    conn.link.silent(0.2)
    conn.send(b"x")
    t.equal(t.app.outcome(poll, "poll()"), {"value": [select.POLLIN]}, "poll()")
    t.equal(t.received(sock, 1), b"x", "the byte that poll() reported")
    recv = t.app.start(sock, "recv", size=1)
    conn.link.silent(0.2)
    conn.send(b"y")
    t.equal(t.app.outcome(recv, "recv()"), {"value": b"y".hex()}, "recv()")
    total = 100000
    send = t.app.start(sock, "send", data="00", times=total)
    got = 0
    while got < total:
        t.until(conn.unread, "bytes of the writer")
        got += len(conn.recv(conn.unread()))
        conn.cdc()
    t.succeeds(send, "send()")


# Aborts


def peer_aborts(t):
    """A is answered by A, the application gets an error, and nothing more comes.

    covers: ABRT-09 ABRT-12 ABRT-04
    """
    conn, sock = t.server()
    t.both_ways(conn, sock)
    recv = t.app.start(sock, "recv", size=1)
    conn.cdc(state=A)
    t.check(t.fails(recv, "recv()") in RESET, "errno of recv()")
    conn.hear(A, "A of the module")
    nothing_more(t, conn)


def nothing_more(t, conn):
    """Neither writes nor CDC messages come for the connection."""
    conn.link.probe()
    writes, cdcs = conn.rmb.writes(), len(conn.cdcs)
    t.front.until(lambda: False, 0.5)
    conn.group.sort()
    t.equal((conn.rmb.writes(), len(conn.cdcs)), (writes, cdcs), "writes, CDC messages behind A")


def both_abort(t):
    """Both sides abort; the peer's data behind the module's A changes nothing.

    covers: ABRT-11 ABRT-04
    """
    conn, sock = t.server()
    t.app.do(sock, "abort")
    conn.hear(A, "A of the module")
    conn.send(b"too late")
    conn.cdc(state=A)
    nothing_more(t, conn)


def tcp_reset(t):
    """RST on TCP without A: the module aborts, with A.

    covers: ABRT-10
    """
    conn, sock = t.server()
    recv = t.app.start(sock, "recv", size=1)
    conn.tcp.abort()
    conn.hear(A, "A of the module")
    t.check(t.fails(recv, "recv()") in RESET, "errno of recv()")
    conn.cdc(state=A)


# Ends in good order


def half_closed(t):
    """shutdown(write) says D and ends one direction; the other one goes on, and says D, then C.

    covers: CLOSE-09 CLOSE-10 CLOSE-12 CLOSE-26
    """
    conn, sock = t.server()
    t.app.do(sock, "shutdown", how=SHUT_WR)
    conn.hear(D, "D of the module")
    t.check(not conn.state & C, "C with shutdown(write)")
    t.to_app(conn, sock)
    conn.cdc(state=D)
    t.equal(t.app.do(sock, "recv", size=1), "", "recv() behind D")
    t.app.do(sock, "close")
    conn.hear(C, "C of the module")
    conn.cdc(state=C)
    conn.fin()


def peer_half_closed(t):
    """The peer's D, then the application ends its own direction and the socket.

    covers: CLOSE-11 CLOSE-19 CLOSE-21
    """
    for calls in (("shutdown", "close"), ("close",)):
        conn, sock = t.server()
        conn.cdc(state=D)
        t.equal(t.app.do(sock, "recv", size=1), "", "recv() behind D")
        t.from_app(conn, sock)
        for call in calls:
            t.app.do(sock, call, **({"how": SHUT_WR} if call == "shutdown" else {}))
            conn.hear(D if call == "shutdown" else C, f"the flag of {call}()")
        conn.cdc(state=C)
        conn.fin()


def crossing_closes(t):
    """Both sides close; each C is on its way when the other one comes.

    covers: CLOSE-25
    """
    conn, sock = t.server()
    conn.cdc(state=C)
    t.app.do(sock, "close")
    conn.hear(C, "C of the module")
    conn.fin()


def no_more_reading(t):
    """shutdown(read) says nothing.

    covers: CLOSE-04
    """
    conn, sock = t.server()
    t.app.do(sock, "shutdown", how=0)
    conn.link.probe()
    conn.link.silent(0.3)
    t.equal(len(conn.cdcs), 0, "CDC messages with shutdown(read)")
    t.app.do(sock, "close")
    conn.hear(C, "C of the module")
    conn.cdc(state=C)


def closed_on_unsent(t):
    """C comes while the application's data waits for room: reset.

    covers: CLOSE-18 BLK-01
    """
    conn, sock = t.server()
    send = t.app.start(sock, "send", data="00", times=3000000)
    t.until(lambda: conn.unread() == WINDOW and conn.cdcs[-1].flags & B, "a full window, with B")
    conn.cdc(state=C)
    t.check(t.fails(send, "send()") in RESET, "errno of send()")
    t.is_reset(conn, "C on unsent data")


def blocked(t):
    """A full window: B; any reading is reported, the rest comes, and B goes.

    covers: BLK-01 BLK-05 WIN-07
    """
    conn, sock = t.server()
    data = bytes(i * 7 & 255 for i in range(WINDOW + 1000))
    t.app.do(sock, "send", data=data.hex())
    t.until(lambda: conn.unread() == WINDOW, "a full window")
    t.equal(conn.cdcs[-1].flags & B, B, "B of a full window")
    t.equal((conn.cdcs[-1].prod_wrap, conn.cdcs[-1].prod), (1, 4), "cursor of a full window")
    got = conn.recv(2000)
    conn.cdc()
    got += conn.recv(len(data) - 2000)
    t.equal(got, data, "bytes at the peer")
    t.equal(conn.cdcs[-1].flags & B, 0, "B when all is sent")
    t.to_app(conn, sock)
    t.from_app(conn, sock)
    t.equal((conn.cdcs[-1].cons_wrap, conn.cdcs[-1].cons), conn.prod,
            "consumer cursor in a message for other purposes")


def asks_for_updates(t):
    """R: the consumer cursor comes when data is read; with B, too, however little it is.

    covers: WIN-08 WIN-09
    """
    conn, sock = t.server()
    for flag in (REQUEST, B):
        count = len(conn.cdcs)
        t.to_app(conn, sock, b"x", flags=flag)
        t.until(lambda count=count: conn.unread() == 0 and len(conn.cdcs) > count,
                f"update behind flag {flag:#x}")
        t.equal((conn.cdcs[-1].cons_wrap, conn.cdcs[-1].cons), conn.prod, "consumer cursor")
    t.to_app(conn, sock, b"y")
    t.equal([c.flags & REQUEST for c in conn.cdcs], [0] * len(conn.cdcs), "R of the module")


CASES = [
    plain, closes_first, declined_in_llc, failed_in_llc, second_link, more_keys, while_adding,
    delete_while_adding, all_while_adding, while_deleting, lost_link, delete_while_deleting,
    all_while_deleting, while_announcing, delete_while_announcing, all_while_announcing,
    refused_keys, keys_refused_for_good, parallel_link, unknown_link, missing_key, unknown_rkeys,
    wrong_count, optional_types, *BAD_TYPES, waits, peer_aborts, both_abort, tcp_reset,
    half_closed, peer_half_closed, crossing_closes, no_more_reading, closed_on_unsent, blocked,
    asks_for_updates,
]


def run_client(h, port):
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
    peer = t.half(t.b, run_client, port=PORT)
    t.wait_all(peer, app)
    t.check(not peer.value, "cases that failed:\n" + "\n".join(map(str, peer.value)))
    t.note(f"{len(CASES)} cases")
    t.wait(lambda: t.queue_pairs(t.a) <= qps, "end of the peer's groups", 20)
