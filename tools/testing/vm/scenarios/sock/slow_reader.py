# SPDX-License-Identifier: GPL-2.0
"""A sender blocks when the reader stops, and continues when the reader does.

covers: BLK-02 BLK-04 CUR-07 TX-09
"""
import select

from halves import Pattern

TOTAL = 900_001
RING = 65536


def reader(h, port):
    ls = h.listen(port, rcvbuf=RING)
    c = h.accept(ls)
    for stop in range(3):
        h.gate("read")
        h.recv_stream(c, TOTAL // 3, 1, start=stop * (TOTAL // 3))
    h.recv_stream(c, TOTAL - TOTAL // 3 * 3, 1, start=TOTAL // 3 * 3)
    h.finish(c)


def writer(h, port):
    """Send without waiting; mark each time that the ring is full."""
    s = h.connect(port, sndbuf=RING)
    s.setblocking(False)
    pat, off, stuck = Pattern(1), 0, 0
    while off < TOTAL:
        try:
            off += s.send(pat.at(off, min(20011, TOTAL - off)))
        except BlockingIOError:
            r, w, _ = select.select([], [s], [], 1.5)
            if not w:
                stuck += 1
                h.mark("stuck", off=off)
                select.select([], [s], [], h.left())
    s.setblocking(True)
    h.finish(s)
    return stuck


def run(t):
    t.rdma_start()
    s = t.half(t.a, reader, port=5013)
    s.expect("listening")
    c = t.half(t.b, writer, port=5013)
    done = 0
    for stop in range(3):
        m = t.expect_all("stuck", c)[0] if stop < 2 else None
        if m:
            t.check(m["off"] < done + TOTAL // 3 + 4 * RING, f"sent too far ahead: {m}")
            done += TOTAL // 3
        s.gate("read")
    t.wait_all(s, c)
    t.carried(t.b, TOTAL)
