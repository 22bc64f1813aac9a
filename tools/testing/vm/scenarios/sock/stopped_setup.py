# SPDX-License-Identifier: GPL-2.0
"""Handshakes stop at each step: the scenario checks what is allocated, sent and allowed there.

The peer is a raw one, or the relay holds the Confirm of a real one.

covers: PROP-07 ACPT-04 FC-05 FC-07 FC-08 FC-09 FC-13 FC-15 CLC-09 ERR-02 ERR-06
covers: ERR-07 ERR-08 ERR-20 TMR-03 RACE-03 LGT-06 LGT-07 RMB-26 RMB-21 TMR-14
covers: CDC-02 LLC-16
"""
import errno
import re
import select

from common import requests, serve, serve_any
from rawpeer import ACCEPT, CONFIRM, RawHost

timeout = 90
PORT = 5230
TOLD = (errno.ECONNRESET, errno.ECONNABORTED, errno.EPIPE, errno.ETIMEDOUT)
DELETE_RXE = "rdma link delete rxe0"
ADD_RXE = "rdma link add rxe0 type rxe netdev eth0"
RST, WRITES = 4, (0x06, 0x0a)
DELETE_LINK, TEST_LINK, DELETE_RKEY = 4, 7, 9
# DELETE LINK for all links, reason: program
DELETE_ALL = "0:042c00400000030000"


def states(t, vm):
    """States of a machine's RC queue pairs."""
    out = vm.run("rdma resource show qp").out
    return re.findall(r"type RC.*?state (\w+)", out)


def raw_server(h, port):
    """Hold the Accept, send a valid or an invalid one, then nothing."""
    host = RawHost()
    host.listen(port)
    h.mark("listening")

    c = host.accept(port, h.left())
    c.recv_clc(h.within(20))
    h.mark("proposal")
    wait_gate(h, host, "broken")
    h.check(not c.data and not c.fin and not c.reset, "the client did not wait for the Accept")
    c.send(host.accept_or_confirm(ACCEPT))
    h.equal(c.recv_clc(h.within(20))[4:5], b"\x04", "answer to the Accept")
    c.send(b"over tcp")
    h.equal(c.recv(8, h.within(20)), b"over tcp", "echo behind the Decline")
    c.ended(h.within(20))
    c.close()

    for name in "confirm, then FIN", "confirm":
        c = host.accept(port, h.left())
        c.recv_clc(h.within(20))
        c.send(host.accept_or_confirm(ACCEPT))
        h.equal(c.recv_clc(h.within(20))[4:5], b"\x03", "Confirm")
        h.mark(name)
        if name != "confirm":
            wait_gate(h, host, "fin")
            c.close()
            h.equal(c.ended(h.left()), "reset", "end of a client that gets FIN instead")
    h.equal(c.ended(h.left()), "reset", "end of a client that waits for CONFIRM LINK")


def wait_gate(h, host, name):
    """The raw host answers until the gate opens."""
    h.check(host.until(lambda: select.select([0], [], [], 0)[0], h.left()), f"gate {name}")
    h.gate(name)


def echo_client(h, port):
    """connect() and an echo over what it became; errno or 0."""
    try:
        s = h.connect(port, "10.43.0.77")
        h.mark("connected")
        s.sendall(h.recv_exact(s, 8))
        s.close()
        return 0
    except OSError as e:
        return e.errno


def client_steps(t):
    """Proposal, a lost device, Accept, Confirm: seen at the client."""
    s = t.half(t.a, raw_server, port=PORT)
    s.expect("listening")
    had = (t.queue_pairs(t.b), t.memory_regions(t.b))
    # the removal takes long on a busy host
    t.set(t.b, clc_timeout_ms=3600000)
    c = t.half(t.b, echo_client, port=PORT)
    t.expect_all("proposal", s)
    t.equal((t.queue_pairs(t.b), t.memory_regions(t.b)), had,
            "queue pairs and memory regions after a Proposal")
    # the RNIC goes now; the server sends next, so no message is due yet
    gone = t.b.spawn(DELETE_RXE)
    t.wait(lambda: gone.rc is not None or "smc" in
           t.b.run("cat /proc/$(pgrep -x rdma)/stack || true", check=False).out,
           "removal of the RNIC to reach the module", 20)
    s.gate("broken")
    t.wait_all(c, gone)
    t.equal(c.value, 0, "connection whose RNIC went away in the handshake")
    t.restore("clc_timeout_ms")
    t.b.run(ADD_RXE)
    t.pair.wait_gid(t.b, 0)

    # the timer does not end this one
    t.set(t.b, llc_confirm_link_ms=3600000)
    c = t.half(t.b, echo_client, port=PORT)
    t.expect_all("confirm, then FIN", s)
    s.gate("fin")
    t.wait_all(c)
    t.equal(c.value, errno.ECONNRESET, "FIN in place of CONFIRM LINK")
    t.wait(lambda: not states(t, t.b), "end of the queue pair", 10)

    t.set(t.b, llc_confirm_link_ms=1000 * t.slow)
    c = t.half(t.b, echo_client, port=PORT)
    t.expect_all("confirm", s)
    t.wait(lambda: states(t, t.b) == ["RTR"], "queue pair in RTR behind the Confirm", 5)
    t.check(c.find("connected") is None, "connect() ended before the link was confirmed")
    t.wait_all(s, c)
    t.check(c.value in TOLD, f"silent server behind the Confirm: {c.value}")
    t.wait(lambda: not states(t, t.b), "end of the queue pair", 10)
    t.restore("llc_confirm_link_ms")


