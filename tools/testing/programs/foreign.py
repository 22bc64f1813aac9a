# SPDX-License-Identifier: GPL-2.0
"""Test suites of other projects: the table, their sources, and how their tests run.

Debian's source packages, and the kernel's own sources, are unpacked and compiled in the
cache, which machines see at the same path. A suite consists of units. Each unit is a command;
its exit status is the outcome, or it prints cases, one a line, which CASES recognises.
"""
import contextlib
import fcntl
import glob
import os
import re
import shutil
import subprocess
from collections import namedtuple

HERE = os.path.dirname(os.path.realpath(__file__))
TOP = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
CACHE = os.environ.get("SMC_CACHE") or os.path.expanduser("~/.cache/smc-bench")
# an exit status by which a unit reports that it has nothing to do
SKIPPED = (4, 77)

# source   Debian's source package, or "linux", the kernel's sources of scripts/kernel
# build    shell commands in the directory of the source; on the host, once
# units    shell command that prints the units, one a line
# unit     shell command of one, which is $1; PATIENCE is 4 on an idle host, more on a busy one
# cases    pattern with the groups test and outcome, or None
# few      a short choice of units, for NAME:few
Suite = namedtuple("Suite", "source build units unit cases few")

# system calls on files, processes and terminals are not our subject
UV = "tcp|ipc|poll|shutdown|connect|delayed_accept|multiple_listen|not_(readable|writable)"
SELFTESTS = ("bind_wildcard", "reuseaddr_conflict", "reuseport_addr_any", "so_incoming_cpu",
             "sk_bind_sendto_listen", "sk_connect_zero_addr", "ip_local_port_range",
             "reuseport_dualstack", "bind_timewait")

