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
# kinds of maps, programs and places to attach to, as in linux/bpf.h
ARRAY, SOCKHASH = 2, 18
KPROBE, CGROUP_SOCK = 2, 9
AT_SOCK_CREATE, AT_SOCK_RELEASE = 2, 34
SOCK_OPS, SK_SKB, SK_MSG, CGROUP_SOCK_ADDR, CGROUP_SOCKOPT = 13, 14, 16, 18, 25
AT_SOCK_OPS, AT_STREAM_VERDICT, AT_MSG_VERDICT, AT_CONNECT4 = 3, 5, 7, 10
AT_GETSOCKOPT, AT_SETSOCKOPT = 21, 22
# values of struct bpf_sock_ops.op
ACTIVE_ESTABLISHED, PASSIVE_ESTABLISHED = 4, 5
MAP_LOOKUP_ELEM, SOCK_HASH_UPDATE, PROBE_READ_KERNEL = 1, 70, 113  # helpers
SOCK_PROTOCOL = 12  # in struct bpf_sock


def bpf(cmd, attr):
    buf = ctypes.create_string_buffer(attr, max(len(attr), 128))
    rc = libc.syscall(SYS_BPF, cmd, buf, len(buf))
    if rc < 0:
        err = ctypes.get_errno()
        raise OSError(err, f"bpf({cmd}): {os.strerror(err)}")
    return rc


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


def load_prog(kind, insns, expected=0):
    """Load a program; return its file descriptor."""
    code = ctypes.create_string_buffer(insns, len(insns))
    lic = ctypes.create_string_buffer(b"GPL")
    log = ctypes.create_string_buffer(1 << 16)
    attr = struct.pack("<IIQQIIQII16sII", kind, len(insns) // 8, ctypes.addressof(code),
                       ctypes.addressof(lic), 1, len(log), ctypes.addressof(log), 0, 0,
                       b"", 0, expected)
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


def update(fd, key, value):
    k = ctypes.create_string_buffer(key, len(key))
    v = ctypes.create_string_buffer(struct.pack("<I", value), 4)
    bpf(MAP_UPDATE, struct.pack("<IIQQQ", fd, 0, ctypes.addressof(k), ctypes.addressof(v), 0))


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
