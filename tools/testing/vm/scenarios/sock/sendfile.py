# SPDX-License-Identifier: GPL-2.0
"""sendfile() and splice() send on the connection, not on TCP, whatever function the core calls.

Kernels before 6.5 have functions of their own for it in TCP's tables.

covers: API-08
"""
import os
import tempfile

from halves import Pattern

timeout = 60
N, PIECE = 500_000, 50_000


def server(h, port):
    c = h.accept(h.listen(port))
    h.recv_stream(c, 2 * N, 1)
    h.at_end(c)
    c.close()


def client(h, port):
    s = h.connect(port)
    pat = Pattern(1)
    data = b"".join(pat.at(off, PIECE) for off in range(0, 2 * N, PIECE))
    with tempfile.TemporaryFile() as f:
        f.write(data)
        f.flush()
        off = 0
        while off < N:
            off += os.sendfile(s.fileno(), f.fileno(), off, N - off)
        r, w = os.pipe()
        while off < 2 * N:
            n = os.splice(f.fileno(), w, min(PIECE, 2 * N - off), offset_src=off)
            off += n
            while n:
                n -= os.splice(r, s.fileno(), n)
    os.close(r)
    os.close(w)
    s.close()


def run(t):
    t.rdma_start()
    t.both(server, client, 5620)
    t.carried(t.b, 2 * N)
