# SPDX-License-Identifier: GPL-2.0
"""New connections do not use the old link groups of a peer that was killed and restarted.

The old groups are idle and send no TEST LINK, so they still exist when the peer comes back.
They end without marking the path as broken that the new groups use.

covers: PID-02 PID-06 LG-06
"""
from common import requests, serve

timeout = 90
COUNT = 3


def ask(t, port):
    """Connections in both directions, one after the other; all of them are SMC."""
    for to, frm in ((t.a, t.b), (t.b, t.a)):
        s = t.half(to, serve, port=port, count=COUNT)
        s.expect("listening")
        t.wait_all(s, t.half(frm, requests, port=port, n=COUNT, back=20_000))


def run(t):
    if t.family != "smc":
        return
    from smcvm.links import give_up, groups

    def roles():
        return {g.id: g.role for g in groups(t.a)}

    def stats():
        return {name: t.stat(t.a, name) for name in
                ("client_smc", "server_smc", "client_tcp", "server_tcp", "first_contact",
                 "peer_remembered")}

    def expect(before, what, **grown):
        now = stats()
        t.equal({name: now[name] - before[name] for name in now},
                dict.fromkeys(now, 0) | {"client_smc": COUNT, "server_smc": COUNT} | grown, what)

    t.reload(t.a, t.b)
    for vm in (t.a, t.b):
        t.set(vm, smcr_testlink_time=0)
    start = stats()
    ask(t, 5610)
    expect(start, "before", first_contact=2)
    old = roles()
    t.equal(sorted(old.values()), ["client", "server"], "groups")

    t.b.destroy()
    t.reboot(t.b)
    t.equal(roles(), old, "old groups that still exist")
    start = stats()
    ask(t, 5620)
    expect(start, "with the peer started again", first_contact=2)
    new = {n: role for n, role in roles().items() if n not in old}
    t.equal(sorted(new.values()), ["client", "server"], "new groups")

    # an operator's hand, or age: they say so to a queue pair that is no more
    for group in old:
        if group in roles():
            give_up(t.a, "all", group)
    t.wait(lambda: roles() == new, "the end of the groups of before", 20)
    start = stats()
    ask(t, 5630)
    expect(start, "when the old groups have ended")
    t.equal(roles(), new, "groups in the end")
