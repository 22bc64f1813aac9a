# SPDX-License-Identifier: GPL-2.0
"""Runs test suites in the machines, and compares their outcomes on TCP and on SMC."""
import json
import os

import foreign
from smcvm import kernel

PROGRAMS = os.path.join(kernel.TOP, "tools/testing/programs")
SUITES = {
    "a": ("test_socket", "test_ftplib", "test_epoll", "test_poll", "test_selectors",
          "test_asyncio.test_sock_lowlevel", "libuv", "selftests", "ruby"),
    "b": ("test_asyncio.test_events", "test_ssl", "test_asyncio.test_streams",
          "test_httplib", "test_socketserver", "libevent", "tcl", "node"),
}
# A selection that takes about 20 s: of test_socket the classes with streams.
SHORT = {
    "a": ("test_socket:BasicTCPTest,BasicTCPTest2,BufferIOTest,ContextManagersTest,"
          "CreateServerFunctionalTest,FileObjectClassTestCase,InterruptedRecvTimeoutTest,"
          "InterruptedSendTimeoutTest,NetworkConnectionAttributesTest,NonBlockingTCPTests,"
          "RecvmsgTCPTest,RecvmsgIntoTCPTest,SendmsgTCPTest,SendfileUsingSendfileTest,"
          "TCPCloserTest",),
    "b": ("test_socketserver", "libuv:few", "libevent:few", "selftests:few"),
}
MODES = ("tcp", "smc", "memory")
# SMC's run must make this share of the stream sockets, of TCP's run if there is one: a few
# sockets come from programs that start with an empty environment
SHARE = 0.9
# the run with same-host SMC must use memory for this share of the connections
MEMORY_SHARE = 0.5
# and at least for these numbers, a little less than the usual ones
MEMORY_LEAST = {"test_socket": 80, "test_socketserver": 20, "test_asyncio.test_streams": 9}


def exceptions():
    """{(mode, test): reason}"""
    out = {}
    with open(os.path.join(PROGRAMS, "suites.exceptions"), encoding="utf-8") as f:
        for line in f:
            if line.strip() and not line.startswith("#"):
                mode, test, reason = line.split(None, 2)
                out[mode, test] = reason.strip()
    return out


def compare(tcp, smc, allowed):
    """Compare the results SMC with those of TCP; return texts of the differences."""
    wrong = []
    mode = smc["mode"]
    for test, (outcome, _, text) in smc["results"].items():
        was = tcp["results"].get(test, ["not run"])[0]
        if (mode, test) in allowed:
            if outcome == "ok":
                wrong.append(f"{mode} {test}: passes, but is listed as an exception")
        elif outcome not in ("ok", was):
            wrong.append(f"{mode} {test}: {outcome}, want {was}\n{text}")
    wrong += [f"{mode} {test}: not run, {r[0]} on TCP" for test, r in tcp["results"].items()
              if r[0] == "ok" and test not in smc["results"] and (mode, test) not in allowed]
    return wrong


def made_enough(tcp, smc):
    """Check the number of SMC sockets; return texts of the errors."""
    want, got = sum(tcp["made"].values()), smc["made"]["smc"]
    wrong = []
    if got < want * SHARE:
        wrong.append(f"{smc['mode']} {smc['suite']}: {got} SMC sockets made of "
                     f"{want}; {smc['made']['tcp']} were TCP")
    if smc["mode"] == "memory":
        wrong += used_memory(tcp, smc)
    return wrong


def used_memory(tcp, smc):
    """Check the connections of same-host SMC; return texts of the errors."""
    used, fell = connections(smc)
    if used is None or fell is None:
        return [f"{smc['suite']}: the module counts no connections"]
    least = max((used + fell) * MEMORY_SHARE, tcp["accepted"] * MEMORY_SHARE,
                MEMORY_LEAST.get(smc["suite"].partition(":")[0], 0))
    if used < least:
        return [f"{smc['suite']}: {used} connections used memory, {fell} fell back, "
                f"TCP accepted {tcp['accepted']}; want {least:.0f}"]
    return []


