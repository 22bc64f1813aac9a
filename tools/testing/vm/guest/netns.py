# SPDX-License-Identifier: GPL-2.0
"""Network namespaces by their names, as `ip netns` gives them."""
import contextlib
import ctypes
import os

CLONE_NEWNET = 0x40000000
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
    """Move the calling thread, and what it starts from now on."""
    set_to(f"/run/netns/{name}")


@contextlib.contextmanager
def inside(name):
    """The calling thread is in the namespace NAME, or stays with None."""
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
