# SPDX-License-Identifier: GPL-2.0
"""First, subsequent and parallel contact have the required messages in the required order.

There are connections from B to A, one in the opposite direction, one to another address of
A and, in the end, more than a link group may carry; all are open together.

covers: GEN-02 CLC-08 PID-04 PROP-08 LG-05 LG-07 LG-09 LG-23 RMB-21 RMB-23
covers: RKEY-07 FC-05 SC-01 SC-04 SC-08 SC-11 TMR-09 RACE-01 RACE-02 RACE-04
covers: RACE-05 PG-01 PG-02 PG-03 PG-04 PG-05 SL-04 LLC-05 LLC-13 LLC-17 TX-01 API-10
covers: LG-22 SEC-02
"""
import os
import socket

from common import serve

timeout = 60
PORT, BACK, BANNER = 5200, 5201, 5202
N = 4  # the group's first connection and N - 1 more
OTHER = "10.43.0.111"  # another address of A
FLOOD = 300
AFAR = ("10.45.0.1", "10.44.0.2")  # of A and B, in different subnets
NO_SUBNET = 0x03070000


def held(h, port, n, gates=(), addrs=(None,)):
    """N connections that stay open; a request on each, again after each gate."""
    conns = []
    for i in range(n):
        conns.append(h.connect(port, addrs[i % len(addrs)]))
        h.request(conns[-1], 3000, 3000)
    h.mark("open")
    for gate in gates:
        h.gate(gate)
        for c in conns:
            h.request(c, 3000, 3000)
        h.mark("after " + gate)
    h.gate("end")
    for c in conns:
        h.finish(c)


def banner(h, port):
    """A server that speaks first."""
    ls = h.listen(port)
    c = h.accept(ls)
    c.sendall(b"220 ready\r\n")
    h.equal(h.recv_exact(c, 4), b"QUIT", "answer to the banner")
    h.finish(c)


def listener(h, port):
    s = h.connect(port)
    h.equal(h.recv_exact(s, 11), b"220 ready\r\n", "banner")
    s.sendall(b"QUIT")
    h.finish(s)


def flood_server(h, port):
    c = h.accept(h.listen(port))
    c.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    for _ in range(FLOOD):
        c.sendall(b"x")
    h.recv_exact(c, FLOOD)
    h.finish(c)


def flood_client(h, port):
    """Many small messages at a time both ways: each is a CDC of its own."""
    s = h.connect(port)
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    for _ in range(FLOOD):
        s.sendall(b"y")
    h.recv_exact(s, FLOOD)
    h.finish(s)


def from_afar(h, port):
    """A connection to an address of A's interface in a subnet that B's has not."""
    s = h.connect(port, AFAR[0])
    h.equal(s.getsockname()[0], AFAR[1], "source address")
    h.request(s, 50000, 50000)
    h.mark("open")
    h.gate("end")
    h.finish(s)


def other_subnet(t):
    """Packets would reach the peer, and IP brings them, but this is no LAN."""
    port = PORT + 9
    for vm, own, peer in ((t.a, *AFAR), (t.b, *AFAR[::-1])):
        vm.run(f"ip addr add {own}/24 dev eth0; ip route add {peer} dev eth0 src {own}")
    s = t.half(t.a, serve, port=port, count=1)
    s.expect("listening")
    t.rdma_start()
    c = t.half(t.b, from_afar, port=port)
    t.expect_all("open", c)
    t.mode(t.a, "TCP", port, reason=NO_SUBNET)
    t.not_carried(t.b)
    c.gate("end")
    t.wait_all(c, s)
    for vm, own, peer in ((t.a, *AFAR), (t.b, *AFAR[::-1])):
        vm.run(f"ip route del {peer} dev eth0; ip addr del {own}/24 dev eth0")


def have_pairs(t, n, what):
    """Each machine has N RC queue pairs, once a server's spare one for ADD LINK has gone."""
    t.wait(lambda: all(t.queue_pairs(vm) == n for vm in (t.a, t.b)),
           f"{n} RC queue pairs on either side, {what}", 20)


