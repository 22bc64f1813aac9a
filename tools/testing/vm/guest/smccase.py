# SPDX-License-Identifier: GPL-2.0
"""Runs a table of cases, each with a peer of its own, against the module on the other machine.

A case is a function of one argument, a Case. The "covers:" line of its docstring names
requirements. A case that fails does not stop the next one.
"""
import itertools
import time
import traceback

from driven import App
from halves import Failure
from rawpeer import RawHost
from smcpeer import ALL, DELETE_LINK, Peer, Rnic

FRONT = 90          # last byte of the address of the first front, which has the peers' TCP


class Case:
    def __init__(self, h, app, front, port, number, rnics):
        self.h, self.app, self.front, self.port = h, app, front, port
        self.number = number
        self.nr_socks = 0
        self.rnics = rnics
        self.peers = []
        self.peer = self.another()
        self.check, self.equal, self.until = h.check, h.equal, self.peer.until

    def another(self):
        """Another peer, with three RNICs."""
        self.peers.append(Peer(self.h, self.front, [next(self.rnics) for _ in range(3)]))
        return self.peers[-1]

    def new_port(self):
        self.port[0] += 1
        return self.port[0]

    def name(self):
        self.nr_socks += 1
        return f"{self.number}.{self.nr_socks}"

    # The module's application

    def listener(self, rcvbuf=0, sndbuf=0):
        """Make a listener of the module; returns (its name, port)."""
        name, port = self.name(), self.new_port()
        self.app.do(name, "listen", port=port, rcvbuf=rcvbuf, sndbuf=sndbuf)
        return name, port

    def accepted(self, listener):
        name = self.name()
        self.app.do(name, "accept", listener=listener)
        return name

    def connects(self, port, rcvbuf=0, sndbuf=0):
        """Begin connect() of the module to the peer; returns (name, call)."""
        name = self.name()
        return name, self.app.start(name, "connect", port=port, rcvbuf=rcvbuf, sndbuf=sndbuf,
                                    addr=self.front.address)

    def listen(self):
        """The peer listens; returns the port."""
        port = self.new_port()
        self.front.listen(port)
        return port

    def succeeds(self, call, what):
        self.equal(self.app.outcome(call, what), {"value": True}, what)

    def fails(self, call, what):
        """The call ends with an error; returns the errno."""
        got = self.app.outcome(call, what)
        self.check("errno" in got, f"{what} succeeds: {got}")
        return got["errno"]

    def server(self, peer=None, **kw):
        """The module as server; returns (connection, socket)."""
        listener, port = self.listener(**kw)
        conn = (peer or self.peer).up(port)
        return conn, self.accepted(listener)

    def client(self, **kw):
        """The module as client; returns (connection, socket)."""
        port = self.listen()
        sock, call = self.connects(port, **kw)
        conn = self.peer.serving(port)
        self.succeeds(call, "connect()")
        return conn, sock

    def to_app(self, conn, sock, data=b"to the application", **kw):
        conn.send(data, **kw)
        self.equal(self.received(sock, len(data)), data, "bytes at the application")

    def received(self, sock, n):
        out = b""
        while len(out) < n:
            part = bytes.fromhex(self.app.do(sock, "recv", size=n - len(out)))
            self.check(part, f"end of stream behind {out!r}")
            out += part
        return out

    def from_app(self, conn, sock, data=b"from the application"):
        self.app.do(sock, "send", data=data.hex())
        self.equal(conn.recv(len(data)), data, "bytes at the peer")

    def both_ways(self, conn, sock):
        self.to_app(conn, sock)
        self.from_app(conn, sock)

    def is_reset(self, conn, what, seconds=6):
        """TCP of the connection is reset."""
        self.equal(conn.tcp.ended(self.h.within(seconds)), "reset", f"end of TCP: {what}")

    def end(self):
        """End the groups that are still there, and all TCP connections."""
        for group in itertools.chain(*(peer.groups for peer in self.peers)):
            for link in group.links[:1]:
                link.say(DELETE_LINK, ALL)
                self.front.until(lambda qp=link.qp: not qp.unacked or qp.is_deaf, 0.5)
        for conn in list(self.front.conns.values()):
            conn.abort()
        for peer in self.peers:
            peer.gone()


def run_cases(h, port, cases, share=0, shares=1):
    """Run every SHARES-th case from SHARE on; returns [(name, lines, what went wrong)].

    The shares run beside each other, with addresses of their own.
    """
    front = Rnic(FRONT + share)
    app = App(h, front, port)
    count = 140 // shares
    rnics = itertools.cycle(range(100 + count * share, 100 + count * (share + 1)))
    ports, wrong = [port], []
    for number, func in enumerate(cases[share::shares]):
        began = time.monotonic()
        case = Case(h, app, front, ports, number, rnics)
        try:
            func(case)
        except (Failure, ValueError, OSError) as e:
            where = traceback.extract_tb(e.__traceback__)
            lines = [f.lineno for f in where if f.name == func.__name__]
            wrong.append((func.__name__, lines, str(e)))
        case.end()
        h.mark("case", case=func.__name__, took=round(time.monotonic() - began, 1))
    RawHost.everyone.clear()
    return wrong
