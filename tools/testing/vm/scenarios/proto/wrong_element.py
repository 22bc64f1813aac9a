# SPDX-License-Identifier: GPL-2.0
"""Writes and messages with an element, key or area of another owner harm only their sender.

Only their connection ends, or its link. The next connection works, and a connection that
uses TCP still carries every byte.

covers: RMB-06 RMB-16 RMB-17 RMB-29 RMB-30 RMB-31 RMB-33 RKEY-24 SEC-03 ERR-13
"""
import errno
import os

from common import requests, serve_any

timeout = 70
TOLD = (errno.ECONNRESET, errno.ECONNABORTED, errno.EPIPE)
WRITE_ONLY, RC_ACK, RST = 0x0a, 0x11, 4
REMOTE_ACCESS_ERROR = "62"  # NAK code 2 in the AETH


def one(h, port, size=100, gates=()):
    """A connection that asks at once and after each gate; its errno or 0."""
    s = h.connect(port)
    try:
        if size:
            h.request(s, size, size)
        for gate in gates:
            h.mark("before " + gate)
            h.gate(gate)
            h.request(s, 100, 100)
            h.mark("after " + gate)
        h.finish(s)
        return 0
    except OSError as e:
        return e.errno


class Scene:
    """A server on A, a first connection that stays, and counters."""

    def __init__(self, t, port):
        self.t, self.port = t, port
        t.no_groups()
        t.relay.unrule()
        self.server = t.half(t.a, serve_any, port=port)
        self.server.expect("listening")

    def connect(self, **kw):
        return self.t.half(self.t.b, one, port=self.port, **kw)

    def next_one_works(self):
        t = self.t
        t.relay.unrule()
        t.wait_all(t.half(t.b, requests, port=self.port, back=30000))
        t.rdma_start()
        t.wait_all(t.half(t.b, requests, port=self.port, back=30000))
        t.carried(t.a, 30000)

    def end(self, *procs):
        for p in procs:
            p.gate("end")
        self.t.wait_all(*procs)
        self.server.gate("stop")
        self.t.wait_all(self.server)


def damaged_eye_catcher(t):
    """A WRITE four bytes too low: RFC dialect only, the other has nothing there."""
    sc = Scene(t, 5220)
    keep = sc.connect(gates=["end"])
    t.expect_all("before end", keep)
    bad = t.stat(t.a, "eyecatcher_bad")
    # the first byte of the ring has the address of the element plus 4
    r = t.relay.rule(proto="roce", opcode=WRITE_ONLY, frm="b", count=1, set="7:00")
    # the writer's own RST, if it sees the error before the server's RST leaves
    reset = t.relay.rule(proto="tcp", flags=RST)
    c = sc.connect()
    t.wait_all(c)
    t.equal(t.relay.hits(r)[1], 1, "WRITEs moved onto the eye catcher")
    t.check(c.value in TOLD, f"writer over the eye catcher ended with {c.value}")
    t.check(t.stat(t.a, "eyecatcher_bad") > bad, "no damaged eye catcher was counted")
    t.check(any("eye catcher is" in line for line in t.a.dmesg()), "nothing in the log")
    t.wait(lambda: t.relay.hits(reset)[0], "RST on TCP", 10)
    t.relay.unrule()
    keep.gate("end")
    t.wait_all(keep)
    t.equal(keep.value, 0, "the connection beside it")
    sc.next_one_works()
    sc.end()


def element_in_use(t):
    """A Confirm that names the element of a connection: the older one goes."""
    sc = Scene(t, 5221)
    keep = sc.connect(gates=["end"])
    t.expect_all("before end", keep)
    # of the client's next RMB the first element is named as the second
    r = t.relay.rule(clc=3, frm="b", count=1, set="45:02")
    reset = t.relay.rule(proto="tcp", frm="a", flags=RST)
    old = sc.connect(size=0, gates=["go"])
    t.expect_all("before go", old)
    t.equal(t.relay.hits(r)[1], 1, "Confirms changed")
    conflicts = t.stat(t.a, "rmbe_conflict")
    young = sc.connect(size=5000, gates=["end"])
    t.expect_all("before end", young)
    t.equal(t.stat(t.a, "rmbe_conflict"), conflicts + 1, "conflicts counted")
    t.wait(lambda: t.relay.hits(reset)[0], "RST for the old connection", 10)
    t.check(sc.server.expect("broken")["errno"] in TOLD, "the server got no error")
    old.gate("go")
    t.wait_all(old)
    t.check(old.value in TOLD, f"the old connection ended with {old.value}")
    sc.end(keep, young)
    t.equal([keep.value, young.value], [0, 0], "the connections beside it")


