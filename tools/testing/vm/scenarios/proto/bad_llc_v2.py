# SPDX-License-Identifier: GPL-2.0
"""LLC messages of version 2 with wrong counts and lengths cost only the link that they came on.

The relay overwrites the bytes and corrects the checksums. In first contact that link is the
only one, so the connection does not use RDMA. Later, connections go on over the other link,
and the lost link comes back.

covers: ERR-43 ERR-50 ERR-53 ERR-54 ADDL-03 RKEY-22
"""
import errno

from common import requests, serve_any, stays
from streams import client, server  # noqa: F401, the halves

nics = 2
ipv = (4,)
dialects = (0,)
timeout = 240
PORT = 5390
SIZE = 16_384
EID = "SMC-BENCH.BAD-LLC"
ADD_LINK, REQ_ADD_LINK, CONFIRM_RKEY = 2, 5, 6
RESET = (errno.ECONNRESET, errno.ETIMEDOUT, errno.ECONNABORTED, errno.EPIPE)

# of ADD LINK, request or reply; one key is in it, counted at 70
ADD_LINKS = {"no key": "70:0000", "two keys": "70:0200", "65535 keys": "70:ffff",
             "257 keys": "70:0101", "length 0": "1:0000", "length 44": "1:2c00",
             "length 65535": "1:ffff", "one byte less": "1:57", "version 1": "0:02"}
REQUESTS = {"no GID": "24:00", "three GIDs": "24:03", "255 GIDs": "24:ff",
            "length 28": "1:1c00", "length 65535": "1:ffff"}
RKEYS = {"no other link": "4:00", "two other links": "4:02", "255 other links": "4:ff",
         "a link that is none": "17:ee", "length 45": "1:2d"}


def one(h, port, **kw):
    """Make one connection; return its errno or 0."""
    try:
        s = h.connect(port, **kw)
        h.request(s, 3000, 3000)
        h.finish(s)
        return 0
    except OSError as e:
        return e.errno


def changed(t, what, **rule):
    """Change the next message of a kind; return a function that tests for the change."""
    t.step(what)
    r = t.relay.rule(count=1, **rule)
    return lambda: t.relay.hits(r)[1] == 1


def good(t, what, port):
    """The next connection has a link group of two links."""
    from smcvm.links import active
    c = t.half(t.b, stays, port=port)
    c.expect("connected", t.left())
    t.mode(t.b, "SMC-R", port)
    t.wait(lambda: [len(active(vm)) for vm in (t.a, t.b)] == [2, 2],
           f"{what}: two links of the next group", 30)
    c.gate("end")
    t.wait_all(c)
    t.equal(c.value, 0, f"{what}: errno of the next connection")


def first_contacts(t):
    """ADD LINK from either side."""
    for frm in "ab":
        for name, what in ADD_LINKS.items():
            name = f"ADD LINK of {frm}: {name}"
            t.no_groups()
            was = changed(t, name, llc=ADD_LINK, frm=frm, set=what)
            vm, stat = (t.b, "client_smc") if frm == "a" else (t.a, "server_smc")
            before = t.stat(vm, stat)
            s = t.half(t.a, serve_any, port=PORT)
            s.expect("listening")
            c = t.half(t.b, one, port=PORT)
            t.wait_all(c)
            t.check(was(), f"{name}: no message was changed")
            t.relay.unrule()
            t.check(c.value == 0 or c.value in RESET, f"{name}: errno {c.value}")
            t.equal(t.stat(vm, stat), before, f"{name}: connections over SMC-R")
            good(t, name, PORT)
            s.gate("stop")
            t.wait_all(s)


def asked(t):
    """REQ ADD LINK, where a client has an RNIC more."""
    from smcvm.links import active, add, delete
    for name, what in REQUESTS.items():
        name = f"REQ ADD LINK: {name}"
        t.no_groups()
        for vm in (t.a, t.b):
            delete(vm, 1)
        s = t.half(t.a, serve_any, port=PORT)
        s.expect("listening")
        c = t.half(t.b, stays, port=PORT)
        c.expect("connected", t.left())
        t.wait(lambda: [len(active(vm)) for vm in (t.a, t.b)] == [1, 1], "one link", 20)
        was = changed(t, name, llc=REQ_ADD_LINK, frm="b", set=what)
        add(t, t.b, 1)
        t.wait(was, f"{name}: a message to be changed", 20)
        t.relay.unrule()
        c.gate("more")
        t.wait_all(c)
        t.check(c.value in RESET, f"{name}: errno {c.value}")
        add(t, t.a, 1)
        good(t, name, PORT)
        s.gate("stop")
        t.wait_all(s)


def later(t):
    """CONFIRM RKEY from either side, which costs a link and nothing else."""
    from smcvm.links import Streams
    t.no_groups()
    x = Streams(t, PORT + 1, 1)
    x.have(2)
    # a size that has no RMB yet, and none any more the next time
    machines = (t.a, t.b)
    for vm in machines:
        t.set(vm, rmb_idle_ms=500)
    usual = [t.memory_regions(vm) for vm in machines]
    for frm in "ab":
        for name, what in RKEYS.items():
            name = f"CONFIRM RKEY of {frm}: {name}"
            down, up = x.least("link_down"), x.least("link_up")
            was = changed(t, name, llc=CONFIRM_RKEY, frm=frm, at="3:00",
                          set=what)
            s = t.half(t.a, serve_any, port=PORT, rcvbuf=SIZE if frm == "a" else 0)
            s.expect("listening")
            c = t.half(t.b, one, port=PORT, rcvbuf=SIZE if frm == "b" else 0)
            t.wait_all(c)
            t.check(was(), f"{name}: no message was changed")
            t.relay.unrule()
            t.check(c.value == 0 or c.value in RESET, f"{name}: errno {c.value}")
            t.wait(lambda: x.least("link_down") > down, f"{name}: a link to be lost", 20)
            x.more()
            t.wait(lambda: x.least("link_up") > up, f"{name}: another link", 30)
            x.have(2)
            t.wait_all(t.half(t.b, requests, port=PORT))
            s.gate("stop")
            t.wait_all(s)
            t.wait(lambda: [t.memory_regions(vm) for vm in machines] == usual,
                   f"{name}: end of the RMB", 20)
    x.stop()


def run(t):
    if t.family != "smc":
        return
    from smcvm.links import several
    several(t)
    for vm in (t.a, t.b):
        t.ueid(vm, EID)
    try:
        first_contacts(t)
        asked(t)
        later(t)
    finally:
        t.relay.unrule()
        for vm in (t.a, t.b):
            if vm.alive():
                t.ueid(vm, "--flush")
