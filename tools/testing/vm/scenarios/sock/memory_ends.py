# SPDX-License-Identifier: GPL-2.0
"""Either end of a connection in memory may be killed, stopped, ended by `ss -K` or handed on.

The other end learns of it as with TCP, no socket remains, and the module unloads, but not before.

covers: RACE-04 CLOSE-09 ABRT-03
"""
import errno
import os
import select
import signal
import socket
import threading

from common import (drink, drink_from, drink_server, pour, pour_server, stream_client,
                    stream_server)
from halves import Pattern, is_asleep

timeout = 150
LO = "127.0.0.1"
N = 300_007
BROKEN = (errno.ECONNRESET, errno.EPIPE)
DRAIN = 0x03F10000


def flowing(t, port, server, client):
    """A connection with data under way: both halves."""
    s = t.half(t.a, server, port=port)
    s.expect("listening", t.left())
    c = t.half(t.a, client, port=port, addr=LO)
    reader = s if server is drink_server else c
    reader.expect("flowing", t.left())
    t.mode(t.a, "memory", port, 2)
    return s, c


def outcome(t, half):
    t.wait_all(half)
    return half.value


def killed(t):
    """kill -9 of a writer ends the stream, of a reader with unread data resets the connection."""
    for port, server, client in ((5600, drink_server, pour), (5602, pour_server, drink)):
        for i in range(2):
            halves = flowing(t, port + i, server, client)
            is_reader = (server is drink_server) == (i == 0)
            halves[i].kill()
            halves[i].wait(check=False)
            got = outcome(t, halves[1 - i])
            t.check(got in BROKEN if is_reader else got == 0,
                    f"end {i} was killed, the {'writer' if is_reader else 'reader'} got {got}")
            t.no_sockets(t.a, port + i)


def destroyed(t):
    """`ss -K` at either end is an abort at both."""
    for i, which in enumerate(("sport", "dport")):
        port = 5610 + i
        halves = flowing(t, port, drink_server, pour)
        out = t.a.run(f"ss -HtnK state established '{which} = :{port}'").out
        t.equal(len(out.splitlines()), 1, f"connections that ss -K ended: {out}")
        got = [outcome(t, half) for half in halves]
        t.equal(got[i], errno.ECONNABORTED, "the end that was ended")
        t.check(got[1 - i] in BROKEN, f"the other end got {got[1 - i]}")
        t.no_sockets(t.a, port)


def goes_on_sending(h, port):
    """Send without a pause: blocked while the reader is stopped, and as poll() reports."""
    s = h.connect(port, addr=LO)
    pat, sent, tid, more = Pattern(1), [0], [], [True]

    def send():
        tid.append(threading.get_native_id())
        while more:
            sent[0] += s.send(pat.at(sent[0], 30011))

    th = threading.Thread(target=send, daemon=True)
    th.start()
    p = select.poll()
    p.register(s, select.POLLOUT)
    for _ in range(2):
        h.gate("stopped")
        h.wait(lambda: is_asleep(tid[0]), "the writer to block", 30)
        h.equal(p.poll(0), [], "events while the writer is blocked")
        h.mark("blocked")
        before = sent[0]
        # more than fits into the ring
        h.wait(lambda before=before: sent[0] > before + (4 << 20), "the writer to go on", 60)
        h.check(h.poll(p, 30), "not writable")
        h.mark("on")
    more.clear()
    th.join(h.left())
    h.check(not th.is_alive(), "the writer is still blocked")
    h.finish(s)


def drink_whole(h, port):
    """Verify what goes_on_sending() sends, up to its end."""
    ls = h.listen(port)
    c = h.accept(ls)
    h.equal(drink_from(h, c), 0, "end of the stream")
    c.close()
    ls.close()


def stopped(t):
    """A writer blocks while its reader is stopped, goes on afterwards, and loses nothing."""
    s = t.half(t.a, drink_whole, port=5620)
    s.expect("listening", t.left())
    c = t.half(t.a, goes_on_sending, port=5620)
    s.expect("flowing", t.left())
    t.mode(t.a, "memory", 5620, 2)
    for _ in range(2):
        s.kill(signal.SIGSTOP)
        t.wait(lambda: ") T " in t.a.read(f"/proc/{s.pid}/stat"), "the reader to stop", 20)
        c.gate("stopped")
        c.expect("blocked", t.left())
        s.kill(signal.SIGCONT)
        c.expect("on", t.left())
    t.wait_all(s, c)
    t.no_sockets(t.a, 5620)


