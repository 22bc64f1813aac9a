# SPDX-License-Identifier: GPL-2.0
"""Options have their effect: time stamps, TCP_NOTSENT_LOWAT, SO_BUSY_POLL, MSG_ZEROCOPY and more.

SO_REUSEPORT is among them, and options of IP, whose effect shows in packets on the wire.

TCP and SMC act alike, except for SO_BUSY_POLL, which TCP cannot show here: it polls the
network card. The scenario options checks that options are stored.

covers: API-03 API-04 API-05 API-08 API-09
"""
import array
import ctypes
import errno
import fcntl
import mmap
import os
import resource
import select
import socket
import struct
import threading
import time

from common import serve
from halves import AF_SMC, Pattern, is_asleep, is_smc, libc

timeout = 90

SOL_IP, IP_PKTOPTIONS, IP_RECVERR, IP_RECVTOS = 0, 9, 11, 13
TOS, MSS = 0x10, 1000
SO_TIMESTAMPING, SO_BUSY_POLL, SO_ZEROCOPY = 37, 46, 60
TCP_MD5SIG, TCP_NOTSENT_LOWAT, TCP_FASTOPEN_CONNECT, TCP_ULP = 14, 25, 30, 31
SOL_SMC, SMC_LIMIT_HS = 286, 1
MSG_ERRQUEUE, MSG_ZEROCOPY, MSG_FASTOPEN = 0x2000, 0x4000000, 0x20000000
SIOCOUTQNSD = 0x894B
TX_SOFTWARE, RX_SOFTWARE, SOFTWARE, OPT_ID, TX_SCHED, TX_ACK, OPT_TSONLY, OPT_ID_TCP = (
    1 << n for n in (1, 3, 4, 7, 8, 9, 11, 16))
TX_ALL = TX_SCHED | TX_SOFTWARE | TX_ACK
SND, SCHED, ACK = 0, 1, 2
ORIGIN_TIMESTAMPING, ORIGIN_ZEROCOPY, COPIED = 4, 5, 1


def aligned(h):
    """Options that TCP lacks have the values of other implementations."""
    s = h.socket()
    h.equal(s.getsockopt(SOL_SMC, SMC_LIMIT_HS), 0, "SMC_LIMIT_HS")
    s.setsockopt(SOL_SMC, SMC_LIMIT_HS, 77)
    h.equal(s.getsockopt(SOL_SMC, SMC_LIMIT_HS), 1, "SMC_LIMIT_HS, set")
    h.raises("a short SMC_LIMIT_HS", errno.EINVAL, s.setsockopt, SOL_SMC, SMC_LIMIT_HS, b"1")
    h.raises("another option of SOL_SMC", errno.EOPNOTSUPP, s.setsockopt, SOL_SMC, 2, 1)
    h.raises("another option of SOL_SMC", errno.EOPNOTSUPP, s.getsockopt, SOL_SMC, 2)
    h.raises("TCP_ULP", errno.EOPNOTSUPP, s.setsockopt, socket.SOL_TCP, TCP_ULP, b"tls")
    h.check(is_smc(s), "a socket that is TCP")
    s.setsockopt(socket.SOL_TCP, TCP_FASTOPEN_CONNECT, 1)
    h.check(not is_smc(s), "SMC, which only TCP can serve")
    s.close()


def refused(h):
    """Calls that AF_SMC refuses, socket() among them."""
    def call(func, *args):
        if func(*args) < 0:
            err = ctypes.get_errno()
            raise OSError(err, os.strerror(err))
    pair = (ctypes.c_int * 2)()
    for kind in (socket.SOCK_DGRAM, socket.SOCK_RAW, socket.SOCK_SEQPACKET):
        h.raises(f"type {kind}", errno.ESOCKTNOSUPPORT, call, libc.socket, AF_SMC, kind, 0)
    for protocol in (2, 6, 256):
        h.raises(f"protocol {protocol}", errno.EPROTONOSUPPORT, call, libc.socket, AF_SMC,
                 socket.SOCK_STREAM, protocol)
    h.raises("socketpair()", errno.EOPNOTSUPP, call, libc.socketpair, AF_SMC,
             socket.SOCK_STREAM, 0, pair)
    s = h.socket()
    h.raises("mmap() to write", errno.EPERM, mmap.mmap, s.fileno(), 4096)
    s.close()


