# SPDX-License-Identifier: GPL-2.0
"""What stands between two hosts costs a connection no more than on TCP, or only the first one.

A BPF program of the client's control group exchanges the address of connect().
Afterwards both hosts use TCP where SMC does not work, and only there.

covers: OPT-03 OPT-08
"""
import errno
import os
import socket

import bpf
from common import serve
from rawpeer import RawHost

timeout = 90
PORT = 5410
GROUP = "/sys/fs/cgroup/middleboxes"
REPEATER, NOWHERE = "10.43.0.77", "10.43.0.99"
POLICY = 0x03f00000
GREETING, REQUEST, ANSWER = b"220 ready\r\n", b"PING\r\n", b"PONG\r\n"


def ask(h, port, times=1, addr=None):
    """Connections one after the other, each with a request; the errno of each, or 0."""
    out = []
    for _ in range(times):
        try:
            with h.connect(port, addr=addr) as s:
                h.equal(h.recv_exact(s, len(GREETING)), GREETING, "greeting")
                s.sendall(REQUEST)
                h.equal(h.recv_exact(s, len(ANSWER)), ANSWER, "answer")
            out.append(0)
        except OSError as e:
            out.append(e.errno)
    return out


def stay(h, port, addr=None):
    """A connection with a request now and one later."""
    s = h.connect(port, addr=addr)
    h.request(s)
    h.mark("connected")
    h.gate("ask")
    h.request(s, 1000, 50_000)
    h.finish(s)


def redirected(h, port, to, times):
    """ask() from a control group whose program exchanges the address."""
    os.makedirs(GROUP, exist_ok=True)
    with open(f"{GROUP}/cgroup.procs", "w", encoding="ascii") as f:
        f.write(str(os.getpid()))
    where = os.open(GROUP, os.O_RDONLY | os.O_DIRECTORY)
    bpf.attach(bpf.go_elsewhere(socket.inet_aton(to)), where, bpf.AT_CONNECT4)
    return ask(h, port, times, NOWHERE)


def repeater(h, port, times):
    """A host that repeats the option of each SYN, and answers with text."""
    host = RawHost(ip=REPEATER)
    host.listen(port)
    h.mark("listening")
    offers = []
    for _ in range(times):
        conn = host.accept(port, h.left())
        offers.append(conn.peer_offers_smc)
        conn.send(GREETING)
        if conn.recv(len(REQUEST), h.within(20)) == REQUEST:
            conn.send(ANSWER)
        conn.ended(h.within(20))
        conn.close()
    return offers


def redirects(t, port):
    """A BPF program exchanges the address: memory and policy are asked for the final one."""
    t.step(redirects.__doc__)
    s = t.half(t.a, repeater, port=port, times=4)
    s.expect("listening")
    c = t.half(t.b, redirected, port=port, to=REPEATER, times=4)
    t.wait_all(c, s)
    t.equal(c.value, [errno.ECONNRESET, 0, 0, 0], "connections to a service that repeats options")
    t.equal(s.value, [True, False, False, False], "offers")
    s = t.half(t.a, serve, port=port + 1)
    s.expect("listening")
    for rule, reason in ((NOWHERE, None), (t.a.ip, POLICY)):
        t.run_smc(t.b, f"policy add tcp connect peer {rule}")
        c = t.half(t.b, redirected_stay, port=port + 1, to=t.a.ip)
        t.expect_all("connected", c)
        t.mode(t.b, "TCP" if reason else "SMC-R", port + 1, reason=reason)
        c.gate("ask")
        t.wait_all(c)
        t.run_smc(t.b, "policy flush")
    s.gate("stop")
    t.wait_all(s)


def redirected_stay(h, port, to):
    redirected(h, port, to, 0)
    stay(h, port, NOWHERE)


def run(t):
    if t.family != "smc":
        return
    t.no_groups()
    for vm in (t.a, t.b):
        t.set(vm, peer_memory_ms=60000)
    t.b.run("mountpoint -q /sys/fs/cgroup || mount -t cgroup2 none /sys/fs/cgroup")
    try:
        redirects(t, PORT + 3)
    finally:
        for vm in (t.a, t.b):
            if vm.alive():
                t.run_smc(vm, "policy flush")
                vm.run(f"rmdir {GROUP}", check=False)
