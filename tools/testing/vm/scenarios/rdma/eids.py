# SPDX-License-Identifier: GPL-2.0
"""SMC_GEN_NETLINK lets tools manage EIDs and handshakes, and checks who may do so."""
import ctypes
import errno
import os
import struct
import sys

import netns

kernels = ("stock",)
ipv = (4,)
dialects = (0,)
timeout = 30
CLONE_NEWNET = 0x40000000
DUMP, ADD, REMOVE, FLUSH, DUMP_SEID, ENABLE_SEID, DISABLE_SEID = range(9, 16)
DUMP_LIMIT, ENABLE_LIMIT, DISABLE_LIMIT = range(16, 19)
ENTRY = 1
LIMIT = 1
NLM_F_REQUEST, NLM_F_DUMP = 1, 0x300
NLMSG_ERROR, NLMSG_DONE = 2, 3


def entry(genl, text):
    return genl.attribute(ENTRY, text.ljust(32).encode() + b"\0")


def dump(genl, f, cmd):
    """The attributes of each message."""
    head = struct.pack("=IHHII", 20, f.id, NLM_F_REQUEST | NLM_F_DUMP, 7, 0)
    f.sock.send(head + struct.pack("=BBH", cmd, 1, 0))
    out = []
    while True:
        data = f.sock.recv(1 << 16)
        while data:
            size, kind = struct.unpack_from("=IH", data)
            if kind == NLMSG_DONE:
                return out
            if kind == NLMSG_ERROR:
                raise OSError(-struct.unpack_from("=i", data, 16)[0], "dump")
            out.append(genl.attributes(data[20:size]))
            data = data[(size + 3) & ~3:]


def says(h, f, cmd, attrs, want, what):
    """Command CMD ends with the errno WANT, 0 for none."""
    try:
        f.do(cmd, attrs)
        got = 0
    except OSError as e:
        got = e.errno
    h.equal(errno.errorcode.get(got, got), errno.errorcode.get(want, want), what)


def eids(genl, f):
    return [a[ENTRY] for a in dump(genl, f, DUMP)]


def by_root(h, genl, f):
    table = [f"BENCH-{i}.X" for i in range(4)]
    padded = [x.ljust(32).encode() + b"\0" for x in table]
    for bad in ("", "bench", "-BENCH", ".BENCH", "BEN..CH", "BEN CH", "BENCH_"):
        says(h, f, ADD, entry(genl, bad), errno.EINVAL, f"add {bad!r}")
    for size in (0, 1, 31, 32, 34, 40):
        says(h, f, ADD, genl.attribute(ENTRY, b"B" * (size - 1) + b"\0" if size else b""),
             errno.EINVAL, f"add an EID in {size} bytes")
    says(h, f, ADD, b"", errno.EINVAL, "add nothing")
    h.equal(eids(genl, f), [], "EIDs after that")
    says(h, f, REMOVE, entry(genl, table[0]), errno.ENOENT, "remove what is not there")
    for i, name in enumerate(table):
        says(h, f, ADD, entry(genl, name), 0, f"add {name}")
        says(h, f, ADD, entry(genl, name), errno.EEXIST, f"add {name} again")
        h.equal(eids(genl, f), padded[:i + 1], "EIDs")
    says(h, f, ADD, entry(genl, "ONE-MORE"), errno.ERANGE, "add one more")
    says(h, f, REMOVE, entry(genl, table[1]), 0, "remove the second one")
    h.equal(eids(genl, f), [padded[0]] + padded[2:], "EIDs that are left")
    says(h, f, FLUSH, entry(genl, table[0]), errno.EINVAL, "flush with a name")
    for cmd in (ENABLE_SEID, DISABLE_SEID):
        says(h, f, cmd, b"", errno.EOPNOTSUPP, f"command {cmd}")
    h.equal(dump(genl, f, DUMP_SEID), [{}], "the system EID, which is not there")


def limit_is(h, genl, f, want, when):
    """Handshakes are limited, or not, by the family and by the setting."""
    h.equal(dump(genl, f, DUMP_LIMIT), [{LIMIT: bytes([want])}], f"the limit {when}")
    with open("/proc/sys/net/smc/limit_smc_hs", encoding="ascii") as file:
        h.equal(int(file.read()), want, f"limit_smc_hs {when}")


def limit_by_root(h, genl, f):
    limit_is(h, genl, f, 0, "by default")
    says(h, f, ENABLE_LIMIT, entry(genl, "BENCH-9"), errno.EINVAL, "enable the limit with a name")
    limit_is(h, genl, f, 0, "after that")
    for cmd, want in ((ENABLE_LIMIT, 1), (ENABLE_LIMIT, 1), (DISABLE_LIMIT, 0),
                      (DISABLE_LIMIT, 0), (ENABLE_LIMIT, 1)):
        says(h, f, cmd, b"", 0, f"command {cmd}")
        limit_is(h, genl, f, want, f"after command {cmd}")


def by_nobody(h, genl, f):
    had = eids(genl, f)
    for cmd in (ADD, REMOVE, FLUSH, ENABLE_SEID, DISABLE_SEID, ENABLE_LIMIT, DISABLE_LIMIT):
        attrs = entry(genl, "BENCH-9") if cmd in (ADD, REMOVE) else b""
        says(h, f, cmd, attrs, errno.EPERM, f"command {cmd} without rights")
    h.equal(eids(genl, f), had, "EIDs as before")
    h.equal(dump(genl, f, DUMP_SEID), [{}], "the system EID")
    limit_is(h, genl, f, 1, "as before")


def with_family(h, genl, func):
    with genl.Family("SMC_GEN_NETLINK") as f:
        func(h, genl, f)


def tool(h):
    sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../../../bench"))
    import genl

    with genl.Family("SMC_GEN_NETLINK") as f:
        f.do(FLUSH)
        by_root(h, genl, f)
        limit_by_root(h, genl, f)
        netns.in_child(h, with_family, genl, by_nobody, uid=65534)
        # every namespace shows the EIDs of the host
        had = eids(genl, f)
        h.equal(ctypes.CDLL(None).unshare(CLONE_NEWNET), 0, "unshare")
        with genl.Family("SMC_GEN_NETLINK") as inside:
            h.equal(eids(genl, inside), had, "EIDs in another namespace")
            # which does not change them, even for root
            for cmd in (ADD, REMOVE, FLUSH):
                attrs = entry(genl, had[0][:32].decode()) if cmd != FLUSH else b""
                says(h, inside, cmd, attrs, errno.EPERM, f"command {cmd} in another namespace")
            h.equal(eids(genl, f), had, "EIDs of the host after that")
            # the limit is each namespace's own
            limit_is(h, genl, inside, 0, "in another namespace")
            says(h, inside, ENABLE_LIMIT, b"", 0, "enable the limit there")
            limit_is(h, genl, inside, 1, "there")
            says(h, f, DISABLE_LIMIT, b"", 0, "disable it in the first one")
            limit_is(h, genl, inside, 1, "there, still")
            h.equal(dump(genl, f, DUMP_LIMIT), [{LIMIT: b"\0"}], "the limit in the first one")
        f.do(FLUSH)
        h.equal(eids(genl, f), [], "EIDs in the end")


def run(t):
    t.wait_all(t.half(t.a, tool))
