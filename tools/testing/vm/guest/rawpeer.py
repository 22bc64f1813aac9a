# SPDX-License-Identifier: GPL-2.0
"""A raw peer that sends arbitrary messages: TCP in Python over a packet socket.

The kernel offers SMC on a SYN only for its own SMC sockets, which follow the protocol. A
RawHost is another host on the segment, with a MAC and an IPv4 address of its own, run by a
process of a test machine. It answers ARP, opens and accepts TCP connections with the SMC
option, and sends the test's messages, or nothing. The machine's kernel does not have the
address and ignores its packets.

The TCP is a minimum for a clean segment: it receives in order, acknowledges every segment,
and retransmits unacknowledged bytes after a while.
"""
import random
import select
import socket
import struct
import time

ETH_ARP, ETH_IP = 0x0806, 0x0800
SOL_PACKET, PACKET_ADD_MEMBERSHIP, PACKET_MR_PROMISC = 263, 1, 1
PACKET_OUTGOING, PACKET_STATISTICS = 4, 6
SO_RCVBUFFORCE = 33
FIN, SYN, RST, PSH, ACK = 1, 2, 4, 8, 16
SMC_OPTION = bytes.fromhex("0101fe06e2d4c3d9")
MSS_OPTION = bytes.fromhex("020405b4")
EYE = bytes.fromhex("e2d4c3d9")
RETRY = 1.0
PROPOSAL, ACCEPT, CONFIRM, DECLINE = 1, 2, 3, 4
PATH_R, PATH_NONE = 0, 2


def checksum(data):
    if len(data) & 1:
        data += b"\0"
    s = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while s >> 16:
        s = (s & 0xffff) + (s >> 16)
    return ~s & 0xffff


class RawConn:
    """One connection of a RawHost."""

    def __init__(self, host, key):
        self.host = host
        self.key = key  # (peer address, peer port, own port)
        self.state = "new"  # new, syn, open
        self.syn = None  # the sequence number of the peer's SYN
        self.snd = random.getrandbits(32)
        self.una = self.snd
        self.unsent = b""  # sent, not acknowledged
        self.sent_at = 0
        self.rcv = 0
        self.data = b""
        self.fin = self.reset = False
        self.peer_offers_smc = False

    def send_segment(self, flags, payload=b"", options=b"", seq=None):
        seq = self.snd if seq is None else seq
        self.host.send_tcp(self.key, seq, self.rcv, flags, options, payload)

    def send(self, data):
        """Send bytes and retransmit them until the peer acknowledges them."""
        self.unsent += data
        self.send_segment(PSH | ACK, data)
        self.snd = self.snd + len(data) & 0xffffffff
        self.sent_at = time.monotonic()

    def recv(self, n, timeout):
        """Exactly N bytes, or fewer after the peer's end or the timeout."""
        self.host.until(lambda: len(self.data) >= n or self.fin or self.reset, timeout)
        out, self.data = self.data[:n], self.data[n:]
        return out

    def recv_clc(self, timeout):
        """A whole CLC message, or the bytes received instead."""
        self.host.until(lambda: len(self.data) >= 8 or self.fin or self.reset, timeout)
        if len(self.data) < 8:
            return self.recv(8, 0)
        return self.recv(struct.unpack_from("!H", self.data, 5)[0], timeout)

    def ended(self, timeout):
        """Wait for the peer's end: "reset", "fin" or None."""
        self.host.until(lambda: self.fin or self.reset, timeout)
        return "reset" if self.reset else "fin" if self.fin else None

    def close(self):
        """Send FIN."""
        self.send_segment(FIN | ACK)
        self.snd = self.snd + 1 & 0xffffffff

    def abort(self):
        self.send_segment(RST | ACK)
        self.host.conns.pop(self.key, None)

    def input(self, seq, ack, flags, payload, options):
        if flags & RST:
            self.reset = True
            return
        if self.state == "syn":
            if flags & (SYN | ACK) == SYN | ACK:
                self.rcv = seq + 1 & 0xffffffff
                self.snd = self.una = ack
                self.state = "open"
                self.peer_offers_smc = SMC_OPTION[2:] in options
                self.send_segment(ACK)
            return
        if flags & ACK:
            done = ack - self.una & 0xffffffff
            if 0 < done <= len(self.unsent) + 1:
                self.unsent = self.unsent[done:]
                self.una = ack
        if flags & SYN:
            return
        if seq == self.rcv:
            self.data += payload
            self.rcv = self.rcv + len(payload) & 0xffffffff
            if flags & FIN:
                self.rcv = self.rcv + 1 & 0xffffffff
                self.fin = True
        if payload or flags & FIN:
            self.send_segment(ACK)

    def again(self):
        if self.unsent and time.monotonic() - self.sent_at > RETRY:
            self.send_segment(PSH | ACK, self.unsent, seq=self.una)
            self.sent_at = time.monotonic()