SUITES = {
    "libuv": Suite(
        "libuv1",
        # an echo takes longer than that on an emulated machine of a busy host
        "sed -i 's/timer_cb, 100, 0/timer_cb, 2000, 0/' test/test-shutdown-eof.c && "
        "gcc -w -O1 -D_GNU_SOURCE -Iinclude -Isrc -o tests $(ls test/*.c | "
        "grep -vE 'benchmark|-win[.]c') "
        # these are included by their tests
        "$(ls src/*.c | grep -vE '/(idna|strscpy|strtok)[.]') $(ls src/unix/*.c | grep -E "
        "'/(async|core|dl|fs|getaddrinfo|getnameinfo|loop|loop-watcher|pipe|poll|process|proctitle|"
        "procfs-exepath|random-.*(devurandom|getrandom|sysctl-linux)|signal|stream|tcp|thread|tty|"
        "udp|epoll|linux|linux-.*)\\.c') -lpthread -ldl -lrt",
        f"UV_RUN_AS_ROOT=1 ./tests --list | grep -oE '^({UV})[a-z0-9_]*'",
        'UV_TEST_TIMEOUT_MULTIPLIER=$PATIENCE UV_RUN_AS_ROOT=1 ./tests "$1"', None,
        ("tcp_ping_pong", "tcp_try_write", "tcp_close", "tcp_close_reset_client", "tcp_oob",
         "tcp_shutdown_after_write", "shutdown_eof", "poll_duplex", "ipc_send_recv_tcp",
         "tcp_bind_error_addrinuse_listen", "connection_fail")),
    "libevent": Suite(
        "libevent",
        # Debian's patches make the build system look out of date
        "./configure -q --disable-shared --disable-openssl --disable-samples "
        "--disable-dependency-tracking CFLAGS='-w -O1' && "
        "make -s AUTOMAKE=: ACLOCAL=: AUTOCONF=: AUTOHEADER=: include/event2/event-config.h && "
        "make -s -j2 AUTOMAKE=: ACLOCAL=: AUTOCONF=: AUTOHEADER=: test/regress",
        "test/regress --list-tests | sed -n 's/^ *\\([a-z_0-9]*\\/[^ ]*\\).*/\\1/p' | "
        "grep -E '^(bufferevent|http|listener|evconnlistener|main/(simple|multiple|persistent))' | "
        "grep -v deflate", 'test/regress --timeout $((10 * PATIENCE)) "$1"', None,
        # without bufferevent_timeout, which measures: 100 ms, 50 more at most
        ("bufferevent/bufferevent", "bufferevent/bufferevent_connect",
         "listener/randport", "http/basic")),
    "selftests": Suite(
        "linux",
        "mkdir -p bin && for t in " + " ".join(SELFTESTS) + "; do gcc -w -O1 -I.. -D_GNU_SOURCE "
        "-o bin/$t $t.c || echo no $t; done; ls bin/bind_wildcard",
        "ls bin",
        # expects a port that bind() chose for IPv6 to be free for IPv4: not where connections of
        # other suites are in TIME_WAIT
        'case $1 in bind_wildcard) exec unshare -n sh -c "ip link set lo up && bin/$1";; esac; '
        'bin/"$1"', re.compile(r"^(?P<outcome>ok|not ok) \d+ (- )?(?P<test>[^#]+)"),
        ("bind_wildcard", "reuseaddr_conflict", "sk_connect_zero_addr")),
    "tcl": Suite(
        "tcl8.6",
        # limits of an idle host, by which the tests tell what hangs
        "sed -i 's/latency > 200 ? $latency : 200/latency > 3000 ? $latency : 3000/; "
        "s/after 5 {set forever timeout}/after 3000 {set forever timeout}/' tests/socket.test && "
        # the program at the other end of a pipe starts meanwhile
        "sed -i '/GetsObj: incomplete lines should/,/foobarbaz/s/after 500/after 3000/' "
        "tests/io.test tests/chanio.test",
        "ls tests/socket.test tests/http.test tests/httpold.test tests/chanio.test tests/io.test "
        "tests/ioCmd.test",
        'cd tests && tclsh8.6 "${1#tests/}" -verbose "pass skip error"',
        re.compile(r"^(?:\+\+\+\+|====) (?P<test>\S+) .*?(?P<outcome>PASSED|FAILED)$"), ()),
    "ruby": Suite(
        "ruby3.1", "true",
        "ls test/socket/test_*.rb test/net/http/test_*.rb test/drb/test_*.rb",
        # test_connect_timeout fills an accept queue, if a connection takes no time: a short one,
        # so that the numbers of sockets compare
        'trap "sysctl -qw net.core.somaxconn=$(sysctl -n net.core.somaxconn)" EXIT; '
        'sysctl -qw net.core.somaxconn=32; RUBY_TEST_TIMEOUT_SCALE=$PATIENCE ruby -W0 -Itool/lib '
        'tool/test/runner.rb -v --seed=1 "$1"',
        # failures are listed once more at the end; what comes last counts
        re.compile(r"^(?:\[ *\d+/\d+\] )?(?P<test>\w[\w:]*#test_\w+)(?P<outcome> = | \[|:$)"), ()),
    "node": Suite(
        "nodejs", "true",
        # test-http-*: hundreds more, each of which starts node, for seconds
        "ls test/parallel/test-net-*.js",
        'node $(sed -n "s,^// Flags:,,p" "$1") "$1"', None, ()),
}
GOOD = {"ok", "PASSED", " = "}


# On the host


def sh(command, where, **kw):
    done = subprocess.run(["bash", "-c", command], cwd=where, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, **kw)
    if done.returncode:
        raise RuntimeError(f"{command}:\n{done.stdout[-3000:]}")
    return done.stdout


@contextlib.contextmanager
def locked(path):
    with open(path + ".lock", "w", encoding="ascii") as f:
        fcntl.flock(f, fcntl.LOCK_EX)
        yield


def directory(name):
    return os.path.join(CACHE, "suites", name)


