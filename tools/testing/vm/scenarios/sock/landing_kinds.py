# SPDX-License-Identifier: GPL-2.0
"""Connections of each kind land at once: half closed, full, urgent, zero copy, stamped, lingering.

All of TCP's promises hold behind it: the mark is right, each notice and stamp comes once, a call
that slept returns with the answer, close() waits for the last byte. 200 more land beside them. Over
RDMA, then in memory.

covers: GEN-07 API-08
"""
import fcntl
import select
import socket
import struct
import threading
import time

from common import serve
from halves import Failure, Pattern, is_asleep
from streams import accept_numbered, connect_numbered

ipv = (4,)
timeout = 60
PORT = 5730
SIOCATMARK = 0x8905
SO_TIMESTAMPING, SO_ZEROCOPY, MSG_ERRQUEUE, MSG_ZEROCOPY = 37, 60, 0x2000, 0x4000000
SOFTWARE, OPT_ID, TX_ACK, OPT_TSONLY, OPT_ID_TCP = 1 << 4, 1 << 7, 1 << 9, 1 << 11, 1 << 16
ORIGIN_TIMESTAMPING, ORIGIN_ZEROCOPY = 4, 5
IP_RECVERR = 11
PIECE, PIECES = 20_000, 12


# Each is a generator: what follows its yield follows the landing. It returns the bytes that it has
# sent or received of the stream that the other side verifies.


def reads(h, s):
    """Reads nothing before the landing, then all."""
    yield
    pat, off = Pattern(1), 0
    while data := s.recv(40009):
        bad = pat.first_difference(off, data)
        if bad is not None:
            raise Failure(f"wrong byte at {bad}, {pat.describe(off, data, bad)}")
        off += len(data)
    s.close()
    return off


def full(h, s):
    """The rings of both directions are full."""
    off = h.fill(s, Pattern(1))
    yield
    s.shutdown(socket.SHUT_WR)
    reader = reads(h, s)
    next(reader)
    return off + finish(reader)


def ended(h, s):
    """Has ended its stream."""
    s.shutdown(socket.SHUT_WR)
    yield
    got = h.recv_stream(s, 100_000, 1)
    h.at_end(s)
    return got


def at_end(h, s):
    """Has read the end of the other stream."""
    h.at_end(s)
    yield
    h.at_end(s)
    sent = h.send_stream(s, 100_000, 1)
    s.close()
    return sent


def cries(h, s):
    h.recv_exact(s, 1)
    for data, flags in ((b"abc", 0), (b"d", socket.MSG_OOB), (b"ef", 0)):
        s.send(data, flags)
    yield
    h.finish(s)


def hears(h, s, early=False, inline=False):
    """An urgent byte is pending."""
    s.setsockopt(socket.SOL_SOCKET, socket.SO_OOBINLINE, inline)
    s.send(b"r")
    urgent = select.poll()
    urgent.register(s, select.POLLPRI)
    h.check(h.poll(urgent, 20), "no urgent byte")
    if early:
        h.equal(s.recv(1, socket.MSG_OOB), b"d", "urgent byte")
    yield
    h.equal(struct.unpack("i", fcntl.ioctl(s, SIOCATMARK, bytes(4)))[0], 0, "SIOCATMARK before")
    h.equal(s.recv(10), b"abc", "bytes before the mark")
    h.equal(struct.unpack("i", fcntl.ioctl(s, SIOCATMARK, bytes(4)))[0], 1, "SIOCATMARK at it")
    if not early and not inline:
        h.equal(s.recv(1, socket.MSG_OOB), b"d", "urgent byte")
    want = b"def" if inline else b"ef"
    h.equal(h.recv_exact(s, len(want)), want, "bytes behind the mark")
    h.finish(s)


def hears_early(h, s):
    """The urgent byte was read."""
    return hears(h, s, early=True)


