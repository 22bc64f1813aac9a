# SPDX-License-Identifier: GPL-2.0
"""An adapter that an operator stops or removes gives up its links; its driver can go and come.

Checked streams go on meanwhile: over the other link, and in TCP when the last link goes. A stopped
adapter is shown, takes no new connection, and serves again after its start, or when its driver has
brought it back.

covers: LGT-04 GEN-07
"""
import json

from common import requests, serve
from streams import client, server  # noqa: F401, the halves

nics = 2
timeout = 240
soft_roce = "its module is unloaded and loaded"
PORT = 5760
STOPPED = "an operator has stopped it"
UNFIT = 0x03f30000


def shown(t, vm, i):
    """RNIC I in `smc devices`: why it does not serve, and its links."""
    listed = json.loads(vm.run(f"{t.smc} devices -j").out)["devices"]
    found = [d for d in listed if d["name"] == f"rxe{i}"]
    t.equal(len(found), 1, f"lines of rxe{i}: {listed}")
    return found[0].get("unfit"), found[0]["port1"]["links"]


def stop(t, vm, *which):
    for i in which:
        t.run_smc(vm, f"devices stop rxe{i} --wait 30")
        t.equal(shown(t, vm, i), (STOPPED, 0), f"rxe{i} of {vm.name}, stopped")


def exchange(t, vm):
    """The driver of the RNICs goes and comes; those that it brings are in use."""
    from smcvm.links import add, delete
    for i in (0, 1):
        delete(vm, i)
    vm.run("modprobe -r rdma_rxe && modprobe rdma_rxe")
    for i in (0, 1):
        add(t, vm, i)
        t.equal(shown(t, vm, i), (None, 0), f"a new rxe{i}")


def moves(t):
    from smcvm.links import Streams
    for vm in (t.a, t.b):
        t.step(f"{vm.name} stops and starts one of two")
        x = Streams(t, PORT)
        x.have(2)
        stop(t, vm, 1)
        x.have(1)
        t.note(f"connections move in {x.more():.2f} s")
        t.equal(t.stat(vm, "landed"), 0, "landed")
        out = t.run_smc(vm, "devices stop rxe1", status=1)
        t.check("no device of that name is in use" in out.err, out.err)
        t.run_smc(vm, "devices start rxe1")
        x.have(2)
        x.spread()
        x.stop()
        out = t.run_smc(vm, "devices start rxe1", status=1)
        t.check("no device of that name is stopped" in out.err, out.err)


def lands(t, what, how, port):
    """All connections of the streams go on in TCP when HOW takes the RNICs away."""
    from smcvm.links import Streams
    t.step(what)
    was = [t.stat(vm, "landed") for vm in (t.a, t.b)]
    x = Streams(t, port)
    x.have(2)
    how()
    t.wait(lambda: all(t.stat(vm, "landed") == n + x.count for vm, n in zip((t.a, t.b), was)),
           f"{what}: all connections in TCP", 30)
    t.note(f"{what}: {x.more():.2f} s")
    for vm in (t.a, t.b):
        t.mode(vm, "TCP", port, x.count)
    return x


def plain(t):
    """Nothing is left to use: a connection is TCP at once."""
    was = t.stat(t.b, "client_tcp")
    t.both(serve, requests, PORT + 1, sargs={"count": 1}, cargs={"n": 1})
    t.equal(t.stat(t.b, "client_tcp"), was + 1, "connections on TCP")
    listed = json.loads(t.b.run(f"{t.smc} history -j").out)["history"]
    return t.reason(listed[-1])


def run(t):
    from smcvm import kernel
    from smcvm.links import add, delete, several
    t.smc = t.guest_path(kernel.user_tool("smc"))
    several(t, landing=1, peer_memory_ms=0)
    moves(t)
    x = lands(t, "both are stopped", lambda: stop(t, t.b, 0, 1), PORT + 2)
    t.equal(plain(t), UNFIT, "why it is TCP")
    exchange(t, t.b)
    x.more()
    x.stop()
    x = lands(t, "both are removed", lambda: [delete(t.a, i) for i in (0, 1)], PORT + 3)
    for i in (0, 1):
        add(t, t.a, i)
    x.stop()
    t.step("new connections use SMC again")
    t.both(serve, requests, PORT + 4, sargs={"count": 1}, cargs={"n": 1})
