# SPDX-License-Identifier: GPL-2.0
"""Halves that many scenarios use, and parts of halves. A scenario imports those it names."""
import errno
import socket
import struct
import subprocess
import threading
import time

TCP_USER_TIMEOUT = 18


def stream_server(h, port, n_in, n_out, sndbuf=0, rcvbuf=0, limit=30011):
    """Take a connection, move verified bytes both ways, end in good order."""
    ls = h.listen(port, sndbuf=sndbuf, rcvbuf=rcvbuf)
    c = h.accept(ls)
    h.both_ways(c, n_out, 2, n_in, 1, limit)
    h.mark("moved")
    h.gate("end")
    h.finish(c)
    ls.close()


def stream_client(h, port, n_in, n_out, limit=30011, **kw):
    t0 = time.monotonic()
    s = h.connect(port, **kw)
    took = time.monotonic() - t0
    h.both_ways(s, n_in, 1, n_out, 2, limit)
    h.mark("moved")
    h.gate("end")
    h.finish(s)
    return took


def serve(h, port, count=None, **kw):
    """Answer requests; without COUNT until the gate "stop" opens."""
    return h.serve(port, count, **kw)


def serve_any(h, port, **kw):
    """serve() for connections that may break; tells the runner with what errno."""
    return h.serve(port, on_break=lambda e: tell_break(h, e), **kw)


def serve_till_lost(h, port, **kw):
    """serve_any(), and what has become TCP ends soon after the other machine."""
    return serve_any(h, port, on_accept=end_soon, **kw)


def end_soon(s):
    """TCP finds out about another machine that is gone within seconds, idle or not."""
    s.setsockopt(socket.IPPROTO_TCP, TCP_USER_TIMEOUT, 3000)
    for level, name, value in ((socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, 1),
                               (socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, 1),
                               (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)):
        s.setsockopt(level, name, value)


def tell_break(h, e):
    if isinstance(e, OSError):
        h.mark("broken", errno=e.errno)


def requests(h, port, n=1, size=100, back=1000, **kw):
    """N connections one after the other, one request each.

    Returns the seconds each connect took.
    """
    times = []
    for _ in range(n):
        t0 = time.monotonic()
        s = h.connect(port, **kw)
        times.append(time.monotonic() - t0)
        h.request(s, size, back)
        h.finish(s)
    return times


def ask_once(h, port, size=0):
    """A connection with rings of SIZE, one request; 0 or the errno.

    Where it has become TCP it is TCP that has to find out about the other machine.
    """
    try:
        s = h.connect(port, sndbuf=size, rcvbuf=size)
        end_soon(s)
        h.request(s)
        h.finish(s)
        return 0
    except OSError as e:
        return e.errno


def knock(h, port):
    """Only connect; 0 or the errno."""
    try:
        h.connect(port).close()
        return 0
    except OSError as e:
        return e.errno


def connect_all(h, port, n, threads, **kw):
    """N sockets that THREADS threads connect, an equal share each."""
    socks, err = [], []

    def connect():
        try:
            for _ in range(n // threads):
                socks.append(h.connect(port, **kw))
        except BaseException as e:
            err.append(e)

    running = [threading.Thread(target=connect, daemon=True) for _ in range(threads)]
    for th in running:
        th.start()
    for th in running:
        th.join(h.left())
    if err:
        raise err[0]
    h.equal(len(socks), n, "connections")
    return socks


def drops():
    """How many connections were refused for want of room in a queue."""
    with open("/proc/net/netstat", encoding="ascii") as f:
        lines = [line.split() for line in f if line.startswith("TcpExt:")]
    return int(dict(zip(lines[0], lines[1]))["ListenDrops"])


def queue_info(ls):
    """Of a listener: TCP's state, length and limit of its queue."""
    info = ls.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 32)
    return info[0], *struct.unpack_from("II", info, 24)


