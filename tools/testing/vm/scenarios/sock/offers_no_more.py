# SPDX-License-Identifier: GPL-2.0
"""A listener stops offering SMC while clients are on their way to it.

A client that got the offer sends a CLC message, even if the listener has changed since;
the message must not reach the program. With SMC_LIMIT_HS, clients beyond a number of
handshakes under way are TCP; children that wait for their first byte do not count.

covers: OPT-03 OPT-08 DCLN-02
"""
import socket
import struct

from common import requests
from rawpeer import ACK, DECLINE, RawConn, RawHost, SMC_OPTION, MSS_OPTION, SYN

timeout = 120
SOL_SMC, SMC_LIMIT_HS = 286, 1
LIMIT = 128


class Late(RawConn):
    """A raw client that delays its ACK after the SYN-ACK."""

    def input(self, seq, ack, flags, payload, options):
        if self.state == "half":
            return
        if self.state == "syn" and flags & (SYN | ACK) == SYN | ACK:
            self.rcv = seq + 1 & 0xffffffff
            self.snd = self.una = ack
            self.state = "half"
            self.peer_offers_smc = SMC_OPTION[2:] in options
            return
        super().input(seq, ack, flags, payload, options)

    def go_on(self):
        self.state = "open"
        self.send_segment(ACK)


def late(h, host, port, sport):
    key = (socket.inet_aton(h.config["peer4"]), port, sport)
    c = host.conns[key] = Late(host, key)
    c.state = "syn"
    c.send_segment(SYN, options=MSS_OPTION + SMC_OPTION)
    h.check(host.until(lambda: c.state == "half", h.within(20)), "no answer to SYN")
    return c


def turning(h, port):
    """A listener that sets an option which turns it to TCP while clients are under way."""
    ls = h.listen(port)
    h.gate("turn")
    ls.setsockopt(socket.SOL_TCP, socket.TCP_FASTOPEN, 5)
    h.mark("turned")
    for _ in range(2):
        c = h.accept(ls)
        h.equal(h.recv_exact(c, 5), b"hello", "data of the client")
        c.sendall(b"world")
        h.finish(c)
    ls.close()


def on_its_way(h, port):
    host = RawHost()
    c = late(h, host, port, 20001)
    h.check(c.peer_offers_smc, "SMC was not offered")
    h.mark("half")
    h.gate("turned")
    c.go_on()
    c.send(host.proposal())
    msg = c.recv_clc(h.within(20))
    h.equal(msg[4:5], bytes([DECLINE]), f"answer to the Proposal ({msg.hex()})")
    hello(h, c)
    # a new client gets no offer
    c = late(h, host, port, 20002)
    h.check(not c.peer_offers_smc, "SMC is still offered")
    c.go_on()
    hello(h, c)


def hello(h, c):
    c.send(b"hello")
    h.equal(c.recv(5, h.within(20)), b"world", "answer of the program")
    c.close()
    h.equal(c.ended(h.within(20)), "fin", "end of the connection")


def limited(h, port, defer):
    """Answers requests; with DEFER seconds it waits for the first byte of clients."""
    ls = h.socket()
    ls.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    ls.setsockopt(SOL_SMC, SMC_LIMIT_HS, 1)
    if defer:
        ls.setsockopt(socket.SOL_TCP, socket.TCP_DEFER_ACCEPT, defer)
    ls.bind(("0.0.0.0", port))
    ls.listen(256)
    h.mark("listening")
    answer_one(h, ls)
    h.gate("again")
    answer_one(h, ls)
    h.gate("end")
    ls.close()


def answer_one(h, ls):
    """Answer the first client that is not reset; ignore TCP clients that sent CLC messages."""
    while True:
        with h.accept(ls) as c:
            try:
                return h.answer(c)
            except ConnectionResetError:
                pass


def half_way(h, port):
    """Silent clients, until new ones get no offer."""
    host = RawHost()
    conns = []
    while not conns or conns[-1].peer_offers_smc:
        h.check(len(conns) < 2 * LIMIT, f"{len(conns)} clients silent, SMC still offered")
        conns.append(host.connect(h.config["peer4"], port))
    conns.pop().abort()
    h.mark("crowded", n=len(conns))
    h.gate("leave")
    for c in conns:
        c.abort()
    h.mark("left")
    h.gate("end")


def silent(h, port, n):
    """N silent clients on SMC, and one that sends."""
    socks = [h.connect(port) for _ in range(n)]
    h.mark("silent")
    s = h.connect(port)
    h.request(s)
    h.mark("spoke")
    h.gate("end")
    s.close()
    for s in socks:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        s.close()


def shows(t, port, **want):
    """Wait until sock_diag and the tool show the values WANT of the listener."""
    from smcvm import kernel
    smc = t.guest_path(kernel.user_tool("smc"))
    seen = []

    def there():
        seen[:] = [s["listener"] for s in t.a.sockets() if s["sport"] == port and
                   "listener" in s]
        return seen and want.items() <= seen[0].items()

    def is_told():
        # the queue changes between the two
        line = "for accept: {queue}, at most {queue_max}, in handshakes: {handshakes}, " \
               "silent: {deferred}".format(**seen[0])
        return line in t.a.run(f"{smc} list -v").out
    t.wait(lambda: there() and is_told(), f"{want} of the listener, also by smc", 30)


def turns(t):
    t.step("a SYN is under way when the listener turns to TCP")
    s = t.half(t.a, turning, port=5800)
    s.expect("listening", t.left())
    raw = t.half(t.b, on_its_way, port=5800)
    raw.expect("half", t.left())
    s.gate("turn")
    s.expect("turned", t.left())
    raw.gate("turned")
    t.wait_all(s, raw)


def crowded(t):
    t.step("as many handshakes as SMC_LIMIT_HS allows")
    s = t.half(t.a, limited, port=5801, defer=0)
    s.expect("listening", t.left())
    raw = t.half(t.b, half_way, port=5801)
    n = raw.expect("crowded", t.left())["n"]
    t.check(LIMIT < n < LIMIT + 32, f"{n} silent clients until SMC was offered no more")
    shows(t, 5801, handshakes=n, deferred=0, queue_max=256)
    before = t.stat(t.b, "client_smc")
    t.wait_all(t.half(t.b, requests, port=5801))
    t.equal(t.stat(t.b, "client_smc"), before, "clients with SMC")
    raw.gate("leave")
    raw.expect("left", t.left())
    shows(t, 5801, handshakes=0)
    s.gate("again")
    t.wait_all(t.half(t.b, requests, port=5801))
    t.equal(t.stat(t.b, "client_smc"), before + 1, "clients with SMC again")
    for half in (s, raw):
        half.gate("end")
    t.wait_all(s, raw)


def deferred(t):
    t.step("children that wait for their first byte are no handshakes")
    n = LIMIT + 12
    s = t.half(t.a, limited, port=5802, defer=60)
    s.expect("listening", t.left())
    c = t.half(t.b, silent, port=5802, n=n)
    c.expect("spoke", t.left())
    t.mode(t.b, "SMC-R", 5802, n + 1)
    shows(t, 5802, handshakes=0, deferred=n, queue=0)
    c.gate("end")
    t.wait_all(c)
    s.gate("again")
    t.wait_all(t.half(t.b, requests, port=5802))
    s.gate("end")
    t.wait_all(s)


def run(t):
    if t.family != "smc":
        return
    # silent clients must not time out before the scenario ends
    t.set(t.a, clc_timeout_ms=60000)
    turns(t)
    crowded(t)
    deferred(t)
    for vm in (t.a, t.b):
        t.no_sockets(vm, 5802)
