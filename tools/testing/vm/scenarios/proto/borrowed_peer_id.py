# SPDX-License-Identifier: GPL-2.0
"""A host that claims another host's peer ID cannot use that host's link groups.

A host proposes with B's peer ID, but with an RNIC and an address of its own. It gets a
first contact; its silence then does not delay B. Another host also names B's RNIC, and
so gets a place in B's group, but the server does not trust what it sends about that
group.

covers: PID-05 FC-02 LG-06 DCLN-04
"""
from common import serve
from rawpeer import RawHost

timeout = 50
PORT, TRAP = 5061, 5062


def listen_in(h):
    """Take a connection from B on A's side and return the Proposal of it."""
    host = RawHost()
    host.listen(TRAP)
    h.mark("listening")
    c = host.accept(TRAP, h.left())
    msg = c.recv_clc(h.within(20))
    h.equal(msg[4:5], b"\x01", f"Proposal ({msg.hex()})")
    c.send(host.decline())
    h.check(c.ended(h.within(20)), "the client did not end its TCP connection")
    c.close()
    return msg.hex()


def client(h):
    """A connection that stays, a Proposal given away, and more connections."""
    s = h.connect(PORT)
    h.request(s)
    h.connect(TRAP, "10.43.0.77").close()
    h.mark("known")
    h.gate("more")
    more = h.connect(PORT)
    h.request(more)
    h.finish(more)
    h.mark("more")
    h.gate("end")
    h.finish(s)


def borrow(h, proposal):
    """Claim to be B; true if the answer is first contact."""
    host = RawHost(ip="10.43.0.78", mac="525400437778")
    c = host.connect(h.config["peer4"], PORT)
    c.send(host.proposal(peer_id=bytes.fromhex(proposal)[8:16]))
    msg = c.recv_clc(h.within(20))
    h.equal(msg[4:5], b"\x02", f"Accept ({msg.hex()})")
    h.mark("accepted", first=bool(msg[7] & 8))
    h.gate("end")
    c.abort()


def slander(h, proposal):
    """Send what B would send, then report that B's link group is out of sync."""
    host = RawHost(ip="10.43.0.79", mac="525400437779")
    c = host.connect(h.config["peer4"], PORT)
    c.send(bytes.fromhex(proposal))
    msg = c.recv_clc(h.within(20))
    h.equal(msg[4:5], b"\x02", f"Accept ({msg.hex()})")
    c.send(host.decline(sync=True))
    h.mark("declined", first=bool(msg[7] & 8))
    h.gate("gone")
    # what became of it is TCP
    c.close()
    h.check(c.ended(h.within(20)), "the server did not end its TCP connection")


def run(t):
    from smcvm.links import NEVER
    # a client delayed by the silent host would exceed the scenario's limit
    t.set(t.a, clc_timeout_ms=NEVER)
    s = t.half(t.a, serve, port=PORT)
    ear = t.half(t.a, listen_in)
    t.expect_all("listening", s, ear)
    c = t.half(t.b, client)
    t.expect_all("known", c)
    t.wait_all(ear)
    qps = t.queue_pairs(t.a)
    raw = t.half(t.b, borrow, proposal=ear.value)
    t.check(raw.expect("accepted")["first"], "a stranger was let into B's link group")
    t.equal(t.queue_pairs(t.a), qps + 1, "queue pairs with a group for the stranger")
    before = {k: t.stat(t.a, k) for k in ("lgr_end", "llc_tx", "llc_rx", "decline_rx")}
    liar = t.half(t.b, slander, proposal=ear.value)
    t.check(not liar.expect("declined")["first"], "no place in the group of the RNIC named")
    # B is asked, and says that it is there
    for k in ("decline_rx", "llc_tx", "llc_rx"):
        t.wait(lambda k=k: t.stat(t.a, k) > before[k], f"growth of {k}")
    liar.gate("gone")
    t.wait_all(liar)
    c.gate("more")
    t.expect_all("more", c)
    t.equal(t.stat(t.a, "lgr_end"), before["lgr_end"], "link groups that ended")
    raw.gate("end")
    c.gate("end")
    t.wait_all(c, raw)
    s.gate("stop")
    t.wait_all(s)
    t.no_sockets(t.a, PORT)
