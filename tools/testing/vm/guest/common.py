# SPDX-License-Identifier: GPL-2.0
"""Halves that many scenarios use, and parts of halves. A scenario imports what it uses."""
import errno
import socket
import struct
import subprocess
import threading
import time

TCP_USER_TIMEOUT = 18


def stream_server(h, port, n_in, n_out, sndbuf=0, rcvbuf=0, limit=30011):
    """Accept a connection, move verified bytes both ways, end in good order."""
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
    """Answer requests of COUNT connections, or until the gate "stop" opens."""
    return h.serve(port, count, **kw)


def serve_any(h, port, **kw):
    """serve() for connections that may break; marks report their errnos to the runner."""
    return h.serve(port, on_break=lambda e: tell_break(h, e), **kw)


def serve_till_lost(h, port, **kw):
    """serve_any(); connections that fell back end soon after the other machine dies."""
    return serve_any(h, port, on_accept=end_soon, **kw)


def end_soon(s):
    """Let TCP detect a dead peer machine within seconds, idle or not."""
    s.setsockopt(socket.IPPROTO_TCP, TCP_USER_TIMEOUT, 3000)
    for level, name, value in ((socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, 1),
                               (socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, 1),
                               (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)):
        s.setsockopt(level, name, value)


def tell_break(h, e):
    if isinstance(e, OSError):
        h.mark("broken", errno=e.errno)


def requests(h, port, n=1, size=100, back=1000, **kw):
    """Make N connections one after the other, with one request each.

    Returns the duration of each connect() in seconds.
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
    """Make a connection with rings of SIZE and one request; return 0 or the errno.

    If it falls back, TCP detects the loss of the other machine.
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
    """Connect and close; return 0 or the errno."""
    try:
        h.connect(port).close()
        return 0
    except OSError as e:
        return e.errno


def connect_all(h, port, n, threads, **kw):
    """Connect N sockets in THREADS threads, an equal share in each."""
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
    """The number of connections that were refused because a queue was full."""
    with open("/proc/net/netstat", encoding="ascii") as f:
        lines = [line.split() for line in f if line.startswith("TcpExt:")]
    return int(dict(zip(lines[0], lines[1]))["ListenDrops"])


def queue_info(ls):
    """A listener's TCP state, and the length and limit of its queue."""
    info = ls.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 32)
    return info[0], *struct.unpack_from("II", info, 24)


def dumped_queue(port):
    """Length and limit of a listener's queue in TCP's dumps: sock_diag's, then length in /proc."""
    out = subprocess.run(["ss", "-Hltn", f"sport = :{port}"], check=True,
                         stdout=subprocess.PIPE).stdout.split()
    rows = []
    for name in ("tcp", "tcp6"):
        with open(f"/proc/net/{name}", encoding="ascii") as f:
            rows += [line.split() for line in f]
    # a row begins with number, local address, remote address, state, queues of sender and reader
    found = [int(row[4].partition(":")[2], 16) for row in rows
             if row[1].endswith(f":{port:04X}") and row[3] == "0A"]
    return (int(out[1]), int(out[2])), found


def end_listeners(port, which=""):
    """End the listeners of PORT that match WHICH by `ss -K`; return their number.

    The kernel looks up a listener by address and port: of several it may find another one,
    and then ends none.
    """
    text = f"sport = :{port} {which}"
    return len(subprocess.run(["ss", "-HtnK", "state", "listening", text], check=True,
                              stdout=subprocess.PIPE).stdout.splitlines())


def parallel(h, port, n, rounds, **kw):
    """Make N connections in parallel, keep all open, and make requests in turn."""
    socks = connect_all(h, port, n, n, **kw)
    h.mark("open")
    h.gate("ask")
    for _ in range(rounds):
        for i, s in enumerate(socks):
            h.request(s, 1 + i, 3000 - i)
    for s in socks:
        h.finish(s)


def ends_first(h, s, n):
    """Send N bytes, end the sending, read the bytes of goes_on()."""
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
    """Close with linger time 0 after the three bytes of is_reset()."""
    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    h.recv_exact(s, 3)
    s.close()


def is_reset(h, s):
    s.sendall(b"abc")
    h.raises("read", errno.ECONNRESET, s.recv, 1)
    s.close()


def keep(h, port):
    """Keep a connection open, and so its link group."""
    s = h.connect(port)
    h.request(s)
    h.mark("open")
    h.gate("end")
    h.finish(s)


def keep_asking(h, port, **kw):
    """Make requests on one connection until it breaks; return the errno, 0 for EOF."""
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
    """Make a request at each gate "more" until the gate "end" opens.

    Returns the errno of a connection that breaks before, else 0.
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


def pour(h, port, **kw):
    """Send to drink() until the connection breaks; return the errno."""
    s = h.connect(port, **kw)
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


def drink(h, port, **kw):
    s = h.connect(port, **kw)
    return drink_from(h, s)


def drink_server(h, port):
    ls = h.listen(port)
    c = h.accept(ls)
    ls.close()
    return drink_from(h, c)


def drink_from(h, s):
    """Receive and verify until the connection ends; return the errno, 0 for an end of stream."""
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
