# SPDX-License-Identifier: GPL-2.0
"""A peer of SMC-R version 1 in user space, of one or more RNICs: the RFC, and nothing else.

The messages are laid out from the figures of RFC 7609 appendix A. The methods are the steps of
the RFC's flows; a test leaves one out, repeats it or says something else, and looks at the
answers. No step knows what the module does, and what was not expected fails the test.
"""
import random
import struct

from rawpeer import ACCEPT, CONFIRM, DECLINE, EYE, PROPOSAL
from roce import QueuePair, Region, Rnic

CONFIRM_LINK, ADD_LINK, ADD_CONT, DELETE_LINK, CONFIRM_RKEY, TEST_LINK, RKEY_CONT, DELETE_RKEY = (
    1, 2, 3, 4, 6, 7, 8, 9)
CDC = 0xfe
R = 0x80                                            # flags of LLC messages: a reply
REJECTED, ALL, ORDERLY, NEGATIVE, RETRY = 0x40, 0x40, 0x20, 0x20, 0x10
OFFER = 0x03        # reserved bits of CONFIRM LINK: a server of Linux offers its own dialect
NO_PATH, BAD_MTU = 1, 2                             # reasons of a rejection
LOST_PATH, OPERATOR, PROGRAM, PROTOCOL, ASYMMETRIC, UNKNOWN_LINK = (
    0x10000, 0x20000, 0x30000, 0x40000, 0x50000, 0x100000)
B, P, U, REQUEST, F = 0x80, 0x40, 0x20, 0x10, 0x08  # producer flags
D, C, A = 0x80, 0x40, 0x20                          # connection state flags
FIRST = 0x08                                        # F of Accept, in byte 7
MTU_1024, SIZE_CODE, SIZE, EYE_CATCHER = 3, 0, 16384, 4
ELEMENTS = 4

END = {"mac": (4, 6), "gid": (10, 16), "qpn": (26, 3), "num": (29, 1)}
LLC = {
    CONFIRM_LINK: {**END, "user_id": (30, 4), "max_links": (34, 1), "rest": (35, 9)},
    ADD_LINK: {**END, "reason": (2, 1), "mtu": (30, 1), "psn": (31, 3), "rest": (34, 10)},
    ADD_CONT: {"num": (4, 1), "count": (5, 1),
               **{f"{what}{i}": (16 * i - 8 + at, size) for i in (1, 2)
                  for what, at, size in (("ref", 0, 4), ("rkey", 4, 4), ("addr", 8, 8))}},
    DELETE_LINK: {"num": (4, 1), "reason": (5, 4), "rest": (9, 35)},
    CONFIRM_RKEY: {"count": (4, 1), "rkey": (5, 4), "addr": (9, 8),
                   **{f"{what}{i}": (4 + 13 * i + at, size) for i in (1, 2)
                      for what, at, size in (("num", 0, 1), ("rkey", 1, 4), ("addr", 5, 8))}},
    TEST_LINK: {"data": (4, 16), "rest": (20, 24)},
    DELETE_RKEY: {"count": (4, 1), "mask": (5, 1),
                  **{f"rkey{i}": (4 + 4 * i, 4) for i in range(1, 9)}},
}
CLC_DATA = {"peer_id": (8, 8), "gid": (16, 16), "mac": (32, 6), "qpn": (38, 3), "rkey": (41, 4),
            "index": (45, 1), "token": (46, 4), "size_mtu": (50, 1), "addr": (52, 8),
            "psn": (61, 3)}
CLC = {PROPOSAL: {"peer_id": (8, 8), "gid": (16, 16), "mac": (32, 6)},
       ACCEPT: CLC_DATA, CONFIRM: CLC_DATA,
       DECLINE: {"peer_id": (8, 8), "diagnosis": (16, 4)}}
CDC_FIELDS = {"seq": (2, 2), "token": (4, 4), "prod_wrap": (10, 2), "prod": (12, 4),
              "cons_wrap": (18, 2), "cons": (20, 4), "flags": (24, 1), "state": (25, 1)}
BYTES = ("mac", "gid", "data", "rest", "peer_id")


