# SPDX-License-Identifier: GPL-2.0
"""Every socket option acts alike on TCP and on SMC: set, get, odd lengths, in each state.

The same calls run on both; Documentation/options.md must list each difference. Each option
that the kernel's headers name must be in its tables and in this scenario. With --long the
calls also run on sockets of IPPROTO_SMC, and where one end is TCP, after the fallback.

covers: API-04 API-06 API-07 API-08
"""
import ctypes
import errno
import functools
import glob
import os.path
import re
import socket
import struct

import bpf
from halves import is_smc, libc

timeout = 160
ipv = (4, 6)

INTS = (1, 2, 77777, -1, 0)
DOC = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                   "../../../../../Documentation/options.md")
DATA = b"more than SO_RCVLOWAT asks for"


def tv(sec, usec=0):
    return struct.pack("qq", sec, usec)


def onoff(*v):
    return struct.pack("ii", *v)


def xfrm_policy(family):
    """struct xfrm_userpolicy_info: what leaves, to and from everywhere, goes as it is."""
    selector = struct.pack("=40xHBBB11x", family, 0, 0, 0)
    return selector + struct.pack("=96xIIBBBB4x", 0, 0, 1, 0, 0, 0)


def sadb_policy():
    """struct sadb_x_policy: the same for PF_KEY."""
    return struct.pack("=HHHBBII", 2, 18, 1, 2, 0, 0, 0)


@functools.lru_cache(maxsize=None)
def filter_code(answer):
    return ctypes.create_string_buffer(struct.pack("=HBBI", 6, 0, 0, answer), 8)


def filter_prog(answer):
    """struct sock_fprog: a filter that always returns ANSWER."""
    return struct.pack("=H6xQ", 1, ctypes.addressof(filter_code(answer)))


@functools.lru_cache(maxsize=None)
def filter_fd(answer):
    return bpf.load_prog(1, bpf.answer(answer))  # BPF_PROG_TYPE_SOCKET_FILTER


def group_req(family):
    """struct group_req: a group of multicast on lo."""
    if family == socket.AF_INET:
        return struct.pack("=I4xHH4s120x", 1, family, 0, socket.inet_aton("224.1.2.3"))
    addr = socket.inet_pton(family, "ff02::1234")
    return struct.pack("=I4xHHI16s104x", 1, family, 0, 0, addr)


def flow_label():
    """struct in6_flowlabel_req: any sock may share the label."""
    dst = socket.inet_pton(socket.AF_INET6, "fd43::1")
    return dst + struct.pack(">I", 0x54321) + struct.pack("=BBHHHI", 0, 255, 1, 10, 6, 0)


def md5_key(flags=0, prefix=0):
    """struct tcp_md5sig, for a peer that does not exist."""
    peer = struct.pack("=HH4s120x", socket.AF_INET, 0, socket.inet_aton("10.1.2.3"))
    return peer + struct.pack("=BBHi80s", flags, prefix, 6, 0, b"secret")


