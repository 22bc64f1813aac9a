# SPDX-License-Identifier: GPL-2.0
"""What the bench measures: programs, and how often, on which sides."""
import json
import os
import re
import statistics

from plots import size_label
from smcvm import kernel
from smcvm.machine import Failed

HERE = os.path.dirname(os.path.realpath(__file__))
SERVER = "10.43.0.1"
LOOPBACK = "127.0.0.1"
BOTH = ("server", "client")
SOCKETS = ("tcp", "ours", "stock")
NOT_STOCK = ("tcp", "ours")
# RDMA without this protocol, to count only: sockets of librdmacm, and verbs.c in place of
# small.c, with the notice of a message in a SEND or in immediate data
VERBS = {"verbs": "send", "verbs-imm": "imm"}
RDMA = ("rsockets", *VERBS)
PAGES = 150000          # of rings, which is most of a machine
# Idle ones, twice: as many as a link group has then. The regions of its pools have 1, 2, 4 ... up
# to 127 elements of 16 KiB, the most that 511 pages hold: exactly so many in the end. So no region
# is there before its connections, or has a rest.
CONNECTIONS = 254
BURST = 256             # connections that begin at once
REDIS = ("redis-server --port {port} --bind 0.0.0.0 --protected-mode no "
         "--save '' --appendonly no")


def many(n, what):
    return f"{n} {what}" + "s" * (n > 1)


class Test:
    """A server, a client, and how to read the client's result.

    A rate is better if it is larger, other results if they are smaller. Every
    connection falls back if only one of the two ENDS uses SMC sockets; if RNICS are
    "gone", or "elsewhere", on no path of the connection, which causes a Decline; and
    if the test IS_LOCAL, with both ends on the machine of the server, which causes a
    Decline, too. SYSCTL are settings of this module for the test, LEAST is the share of
    TCP's rate that a fallback must reach.
    """

    least_packets = 200     # proof that the test used RDMA

    def __init__(self, name, unit, port, server, client, result, is_rate=True,
                 ends=BOTH, rnics="there", is_local=False, sysctl=None, least=None):
        self.name = name
        self.unit = unit
        self.port = port
        self.server = server
        self.client = client
        self.result = result
        self.is_rate = is_rate
        self.ends = ends
        self.rnics = rnics
        self.is_local = is_local
        self.sysctl = sysctl or {}
        self.least = least

    def commands(self, side):
        """Of server and client."""
        return self.server, self.client

    def runs_on(self, side):
        return side in SOCKETS

    def is_fallback(self):
        return len(self.ends) < 2 or self.rnics != "there" or self.is_local


class Memory(Test):
    """The memory of an idle connection on the server's host, WITH_RINGS or without, in bytes.

    The client opens connections twice, and the second time counts: memory that the first
    connections allocate once is not the price of another one. Memory that the kernel can
    reclaim does not count. The limit of all rings is raised: near it they would be smaller. Without
    them they are small, so that they do not hide the rest.
    """

    def __init__(self, name, port, with_rings=True, **kw):
        sysctl = {"net.smc.mem": f"{PAGES} {PAGES} {PAGES}",
                  "net.smc.smcr_max_conns_per_lgr": str(CONNECTIONS)}
        if not with_rings:
            sysctl.update({"net.smc.rmem": "16384", "net.smc.wmem": "16384"})
        super().__init__(name, "bytes", port, f"{small()} hold {port}",
                         f"{small()} idle {SERVER} {port} {CONNECTIONS}", None, is_rate=False,
                         sysctl=sysctl, **kw)
        self.with_rings = with_rings


class Group(Test):
    """The memory of an idle link group on the server's host, in bytes.

    One connection makes the group and closes; what the group keeps for the next one is
    included.
    """

    least_packets = 5

    def __init__(self, name, port):
        super().__init__(name, "bytes", port, f"{small()} hold {port}",
                         f"{small()} idle {SERVER} {port} 1", None, is_rate=False)

    def runs_on(self, side):
        return side in ("ours", "stock")


class Burst(Test):
    """The time until HALF or all of N connections that begin at once are connected.

    They are the first ones of a module: no region of memory is there for them.
    """

    def __init__(self, name, port, n, is_half):
        super().__init__(name, "us", port, f"{small()} hold {port}",
                         f"{small()} burst {SERVER} {port} {n}",
                         lambda out: int(out.split()[0 if is_half else 1]), is_rate=False)


