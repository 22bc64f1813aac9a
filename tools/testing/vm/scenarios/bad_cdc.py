# SPDX-License-Identifier: GPL-2.0
"""CDC messages with a cursor that cannot be.

The connection they are for is reset; the next one works.

covers: CUR-12
"""
import errno
import select
import threading

from common import requests

timeout = 60
TOLD = (errno.ECONNRESET, errno.ECONNABORTED, errno.EPIPE, errno.ETIMEDOUT)

# name: bytes changed in one CDC from the client
CASES = {
    "producer beyond the ring": "12:7fffffff",
    "consumer beyond the ring": "20:7fffffff",
    "producer wraps too far": "10:4000",
    "consumer ahead of what was sent": "18:4000",
    # no more than this can be said of it, so the link is out of sync (ERR-54)
    "wrong length": "1:2b",
}


def victim(h, port):
    """A connection one CDC of which gets changed; returns its errno or 0."""
    s = h.connect(port)
    h.request(s, 100, 100)
    h.mark("ready")
    h.gate("go")
    try:
        for _ in range(20):
            h.request(s, 16, 16)
        h.finish(s)
        return 0
    except OSError as e:
        return e.errno


def answer_some(h, port):
    """serve(), but a broken connection is no fault of the server."""
    ls = h.listen(port)

    def one(c):
        try:
            with c:
                h.answer(c)
        except Exception:
            pass

    while True:
        r, _, _ = select.select([ls, 0], [], [], h.left())
        if 0 in r and h.gate_open("stop"):
            return
        if ls in r:
            threading.Thread(target=one, args=(h.accept(ls),), daemon=True).start()


def run(t):
    if t.family != "smc":
        return
    for i, (name, change) in enumerate(CASES.items()):
        t.step(name)
        port = 5140 + i
        s = t.half(t.a, answer_some, port=port)
        s.expect("listening")
        c = t.half(t.b, victim, port=port)
        t.expect_all("ready", c)
        r = t.relay.rule(cdc=1, frm="b", count=1, set=change)
        c.gate("go")
        t.wait_all(c)
        t.equal(t.relay.hits(r)[1], 1, f"{name}: CDC messages changed")
        t.relay.unrule()
        t.check(c.value in TOLD, f"{name}: the connection ended with {c.value}")
        # the next one works, after first contact if the link had to go
        for vm in (t.a, t.b):
            t.set(vm, peer_memory_ms=1)
        t.wait_all(t.half(t.b, requests, port=port, back=50000))
        t.rdma_start()
        t.wait_all(t.half(t.b, requests, port=port, back=50000))
        t.carried(t.a, 50000)
        s.gate("stop")
        s.wait(t.left())
