# SPDX-License-Identifier: GPL-2.0
"""Streams go on while one of two links is lost and comes back, on either side.

Silently (RoCE frames vanish on the wire), with its RDMA device, with its network
card. Not a byte may be lost, doubled or out of place. How long the streams stood
still is told.

covers: FAIL-01 FAIL-02 FAIL-03 FAIL-11 FAIL-17 LG-01 LG-13 LB-03 LB-06 ADDL-01 ADDL-03
covers: ADDL-06 DELL-02 DELL-08 LGT-03 FAIL-18 FAIL-19 SL-08 RKEY-02 RKEY-22 ERR-56 ERR-58 ERR-59 KA-05
"""
import re
import socket
import threading
import time

from halves import Failure, Pattern

nics = 2
timeout = 240
CONNS = 4


class Stream:
    """One connection with a verified stream in each direction."""

    def __init__(self, h, s, out, into):
        self.h, self.s = h, s
        self.out, self.into = out, into
        self.sent = self.got = 0
        self.last = time.monotonic()
        self.gap = 0
        self.stop = threading.Event()
        self.err = []
        self.threads = [threading.Thread(target=self.guard, args=(f,), daemon=True)
                        for f in (self.send, self.recv)]
        for th in self.threads:
            th.start()

    def guard(self, func):
        try:
            func()
        except BaseException as e:
            self.err.append(e)

    def send(self):
        while not self.stop.is_set():
            self.sent = self.h.send_stream(self.s, 20011, self.out, start=self.sent)
        self.s.shutdown(socket.SHUT_WR)

    def recv(self):
        pat = Pattern(self.into)
        while True:
            data = self.s.recv(30011)
            now = time.monotonic()
            self.gap = max(self.gap, now - self.last)
            self.last = now
            if not data:
                return
            bad = pat.first_difference(self.got, data)
            if bad is not None:
                raise Failure(f"wrong byte at {bad}, " + pat.describe(self.got, data, bad))
            self.got += len(data)

    def check(self):
        if self.err:
            raise self.err[0]


def pump(h, streams):
    """Mark how far the streams are each time the runner asks, until told to stop."""
    def further(want):
        for x in streams:
            x.check()
        return all(x.got >= n for x, n in zip(streams, want))

    k = 0
    while not h.gate_open("stop"):
        if h.gate_open("more"):
            want = [x.got + 60000 for x in streams]
            h.wait(lambda: further(want), "streams to go on")
            h.mark(f"more{k}", gap=max(x.gap for x in streams))
            k += 1
            for x in streams:
                x.gap = 0
        further([])
        time.sleep(0.01)
    for x in streams:
        x.stop.set()
    for x in streams:
        for th in x.threads:
            th.join(h.left())
        x.check()
        h.check(not any(th.is_alive() for th in x.threads), "a stream did not end")
        x.s.close()
    return [(x.sent, x.got) for x in streams]


def server(h, port):
    ls = h.listen(port)
    socks = [h.accept(ls) for _ in range(CONNS)]
    ls.close()
    return pump(h, [Stream(h, s, 1, 2) for s in socks])


def client(h, port):
    # one after the other, so that both sides number them in the same way
    socks = [h.connect(port) for _ in range(CONNS)]
    h.mark("connected")
    return pump(h, [Stream(h, s, 2, 1) for s in socks])


def count(t, name, before=(0, 0)):
    """How much the counter NAME has grown on both machines, at least."""
    return min(t.stat(vm, name) - n for vm, n in zip((t.a, t.b), before))


def give_up(vm):
    """Take the link with the most connections down as an operator would."""
    path = "/sys/kernel/debug/smc/links"
    text = vm.run("mountpoint -q /sys/kernel/debug || mount -t debugfs none /sys/kernel/debug; "
                  f"cat {path}").out
    group = re.search(r"^group ([0-9a-f]+) \S+ ACTIVE SYMMETRIC", text, re.M).group(1)
    links = re.findall(r"link (\d+) ACTIVE .* connections (\d+)", text)
    num = max(links, key=lambda x: int(x[1]))[0]
    vm.run(f"echo {group} {num} >{path}")


def run(t):
    if t.family != "smc":
        return
    t.no_groups()
    for vm in (t.a, t.b):
        # a slow machine is no silent one
        t.set(vm, max_links=2, llc_add_link_retry_ms=1000, llc_reply_ms=int(4000 * t.slow),
              llc_delete_link_ms=int(8000 * t.slow))
    up0, down0 = ([t.stat(vm, name) for vm in (t.a, t.b)] for name in ("link_up", "link_down"))
    s = t.half(t.a, server, port=5300)
    s.expect("listening")
    c = t.half(t.b, client, port=5300)
    t.expect_all("connected", c)
    t.mode(t.a, "SMC-R", 5300, CONNS)
    k = 0

    def more():
        nonlocal k
        for p in (s, c):
            p.gate("more")
        marks = t.expect_all(f"more{k}", s, c)
        k += 1
        return max(m["gap"] for m in marks)

    def both_up(since):
        t.wait(lambda: count(t, "link_up", up0) > since, "another link to come up", 30)
        t.wait(lambda: all(t.queue_pairs(vm) == 2 for vm in (t.a, t.b)),
               "two queue pairs on either side", 30)

    both_up(1)
    more()
    # (what, break, mend)
    cases = []
    for seg in (0, 1):
        rule = []
        cases.append((f"RoCE lost on segment {seg}",
                      lambda seg=seg, rule=rule: rule.append(
                          t.relay.rule(seg=seg, proto="roce", drop=1)),
                      lambda rule=rule: t.relay.unrule(rule[0])))
    for vm, i in ((t.b, 1), (t.a, 1), (t.b, 0), (t.a, 0)):
        cases.append((f"rxe{i} of {vm.name} deleted",
                      lambda vm=vm, i=i: vm.run(f"rdma link delete rxe{i}"),
                      lambda vm=vm, i=i: (vm.run(f"rdma link add rxe{i} type rxe netdev eth{i}"),
                                          t.pair.wait_gid(vm, i))))
    cases.append(("eth1 of B down",
                  lambda: t.b.run("ip link set eth1 down"),
                  lambda: (t.b.run("ip link set eth1 up; "
                                   "ip -6 addr add fd43:1::2/64 dev eth1 nodad"),
                           t.pair.wait_gid(t.b, 1))))
    for vm in (t.a, t.b):
        cases.append((f"a link given up on {vm.name}",
                      lambda vm=vm: give_up(vm), lambda: None))
    gaps = []
    for what, down, mend in cases:
        t.step(what)
        more()
        was_up, was_down = count(t, "link_up", up0), count(t, "link_down", down0)
        down()
        t.wait(lambda: count(t, "link_down", down0) > was_down, "a link to go down", 10)
        gap = more()
        t.check(gap < 3 * t.slow, f"{what}: streams stood still for {gap:.2f} s")
        gaps.append(gap)
        mend()
        both_up(was_up)
        more()
    for p in (s, c):
        p.gate("stop")
    t.wait_all(s, c)
    for i, (here, there) in enumerate(zip(s.value, c.value)):
        t.equal(here[0], there[1], f"bytes of stream {i} from A")
        t.equal(here[1], there[0], f"bytes of stream {i} from B")
    moved = [t.stat(vm, "conn_moved") for vm in (t.a, t.b)]
    t.check(min(moved) >= len(cases), f"connections moved: {moved}")
    t.note("stood still for " + ", ".join(f"{g:.2f}" for g in gaps) + " s")
    for vm in (t.a, t.b):
        t.no_sockets(vm, 5300)
