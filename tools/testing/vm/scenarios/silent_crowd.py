# SPDX-License-Identifier: GPL-2.0
"""Hundreds of clients silent at every step of the handshake delay nobody else.

More than a work queue runs items at a time (512) stop in the middle of a
Proposal, as many behind a Proposal whose link group another one is forming,
and some at each step that costs the server a queue pair. What a listener
spends on them is bounded: those with rings so large that only some fit lose
the oldest, and nobody else does.

covers: TMR-01 TMR-04 ERR-14
"""
from common import requests, serve
from rawpeer import CONFIRM, RawHost

timeout = 100
PORT, LARGE = 5047, 5048


class Silent:
    """Clients of one port that fall silent, by where they do."""

    def __init__(self, h, host, port):
        self.h, self.host, self.port = h, host, port
        self.next_id = 1
        self.kinds = {}

    def proposal(self):
        """Of a peer nobody has heard of."""
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
        """Each a first contact of its own."""
        self.kinds[kind] = conns = []
        for _ in range(n):
            c = self.host.connect(self.h.config["peer4"], self.port)
            c.send(self.proposal())
            msg = c.recv_clc(20 * self.h.slow)
            self.h.equal(msg[4:5], b"\x02", f"{kind}: Accept ({msg.hex()})")
            for msg in msgs:
                c.send(msg)
            conns.append(c)

    def ends(self):
        """How the server ended each kind; nothing of them is left then.

        Who is told of TCP ends it, and stays to acknowledge the server's FIN:
        else that would wait for long in a socket nobody has any more.
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
        return c.ended(1) or "nothing"


def silent(h, many, few):
    host = RawHost()
    s = Silent(h, host, PORT)
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
    """N first contacts; returns how many the server has reset by then."""
    host = RawHost(ip="10.43.0.78", mac="525400437778")
    s = Silent(h, host, LARGE)
    s.stop_behind_accept("accept", n)
    conns = s.kinds["accept"]
    host.until(lambda: conns[0].reset, 20 * h.slow)
    lost = [c.reset for c in conns]
    h.mark("silent", lost=lost)
    h.gate("end")
    return s.ends()


def in_time(t, base, good):
    """The connects of GOOD took as long as those of BASE, about."""
    limit = 3 * max(base[1:]) + 0.2 * t.slow
    t.check(max(good) < limit, f"a connect took {max(good):.2f} s, without silent "
            f"peers {max(base[1:]):.2f} s")
    t.note(f"slowest connect {max(good) * 1e3:.0f} ms, alone {max(base[1:]) * 1e3:.0f} ms")


def slab(vm):
    """What machine VM's kernel has in objects, in bytes."""
    return 1024 * int(vm.run("awk '/^Slab:/ { print $2 }' /proc/meminfo").out)


def run(t):
    n = 20
    t.set(t.a, clc_timeout_ms=20000 * t.slow)
    s = t.half(t.a, serve, port=PORT, backlog=64)
    s.expect("listening")
    base = t.half(t.b, requests, port=PORT, n=n)
    t.wait_all(base)

    had = slab(t.a)
    many = t.pick(600, 60)
    raw = t.half(t.b, silent, many=many, few=t.pick(10, 3))
    t.expect_all("many", raw)
    if t.kind != "debug":
        # a figure of operations.md, and what the module takes it to be
        cost = (slab(t.a) - had) // many
        t.note(f"{cost} bytes a client before its Proposal")
        t.check(4096 < cost < 12288, f"{cost} bytes a client before its Proposal")
    raw.gate("measured")
    t.expect_all("silent", raw)
    timeouts, dropped = t.stat(t.a, "clc_timeout"), t.stat(t.a, "server_dropped")
    t.rdma_start()
    good = t.half(t.b, requests, port=PORT, n=n)
    t.wait_all(good)
    t.equal(t.stat(t.a, "clc_timeout"), timeouts, "clients that have waited long enough")
    t.equal(t.stat(t.a, "server_dropped"), dropped, "clients that had to go for others")
    t.carried(t.a, n * 1000)
    in_time(t, base.value, good.value)
    raw.gate("end")
    t.wait_all(raw)
    for kind, ends in raw.value.items():
        # where a Decline is due, the server may also fall back
        want = {"decline", "reset"} if kind in ("proposal", "confirm") else {"reset"}
        t.check(set(ends) <= want, f"end of those silent behind {kind}: {ends}")
    s.gate("stop")
    t.wait_all(s)

    # 2 x 128 KiB each: more than a listener may spend, so 256 of them may stay
    t.set(t.a, wmem=1 << 17, rmem=1 << 17)
    s = t.half(t.a, serve, port=LARGE, backlog=64)
    s.expect("listening")
    raw = t.half(t.b, costly, n=300)
    lost = raw.expect("silent")["lost"]
    t.check(0 < sum(lost) <= 50, f"{sum(lost)} of {len(lost)} silent clients were dropped")
    t.equal(lost, sorted(lost, reverse=True), "the oldest went first")
    t.note(f"{sum(lost)} of {len(lost)} dropped for others")
    t.equal(t.stat(t.a, "server_dropped") - dropped, sum(lost), "clients that had to go")
    good = t.half(t.b, requests, port=LARGE, n=n)
    t.wait_all(good)
    in_time(t, base.value, good.value)
    raw.gate("end")
    t.wait_all(raw)
    t.equal(raw.value["accept"], ["reset"], "end of those silent behind accept")
    s.gate("stop")
    t.wait_all(s)
    t.no_sockets(t.a, PORT)
    t.no_sockets(t.a, LARGE)
