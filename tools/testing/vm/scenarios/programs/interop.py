# SPDX-License-Identifier: GPL-2.0
"""The distribution's module at the other end, in both roles: SMC-R version 2.1.

Over soft-RoCE that module speaks version 2 only, and only if an EID was added. Its
deviations from RFC 7609 must not cost time: our module waits without limit for a message
of a handshake, including the offer of a second link, so a wait for a message that never
comes exceeds the scenario's limit. connect() fails where the other module waits for a CLC
message that never comes. The scenario ignores its waits for LLC messages, because their
times (2, 3 and 6 s) cannot be set.

covers: CLC-05 FC-06 FC-10 SC-05 RKEY-04 RKEY-16 CLOSE-26 ABRT-05 ERR-27 TMR-15
"""
import errno
import select
import socket
import struct
import time

from common import (drink_server, ends_first, goes_on, pour, requests, serve, stream_client,
                    stream_server)

kernels = ("stock",)
dialects = (0,)
sides = ("ours", "stock")
timeout = 120
PORT = 5090
TEST_LINK = 7


def half_server(h, port, first):
    c = h.accept(h.listen(port))
    (ends_first if first == "server" else goes_on)(h, c, 300_007)


def half_client(h, port, first):
    s = h.connect(port)
    (ends_first if first == "client" else goes_on)(h, s, 300_007)


def leaves_unread(h, s):
    """Wait for bytes, read none of them, close."""
    select.select([s], [], [], h.left())
    s.close()


def unread_server(h, port, who):
    c = h.accept(h.listen(port))
    return leaves_unread(h, c) if who == "server" else sees_end(h, c, 9000)


def unread_client(h, port, who):
    s = h.connect(port)
    return leaves_unread(h, s) if who == "client" else sees_end(h, s, 9000)


def lingers_not(h, s):
    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    h.recv_exact(s, 3)
    s.close()


def sees_end(h, s, n=3):
    """The errno with which the peer goes; 0 for an end of stream."""
    s.sendall(b"x" * n)
    try:
        h.equal(s.recv(1), b"", "what comes after the peer has gone")
        what = 0
    except OSError as e:
        what = e.errno
    s.close()
    return what


def abort_server(h, port, who):
    c = h.accept(h.listen(port))
    return lingers_not(h, c) if who == "server" else sees_end(h, c)


def abort_client(h, port, who):
    s = h.connect(port)
    return lingers_not(h, s) if who == "client" else sees_end(h, s)


def ping_server(h, port, n):
    c = h.accept(h.listen(port))
    for i in range(n):
        c.sendall(h.recv_exact(c, 1 + i % 113))
    h.finish(c)


def ping_client(h, port, n):
    s = h.connect(port)
    t0 = time.monotonic()
    for i in range(n):
        want = bytes([(i + k) & 255 for k in range(1 + i % 113)])
        s.sendall(want)
        h.equal(h.recv_exact(s, len(want)), want, f"round {i}")
    took = time.monotonic() - t0
    h.finish(s)
    return took / n


def rests(h, s, mine, theirs):
    """Some bytes, then silence until the gate opens, then some more."""
    h.both_ways(s, 40_009, mine, 40_009, theirs)
    h.mark("moved")
    h.gate("end")
    h.both_ways(s, 300_007, mine, 300_007, theirs)
    h.finish(s)


def idle_server(h, port):
    rests(h, h.accept(h.listen(port)), 2, 1)


def idle_client(h, port):
    rests(h, h.connect(port), 1, 2)


def no_sockets(t, port):
    for vm in (t.a, t.b):
        t.no_sockets(vm, port)


def connections(t, ours):
    """One after the other: the first one makes the group, the others churn keys."""
    from smcvm.links import WAITS, groups

    n = 40
    t.set(ours, **WAITS)
    s = t.half(t.a, serve, port=PORT, count=n)
    s.expect("listening")
    c = t.half(t.b, requests, port=PORT, n=n)
    t.wait_all(s, c)
    times = c.value
    t.equal(t.stat(ours, "llc_timeout"), 0, "LLC messages that did not come in time")
    t.equal(t.stat(ours, "first_contact"), 1, "first contacts")
    t.equal(t.stat(ours, "subsequent_contact"), n - 1, "subsequent contacts")
    t.equal(t.queue_pairs(ours), 1, "queue pairs")
    # as a client it leaves its name out of the Proposal
    t.check(int(groups(ours)[0].peer, 16), "the link group tells not whose it is")
    first, *later = (round(x * 1e3) for x in times)
    t.note(f"first {first} ms, then {sorted(later)[n // 2]} ms, {max(later)} at most")


def streams(t):
    """Much data both ways at once, many times round the rings."""
    n_in, n_out = 6_000_019, 4_000_057
    t.rdma_start()

    def moved():
        t.carried(t.b, n_in)
        t.carried(t.a, n_out)

    t.in_step(stream_server, stream_client, PORT + 1, moved, n_in=n_in, n_out=n_out)


def ends(t, sides):
    """Every way to end a connection, from either side."""
    for who in ("client", "server"):
        is_ours = sides[who == "client"] == "ours"
        t.both(half_server, half_client, PORT + 2, first=who)
        no_sockets(t, PORT + 2)
        values = t.both(unread_server, unread_client, PORT + 3, who=who)
        err = values[who == "server"]
        # the other module takes an abort for an end of stream
        t.check(err == errno.ECONNRESET or (is_ours and err == 0),
                f"errno {err} when the {who} closes with bytes unread")
        no_sockets(t, PORT + 3)
        values = t.both(abort_server, abort_client, PORT + 4, who=who)
        # and does not abort for SO_LINGER
        t.check(values[who == "server"] in (0, errno.ECONNRESET),
                f"errno {values[who == 'server']} when the {who} aborts")
        no_sockets(t, PORT + 4)


