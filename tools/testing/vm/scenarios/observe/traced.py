# SPDX-License-Identifier: GPL-2.0
"""The scripts for bpftrace print what happened.

covers: API-01
"""
import os
import re

kernels = ("stock",)
dialects = (0,)
timeout = 120
PORT, TCP_PORT = 5840, 5841
CLIENTS = "/tmp/clients"


def traced(t, name):
    """Output of a script about the connections of CLIENTS, which start when it is attached."""
    from smcvm import kernel
    path = os.path.join(kernel.TOP, "Documentation/examples/monitoring", name)
    return t.b.run(f"bpftrace -c '/bin/sh {CLIENTS}' {t.guest_path(path)}", timeout=t.left()).out


def run(t):
    from smcvm import kernel
    servers = [t.a.spawn(f"exec nc -lk {PORT} </dev/null", t.preload()),
               t.a.spawn(f"exec nc -lk {TCP_PORT} </dev/null")]
    t.wait(lambda: t.a.run("ss -tlnH").out.count(":584") >= 2, "servers", 20)
    tool = t.guest_path(kernel.user_tool("smc"))
    # one on SMC, and one that becomes TCP
    lines = [f"echo x | {tool} run timeout 30 nc -N {t.a.ip} {port}" for port in (PORT, TCP_PORT)]
    t.b.run("\n".join([f"cat >{CLIENTS} <<E", *lines, "E"]))
    out = traced(t, "smc-handshake.bt")
    t.check(re.search(r"@microseconds\[client, 1\]: \n\[", out), out)
    out = traced(t, "smc-fallback.bt")
    t.check("client   50397184=0x03010000 0x00000000" in out, out)
    t.check("@fallbacks[client, 50397184]: 1" in out, out)
    for s in servers:
        s.kill()
        s.wait(check=False)
