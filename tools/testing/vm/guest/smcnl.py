# SPDX-License-Identifier: GPL-2.0
"""Asks the family SMC_GEN_NETLINK as deployed tools do, and reads answers as strictly.

An answer is a dictionary by attribute number. NESTS and PLAIN say what each number is; a
number, length or flag that does not fit is an error.
"""
import os
import socket
import struct

import netns

NETLINK_GENERIC = 16
NLM_F_REQUEST, NLM_F_MULTI, NLM_F_ACK, NLM_F_DUMP = 1, 2, 4, 0x300
NLMSG_ERROR, NLMSG_DONE = 2, 3
NLA_F_NESTED = 0x8000
SOL_NETLINK, NETLINK_ADD_MEMBERSHIP = 270, 1
CTRL, CTRL_GETFAMILY, CTRL_ID, CTRL_NAME, CTRL_GROUPS = 16, 3, 1, 2, 7
SYS_INFO, LGR, LINK, LGR_D, DEV_D, DEV, STATS, FBACK = range(1, 9)
EVENT, COUNTER = 64, 65
DUMP_COUNTERS, END_LINK = 106, 107
LGR_UP, LGR_DOWN, LINK_UP, LINK_DOWN, TCP, PEER, SERVICE = range(64, 71)


def plain(**lists):
    return {n: kind for kind, numbers in lists.items() for n in numbers}


COUNTS = plain(u64=range(1, 12))
SIZES, RINGS = plain(u64=range(1, 10)), plain(u64=range(1, 8))
PORT = plain(u8=(1, 4, 5), text=(2,), u32=(3, 6))
DEVICE = {**plain(u32=(1, 3), u8=(2,), u16=(4, 5, 6), text=(7, 10)), 8: PORT, 9: PORT, 64: COUNTS}
TECH = {**{n: SIZES for n in range(1, 5)}, 5: RINGS, 6: RINGS,
        **plain(u64=range(7, 20), uint=(20, 21))}
TOP = {
    SYS_INFO: plain(u8=(1, 2, 3, 6, 65), text=(4, 5, 64), u32=(66, 67)),
    LGR: {**plain(u32=(1, 6), u8=(2, 3, 5, 11, 65, 66, 67, 68, 69, 70, 71), u16=(64,), text=(4,),
                  u64=(9,), uint=(12, 13, 74, 75), raw=(72, 73)),
          7: plain(u8=(0, 1, 2), text=(3, 4)), 8: plain(u8=(1, 2, 3)), 76: COUNTS},
    LINK: {**plain(u8=(1, 3), text=(2, 4, 5), u32=(6, 7, 8, 9, 10, 64, 65, 66, 67)), 68: COUNTS},
    DEV: DEVICE,
    STATS: {2: TECH, **plain(u64=(3, 4))},
    COUNTER: plain(text=(1,), u64=(2,)),
    FBACK: plain(u8=(1,), u64=(2, 3, 64), u32=(4,), u16=(5,), text=(65,)),
    EVENT: plain(u64=(1, 10), text=(2,), u32=(3, 4, 11, 13), u8=(5, 14), raw=(6, 8), u16=(7, 9)),
}
SIZE = {"u8": 1, "u16": 2, "u32": 4, "u64": 8}
FORM = {1: "=B", 2: "=H", 4: "=I", 8: "=Q"}


def value(kind, data, where):
    if kind == "raw":
        return data
    if kind == "text":
        if not data.endswith(b"\0") or b"\0" in data[:-1]:
            raise ValueError(f"{where}: {data!r} is no string")
        return data[:-1].decode("ascii")
    if len(data) != SIZE.get(kind, len(data)) or len(data) not in FORM:
        raise ValueError(f"{where}: {len(data)} bytes for {kind}")
    return struct.unpack(FORM[len(data)], data)[0]


def decode(data, spec, where):
    out = {}
    while data:
        size, kind = struct.unpack_from("=HH", data)
        number = kind & 0x3fff
        if size < 4 or size > len(data):
            raise ValueError(f"{where}: attribute {number} of {size} bytes in {len(data)}")
        what = spec.get(number)
        if what is None or number in out:
            raise ValueError(f"{where}: unknown or second attribute {number}")
        if bool(kind & NLA_F_NESTED) != isinstance(what, dict):
            raise ValueError(f"{where}: nesting of attribute {number}")
        body, name = data[4:size], f"{where}.{number}"
        out[number] = decode(body, what, name) if isinstance(what, dict) else \
            value(what, body, name)
        data = data[(size + 3) & ~3:]
    return out


def groups(data):
    """{name: id} of CTRL_ATTR_MCAST_GROUPS."""
    out = {}
    while data:
        size, _ = struct.unpack_from("=HH", data)
        one, entry = data[4:size], {}
        while one:
            n, kind = struct.unpack_from("=HH", one)
            entry[kind] = one[4:n]
            one = one[(n + 3) & ~3:]
        out[entry[1].rstrip(b"\0").decode()] = struct.unpack("=I", entry[2])[0]
        data = data[(size + 3) & ~3:]
    return out


