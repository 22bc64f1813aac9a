# SPDX-License-Identifier: GPL-2.0
"""Hundreds of clients silent at every step of the handshake delay no other client.

More than a work queue runs items at a time (512) stop in the middle of a Proposal, as
many after a Proposal whose link group another client is forming, and some at each step
that costs the server a queue pair. Their timers are an hour, on either side: a client
that waits for a silent one exceeds the scenario's limit. Other clients connect while all
of these are there. The close of the listener ends the silent clients, and so does their
timer where it is short.

The memory that a listener spends on them is charged to its control group and bounded: with
rings so large that only some fit, the oldest silent clients are dropped, and no others.

covers: TMR-01 TMR-04 ERR-14
"""
import os

from common import requests, serve
from rawpeer import CONFIRM, RawHost

timeout = 100
PORT, LARGE, SHORT = 5047, 5048, 5049
N = 20
STAY = 256              # clients that a listener has at any cost
GROUP = "/sys/fs/cgroup/crowd"
# signs of a handshake that failed
ENDS = ("clc_timeout", "llc_timeout", "server_tcp", "server_failed", "server_dropped")


class Silent:
    """Silent clients of one port, by the step at which they stop."""

    def __init__(self, h, host, port):
        self.h, self.host, self.port = h, host, port
        self.next_id = 1
        self.kinds = {}

    def proposal(self):
        """A Proposal of an unknown peer."""
        self.next_id += 1
        return self.host.proposal(peer_id=b"\x12\x34\x52\x54\x77\x00" +
                                  self.next_id.to_bytes(2, "big"))

    def stop(self, kind, n, *msgs):
        """N clients that send MSGS and nothing more."""
        self.kinds[kind] = conns = []
        for _ in range(n):
            c = self.host.connect(self.h.config["peer4"], self.port)
            for msg in msgs:
                c.send(msg)
            conns.append(c)

    def stop_behind_accept(self, kind, n, *msgs):
        """N clients, each with a first contact of its own."""
        self.kinds[kind] = conns = []
        for _ in range(n):
            c = self.host.connect(self.h.config["peer4"], self.port)
            c.send(self.proposal())
            msg = c.recv_clc(self.h.within(20))
            self.h.equal(msg[4:5], b"\x02", f"{kind}: Accept ({msg.hex()})")
            for msg in msgs:
                c.send(msg)
            conns.append(c)

    def ends(self):
        """How the server ended each kind; nothing of them is left then.

        A client that sees a fallback ends TCP, and stays to acknowledge the server's FIN.
        Otherwise the server's socket, which no process owns, would wait for long.
        """
        told = {kind: sorted({self.end(c) for c in conns})
                for kind, conns in self.kinds.items()}
        left = [c for conns in self.kinds.values() for c in conns]

        def all_gone():
            while left and (left[-1].fin or left[-1].reset):
                left.pop()
            return not left
        self.h.equal(self.host.lost(), 0, "frames that found no room with the silent host")
        self.h.check(self.host.until(all_gone, self.h.left()),
                     f"{len(left)} connections have not ended")
        return told

    def end(self, c):
        patience = max(1, self.h.left() - 5)
        msg = c.recv_clc(patience)
        if msg[4:5] == b"\x02":  # one has become the first contact of many
            msg = c.recv_clc(patience)
        if msg[4:5] == b"\x04":
            c.close()
            return "decline"
        return c.ended(patience) or "nothing"


def silent(h, port, many, few):
    host = RawHost()
    s = Silent(h, host, port)
    confirm = host.accept_or_confirm(CONFIRM)
    s.stop("half a proposal", many, host.proposal()[:30])
    h.mark("many")
    h.gate("measured")
    s.stop_behind_accept("accept", few)
    s.stop_behind_accept("half a confirm", few, confirm[:33])
    s.stop_behind_accept("confirm", few, confirm)
    s.stop("syn", few)
    s.stop("half a header", few, host.proposal()[:5])
    s.stop("proposal", many, host.proposal())
    h.mark("silent")
    h.gate("end")
    return s.ends()


def costly(h, n):
    """Make N first contacts; return the number that the server has reset."""
    host = RawHost(ip="10.43.0.78", mac="525400437778")
    s = Silent(h, host, LARGE)
    s.stop_behind_accept("accept", n)
    conns = s.kinds["accept"]
    # those of the last ones may be on their way
    host.until(lambda: sum(c.reset for c in conns) >= n - STAY, h.within(20))
    lost = [c.reset for c in conns]
    h.mark("silent", lost=lost)
    h.gate("end")
    return s.ends()


def charged_serve(h, port, backlog):
    """A server in a control group of its own."""
    with open(f"{GROUP}/cgroup.procs", "w") as f:
        f.write(str(os.getpid()))
    serve(h, port, backlog=backlog)


def charge(vm):
    """What the control group is charged for small objects, in bytes."""
    return int(vm.run(f"awk '/^slab / {{ print $2 }}' {GROUP}/memory.stat").out)


