# SPDX-License-Identifier: GPL-2.0
"""Runs between two machines: TCP, this module, the distribution's, and raw RDMA."""
import os
import sys

import insns
from runs import Runs
from smcvm import kernel, scenario
from smcvm.machine import Failed
from tests import BOTH, CONNECTIONS, RDMA, Burst, Count, Group, Memory, Versus
from tests import counts, small, tests

HERE = os.path.dirname(os.path.realpath(__file__))
EID = "SMC-BENCH"
DEFAULT = scenario.DIALECTS.index("v2")     # hosts in one subnet have version 2, as users have it
# The modules of each side. The distribution's is the last: it cannot always be unloaded.
# "hooked" is TCP beside a listener of SMC, where the module has its own TCP option.
SIDES = {"tcp": "none", "hooked": "own", **dict.fromkeys(RDMA, "none"), "ours": "ours",
         "stock": "stock"}
RSOCKETS = "/host/usr/lib/x86_64-linux-gnu/rsocket/librspreload.so"
FORGIVE = "/sys/module/smc_rnic/parameters/forgive"
# What COUNTS has: machines and counts of each test, those that repeat. In a stream the order of
# events decides how much one message carries, so the number of messages does not.
GUARDED = {
    "ping-pong 64 B": (BOTH, (insns.MODULE, "posts", "CQ events", "bh locks")),
    "stream 64 B, coalesced": (("client",), (insns.MODULE, "bh locks")),
    "stream 64 B": (("client",), (insns.MODULE, "bh locks")),
    "connections": (BOTH, (insns.MODULE, "posts", "bh locks")),
}


