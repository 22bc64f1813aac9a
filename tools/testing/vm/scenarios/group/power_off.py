# SPDX-License-Identifier: GPL-2.0
"""A machine that is switched off in good order sends DELETE LINK to its peer.

covers: PEER-01 LGT-04 LGT-05 LGT-06 LGT-07
"""
import errno

from common import keep_answering, keep_asking, requests, serve

timeout = 100
PORT = 5330
DELETE_LINK = 4
TOLD = (errno.ECONNRESET, errno.ECONNABORTED, errno.EPIPE, errno.ETIMEDOUT)


def run(t):
    if t.family != "smc":
        return
    for vm, peer, name in ((t.b, t.a, "b"), (t.a, t.b, "a")):
        t.step(f"{vm.name} is switched off")
        s = t.half(t.a, keep_answering, port=PORT)
        s.expect("listening")
        c = t.half(t.b, keep_asking, port=PORT)
        t.expect_all("connected", s, c)
        t.mode(t.a, "SMC-R", PORT)
        goodbye = t.relay.rule(llc=DELETE_LINK, frm=name, at="3:60")
        vm.power_off()
        t.check(t.relay.hits(goodbye)[0], "no DELETE LINK for all links, in good order")
        t.relay.unrule(goodbye)
        other = s if peer is t.a else c
        t.wait_all(other)
        t.check(other.value in TOLD, f"the connection of {peer.name} ended with {other.value}")
        t.wait(lambda: not t.queue_pairs(peer), "end of the queue pairs", 20)
        t.reboot(vm)
        t.no_sockets(peer, PORT)
        t.both(serve, requests, PORT + 1, sargs={"count": 3}, cargs={"n": 3})