def hands_on(h, port):
    """Read some, pass the descriptor to another process, which reads the rest and answers."""
    here, there = socket.socketpair()
    pid = os.fork()
    if not pid:
        code = 1
        try:
            here.close()
            start, fds = socket.recv_fds(there, 8, 1)[:2]
            with socket.socket(fileno=fds[0]) as c:
                start = int.from_bytes(start, "big")
                h.recv_stream(c, N - start, 1, start=start)
                h.send_stream(c, N, 2)
                h.finish(c)
            code = 0
        finally:
            os._exit(code)
    there.close()
    ls = h.listen(port)
    c = h.accept(ls)
    h.recv_stream(c, 100_003, 1)
    # it lies unread in the ring when the descriptor moves
    h.gate("written")
    socket.send_fds(here, [(100_003).to_bytes(8, "big")], [c.fileno()])
    for one in (c, ls, here):
        one.close()
    h.equal(os.waitpid(pid, 0)[1], 0, "exit status of the second reader")


def is_read(h, port):
    s = h.connect(port, addr=LO)
    h.send_stream(s, N, 1)
    h.mark("written")
    h.recv_stream(s, N, 2)
    h.finish(s)


def passed(t):
    """A descriptor that went to another process by SCM_RIGHTS reads on where the first stopped."""
    s = t.half(t.a, hands_on, port=5630)
    s.expect("listening", t.left())
    c = t.half(t.a, is_read, port=5630)
    c.expect("written", t.left())
    t.mode(t.a, "memory", 5630, 2)
    s.gate("written")
    t.wait_all(s, c)
    t.no_sockets(t.a, 5630)


def start(t, port):
    s = t.half(t.a, stream_server, port=port, n_in=N, n_out=N)
    s.expect("listening", t.left())
    c = t.half(t.a, stream_client, port=port, addr=LO, n_in=N, n_out=N)
    t.expect_all("moved", s, c)
    return s, c


def end(t, halves):
    for half in halves:
        half.gate("end")
    t.wait_all(*halves)


def drained(t):
    """`smc drain` spares what is in memory, and waits for its end; new connections are TCP."""
    halves = start(t, 5640)
    t.mode(t.a, "memory", 5640, 2)
    t.run_smc(t.a, "drain --wait 0", 1)
    more = start(t, 5641)
    t.mode(t.a, "TCP", 5641, 1, DRAIN)
    end(t, more)
    t.mode(t.a, "memory", 5640, 2)
    waits = t.a.spawn([tool(t), "drain", "--wait", "100"])
    end(t, halves)
    t.wait_all(waits)
    t.run_smc(t.a, "drain --undo")
    halves = start(t, 5642)
    t.mode(t.a, "memory", 5642, 2)
    end(t, halves)


def tool(t):
    from smcvm import kernel
    return t.guest_path(kernel.user_tool("smc"))


def unloaded(t):
    """The module is in use while a connection is in memory, and goes after its end."""
    halves = start(t, 5650)
    t.mode(t.a, "memory", 5650, 2)
    r = t.a.run("rmmod smc_diag; rmmod smc", check=False)
    t.check(r.rc and "in use" in r.err, f"rmmod with a connection in memory: {r}")
    t.a.run(["insmod", t.guest_path(t.a.kernel.smc_modules(t.case.sides[0])["smc_diag"])])
    t.mode(t.a, "memory", 5650, 2)
    end(t, halves)
    t.no_sockets(t.a, 5650)
    t.reload(t.a)
    halves = start(t, 5651)
    t.mode(t.a, "memory", 5651, 2)
    end(t, halves)


def run(t):
    t.set(t.a, memory=1, peer_memory_ms=0)
    parts = (killed, destroyed, stopped, passed)
    if t.family == "smc":
        parts += (drained, unloaded)
    for part in parts:
        t.step(part.__doc__)
        part(t)
