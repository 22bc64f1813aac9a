# SPDX-License-Identifier: GPL-2.0
"""Stops link groups in an LLC exchange: the wire drops one of its messages.

Import this within run(): the machines cannot import it. The scenario's file has the halves
server and client of guest/streams.py, serve_till_lost and ask_once of guest/common.py.
"""
import time

from .links import NEVER, Streams, active, delete, give_up, several

OTHER = 1 << 16     # another size than the default
RESET = {"ECONNRESET", "ECONNABORTED", "EPIPE", "ETIMEDOUT"}
CONFIRM_LINK, ADD_LINK, ADD_LINK_CONT, DELETE_LINK, CONFIRM_RKEY, DELETE_RKEY = 1, 2, 3, 4, 6, 9
REQUEST, REPLY = "3:00", "3:80"


def another_link(x):
    x.t.b.run(f"rdma link add rxe{x.spare} type rxe netdev eth{x.spare}")


def deleted_link(vm):
    def cause(x):
        give_up(vm)
    return cause


def another_rmb(x):
    x.procs.append(x.t.half(x.t.b, "ask_once", port=x.other_port, size=OTHER))


def idle_rmb(x):
    another_rmb(x)
    x.t.wait_all(x.procs.pop())


def phases(t):
    """Yield (message, sender, at, name, function that starts the exchange)."""
    for sender, at in (("a", REQUEST), ("b", REPLY)):
        for msg, name in ((ADD_LINK, "ADD LINK"), (ADD_LINK_CONT, "ADD LINK CONTINUATION")):
            yield msg, sender, at, name, another_link
        # its flags also have the dialect; only the server sends the request
        yield CONFIRM_LINK, sender, "0:01", "CONFIRM LINK", another_link
        yield DELETE_LINK, sender, "3:20" if sender == "a" else REPLY, "DELETE LINK", \
            deleted_link(t.a)
    yield DELETE_LINK, "b", "3:20", "DELETE LINK of the client", deleted_link(t.b)
    for sender in "ab":
        yield CONFIRM_RKEY, sender, REQUEST, "CONFIRM RKEY", another_rmb
    yield DELETE_RKEY, "a", REQUEST, "DELETE RKEY", idle_rmb
    for sender in "ab":
        yield CONFIRM_RKEY, sender, REPLY, "CONFIRM RKEY", another_rmb
    yield DELETE_RKEY, "b", REPLY, "DELETE RKEY", idle_rmb


def links_tell(phase):
    """Settings for the peer of a machine that is killed: a wait for an answer fails the run.

    The links detect the loss, by sends that fail and by TEST LINK. But a link that is not
    confirmed yet may be the only one left: there the timer for CONFIRM LINK or its reply
    detects it. The client starts it with its last message of the exchange before.
    """
    names = ["llc_delete_link_ms", "llc_terminate_ms", "close_timeout_ms"]
    if phase[0] != CONFIRM_LINK and phase[:2] != (ADD_LINK_CONT, "b"):
        names.append("llc_reply_ms")
    return dict.fromkeys(names, NEVER)


class Stand:
    """A group in which the message of a phase was lost: both sides stay at that step.

    It has LINKS, one for each RNIC, and two streams, which END as those of Streams do.
    MORE are settings, as for several().
    """

    def __init__(self, t, phase, port, then, links=2, end="broken", **more):
        msg, sender, at, name, cause = phase
        self.t, self.more = t, more
        self.port, self.other_port = port, port + 1
        self.spare = links - 1
        self.what = f"{name} from {sender} at {at} lost, {then}"
        t.step(self.what)
        several(t, links, smcr_testlink_time=1,
                rmb_idle_ms=300 if cause is idle_rmb else 60000, **more)
        self.other = t.half(t.a, "serve_till_lost", port=self.other_port, sndbuf=OTHER, rcvbuf=OTHER)
        self.other.expect("listening", t.left())
        self.streams = Streams(t, port, 2, end=end)
        self.procs = [self.streams.s, self.streams.c]
        self.have(links)
        if cause is another_link:
            delete(t.b, self.spare)
            self.have(links - 1)
        self.was_down = self.streams.least("link_down")
        rules = [t.relay.rule(seg=k, llc=msg, frm=sender, at=at, drop=1) for k in range(links)]
        cause(self)
        # the rule of the link that carries the message, where retransmissions repeat it
        self.rule = t.wait(lambda: next((x for x in rules if t.relay.hits(x)[1]), None),
                           f"{self.what}: the message", 20)
        for rule in rules:
            if rule != self.rule:
                t.relay.unrule(rule)

    def have(self, links):
        t = self.t
        t.wait(lambda: all(len(active(vm)) == links for vm in (t.a, t.b)),
               f"{self.what}: {links} links", 30)

    def on(self, vm):
        return [p for p in self.procs if p.vm is vm]

    def reset(self, vm, gone):
        """Wait until VM resets its connections after the other machine has GONE.

        With settings of links_tell() it waits for no other answer. Returns the duration.
        """
        t = self.t
        began = time.monotonic()
        gone()
        streams, *asker = self.on(vm)
        t.wait_all(streams)
        took = time.monotonic() - began
        t.check(set(streams.value) <= RESET, f"{self.what}: streams ended with {streams.value}")
        # this connection may have fallen back, or have its answer
        t.wait_all(*asker)
        return took

    def stop(self):
        """Stop the server of single connections in good order."""
        self.other.gate("stop")
        self.t.wait_all(self.other)

    def forget(self):
        """Check that no socket is left on either side; restore the settings MORE."""
        for vm in (self.t.a, self.t.b):
            for port in (self.port, self.other_port):
                self.t.no_sockets(vm, port)
        for name in self.more:
            self.t.restore(name)
