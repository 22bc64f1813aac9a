# SPDX-License-Identifier: GPL-2.0
"""A socket becomes plain TCP while other calls on it are under way.

They find nothing of the module: kTLS copies TCP's operations, not the module's, into the table that
all its sockets share. Nor is the module unloaded under a call that is in it: such a call waits for
a page that does not come (userfaultfd), and rmmod is refused until it returns. Beside that, a
socket that became TCP does not keep the module, nor does a call that slept until then and that its
task makes again, in TCP.

covers: GEN-06
"""
import ctypes
import errno
import socket
import struct
import threading

from trap import Trap

timeout = 90
TCP_CONGESTION, TCP_FASTOPEN_CONNECT, TCP_ULP = 13, 30, 31
MSG_FASTOPEN = 0x20000000
CALLS = ("42", "44", "45", "54")    # x86-64: connect, sendto, recvfrom, setsockopt
CALLERS = 6
libc = ctypes.CDLL(None)
NAME = b"reno"


def listen(v6):
    """A listener of plain TCP on this machine."""
    ls = socket.socket(socket.AF_INET6 if v6 else socket.AF_INET)
    ls.bind(("::1" if v6 else "127.0.0.1", 0))
    ls.listen()
    return ls


def is_blocked(tid):
    """True if the thread sleeps in a call on a socket, also for the socket lock."""
    with open(f"/proc/self/task/{tid}/stat", encoding="ascii") as f:
        if f.read().rsplit(")", 1)[1].split()[0] not in "SD":
            return False
    with open(f"/proc/self/task/{tid}/syscall", encoding="ascii") as f:
        return f.read().split()[0] in CALLS


def sleeper(h, func, *args):
    """A thread that has called FUNC and sleeps there."""
    ids = []

    def run():
        ids.append(threading.get_native_id())
        try:
            func(*args)
        except OSError:
            pass
    th = threading.Thread(target=run, daemon=True)
    th.start()
    h.wait(lambda: ids and is_blocked(ids[0]), "a call that sleeps")
    return th


def set_tcp(s, name, value):
    """s.setsockopt() keeps the interpreter's lock while it sleeps."""
    libc.setsockopt(s.fileno(), socket.SOL_TCP, name, value, len(value))


def fast_open(s, _ls):
    set_tcp(s, TCP_FASTOPEN_CONNECT, struct.pack("i", 1))


def send_at_once(s, ls):
    s.sendto(b"x", MSG_FASTOPEN, ls.getsockname())


def connect(s, ls):
    s.connect(ls.getsockname())


def use_tls(h, v6):
    """A socket of another user, never of this module."""
    with listen(v6) as ls, socket.create_connection(ls.getsockname()) as s:
        c, _ = ls.accept()
        s.setsockopt(socket.SOL_TCP, TCP_ULP, b"tls")
        h.equal(s.getpeername()[1], ls.getsockname()[1], "the peer's name")
        s.shutdown(socket.SHUT_RDWR)
        h.at_end(c)
        c.close()


def tls(h, become, v6):
    """setsockopt(TCP_ULP) waits for the socket lock behind the call that makes it TCP."""
    ls = listen(v6)
    s = h.socket(v6=v6)
    trap = Trap(2, every=2)
    trap.ip_options(s, 0)
    trap.wait()
    calls = [sleeper(h, globals()[become], s, ls)]
    for _ in range(CALLERS):
        calls.append(sleeper(h, set_tcp, s, TCP_ULP, b"tls"))
    trap.let_go(h)
    for th in calls:
        th.join(h.left())
        h.check(not th.is_alive(), "a call does not return")
    th = threading.Thread(target=use_tls, args=(h, v6), daemon=True)
    th.start()
    th.join(h.left() / 2)
    h.check(not th.is_alive(), "a call on a socket of kTLS does not return")
    s.close()
    ls.close()


def set_congestion(s, trap):
    trap.call("setsockopt", s.fileno(), socket.SOL_TCP, TCP_CONGESTION,
              ctypes.c_void_p(trap.at), len(NAME))


