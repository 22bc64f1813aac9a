# SPDX-License-Identifier: GPL-2.0
"""Every socket option on TCP and on SMC: set, get, odd lengths, in each state.

The same calls run on both; what differs must stand in Documentation/options.md, and
each option of its tables must be tried here.

covers: API-04 API-06 API-07 API-08 API-09
"""
import ctypes
import errno
import os.path
import re
import socket
import struct

from halves import libc

timeout = 120
ipv = (4, 6)

INTS = (1, 2, 77777, -1, 0)
DOC = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                   "../../../../Documentation/options.md")
SO_DOMAIN = 39
DATA = b"more than SO_RCVLOWAT asks for"


def tv(sec, usec=0):
    return struct.pack("qq", sec, usec)


def onoff(*v):
    return struct.pack("ii", *v)


def xfrm_policy(family):
    """struct xfrm_userpolicy_info: what leaves, to and from everywhere, goes as it is."""
    selector = struct.pack("=40xHBBB11x", family, 0, 0, 0)
    return selector + struct.pack("=96xIIBBBB4x", 0, 0, 1, 0, 0, 0)


def md5_key(flags=0, prefix=0):
    """struct tcp_md5sig, for a peer that is not there."""
    peer = struct.pack("=HH4s120x", socket.AF_INET, 0, socket.inet_aton("10.1.2.3"))
    return peer + struct.pack("=BBHi80s", flags, prefix, 6, 0, b"secret")


