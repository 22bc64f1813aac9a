# SPDX-License-Identifier: GPL-2.0
"""Connections fall back where the path drops RoCE: all, one direction, or large packets only.

With --long also the other direction. Data must be intact over TCP, in both roles. The next
connection must neither try RDMA again nor wait for a message; the same holds where RNICs reach
each other, but LLC gets no answer. SMC comes back when the path works again.

covers: GEN-06 DCLN-07 ERR-22 ERR-28
"""
import errno

from common import requests, serve, serve_any, stream_client, stream_server

timeout = 90
ADD_LINK, CDC = 2, 0xfe
HOLES = {
    "all": {"proto": "udp", "port": 4791},
    "to the server": {"proto": "udp", "port": 4791, "frm": "b"},
    "large": {"proto": "udp", "port": 4791, "longer": 700},
}
HOLES_LONG = {"to the client": {"proto": "udp", "port": 4791, "frm": "a"}}


def ask(h, port):
    """A connection and one request; 0 or the errno."""
    try:
        s = h.connect(port)
        h.request(s)
        h.finish(s)
        return 0
    except OSError as e:
        return e.errno


def mute(t, port):
    """ADD LINK arrives as a CDC message of no connection: the first connection is reset.

    Two of ours in the deployed dialect go on with one link, and so does the connection. A second connection, which waits for the first contact, is not reset. The server's timer
    for the reply is the only one that runs out, so the errno is that of its reset: a
    client in the deployed dialect would go on with one link, and with SMC's keepalive
    or RNIC it could find the server silent before it sees the reset.
    """
    from smcvm.links import WAITS
    t.step("ADD LINK arrives as a CDC message of no connection")
    t.reload(t.a, t.b, look=False)
    t.set(t.a, **WAITS | {"llc_first_reply_ms": 1000 * t.slow * t.patience})
    goes_on = t.a in t.ours() and not t.dialect
    # the other module as a server has times of its own, and may go on
    if goes_on:
        t.set(t.b, clc_timeout_ms=WAITS["clc_timeout_ms"])
    elif t.a in t.ours():
        t.set(t.b, **WAITS)
    rule = t.relay.rule(frm="a", llc=ADD_LINK, set=f"0:{CDC:02x}")
    s = t.half(t.a, serve_any, port=port)
    s.expect("listening")
    first = t.half(t.b, ask, port=port)
    t.wait(lambda: t.relay.hits(rule)[0], "ADD LINK", 20)
    waits = t.half(t.b, ask, port=port)
    t.wait_all(first, waits)
    t.equal([first.value, waits.value], [0 if goes_on else errno.ECONNRESET, 0],
            "errno of the first connection, and of one that waits for it")
    seen = t.relay.hits(rule)[0]
    before = [t.stat(t.b, name) for name in ("client_tcp", "client_failed")]
    t.wait_all(t.half(t.b, requests, port=port, n=3))
    t.equal([t.stat(t.b, name) for name in ("client_tcp", "client_failed")],
            [before[0] + (0 if goes_on else 3), before[1]],
            "connections after that as TCP, and failed")
    t.check(goes_on or t.relay.hits(rule)[0] == seen, "ADD LINK for later connections")
    s.gate("stop")
    t.wait_all(s)
    t.relay.unrule(rule)
    for name in WAITS:
        t.restore(name)


def run(t):
    from smcvm.links import WAITS
    n = t.pick(1_000_003, 200_003)
    port = 5032
    for what, match in (HOLES | (HOLES_LONG if t.long else {})).items():
        t.reload(t.a, t.b, look=False)
        for vm in (t.a, t.b):
            # nothing acknowledges, however slow the machine: no need to wait long; with RoCE v1
            # a path that fails is no path that is remembered (roce_versions)
            t.set(vm, rdma_ack_exponent=15, roce=2)
        t.step(what)
        hole = t.relay.rule(drop=1, **match)
        port += 2
        _, took = t.in_step(stream_server, stream_client, port, None, ("TCP", "TCP"),
                            n_in=n, n_out=n)
        seen = t.relay.hits(hole)[0]
        t.check(seen, f"{what}: RoCE was not even tried")
        # a side that waits for a message exceeds the scenario's limit
        for vm in (t.a, t.b):
            t.set(vm, **WAITS)
        times = t.both(serve, requests, port + 1, sargs={"count": 3}, cargs={"n": 3})[1]
        for name in WAITS:
            t.restore(name)
        t.equal(t.relay.hits(hole)[0], seen, f"{what}: RoCE frames for later connections")
        t.note(f"{what} {took:.1f} s, then {max(times):.2f}")
        t.relay.unrule(hole)
    # the other module takes the reset for the end of the stream
    if t.b in t.ours():
        mute(t, port + 4)
        for vm in (t.a, t.b):
            t.set(vm, rdma_ack_exponent=15)
    # the peer is not remembered for ever
    for vm in (t.a, t.b):
        t.set(vm, peer_memory_ms=1)
    t.restore("rdma_ack_exponent")
    t.rdma_start()
    t.in_step(stream_server, stream_client, port + 2, lambda: t.carried(t.b, n),
              n_in=n, n_out=n)
    t.reload(t.a, t.b)
