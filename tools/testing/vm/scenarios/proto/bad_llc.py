# SPDX-License-Identifier: GPL-2.0
"""LLC messages with a changed field, and lost ones, in first contact are handled as required.

The relay overwrites the bytes and corrects the checksums. Each case has the answer of
RFC 7609 appendix C; after each of them the next connection works.

covers: ERR-43 ERR-44 ERR-54 ERR-55
"""
import errno

from common import requests, serve

timeout = 80
CONFIRM_LINK, ADD_LINK = 1, 2
RESET = (errno.ECONNRESET, errno.ETIMEDOUT, errno.ECONNABORTED, errno.EPIPE)

# name: (rule, what may come of the connection: "smc", "tcp", "error")
CASES = {
    "wrong GID in CONFIRM LINK": ({"llc": CONFIRM_LINK, "frm": "a", "xor": "20:ff"}, {"tcp"}),
    "wrong QP in CONFIRM LINK": ({"llc": CONFIRM_LINK, "frm": "a", "xor": "28:0f"}, {"tcp"}),
    "wrong MAC in the reply": ({"llc": CONFIRM_LINK, "frm": "b", "xor": "5:ff"},
                               {"tcp", "error"}),
    "wrong length of CONFIRM LINK": ({"llc": CONFIRM_LINK, "frm": "a", "set": "1:2b"},
                                     {"tcp", "error"}),
    "unknown type": ({"llc": CONFIRM_LINK, "frm": "a", "set": "0:0f"}, {"tcp", "error"}),
    "bad MTU in ADD LINK": ({"llc": ADD_LINK, "frm": "a"}, {"smc"}),
    "ADD LINK reply nobody asked for": ({"llc": ADD_LINK, "frm": "a", "set": "3:80"},
                                        {"tcp", "error"}),
}


def one(h, port):
    """Make one connection; return its errno or 0."""
    try:
        s = h.connect(port)
        h.request(s, 3000, 3000)
        h.finish(s)
        return 0
    except OSError as e:
        return e.errno


def run(t):
    if t.family != "smc":
        return
    port = 5130
    for name, (rule, want) in CASES.items():
        t.step(name)
        t.no_groups()
        port += 1
        if "MTU" in name:
            rule = dict(rule, set="30:06" if t.dialect else "32:06")
        r = t.relay.rule(count=1, **rule)
        s = t.half(t.a, serve, port=port)
        s.expect("listening")
        t.rdma_start()
        c = t.half(t.b, one, port=port)
        t.wait_all(c)
        t.equal(t.relay.hits(r)[1], 1, f"{name}: messages changed")
        t.relay.unrule()
        before = t.rdma_packets(t.a)
        # 3000 bytes take three data packets and their answers
        got = "error" if c.value else "smc" if before > 12 else "tcp"
        t.check(c.value == 0 or c.value in RESET, f"{name}: errno {c.value}")
        t.check(got in want, f"{name}: the connection became {got} "
                f"({before} RDMA packets), want {want}")
        t.wait_all(t.half(t.b, requests, port=port, back=50000))
        t.rdma_start()
        t.wait_all(t.half(t.b, requests, port=port, back=50000))
        t.carried(t.a, 50000)
        s.gate("stop")
        s.wait(t.left())
        t.note(f"{name}: {got}")
