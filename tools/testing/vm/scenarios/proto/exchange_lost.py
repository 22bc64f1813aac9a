# SPDX-License-Identifier: GPL-2.0
"""An LLC exchange completes or ends although the link that carries its message fails.

The link fails at each message of adding and deleting a link and of announcing and
withdrawing an RMB (at three without --long); two other links remain. Only the initiator of
the exchange repeats a message on another link. Streams go on, new connections have their
RMB announced, and three links exist again.

covers: LLC-14 FAIL-01 FAIL-15 RKEY-05 SER-02
"""
from common import ask_once, serve_till_lost  # noqa: F401, halves
from streams import client, server  # noqa: F401, halves

nics = 3
timeout = 600
PORT = 5560
FEW = (0, 3, 9)      # phases of the short run: ADD LINK, DELETE LINK, CONFIRM RKEY


def one(t, phase):
    from smcvm.links import nimble
    from smcvm.phases import OTHER, CONFIRM_LINK, DELETE_LINK, Stand
    x = Stand(t, phase, PORT, "its link fails", links=3, end="stop", **nimble(t))
    streams = x.streams
    was_tcp = t.stat(t.b, "client_tcp")
    # one that is given up is another; what fails before it is up is not counted
    downs = {CONFIRM_LINK: 0, DELETE_LINK: 2}.get(phase[0], 1)
    t.wait(lambda: streams.least("link_down") - x.was_down >= downs,
           f"{x.what}: end of the link", 15)
    gap = streams.more()
    t.relay.unrule(x.rule)
    streams.have(3)
    # the first needs an RMB of its own if the exchange was not about that
    askers = x.procs[2:] + [t.half(t.b, "ask_once", port=x.other_port, size=OTHER)]
    for asker in askers:
        t.wait_all(asker)
        t.equal(asker.value, 0, f"{x.what}: errno of another connection")
    t.equal(t.stat(t.b, "client_tcp"), was_tcp, f"{x.what}: connections that became TCP")
    streams.stop()
    x.stop()
    x.forget()
    return gap


def run(t):
    if t.family != "smc":
        return
    from smcvm.phases import phases
    gaps = [one(t, phase) for k, phase in enumerate(phases(t)) if t.long or k in FEW]
    t.note(f"streams stood still for at most {max(gaps):.2f} s")
