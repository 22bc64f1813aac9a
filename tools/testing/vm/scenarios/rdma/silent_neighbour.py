# SPDX-License-Identifier: GPL-2.0
"""A path whose first hop does not answer is waited for once.

A client of version 2 names an unused GID on the server's LAN. The server tries to resolve
it, and declines after the timeout. The next connection of that client is declined at once,
although the timeout is now infinite. A client that also offers version 1 gets version 1
after a short time, which does not depend on the timeout, and at once the next time.

covers: ERR-01 DCLN-02
"""
import struct
import time

from rawpeer import RawHost

kernels = ("stock",)
ipv = (4,)
dialects = (0,)
timeout = 60
PORT = 5098
EID = "SMC-BENCH.SILENT"
NO_ROUTE = 0x030e0000
# times that the kernel asks for a neighbour, a second each
ASKS = "net.ipv4.neigh.eth0.mcast_solicit"


def server(h, n):
    s = h.listen(PORT)
    for _ in range(n):
        h.accept(s).close()
    # accept() never returns a client that is reset in its handshake
    h.gate("stop")


def proposal(h, host, has_v1):
    """A connection whose Proposal names an unused GID."""
    msg = host.proposal_v2(bytes(10) + b"\xff\xff" + bytes([10, 43, 0, 99]), EID)
    c = host.connect(h.config["peer4"], PORT)
    c.send(host.with_v1(msg) if has_v1 else msg)
    return c


def client(h, n):
    """The duration of each handshake with a Decline."""
    host = RawHost(ip="10.43.0.81", mac="525400437781")
    times = []
    for _ in range(n):
        h.gate("next")
        t0 = time.monotonic()
        c = proposal(h, host, False)
        msg = c.recv_clc(h.within(20))
        times.append(time.monotonic() - t0)
        h.equal(msg[4:5], b"\x04", f"Decline ({msg.hex()})")
        h.equal(struct.unpack_from("!I", msg, 16)[0], NO_ROUTE, "diagnosis")
        h.check(c.ended(h.within(20)), "the server did not end its TCP connection")
        c.abort()
        h.mark("declined")
    return times


def both_client(h, n):
    """The duration of each handshake with an Accept."""
    host = RawHost(ip="10.43.0.82", mac="525400437782")
    times = []
    for _ in range(n):
        h.gate("next")
        t0 = time.monotonic()
        c = proposal(h, host, True)
        msg = c.recv_clc(h.within(20))
        times.append(time.monotonic() - t0)
        h.equal(msg[4:5], b"\x02", f"Accept ({msg.hex()})")
        h.equal((msg[7] >> 4, len(msg)), (1, 68), "version and length")
        c.abort()
        h.mark("accepted")
    return times


def run(t):
    from smcvm.links import NEVER
    t.set(t.a, clc_timeout_ms=6000 * t.slow)
    t.ueid(t.a, EID)
    asks = t.a.sysctl(ASKS)
    before = t.stat(t.a, "peer_remembered")
    qps = t.queue_pairs(t.a)
    try:
        s = t.half(t.a, server, n=2)
        s.expect("listening")
        c = t.half(t.b, client, n=2)
        c.gate("next")
        c.expect("declined", t.left())
        t.set(t.a, clc_timeout_ms=NEVER)
        t.a.sysctl(ASKS, NEVER)
        c.gate("next")
        t.wait_all(c)
        t.equal(t.stat(t.a, "peer_remembered"), before + 1, "peers remembered")
        b = t.half(t.b, both_client, n=2)
        for _ in range(2):
            b.gate("next")
            b.expect("accepted", t.left())
            # what the first one has begun is over before the next one
            t.wait(lambda: t.queue_pairs(t.a) == qps, "end of the link group")
        s.gate("stop")
        t.wait_all(s, b)
    finally:
        t.ueid(t.a, "--flush")
        t.a.sysctl(ASKS, asks)
    first, later = c.value
    t.check(first > 2.5 * t.slow, f"no wait for the neighbour: {first:.1f} s")
    # the second one has not asked again
    t.equal(t.stat(t.a, "peer_remembered"), before + 2, "peers remembered, with a way out")
    t.note(f"Declines after {first:.1f} and {later:.1f} s, Accepts after "
           + " and ".join(f"{x:.1f}" for x in b.value) + " s")
