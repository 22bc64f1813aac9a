# SPDX-License-Identifier: GPL-2.0
"""redis-server and redis-benchmark run unmodified, with 1, 16 and 64 clients.

covers: GEN-01 API-03
"""
import re

kernels = ("stock", "debug")
timeout = 60
PORT = 6379


def run(t):
    env = t.preload()
    s = t.a.spawn(f"exec redis-server --port {PORT} --bind 0.0.0.0 --protected-mode no "
                  "--save '' --appendonly no --daemonize no", env)
    s.expect_out("Ready to accept connections")
    for clients in (1, 16, 64):
        n = t.pick(2000, 300) * (1 if clients == 1 else 2)
        t.rdma_start()
        c = t.b.spawn(f"redis-benchmark -h {t.a.ip} -p {PORT} -t set,get -n {n} "
                      f"-c {clients} --csv", env)
        c.wait(t.left())
        rates = dict(re.findall(r'^"(SET|GET)","([\d.]+)"', c.out, re.M))
        t.equal(sorted(rates), ["GET", "SET"], f"result {c.out!r} {c.err!r}")
        if t.family == "smc":
            t.check(t.rdma_packets(t.a) >= n, "too few RDMA packets")
        t.note(f"{clients} clients SET {rates['SET']} GET {rates['GET']}")
    out = t.b.run(f"redis-cli -h {t.a.ip} -p {PORT} dbsize", env=env).out
    t.equal(out.strip(), "1", "keys")
    out = t.b.run(f"head -c 300001 /dev/zero | tr '\\0' x | redis-cli -h {t.a.ip} "
                  f"-p {PORT} -x set big && redis-cli -h {t.a.ip} -p {PORT} strlen big",
                  env=env).out
    t.equal(out.split(), ["OK", "300001"], "a large value")
    s.kill(15)
    s.wait(t.left())
    t.no_sockets(t.b, PORT)