LEVELS = {
    "SOL_SOCKET": (1, """
        SO_DEBUG=1 SO_REUSEADDR=2 SO_TYPE=3 SO_ERROR=4 SO_DONTROUTE=5 SO_BROADCAST=6 SO_SNDBUF=7
        SO_RCVBUF=8 SO_KEEPALIVE=9 SO_OOBINLINE=10 SO_NO_CHECK=11 SO_PRIORITY=12 SO_LINGER=13
        SO_BSDCOMPAT=14 SO_REUSEPORT=15 SO_PASSCRED=16 SO_PEERCRED=17 SO_RCVLOWAT=18
        SO_SNDLOWAT=19 SO_RCVTIMEO=20 SO_SNDTIMEO=21 SO_BINDTODEVICE=25 SO_ATTACH_FILTER=26
        SO_DETACH_FILTER=27 SO_PEERNAME=28 SO_TIMESTAMP=29 SO_ACCEPTCONN=30 SO_PEERSEC=31
        SO_SNDBUFFORCE=32 SO_RCVBUFFORCE=33 SO_PASSSEC=34 SO_TIMESTAMPNS=35 SO_MARK=36
        SO_TIMESTAMPING=37 SO_PROTOCOL=38 SO_DOMAIN=39 SO_RXQ_OVFL=40 SO_WIFI_STATUS=41
        SO_PEEK_OFF=42 SO_NOFCS=43 SO_LOCK_FILTER=44 SO_SELECT_ERR_QUEUE=45 SO_BUSY_POLL=46
        SO_MAX_PACING_RATE=47 SO_BPF_EXTENSIONS=48 SO_INCOMING_CPU=49 SO_CNX_ADVICE=53
        SO_MEMINFO=55 SO_INCOMING_NAPI_ID=56 SO_COOKIE=57 SO_PEERGROUPS=59 SO_ZEROCOPY=60
        SO_TXTIME=61 SO_BINDTOIFINDEX=62 SO_TIMESTAMP_NEW=63 SO_TIMESTAMPNS_NEW=64
        SO_TIMESTAMPING_NEW=65 SO_RCVTIMEO_NEW=66 SO_SNDTIMEO_NEW=67 SO_PREFER_BUSY_POLL=69 SO_BUSY_POLL_BUDGET=70
        SO_NETNS_COOKIE=71 SO_BUF_LOCK=72 SO_RESERVE_MEM=73 SO_TXREHASH=74 SO_RCVMARK=75"""),
    "SOL_TCP": (6, """
        TCP_NODELAY=1 TCP_MAXSEG=2 TCP_CORK=3 TCP_KEEPIDLE=4 TCP_KEEPINTVL=5 TCP_KEEPCNT=6
        TCP_SYNCNT=7 TCP_LINGER2=8 TCP_DEFER_ACCEPT=9 TCP_WINDOW_CLAMP=10 TCP_INFO=11
        TCP_QUICKACK=12 TCP_CONGESTION=13 TCP_MD5SIG=14 TCP_THIN_LINEAR_TIMEOUTS=16
        TCP_THIN_DUPACK=17 TCP_USER_TIMEOUT=18 TCP_REPAIR=19 TCP_REPAIR_QUEUE=20
        TCP_QUEUE_SEQ=21 TCP_REPAIR_OPTIONS=22 TCP_FASTOPEN=23 TCP_TIMESTAMP=24
        TCP_NOTSENT_LOWAT=25 TCP_CC_INFO=26 TCP_SAVE_SYN=27 TCP_SAVED_SYN=28
        TCP_REPAIR_WINDOW=29 TCP_FASTOPEN_CONNECT=30 TCP_ULP=31 TCP_MD5SIG_EXT=32
        TCP_FASTOPEN_KEY=33 TCP_FASTOPEN_NO_COOKIE=34 TCP_ZEROCOPY_RECEIVE=35 TCP_INQ=36
        TCP_TX_DELAY=37"""),
    "SOL_IP": (0, """
        IP_TOS=1 IP_TTL=2 IP_HDRINCL=3 IP_OPTIONS=4 IP_RECVOPTS=6 IP_RETOPTS=7 IP_PKTINFO=8
        IP_MTU_DISCOVER=10 IP_RECVERR=11 IP_RECVTTL=12 IP_RECVTOS=13 IP_MTU=14 IP_FREEBIND=15
        IP_XFRM_POLICY=17 IP_PASSSEC=18 IP_TRANSPARENT=19 IP_RECVORIGDSTADDR=20 IP_MINTTL=21
        IP_BIND_ADDRESS_NO_PORT=24 IP_MULTICAST_TTL=33 IP_MULTICAST_LOOP=34
        IP_LOCAL_PORT_RANGE=51"""),
    "SOL_IPV6": (41, """
        IPV6_UNICAST_HOPS=16 IPV6_MULTICAST_HOPS=18 IPV6_MTU_DISCOVER=23 IPV6_RECVERR=25
        IPV6_V6ONLY=26 IPV6_XFRM_POLICY=35 IPV6_RECVPKTINFO=49 IPV6_RECVHOPLIMIT=51
        IPV6_DONTFRAG=62 IPV6_RECVTCLASS=66 IPV6_TCLASS=67 IPV6_AUTOFLOWLABEL=70
        IPV6_MINHOPCOUNT=73 IPV6_FREEBIND=78"""),
    "no level": (4711, "OPT_1=1"),
}
# The first does no harm to a connection, and is not the default if possible.
VALUES = {
    "TCP_USER_TIMEOUT": (60000, 1, 77777, -1, 0), "SO_TXTIME": (onoff(7, 7), onoff(1, 0)),
    "SO_SNDBUF": (10000, 1, 1 << 30, 131072), "SO_RCVBUF": (10000, 1, 1 << 30, 131072),
    "SO_SNDBUFFORCE": (1, 131072), "SO_RCVBUFFORCE": (1, 131072),
    "SO_LINGER": (onoff(1, 5), onoff(1, -1), onoff(1, 0), onoff(0, 7)),
    "SO_RCVTIMEO": (tv(5), tv(1, 999999), tv(-1), tv(1, 1000000), tv(0)),
    "SO_BINDTODEVICE": (b"eth0\0", b"nosuch\0", b""),
    "SO_PEEK_OFF": (3, 0, -1), "SO_MAX_PACING_RATE": (100000, -1),
    "SO_RCVLOWAT": (5, 1 << 30, -1, 0, 1),
    "SO_PRIORITY": (1, 6, 77777, -1, 0), "SO_BINDTOIFINDEX": (0, 77777, -1, 0),
    "IP_LOCAL_PORT_RANGE": (0, 77777, -1, 0),
    "TCP_CONGESTION": (b"reno", b"nosuch", b"cubic"), "TCP_ULP": (b"nosuch\0", b"tls\0"),
    "TCP_DEFER_ACCEPT": (1, 5, -1, 0, 3), "TCP_FASTOPEN": (5, -1, 0),
    "TCP_FASTOPEN_KEY": (bytes(16),),
    "TCP_CORK": (1, 0), "TCP_QUICKACK": (0, 1), "TCP_REPAIR": (1, 77777, -1, 0),
    "TCP_MD5SIG": (md5_key(), 1), "TCP_MD5SIG_EXT": (md5_key(1, 32), md5_key(1, 33)),
    "IP_XFRM_POLICY": (xfrm_policy(socket.AF_INET), 1),
    "IPV6_XFRM_POLICY": (xfrm_policy(socket.AF_INET6), 1),
    "IP_OPTIONS": (b"\1\1\1\0", b""), "IP_TTL": (64, 1, 256, 0, -1),
    "IPV6_UNICAST_HOPS": (64, 256, -1), "IP_TOS": (16, 255, 77777, 0),
}
for name in ("SO_SNDTIMEO", "SO_RCVTIMEO_NEW", "SO_SNDTIMEO_NEW"):
    VALUES[name] = VALUES["SO_RCVTIMEO"]