def traffic(t):
    """All connections; captured meanwhile."""
    t.set(t.b, smcr_testlink_time=1)
    tested = t.relay.rule(llc=7, frm="a", at="3:80")
    s = t.half(t.a, serve, port=PORT)
    s.expect("listening")
    c = t.half(t.b, held, port=PORT, n=N, gates=["parallel"])
    t.expect_all("open", c)
    have_pairs(t, 1, f"with {N} connections")
    t.both(banner, listener, BANNER)
    t.both(flood_server, flood_client, BANNER + 1)

    # another address of the same host is the same peer, but a link ends with its address
    t.a.run(f"ip addr add {OTHER}/24 dev eth0")
    vip = t.half(t.b, held, port=PORT, n=1, addrs=[OTHER])
    t.expect_all("open", vip)
    have_pairs(t, 2, "with a connection to another address")

    # the opposite direction
    s2 = t.half(t.b, serve, port=BACK)
    s2.expect("listening")
    back = t.half(t.a, held, port=BACK, n=1)
    t.expect_all("open", back)
    have_pairs(t, 3, "with a connection in the opposite direction")

    # the group is full: the server starts another one
    t.set(t.a, smcr_max_conns_per_lgr=N)
    more = t.half(t.b, held, port=PORT, n=1)
    t.expect_all("open", more)
    have_pairs(t, 4, "with a parallel link group")
    c.gate("parallel")
    t.expect_all("after parallel", c)
    t.mode(t.b, "SMC-R", PORT, N + 2)

    t.equal(t.a.run("rdma resource show cm_id").out + t.b.run("rdma resource show cm_id").out,
            "", "RDMA-CM identifiers")
    t.wait(lambda: t.relay.hits(tested)[0], "TEST LINK and its reply", 20)
    for p in (c, vip, back, more):
        p.gate("end")
    t.wait_all(c, vip, back, more)
    for p in (s, s2):
        p.gate("stop")
    t.wait_all(s, s2)
    t.a.run(f"ip addr del {OTHER}/24 dev eth0")


def between(frames, first, last, **want):
    """Frames between two others that have the attributes WANT."""
    return [f for f in frames if first.n < f.n < last.n and not f.is_retry
            and all(getattr(f, k, None) == v for k, v in want.items())]


def link_number(frames, cfm, links, llc):
    """That of the first link, from its CONFIRM LINK."""
    return next(f.payload[29] for f in frames if f.llc == llc.CONFIRM_LINK and f.n > cfm.n
                and (f.src, f.qpn) in links)


def check_first_contact(t, frames, hs, llc):
    """F = 1, new queue pairs; CONFIRM LINK and ADD LINK on that link."""
    acc, cfm = hs.accept, hs.confirm
    t.check(acc.first_contact, f"Accept of first contact: {acc}")
    t.check(acc.link and cfm.link and any(acc.mac) and any(acc.gid) and any(acc.rkey),
            f"Accept is not complete: {acc}")
    links = {(hs.server, cfm.link): "to client", (hs.client, acc.link): "to server"}
    seq = [(f.llc, f.is_reply) for f in frames
           if f.llc and f.n > cfm.n and not f.is_retry and f.llc != llc.CDC
           and links.get((f.src, f.qpn))][:4]
    t.equal(seq, [(llc.CONFIRM_LINK, False), (llc.CONFIRM_LINK, True),
                  (llc.ADD_LINK, False), (llc.ADD_LINK, True)],
            f"LLC messages of first contact with QP {acc.link:#x}")
    # each CONFIRM LINK names the queue pair that it comes from
    for f in frames:
        if f.llc == llc.CONFIRM_LINK and links.get((f.src, f.qpn)):
            own = acc.link if f.src == hs.server else cfm.link
            t.equal(int.from_bytes(f.payload[26:29], "big"), own, f"QP number in {f}")
    # ADD LINK: over that link, about another one
    add = next(f for f in frames if f.llc == llc.ADD_LINK and f.n > cfm.n
               and links.get((f.src, f.qpn)) == "to client")
    at = 4 if t.dialect else 6
    qpn = int.from_bytes(add.payload[at + 22:at + 25], "big")
    t.check(any(add.payload[4:10]) and any(add.payload[at + 6:at + 22]) and
            qpn not in (0, acc.link), f"ADD LINK: {add}")
    number, mtu = add.payload[at + 25], add.payload[at + 26] & 15
    t.check(number not in (0, link_number(frames, cfm, links, llc)) and 1 <= mtu <= 5,
            f"link number {number} and MTU {mtu} of ADD LINK")
    # numbers of CLC are all that the queue pairs were connected with
    for src, qpn, psn in ((hs.server, cfm.link, acc.first_psn),
                          (hs.client, acc.link, cfm.first_psn)):
        first = next(f for f in frames if f.opcode not in (None, llc.RC_ACK)
                     and f.src == src and f.qpn == qpn)
        t.equal(first.psn, psn, f"first PSN from {src} to QP {qpn:#x}")


