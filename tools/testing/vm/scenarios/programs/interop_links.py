# SPDX-License-Identifier: GPL-2.0
"""Connections work where our module and the distribution's agree on two links but have one.

That module uses other RNICs for another link only with a PNETID. Without one it accepts an
offer on the RNIC in use, which is in another subnet than ours here. So the group stays with
one link. That must cost neither time nor data: our module waits without limit for a message
that does not come.

covers: SL-12 ERR-27
"""
from common import requests, serve

kernels = ("stock",)
nics = 2
ipv = (4,)
dialects = (0,)
sides = ("ours", "stock")
timeout = 120
PORT = 5340


def run(t):
    from smcvm.links import WAITS
    n = 20
    for sides_now in (("ours", "stock"), ("stock", "ours")):
        ours, _ = t.strangers(sides_now)
        t.set(ours, smcr_max_links_per_lgr=2, llc_add_link_retry_ms=1000, **WAITS)
        for _ in range(2):
            s = t.half(t.a, serve, port=PORT, count=n)
            s.expect("listening")
            c = t.half(t.b, requests, port=PORT, n=n)
            t.wait_all(s, c)
            # the server tries again for another link meanwhile
            sent = t.stat(ours, "llc_tx")
            if ours is t.a:
                t.wait(lambda: t.stat(ours, "llc_tx") >= sent + 2, "ADD LINK again", 20)
        t.equal(t.stat(ours, "first_contact"), 1, "first contacts")
        t.equal(t.stat(ours, "subsequent_contact"), 2 * n - 1, "subsequent contacts")
        t.equal(t.stat(ours, "llc_timeout"), 0, "LLC messages that did not come in time")
        for vm in (t.a, t.b):
            t.no_sockets(vm, PORT)
