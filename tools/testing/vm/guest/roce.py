# SPDX-License-Identifier: GPL-2.0
"""An RNIC in user space: reliable connected queue pairs of RoCE v2 over a packet socket.

An Rnic is a RawHost that also answers RoCE. It has as many queue pairs as wanted, and a
process has as many RNICs as wanted on one segment. It sends SENDs and RDMA WRITEs of one packet,
and receives those of any length. Both are acknowledged, in order and repeated, as the InfiniBand
specification says for RC. What real RNICs do not offer to a test: a queue pair that is deaf
does not acknowledge, and memory counts what is written to it.

All happens while the process waits for something by until().
"""
import random
import socket
import struct
import time
import zlib

from rawpeer import RawHost

ROCE_PORT = 4791
RETRY = 0.4                 # seconds until a packet without acknowledgment is sent again
BTH = struct.Struct("!BBHII")
SEND_ONLY, WRITE_FIRST, WRITE_MIDDLE, WRITE_LAST, WRITE_LAST_IMM, WRITE_ONLY, WRITE_ONLY_IMM = (
    0x04, 0x06, 0x07, 0x08, 0x09, 0x0a, 0x0b)
HAS_RETH = (WRITE_FIRST, WRITE_ONLY, WRITE_ONLY_IMM)
HAS_IMM = (WRITE_LAST_IMM, WRITE_ONLY_IMM)
ACKNOWLEDGE = 0x11
ACK_ANY, NAK_SEQUENCE, NAK_ACCESS = 0x1f, 0x60, 0x62
PSN_MASK, ACK_REQUEST = 0xffffff, 1 << 31


class Region:
    """Registered memory: a key, an address that the peer uses, and what was written."""

    def __init__(self, rnic, size, memory=None):
        self.rkey = random.getrandbits(32)
        self.addr = random.getrandbits(40) << 12
        self.data = bytearray(size) if memory is None else memory
        self.writes = 0
        rnic.regions[self.rkey] = self

    def write(self, addr, data):
        at = addr - self.addr
        if at < 0 or at + len(data) > len(self.data):
            return False
        self.data[at:at + len(data)] = data
        self.writes += 1
        return True


class QueuePair:
    """One end of a reliable connection."""

    def __init__(self, rnic):
        self.rnic = rnic
        self.qpn = random.randrange(0x100, 0xfffff0)
        self.psn = self.next = random.getrandbits(24)   # the first one, and that of the next packet
        self.expected = 0       # from the peer
        self.peer_gid, self.peer_qpn = None, 0
        self.is_deaf = False
        self.error = None       # why the peer refuses everything
        self.unacked = []       # (psn, packet behind the BTH, opcode)
        self.sent_at = 0
        self.received = []      # SENDs
        self.target = None      # of a WRITE of several packets: region, address
        self.has_nak = False
        rnic.qps[self.qpn] = self

    def connect(self, gid, qpn, psn):
        self.peer_gid, self.peer_qpn, self.expected = gid, qpn, psn

    # As requester

    def post(self, opcode, payload):
        self.unacked.append((self.next, payload, opcode))
        self.transmit(*self.unacked[-1])
        self.next = self.next + 1 & PSN_MASK
        self.sent_at = time.monotonic()

    def send(self, message):
        self.post(SEND_ONLY, bytes(message))

    def write(self, rkey, addr, data):
        self.post(WRITE_ONLY, struct.pack("!QII", addr, rkey, len(data)) + bytes(data))

    def transmit(self, psn, payload, opcode, ack=ACK_REQUEST):
        pad = -len(payload) % 4
        head = BTH.pack(opcode, pad << 4, 0xffff, self.peer_qpn, ack | psn)
        self.rnic.send_roce(self.peer_gid[12:], head + payload + bytes(pad))

    def again(self):
        if self.unacked and not self.error and time.monotonic() - self.sent_at > RETRY:
            for one in self.unacked:
                self.transmit(*one)
            self.sent_at = time.monotonic()

    def on_ack(self, psn, syndrome):
        if syndrome >> 5 == 0:
            self.unacked = [u for u in self.unacked if psn - u[0] & PSN_MASK > 1 << 23]
        elif syndrome >> 5 == 3 and syndrome != NAK_SEQUENCE:
            self.error = f"NAK {syndrome:#x}"
        # what else asks for a repetition gets it after RETRY

    # As responder

    def answer(self, psn, syndrome):
        self.transmit(psn, struct.pack("!I", syndrome << 24), ACKNOWLEDGE, 0)

    def input(self, opcode, pad, psn, asks, body):
        if self.is_deaf:
            return
        if opcode == ACKNOWLEDGE:
            self.on_ack(psn, body[0])
            return
        ahead = psn - self.expected & PSN_MASK
        if ahead >= 1 << 23:
            self.answer(self.expected - 1 & PSN_MASK, ACK_ANY)
        elif ahead:
            if not self.has_nak:
                self.answer(self.expected, NAK_SEQUENCE)
            self.has_nak = True
        elif not self.take(opcode, body[:len(body) - pad]):
            self.answer(psn, NAK_ACCESS)
        else:
            self.has_nak = False
            self.expected = psn + 1 & PSN_MASK
            if asks:
                self.answer(psn, ACK_ANY)

    def take(self, opcode, body):
        if opcode == SEND_ONLY:
            self.received.append(body)
            return True
        if opcode in HAS_RETH:
            addr, rkey, _ = struct.unpack_from("!QII", body)
            self.target = [self.rnic.regions.get(rkey), addr]
            body = body[16:]
        elif opcode not in (WRITE_MIDDLE, WRITE_LAST, WRITE_LAST_IMM):
            return False
        if opcode in HAS_IMM:
            body = body[4:]
        region, addr = self.target
        self.target[1] += len(body)
        return bool(region) and region.write(addr, body)


class Rnic(RawHost):
    """A host on the segment with an RNIC."""

    def __init__(self, number, dev="eth0"):
        self.address = f"10.43.0.{number}"
        super().__init__(dev, self.address, f"5254004377{number:02x}")
        self.qps = {}
        self.regions = {}
        self.source_port = random.randrange(0xc000, 0xffff)

    def send_roce(self, dst, packet):
        udp = struct.pack("!HHHH", self.source_port, ROCE_PORT, 8 + len(packet) + 4, 0)
        head = self.ip_head(dst, socket.IPPROTO_UDP, len(udp) + len(packet) + 4)
        # the fields that routers change count as ones
        masked = b"\xff" * 8 + head[:1] + b"\xff" + head[2:8] + b"\xff" + head[9:10]
        masked += b"\xff\xff" + head[12:] + udp[:6] + b"\xff\xff" + packet[:4] + b"\xff"
        icrc = struct.pack("<I", zlib.crc32(masked + packet[5:]))
        self.send_packet(dst, head + udp + packet + icrc)

    def input_roce(self, packet):
        opcode, flags, _, qpn, psn = struct.unpack_from("!BBHII", packet)
        qp = self.qps.get(qpn & PSN_MASK)
        if qp:
            qp.input(opcode, flags >> 4 & 3, psn & PSN_MASK, bool(psn & ACK_REQUEST),
                     packet[12:-4])

    def again(self):
        super().again()
        for qp in list(self.qps.values()):
            qp.again()
