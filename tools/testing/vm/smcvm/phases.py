# SPDX-License-Identifier: GPL-2.0
"""Link groups in the midst of an LLC exchange: each of its messages lost on the wire.

Imported within run(): machines have no use for it. The scenario's file has the halves
server and client of guest/streams.py, serve_any and ask_once of guest/common.py.
"""
from .links import active, delete, give_up, several

BIG = 1 << 18
CONFIRM_LINK, ADD_LINK, ADD_LINK_CONT, DELETE_LINK, CONFIRM_RKEY, DELETE_RKEY = 1, 2, 3, 4, 6, 9
REQUEST, REPLY = "3:00", "3:80"


def another_link(x):
    x.t.b.run("rdma link add rxe1 type rxe netdev eth1")


def deleted_link(vm):
    def cause(x):
        give_up(vm)
    return cause


def another_rmb(x):
    x.procs.append(x.t.half(x.t.b, "ask_once", port=x.other_port, size=BIG))


def idle_rmb(x):
    another_rmb(x)
    x.t.wait_all(x.procs.pop())


def phases(t):
    """(message, sender, at, name, what brings it about)"""
    for sender, at in (("a", REQUEST), ("b", REPLY)):
        for msg, name in ((ADD_LINK, "ADD LINK"), (ADD_LINK_CONT, "ADD LINK CONTINUATION")):
            yield msg, sender, at, name, another_link
        # its flags have the dialect, too; only the server asks
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


class Stand:
    """A group whose message of a phase was lost: everybody stands where that finds them."""

    def __init__(self, t, phase, port, then):
        msg, sender, at, name, cause = phase
        self.t = t
        self.port, self.other_port = port, port + 1
        self.what = f"{name} from {sender} at {at} lost, {then}"
        t.step(self.what)
        several(t, smcr_testlink_time=1, rmb_idle_ms=300 if cause is idle_rmb else 60000)
        self.other = t.half(t.a, "serve_any", port=self.other_port, sndbuf=BIG, rcvbuf=BIG)
        s = t.half(t.a, "server", port=port, count=2, end="broken")
        for p in (self.other, s):
            p.expect("listening", t.left())
        self.procs = [s, t.half(t.b, "client", port=port, count=2, end="broken")]
        self.have(2)
        if cause is another_link:
            delete(t.b, 1)
            self.have(1)
        rule = t.relay.rule(llc=msg, frm=sender, at=at, drop=1)
        cause(self)
        t.wait(lambda: t.relay.hits(rule)[1], f"{self.what}: the message", 20)

    def have(self, links):
        t = self.t
        t.wait(lambda: all(len(active(vm)) == links for vm in (t.a, t.b)),
               f"{self.what}: {links} links", 30)

    def on(self, vm):
        return [p for p in self.procs if p.vm is vm]

    def stop(self):
        """The server of single connections ends in good order."""
        self.other.gate("stop")
        self.t.wait_all(self.other)

    def forget(self):
        """No socket is left on either side."""
        for vm in (self.t.a, self.t.b):
            for port in (self.port, self.other_port):
                self.t.no_sockets(vm, port)
