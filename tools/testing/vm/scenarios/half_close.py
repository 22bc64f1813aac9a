# SPDX-License-Identifier: GPL-2.0
"""One side ends its sending and goes on reading, in both roles.

covers: CLOSE-26
"""
import errno
import socket

N = 300_007


def sender_ends_first(h, s):
    h.send_stream(s, N, 1)
    s.shutdown(socket.SHUT_WR)
    h.raises("send after shutdown", errno.EPIPE, s.send, b"x")
    h.recv_stream(s, 2 * N, 2)
    h.at_end(s)
    s.close()


def reader_goes_on(h, s):
    h.recv_stream(s, N, 1)
    h.at_end(s)
    h.at_end(s, "end of stream, again")
    h.send_stream(s, 2 * N, 2)
    s.shutdown(socket.SHUT_WR)
    s.close()


def server(h, port, first):
    ls = h.listen(port)
    c = h.accept(ls)
    (sender_ends_first if first == "server" else reader_goes_on)(h, c)


def client(h, port, first):
    s = h.connect(port)
    (sender_ends_first if first == "client" else reader_goes_on)(h, s)


def run(t):
    for first in ("client", "server"):
        t.rdma_start()
        t.both(server, client, 5006, first=first)
        t.carried(t.a if first == "client" else t.b, 2 * N)
        t.no_sockets(t.a, 5006)
        t.no_sockets(t.b, 5006)