def wire_server(h, port):
    """A client's options for its packets take effect on those of TCP."""
    ls = h.listen(port, sndbuf=16384, rcvbuf=32768)
    c = h.accept(ls)
    mss = c.getsockopt(socket.SOL_TCP, socket.TCP_MAXSEG)
    h.check(mss <= MSS, f"TCP may send {mss} bytes at a time")
    c.setsockopt(SOL_IP, IP_RECVTOS, 1)
    cmsg = c.getsockopt(SOL_IP, IP_PKTOPTIONS, 64)
    h.equal(struct.unpack_from("=QiiB", cmsg)[1:], (SOL_IP, socket.IP_TOS, TOS),
            "control message of TOS")
    h.answer(c)
    ls.close()
    return rings(c)


def rings(s):
    got = [s.getsockopt(socket.SOL_SOCKET, o) for o in (socket.SO_SNDBUF, socket.SO_RCVBUF)]
    s.close()
    return got


def wire_client(h, port):
    s = h.socket()
    s.setsockopt(SOL_IP, socket.IP_TOS, TOS)
    s.setsockopt(socket.SOL_TCP, socket.TCP_MAXSEG, MSS)
    h.sized(s, 20000, 70000)
    s.connect((h.config["peer4"], port))
    h.request(s, 1000, 1000)
    return rings(s)


# level, the option of the TOS, that of the hop limit
IP_OPTIONS = {4: (SOL_IP, socket.IP_TOS, socket.IP_TTL),
              6: (socket.IPPROTO_IPV6, socket.IPV6_TCLASS, socket.IPV6_UNICAST_HOPS)}


def set_ip(s, values):
    level, *names = IP_OPTIONS[6 if s.family == socket.AF_INET6 else 4]
    for name, value in zip(names, values):
        s.setsockopt(level, name, value)


def ip_half(h, port, role, early, late):
    """TOS and hop limit EARLY before there is a connection, LATE while it runs on SMC."""
    s = h.socket()
    set_ip(s, early)
    if role == "server":
        ls = s
        ls.bind(("::" if h.v6 else "0.0.0.0", port))
        ls.listen(1)
        h.mark("listening")
        s = h.accept(ls)
        ls.close()
    else:
        s.connect((h.config["peer6" if h.v6 else "peer4"], port))
    s.sendall(b"x")
    h.recv_exact(s, 1)
    set_ip(s, late)
    h.mark("open")
    h.gate("end")
    h.finish(s)


def ip_values(path):
    """TOS and hop limit of each packet of a capture, by its number."""
    with open(path, "rb") as f:
        raw = f.read()
    out, at = [], 24
    while at + 16 <= len(raw):
        size, = struct.unpack_from("I", raw, at + 8)
        head = raw[at + 30:at + 16 + size]
        if len(head) < 20:
            out.append(None)
        elif head[0] >> 4 == 6:
            out.append([(head[0] & 15) << 4 | head[1] >> 4, head[7]])
        else:
            out.append([head[1], head[8]])
        at += 16 + size
    return out


