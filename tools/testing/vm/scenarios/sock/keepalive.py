# SPDX-License-Identifier: GPL-2.0
"""Keepalive and TCP_USER_TIMEOUT work, and the TCP connection stays consistent meanwhile.

With --long also where RDMA alone is dead.

covers: KA-01 KA-03 KA-04 KA-05 KA-06 KA-07 KA-08 KA-09 KA-11 KA-12 TMR-15
covers: ABRT-01 ABRT-10 API-04
"""
import errno
import fcntl
import select
import socket
import struct
import time

timeout = 120

SIOCOUTQ = 0x5411
SOL_TCP, IDLE, INTVL, CNT, USER_TIMEOUT, TCP_INFO = 6, 4, 5, 6, 18, 11
N = 20_011
TEST_LINK = 7
DELAY = 50      # ms on the way from the client, of what carries the data
# an RNIC gives up after two minutes, longer than the scenario
PATIENT = {"rdma_ack_exponent": 22, "rdma_retries": 6}


def keep(s, idle=1, intvl=1, cnt=3):
    s.setsockopt(SOL_TCP, IDLE, idle)
    s.setsockopt(SOL_TCP, INTVL, intvl)
    s.setsockopt(SOL_TCP, CNT, cnt)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)


def not_acknowledged(s):
    return struct.unpack("i", fcntl.ioctl(s, SIOCOUTQ, bytes(4)))[0]


def ends(h, port, role, wants=()):
    """A connection that moves data, then waits for the fault that the runner causes.

    The roles in WANTS use keepalive. Returns the events and the error of the end.
    """
    if role == "server":
        ls = h.listen(port)
        c = h.accept(ls)
        ls.close()
    else:
        c = h.connect(port)
    if role in wants:
        keep(c)
        h.equal([c.getsockopt(SOL_TCP, name) for name in (IDLE, INTVL, CNT)], [1, 1, 3],
                "options of keepalive")
    h.both_ways(c, N, 1, N, 1)
    h.mark("moved")
    h.gate("again")
    h.both_ways(c, N, 2, N, 2)
    # TCP sends no probe while it waits for an acknowledgment, which may be late
    h.wait(lambda: not_acknowledged(c) == 0, "all bytes acknowledged")
    h.mark("moved again")
    h.gate("wait")
    p = select.poll()
    p.register(c, select.POLLIN | select.POLLRDHUP)
    h.check(p.poll(h.left() * 1000), "poll() did not report the end")
    return told(c, p.poll(0)[0][1])


def told(c, events):
    """The results of poll(), recv() twice, send() and SO_ERROR on a connection that has ended.

    Of those that fail it is the name of the errno.
    """
    said = [events]
    for func, *args in ((c.recv, 1), (c.recv, 1), (c.send, b"x", socket.MSG_NOSIGNAL),
                        (c.getsockopt, socket.SOL_SOCKET, socket.SO_ERROR)):
        try:
            value = func(*args)
            said.append(len(value) if isinstance(value, bytes) else value)
        except OSError as e:
            said.append(errno.errorcode[e.errno])
    return said


def pair(t, port, family=None, **args):
    s = t.half(t.a, ends, family, port=port, role="server", **args)
    s.expect("listening")
    c = t.half(t.b, ends, family, port=port, role="client", **args)
    t.expect_all("moved", s, c)
    return s, c


def llc(vm):
    return vm.stats()["llc_tx"]


def tcp_probes(vm):
    return int(vm.run("nstat -asz TcpExtTCPKeepAlive | awk '/KeepAlive/ {print $2}'").out)


def go_on(t, *procs):
    """The connection works, and then waits for its end."""
    for p in procs:
        p.gate("again")
    t.expect_all("moved again", *procs)
    for p in procs:
        p.gate("wait")


def probed(t):
    """An idle connection is probed on both levels, and goes on."""
    s, c = pair(t, 5500, wants=("client",))
    if t.family == "smc":
        before = llc(t.b)
        t.wait(lambda: llc(t.b) >= before + 2, "two TEST LINK of the client")
    tcp = tcp_probes(t.b)
    t.wait(lambda: tcp_probes(t.b) >= tcp + 2, "two TCP keepalives of the client")
    go_on(t, s, c)
    t.b.run("ss -K state established '( dport = :5500 )'")
    t.wait_all(s, c)


def silent(t):
    """RDMA alone is dead: only the side with keepalive detects that, by TEST LINK."""
    t.no_groups()
    for vm in (t.a, t.b):
        t.set(vm, **PATIENT)
    s, c = pair(t, 5504, wants=("client",))
    go_on(t, s, c)
    downs = t.stat(t.b, "link_down")
    tests = t.relay.rule(llc=TEST_LINK, frm="b")
    t.relay.rule(proto="roce", drop=1)
    began = time.monotonic()
    t.wait_all(c)
    took = time.monotonic() - began
    t.equal(c.value[1], "ETIMEDOUT", "errno of the side with keepalive")
    t.check(t.relay.hits(tests)[0], "no TEST LINK was lost")
    t.equal(t.stat(t.b, "link_down"), downs, "links that are down")
    t.note(f"dead RDMA detected after {took:.1f} s")
    # TCP reports it to the other side
    t.wait_all(s)
    t.equal(s.value[1], "ECONNRESET", "errno of the peer")
    t.relay.unrule()
    for vm in (t.a, t.b):
        t.no_sockets(vm, 5504)
    t.no_groups()
    for name in PATIENT:
        t.restore(name)


