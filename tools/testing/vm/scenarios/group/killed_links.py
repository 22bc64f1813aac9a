# SPDX-License-Identifier: GPL-2.0
"""A machine is killed while a link is added or deleted or an RMB announced: at each
message of the exchange, its sender or its receiver (at three without --long).

The wire drops the message, then the machine is killed. The other machine resets its
connections, frees their resources, and fails to connect as TCP does. After the killed
machine has booted again there is SMC over two links.

covers: PEER-02 PEER-03 PID-06 ERR-29 ERR-30 ERR-33 ERR-39 ERR-40 LG-05
"""
from common import ask_once, knock, serve_till_lost  # noqa: F401, halves
from streams import client, server  # noqa: F401, halves

nics = 2
timeout = 900
PORT = 5355
FEW = (0, 3, 9)      # phases of the short run: ADD LINK, DELETE LINK, CONFIRM RKEY


def fails_as_tcp(t, what, vm):
    """A new connection to the killed machine fails with the same errno as a TCP one."""
    vm.run("ip neigh flush dev eth0")
    new = [t.half(vm, knock, port=PORT, family=f) for f in ("smc", "tcp")]
    t.wait_all(*new)
    t.check(new[1].value, f"{what}: TCP has connected to a machine that is not there")
    t.equal(new[0].value, new[1].value, f"{what}: errno of connect()")


def one(t, phase, victim):
    from smcvm.phases import Stand, links_tell
    x = Stand(t, phase, PORT, f"{victim.name} killed", **links_tell(phase))
    survivor = t.a if victim is t.b else t.b
    took = x.reset(survivor, victim.destroy)
    base = t.pair.rdma_base[survivor.name]
    t.wait(lambda: [y for y in t.pair.rdma_objects(survivor) if y not in base] == [],
           f"{x.what}: end of all that the group had", 20)
    fails_as_tcp(t, x.what, survivor)
    t.relay.unrule()
    if survivor is t.a:
        x.stop()
    t.reboot(victim)
    x.forget()
    return took


def run(t):
    if t.family != "smc":
        return
    from smcvm.links import Streams, several
    from smcvm.phases import phases
    both = (t.a, t.b)
    took = []
    # each phase has one of them, for a boot takes long; the other dialect has the other
    for k, phase in enumerate(phases(t)):
        if t.long or k in FEW:
            took.append(one(t, phase, both[(k + t.dialect) % 2]))
    several(t)
    x = Streams(t, PORT + 2)
    x.have(2)
    x.more()
    x.stop()
    t.note(f"connections were reset within {max(took):.1f} s")
