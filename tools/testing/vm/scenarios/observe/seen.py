# SPDX-License-Identifier: GPL-2.0
"""The screen of `smc watch` in a terminal shows the connections, windows and unread bytes.

The server reads nothing of one connection, so that its numbers stand still.

covers: API-01
"""
import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import termios

kernels = ("stock",)
dialects = (0,)
PORT = 5830
UNREAD = 12345
CLEAR = "\033[H\033[J"
AMOUNT = r"\s+(\d[\d.]*(?: [kMGTP])?)"
GROUP = re.compile(r"^([0-9a-f]{8}) (\d+)\s+(\w+)\s+(\S+)\s+(\d+)" + 4 * AMOUNT + "$", re.M)
CONN = re.compile(r"^(\S+:\d+)\s+(\S+:\d+)\s+(\d+)" + 4 * AMOUNT + "$", re.M)


def server(h, port):
    ls = h.listen(port)
    conns = [h.accept(ls), h.accept(ls)]
    h.mark("moved")
    h.gate("end")
    for c in conns:
        c.close()
    ls.close()


def client(h, port):
    socks = [h.connect(port), h.connect(port)]
    socks[1].sendall(bytes(UNREAD))
    h.mark("moved")
    h.gate("end")
    for s in socks:
        s.close()


def watch(h, tool, lines=30):
    """Run `smc watch` in a terminal of so many lines; return its screens."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", lines, 132, 0, 0))
    p = subprocess.Popen([tool, "watch", "--number", "2"], stdin=slave, stdout=slave,
                         stderr=slave, env=dict(os.environ, LC_ALL="C.UTF-8"))
    os.close(slave)
    text = b""
    try:
        while True:
            text += os.read(master, 65536)
    except OSError:
        pass  # the end of a terminal
    h.equal(p.wait(), 0, "exit status")
    return text.decode().replace("\r", "").split(CLEAR)[1:]


def amount(value):
    """As people read it, with three digits."""
    for unit in ("", " k", " M"):
        if value < 999.5:
            return f"{value:.{int(bool(unit) and value < 99.95)}f}{unit}"
        value /= 1000
    raise ValueError(value)


def compare(t, vm, tool, at):
    """The last screen of VM, whose end of a connection is AT, against sock_diag and netlink."""
    half = t.half(vm, watch, tool=tool)
    t.wait_all(half)
    t.equal(len(half.value), 2, "screens")
    screen = half.value[-1]
    t.check(len(screen.splitlines()) <= 30, f"the screen overflows:\n{screen}")
    small = t.half(vm, watch, tool=tool, lines=12)
    t.wait_all(small)
    t.check("\nand 2 more\n" in small.value[-1] and len(small.value[-1].splitlines()) <= 12,
            f"a screen that is too small:\n{small.value[-1]}")
    links = json.loads(vm.run(f"{tool} links -j").out)["links"]
    t.equal([(g[0], g[1], g[2], g[3], g[4]) for g in GROUP.findall(screen)],
            [(n["group"], str(n["id"]), "active", "rxe0", "2") for n in links], "links")
    want = {}
    for s in vm.sockets():
        if PORT not in (s["sport"], s["dport"]) or "conn" not in s:
            continue
        conn = s["conn"]
        local, peer = (f"{s[a]}:{s[p]}" for a, p in (("src", "sport"), ("dst", "dport")))
        unread, full = (conn[end + "_prod"]["count"] - conn[end + "_cons"]["count"]
                        for end in ("rx", "tx"))
        want[local, peer] = (amount(conn["peer"] - full), amount(unread))
    got = {(c[0], c[1]): (c[5], c[6]) for c in CONN.findall(screen)}
    t.equal(got, want, f"window and unread bytes, {at}")
    t.check(amount(UNREAD) in [v[1] for v in got.values()] or at != "server", screen)


def run(t):
    from smcvm import kernel
    tool = t.guest_path(kernel.user_tool("smc"))
    t.no_groups()
    s = t.half(t.a, server, port=PORT)
    s.expect("listening")
    c = t.half(t.b, client, port=PORT)
    t.expect_all("moved", s, c)
    for vm, at in ((t.a, "server"), (t.b, "client")):
        t.mode(vm, "SMC-R", PORT, 2)
        compare(t, vm, tool, at)
    for half in (s, c):
        half.gate("end")
    t.wait_all(s, c)
