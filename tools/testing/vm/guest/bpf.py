# SPDX-License-Identifier: GPL-2.0
"""BPF programs and maps by the bpf() system call, without compiler or library."""
import ctypes
import fcntl
import os
import struct

libc = ctypes.CDLL(None, use_errno=True)
SYS_BPF, SYS_PERF_EVENT_OPEN = 321, 298  # x86-64
MAP_CREATE, MAP_LOOKUP, MAP_UPDATE, MAP_DELETE = 0, 1, 2, 3
PROG_LOAD, PROG_ATTACH, PROG_DETACH = 5, 8, 9
OBJ_GET_INFO_BY_FD, BTF_LOAD, BTF_GET_FD_BY_ID, BTF_GET_NEXT_ID, LINK_CREATE = 15, 18, 19, 23, 28
# kinds of maps, programs and places to attach to, as in linux/bpf.h
ARRAY, SOCKHASH, STRUCT_OPS_MAP = 2, 18, 26
KPROBE, CGROUP_SOCK = 2, 9
AT_SOCK_CREATE, AT_SOCK_RELEASE = 2, 34
SOCK_OPS, SK_SKB, SK_MSG, CGROUP_SOCK_ADDR, CGROUP_SOCKOPT = 13, 14, 16, 18, 25
AT_SOCK_OPS, AT_STREAM_VERDICT, AT_MSG_VERDICT, AT_CONNECT4 = 3, 5, 7, 10
AT_GETSOCKOPT, AT_SETSOCKOPT = 21, 22
STRUCT_OPS, AT_STRUCT_OPS = 27, 44
SLEEPABLE, LINK, TYPE_OF_MODULE = 1 << 4, 1 << 13, 1 << 15  # flags of programs and maps
# values of struct bpf_sock_ops.op
ACTIVE_ESTABLISHED, PASSIVE_ESTABLISHED = 4, 5
MAP_LOOKUP_ELEM, SOCK_HASH_UPDATE, PROBE_READ_KERNEL = 1, 70, 113  # helpers
SOCK_PROTOCOL = 12  # in struct bpf_sock


def asked(cmd, attr):
    """Make the system call; return its result and what it has made of ATTR."""
    buf = ctypes.create_string_buffer(attr, max(len(attr), 128))
    rc = libc.syscall(SYS_BPF, cmd, buf, len(buf))
    if rc < 0:
        err = ctypes.get_errno()
        raise OSError(err, f"bpf({cmd}): {os.strerror(err)}")
    return rc, buf.raw


def bpf(cmd, attr):
    return asked(cmd, attr)[0]


def insn(code, dst=0, src=0, off=0, imm=0):
    return struct.pack("<BBhi", code, src << 4 | dst, off, imm)


def mov(dst, imm):
    return insn(0xb7, dst, imm=imm)


def copy(dst, src):
    return insn(0xbf, dst, src)


def add(dst, imm):
    return insn(0x07, dst, imm=imm)


def load(dst, src, off):
    """dst = *(u32 *)(src + off)"""
    return insn(0x61, dst, src, off)


def load_port(dst, src, off):
    """dst = *(u16 *)(src + off)"""
    return insn(0x69, dst, src, off)


def load_pointer(dst, src, off):
    """dst = *(u64 *)(src + off)"""
    return insn(0x79, dst, src, off)


def store(dst, off, src):
    """*(u32 *)(dst + off) = src"""
    return insn(0x63, dst, src, off)


def add_to(dst, src):
    """*(u64 *)dst += src, atomically"""
    return insn(0xdb, dst, src)


def jump_if(dst, imm, skip):
    return insn(0x15, dst, off=skip, imm=imm)


def jump(skip):
    return insn(0x05, off=skip)


def load_map(dst, fd):
    return insn(0x18, dst, 1, imm=fd) + insn(0)


def call(helper):
    return insn(0x85, imm=helper)


EXIT = insn(0x95)


def answer(value):
    """A program that returns VALUE."""
    return mov(0, value) + EXIT


def load_prog(kind, insns, expected=0, flags=0, of=(0, 0)):
    """Load a program; return its file descriptor. OF is a type and the BTF that has it."""
    code = ctypes.create_string_buffer(insns, len(insns))
    lic = ctypes.create_string_buffer(b"GPL")
    log = ctypes.create_string_buffer(1 << 16)
    attr = struct.pack("<IIQQIIQII16sII36xII", kind, len(insns) // 8, ctypes.addressof(code),
                       ctypes.addressof(lic), 1, len(log), ctypes.addressof(log), 0, flags,
                       b"", 0, expected, *of)
    try:
        return bpf(PROG_LOAD, attr)
    except OSError as e:
        raise OSError(e.errno, f"{e.strerror}: {log.value.decode()[-500:]}") from None