# The sources of the packages that the host's apt knows, without a change of its files.
APT = r"""mkdir -p apt/parts apt/lists/partial
for f in /etc/apt/sources.list /etc/apt/sources.list.d/*; do
	[ ! -e "$f" ] || sed -E 's/^(Types:) *deb$/\1 deb-src/; s/^deb /deb-src /' "$f" >apt/parts/${f##*/}
done
opts="-q -o Dir::Etc::sourcelist=$PWD/apt/none -o Dir::Etc::sourceparts=$PWD/apt/parts
	-o Dir::State::lists=$PWD/apt/lists -o APT::Sandbox::User=root"
apt="apt-get $opts" cache="apt-cache $opts"
touch apt/none
[ -n "$(find apt -name '*_Sources*' -mmin -1440)" ] || $apt update || true
# an index may name a version that the mirror no longer has
for v in $($cache showsrc --only-source "$1" | sed -n 's/^Version: //p'); do
	! $apt source --download-only "$1=$v" || break
done
rm -rf tree && dpkg-source --no-check -x "$1"_*.dsc tree
rm -f ./*.tar.* ./*.dsc"""


def fetch(suite, where):
    if suite.source == "linux":
        top = subprocess.run([os.path.join(TOP, "scripts/kernel"), "path", "source-6.12"],
                             check=True, text=True, stdout=subprocess.PIPE).stdout.split()[-1]
        shutil.copytree(os.path.join(top, "tools/testing/selftests/net"),
                        os.path.join(where, "tree/net"))
        for path in glob.glob(os.path.join(top, "tools/testing/selftests/*.h")):
            shutil.copy(path, os.path.join(where, "tree"))
        return os.path.join(where, "tree/net")
    subprocess.run(["bash", "-ec", APT, "fetch", suite.source], cwd=where, check=True,
                   stdout=subprocess.DEVNULL)
    return os.path.join(where, "tree")


def prepare(name):
    """Fetch and build a suite unless it is there; build again when its entry changes."""
    suite, where = SUITES[name], directory(name)
    os.makedirs(where, exist_ok=True)
    mark = os.path.join(where, "built")
    with locked(where):
        if os.path.exists(mark):
            with open(mark, encoding="ascii") as f:
                if f.read() == suite.source + suite.build:
                    return
        print(f"suites: {name} is fetched and built", flush=True)
        shutil.rmtree(os.path.join(where, "tree"), ignore_errors=True)
        sh(suite.build, fetch(suite, where))
        with open(mark, "w", encoding="ascii") as f:
            f.write(suite.source + suite.build)


# In a machine


def units_of(name):
    """The units of a suite, or of its short choice: NAME or NAME:few."""
    suite = SUITES[name.partition(":")[0]]
    if ":" in name:
        return suite.few
    return sh(suite.units, tree(name)).split("\n")[:-1]


def tree(name):
    name = name.partition(":")[0]
    path = os.path.join(directory(name), "tree", "net" if SUITES[name].source == "linux" else "")
    # machines have a /tmp of their own
    return path if os.path.isdir(path) else "/host" + path


def child(name, done, say):
    """Run the units of suite NAME that are not in DONE; report each case by SAY(words)."""
    suite = SUITES[name.partition(":")[0]]
    for unit in units_of(name):
        if unit in done:
            continue
        say(start=unit)
        p = subprocess.Popen(["sh", "-c", suite.unit, "unit", unit], cwd=tree(name),
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, text=True, errors="replace",
                             env=dict(os.environ, PATIENCE=os.environ.get("SMC_PATIENCE", "4")))
        text, cases = "", 0
        for line in p.stdout:
            text = (text + line)[-3000:]
            m = suite.cases and suite.cases.match(line.rstrip())
            if m:
                cases += 1
                outcome = "ok" if m["outcome"] in GOOD else "failed"
                say(test=f"{unit}:{m['test'].strip().replace(' ', '_')}", seconds=0,
                    text=text if outcome == "failed" else "", outcome=outcome)
                say(start=unit)
                text = ""   # what follows is about the next case
        rc = p.wait()
        outcome = "ok" if not rc or suite.cases and cases and rc > 0 else "skipped" \
            if rc in SKIPPED else "failed" if rc > 0 else "dies"
        say(test=unit, seconds=0, text=text if outcome != "ok" else "", outcome=outcome)
