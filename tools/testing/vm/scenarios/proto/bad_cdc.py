# SPDX-License-Identifier: GPL-2.0
"""Impossible CDC messages end their connection or are dropped.

After a dropped one a later message repairs the state, as the RFC has it. Other connections
on the link go on, unless the message cannot be assigned to a connection: that costs the
link. The next connection works.

covers: CUR-12 CDC-05 CDC-08 CDC-09 CDC-13 CDC-14 URG-05 ABRT-09
"""
import errno
import fcntl
import select
import socket
import struct
import threading

from common import requests, serve_any, stays
from halves import Failure, Pattern, is_asleep

timeout = 110
TOLD = (errno.ECONNRESET, errno.ECONNABORTED, errno.EPIPE, errno.ETIMEDOUT)
EOF = 0
FIONREAD = 0x541B

# name: bytes changed in one CDC from the client, how many go before it, whether
# the client may see an ordinary end of the stream instead of an error
BREAKS = {
    "producer beyond the ring": ("12:7fffffff", 0, False),
    "consumer beyond the ring": ("20:7fffffff", 0, False),
    "producer wraps too far": ("10:4000", 0, False),
    "consumer ahead of what was sent": ("18:4000", 0, False),
    "producer goes back": ("12:00000005", 0, False),
    "consumer goes back": ("20:00000005", 5, False),
    # the answer to what came with D may be the last thing the server does
    "data after D": ("25:80", 0, True),
}
# nothing of such a message is valid, so the link is out of sync (ERR-54)
WRONG_LENGTH = "1:2b"
DROPPED = {
    "token that names nobody": "4:deadbeef",
    "old sequence number": "2:0001",
}


def victim(h, port):
    """A connection one CDC of which gets changed; returns its errno, or EOF."""
    s = h.connect(port)
    h.request(s, 100, 100)
    h.mark("ready")
    h.gate("go")
    try:
        for _ in range(20):
            h.request(s, 16, 16)
    except OSError as e:
        return e.errno
    except Failure:
        return EOF
    raise Failure("20 requests went through")


def repeater(h, port):
    """A request in two pieces; the message with the first gets lost."""
    s = h.connect(port)
    h.request(s, 100, 100)
    h.mark("ready")
    h.gate("go")
    s.sendall(struct.pack("!II", 16, 16))
    h.gate("changed")
    s.sendall(bytes(Pattern(5).at(0, 16)))
    h.recv_stream(s, 16, 6)
    h.finish(s)


def liar(h, port):
    """As victim(), but nothing happens to it."""
    s = h.connect(port)
    h.request(s, 100, 100)
    h.mark("ready")
    h.gate("go")
    for _ in range(20):
        h.request(s, 16, 16)
    h.finish(s)


def answer_some(h, port):
    """serve_any(), with urgent bytes in line."""
    def in_line(c):
        c.setsockopt(socket.SOL_SOCKET, socket.SO_OOBINLINE, 1)

    return serve_any(h, port, on_accept=in_line)


def unmoved(h, port):
    """A connection that receives flags without effect goes on."""
    s = h.connect(port)
    h.request(s, 100, 100)
    h.mark("ready")
    h.gate("go")
    h.request(s, 16, 16)
    h.gate("changed")
    news = select.poll()
    news.register(s, select.POLLIN | select.POLLRDHUP)
    h.equal(news.poll(0), [], "what poll() says with nothing to read")
    h.raises("recv() of an urgent byte", errno.EINVAL, s.recv, 1, socket.MSG_OOB)
    h.raises("recv() with nothing to read", errno.EAGAIN, s.recv, 1, socket.MSG_DONTWAIT)
    for _ in range(20):
        h.request(s, 16, 16)
    h.finish(s)


def told_late(h, port):
    """A message of its own says which byte is urgent: no more can come before it is read."""
    s = h.connect(port)
    h.request(s, 100, 100)
    h.mark("ready")
    h.gate("go")
    s.sendall(struct.pack("!II", 16, 16) + bytes(Pattern(5).at(0, 16)))
    h.wait(lambda: struct.unpack("i", fcntl.ioctl(s, FIONREAD, bytes(4)))[0] == 16, "an answer")
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, 100)
    told = []
    news = select.poll()
    news.register(s, select.POLLIN)
    th = threading.Thread(target=lambda: told.extend(news.poll()), daemon=True)
    th.start()
    h.wait(lambda: is_asleep(th.native_id), "a sleeper")
    h.gate("changed")
    s.sendall(struct.pack("!II", 16, 16))
    th.join(h.left())
    h.equal([event for _, event in told], [select.POLLIN], "events of poll()")
    h.equal(s.recv(1, socket.MSG_OOB), bytes(Pattern(6).at(15, 1)), "urgent byte")
    h.equal(h.recv_exact(s, 15), bytes(Pattern(6).at(0, 15)), "bytes in front of it")
    s.sendall(bytes(Pattern(5).at(0, 16)))
    h.recv_stream(s, 16, 6)
    h.finish(s)


