# SPDX-License-Identifier: GPL-2.0
"""BPF programs of the namespace decide which SYNs and SYN-ACKs have the TCP option.

Kernels since 6.19 with CONFIG_SMC ask a struct_ops smc_hs_ctrl. net.smc.hs_ctrl has the name of
the one that a namespace uses. It works until the namespace uses another, also after its removal.

covers: OPT-02 OPT-08
"""
import errno
import os
import socket
import threading

import bpf
import netns
from common import requests, serve, stream_client, stream_server

dialects = (0,)
ipv = (4,)
timeout = 200
PORT = 6010
PEERNOSMC = 0x03010000
PATH = "/proc/sys/net/smc/hs_ctrl"
NAME, AGAIN = "bench", "fifteen_letters"
INHERITABLE = b"\1\0\0\0"
# in struct sock_common, with which both arguments begin
DPORT, NUM = 12, 14


def choose(name):
    with open(PATH, "w", encoding="ascii") as f:
        f.write(name + "\n")


def chosen():
    with open(PATH, encoding="ascii") as f:
        return f.read().rstrip("\n")


def named(name):
    return name.encode().ljust(16, b"\0")


def refuse(arg, field, port):
    """A program that returns 0 where a field of an argument is PORT, else 1."""
    return (bpf.load_pointer(2, 1, 8 * arg) + bpf.load_port(3, 2, field) + bpf.mov(0, 0) +
            bpf.jump_if(3, port, 1) + bpf.mov(0, 1) + bpf.EXIT)


def no_answer_from(ops, port):
    return ops.program("synack_option", refuse(1, NUM, port))


def no_offer_to(ops, port):
    return ops.program("syn_option", refuse(0, DPORT, socket.htons(port)))


# Without connections

def asked(h):
    """What is registered, and what may be chosen."""
    ops = bpf.StructOps("smc", "smc_hs_ctrl")
    yes = ops.program("syn_option", bpf.answer(1))
    h.equal(chosen(), "", "at first")
    h.raises("a program that may sleep", errno.EINVAL, ops.program, "syn_option",
             bpf.answer(1), bpf.SLEEPABLE)
    h.raises("a second argument of syn_option", errno.EACCES, ops.program, "syn_option",
             bpf.load_pointer(2, 1, 8) + bpf.answer(1))
    h.raises("a program that writes to the socket", errno.EACCES, ops.program, "syn_option",
             bpf.load_pointer(2, 1, 0) + bpf.mov(3, 0) + bpf.store(2, DPORT, 3) + bpf.answer(1))
    fd = ops.fill(name=named(AGAIN), syn_option=yes)
    h.raises("a program of the other member", errno.EINVAL, lambda: ops.fill(
        name=named(NAME), synack_option=yes))
    for what, values in (("no name", {}), ("a name without end", {"name": b"x" * 16}),
                         ("an unknown flag", {"name": named(NAME), "flags": b"\2\0\0\0"})):
        h.raises(what, errno.EINVAL, lambda v=values: ops.fill(syn_option=yes, **v))
    h.raises("the name again", errno.EEXIST, lambda: ops.fill(name=named(AGAIN)))
    for name in ("nobody", AGAIN[:-1], AGAIN + "x", AGAIN + "xy"):
        h.raises(f"the name {name}", errno.EINVAL, choose, name)
        h.equal(chosen(), "", f"after {name}")
    choose(AGAIN)
    h.equal(chosen(), AGAIN, "what was chosen")
    h.raises("another name", errno.EINVAL, choose, "nobody")
    h.equal(chosen(), AGAIN, "what stays chosen")
    choose("")
    h.equal(chosen(), "", "nothing chosen")
    h.check(bpf.has(fd, bytes(4)), "cannot be removed")
    h.raises("a name that was removed", errno.EINVAL, choose, AGAIN)
    # by a link, which ends with its descriptor; with neither program
    os.close(fd)
    fd = ops.fill(bpf.LINK, name=named(AGAIN))
    h.raises("a name without a link", errno.EINVAL, choose, AGAIN)
    tied = bpf.link(fd)
    choose(AGAIN)
    os.close(tied)
    h.wait(lambda: not_known(AGAIN), "the end of the link", 20)
    choose("")


