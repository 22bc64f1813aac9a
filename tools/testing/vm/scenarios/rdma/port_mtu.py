# SPDX-License-Identifier: GPL-2.0
"""Streams go on while the MTU of their ports changes, and new connections take the new one.

With one RNIC a link with the new MTU takes the place of the old one; the server's MTU changes
first. With two, by --long, they change one after the other; the client's is first. A hole in the
path for long packets is forgotten with the MTU.

covers: LG-10 FC-14
"""
import errno

from common import ask_once, serve_any, stream_client, stream_server
from streams import client, server  # noqa: F401, the halves

nics = 2
timeout = 300
PORT = 5610
LARGE, SMALL = 4200, 1500
BROKEN = (errno.ECONNRESET, errno.ECONNABORTED, errno.EPIPE, errno.ETIMEDOUT)
PATH = {LARGE: 4096, SMALL: 1024}


def change(vm, mtu, cards=(0, 1)):
    vm.run("; ".join(f"ip link set eth{i} mtu {mtu}" for i in cards))


def mtus(t, vm):
    """Of the active links, by the tool."""
    import json
    rows = json.loads(t.run_smc(vm, "links -j").out)["links"]
    return [row["mtu"] for row in rows if row["state"] == "active"]


def have(t, mtu, links):
    """Wait until either side has so many links, all of this MTU."""
    t.wait(lambda: all(mtus(t, vm) == [PATH[mtu]] * links for vm in (t.a, t.b)),
           f"{links} links of MTU {PATH[mtu]} on either side", 40)


def another(t, port, mode="SMC-R"):
    """A new connection, which carries data at once."""
    t.in_step(stream_server, stream_client, port, None, (mode, mode), n_in=100_003, n_out=50_021)


def turns(t, x, links, first, second):
    for mtu in (SMALL, LARGE):
        t.step(f"{links} links, MTU {mtu} at {first.name} first")
        was_up = x.least("link_up")
        x.more()
        change(first, mtu)
        x.more()
        # the smaller one counts: the first machine decides downwards, the second upwards
        if mtu == SMALL:
            have(t, mtu, links)
        change(second, mtu)
        have(t, mtu, links)
        t.check(x.least("link_up") >= was_up + links, "links that are not new")
        x.more()
        another(t, PORT + 9)


def below_streams(t):
    from smcvm.links import Streams, add, delete, several
    for vm in (t.a, t.b):
        change(vm, LARGE)
        delete(vm, 1)
    several(t)
    lost = [t.stat(vm, "peer_remembered") for vm in (t.a, t.b)]
    x = Streams(t, PORT, 4)
    have(t, LARGE, 1)
    turns(t, x, 1, t.a, t.b)
    for vm in (t.a, t.b):
        add(t, vm, 1)
    have(t, LARGE, 2)
    if t.long:
        turns(t, x, 2, t.b, t.a)
    t.equal([t.stat(vm, "peer_remembered") for vm in (t.a, t.b)], lost, "lost paths")
    x.stop()


def hole(t):
    t.step("long packets are lost")
    t.no_groups()
    for vm in (t.a, t.b):
        # nothing acknowledges, however slow the machine: no need to wait long
        t.set(vm, rdma_ack_exponent=15, roce=2)
    t.set(t.b, peer_memory_ms=600_000)
    lost = t.stat(t.b, "peer_remembered")
    rule = t.relay.rule(proto="udp", port=4791, longer=2000, drop=1)
    s = t.half(t.a, serve_any, port=PORT + 10)
    s.expect("listening", t.left())
    c = t.half(t.b, ask_once, port=PORT + 10)
    t.wait_all(c)
    s.gate("stop")
    t.wait_all(s)
    # TCP carries it if the client notices before it has agreed
    t.check(c.value in (0, *BROKEN), f"end of the first connection: {c.value}")
    t.wait(lambda: t.stat(t.b, "peer_remembered") > lost, "the path to be remembered as lost", 30)
    another(t, PORT + 11, "TCP")
    for vm in (t.a, t.b):
        change(vm, SMALL)
    t.restore("rdma_ack_exponent")
    another(t, PORT + 12)
    t.relay.unrule(rule)


def run(t):
    if t.family != "smc":
        return
    try:
        below_streams(t)
        hole(t)
    finally:
        for vm in (t.a, t.b):
            change(vm, t.pair.mtu)
