# SPDX-License-Identifier: GPL-2.0
"""Clients that are silent after SYN, Accept or Confirm delay no other client.

Their timers are an hour, on either side, so a client that waits for one of them exceeds the
scenario's limit. Other clients connect while all three are there. The close of the listener
resets the silent clients and frees everything. A short timer ends them and leaves the
listener alone.

covers: TMR-01 TMR-04
"""
from common import requests, serve
from rawpeer import CONFIRM, RawHost

timeout = 50
N = 20
# for a client silent behind its Confirm: the RNIC would take two minutes to find no queue pair
PATIENT = {"rdma_ack_exponent": 22, "rdma_retries": 6}
ENDS = ("clc_timeout", "llc_timeout", "server_tcp", "server_failed", "server_dropped")


def silent(h, port):
    """Three peers, each silent from another step on, until they are reset."""
    hosts = [RawHost(ip=f"10.43.0.{77 + i}", mac=f"52540043777{i}") for i in range(3)]
    conns = [host.connect(h.config["peer4"], port) for host in hosts]
    for host, c in list(zip(hosts, conns))[1:]:
        c.send(host.proposal())
        msg = c.recv_clc(h.within(20))
        h.equal(msg[4:5], b"\x02", f"Accept ({msg.hex()})")
    conns[2].send(hosts[2].accept_or_confirm(CONFIRM))
    h.check(hosts[2].until(lambda: hosts[2].roce, h.left()), "no CONFIRM LINK came")
    h.mark("silent")
    ended = [c.ended(h.left() - 5) for c in conns[:2]]
    # behind a Confirm the server may fall back as well as reset
    msg = conns[2].recv_clc(h.left() - 5)
    ended.append("decline" if msg[4:5] == b"\x04" else conns[2].ended(h.left() - 5))
    conns[2].close()
    conns[2].ended(h.left() - 5)  # its end is acknowledged, too
    return ended


def closes(h, port):
    """Serve, then close the listener with handshakes under way; the process stays."""
    h.serve(port, backlog=64)
    h.mark("closed")
    h.gate("end")


def nobody_waits(t, port):
    """Other clients connect, then the listener closes, and no timer expires."""
    from smcvm.links import WAITS
    t.step(nobody_waits.__doc__)
    for vm in (t.a, t.b):
        t.set(vm, **WAITS)
    t.set(t.a, **PATIENT)
    t.no_groups()
    had = t.queue_pairs(t.a), t.memory_regions(t.a)
    s = t.half(t.a, closes, port=port)
    s.expect("listening", t.left())
    base = t.half(t.b, requests, port=port, n=N)
    t.wait_all(base)
    t.wait(lambda: t.queue_pairs(t.a) == had[0], "end of the link group", 20)
    raw = t.half(t.b, silent, port=port)
    t.expect_all("silent", raw)
    t.check(t.queue_pairs(t.a) > had[0], "no handshake has got as far as to a queue pair")
    ends = [t.stat(t.a, name) for name in ENDS]
    t.rdma_start()
    good = t.half(t.b, requests, port=port, n=N)
    t.wait_all(good)
    t.check(raw.rc is None, "the silent clients ended before the good ones")
    t.equal([t.stat(t.a, name) for name in ENDS], ends, f"ends of handshakes ({ENDS})")
    t.carried(t.a, N * 1000)
    t.note(f"slowest connect {max(good.value) * 1e3:.0f} ms, alone "
           f"{max(base.value[1:]) * 1e3:.0f} ms")
    s.gate("stop")
    s.expect("closed", t.left())
    # the scenario's time is shorter than that of any step of a handshake
    t.wait_all(raw)
    t.equal(raw.value, ["reset"] * 3, "end of clients whose listener was closed")
    t.no_sockets(t.a, port)
    t.wait(lambda: (t.queue_pairs(t.a), t.memory_regions(t.a)) == had,
           "end of all that handshakes had made", 10)
    s.gate("end")
    t.wait_all(s)
    for name in (*WAITS, *PATIENT):
        t.restore(name)


def time_is_up(t, port):
    """The listener stays, and the timers of silent clients are short."""
    t.step(time_is_up.__doc__)
    t.set(t.a, clc_timeout_ms=2000 * t.slow, peer_memory_ms=0)
    s = t.half(t.a, serve, port=port)
    s.expect("listening", t.left())
    timeouts = t.stat(t.a, "clc_timeout")
    raw = t.half(t.b, silent, port=port)
    t.wait_all(raw)
    t.equal(raw.value[:2], ["reset", "reset"], "end of those silent before the Confirm")
    t.check(raw.value[2] in ("decline", "reset"), f"silent after Confirm: {raw.value[2]}")
    t.equal(t.stat(t.a, "clc_timeout"), timeouts + 2, "clients that timed out")
    s.gate("stop")
    t.wait_all(s)
    t.no_sockets(t.a, port)


def run(t):
    nobody_waits(t, 5047)
    time_is_up(t, 5048)