def raw_client(h, port):
    host = RawHost(ip="10.43.0.79", mac="525400437779")
    # no common subnet: a Decline, and data right behind
    c = host.connect(h.config["peer4"], port)
    c.send(host.proposal(prefix=16))
    h.equal(c.recv_clc(h.within(20))[4:5], b"\x04", "Decline")
    c.send(b"\0\0\0\0\0\0\0\4")
    h.equal(len(c.recv(4, h.within(20))), 4, "answer over TCP")
    c.close()
    c.ended(h.within(20))

    c = host.connect(h.config["peer4"], port)
    c.send(host.proposal())
    msg = c.recv_clc(h.within(20))
    h.equal((msg[4], msg[7] & 8), (2, 8), f"Accept of first contact ({msg.hex()})")
    h.mark("accept")
    wait_gate(h, host, "confirm")
    c.send(host.accept_or_confirm(CONFIRM))
    h.check(host.until(lambda: host.roce, h.within(20)), "no CONFIRM LINK came")
    h.equal(int.from_bytes(host.roce[0][5:8], "big"), 0x123, "queue pair it was sent to")
    h.mark("confirm link")
    wait_gate(h, host, "decline")
    c.send(host.decline())
    c.send(b"\0\0\0\0\0\0\0\4")
    h.equal(len(c.recv(4, h.within(20))), 4, "answer over TCP")
    c.close()
    c.ended(h.within(20))


def server_steps(t):
    """Accept and Confirm: seen at the server."""
    # the RNIC must not give up the silent peer meanwhile
    t.set(t.a, rdma_ack_exponent=18)
    s = t.half(t.a, serve, port=PORT + 1)
    s.expect("listening")
    c = t.half(t.b, raw_client, port=PORT + 1)
    t.expect_all("accept", c)
    t.equal(states(t, t.a), ["INIT"], "queue pairs behind the Accept")
    c.gate("confirm")
    t.expect_all("confirm link", c)
    t.equal(states(t, t.a)[:1], ["RTS"], "queue pair behind the Confirm")
    c.gate("decline")
    t.wait_all(c)
    s.gate("stop")
    t.wait_all(s)
    t.wait(lambda: not states(t, t.a), "end of the queue pair", 10)
    t.restore("rdma_ack_exponent")


def late_server(h, port):
    """Mark when accept() returns a connection, and answer it."""
    return serve_any(h, port, on_accept=lambda c: h.mark("accepted"))


def early_client(h, port, gates=()):
    """Send as soon as connect() lets it, and after each gate; errno or 0."""
    try:
        s = h.connect(port)
        h.mark("connected")
        h.request(s, 5000, 5000)
        h.mark("asked")
        for gate in gates:
            h.gate(gate)
            h.request(s, 100, 100)
            h.mark("asked after " + gate)
        h.finish(s)
        return 0
    except OSError as e:
        return e.errno


def accepted(server):
    return sum(m["name"] == "accepted" for m in server.marks)


def held_confirm(t, s, port, server_breaks):
    """Subsequent contact whose Confirm is held up while data arrives."""
    had = accepted(s)
    hold = t.relay.rule(clc=3, frm="b", drop=1)
    data = t.relay.rule(cdc=1, frm="b")
    declines = t.relay.rule(clc=4)
    # from the server, or from the client after its DELETE LINK
    reset = t.relay.rule(proto="tcp", port=port, flags=RST)
    c = t.half(t.b, early_client, port=port)
    t.expect_all("connected", c)
    t.wait(lambda: t.relay.hits(data)[0] and t.relay.hits(hold)[0] >= 2,
           "data ahead of the Confirm", 20)
    t.equal(accepted(s), had, "connections accepted before their Confirm")
    if server_breaks:
        gone = t.a.spawn(DELETE_RXE)
        t.wait(lambda: gone.rc is not None or "smc" in
               t.a.run("cat /proc/$(pgrep -x rdma)/stack || true", check=False).out,
               "removal of the RNIC to reach the module", 20)
    t.relay.unrule(hold)
    t.wait_all(c)
    t.equal(t.relay.hits(declines)[0], 0, "Declines behind Accept and Confirm")
    if not server_breaks:
        t.equal(c.value, 0, "connection with a late Confirm")
        t.equal(accepted(s), had + 1, "connections accepted")
        t.relay.unrule()
        return
    t.wait_all(gone)
    t.wait(lambda: t.relay.hits(reset)[0], "RST", 20)
    t.check(c.value in TOLD, f"RNIC down behind the Accept: the client got {c.value}")
    t.equal(accepted(s), had, "connections accepted")
    t.relay.unrule()
    t.a.run(ADD_RXE)
    t.pair.wait_gid(t.a, 0)


