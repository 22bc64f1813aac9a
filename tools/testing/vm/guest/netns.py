# SPDX-License-Identifier: GPL-2.0
"""Enters network namespaces: by the names of `ip netns`, or private ones."""
import contextlib
import ctypes
import fcntl
import os
import socket
import struct
import traceback

CLONE_NEWUSER, CLONE_NEWNET = 0x10000000, 0x40000000
PR_SET_DUMPABLE = 4
SIOCSIFFLAGS, IFF_UP = 0x8914, 1
libc = ctypes.CDLL(None, use_errno=True)


def set_to(path):
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        if libc.setns(fd, CLONE_NEWNET):
            err = ctypes.get_errno()
            raise OSError(err, f"setns({path}): {os.strerror(err)}")
    finally:
        os.close(fd)


def enter(name):
    """Move the calling thread, and processes that it starts later, to a namespace."""
    set_to(f"/run/netns/{name}")


@contextlib.contextmanager
def inside(name):
    """Run the context in the namespace NAME; with None stay in the present one."""
    if not name:
        yield
        return
    own = os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
    try:
        enter(name)
        try:
            yield
        finally:
            set_to(f"/proc/self/fd/{own}")
    finally:
        os.close(own)


def leave(uid):
    os.setgroups([])
    os.setgid(uid)
    os.setuid(uid)
    # otherwise root owns /proc/self
    libc.prctl(PR_SET_DUMPABLE, 1)
    if libc.unshare(CLONE_NEWUSER | CLONE_NEWNET):
        err = ctypes.get_errno()
        raise OSError(err, f"unshare: {os.strerror(err)}")
    for name, text in ("setgroups", "deny"), ("uid_map", f"0 {uid} 1"), ("gid_map", f"0 {uid} 1"):
        with open(f"/proc/self/{name}", "w", encoding="ascii") as f:
            f.write(text)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        fcntl.ioctl(s, SIOCSIFFLAGS, struct.pack("16sh22x", b"lo", IFF_UP))


def in_child(h, func, *args, uid=None, unshare=0):
    """Call FUNC(h, *ARGS) in a process of user UID, in new namespaces; its failure is ours."""
    def inner():
        if uid is not None:
            os.setgroups([])
            os.setgid(uid)
            os.setuid(uid)
        if unshare and libc.unshare(unshare):
            err = ctypes.get_errno()
            raise OSError(err, f"unshare: {os.strerror(err)}")
        func(h, *args)
    forked(h, inner)


def apart(h, func, *args, uid=65534):
    """Call FUNC(h, *ARGS) as user UID, in a private user and network namespace.

    FUNC is root there, and lo is up. It runs in another process, because a process with
    threads cannot change its user namespace.
    """
    def inner():
        leave(uid)
        func(h, *args)
    forked(h, inner)


def forked(h, func):
    """Call FUNC() in another process."""
    r, w = os.pipe()
    pid = os.fork()
    if not pid:
        text = "done"
        try:
            func()
        except BaseException:
            text = traceback.format_exc()
        os.write(w, text.encode())
        os._exit(0)
    os.close(w)
    with os.fdopen(r, "rb") as pipe:
        text = pipe.read().decode()
    os.waitpid(pid, 0)
    h.check(text == "done", text)
