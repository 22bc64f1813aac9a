# SPDX-License-Identifier: GPL-2.0
"""A connection is aborted from either side: linger time 0, a killed process, a closed listener.

Also before it is one: a reset in the handshake, close() while the SYN-ACK comes.

covers: ABRT-01 ABRT-13
"""
import errno
import os
import select
import socket
import struct
import time

import bpf
from common import aborts, is_reset, keep_answering, keep_asking, requests, serve, serve_any


def server(h, port, who):
    ls = h.listen(port)
    (aborts if who == "server" else is_reset)(h, h.accept(ls))


def client(h, port, who):
    (aborts if who == "client" else is_reset)(h, h.connect(port))


def never_accepts(h, port, seconds):
    """Close the listener, which lingers, over a connection that is complete."""
    ls = h.listen(port)
    ls.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, seconds))
    h.check(select.select([ls], [], [], h.left())[0], "the listener became readable")
    h.gate("close")
    ls.close()


def is_dropped(h, port):
    s = h.connect(port)
    s.sendall(b"nobody reads this")
    h.mark("connected")
    h.raises("read", errno.ECONNRESET, s.recv, 1)
    s.close()


def resets_at_once(h, port, count):
    """New connections that are reset in the middle of their handshake, sooner or later."""
    for i in range(count):
        s = h.socket()
        s.setblocking(False)
        s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        h.equal(s.connect_ex((h.config["peer4"], port)), errno.EINPROGRESS, "connect()")
        time.sleep(i % 25 * 0.0004)
        s.close()


def handshakes_reset(t):
    """A server goes on whose clients reset before they are accepted."""
    s = t.half(t.a, serve_any, port=5010)
    s.expect("listening")
    t.wait_all(*(t.half(t.b, resets_at_once, port=5010, count=t.pick(600, 60))
                 for _ in range(2)))
    t.wait_all(t.half(t.b, requests, port=5010))
    s.gate("stop")
    t.wait_all(s)
    t.no_sockets(t.a, 5010)


def slow_close(h, seconds):
    """TCP's part of close() takes SECONDS from here on, until the result is closed."""
    copies = 1
    while True:
        prog = bpf.spin(copies)
        fd = bpf.at_function(prog, "tcp_close")
        os.close(prog)
        s = h.socket()
        start = time.monotonic()
        s.close()
        took = time.monotonic() - start
        if took >= seconds:
            return fd
        os.close(fd)
        h.check(copies < 100, f"{copies} copies take {took} s")
        copies = max(copies + 1, int(1.2 * copies * seconds / took))


def round_trip(h, port):
    """The seconds of a connect() at most: on a busy host the machines wait for each other."""
    most = 0
    for _ in range(5):
        start = time.monotonic()
        h.connect(port, family="tcp").close()
        most = max(most, time.monotonic() - start)
    return most


def closes_at_once(h, port, count):
    """The SYN-ACK comes between our part of close() and TCP's, or in some cases before."""
    delay = 0.05 + 3 * round_trip(h, port)
    fd = slow_close(h, delay)
    nr_before = 0
    for _ in range(count):
        s = h.socket()
        s.setblocking(False)
        h.equal(s.connect_ex((h.config["peer4"], port)), errno.EINPROGRESS, "connect()")
        start = time.monotonic()
        s.close()
        nr_before += time.monotonic() - start < delay
    os.close(fd)
    return nr_before


def passive_opens(vm):
    """Connections of clients whose three-way handshake is complete."""
    names, values = [line.split() for line in vm.read("/proc/net/snmp").split("\n")
                     if line.startswith("Tcp:")]
    return int(values[names.index("PassiveOpens")])


def orphans(vm):
    words = vm.read("/proc/net/sockstat").split()
    return int(words[words.index("orphan") + 1])


def closed_while_connecting(t):
    """A client leaves nothing that closes while the SYN-ACK comes."""
    s = t.half(t.a, serve_any, port=5011)
    s.expect("listening")
    had = passive_opens(t.a)
    c = t.half(t.b, closes_at_once, port=5011, count=20)
    t.wait_all(c)
    # TCP answers one that comes later by a reset
    t.wait(lambda: passive_opens(t.a) - had - 5 - c.value >= 2, "SYN-ACKs that met close()", 5)
    t.no_sockets(t.b, 5011)
    t.wait(lambda: not orphans(t.b), "no orphan of TCP is left", 20)
    t.wait_all(t.half(t.b, requests, port=5011))
    s.gate("stop")
    t.wait_all(s)
    t.no_sockets(t.a, 5011)
    if t.family == "smc":
        t.pair.unload(t.b.name)
        t.load(t.b)


def listener_goes(t, seconds):
    s = t.half(t.a, never_accepts, port=5008, seconds=seconds)
    s.expect("listening")
    c = t.half(t.b, is_dropped, port=5008)
    c.expect("connected")
    t.mode(t.b, "SMC-R", 5008)
    s.gate("close")
    t.wait_all(s, c)


def run(t):
    for who in ("client", "server"):
        for _ in range(5):
            t.both(server, client, 5008, who=who)
    for victim in (0, 1):
        s = t.half(t.a, keep_answering, port=5009)
        s.expect("listening")
        c = t.half(t.b, keep_asking, port=5009)
        t.expect_all("connected", s, c)
        pair = (s, c)
        pair[victim].kill()
        other = pair[1 - victim]
        t.wait_all(other)
        # with bytes on their way a reset, else an orderly end
        t.check(other.value in (0, errno.ECONNRESET, errno.EPIPE),
                f"the survivor got errno {other.value}")
        pair[victim].wait(t.left(), check=False)
    for seconds in (0, 5):
        listener_goes(t, seconds)
    t.no_sockets(t.a, 5009)
    t.no_sockets(t.b, 5009)
    t.step(handshakes_reset.__doc__)
    handshakes_reset(t)
    # a probe stretches close(); the debug kernels have none
    if t.b.run("test -e /sys/bus/event_source/devices/kprobe", check=False).rc == 0:
        t.step(closed_while_connecting.__doc__)
        closed_while_connecting(t)
    # nothing is left behind that a new connection would meet
    t.rdma_start()
    t.both(serve, requests, 5008, sargs={"count": 20}, cargs={"n": 20})
    t.carried(t.a, 20 * 1000)