def on_packets(t, path, ipv):
    """IP_TOS and IP_TTL, or IPv6's, are those of the packets of TCP, from SYN to FIN."""
    from smcvm import frames as wire
    port = 5740 + ipv
    t.step(f"{on_packets.__doc__} IPv{ipv}")
    asked = {t.a: ([0x28, 41], [0x48, 42]), t.b: ([0x68, 61], [0x88, 62])}
    t.relay.capture(path)
    s, c = halves = [None, None]
    for i, (vm, role) in enumerate(((t.a, "server"), (t.b, "client"))):
        early, late = asked[vm]
        halves[i] = t.half(vm, ip_half, ipv=ipv, port=port, role=role, early=early, late=late)
        if vm is t.a:
            halves[i].expect("listening", t.left())
    s, c = halves
    t.expect_all("open", s, c)
    for vm in (t.a, t.b):
        t.mode(vm, "SMC-R", port)
    fins = [t.relay.rule(proto="tcp", flags=wire.FIN, **way)
            for way in ({"sport": port}, {"dport": port})]
    for half in (s, c):
        half.gate("end")
    t.wait_all(s, c)
    t.wait(lambda: all(t.relay.hits(fin)[0] for fin in fins), "both FINs", 20)
    for fin in fins:
        t.relay.unrule(fin)
    t.relay.capture(None)
    values = ip_values(path)
    hs, = wire.handshakes(wire.read(path), port)
    for vm, src, first, messages in (
            (t.a, hs.server, hs.synack, [hs.accept]),
            (t.b, hs.client, hs.syn, [hs.proposal, hs.confirm])):
        early, late = asked[vm]
        for what, frame in [("SYN", first)] + [("CLC", f) for f in messages]:
            t.equal(values[frame.n], early, f"TOS and hop limit of {vm.name}'s {what}")
        got = [values[f.n] for f in hs.tcp if f.src == src and f.flags & wire.FIN]
        t.check(got and all(v == late for v in got),
                f"TOS and hop limits of {vm.name}'s FIN: {got}, want {late}")


def md5_key(addr):
    """struct tcp_md5sig for a peer with an IPv4 address."""
    peer = struct.pack("=HH4s120x", socket.AF_INET, 0, socket.inet_aton(addr))
    return peer + struct.pack("=BBHi80s", 0, 0, 6, 0, b"secret")


def is_tcp(h, s, what):
    h.check(not is_smc(s), f"SMC, {what}")


def signed_server(h, port):
    """A signed connection can only be TCP; a listener decides for its children."""
    ls = h.listen(port, mark=False)
    ls.setsockopt(socket.SOL_TCP, TCP_MD5SIG, md5_key(h.config["peer4"]))
    h.mark("listening")
    for what in ("signed", "early"):
        c = h.accept(ls)
        is_tcp(h, c, what)
        h.equal(h.recv_exact(c, 5), b"hello", what)
        h.finish(c)
        if what == "signed":
            h.raises("another's key", errno.ENOENT, ls.setsockopt, socket.SOL_TCP, TCP_MD5SIG,
                     md5_key("10.1.2.3")[:130] + bytes(86))
            ls.setsockopt(socket.SOL_TCP, TCP_MD5SIG,
                          md5_key(h.config["peer4"])[:130] + bytes(86))
            h.mark("unsigned")


def signed_client(h, port):
    s = h.socket()
    s.setsockopt(socket.SOL_TCP, TCP_MD5SIG, md5_key(h.config["peer4"]))
    is_tcp(h, s, "with a key")
    s.connect((h.config["peer4"], port))
    s.sendall(b"hello")
    h.finish(s)
    h.gate("unsigned")
    s = h.socket()
    h.equal(s.sendto(b"hello", MSG_FASTOPEN, (h.config["peer4"], port)), 5, "MSG_FASTOPEN")
    is_tcp(h, s, "after MSG_FASTOPEN")
    h.finish(s)


def connected_client(h, port):
    """MSG_FASTOPEN and TCP_MD5SIG do not turn a connection that runs on SMC to TCP."""
    s = h.connect(port)
    h.raises("MSG_FASTOPEN", errno.EISCONN, s.sendto, b"x", MSG_FASTOPEN,
             (h.config["peer4"], port))
    s.setsockopt(socket.SOL_TCP, TCP_MD5SIG, md5_key("10.1.2.3"))
    h.check(is_smc(s), "a connection that is TCP")
    h.request(s)
    s.close()


