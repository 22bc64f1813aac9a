# SPDX-License-Identifier: GPL-2.0
"""`smc drain` lets new connections use TCP and waits for the end of those on SMC.

Then the module can be replaced. A new one, or `smc drain --undo`, uses SMC again. Only root of
the host may do that.
"""
import errno
import json

import netns
from common import stream_client, stream_server

kernels = ("stock", "debug")
dialects = (0,)
ipv = (4,)
timeout = 120
N = 100_003
PARAMETER = "/sys/module/smc/parameters/drain"
DRAIN, POLICY, PEERNOSMC = 0x03F10000, 0x03F00000, 0x03010000


def start(t, port):
    s = t.half(t.a, stream_server, port=port, n_in=N, n_out=N)
    s.expect("listening", t.left())
    c = t.half(t.b, stream_client, port=port, n_in=N, n_out=N)
    t.expect_all("moved", s, c)
    return s, c


def end(t, halves):
    for half in halves:
        half.gate("end")
    t.wait_all(*halves)


def talk(t, port, a, b):
    """One connection; (mode, reason) of each machine."""
    halves = start(t, port)
    for vm, (mode, reason) in ((t.a, a), (t.b, b)):
        t.mode(vm, mode, port, 1, reason)
    end(t, halves)


def write(h):
    h.raises("a write to the parameter", errno.EACCES, open, PARAMETER, "w")


def owner(h):
    netns.apart(h, write)


def refused(t):
    """A user, and the owner of a namespace, do not change it."""
    t.run_smc(t.a, "drain", 1, "setpriv --reuid 1000 --regid 1000 --clear-groups")
    t.wait_all(t.half(t.a, owner))
    for words in ("--wait x", "--wait -1", "-u -w 1", "now"):
        t.run_smc(t.a, f"drain {words}", 2)
    t.equal(t.a.run(f"cat {PARAMETER}").out.strip(), "N", "drain")


def switched_off(t):
    """net.smc.enable, of the server, then of both; a namespace is off with the first one."""
    t.a.run("sysctl -qw net.smc.enable=0")
    talk(t, 6005, ("TCP", POLICY), ("TCP", PEERNOSMC))
    t.b.run("sysctl -qw net.smc.enable=0")
    talk(t, 6006, ("TCP", POLICY), ("TCP", POLICY))
    out = t.run_smc(t.b, f"check {t.a.ip}", 1).out
    t.check("net.smc.enable is 0" in out, out)
    t.b.run("ip netns add inner && ip -n inner link set lo up")
    t.equal(within(t, "inner"), ["TCP", "TCP"], "in a namespace below one that is off")
    for vm in (t.a, t.b):
        vm.run("sysctl -qw net.smc.enable=1")
    t.equal(within(t, "inner"), ["memory", "memory"], "in a namespace")
    t.b.run("ip netns del inner")


def within(t, name):
    """The modes of a connection within a namespace."""
    server = t.b.spawn(f"exec ip netns exec {name} nc -l 6007 </dev/null", t.preload())
    inside = f"ip netns exec {name}"
    t.wait(lambda: ":6007" in t.b.run(f"{inside} ss -tlnH").out, "a listener", 20)
    client = t.b.spawn(f"sleep 60 | exec {inside} nc 127.0.0.1 6007", t.preload())

    def listed():
        out = t.run_smc(t.b, "list -j state active", who=inside).out
        return [s["mode"] for s in json.loads(out)["sockets"]]
    t.wait(lambda: len(listed()) == 2, "both ends", 20)
    modes = listed()
    for process in (client, server):
        process.kill()
        process.wait(check=False)
    return modes


def run(t):
    from smcvm import kernel
    t.smc = t.guest_path(kernel.user_tool("smc"))
    smc_both = ("SMC-R", None), ("SMC-R", None)
    t.step(refused.__doc__)
    refused(t)
    t.step("a connection remains, new ones are TCP")
    halves = start(t, 6000)
    t.mode(t.a, "SMC-R", 6000)
    out = t.run_smc(t.b, "drain --wait 0", 1).out
    t.check("1 connections of this host are left, and 1 link groups" in out, f"what is left: {out!r}")
    talk(t, 6001, ("TCP", PEERNOSMC), ("TCP", DRAIN))
    t.run_smc(t.b, "drain --undo")
    t.run_smc(t.a, "drain --wait 0", 1)
    talk(t, 6002, ("TCP", DRAIN), ("TCP", PEERNOSMC))
    t.mode(t.b, "SMC-R", 6000)
    t.step("the end of the last one")
    waits = t.a.spawn([t.smc, "drain", "--wait", "100"])
    end(t, halves)
    t.wait_all(waits)
    t.run_smc(t.a, "drain --undo")
    talk(t, 6003, *smc_both)
    t.step(switched_off.__doc__)
    switched_off(t)
    t.step("another module")
    t.run_smc(t.a, "drain --wait 100")
    t.no_sockets(t.a, 6003)
    t.reload(t.a)
    t.equal(t.a.run(f"cat {PARAMETER}").out.strip(), "N", "drain")
    talk(t, 6004, *smc_both)
