# SPDX-License-Identifier: GPL-2.0
"""Link groups of several links: how scenarios inspect, break and repair them.

Import this within run(): the machines cannot import it.
"""
import contextlib
from collections import namedtuple

AFAR = ("10.48.0.1", "10.49.0.2")  # of A and B, in different subnets: declined
NEVER = 3600000     # ms, longer than any scenario: a wait for such a timer fails it
# The timers of handshakes and first contact. llc_reply_ms is not among them: it also delays
# the next link after many failed attempts or many links that were lost soon.
WAITS = dict.fromkeys(("clc_timeout_ms", "llc_confirm_link_ms", "llc_first_reply_ms",
                       "llc_add_link_ms", "llc_add_link_deployed_ms"), NEVER)
Group = namedtuple("Group", "id role type peer links immediate")
Link = namedtuple("Link", "num state device conns gid peer_gid")
TYPES = ("NONE", "SINGLE", "SYMMETRIC", "ASYMMETRIC_PEER", "ASYMMETRIC_LOCAL")
ACTIVE = 3      # SMC_LINK_IS_ACTIVE


def several(t, links=2, **more):
    """Allow new groups LINKS links, with timers for a slow machine.

    An attempt of the RNIC lasts a second on the test machines, and longer on the debug
    kernel: with the usual seven it would take half a minute to detect a silent loss. The cards
    are in different subnets, so that a group of RoCE v1, whose GIDs do not tell that, has one.
    """
    t.need(links == 1 or not t.case.has_bounce_buffers(), "bounce buffers allow one link")
    t.no_groups()
    more.setdefault("roce", 2)
    if t.slow > 1:
        more.setdefault("rdma_retries", 2)
    more.setdefault("llc_add_link_retry_ms", 1000)
    for vm in (t.a, t.b):
        t.set(vm, smcr_max_links_per_lgr=links, **more)


def nimble(t):
    """Settings for several() that detect a lost link soon.

    Soft-RoCE retransmits all outstanding data when an acknowledgment is late. An emulated
    machine with much outstanding data is always late, so retransmissions would not end.
    With small rings an attempt may be short, 67 ms on an idle host. Seven attempts tolerate
    a bad wire, and a host that pauses a machine for a while.
    """
    return {"wmem": 16384, "rmem": 16384, "rdma_retries": 6,
            "rdma_ack_exponent": 14 + t.patience.bit_length() - 1}


@contextlib.contextmanager
def afar(t, gateway=False):
    """During the context the machines also have the addresses AFAR.

    These are on the link; with GATEWAY the peer is the gateway to its own address.
    """
    ways = ((t.a, t.b.ip, *AFAR), (t.b, t.a.ip, *AFAR[::-1]))
    for vm, via, own, peer in ways:
        how = f"via {via}" if gateway else "dev eth0"
        vm.run(f"ip addr add {own}/24 dev eth0; ip route add {peer} {how} src {own}")
    try:
        yield
    finally:
        for vm, _, own, peer in ways:
            vm.run(f"ip route del {peer}; ip addr del {own}/24 dev eth0")


def groups(vm, netns=None):
    """The active link groups of a machine, or of its namespace NETNS, by netlink."""
    out = []
    for found in vm.call("groups", netns=netns)["list"]:
        # attributes by number, as JSON has them
        lgr = found["lgr"]
        links = [Link(x["1"], x["10"], x["2"], x["6"], x["4"], x["5"]) for x in found["links"]]
        out.append(Group(f"{lgr['1']:08x}", ("client", "server")[lgr["2"]], TYPES[lgr["3"]],
                         lgr["72"], links, lgr["69"]))
    return out


def active(vm, netns=None):
    """The active links of a machine's only active group; empty without such a group."""
    found = groups(vm, netns)
    return [x for x in found[0].links if x.state == ACTIVE] if len(found) == 1 else []


def kind(vm):
    """The class of a machine's only active group, from that machine's view."""
    found = [g.type for g in groups(vm)]
    return found[0] if len(found) == 1 else found


def give_up(vm, what=None, of=None):
    """Delete link WHAT as an operator, or "all" links; by default that with the most connections.

    OF is the id of the group; the default is the first group. Returns the link's device.
    """
    group = next(g for g in groups(vm) if of in (None, g.id))
    most = max((x for x in group.links if x.state == ACTIVE), key=lambda x: x.conns)
    vm.call("end", group=int(group.id, 16), link=None if what == "all" else what or most.num)
    return most.device


def delete(vm, i):
    vm.run(f"rdma link delete rxe{i}")


def add(t, vm, i):
    vm.run(f"rdma link add rxe{i} type rxe netdev eth{i}")
    t.pair.wait_gid(vm, i)


