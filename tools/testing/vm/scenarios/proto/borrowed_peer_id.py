# SPDX-License-Identifier: GPL-2.0
"""A host that claims another host's peer ID cannot use or end that host's link groups.

A host proposes with B's peer ID, but with an RNIC and an address of its own. It gets a
first contact; its silence then does not delay B. Others also name B's RNIC, and so get a
place in B's group, but the server does not trust what they send about that group, even
from B's address, as from behind its address translation. Nor does B trust an Accept from
A's address that announces a first contact by the queue pair of a link. A group that the
client has really lost ends by its links.

covers: PID-05 FC-02 LG-06 DCLN-04 FC-06 SC-06
"""
from common import requests, serve
from rawpeer import RawHost

timeout = 90
PORT, TRAP, FRAUD = 5061, 5062, 5063
FIRST = 8    # F in byte 7

# the kernel does not know the connections of a RawHost with its own address
NO_RST = """nft -f - <<'END'
table inet bench {
	chain out {
		type filter hook output priority 0;
		tcp flags & rst == rst drop
	}
}
END
"""


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
    # the old connection still works
    h.request(s)
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


def own_host(ip):
    """A RawHost with the addresses of this machine."""
    with open("/sys/class/net/eth0/address", encoding="ascii") as f:
        return RawHost(ip=ip, mac=f.read().strip().replace(":", ""))


def slander(h, proposal, ip=None):
    """Send what B would send, then report that B's link group is out of sync."""
    host = own_host(ip) if ip else RawHost(ip="10.43.0.79", mac="525400437779")
    c = host.connect(h.config["peer4"], PORT)
    c.send(bytes.fromhex(proposal))
    msg = c.recv_clc(h.within(20))
    h.equal(msg[4:5], b"\x02", f"Accept ({msg.hex()})")
    c.send(host.decline(sync=True))
    h.mark("declined", first=bool(msg[7] & FIRST))
    h.gate("gone")
    # what became of it is TCP
    c.close()
    h.check(c.ended(h.within(20)), "the server did not end its TCP connection")
    return msg.hex()


def defraud(h, accept, ip):
    """Answer a Proposal with ACCEPT of A and F, from A's address."""
    host = own_host(ip)
    host.listen(FRAUD)
    h.mark("listening")
    c = host.accept(FRAUD, h.left())
    h.equal(c.recv_clc(h.within(20))[4:5], b"\x01", "Proposal")
    msg = bytearray.fromhex(accept)
    msg[7] |= FIRST
    c.send(bytes(msg))
    msg = c.recv_clc(h.within(20))
    h.equal(msg[4:5], b"\x03", f"Confirm ({msg.hex()})")
    h.mark("confirmed")
    h.gate("end")
    c.abort()


def defrauded(h):
    """Connect to that server until it resets the connection."""
    try:
        h.connect(FRAUD)
    except OSError:
        return
    h.check(False, "a first contact with a queue pair of another link")


def answered(t, vm, before):
    """Machine VM has asked on its links, and had an answer."""
    for k in ("llc_tx", "llc_rx"):
        t.wait(lambda k=k: t.stat(vm, k) > before[k], f"{vm.name}: growth of {k}")


def stats(t, vm):
    return {k: t.stat(vm, k) for k in ("lgr_end", "llc_tx", "llc_rx", "decline_rx")}


def same_address(t, proposal):
    """Other users of an address of B, and of A."""
    t.step(same_address.__doc__)
    t.b.run(NO_RST)
    t.a.run(NO_RST)
    before = stats(t, t.a)
    liar = t.half(t.b, slander, proposal=proposal, ip=t.b.ip)
    t.check(not liar.expect("declined")["first"], "no place in the group of the RNIC named")
    t.wait(lambda: t.stat(t.a, "decline_rx") > before["decline_rx"], "the Decline")
    answered(t, t.a, before)
    liar.gate("gone")
    t.wait_all(liar)
    before = stats(t, t.b)
    fraud = t.half(t.a, defraud, accept=liar.value, ip=t.a.ip)
    t.expect_all("listening", fraud)
    victim = t.half(t.b, defrauded)
    t.expect_all("confirmed", fraud)
    answered(t, t.b, before)
    fraud.gate("end")
    t.wait_all(fraud, victim)
    for vm in (t.a, t.b):
        vm.run("nft delete table inet bench")


def lost(t):
    """The client gives its group up, and the server does not hear of it."""
    from smcvm.links import give_up, groups
    t.step(lost.__doc__)
    before = stats(t, t.a)
    wall = t.relay.rule(proto="roce", drop=1)
    for group in groups(t.b):
        give_up(t.b, "all", group.id)
    t.wait(lambda: not t.queue_pairs(t.b), "end of B's group", 20)
    t.relay.unrule(wall)
    t.equal(len(groups(t.a)), 1, "groups of A")
    t.wait_all(t.half(t.b, requests, port=PORT))
    t.equal(t.stat(t.a, "decline_rx"), before["decline_rx"] + 1, "Declines with S")
    t.wait(lambda: t.stat(t.a, "lgr_end") == before["lgr_end"] + 1, "end of A's group", 20)
    first = t.stat(t.a, "first_contact")
    t.wait_all(t.half(t.b, requests, port=PORT))
    t.equal(t.stat(t.a, "first_contact"), first + 1, "first contacts")
    t.equal(t.stat(t.a, "decline_rx"), before["decline_rx"] + 1, "further Declines")


def run(t):
    from smcvm.links import NEVER
    # a client delayed by the silent host would exceed the scenario's limit
    t.set(t.a, clc_timeout_ms=NEVER)
    for vm in (t.a, t.b):
        t.set(vm, smcr_testlink_time=0, peer_memory_ms=0)
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
    ended = [t.stat(vm, "lgr_end") for vm in (t.a, t.b)]
    before = stats(t, t.a)
    liar = t.half(t.b, slander, proposal=ear.value)
    t.check(not liar.expect("declined")["first"], "no place in the group of the RNIC named")
    # B is asked, and says that it is there
    t.wait(lambda: t.stat(t.a, "decline_rx") > before["decline_rx"], "the Decline")
    answered(t, t.a, before)
    liar.gate("gone")
    t.wait_all(liar)
    same_address(t, ear.value)
    c.gate("more")
    t.expect_all("more", c)
    t.equal([t.stat(vm, "lgr_end") for vm in (t.a, t.b)], ended, "link groups that ended")
    raw.gate("end")
    c.gate("end")
    t.wait_all(c, raw)
    t.wait(lambda: t.queue_pairs(t.a) == qps, "end of the stranger's group", 20)
    lost(t)
    s.gate("stop")
    t.wait_all(s)
    t.no_sockets(t.a, PORT)
