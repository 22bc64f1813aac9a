# SPDX-License-Identifier: GPL-2.0
"""The object h that the halves of a scenario use inside the machines.

A half is a function of the scenario's file, called as half(h, **args) in a process of
its own. It reports its progress to the runner with h.mark() and waits for the runner with
h.gate(). The runner gets its return value.

h.socket() makes TCP or SMC sockets, as the runner decides, so that the halves themselves
can be tested over TCP first. Python has no addresses for family 43, and SMC uses those of
IPv4 and IPv6: the socket object wraps the descriptor with one of these families.
"""
import ctypes
import errno
import faulthandler
import fcntl
import functools
import importlib.util
import json
import os
import random
import select
import socket
import struct
import termios
import threading
import time

import netns

AF_SMC = 43
IPPROTO_SMC = 256
SMCPROTO_SMC, SMCPROTO_SMC6 = 0, 1
SO_DOMAIN, SIOCOUTQNSD = 39, 0x894b
PATTERN_LEN = 65521  # a prime: no period shared with any ring or page size

SOL_SMC, SMC_LIMIT_HS = 286, 1
FUTEX = {"x86_64": "202", "s390x": "238"}[os.uname().machine]   # the system call

libc = ctypes.CDLL(None, use_errno=True)


def is_smc(s):
    """True if socket S may use SMC; TCP has no option of this level."""
    try:
        return s.getsockopt(SOL_SMC, SMC_LIMIT_HS) >= 0
    except OSError:
        return False


@functools.lru_cache(maxsize=64)
def make_pattern(seed):
    one = random.Random(seed).randbytes(PATTERN_LEN)
    return memoryview(one + one)


class Pattern:
    """An endless byte stream in which every offset has a known value."""

    def __init__(self, seed):
        self.twice = make_pattern(seed)

    def at(self, offset, n):
        """The N bytes from OFFSET on; N is at most the length of the pattern."""
        off = offset % PATTERN_LEN
        return self.twice[off:off + n]

    def describe(self, offset, data, bad):
        """Describe the bytes of DATA at the stream offset BAD, and their likely source."""
        got = bytes(data[bad - offset:])
        text = f"in a read of {len(data)} at {offset}: {got[:24].hex()}"
        if not any(got[:64]):
            zeros = len(got) - len(got.lstrip(b"\0"))
            return f"{text}, {zeros} zero bytes"
        at = bytes(self.twice).find(got[:16])
        if at < 0:
            return f"{text}, not from this stream"
        # the pattern repeats: the nearest place before and after
        far = (at - bad) % PATTERN_LEN
        return f"{text}, which belongs {PATTERN_LEN - far} before or {far} after"

    def first_difference(self, offset, data):
        """The stream offset of the first wrong byte of DATA, or None."""
        done = 0
        while done < len(data):
            part = data[done:done + PATTERN_LEN]
            want = self.at(offset + done, len(part))
            if part != want:
                for i, byte in enumerate(part):
                    if byte != want[i]:
                        return offset + done + i
            done += len(part)
        return None


def is_asleep(tid):
    """True if the thread sleeps in a system call in two samples: Python's own waits are shorter."""
    for _ in range(2):
        try:
            with open(f"/proc/self/task/{tid}/stat", encoding="ascii") as f:
                if f.read().rsplit(")", 1)[1].split()[0] != "S":
                    return False
            with open(f"/proc/self/task/{tid}/syscall", encoding="ascii") as f:
                if f.read().split()[0] in ("running", "-1", FUTEX):
                    return False
        except (FileNotFoundError, ProcessLookupError):
            return False  # it has ended
        time.sleep(0.05)
    return True


class Sizes:
    """A repeatable sequence of odd transfer sizes from 1 to LIMIT."""

    def __init__(self, seed, limit):
        self.x = seed * 2654435761 + 1 & 0xffffffff
        self.limit = limit
        self.n = 0

    def next(self):
        self.x = (self.x * 1103515245 + 12345) & 0x7fffffff
        self.n += 1
        if self.n % 7 == 0:
            return 1 + (self.x >> 8) % 9
        return 1 + (self.x >> 8) % self.limit


def under_way(s):
    """The bytes that are sent and not acknowledged; the value may be a moment old."""
    waiting, unsent = (struct.unpack("i", fcntl.ioctl(s, request, bytes(4)))[0]
                       for request in (termios.TIOCOUTQ, SIOCOUTQNSD))
    return waiting - unsent


class Failure(Exception):
    """A check of a half failed."""


