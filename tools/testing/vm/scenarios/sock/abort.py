# SPDX-License-Identifier: GPL-2.0
"""A connection is aborted from either side: linger time 0, a killed process, a closed listener.

covers: ABRT-01 ABRT-13
"""
import errno
import select
import socket
import struct
import time

from common import aborts, is_reset, keep_answering, keep_asking, requests, serve, serve_any


def server(h, port, who):
    ls = h.listen(port)
    (aborts if who == "server" else is_reset)(h, h.accept(ls))


def client(h, port, who):
    (aborts if who == "client" else is_reset)(h, h.connect(port))


def never_accepts(h, port, seconds):
    """Close the listener, which lingers, over a connection that is complete."""
    ls = h.listen(port)
    ls.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, seconds))
    h.check(select.select([ls], [], [], h.left())[0], "the listener became readable")
    h.gate("close")
    ls.close()


def is_dropped(h, port):
    s = h.connect(port)
    s.sendall(b"nobody reads this")
    h.mark("connected")
    h.raises("read", errno.ECONNRESET, s.recv, 1)
    s.close()


def resets_at_once(h, port, count):
    """New connections that are reset in the middle of their handshake, sooner or later."""
    for i in range(count):
        s = h.socket()
        s.setblocking(False)
        s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        h.equal(s.connect_ex((h.config["peer4"], port)), errno.EINPROGRESS, "connect()")
        time.sleep(i % 25 * 0.0004)
        s.close()


def handshakes_reset(t):
    """A server goes on whose clients reset before they are accepted."""
    s = t.half(t.a, serve_any, port=5010)
    s.expect("listening")
    t.wait_all(*(t.half(t.b, resets_at_once, port=5010, count=t.pick(600, 60))
                 for _ in range(2)))
    t.wait_all(t.half(t.b, requests, port=5010))
    s.gate("stop")
    t.wait_all(s)
    t.no_sockets(t.a, 5010)


def listener_goes(t, seconds):
    s = t.half(t.a, never_accepts, port=5008, seconds=seconds)
    s.expect("listening")
    c = t.half(t.b, is_dropped, port=5008)
    c.expect("connected")
    t.mode(t.b, "SMC-R", 5008)
    s.gate("close")
    t.wait_all(s, c)


def run(t):
    for who in ("client", "server"):
        for _ in range(5):
            t.both(server, client, 5008, who=who)
    for victim in (0, 1):
        s = t.half(t.a, keep_answering, port=5009)
        s.expect("listening")
        c = t.half(t.b, keep_asking, port=5009)
        t.expect_all("connected", s, c)
        pair = (s, c)
        pair[victim].kill()
        other = pair[1 - victim]
        t.wait_all(other)
        # with bytes on their way a reset, else an orderly end
        t.check(other.value in (0, errno.ECONNRESET, errno.EPIPE),
                f"the survivor got errno {other.value}")
        pair[victim].wait(t.left(), check=False)
    for seconds in (0, 5):
        listener_goes(t, seconds)
    t.no_sockets(t.a, 5009)
    t.no_sockets(t.b, 5009)
    t.step(handshakes_reset.__doc__)
    handshakes_reset(t)
    # nothing is left behind that a new connection would meet
    t.rdma_start()
    t.both(serve, requests, 5008, sargs={"count": 20}, cargs={"n": 20})
    t.carried(t.a, 20 * 1000)
