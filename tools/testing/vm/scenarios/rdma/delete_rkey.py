# SPDX-License-Identifier: GPL-2.0
"""A peer that deletes an RMB under a connection gets an answer and no further writes.

The relay makes DELETE RKEY of a probe from A, with A's first two keys: those of the RMB and
of the send region of the first connection. B must answer, must stop writing there, and must
leave everything else alone. A, which has deleted nothing, has a lost element, because B
might still write to it, and frees its RMB.

Where B has closed and waits only for A's C, an earlier DELETE RKEY replaces the C: the
connection ends in good order.

covers: RMB-24 RMB-30 RKEY-19 ABRT-13 CLOSE-23
"""
import errno
import re
import socket

from common import requests, serve

timeout = 60
TOLD = (errno.ECONNRESET, errno.ECONNABORTED, errno.EPIPE, errno.ETIMEDOUT)
DELETE_RKEY, TEST_LINK = 9, 7
RST = 4
HOUR = 3600000  # ms


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


def keeper(h, port):
    """Reads to the end and keeps the connection; returns the errno that is pending."""
    ls = h.listen(port)
    c = h.accept(ls)
    ls.close()
    h.answer(c)
    h.mark("at the end")
    h.gate("close")
    err = c.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
    c.close()
    return err


def closer(h, port):
    s = h.connect(port)
    h.request(s, 3000, 3000)
    h.mark("ready")
    h.gate("close")
    s.close()


def start(t, client, port, at_a=server):
    s = t.half(t.a, at_a, port=port)
    s.expect("listening")
    c = t.half(t.b, client, port=port)
    t.expect_all("ready", c)
    return s, c


def keys(t):
    """The keys of A's memory regions."""
    text = t.a.run("rdma resource show mr").out
    return set(re.findall(r"\brkey (?:0x)?([0-9a-f]+)", text))


def keys_of_first(t, before):
    """Those that A has for its first connection, beside those it had BEFORE."""
    # what was made to offer a second link is gone
    t.wait(lambda: t.queue_pairs(t.a) == 1 and len(keys(t) - before) <= 2,
           "end of the attempt at a second link", 10)
    first = sorted(keys(t) - before)
    t.equal(len(first), 2, f"memory regions of the first connection: {first}")
    return first


def delete(t, first):
    """Make A's next probe delete the keys FIRST; the rules of the answer and of the probe."""
    words = "".join(key.rjust(8, "0") for key in first)
    # the answer becomes a message that receivers may ignore
    reply = t.relay.rule(llc=DELETE_RKEY, frm="b", count=1, set="0:80")
    probe = t.relay.rule(llc=TEST_LINK, frm="a", count=1,
                         set=f"0:092c000002000000{words}00000000")
    return reply, probe


def while_in_use(t):
    """A connection is cut off, another one of the group goes on."""
    t.set(t.a, close_timeout_ms=1000)
    before = keys(t)
    s1, c1 = start(t, victim, 5160)
    first = keys_of_first(t, before)
    s2, c2 = start(t, survivor, 5161)

    reply, probe = delete(t, first)
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


def before_c(t):
    """B has closed, A's program has not; A's C comes behind the deletion."""
    # what B waits for comes by nothing else
    for vm in (t.a, t.b):
        t.set(vm, close_timeout_ms=HOUR)
    before = keys(t)
    conflicts = t.stat(t.b, "rmbe_conflict")
    s, c = start(t, closer, 5163, keeper)
    first = keys_of_first(t, before)
    resets = t.relay.rule(proto="tcp", frm="b", port=5163, flags=RST)
    c.gate("close")
    t.wait_all(c)
    s.expect("at the end", t.left())
    t.check(t.b.sockets(dport=5163, state="PEERCLOSEWAIT1"), f"B does not wait for C: {t.b.sockets()}")
    _, probe = delete(t, first)
    t.no_sockets(t.b, 5163)
    t.equal(t.relay.hits(probe)[1], 1, "probes changed")
    t.equal(t.stat(t.b, "rmbe_conflict"), conflicts, "connections that were cut off")
    s.gate("close")
    t.wait_all(s)
    t.equal(s.value, 0, "error of A's socket")
    t.equal(t.relay.hits(resets)[0], 0, "resets of B's")
    t.no_sockets(t.a, 5163)


def run(t):
    if t.family != "smc":
        return
    # the probe that becomes another message is not answered, the next one is
    t.set(t.a, smcr_testlink_time=1, rmb_idle_ms=1000)
    for part in (while_in_use, before_c):
        t.step(part.__name__)
        t.no_groups()
        part(t)
