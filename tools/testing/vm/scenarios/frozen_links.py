# SPDX-License-Identifier: GPL-2.0
"""A machine stands still, or is killed, while a link is added or deleted or an RMB
announced: at each message of the exchange, sender and receiver (one of them, and one
kill, without --long).

The message is lost on the wire, so that everybody stands where it finds them. The
other machine resets its connections and keeps nothing; so does the one that stood
still when it goes on.

covers: PEER-02 PEER-03 ERR-29 ERR-30 ERR-33 ERR-39 ERR-40 LLC-14
"""
import socket

from common import serve_any
from streams import client, server  # noqa: F401, halves

nics = 2
timeout = 600
PORT, OTHER = 5350, 5351
BIG = 1 << 18
CONFIRM_LINK, ADD_LINK, ADD_LINK_CONT, DELETE_LINK, CONFIRM_RKEY, DELETE_RKEY = 1, 2, 3, 4, 6, 9
TCP_USER_TIMEOUT = 18
REQUEST, REPLY = "3:00", "3:80"


def asks_once(h, port):
    """A connection with rings so large that they need an RMB of their own; 0 or errno.

    Where it has become TCP it is TCP that has to find out about the other machine.
    """
    try:
        s = h.connect(port, sndbuf=BIG, rcvbuf=BIG)
        s.setsockopt(socket.IPPROTO_TCP, TCP_USER_TIMEOUT, 3000)
        h.request(s)
        h.finish(s)
        return 0
    except OSError as e:
        return e.errno


def another_link(t):
    t.b.run("rdma link add rxe1 type rxe netdev eth1")
    return []


def deleted_link(vm):
    from smcvm.links import give_up
    give_up(vm)
    return []


def another_rmb(t):
    return [t.half(t.b, asks_once, port=OTHER)]


def idle_rmb(t):
    t.wait_all(*another_rmb(t))
    return []


def phases(t):
    """(message, sender, at, what brings it about)"""
    for sender, at in (("a", REQUEST), ("b", REPLY)):
        for msg, name in ((ADD_LINK, "ADD LINK"), (ADD_LINK_CONT, "ADD LINK CONTINUATION")):
            yield msg, sender, at, name, another_link, t
        # its flags have the dialect, too; only the server asks
        yield CONFIRM_LINK, sender, "0:01", "CONFIRM LINK", another_link, t
        yield DELETE_LINK, sender, "3:20" if sender == "a" else REPLY, "DELETE LINK", \
            deleted_link, t.a
    yield DELETE_LINK, "b", "3:20", "DELETE LINK of the client", deleted_link, t.b
    for sender in "ab":
        yield CONFIRM_RKEY, sender, REQUEST, "CONFIRM RKEY", another_rmb, t
    yield DELETE_RKEY, "a", REQUEST, "DELETE RKEY", idle_rmb, t


def one(t, phase, victim, is_killed):
    from smcvm.links import active, delete, several
    msg, sender, at, name, cause, arg = phase
    what = (f"{name} from {sender} at {at} lost, {victim.name} "
            f"{'killed' if is_killed else 'frozen'}")
    t.step(what)
    several(t, smcr_testlink_time=1, rmb_idle_ms=300 if cause is idle_rmb else 60000)
    other = t.half(t.a, serve_any, port=OTHER, sndbuf=BIG, rcvbuf=BIG)
    s = t.half(t.a, server, port=PORT, count=2, end="broken")
    for p in (other, s):
        p.expect("listening", t.left())
    procs = [s, t.half(t.b, client, port=PORT, count=2, end="broken")]

    def have(links):
        t.wait(lambda: all(len(active(vm)) == links for vm in (t.a, t.b)),
               f"{what}: {links} links", 30)

    have(2)
    if cause is another_link:
        delete(t.b, 1)
        have(1)
    rule = t.relay.rule(llc=msg, frm=sender, at=at, drop=1)
    procs += cause(arg)
    t.wait(lambda: t.relay.hits(rule)[1], f"{what}: the message", 20)
    survivor = t.a if victim is t.b else t.b
    if is_killed:
        victim.destroy()
    else:
        victim.freeze()
    t.wait_all(*[p for p in procs if p.vm is survivor])
    t.wait(lambda: not t.queue_pairs(survivor), f"{what}: end of the queue pairs", 20)
    t.relay.unrule()
    if is_killed:
        t.reboot(victim)
    else:
        victim.thaw()
        t.wait_all(*procs)
        t.wait(lambda: not t.queue_pairs(victim), f"{what}: end of its queue pairs", 20)
    other.gate("stop")
    t.wait_all(other)
    for vm in (t.a, t.b):
        for port in (PORT, OTHER):
            t.no_sockets(vm, port)


def run(t):
    if t.family != "smc":
        return
    from smcvm.links import Streams, several
    all_phases = list(phases(t))
    both = (t.a, t.b)
    for k, phase in enumerate(all_phases):
        for victim in both if t.long else both[k % 2:k % 2 + 1]:
            one(t, phase, victim, False)
    # ADD LINK, CONFIRM RKEY and DELETE LINK
    for phase in (all_phases[0], all_phases[-3], all_phases[3]) if t.long else all_phases[:1]:
        one(t, phase, t.b, True)
    # all is as before
    several(t)
    x = Streams(t, PORT + 2)
    x.have(2)
    x.more()
    x.stop()