def check_subsequent(t, frames, hs, first, llc):
    """F = 0, the link of first contact, the same data in the same places."""
    acc, cfm = hs.accept, hs.confirm
    t.check(not acc.first_contact, f"Accept of subsequent contact: {acc}")
    for f, ref in ((acc, first.accept), (cfm, first.confirm)):
        t.equal(len(f.payload), 68, f"length of {f}")
        t.equal((f.peer_id, f.gid, f.mac, f.link), (ref.peer_id, ref.gid, ref.mac, ref.link),
                "identity and link in Accept or Confirm")
    # only the client's data follows the Confirm, without a wait
    write = next(f for f in frames if f.n > cfm.n and f.src == hs.client
                 and f.opcode in llc.RETH and f.write_rkey == acc.rkey)
    t.equal([f for f in between(frames, hs.syn, write) if f.llc in
             (llc.CONFIRM_LINK, llc.ADD_LINK)], [], "link set-up in subsequent contact")
    t.equal([f for f in between(frames, cfm, write) if f.src != hs.client and
             (f.llc not in (None, llc.CDC, llc.TEST_LINK) or f.payload and f.sport)], [],
            "what the client may have waited for after its Confirm")
    early = [f for f in frames if hs.accept.n < f.n < cfm.n and f.src == hs.client
             and f.opcode in llc.RETH and f.write_rkey == acc.rkey
             and in_element(f, acc)]
    t.equal(early, [], "writes before the Confirm")


def in_element(f, msg):
    """Does this WRITE go to the element that an Accept or Confirm names?"""
    size = 1 << (msg.payload[50] >> 4) + 14
    base = int.from_bytes(msg.payload[52:60], "big") + (msg.payload[45] - 1) * size
    return base <= f.addr < base + size


def check_new_rmb(t, frames, hs, link, llc):
    """Both sides announce a new RMB before the message that names it."""
    acc, cfm = hs.accept, hs.confirm
    for src, dst, before, qpn in ((hs.server, hs.client, acc, link.confirm.link),
                                  (hs.client, hs.server, cfm, link.accept.link)):
        req = between(frames, hs.proposal, before, llc=llc.CONFIRM_RKEY, src=src,
                      is_reply=False)
        t.equal([(f.qpn, f.rkey) for f in req], [(qpn, before.rkey)],
                f"CONFIRM RKEY of {src}: link and key")
        ans = between(frames, req[0], before, llc=llc.CONFIRM_RKEY, src=dst, is_reply=True)
        t.equal(len(ans), 1, f"replies to the CONFIRM RKEY of {src} before {before}")


def check_test_link(t, frames, groups, llc):
    """The reply comes back on the link of the request, with its data."""
    way = {}
    for hs in groups:
        way[hs.client, hs.accept.link] = (hs.server, hs.confirm.link)
        way[hs.server, hs.confirm.link] = (hs.client, hs.accept.link)
    asked = {}
    for f in frames:
        if f.llc != llc.TEST_LINK or f.is_retry:
            continue
        t.check((f.src, f.qpn) in way, f"TEST LINK on a link that is none: {f}")
        if f.is_reply:
            t.equal(asked.pop(way[f.src, f.qpn], None), f.payload[4:20], f"data of {f}")
        else:
            asked[f.src, f.qpn] = f.payload[4:20]


