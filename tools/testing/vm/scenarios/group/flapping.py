# SPDX-License-Identifier: GPL-2.0
"""A thousand connections in four link groups while a link goes down and up all the time.

First one of two network cards goes down, on either side in turns, and stays down until
each connection has completed a round. The timers of exchanges are an hour then and links
are not retried: a connection that waits for a timer, or for the card, exceeds the
scenario's limit.

Then a card goes down every two seconds, on either side in turns: sixteen times, with
--long 150 times, and until some rounds have begun and ended meanwhile. After the last time
both cards stay down for a whole round. Every byte is sent back and compared. The debug
kernel has a quarter of the connections and three flaps of each card: with all connections
a card takes ten seconds to go down. The scenario reports the duration of rounds.

covers: LG-06 LG-19 LB-03 LB-06 FAIL-01 FAIL-18 RMB-19 ERR-56
"""
import resource
import select
import subprocess
import time

from common import connect_all
from halves import Pattern

nics = 2
timeout = 600
PORT, SIZE = 5360, 3001
EVERY = 2       # seconds
CALM = 5        # rounds before the first flap
ROUNDS = 3      # among flaps, at least


def many_files():
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def server(h, port, count):
    """Echo the data of all connections until their ends."""
    many_files()
    ls = h.listen(port, backlog=count)
    socks, poll = {}, select.epoll()
    for _ in range(count):
        c = h.accept(ls)
        socks[c.fileno()] = c
        poll.register(c, select.EPOLLIN)
    ls.close()
    h.mark("accepted")
    total = 0
    while socks:
        for fd, _ in poll.poll(h.left()):
            data = socks[fd].recv(65536)
            if data:
                socks[fd].sendall(data)
                total += len(data)
                continue
            poll.unregister(fd)
            socks.pop(fd).close()
    return total


def client(h, port, count):
    """Make rounds over all connections until the runner stops them; return bytes and rounds.

    Each time the runner asks for more, mark the end of a whole round and the longest round
    since the last request.
    """
    many_files()
    socks = connect_all(h, port, count, 4)
    h.mark("connected")
    pat, rounds, asked, longest = Pattern(3), 0, 0, 0
    while not h.gate_open("stop"):
        is_asked = h.gate_open("more")
        began = time.monotonic()
        for i, s in enumerate(socks):
            s.sendall(pat.at(rounds * SIZE + i, SIZE))
        for i, s in enumerate(socks):
            h.check(h.recv_exact(s, SIZE) == pat.at(rounds * SIZE + i, SIZE),
                    f"connection {i}, round {rounds}: other bytes than were sent")
        rounds += 1
        longest = max(longest, time.monotonic() - began)
        if is_asked:
            h.mark(f"more{asked}", longest=longest)
            asked, longest = asked + 1, 0
    for s in socks:
        h.finish(s)
    return rounds * count * SIZE, rounds


def flapper(h, after, every):
    """Take the second card down AFTER seconds and then EVERY seconds, for a quarter of them.

    When the runner stops it the card stays down. Returns how often the card went down.
    """
    def card(state):
        subprocess.run(["ip", "link", "set", "eth1", state], check=True)

    due, flaps = time.monotonic() + after, 0
    while True:
        time.sleep(max(0, due - time.monotonic()))
        card("down")
        flaps += 1
        h.mark(f"flap{flaps}")
        if h.gate_open("stop"):
            return flaps
        time.sleep(every / 4)
        card("up")
        due += every