def attach(prog, target, where):
    """Attach a program to TARGET, a map or the directory of a control group."""
    bpf(PROG_ATTACH, struct.pack("<IIII", target, prog, where, 0))


def sockhash(size=64):
    """A sockmap whose key is the local and the remote port."""
    return bpf(MAP_CREATE, struct.pack("<IIII", SOCKHASH, 8, 4, size))


def put(fd, key, data):
    k = ctypes.create_string_buffer(key, len(key))
    v = ctypes.create_string_buffer(data, len(data))
    bpf(MAP_UPDATE, struct.pack("<IIQQQ", fd, 0, ctypes.addressof(k), ctypes.addressof(v), 0))


def update(fd, key, value):
    put(fd, key, struct.pack("<I", value))


def has(fd, key):
    """Delete KEY; true if it existed."""
    k = ctypes.create_string_buffer(key, len(key))
    try:
        bpf(MAP_DELETE, struct.pack("<IIQQQ", fd, 0, ctypes.addressof(k), 0, 0))
    except OSError:
        return False
    return True


def counters(n):
    """A map of N numbers, initially 0."""
    return bpf(MAP_CREATE, struct.pack("<IIII", ARRAY, 4, 8, n))


def counter(fd, n):
    k = ctypes.create_string_buffer(struct.pack("<I", n), 4)
    v = ctypes.create_string_buffer(8)
    bpf(MAP_LOOKUP, struct.pack("<IIQQQ", fd, 0, ctypes.addressof(k), ctypes.addressof(v), 0))
    return struct.unpack("<Q", v)[0]


