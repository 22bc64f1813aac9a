# SPDX-License-Identifier: GPL-2.0
"""The module is exchanged under iperf3, redis and ssh, on the client's side, then on the server's.

Calls that have slept since before neither fail nor hold the module: accept(), recv() and a send()
without room, and one that has a limit of time. Answers of redis count, so none is lost or repeated.

covers: GEN-07
"""
import ctypes
import os
import re
import socket
import threading

from halves import Pattern, is_asleep, libc

ipv = (4,)
timeout = 150
REDIS, IPERF, SSH, SLEEP = 5720, 5721, 5722, 5723
MORE = 1 << 20
DIR = "/run/landing_upgrade"
SSHD = f"""set -e
mkdir -p {DIR} /run/sshd
ssh-keygen -q -t ed25519 -N '' -f {DIR}/host
ssh-keygen -q -t ed25519 -N '' -f {DIR}/user
cp {DIR}/user.pub {DIR}/authorized
exec /usr/sbin/sshd -D -e -f /dev/null -p {SSH} -h {DIR}/host -o PermitRootLogin=yes \
	-o AuthorizedKeysFile={DIR}/authorized -o StrictModes=no -o UseDNS=no -o PidFile=none"""
MOVED = r"sec +[\d.]*[1-9][\d.]* [KMG]?Bytes"
REPEAT = "while read x; do echo got $x; done"


def counts(h, port):
    """A client of redis: the answer to the n-th INCR is n."""
    s = h.connect(port)
    answers = s.makefile("rb")
    s.sendall(b"DEL n\r\n")
    answers.readline()
    h.mark("connected")
    n = 0
    while not h.gate_open("stop"):
        more = h.gate_open("more")
        for _ in range(20):
            # the second half of a request comes late
            s.sendall(b"INCR n\r\nINC")
            s.sendall(b"R n\r\n")
            for _ in range(2):
                n += 1
                h.equal(answers.readline(), b":%d\r\n" % n, "answer")
        if more:
            h.mark("more")
    s.close()
    return n


def call(func, *args):
    """A call of the C library, which Python does not repeat; (result, errno)."""
    ctypes.set_errno(0)
    rc = func(*args)
    return rc, ctypes.get_errno() if rc < 0 else 0


class Asleep:
    """A thread in a call that does not return."""

    def __init__(self, h, what, func, *args):
        self.h, self.what, self.result = h, what, None
        self.thread = threading.Thread(target=self.run, args=(func, *args), daemon=True)
        self.thread.start()
        self.sleeps()

    def run(self, func, *args):
        self.result = call(func, *args)

    def sleeps(self):
        self.h.wait(lambda: self.result or is_asleep(self.thread.native_id), self.what, 10)
        self.h.equal(self.result, None, f"{self.what} has returned")

    def returns(self):
        self.thread.join(self.h.left())
        self.h.check(self.result and self.result[0] >= 0, f"{self.what}: {self.result}")
        return self.result[0]


def sends_all(s, n):
    rc = libc.send(s.fileno(), bytes(n), n, 0)
    s.shutdown(socket.SHUT_WR)
    return rc


def sleeps(h, port, passive):
    """One end of three connections, in whose calls threads sleep; [bytes sent, received]."""
    ls = h.listen(port) if passive else None
    s = [h.accept(ls) if passive else h.connect(port) for _ in range(3)]
    buf = ctypes.create_string_buffer(10)
    off = h.fill(s[1], Pattern(1))
    s[2].setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, (3600).to_bytes(16, "little"))
    calls = [Asleep(h, "recv()", libc.recv, s[0].fileno(), buf, 10, 0),
             Asleep(h, "send()", sends_all, s[1], MORE),
             Asleep(h, "recv() with a limit", libc.recv, s[2].fileno(), buf, 10,
                    socket.MSG_WAITALL)]
    if passive:
        calls.append(Asleep(h, "accept()", libc.accept, ls.fileno(), None, None))
    h.mark("asleep")
    h.gate("look")
    for each in calls:
        each.sleeps()
    h.mark("looked")
    h.gate("go on")
    for sock, data in ((s[0], b"0123456789"), (s[2], b"01234"), (s[2], b"56789")):
        sock.send(data)
    got = 0
    while data := s[1].recv(1 << 16):
        got += len(data)
    h.equal([each.returns() for each in calls[:3]], [10, MORE, 10], "results")
    if passive:
        h.equal(os.read(calls[3].returns(), 3), b"new", "bytes of a new connection")
    else:
        h.connect(port).sendall(b"new")
    return [off + MORE, got]


