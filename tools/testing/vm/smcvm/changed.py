# SPDX-License-Identifier: GPL-2.0
"""Changes one message of a connection, while a second connection of its group stays.

The scenario's file has the half stays() of guest/common.py.
"""


def change_one(t, client, frm="b", **how):
    """Let the half CLIENT go, and change one message of the machine FRM; returns the rule."""
    t.expect_all("ready", client)
    r = t.relay.rule(frm=frm, count=1, **how)
    client.gate("go")
    return r


class Beside:
    """A second connection of the group, silent while a message of another one is changed."""

    def __init__(self, t, port):
        self.t, self.asked = t, 0
        self.c = t.half(t.b, "stays", port=port)
        t.expect_all("connected", self.c)
        t.mode(t.b, "SMC-R", port)
        self.had = self.links()

    def links(self):
        """Counts of A and B; where no group is new all connections are in that of this one."""
        return {name: [self.t.stat(vm, name) for vm in (self.t.a, self.t.b)]
                for name in ("link_down", "lgr_new")}

    def goes_on(self, what):
        self.c.gate("more")
        self.t.expect_all(f"more{self.asked}", self.c)
        self.asked += 1
        self.t.equal(self.links(), self.had, f"{what}: links lost and groups made")

    def is_lost(self, what, errnos):
        """A has deleted the link, and this connection has ended with it, by one of ERRNOS."""
        self.c.gate("more")
        self.t.wait_all(self.c)
        self.t.check(self.c.value in errnos,
                     f"{what}: the connection beside ended with {self.c.value}")
        self.t.check(self.links()["link_down"][0] > self.had["link_down"][0],
                     f"{what}: no link is down")
