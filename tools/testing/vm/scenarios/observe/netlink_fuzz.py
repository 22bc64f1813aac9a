# SPDX-License-Identifier: GPL-2.0
"""Malformed requests to the netlink families and to sock_diag are refused, by any user.

Each attribute missing, doubled, too short, too long, nested wrongly; unknown commands, wrong
versions, lengths that lie, random bytes. Dumps are left unfinished while groups come and go. The
kernel must answer in well-formed messages only. A fixed seed makes each run the same.

covers: SEC-01
"""
import errno
import random
import socket
import struct

import netns
import smcnl
from common import serve

dialects = (0,)
timeout = 100
PORT = 5850
SEED = 20261127
N_RANDOM = 400
NESTED = 0x8000
POLICY, FLUSH_POLICY, HISTORY, PEERS, FLUSH_PEERS = 96, 99, 100, 101, 103
GENERIC, SOCK_DIAG = 16, 4
FAMILIES = ("SMC_GEN_NETLINK", "SMC_PNETID")
# reads, the only one of PNETID, then commands that change something
COMMANDS = {"SMC_GEN_NETLINK": (*range(0, 20), 64, 70, 80, *range(95, 109), 255),
            "SMC_PNETID": (*range(0, 6), 255)}
DUMPS = (*range(1, 10), 13, 16, POLICY, HISTORY, PEERS, smcnl.DUMP_COUNTERS)
VALID = {1: b"FUZZ-1".ljust(32) + b"\0", 2: b"nope0\0", 3: b"nope1\0", 4: b"\1"}
ALLOWED = {0} | {getattr(errno, e) for e in (
    "EINVAL", "EPERM", "EOPNOTSUPP", "ENOENT", "EEXIST", "ERANGE", "EBUSY", "ENOSPC", "ENOTSUP",
    "ENODEV", "EMSGSIZE", "ENOBUFS")}
REQUEST, ACK, ROOT, DUMP = 1, 4, 0x100, 0x300


def attribute(number, data, size=None):
    """An attribute whose length may lie."""
    return struct.pack("=HH", 4 + len(data) if size is None else size, number) + data + \
        b"\0" * (-len(data) % 4)


def bodies():
    """Attributes of a request: right ones, and each way to be wrong."""
    yield b""
    for n in (*range(13), 63, 64, 80, 0x3fff):
        data = VALID.get(n, b"AAAA")
        right = attribute(n, data)
        yield right
        yield right + right
        yield attribute(n | NESTED, data)
        yield attribute(n | NESTED, right)
        yield attribute(n, attribute(n, attribute(n, data)))
        for other in VALID:
            yield right + attribute(other, VALID[other])
        for size in (0, 1, 3, 4, 16, 17, 32, 33, 34, 64, 500):
            yield attribute(n, b"A" * size)
            yield attribute(n, b"\xff" * size)
        for size in (0, 3, 5, len(data) + 5, 400, 0xffff):
            yield attribute(n, data, size)
    yield b"\0"
    yield b"\xff" * 31


class Wire:
    """A netlink socket that sends any bytes and reads what comes at once."""

    def __init__(self, h, protocol=GENERIC):
        self.h = h
        self.sock = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, protocol)
        self.sock.bind((0, 0))
        self.nr = 0

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.sock.close()

    def send(self, kind, body, flags=REQUEST | ACK, size=None):
        size = 16 + len(body) if size is None else size
        self.nr += 1
        self.sock.send(struct.pack("=IHHII", size & 0xffffffff, kind, flags, self.nr, 0) + body)

    def read(self, size=1 << 16, most=1 << 20):
        """The messages of MOST datagrams, as far as they have come; errors are known ones."""
        out = []
        for _ in range(most):
            try:
                data = self.sock.recv(size, socket.MSG_DONTWAIT)
            except BlockingIOError:
                return out
            except OSError as e:
                # a small receive queue is full
                self.h.equal(e.errno, errno.ENOBUFS, "errno of a read")
                continue
            while data:
                length, kind = struct.unpack_from("=IH", data)
                self.h.check(16 <= length <= len(data), f"{length} bytes of {len(data)}")
                if kind in (smcnl.NLMSG_ERROR, smcnl.NLMSG_DONE):
                    code = -struct.unpack_from("=i", data, 16)[0]
                    self.h.check(code in ALLOWED, f"error {code} ({errno.errorcode.get(code)})")
                out.append((kind, data[16:length]))
                data = data[(length + 3) & ~3:]
        return out


def number(name):
    """The type of messages of a family."""
    with smcnl.Family() as f:
        if name == FAMILIES[0]:
            return f.id
        text = name.encode() + b"\0"
        f.send(smcnl.CTRL, smcnl.CTRL_GETFAMILY, attribute(smcnl.CTRL_NAME, text), REQUEST)
        data = f.sock.recv(1 << 15)[20:]
        while data:
            size, kind = struct.unpack_from("=HH", data)
            if kind == smcnl.CTRL_ID:
                return struct.unpack_from("=H", data, 4)[0]
            data = data[(size + 3) & ~3:]
    raise OSError(errno.ENOENT, name)


def tried(w, family, body, flags, **kw):
    """Send one request, and read all that it causes; each nest of ours is as specified."""
    w.send(family, body, REQUEST | flags, **kw)
    for kind, data in w.read():
        if kind == tried.generic:
            # these have no nest
            spec = dict.fromkeys(range(1, 13), "raw") if data[0] in (9, 13, 16, POLICY) else \
                smcnl.TOP
            smcnl.decode(data[4:], spec, f"command {data[0]}")