# What they say is up to the moment, or to the machine.
ANY_VALUE = """SO_PEERNAME SO_MEMINFO SO_INCOMING_NAPI_ID SO_INCOMING_CPU SO_COOKIE TCP_INFO
    TCP_QUICKACK TCP_TIMESTAMP TCP_CC_INFO TCP_WINDOW_CLAMP TCP_MAXSEG""".split()
# These change what connect() means.
LATE = "TCP_FASTOPEN_CONNECT TCP_REPAIR".split()


def options(level=None):
    return [(lv, name, *map(int, (LEVELS[lv][0], num)))
            for lv in LEVELS if level in (None, lv)
            for name, num in (word.split("=") for word in LEVELS[lv][1].split())]


def code(rc):
    if not rc:
        return "0"
    err = ctypes.get_errno()
    return "EOPNOTSUPP" if err == errno.EOPNOTSUPP else errno.errorcode.get(err, str(err))


def set_raw(s, level, num, data, length=None):
    length = len(data) if length is None else length
    return code(libc.setsockopt(s.fileno(), level, num, data + bytes(64), length))


def get_raw(s, level, num, room, any_value):
    buf, n = ctypes.create_string_buffer(b"\xa5" * 256, 256), ctypes.c_uint(room)
    what = code(libc.getsockopt(s.fileno(), level, num, buf, ctypes.byref(n)))
    if what != "0":
        return what
    return f"len {n.value}" + ("" if any_value else f" {buf.raw[:n.value].hex()}")


def as_bytes(val):
    return val if isinstance(val, bytes) else struct.pack("i", val)


def get_all(s, name, level, num):
    return [f"get {n}: {get_raw(s, level, num, n, name in ANY_VALUE)}"
            for n in (4, 0, 1, 2, 3, 8, 16, 64)]


def sweep(s, name, level, num):
    """Each value and each length; what the calls said."""
    said = get_all(s, name, level, num)
    values = [as_bytes(v) for v in VALUES.get(name, INTS)]
    for n in (0, 1, 3, 12, 64):
        said.append(f"set {values[0].hex()} len {n}: {set_raw(s, level, num, values[0], n)}")
        said.append(get_raw(s, level, num, 64, name in ANY_VALUE))
    for v in values:
        said.append(f"set {v.hex()}: {set_raw(s, level, num, v)}")
        said.append(get_raw(s, level, num, 64, name in ANY_VALUE))
    return said


def domain(s):
    return s.getsockopt(socket.SOL_SOCKET, SO_DOMAIN)


def set_first(s, name, level, num):
    """A value that is not the default one, for accept() or connect() to take along."""
    set_raw(s, level, num, as_bytes(VALUES.get(name, INTS)[0]))


def said_by(h, s, state, results, name, level, num):
    results[state] = sweep(s, name, level, num)
    results[state + " domain"] = domain(s)


def server(h, port, levels):
    """New sockets, listeners and their children."""
    ctl = socket.create_server(("", port), family=socket.AF_INET, reuse_port=False)
    h.mark("listening")
    c, _ = ctl.accept()
    out = {}
    for lv, name, level, num in options():
        if lv not in levels:
            continue
        h.mark(name)
        res = out[name] = {}
        with h.socket() as s:
            said_by(h, s, "new", res, name, level, num)
        ls = h.listen(port + 1, mark=False)
        said_by(h, ls, "listening", res, name, level, num)
        set_first(ls, name, level, num)
        c.sendall(b"L")
        child = h.accept(ls)
        res["child"] = get_all(child, name, level, num)
        res["child domain"] = domain(child)
        h.equal(h.recv_exact(child, len(DATA)), DATA, "data on the child")
        c.sendall(b"A")
        h.equal(c.recv(1), b"D", "client's word")
        child.close()
        ls.close()
    c.close()
    return out


def client(h, port, levels):
    """The same options before connect(), and on a connection."""
    ctl = socket.create_connection((h.config["peer4"], port))
    out = {}
    for lv, name, level, num in options():
        if lv not in levels:
            continue
        h.mark(name)
        res = out[name] = {}
        h.equal(ctl.recv(1), b"L", "server's word")
        s = h.socket()
        if name not in LATE:
            said_by(h, s, "before connect", res, name, level, num)
            set_first(s, name, level, num)
        s.connect((h.config["peer6" if h.v6 else "peer4"], port + 1))
        s.sendall(DATA)
        h.equal(ctl.recv(1), b"A", "server's word")
        res["kept"] = get_all(s, name, level, num)
        said_by(h, s, "connected", res, name, level, num)
        s.close()
        ctl.sendall(b"D")
    ctl.close()
    return out