class Between(Runs):
    """The sides of two machines, the server A and the client B."""

    machines = {"b": "client", "a": "server"}
    modules = ("ours", "stock")
    own = "ours"
    guards = GUARDED

    def __init__(self, pair, args):
        super().__init__(pair, args, counts(args.rnic) if args.count else tests(args.seconds))
        self.server = pair.a
        self.client = pair.b
        self.options = " --count" + " --rnic" * bool(args.rnic)
        self.name = "counts-rnic" if args.rnic else "counts" if args.count else "rates"
        smc = "/host" + kernel.preload_library()
        self.preload = {"ours": smc, "stock": smc, "rsockets": RSOCKETS}
        self.listeners = []

    def has_least(self, test):
        return test.is_fallback()

    def load(self, side):
        for name, vm in self.pair.vms.items():
            if self.args.rnic and side == "stock":
                vm.write(FORGIVE, 1)
            self.pair.load(name, SIDES[side], DEFAULT)
            if self.args.rnic and side != "stock":
                vm.write(FORGIVE, 0)
            if side == "stock" or self.args.rnic and side == "ours":
                vm.run(f"/host{HERE}/ueid {EID}")
            if self.args.rnic and side in ("ours", "stock"):
                vm.run(f"/host{HERE}/pnetid BENCH eth0,rxe1")
            if side == "hooked":
                self.listeners.append(vm.spawn(f"exec {small()} hold 7099",
                                               {"LD_PRELOAD": self.preload["ours"]}))
                vm.run("until ss -Hltn 'sport = :7099' | grep -q .; do sleep 0.1; done")
            if side in RDMA:
                # sleep rather than poll, as everything else here does
                vm.run("modprobe rdma_ucm; mkdir -p /etc/rdma/rsocket; "
                       "echo 0 > /etc/rdma/rsocket/polling_time")
            for setting in self.args.sysctl if side == "ours" else ():
                vm.run(f"sysctl -qw {setting}")
        self.read_symbols()

    def set_sysctl(self, values):
        """Set {name: value} on both machines; return the server's old values."""
        was = {name: self.server.sysctl(name) for name in values}
        for vm in self.pair.vms.values():
            for name, value in values.items():
                vm.sysctl(name, value)
        return was

    def counters(self, test):
        """RDMA packets and signs of a bad path, as sums of both machines."""
        if test.rnics != "there":
            return {}
        each = [vm.counters("rxe1" if self.args.rnic else "rxe0")
                for vm in self.pair.vms.values()]
        return {name: sum(c[name] for c in each) for name in each[0]}

    def move_rnics(self, where):
        """Remove the RDMA devices of both machines, or add them."""
        for vm in self.pair.vms.values():
            if where == "there":
                vm.run("rdma link delete rxe9; ip link delete aside; "
                       "rdma link add rxe0 type rxe netdev eth0")
                self.pair.wait_gid(vm, 0)
                continue
            vm.run("rdma link delete rxe0")
            if where == "elsewhere":
                vm.run("ip link add aside type dummy && ip addr add 10.99.0.1/24 dev aside && "
                       "ip link set aside up && rdma link add rxe9 type rxe netdev aside")

    def run_client(self, test, side, env):
        """Run the client of a test to its end; return the result."""
        vm = self.server if test.is_local else self.client
        before = self.used() if isinstance(test, Group) else 0
        client = vm.spawn(f"exec {test.commands(side)[1]}", env)
        if isinstance(test, Memory):
            return self.run_memory(test, client, env)
        if isinstance(test, Count):
            return self.run_count(test, side, client)
        if isinstance(test, Versus):
            return self.run_versus(test, side, client)
        if isinstance(test, Group):
            client.close_stdin()
            client.wait()
            return self.used() - before
        return test.result(client.wait(client.vm.limit + 10 * self.args.seconds).out)

    def run_versus(self, test, side, client):
        out = client.wait(client.vm.limit + 10 * self.args.seconds).out
        _, tcp, mine, ratio = map(int, out.split())
        self.values[test.name]["tcp"].append(tcp)
        test.ratios.setdefault(side, []).append(ratio / 1000)
        return mine

    def run_memory(self, test, client, env):
        values = []
        for number in (CONNECTIONS, 2 * CONNECTIONS):
            client.expect_out(rf"^{number}$")
            # sock_diag answers only where the module is loaded
            smc = self.server.sockets(mode="SMC-R", sport=test.port, state="ACTIVE") if env else []
            if len(smc) != (number if env else 0):
                raise Failed(f"{len(smc)} of {number} connections are SMC")
            rings = sum(s["conn"]["sndbuf"] + s["conn"]["rcvbuf"] for s in smc)
            values.append(self.used() - (0 if test.with_rings else rings))
            client.write("\n" * (number == CONNECTIONS))
        client.close_stdin()
        client.wait()
        return (values[1] - values[0]) / CONNECTIONS

    def measure(self, test, side):
        """One result of one test; raises if the result is invalid."""
        preload = self.preload.get(side)
        env = {end: {"LD_PRELOAD": preload} if preload and end in test.ends else None
               for end in BOTH}
        if test.rnics != "there":
            self.move_rnics(test.rnics)
        if isinstance(test, (Burst, Group, Memory)):
            # connections would reuse memory that earlier tests left in the pools
            for name in self.pair.vms:
                self.pair.unload(name)
            self.load(side)
        was = self.set_sysctl(test.sysctl if side == "ours" else {})
        server = self.server.spawn(f"exec {test.commands(side)[0]}", env["server"])
        try:
            self.server.run(f"until ss -Hltn 'sport = :{test.port}' | grep -q . || "
                            f"rdma resource show cm_id | grep -q :{test.port}; do sleep 0.1; done")
            before, cpu = self.counters(test), self.cpu_seconds()
            value = self.run_client(test, side, env["client"])
            cpu = self.cpu_seconds() - cpu
            now = self.counters(test)
            rdma = {name: now[name] - before[name] for name in now if now[name] > before[name]}
        finally:
            if server.rc is None:
                server.kill(15)
            try:
                server.wait(10, check=False)
            except Failed:
                server.kill()
            if test.rnics != "there":
                self.move_rnics("there")
            self.set_sysctl(was)
        packets = rdma.pop("sent_pkts", 0)
        rdma.pop("rcvd_pkts", 0)
        print(f"{side:9}  {test.name:20} {value:9.1f} {test.unit:6} {cpu:6.2f} s of cpu "
              f"{packets:7} RDMA packets {rdma or ''}", file=sys.stderr, flush=True)
        uses_rdma = side not in ("tcp", "hooked") and not test.is_fallback()
        if (packets > test.least_packets) != uses_rdma:
            raise Failed(f"{packets} RDMA packets")
        return value

    def end_side(self):
        """End the listeners of the side "hooked"."""
        while self.listeners:
            self.listeners[-1].kill()
            self.listeners.pop().wait(10, check=False)
