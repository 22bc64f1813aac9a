# SPDX-License-Identifier: GPL-2.0
"""The scripts for bpftrace print what happened, and a plot of counters is a PNG.

covers: API-01
"""
import os
import re
import signal

kernels = ("stock",)
dialects = (0,)
timeout = 120
PORT, TCP_PORT = 5840, 5841


def client(h, port):
    s = h.connect(port)
    s.sendall(b"x")
    h.mark("connected")
    h.gate("end")
    s.close()


def traced(t, name):
    """Output of a script during a connection on SMC, and one that becomes TCP."""
    from smcvm import kernel
    path = os.path.join(kernel.TOP, "Documentation/examples/monitoring", name)
    p = t.b.spawn(f"exec bpftrace {t.guest_path(path)}")
    p.expect_out("Attaching .* probes", t.left())
    # the probes are there some time after that line
    t.wait(lambda: "bpftrace" in t.b.run("cat /sys/kernel/tracing/events/smc/*/enable | "
                                         "grep -q 1 && echo bpftrace", check=False).out,
           "the probes", 60)
    for port in (PORT, TCP_PORT):
        c = t.half(t.b, client, port=port)
        c.expect("connected")
        t.mode(t.b, "SMC-R" if port == PORT else "TCP", port)
        c.gate("end")
        t.wait_all(c)
    p.kill(signal.SIGINT)
    p.wait(check=False)
    return p.out


def run(t):
    from smcvm import kernel
    servers = [t.a.spawn(f"exec nc -lk {PORT} </dev/null", t.preload()),
               t.a.spawn(f"exec nc -lk {TCP_PORT} </dev/null")]
    t.wait(lambda: t.a.run("ss -tlnH").out.count(":584") >= 2, "servers", 20)
    out = traced(t, "smc-handshake.bt")
    t.check(re.search(r"@microseconds\[client, 1\]: \n\[", out), out)
    out = traced(t, "smc-fallback.bt")
    t.check("client   50397184=0x03010000 0x00000000" in out, out)
    t.check("@fallbacks[client, 50397184]: 1" in out, out)
    tool = t.guest_path(kernel.user_tool("smc"))
    t.b.run(f"{tool} stats --plot /tmp/run.png --time 2")
    t.equal(t.b.run("od -An -tx1 -N24 /tmp/run.png | tr -d ' \\n'").out,
            "89504e470d0a1a0a0000000d49484452" + f"{840:08x}{720:08x}", "head of the PNG")
    for s in servers:
        s.kill()
        s.wait(check=False)