def dead(t):
    """The wire is cut: both sides use keepalive and get the error, as on TCP."""
    procs = []
    for port, family in ((5502, t.family), (5506, "tcp")):
        procs += pair(t, port, family, wants=("client", "server"))
    go_on(t, *procs)
    t.relay.cut()
    t.wait_all(*procs)
    t.relay.uncut()
    for p in procs:
        t.equal(p.value[1], "ETIMEDOUT", f"errno of {p}")
    said = [p.value for p in procs]
    t.equal(said[:2], said[2:], "poll(), recv() twice, send(), SO_ERROR of server and client")


def reset(t, port, killer, other):
    """Destroying the TCP connection ends the one on SMC, on both sides."""
    s, c = pair(t, port)
    go_on(t, s, c)
    killer.run(f"ss -K state established '( sport = :{port} or dport = :{port} )'")
    t.wait_all(s, c)
    mine, theirs = (s.value, c.value) if killer is t.a else (c.value, s.value)
    t.equal(mine[1], "ECONNABORTED", "errno where TCP was destroyed")
    t.equal(theirs[1], "ECONNRESET", "errno of the peer")
    for vm in (killer, other):
        t.no_sockets(vm, port)


def full_server(h, port, is_done=False):
    """Never reads."""
    ls = h.listen(port, rcvbuf=16384)
    c = h.accept(ls)
    if is_done:
        c.shutdown(socket.SHUT_WR)
    h.gate("end")
    c.close()


def full_client(h, port):
    """The ring and the peer's element are full; the limit is a second."""
    c = h.connect(port, sndbuf=16384)
    c.setsockopt(SOL_TCP, USER_TIMEOUT, 1000)
    try:
        while True:
            c.send(bytes(4096))
    except OSError as e:
        return e.errno


def done_client(h, port):
    """As full_client(), of a server that has closed: recv() returns end of stream again."""
    c = h.connect(port, sndbuf=16384)
    c.setsockopt(SOL_TCP, USER_TIMEOUT, 1000)
    h.at_end(c)
    c.setblocking(False)
    has_room = True
    while has_room:
        try:
            c.send(bytes(4096))
        except BlockingIOError:
            has_room = select.select([], [c], [], 0.3)[1]
    p = select.poll()
    p.register(c, 0)
    h.check(h.poll(p, 20), "an error")
    c.setblocking(True)
    h.at_end(c, "end of stream, after the failure")
    h.equal(c.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR), errno.ETIMEDOUT, "SO_ERROR")
    h.raises("send", errno.EPIPE, c.send, b"x")


def info_server(h, port):
    c = h.accept(h.listen(port))
    h.recv_stream(c, 3 * N, 1)
    h.send_stream(c, N, 2)
    h.at_end(c)
    h.mark("read")
    h.gate("end")


def info_client(h, port):
    """TCP_INFO shows the connection on SMC, not TCP's, whose packets are not delayed."""

    def info():
        raw = c.getsockopt(SOL_TCP, TCP_INFO, 232)
        return {"state": raw[0], "rtt": struct.unpack_from("I", raw, 68)[0],
                "acked": struct.unpack_from("Q", raw, 120)[0],
                "received": struct.unpack_from("Q", raw, 128)[0],
                "unsent": struct.unpack_from("I", raw, 144)[0],
                "sent": struct.unpack_from("Q", raw, 200)[0] if len(raw) >= 208 else 3 * N}

    c = h.connect(port)
    h.equal(info()["state"], 1, "state of a new connection")
    h.send_stream(c, 3 * N, 1)
    h.recv_stream(c, N, 2)
    h.wait(lambda: info()["acked"] >= 3 * N, "all bytes acknowledged")
    now = info()
    h.check(now["acked"] - 3 * N <= 1, f"bytes acknowledged: {now}")
    h.equal(now["received"], N, "bytes received")
    h.equal(now["unsent"], 0, "bytes not sent")
    h.check(now["rtt"] >= 1000 * DELAY, f"round trip: {now}")
    c.shutdown(socket.SHUT_WR)
    h.wait(lambda: info()["state"] == 5, "state FIN_WAIT2")
    h.mark("shut")


def run(t):
    # only keepalive probes; and the peer forgets a path that was cut
    for vm in (t.a, t.b):
        t.set(vm, smcr_testlink_time=0, llc_test_link_ms=60000, peer_memory_ms=1)
    t.step("TCP_INFO")
    s = t.half(t.a, info_server, port=5510)
    s.expect("listening")
    carrier = {"proto": "roce"} if t.family == "smc" else {"proto": "tcp", "port": 5510}
    t.relay.rule(frm="b", delay=DELAY, **carrier)
    c = t.half(t.b, info_client, port=5510)
    c.expect("shut", t.left())
    t.relay.unrule()
    s.gate("end")
    t.wait_all(s, c)

    t.step("TCP_USER_TIMEOUT")
    s = t.half(t.a, full_server, port=5512)
    s.expect("listening")
    c = t.half(t.b, full_client, port=5512)
    c.wait(t.left())
    t.equal(errno.errorcode.get(c.value), "ETIMEDOUT", "errno of a full connection")
    s.gate("end")
    t.wait_all(s, c)
    s = t.half(t.a, full_server, port=5513, is_done=True)
    s.expect("listening")
    c = t.half(t.b, done_client, port=5513)
    t.wait_all(c)
    s.gate("end")
    t.wait_all(s)

    t.step("reset of TCP")
    reset(t, 5514, t.a, t.b)
    reset(t, 5516, t.b, t.a)

    t.step("keepalive")
    probed(t)
    if t.family == "smc" and t.long:
        t.step("dead RDMA")
        silent(t)
    t.step("dead peer")
    dead(t)
