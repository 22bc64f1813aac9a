# SPDX-License-Identifier: GPL-2.0
"""A Decline at each step of the handshake causes fallback, with data right behind it.

The peer is a raw one, so that data follows the Decline in one segment. A Decline that is
sent later as application data is data. CLC messages do not move the offset of SO_PEEK_OFF.

covers: CLC-07 CLC-10 CLC-11 DCLN-02 DCLN-03 ERR-01
"""
import socket

from rawpeer import RawHost

DATA = b"bytes behind the decline "
SO_PEEK_OFF, OFF = 42, 6


def has_peek_off(h):
    """Older TCP lacks the option."""
    with h.socket(family="tcp") as s:
        try:
            s.setsockopt(socket.SOL_SOCKET, SO_PEEK_OFF, -1)
        except OSError:
            return False
    return True


def raw_client(h, port, slot, is_gone=False):
    """Send a Decline instead of the Proposal or of the Confirm, with data behind it."""
    host = RawHost()
    c = host.connect(h.config["peer4"], port)
    h.check(c.peer_offers_smc, "no option in the SYN-ACK")
    if slot == "confirm":
        c.send(host.proposal())
        msg = c.recv_clc(h.within(20))
        h.equal((len(msg), msg[4:5]), (68, b"\x02"), f"Accept ({msg.hex()})")
    c.send(host.decline() + DATA)
    h.equal(c.recv(len(DATA), h.within(20)), DATA, "data of the server")
    c.send(host.decline())  # is data now
    h.equal(c.recv(28, h.within(20)), host.decline(), "echo")
    h.mark("on TCP")
    h.gate("end")
    c.close()
    if not is_gone:
        h.equal(c.ended(h.within(20)), "fin", "end")


def server(h, port, n):
    """Echo all data."""
    ls = h.listen(port, mark=False)
    if has_peek_off(h):
        ls.setsockopt(socket.SOL_SOCKET, SO_PEEK_OFF, OFF)
    h.mark("listening")
    for _ in range(n):
        c = h.accept(ls)
        if has_peek_off(h):
            h.equal(c.getsockopt(socket.SOL_SOCKET, SO_PEEK_OFF), OFF, "SO_PEEK_OFF of a child")
        while data := c.recv(4096):
            c.sendall(data)
        c.close()


def raw_server(h, port):
    """Decline instead of the Accept."""
    host = RawHost()
    host.listen(port)
    h.mark("listening")
    c = host.accept(port, h.left())
    h.check(c.peer_offers_smc, "no option on the SYN")
    msg = c.recv_clc(h.within(20))
    h.equal(msg[4:5], b"\x01", f"Proposal ({msg.hex()})")
    c.send(host.decline() + DATA)
    h.equal(c.recv(len(DATA), h.within(20)), DATA, "data of the client")
    c.send(host.decline())
    h.equal(c.recv(28, h.within(20)), host.decline(), "echo")
    h.mark("on TCP")
    h.gate("end")
    h.equal(c.ended(h.within(20)), "fin", "end")
    c.close()


def client(h, port):
    s = h.socket()
    if has_peek_off(h):
        s.setsockopt(socket.SOL_SOCKET, SO_PEEK_OFF, OFF)
    s.connect(("10.43.0.77", port))
    if has_peek_off(h):
        h.equal(s.getsockopt(socket.SOL_SOCKET, SO_PEEK_OFF), OFF, "SO_PEEK_OFF")
        h.equal(s.recv(100, socket.MSG_PEEK), DATA[OFF:], "data from the offset on")
    h.equal(h.recv_exact(s, len(DATA)), DATA, "data behind the Decline")
    s.sendall(DATA)
    s.sendall(h.recv_exact(s, 28))
    h.gate("end")
    s.close()


def owned(t, vm, port):
    """The host's tools show a TCP connection of the program."""
    out = vm.run(f"ss -tnpH state established '( sport = :{port} or dport = :{port} )'").out
    t.equal(len(out.splitlines()), 1, f"connections that ss shows: {out!r}")
    t.check("python3" in out, f"ss shows no process for the socket: {out!r}")


def declined(t, port, **args):
    """One connection of a raw peer to the server."""
    c = t.half(t.b, raw_client, port=port, **args)
    t.expect_all("on TCP", c)
    owned(t, t.a, port)
    c.gate("end")
    t.wait_all(c)


def run(t):
    before = {vm: t.queue_pairs(vm) for vm in (t.a, t.b)}
    s = t.half(t.a, server, port=5030, n=3)
    s.expect("listening")
    for slot in ("proposal", "confirm"):
        declined(t, 5030, slot=slot)
    # closed by its program, though TCP waits for long for an acknowledgment
    declined(t, 5030, slot="proposal", is_gone=True)
    t.wait_all(s)
    t.no_sockets(t.a, 5030)
    s = t.half(t.a, raw_server, port=5031)
    s.expect("listening")
    c = t.half(t.b, client, port=5031)
    t.expect_all("on TCP", s)
    owned(t, t.b, 5031)
    for p in (s, c):
        p.gate("end")
    t.wait_all(s, c)
    for vm in (t.a, t.b):
        t.wait(lambda v=vm: t.queue_pairs(v) == before[v], "end of queue pairs that "
               "declined handshakes made", 10)