def meet(h, port, role, **kw):
    if role == "server":
        ls = h.listen(port, **kw)
        c = h.accept(ls)
        ls.close()
        return c
    return h.connect(port, **kw)


def timestamping(s, flags):
    s.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPING, flags)


def stamps_in(cmsgs):
    """The times of SCM_TIMESTAMPING, in seconds."""
    return [[sec + nsec / 1e9 for sec, nsec in struct.iter_unpack("qq", data)]
            for level, kind, data in cmsgs
            if (level, kind) == (socket.SOL_SOCKET, SO_TIMESTAMPING)]


def notice(h, s):
    """The next notice: its extended error, and its time stamp or None."""
    p = select.poll()
    p.register(s, 0)
    h.check(p.poll(h.left() * 1000), "poll() did not report a notice")
    h.equal(p.poll(0)[0][1], select.POLLERR, "poll() with a notice")
    data, cmsgs, flags, _ = s.recvmsg(1, 512, MSG_ERRQUEUE)
    h.equal((data, flags & MSG_ERRQUEUE), (b"", MSG_ERRQUEUE), "a notice")
    errors = [c[2] for c in cmsgs if c[:2] == (SOL_IP, IP_RECVERR)]
    h.equal([len(e) for e in errors], [32], "extended errors")
    keys = "errno origin type code pad info data".split()
    ee = dict(zip(keys, struct.unpack_from("IBBBBII", errors[0])))
    stamps = stamps_in(cmsgs)
    return ee, stamps[0][0] if stamps else None


def none_left(h, s):
    h.raises("one notice too many", errno.EAGAIN, s.recvmsg, 1, 512, MSG_ERRQUEUE)
    p = select.poll()
    p.register(s, 0)
    h.equal(p.poll(0), [], "poll() without a notice")


def sent_stamps(h, s, want, last):
    """Notices until all kinds of WANT have come for the byte LAST; {kind: time}."""
    got = {}
    while set(got) != set(want):
        ee, stamp = notice(h, s)
        h.equal((ee["errno"], ee["origin"]), (errno.ENOMSG, ORIGIN_TIMESTAMPING), "notice")
        h.check(ee["data"] <= last and ee["info"] in want, f"notice {ee}, want {want}")
        if ee["data"] == last:
            got[ee["info"]] = stamp
    return got


def stamps_server(h, port, is_tcp=False):
    """Time stamps of received data."""
    s = meet(h, port, "server")
    asks = 0
    while True:
        timestamping(s, RX_SOFTWARE | SOFTWARE)
        before = time.time()
        s.sendall(b"?")
        _, cmsgs, _, _ = s.recvmsg(1, 512)
        asks += 1
        stamps = stamps_in(cmsgs)
        # TCP's stamps start a little later than requested
        if stamps or (h.family == "smc" and not is_tcp):
            break
    h.equal(len(stamps), 1, "control messages with time stamps")
    h.check(before <= stamps[0][0] <= time.time(), f"time stamp {stamps} after {before}")
    h.equal(stamps[0][1:], [0, 0], "time stamps of hardware")
    timestamping(s, 0)
    s.sendall(b"?")
    h.equal(stamps_in(s.recvmsg(1, 512)[1]), [], "time stamps without a request")
    s.sendall(b"!")
    h.recv_exact(s, 1000 + 500 + 7 + 40)
    h.at_end(s)
    s.close()