def slab(vm):
    """The memory of the slab objects of machine VM's kernel, in bytes."""
    return 1024 * int(vm.run("awk '/^Slab:/ { print $2 }' /proc/meminfo").out)


def others_get_through(t, port, base):
    """Connect while all silent clients exist; connects took BASE without them."""
    ends = [t.stat(t.a, name) for name in ENDS]
    t.rdma_start()
    good = t.half(t.b, requests, port=port, n=N)
    t.wait_all(good)
    t.equal([t.stat(t.a, name) for name in ENDS], ends, f"ends of handshakes ({ENDS})")
    t.carried(t.a, N * 1000)
    t.note(f"slowest connect {max(good.value) * 1e3:.0f} ms, alone {max(base[1:]) * 1e3:.0f} ms")


def check_ends(t, raw):
    for kind, ends in raw.value.items():
        # where a Decline is due, the server may also fall back
        want = {"decline", "reset"} if kind in ("proposal", "confirm") else {"reset"}
        t.check(set(ends) <= want, f"end of those silent behind {kind}: {ends}")


def crowd(t, many, few):
    """No client delays others; the close of the listener ends all. Returns the connect times."""
    t.a.run("mountpoint -q /sys/fs/cgroup || mount -t cgroup2 none /sys/fs/cgroup\n"
            f"echo +memory > /sys/fs/cgroup/cgroup.subtree_control\nmkdir -p {GROUP}")
    s = t.half(t.a, charged_serve, port=PORT, backlog=64)
    s.expect("listening", t.left())
    base = t.half(t.b, requests, port=PORT, n=N)
    t.wait_all(base)
    had, paid = slab(t.a), charge(t.a)
    raw = t.half(t.b, silent, port=PORT, many=many, few=few)
    t.expect_all("many", raw)
    if t.kind != "debug":
        # a figure of operations.md, and what the module takes it to be
        cost = (slab(t.a) - had) // many
        t.note(f"{cost} bytes a client before its Proposal")
        t.check(4096 < cost < 12288, f"{cost} bytes a client before its Proposal")
    before, paid = paid, (charge(t.a) - paid) // many
    t.note(f"{paid} bytes a client charged")
    # TCP charges its own socket to the caller of accept()
    t.check(2048 < paid < 12288, f"{paid} bytes a client are charged")
    raw.gate("measured")
    t.expect_all("silent", raw)
    others_get_through(t, PORT, base.value)
    raw.gate("end")
    s.gate("stop")
    t.wait_all(raw, s)
    check_ends(t, raw)
    t.wait(lambda: charge(t.a) - before < 2048 * many // 4, "all given back", 30)
    return base.value


def bounded(t, base):
    """2 x 128 KiB each: more than a listener may spend, so 256 of them may stay."""
    # each of these clients has a link group of its own
    t.set(t.a, wmem=1 << 17, rmem=1 << 17, max_lgrs_per_peer=512,
          mem="100000 100000 100000")
    dropped = t.stat(t.a, "server_dropped")
    s = t.half(t.a, serve, port=LARGE, backlog=64)
    s.expect("listening", t.left())
    raw = t.half(t.b, costly, n=300)
    lost = raw.expect("silent", t.left())["lost"]
    t.check(0 < sum(lost) <= 50, f"{sum(lost)} of {len(lost)} silent clients were dropped")
    t.equal(lost, sorted(lost, reverse=True), "the oldest went first")
    t.note(f"{sum(lost)} of {len(lost)} dropped for others")
    t.equal(t.stat(t.a, "server_dropped") - dropped, sum(lost), "clients that had to go")
    good = t.half(t.b, requests, port=LARGE, n=N)
    t.wait_all(good)
    raw.gate("end")
    s.gate("stop")
    t.wait_all(raw, s)
    t.equal(raw.value["accept"], ["reset"], "end of those silent behind accept")


def time_is_up(t, many, few):
    """The listener stays, and the timers of silent clients are short."""
    t.set(t.a, clc_timeout_ms=2000 * t.slow, peer_memory_ms=0)
    s = t.half(t.a, serve, port=SHORT, backlog=64)
    s.expect("listening", t.left())
    raw = t.half(t.b, silent, port=SHORT, many=many, few=few)
    raw.gate("measured")
    t.expect_all("silent", raw)
    raw.gate("end")
    t.wait_all(raw)
    check_ends(t, raw)
    s.gate("stop")
    t.wait_all(s)


def run(t):
    from smcvm.links import WAITS
    many, few = t.pick((600, 10), (60, 3))
    for vm in (t.a, t.b):
        t.set(vm, **WAITS)
    # the RNIC must not give up clients that are silent after a Confirm
    t.set(t.a, rdma_ack_exponent=22, rdma_retries=6)
    base = crowd(t, many, few)
    bounded(t, base)
    t.restore()
    time_is_up(t, many, few)
    for port in (PORT, LARGE, SHORT):
        t.no_sockets(t.a, port)
