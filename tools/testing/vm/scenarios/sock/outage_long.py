# SPDX-License-Identifier: GPL-2.0
"""Long outages, a peer that stands still, an address that is gone and back, another MAC address.

Both hosts agreed on landing. The same happens to plain TCP beside, and the table shows both pauses:
where TCP lives SMC lives, and it needs no longer than TCP and its own patience.

covers: GEN-07
"""
import time

from streams import client, server  # noqa: F401, halves

timeout = 900
PORT = 5730
COUNT = 4
LIMIT = 60      # seconds that SMC may take longer than TCP: its patience, and a backoff of TCP


def silence(t, seconds, **rule):
    """Nothing passes for so many seconds: the length of an outage is no wait for its effect."""
    number = t.relay.rule(drop=1, **rule)
    time.sleep(seconds)
    t.relay.unrule(number)


def stand_still(t, vm, seconds):
    vm.freeze()
    time.sleep(seconds)
    vm.thaw()


def readdress(t, vm):
    """As a restart of the network does it: the address is gone for a second."""
    own = f"{vm.ip}/24"
    vm.run(f"ip addr del {own} dev eth0")
    time.sleep(1)
    vm.run(f"ip addr add {own} dev eth0")


def other_mac(t, vm):
    """Another adapter with the same address, as a bond has it: for good, announced to nobody."""
    mac = vm.read("/sys/class/net/eth0/address").strip()
    vm.run(f"ip link set dev eth0 address {mac[:-1]}{(int(mac[-1], 16) + 8) % 16:x}")


def run(t):
    if t.family != "smc":
        return
    from smcvm.links import Streams, several

    class Plain(Streams):
        """The same streams on TCP."""

        def __init__(self, t, port):
            self.t, self.port, self.count, self.ours, self.steps = t, port, COUNT, (), 0
            self.s = t.half(t.a, "server", "tcp", port=port, count=COUNT)
            self.s.expect("listening", t.left())
            self.c = t.half(t.b, "client", "tcp", port=port, count=COUNT)
            t.expect_all("connected", self.c)

    port = PORT
    for what, outage in (
            ("nothing passes for 12 s", lambda: silence(t, 12)),
            ("nothing passes to A for 12 s", lambda: silence(t, 12, frm="b")),
            ("B stands still for 10 s", lambda: stand_still(t, t.b, 10)),
            ("A's address is gone for 1 s", lambda: readdress(t, t.a)),
            ("B's address is gone for 1 s", lambda: readdress(t, t.b)),
            ("A has another MAC address", lambda: other_mac(t, t.a)),
            ("B has another MAC address", lambda: other_mac(t, t.b)),
            ("nothing passes for 120 s", lambda: silence(t, 120))):
        t.step(what)
        several(t, links=1, landing=1, rdma_retries=7, peer_memory_ms=0)
        smc, tcp = Streams(t, port, COUNT), Plain(t, port + 1)
        port += 2
        for x in (smc, tcp):
            x.more()
        outage()
        gap = {name: x.more() for name, x in (("TCP", tcp), ("SMC", smc))}
        t.note(f"{what}: TCP {gap['TCP']:.1f} s, SMC {gap['SMC']:.1f} s")
        t.check(gap["SMC"] < gap["TCP"] + LIMIT, f"{what}: {gap}")
        for x in (smc, tcp):
            x.stop()
