# SPDX-License-Identifier: GPL-2.0
"""Random calls on SMC sockets of both machines race with each other and break nothing.

Afterwards connections still work, the modules unload, and the debug kernel reports nothing.
SMC_FUZZ_SECONDS is the duration, SMC_FUZZ_SEED repeats the choices of a run. In the RFC
dialect connections within a machine use RDMA, too; with two processors calls run in
parallel.

covers: API-01 API-03
"""
import os
import time

from common import stream_client, stream_server

kernels = ("debug",)
vcpus = (1, 2)
timeout = 1200
N = 300_007


def machines_talk(t, port):
    """A connection made now carries data by RDMA."""
    t.rdma_start()
    t.in_step(stream_server, stream_client, port, n_in=N, n_out=N)
    for vm in (t.a, t.b):
        t.carried(vm, N)


def counted(vm):
    return dict(line.split() for line in vm.read("/proc/net/smc_stats").splitlines())


def run(t):
    plain = t.dialect == 0 and t.case.vcpus == 1
    seconds = int(os.environ.get("SMC_FUZZ_SECONDS") or (600 if plain else 200))
    if t.dialect:
        for vm in (t.a, t.b):
            t.set(vm, same_host=1)
    seed = int(os.environ.get("SMC_FUZZ_SEED") or time.time_ns() % 1_000_000)
    t.note(f"seed {seed}")
    fuzz = t.program("fuzz", "-luring")
    procs = [vm.spawn([fuzz, seed + i, seconds, vm.ip, peer.ip])
             for i, (vm, peer) in enumerate(((t.a, t.b), (t.b, t.a)))]
    tried = worked = 0
    for p in procs:
        p.wait(seconds + 200 * t.slow)
        for line in p.out.splitlines()[1:]:
            name, n, good = line.rsplit(None, 2)
            tried, worked = tried + int(n), worked + int(good)
            if t.family == "smc":
                t.check(int(good), f"no {name} of {n} succeeded: the fuzzer reaches nothing\n"
                        + p.out)
    t.note(f"{tried} calls, {worked} succeeded")
    if t.family == "smc":
        used = sum(int(counted(vm)["client_smc"]) for vm in (t.a, t.b))
        t.note(f"{used} connections used RDMA")
        t.check(used >= seconds // 10, f"only {used} connections used RDMA")
    for vm in (t.a, t.b):
        if t.family == "smc":
            t.reload(vm)
    machines_talk(t, 5999)