def card_up(t, vm, i):
    """Undo "ip link set ethI down", which also removed the card's IPv6 address."""
    vm.run(f"ip link set eth{i} up; "
           f"ip -6 addr add fd43:{i or ''}::{vm.number}/64 dev eth{i} nodad"
           .replace("fd43:::", "fd43::"))
    t.pair.wait_gid(vm, i)


def appear(vm, i, net=43):
    """Add RNIC I to the LAN of eth0, with its own interface, MAC address and IP address.

    The MAC address is the same each time, because the peer may cache it.
    """
    vm.run(f"ip link add mac{i} link eth0 address 02:00:43:{net:02x}:{i:02x}:{vm.number:02x} "
           "type macvlan mode bridge && "
           f"ip addr add 10.{net}.0.{10 * i + vm.number}/24 dev mac{i} && "
           f"ip link set mac{i} up && rdma link add rxe{i} type rxe netdev mac{i}")


def vanish(vm, i):
    vm.run(f"rdma link delete rxe{i}; ip link delete mac{i}; true")


def lan(vm):
    """Let each interface answer ARP for its own address only."""
    vm.run("sysctl -qw net.ipv4.conf.all.arp_ignore=1 net.ipv4.conf.all.arp_announce=2 "
           "net.ipv4.conf.all.rp_filter=0 net.ipv4.conf.default.rp_filter=0")


class Streams:
    """Streams of guest/streams.py from B to A, and their progress.

    OURS are the machines with our module, which shows its links. PACE is that of the streams.
    """

    def __init__(self, t, port, count=4, ours=None, **pace):
        self.t, self.port, self.count = t, port, count
        self.ours = ours or (t.a, t.b)
        self.steps = 0
        self.start = [self.counters(vm) for vm in self.ours]
        self.s = t.half(t.a, "server", port=port, count=count, **pace)
        self.s.expect("listening", t.left())
        self.c = t.half(t.b, "client", port=port, count=count, **pace)
        t.expect_all("connected", self.c)
        t.mode(self.ours[0], "SMC-R", port, count)

    def counters(self, vm):
        return {n: self.t.stat(vm, n) for n in ("link_up", "link_down", "conn_moved")}

    def least(self, name):
        """The least growth of the counter NAME on the machines."""
        return min(self.t.stat(vm, name) - start[name]
                   for vm, start in zip(self.ours, self.start))

    def more(self):
        """Wait until all streams go on on both sides; the longest pause of one, for a note."""
        for p in (self.s, self.c):
            p.gate("more")
        marks = self.t.expect_all(f"more{self.steps}", self.s, self.c)
        self.steps += 1
        return max(m["gap"] for m in marks)

    def have(self, links, what="links", spare=0):
        """Wait until both sides have LINKS active links and no other queue pair.

        SPARE more queue pairs may exist for another attempt at a link.
        """
        t = self.t

        def there():
            for p in (self.s, self.c):
                t.check(p.rc is None, p.explain())
            return all(len(active(vm)) == links for vm in self.ours) and \
                all(0 <= t.queue_pairs(vm) - links <= spare for vm in (t.a, t.b))
        t.wait(there, f"{links} {what} on either side", 30)

    def spread(self, why=""):
        """Pause the streams, so that each link carries connections again.

        A deployed peer may distribute its connections in any way while they are busy.
        """
        t = self.t
        for p in (self.s, self.c):
            p.gate("rest")
        t.expect_all("resting", self.s, self.c)
        t.wait(lambda: all(x.conns for vm in self.ours for x in active(vm)),
               f"{why}connections on each link again", 20)
        for p in (self.s, self.c):
            p.gate("go on")
        self.more()

    def lose(self, what, down, mend, links=2):
        """Lose a link and get it back while the streams run; return their longest pause.

        The streams go on before the link comes back, so they use the other links. There are
        LINKS before and after.
        """
        t = self.t
        t.step(what)
        self.more()
        was_up, was_down = self.least("link_up"), self.least("link_down")
        down()
        t.wait(lambda: self.least("link_down") > was_down, f"{what}: a link to go down", 15)
        gap = self.more()
        mend()
        t.wait(lambda: self.least("link_up") > was_up, f"{what}: another link to come up", 30)
        self.have(links)
        gap = max(gap, self.more())
        # each side distributes its connections; a deployed peer may do so in any way
        if self.count >= links:
            self.spread(f"{what}: ")
        return gap

    def stop(self):
        """End the streams in good order; no byte was lost or repeated."""
        t = self.t
        for p in (self.s, self.c):
            p.gate("stop")
        t.wait_all(self.s, self.c)
        for i, (here, there) in enumerate(zip(self.s.value, self.c.value)):
            t.equal(here[0], there[1], f"bytes of stream {i} from A")
            t.equal(here[1], there[0], f"bytes of stream {i} from B")
        for vm in (t.a, t.b):
            t.no_sockets(vm, self.port)