def stamps_client(h, port, addr=None, is_tcp=False):
    """Time stamps of acknowledged data, and on TCP of sent data."""
    s = meet(h, port, "client", addr=addr)
    while s.recv(1) == b"?":
        s.sendall(b"x")
    none_left(h, s)
    # RDMA has no other time stamps
    kinds = (ACK,) if h.family == "smc" and not is_tcp else (SCHED, SND, ACK)
    timestamping(s, TX_ALL | SOFTWARE | OPT_ID | OPT_ID_TCP | OPT_TSONLY)
    before = time.time()
    s.sendall(bytes(1000))
    got = sent_stamps(h, s, kinds, 999)
    times = [before] + [got[kind] for kind in kinds] + [time.time()]
    h.check(times == sorted(times), f"{before}: order of {got}")
    s.sendall(bytes(500))
    sent_stamps(h, s, kinds, 1499)
    none_left(h, s)
    # for one call only
    timestamping(s, SOFTWARE | OPT_ID | OPT_ID_TCP | OPT_TSONLY)
    asked = (socket.SOL_SOCKET, SO_TIMESTAMPING, struct.pack("I", TX_ACK))
    s.sendmsg([bytes(7)], [asked])
    sent_stamps(h, s, (ACK,), 1506)
    none_left(h, s)
    h.raises("a control message nobody knows", errno.EINVAL, s.sendmsg, [b"x"],
             [(socket.SOL_SOCKET, 4711, bytes(4))])
    # more than can be kept apart: the last one gets its stamps in any case. Not so many
    # that their notices exceed SO_RCVBUF, which bounds unread notices.
    timestamping(s, TX_ALL | SOFTWARE | OPT_ID | OPT_ID_TCP | OPT_TSONLY)
    for _ in range(40):
        s.sendall(b"y")
    seen = {kind: set() for kind in kinds}
    while any(1546 not in ids for ids in seen.values()):
        ee, _ = notice(h, s)
        h.check(ee["data"] not in seen[ee["info"]], f"{ee} came twice")
        h.check(1506 < ee["data"] <= 1546, f"byte {ee['data']} was not sent now")
        seen[ee["info"]].add(ee["data"])
    none_left(h, s)
    h.finish(s)


def early_server(h, port):
    s = meet(h, port, "server")
    h.recv_exact(s, 10)
    s.close()


def early_client(h, port, addr=None):
    """The byte count starts before the connection, on SMC and after a fallback."""
    s = h.socket()
    s.setblocking(False)
    h.equal(s.connect_ex((addr or h.config["peer4"], port)), errno.EINPROGRESS, "connect()")
    timestamping(s, TX_ACK | SOFTWARE | OPT_ID | OPT_ID_TCP | OPT_TSONLY)
    p = select.poll()
    p.register(s, select.POLLOUT)
    h.wait(lambda: [ev for _, ev in p.poll(100)] == [select.POLLOUT], "connection")
    s.send(bytes(10))
    sent_stamps(h, s, (ACK,), 9)
    none_left(h, s)
    s.close()


def unsent(s):
    n = array.array("i", [0])
    fcntl.ioctl(s, SIOCOUTQNSD, n)
    return n[0]


def lowat(s, n):
    s.setsockopt(socket.SOL_TCP, TCP_NOTSENT_LOWAT, n)


def lowat_server(h, port, wait):
    s = meet(h, port, "server", rcvbuf=16384)
    total = int(h.recv_exact(s, 12)) if not wait else 0
    if wait:
        h.gate("read")
        total = int(h.recv_exact(s, 12))
    pat_len = h.recv_stream(s, total, 9)
    h.equal(pat_len, total, "bytes")
    s.sendall(b"k")
    h.at_end(s)
    s.close()


