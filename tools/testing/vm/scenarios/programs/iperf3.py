# SPDX-License-Identifier: GPL-2.0
"""iperf3 runs unmodified: to and from the server, with eight streams, both ways at once.

covers: GEN-01 GEN-04 API-01
"""
import json

kernels = ("stock", "debug")
timeout = 60
PORT = 5201
RUNS = {"to server": "", "from server": "-R", "eight streams": "-P 8",
        "both ways": "--bidir"}


def run(t):
    env = t.preload()
    s = t.a.spawn(f"exec iperf3 -s -p {PORT} --forceflush", env)
    s.expect_out("Server listening")
    for name, flags in RUNS.items():
        t.rdma_start()
        c = t.b.spawn(f"iperf3 -c {t.a.ip} -p {PORT} -t 3 {flags} -J", env)
        streams = 8 if "-P" in flags else 2 if "bidir" in flags else 1
        t.mode(t.b, "SMC-R", PORT, streams + 1)
        t.mode(t.a, "SMC-R", PORT, streams + 1)
        c.wait(t.left())
        end = json.loads(c.out)
        t.check("error" not in end, f"{name}: {end.get('error')}")
        end = end["end"]
        back = end["sum_received"]["bytes"]
        t.check(back > 100_000, f"{name}: {back} bytes only")
        t.carried(t.a if flags == "-R" else t.b, back)
        if "bidir" in flags:
            back2 = end["sum_received_bidir_reverse"]["bytes"]
            t.check(back2 > 100_000, f"{name}: {back2} bytes back only")
            t.carried(t.a, back2)
        t.note(f"{name} {end['sum_received']['bits_per_second'] / 1e6:.0f} Mbit/s")
    s.kill()
    s.wait(t.left(), check=False)
    t.no_sockets(t.b, PORT)