def check_data(t, frames, llc):
    """WRITEs without immediate data and a CDC behind them; nothing else."""
    kinds = {f.opcode for f in frames if f.opcode is not None}
    t.equal(kinds - set(llc.RC_WRITES) - {llc.RC_SEND_ONLY, llc.RC_ACK}, set(),
            "operations other than WRITE and SEND")
    bad = [f for f in frames if f.opcode == llc.RC_SEND_ONLY and not f.llc]
    t.equal(bad, [], "SENDs that are no message of 44 bytes")
    t.equal([f for f in frames if f.opcode == llc.RC_ACK and f.payload
             and f.payload[0] & 0x60 == llc.RNR_NAK], [], "receiver not ready")
    t.equal([f for f in frames if f.opcode is not None and f.qpn < 2], [],
            "packets to QP 0 or 1")
    t.equal({f.ttl for f in frames if f.opcode is not None}, {1}, "hop limits of RoCE packets")
    # on each queue pair, what follows the end of a WRITE is a SEND or a WRITE
    last = {}
    for f in frames:
        if f.opcode in (None, llc.RC_ACK) or f.is_retry:
            continue
        was = last.get((f.src, f.qpn))
        if was in (0x08, 0x0a):
            t.check(f.opcode in (llc.RC_SEND_ONLY,) + llc.RETH, f"behind a WRITE: {f}")
        last[f.src, f.qpn] = f.opcode
    t.check(all(v == llc.RC_SEND_ONLY for v in last.values()),
            f"a WRITE that no message announced: {last}")


def check(t, path):
    from smcvm import frames as llc
    frames = llc.read(path)
    conns = llc.handshakes(frames, PORT)
    back, = llc.handshakes(frames, BACK)
    said, = llc.handshakes(frames, BANNER)
    t.equal(len(conns), N + 2, f"connections to port {PORT} in the capture")
    for hs in [*conns, back, said]:
        t.check(hs.proposal and hs.accept and hs.confirm,
                f"no whole handshake: {hs.tcp[:12]}")
        for f in (hs.syn, hs.synack):
            t.check(llc.SMC_OPTION in f.options, f"no option: {f}")

    # one name for each host, whatever the message, address or role
    names = {}
    for hs in [*conns, back, said]:
        for host, f in ((hs.client, hs.proposal), (hs.server, hs.accept),
                        (hs.client, hs.confirm)):
            names.setdefault("a" if host in ("10.43.0.1", OTHER) else "b", set()).add(f.peer_id)
    t.equal({k: len(v) for k, v in names.items()}, {"a": 1, "b": 1}, f"peer IDs {names}")

    first, parallel, vip = conns[0], conns[-1], conns[-2]
    check_first_contact(t, frames, first, llc)
    for hs in [*conns[1:-2], said]:
        check_subsequent(t, frames, hs, first, llc)
    t.equal(vip.server, OTHER, "server address of the last but one")
    check_new_rmb(t, frames, conns[1], first, llc)
    # its RMB has two elements: the next connection costs no message
    t.equal([f for f in between(frames, conns[2].proposal, conns[2].confirm)
             if f.llc == llc.CONFIRM_RKEY], [], "CONFIRM RKEY for the third connection")

    check_first_contact(t, frames, back, llc)
    check_first_contact(t, frames, vip, llc)
    check_first_contact(t, frames, parallel, llc)
    for other in (back, vip, parallel):
        # a number names a queue pair of its host only
        t.check(not queue_pairs(other) & queue_pairs(first), "groups share a queue pair")
    old = {m.rkey for hs in conns[:-1] for m in (hs.accept, hs.confirm)}
    t.check(not {parallel.accept.rkey, parallel.confirm.rkey} & old,
            "parallel link groups share an RMB")
    check_test_link(t, frames, (first, back, vip, parallel), llc)
    check_data(t, frames, llc)
    t.note(f"{len(frames)} frames")


def queue_pairs(hs):
    return {(hs.server, hs.accept.link), (hs.client, hs.confirm.link)}


def run(t):
    if t.family != "smc":
        return
    other_subnet(t)
    t.reload(t.a, t.b)
    t.set(t.a, immediate_data=0)
    path = os.path.join(t.pair.dir, "setup.pcap")
    t.relay.capture(path)
    try:
        traffic(t)
    finally:
        t.relay.capture(None)
    # three groups that test their links each second are no company for others
    t.reload(t.a, t.b)
    check(t, path)
