# SPDX-License-Identifier: GPL-2.0
"""Verified streams that run until the runner stops them: halves for scenarios about links.

The kinds take turns. The client's first byte is the stream's number, because accept()
returns connections in the order in which handshakes end.
"""
import errno
import fcntl
import socket
import struct
import threading
import time

from halves import Failure, Pattern

KINDS = ("plain", "peek", "urgent", "half")
SIOCATMARK = 0x8905
PIECE = 20011       # bytes at a time on a fast machine, and ...
PAUSE = 0.05        # ... seconds in between for a few streams; many
FEW = 4             # take turns, because the machine has other work
PACKET = 997        # bytes that one packet of soft-RoCE carries on Ethernet


class Stream:
    """One connection with a verified stream in each direction.

    peek    each read is made twice, first with MSG_PEEK
    urgent  each last of so many bytes is urgent and in line; the mark must be at that byte
    half    one direction is closed early, by the client and the server in turns
    """

    def __init__(self, h, s, number, is_server, pause, piece):
        self.h, self.s, self.pause, self.piece = h, s, pause, piece
        self.urgent, self.half = 2 * piece - 13, 5 * piece // 2
        self.kind = KINDS[number % len(KINDS)]
        self.out, self.into = (1, 2) if is_server else (2, 1)
        who = number // len(KINDS) % 2 == is_server
        self.sends = self.kind != "half" or who
        self.reads = self.kind != "half" or not who
        self.sent = self.got = self.marks = 0
        self.last = None
        self.gap = 0
        self.stop = threading.Event()
        self.goes_on = threading.Event()
        self.goes_on.set()
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
        if not self.sends:
            self.sent = self.h.send_stream(self.s, self.half, self.out)
        while self.sends and not self.stop.is_set():
            if self.kind == "urgent":
                self.send_urgent()
            else:
                self.sent = self.h.send_stream(self.s, self.piece, self.out, start=self.sent)
            self.stop.wait(self.pause)
            self.goes_on.wait()
        self.s.shutdown(socket.SHUT_WR)

    def send_urgent(self):
        """Send up to the next urgent byte, which is the last of its call."""
        pat, last = Pattern(self.out), self.sent + self.urgent - 7
        self.sent = self.h.send_stream(self.s, self.urgent - 7, self.out, start=self.sent)
        self.h.equal(self.s.send(pat.at(last, 7), socket.MSG_OOB), 7, "urgent send")
        self.sent += 7

    def recv(self):
        pat = Pattern(self.into)
        while True:
            data = self.read()
            now = time.monotonic()
            # the peer sends the first byte when all connections exist: no pause
            self.gap = max(self.gap, now - (self.last or now))
            self.last = now
            if not data:
                break
            bad = pat.first_difference(self.got, data)
            if bad is not None:
                raise Failure(f"{self.kind}: wrong byte at {bad}, "
                              + pat.describe(self.got, data, bad))
            self.got += len(data)
            if self.kind == "urgent":
                self.look_for_mark()
        if not self.reads:
            self.h.equal(self.got, self.half, "bytes in front of an early end of stream")

    def read(self):
        if self.kind != "peek":
            return self.s.recv(30011)
        seen = self.s.recv(30011, socket.MSG_PEEK)
        if not seen:
            return seen
        data = self.h.recv_exact(self.s, len(seen))
        self.h.check(data == seen, f"bytes at {self.got} differ from those seen before")
        return data

    def look_for_mark(self):
        """Check the mark; a read ends before an urgent byte."""
        if struct.unpack("i", fcntl.ioctl(self.s, SIOCATMARK, b"\0" * 4))[0]:
            self.h.equal(self.got % self.urgent, self.urgent - 1, "place of an urgent byte")
            self.marks += 1

    def check(self):
        if self.err:
            raise self.err[0]

    def is_at(self, want):
        return not self.reads or self.got >= want


