# SPDX-License-Identifier: GPL-2.0
"""Code of the kernel that gets a socket from a program works over SMC, or fails at once.

nfsd replaces the callbacks of a listener and of its connections, and calls recvmsg(). The 9p
client and nbd only call the socket. iSCSI's initiator reads TCP's queue itself, so its first
message fails on SMC; on a connection that is TCP it works.

covers: API-01
"""
import ctypes
import fcntl
import os
import select
import socket
import struct
import threading

from halves import libc

kernels = ("stock",)
timeout = 90
NFSD = "/proc/fs/nfsd"
WHERE = "/run/kernel_users"

MSG_CALL, NFS, NFS_VERSION = 0, 100003, 4
LAST_FRAGMENT = 1 << 31


def write(path, text):
    with open(path, "w", encoding="ascii") as f:
        f.write(text)


def nfsd(h, port):
    """nfsd serves a listener of this process, which keeps no descriptor."""
    ls = h.listen(port, mark=False)
    write(f"{NFSD}/versions", "-3 +4\n")
    write(f"{NFSD}/portlist", f"{ls.fileno()}\n")
    ls.close()
    write(f"{NFSD}/threads", "1\n")
    try:
        h.mark("listening")
        h.gate("end")
    finally:
        write(f"{NFSD}/threads", "0\n")


def nfs_client(h, port, n=3):
    """Calls of NFS's NULL procedure; nfsd ends the connection when it ends."""
    s = h.connect(port)
    s.settimeout(h.within(20))
    for xid in range(n):
        call = struct.pack("!10I", xid, MSG_CALL, 2, NFS, NFS_VERSION, 0, 0, 0, 0, 0)
        s.sendall(struct.pack("!I", LAST_FRAGMENT | len(call)) + call)
        mark, got, *rest = struct.unpack("!7I", h.recv_exact(s, 28))
        h.equal((mark, got, rest), (LAST_FRAGMENT | 24, xid, [1, 0, 0, 0, 0]), "reply")
    h.mark("moved")
    h.at_end(s)
    s.close()


def target(h, port):
    """An iSCSI target: it accepts each login of one connection."""
    ls = h.listen(port)
    c = h.accept(ls)
    while True:
        head = c.recv(48, socket.MSG_WAITALL)
        if len(head) < 48:
            break
        size = struct.unpack("!I", head[4:8])[0] & 0xffffff
        h.recv_exact(c, (size + 3) & ~3)
        h.equal(head[0], 0x43, "an immediate login request")
        # final, task tag of the request, StatSN 1, ExpCmdSN 1, MaxCmdSN 9
        c.sendall(bytes([0x23, 0x87, 0, 0]) + bytes(12) + head[16:20] + bytes(4) +
                  struct.pack("!III", 1, 1, 9) + bytes(12))
    c.close()
    ls.close()


class Initiator:
    """iSCSI's netlink interface, include/scsi/iscsi_if.h."""
    CREATE_SESSION, DESTROY_SESSION, CREATE_CONN, DESTROY_CONN, BIND_CONN = range(11, 16)
    STOP_CONN, SEND_PDU = 18, 19
    RECV_PDU, CONN_ERROR = 101, 102

    def __init__(self, h):
        self.h = h
        with open("/sys/class/iscsi_transport/tcp/handle", encoding="ascii") as f:
            self.handle = int(f.read())
        self.nl = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 8)
        self.nl.bind((0, 1))
        self.events = []

    def take(self):
        """The next message: its type, and what the kernel fills."""
        self.h.check(select.select([self.nl], [], [], self.h.within(10))[0], "no answer of iSCSI")
        data = self.nl.recv(65536)
        return struct.unpack_from("=I", data, 16)[0], data[16 + 40:16 + 56]

    def call(self, what, form, *args, extra=b""):
        body = struct.pack("=IIQ", what, 0, self.handle) + struct.pack(form, *args).ljust(24, b"\0")
        body += bytes(16) + extra
        self.nl.send(struct.pack("=IHHII", 16 + len(body), what, 0, 0, 0) + body)
        while True:
            kind, ret = self.take()
            if kind == what:
                return ret
            self.events.append(kind)

    def event(self):
        """The next event about the connection."""
        while True:
            kind = self.events.pop(0) if self.events else self.take()[0]
            if kind in (self.RECV_PDU, self.CONN_ERROR):
                return kind


def initiator(h, port, want):
    """Log in on a connection of this process; WANT is the event that follows."""
    s = h.connect(port)
    nl = Initiator(h)
    sid, = struct.unpack_from("=I", nl.call(nl.CREATE_SESSION, "=IHH", 1, 128, 32))
    nl.call(nl.CREATE_CONN, "=II", sid, 0)
    ret = nl.call(nl.BIND_CONN, "=IIQI", sid, 0, s.fileno(), 1)
    h.equal(struct.unpack_from("=i", ret)[0], 0, "bind")
    text = b"A=B\0"
    login = struct.pack("!BBHI8sI", 0x43, 0x87, 0, len(text), bytes(8), 0).ljust(48, b"\0")
    nl.call(nl.SEND_PDU, "=IIII", sid, 0, len(login), len(text), extra=login + text)
    got = nl.event()
    nl.call(nl.STOP_CONN, "=IIQI", sid, 0, 0, 1)
    nl.call(nl.DESTROY_CONN, "=II", sid, 0)
    nl.call(nl.DESTROY_SESSION, "=I", sid)
    h.equal(got, want, "event")
    s.close()


