# SPDX-License-Identifier: GPL-2.0
"""Run test suites, unmodified, as plain TCP and over SMC: the Python library's and foreign.py's.

Runs inside a machine. For each suite and each mode one child runs the tests
and reports the outcome of each. A child that makes no progress is ended, its
test counts as hanging, and another child runs the remaining tests. Prints one
JSON object per suite and mode:

    suite, mode, results {test: [outcome, seconds, text]}, stream sockets made
    by family, connections that TCP accepted, growth of the module's counters

usage: suites.py PRELOAD MODE[,MODE...] SUITE...   modes: tcp smc memory
       suites.py --child SUITE   (skips the tests named on standard input)

SUITE is the name of a Python module, with :CLASS,CLASS... for some of its classes, or of a suite
of foreign.py, with :few for its short choice.
"""
import faulthandler
import json
import os
import re
import selectors
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.dont_write_bytecode = True
sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../vm/guest"))
import foreign  # noqa: E402
import smcnl  # noqa: E402

# 4 on an idle host; the runner knows how busy it is
PATIENCE = int(os.environ.get("SMC_PATIENCE", "4"))
STILL = 15 * PATIENCE   # a test hangs after so many seconds without output
EVENT = "/sys/kernel/tracing/events/syscalls/sys_enter_socket"
SOCK_STREAM, TYPE_MASK = 1, 15
INTERNET, AF_SMC, IPPROTO_SMC = (2, 10), 43, 256
IPPROTO_TCP = 6
TRIGGER = "hist:keys=family,type,protocol"
MEMORY = "/proc/sys/net/smc/memory"
SNMP = "/proc/net/snmp"


# The child: one suite


class Result(unittest.TestResult):
    """Reports the outcome of each test at once, on a descriptor of its own."""

    def __init__(self, out):
        super().__init__()
        self.out = out
        self.began = time.monotonic()

    def say(self, **words):
        self.out.write(json.dumps(words) + "\n")
        self.out.flush()

    def startTest(self, test):
        super().startTest(test)
        self.began = time.monotonic()
        self.worst = ("ok", "")
        self.say(start=test.id())

    def stopTest(self, test):
        super().stopTest(test)
        self.end(test, *self.worst)

    def end(self, test, outcome, text):
        self.say(test=test.id(), outcome=outcome, text=text[-3000:],
                 seconds=round(time.monotonic() - self.began, 2))

    def bad(self, test, err):
        text = self._exc_info_to_string(err, test)
        if isinstance(test, unittest.TestCase):
            self.worst = ("failed", text)
        else:
            self.end(test, "failed", text)  # setUpClass and the like

    def addError(self, test, err):
        self.bad(test, err)

    def addFailure(self, test, err):
        self.bad(test, err)

    def addSubTest(self, test, subtest, err):
        if err:
            self.worst = ("failed", f"{subtest}\n{self._exc_info_to_string(err, test)}")

    def addSkip(self, test, reason):
        if isinstance(test, unittest.TestCase):
            self.worst = ("skipped", reason)

    def addUnexpectedSuccess(self, test):
        self.worst = ("failed", "unexpected success")


def flat(suite):
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from flat(test)
        else:
            yield test


def modules_or_classes(name):
    module, _, classes = name.partition(":")
    return [f"test.{module}" + "." * bool(c) + c for c in classes.split(",")]


def child(name):
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    result = Result(out)
    done = set(sys.stdin.read().split("\n"))
    if name.partition(":")[0] in foreign.SUITES:
        foreign.child(name, done, result.say)
    else:
        python(name, done, result)
    result.say(end=True)
    os._exit(0)     # do not wait for threads that a failed test left


def python(name, done, result):
    """Run a suite of the Python library."""
    from test import support
    faulthandler.enable()
    # the network resource is off, except for test_socketserver, which stays on this host
    support.use_resources = ["cpu", "subprocess"] + ["network"] * (name == "test_socketserver")
    support.LOOPBACK_TIMEOUT = 4 * PATIENCE
    os.chdir(tempfile.mkdtemp(prefix="suite-"))
    tests = unittest.defaultTestLoader.loadTestsFromNames(modules_or_classes(name))
    sockets = sys.modules.get("test.test_socket")
    if sockets:
        # on a busy host 0.05 s end before the call that the alarm must interrupt begins
        sockets.InterruptedTimeoutBase.alarm_time = PATIENCE / 8
        # after accept() these close the socket of a client that may not have used it yet
        late = sockets.NetworkConnectionAttributesTest
        late.tearDown = lambda self, end=late.tearDown: (self.done.wait(), end(self))
    todo = unittest.TestSuite(t for t in flat(tests) if t.id() not in done)
    todo.run(result)