def get(s, trap, name):
    out = ctypes.create_string_buffer(16)
    trap.call("getsockopt", s.fileno(), socket.SOL_TCP, name, out, ctypes.c_void_p(trap.at))


def stuck(h, call):
    """CALL is in TCP's text, or the module's, while the socket becomes TCP."""
    s = h.socket()
    trap = Trap(1, content=struct.pack("i", 16) if call != "set" else None)
    if call == "set":
        set_congestion(s, trap)
    else:
        get(s, trap, TCP_CONGESTION if call == "get" else TCP_ULP)
    trap.wait()
    s.setsockopt(socket.SOL_TCP, TCP_FASTOPEN_CONNECT, 1)
    s.getsockname()
    h.mark("stuck")
    h.gate("go")
    h.equal(trap.let_go(h), [-errno.ENOENT if call == "set" else 0], "what the call returned")
    s.close()


def sleeps(h, call):
    """CALL waits for connect(), which ends on TCP, and then again, in TCP."""
    ls = listen(False)
    s = h.socket(v6=False)
    lock = Trap(2, every=2)
    lock.ip_options(s, 0)
    lock.wait()
    dial = sleeper(h, s.connect, ls.getsockname())
    if call == "recv":
        th = sleeper(h, s.recv, 1)
        end = None
    else:
        end = Trap(1)
        th = sleeper(h, libc.send, s.fileno(), ctypes.c_void_p(end.at), 1, 0)
    lock.let_go(h)
    c, _ = ls.accept()
    if end:
        # send() holds the lock, in TCP; connect() has left the module before, or waits there
        end.wait(1)
        h.wait(lambda: not dial.is_alive() or is_blocked(dial.native_id), "connect()")
    else:
        dial.join(h.left())
    h.mark("became", held=dial.is_alive())
    h.gate("go")
    if end:
        end.let_go(h)
        h.equal(c.recv(1), bytes(1), "what send() sent")
    c.send(b"x")
    for th in (th, dial):
        th.join(h.left())
        h.check(not th.is_alive(), "a call does not return")
    s.close()
    c.close()
    ls.close()


def stays(h):
    """It is TCP, and no call tells the module."""
    s = h.socket(v6=False)
    with listen(False) as ls:
        s.setblocking(False)
        s.connect_ex(ls.getsockname())
        c, _ = ls.accept()
        h.mark("became", held=False)
        h.gate("go")
        s.setblocking(True)
        h.equal(s.getpeername(), ls.getsockname(), "the peer's name")
        s.sendall(b"x")
        h.equal(c.recv(1), b"x", "data")
        s.close()
        c.close()


def is_refused(t, what):
    r = t.a.run("[ ! -d /sys/module/smc_diag ] || rmmod smc_diag; rmmod smc", check=False)
    t.check(r.rc and "in use" in r.err, f"rmmod beside {what}: {r}")


def run(t):
    if t.family != "smc":
        return
    for i, become in enumerate(("connect", "send_at_once", "fast_open")):
        t.step(f"kTLS while {become}() makes a socket TCP")
        for v6 in (False, True) if not i else (bool(i % 2),):
            # its table is filled when it is used first
            t.a.run("[ ! -d /sys/module/tls ] || rmmod tls; modprobe tls")
            t.half(t.a, tls, become=become, v6=v6).wait(t.left())
    t.step("rmmod while calls are in the module")
    for call in ("set", "get", "ulp"):
        p = t.half(t.a, stuck, call=call)
        p.expect("stuck", t.left())
        is_refused(t, call)
        p.gate("go")
        p.wait(t.left())
    t.step("rmmod beside a socket that has become TCP")
    for half, args in ((sleeps, {"call": "send"}), (sleeps, {"call": "recv"}), (stays, {})):
        p = t.half(t.a, half, **args)
        if p.expect("became", t.left())["held"]:
            is_refused(t, args)
        else:
            t.pair.unload(t.a.name)
        p.gate("go")
        p.wait(t.left())
        t.load(t.a)
