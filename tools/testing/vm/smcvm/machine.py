# SPDX-License-Identifier: GPL-2.0
"""Controls one test machine: QEMU, its agent, its processes, its kernel log."""
import itertools
import json
import os
import re
import signal
import socket
import subprocess
import threading
import time

from . import kernel
from .kernel import BenchError
from .splats import SPLAT, race_of_others

# Splats without meaning here: the modules are not signed, Pair.leaks() repeats the scans of
# kmemleak, and scenarios make allocations fail, including those of debugging aids: without
# its scan area vmalloc() has an object of kmemleak searched as a whole.
HARMLESS = re.compile(r"module verification failed|kmemleak: \d+ new suspected|"
                      r"kmemleak: Cannot allocate a scan area|"
                      r"ref_tracker: memory allocation failure")

LONGEST = 200   # lines of a report

# Seconds after which a machine of the stock kernel on an idle host counts as hung; see Pair.
LIMIT = 120


class Failed(Exception):
    """A scenario, or a process of one, failed."""


class Died(Failed):
    """The machine has died."""


class Result:
    def __init__(self, rc, out, err):
        self.rc = rc
        self.out = out
        self.err = err

    def __repr__(self):
        return f"rc {self.rc}, out {self.out[-400:]!r}, err {self.err[-400:]!r}"


class Process:
    """A program or a scenario half running in a machine."""

    def __init__(self, vm, key, what):
        self.vm = vm
        self.key = key
        self.what = what
        self.out = ""
        self.err = ""
        self.marks = []
        self.taken = 0
        self.rc = None
        self.pid = None

    def __str__(self):
        return f"{self.vm.name}: {self.what}"

    def explain(self):
        text = f"{self}: rc {self.rc}"
        if self.marks:
            text += f", last mark {self.marks[-1]['name']}"
        if self.out:
            text += f"\n--- output\n{self.out[-3000:]}"
        if self.err:
            text += f"\n--- errors\n{self.err[-6000:]}"
        return text

    def until(self, cond, timeout, what):
        self.vm.until(cond, timeout, f"{self}: {what}", self.explain)

    def wait(self, timeout=None, check=True):
        """Wait for the end. A failed process raises unless CHECK is off."""
        self.until(lambda: self.rc is not None, timeout, "end of process")
        if check and self.rc:
            raise Failed(self.explain())
        return Result(self.rc, self.out, self.err)

    @property
    def value(self):
        """The value that a half returned."""
        for m in self.marks:
            if m["name"] == "return":
                return m["value"]
        raise Failed(f"{self}: no return value\n{self.explain()}")

    def expect(self, name, timeout=None):
        """Wait for the half's next mark NAME; returns its data."""
        def there():
            if self.rc not in (None, 0):
                raise Failed(self.explain())
            return self.find(name) is not None or self.rc is not None
        self.until(there, timeout, f"mark {name}")
        at = self.find(name)
        if at is None:
            raise Failed(f"{self}: ended without mark {name}\n{self.explain()}")
        self.taken = at + 1
        return self.marks[at]

    def find(self, name):
        for i in range(self.taken, len(self.marks)):
            if self.marks[i]["name"] == name:
                return i
        return None

    def gate(self, name):
        """Open the gate NAME of the half."""
        try:
            self.vm.call("stdin", key=self.key, data=name + "\n")
        except Failed as e:
            # the error of the half comes with its end
            self.vm.until(lambda: self.rc is not None, None, f"gate {name}: {e}", self.explain)
            raise Failed(f"gate {name}: {self.explain()}") from None

    def write(self, data):
        self.vm.call("stdin", key=self.key, data=data)

    def close_stdin(self):
        self.vm.call("stdin", key=self.key, close=True)

    def kill(self, sig=signal.SIGKILL):
        self.vm.call("kill", key=self.key, sig=int(sig))

    def expect_out(self, regex, timeout=None):
        """Wait until the output matches REGEX; returns the match."""
        rx = re.compile(regex, re.M)

        def there():
            if self.rc is not None and not rx.search(self.out):
                raise Failed(f"ended without output {regex!r}\n{self.explain()}")
            return rx.search(self.out)
        self.until(there, timeout, f"output {regex!r}")
        return rx.search(self.out)