class Fields:
    """Named fields of the bytes RAW: numbers, or bytes for BYTES."""

    def __init__(self, raw, places):
        self.raw = bytearray(raw)
        self.places = places

    def __getattr__(self, name):
        if name in ("raw", "places") or name not in self.places:
            raise AttributeError(name)
        at, size = self.places[name]
        part = bytes(self.raw[at:at + size])
        return part if name in BYTES else int.from_bytes(part, "big")

    def put(self, **fields):
        for name, value in fields.items():
            at, size = self.places[name]
            value = value if isinstance(value, bytes) else value.to_bytes(size, "big")
            self.raw[at:at + size] = value
        return self


def llc(kind, flags=0, **fields):
    """An LLC message of 44 bytes."""
    head = bytes([kind, 44, 0, flags])
    return Fields(head + bytes(40), LLC.get(kind, {})).put(**fields)


def read_llc(raw):
    msg = Fields(raw, LLC.get(raw[0], {}))
    msg.kind, msg.flags = raw[0], raw[3]
    return msg


def clc(kind, size, flags=0, **fields):
    raw = EYE + struct.pack("!BHB", kind, size, 0x10 | flags) + bytes(size - 12) + EYE
    return bytes(Fields(raw, CLC[kind]).put(**fields).raw)


def read_clc(raw):
    msg = Fields(raw, CLC.get(raw[4] if len(raw) > 4 else 0, {}))
    msg.kind, msg.flags = raw[4], raw[7]
    return msg


class Link:
    """One queue pair of a group; what came on it, apart from CDC messages."""

    def __init__(self, group, rnic, num=0):
        self.group, self.rnic, self.num = group, rnic, num
        self.qp = QueuePair(rnic)
        self.peer = None        # (mac, gid, qpn)
        self.inbox = []
        self.tests = []         # replies to TEST LINK
        self.is_mute = False    # answers no TEST LINK
        self.nr_tests = 0       # of the peer's TEST LINK
        self.user_id = random.getrandbits(32)
        self.peer_user_id = 0
        group.links.append(self)

    def end(self):
        return {"mac": self.rnic.mac, "gid": self.rnic.gid(), "qpn": self.qp.qpn,
                "num": self.num}

    def connect(self, msg):
        """Take the peer's end from a CLC message or an ADD LINK."""
        self.peer = (msg.mac, msg.gid, msg.qpn)
        self.qp.connect(msg.gid, msg.qpn, msg.psn)

    def sort(self):
        while self.qp.received:
            raw = self.qp.received.pop(0)
            if len(raw) != 44:
                raise ValueError(f"a message of {len(raw)} bytes")
            if raw[0] == CDC:
                self.group.on_cdc(Fields(raw, CDC_FIELDS), self)
            elif raw[0] == TEST_LINK and raw[3] & R:
                self.tests.append(raw)
            elif raw[0] == TEST_LINK:
                self.nr_tests += 1
                if not self.is_mute:
                    self.qp.send(raw[:3] + bytes([R]) + raw[4:])
            else:
                self.inbox.append(read_llc(raw))

    def has_test(self):
        """The peer has sent TEST LINK, which is_mute left without a reply."""
        self.group.sort()
        return self.nr_tests

    def say(self, kind, flags=0, **fields):
        msg = llc(kind, flags, **fields)
        self.qp.send(msg.raw)
        return msg

    def has_mail(self):
        self.group.sort()
        return bool(self.inbox)

    def hear(self, kind, flags=0, either=0, seconds=6):
        """The next LLC message, of that kind and with these FLAGS; the bits EITHER are free."""
        peer = self.group.peer
        peer.until(self.has_mail, f"LLC message {kind:#x} on link {self.num}", seconds)
        msg = self.inbox.pop(0)
        peer.h.equal((msg.kind, msg.flags & ~either), (kind, flags),
                     f"kind and flags of {msg.raw.hex()} on link {self.num}")
        return msg

    def hear_each(self, *wanted):
        """The messages of the pairs (kind, flags), which may come in any order."""
        peer = self.group.peer
        peer.until(lambda: self.has_mail() and len(self.inbox) >= len(wanted),
                   f"LLC messages {wanted} on link {self.num}")
        got = sorted(self.inbox, key=lambda msg: [k for k, _ in wanted].index(msg.kind))
        self.inbox = []
        peer.h.equal([(msg.kind, msg.flags) for msg in got], list(wanted), "LLC messages")
        return got

    def probe(self):
        """TEST LINK and its reply: the message comes back as it went, but for R.

        Other messages may come before or behind.
        """
        peer = self.group.peer
        said = self.say(TEST_LINK, data=random.randbytes(16)).raw
        said[3] = R

        def is_there():
            self.group.sort()
            return self.tests
        peer.until(is_there, f"the reply to TEST LINK on link {self.num}")
        peer.h.equal(self.tests.pop(0), bytes(said), "reply to TEST LINK")

    def silent(self, seconds=0.5):
        """Nothing but CDC messages comes for a while, which a slow host need not prolong."""
        peer = self.group.peer
        if peer.front.until(self.has_mail, seconds):
            peer.h.check(False, f"link {self.num}: unexpected {self.inbox[0].raw.hex()}")