def count_sockets(fd, n, protocol, where):
    """For a control group: add 1 to counter N for each socket of PROTOCOL."""
    body = (mov(2, n) + store(10, -4, 2) + copy(2, 10) + add(2, -4) + load_map(1, fd) +
            call(MAP_LOOKUP_ELEM) + jump_if(0, 0, 2) + mov(1, 1) + add_to(0, 1))
    head = load(2, 1, SOCK_PROTOCOL) + jump_if(2, protocol, 1) + jump(len(body) // 8)
    return load_prog(CGROUP_SOCK, head + body + mov(0, 1) + EXIT, where)


def take_established(fd):
    """For a control group: add TCP connections of its sockets to the map at once."""
    body = (load(3, 6, 68) + store(10, -8, 3) +     # our port
            load(3, 6, 64) + store(10, -4, 3) +     # the peer's
            copy(1, 6) + load_map(2, fd) + copy(3, 10) + add(3, -8) + mov(4, 0) +
            call(SOCK_HASH_UPDATE))
    head = copy(6, 1) + load(2, 6, 0) + jump_if(2, ACTIVE_ESTABLISHED, 2)
    head += jump_if(2, PASSIVE_ESTABLISHED, 1) + jump(len(body) // 8)
    return load_prog(SOCK_OPS, head + body + mov(0, 1) + EXIT)


def value(dst, fd):
    """dst = the only value of a map"""
    return insn(0x18, dst, 2, imm=fd) + insn(0)


def spin(copies):
    """A program for at_function() that copies 32 MiB COPIES times, with interrupts on."""
    size = 32 << 20
    fd = bpf(MAP_CREATE, struct.pack("<IIII", ARRAY, 4, size, 1))
    once = value(1, fd) + mov(2, size) + value(3, fd) + call(PROBE_READ_KERNEL)
    prog = load_prog(KPROBE, once * copies + answer(0))
    os.close(fd)
    return prog


def at_function(prog, name):
    """Run a program whenever the kernel enters a function, until the descriptor is closed."""
    with open("/sys/bus/event_source/devices/kprobe/type", encoding="ascii") as f:
        kind = int(f.read())
    func = ctypes.create_string_buffer(name.encode())
    attr = struct.pack("<IIQQQQQIIQQ", kind, 72, 0, 0, 0, 0, 0, 0, 0, ctypes.addressof(func), 0)
    buf = ctypes.create_string_buffer(attr, len(attr))
    fd = libc.syscall(SYS_PERF_EVENT_OPEN, buf, -1, 0, -1, 8)
    if fd < 0:
        err = ctypes.get_errno()
        raise OSError(err, f"perf_event_open({name}): {os.strerror(err)}")
    fcntl.ioctl(fd, 0x40042408, prog)   # PERF_EVENT_IOC_SET_BPF
    fcntl.ioctl(fd, 0x2400)             # PERF_EVENT_IOC_ENABLE
    return fd


def go_elsewhere(ip):
    """For a control group: redirect every connect() to IP."""
    addr = struct.unpack("<i", ip)[0]
    return load_prog(CGROUP_SOCK_ADDR, mov(2, addr) + store(1, 4, 2) + mov(0, 1) + EXIT,
                     AT_CONNECT4)


# Kinds of types in BTF, and the bytes behind one: once, and for each of its members
STRUCT = 4
BEHIND = {1: (4, 0), 3: (12, 0), STRUCT: (0, 12), 5: (0, 12), 6: (0, 8), 13: (0, 8), 14: (4, 0),
          15: (0, 12), 17: (4, 0), 19: (0, 12)}


def structs(module, *names):
    """The structs NAMES of the kernel or, if it has none, of a module.

    Returns {name: (number, size, {member: (index, offset)})}.
    """
    found, number, strings = {}, 1, b""

    def text(at):
        return strings[at:strings.index(0, at)].decode()

    for part in ("vmlinux", module):
        with open(f"/sys/kernel/btf/{part}", "rb") as f:
            data = f.read()
        head, at, size, first, n = struct.unpack_from("<4xIIIII", data)
        strings += data[head + first:head + first + n]
        at, end = head + at, head + at + size
        while at < end:
            name, info, size = struct.unpack_from("<III", data, at)
            kind, n = info >> 24 & 0x7f, info & 0xffffff
            if kind == STRUCT and text(name) in names:
                members = struct.iter_unpack("<III", data[at + 12:at + 12 + 12 * n])
                found.setdefault(text(name), (number, size, {
                    text(m): (i, (at_bit & 0xffffff) // 8)
                    for i, (m, _, at_bit) in enumerate(members)}))
            once, each = BEHIND.get(kind, (0, 0))
            at += 12 + once + each * n
            number += 1
    return found


def module_btf(name):
    """A descriptor of the BTF of a module."""
    number = 0
    while True:
        number, = struct.unpack_from("<4xI", asked(BTF_GET_NEXT_ID, struct.pack("<I", number))[1])
        fd = bpf(BTF_GET_FD_BY_ID, struct.pack("<I", number))
        text = ctypes.create_string_buffer(64)
        info = ctypes.create_string_buffer(
            struct.pack("<16xQII", ctypes.addressof(text), len(text), 0), 32)
        bpf(OBJ_GET_INFO_BY_FD, struct.pack("<IIQ", fd, len(info), ctypes.addressof(info)))
        if text.value.decode() == name:
            return fd
        os.close(fd)


def load_btf():
    """Load types of our own, with int alone; a map of programs must have some."""
    types, names = struct.pack("<IIII", 1, 1 << 24, 4, 1 << 24 | 32), b"\0int\0"
    data = struct.pack("<HBBIIIII", 0xeb9f, 1, 0, 24, 0, len(types), len(types), len(names))
    data = ctypes.create_string_buffer(data + types + names, len(data + types + names))
    return bpf(BTF_LOAD, struct.pack("<QQI", ctypes.addressof(data), 0, len(data)))


class StructOps:
    """A struct of a module whose function pointers are programs."""

    def __init__(self, module, name):
        types = structs(module, name, "bpf_struct_ops_" + name)
        self.number, _, self.members = types[name]
        self.value, self.size, parts = types["bpf_struct_ops_" + name]
        self.offset = parts["data"][1]
        self.btf = module_btf(module)
        self.own_btf = load_btf()

    def program(self, member, insns, flags=0):
        return load_prog(STRUCT_OPS, insns, self.members[member][0], flags,
                         (self.number, self.btf))

    def fill(self, how=0, /, **values):
        """Make one by the flags HOW; return its map. Without LINK this registers it.

        VALUES are descriptors of programs, and bytes of the other members.
        """
        data = bytearray(self.size)
        for member, what in values.items():
            at = self.offset + self.members[member][1]
            what = struct.pack("<Q", what) if isinstance(what, int) else what
            data[at:at + len(what)] = what
        fd = bpf(MAP_CREATE, struct.pack("<7I16s5IQI", STRUCT_OPS_MAP, 4, self.size, 1,
                                         how | TYPE_OF_MODULE, 0, 0, b"", 0,
                                         self.own_btf, 0, 0, self.value, 0, self.btf))
        try:
            put(fd, bytes(4), bytes(data))
        except OSError:
            os.close(fd)
            raise
        return fd


def link(fd):
    """Register a filled struct of programs until the descriptor is closed."""
    return bpf(LINK_CREATE, struct.pack("<IIII", fd, 0, AT_STRUCT_OPS, 0))
