# SPDX-License-Identifier: GPL-2.0
"""When the last of two links is lost, connections are reset at once and new ones are TCP.

It is lost with the RDMA devices of one side, with the wire under traffic, with the wire
while idle (TEST LINK detects it), or by the operator. New connections are TCP at once, also
while the wire is still cut: they send nothing over RDMA and wait for no message. They are
SMC when an RNIC is back, or when a path that has worked was unused for a while. A second
path that is dead from the beginning delays nothing longer than its RNIC retries. Data and
end of a peer that has finished sending are read in full.

covers: PEER-03 GEN-07 LGT-03 ERR-41 SL-16 SL-18 ERR-57 CLOSE-17
"""
import errno
import os
import socket
import time

from common import requests, serve
from streams import client, server  # noqa: F401, halves

nics = 2
timeout = 200
PORT, IDLE = 5320, 5321
CLOSED, HALF = 5330, 5331
DELETE_LINK, ALL = 4, "3:40"
TOLD = {"ECONNRESET", "ECONNABORTED", "EPIPE", "ETIMEDOUT"}


def idle_server(h, port):
    """One idle connection; return the errno of its end."""
    ls = h.listen(port)
    c = h.accept(ls)
    ls.close()
    return h.raises("read", tuple(range(1, 134)), c.recv, 1)


def idle_client(h, port):
    s = h.connect(port)
    h.mark("connected")
    return h.raises("read", tuple(range(1, 134)), s.recv, 1)


def done_server(h, port, closes):
    """Send all data, then close() or shutdown()."""
    c = h.accept(h.listen(port))
    h.send_stream(c, 50000, 3)
    if closes:
        c.close()
    else:
        c.shutdown(socket.SHUT_WR)
    h.mark("done")
    h.gate("end")


def late_client(h, port, closes):
    """Read one byte, and all others after the link has gone."""
    s = h.connect(port)
    h.mark("connected")
    h.recv_stream(s, 1, 3)
    h.gate("read")
    h.recv_stream(s, 49999, 3, start=1)
    h.at_end(s)
    err = s.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
    # only without the peer's close() this side could still send, and gets an error
    h.check(not err if closes else errno.errorcode.get(err) in TOLD,
            f"SO_ERROR is {os.strerror(err)}")
    h.at_end(s, "once more")
    if not closes:
        h.raises("send", errno.EPIPE, s.send, b"x")
    s.close()


def all_arrived(t, give_up):
    """Data that arrived in good order outlive the link."""
    t.step(all_arrived.__doc__)
    procs = []
    for port, closes in ((CLOSED, True), (HALF, False)):
        s = t.half(t.a, done_server, port=port, closes=closes)
        s.expect("listening", t.left())
        c = t.half(t.b, late_client, port=port, closes=closes)
        t.expect_all("connected", c)
        s.expect("done", t.left())
        procs += [s, c]
    for port in (CLOSED, HALF):
        t.wait(lambda p=port: t.b.sockets(dport=p, state="APPCLOSEWAIT1"), "the peer's end")
    give_up(t.a, "all")
    t.wait(lambda: not any(t.queue_pairs(vm) for vm in (t.a, t.b)), "end of the group", 20)
    for p in procs:
        p.gate("read" if p.vm is t.b else "end")
    t.wait_all(*procs)
    for vm in (t.a, t.b):
        for port in (CLOSED, HALF):
            t.no_sockets(vm, port)


def both_ends(t, server, client, port, **args):
    s = t.half(t.a, server, port=port, **args)
    s.expect("listening", t.left())
    c = t.half(t.b, client, port=port, **args)
    t.expect_all("connected", c)
    t.mode(t.a, "SMC-R", port, args.get("count", 1))
    return s, c


def have(t, links):
    from smcvm.links import active
    t.wait(lambda: all(len(active(vm)) == links for vm in (t.a, t.b)), f"{links} links", 30)


def reset(t, what, procs, began):
    """All halves see the reset although the TCP connection is alive; no queue pair is left."""
    t.wait(lambda: all(p.rc is not None for p in procs), f"{what}: end of connections", 20)
    t.wait_all(*procs)
    took = time.monotonic() - began
    t.wait(lambda: not any(t.queue_pairs(vm) for vm in (t.a, t.b)),
           f"{what}: end of the queue pairs", 20)
    t.note(f"{what}: {took:.1f} s")


def rdma_packets(t):
    """The packets that all RNICs have sent."""
    return sum(vm.counters(f"rxe{i}")["sent_pkts"] for vm in (t.a, t.b) for i in range(nics))