class Versus(Test):
    """A rate over TCP and another over SMC sockets that fall back, measured in turns.

    The difference is a few percent, less than rates vary from one run to the next. So the
    result is the median ratio of neighbouring blocks of connections. The test needs no
    separate run without the module.
    """

    def __init__(self, name, port, ms, ends=BOTH, is_local=False, **kw):
        ip = LOOPBACK if is_local else SERVER
        server, kind = (port + ("server" in ends), "smc" if "client" in ends else "tcp")
        super().__init__(name, "1/s", port, f"{small()} both {port} {port + 1}",
                         f"{small()} versus {ip} {port} tcp {server} {kind} {ms}", None,
                         ends=(), is_local=is_local, **kw)
        self.ratios = {}

    def runs_on(self, side):
        return side in ("ours", "stock")


class Count(Test):
    """The instructions of both machines for one of N operations, and events of each machine.

    Unlike a rate, their number hardly depends on the load of the host. The first N operations
    do not count. Other work of a machine only adds instructions: the least of all rounds
    counts, and the collection of huge pages is off meanwhile.
    """

    least_packets = 20      # few of them carry a stream of small writes

    def __init__(self, name, port, server, client, n, sides=SOCKETS, is_local=False, **kw):
        ip = LOOPBACK if is_local else SERVER
        super().__init__(name, "insns", port, f"{small()} {server.format(port=port)}",
                         f"{small()} {client.format(ip=ip, port=port, n=n)}", None,
                         is_rate=False, is_local=is_local, **kw)
        self.n = n
        self.sides = sides
        self.events = {}        # of each side, for each round: {machine: {event: number}}

    def commands(self, side):
        if side not in VERBS:
            return self.server, self.client
        # the kind follows the first argument
        return [" ".join([verbs(), words[1], VERBS[side], *words[2:]])
                for words in (self.server.split(), self.client.split())]

    def runs_on(self, side):
        return side in self.sides

    def rounds(self, side, machine, name):
        """The values of all rounds in which the event could be counted."""
        values = [r[machine][name] for r in self.events.get(side, ())]
        return [v for v in values if v is not None]

    def event(self, side, machine, name):
        """The median of all rounds, or None."""
        values = self.rounds(side, machine, name)
        return statistics.median(values) if values else None


class Beside(Count):
    """Connections beside IDLE ones, with rings that fit a small machine.

    Of 10,000 the rings of the other module do not.
    """

    def __init__(self, port, idle):
        super().__init__(f"connections beside {idle} idle", port, "hold {port}",
                         f"beside {{ip}} {{port}} {{n}} {idle}", 200,
                         sides=SOCKETS if idle <= 1000 else NOT_STOCK,
                         sysctl={"net.smc.mem": f"{PAGES} {PAGES} {PAGES}",
                                 "net.smc.rmem": "16384", "net.smc.wmem": "16384"})


def iperf_mbit(out):
    data = json.loads(out)
    if "error" in data:
        raise Failed(f"iperf3: {data['error']}")
    return data["end"]["sum_received"]["bits_per_second"] / 1e6


def round_us(out):
    return int(out.split()[2]) / 1e3


def rounds_per_second(out):
    rounds, us = map(int, out.split()[:2])
    return rounds * 1e6 / us


def redis_rate(out):
    rate = re.search(r'^"SET","([\d.]+)"', out, re.M)
    if not rate:
        raise Failed(f"redis-benchmark printed: {out}")
    return float(rate[1])


# The least share of TCP's rate: the measured share minus about 0.02, by which runs vary
FALLBACKS = {
    "fallback of servers": {"ends": ("server",), "least": 0.97},
    "fallback of clients": {"ends": ("client",), "least": 0.97},
    "fallback without RNICs": {"rnics": "gone", "least": 0.97},
    # of some, and then a client offers no more
    "fallback by Decline": {"rnics": "elsewhere", "least": 0.96},
    "fallback by each Decline": {"rnics": "elsewhere", "least": 0.76,
                                 "sysctl": {"net.smc.peer_memory_ms": 0}},
    "fallback on one host": {"is_local": True, "least": 0.94, "sysctl": {"net.smc.memory": 0}},
}


TURN = "turns {ip} {port} {n}"
# of messages in bytes: how many to count of ping-pong and in a stream
SIZES = {1: (400, 10000), 64: (1000, 10000), 1 << 10: (400, 4000), 16 << 10: (200, 400),
         64 << 10: (100, 400), 256 << 10: (32, 64), 1 << 20: (16, 24)}
# how many requests to count of so many clients
CLIENTS = {1: 400, 4: 1000, 16: 2000, 64: 2000, 256: 2000, 1000: 2000}
AT_ONCE = (1, 4, 16, 64)
IDLE = (1, 1000, 10000)
# The operations of Documentation/performance.md, each with all its events
DETAILED = ("ping-pong 64 B", "stream 64 KiB", "stream 64 KiB, zero copy",
            "stream 64 B, coalesced", "stream 64 B",
            "stream 1 KiB", "connections", "connections beside 10000 idle",
            "requests, 64 clients", "requests, 1000 clients")