def lowat_client(h, port, wait):
    """The socket buffers unsent data up to the limit; send() refuses more."""
    pat = Pattern(9)
    s = meet(h, port, "client", sndbuf=1 << 19)
    most = {"smc": 4096, "tcp": 1 << 17}[h.family]
    if not wait:
        lowat(s, 1)
        s.sendall(b"%12d" % 1000003)
        h.send_stream(s, 1000003, 9)
        h.equal(h.recv_exact(s, 1), b"k", "word of the server")
        s.close()
        return
    lowat(s, 30000)
    s.sendall(b"%12d" % 700001)
    off = h.fill(s, pat, 0, 4096)
    h.check(30000 <= unsent(s) < 30000 + most, f"{unsent(s)} bytes not sent, limit 30000")
    # the size of the ring
    lowat(s, 0)
    p = select.poll()
    p.register(s, select.POLLOUT)
    h.equal(p.poll(0), [(s.fileno(), select.POLLOUT)], "poll() without a limit")
    off = h.fill(s, pat, off, 4096)
    h.check(unsent(s) > 150000, f"{unsent(s)} bytes not sent, no limit")
    lowat(s, 1)
    h.equal(p.poll(0), [], "poll() with a limit of 1")
    h.raises("send() above the limit", errno.EAGAIN, s.send, b"x", socket.MSG_DONTWAIT)
    h.mark("full")
    while off < 700001:
        h.check(p.poll(h.left() * 1000), "poll() did not report room below the limit")
        n = s.send(pat.at(off, min(4096, 700001 - off)), socket.MSG_DONTWAIT)
        off += n
    h.equal(h.recv_exact(s, 1), b"k", "word of the server")
    s.close()


def naps(s):
    """The number of times that recv() of one byte slept, and the byte."""
    before = resource.getrusage(resource.RUSAGE_THREAD).ru_nvcsw
    data = s.recv(1)
    return resource.getrusage(resource.RUSAGE_THREAD).ru_nvcsw - before, data


def mark_asleep(h, name):
    """The mark is set when this thread sleeps in its next call."""
    tid = threading.get_native_id()

    def watch():
        h.wait(lambda: is_asleep(tid), "a sleeper")
        h.mark(name)

    threading.Thread(target=watch, daemon=True).start()


def spin_server(h, port, rounds):
    """recv() sleeps without SO_BUSY_POLL and spins with it."""
    s = meet(h, port, "server")
    took = {}
    for usec in (0, 20_000_000, 100):
        s.setsockopt(socket.SOL_SOCKET, SO_BUSY_POLL, usec)
        took[usec] = []
        for i in range(rounds):
            if usec == 20_000_000:
                h.mark(f"{usec} {i}")
            else:
                mark_asleep(h, f"{usec} {i}")
            n, data = naps(s)
            h.equal(data, b"x", "byte")
            took[usec].append(n)
    h.check(all(took[0]) and all(took[100]), f"did not sleep: {took}")
    h.equal(min(took[20_000_000]), 0, f"did sleep: {took}")
    # a signal ends it, and so does the end of the stream
    s.setsockopt(socket.SOL_SOCKET, SO_BUSY_POLL, 20_000_000)
    h.mark("end")
    h.at_end(s)
    s.close()
    return took


def spin_client(h, port, rounds):
    s = meet(h, port, "client")
    for _ in range(3 * rounds):
        h.gate("x")
        s.sendall(b"x")
    h.gate("end")
    s.close()


def zerocopy_server(h, port):
    s = meet(h, port, "server", rcvbuf=16384)
    h.gate("read")
    h.recv_exact(s, int(h.recv_exact(s, 12)))
    s.sendall(b"k")
    h.at_end(s)
    s.close()


def finished(h, s, count):
    """Read notices until COUNT calls are complete; true if the bytes were copied."""
    done, codes = set(), set()
    while len(done) < count:
        ee, _ = notice(h, s)
        h.equal((ee["errno"], ee["origin"]), (0, ORIGIN_ZEROCOPY), "notice")
        ids = set(range(ee["info"], ee["data"] + 1))
        h.check(ids and not ids & done and max(ids) < count, f"{ee} after {done}")
        done |= ids
        codes.add(ee["code"])
    return codes