def matrix(w, name, rnd, share):
    """A share of all requests with each command, and one without attributes."""
    family = number(name)
    for cmd in COMMANDS[name]:
        for body in bodies():
            if body and rnd.random() > share:
                continue
            flags = rnd.choice((ACK, DUMP, DUMP, ACK | DUMP, ROOT, 0))
            version = rnd.choice((1, 1, 1, 0, 2, 255))
            tried(w, family, struct.pack("=BBH", cmd, version, rnd.choice((0, 0, 1, 0xffff))) +
                  body, flags)


def noise(w, kinds, rnd, heads):
    """Random bytes behind a head, cut anywhere, in messages of any length."""
    for _ in range(N_RANDOM):
        body = rnd.choice(heads) + rnd.randbytes(rnd.randrange(0, 80))
        body = body[:rnd.randrange(len(body) + 1)]
        size = rnd.choice((None, None, None, 0, 15, 16, 17, 19, 20, 0xffffffff, len(body)))
        tried(w, rnd.choice(kinds), body, rnd.choice((ACK, DUMP, ROOT, ACK | DUMP)), size=size)


def everything(h, who, share):
    """As one kind of user; returns the number of requests."""
    rnd = random.Random(f"{SEED} {who}")
    tried.generic = number(FAMILIES[0])
    with Wire(h) as w:
        for name in FAMILIES:
            matrix(w, name, rnd, share)
        heads = [struct.pack("=BBH", cmd, 1, 0) for cmd in range(20)] + [b""]
        noise(w, [number(name) for name in FAMILIES], rnd, heads)
        sent = w.nr
    with Wire(h, SOCK_DIAG) as w:
        heads = [struct.pack("=BHB", 43, 0, ext) + bytes(48) for ext in (0, 1, 2, 4, 8, 255)]
        noise(w, (20, 20, 20, 18, 21), rnd, heads + [b""])
        return sent + w.nr


def state():
    """What an unprivileged request must not change."""
    with smcnl.Family() as f:
        f.send(f.id, 9, b"", REQUEST | DUMP)
        eids = list(f.answers())
        f.send(f.id, POLICY, b"", REQUEST | DUMP)
        rules = list(f.answers())
    with open("/proc/sys/net/smc/limit_smc_hs", encoding="ascii") as f:
        return eids, rules, f.read()


def by_nobody(h, share):
    before = state()
    everything(h, "nobody", share)
    h.equal(state(), before, "state after requests of nobody")


def malformed(h, share):
    """By root, who may change things; by a user; by the owner of a namespace."""
    before = state()
    netns.in_child(h, by_nobody, share, uid=65534)
    # EIDs are the host's, so that one may not add them
    netns.apart(h, everything, "owner", share)
    h.equal(state()[0], before[0], "EIDs after requests of the owner of a namespace")
    nr = everything(h, "root", share)
    with Wire(h) as w:
        for name, *cmds in ((FAMILIES[0], 12, 18, FLUSH_POLICY, FLUSH_PEERS), (FAMILIES[1], 4)):
            for cmd in cmds:
                tried(w, number(name), struct.pack("=BBH", cmd, 1, 0), ACK)
    h.equal(state(), before, "state in the end")
    return 3 * nr


def left_open(h, rounds):
    """Dumps in small pieces: some are read to the end later, some are never finished."""
    rnd = random.Random(SEED)
    family = number(FAMILIES[0])
    for _ in range(rounds):
        wires = []
        for cmd in DUMPS:
            w = Wire(h)
            w.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, rnd.choice((1, 4096, 1 << 20)))
            w.send(family, struct.pack("=BBH", cmd, 1, 0), REQUEST | DUMP)
            w.read(4096, most=rnd.randrange(3))
            # another request while the dump waits
            w.send(family, struct.pack("=BBH", rnd.choice(DUMPS), 1, 0), REQUEST | DUMP)
            wires.append(w)
        rnd.shuffle(wires)
        for w in wires[::2]:
            w.read()
        for w in wires:
            w.sock.close()
        h.mark("round")


def come_and_go(h, port, n):
    """Groups of one connection each."""
    while True:
        held = [h.connect(port) for _ in range(n)]
        for s in held:
            h.finish(s)
        if h.gate_open("stop"):
            return


def hold(h, port, n):
    """Groups to be shown."""
    held = [h.connect(port) for _ in range(n)]
    h.mark("connected")
    h.gate("end")
    for s in held:
        h.finish(s)


def run(t):
    t.no_groups()
    for vm in (t.a, t.b):
        t.set(vm, smcr_max_conns_per_lgr=1, lgr_idle_ms=0)
    s = t.half(t.a, serve, port=PORT)
    s.expect("listening", t.left())
    churn = t.half(t.b, come_and_go, port=PORT, n=4)
    t.step("dumps that nobody finishes")
    t.wait_all(t.half(t.b, left_open, rounds=t.pick(6, 3)))
    churn.gate("stop")
    t.wait_all(churn)
    t.step("malformed requests")
    held = t.half(t.b, hold, port=PORT, n=3)
    held.expect("connected", t.left())
    fuzzed = t.half(t.b, malformed, share=t.pick(0.3, 0.08))
    t.wait_all(fuzzed)
    t.note(f"seed {SEED}, {fuzzed.value} requests")
    held.gate("end")
    t.wait_all(held)
    s.gate("stop")
    t.wait_all(s)