def documented(t):
    """{option: how} from the tables of the document."""
    table = {}
    with open(DOC, encoding="utf-8") as doc:
        rows = re.findall(r"^\| ((?:[A-Z0-9]+_[A-Z0-9_]+(?:, )?)+) \| ([a-z A-Z]+) \|",
                          doc.read(), re.M)
    for names, how in rows:
        t.check(how in ("works", "TCP", "kept", "own", "ring", "falls back", "refused"),
                f"{names}: what is '{how}'?")
        for name in names.split(", "):
            t.check(name not in table, f"{name} stands twice in the document")
            table[name] = how
    return table


def fell_back(res, state):
    return res.get(state + " domain", 43) != 43


def is_refused(said, pairs):
    """Each set was refused, or what differs was."""
    return (all(word.endswith("EOPNOTSUPP") for word in said if word.startswith("set")) or
            all(got.endswith("EOPNOTSUPP") for _, got in pairs))


def but_defaults(want, pairs):
    """The pairs that differ for another reason than another default."""
    defaults = want[:8] + [want[7].removeprefix("get 64: ")]
    return [p for p in pairs if p[0] not in defaults]


def differences(name, how, tcp, smc):
    """Where SMC is not as the document says; TCP and SMC of one side of a run."""
    bad = []
    for state in (s for s in tcp if not s.endswith(" domain")):
        want, got = tcp[state], smc[state]
        pairs = [p for p in zip(want, got) if p[0] != p[1]]
        if how == "falls back" and fell_back(smc, "new" if state == "new" else state):
            pass
        elif fell_back(smc, state):
            bad.append(f"{name}, {state}: fell back")
        elif how == "refused" or how == "falls back" and state == "connected":
            pairs = [] if is_refused(got, pairs) else pairs
        elif how == "own" or how == "ring" and state in ("kept", "connected", "child"):
            pairs = []
        elif how == "ring":
            pairs = but_defaults(want, pairs)
        if pairs:
            bad.append(f"{name}, {state} (TCP, SMC): {pairs}")
    return bad


def took(said):
    """Was a value set, and not refused?"""
    return any(word.startswith("set") and word.endswith(": 0") for word in said)


def must_fall_back(name, tcp, smc):
    """What TCP accepts on a new socket or a listener makes TCP sockets of ours.

    TCP and SMC are pairs: what the server and the client of a run have said.
    """
    if not took(tcp[0]["new"]):
        return [f"{name}: TCP took no value, so nothing is known of it"]
    return [f"{name}, {state}: did not fall back"
            for side, state, after in ((0, "new", "new"), (0, "listening", "child"),
                                       (1, "before connect", "connected"))
            if took(tcp[side].get(state, ())) and not fell_back(smc[side], after)]


def run(t):
    table = documented(t)
    tried = [name for _, name, _, _ in options() if name != "OPT_1"]
    t.equal(sorted(table), sorted(tried), "options of the document and of this scenario")
    levels = ("SOL_IPV6",) if t.ipv == 6 else ("SOL_SOCKET", "SOL_TCP", "SOL_IP", "no level")
    for vm in (t.a, t.b):
        # who understands policies of IPsec; programs that set them have it loaded
        vm.run("modprobe xfrm_user")
    said = {}
    for i, kinds in enumerate((("tcp", "tcp"), (t.family, t.family), ("tcp", t.family))):
        t.step(f"server on {kinds[0]}, client on {kinds[1]}")
        s = t.half(t.a, server, kinds[0], port=5300 + 10 * i, levels=levels)
        s.expect("listening", t.left())
        c = t.half(t.b, client, kinds[1], port=5300 + 10 * i, levels=levels)
        t.wait_all(s, c)
        said[kinds] = s.value, c.value
    bad = []
    tcp, smc, mixed = said.values() if len(said) == 3 else [said["tcp", "tcp"]] * 3
    for name in tcp[0]:
        how = table.get(name, "works")
        for side in (0, 1):
            if t.family == "smc":
                bad += differences(name, how, tcp[side][name], smc[side][name])
        if how == "falls back" and t.family == "smc":
            bad += must_fall_back(name, [said[name] for said in tcp],
                                  [said[name] for said in smc])
        # once it has fallen back, a socket is TCP in every respect
        for state in ("kept", "connected"):
            pairs = [p for p in zip(tcp[1][name][state], mixed[1][name][state]) if p[0] != p[1]]
            if pairs and how != "refused":
                bad.append(f"{name}, {state} after fallback (TCP, SMC): {pairs}")
    t.check(not bad, "\n  ".join([f"{len(bad)} differences:"] + bad))