def unknown_rmb(t):
    """An Accept with a key that was never announced: out of sync, so TCP."""
    sc = Scene(t, 5222)
    keep = sc.connect(gates=["go"])
    t.expect_all("before go", keep)
    r = t.relay.rule(clc=2, frm="a", count=1, xor="41:01")
    said = t.relay.rule(clc=4, frm="b", at="7:18")
    c = sc.connect(size=50000)
    t.wait_all(c)
    t.equal(t.relay.hits(r)[1], 1, "Accepts changed")
    t.equal(c.value, 0, "the connection with the unknown key")
    t.equal(t.relay.hits(said)[0], 1, "Declines with S = 1")
    keep.gate("go")
    t.wait_all(keep)
    sc.next_one_works()
    sc.end()


def foreign_key(t):
    """A WRITE with the key of another link group's RMB goes nowhere."""
    from smcvm import frames as wire
    sc = Scene(t, 5223)
    t.set(t.a, smcr_max_conns_per_lgr=1)
    path = os.path.join(t.pair.dir, "keys.pcap")
    t.relay.capture(path)
    mine = sc.connect(gates=["go"])
    t.expect_all("before go", mine)
    yours = sc.connect(gates=["go", "end"])
    t.expect_all("before go", yours)
    t.relay.capture(None)
    t.restore("smcr_max_conns_per_lgr")
    acc = [hs.accept for hs in wire.handshakes(wire.read(path), sc.port)]
    t.equal([a.first_contact for a in acc], [True, True], "two first contacts")
    t.check(acc[0].rkey != acc[1].rkey, "both groups have the same key")
    token = {"proto": "roce", "opcode": WRITE_ONLY, "frm": "b"}
    r = t.relay.rule(**token, at=f"8:{acc[0].rkey.hex()}", count=1,
                     set=f"0:{acc[1].payload[52:60].hex()}{acc[1].rkey.hex()}")
    nak = t.relay.rule(proto="roce", opcode=RC_ACK, frm="a", at=f"0:{REMOTE_ACCESS_ERROR}")
    mine.gate("go")
    t.wait_all(mine)
    t.equal(t.relay.hits(r)[1], 1, "WRITEs with the other group's key")
    t.check(t.relay.hits(nak)[0], "no NAK for a foreign key")
    t.check(mine.value in TOLD, f"the connection with the foreign key: {mine.value}")
    # nothing was written there, so that stream is whole
    yours.gate("go")
    t.expect_all("after go", yours)
    t.mode(t.b, "SMC-R", sc.port)
    sc.end(yours)
    t.equal(yours.value, 0, "the connection whose key it was")


def stale_token(t):
    """A CDC for a connection that does not exist is dropped, the rest goes on."""
    sc = Scene(t, 5224)
    keep = sc.connect(gates=["end"])
    t.expect_all("before end", keep)
    before = t.stat(t.a, "cdc_no_conn")
    c = sc.connect(gates=["go", "end"])
    t.expect_all("before go", c)
    r = t.relay.rule(cdc=1, frm="b", count=1, xor="4:80")
    c.gate("go")
    t.wait(lambda: t.stat(t.a, "cdc_no_conn") == before + 1, "CDC without connection", 10)
    t.equal(t.relay.hits(r)[1], 1, "CDC messages with another token")
    keep.gate("end")
    t.wait_all(keep)
    t.equal(keep.value, 0, "the connection beside it")
    c.kill()
    c.wait(t.left(), check=False)
    sc.next_one_works()
    sc.end()


def run(t):
    if t.family != "smc":
        return
    for vm in (t.a, t.b):
        t.set(vm, close_timeout_ms=2000 * t.slow, immediate_data=0)
    cases = [element_in_use, unknown_rmb, foreign_key, stale_token]
    for case in ([damaged_eye_catcher] if t.dialect else []) + cases:
        t.step(case.__doc__)
        case(t)
