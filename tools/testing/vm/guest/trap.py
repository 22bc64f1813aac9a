# SPDX-License-Identifier: GPL-2.0
"""Calls that block in a page fault of their process until the owner of the page answers."""
import ctypes
import mmap
import os
import select
import socket
import struct
import threading

PAGE = mmap.PAGESIZE
SYS_USERFAULTFD = 323  # x86-64
UFFDIO_API, UFFDIO_REGISTER, UFFDIO_ZEROPAGE = 0xc018aa3f, 0xc020aa00, 0xc020aa04
UFFDIO_WRITEPROTECT = 0xc018aa06
MISSING, WRITES, FEATURE_WRITES = 1, 2, 1


class Trap:
    """Pages in which a call is stuck until they are let go."""

    def __init__(self, count, every=1, content=None):
        """COUNT pages, of which each EVERY-th is a trap, the last one among them.

        With CONTENT they begin with it, and only a write is stuck.
        """
        self.content = content
        self.size = count * PAGE
        self.map = mmap.mmap(-1, self.size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        self.at = ctypes.addressof(ctypes.c_char.from_buffer(self.map))
        self.libc = ctypes.CDLL(None, use_errno=True)
        self.fd = self.libc.syscall(SYS_USERFAULTFD, os.O_CLOEXEC | os.O_NONBLOCK)
        if self.fd < 0:
            raise OSError(ctypes.get_errno(), "userfaultfd()")
        self.ioctl(UFFDIO_API, struct.pack("QQQ", 0xaa, FEATURE_WRITES if content else 0, 0))
        self.traps = [(self.at + i * PAGE, PAGE) for i in range(every - 1, count, every)] \
            if every > 1 else [(self.at, self.size)]
        for at, size in self.traps:
            self.ioctl(UFFDIO_REGISTER,
                       struct.pack("QQQQ", at, size, WRITES if content else MISSING, 0))
            if content:
                self.map[at - self.at:at - self.at + len(content)] = content
                self.ioctl(UFFDIO_WRITEPROTECT, struct.pack("QQQ", at, size, 1))
        self.calls = []

    def ioctl(self, number, arg):
        arg = ctypes.create_string_buffer(arg, len(arg))
        if self.libc.ioctl(self.fd, ctypes.c_ulong(number), arg):
            raise OSError(ctypes.get_errno(), f"ioctl({number:#x}) of userfaultfd")

    def call(self, name, *args):
        """A call of the C library on a thread of its own."""
        out = []

        def run():
            rc = getattr(self.libc, name)(*args)
            out.append(rc if rc >= 0 else -ctypes.get_errno())
        th = threading.Thread(target=run, daemon=True)
        th.start()
        self.calls.append((th, out))

    def recv(self, s, i, n):
        """recv() of N bytes to page I."""
        self.call("recv", s.fileno(), ctypes.c_void_p(self.at + i * PAGE), n, 0)

    def ip_options(self, s, i):
        """setsockopt(IP_OPTIONS), whose value TCP copies with its own lock held.

        It looks at the first half, which is there, before that.
        """
        at = (2 * i + 1) * PAGE - 8
        self.map[at] = 0
        self.call("setsockopt", s.fileno(), socket.IPPROTO_IP, socket.IP_OPTIONS,
                  ctypes.c_void_p(self.at + at), 16)

    def wait(self, count=0):
        """Until each of the calls is stuck, or COUNT of other threads."""
        left = count or len(self.calls)
        while left:
            select.select([self.fd], [], [])
            left -= len(os.read(self.fd, 32 * left)) // 32

    def let_go(self, h):
        """What the calls return."""
        for at, size in self.traps:
            if self.content:
                self.ioctl(UFFDIO_WRITEPROTECT, struct.pack("QQQ", at, size, 0))
            else:
                self.ioctl(UFFDIO_ZEROPAGE, struct.pack("QQQq", at, size, 0, 0))
        for th, _ in self.calls:
            th.join(h.left())
        return [out[0] if out else None for _, out in self.calls]
