# SPDX-License-Identifier: GPL-2.0
"""An adapter that tells nothing of its port, loses completions, or loses its address for a while.

The model of an RNIC takes the part of hns, whose driver sends no event of a port. Without IPv6 no
GID changes with the carrier either. Only the network device shows that a port is down, or up again.
An adapter keeps the GID of its queue pairs: connections survive that the address is removed and
added again. One that completes nothing any more is removed all the same.

covers: ERR-12
"""
import errno

from common import drink, pour_server, requests, serve
from streams import client, server  # noqa: F401, the halves

kernels = ("stock",)
rnic = "hns"
timeout = 200
PORT = 5390
TOLD = (errno.ECONNRESET, errno.ECONNABORTED, errno.ETIMEDOUT, errno.EPIPE)
DEBUG = "/sys/kernel/debug/rnic/rxe0/fault"


def address_back(t):
    from smcvm.links import Streams
    t.step("addresses go and come back")
    x = Streams(t, PORT)
    x.have(1)
    lost = [t.stat(vm, "link_down") for vm in (t.a, t.b)]
    for vm in (t.a, t.b):
        own = f"{vm.ip}/24 dev eth0"
        # one process: a slow machine takes seconds to start a second one
        vm.run(f"printf 'addr del {own}\\naddr add {own}\\n' | ip -batch -")
        t.pair.wait_gid(vm, 0)
        x.more()
    t.equal([t.stat(vm, "link_down") for vm in (t.a, t.b)], lost, "links that were lost")
    x.stop()


def load(t, port):
    s = t.half(t.a, pour_server, port=port)
    s.expect("listening")
    c = t.half(t.b, drink, port=port)
    t.expect_all("flowing", c)
    t.mode(t.b, "SMC-R", port, 1)
    return s, c


def ended(t, procs):
    t.wait_all(*procs)
    for p in procs:
        t.check(p.value in TOLD, f"{p} ended with {p.value}")


def no_carrier(t):
    t.step("a port goes down and comes up without an event")
    procs = load(t, PORT + 1)
    lost = t.stat(t.b, "link_down")
    t.b.run("ip link set eth0 down")
    t.wait(lambda: t.stat(t.b, "link_down") > lost, "the link to end", 10)
    t.b.run("ip link set eth0 up")
    t.restore("rdma_ack_exponent")
    ended(t, procs)
    # the other side may not have noticed yet, ERR-13; the next step finds the port active
    t.both(serve, requests, PORT + 2, sargs={"count": 1}, cargs={"n": 1})


def dead(t):
    t.step("an adapter that completes nothing is removed")
    procs = load(t, PORT + 4)
    t.a.write(DEBUG, "dead 1")
    t.a.run("rdma link delete rxe0")
    ended(t, procs)
    t.a.run("rdma link add rxe0 type rxe netdev eth0")
    t.pair.wait_gid(t.a, 0)
    t.both(serve, requests, PORT + 5, sargs={"count": 1}, cargs={"n": 1})


def run(t):
    from smcvm.links import several
    for vm in (t.a, t.b):
        vm.run("sysctl -qw net.ipv6.conf.eth0.disable_ipv6=1")
        t.set(vm, peer_memory_ms=1)
    # the adapters do not notice, nor does TEST LINK
    several(t, links=1, smcr_testlink_time=0, rdma_ack_exponent=20, rdma_retries=6)
    address_back(t)
    no_carrier(t)
    dead(t)