class Rmb:
    """A buffer of ELEMENTS elements, registered on each link of its group."""

    def __init__(self, group):
        self.group = group
        self.memory = bytearray(ELEMENTS * SIZE)
        self.used = 0
        self.regions = {}
        group.rmbs.append(self)

    def on(self, link):
        if link not in self.regions:
            self.regions[link] = Region(link.rnic, 0, self.memory)
        return self.regions[link]

    def element(self):
        self.used += 1
        return self.used

    def writes(self):
        return sum(region.writes for region in self.regions.values())


class Group:
    def __init__(self, peer):
        self.peer = peer
        self.links, self.rmbs = [], []
        self.conns = {}
        self.peer_rmbs = []     # of each: (rkey, address) by link
        peer.groups.append(self)

    def sort(self):
        for link in self.links:
            link.sort()

    def on_cdc(self, cdc, link):
        conn = self.conns.get(cdc.token)
        if conn:
            conn.on_cdc(cdc, link)
        else:
            self.peer.h.check(False, f"CDC with an unknown token: {cdc.raw.hex()}")

    def peer_rmb(self, link, rkey, addr):
        """The peer's RMB that has RKEY on LINK; a new one if there is none."""
        for rmb in self.peer_rmbs:
            if rmb.get(link, (None, 0))[0] == rkey:
                return rmb
        self.peer_rmbs.append({link: (rkey, addr)})
        return self.peer_rmbs[-1]

    def rtokens(self, link, new):
        """The pairs of ADD LINK CONTINUATION for the link NEW, announced on LINK."""
        return [(rmb.on(link).rkey, rmb.on(new).rkey, rmb.on(new).addr) for rmb in self.rmbs]


def continuation(num, left):
    """The fields of ADD LINK CONTINUATION; LEFT are the pairs still to be sent."""
    fields = {"num": num, "count": len(left)}
    for i, (ref, rkey, addr) in enumerate(left[:2], 1):
        fields.update({f"ref{i}": ref, f"rkey{i}": rkey, f"addr{i}": addr})
    return fields