# The operations of a host with an adapter
ADAPTER = (r"^(ping-pong (64 B|64 KiB)|stream (64 B|64 KiB)|requests, (1 client|64 clients)|"
           r"connections)$")
# How instructions grow: file, title, what grows, its values and their tests
SCALES = (
    ("ping-pong", "Ping-pong", "bytes of a message",
     {size: f"ping-pong {size_label(size)}" for size in SIZES}),
    ("stream", "Stream", "bytes of a write",
     {size: f"stream {size_label(size)}" for size in SIZES}),
    ("requests", "Request and answer on open connections", "clients",
     {n: f"requests, {many(n, 'client')}" for n in CLIENTS}),
    ("connections", "Connect, request, answer, close", "connections at a time",
     {n: f"connections, {n} at a time" for n in AT_ONCE}),
    ("beside", "Connect, request, answer, close", "idle connections",
     {n: f"connections beside {n} idle" for n in IDLE}),
)


def operations():
    """Name, server, client, operations to count, sides if not SOCKETS."""
    for size, (rounds, _) in SIZES.items():
        yield (f"ping-pong {size_label(size)}", f"server {{port}} {size}",
               f"rounds {{ip}} {{port}} {{n}} {size}", rounds, (*SOCKETS, *RDMA))
    for size, (_, writes) in SIZES.items():
        yield (f"stream {size_label(size)}", "sink {port}",
               f"stream {{ip}} {{port}} {{n}} {size}", writes, (*SOCKETS, *RDMA))
    yield ("stream 64 B, coalesced", "sink {port}", "stream {ip} {port} {n} 64 delay", 20000)
    # the other module has no SO_ZEROCOPY
    yield ("stream 64 KiB, zero copy", "sink {port}",
           "stream {ip} {port} {n} 65536 zerocopy", 400, NOT_STOCK)
    yield ("connections", "server {port}", TURN, 300, (*SOCKETS, "rsockets", "hooked"))
    for n in AT_ONCE:
        yield (f"connections, {n} at a time", "hold {port}", f"waves {{ip}} {{port}} {{n}} {n}",
               320)
    for n, requests in CLIENTS.items():
        yield (f"requests, {many(n, 'client')}", "hold {port}",
               f"crowd {{ip}} {{port}} {{n}} {n}", requests)


def small():
    return "/host" + kernel.compile_c(os.path.join(HERE, "small.c"))


def verbs():
    return "/host" + kernel.compile_c(os.path.join(HERE, "verbs.c"), "-lrdmacm", "-libverbs")


def counts(rnic=None):
    """All operations to count; with a model of an RNIC those that do without soft-RoCE."""
    out = [Count(name, 7004, *how) for name, *how in operations()]
    out += [Beside(7004, n) for n in IDLE]
    out += [Count(name, 7004, "server {port}", TURN, 300, **how)
            for name, how in FALLBACKS.items()]
    out.append(Count("fallback of polling clients", 7004, "server {port}", "polls {ip} {port} {n}",
                     300, ends=("client",), least=0.95))
    return [t for t in out if not rnic or not t.is_fallback()]


def tests(seconds):
    iperf = f"iperf3 -c {SERVER} -J -t {seconds}"
    ms = int(seconds * 1000)
    out = [
        Test("bulk to server", "Mbit/s", 5201, "iperf3 -s -1", iperf, iperf_mbit),
        Test("bulk from server", "Mbit/s", 5201, "iperf3 -s -1", iperf + " -R", iperf_mbit),
        Test("ping-pong, 64 bytes", "us", 7001, f"{small()} server 7001",
             f"{small()} pingpong {SERVER} 7001 {ms}", round_us, is_rate=False),
        Test("connections", "1/s", 7002, f"{small()} server 7002",
             f"{small()} connect {SERVER} 7002 {ms}", rounds_per_second),
    ]
    out += [Memory("memory, idle connection", 7003),
            Memory("memory, beside the rings", 7003, with_rings=False),
            Memory("memory, fallback of servers", 7003, ends=("server",)),
            Group("memory, idle group", 7003)]
    out += [Burst(f"{BURST} connections at once, {which}", 7006, BURST, is_half)
            for which, is_half in (("half", True), ("all", False))]
    out += [Versus(name, 7005, ms, **how) for name, how in FALLBACKS.items()]
    for clients, rate in ((1, 800), (16, 2000), (64, 2000)):
        out.append(Test(f"redis SET, {many(clients, 'client')}", "1/s", 6379,
                        REDIS.format(port=6379),
                        f"redis-benchmark -h {SERVER} -t set -c {clients} "
                        f"-n {int(rate * seconds)} --csv", redis_rate))
    return out