def subsequent(t):
    port = PORT + 2
    s = t.half(t.a, late_server, port=port)
    s.expect("listening")
    keep = t.half(t.b, early_client, port=port, gates=["go"])
    t.expect_all("asked", keep)
    t.step("data ahead of the Confirm")
    held_confirm(t, s, port, False)
    t.step("RNIC of the server down behind the Accept")
    held_confirm(t, s, port, True)
    keep.gate("go")
    t.wait_all(keep)
    for vm in (t.a, t.b):
        t.set(vm, peer_memory_ms=1)
    t.wait_all(t.half(t.b, requests, port=port, n=2))
    s.gate("stop")
    t.wait_all(s)


def client_ends_group(t):
    """A client's DELETE LINK for all, made of its TEST LINK, on a group in use."""
    t.set(t.b, smcr_testlink_time=1)
    t.no_groups()
    port = PORT + 3
    s = t.half(t.a, late_server, port=port)
    s.expect("listening")
    c = t.half(t.b, early_client, port=port, gates=["go"])
    t.expect_all("asked", c)
    asked = t.relay.rule(llc=TEST_LINK, frm="b", at="3:00", count=1, set=DELETE_ALL)
    # which the client never understands: its connection ends by TCP alone
    answer = t.relay.rule(llc=DELETE_LINK, frm="a", at="3:40", set="0:84")
    reset = t.relay.rule(proto="tcp", frm="a", flags=RST)
    t.wait(lambda: t.relay.hits(asked)[1], "TEST LINK of the client", 20)
    t.check(s.expect("broken", t.left())["errno"] in TOLD, "the server got no error")
    t.check(t.relay.hits(answer)[0], "no DELETE LINK for all from the server")
    t.wait(lambda: t.relay.hits(reset)[0], "RST on IP", 10)
    c.gate("go")
    t.wait_all(c)
    t.check(c.value in TOLD, f"the client's connection ended with {c.value}")
    t.relay.unrule()
    t.restore("smcr_testlink_time")
    s.gate("stop")
    t.wait_all(s)
    t.wait(lambda: not states(t, t.a) and not states(t, t.b), "end of the queue pairs", 10)


def least_regions(t):
    """The fewest memory regions seen at A until its link failed."""
    least = 1 << 30
    while states(t, t.a):
        t.check(t.left() > 1, "the link did not fail")
        regions = t.memory_regions(t.a)
        if states(t, t.a) == ["RTS"]:
            least = min(least, regions)
    return least


def idle_rmb(t, is_withheld):
    """An unused RMB is deleted, but not before the peer has answered."""
    port = PORT + 4 + is_withheld
    t.no_groups()
    t.set(t.a, rmb_idle_ms=500, llc_reply_ms=2000 * t.slow)
    t.set(t.b, smcr_testlink_time=1)
    s = t.half(t.a, late_server, port=port)
    s.expect("listening")
    keep = t.half(t.b, early_client, port=port, gates=["meanwhile", "go"])
    t.expect_all("asked", keep)
    one = t.memory_regions(t.a)
    ask = t.relay.rule(llc=DELETE_RKEY, frm="a", at="3:00")
    if is_withheld:
        # an unknown type that the receiver ignores
        answer = t.relay.rule(llc=DELETE_RKEY, frm="b", at="3:80", set="0:89")
    else:
        answer = t.relay.rule(llc=DELETE_RKEY, frm="b", at="3:80")
    t.wait_all(t.half(t.b, requests, port=port))
    t.wait(lambda: t.relay.hits(ask)[0] and t.relay.hits(answer)[0], "DELETE RKEY", 30)
    # whatever LLC waits for, data is not held up by it
    keep.gate("meanwhile")
    t.expect_all("asked after meanwhile", keep)
    if not is_withheld:
        t.wait(lambda: t.memory_regions(t.a) == one, "end of the unused regions", 20)
        keep.gate("go")
        t.wait_all(keep)
        t.equal(keep.value, 0, "the connection beside it")
    else:
        # the send region needs no answer; the RMB stays as long as the link does
        t.check(least_regions(t) > one, "the RMB was freed without the answer")
        keep.gate("go")
        t.wait_all(keep)
        t.check(keep.value in TOLD, f"lost link: {keep.value}")
    t.relay.unrule()
    s.gate("stop")
    t.wait_all(s)
    # B learns of a link that A gave up when its next message is not answered
    t.wait(lambda: not states(t, t.a) and not states(t, t.b), "end of the queue pairs", 20)


def run(t):
    if t.family != "smc":
        return
    t.no_groups()
    for case in (client_steps, server_steps):
        t.step(case.__doc__)
        case(t)
    subsequent(t)
    t.step(client_ends_group.__doc__)
    client_ends_group(t)
    for is_withheld in (False, True):
        t.step(f"{idle_rmb.__doc__} {is_withheld}")
        idle_rmb(t, is_withheld)