# the same on two levels
MCAST = """ MCAST_JOIN_GROUP=42 MCAST_BLOCK_SOURCE=43 MCAST_UNBLOCK_SOURCE=44
        MCAST_LEAVE_GROUP=45 MCAST_JOIN_SOURCE_GROUP=46 MCAST_LEAVE_SOURCE_GROUP=47
        MCAST_MSFILTER=48"""
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
        SO_MAX_PACING_RATE=47 SO_BPF_EXTENSIONS=48 SO_INCOMING_CPU=49 SO_ATTACH_BPF=50
        SO_ATTACH_REUSEPORT_CBPF=51 SO_ATTACH_REUSEPORT_EBPF=52 SO_CNX_ADVICE=53
        SO_MEMINFO=55 SO_INCOMING_NAPI_ID=56 SO_COOKIE=57 SO_PEERGROUPS=59 SO_ZEROCOPY=60
        SO_TXTIME=61 SO_BINDTOIFINDEX=62 SO_TIMESTAMP_NEW=63 SO_TIMESTAMPNS_NEW=64
        SO_TIMESTAMPING_NEW=65 SO_RCVTIMEO_NEW=66 SO_SNDTIMEO_NEW=67
        SO_DETACH_REUSEPORT_BPF=68 SO_PREFER_BUSY_POLL=69 SO_BUSY_POLL_BUDGET=70
        SO_NETNS_COOKIE=71 SO_BUF_LOCK=72 SO_RESERVE_MEM=73 SO_TXREHASH=74 SO_RCVMARK=75
        SO_PASSPIDFD=76 SO_PEERPIDFD=77 SO_DEVMEM_DONTNEED=80 SO_SECURITY_AUTHENTICATION=22
        SO_SECURITY_ENCRYPTION_TRANSPORT=23 SO_SECURITY_ENCRYPTION_NETWORK=24"""),
    "SOL_TCP": (6, """
        TCP_NODELAY=1 TCP_MAXSEG=2 TCP_CORK=3 TCP_KEEPIDLE=4 TCP_KEEPINTVL=5 TCP_KEEPCNT=6
        TCP_SYNCNT=7 TCP_LINGER2=8 TCP_DEFER_ACCEPT=9 TCP_WINDOW_CLAMP=10 TCP_INFO=11
        TCP_QUICKACK=12 TCP_CONGESTION=13 TCP_MD5SIG=14 TCP_THIN_LINEAR_TIMEOUTS=16
        TCP_THIN_DUPACK=17 TCP_USER_TIMEOUT=18 TCP_REPAIR=19 TCP_REPAIR_QUEUE=20
        TCP_QUEUE_SEQ=21 TCP_REPAIR_OPTIONS=22 TCP_FASTOPEN=23 TCP_TIMESTAMP=24
        TCP_NOTSENT_LOWAT=25 TCP_CC_INFO=26 TCP_SAVE_SYN=27 TCP_SAVED_SYN=28
        TCP_REPAIR_WINDOW=29 TCP_FASTOPEN_CONNECT=30 TCP_ULP=31 TCP_MD5SIG_EXT=32
        TCP_FASTOPEN_KEY=33 TCP_FASTOPEN_NO_COOKIE=34 TCP_ZEROCOPY_RECEIVE=35 TCP_INQ=36
        TCP_TX_DELAY=37 TCP_AO_ADD_KEY=38 TCP_AO_DEL_KEY=39 TCP_AO_INFO=40
        TCP_AO_GET_KEYS=41 TCP_AO_REPAIR=42 TCP_IS_MPTCP=43"""),
    "SOL_IP": (0, """
        IP_TOS=1 IP_TTL=2 IP_HDRINCL=3 IP_OPTIONS=4 IP_ROUTER_ALERT=5 IP_RECVOPTS=6
        IP_RETOPTS=7 IP_PKTINFO=8 IP_PKTOPTIONS=9 IP_IPSEC_POLICY=16 IP_NODEFRAG=22
        IP_MTU_DISCOVER=10 IP_RECVERR=11 IP_RECVTTL=12 IP_RECVTOS=13 IP_MTU=14 IP_FREEBIND=15
        IP_XFRM_POLICY=17 IP_PASSSEC=18 IP_TRANSPARENT=19 IP_RECVORIGDSTADDR=20 IP_MINTTL=21
        IP_CHECKSUM=23 IP_BIND_ADDRESS_NO_PORT=24 IP_RECVFRAGSIZE=25 IP_RECVERR_RFC4884=26
        IP_MULTICAST_IF=32 IP_MULTICAST_TTL=33 IP_MULTICAST_LOOP=34 IP_ADD_MEMBERSHIP=35
        IP_DROP_MEMBERSHIP=36 IP_UNBLOCK_SOURCE=37 IP_BLOCK_SOURCE=38
        IP_ADD_SOURCE_MEMBERSHIP=39 IP_DROP_SOURCE_MEMBERSHIP=40 IP_MSFILTER=41
        IP_MULTICAST_ALL=49 IP_UNICAST_IF=50 IP_LOCAL_PORT_RANGE=51 IP_PROTOCOL=52""" + MCAST),
    "SOL_IPV6": (41, """
        IPV6_ADDRFORM=1 IPV6_2292PKTINFO=2 IPV6_2292HOPOPTS=3 IPV6_2292DSTOPTS=4
        IPV6_2292RTHDR=5 IPV6_2292PKTOPTIONS=6 IPV6_CHECKSUM=7 IPV6_2292HOPLIMIT=8
        IPV6_NEXTHOP=9 IPV6_AUTHHDR=10 IPV6_FLOWINFO=11
        IPV6_UNICAST_HOPS=16 IPV6_MULTICAST_IF=17 IPV6_MULTICAST_HOPS=18
        IPV6_MULTICAST_LOOP=19 IPV6_ADD_MEMBERSHIP=20 IPV6_DROP_MEMBERSHIP=21
        IPV6_ROUTER_ALERT=22 IPV6_MTU_DISCOVER=23 IPV6_MTU=24 IPV6_RECVERR=25 IPV6_V6ONLY=26
        IPV6_JOIN_ANYCAST=27 IPV6_LEAVE_ANYCAST=28 IPV6_MULTICAST_ALL=29
        IPV6_ROUTER_ALERT_ISOLATE=30 IPV6_RECVERR_RFC4884=31 IPV6_FLOWLABEL_MGR=32
        IPV6_FLOWINFO_SEND=33 IPV6_IPSEC_POLICY=34 IPV6_XFRM_POLICY=35 IPV6_HDRINCL=36
        IPV6_RECVPKTINFO=49 IPV6_PKTINFO=50 IPV6_RECVHOPLIMIT=51 IPV6_HOPLIMIT=52
        IPV6_RECVHOPOPTS=53 IPV6_HOPOPTS=54 IPV6_RTHDRDSTOPTS=55 IPV6_RECVRTHDR=56
        IPV6_RTHDR=57 IPV6_RECVDSTOPTS=58 IPV6_DSTOPTS=59 IPV6_RECVPATHMTU=60
        IPV6_PATHMTU=61 IPV6_DONTFRAG=62 IPV6_USE_MIN_MTU=63 IPV6_RECVTCLASS=66
        IPV6_TCLASS=67 IPV6_AUTOFLOWLABEL=70 IPV6_ADDR_PREFERENCES=72 IPV6_MINHOPCOUNT=73
        IPV6_RECVORIGDSTADDR=74 IPV6_TRANSPARENT=75 IPV6_UNICAST_IF=76
        IPV6_RECVFRAGSIZE=77 IPV6_FREEBIND=78""" + MCAST),
    "no level": (4711, "OPT_1=1"),
}
# Names in the headers that are no options: regular expressions, and the reasons.
NO_OPTIONS = {
    r"IP(V6)?_PMTUDISC_.*|MCAST_(EX|IN)CLUDE|IPV6_FL_.*|IPV6_PREFER_SRC_.*|TCP_REPAIR_(ON|OFF.*)|"
    r"TCP_MD5SIG_FLAG_.*|TCP_AO_KEYF_.*|TCP_RECEIVE_ZEROCOPY_FLAG_.*": "values of options",
    r"IP_DEFAULT_MULTICAST_.*|TCP_MSS_.*|TCP_.*_MAXKEYLEN": "defaults and limits",
    r"IPV6_FLOWINFO_(FLOWLABEL|PRIORITY)|IPV6_PRIORITY_.*|IPV6_TLV_.*": "fields of packets",
    r"SO_DEVMEM_(LINEAR|DMABUF)": "control messages",
}
# Header: the prefix of its options, and their level
HEADERS = {
    "asm-generic/socket.h": {"SO": "SOL_SOCKET"}, "linux/tcp.h": {"TCP": "SOL_TCP"},
    "linux/in.h": {"IP": "SOL_IP", "MCAST": "SOL_IP"}, "linux/in6.h": {"IPV6": "SOL_IPV6"},
}
# The kernels of the tests were built without these.
UNKNOWN = {"TCP_AO_ADD_KEY", "TCP_AO_INFO"}
# The first does no harm to a connection, and is not the default if possible. Those that
# are functions hold pointers or descriptors.
VALUES = {
    "TCP_MAXSEG": (1000, 87, 88, 32767, 32768, -1, 0),
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
    "IP_IPSEC_POLICY": (sadb_policy(), 1), "IPV6_IPSEC_POLICY": (sadb_policy(), 1),
    "SO_ATTACH_FILTER": (lambda: filter_prog(0xffffffff), 1),
    "SO_ATTACH_BPF": (lambda: filter_fd(0x7fffffff), 77777, bytes(8)),
    "SO_ATTACH_REUSEPORT_CBPF": (lambda: filter_prog(0), 1),
    "SO_ATTACH_REUSEPORT_EBPF": (lambda: filter_fd(0), 77777, bytes(8)),
    "MCAST_JOIN_GROUP": (group_req(socket.AF_INET), group_req(socket.AF_INET6), 1),
    "IP_UNICAST_IF": (struct.pack(">I", 1), 77777, 0),
    "IPV6_UNICAST_IF": (struct.pack(">I", 1), 77777, 0),
    "IPV6_ADDRFORM": (socket.AF_INET, socket.AF_INET6, 0),
    "IPV6_MTU": (1400, 1, 0), "IPV6_ADDR_PREFERENCES": (1, 0x400, 3, -1, 0),
    "IPV6_PKTINFO": (bytes(20), bytes(16) + struct.pack("i", 77777), 1),
    "IPV6_FLOWLABEL_MGR": (flow_label(), 1),
    "IPV6_HOPOPTS": (b"\0\0\1\4\0\0\0\0", b"\0\1\1\4\0\0\0\0", b""),
    "IPV6_RTHDR": (b"", struct.pack("=6BH16s", 0, 2, 4, 0, 0, 0, 0,
                                    socket.inet_pton(socket.AF_INET6, "fd43::1")), 1, b""),
    "IP_XFRM_POLICY": (xfrm_policy(socket.AF_INET), 1),
    "IPV6_XFRM_POLICY": (xfrm_policy(socket.AF_INET6), 1),
    "IP_OPTIONS": (b"\1\1\1\0", b""), "IP_TTL": (64, 1, 256, 0, -1),
    "IPV6_UNICAST_HOPS": (64, 256, -1), "IP_TOS": (16, 255, 77777, 0),
}
for name in ("SO_SNDTIMEO", "SO_RCVTIMEO_NEW", "SO_SNDTIMEO_NEW"):
    VALUES[name] = VALUES["SO_RCVTIMEO"]
VALUES["IPV6_DSTOPTS"] = VALUES["IPV6_HOPOPTS"]
# nothing without a routing header; connections with them alone do not come to be
VALUES["IPV6_RTHDRDSTOPTS"] = (b"",) + VALUES["IPV6_HOPOPTS"]
# Their values depend on the time or on the machine.
ANY_VALUE = """SO_PEERNAME SO_MEMINFO SO_INCOMING_NAPI_ID SO_INCOMING_CPU SO_COOKIE TCP_INFO
    TCP_QUICKACK TCP_TIMESTAMP TCP_CC_INFO TCP_WINDOW_CLAMP IP_PROTOCOL
    IPV6_2292PKTOPTIONS""".split()
# These change the meaning of connect().
LATE = "TCP_FASTOPEN_CONNECT TCP_REPAIR".split()




def share_port(s):
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)


def choose_by_program(s):
    share_port(s)
    s.setsockopt(socket.SOL_SOCKET, 51, filter_prog(0))


# Preparations of a new socket for options that TCP refuses otherwise
FIRST = {"SO_ATTACH_REUSEPORT_CBPF": share_port, "SO_ATTACH_REUSEPORT_EBPF": share_port,
         "SO_DETACH_REUSEPORT_BPF": choose_by_program}


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
    val = val() if callable(val) else val
    return val if isinstance(val, bytes) else struct.pack("I", val & 0xffffffff)


def values_of(name):
    """[(value, its name)]; pointers and descriptors differ in each process."""
    values = VALUES.get(name, INTS)
    return [(as_bytes(v), f"{name}'s {i}" if callable(v) else as_bytes(v).hex())
            for i, v in enumerate(values)]


def get_all(s, name, level, num):
    return [f"get {n}: {get_raw(s, level, num, n, name in ANY_VALUE)}"
            for n in (4, 0, 1, 2, 3, 8, 16, 64)]


def sweep(s, name, level, num):
    """The results of the calls with each value and each length."""
    said = get_all(s, name, level, num)
    values = values_of(name)
    for n in (0, 1, 3, 12, 64):
        v, what = values[0]
        said.append(f"set {what} len {n}: {set_raw(s, level, num, v, n)}")
        said.append(get_raw(s, level, num, 64, name in ANY_VALUE))
    for v, what in values:
        said.append(f"set {what}: {set_raw(s, level, num, v)}")
        said.append(get_raw(s, level, num, 64, name in ANY_VALUE))
    return said


def set_first(s, name, level, num):
    """A value other than the default, which accept() or connect() must keep."""
    set_raw(s, level, num, values_of(name)[0][0])


def new_socket(h, name):
    s = h.socket()
    if name in FIRST:
        FIRST[name](s)
    return s


def new_listener(h, name, port):
    s = new_socket(h, name)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    s.bind(("::" if h.v6 else "0.0.0.0", port))
    s.listen(128)
    return s


def said_by(h, s, state, results, name, level, num):
    results[state] = sweep(s, name, level, num)
    results[state + " is SMC"] = is_smc(s)


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
        with new_socket(h, name) as s:
            said_by(h, s, "new", res, name, level, num)
        ls = new_listener(h, name, port + 1)
        said_by(h, ls, "listening", res, name, level, num)
        set_first(ls, name, level, num)
        c.sendall(b"L")
        child = h.accept(ls)
        res["child"] = get_all(child, name, level, num)
        res["child is SMC"] = is_smc(child)
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
        s = new_socket(h, name)
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
        t.check(how in ("works", "TCP", "kept", "own", "ring", "falls back", "refused",
                        "none"),
                f"{names}: what is '{how}'?")
        for name in names.split(", "):
            t.check(name not in table, f"{name} stands twice in the document")
            table[name] = how
    return table


def fell_back(res, state):
    return not res.get(state + " is SMC", True)


def is_refused(said, pairs):
    """True if each set was refused, or each result of ours that differs was a refusal."""
    no = ("EOPNOTSUPP", "EBUSY")
    return (all(word.endswith(no) for word in said if word.startswith("set")) or
            all(got.endswith(no) for _, got in pairs))


def but_defaults(want, pairs):
    """The pairs that differ not only in a default."""
    defaults = want[:8] + [want[7].removeprefix("get 64: ")]
    return [p for p in pairs if p[0] not in defaults]


def differences(name, how, tcp, smc):
    """Differences between SMC and the document; TCP and SMC of one side of a run."""
    bad = []
    for state in (s for s in tcp if not s.endswith(" is SMC")):
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
    """True if a value was set and not refused."""
    return any(word.startswith("set") and word.endswith(": 0") for word in said)


def as_listed(name, how, tcp):
    """True if the document is right that TCP keeps the option, or lacks it."""
    states = [said for side in tcp for said in side.values() if isinstance(said, list)]
    if how == "kept" and not took(tcp[0]["new"]):
        return [f"{name}: TCP took no value, so it is not kept"]
    if how == "none" and any(map(took, states)):
        return [f"{name}: TCP takes a value"]
    return []


def must_fall_back(name, tcp, smc, lacking):
    """An option that TCP accepts on a new socket or a listener makes our sockets fall back.

    TCP and SMC are pairs of results, of the server and the client of a run. The kernel
    lacks the options in LACKING.
    """
    if name in lacking:
        return [f"{name}: the kernel has it, after all"] if took(tcp[0]["new"]) else []
    if not took(tcp[0]["new"]):
        return [f"{name}: TCP took no value, so nothing is known of it"]
    return [f"{name}, {state}: did not fall back"
            for side, state, after in ((0, "new", "new"), (0, "listening", "child"),
                                       (1, "before connect", "connected"))
            if took(tcp[side].get(state, ())) and not fell_back(smc[side], after)]


def after_fallback(name, how, tcp, client_fell, child_fell):
    """After a fallback a socket is TCP in every respect."""
    bad = []
    for side, state, fell in ((1, "kept", client_fell), (1, "connected", client_fell),
                              (0, "child", child_fell)):
        pairs = [p for p in zip(tcp[side][name][state], fell[side][name][state]) if p[0] != p[1]]
        if pairs and how != "refused":
            bad.append(f"{name}, {state} after fallback (TCP, SMC): {pairs}")
    if not fell_back(child_fell[0][name], "child"):
        bad.append(f"{name}, child of a client without SMC: did not fall back")
    return bad


def defined(path):
    """{name: number or other name} of the macros of a header."""
    macros = {}
    with open(path, encoding="utf-8") as f:
        for line in f:
            m = re.match(r"\s*#\s*define\s+([A-Z]\w+)\s+(\S+)", line)
            if m:
                macros.setdefault(*m.groups())
    return macros


def in_headers(t):
    """{(level, number): name} of the options in the kernel's headers, and their aliases."""
    from smcvm import kernel
    build = kernel.script("path", "headers-6.12")
    uapi = glob.glob(os.path.join(os.path.dirname(build), "*-common/include/uapi"))
    t.equal(len(uapi), 1, "directories with headers")
    found = {}
    for header, levels in HEADERS.items():
        macros = defined(os.path.join(uapi[0], header))
        for name, text in macros.items():
            if name.partition("_")[0] not in levels or \
                    any(re.fullmatch(regex, name) for regex in NO_OPTIONS):
                continue
            text = macros.get(text, text)
            t.check(text.isdigit(), f"{name} of {header} is '{text}'")
            level = levels[name.partition("_")[0]]
            found.setdefault((level, int(text)), set()).add(name)
    return found


