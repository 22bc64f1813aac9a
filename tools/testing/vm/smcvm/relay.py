# SPDX-License-Identifier: GPL-2.0
"""The runner's side of the relay (relay.c)."""
import os
import socket
import subprocess
import time

from . import kernel


class Relay:
    def __init__(self, rundir, limit):
        self.dir = rundir
        path = os.path.join(rundir, "relay")
        prog = kernel.compile_c(os.path.join(kernel.VM, "relay.c"))
        self.log = open(os.path.join(rundir, "relay.log"), "w")
        self.proc = subprocess.Popen([prog, path], stdout=self.log,
                                     stderr=subprocess.STDOUT,
                                     preexec_fn=kernel.die_with_parent)
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(limit)
        end = time.monotonic() + limit
        while True:
            try:
                self.sock.connect(path)
                break
            except OSError:
                if time.monotonic() > end or self.proc.poll() is not None:
                    raise kernel.BenchError("the relay does not start") from None
                time.sleep(0.01)
        self.file = self.sock.makefile("rw")

    def cmd(self, *words):
        self.file.write(" ".join(map(str, words)) + "\n")
        self.file.flush()
        ans = self.file.readline().split()
        if not ans or ans[0] != "ok":
            raise kernel.BenchError(f"relay: {words}: {' '.join(ans[1:]) or 'gone'}")
        return ans[1:]

    def port(self, name, seg, swaps=False):
        """Make the sockets of a network card: (relay's path, QEMU's path); see swap in relay.c."""
        relay = os.path.join(self.dir, f"{name}{seg}.relay")
        qemu = os.path.join(self.dir, f"{name}{seg}.qemu")
        self.cmd("port", name, seg, relay, qemu, *(["swap"] if swaps else []))
        return relay, qemu

    def greet(self, name):
        """Connect to a machine that has started or restarted."""
        self.cmd("greet", name)

    def cut(self, seg=0, frm="*"):
        self.cmd("cut", seg, frm)

    def uncut(self, seg=0, frm="*"):
        self.cmd("uncut", seg, frm)

    def rule(self, **keys):
        """Add a rule (keys as in relay.c, "frm" for "from"); returns its number."""
        if "frm" in keys:
            keys["from"] = keys.pop("frm")
        words = [f"{k}={int(v) if isinstance(v, bool) else v}"
                 for k, v in keys.items()]
        return int(self.cmd("rule", *words)[0])

    def unrule(self, number="*"):
        self.cmd("unrule", number)

    def hits(self, number):
        """The (matching frames, frames with an action) of a rule."""
        seen, acted = self.cmd("hits", number)
        return int(seen), int(acted)

    def stats(self, seg=0):
        ans = self.cmd("stats", seg)
        out = {}
        for i in range(0, len(ans), 5):
            out[ans[i]] = dict(zip(("frames", "bytes", "dropped", "overflow"),
                                   map(int, ans[i + 1:i + 5])))
        return out

    def capture(self, path, seg=0):
        self.cmd("capture", seg, path or "-")

    def inject(self, data, to="*", seg=0):
        self.cmd("inject", seg, to, data.hex())

    def reset(self):
        """Remove all rules and cuts."""
        self.unrule()
        for seg in range(3):
            if self.stats(seg):
                self.uncut(seg)

    def close(self):
        try:
            self.file.write("quit\n")
            self.file.flush()
            self.proc.wait(5)
        except (OSError, ValueError, subprocess.TimeoutExpired):
            self.proc.kill()
            self.proc.wait()
        self.sock.close()
        self.log.close()
