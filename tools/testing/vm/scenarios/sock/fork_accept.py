# SPDX-License-Identifier: GPL-2.0
"""A child process made after accept() serves the connection; two processes share one socket.

covers: GEN-03
"""
import os

N = 150_001


def child(func):
    """Run FUNC in a forked process; returns its pid."""
    pid = os.fork()
    if not pid:
        code = 1
        try:
            func()
            code = 0
        finally:
            os._exit(code)
    return pid


def ended(h, pid, what):
    _, status = os.waitpid(pid, 0)
    h.equal(status, 0, f"exit status of {what}")


def server(h, port):
    ls = h.listen(port)
    for _ in range(5):
        c = h.accept(ls)

        def serve():
            ls.close()
            h.recv_stream(c, N, 1)
            h.send_stream(c, N, 2)
            h.finish(c)

        pid = child(serve)
        c.close()
        ended(h, pid, "the serving child")
    c = h.accept(ls)
    # the child sends, the parent receives, on one socket
    pid = child(lambda: h.send_stream(c, N, 2))
    h.recv_stream(c, N, 1)
    ended(h, pid, "the sending child")
    h.finish(c)


def client(h, port):
    for _ in range(5):
        s = h.connect(port)
        h.send_stream(s, N, 1)
        h.recv_stream(s, N, 2)
        h.finish(s)
    s = h.connect(port)
    h.both_ways(s, N, 1, N, 2)
    h.finish(s)


def run(t):
    t.rdma_start()
    t.both(server, client, 5015)
    t.carried(t.a, 6 * N)
    t.carried(t.b, 6 * N)
    t.no_sockets(t.a, 5015)
