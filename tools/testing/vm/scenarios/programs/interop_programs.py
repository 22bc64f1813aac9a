# SPDX-License-Identifier: GPL-2.0
"""iperf3 and redis run unmodified with the distribution's module at the other end.

covers: GEN-01 GEN-04 API-01
"""
import json
import re

kernels = ("stock",)
dialects = (0,)
sides = ("ours", "stock")
timeout = 120
PORT = 5201
REDIS = 6379


def refused(t):
    """Messages for which a side had no receive (receiver not ready), of A and of B."""
    return [t.rdma_packets(vm, "rcvd_rnr_err") for vm in (t.a, t.b)]


def iperf3(t, env):
    s = t.a.spawn(f"exec iperf3 -s -p {PORT} --forceflush", env)
    s.expect_out("Server listening")
    for name, flags in {"to server": "", "from server": "-R", "four streams": "-P 4"}.items():
        t.rdma_start()
        c = t.b.spawn(f"iperf3 -c {t.a.ip} -p {PORT} -t 2 {flags} -J", env)
        for vm in (t.a, t.b):
            t.mode(vm, "SMC-R", PORT, 5 if "-P" in flags else 2)
        c.wait(t.left())
        end = json.loads(c.out)
        t.check("error" not in end, f"{name}: {end.get('error')}")
        got = end["end"]["sum_received"]
        t.check(got["bytes"] > 100_000, f"{name}: {got['bytes']} bytes only")
        t.carried(t.a if flags == "-R" else t.b, got["bytes"])
        t.note(f"{name} {got['bits_per_second'] / 1e6:.0f} Mbit/s, RNR {refused(t)}")
    s.kill()
    s.wait(t.left(), check=False)


def redis(t, env):
    s = t.a.spawn(f"exec redis-server --port {REDIS} --bind 0.0.0.0 --protected-mode no "
                  "--save '' --appendonly no --daemonize no", env)
    s.expect_out("Ready to accept connections")
    for clients in (1, 64):
        n = 1000
        t.rdma_start()
        c = t.b.spawn(f"redis-benchmark -h {t.a.ip} -p {REDIS} -t set,get -n {n} "
                      f"-c {clients} --csv", env)
        c.wait(t.left())
        rates = dict(re.findall(r'^"(SET|GET)","([\d.]+)"', c.out, re.M))
        t.equal(sorted(rates), ["GET", "SET"], f"result {c.out!r} {c.err!r}")
        t.check(t.rdma_packets(t.a) >= n, "too few RDMA packets")
        t.note(f"{clients} clients SET {rates['SET']} GET {rates['GET']}, RNR {refused(t)}")
    s.kill(15)
    s.wait(t.left())


def run(t):
    env = t.preload()
    for sides_now in (("ours", "stock"), ("stock", "ours")):
        t.strangers(sides_now)
        t.note(" and ".join(sides_now))
        iperf3(t, env)
        redis(t, env)
        for vm in (t.a, t.b):
            t.no_sockets(vm, PORT)
            t.no_sockets(vm, REDIS)
