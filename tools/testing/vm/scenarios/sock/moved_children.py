# SPDX-License-Identifier: GPL-2.0
"""Children that TCP moves to another listener outlive the module.

With net.ipv4.tcp_migrate_req the children that wait for accept() at a listener that ends
move to another one of its port (SO_REUSEPORT), of plain TCP or of SMC. These connections
are plain TCP, whatever ends the first listener. They work while the module is loaded and
after it is unloaded, and they do not pin it. A user without privileges does all of this
except unloading.
"""
import socket

import netns
from common import end_listeners, queue_info

timeout = 60
CLIENTS = 5
SO_MARK, MARK = 36, 7


def listener(h, addr, port, mark=0, **kw):
    ls = h.socket(v6=":" in addr, **kw)
    ls.setsockopt(socket.SOL_SOCKET, SO_MARK, mark)
    ls.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    ls.bind((addr, port))
    ls.listen(64)
    ls.settimeout(h.left())
    return ls


def talk(h, client, child):
    for out, back in (client, child), (child, client):
        out.sendall(b"and on it goes")
        h.equal(h.recv_exact(back, 14), b"and on it goes", "data")


def killed(ls):
    return end_listeners(ls.getsockname()[1], f"and fwmark = {MARK}")


def closed(ls):
    ls.close()
    return True


def shut(ls):
    ls.shutdown(socket.SHUT_RD)
    return True


def moved(h, addr, port, end, family):
    """Pairs of connected sockets, moved by END(listener) to a listener of FAMILY."""
    first = listener(h, addr, port, MARK)
    clients = [h.connect(port, addr=addr, v6=":" in addr, family="tcp")
               for _ in range(CLIENTS)]
    h.wait(lambda: queue_info(first)[1] == CLIENTS, "all in the queue")
    second = listener(h, addr, port, family=family)
    with first, second:
        if not end(first):
            return []
        children = {}
        for _ in clients:
            child, peer = second.accept()
            child.settimeout(h.left())
            children[peer] = child
    return [(c, children[c.getsockname()]) for c in clients]


def moves(h, port):
    with open("/proc/sys/net/ipv4/tcp_migrate_req", "w", encoding="ascii") as f:
        f.write("1")
    all_pairs = []
    for addr in "127.0.0.1", "::1":
        for end in killed, closed, shut:
            for family in "tcp", h.family:
                h.mark(f"{addr}, {end.__name__}, {family}")
                pairs = []
                # killed() may not find its listener
                while not pairs:
                    port += 1
                    pairs = moved(h, addr, port, end, family)
                for pair in pairs:
                    talk(h, *pair)
                all_pairs += pairs
    h.mark("moved")
    h.gate("unloaded")
    for pair in all_pairs:
        talk(h, *pair)
        for s in pair:
            s.shutdown(socket.SHUT_WR)
        for s in pair:
            h.at_end(s)
            s.close()


def user(h, port):
    netns.apart(h, moves, port)


def run(t):
    p = t.half(t.a, user, port=5370)
    t.expect_all("moved", p)
    if t.family == "smc":
        t.step("unload")
        t.pair.unload(t.a.name, True)
    p.gate("unloaded")
    t.wait_all(p)
    if t.family == "smc":
        t.load(t.a)
