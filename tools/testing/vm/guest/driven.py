# SPDX-License-Identifier: GPL-2.0
"""An application that another half drives, call by call, over a connection of plain TCP.

application() is a half on one machine. The half that plays its peer makes an App, which
waits by the until() of a RawHost: so both the application's calls and the messages below
them are in one hand.
"""
import contextlib
import itertools
import json
import queue
import select
import socket
import struct
import threading


def call(h, socks, name, op, args):
    """One call of the application; returns what the peer half gets."""
    if op == "listen":
        socks[name] = h.listen(mark=False, **args)
    elif op == "connect":
        socks[name] = h.connect(**args)
    elif op == "accept":
        socks[name] = h.accept(socks[args["listener"]])
    elif op == "send":
        socks[name].sendall(bytes.fromhex(args["data"]) * args.get("times", 1))
    elif op == "recv":
        return socks[name].recv(args["size"]).hex()
    elif op == "shutdown":
        socks[name].shutdown(args["how"])
    elif op == "abort":
        socks[name].setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        socks.pop(name).close()
    elif op == "close":
        socks.pop(name).close()
    elif op == "poll":
        p = select.poll()
        p.register(socks[name], args["events"])
        return [events for _, events in p.poll(1000 * h.left())]
    return True


def application(h, port):
    """Do the calls of one App, those of each socket in order, until it hangs up."""
    conn, _ = h.listen(port, family="tcp").accept()
    todo, socks, lock = {}, {}, threading.Lock()

    def worker(name):
        while True:
            cmd = todo[name].get()
            try:
                got = {"value": call(h, socks, name, cmd["op"], cmd["args"])}
            except OSError as e:
                got = {"errno": e.errno}
            except KeyError:
                got = {"errno": -1}     # of a socket that was not made
            with lock, gone:
                conn.sendall(json.dumps({"id": cmd["id"], **got}).encode() + b"\n")

    # the other half may end without reading all results
    gone = contextlib.suppress(ConnectionError)
    with gone:
        for line in conn.makefile():
            cmd = json.loads(line)
            name = cmd["sock"]
            if name not in todo:
                todo[name] = queue.Queue()
                threading.Thread(target=worker, args=(name,), daemon=True).start()
            todo[name].put(cmd)


class App:
    """The other end of application()."""

    def __init__(self, h, host, port):
        self.h = h
        self.host = host        # whose until() waits
        self.conn = socket.create_connection((h.config["peer4"], port))
        self.rest = b""
        self.ids = itertools.count()
        self.results = {}

    def start(self, sock, op, **args):
        """Begin a call; result() gives what it returns."""
        number = next(self.ids)
        line = json.dumps({"id": number, "sock": sock, "op": op, "args": args})
        self.conn.sendall(line.encode() + b"\n")
        return number

    def poll(self):
        try:
            data = self.conn.recv(65536, socket.MSG_DONTWAIT)
            self.h.check(data, "the application hung up")
            self.rest += data
        except BlockingIOError:
            pass
        while b"\n" in self.rest:
            line, self.rest = self.rest.split(b"\n", 1)
            got = json.loads(line)
            self.results[got.pop("id")] = got

    def is_done(self, number):
        self.poll()
        return number in self.results

    def outcome(self, number, what="a call", seconds=6):
        """{"value": ...} or {"errno": ...} of the call, when it has ended."""
        self.h.check(self.host.until(lambda: self.is_done(number), self.h.within(seconds)),
                     f"{what} of the application does not return")
        return self.results.pop(number)

    def do(self, sock, op, **args):
        """A whole call that must succeed."""
        got = self.outcome(self.start(sock, op, **args), op)
        self.h.check("value" in got, f"{op}: {got}")
        return got["value"]
