# SPDX-License-Identifier: GPL-2.0
"""The runner's agent inside a test machine: starts processes and reports what they do.

One JSON object per line goes in and out over a virtio serial port. A request
has an "id" and an "op"; its answer repeats the id. The agent sends output of
processes, marks of scenario halves and kernel messages as events.

The agent is one thread around a selector. It forks a scenario half at any
time, which is faster than starting another interpreter.
"""
import ctypes
import errno
import fcntl
import glob
import json
import os
import re
import selectors
import signal
import subprocess
import sys
import time
import traceback

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import smcdiag
import smcnl
import halves

PORT_NAME = "agent"
CHUNK = 65536
RB_AUTOBOOT = 0x01234567  # reboot(2)
KEEP_KERNEL_THREADS = 2  # parent pid of kernel threads


def find_port():
    """The path of the runner's virtio serial port."""
    base = "/sys/class/virtio-ports"
    while True:
        for port in os.listdir(base) if os.path.isdir(base) else ():
            with open(f"{base}/{port}/name") as f:
                if f.read().strip() == PORT_NAME:
                    return f"/dev/{port}"
        time.sleep(0.02)


class Channel:
    """Exchanges lines with the runner."""

    def __init__(self):
        self.fd = os.open(find_port(), os.O_RDWR | os.O_CLOEXEC)
        self.buf = b""

    def send(self, obj):
        data = json.dumps(obj).encode() + b"\n"
        while data:
            n = os.write(self.fd, data[:CHUNK])
            data = data[n:]

    def receive(self):
        data = os.read(self.fd, CHUNK)
        if not data:
            # the other end is not open: do not spin
            time.sleep(0.05)
        self.buf += data
        *lines, self.buf = self.buf.split(b"\n")
        return [json.loads(line) for line in lines if line]


class Child:
    """A running process: a program, or a forked half of a scenario."""

    def __init__(self, key, pid, stdin, pipes):
        self.key = key
        self.pid = pid
        self.stdin = stdin
        self.open = dict(pipes)  # fd -> "out", "err" or "mark"
        self.status = None
        self.tail = b""


