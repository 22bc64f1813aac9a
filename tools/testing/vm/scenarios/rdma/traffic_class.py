# SPDX-License-Identifier: GPL-2.0
"""RDMA packets have the traffic class of the settings, or of the socket that formed the group.

Each host decides for what it sends, and acknowledges in its own class. A later connection of the
group is in that class, whatever its socket has.

covers: API-01
"""
import os
import socket

kernels = ("stock",)
dialects = (0, 2)
ipv = (4, 6)
timeout = 60
PORT = 5995
N = 20_011


def settle(h, s, tos):
    if h.v6:
        s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_TCLASS, tos)
    s.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, tos)


def server(h, port, tos):
    ls = h.listen(port, mark=False)
    settle(h, ls, tos)
    h.mark("listening")
    kept = []
    for _ in range(2):
        kept.append(h.accept(ls))
        h.both_ways(kept[-1], N, 2, N, 1)
    h.gate("end")
    for s in kept:
        h.finish(s)


def client(h, port, tos, later):
    """Two connections at a time."""
    kept = []
    for value in (tos, later):
        s = h.socket()
        settle(h, s, value)
        s.connect((h.config["peer6" if h.v6 else "peer4"], port))
        h.both_ways(s, N, 1, N, 2)
        kept.append(s)
    h.mark("moved")
    h.gate("end")
    for s in kept:
        h.finish(s)


def classes(t, name, want, tos=(0, 0)):
    """The classes of RDMA packets by host must be WANT, with sockets of TOS."""
    from smcvm import frames
    t.step(name)
    path = os.path.join(t.pair.dir, "class.pcap")
    contacts = t.stat(t.b, "first_contact")
    t.relay.capture(path)
    try:
        s = t.half(t.a, server, port=PORT, tos=tos[0])
        s.expect("listening")
        c = t.half(t.b, client, port=PORT, tos=tos[1], later=0x20)
        c.expect("moved", t.left())
        t.mode(t.b, "SMC-R", PORT, 2)
        for half in (s, c):
            half.gate("end")
        t.wait_all(s, c)
    finally:
        t.relay.capture(None)
    t.equal(t.stat(t.b, "first_contact") - contacts, 1, f"{name}: first contacts")
    found = {}
    for f in frames.read(path):
        if f.opcode is not None:
            found.setdefault(f.ether, set()).add(f.tos)
    t.equal(sorted(found.values(), key=max), [{x} for x in sorted(want)], f"{name}: classes")
    t.wait(lambda: not t.queue_pairs(t.a) + t.queue_pairs(t.b), "end of the group", 20)


def run(t):
    t.no_groups()
    classes(t, "by default", (0, 0), (0x48, 0x68))
    t.set(t.a, rdma_tos=104)
    classes(t, "one side", (0, 104))
    t.set(t.b, rdma_tos=186)
    classes(t, "both sides", (104, 186), (0x48, 0x68))
    t.set(t.a, rdma_tos=-1)
    t.set(t.b, rdma_tos=-1)
    classes(t, "of the sockets", (0x48, 0x68), (0x48, 0x68))