def pump(h, all_of_them):
    """Mark the progress of the streams each time the runner asks, until it stops them.

    The runner may also pause the streams.
    """
    def further(want):
        for x in all_of_them:
            x.check()
        return all(x.is_at(n) for x, n in zip(all_of_them, want))

    k = 0
    while not h.gate_open("stop"):
        if h.gate_open("more"):
            want = [x.got + 3 * x.piece for x in all_of_them]
            h.wait(lambda: further(want), "streams to go on")
            h.mark(f"more{k}", gap=max(x.gap for x in all_of_them if x.reads))
            k += 1
            for x in all_of_them:
                x.gap = 0
        if h.gate_open("rest"):
            for x in all_of_them:
                x.goes_on.clear()
            h.mark("resting")
        if h.gate_open("go on"):
            for x in all_of_them:
                x.goes_on.set()
        further([])
        time.sleep(0.01)
    for x in all_of_them:
        x.stop.set()
        x.goes_on.set()
    for x in all_of_them:
        for th in x.threads:
            th.join(h.left())
        x.check()
        h.check(not any(th.is_alive() for th in x.threads), "a stream did not end")
        h.check(x.kind != "urgent" or x.marks, "no urgent byte was seen")
        x.s.close()
    return [(x.sent, x.got) for x in all_of_them]


def broken(h, all_of_them):
    """Wait until each stream has ended with an error; return the names of the errnos."""
    def name(x):
        for e in x.err:
            if isinstance(e, OSError) and e.errno:
                return errno.errorcode[e.errno]
            raise e
        return None

    h.wait(lambda: all(x.err for x in all_of_them), "end of the streams")
    names = sorted({name(x) for x in all_of_them})
    for x in all_of_them:
        x.s.close()
    return names


def streams(h, numbered, is_server, pause=0, piece=0, is_nodelay=False):
    """A stream for each number and socket, at a pace that suits the machine.

    Soft-RoCE on a debug kernel handles few packets a second. With more load the streams
    stall, and acknowledgments are so late that links fail. So a piece is one packet there,
    and half of the time remains for retransmissions.
    """
    numbered = list(numbered)
    pause = pause or PAUSE * h.slow * max(1, len(numbered) / FEW) * (2 if h.slow > 1 else 1)
    piece = piece or (PIECE if h.slow == 1 else PACKET)
    for _, s in numbered:
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, is_nodelay)
    return [Stream(h, s, i, is_server, pause, piece) for i, s in numbered]


def ends_of(h, socks, is_server, end, **pace):
    all_of_them = streams(h, enumerate(socks), is_server, **pace)
    if end == "broken":
        return broken(h, all_of_them)
    return pump(h, all_of_them)


def keep_in_line(s):
    """Set SO_OOBINLINE before the first urgent byte arrives; a later call misses that byte."""
    s.setsockopt(socket.SOL_SOCKET, socket.SO_OOBINLINE, 1)
    return s


def accept_numbered(h, ls, count):
    """Accept COUNT clients; return their sockets in the order of their numbers."""
    socks = [h.accept(ls) for _ in range(count)]
    ls.close()
    return [s for _, s in sorted(((h.recv_exact(s, 1)[0], s) for s in socks),
                                 key=lambda numbered: numbered[0])]


def connect_numbered(h, port, count):
    socks = [keep_in_line(h.connect(port)) for _ in range(count)]
    # the server sends when all clients have connected
    for number, s in enumerate(socks):
        s.sendall(bytes([number]))
    return socks


def server(h, port, count=4, end="stop", **pace):
    ls = h.listen(port, mark=False)
    keep_in_line(ls)
    h.mark("listening")
    return ends_of(h, accept_numbered(h, ls, count), True, end, **pace)


def client(h, port, count=4, end="stop", **pace):
    socks = connect_numbered(h, port, count)
    h.mark("connected")
    return ends_of(h, socks, False, end, **pace)
