# SPDX-License-Identifier: GPL-2.0
"""Hostile ends of connections in memory cost other processes nothing.

They never read, sleep in crowds, share and hide descriptors, fork, or relay between containers with
the numbers of both sides. Meanwhile another connection of the host moves verified data. When they
are killed, all that they took is given back, and the module unloads.

covers: RACE-04 RMB-24
"""
import json
import os
import resource
import select
import signal
import socket
import struct

import smcdiag
from common import serve

timeout = 200
LO = "127.0.0.1"
CHUNK = 32768
# pages that the connection of the innocent may have at a time: a chunk and more in each direction
BUSY = 64

NETWORK = """set -e
for n in c1 c2 relay; do ip netns add $n; ip -n $n link set lo up; done
for n in 1 2; do
	ip -n c$n link add pair address 02:00:00:00:0$n:01 type veth peer name to$n \
		address 02:00:00:00:0$n:09 netns relay
	ip -n c$n addr add 10.97.$n.1/24 dev pair
	ip -n c$n link set pair gso_max_segs 1 up
	ip -n relay link set to$n up
	ip -n c$n neigh add 10.97.$n.9 lladdr 02:00:00:00:0$n:09 dev pair nud permanent
	ip netns exec c$n sh -c 'echo 2 >/proc/sys/net/smc/memory'
done"""
TIDY = "for n in c1 c2 relay; do ip netns del $n 2>/dev/null; done; true"


# The innocent


def asks_on(h, port):
    """Requests one after another until the gate "end"; at a gate "more", ten of them follow."""
    s = h.connect(port, addr=LO)
    h.request(s)
    h.mark("connected")
    n, want = 0, None
    while not h.gate_open("end"):
        h.request(s, 20000, 20000)
        n += 1
        if want is None and h.gate_open("more"):
            want = n + 10
        elif n == want:
            h.mark("moved")
            want = None
        # leaves most of the processor to the others
        select.select([0], [], [], 0.02)
    h.finish(s)


def asks_once(h, port):
    s = h.connect(port, addr=LO)
    h.request(s, 100_000, 100_000)
    h.finish(s)


class Innocent:
    """The connection that must not notice anything, and the listener of more such ones."""

    def __init__(self, t, port):
        self.t, self.port = t, port
        self.server = t.half(t.a, serve, port=port)
        self.server.expect("listening", t.left())
        self.client = t.half(t.a, asks_on, port=port)
        self.client.expect("connected", t.left())
        t.mode(t.a, "memory", port, 2)

    def goes_on(self):
        self.client.gate("more")
        self.client.expect("moved", self.t.left())
        before = self.t.stat(self.t.a, "client_memory")
        self.t.wait_all(self.t.half(self.t.a, asks_once, port=self.port))
        self.t.equal(self.t.stat(self.t.a, "client_memory"), before + 1, "connections in memory")

    def ends(self):
        self.client.gate("end")
        self.t.wait_all(self.client)
        self.server.gate("stop")
        self.t.wait_all(self.server)


# Hostile ends; each waits to be killed