def hears_inline(h, s):
    """The urgent byte is in line."""
    return hears(h, s, inline=True)


def notices(h, s, origin, last):
    """The numbers of the notices, until that of LAST has come."""
    p, got = select.poll(), []
    p.register(s, 0)
    while last not in got:
        try:
            cmsgs = s.recvmsg(1, 512, MSG_ERRQUEUE)[1]
        except BlockingIOError:
            h.check(p.poll(h.left() * 1000), f"notices: {got}")
            continue
        for level, kind, data in cmsgs:
            if (level, kind) == (socket.SOL_IP, IP_RECVERR):
                fields = struct.unpack_from("IBBBBII", data)
                h.equal(fields[1], origin, "origin of a notice")
                got += range(fields[5], fields[6] + 1) if origin == ORIGIN_ZEROCOPY else [fields[6]]
    h.raises("one notice more", 11, s.recvmsg, 1, 512, MSG_ERRQUEUE)
    return got


def sends_pieces(s, first, count, flags=0):
    """Pieces of the stream; their buffers stay as they are."""
    return [s.send(Pattern(1).at(i * PIECE, PIECE), flags | socket.MSG_DONTWAIT)
            for i in range(first, first + count)]


def zerocopy(h, s):
    """Notices of MSG_ZEROCOPY are due."""
    s.setsockopt(socket.SOL_SOCKET, SO_ZEROCOPY, 1)
    sent = sends_pieces(s, 0, 2, MSG_ZEROCOPY)
    yield
    sent += [s.send(Pattern(1).at(i * PIECE, PIECE), MSG_ZEROCOPY) for i in range(2, PIECES)]
    h.equal(sent, [PIECE] * PIECES, "sends")
    s.shutdown(socket.SHUT_WR)
    h.equal(sorted(notices(h, s, ORIGIN_ZEROCOPY, PIECES - 1)), list(range(PIECES)), "notices")
    h.at_end(s)
    return sum(sent)


def stamped(h, s):
    """Stamps of acknowledgment are due."""
    s.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPING,
                 SOFTWARE | OPT_ID | OPT_ID_TCP | TX_ACK | OPT_TSONLY)
    sent = sends_pieces(s, 0, 2)
    yield
    sent += [s.send(Pattern(1).at(i * PIECE, PIECE)) for i in range(2, PIECES)]
    h.equal(sent, [PIECE] * PIECES, "sends")
    s.shutdown(socket.SHUT_WR)
    # TCP has one stamp for sends that it puts into one packet
    got = notices(h, s, ORIGIN_TIMESTAMPING, PIECES * PIECE - 1)
    h.check(sorted(set(got)) == got and all(n % PIECE == PIECE - 1 for n in got),
            f"bytes with a stamp: {got}")
    h.at_end(s)
    return sum(sent)


def sleeper(h, func):
    th = threading.Thread(target=func, daemon=True)
    th.start()
    h.wait(lambda: not th.is_alive() or is_asleep(th.native_id), "a call to sleep", 20)
    return th


def lingers(h, s):
    """close() waits for the acknowledgment of the last byte; in memory the reader has it."""
    off = h.fill(s, Pattern(1))
    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 3600))
    th = sleeper(h, s.close)
    yield
    th.join(h.left())
    h.check(not th.is_alive(), "close() does not return")
    return off


def asks(h, s):
    """Waits for an answer, with SO_RCVTIMEO."""
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("qq", 3600, 0))
    s.sendall(b"?")
    got = []
    th = sleeper(h, lambda: got.append(s.recv(1)))
    yield
    th.join(h.left())
    h.equal(got, [b"!"], "the answer")
    h.finish(s)


def answers(h, s):
    h.equal(s.recv(1), b"?", "the request")
    yield
    s.sendall(b"!")
    h.finish(s)


def idle(h, s):
    """Has never sent."""
    yield
    h.both_ways(s, 100_000, 1, 100_000, 1)
    h.finish(s)


