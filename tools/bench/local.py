# SPDX-License-Identifier: GPL-2.0
"""Runs within one machine: TCP on lo, AF_UNIX, pipes, and this module's memory links.

The machine has no RDMA device. Rates are taken on two paths: lo, and between two network
namespaces, each behind a bridge, with a service address that the host translates.
"""
import json
import sys

import insns
import rows
import work
from between import DEFAULT
from report import markdown, text
from runs import Runs
from smcvm import kernel
from smcvm.machine import Failed
from tests import Count, Test, small

SIDES = {"tcp": "none", "unix": "none", "pipe": "none", "memory": "ours"}
RATED = ("tcp", "memory")
NO_PIPES = ("tcp", "unix", "memory")
# PORT of small.c
PLACES = {"unix": "@small", "pipe": "/tmp/small"}
PORT = 7004
HERE = "127.0.0.1"
ENDS = "both ends"
SERVICE, CLIENT, SERVER = "10.99.9.9", "10.99.1.1", "10.99.2.2"
JOIN = """set -e
modprobe -a bridge veth nf_tables nft_nat nft_chain_nat
sysctl -qw net.ipv4.ip_forward=1
for n in 1 2; do
	ip netns add c$n
	ip -n c$n link set lo up
	ip link add br$n type bridge forward_delay 0
	ip addr add 10.99.$n.254/24 dev br$n
	ip link set br$n up
	ip link add port$n type veth peer name eth0 netns c$n
	ip link set port$n master br$n up
	ip -n c$n addr add 10.99.$n.$n/24 dev eth0
	ip -n c$n link set eth0 up
	ip -n c$n route add default via 10.99.$n.254
done
"""
# Only while it is used: on lo, too, TCP would pay for the tracking of connections. Those that
# are closed stay in its table for two minutes, and SYNs are dropped when it is full.
TRANSLATE = f"""sysctl -qw net.netfilter.nf_conntrack_max=262144 && nft -f - <<'END'
table ip service {{
	chain in {{
		type nat hook prerouting priority -100
		ip daddr {SERVICE} dnat to {SERVER}
	}}
}}
END
"""
IDLE = 1000             # connections, twice: memory that the first ones allocate does not count
READERS = 8             # of a broker
# What --least demands as multiples of TCP: the inverse of its instructions, and its rate
TRIP, SMALL, LARGE, SETUP = 1 / 0.45, 1 / 0.2, 1 / 0.6, 1 / 1.4
RATE = 1.2
NO_WORSE = 1.0
GUARDED = {
    "round trip 64 B": ((ENDS,), (insns.MODULE, "bh locks")),
    "writes of 64 B": ((ENDS,), (insns.MODULE, "bh locks")),
    "writes of 64 KiB": ((ENDS,), (insns.MODULE, "bh locks")),
    "connections, one host": ((ENDS,), (insns.MODULE, "bh locks")),
}


class Local(Test):
    """A test of SIDES. CONNS is the least number of connections that it opens."""

    def __init__(self, name, unit, sides, conns, is_rate=True, least=None):
        super().__init__(name, unit, PORT, None, None, None, is_rate=is_rate, least=least)
        self.sides = sides
        self.conns = conns

    def runs_on(self, side):
        return side in self.sides


class LocalCount(Count):
    """The instructions of one machine for one of N operations of both ends."""

    conns = 1

    def __init__(self, name, server, client, n, sides=tuple(SIDES), least=NO_WORSE):
        super().__init__(name, PORT, server, client, n, sides=sides, least=least)
        self.words = server, client

    def commands(self, side):
        return [f"{small()} " + words.format(ip=HERE, port=PLACES.get(side, PORT), n=self.n)
                for words in self.words]


class LocalMemory(Local):
    """The memory of an idle connection, both ends, in bytes; each end has sent a message."""

    def __init__(self, name):
        super().__init__(name, "bytes", NO_PIPES, 2 * IDLE, is_rate=False)

    def commands(self, side):
        place = PLACES.get(side, PORT)
        return [f"{small()} hold {place}", f"{small()} idle {HERE} {place} {IDLE}"]


class Rate(Local):
    """A rate that FUNC(work) measures, as the rows of tools/testing/programs do."""

    def __init__(self, name, func, conns, is_translated):
        super().__init__(name + ", by DNAT" * is_translated, "", RATED, conns,
                         least=SETUP if func is connections else RATE)
        self.func = func
        self.is_translated = is_translated


# Rates