def not_known(name):
    """True if NAME is not registered; what is chosen has this name."""
    try:
        choose(name)
        return False
    except OSError as e:
        return e.errno == errno.EINVAL


# Connections

def offers_less(h, port):
    """The client offers SMC to no service at PORT."""
    ops = bpf.StructOps("smc", "smc_hs_ctrl")
    fd = ops.fill(name=named(NAME), syn_option=no_offer_to(ops, port))
    h.mark("registered")
    h.gate("end")
    h.check(bpf.has(fd, bytes(4)), "cannot be removed")


def answers_less(h, port):
    """The server offers SMC to no client of PORT."""
    ops = bpf.StructOps("smc", "smc_hs_ctrl")
    fd = ops.fill(name=named(NAME), synack_option=no_answer_from(ops, port),
                  flags=INHERITABLE)
    h.mark("registered")
    h.gate("remove")
    h.check(bpf.has(fd, bytes(4)), "cannot be removed")
    os.close(fd)
    h.mark("removed")
    h.gate("again")
    fd = ops.fill(name=named(NAME), synack_option=no_answer_from(ops, port + 1))
    h.mark("registered again")
    h.gate("end")
    h.check(bpf.has(fd, bytes(4)), "cannot be removed")


def talk(t, want, port):
    """One connection of B to A in mode WANT, with CLC messages only if that is SMC-R."""
    clc = t.relay.rule(proto="tcp", find="e2d4c3d9", port=port, nflags=2)
    reason = PEERNOSMC if want == "TCP" else None
    t.in_step(stream_server, stream_client, port, vm_mode=(want, want), n_in=50_021, n_out=50_023,
              check=lambda: [t.mode(vm, want, port, reason=reason) for vm in (t.a, t.b)])
    t.equal(bool(t.relay.hits(clc)[0]), want == "SMC-R", "CLC messages on the wire")
    t.relay.unrule(clc)
    for vm in (t.a, t.b):
        t.no_sockets(vm, port)


def at_client(t):
    """A client asks the program of its namespace."""
    admin = t.half(t.b, offers_less, port=PORT)
    admin.expect("registered", t.left())
    talk(t, "SMC-R", PORT)
    t.b.write(PATH, NAME)
    talk(t, "TCP", PORT)
    talk(t, "SMC-R", PORT + 1)
    t.b.write(PATH, "\n")
    talk(t, "SMC-R", PORT)
    admin.gate("end")
    t.wait_all(admin)


def local(h, port):
    """Both ends in the first namespace of a machine; returns the mode of the connection."""
    ls = h.listen(port)
    s = h.connect(port, "127.0.0.1")
    c = h.accept(ls)
    c.sendall(b"hello")
    h.equal(h.recv_exact(s, 5), b"hello", "data")
    h.mark("moved")
    h.gate("end")
    for one in (s, c, ls):
        one.close()


def inside(t, want, port):
    p = t.half(t.a, local, port=port)
    p.expect("moved", t.left())
    t.mode(t.a, want, port, 2)
    p.gate("end")
    t.wait_all(p)
    t.no_sockets(t.a, port)


def of_namespace(t, name):
    return t.a.run(f"ip netns exec {name} cat {PATH}").out.strip()


def at_server(t):
    """A server asks the program of its namespace."""
    admin = t.half(t.a, answers_less, port=PORT)
    admin.expect("registered", t.left())
    t.a.run("ip netns add before")
    t.a.write(PATH, NAME)
    talk(t, "TCP", PORT)
    talk(t, "SMC-R", PORT + 1)
    inside(t, "TCP", PORT)
    inside(t, "memory", PORT + 1)

    t.step("a new namespace inherits what has the flag, and may change it")
    t.a.run("ip netns add after; ip netns add changed")
    t.equal([of_namespace(t, n) for n in ("before", "after", "changed")], ["", NAME, NAME],
            "what namespaces use")
    t.a.run(f"ip netns exec changed sh -c 'echo >{PATH}'")
    t.equal([of_namespace(t, "changed"), t.a.read(PATH).strip()], ["", NAME], "after a change")

    t.step("it was removed: what uses it goes on")
    admin.gate("remove")
    admin.expect("removed", t.left())
    t.equal([t.a.read(PATH).strip(), of_namespace(t, "after")], [NAME, NAME], "what is used")
    talk(t, "TCP", PORT)
    talk(t, "SMC-R", PORT + 1)

    t.step("another one has its name")
    admin.gate("again")
    admin.expect("registered again", t.left())
    talk(t, "TCP", PORT)
    t.a.write(PATH, NAME)
    talk(t, "SMC-R", PORT)
    talk(t, "TCP", PORT + 1)
    t.a.run("ip netns add without")
    t.equal(of_namespace(t, "without"), "", "what a namespace inherits without the flag")
    admin.gate("end")
    t.wait_all(admin)