def killed(t):
    """A process is killed while data flows, on either side; other connections go on."""
    for victim in (0, 1):
        s = t.half(t.a, drink_server, port=PORT + 5)
        s.expect("listening")
        c = t.half(t.b, pour, port=PORT + 5)
        s.expect("flowing")
        pair = (s, c)
        pair[victim].kill()
        t.wait_all(pair[1 - victim])
        t.check(pair[1 - victim].value in (0, errno.ECONNRESET, errno.EPIPE,
                                           errno.ECONNABORTED), "the survivor's errno")
        pair[victim].wait(t.left(), check=False)
        no_sockets(t, PORT + 5)
    t.both(serve, requests, PORT + 5, sargs={"count": 3}, cargs={"n": 3})


def crowd(t):
    """Many connections at a time."""
    s = t.half(t.a, serve, port=PORT + 6, count=6 * 8)
    s.expect("listening")
    t.wait_all(s, *[t.half(t.b, requests, port=PORT + 6, n=8, size=3000, back=40000)
                    for _ in range(6)])


def end_server(h, port):
    h.at_end(h.accept(h.listen(port)))


def hasty_client(h, port):
    h.connect(port).close()


def hasty(t):
    """The first client closes at once: its FIN is there before its last LLC message."""
    rule = t.relay.rule(proto="roce", frm="b", delay=400)
    t.both(end_server, hasty_client, PORT + 9)
    t.relay.unrule(rule)
    t.equal(t.stat(t.a, "server_failed"), 0, "handshakes that failed")
    t.equal(t.stat(t.a, "server_smc"), 1, "connections over SMC-R")
    no_sockets(t, PORT + 9)


def last_server(h, port):
    s = h.accept(h.listen(port))
    s.sendall(b"bye")
    s.close()


def last_client(h, port):
    s = h.connect(port)
    h.equal(h.recv_exact(s, 3), b"bye", "what the server had to say")
    h.at_end(s)
    s.close()


def hasty_server(t):
    """Its FIN is there before the client's RNIC knows that its last LLC message is."""
    t.set(t.b, smcr_max_links_per_lgr=1)
    rule = t.relay.rule(proto="roce", frm="a", delay=400)
    t.both(last_server, last_client, PORT + 9)
    t.relay.unrule(rule)
    t.equal(t.stat(t.b, "client_failed"), 0, "handshakes that failed")
    t.equal(t.stat(t.b, "client_smc"), 1, "connections over SMC-R")
    t.set(t.b, smcr_max_links_per_lgr=2)
    no_sockets(t, PORT + 9)


def idle(t, sides):
    """A silent link is tested by either side, is answered, and stays.

    By one of them at a time: what it hears counts for the other one as well.
    """
    for by in (t.a, t.b):
        ours, _ = t.strangers(sides)
        to = t.b if by is t.a else t.a
        for vm, seconds in ((by, 1), (to, 60)):
            vm.sysctl("net.smc.smcr_testlink_time", seconds)
        # the byte with the flag of a reply
        asked, told = (t.relay.rule(llc=TEST_LINK, frm=vm.name, at=at)
                       for vm, at in ((by, "3:00"), (to, "3:80")))

        def tested():
            t.wait(lambda: all(t.relay.hits(r)[0] >= 2 for r in (asked, told)),
                   f"TEST LINK by {by.name} and replies", 20)

        t.in_step(idle_server, idle_client, PORT + 10, tested)
        t.relay.unrule()
        t.equal(t.stat(ours, "link_down"), 0, f"links lost that {by.name} tested")
        t.equal(t.stat(ours, "first_contact"), 1, "first contacts")
        no_sockets(t, PORT + 10)


def without_eid(t, ours):
    """Nothing in common: TCP, at once, with the bytes in order."""
    from smcvm.links import WAITS
    t.set(ours, **WAITS)
    t.ueid(ours, "--flush")
    t.rdma_start()
    s = t.half(t.a, stream_server, port=PORT + 7, n_in=100_003, n_out=50_001)
    s.expect("listening")
    c = t.half(t.b, stream_client, port=PORT + 7, n_in=100_003, n_out=50_001)
    t.expect_all("moved", s, c)
    t.mode(t.a, "TCP", PORT + 7)
    t.mode(t.b, "TCP", PORT + 7)
    for p in (s, c):
        p.gate("end")
    t.wait_all(s, c)
    t.note(f"TCP after {c.value * 1e3:.0f} ms")


def run(t):
    for sides_now in (("ours", "stock"), ("stock", "ours")):
        idle(t, sides_now)
        ours, _ = t.strangers(sides_now)
        if ours is t.a:
            hasty(t)
        else:
            hasty_server(t)
        t.strangers(sides_now)
        connections(t, ours)
        no_sockets(t, PORT)
        t.both(ping_server, ping_client, PORT + 8, n=500)
        streams(t)
        ends(t, sides_now)
        killed(t)
        crowd(t)
        without_eid(t, ours)
        no_sockets(t, PORT + 7)