def trips(w):
    w.serve(w.a, f"exec {small()} server {PORT}", PORT)
    rounds, us = map(int, w.client(
        f"{small()} pingpong {w.a.ip} {PORT} {1000 * w.seconds}").split()[:2])
    return rounds * 1e6 / us, "1/s", ""


def connections(w):
    w.serve(w.a, f"exec {small()} server {PORT}", PORT)
    rounds, us = map(int, w.client(
        f"{small()} connect {w.a.ip} {PORT} {1000 * w.seconds}").split()[:2])
    return rounds * 1e6 / us, "1/s", ""


def requests(w):
    """Requests on 1,000 open connections, the second time that all have sent some."""
    n = 20000 * w.seconds
    w.serve(w.a, f"exec {small()} hold {PORT}", PORT)
    began, ended = map(int, w.client(
        f"echo | {small()} crowd {w.a.ip} {PORT} {n} 1000 | "
        "while read -r total; do date +%s%N; done").split())
    return n * 1e9 / (ended - began), "1/s", ""


def fan_out(w):
    w.serve(w.a, f"exec {small()} broker {PORT} {READERS}", PORT)
    got, us = map(int, w.client(
        f"{small()} fan {w.a.ip} {PORT} {1000 * w.seconds} {READERS}").split())
    return got / us, "MB/s", ""


def redis(clients):
    def run(w):
        w.serve(w.a, "exec redis-server --port 6379 --bind 0.0.0.0 --protected-mode no "
                "--save '' --appendonly no", 6379)
        out = w.client(f"redis-benchmark -h {w.a.ip} -t set -c {clients} "
                       f"-n {(1500 if clients == 1 else 4000) * w.seconds} --csv")
        return rows.number(r'^"SET","([\d.]+)"', out), "1/s", ""
    return run


def pgbench(w):
    """Queries by primary key; the tables are made once in a boot."""
    rows.postgres(w)
    if w.a.run("[ -e /tmp/pg/filled ]", check=False).rc:
        w.client(f"{rows.PG}/pgbench -h {w.a.ip} -U postgres -i -q -s 1 postgres")
        w.a.run("touch /tmp/pg/filled")
    return *rows.pgbench(w, "-S -c 4 -j 1"), ""


def iperf(flags):
    def run(w):
        w.serve(w.a, "exec iperf3 -s -p 5201 --forceflush", 5201)
        out = json.loads(w.client(f"iperf3 -c {w.a.ip} -p 5201 -t {w.seconds} -J {flags}"))
        if "error" in out:
            raise Failed(f"iperf3: {out['error']}")
        return out["end"]["sum_received"]["bits_per_second"] / 1e6, "Mbit/s", ""
    return run


RATES = (
    ("round trips, 64 B", trips, 1),
    ("connections", connections, 20),
    ("redis SET, 1 client", redis(1), 1),
    ("redis SET, 64 clients", redis(64), 64),
    ("memcached, memcslap", rows.memcached, 8),
    ("nginx, wrk, 10 KB", rows.nginx_keepalive, 8),
    ("nginx, wrk, a connection each", rows.nginx_close, 20),
    ("pgbench -S, 4 clients", pgbench, 4),
    ("sockperf, 64 B", rows.sockperf, 1),
    ("sockperf, 1400 B stream", rows.sockperf_stream, 1),
    ("iperf3", iperf(""), 2),
    ("iperf3 -Z", iperf("-Z"), 2),
    (f"fan-out to {READERS} readers", fan_out, READERS + 1),
    ("requests, 1000 clients", requests, 1000),
)


def counts():
    return [
        LocalCount("round trip 64 B", "server {port} 64", "rounds {ip} {port} {n} 64", 2000,
                   least=TRIP),
        LocalCount("round trip 64 KiB", "server {port} 65536", "rounds {ip} {port} {n} 65536",
                   200),
        LocalCount("writes of 64 B", "sink {port}", "stream {ip} {port} {n} 64", 20000,
                   least=SMALL),
        LocalCount("writes of 64 B, coalesced", "sink {port}", "stream {ip} {port} {n} 64 delay",
                   20000),
        LocalCount("writes of 1 KiB", "sink {port}", "stream {ip} {port} {n} 1024", 8000),
        LocalCount("writes of 64 KiB", "sink {port}", "stream {ip} {port} {n} 65536", 800,
                   least=LARGE),
        LocalCount("writes of 64 KiB, zero copy", "sink {port}",
                   "stream {ip} {port} {n} 65536 zerocopy", 800, RATED),
        LocalCount("writes of 1 MiB", "sink {port}", "stream {ip} {port} {n} 1048576", 48),
        LocalCount("connections, one host", "server {port}", "turns {ip} {port} {n}", 400,
                   NO_PIPES, least=SETUP),
        LocalCount("connections, 64 at once", "hold {port}", "waves {ip} {port} {n} 64", 640,
                   NO_PIPES, least=SETUP),
        LocalCount("requests of 64 clients", "hold {port}", "crowd {ip} {port} {n} 64", 4000,
                   NO_PIPES),
        LocalCount("requests of 1000 clients", "hold {port}", "crowd {ip} {port} {n} 1000", 4000,
                   NO_PIPES),
    ]


