# SPDX-License-Identifier: GPL-2.0
"""A peer that deletes an RMB under a connection; the element it leaves behind.

The relay makes DELETE RKEY of a probe from A, with A's first two keys: those of
the RMB and of the send area of the first connection. B must answer, must not
write there any more, and must leave everything else alone. A, which knows of
nothing, loses the element that B may still write to, and gives its RMB back.

covers: RMB-24 RMB-30 RKEY-19 ABRT-13 CLOSE-23
"""
import errno
import re

from common import requests, serve

timeout = 60
TOLD = (errno.ECONNRESET, errno.ECONNABORTED, errno.EPIPE, errno.ETIMEDOUT)
DELETE_RKEY, TEST_LINK = 9, 7


def server(h, port):
    """One connection; returns the errno that ended it, or 0."""
    ls = h.listen(port)
    c = h.accept(ls)
    ls.close()
    try:
        h.answer(c)
    except OSError as e:
        return e.errno
    c.close()
    return 0


def victim(h, port):
    s = h.connect(port)
    h.request(s, 3000, 3000)
    h.mark("ready")
    try:
        s.recv(1)
    except OSError as e:
        return e.errno
    return 0


def survivor(h, port):
    s = h.connect(port)
    h.request(s, 3000, 3000)
    h.mark("ready")
    h.gate("again")
    h.request(s, 3000, 50000)
    h.mark("done")
    h.gate("end")
    h.finish(s)


def start(t, client, port):
    s = t.half(t.a, server, port=port)
    s.expect("listening")
    c = t.half(t.b, client, port=port)
    t.expect_all("ready", c)
    return s, c


def keys(t):
    """The keys of A's memory regions."""
    text = t.a.run("rdma resource show mr").out
    return set(re.findall(r"\brkey (?:0x)?([0-9a-f]+)", text))


def run(t):
    if t.family != "smc":
        return
    t.no_groups()
    # the probe that becomes another message is never answered
    t.set(t.a, smcr_testlink_time=1, llc_test_link_ms=600000, close_timeout_ms=1000,
          rmb_idle_ms=1000)
    before = keys(t)
    s1, c1 = start(t, victim, 5160)
    # what was made to offer a second link is gone
    t.wait(lambda: t.queue_pairs(t.a) == 1 and len(keys(t) - before) <= 2,
           "end of the attempt at a second link", 10)
    first = sorted(keys(t) - before)
    t.equal(len(first), 2, f"memory regions of the first connection: {first}")
    s2, c2 = start(t, survivor, 5161)

    words = "".join(key.rjust(8, "0") for key in first)
    # the answer becomes one of the messages that nobody has to understand
    reply = t.relay.rule(llc=DELETE_RKEY, frm="b", count=1, set="0:80")
    probe = t.relay.rule(llc=TEST_LINK, frm="a", count=1,
                         set=f"0:092c000002000000{words}00000000")
    t.wait_all(c1, s1)
    t.check(c1.value in TOLD, f"the client's connection ended with {c1.value}")
    t.check(s1.value in TOLD, f"the server's connection ended with {s1.value}")
    t.equal(t.relay.hits(probe)[1], 1, "probes changed")
    t.wait(lambda: t.relay.hits(reply)[1] == 1, "the answer to DELETE RKEY", 10)
    t.no_sockets(t.a, 5160)
    t.no_sockets(t.b, 5160)

    # what A lost goes with its RMB; B does not know that key any more
    t.wait(lambda: not keys(t) & set(first), "end of the first connection's memory", 20)
    t.wait(lambda: t.relay.hits(reply)[0] >= 2, "the answer to the second DELETE RKEY", 10)

    # the same link still carries the other connection, and takes new ones
    t.equal(t.queue_pairs(t.a), 1, "queue pairs of A")
    t.rdma_start()
    c2.gate("again")
    t.expect_all("done", c2)
    t.both(serve, requests, 5162, sargs={"count": 3}, cargs={"n": 3, "back": 50000})
    t.carried(t.a, 200000)
    t.equal(t.queue_pairs(t.a), 1, "queue pairs of A")
    c2.gate("end")
    t.wait_all(c2, s2)
    t.equal(s2.value, 0, "the other connection")
