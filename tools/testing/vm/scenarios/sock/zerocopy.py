# SPDX-License-Identifier: GPL-2.0
"""MSG_ZEROCOPY, sendfile() and splice() send from the pages of the application.

The client overwrites each buffer as soon as the notice for it has come, and the server verifies
every byte. A link is lost in the midst of such sends. The peer resets a connection with many of
them on their way: each notice comes nevertheless.

covers: API-08 FAIL-12
"""
import errno
import fcntl
import os
import select
import socket
import struct

from halves import Failure, Pattern

nics = 2
ipv = (4,)
timeout = 180

SO_ZEROCOPY, MSG_ERRQUEUE, MSG_ZEROCOPY = 60, 0x2000, 0x4000000
SOL_IP, IP_RECVERR = 0, 11
ORIGIN_ZEROCOPY, COPIED = 5, 1
F_SETPIPE_SZ = 1031
SIZES = (100, 20_000, 8191, 100_003, 3, 61_000, 150_001, 32_768, 1)
SMALL, LARGE = 8192, 100_000
TOTAL = 1_500_000
RINGS = {"sndbuf": 1 << 17, "rcvbuf": 1 << 17}


def drink(h, port, rcvbuf=0):
    """Read a verified stream to its end; return its length."""
    s = h.accept(h.listen(port, rcvbuf=rcvbuf))
    pat, off = Pattern(1), 0
    while data := s.recv(40009):
        bad = pat.first_difference(off, data)
        if bad is not None:
            raise Failure(f"wrong byte at {bad}, {pat.describe(off, data, bad)}")
        off += len(data)
    s.close()
    return off


def refuse(h, port, rcvbuf):
    """Read nothing, then reset the connection."""
    s = h.accept(h.listen(port, rcvbuf=rcvbuf))
    h.gate("reset")
    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    s.close()


def pieces(off, n):
    """N bytes of the stream from OFF on."""
    pat, out = Pattern(1), bytearray()
    while len(out) < n:
        out += pat.at(off + len(out), min(n - len(out), 60_000))
    return out


class Sender:
    """A stream of sends with MSG_ZEROCOPY, and the notices for them."""

    def __init__(self, h, s):
        self.h, self.s, self.off = h, s, 0
        self.nr = 0
        self.busy = {}      # buffers by the number of their send
        self.codes = {}
        s.setsockopt(socket.SOL_SOCKET, SO_ZEROCOPY, 1)

    def send(self, n, flags=0):
        """Send the next N bytes from a buffer of their own that starts at no page."""
        buf = bytearray(self.nr % 5) + pieces(self.off, n)
        view = memoryview(buf)[self.nr % 5:]
        while True:
            try:
                sent = self.s.send(view, MSG_ZEROCOPY | flags)
                break
            except OSError as e:
                if e.errno != errno.ENOBUFS:
                    raise
                self.collect(1)
        self.busy[self.nr] = (buf, view, n)
        self.nr += 1
        self.off += sent

    def collect(self, least=0):
        """Handle the notices that are there, at least LEAST of them."""
        p = select.poll()
        p.register(self.s, 0)
        while True:
            try:
                cmsgs = self.s.recvmsg(1, 512, MSG_ERRQUEUE)[1]
            except BlockingIOError:
                if least <= 0:
                    return
                self.h.check(p.poll(self.h.left() * 1000), "no notice")
                continue
            ext = [c[2] for c in cmsgs if c[:2] == (SOL_IP, IP_RECVERR)]
            err, origin, _, code, _, lo, hi = struct.unpack_from("IBBBBII", ext[0])
            self.h.equal((err, origin), (0, ORIGIN_ZEROCOPY), "notice")
            for nr in range(lo, hi + 1):
                _, view, n = self.busy.pop(nr)
                view[:] = b"\xff" * len(view)
                self.codes[nr] = (n, code)
                least -= 1

    def collect_all(self):
        self.collect(len(self.busy))
        self.h.equal(len(self.codes), self.nr, "notices")


def large(h, port, sndbuf):
    """Large and small sends, a file and a pipe, in one stream."""
    s = h.connect(port, sndbuf=sndbuf)
    x = Sender(h, s)
    while x.off < TOTAL:
        x.send(SIZES[x.nr % len(SIZES)], socket.MSG_MORE if x.nr % 4 == 1 else 0)
        if x.nr % 3 == 0:
            # bytes in the ring between pages
            s.sendall(pieces(x.off, 77))
            x.off += 77
        x.collect()
    x.collect_all()
    for n, code in x.codes.values():
        if n < SMALL:
            h.equal(code, COPIED, f"code of {n} bytes")
        if n >= LARGE:
            h.equal(code, 0, f"code of {n} bytes")
    h.mark("notices", off=x.off)
    h.gate("file")
    off = by_file(s, x.off, 500_000)
    off = by_pipe(s, off, 200_000)
    s.close()
    return off