def rates():
    return [Rate(*words, is_translated) for is_translated in (False, True)
            for words in RATES] + [LocalMemory("memory, idle connection")]


class End:
    """One end in the machine: its network namespace, and the address that clients use."""

    def __init__(self, vm, ip, netns=None):
        self.vm = vm
        self.ip = ip
        self.netns = netns

    def __getattr__(self, name):
        return getattr(self.vm, name)

    def spawn(self, cmd, env=None):
        if self.netns:
            cmd = ["ip", "netns", "exec", self.netns, "/bin/sh", "-c", cmd]
        return self.vm.spawn(cmd, env)

    def run(self, cmd, timeout=None, check=True, env=None):
        return self.spawn(cmd, env).wait(timeout, check)


class Counted(work.Work):
    """A row that knows what the machine executed during the last command of its client."""

    def __init__(self, snapshots, *args):
        super().__init__(*args)
        self.snapshots = snapshots
        self.counts = {}

    def client(self, cmd, env=None):
        before = self.snapshots()
        out = super().client(cmd, env)
        self.counts = {name: insns.Counts(before[name], now)
                       for name, now in self.snapshots().items()}
        return out


class Ends:
    """Both ends, server A and client B."""

    def __init__(self, vm, is_translated):
        self.a, self.b = (End(vm, SERVICE, "c2"), End(vm, CLIENT, "c1")) if is_translated \
            else (End(vm, HERE),) * 2

    def stats(self):
        """The module's counters, as sums of the namespaces."""
        out = {}
        for netns in {self.a.netns, self.b.netns}:
            for name, value in self.a.vm.stats(netns).items():
                out[name] = out.get(name, 0) + value
        return out