def files(h, port):
    """A 9p server of one empty directory."""
    qid = b"\x80" + bytes(12)
    answers = {
        100: lambda body: body,                                         # version
        104: lambda body: qid,                                          # attach
        110: lambda body: struct.pack("<H", 0),                         # walk
        24: lambda body: struct.pack("<Q13sIIIQQQQQ", 0x7ff, qid, 0o40755, 0, 0, 2, 0, 4242,
                                     4096, 8).ljust(153, b"\0"),        # getattr
        120: lambda body: b"",                                          # clunk
    }
    ls = h.listen(port)
    c = h.accept(ls)
    while True:
        head = c.recv(7, socket.MSG_WAITALL)
        if not head:
            break
        size, kind, tag = struct.unpack("<IBH", head)
        body = h.recv_exact(c, size - 7) if size > 7 else b""
        kind, body = (kind + 1, answers[kind](body)) if kind in answers else \
            (7, struct.pack("<I", 95))
        c.sendall(struct.pack("<IBH", 7 + len(body), kind, tag) + body)
    c.close()
    ls.close()


def mounter(h, port):
    """Mount a file system over a connection of this process."""
    os.makedirs(WHERE, exist_ok=True)
    s = h.connect(port)
    options = f"trans=fd,rfdno={s.fileno()},wfdno={s.fileno()},version=9p2000.L"
    if libc.mount(b"none", WHERE.encode(), b"9p", 0, options.encode()):
        raise OSError(ctypes.get_errno(), "mount")
    s.close()
    h.equal(os.stat(WHERE).st_size, 4242, "size")
    h.mark("moved")
    h.gate("end")
    if libc.umount2(WHERE.encode(), 0):
        raise OSError(ctypes.get_errno(), "umount")


BLOCKS = 64
NBD_REQUEST, NBD_REPLY = 0x25609513, 0x67446698
SET_SOCK, SET_BLKSIZE, DO_IT, SET_SIZE_BLOCKS, DISCONNECT = 0xab00, 0xab01, 0xab03, 0xab07, 0xab08


def disk(h, port):
    """An nbd server whose bytes are those of a pattern."""
    ls = h.listen(port)
    c = h.accept(ls)
    data = bytes(blocks_of(BLOCKS * 4096))
    while True:
        magic, kind, handle, start, size = struct.unpack("!II8sQI", h.recv_exact(c, 28))
        h.equal(magic, NBD_REQUEST, "magic")
        if kind == 2:
            break
        h.equal(kind, 0, "a read")
        c.sendall(struct.pack("!II8s", NBD_REPLY, 0, handle) + data[start:start + size])
    c.close()
    ls.close()


def blocks_of(n):
    return (i * 7 & 0xff for i in range(n))


def sectors():
    with open("/sys/block/nbd0/size", encoding="ascii") as f:
        return int(f.read())


def reader(h, port):
    """Read a whole block device that is a connection of this process."""
    s = h.connect(port)
    dev = os.open("/dev/nbd0", os.O_RDONLY)
    fcntl.ioctl(dev, SET_BLKSIZE, 4096)
    fcntl.ioctl(dev, SET_SIZE_BLOCKS, BLOCKS)
    fcntl.ioctl(dev, SET_SOCK, s.fileno())
    th = threading.Thread(target=fcntl.ioctl, args=(dev, DO_IT), daemon=True)
    th.start()
    h.wait(lambda: sectors() == BLOCKS * 8, "the size of nbd's device", 10)
    data = os.pread(dev, BLOCKS * 4096, 0)
    h.equal(len(data), BLOCKS * 4096, "bytes")
    h.check(data == bytes(blocks_of(len(data))), "other bytes than those of the server")
    h.mark("moved")
    h.gate("end")
    fcntl.ioctl(dev, DISCONNECT)
    th.join(h.left())
    h.check(not th.is_alive(), "nbd did not end")
    os.close(dev)
    s.close()


def serve_nfs(t, port):
    t.a.run(f"modprobe nfsd && {{ mountpoint -q {NFSD} || mount -t nfsd none {NFSD}; }}")
    s = t.half(t.a, nfsd, port=port)
    s.expect("listening", t.left())
    clients = []
    for family in ("smc", "tcp"):
        family = family if t.family == "smc" else "tcp"
        t.step(f"nfsd and a client of {family}")
        clients.append(t.half(t.b, nfs_client, family, port=port))
        clients[-1].expect("moved", t.left())
    for vm in (t.a, t.b):
        t.mode(vm, "SMC-R", port)
    t.step("nfsd ends with open connections")
    s.gate("end")
    t.wait_all(s, *clients)


def call_the_socket(t, port):
    t.b.run("modprobe nbd nbds_max=1")
    for server, client in ((files, mounter), (disk, reader)):
        t.step(server.__doc__)
        s = t.half(t.a, server, port=port)
        s.expect("listening", t.left())
        c = t.half(t.b, client, port=port)
        c.expect("moved", t.left())
        t.mode(t.b, "SMC-R", port)
        c.gate("end")
        t.wait_all(s, c)
        port += 1
    t.b.run("rmmod nbd")


def log_in(t, port):
    t.b.run("modprobe iscsi_tcp")
    refused = (Initiator.CONN_ERROR if t.family == "smc" else Initiator.RECV_PDU)
    for there, here, want in (("smc", "smc", refused), ("tcp", "smc", Initiator.RECV_PDU)):
        if t.family == "tcp":
            there = here = "tcp"
        t.step(f"an iSCSI target of {there}, an initiator of {here}")
        s = t.half(t.a, target, there, port=port)
        s.expect("listening", t.left())
        c = t.half(t.b, initiator, here, port=port, want=want)
        t.wait_all(s, c)
        port += 1
    t.b.run("modprobe -r iscsi_tcp")


def run(t):
    serve_nfs(t, 5950)
    call_the_socket(t, 5951)
    log_in(t, 5953)
    if t.family == "smc":
        # no kernel user has kept a pointer or a reference
        t.reload(t.a, t.b)