def end_listeners(port, which=""):
    """What an operator does by `ss -K`: end the listeners of PORT that are WHICH; how many.

    The kernel looks one up by address and port: of several it may find another one, and none
    is ended.
    """
    text = f"sport = :{port} {which}"
    return len(subprocess.run(["ss", "-HtnK", "state", "listening", text], check=True,
                              stdout=subprocess.PIPE).stdout.splitlines())


def parallel(h, port, n, rounds, **kw):
    """N connections that are made at once, open at once and asked in turn."""
    socks = connect_all(h, port, n, n, **kw)
    h.mark("open")
    h.gate("ask")
    for _ in range(rounds):
        for i, s in enumerate(socks):
            h.request(s, 1 + i, 3000 - i)
    for s in socks:
        h.finish(s)


def ends_first(h, s, n):
    """Send N bytes, end the sending, read what goes_on() sends."""
    h.send_stream(s, n, 1)
    s.shutdown(socket.SHUT_WR)
    h.raises("send after shutdown", errno.EPIPE, s.send, b"x")
    h.recv_stream(s, 2 * n, 2)
    h.at_end(s)
    s.close()


def goes_on(h, s, n):
    h.recv_stream(s, n, 1)
    h.at_end(s)
    h.at_end(s, "end of stream, again")
    h.send_stream(s, 2 * n, 2)
    h.finish(s)


def aborts(h, s):
    """Close with linger time 0 when the three bytes of is_reset() are here."""
    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    h.recv_exact(s, 3)
    s.close()


def is_reset(h, s):
    s.sendall(b"abc")
    h.raises("read", errno.ECONNRESET, s.recv, 1)
    s.close()


def keep(h, port):
    """A connection that keeps the link group."""
    s = h.connect(port)
    h.request(s)
    h.mark("open")
    h.gate("end")
    h.finish(s)


def keep_asking(h, port, **kw):
    """One connection that asks until it breaks; returns the errno, 0 for EOF."""
    s = h.connect(port, **kw)
    h.request(s, 1000, 1000)
    h.mark("connected")
    try:
        while True:
            h.request(s, 20000, 20000)
    except OSError as e:
        return e.errno
    except Exception as e:
        if "end of stream" in str(e):
            return 0
        raise


def stays(h, port, **kw):
    """One connection that asks when the runner says "more", until it says "end".

    Returns the errno that ended it before, else 0.
    """
    s = h.connect(port, **kw)
    h.request(s)
    h.mark("connected")
    k = 0
    try:
        while not h.gate_open("end"):
            if h.gate_open("more"):
                h.request(s, 100_000, 100_000)
                h.mark(f"more{k}")
                k += 1
            time.sleep(0.01)
    except OSError as e:
        return e.errno
    h.finish(s)
    return 0


def keep_answering(h, port):
    """The server of keep_asking(), for one connection, with the same result."""
    ls = h.listen(port)
    c = h.accept(ls)
    ls.close()
    h.mark("connected")
    try:
        h.answer(c)
    except OSError as e:
        return e.errno
    except Exception as e:
        if "end of stream" in str(e):
            return 0
        raise
    return 0


def pour(h, port):
    """Send for ever to drink(); returns the errno that ended it."""
    s = h.connect(port)
    return pour_into(h, s)


def pour_server(h, port):
    ls = h.listen(port)
    c = h.accept(ls)
    ls.close()
    return pour_into(h, c)


def pour_into(h, s):
    h.mark("connected")
    try:
        h.send_stream(s, 1 << 40, 1)
    except OSError as e:
        return e.errno
    return 0


def drink(h, port):
    s = h.connect(port)
    return drink_from(h, s)


def drink_server(h, port):
    ls = h.listen(port)
    c = h.accept(ls)
    ls.close()
    return drink_from(h, c)


def drink_from(h, s):
    """Receive and verify for ever; returns the errno, 0 for an end of stream."""
    told = []

    def on_data(off):
        if off > 100000 and not told:
            told.append(off)
            h.mark("flowing")

    try:
        h.recv_stream(s, 1 << 40, 1, on_data=on_data)
    except OSError as e:
        return e.errno
    except Exception as e:
        if "end of stream" in str(e):
            return 0
        raise
