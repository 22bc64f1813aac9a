# SPDX-License-Identifier: GPL-2.0
"""One side ends its sending and goes on reading, in both roles.

covers: CLOSE-26
"""
from common import ends_first, goes_on

N = 300_007


def server(h, port, first):
    ls = h.listen(port)
    (ends_first if first == "server" else goes_on)(h, h.accept(ls), N)


def client(h, port, first):
    (ends_first if first == "client" else goes_on)(h, h.connect(port), N)


def run(t):
    for first in ("client", "server"):
        t.rdma_start()
        t.both(server, client, 5006, first=first)
        t.carried(t.a if first == "client" else t.b, 2 * N)
        t.no_sockets(t.a, 5006)
        t.no_sockets(t.b, 5006)