def pairs(h, port, n):
    """N connections of this process to itself."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (2 * n + 100, 2 * n + 100))
    ls = h.listen(port, backlog=n, mark=False)
    out = []
    for _ in range(n):
        s = h.connect(port, addr=LO)
        out.append((s, h.accept(ls)))
    return out


def never_reads(h, port, n):
    """All rings are full in both directions."""
    total = 0
    kept = [s for pair in pairs(h, port, n) for s in pair]
    for s in kept:
        s.setblocking(False)
        try:
            while True:
                total += s.send(bytes(50_000))
        except BlockingIOError:
            pass
    h.mark("ready", total=total)
    signal.pause()
    del kept


def sleeps(h, port, n):
    """A crowd of connections on which nobody ever sends."""
    kept = pairs(h, port, n)
    h.mark("ready", total=0)
    signal.pause()
    del kept


def writes(s, value, per):
    left = per
    while left:
        left -= s.send(bytes([value]) * min(left, 1 + left % 7001))


def reads(s, out):
    count = [0] * 4
    while data := s.recv(6007):
        for value in range(4):
            count[value] += data.count(value)
    os.write(out, json.dumps(count).encode() + b"\n")


def child(func, *args):
    pid = os.fork()
    if not pid:
        code = 1
        try:
            func(*args)
            code = 0
        finally:
            os._exit(code)
    return pid


def shares(h, port, n):
    """Both ends belong to many processes, which read and write at the same time."""
    per = 300_007
    (s, c), = pairs(h, port, 1)
    r, w = os.pipe()
    for _ in range(n):
        child(signal.pause)
    writers = [child(writes, s, value, per) for value in range(4)]
    readers = [child(reads, c, w) for _ in range(4)]
    for pid in writers:
        h.equal(os.waitpid(pid, 0)[1], 0, "exit status of a writer")
    s.shutdown(socket.SHUT_WR)
    for pid in readers:
        h.equal(os.waitpid(pid, 0)[1], 0, "exit status of a reader")
    counts = [json.loads(line) for line in os.read(r, 65536).splitlines()]
    h.equal([sum(some) for some in zip(*counts)], [per] * 4, "bytes of each writer")
    # unread data, of which all processes are killed at a time
    c.sendall(bytes(100_000))
    h.mark("ready", total=100_000)
    signal.pause()


def hides(h, port, n):
    """Descriptors in sockets that hold only each other: the core finds and closes them."""
    watched = select.poll()
    kept = []
    for s, c in pairs(h, port, n):
        a, b = socket.socketpair()
        c.sendall(bytes(70_000))
        socket.send_fds(a, [b"x"], [c.fileno(), a.fileno(), b.fileno()])
        for one in (a, b, c):
            one.close()
        watched.register(s, select.POLLRDHUP)
        kept.append(s)
    ended = set()
    while len(ended) < n:
        # the end of any socket of this family has the core look for such circles
        for one in socket.socketpair():
            one.close()
        ended |= {fd for fd, _ in watched.poll(100)}
        h.check(h.left() > 1, f"{len(ended)} of {n} hidden ends are closed")
    h.mark("ready", total=70_000 * n)
    signal.pause()
    del kept


def pages(t):
    return int(t.a.run("awk '$1 == \"SMC\" { print $4 }' /proc/net/protocols").out)


def endure(t, innocent, func, port, n, ends):
    """The hostile process FUNC has ENDS ends in memory; the innocent goes on; then it is killed."""
    before, had = pages(t), len(t.a.sockets())
    half = t.half(t.a, func, port=port, n=n)
    total = half.expect("ready", t.left())["total"]
    t.mode(t.a, "memory", port, ends)
    taken = pages(t) - before
    # its bytes, and for each end at most what is left of a chunk and what describes the chunks
    most = total + total // 32 + (ends * CHUNK if total else 0)
    t.check(taken <= most // 4096 + BUSY, f"{taken} pages for {total} bytes")
    innocent.goes_on()
    half.kill()
    half.wait(check=False)
    t.no_sockets(t.a, port)
    t.wait(lambda: pages(t) <= before + BUSY, "pages to be given back", 30)
    t.equal(len(t.a.sockets()), had, "sockets")
    innocent.goes_on()


# A relay between two containers


def checksum(data):
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff


def relayed(frame, to, shift):
    """The frame for container TO with numbers moved by SHIFT, the client's port, payload."""
    if frame[12:14] != b"\x08\x00" or frame[23] != 6:
        return None, 0, 0
    size, = struct.unpack_from("!H", frame, 16)
    ip, tcp = bytearray(frame[14:34]), bytearray(frame[34:14 + size])
    seq, ack = struct.unpack_from("!II", tcp, 4)
    # the client's numbers have no shift, the server's have
    seq, ack = (seq + shift, ack) if to == 1 else (seq, ack - shift if tcp[13] & 16 else ack)
    struct.pack_into("!II", tcp, 4, seq & 0xffffffff, ack & 0xffffffff)
    ip[12:20] = bytes((10, 97, to, 9, 10, 97, to, 1))
    ip[10:12] = tcp[16:18] = bytes(2)
    struct.pack_into("!H", ip, 10, checksum(ip))
    whole = ip[12:20] + struct.pack("!HH", 6, len(tcp)) + tcp
    struct.pack_into("!H", tcp, 16, checksum(whole + bytes(len(whole) % 2)))
    head = bytes((2, 0, 0, 0, to, 1)) + bytes((2, 0, 0, 0, to, 9)) + b"\x08\x00"
    port, = struct.unpack_from("!H", tcp, 0 if to == 2 else 2)
    return head + ip + tcp, port, len(tcp) - (tcp[12] >> 4) * 4