class Crowd:
    """The connections, in four link groups of two links."""

    def __init__(self, t, port, **settings):
        from smcvm.links import several
        self.t, self.port, self.asked = t, port, 0
        self.conns, of_group = t.pick((1000, 255), (248, 64))
        several(t, wmem=16384, rmem=16384, smcr_max_conns_per_lgr=of_group, smcr_testlink_time=0,
                **settings)
        self.s = t.half(t.a, server, port=port, count=self.conns)
        self.s.expect("listening", t.left())
        self.c = t.half(t.b, client, port=port, count=self.conns)
        t.expect_all("connected", self.c)
        t.expect_all("accepted", self.s)
        self.have_all()
        self.start = {vm: {n: t.stat(vm, n) for n in ("link_down", "conn_moved")}
                      for vm in (t.a, t.b)}

    def have_all(self):
        from smcvm.links import ACTIVE, groups

        def links(vm):
            return [sum(x.state == ACTIVE for x in g.links) for g in groups(vm)]
        self.t.wait(lambda: all(links(vm) == [2] * 4 for vm in (self.t.a, self.t.b)),
                    "four link groups of two links", 40)

    def more(self, *others):
        """A round that begins now ends; the longest since this was called last, in seconds.

        OTHERS are halves that must go on meanwhile.
        """
        t, name = self.t, f"more{self.asked}"
        self.c.gate("more")
        self.asked += 1
        t.wait(lambda: self.c.find(name) is not None or
               any(p.rc is not None for p in (self.c, self.s, *others)), f"round {name}")
        for p in (self.c, self.s, *others):
            t.check(p.rc is None, p.explain())
        return self.c.expect(name)["longest"]

    def stop(self, **least):
        """End in good order; return the rounds. Counters must have grown by at least LEAST."""
        t = self.t
        self.c.gate("stop")
        t.wait_all(self.c, self.s)
        total, rounds = self.c.value
        t.equal(self.s.value, total, "bytes that the server has sent back")
        for vm, start in self.start.items():
            for name, n in least.items():
                grown = t.stat(vm, name) - start[name]
                t.check(grown >= n, f"{vm.name}: {name} has grown by {grown}")
            t.no_sockets(vm, self.port)
        return rounds


def lose(t):
    """Take a card down; bring it back when all connections have gone on without it."""
    from smcvm.links import NEVER, card_up
    t.step(lose.__doc__)
    # a group adds no fifth link while the ones before it lived for less than a reply may take
    x = Crowd(t, PORT, llc_reply_ms=NEVER, llc_delete_link_ms=NEVER, llc_add_link_retry_ms=0)
    calm = x.more()
    took, losses = [], 2 * (t.a, t.b) if t.long else (t.a, t.b)
    for vm in losses:
        vm.run("ip link set eth1 down", timeout=t.left())
        took.append(x.more())
        card_up(t, vm, 1)
        x.have_all()
        x.more()
    x.stop(link_down=4 * len(losses))
    t.restore("llc_reply_ms")
    t.note(f"a round with a card lost took {max(took):.1f} s, before {calm:.1f} s")


def flap(t):
    """Cards go down and up; at last they stay down for a round."""
    from smcvm.links import NEVER, card_up
    t.step(flap.__doc__)
    x = Crowd(t, PORT + 1, llc_delete_link_ms=NEVER)
    calm = max(x.more() for _ in range(CALM))
    began = time.monotonic()
    # one machine after the other; a slow one needs its time to get a link back
    flappers = [t.half(vm, flapper, after=after * t.slow, every=2 * EVERY * t.slow)
                for vm, after in ((t.a, 0), (t.b, EVERY))]
    times = 75 if t.long else t.pick(8, 3)
    took = []
    while len(took) < ROUNDS or any(p.find(f"flap{times}") is None for p in flappers):
        took.append(x.more(*flappers))
    for p in flappers:
        p.gate("stop")
    t.wait_all(*flappers)
    t.step("both cards stay down")
    took.append(x.more())
    seconds, flaps = time.monotonic() - began, sum(p.value for p in flappers)
    for vm in (t.a, t.b):
        card_up(t, vm, 1)
    x.have_all()
    x.more()
    rounds = x.stop(link_down=8, conn_moved=x.conns)
    t.note(f"{flaps} flaps in {seconds:.0f} s, {rounds} rounds, the longest took "
           f"{max(took):.1f} s, without flaps {calm:.1f} s")


def run(t):
    if t.family != "smc":
        return
    lose(t)
    flap(t)