class Programs:
    def __init__(self, t):
        self.t, self.steps = t, 0
        env = t.preload()
        self.servers = {
            "redis": t.a.spawn(f"exec redis-server --port {REDIS} --bind 0.0.0.0 --save '' "
                               "--protected-mode no --appendonly no --daemonize no", env),
            "iperf3": t.a.spawn(f"exec iperf3 -s -p {IPERF} --forceflush", env),
            "sshd": t.a.spawn(SSHD, env)}
        self.servers["redis"].expect_out("Ready to accept connections")
        self.servers["iperf3"].expect_out("Server listening")
        self.servers["sshd"].until(lambda: "Server listening" in self.servers["sshd"].err, 30,
                                   "sshd")
        t.b.run(f"mkdir -p {DIR} && chmod 700 {DIR}")
        t.b.write(f"{DIR}/user", t.a.read(f"{DIR}/user"))
        t.b.run(f"chmod 600 {DIR}/user")
        self.start()

    def start(self):
        t = self.t
        env = t.preload()
        self.redis = t.half(t.b, counts, port=REDIS)
        self.redis.expect("connected", t.left())
        self.iperf = t.b.spawn(f"exec iperf3 -c {t.a.ip} -p {IPERF} -t 3600 -i 0.5 -b 4M "
                               "--forceflush", env)
        self.ssh = t.b.spawn(f"exec ssh -p {SSH} -i {DIR}/user -o StrictHostKeyChecking=no "
                             "-o BatchMode=yes -o UserKnownHostsFile=/dev/null "
                             f"root@{t.a.ip} '{REPEAT}'", env)
        for port, count in ((REDIS, 1), (IPERF, 2), (SSH, 1)):
            for vm in (t.a, t.b):
                t.mode(vm, "SMC-R", port, count)
        self.more()

    def more(self):
        """Each of them goes on."""
        self.steps += 1
        self.ssh.gate(f"word{self.steps}")
        self.ssh.expect_out(f"^got word{self.steps}$", self.t.left())
        self.redis.gate("more")
        self.redis.expect("more", self.t.left())
        had = len(self.iperf.out)
        self.iperf.until(lambda: self.iperf.rc is not None or
                         re.search(MOVED, self.iperf.out[had:]), self.t.left(), "iperf3")
        self.t.check(self.iperf.rc is None, self.iperf.explain())

    def stop(self):
        self.redis.gate("stop")
        self.iperf.kill(2)
        self.ssh.close_stdin()
        self.t.wait_all(self.redis, self.ssh)
        self.iperf.wait(self.t.left(), check=False)
        self.t.check("the client has terminated" in self.iperf.err, self.iperf.explain())


def upgrade(t, x, vm, number):
    """The module of VM is exchanged while the programs run, and calls sleep."""
    s = t.half(t.a, sleeps, port=SLEEP + number, passive=True)
    s.expect("listening", t.left())
    c = t.half(t.b, sleeps, port=SLEEP + number, passive=False)
    t.expect_all("asleep", s, c)
    t.mode(vm, "SMC-R", SLEEP + number, 3)
    t.run_smc(vm, "drain --move --wait 20")
    for each in (s, c):
        each.gate("look")
    t.expect_all("looked", s, c)
    x.more()
    t.reload(vm)
    x.more()
    for each in (s, c):
        each.gate("go on")
    t.wait_all(s, c)
    t.equal(s.value, c.value[::-1], "bytes sent and received")


def run(t):
    if t.family != "smc":
        return
    for vm in (t.a, t.b):
        t.set(vm, landing=1, peer_memory_ms=0)
    t.no_groups()
    x = Programs(t)
    t.step("the module of the clients")
    upgrade(t, x, t.b, 0)
    x.stop()
    t.step("the module of the servers")
    t.set(t.b, landing=1, peer_memory_ms=0)
    x.start()
    upgrade(t, x, t.a, 1)
    x.stop()
    for p in x.servers.values():
        p.kill(15)
        p.wait(t.left(), check=False)