def zerocopy_client(h, port):
    """Each successful send() with MSG_ZEROCOPY has a number."""
    s = meet(h, port, "client", sndbuf=1 << 17)
    s.sendall(b"%12d" % 400_000)
    sent = s.send(bytes(1000), MSG_ZEROCOPY)
    none_left(h, s)
    s.setsockopt(socket.SOL_SOCKET, SO_ZEROCOPY, 1)
    h.equal(s.getsockopt(socket.SOL_SOCKET, SO_ZEROCOPY), 1, "SO_ZEROCOPY")
    calls, refused = 0, 0
    h.equal(s.send(b"", MSG_ZEROCOPY), 0, "send() of nothing")
    while refused < 3 and sent < 390_000:
        try:
            sent += s.send(bytes(5000), MSG_ZEROCOPY | socket.MSG_DONTWAIT)
            calls += 1
        except BlockingIOError:
            refused += 1
    h.check(calls > 3, f"{calls} calls only")
    h.mark("full")
    codes = finished(h, s, calls)
    if h.family == "smc":
        h.equal(codes, {COPIED}, "what the notices say")
    none_left(h, s)
    s.sendall(bytes(400_000 - sent))
    none_left(h, s)
    h.equal(h.recv_exact(s, 1), b"k", "word of the server")
    s.close()


def shared_listener(h, port):
    s = h.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    s.bind(("0.0.0.0", port))
    s.listen(128)
    return s


def queues(listeners):
    """The number of connections in the queue of each listener, by TCP_INFO."""
    return [struct.unpack_from("I", s.getsockopt(socket.SOL_TCP, socket.TCP_INFO, 104), 24)[0]
            for s in listeners]


def take(h, listener, count, name):
    """Accept COUNT connections and send each the name of its listener."""
    conns = [h.accept(listener) for _ in range(count)]
    for c in conns:
        h.equal(is_smc(c), h.family == "smc", "whether a connection is SMC")
        c.sendall(name)
    return conns


def shared_server(h, port, count):
    """Two listeners of one port, of which one closes."""
    listeners = [shared_listener(h, port) for _ in range(2)]
    h.mark("listening")
    shares = []

    def full():
        shares[-1] = queues(listeners)
        return sum(shares[-1]) == count
    for _ in range(2):
        # none is counted while its handshake is under way: a second look may see fewer
        shares.append([])
        h.wait(full, "connections in the queues")
        if len(shares) == 1:
            conns = [c for s, n, name in zip(listeners, shares[0], (b"0", b"1"))
                     for c in take(h, s, n, name)]
            h.mark("first")
            h.gate("more")
    listeners[1].close()
    conns += take(h, listeners[0], shares[1][0], b"0")
    h.mark("closed")
    # the remaining listener gets all
    conns += take(h, listeners[0], count, b"0")
    for c in conns:
        h.equal(h.recv_exact(c, 5), b"hello", "data at last")
        h.at_end(c)
        c.close()
    listeners[0].close()
    return shares


def shared_client(h, port, count):
    """Make COUNT connections three times; return the answer to each."""
    heard, alive = [], []
    for step in ("first", "second", "third"):
        conns = [h.connect(port) for _ in range(count)]
        h.mark("connected " + step)
        heard.append([])
        for s in conns:
            try:
                heard[-1].append(h.recv_exact(s, 1).decode())
                alive.append(s)
            except ConnectionResetError:
                heard[-1].append("reset")
                s.close()
        h.gate(step)
    for s in alive:
        s.sendall(b"hello")
        s.shutdown(socket.SHUT_WR)
    for s in alive:
        h.at_end(s)
        s.close()
    return heard


def shared_port(t):
    """SO_REUSEPORT: each listener gets connections; a close ends only the listener's own."""
    port, count = 5718, 24
    s = t.half(t.a, shared_server, port=port, count=count)
    s.expect("listening", t.left())
    c = t.half(t.b, shared_client, port=port, count=count)
    s.expect("first", t.left())
    t.mode(t.b, "SMC-R", port, count)
    c.gate("first")
    # one in the midst of its handshake counts as well, and its connect() would fail
    c.expect("connected second", t.left())
    s.gate("more")
    s.expect("closed", t.left())
    c.gate("second")
    c.expect("connected third", t.left())
    c.gate("third")
    t.wait_all(s, c)
    (own, other), (left, gone) = s.value
    t.check(min(own, other, left, gone) > 0, f"a listener got nothing: {s.value}")
    for heard, want in zip(c.value, ({"0": own, "1": other}, {"0": left, "reset": gone},
                                     {"0": count})):
        t.equal({word: heard.count(word) for word in set(heard)}, want, "answers of the listeners")
    t.note(f"shares of two listeners: {s.value}")