def headers_agree(t):
    """Check that the scenario tries every option that the headers name, by its number."""
    found = in_headers(t)
    t.check(len(found) > 200, f"only {len(found)} options in the headers")
    tried = {(lv, num): name for lv, name, _, num in options() if name != "OPT_1"}
    missing = [sorted(names) for key, names in found.items() if key not in tried]
    t.check(not missing, f"options of the headers that are not tried: {missing}")
    wrong = [name for key, name in tried.items()
             if name not in found.get(key, ()) and
             not (name.startswith("MCAST") and name in found.get(("SOL_IP", key[1]), ()))]
    t.check(not wrong, f"options that the headers have not, or not with this number: {wrong}")


def load_key_managers(t):
    """Load the key managers that understand IPsec policies; return the options that lack one."""
    lacking = set(UNKNOWN)
    for vm in (t.a, t.b):
        # programs that set these options load it
        vm.run("modprobe xfrm_user")
        if "no" in vm.run("modprobe -q af_key || echo no").out:
            t.check(t.kind == "debug", "no af_key")
            lacking |= {"IP_IPSEC_POLICY", "IPV6_IPSEC_POLICY"}
    return lacking


def compared(t, family, port, table, lacking):
    """Undocumented differences between sockets of FAMILY and those of TCP."""
    levels = ("SOL_IPV6",) if t.ipv == 6 else ("SOL_SOCKET", "SOL_TCP", "SOL_IP", "no level")
    said = {}
    pairings = [("tcp", "tcp"), (family, family)]
    fallbacks = [("tcp", family), (family, "tcp")] if t.long else []
    for i, kinds in enumerate(pairings + fallbacks):
        t.step(f"server on {kinds[0]}, client on {kinds[1]}")
        s = t.half(t.a, server, kinds[0], port=port + 10 * i, levels=levels)
        s.expect("listening", t.left())
        c = t.half(t.b, client, kinds[1], port=port + 10 * i, levels=levels)
        t.wait_all(s, c)
        said[kinds] = s.value, c.value
    bad = []
    tcp, smc = (said[kinds] for kinds in pairings)
    for name in tcp[0]:
        how = table.get(name, "works")
        bad += as_listed(name, how, [said[name] for said in tcp])
        for side in (0, 1):
            if family != "tcp":
                bad += differences(name, how, tcp[side][name], smc[side][name])
        if how == "falls back" and family != "tcp":
            bad += must_fall_back(name, [said[name] for said in tcp],
                                  [said[name] for said in smc], lacking)
        if fallbacks:
            bad += after_fallback(name, how, tcp, *(said[kinds] for kinds in fallbacks))
    return [f"{family}: {text}" for text in bad]


def run(t):
    table = documented(t)
    tried = {name for _, name, _, _ in options() if name != "OPT_1"}
    t.equal(sorted(table), sorted(tried), "options of the document and of this scenario")
    headers_agree(t)
    lacking = load_key_managers(t)
    bad = compared(t, t.family, 5300, table, lacking)
    if t.long and t.family == "smc":
        bad += compared(t, "inet_smc", 5350, table, lacking)
    t.check(not bad, "\n  ".join([f"{len(bad)} differences:"] + bad))