def by_file(s, off, n):
    fd = os.memfd_create("file")
    os.write(fd, bytes(3) + pieces(off, n))
    done = 0
    while done < n:
        done += os.sendfile(s.fileno(), fd, 3 + done, n - done)
    os.close(fd)
    return off + n


def by_pipe(s, off, n):
    r, w = os.pipe()
    fcntl.fcntl(w, F_SETPIPE_SZ, 1 << 16)
    end = off + n
    while off < end:
        put = off + os.write(w, pieces(off, min(end - off, 50_000)))
        while off < put:
            off += os.splice(r, s.fileno(), put - off)
    os.close(r)
    os.close(w)
    return off


def goes_on(h, port):
    """Send until the gate "stop" opens; mark progress behind each gate "more"."""
    x = Sender(h, h.connect(port))
    h.mark("connected")
    k, goal = 0, None
    while not h.gate_open("stop"):
        x.send(60_001)
        x.collect()
        if goal is None and h.gate_open("more"):
            goal = x.off + 400_000
        if goal is not None and x.off >= goal:
            h.mark(f"more{k}")
            k, goal = k + 1, None
    x.collect_all()
    x.s.close()
    return x.off


def full(h, port, sndbuf):
    """Send more than the peer's ring holds, on a connection that the peer resets then."""
    x = Sender(h, h.connect(port, sndbuf=sndbuf))
    while x.off < RINGS["rcvbuf"] + 30_000:
        try:
            x.send(30_000, socket.MSG_DONTWAIT)
        except BlockingIOError:
            x.collect()
            h.check(select.select([], [x.s], [], h.left())[1], "no room")
    h.check(x.busy, "all sends have completed")
    h.mark("full")
    x.collect_all()
    h.raises("send()", (errno.ECONNRESET, errno.EPIPE), x.s.send, b"x")
    x.s.close()
    return x.nr


def lose_link(t):
    from smcvm.links import active, nimble, several
    several(t, **dict(nimble(t), wmem=65536, rmem=65536))
    s = t.half(t.a, drink, port=5610)
    s.expect("listening")
    c = t.half(t.b, goes_on, port=5610)
    c.expect("connected", t.left())
    t.mode(t.a, "SMC-R", 5610)
    t.wait(lambda: [len(active(vm)) for vm in (t.a, t.b)] == [2, 2], "two links", 30)
    c.gate("more")
    c.expect("more0", t.left())
    was = {n: t.stat(t.b, n) for n in ("conn_moved", "tx_pages_copied")}
    device = next(x for x in active(t.b) if x.conns).device
    # the window updates still come: without room nothing would be on its way
    rule = t.relay.rule(seg=int(device.removeprefix("rxe")), proto="roce", frm="b", drop=1)
    t.wait(lambda: t.stat(t.b, "conn_moved") > was["conn_moved"], "another link", 40)
    c.gate("more")
    c.expect("more1", t.left())
    t.relay.unrule(rule)
    c.gate("stop")
    t.wait_all(s, c)
    t.equal(s.value, c.value, "bytes")
    t.check(t.stat(t.b, "tx_pages_copied") > was["tx_pages_copied"], "nothing was repeated")


def run(t):
    if t.family != "smc":
        return
    t.step("large sends")
    t.no_groups()
    was = t.stat(t.b, "tx_page_bytes")
    s = t.half(t.a, drink, port=5600, rcvbuf=RINGS["rcvbuf"])
    s.expect("listening")
    c = t.half(t.b, large, port=5600, sndbuf=RINGS["sndbuf"])
    off = c.expect("notices", t.left())["off"]
    by_notice = t.stat(t.b, "tx_page_bytes") - was
    t.check(by_notice > off // 2, f"{by_notice} of {off} bytes without a copy")
    c.gate("file")
    t.wait_all(s, c)
    t.equal(s.value, c.value, "bytes")
    by_file_and_pipe = t.stat(t.b, "tx_page_bytes") - was - by_notice
    if not t.b.kernel.release.startswith("6.1."):
        t.check(by_file_and_pipe > 350_000, f"{by_file_and_pipe} of 700000 bytes without a copy")
    t.note(f"without a copy: {by_notice} of {off} bytes, {by_file_and_pipe} of 700000")

    t.step("reset by the peer")
    s = t.half(t.a, refuse, port=5605, rcvbuf=RINGS["rcvbuf"])
    s.expect("listening")
    c = t.half(t.b, full, port=5605, sndbuf=RINGS["sndbuf"])
    c.expect("full", t.left())
    s.gate("reset")
    t.wait_all(s, c)

    t.step("a lost link")
    lose_link(t)