# The parent


class Watch:
    """One child and its messages."""

    def __init__(self, name, env, done, results):
        self.results = results
        self.at = None
        self.ended = False
        self.err = tempfile.TemporaryFile()
        self.p = subprocess.Popen(
            [sys.executable, os.path.abspath(__file__), "--child", name],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.err,
            env=env, start_new_session=True)
        self.p.stdin.write("\n".join(done).encode())
        self.p.stdin.close()

    def word(self, w):
        if "start" in w:
            self.at = w["start"]
        elif "test" in w:
            self.results[w["test"]] = [w["outcome"], w["seconds"], w["text"]]
            self.at = None
        else:
            self.ended = True

    def run(self):
        """Read until the end or a standstill; true if all tests are done."""
        fd, buf = self.p.stdout.fileno(), b""
        with selectors.DefaultSelector() as sel:
            sel.register(fd, selectors.EVENT_READ)
            while not self.ended:
                if not sel.select(STILL):
                    break
                data = os.read(fd, 65536)
                if not data:
                    break
                *lines, buf = (buf + data).split(b"\n")
                for line in lines:
                    self.word(json.loads(line))
        still = not self.ended and self.p.poll() is None
        if still:
            os.kill(self.p.pid, signal.SIGABRT)     # faulthandler prints the stacks
        self.stop(still)
        self.err.seek(0)
        text = self.err.read().decode(errors="replace")[-4000:]
        if self.ended:
            return True
        if self.at is None:
            self.results["the suite itself"] = ["failed", 0, text]
            return True
        self.results[self.at] = ["hangs" if still else "dies", STILL, text]
        return False

    def stop(self, gently):
        try:
            self.p.wait(10 if gently or self.ended else 0)
        except subprocess.TimeoutExpired:
            pass
        try:
            os.killpg(self.p.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.p.wait()
        self.p.stdout.close()


def run_suite(name, env):
    results = {}
    while not Watch(name, env, list(results), results).run():
        pass
    return results


def count_start():
    with open(EVENT + "/trigger", "w", encoding="ascii") as f:
        f.write(TRIGGER)


def count_end():
    """The stream sockets requested since count_start(): of TCP, and of SMC."""
    with open(EVENT + "/hist", encoding="ascii") as f:
        text = f.read()
    with open(EVENT + "/trigger", "w", encoding="ascii") as f:
        f.write("!" + TRIGGER)
    made = {"tcp": 0, "smc": 0}
    for m in re.finditer(r"family:\s*(\d+), type:\s*(\d+), protocol:\s*(\d+) } "
                         r"hitcount:\s*(\d+)", text):
        family, kind, protocol, n = map(int, m.groups())
        if kind & TYPE_MASK != SOCK_STREAM:
            continue
        if family == AF_SMC or (family in INTERNET and protocol == IPPROTO_SMC):
            made["smc"] += n
        elif family in INTERNET and protocol in (0, IPPROTO_TCP):
            made["tcp"] += n
    return made


def counters():
    return smcnl.counters()


def accepted():
    """The number of connections that listeners of this machine have got by TCP."""
    with open(SNMP, encoding="ascii") as f:
        names, values = (line.split() for line in f if line.startswith("Tcp:"))
    return int(values[names.index("PassiveOpens")])


def parent(preload, modes, names):
    for name in names:
        for mode in modes:
            env = dict(os.environ)
            if mode != "tcp":
                env["LD_PRELOAD"] = preload
            if os.path.exists(MEMORY):
                with open(MEMORY, "w", encoding="ascii") as f:
                    f.write(str(int(mode == "memory")))
            t0 = time.monotonic()
            before, accepted_before = counters(), accepted()
            count_start()
            results = run_suite(name, env)
            grown = {k: v - before[k] for k, v in counters().items()}
            print(json.dumps({"suite": name, "mode": mode, "results": results,
                              "made": count_end(), "counters": grown,
                              "accepted": accepted() - accepted_before,
                              "seconds": round(time.monotonic() - t0, 1)}), flush=True)


if __name__ == "__main__":
    if sys.argv[1] == "--child":
        child(sys.argv[2])
    else:
        parent(sys.argv[1], sys.argv[2].split(","), sys.argv[3:])
