# SPDX-License-Identifier: GPL-2.0
"""A machine that is paused while a link is added or deleted or an RMB announced is detected.

It is paused at each message of the exchange, as sender and as receiver (only one of them
without --long). The wire drops the message, so that both sides stay at that step. The
other machine resets its connections and frees everything; the paused one does the same when
it goes on.

covers: PEER-02 PEER-03 ERR-29 ERR-30 ERR-33 ERR-39 ERR-40 LLC-14
"""
from common import ask_once, serve_till_lost  # noqa: F401, halves
from streams import client, server  # noqa: F401, halves

nics = 2
timeout = 600
PORT = 5350


def one(t, phase, victim):
    from smcvm.phases import Stand, links_tell
    x = Stand(t, phase, PORT, f"{victim.name} frozen", **links_tell(phase))
    survivor = t.a if victim is t.b else t.b
    took = x.reset(survivor, victim.freeze)
    t.wait(lambda: not t.queue_pairs(survivor), f"{x.what}: end of the queue pairs", 20)
    t.relay.unrule()
    victim.thaw()
    t.wait_all(*x.procs)
    t.wait(lambda: not t.queue_pairs(victim), f"{x.what}: end of its queue pairs", 20)
    x.stop()
    x.forget()
    return took


def run(t):
    if t.family != "smc":
        return
    from smcvm.links import Streams, several
    from smcvm.phases import phases
    both = (t.a, t.b)
    took = []
    for k, phase in enumerate(phases(t)):
        for victim in both if t.long else both[k % 2:k % 2 + 1]:
            took.append(one(t, phase, victim))
    # all is as before
    several(t)
    x = Streams(t, PORT + 2)
    x.have(2)
    x.more()
    x.stop()
    t.note(f"connections were reset within {max(took):.1f} s")
