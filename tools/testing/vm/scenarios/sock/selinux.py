# SPDX-License-Identifier: GPL-2.0
"""SELinux in enforcing mode treats SMC sockets as TCP's, from bind() and connect() to accept().

The policy guest/selinux.cil allows what sockets do by the class tcp_socket only, so a daemon makes
no SMC socket. With the policy module that is installed with the tool it does. The two ports for
which a socket may not bind or not connect are refused on SMC as on TCP.

covers: API-01
"""
import errno
import os

from common import stream_client, stream_server

kernels = ("stock",)
words = "security=selinux"
timeout = 60
N = 100_003
NO_BIND, NO_CONNECT = 5991, 5992


def confine():
    """Make this process a confined daemon."""
    with open("/proc/thread-self/attr/current", "w", encoding="ascii") as f:
        f.write("u:r:daemon_t")


def server(h, port):
    confine()
    stream_server(h, port, N, N)


def client(h, port):
    confine()
    stream_client(h, port, N, N)


def refused(h):
    """What the policy does not allow."""
    confine()
    with h.socket() as s:
        h.raises("bind()", errno.EACCES, s.bind, ("0.0.0.0", NO_BIND))
    # nobody listens
    h.raises("connect()", errno.EACCES, h.connect, NO_CONNECT)
    h.raises("connect()", errno.ECONNREFUSED, h.connect, NO_BIND)
    with h.listen(NO_CONNECT, mark=False):
        pass


def no_socket(h):
    """What the policy does not allow without the module."""
    confine()
    h.raises("socket()", errno.EACCES, h.socket)


def enforce(t, vm, *modules):
    from smcvm import kernel
    policy = t.guest_path(kernel.compile_policy(
        os.path.join(kernel.VM, "guest/selinux.cil"), *modules))
    fs = "/sys/fs/selinux"
    vm.run(f"mountpoint -q {fs} || mount -t selinuxfs none {fs}; "
           f"dd if={policy} of={fs}/load bs=1M && echo 1 >{fs}/enforce")
    t.equal(vm.read(f"{fs}/enforce").strip(), "1", "enforcing")


def run(t):
    from smcvm import kernel
    kinds = ("tcp", "smc", "inet_smc") if t.family == "smc" else ("tcp",)
    t.step("without the policy module")
    enforce(t, t.b)
    for kind in kinds[1:]:
        t.wait_all(t.half(t.b, no_socket, kind))
    for vm in (t.a, t.b):
        enforce(t, vm, os.path.join(kernel.TOP, "tools/smc/system/smc_ng.cil"))
    for i, kind in enumerate(kinds):
        t.step(f"{kind}: what is allowed")
        port = 5980 + i
        s = t.half(t.a, server, kind, port=port)
        s.expect("listening", t.left())
        c = t.half(t.b, client, kind, port=port)
        t.expect_all("moved", s, c)
        if kind != "tcp":
            for vm in (t.a, t.b):
                t.mode(vm, "SMC-R", port)
        for half in (s, c):
            half.gate("end")
        t.wait_all(s, c)
        t.step(f"{kind}: what is not")
        t.wait_all(t.half(t.b, refused, kind))
