# SPDX-License-Identifier: GPL-2.0
"""Clients silent after SYN, Accept and Confirm delay nobody else.

When the listener is closed they are reset at once, and nothing is left of them.

covers: TMR-01 TMR-04
"""
from common import requests, serve
from rawpeer import CONFIRM, RawHost

timeout = 50


def silent(h, port):
    """Three peers, each silent from another step on, until they are reset."""
    hosts = [RawHost(ip=f"10.43.0.{77 + i}", mac=f"52540043777{i}") for i in range(3)]
    conns = [host.connect(h.config["peer4"], port) for host in hosts]
    for host, c in list(zip(hosts, conns))[1:]:
        c.send(host.proposal())
        msg = c.recv_clc(20 * h.slow)
        h.equal(msg[4:5], b"\x02", f"Accept ({msg.hex()})")
    conns[2].send(hosts[2].accept_or_confirm(CONFIRM))
    h.mark("silent")
    ended = [c.ended(h.left() - 5) for c in conns[:2]]
    # behind a Confirm the server may fall back as well as reset
    msg = conns[2].recv_clc(h.left() - 5)
    ended.append("decline" if msg[4:5] == b"\x04" else conns[2].ended(1))
    conns[2].close()
    conns[2].ended(h.left() - 5)  # its end is acknowledged, too
    return ended


def closes(h, port):
    """Close the listener with handshakes under way; the process stays."""
    ls = h.listen(port)
    h.gate("close")
    ls.close()
    h.mark("closed")
    h.gate("end")


def listener_gone(t, port):
    """The listener is closed, and no time is up."""
    t.step(listener_gone.__doc__)
    t.set(t.a, clc_timeout_ms=600_000, llc_first_reply_ms=600_000)
    t.no_groups()
    had = t.queue_pairs(t.a), t.memory_regions(t.a)
    s = t.half(t.a, closes, port=port)
    s.expect("listening")
    raw = t.half(t.b, silent, port=port)
    t.expect_all("silent", raw)
    t.check(t.queue_pairs(t.a) > had[0], "no handshake has got as far as to a queue pair")
    s.gate("close")
    s.expect("closed", t.left())
    # the scenario's time is shorter than that of any step of a handshake
    t.wait_all(raw)
    t.equal(raw.value[:2], ["reset"] * 2, "end of clients whose listener was closed")
    # its link may have broken before, since there is no queue pair at its end
    t.check(raw.value[2] in ("decline", "reset"), f"the same behind Confirm: {raw.value[2]}")
    t.no_sockets(t.a, port)
    t.wait(lambda: (t.queue_pairs(t.a), t.memory_regions(t.a)) == had,
           "end of all that handshakes had made", 10)
    s.gate("end")
    t.wait_all(s)
    t.restore("clc_timeout_ms")
    t.restore("llc_first_reply_ms")


def run(t):
    n = 20
    t.set(t.a, clc_timeout_ms=5000 * t.slow)
    s = t.half(t.a, serve, port=5047, backlog=64)
    s.expect("listening")
    base = t.half(t.b, requests, port=5047, n=n)
    t.wait_all(base)
    raw = t.half(t.b, silent, port=5047)
    t.expect_all("silent", raw)
    t.rdma_start()
    good = t.half(t.b, requests, port=5047, n=n)
    t.wait_all(good)
    t.check(raw.rc is None, "the silent clients ended before the good ones")
    t.carried(t.a, n * 1000)
    limit = 3 * max(base.value[1:]) + 0.2 * t.slow * t.patience
    t.check(max(good.value) < limit,
            f"a connect took {max(good.value):.2f} s, without silent peers "
            f"{max(base.value[1:]):.2f} s")
    t.note(f"slowest connect {max(good.value) * 1e3:.0f} ms, alone "
           f"{max(base.value[1:]) * 1e3:.0f} ms")
    t.wait_all(raw)
    t.equal(raw.value[:2], ["reset", "reset"], "end of those silent before the Confirm")
    t.check(raw.value[2] in ("decline", "reset"), f"silent after Confirm: {raw.value[2]}")
    s.gate("stop")
    t.wait_all(s)
    t.no_sockets(t.a, 5047)
    listener_gone(t, 5048)
