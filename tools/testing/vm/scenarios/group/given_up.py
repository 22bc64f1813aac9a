# SPDX-License-Identifier: GPL-2.0
"""Streams leave a link that is being deleted when the peer has processed their messages.

The peer's reply to TEST LINK shows that. The wire drops this reply until the scenario has
checked that there is no validation message on the other link and no DELETE LINK for this
one. This holds for the side that deletes the link, and for the peer after the request.

covers: FAIL-10 FAIL-18 FAIL-19 DELL-05 DELL-10
"""
from streams import client, server  # noqa: F401, the halves

nics = 2
timeout = 120
DELETE_LINK, TEST_LINK = 4, 7
F = "24:08"
REPLY = "3:80"


def segment(link):
    return int(link.device[-1])


def busy(vm):
    """Its active link with the most connections."""
    from smcvm.links import active
    return max(active(vm), key=lambda x: x.conns)


def give_up(t, port, who, silent):
    """Delete a link on the side WHO; the side SILENT waits for the reply of the other side."""
    from smcvm import links
    # the RNIC has to go on with the answer for as long as it takes to look
    links.several(t, llc_delete_link_ms=links.NEVER, llc_add_link_retry_ms=0, rdma_retries=6)
    # one on each link, and no kind of stream that says little
    x = links.Streams(t, port, 2)
    x.have(2)
    x.spread()
    link = busy(who)
    other = t.b if silent is t.a else t.a
    was_down = x.least("link_down")
    held = t.relay.rule(seg=segment(link), frm=other.name, llc=TEST_LINK, at=REPLY, drop=1)
    moved = t.relay.rule(frm=silent.name, cdc=1, at=F)
    said = t.relay.rule(frm=silent.name, llc=DELETE_LINK)
    t.equal(links.give_up(who, link.num), link.device, "the RNIC of the link")
    t.wait(lambda: t.relay.hits(held)[1], f"{silent.name}: a question on the link", 20)
    t.equal(t.relay.hits(moved)[0], 0, f"{silent.name}: validations before the answer")
    t.equal(t.relay.hits(said)[0], 0, f"{silent.name}: DELETE LINK before the answer")
    t.relay.unrule(held)
    t.wait(lambda: x.least("link_down") > was_down, "end of the link", 30)
    x.have(1)
    x.more()
    t.check(t.relay.hits(moved)[0], f"{silent.name}: no validation")
    t.check(t.relay.hits(said)[0], f"{silent.name}: no DELETE LINK")
    for rule in (moved, said):
        t.relay.unrule(rule)
    x.stop()


def run(t):
    if t.family != "smc":
        return
    port = 5590
    for who in (t.a, t.b):
        for silent in (t.a, t.b):
            # a deployed server is not made to wait for long
            if silent is t.b and who is t.a and not t.dialect:
                continue
            t.step(f"{who.name} deletes a link, {silent.name} waits")
            give_up(t, port, who, silent)
            port += 1