class Agent:
    def __init__(self):
        self.chan = Channel()
        self.sel = selectors.DefaultSelector()
        self.children = {}
        self.kmsg = os.open("/dev/kmsg", os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        self.sel.register(self.chan.fd, selectors.EVENT_READ, self.on_request)
        self.sel.register(self.kmsg, selectors.EVENT_READ, self.on_kmsg)
        wake, self.wake_w = os.pipe()
        for fd in (wake, self.wake_w):
            os.set_blocking(fd, False)
        signal.set_wakeup_fd(self.wake_w)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        self.sel.register(wake, selectors.EVENT_READ, self.on_sigchld)

    def run(self):
        self.on_kmsg(self.kmsg)  # messages of the boot come first
        self.chan.send({"ev": "hello", "kernel": os.uname().release})
        while True:
            for key, _ in self.sel.select():
                key.data(key.fd)

    # Kernel messages

    def on_kmsg(self, fd):
        while True:
            try:
                rec = os.read(fd, 8192).decode(errors="replace")
            except BlockingIOError:
                return
            except OSError as e:
                if e.errno == errno.EPIPE:  # records were overwritten
                    self.chan.send({"ev": "kmsg", "level": 4, "at": 0,
                                    "text": "bench: kernel messages lost"})
                    continue
                raise
            head, _, text = rec.partition(";")
            prio, _, usec = head.split(",")[:3]
            self.chan.send({"ev": "kmsg", "level": int(prio) & 7,
                            "at": int(usec), "text": text.split("\n")[0]})

    # Processes

    def on_sigchld(self, fd):
        try:
            os.read(fd, 512)
        except BlockingIOError:
            pass
        for child in list(self.children.values()):
            if child.status is None:
                try:
                    pid, status = os.waitpid(child.pid, os.WNOHANG)
                except ChildProcessError:
                    pid, status = child.pid, 255 << 8
                if pid:
                    child.status = os.waitstatus_to_exitcode(status)
            self.maybe_ended(child)

    def maybe_ended(self, child):
        """Report the end when the process is gone and its pipes are read.

        A grandchild may hold the pipes forever, so the present contents count.
        """
        if child.status is None or child.key not in self.children:
            return
        for fd in list(child.open):
            os.set_blocking(fd, False)
            while fd in child.open and self.read_pipe(child, fd):
                pass
            if fd in child.open:
                self.close_pipe(child, fd)
        if child.stdin is not None:
            os.close(child.stdin)
        del self.children[child.key]
        self.chan.send({"ev": "exit", "key": child.key, "rc": child.status})

    def close_pipe(self, child, fd):
        self.sel.unregister(fd)
        os.close(fd)
        del child.open[fd]

    def read_pipe(self, child, fd):
        """Read a pipe; true if there may be more.

        An event may be stale: the end of the process closes the pipe in the same round.
        """
        if fd not in child.open:
            return False
        try:
            data = os.read(fd, CHUNK)
        except BlockingIOError:
            return False
        if not data:
            self.close_pipe(child, fd)
            return False
        kind = child.open[fd]
        if kind == "mark":
            *lines, child.tail = (child.tail + data).split(b"\n")
            for line in lines:
                self.chan.send({"ev": "mark", "key": child.key,
                                "mark": json.loads(line)})
        else:
            self.chan.send({"ev": "out", "key": child.key, "fd": kind,
                            "data": data.decode(errors="replace")})
        return True

    def adopt(self, child):
        self.children[child.key] = child
        for fd in child.open:
            self.sel.register(fd, selectors.EVENT_READ,
                              lambda f, c=child: self.read_pipe(c, f))

    def op_spawn(self, req):
        env = dict(os.environ, **req.get("env", {}))
        p = subprocess.Popen(req["argv"], stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             env=env, cwd=req.get("cwd", "/tmp"),
                             start_new_session=True, bufsize=0)
        stdin = os.dup(p.stdin.fileno())
        pipes = {os.dup(p.stdout.fileno()): "out", os.dup(p.stderr.fileno()): "err"}
        for f in (p.stdin, p.stdout, p.stderr):
            f.close()
        p.returncode = 0  # the agent reaps it itself
        self.adopt(Child(req["key"], p.pid, stdin, pipes))
        return {"pid": p.pid}

    def op_half(self, req):
        """Fork a scenario half: function FUNC of the file FILE."""
        pipes = {name: os.pipe() for name in ("in", "out", "err", "mark")}
        pid = os.fork()
        if not pid:
            self.half_child(req, pipes)
        for name in ("out", "err", "mark"):
            os.close(pipes[name][1])
        os.close(pipes["in"][0])
        self.adopt(Child(req["key"], pid, pipes["in"][1],
                         {pipes[n][0]: n for n in ("out", "err", "mark")}))
        return {"pid": pid}

    def half_child(self, req, pipes):
        code = 1
        try:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            os.setsid()
            os.dup2(pipes["in"][0], 0)
            os.dup2(pipes["out"][1], 1)
            os.dup2(pipes["err"][1], 2)
            mark = os.dup(pipes["mark"][1])
            if mark < 64:
                mark = fcntl.fcntl(mark, fcntl.F_DUPFD, 64)
            os.closerange(3, mark)
            os.closerange(mark + 1, os.sysconf("SC_OPEN_MAX"))
            os.chdir("/tmp")
            code = halves.run(req["file"], req["func"], req.get("args", {}),
                              req.get("config", {}), mark)
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)

    def op_stdin(self, req):
        child = self.children.get(req["key"])
        if not child or child.stdin is None:
            raise RuntimeError("the process has ended")
        if "data" in req:
            os.write(child.stdin, req["data"].encode())
        if req.get("close"):
            os.close(child.stdin)
            child.stdin = None
        return {}

    def op_kill(self, req):
        child = self.children.get(req["key"])
        if child and child.status is None:
            target = os.killpg if req.get("group", True) else os.kill
            try:
                target(child.pid, req.get("sig", signal.SIGKILL))
            except ProcessLookupError:
                pass
        return {}

    # Looking and changing

    def op_read(self, req):
        with open(req["path"], "rb") as f:
            data = f.read(req.get("limit", 1 << 20))
        return {"data": data.decode(errors="replace")}

    def op_write(self, req):
        with open(req["path"], "w") as f:
            f.write(req["data"])
        return {}

    def op_scale(self, req):
        """Multiply the numbers in files by a factor."""
        for pattern in req["names"]:
            for path in glob.glob(os.path.join(req["dir"], pattern)):
                with open(path) as f:
                    value = int(f.read())
                with open(path, "w") as f:
                    f.write(str(value * req["factor"]))
        return {}

    def op_exists(self, req):
        return {"yes": os.path.exists(req["path"])}

    def op_sockets(self, req):
        return {"list": smcdiag.sockets(req.get("netns"))}

    def op_stats(self, req):
        return {"stats": smcnl.counters(req.get("netns"))}

    def op_groups(self, req):
        return {"list": smcnl.link_groups(req.get("netns"))}

    def op_end(self, req):
        with smcnl.Family() as f:
            f.end_link(req["group"], req["link"])
        return {}

    def op_counters(self, req):
        """All counters of the RDMA device."""
        out = {}
        for sub in ("hw_counters", "counters"):
            base = f"/sys/class/infiniband/{req['dev']}/ports/1/{sub}"
            if not os.path.isdir(base):
                continue
            for name in os.listdir(base):
                try:
                    with open(f"{base}/{name}") as f:
                        out[name] = int(f.read())
                except (OSError, ValueError):
                    pass
        return out

    def op_processes(self, req):
        """User processes other than init, the agent and the init's shell."""
        mine = {1, os.getpid()}
        out = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            pid = int(pid)
            try:
                with open(f"/proc/{pid}/stat") as f:
                    name, rest = re.match(r"\d+ \((.*)\) (.*)", f.read(), re.S).groups()
            except (OSError, AttributeError):
                continue
            state, ppid = rest.split()[:2]
            if pid in mine or pid == KEEP_KERNEL_THREADS or int(ppid) == KEEP_KERNEL_THREADS:
                continue
            out.append({"pid": pid, "name": name, "state": state})
        return {"list": out}

    def op_kill_pid(self, req):
        try:
            os.kill(req["pid"], req.get("sig", signal.SIGKILL))
        except ProcessLookupError:
            pass
        return {}

    def op_say(self, req):
        """Write a line to the kernel log."""
        with open("/dev/kmsg", "w") as f:
            f.write(f"<{req.get('level', 6)}>{req['text']}\n")
        return {}

    def op_poweroff(self, req):
        self.on_kmsg(self.kmsg)
        self.chan.send({"id": req["id"], "bye": True})
        # the debug kernel cannot power off without ACPI; a reboot ends QEMU
        ctypes.CDLL(None).reboot(RB_AUTOBOOT)

    def on_request(self, _fd):
        for req in self.chan.receive():
            try:
                ans = getattr(self, "op_" + req["op"])(req)
            except Exception as e:
                ans = {"error": f"{type(e).__name__}: {e}"}
            self.on_kmsg(self.kmsg)  # kernel messages precede the answer
            self.chan.send(dict(ans, id=req["id"]))


if __name__ == "__main__":
    Agent().run()
