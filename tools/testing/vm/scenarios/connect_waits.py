# SPDX-License-Identifier: GPL-2.0
"""connect() that waits for the SYN-ACK, and who goes on with it when it comes.

It is the waiting call itself, which needs no worker where the peer has no SMC; or a
worker where the call has left, for its time or a signal; or whoever waits next.

covers: OPT-09 OPT-10
"""
import errno
import select
import signal
import socket
import struct

from common import serve

PORT = 5460
PEERNOSMC = 0x03010000
SYN_ACK, RST = 0x12, 4
EVENT = "/sys/kernel/tracing/events/workqueue/workqueue_execute_start/enable"


class Alarm(Exception):
    pass


def stays(h, s, addr):
    """The call waits until there is a connection."""
    h.mark("left")
    s.connect(addr)


def in_vain(h, s, addr):
    """SO_SNDTIMEO ends the call, not the attempt."""
    s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", 0, 200000))
    h.raises("connect() for 0.2 s", errno.EINPROGRESS, s.connect, addr)
    h.raises("connect() for 0.2 s more", errno.EALREADY, s.connect, addr)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", 0, 0))
    h.mark("left")
    until_writable(h, s)


def signalled(h, s, addr):
    """A signal ends the call, not the attempt."""
    def ring(_number, _frame):
        raise Alarm
    signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    try:
        s.connect(addr)
        h.check(False, "connect() came back without a connection")
    except Alarm:
        pass
    h.mark("left")
    until_writable(h, s)


def polls(h, s, addr):
    """The call does not wait."""
    s.setblocking(False)
    h.equal(s.connect_ex(addr), errno.EINPROGRESS, "connect()")
    s.setblocking(True)
    h.mark("left")
    until_writable(h, s)


def sends(h, s, addr):
    """The call does not wait, but the send() behind it does."""
    s.setblocking(False)
    h.equal(s.connect_ex(addr), errno.EINPROGRESS, "connect()")
    s.setblocking(True)
    h.mark("left")


def until_writable(h, s):
    p = select.poll()
    p.register(s, select.POLLIN | select.POLLOUT)
    h.equal([ev for _, ev in p.poll(h.left() * 1000)], [select.POLLOUT], "events")
    h.equal(s.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR), 0, "SO_ERROR")


WAYS = {f.__name__: f for f in (stays, in_vain, signalled, polls, sends)}


def client(h, port, way):
    s = h.socket()
    WAYS[way](h, s, (h.config["peer4"], port))
    h.request(s)
    h.mark("asked")
    h.gate("end")
    h.finish(s)


def nobody(h, port):
    """The RST comes late."""
    s = h.socket()
    h.mark("left")
    h.raises("connect() to nobody", errno.ECONNREFUSED, s.connect, (h.config["peer4"], port))
    s.close()


def held(t, c, flags):
    """Keep the server's answer away from C until it has said that it left."""
    t.expect_all("left", c)
    t.wait(lambda: t.relay.hits(flags)[0], "an answer that is held", 20)
    t.relay.unrule(flags)


def is_unused(t):
    """Nothing but other modules holds the client's."""
    return t.family == "tcp" or not t.b.run(
        "cd /sys/module/smc; [ $(cat refcnt) -eq $(ls holders | wc -l) ]", check=False).rc


def one(t, server, port, way):
    is_plain = server == "tcp" or t.family == "tcp"
    t.step(f"{way}, {server} server")
    rule = t.relay.rule(proto="tcp", frm="a", port=port, flags=SYN_ACK, drop=1)
    c = t.half(t.b, client, port=port, way=way)
    held(t, c, rule)
    t.expect_all("asked", c)
    t.mode(t.b, "TCP" if is_plain else "SMC-R", port, reason=PEERNOSMC if is_plain else None)
    if is_plain and way == "stays":
        t.wait(lambda: is_unused(t), "end of our socket under a connection that fell back", 10)
    c.gate("end")
    t.wait_all(c)


def workers(t, func):
    """How often the client's machine ran a worker for a handshake during FUNC()."""
    t.b.write(EVENT, 1)
    t.b.run("echo > /sys/kernel/tracing/trace")
    func()
    t.b.write(EVENT, 0)
    return int(t.b.run("grep -c 'function smc_hs_work' /sys/kernel/tracing/trace || true").out)


def run(t):
    for i, server in enumerate(("tcp", t.family)):
        port = PORT + 2 * i
        s = t.half(t.a, serve, server, port=port, count=len(WAYS))
        s.expect("listening")
        for way in WAYS:
            ran = workers(t, lambda p=port, w=way, k=server: one(t, k, p, w))
            if t.family == "smc":
                needed = server == "smc" or way in ("in_vain", "signalled", "polls")
                t.equal(bool(ran), needed, f"worker, {way}, {server} server, {ran} times")
        t.wait_all(s)
    t.step(nobody.__doc__)
    rule = t.relay.rule(proto="tcp", frm="a", port=PORT + 1, flags=RST, drop=1)
    c = t.half(t.b, nobody, port=PORT + 1)
    held(t, c, rule)
    t.wait_all(c)
    t.no_sockets(t.b, PORT)