class Half:
    def __init__(self, config, mark_fd):
        self.config = config
        self.family = config.get("family", "tcp")
        self.v6 = config.get("ipv") == 6
        self.slow = config.get("slow", 1)
        self.patience = config.get("patience", 1)
        self.mark_fd = mark_fd
        self.mark_lock = threading.Lock()
        self.stdin_buf = b""
        self.deadline = time.monotonic() + config.get("deadline", 120)

    # Keeping in step

    def mark(self, name, **data):
        line = json.dumps(dict(data, name=name)).encode() + b"\n"
        with self.mark_lock:
            os.write(self.mark_fd, line)

    def within(self, seconds):
        """SECONDS, scaled for a slow kernel and host; not beyond the deadline."""
        return min(seconds * self.slow * self.patience, self.left())

    def gate(self, name, timeout=None):
        """Wait until the runner opens the gate NAME."""
        end = time.monotonic() + (self.within(timeout) if timeout else self.left())
        want = name.encode()
        while True:
            while b"\n" in self.stdin_buf:
                line, self.stdin_buf = self.stdin_buf.split(b"\n", 1)
                if line == want:
                    return
                raise Failure(f"gate {name}: runner opened {line.decode()}")
            left = end - time.monotonic()
            if left <= 0 or not select.select([0], [], [], left)[0]:
                raise Failure(f"gate {name} was not opened")
            data = os.read(0, 4096)
            if not data:
                raise Failure(f"gate {name}: the runner closed the pipe")
            self.stdin_buf += data

    def gate_open(self, name):
        """True if the gate NAME is open, and then consume it; does not wait."""
        if select.select([0], [], [], 0)[0]:
            self.stdin_buf += os.read(0, 4096)
        want = name.encode() + b"\n"
        if self.stdin_buf.startswith(want):
            self.stdin_buf = self.stdin_buf[len(want):]
            return True
        return False

    def check(self, cond, text):
        if not cond:
            raise Failure(text)

    def equal(self, got, want, what):
        if got != want:
            raise Failure(f"{what}: got {got!r}, want {want!r}")

    def wait(self, cond, what, timeout=None):
        end = time.monotonic() + (self.within(timeout) if timeout else self.left())
        while not cond():
            if time.monotonic() > end:
                raise Failure(f"timed out waiting for: {what}")
            time.sleep(0.01)

    def poll(self, poller, seconds):
        """The events of the poll object POLLER within SECONDS."""
        return poller.poll(1000 * self.within(seconds))

    def left(self):
        """The seconds until the half's deadline, at least 0.1."""
        return max(0.1, self.deadline - time.monotonic())

    def raises(self, what, numbers, func, *args):
        """FUNC must fail with one of the errnos NUMBERS; return the errno."""
        if isinstance(numbers, int):
            numbers = (numbers,)
        try:
            val = func(*args)
        except OSError as e:
            if e.errno in numbers:
                return e.errno
            raise Failure(f"{what}: errno {errno.errorcode.get(e.errno, e.errno)} "
                          f"({e}), want "
                          f"{[errno.errorcode[n] for n in numbers]}") from e
        raise Failure(f"{what}: succeeded with {val!r}, want "
                      f"{[errno.errorcode[n] for n in numbers]}")

    # Sockets

    def socket(self, v6=None, family=None):
        v6 = self.v6 if v6 is None else v6
        inet = socket.AF_INET6 if v6 else socket.AF_INET
        if (family or self.family) == "tcp":
            return socket.socket(inet, socket.SOCK_STREAM)
        if (family or self.family) == "inet_smc":
            return socket.socket(inet, socket.SOCK_STREAM, IPPROTO_SMC)
        fd = libc.socket(AF_SMC, socket.SOCK_STREAM | socket.SOCK_CLOEXEC,
                         SMCPROTO_SMC6 if v6 else SMCPROTO_SMC)
        if fd < 0:
            err = ctypes.get_errno()
            raise OSError(err, "socket(AF_SMC): " + os.strerror(err))
        return socket.socket(inet, socket.SOCK_STREAM, 0, fileno=fd)

    def sized(self, s, sndbuf=0, rcvbuf=0):
        if sndbuf:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, sndbuf)
        if rcvbuf:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, rcvbuf)

    def listen(self, port, backlog=128, addr=None, mark=True, sndbuf=0, rcvbuf=0,
               **kw):
        """Make a listening socket; with MARK report that to the runner."""
        s = self.socket(**kw)
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.sized(s, sndbuf, rcvbuf)
        v6 = s.family == socket.AF_INET6
        s.bind((addr or ("::" if v6 else "0.0.0.0"), port))
        s.listen(backlog)
        if mark:
            self.mark("listening")
        return s

    def accept(self, s):
        c, _ = s.accept()
        return c

    def connect(self, port, addr=None, sndbuf=0, rcvbuf=0, **kw):
        """Connect a blocking socket to the other machine."""
        s = self.socket(**kw)
        self.sized(s, sndbuf, rcvbuf)
        v6 = s.family == socket.AF_INET6
        s.connect((addr or self.config["peer6" if v6 else "peer4"], port))
        return s

    # Whole and verified transfers

    def recv_exact(self, s, n):
        parts = []
        while n:
            data = s.recv(n)
            if not data:
                raise Failure(f"end of stream with {n} bytes missing")
            parts.append(data)
            n -= len(data)
        return b"".join(parts)

    def at_end(self, s, what="end of stream"):
        data = s.recv(1)
        if data:
            raise Failure(f"{what}: got another byte")

    def send_stream(self, s, total, seed, limit=30011, start=0):
        """Send TOTAL bytes of the pattern SEED in odd sizes."""
        pat, sizes, off = Pattern(seed), Sizes(seed, limit), start
        while off < start + total:
            n = min(sizes.next(), start + total - off)
            s.sendall(pat.at(off, n))
            off += n
        return off

    def recv_stream(self, s, total, seed, limit=40009, start=0, on_data=None):
        """Receive and verify TOTAL bytes of the pattern SEED."""
        pat, sizes, off = Pattern(seed), Sizes(seed + 1, limit), start
        while off < start + total:
            data = s.recv(min(sizes.next(), start + total - off))
            if not data:
                raise Failure(f"end of stream at {off} of {start + total}")
            bad = pat.first_difference(off, data)
            if bad is not None:
                raise Failure(f"wrong byte at {bad} of {start + total}, "
                              + pat.describe(off, data, bad))
            off += len(data)
            if on_data:
                on_data(off)
        return off

    def fill(self, s, pat, off=0, piece=10007):
        """Send to a peer that does not read until nothing more fits; return the stream offset.

        While bytes are unacknowledged the peer may only be slow, so more may fit. TCP may
        retransmit forever what the peer has no room for: there a pause ends the loop.
        """
        silence = 0.7 if is_smc(s) else self.within(0.7)
        quiet = 0
        while quiet < 2:
            try:
                off += s.send(pat.at(off, piece), socket.MSG_DONTWAIT)
                quiet = 0
            except BlockingIOError:
                self.check(time.monotonic() < self.deadline, f"no end of room behind {off} bytes")
                is_still = not (is_smc and under_way(s))
                select.select([], [s], [], silence)
                quiet = quiet + 1 if is_still else 0
        return off

    def both_ways(self, s, total_out, seed_out, total_in, seed_in, limit=30011):
        """Send and receive at the same time; both directions stay open."""
        err = []

        def sender():
            try:
                self.send_stream(s, total_out, seed_out, limit)
            except BaseException as e:
                err.append(e)

        th = threading.Thread(target=sender, daemon=True)
        th.start()
        self.recv_stream(s, total_in, seed_in, limit)
        th.join(self.left())
        if err:
            raise err[0]
        self.check(not th.is_alive(), "the sender did not end")

    def finish(self, s):
        """End both directions of a connection in good order, then close it."""
        s.shutdown(socket.SHUT_WR)
        self.at_end(s)
        s.close()

    def answer(self, s):
        """Serve requests of request() on a connection until its end.

        A request is 8 bytes: its length and the length of the answer.
        """
        while True:
            head = s.recv(8)
            if not head:
                return
            if len(head) < 8:
                head += self.recv_exact(s, 8 - len(head))
            n, back = struct.unpack("!II", head)
            self.recv_stream(s, n, 5)
            self.send_stream(s, back, 6)

    def request(self, s, n=100, back=1000):
        s.sendall(struct.pack("!II", n, back) + bytes(Pattern(5).at(0, min(n, 1000))))
        if n > 1000:
            self.send_stream(s, n - 1000, 5, start=1000)
        self.recv_stream(s, back, 6)

    def serve(self, port, count=None, on_accept=None, on_break=None, **kw):
        """Accept and answer in threads until COUNT connections have ended.

        Without COUNT, until the runner opens the gate "stop". ON_ACCEPT is called with each
        connection. A connection that breaks is a failure, unless there is ON_BREAK, which is
        called with the exception.
        """
        ls = self.listen(port, **kw)
        err, threads, done = [], [], 0

        def one(c):
            try:
                with c:
                    self.answer(c)
            except Exception as e:
                (on_break or err.append)(e)

        while count is None or done < count:
            r, _, _ = select.select([ls] + ([0] if count is None else []), [], [],
                                    self.left())
            self.check(r, f"server: {done} connections only")
            if 0 in r and count is None and self.gate_open("stop"):
                break
            if ls not in r:
                continue
            try:
                c = self.accept(ls)
            except BlockingIOError:
                continue
            done += 1
            if on_accept:
                on_accept(c)
            th = threading.Thread(target=one, args=(c,), daemon=True)
            th.start()
            threads.append(th)
        for th in threads:
            th.join(self.left())
            self.check(not th.is_alive(), "a connection of the server did not end")
        ls.close()
        if err:
            raise err[0]
        return done


def load(path):
    spec = importlib.util.spec_from_file_location("scenario", path)
    mod = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(mod)
    return mod


def run(path, func, args, config, mark_fd):
    """Run one half; return the exit code of its process.

    Sockets block, as those of most programs do. A half that hangs prints the stacks of its
    threads at its deadline, and stays, so that the runner can inspect its sockets.
    """
    h = Half(config, mark_fd)
    if config.get("netns"):
        netns.enter(config["netns"])
    faulthandler.dump_traceback_later(config.get("deadline", 120))
    val = getattr(load(path), func)(h, **args)
    h.mark("return", value=val)
    return 0