class Machine:
    """One QEMU process and its state; Pair sets it up."""

    def __init__(self, name, number, kern, relay, rundir, vcpus=1, nics=1, accel="tcg",
                 plugin=None, cx16=False, limit=LIMIT, lean=False, root=None,
                 words="", devices=(), by_insns=False):
        self.name = name
        self.number = number
        self.kernel = kern
        self.relay = relay
        self.dir = rundir
        self.vcpus = vcpus
        self.nics = nics
        self.accel = accel
        self.plugin = plugin
        self.cx16 = cx16
        self.limit = limit
        self.lean = lean
        self.root = root
        self.words = words
        self.devices = devices
        self.by_insns = by_insns
        self.insns = os.path.join(rundir, f"insns-{name}")
        self.ip = f"10.43.0.{number}"
        self.ip6 = f"fd43::{number}"
        self.ports = [relay.port(name, seg, kern.processor == "s390x") for seg in range(nics)]
        self.boots = 0
        self.cond = threading.Condition()
        self.ids = itertools.count(1)
        self.qemu = self.sock = None
        self.paused = False
        self.log = []
        self.log_base = 0       # position of the first message after the boot
        self.judged = 0         # position up to which judge() has read
        self.unjudged = []      # messages of earlier boots that judge() has not returned yet

    # Life

    def start(self):
        """Start QEMU; wait_up() waits for the agent."""
        self.unjudged = self.judge()
        self.boots += 1
        self.answers = {}
        self.procs = {}
        self.log = []
        self.log_base = self.judged = 0
        self.up = self.bye = self.gone = False
        self.console = os.path.join(self.dir, f"console-{self.name}-{self.boots}.log")
        self.agent_path = os.path.join(self.dir, f"agent-{self.name}")
        self.qmp_path = os.path.join(self.dir, f"qmp-{self.name}")
        for path in (self.agent_path, self.qmp_path):
            if os.path.exists(path):
                os.unlink(path)
        self.qemu_log = open(os.path.join(self.dir, f"qemu-{self.name}.log"), "a")
        self.qemu = subprocess.Popen(self.command(), stdin=subprocess.DEVNULL,
                                     stdout=self.qemu_log, stderr=subprocess.STDOUT,
                                     preexec_fn=kernel.die_with_parent)
        self.sock = self.connect(self.agent_path)
        self.reader = threading.Thread(target=self.read_loop, args=(self.sock,),
                                       daemon=True)
        self.reader.start()

    def command(self):
        agent = os.path.join(kernel.VM, "guest/agent.py")
        system, cpu, words, bus = getattr(self, self.kernel.processor)()
        append = (f"{words} loglevel=5 oops=panic panic=-1 nokaslr mitigations=off "
                  "random.trust_cpu=on quiet "
                  "net.ifnames=0 rcupdate.rcu_cpu_stall_timeout=60 "
                  "watchdog_thresh=60 log_buf_len=4M printk.devkmsg=on "
                  f"kmemleak=on bench_agent={agent} bench_host={self.name}")
        if self.lean:
            append += " init_on_alloc=0"
        append += f" {self.words}"
        root = self.root or self.kernel.root
        append += f" bench_root={root}"
        if self.root:
            append += " bench_init=1 systemd.firstboot=off"
        debug = self.kernel.kind.startswith("debug")
        argv = [*system, "-name", f"bench-{self.name}",
                *self.clock(),
                "-cpu", cpu, "-smp", f"{self.vcpus},sockets={self.vcpus}",
                "-m", "2048" if debug or self.root else "1024",
                "-display", "none", "-nodefaults", "-no-reboot", "-no-user-config",
                "-serial", f"file:{self.console}",
                "-qmp", f"unix:{self.qmp_path},server=on,wait=off",
                *(word for device in self.devices for word in ("-device", device)),
                "-kernel", self.kernel.image, "-initrd", self.kernel.initramfs(),
                "-append", append,
                "-fsdev", "local,id=root,path=/,security_model=none,readonly=on,"
                          "multidevs=remap",
                "-device", f"virtio-9p-{bus},fsdev=root,mount_tag=root",
                "-device", f"virtio-serial-{bus}",
                "-chardev", f"socket,id=agent,path={self.agent_path},server=on,wait=off",
                "-device", "virtserialport,chardev=agent,name=agent"]
        if self.root:
            argv += ["-drive", f"file={self.disk()},format=raw,if=virtio,cache=unsafe"]
        if self.plugin:
            argv += ["-plugin", f"{self.plugin},out={self.insns}"]
        for i, (relay, qemu) in enumerate(self.ports):
            mac = f"52:54:00:43:{i:02x}:{self.number:02x}"
            argv += ["-netdev", f"dgram,id=n{i},local.type=unix,local.path={qemu},"
                                f"remote.type=unix,remote.path={relay}",
                     "-device", f"virtio-net-{bus},netdev=n{i},mac={mac}"]
        return argv

    def clock(self):
        """The emulation, and what the machine's clock counts: time, or instructions of 1 ns."""
        if self.by_insns:
            return ["-accel", "tcg,thread=single", "-icount", "shift=0"]
        return ["-accel", self.accel + (",thread=multi" if self.accel == "tcg" else "")]

    def amd64(self):
        """Program and machine of QEMU, its CPU, words for the kernel, and the bus of devices."""
        # noapic: a PIT tick between two stores of mp_irqdomain_alloc() causes a null
        # dereference during boot, which happens on loaded hosts. All devices have MSI-X.
        khz = 1000000 if self.by_insns else kernel.tsc_khz()
        words = f"console=ttyS0 tsc=reliable tsc_early_khz={khz} noapic reboot=t"
        # QEMU 7.2 leaves garbage in the flags after a cmpxchg16b that did not
        # exchange: an interrupt there causes a double fault, usually in an allocation.
        # Programs rarely hit that; where they need the instruction the kernel avoids it.
        # The debug kernel's table of CPUs has one entry for each socket.
        cpu = "host" if self.accel == "kvm" else "qemu64,+rdrand,+rdseed"
        if self.cx16:
            words += " clearcpuid=cx16"
        elif self.accel != "kvm":
            cpu += ",-cx16"
        if self.lean and self.accel != "kvm":
            cpu += ",+sse4.1,+pclmulqdq"
        return ["qemu-system-x86_64", "-M", "q35"], cpu, words, "pci"

    def s390x(self):
        """The same for a mainframe."""
        # VCKSM of QEMU 7.2 adds up checksums wrongly; Linux uses it where there are vectors
        cpu = "max,vx=off,vxeh=off,vxeh2=off"
        return ["qemu-system-s390x", "-M", "s390-ccw-virtio"], cpu, "console=ttysclp0", "ccw"

    def disk(self):
        """The file with what the system in ROOT has changed; made for the first boot."""
        path = os.path.join(self.dir, f"disk-{self.name}")
        if not os.path.exists(path):
            kernel.run(["/sbin/mke2fs", "-q", "-t", "ext4", path, "6G"])
        return path

    def connect(self, path):
        end = time.monotonic() + self.limit
        while True:
            s = socket.socket(socket.AF_UNIX)
            try:
                s.connect(path)
                return s
            except OSError:
                s.close()
                if self.qemu.poll() is not None or time.monotonic() > end:
                    raise BenchError(f"QEMU of {self.name} does not start:\n"
                                     + self.tail(self.qemu_log.name)) from None
                time.sleep(0.02)

    def wait_up(self):
        self.until(lambda: self.up, None, "boot of the machine",
                   lambda: self.tail(self.console))

    def alive(self):
        return self.qemu is not None and self.qemu.poll() is None and not self.gone

    def power_off(self):
        """Shut down in good order; raise if the machine does not get there."""
        self.call("poweroff")
        try:
            rc = self.qemu.wait(self.limit)
        except subprocess.TimeoutExpired:
            self.destroy()
            raise Failed(f"{self.name} does not power off\n"
                         + self.tail(self.console)) from None
        self.destroy()
        if rc or not self.bye:
            raise Failed(f"{self.name}: no end mark (QEMU's exit code {rc})")

    def destroy(self):
        """Kill QEMU at once, like a power cut."""
        if self.qemu is None:
            return
        if self.qemu.poll() is None:
            self.qemu.kill()
        self.qemu.wait()
        self.qemu = None
        self.paused = False
        if self.sock:
            self.sock.close()
            self.reader.join(5)
        self.qemu_log.close()

    def qmp(self, command):
        with socket.socket(socket.AF_UNIX) as s:
            s.settimeout(self.limit)
            s.connect(self.qmp_path)
            f = s.makefile("rw")
            f.readline()
            for cmd in ("qmp_capabilities", command):
                f.write(json.dumps({"execute": cmd}) + "\n")
                f.flush()
                while True:
                    ans = json.loads(f.readline())
                    if "return" in ans:
                        break
                    if "error" in ans:
                        raise BenchError(f"qmp {cmd}: {ans['error']}")

    def freeze(self):
        """Pause the machine: no instruction runs and its clock stops."""
        self.qmp("stop")
        self.paused = True

    def thaw(self):
        self.qmp("cont")
        self.paused = False

    @staticmethod
    def tail(path, n=3000):
        try:
            with open(path, errors="replace") as f:
                return f.read()[-n:]
        except OSError as e:
            return str(e)

    # The agent

    def read_loop(self, sock):
        buf = b""
        while True:
            try:
                data = sock.recv(1 << 16)
            except OSError:
                data = b""
            if not data:
                break
            *lines, buf = (buf + data).split(b"\n")
            with self.cond:
                for line in lines:
                    if line:
                        self.on_line(json.loads(line))
                self.cond.notify_all()
        with self.cond:
            self.gone = True
            self.cond.notify_all()

    def on_line(self, m):
        if "id" in m:
            if m.get("bye"):
                self.bye = True
            self.answers[m["id"]] = m
            return
        ev = m["ev"]
        if ev == "hello":
            self.up = True
            # messages of the boot do not count
            self.log_base = self.judged = len(self.log)
        elif ev == "kmsg":
            self.log.append(m)
        else:
            p = self.procs.get(m["key"])
            if not p:
                return
            if ev == "out":
                setattr(p, m["fd"], getattr(p, m["fd"]) + m["data"])
            elif ev == "mark":
                p.marks.append(m["mark"])
            elif ev == "exit":
                p.rc = m["rc"]

    def until(self, cond, timeout, what, explain=None):
        """Wait until COND() is true; check it at each event of this machine.

        Without TIMEOUT a wait longer than LIMIT means that the machine hangs.
        """
        timeout = timeout or self.limit
        end = time.monotonic() + timeout
        with self.cond:
            while not cond():
                if self.gone or (self.qemu and self.qemu.poll() is not None):
                    raise Died(f"{self.name} died while waiting for: {what}\n"
                               + self.tail(self.console))
                left = end - time.monotonic()
                if left <= 0:
                    text = f"{what}: not within {timeout:.0f} s"
                    if explain:
                        text += "\n" + explain()
                    raise Failed(text)
                self.cond.wait(min(left, 1))

    def call(self, op, timeout=None, **args):
        n = next(self.ids)
        try:
            self.sock.sendall(json.dumps(dict(args, id=n, op=op)).encode() + b"\n")
        except OSError as e:
            raise Died(f"{self.name}: {e}\n" + self.tail(self.console)) from None
        self.until(lambda: n in self.answers, timeout, f"answer of the agent to {op}")
        ans = self.answers.pop(n)
        if "error" in ans:
            raise Failed(f"{self.name}: {op}: {ans['error']}")
        return ans

    # Processes

    def spawn(self, cmd, env=None, cwd="/tmp"):
        """Start a program; CMD is a list, or a string for the shell."""
        argv = ["/bin/sh", "-c", cmd] if isinstance(cmd, str) else list(map(str, cmd))
        what = cmd if isinstance(cmd, str) else " ".join(argv)
        p = self.new_process(what)
        p.pid = self.call("spawn", key=p.key, argv=argv, env=env or {}, cwd=cwd)["pid"]
        return p

    def new_process(self, what):
        p = Process(self, next(self.ids), what)
        with self.cond:
            self.procs[p.key] = p
        return p

    def run(self, cmd, timeout=None, check=True, env=None):
        return self.spawn(cmd, env).wait(timeout, check)

    def half(self, path, func, args, config):
        p = self.new_process(f"{os.path.basename(path)}:{func}")
        p.pid = self.call("half", key=p.key, file=path, func=func, args=args,
                          config=config)["pid"]
        return p

    def read(self, path):
        return self.call("read", path=path)["data"]

    def write(self, path, data):
        self.call("write", path=path, data=str(data))

    def sysctl(self, name, value=None):
        path = "/proc/sys/" + name.replace(".", "/")
        if value is None:
            return self.read(path).strip()
        return self.write(path, value)

    def sockets(self, netns=None, **want):
        """SMC sockets of a namespace by sock_diag whose fields equal WANT."""
        return [s for s in self.call("sockets", netns=netns)["list"]
                if all(s.get(k) == v for k, v in want.items())]

    def stats(self, netns=None):
        """The counters of the module in a namespace, {} without it."""
        return self.call("stats", netns=netns)["stats"]

    def counters(self, dev="rxe0"):
        ans = self.call("counters", dev=dev)
        ans.pop("id")
        return ans

    def leftovers(self):
        return self.call("processes")["list"]

    def kill_leftovers(self):
        for p in self.leftovers():
            self.call("kill_pid", pid=p["pid"])

    # Kernel log

    def bad_lines(self, start=0):
        """Forbidden lines from position START on, with the lines that follow."""
        with self.cond:
            log = self.log[max(start, self.log_base):]
        out = []
        quiet = 0
        for i, m in enumerate(log):
            if i < quiet or not SPLAT.search(m["text"]) or HARMLESS.search(m["text"]):
                continue
            lines = [x["text"] for x in log[i:i + LONGEST]]
            quiet = i + (race_of_others(lines) or 60)
            if not race_of_others(lines):
                out.append("\n".join(lines[:60]))
        return out

    def judge(self):
        """Forbidden lines in the log since the last call."""
        with self.cond:
            found = self.unjudged + [f"{self.name}: kernel log:\n{x}"
                                     for x in self.bad_lines(self.judged)]
            self.unjudged, self.judged = [], len(self.log)
        return found

    def dmesg(self, start=0):
        with self.cond:
            return [f"[{m['at'] / 1e6:12.6f}] {m['text']}" for m in self.log[start:]]