class Within(Runs):
    """The sides of one machine, which is A of the pair."""

    machines = {"a": ENDS}
    modules = ("memory",)
    own = "memory"
    guards = GUARDED
    detailed = ("round trip 64 B", "writes of 64 B", "writes of 64 KiB", "connections, one host",
                "requests of 64 clients")
    shows_least = True
    suffix = "-local"

    def __init__(self, pair, args):
        super().__init__(pair, args, counts() if args.count else rates())
        self.vm = pair.a
        self.options = " --local" + " --count" * args.count
        self.name = "counts-local" if args.count else "rates-local"
        self.preload = {"LD_PRELOAD": "/host" + kernel.preload_library()}
        self.on_lo = Ends(self.vm, False)
        self.translated = Ends(self.vm, True)
        self.files = None
        # loads modules, whose signatures take the kernel a while, before the first test
        self.vm.run("ss -ltx")
        if any(isinstance(t, Rate) for t in self.tests):
            self.files = work.Files(self.on_lo, 1, self.vm.limit)
            # from memory: a file of the host would be read for each request
            self.vm.run(f"cd {rows.FILES} && cp -L 10k copy && mv copy 10k")
            self.vm.run(JOIN)

    def has_least(self, test):
        return test.least is not None

    def is_complete(self):
        return all(v is not None for t in self.tests for s in self.args.sides
                   for v in self.values[t.name][s])

    def summary(self):
        """What each test costs or reaches, as a table of Markdown."""
        return self.summary_of_counts() if self.args.count else self.summary_of_rates()

    def summary_of_counts(self):
        """The last column but one is memory's share of TCP's instructions."""
        rows = [[t.name, text(1 / t.least, 2),
                 *(t.event(s, ENDS, insns.INSNS) for s in self.args.sides),
                 *(t.event("memory", ENDS, name) for name in (insns.MODULE, "bh locks")),
                 self.share(t)]
                for t in self.counted()]
        return markdown(["Instructions for one", "at most", *self.args.sides, insns.MODULE,
                         "bh locks", "memory : tcp"], rows)

    def details(self, test):
        """As for two machines, without the events of adapters, which do not happen here."""
        rows = [[name, *(test.event(s, ENDS, name) for s in filter(test.runs_on, self.args.sides))]
                for name in insns.COLUMNS]
        return markdown(["For one", *filter(test.runs_on, self.args.sides)],
                        [row for row in rows if any(row[1:])])

    def share(self, test):
        ratio = self.ratio(test, "memory")
        return 1 / ratio if ratio else None

    def summary_of_rates(self):
        rows = [[t.name, t.unit, *(self.middle(t, s) for s in self.args.sides),
                 self.ratio(t, "memory")] for t in self.tests]
        return markdown(["Rate", "unit", *self.args.sides, "times TCP's"], rows)

    def load(self, side):
        self.pair.load("a", SIDES[side], DEFAULT)
        if SIDES[side] != "none":
            for setting in self.args.sysctl:
                self.vm.run(f"sysctl -qw {setting}")
        self.read_symbols()

    def translate(self, side):
        """Translate the service's address, and let memory links cross namespaces."""
        self.vm.run(TRANSLATE)
        for name in ("c1", "c2") if side == "memory" else ():
            self.vm.run(f"ip netns exec {name} sysctl -qw net.smc.memory=2")

    def play(self):
        if self.args.count:
            super().play()
            return
        # the sides of a test follow each other, so that the host's load affects both
        for _ in range(self.args.rounds):
            for test in self.tests:
                for side in filter(test.runs_on, self.args.sides):
                    self.load(side)
                    self.try_one(test, side)

    def measure(self, test, side):
        is_translated = isinstance(test, Rate) and test.is_translated
        ends = self.translated if is_translated else self.on_lo
        before, cpu = self.counters(ends, side), self.cpu_seconds()
        if is_translated:
            self.translate(side)
        try:
            value = self.run_rate(test, side, ends) if isinstance(test, Rate) \
                else self.run_small(test, side)
        finally:
            if is_translated:
                self.vm.run("nft delete table ip service")
        cpu = self.cpu_seconds() - cpu
        now = self.counters(ends, side)
        grown = {name: now[name] - before[name] for name in now}
        print(f"{side:6}  {test.name:40} {value:9.1f} {test.unit:14} {cpu:6.2f} s of cpu "
              f"{grown or ''}", file=sys.stderr, flush=True)
        self.prove(test, side, grown)
        return value

    def counters(self, ends, side):
        """How many connections of each kind there were, {} without the module."""
        if side != "memory":
            return {}
        stats = ends.stats()
        if "client_memory" not in stats:
            raise Failed("not available: this module has no memory links")
        return {name: stats[name] for name in ("client_memory", "server_memory", "client_smc",
                                               "client_tcp", "server_tcp")}

    def prove(self, test, side, grown):
        """Raise unless the connections of a test were memory links, all of them."""
        if side != "memory":
            return
        if min(grown["client_memory"], grown["server_memory"]) < test.conns:
            raise Failed(f"{test.conns} connections, memory links were {grown}")
        if grown["client_tcp"] or grown["server_tcp"]:
            raise Failed(f"some connections fell back: {grown}")

    def run_rate(self, test, side, ends):
        w = Counted(self.snapshots if self.args.functions else dict, ends, self.files,
                    self.args.seconds, "smc" if side == "memory" else "tcp")
        try:
            value, test.unit, _ = test.func(w)
            for name, counts in w.counts.items():
                # an instruction is a nanosecond; the start of the client is in it, too
                self.print_functions(test, side, {name: counts}, value * counts.total / 1e9)
        except AssertionError as error:
            raise Failed(str(error)) from None
        finally:
            w.stop()
        return value

    def run_small(self, test, side):
        """Run small.c in one machine; return the result."""
        env = self.preload if side == "memory" else None
        server, client = test.commands(side)
        server = self.vm.spawn(f"exec {server}", env)
        try:
            self.vm.run(f"until {self.listens(side)}; do sleep 0.1; done")
            client = self.vm.spawn(f"exec {client}", env)
            if isinstance(test, Count):
                return self.run_count(test, side, client)
            return self.run_memory(client)
        finally:
            if server.rc is None:
                server.kill(15)
            server.wait(10, check=False)
            self.vm.run(f"rm -f {PLACES['pipe']}.*")

    @staticmethod
    def listens(side):
        """A command that succeeds if the server is there."""
        if side == "pipe":
            return f"[ -p {PLACES['pipe']}.1 ]"
        if side == "unix":
            return "ss -Hlx | grep -q @small"
        return f"ss -Hltn 'sport = :{PORT}' | grep -q ."

    def run_memory(self, client):
        values = []
        for number in (IDLE, 2 * IDLE):
            client.expect_out(rf"^{number}$")
            values.append(self.used())
            client.write("\n" * (number == IDLE))
        client.close_stdin()
        client.wait()
        return (values[1] - values[0]) / IDLE
