# SPDX-License-Identifier: GPL-2.0
"""Parses a capture of the relay: TCP, CLC, RDMA, LLC and CDC.

Frames are in the order of the wire. Scenarios select an Accept, a Confirm or an LLC
request by attributes of the frame.
"""
import ipaddress
import struct

EYE = bytes.fromhex("e2d4c3d9")
SMC_OPTION = bytes.fromhex("fe06e2d4c3d9")
FIN, SYN, RST, PSH, ACK = 1, 2, 4, 8, 16
PROPOSAL, ACCEPT, CONFIRM, DECLINE = 1, 2, 3, 4
CONFIRM_LINK, ADD_LINK, DELETE_LINK, CONFIRM_RKEY, TEST_LINK = 1, 2, 4, 6, 7
DELETE_RKEY, CDC = 9, 0xfe
RC_SEND_ONLY, RC_ACK = 0x04, 0x11
RC_WRITES = (0x06, 0x07, 0x08, 0x0a)  # without immediate data
RETH = (0x06, 0x0a)
RNR_NAK = 0x20
ROCE_PORT = 4791


class Frame:
    """One frame; absent parts are None or empty.

    TIME is in seconds, ETHER the sender's MAC address.
    """

    def __init__(self, number, time, ether, src, dst):
        self.n = number
        self.time, self.ether = time, ether
        self.src, self.dst = src, dst
        self.sport = self.dport = self.flags = self.seq = self.opcode = None
        self.ttl = self.tos = None
        self.options = self.payload = b""
        self.clc = self.llc = None
        self.is_reply = self.is_retry = False

    def __repr__(self):
        what = f"clc {self.clc}" if self.clc else f"llc {self.llc}" if self.llc else \
            f"roce {self.opcode:#x}" if self.opcode is not None else f"tcp {self.flags:#x}"
        return f"#{self.n} {self.src}>{self.dst} {what} {self.payload[:68].hex()}"

    # of Accept and Confirm

    @property
    def peer_id(self):
        return self.payload[8:16]

    @property
    def gid(self):
        return self.payload[16:32]

    @property
    def mac(self):
        return self.payload[32:38]

    @property
    def first_contact(self):
        return bool(self.payload[7] & 8)

    @property
    def rkey(self):
        """The key in Accept, Confirm and CONFIRM RKEY."""
        at = 41 if self.clc else 5
        return self.payload[at:at + 4]

    @property
    def link(self):
        """The sender's queue pair in Accept and Confirm."""
        return int.from_bytes(self.payload[38:41], "big")

    @property
    def first_psn(self):
        return int.from_bytes(self.payload[61:64], "big")


def tcp(f, seg):
    f.sport, f.dport, f.seq, _, off, f.flags = struct.unpack_from("!HHIIBB", seg)
    f.options = seg[20:(off >> 4) * 4]
    f.payload = seg[(off >> 4) * 4:]
    if len(f.payload) >= 8 and f.payload[:4] == EYE and f.payload[-4:] == EYE:
        f.clc = f.payload[4]


def roce(f, pkt):
    f.opcode = pkt[0]
    f.qpn = int.from_bytes(pkt[5:8], "big")
    f.psn = int.from_bytes(pkt[9:12], "big")
    f.payload = pkt[12:-4]
    if f.opcode in RETH:
        f.addr, f.write_rkey, f.length = struct.unpack_from("!Q4sI", f.payload)
    if f.opcode == RC_SEND_ONLY and len(f.payload) == 44:
        f.llc = f.payload[0]
        f.is_reply = f.llc != CDC and bool(f.payload[3] & 0x80)


def ipv4(ip):
    """The protocol, hop limit, TOS, addresses and payload of an IPv4 packet."""
    total, = struct.unpack_from("!H", ip, 2)
    return ip[9], ip[8], ip[1], ip[12:16], ip[16:20], ip[(ip[0] & 15) * 4:total]


def ipv6(ip):
    """The same of an IPv6 packet without extension headers."""
    size, = struct.unpack_from("!H", ip, 4)
    return ip[6], ip[7], (ip[0] << 4 | ip[1] >> 4) & 255, ip[8:24], ip[24:40], ip[40:40 + size]


PACKETS = {b"\x08\0": (20, ipv4), b"\x86\xdd": (40, ipv6)}


def parse(number, time, data):
    least, packet = PACKETS.get(data[12:14], (0, None))
    if not packet or len(data) < 14 + least:
        return None
    proto, ttl, tos, src, dst, body = packet(data[14:])
    f = Frame(number, time, data[6:12], *(str(ipaddress.ip_address(x)) for x in (src, dst)))
    f.ttl, f.tos = ttl, tos
    if proto == 6:
        tcp(f, body)
    elif proto == 17 and struct.unpack_from("!H", body, 2)[0] == ROCE_PORT:
        roce(f, body[8:])
    else:
        return None
    return f


def read(path):
    """All frames of a capture; retransmissions are marked as retry."""
    with open(path, "rb") as file:
        raw = file.read()
    order = "<" if raw[:4] in (b"\xd4\xc3\xb2\xa1", b"\x4d\x3c\xb2\xa1") else ">"
    out, seen, at, number = [], set(), 24, 0
    while at + 16 <= len(raw):
        sec, usec, size = struct.unpack_from(order + "III", raw, at)
        f = parse(number, sec + usec / 1e6, raw[at + 16:at + 16 + size])
        at, number = at + 16 + size, number + 1
        if not f:
            continue
        if f.opcode not in (None, RC_ACK):
            key = (f.dst, f.qpn, f.psn, f.opcode)
            f.is_retry = key in seen
            seen.add(key)
        elif f.payload and f.sport:
            key = (f.src, f.sport, f.dport, f.seq)
            f.is_retry = key in seen
            seen.add(key)
        out.append(f)
    return out


class Handshake:
    """The CLC messages of one connection, identified by its client's port."""

    def __init__(self, frames, syn):
        self.client, self.server = syn.src, syn.dst
        self.ports = (syn.sport, syn.dport)
        mine = [f for f in frames if f.sport and {f.sport, f.dport} == set(self.ports)
                and {f.src, f.dst} == {syn.src, syn.dst} and not f.is_retry]
        self.tcp = mine
        self.syn = syn
        self.synack = next((f for f in mine if f.flags & (SYN | ACK) == SYN | ACK), None)
        by_type = {f.clc: f for f in mine if f.clc}
        self.proposal = by_type.get(PROPOSAL)
        self.accept = by_type.get(ACCEPT)
        self.confirm = by_type.get(CONFIRM)
        self.decline = by_type.get(DECLINE)


def handshakes(frames, port):
    """The handshakes of the connections to a port, in the order of their SYNs."""
    out, seen = [], set()
    for f in frames:
        if f.sport and f.dport == port and f.flags & (SYN | ACK) == SYN and \
                (f.src, f.sport) not in seen:
            seen.add((f.src, f.sport))
            out.append(Handshake(frames, f))
    return out