def is_tcp(t, what, has_rnics=True):
    from smcvm.links import WAITS
    sent = t.stat(t.a, "tx_bytes")
    # a side that waits for a message of a handshake exceeds the scenario's limit
    for vm in (t.a, t.b):
        t.set(vm, **WAITS)
    tried = rdma_packets(t) if has_rnics else 0
    t.both(serve, requests, PORT + 2, sargs={"count": 2}, cargs={"n": 2})
    if has_rnics:
        t.equal(rdma_packets(t), tried, f"{what}: RDMA packets")
    for name in WAITS:
        t.restore(name)
    t.equal(t.stat(t.a, "tx_bytes"), sent, f"{what}: bytes over SMC")


def is_smc(t):
    sent = t.stat(t.a, "tx_bytes")
    t.both(serve, requests, PORT + 3, sargs={"count": 3}, cargs={"n": 3, "back": 50000})
    t.check(t.stat(t.a, "tx_bytes") - sent >= 150000, "new connections are not SMC again")


def remember(t, ms=3600000):
    for vm in (t.a, t.b):
        t.set(vm, peer_memory_ms=ms)


def no_second_path(t):
    """The second link cannot be confirmed: the first connection does not wait for long."""
    from smcvm.links import WAITS
    t.step(no_second_path.__doc__)
    rule = t.relay.rule(seg=1, proto="roce", drop=1)
    for vm in (t.a, t.b):
        t.set(vm, **WAITS)
    began = time.monotonic()
    procs = both_ends(t, idle_server, idle_client, IDLE)
    took = time.monotonic() - began
    for name in WAITS:
        t.restore(name)
    have(t, 1)
    t.relay.unrule(rule)
    have(t, 2)
    for p in procs:
        p.kill()
        p.wait(check=False)
    t.wait(lambda: not any(t.queue_pairs(vm) for vm in (t.a, t.b)), "end of the group", 20)
    t.note(f"first contact with one path: {took:.1f} s")


def run(t):
    if t.family != "smc":
        return
    from smcvm.links import add, delete, give_up, several
    several(t)
    no_second_path(t)
    all_arrived(t, give_up)
    for vm in (t.b, t.a):
        what = f"RNICs of {vm.name}"
        t.step(what)
        procs = both_ends(t, server, client, PORT, end="broken")
        have(t, 2)
        delete(vm, 0)
        have(t, 1)
        goodbye = t.relay.rule(llc=DELETE_LINK, frm=vm.name, at=ALL)
        began = time.monotonic()
        delete(vm, 1)
        reset(t, what, procs, began)
        t.check(t.relay.hits(goodbye)[0], f"{what}: no DELETE LINK for all")
        t.relay.unrule(goodbye)
        for p in procs:
            t.check(set(p.value) <= TOLD, f"{what}: {p} ended with {p.value}")
        is_tcp(t, what, has_rnics=False)
        # any of them will do
        add(t, vm, 1)
        add(t, vm, 0)
        is_smc(t)

    t.step("the wire, under traffic")
    procs = both_ends(t, server, client, PORT, end="broken")
    have(t, 2)
    remember(t)
    began = time.monotonic()
    t.relay.rule(proto="roce", drop=1)
    reset(t, "wire under traffic", procs, began)
    is_tcp(t, "wire under traffic")
    t.relay.unrule()
    is_tcp(t, "the wire is mended, and nobody knows")
    # that an RNIC has come may be what was missing
    delete(t.b, 1)
    add(t, t.b, 1)
    is_smc(t)

    t.step("the idle wire")
    t.set(t.a, smcr_testlink_time=1)
    t.set(t.b, smcr_testlink_time=1)
    procs = both_ends(t, idle_server, idle_client, IDLE)
    have(t, 2)
    began = time.monotonic()
    t.relay.rule(proto="roce", drop=1)
    reset(t, "idle wire", procs, began)
    is_tcp(t, "idle wire")
    t.relay.unrule()
    remember(t, 1)
    is_smc(t)
    t.restore("smcr_testlink_time")

    for vm in (t.a, t.b):
        what = f"group given up on {vm.name}"
        t.step(what)
        procs = both_ends(t, server, client, PORT, end="broken")
        have(t, 2)
        began = time.monotonic()
        give_up(vm, "all")
        reset(t, what, procs, began)
    is_smc(t)
    for vm in (t.a, t.b):
        t.no_sockets(vm, PORT)