def counters(name=None):
    """The counters of this network namespace, or of the namespace NAME.

    None without the module, or of another one. Loads no module.
    """
    if not os.path.isdir("/proc/sys/net/smc"):
        return {}
    try:
        with netns.inside(name):
            family = Family()
        with family as f:
            return f.counters()
    except OSError:
        return {}


def link_groups(name=None):
    """Active groups of this network namespace, or of the namespace NAME, with their links.

    As [{"lgr": attributes, "links": [attributes]}].
    """
    if not os.path.isdir("/proc/sys/net/smc"):
        return []
    out = []
    with netns.inside(name):
        family = Family()
    with family as f:
        for cmd, attrs in f.dump(LINK):
            if cmd == LGR:
                out.append({"lgr": attrs[LGR], "links": []})
            else:
                out[-1]["links"].append(attrs[LINK])
    for group in out:
        group["lgr"] = {k: v.hex() if isinstance(v, bytes) else v
                        for k, v in group["lgr"].items()}
    return out


class Family:
    """A socket that asks the family. BUFFER limits the kernel's messages of a dump."""

    def __init__(self, buffer=1 << 15):
        self.buffer = buffer
        self.nr_reads = 0
        self.sock = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_GENERIC)
        self.sock.bind((0, 0))
        name = b"SMC_GEN_NETLINK\0"
        attr = struct.pack("=HH", 4 + len(name), CTRL_NAME) + name
        self.send(CTRL, CTRL_GETFAMILY, attr, NLM_F_REQUEST)
        # the kernel makes parts of a dump as long as the longest read so far
        data = self.sock.recv(self.buffer)
        size, kind = struct.unpack_from("=IH", data)
        if kind == NLMSG_ERROR:
            raise OSError(-struct.unpack_from("=i", data, 16)[0], "no family")
        self.groups, data = {}, data[20:size]
        while data:
            size, kind = struct.unpack_from("=HH", data)
            if kind & 0x3fff == CTRL_ID:
                self.id = struct.unpack_from("=H", data, 4)[0]
            if kind & 0x3fff == CTRL_GROUPS:
                self.groups = groups(data[4:size])
            data = data[(size + 3) & ~3:]

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.sock.close()

    def send(self, family, cmd, attrs, flags):
        body = struct.pack("=BBH", cmd, 1, 0) + attrs
        self.sock.send(struct.pack("=IHHII", 16 + len(body), family, flags, 7, 0) + body)

    def answers(self, done=True):
        """(command, payload) of each message, until the end of the dump."""
        while True:
            data = self.sock.recv(self.buffer)
            self.nr_reads += 1
            while data:
                size, kind, flags, seq = struct.unpack_from("=IHHI", data)
                if size < 16 or size > len(data):
                    raise ValueError(f"a message of {size} bytes in {len(data)}")
                if kind == NLMSG_DONE or kind == NLMSG_ERROR:
                    code = -struct.unpack_from("=i", data, 16)[0]
                    if code > 0:
                        raise OSError(code, os.strerror(code))
                    return
                if done and (kind != self.id or not flags & NLM_F_MULTI or seq != 7):
                    raise ValueError(f"type {kind}, flags {flags:#x}, sequence {seq}")
                yield data[16], data[20:size]
                data = data[(size + 3) & ~3:]
            if not done:
                return

    def dump(self, cmd, attrs=b""):
        """[(command, attributes)] of the answer."""
        self.send(self.id, cmd, attrs, NLM_F_REQUEST | NLM_F_DUMP)
        return [(got, decode(data, TOP, f"command {got}")) for got, data in self.answers()]

    def nests(self, cmd, number=None):
        """The nest of each message of a dump that has one kind of message."""
        number = number or cmd
        out = self.dump(cmd)
        if any(got != cmd or list(attrs) != [number] for got, attrs in out):
            raise ValueError(f"other messages in a dump of {cmd}: {out}")
        return [attrs[number] for _, attrs in out]

    def counters(self):
        """{name: value} of the namespace's counters."""
        return {c[1]: c[2] for c in self.nests(DUMP_COUNTERS, COUNTER)}

    def end_link(self, group, link=None):
        """Order the end of a link, or of a group."""
        attrs = struct.pack("=HHI", 8, 64, group)
        if link is not None:
            attrs += struct.pack("=HHBxxx", 5, 1, link)
        self.send(self.id, END_LINK, attrs, NLM_F_REQUEST | NLM_F_ACK)
        list(self.answers(done=False))

    def join(self):
        self.sock.setsockopt(SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, self.groups["events"])

    def events(self):
        """[(command, attributes)] of what was sent so far, or the next one."""
        return [(got, decode(data, TOP, f"event {got}"))
                for got, data in self.answers(done=False)]