def end_one(t, port, what, change, skip=0, may_end=False, frm="b"):
    """One CDC of a connection is changed, and that ends it."""
    from smcvm.changed import change_one
    t.step(what)
    c = t.half(t.b, victim, port=port)
    r = change_one(t, c, frm=frm, cdc=1, skip=skip, set=change)
    t.wait_all(c)
    t.equal(t.relay.hits(r)[1], 1, f"{what}: CDC messages changed")
    t.relay.unrule()
    t.check(c.value in TOLD or (may_end and c.value == EOF),
            f"{what}: the connection ended with {c.value}")


def next_works(t, port):
    """After first contact if the link had to go."""
    t.wait_all(t.half(t.b, requests, port=port, back=50000))
    t.rdma_start()
    t.wait_all(t.half(t.b, requests, port=port, back=50000))
    t.carried(t.a, 50000)


def run(t):
    if t.family != "smc":
        return
    from smcvm.changed import Beside, change_one
    port = 5140
    t.set(t.a, immediate_data=0)
    t.no_groups()
    s = t.half(t.a, answer_some, port=port)
    s.expect("listening")
    beside = Beside(t, port)
    for name, (change, skip, may_end) in BREAKS.items():
        end_one(t, port, name, change, skip, may_end)
        beside.goes_on(name)
        next_works(t, port)
    # an abort, and no end of the stream
    end_one(t, port, "D, C and A", "25:e0", frm="a")
    next_works(t, port)
    for name, change in DROPPED.items():
        t.step(name)
        c = t.half(t.b, repeater, port=port)
        r = change_one(t, c, cdc=1, set=change)
        t.wait(lambda: t.relay.hits(r)[1] == 1, f"{name}: a changed CDC", 20)
        c.gate("changed")
        t.wait_all(c)
        t.relay.unrule()
        beside.goes_on(name)
        next_works(t, port)
    # where urgent data is in line a mark without urgent data does no harm
    for flags in ("40", "20", "60"):
        t.step(f"flags {flags}")
        c = t.half(t.b, liar, port=port)
        r = change_one(t, c, cdc=1, set=f"24:{flags}")
        t.wait_all(c)
        t.equal(t.relay.hits(r)[1], 1, f"flags {flags}: CDC messages changed")
        t.relay.unrule()
        beside.goes_on(f"flags {flags}")
        next_works(t, port)
    t.step("reserved flags")
    c = t.half(t.b, unmoved, port=port)
    r = change_one(t, c, frm="a", cdc=1, set="25:1f")
    t.wait(lambda: t.relay.hits(r)[1] == 1, "reserved flags: a changed CDC", 20)
    c.gate("changed")
    t.wait_all(c)
    t.relay.unrule()
    beside.goes_on("reserved flags")
    next_works(t, port)
    t.step("U in a message of its own")
    c = t.half(t.b, told_late, port=port)
    first = change_one(t, c, frm="a", cdc=1, set="24:40")
    t.wait(lambda: t.relay.hits(first)[1] == 1, "a CDC with P", 20)
    # B asks for a message without data
    rules = [t.relay.rule(cdc=1, frm=frm, count=1, set=change)
             for frm, change in (("b", "24:80"), ("a", "24:60"))]
    c.gate("changed")
    t.wait_all(c)
    t.equal([t.relay.hits(r)[1] for r in rules], [1, 1], "CDC messages changed")
    t.relay.unrule()
    beside.goes_on("U in a message of its own")
    next_works(t, port)
    end_one(t, port, "wrong length", WRONG_LENGTH)
    beside.is_lost("wrong length", TOLD)
    # B hears of it by TCP, and waits for an abort on a link that A has not any more
    t.wait(lambda: not t.b.sockets(state="PEERABORTWAIT"), "B learns that the link is lost", 10)
    next_works(t, port)
    s.gate("stop")
    s.wait(t.left())