class Conn:
    """A connection: TCP, an element at each side, cursors in the RFC's form."""

    EYE = b"eye!"

    def __init__(self, group, tcp, rmb):
        self.group, self.tcp, self.rmb = group, tcp, rmb
        self.h = group.peer.h
        self.index = rmb.element()
        self.token = random.getrandbits(32)
        self.link = None            # that we send on
        self.peer_rmb = self.peer_token = self.peer_size = self.peer_base = None
        self.seq = 0
        self.prod = self.cons = (0, EYE_CATCHER)    # what we have written and read: wrap, cursor
        self.cdcs = []
        self.state = 0              # all state flags of the peer
        base = (self.index - 1) * SIZE
        rmb.memory[base:base + EYE_CATCHER] = self.EYE
        group.conns[self.token] = self

    def eye(self):
        """The eye catcher of the own element, which no write may touch."""
        base = (self.index - 1) * SIZE
        return bytes(self.rmb.memory[base:base + EYE_CATCHER])

    def data(self, link):
        """The part of Accept and Confirm that is the connection's."""
        region = self.rmb.on(link)
        self.link = link
        return {"rkey": region.rkey, "addr": region.addr, "index": self.index,
                "token": self.token, "size_mtu": SIZE_CODE << 4 | MTU_1024, **{
                    k: v for k, v in link.end().items() if k != "num"}, "psn": link.qp.psn}

    def learn(self, msg, link):
        """Take the peer's part of Accept or Confirm, which names LINK."""
        self.peer_rmb = self.group.peer_rmb(link, msg.rkey, msg.addr)
        self.peer_token = msg.token
        self.peer_size = 1 << 14 + (msg.size_mtu >> 4)
        self.peer_base = (msg.index - 1) * self.peer_size

    def on_cdc(self, cdc, link):
        self.cdcs.append(cdc)
        self.state |= cdc.state

    def cdc(self, flags=0, state=0, link=None, **fields):
        """Send a CDC with the current cursors."""
        self.seq += 1
        msg = Fields(bytes([CDC, 44]) + bytes(42), CDC_FIELDS)
        msg.put(seq=self.seq & 0xffff, token=self.peer_token, prod_wrap=self.prod[0],
                prod=self.prod[1], cons_wrap=self.cons[0], cons=self.cons[1], flags=flags,
                state=state).put(**fields)
        (link or self.link).qp.send(msg.raw)

    def write(self, data, link=None):
        """Write to the peer's element, without announcing it."""
        link = link or self.link
        rkey, addr = self.peer_rmb[link]
        while data:
            wrap, at = self.prod
            part = data[:min(1024, self.peer_size - at)]
            link.qp.write(rkey, addr + self.peer_base + at, part)
            data, at = data[len(part):], at + len(part)
            self.prod = (wrap + 1, EYE_CATCHER) if at == self.peer_size else (wrap, at)

    def send(self, data, link=None, **kw):
        self.write(data, link)
        self.cdc(link=link, **kw)

    def unread(self):
        self.group.sort()
        if not self.cdcs:
            return 0
        last = self.cdcs[-1]
        return (last.prod_wrap - self.cons[0]) * (SIZE - EYE_CATCHER) + last.prod - self.cons[1]

    def recv(self, n):
        """N bytes of the own element, which CDC messages must have announced."""
        self.group.peer.until(lambda: self.unread() >= n, f"{n} bytes, {self.unread()} came")
        base, out = (self.index - 1) * SIZE, b""
        while len(out) < n:
            wrap, at = self.cons
            part = self.rmb.memory[base + at:base + min(SIZE, at + n - len(out))]
            out, at = out + part, at + len(part)
            self.cons = (wrap + 1, EYE_CATCHER) if at == SIZE else (wrap, at)
        return out

    def has_state(self, flag):
        self.group.sort()
        return self.state & flag

    def hear(self, flag, what):
        """Wait for a CDC with a state flag."""
        self.group.peer.until(lambda: self.has_state(flag), what)

    def fin(self):
        """TCP ends in good order, the peer first."""
        self.h.equal(self.tcp.ended(self.h.within(6)), "fin", "end of TCP")
        self.tcp.close()

    def close(self):
        """Both sides close: C, C, FIN. The peer's application closes, too."""
        self.cdc(state=C)
        self.hear(C, "C")
        self.fin()