def run(t):
    from smcvm.links import AFAR, afar
    if t.family == "smc":
        t.wait_all(t.half(t.b, aligned), t.half(t.b, refused))
        t.step("packets, and rings")
        # a connection may get an unused larger ring
        t.no_groups()
        # half of the value that the application set and the core doubled, rounded up
        t.equal(t.both(wire_server, wire_client, port=5730),
                ([2 * 16384, 2 * 32768], [2 * 32768, 2 * 131072]), "sizes of both ends")
        s = t.half(t.a, wire_server, "tcp", port=5731)
        s.expect("listening", t.left())
        c = t.half(t.b, wire_client, port=5731)
        t.wait_all(s, c)
        for ipv in (4, 6):
            on_packets(t, os.path.join(t.pair.dir, "options.pcap"), ipv)
        t.step("what only TCP can do")
        s = t.half(t.a, signed_server, port=5716)
        s.expect("listening", t.left())
        c = t.half(t.b, signed_client, port=5716)
        s.expect("unsigned", t.left())
        c.gate("unsigned")
        t.wait_all(s, c)
        t.both(serve, connected_client, port=5717, sargs={"count": 1})
    t.step("time stamps")
    t.both(stamps_server, stamps_client, port=5700)
    t.step("time stamps asked for early")
    t.both(early_server, early_client, port=5702)
    if t.family == "smc":
        t.step("time stamps asked for early, on TCP in the end")
        s = t.half(t.a, early_server, "tcp", port=5704)
        s.expect("listening", t.left())
        c = t.half(t.b, early_client, port=5704)
        t.wait_all(s, c)

        t.step("time stamps behind a Decline")
        with afar(t):
            before = t.stat(t.a, "decline_tx")
            t.both(stamps_server, stamps_client, port=5714, sargs={"is_tcp": True},
                   cargs={"addr": AFAR[0], "is_tcp": True})
            t.both(early_server, early_client, port=5715, cargs={"addr": AFAR[0]})
            t.equal(t.stat(t.a, "decline_tx"), before + 2, "Declines")

    t.step("TCP_NOTSENT_LOWAT")
    t.both(lowat_server, lowat_client, port=5706, wait=False)
    s = t.half(t.a, lowat_server, port=5708, wait=True)
    s.expect("listening", t.left())
    c = t.half(t.b, lowat_client, port=5708, wait=True)
    c.expect("full", t.left())
    s.gate("read")
    t.wait_all(s, c)

    t.step("SO_REUSEPORT")
    shared_port(t)

    t.step("MSG_ZEROCOPY")
    s = t.half(t.a, zerocopy_server, port=5710)
    s.expect("listening", t.left())
    c = t.half(t.b, zerocopy_client, port=5710)
    c.expect("full", t.left())
    s.gate("read")
    t.wait_all(s, c)

    if t.family == "smc":
        t.step("SO_BUSY_POLL")
        rounds = 4
        s = t.half(t.a, spin_server, port=5712, rounds=rounds)
        s.expect("listening", t.left())
        c = t.half(t.b, spin_client, port=5712, rounds=rounds)
        for usec in (0, 20_000_000, 100):
            for i in range(rounds):
                s.expect(f"{usec} {i}", t.left())
                c.gate("x")
        s.expect("end", t.left())
        c.gate("end")
        t.wait_all(s, c)
        t.note(f"naps in recv(): {s.value}")