class RawHost:
    """A host on the segment; a wait for one serves all hosts of the process."""

    everyone = []
    look_again = 0  # at unacknowledged bytes: not for every frame of hundreds

    def __init__(self, dev="eth0", ip="10.43.0.77", mac="525400437777"):
        self.ip = socket.inet_aton(ip)
        self.mac = bytes.fromhex(mac)
        self.sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
        # a dropped RST is not repeated, so make room
        self.sock.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 16 << 20)
        self.sock.bind((dev, 0))
        req = struct.pack("=IHH8s", socket.if_nametoindex(dev), PACKET_MR_PROMISC, 0, b"")
        self.sock.setsockopt(SOL_PACKET, PACKET_ADD_MEMBERSHIP, req)
        self.arp = {}
        self.conns = {}
        self.listening = {}
        self.roce = []  # RoCE packets that came for us
        self.ipid = 0
        self.everyone.append(self)

    def leave(self):
        """Leave the segment."""
        self.everyone.remove(self)
        self.sock.close()

    def lost(self):
        """The number of dropped frames since the last call."""
        stat = self.sock.getsockopt(SOL_PACKET, PACKET_STATISTICS, 8)
        return struct.unpack("=II", stat)[1]

    # Frames

    def send_arp(self, op, mac, ip):
        body = struct.pack("!HHBBH6s4s6s4s", 1, ETH_IP, 6, 4, op, self.mac, self.ip,
                           mac, ip)
        dst = b"\xff" * 6 if op == 1 else mac
        self.sock.send(dst + self.mac + struct.pack("!H", ETH_ARP) + body)

    def resolve(self, ip):
        while ip not in self.arp:
            self.send_arp(1, b"\0" * 6, ip)
            self.until(lambda: ip in self.arp, 0.5)
        return self.arp[ip]

    def ip_head(self, dst, proto, length):
        self.ipid = self.ipid + 1 & 0xffff
        head = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + length, self.ipid,
                           0x4000, 64, proto, 0, self.ip, dst)
        return head[:10] + struct.pack("!H", checksum(head)) + head[12:]

    def send_packet(self, dst, packet):
        self.sock.send(self.resolve(dst) + self.mac + struct.pack("!H", ETH_IP) + packet)

    def send_ip(self, dst, proto, payload):
        self.send_packet(dst, self.ip_head(dst, proto, len(payload)) + payload)

    def send_tcp(self, key, seq, ack, flags, options, payload):
        dst, dport, sport = key
        off = (20 + len(options)) // 4 << 4
        seg = struct.pack("!HHIIBBHHH", sport, dport, seq, ack, off, flags, 65000, 0, 0)
        seg += options + payload
        pseudo = self.ip + dst + struct.pack("!HH", 6, len(seg))
        seg = seg[:16] + struct.pack("!H", checksum(pseudo + seg)) + seg[18:]
        self.send_ip(dst, 6, seg)

    def input(self, frame):
        kind = struct.unpack_from("!H", frame, 12)[0]
        if kind == ETH_ARP and len(frame) >= 42:
            op, smac, sip, _, tip = struct.unpack_from("!H6s4s6s4s", frame, 20)
            if tip == self.ip:
                self.arp[sip] = smac
                if op == 1:
                    self.send_arp(2, smac, sip)
        elif kind == ETH_IP and len(frame) >= 34 and frame[30:34] == self.ip:
            self.input_ip(frame)

    def input_ip(self, frame):
        head = (frame[14] & 15) * 4
        total = struct.unpack_from("!H", frame, 16)[0]
        src, proto = frame[26:30], frame[23]
        seg = frame[14 + head:14 + total]
        if proto == 17 and struct.unpack_from("!H", seg, 2)[0] == 4791:
            self.input_roce(seg[8:])
        if proto != 6 or len(seg) < 20:
            return
        sport, dport, seq, ack, off, flags = struct.unpack_from("!HHIIBB", seg)
        hlen = (off >> 4) * 4
        key = (src, sport, dport)
        conn = self.conns.get(key)
        # a client may use a port again after a reset
        is_new = not conn or conn.syn != seq
        if is_new and flags & (SYN | ACK) == SYN and dport in self.listening:
            self.take(key, seq, seg[20:hlen])
        elif conn:
            conn.input(seq, ack, flags, seg[hlen:], seg[20:hlen])

    def input_roce(self, packet):
        self.roce.append(packet)

    def take(self, key, seq, options):
        smc, queue = self.listening[key[2]]
        conn = self.conns[key] = RawConn(self, key)
        conn.syn = seq
        conn.rcv = seq + 1 & 0xffffffff
        conn.state = "open"
        conn.peer_offers_smc = SMC_OPTION[2:] in options
        conn.send_segment(SYN | ACK, options=MSS_OPTION + (SMC_OPTION if smc else b""))
        conn.snd = conn.una = conn.snd + 1 & 0xffffffff
        queue.append(conn)

    def pump(self, timeout):
        """Handle the frames of TIMEOUT seconds, at least those that are there."""
        by_sock = {host.sock: host for host in self.everyone}
        for sock in select.select(list(by_sock), [], [], max(0, timeout))[0]:
            frame, addr = sock.recvfrom(65536)
            if addr[2] != PACKET_OUTGOING and len(frame) >= 14:
                by_sock[sock].input(frame)
        if time.monotonic() < RawHost.look_again:
            return
        RawHost.look_again = time.monotonic() + RETRY / 4
        for host in self.everyone:
            host.again()

    def again(self):
        for conn in list(self.conns.values()):
            conn.again()

    def until(self, cond, timeout):
        end = time.monotonic() + timeout
        while not cond():
            left = end - time.monotonic()
            if left <= 0:
                return False
            self.pump(min(left, 0.2))
        return True

    # Connections

    def connect(self, ip, port, smc=True, seq=None):
        """Open a connection, with the SMC option if SMC is true.

        SEQ is the initial sequence number, by default a random one. The half's deadline is
        the only limit of the wait for an answer.
        """
        key = None
        while not key or key in self.conns:
            key = (socket.inet_aton(ip), port, random.randrange(20000, 60000))
        conn = self.conns[key] = RawConn(self, key)
        conn.state = "syn"
        if seq is not None:
            conn.snd = seq
        while conn.state != "open" and not conn.reset:
            conn.send_segment(SYN, options=MSS_OPTION + (SMC_OPTION if smc else b""))
            self.until(lambda: conn.state == "open" or conn.reset, 1)
        return conn

    def listen(self, port, smc=True):
        self.listening[port] = (smc, [])

    def accept(self, port, timeout):
        queue = self.listening[port][1]
        if not self.until(lambda: queue, timeout):
            raise OSError("nobody connected")
        return queue.pop(0)

    # CLC messages

    def peer_id(self):
        return b"\x12\x34" + self.mac

    def gid(self):
        return b"\0" * 10 + b"\xff\xff" + self.ip

    def proposal(self, prefix=24, peer_id=None):
        """A Proposal as RFC 7609 A.2.2 has it: 52 bytes, version 1."""
        mask = (0xffffffff << 32 - prefix) & 0xffffffff
        net = struct.unpack("!I", self.ip)[0] & mask
        body = (peer_id or self.peer_id()) + self.gid() + self.mac + struct.pack("!H", 0)
        body += struct.pack("!IBHB", net, prefix, 0, 0)
        return self.clc(PROPOSAL, body)

    @staticmethod
    def proposal_v2(gid, eid):
        """A Proposal of version 2.1 only, by a host without a name."""
        msg = bytearray(156)
        msg[0:4] = msg[152:156] = EYE
        struct.pack_into("!BHB", msg, 4, PROPOSAL, len(msg), 2 << 4 | PATH_R << 2 | PATH_NONE)
        # after the place of an area of SMC-D, where the extension is, too
        struct.pack_into("!H", msg, 38, 40)
        struct.pack_into("!H", msg, 50, 28)
        struct.pack_into("!B2xB4x16sBB", msg, 80, 1, 1 << 4, gid, 255, 1)
        msg[120:152] = eid.encode().ljust(32)
        return bytes(msg)

    def with_v1(self, msg):
        """The Proposal MSG with version 1 added: the IP area follows the extension."""
        area = len(msg) - 4
        msg = bytearray(msg[:-4] + struct.pack("!4sBHB", self.ip[:3] + b"\0", 24, 0, 0) + EYE)
        struct.pack_into("!HB", msg, 5, len(msg), 2 << 4 | PATH_R << 2 | PATH_R)
        msg[8:38] = self.peer_id() + self.gid() + self.mac
        struct.pack_into("!H", msg, 38, area - 40)
        return bytes(msg)

    @staticmethod
    def clc(kind, body, flags=0x10):
        return EYE + struct.pack("!BHB", kind, 12 + len(body), flags) + body + EYE

    def accept_or_confirm(self, kind, qpn=0x123, first=True, mtu=3, psn=0x4711,
                          index=1, token=0x01020304):
        """Accept or Confirm of a queue pair that does not exist."""
        body = self.peer_id() + self.gid() + self.mac + qpn.to_bytes(3, "big")
        body += struct.pack("!IBIBBQB", 0x1000, index, token, 2 << 4 | mtu, 0,
                            0x10000, 0) + psn.to_bytes(3, "big")
        flags = 0x18 if first and kind == ACCEPT else 0x10
        return self.clc(kind, body, flags)

    def answer_v2(self, kind, eid, first=True, conns=16, links=1, **kw):
        """Accept or Confirm of version 2.1; on first contact with its extension."""
        body = self.accept_or_confirm(kind, **kw)[8:-4] + eid.encode().ljust(32) + bytes(8)
        if first:
            body += struct.pack("!BBH32sBBH12x", 0x80, 2 << 4 | 1, 0, b"RAW".ljust(32), conns,
                                links, 0)
            if kind == CONFIRM:
                body += struct.pack("!B3x", 1) + self.gid()
        return self.clc(kind, body, 2 << 4 | (8 if first else 0))

    def decline(self, diagnosis=0x03030000, sync=False):
        return self.clc(DECLINE, self.peer_id() + struct.pack("!II", diagnosis, 0),
                        0x18 if sync else 0x10)
