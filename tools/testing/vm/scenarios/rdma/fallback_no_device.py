# SPDX-License-Identifier: GPL-2.0
"""Without RDMA device at the server, then at the client, connections are TCP until it is back.

A host without any device does not offer SMC. A client whose devices are on no path to the
peer does not, either, as `smc check` says; such a server declines. A client that opens
many connections in a row is not declined each time, and uses SMC when the device is back.
Last, the server's device goes while the server waits for the Confirm: the connection is TCP,
and nothing holds a reference to the device.

covers: DCLN-03 DCLN-08 ERR-01 ERR-05 OPT-10
"""
import json
import time

from common import requests, serve, stream_client, stream_server

PEERNOSMC, NOSMCRDEV, PEERDECL = 0x03010000, 0x03030002, 0x05000000
ELSEWHERE = """ip link add aside type dummy && ip addr add 10.99.0.1/24 dev aside &&
    ip link set aside up && rdma link add rxe9 type rxe netdev aside"""
MANY, IN_A_ROW, PAUSE = 40, 8, 1.0


def gone_in_between(t, port):
    """The device is removed after the Accept and before the Confirm."""
    t.no_groups()
    accept = t.relay.rule(clc=2, frm="a")
    t.relay.rule(clc=3, frm="b", delay=1500 * t.slow)
    s = t.half(t.a, serve, port=port, count=1)
    s.expect("listening")
    c = t.half(t.b, requests, port=port, back=50000)
    t.wait(lambda: t.relay.hits(accept)[0], "the Accept", 10)
    # comes back only when the link group has let go of the device
    t.a.run("rdma link delete rxe0")
    t.wait_all(s, c)
    t.relay.unrule()
    t.a.run("rdma link add rxe0 type rxe netdev eth0")
    t.pair.wait_gid(t.a, 0)
    t.rdma_start()
    t.both(serve, requests, port + 1, sargs={"count": 5}, cargs={"n": 5, "back": 20000})
    t.carried(t.a, 5 * 20000)


def moved(t, port, n):
    """A connection over TCP, still open: its two halves."""
    s = t.half(t.a, stream_server, port=port, n_in=n, n_out=n)
    s.expect("listening")
    c = t.half(t.b, stream_client, port=port, n_in=n, n_out=n)
    t.expect_all("moved", s, c)
    return s, c


def ended(t, halves):
    for p in halves:
        p.gate("end")
    t.wait_all(*halves)


def without(t, vm, other, port, n):
    """No device: there is no offer, and no CLC message."""
    proposal = t.relay.rule(clc=1)
    halves = moved(t, port, n)
    t.mode(vm, "TCP", port, reason=NOSMCRDEV)
    t.mode(other, "TCP", port, reason=PEERNOSMC)
    ended(t, halves)
    t.equal(t.relay.hits(proposal)[0], 0, "Proposals on the wire")
    t.relay.unrule(proposal)


def explained(t, port, want):
    """What the client says of the service."""
    out = json.loads(t.run_smc(t.b, f"check -j {t.a.ip}:{port}", want is not None).out)
    t.equal(t.reason(out), want, "reason by smc check")


def declined(t, vm, other, port, n):
    """A device on no path to the peer: one Decline."""
    decline = t.relay.rule(clc=4, frm=vm.name)
    halves = moved(t, port, n)
    t.mode(vm, "TCP", port, reason=NOSMCRDEV)
    peer = t.mode(other, "TCP", port, reason=PEERDECL)[0]
    t.equal(peer["peer_diagnosis"], NOSMCRDEV, "diagnosis the peer received")
    ended(t, halves)
    t.equal(t.relay.hits(decline)[0], 1, "Declines on the wire")
    t.relay.unrule(decline)


def hold(h, port, n):
    """N connections one after the other; returns the seconds that they took."""
    began = time.monotonic()
    socks = []
    for _ in range(n):
        socks.append(h.connect(port))
        h.request(socks[-1])
    took = time.monotonic() - began
    h.mark("open")
    h.gate("end")
    for s in socks:
        h.finish(s)
    return took


def in_a_row(t, vm, port):
    """Some are declined, then SMC is not offered for a moment. The service goes on."""
    s = t.half(t.a, serve, port=port)
    s.expect("listening")
    decline = t.relay.rule(clc=4, frm=vm.name)
    pauses = t.stat(t.b, "service_paused")
    c = t.half(t.b, hold, port=port, n=MANY)
    c.expect("open")
    for one in t.mode(t.b, "TCP", port, MANY, PEERDECL):
        t.equal(one["peer_diagnosis"], NOSMCRDEV, "diagnosis")
    c.gate("end")
    t.wait_all(c)
    seen = t.relay.hits(decline)[0]
    # and one for each second that has gone by since, which on a slow host may be all
    t.check(IN_A_ROW <= seen <= IN_A_ROW + 1 + c.value / PAUSE,
            f"{seen} Declines of {vm.name} in {MANY} connections, {c.value:.1f} s")
    t.equal(t.stat(t.b, "service_paused") - pauses, seen - IN_A_ROW + 1, "pauses")
    t.note(f"{seen} of {MANY} declined by {vm.name}")
    t.relay.unrule(decline)
    return s


def offered_again(t, port, service):
    def uses_smc():
        before = t.stat(t.b, "client_smc")
        t.wait_all(t.half(t.b, requests, port=port))
        return t.stat(t.b, "client_smc") > before

    t.wait(uses_smc, "SMC with the service that has declined", 20)
    service.gate("stop")
    t.wait_all(service)


def run(t):
    n = t.pick(2_000_003, 400_009)
    port = 5695
    # a group of an earlier scenario, whose loss a client noticed now, would keep it from SMC
    t.reload(t.a, t.b, look=False)
    for vm in (t.a, t.b):
        other = t.b if vm is t.a else t.a
        port += 5
        vm.run("rdma link delete rxe0")
        t.count0[other.name] = other.counters()
        without(t, vm, other, port, n)
        vm.run(ELSEWHERE)
        if vm is t.b:
            explained(t, port + 1, NOSMCRDEV)
            without(t, vm, other, port + 1, n)
        else:
            explained(t, port + 1, None)
            declined(t, vm, other, port + 1, n)
            service = in_a_row(t, vm, port + 3)
        t.not_carried(other)
        vm.run("rdma link delete rxe9; ip link delete aside; "
               "rdma link add rxe0 type rxe netdev eth0")
        t.pair.wait_gid(vm, 0)
        t.rdma_start()
        t.both(serve, requests, port + 2, sargs={"count": 5},
               cargs={"n": 5, "back": 20000})
        t.carried(t.a, 5 * 20000)
        if vm is t.b:
            explained(t, port + 1, None)
        else:
            offered_again(t, port + 3, service)
    gone_in_between(t, port + 4)
