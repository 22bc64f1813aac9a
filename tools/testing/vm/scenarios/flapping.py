# SPDX-License-Identifier: GPL-2.0
"""A thousand connections in four link groups while a link goes down and up all the time.

One of two network cards is taken down every two seconds, on either side in turns:
for half a minute, with --long for five. Every byte is sent back and compared, and no
connection waits for longer than a lost link may cost. The debug kernel has a quarter of
the connections, and three flaps of each card: with all of them a card takes ten seconds to go.

covers: LG-06 LG-19 LB-03 LB-06 FAIL-01 FAIL-18 RMB-19 ERR-56
"""
import resource
import select
import subprocess
import time

from common import connect_all
from halves import Pattern

nics = 2
timeout = 500
PORT, SIZE = 5360, 3001
EVERY = 2       # seconds
CALM = 5        # rounds before the first flap
FLAPS = 3       # of each card, on a slow machine


def many_files():
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def server(h, port, count):
    """Sends back what comes, on all connections, until their ends."""
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
    """Rounds over all connections until told to stop: bytes sent, rounds, the longest
    before the first flap and after it.
    """
    many_files()
    socks = connect_all(h, port, count, 4)
    h.mark("connected")
    pat, rounds = Pattern(3), 0

    def longest_until(gate):
        nonlocal rounds
        longest = 0
        while not h.gate_open(gate):
            began = time.monotonic()
            for i, s in enumerate(socks):
                s.sendall(pat.at(rounds * SIZE + i, SIZE))
            for i, s in enumerate(socks):
                h.check(h.recv_exact(s, SIZE) == pat.at(rounds * SIZE + i, SIZE),
                        f"connection {i}, round {rounds}: other bytes than were sent")
            rounds += 1
            longest = max(longest, time.monotonic() - began)
            h.mark(f"round{rounds}")
        h.mark(gate, rounds=rounds)
        return longest

    longest_until("calm")
    calm = longest_until("flap")
    longest = longest_until("stop")
    for s in socks:
        h.finish(s)
    return rounds * count * SIZE, rounds, calm, longest


def flapper(h, after, every):
    """Takes the second card down AFTER so many seconds and then EVERY so many, for a
    quarter of them; how often.
    """
    def card(state):
        subprocess.run(["ip", "link", "set", "eth1", state], check=True)

    due, flaps = time.monotonic() + after, 0
    while not h.gate_open("stop"):
        time.sleep(max(0, due - time.monotonic()))
        card("down")
        time.sleep(every / 4)
        card("up")
        flaps += 1
        h.mark(f"flap{flaps}")
        due += every
    return flaps


def run(t):
    if t.family != "smc":
        return
    from smcvm.links import card_up, groups, longest_gap, several
    conns, of_group = t.pick((1000, 255), (248, 64))
    several(t, wmem=16384, rmem=16384, max_conns_per_lgr=of_group)
    s = t.half(t.a, server, port=PORT, count=conns)
    s.expect("listening")
    c = t.half(t.b, client, port=PORT, count=conns)
    t.expect_all("connected", c)
    t.expect_all("accepted", s)

    def links(vm):
        return [sum(x.state == "ACTIVE" for x in g.links) for g in groups(vm)
                if g.state == "ACTIVE"]

    def all_up():
        return all(links(vm) == [2] * 4 for vm in (t.a, t.b))

    t.wait(all_up, "four link groups of two links", 30)
    c.gate("calm")
    first = c.expect("calm", t.left())["rounds"]
    c.expect(f"round{first + CALM}", t.left())
    c.gate("flap")
    c.expect("flap", t.left())
    started = [{n: t.stat(vm, n) for n in ("link_down", "conn_moved")} for vm in (t.a, t.b)]
    began = time.monotonic()
    # one machine after the other; a slow one needs its time to get a link back
    flappers = [t.half(vm, flapper, after=after * t.slow, every=2 * EVERY * t.slow)
                for vm, after in ((t.a, 0), (t.b, EVERY))]
    while time.monotonic() - began < (300 if t.long else 30):
        time.sleep(1)
        for p in (c, s, *flappers):
            t.check(p.rc is None, p.explain())
    for p in flappers:
        if t.slow > 1:
            # a card goes as slowly as all else; then it takes longer
            p.expect(f"flap{FLAPS}", t.left())
        p.gate("stop")
    t.wait_all(*flappers)
    took, flaps = time.monotonic() - began, sum(p.value for p in flappers)
    t.check(t.slow > 1 or flaps > 0.8 * took / EVERY, f"{flaps} flaps only in {took:.0f} s")
    for vm in (t.a, t.b):
        card_up(t, vm, 1)
    t.wait(all_up, "four link groups of two links again", 40)
    c.gate("stop")
    t.wait_all(c, s)
    total, rounds, calm, longest = c.value
    t.equal(s.value, total, "bytes that the server has sent back")
    # each of the flaps that a round meets may hold it up once
    met = 1 + calm // (EVERY * t.slow)
    t.check(longest < calm + met * longest_gap(t),
            f"a round took {longest:.1f} s, without flaps {calm:.1f} s")
    for vm, start in zip((t.a, t.b), started):
        for name, least in (("link_down", 8), ("conn_moved", conns)):
            grown = t.stat(vm, name) - start[name]
            t.check(grown >= least, f"{vm.name}: {name} has grown by {grown}")
        t.no_sockets(vm, PORT)
    t.note(f"{flaps} flaps in {took:.0f} s, {rounds} rounds, the longest took {longest:.1f} s, "
           f"without flaps {calm:.1f} s")