def storm(h, rounds):
    """Register, choose, remove and inherit all at once."""
    ops = bpf.StructOps("smc", "smc_hs_ctrl")
    yes, no = (ops.program("synack_option", bpf.answer(n)) for n in (1, 0))
    faults = []

    def register(name, prog):
        for _ in range(rounds):
            fd = ops.fill(name=named(name), flags=INHERITABLE, synack_option=prog)
            choose(name)
            h.check(bpf.has(fd, bytes(4)), "cannot be removed")
            os.close(fd)

    def inherit():
        for _ in range(rounds // 4):
            netns.in_child(h, lambda h: chosen(), unshare=netns.CLONE_NEWNET)
            choose("")

    def kept(func, *args):
        try:
            func(*args)
        except BaseException as e:
            faults.append(repr(e))

    threads = [threading.Thread(target=kept, args=args) for args in
               ((register, "yes", yes), (register, "no", no), (inherit,))]
    h.mark("begun")
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    choose("")
    h.equal(faults, [], "faults")


def all_at_once(t):
    """Connections begin while programs come and go."""
    s = t.half(t.a, serve, port=PORT)
    s.expect("listening", t.left())
    p = t.half(t.a, storm, rounds=t.pick(200, 40))
    p.expect("begun", t.left())
    while p.rc is None:
        t.wait_all(t.half(t.b, requests, port=PORT, n=5))
    t.wait_all(p)
    s.gate("stop")
    t.wait_all(s)


# The module

def insert(t, vm, name, path=None):
    vm.run(["insmod", path or t.guest_path(vm.kernel.smc_modules("ours")[name])])


def holds_module(t):
    """A namespace that uses a program holds the module, and no longer than that."""
    for what, ready in (("used by the first namespace", f"echo >{PATH}"),
                        ("used by another", "ip netns del after")):
        r = t.a.run("rmmod smc_diag; rmmod smc", check=False)
        insert(t, t.a, "smc_diag")
        t.check(r.rc and "in use" in r.err, f"rmmod, {what}: {r}")
        t.a.run(ready)
    t.a.run("for n in before changed without; do ip netns del $n; done")
    t.pair.unload("a")


def without_types(t):
    """The module without BTF takes no program, and works."""
    path = t.guest_path(t.a.kernel.smc_modules("ours")["smc"])
    t.a.run(f"objcopy -R .BTF -R .BTF.base {path} /run/smc.ko")
    start = len(t.a.log)
    insert(t, t.a, "smc", "/run/smc.ko")
    t.check(any("BPF does not know smc_hs_ctrl" in line for line in t.a.dmesg(start)),
            "no message about it")
    t.equal(t.a.read(PATH).strip(), "", "what is chosen")
    t.a.run(f"echo >{PATH}")
    t.check(t.a.run(f"echo {NAME} >{PATH}", check=False).rc, "a name is accepted")
    t.a.run("rmmod smc; rm /run/smc.ko")
    t.load(t.a)


def run(t):
    t.need(t.case.kind.endswith("-bpf"), "only for kernels whose TCP asks BPF programs about SMC")
    t.step(asked.__doc__)
    t.wait_all(t.half(t.a, asked))
    for part in (at_client, at_server, holds_module, without_types, all_at_once):
        t.step(part.__doc__)
        part(t)
    talk(t, "SMC-R", PORT)
