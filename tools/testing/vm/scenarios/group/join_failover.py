# SPDX-License-Identifier: GPL-2.0
"""Connections are made while one side has lost a link and the peer does not know it yet.

The client loses a link that the server then chooses; the server loses a link that a
Confirm under way names. The wire delays the LLC messages about it. All connections come
up and use SMC, the old ones lose no data, and the group stays. The same holds when the
lost path is the one between the two interfaces that carry TCP. Many connections at a time
are spread over the links.

covers: ERR-07 ERR-13 SC-03 SC-09 SC-10 FAIL-02 LB-02 LB-03
"""
import socket

from common import connect_all
from streams import client, server  # noqa: F401, the halves

nics = 2
timeout = 200
PORT = 5340
CONFIRM, DELETE_LINK = 3, 4
# the RNIC goes on trying, half a minute and more, while news are held up
PATIENT = {"rdma_ack_exponent": 20, "rdma_retries": 6}
CROWD = 6


def end_all(h, socks):
    """Each side has the links in an order of its own."""
    for s in socks:
        s.shutdown(socket.SHUT_WR)
    for s in socks:
        h.at_end(s)
        s.close()


def crowd_server(h, port, n, gate=None):
    ls = h.listen(port)
    socks = [h.accept(ls) for _ in range(n)]
    if gate:
        h.mark("here")
        h.gate(gate)
    for c in socks:
        h.recv_stream(c, 5000, 1)
        h.send_stream(c, 7000, 2)
    end_all(h, socks)
    ls.close()


def crowd(h, port, n):
    """Make connections in parallel; none may be reset after connect() succeeds."""
    socks = connect_all(h, port, n, n)
    for s in socks:
        h.send_stream(s, 5000, 1)
    for s in socks:
        h.recv_stream(s, 7000, 2)
    end_all(h, socks)


def ended(t):
    """The number of completed or failed handshakes of the server."""
    return sum(t.stat(t.a, n) for n in ("server_smc", "server_tcp", "server_failed"))


def begin(t, port):
    s = t.half(t.a, crowd_server, port=port, n=CROWD)
    s.expect("listening")
    return s, t.half(t.b, crowd, port=port, n=CROWD)


def unharmed(t, clean):
    """Check that no connection was refused or reset, or fell back."""
    for name, n in clean.items():
        t.equal(t.stat(t.a, name), n, name)


def lives_on(t, x, group, lost):
    """The streams go on, in the group that they were in."""
    from smcvm.links import groups
    t.wait(lambda: x.least("link_down") > lost, "the news to arrive", 30)
    x.more()
    t.equal([g.id for g in groups(t.a)], [group], "link groups")


def run(t):
    if t.family != "smc":
        return
    from smcvm.links import Streams, active, card_up, groups, several
    several(t)
    t.step("a crowd behind first contact")
    s = t.half(t.a, crowd_server, port=PORT + 1, n=CROWD, gate="looked")
    s.expect("listening")
    c = t.half(t.b, crowd, port=PORT + 1, n=CROWD)
    t.expect_all("here", s)
    spread = [x.conns for x in active(t.a)]
    t.check(len(spread) == 2 and min(spread) >= CROWD // 2 - 1, f"connections by link: {spread}")
    x = Streams(t, PORT)
    s.gate("looked")
    t.wait_all(s, c)
    t.no_sockets(t.a, PORT + 1)
    x.have(2)
    x.more()
    group = groups(t.a)[0].id
    clean = {n: t.stat(t.a, n) for n in ("decline_rx", "server_failed", "server_tcp")}

    t.step("the path is lost that the interfaces of TCP have")
    lost, had = x.least("link_down"), ended(t)
    cut = t.relay.rule(seg=0, proto="roce", drop=1)
    lives_on(t, x, group, lost)
    t.both(crowd_server, crowd, PORT + 4, n=CROWD)
    t.equal(ended(t) - had, CROWD, "handshakes")
    unharmed(t, clean)
    t.relay.unrule(cut)
    x.have(2)
    x.stop()

    # a group whose timers do not expire in the scenario
    several(t, clc_timeout_ms=60000, llc_delete_link_ms=60000, **PATIENT)
    x = Streams(t, PORT + 5)
    x.have(2)
    # none of those that follow has to wait for a region
    t.both(crowd_server, crowd, PORT + 6, n=CROWD)
    t.no_sockets(t.a, PORT + 6)
    group = groups(t.a)[0].id
    clean = {n: t.stat(t.a, n) for n in clean}

    t.step("lost at the client")
    lost, had = x.least("link_down"), ended(t)
    unaware = t.stat(t.a, "link_down")
    held = t.relay.rule(llc=DELETE_LINK, frm="b", drop=1)
    t.b.run("ip link set eth1 down")
    t.wait(lambda: len(active(t.b)) == 1, "the loss", 15)
    s, c = begin(t, PORT + 2)
    t.wait(lambda: ended(t) - had >= CROWD, "the handshakes", 30)
    t.equal(t.stat(t.a, "link_down"), unaware, "links that the server knows to be lost")
    t.relay.unrule(held)
    t.wait_all(s, c)
    unharmed(t, clean)
    lives_on(t, x, group, lost)
    card_up(t, t.b, 1)
    x.have(2)

    t.step("lost at the server")
    lost, had = x.least("link_down"), ended(t)
    unaware, said = t.stat(t.b, "link_down"), t.stat(t.b, "clc_tx")
    news = t.relay.rule(llc=DELETE_LINK, drop=1)
    held = t.relay.rule(clc=CONFIRM, drop=1)
    s, c = begin(t, PORT + 3)
    # Proposal and Confirm
    t.wait(lambda: t.stat(t.b, "clc_tx") - said >= 2 * CROWD, "Confirms under way", 30)
    t.a.run("ip link set eth1 down")
    t.wait(lambda: len(active(t.a)) == 1, "the loss", 15)
    t.equal(ended(t), had, "handshakes that have ended before")
    t.relay.unrule(held)
    t.wait(lambda: ended(t) - had >= CROWD, "the handshakes", 30)
    t.equal(t.stat(t.b, "link_down"), unaware, "links that the client knows to be lost")
    t.relay.unrule(news)
    t.wait_all(s, c)
    unharmed(t, clean)
    lives_on(t, x, group, lost)
    card_up(t, t.a, 1)
    x.have(2)

    unharmed(t, clean)
    x.stop()