def connections(r):
    """The numbers of SMC connections and fallbacks; None without counters."""
    return r["counters"].get("client_smc"), r["counters"].get("client_tcp")


def outcomes(r):
    count = {}
    for outcome, _, _ in r["results"].values():
        count[outcome] = count.get(outcome, 0) + 1
    return " ".join(f"{n} {k}" for k, n in sorted(count.items()))


def describe(r):
    used, fell = connections(r)
    text = f"  {r['suite'].partition(':')[0]:32} {r['mode']:9} {outcomes(r)}; " \
           f"sockets made {r['made']['smc']} SMC {r['made']['tcp']} TCP"
    if r["mode"] == "tcp":
        text += f"; connections {r['accepted']}"
    else:
        text += f"; connections {used} SMC {fell} fallback"
    print(f"{text}; {r['seconds']:.0f} s", flush=True)


def judge(tcp, r):
    """The errors in the results R of a suite, compared with those of TCP.

    Without results of TCP all tests must pass.
    """
    if not any(outcome == "ok" for outcome, _, _ in r["results"].values()):
        return [f"{r['mode']} {r['suite']}: nothing passes\n{list(r['results'].items())[:3]}"]
    if r is tcp:
        return []
    tcp = tcp or dict(r, results={test: ("ok", 0, "") for test in r["results"]})
    return compare(tcp, r, exceptions()) + made_enough(tcp, r)


def start(t, vm, preload, modes, names):
    script = "/host" + os.path.join(PROGRAMS, "suites.py")
    return vm.spawn(["/usr/bin/python3", script, preload, ",".join(modes), *names],
                    {"SMC_PATIENCE": str(t.patience), "SMC_CACHE": kernel.CACHE})


def modes_of(vm):
    """The modes that the module of machine VM supports."""
    same = vm.call("exists", path="/proc/sys/net/smc/memory")["yes"]
    return [m for m in MODES if m != "memory" or same]


def news(t, procs):
    """Yield the results of the suites as they come; fail if a suite fails or is late."""
    taken = {p: 0 for p in procs}
    while True:
        ended = [p.rc is not None for p in procs]
        for p in procs:
            lines = p.out.split("\n")[:-1]
            for line in lines[taken[p]:]:
                yield json.loads(line)
            taken[p] = len(lines)
        if all(ended):
            break
        t.check(t.left() > 1, "the suites do not end\n"
                + "\n".join(p.explain() for p in procs))
        waits = procs[ended.index(False)]
        with waits.vm.cond:
            waits.vm.cond.wait(0.5)
        t.check(waits.vm.alive(), f"{waits.vm.name} died")
    for p in procs:
        p.wait(1)


def run(t, suites, only_last):
    """Run SUITES, {machine: names}; fail the scenario if there are errors.

    With ONLY_LAST each suite runs once, in the last of the modes.
    """
    preload = "/host" + kernel.preload_library()
    for name in {n.partition(":")[0] for names in suites.values() for n in names}:
        if name in foreign.SUITES:
            foreign.prepare(name)
    procs = [start(t, vm, preload, modes_of(vm)[-1 if only_last else 0:], suites[vm.name])
             for vm in (t.a, t.b) if suites.get(vm.name)]
    wrong = []
    made = 0
    by_suite = {}
    for r in news(t, procs):
        describe(r)
        made += r["made"]["smc"]
        parts = by_suite.setdefault(r["suite"], {})
        parts[r["mode"]] = r
        texts = judge(parts.get("tcp"), r)
        wrong += texts
        for text in texts:
            print("  | " + text.replace("\n", "\n  | "), flush=True)
    if not made:
        wrong.append("no SMC socket was made at all")
    t.check(not wrong, f"{len(wrong)} comparisons failed\n" + "\n".join(wrong))
    t.note(f"{made} SMC sockets")
