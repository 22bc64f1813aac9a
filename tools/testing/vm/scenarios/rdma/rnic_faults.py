# SPDX-License-Identifier: GPL-2.0
"""What an adapter may do to payload and completions loses nothing; a crash of its firmware ends.

The model of an RNIC makes completions late and in batches, has each event twice, and places
payload in any order, and twice. Checked streams go on meanwhile. Then the firmware of each side
crashes under load: the connections end with an error at both sides. The adapter is removed and
comes back, and connections use it again. The same holds for one that has no events any more, or no
completions of sends, and is removed under load.

covers: ERR-12
"""
import errno

from common import drink, pour_server, stream_client, stream_server
from streams import client, server  # noqa: F401, the halves

kernels = ("stock", "debug")
rnic = "strictest"
timeout = 200
PORT = 5392
TOLD = (errno.ECONNRESET, errno.ECONNABORTED, errno.ETIMEDOUT, errno.EPIPE)
DEBUG = "/sys/kernel/debug/rnic/rxe0/fault"
HARMLESS = (("late_us", 3000), ("spurious", 1), ("shuffle", 1), ("twice", 1))


def harmless(t):
    from smcvm.links import Streams
    x = Streams(t, PORT)
    x.have(1)
    lost = [t.stat(vm, "link_down") for vm in (t.a, t.b)]
    for name, value in HARMLESS:
        t.step(f"streams with {name}")
        for vm in (t.a, t.b):
            vm.write(DEBUG, f"{name} {value}")
        x.more()
        x.more()
    for vm in (t.a, t.b):
        for name, _ in HARMLESS:
            vm.write(DEBUG, f"{name} 0")
    x.more()
    t.equal([t.stat(vm, "link_down") for vm in (t.a, t.b)], lost, "links that were lost")
    x.stop()


def lose(t, vm, fault, port):
    """Load the adapter of a machine, and break and replace it."""
    t.step(f"{fault} on {vm.name}")
    s = t.half(t.a, pour_server, port=port)
    s.expect("listening")
    c = t.half(t.b, drink, port=port)
    t.expect_all("flowing", c)
    t.mode(t.b, "SMC-R", port, 1)
    vm.write(DEBUG, f"{fault} 1")
    if fault == "fatal":
        t.wait_all(s, c)
    vm.run("rdma link delete rxe0")
    t.wait_all(s, c)
    for p in (s, c):
        t.check(p.value in TOLD, f"{p} ended with {p.value}")
    vm.run("rdma link add rxe0 type rxe netdev eth0")
    t.pair.wait_gid(vm, 0)
    t.in_step(stream_server, stream_client, port + 1, n_in=70_003, n_out=40_009)


def run(t):
    from smcvm.links import several
    for vm in (t.a, t.b):
        t.set(vm, peer_memory_ms=1)
    # the peer of a dead adapter learns of it by TCP, or by its own retries
    several(t, links=1)
    harmless(t)
    lose(t, t.a, "fatal", PORT + 2)
    lose(t, t.b, "fatal", PORT + 4)
    lose(t, t.a, "quiet", PORT + 6)
    lose(t, t.b, "dead_send", PORT + 8)