class Peer:
    """An SMC-R host. FRONT has its TCP; it has RNICs of its own, and a peer ID."""

    def __init__(self, h, front, numbers):
        self.h, self.front = h, front
        self.rnics = [Rnic(n) for n in numbers]
        self.groups = []
        self.peer_id = b"\x12\x34" + self.rnics[0].mac

    def gone(self):
        """Nobody answers for this peer from now on."""
        for rnic in self.rnics:
            rnic.leave()

    def until(self, cond, what, seconds=6):
        self.h.check(self.front.until(cond, self.h.within(seconds)), f"no {what}")

    def hear_clc(self, tcp, kind, seconds=6):
        raw = tcp.recv_clc(self.h.within(seconds))
        self.h.check(len(raw) > 8, f"CLC message {kind}: {raw.hex()}, "
                     f"reset {tcp.reset}, fin {tcp.fin}")
        msg = read_clc(raw)
        self.h.equal(msg.kind, kind, f"kind of CLC message {raw.hex()}")
        return msg

    # As client of the module

    def propose(self, port):
        tcp = self.front.connect(self.h.config["peer4"], port)
        self.h.check(tcp.peer_offers_smc, "no SMC option on the SYN-ACK")
        raw = bytearray(self.front.proposal(peer_id=self.peer_id))
        raw[16:38] = self.rnics[0].gid() + self.rnics[0].mac
        tcp.send(bytes(raw))
        return tcp

    def confirm(self, tcp, conn, link):
        tcp.send(clc(CONFIRM, 68, peer_id=self.peer_id, **conn.data(link)))

    def first_contact(self, port):
        """As far as Confirm; the server goes on with CONFIRM LINK."""
        tcp = self.propose(port)
        accept = self.hear_clc(tcp, ACCEPT)
        self.h.equal(accept.flags & FIRST, FIRST, "F of Accept in first contact")
        group = Group(self)
        link = Link(group, self.rnics[0])
        link.connect(accept)
        conn = Conn(group, tcp, Rmb(group))
        conn.learn(accept, link)
        self.confirm(tcp, conn, link)
        return conn

    def confirm_link(self, link, **changes):
        """Answer CONFIRM LINK of the server on its link."""
        msg = link.hear(CONFIRM_LINK, either=OFFER)
        self.h.equal((msg.mac, msg.gid, msg.qpn), link.peer, "the server's end of the link")
        if link.num:
            self.h.equal(msg.num, link.num, "link number in CONFIRM LINK")
        link.num, link.peer_user_id = msg.num, msg.user_id
        link.say(CONFIRM_LINK, R, **{**link.end(), "user_id": link.user_id,
                                     "max_links": min(msg.max_links, 8), **changes})
        return msg

    def up(self, port):
        """A first contact that ends with one link: the second one is refused."""
        conn = self.first_contact(port)
        self.confirm_link(conn.link)
        offer = conn.link.hear(ADD_LINK)
        self.refuse(conn.link, offer)
        return conn

    def refuse(self, link, offer, reason=NO_PATH):
        link.say(ADD_LINK, R | REJECTED, num=offer.num, reason=reason)

    def subsequent(self, group, port, between=lambda: None):
        """A connection in a group that is there; BETWEEN is called before Accept."""
        tcp = self.propose(port)
        between()
        accept = self.hear_clc(tcp, ACCEPT)
        self.h.equal(accept.flags & FIRST, 0, "F of Accept in subsequent contact")
        link = next((x for x in group.links if x.peer == (accept.mac, accept.gid, accept.qpn)),
                    None)
        self.h.check(link, "Accept of an unknown link")
        conn = Conn(group, tcp, group.rmbs[0])
        conn.learn(accept, link)
        self.confirm(tcp, conn, link)
        return conn

    def new_rmb(self, group, carrier, others=()):
        """CONFIRM RKEY of a further RMB; its reply comes on the same link."""
        rmb = Rmb(group)
        return rmb, self.say_keys(rmb, carrier, others)

    def say_keys(self, rmb, carrier, others=()):
        fields = {"count": len(others), "rkey": rmb.on(carrier).rkey,
                  "addr": rmb.on(carrier).addr}
        for i, link in enumerate(others, 1):
            fields.update({f"num{i}": link.num, f"rkey{i}": rmb.on(link).rkey,
                           f"addr{i}": rmb.on(link).addr})
        return carrier.say(CONFIRM_RKEY, **fields)

    def takes_keys(self, said, carrier):
        """The reply to CONFIRM RKEY repeats it, with R."""
        said.raw[3] |= R
        self.h.equal(bytes(carrier.hear(CONFIRM_RKEY, R).raw), bytes(said.raw), "the reply")

    def learn_keys(self, group, carrier, msg, reply=True):
        """Take a CONFIRM RKEY of the module."""
        rmb = group.peer_rmb(carrier, msg.rkey, msg.addr)
        for i in range(1, min(2, msg.count) + 1):
            link = next((x for x in group.links if x.num == getattr(msg, f"num{i}")), None)
            self.h.check(link, f"key for an unknown link: {msg.raw.hex()}")
            rmb[link] = (getattr(msg, f"rkey{i}"), getattr(msg, f"addr{i}"))
        if reply:
            self.echo(carrier, msg)

    @staticmethod
    def echo(link, msg, flags=0):
        """Send a message back as a reply."""
        msg.raw[3] |= R | flags
        link.qp.send(msg.raw)

    def asks_link(self, carrier, rnic=1):
        """Client: ADD LINK as a notice of an RNIC."""
        nic = self.rnics[rnic]
        carrier.say(ADD_LINK, mac=nic.mac, gid=nic.gid(), mtu=MTU_1024)

    # A second link, both roles

    def accept_offer(self, group, carrier, offer, rnic=1):
        """Client: take an ADD LINK on another RNIC."""
        link = Link(group, self.rnics[rnic], offer.num)
        link.connect(offer)
        carrier.say(ADD_LINK, R, mtu=MTU_1024, psn=link.qp.psn, **link.end())
        return link

    def client_keys(self, group, carrier, link):
        """Client: answer the continuations of the server until both have sent all."""
        left = group.rtokens(carrier, link)
        counts = []
        while True:
            msg = carrier.hear(ADD_CONT)
            counts.append(msg.count)
            self.take_keys(group, carrier, link, msg)
            carrier.say(ADD_CONT, R, **continuation(link.num, left))
            left = left[2:]
            if msg.count <= 2 and not left:
                return counts

    def take_keys(self, group, carrier, link, msg):
        self.h.equal(msg.num, link.num, "link number of ADD LINK CONTINUATION")
        for i in range(1, min(2, msg.count) + 1):
            rmb = next((r for r in group.peer_rmbs
                        if r.get(carrier, (None, 0))[0] == getattr(msg, f"ref{i}")), None)
            self.h.check(rmb is not None, f"key of an unknown RMB in {msg.raw.hex()}")
            rmb[link] = (getattr(msg, f"rkey{i}"), getattr(msg, f"addr{i}"))

    def second_link(self, group, carrier):
        """Client: all of the exchange that adds a link, from the server's ADD LINK on."""
        link = self.accept_offer(group, carrier, carrier.hear(ADD_LINK))
        self.client_keys(group, carrier, link)
        self.confirm_link(link)
        return link

    # As server of the module

    def welcome(self, port):
        """A first contact of the module, as far as its Confirm."""
        tcp, _ = self.proposal(port)
        conn = self.accept(tcp)
        conn.link.connect(self.confirmed(conn))
        return conn

    def proposal(self, port):
        tcp = self.front.accept(port, self.h.within(6))
        self.h.check(tcp.peer_offers_smc, "no SMC option on the SYN")
        return tcp, self.hear_clc(tcp, PROPOSAL)

    def accept(self, tcp, group=None):
        """Send Accept: of a first contact without GROUP, or of a subsequent one."""
        is_first = group is None
        group = group or Group(self)
        link = Link(group, self.rnics[0], 1) if is_first else group.links[0]
        conn = Conn(group, tcp, Rmb(group) if is_first else group.rmbs[0])
        tcp.send(clc(ACCEPT, 68, FIRST if is_first else 0, peer_id=self.peer_id,
                     **conn.data(link)))
        return conn

    def confirmed(self, conn):
        """Take the Confirm, which names any link of the group, and the key of an RMB on it."""
        msg = conn.confirm = self.hear_clc(conn.tcp, CONFIRM)
        conn.learn(msg, next((x for x in conn.group.links
                              if x.peer == (msg.mac, msg.gid, msg.qpn)), conn.link))
        return msg

    def ask_link(self, link, **changes):
        """Server: CONFIRM LINK and its reply."""
        link.say(CONFIRM_LINK, **{**link.end(), "user_id": link.user_id, "max_links": 8,
                                  **changes})
        reply = link.hear(CONFIRM_LINK, R)
        self.h.equal((reply.mac, reply.gid, reply.qpn), link.peer, "the client's end")
        self.h.equal(reply.num, link.num, "link number of the reply")
        link.peer_user_id = reply.user_id
        return reply

    def offer(self, group, carrier, num, rnic=0, **changes):
        """Server: ADD LINK over an RNIC; the link, which awaits the reply."""
        link = Link(group, self.rnics[rnic], num)
        carrier.say(ADD_LINK, **{**link.end(), "mtu": MTU_1024, "psn": link.qp.psn, **changes})
        return link

    def serving(self, port):
        """Server: a first contact that ends with one link; the only RNIC is offered again."""
        conn = self.welcome(port)
        self.ask_link(conn.link)
        link = self.offer(conn.group, conn.link, 2)
        reply = conn.link.hear(ADD_LINK, R | REJECTED)
        self.h.equal(reply.reason & 15, NO_PATH, "reason of the rejection")
        conn.group.links.remove(link)
        return conn

    def server_keys(self, group, carrier, link):
        """Server: the continuations, until both sides have sent all; the counts of the client."""
        left, counts = group.rtokens(carrier, link), []
        while True:
            carrier.say(ADD_CONT, **continuation(link.num, left))
            left = left[2:]
            reply = carrier.hear(ADD_CONT, R)
            counts.append(reply.count)
            self.take_keys(group, carrier, link, reply)
            if reply.count <= 2 and not left:
                return counts

    def add(self, group, carrier, num, rnic=1):
        """Server: all of the exchange that adds a link."""
        link = self.offer(group, carrier, num, rnic)
        link.connect(carrier.hear(ADD_LINK, R))
        self.server_keys(group, carrier, link)
        self.ask_link(link)
        return link
