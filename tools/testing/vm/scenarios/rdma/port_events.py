# SPDX-License-Identifier: GPL-2.0
"""Another link is added when its RNIC becomes active, without a periodic retry.

With llc_add_link_retry_ms 0 only the event adds a link. The timers of exchanges are longer
than the scenario, so a stalled exchange cannot help. On either side in turns the RNIC is
removed and added, its network interface goes down and up, and its address is replaced.
The scenario reports the time from the active port to the link.

covers: ERR-58 ERR-59 ADDL-01 ADDL-06
"""
import re

from streams import client, server  # noqa: F401, the halves

nics = 2
timeout = 400
PORT = 5370


def tell_time(t, vm, what):
    """How long a link on rxe1 has taken, by the log of the machine that got the port.

    soft-RoCE may say twice that the port is active: the first time since the step began. On 7.3
    the core of verbs says it where only the interface was down.
    """
    log = vm.run("dmesg").out.rpartition("smc-bench: ")[2]
    port, link = (float(re.search(r"\[ *([\d.]+)\] " + line, log)[1]) for line in
                  ("[^\n]*rxe1: (?:set active|Port: 1 Link ACTIVE)",
                   "smc: link group .* is up on rxe1 "))
    t.check(port <= link, f"{what}: a link {port - link:.2f} s before the port was active")
    t.note(f"{what}: {link - port:.2f} s")


def readdress(t, x, vm, old, new):
    """Replace the address that a link has, the new one being there before the old one goes."""
    was_down = x.least("link_down")
    # or the new one went with the old one, which came first
    vm.run("sysctl -qw net.ipv4.conf.eth1.promote_secondaries=1; "
           f"ip addr add 10.43.1.{new}/24 dev eth1; ip addr del 10.43.1.{old}/24 dev eth1")
    t.wait(lambda: x.least("link_down") > was_down, f"link of address {old} to go down", 15)
    x.have(2)
    x.more()


def begin(t, port):
    """Streams in a group of their own.

    Links that live for less than llc_reply_ms are soon added no more for a while; a group
    takes as many as one machine's turn has. A link that is lost for another reason than
    what the scenario does never comes back: that takes a link older than llc_reply_ms, or
    llc_add_link_retry_ms. So silence loses none: a busy host can stop a machine for
    longer than RNICs and TEST LINK wait by default.
    """
    from smcvm.links import NEVER, Streams, several
    several(t, llc_add_link_retry_ms=0, llc_reply_ms=NEVER, llc_delete_link_ms=NEVER,
            smcr_testlink_time=0, rdma_ack_exponent=20, rdma_retries=6)
    return Streams(t, port)


def turn(t, x, vm):
    """All that may happen to an RNIC of machine VM."""
    from smcvm.links import add, card_up, delete
    x.have(2)
    x.more()
    t.step(f"{vm.name} loses an RNIC and gets it back")
    delete(vm, 1)
    x.have(1)
    add(t, vm, 1)
    x.have(2)
    tell_time(t, vm, f"RNIC of {vm.name}")
    x.more()
    t.step(f"the same with a network interface of {vm.name}")
    vm.run("ip link set eth1 down")
    x.have(1)
    card_up(t, vm, 1)
    x.have(2)
    tell_time(t, vm, f"interface of {vm.name}")
    x.more()
    t.step(f"another address for a network interface of {vm.name}")
    readdress(t, x, vm, vm.number, 100 + vm.number)
    readdress(t, x, vm, 100 + vm.number, vm.number)
    x.stop()


def run(t):
    if t.family != "smc":
        return
    from smcvm.links import add, delete
    for vm in (t.a, t.b):
        delete(vm, 1)
    x = begin(t, PORT)
    x.have(1)
    t.step("a second RNIC at both")
    add(t, t.a, 1)
    add(t, t.b, 1)
    turn(t, x, t.a)
    turn(t, begin(t, PORT + 1), t.b)