# of the server, of the client
KINDS = [(full, full), (ended, at_end), (at_end, ended), (hears, cries), (cries, hears),
         (hears_early, cries), (hears_inline, cries), (reads, zerocopy), (zerocopy, reads),
         (reads, stamped), (stamped, reads), (reads, lingers), (lingers, reads), (answers, asks),
         (asks, answers), (idle, idle)]


def finish(gen):
    try:
        next(gen)
    except StopIteration as e:
        return e.value
    raise Failure("a kind goes on")


def await_all(h, side, reached, errors):
    end = time.monotonic() + h.within(20)
    while len(reached) < len(KINDS) and not errors and time.monotonic() < end:
        time.sleep(0.01)
    late = [pair[side].__name__ for i, pair in enumerate(KINDS) if i not in reached]
    h.equal((late, errors), ([], []), "kinds that are late, and errors")


def each(h, socks, side):
    """Each kind in a thread; all wait for the landing."""
    out, errors, ready, landed = {}, [], [], threading.Event()

    def run_one(i, s):
        name = KINDS[i][side].__name__
        try:
            gen = KINDS[i][side](h, s)
            next(gen)
            ready.append(i)
            landed.wait()
            out[i] = finish(gen)
        except BaseException as e:
            errors.append(f"{i}: {name}: {type(e).__name__} {e}")

    threads = [threading.Thread(target=run_one, args=pair, daemon=True)
               for pair in enumerate(socks)]
    for th in threads:
        th.start()
    await_all(h, side, ready, errors)
    h.mark("ready")
    h.gate("landed")
    landed.set()
    await_all(h, side, out, errors)
    return [out[i] for i in range(len(socks))]


def kinds_server(h, port):
    ls = h.listen(port)
    return each(h, accept_numbered(h, ls, len(KINDS)), 0)


def kinds_client(h, port, addr=None):
    h.config["peer4"] = addr or h.config["peer4"]
    return each(h, connect_numbered(h, port, len(KINDS)), 1)


def many(h, port, count, addr=None):
    """A request on each of many connections, before and behind the landing."""
    socks = [h.connect(port, addr=addr) for _ in range(count)]
    for s in socks:
        h.request(s)
    h.mark("ready")
    h.gate("landed")
    for s in socks:
        h.request(s, 3000, 3000)
    for s in socks:
        h.finish(s)


def land(t, port, mode, client, addr=None):
    """All kinds between A and the machine CLIENT; an operator of A moves them."""
    t.step(f"over {mode}")
    count = t.pick(200, 20)
    servers = [t.half(t.a, serve, port=port + 1), t.half(t.a, kinds_server, port=port)]
    t.expect_all("listening", *servers)
    clients = [t.half(client, many, port=port + 1, count=count, addr=addr),
               t.half(client, kinds_client, port=port, addr=addr)]
    t.expect_all("ready", *clients, servers[1])
    t.mode(t.a, mode, port + 1, count)
    was = t.stat(t.a, "landed")
    t.run_smc(t.a, "drain --move --wait 20")
    n = (len(KINDS) + count) * (2 if client is t.a else 1)
    t.equal(t.stat(t.a, "landed") - was, n, "connections that landed")
    for p in (*clients, servers[1]):
        p.gate("landed")
    t.wait_all(*clients, servers[1])
    t.equal(servers[1].value, clients[1].value, "bytes")
    servers[0].gate("stop")
    t.wait_all(servers[0])
    t.run_smc(t.a, "drain --undo")


def run(t):
    if t.family != "smc":
        return
    for vm in (t.a, t.b):
        t.set(vm, landing=1, peer_memory_ms=0)
    t.no_groups()
    land(t, PORT, "SMC-R", t.b)
    land(t, PORT + 2, "memory", t.a, "127.0.0.1")
    for vm in (t.a, t.b):
        t.reload(vm)
