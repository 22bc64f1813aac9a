# SPDX-License-Identifier: GPL-2.0
"""Bytes on the TCP connection of a socket that runs on SMC reset the socket.

This gives an attacker nothing: a host that can send into a TCP connection can also end
it. A side that has closed, and waits for the acknowledgment of its last message, discards
the bytes.

covers: CLOSE-01 ABRT-01
"""
import errno
import struct
import time

ipv = (4,)
PORT = 5395
FIN, RST, PSH, ACK = 1, 4, 8, 16


def server(h, port, err):
    s = h.accept(h.listen(port))
    if err:
        h.recv_exact(s, 1)
        is_broken(h, s, err)
        return
    h.answer(s)
    h.mark("ended")
    h.gate("close")
    s.close()


def client(h, port, err):
    s = h.connect(port)
    if err:
        s.sendall(b"x")
        h.mark("moved")
        is_broken(h, s, err)
        return
    h.request(s)
    h.mark("moved")
    s.close()


def is_broken(h, s, err):
    h.raises("read", err, s.recv, 1)
    s.close()


def checksum(data):
    """RFC 1071."""
    data += bytes(len(data) % 2)
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff


def last_frame(path, to_server):
    """The last frame of the connection in that direction: Ethernet header, IP packet."""
    with open(path, "rb") as f:
        f.read(24)
        found = None
        while head := f.read(16):
            frame = f.read(struct.unpack("=4I", head)[2])
            if len(frame) < 54 or frame[12:14] != b"\x08\0" or frame[23] != 6:
                continue
            ip = frame[14:14 + struct.unpack_from("!H", frame, 16)[0]]
            ports = struct.unpack_from("!2H", ip, 20)
            if ports[to_server] == PORT:
                found = frame[:14], ip
    return found


def goes_on(frame, payload):
    """The segment that would follow a frame, or take the place of its FIN, with PAYLOAD."""
    eth, packet = frame
    ip, tcp = bytearray(packet[:20]), packet[20:]
    head = bytearray(tcp[:(tcp[12] >> 4) * 4])
    seq = struct.unpack_from("!I", head, 4)[0] + len(tcp) - len(head)
    struct.pack_into("!I", head, 4, seq & 0xffffffff)
    head[13] = PSH | ACK
    struct.pack_into("!H", head, 16, 0)
    pseudo = bytes(ip[12:20]) + struct.pack("!2H", 6, len(head) + len(payload))
    struct.pack_into("!H", head, 16, checksum(pseudo + bytes(head) + payload))
    struct.pack_into("!H", ip, 2, len(ip) + len(head) + len(payload))
    struct.pack_into("!H", ip, 10, 0)
    struct.pack_into("!H", ip, 10, checksum(bytes(ip)))
    return eth + bytes(ip) + bytes(head) + payload


def run(t):
    if t.family != "smc":
        return
    import os
    path = os.path.join(t.pair.dir, "payload.pcap")

    def connected(victim=None):
        """A connection that the machine VICTIM aborts, or one that ends in good order."""
        t.relay.capture(path)
        procs = []
        for vm, half in ((t.a, server), (t.b, client)):
            err = victim and (errno.ECONNABORTED if vm is victim else errno.ECONNRESET)
            procs.append(t.half(vm, half, port=PORT, err=err))
            t.expect_all("moved" if procs[1:] else "listening", procs[-1])
        return procs

    def inject(vm):
        t.relay.capture(None)
        frame = last_frame(path, vm is t.a)
        t.relay.inject(goes_on(frame, b"x"), vm.name)

    for vm in (t.a, t.b):
        t.step(f"payload for {vm.name}")
        aborts = t.stat(vm, "aborts_tx")
        procs = connected(vm)
        for each in (t.a, t.b):
            t.mode(each, "SMC-R", PORT)
        inject(vm)
        t.wait_all(*procs)
        t.equal(t.stat(vm, "aborts_tx"), aborts + 1, f"aborts of {vm.name}")

    # an RNIC that hears nothing tries again after seconds, and for half a minute
    t.no_groups()
    for vm in (t.a, t.b):
        t.set(vm, rdma_ack_exponent=20)
    for is_heard in (True, False):
        t.step(f"payload instead of a FIN, our last message is {'' if is_heard else 'not '}acked")
        s, c = connected()
        s.expect("ended")
        if not is_heard:
            t.relay.rule(frm="b", proto="roce", drop=1)
        held = t.relay.rule(frm="b", port=PORT, flags=FIN, drop=1)
        reset = t.relay.rule(frm="a", port=PORT, flags=RST)
        s.gate("close")
        t.wait_all(s, c)
        t.wait(lambda rule=held: t.relay.hits(rule)[0], "FIN of the client", 20)
        began = time.monotonic()
        inject(t.a)
        t.wait(lambda rule=reset: t.relay.hits(rule)[0], "RST of the server", 20)
        t.note(f"reset after {time.monotonic() - began:.2f} s")
        t.relay.unrule()
        for vm in (t.a, t.b):
            t.no_sockets(vm, PORT)

    # their links still wait for the lost packets, and new connections would use them
    t.reload(t.a, t.b)