def relay(h, shift):
    """Two connections, one to each side: what comes on one goes out on the other."""
    socks = {}
    for n in (1, 2):
        s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
        s.bind((f"to{n}", 0))
        socks[s] = n
    by_number = {n: s for s, n in socks.items()}
    h.mark("ready")
    payload = {}
    while not h.gate_open("end"):
        for s in select.select(list(socks), [], [], 0.05)[0]:
            frame, addr = s.recvfrom(65536)
            if addr[2] == 4:    # an own one
                continue
            to = 3 - socks[s]
            out, port, n = relayed(frame, to, shift)
            if out:
                by_number[to].send(out)
                payload[port] = payload.get(port, 0) + n
    return payload


def asks_through(h, port, mode):
    """A client waits for two ticks for its server: with a relay that takes longer, TCP."""
    while True:
        s = h.connect(port, addr="10.97.1.9")
        h.request(s, 50_000, 50_000)
        own = s.getsockname()[1]
        if mode in (row["mode"] for row in smcdiag.sockets() if row["sport"] == own):
            break
        h.finish(s)
        h.check(h.left() > 5, f"no connection by the relay is of mode {mode}")
    h.mark("connected")
    h.gate("more")
    h.request(s, 50_000, 50_000)
    h.mark("moved")
    h.gate("end")
    h.finish(s)
    return own


def through_a_relay(t, innocent, port, shift, mode):
    """With both sides' own numbers a relay sees no data; with others it sees all."""
    r = t.half(t.a, relay, netns="relay", shift=shift)
    r.expect("ready", t.left())
    s = t.half(t.a, serve, netns="c2", port=port)
    s.expect("listening", t.left())
    c = t.half(t.a, asks_through, netns="c1", port=port, mode=mode)
    c.expect("connected", t.left())
    for netns in ("c1", "c2"):
        t.mode(t.a, mode, port, netns=netns)
    if mode == "memory":
        r.kill(signal.SIGSTOP)
    c.gate("more")
    c.expect("moved", t.left())
    innocent.goes_on()
    r.kill(signal.SIGCONT)
    c.gate("end")
    t.wait_all(c)
    s.gate("stop")
    r.gate("end")
    t.wait_all(s, r)
    seen = r.value[str(c.value)]
    t.check(seen == 0 if mode == "memory" else seen >= 200_000,
            f"{seen} bytes of payload by way of the relay, mode {mode}")
    for netns in ("c1", "c2"):
        t.no_sockets(t.a, port, netns=netns)


def run(t):
    if t.family != "smc":
        return
    t.set(t.a, memory=1, peer_memory_ms=0)
    t.reload(t.a)
    t.a.run(TIDY)
    innocent = Innocent(t, 5700)
    n = t.pick(24, 4)
    crowd = t.pick(1000, 100)
    for func, port, n, ends in ((never_reads, 5701, n, 2 * n), (sleeps, 5702, crowd, 2 * crowd),
                                (shares, 5703, 8, 2), (hides, 5704, 8, 0)):
        t.step(func.__doc__)
        endure(t, innocent, func, port, n, ends)
    t.step(through_a_relay.__doc__)
    try:
        t.a.run(NETWORK)
        through_a_relay(t, innocent, 5705, 0, "memory")
        through_a_relay(t, innocent, 5706, 0x12345678, "TCP")
    finally:
        t.a.run(TIDY)
    innocent.ends()
    t.no_sockets(t.a, 5700)
    t.equal(pages(t), 0, "pages of the protocol")
    t.reload(t.a)
