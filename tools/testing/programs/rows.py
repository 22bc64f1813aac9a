# SPDX-License-Identifier: GPL-2.0
"""The unmodified programs that the scenario `programs` runs between two machines.

A row is a function of a Work. It starts servers on A and clients on B, checks the
results and returns (rate, unit, words). Every row runs twice with the same work, as
plain TCP and over SMC.
"""
import itertools
import json
import os
import re

FILES = "/tmp/www"      # the files of web servers, on both machines
PG = "/usr/lib/postgresql/*/bin"
# the library of the system's Python, which the machines have, too
PYTHON = "/usr/lib/" + os.path.basename(os.path.realpath("/usr/bin/python3"))
ROWS = []


class Row:
    """A row of the table, with its NAME and WHAT. CONNS is the least number of connections.

    FALLEN is the number of connections that fall back because one end is not SMC or is
    on the same host; None if all fall back, unless same-host SMC is on.
    """

    def __init__(self, name, what, func, conns, fallen):
        self.name = name
        self.what = what
        self.func = func
        self.conns = conns
        self.fallen = fallen


def row(name, what, conns, fallen=0):
    def note(func):
        ROWS.append(Row(name, what, func, conns, fallen))
        return func
    return note


def number(regex, text):
    """The number that REGEX finds in TEXT."""
    m = re.search(regex, text, re.M)
    if not m:
        raise AssertionError(f"no {regex!r} in:\n{text[-2000:]}")
    return float(m[1])


def need(cond, text):
    if not cond:
        raise AssertionError(text)


def sha256(path):
    return f"sha256sum < {path} | cut -c1-64"


# Web servers

NGINX = """user root; daemon off; worker_processes 1; pid {dir}/pid; error_log {dir}/error warn;
events {{ worker_connections 512; }}
http {{
    access_log off; sendfile on; keepalive_requests 100000;
    client_body_temp_path {dir}/b; proxy_temp_path {dir}/p; fastcgi_temp_path {dir}/f;
    uwsgi_temp_path {dir}/u; scgi_temp_path {dir}/s;
    server {{ listen {port}; root {files}; }}
}}
"""


def nginx(w, vm, port):
    where = f"/tmp/nginx-{port}"
    vm.run(f"mkdir -p {where}")
    vm.write(f"{where}/conf", NGINX.format(dir=where, port=port, files=FILES))
    w.serve(vm, f"exec nginx -p {where} -c {where}/conf", port)


def wrk(w, url, *flags, conns=8):
    out = w.client(f"wrk -t1 -c{conns} -d{w.seconds}s {' '.join(flags)} {url}")
    need("Socket errors" not in out and "Non-2xx" not in out, out)
    # the number of requests in that time depends on the host
    need(number(r"(\d+) requests in", out) > 0, out)
    return number(r"^Requests/sec:\s*([\d.]+)", out), "requests/s"


@row("nginx, wrk", "10 KB files by sendfile, 8 connections kept alive", 8)
def nginx_keepalive(w):
    nginx(w, w.a, 8080)
    return *wrk(w, f"http://{w.a.ip}:8080/10k"), ""


@row("nginx, wrk -H 'Connection: close'", "10 KB files, a connection for each", 20)
def nginx_close(w):
    nginx(w, w.a, 8080)
    return *wrk(w, f"http://{w.a.ip}:8080/10k", "-H 'Connection: close'", conns=4), ""


def fetch(w, url, name, env=None):
    """Download a file by curl and compare it."""
    out = w.client(f"curl -sSf -w '%{{stderr}}%{{speed_download}}\\n' {url} | sha256sum", env)
    need(out.split()[0] == w.digest(name), f"checksum {out}")
    return float(w.last.err) / 1e6, "MB/s", ""


@row("nginx, curl", "one big file by sendfile, checksum compared", 1)
def nginx_curl(w):
    nginx(w, w.a, 8080)
    return fetch(w, f"http://{w.a.ip}:8080/big", "big")


HAPROXY = """global
    nbthread 1
defaults
    mode http
    timeout connect 10s
    timeout client 30s
    timeout server 30s
frontend f
    bind :8081
    default_backend b
backend b
    server s {ip}:8080
"""


@row("haproxy between wrk and nginx", "10 KB files through a proxy on A, both hops SMC", 16)
def haproxy(w):
    nginx(w, w.b, 8080)
    w.a.write("/tmp/haproxy.conf", HAPROXY.format(ip=w.b.ip))
    w.serve(w.a, "exec haproxy -q -db -f /tmp/haproxy.conf", 8081)
    return *wrk(w, f"http://{w.a.ip}:8081/10k"), ""


@row("haproxy, curl", "one big file through the proxy, checksum compared", 2)
def haproxy_big(w):
    nginx(w, w.b, 8080)
    w.a.write("/tmp/haproxy.conf", HAPROXY.format(ip=w.b.ip))
    w.serve(w.a, "exec haproxy -q -db -f /tmp/haproxy.conf", 8081)
    return fetch(w, f"http://{w.a.ip}:8081/big", "big")


# Databases


@row("memcached, memcslap", "4 threads set and get; an item of 900 KB compared", 8)
def memcached(w):
    w.serve(w.a, "exec memcached -u root -p 11211 -U 0 -t 2", 11211)
    server = f"--servers={w.a.ip}:11211"
    n = 250 * w.seconds
    seconds = 0
    for test in ("set", "get"):
        out = w.client(f"memcslap {server} --test={test} --concurrency=4 --execute-number={n} "
                       "2>&1")
        seconds += number(r"keys by\s+\d+ threads:\s+([\d.]+) seconds", out)
    w.client(f"cd {FILES} && memccp {server} item")
    digest = w.client(f"memccat {server} --file=/tmp/item item && {sha256('/tmp/item')}").strip()
    need(digest == w.digest("item"), f"checksum {digest}")
    return 8 * n / seconds, "operations/s", ""


def redis(clients):
    def work(w):
        w.serve(w.a, "exec redis-server --port 6379 --bind 0.0.0.0 --protected-mode no "
                "--save '' --appendonly no", 6379)
        n = (400 if clients == 1 else 1000) * w.seconds
        out = w.client(f"redis-benchmark -h {w.a.ip} -t set -c {clients} -n {n} --csv")
        return number(r'^"SET","([\d.]+)"', out), "requests/s", ""
    return work


for nr in (1, 16, 64):
    row(f"redis, redis-benchmark -c {nr}", "sets", nr)(redis(nr))


def postgres(w):
    """Start a fresh PostgreSQL on A; its superuser is postgres, trusted."""
    as_user = "setpriv --reuid=postgres --regid=postgres --clear-groups"
    if w.a.run("[ -d /tmp/pg ]", check=False).rc:
        w.a.run("mkdir /tmp/pg && chown postgres: /tmp/pg && "
                f"{as_user} {PG}/initdb -D /tmp/pg/data -A trust -N -U postgres "
                "--locale=C -E UTF8 && echo 'host all all all trust' >> /tmp/pg/data/pg_hba.conf",
                timeout=w.left())
    w.serve(w.a, f"exec {as_user} {PG}/postgres -D /tmp/pg/data -c listen_addresses='*' "
            "-c unix_socket_directories=/tmp/pg -c fsync=off -c shared_buffers=32MB "
            "-c autovacuum=off -c max_wal_size=64MB", 5432)
    w.until("the database starts", lambda: not w.a.run(
        f"{PG}/pg_isready -h /tmp/pg -U postgres", check=False).rc)


def pgbench(w, flags):
    out = w.client(f"{PG}/pgbench -h {w.a.ip} -U postgres -n -T {w.seconds} {flags} postgres")
    need(number(r"number of failed transactions: (\d+)", out) == 0, out)
    return number(r"^tps = ([\d.]+)", out), "transactions/s"


@row("PostgreSQL, pgbench", "read and write, 4 connections; the sum is right", 5)
def pg_tpcb(w):
    postgres(w)
    psql = f"psql -h {w.a.ip} -U postgres -Atq"
    w.client(f"{PG}/pgbench -h {w.a.ip} -U postgres -i -q -s 1 postgres")
    rate = pgbench(w, "-c 4 -j 1")
    sums = w.client(f"{psql} -c 'select (select sum(abalance) from pgbench_accounts) = "
                    "(select coalesce(sum(delta), 0) from pgbench_history)'")
    need(sums.strip() == "t", f"sums of accounts and history differ: {sums}")
    return *rate, ""


@row("PostgreSQL, pgbench -C", "a connection, and a process, for each transaction", 10)
def pg_connect(w):
    postgres(w)
    w.client(f"{PG}/pgbench -h {w.a.ip} -U postgres -i -q -s 1 postgres")
    return *pgbench(w, "-S -C -c 2"), ""


@row("PostgreSQL, psql", "a query is cancelled from a second connection", 2)
def pg_cancel(w):
    postgres(w)
    psql = f"psql -h {w.a.ip} -U postgres -Atq"
    p = w.start(w.b, f"exec {psql} -c 'select pg_sleep(600)'")
    w.until("the query runs", lambda: w.client(
        f"{psql} -c \"select count(*) from pg_stat_activity where query like "
        "'select pg_sleep%' and state = 'active'\"").strip() == "1")
    p.kill(2)
    r = p.wait(w.left(), check=False)
    need("canceling statement due to user request" in r.err, f"psql printed {r}")
    return None, "", "cancelled"


# Copies

SSHD = """Port 2222
HostKey /tmp/ssh/host
AuthorizedKeysFile /tmp/ssh/user.pub
PidFile none
StrictModes no
UsePAM no
PasswordAuthentication no
PermitRootLogin yes
Subsystem sftp internal-sftp
"""
# the same key on both machines
SSH = ("-i /tmp/ssh/user -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null "
       "-o LogLevel=ERROR -o BatchMode=yes")


def sshd(w):
    if w.a.run("[ -d /tmp/ssh ]", check=False).rc:
        w.a.run("mkdir -p /tmp/ssh /run/sshd; for k in host user; do "
                "ssh-keygen -q -t ed25519 -N '' -f /tmp/ssh/$k; done")
        w.a.write("/tmp/ssh/conf", SSHD)
        w.b.run("mkdir -p /tmp/ssh")
        w.b.write("/tmp/ssh/user", w.a.read("/tmp/ssh/user"))
        w.b.run("chmod 600 /tmp/ssh/user")
    w.serve(w.a, "exec /usr/sbin/sshd -D -e -f /tmp/ssh/conf", 2222)


@row("OpenSSH, scp", "one big file to A, checksum compared", 1)
def scp(w):
    """Received data goes through a FIFO, because the machine has no room for a big file."""
    sshd(w)
    w.a.run("rm -f /tmp/scp.in; mkfifo /tmp/scp.in")
    reader = w.start(w.a, "sha256sum < /tmp/scp.in", env={})
    seconds = w.timed(f"scp -q -O {SSH} -P 2222 {FILES}/copied root@{w.a.ip}:/tmp/scp.in")
    digest = reader.wait(w.left()).out.split()[0]
    need(digest == w.digest("copied"), f"checksum {digest}")
    size = w.size("copied")
    return size / 1e6 / seconds, "MB/s", f"{size >> 20} MiB"


@row("OpenSSH, ssh", "a command with much output on both channels, exit status", 1)
def ssh(w):
    sshd(w)
    out = w.client(f"ssh {SSH} -p 2222 root@{w.a.ip} 'seq 100000; seq 100000 >&2; exit 7' "
                   "2>/tmp/ssh.err; echo $?; cksum < /tmp/ssh.err; seq 100000 | cksum")
    lines = out.split("\n")
    need(lines[100000] == "7" and lines[100001] == lines[100002], out[-200:])
    return None, "", "output and status right"


RSYNCD = f"""use chroot = no
uid = root
gid = root
[files]
    path = {PYTHON}
    read only = yes
"""


@row("rsync", "a tree from a daemon, then again with nothing to copy; trees compared", 2)
def rsync(w):
    w.a.write("/tmp/rsyncd.conf", RSYNCD)
    w.serve(w.a, "exec rsync --daemon --no-detach --config=/tmp/rsyncd.conf --port=8730", 8730)
    tree = "asyncio email json unittest"
    source = " ".join(f"rsync://{w.a.ip}:8730/files/{d}" for d in tree.split())
    command = f"rsync -a --stats --exclude=__pycache__ {source} /tmp/tree/"
    w.b.run("rm -rf /tmp/tree")
    seconds = w.timed(command)
    size = number(r"Total bytes received: ([\d,]+)", w.last.out.replace(",", ""))
    out = w.client(command)
    need(number(r"regular files transferred: (\d+)", out) == 0, out)
    w.client(f"for d in {tree}; do diff -r --exclude=__pycache__ {PYTHON}/$d "
             "/tmp/tree/$d; done; rm -rf /tmp/tree")
    return size / 1e6 / seconds, "MB/s", ""


# TLS


def certificate(w, vm):
    vm.run("[ -f /tmp/tls.pem ] || openssl req -x509 -newkey rsa:2048 -nodes -days 9 "
           "-subj /CN=bench -keyout /tmp/tls.key -out /tmp/tls.crt 2>/dev/null && "
           "cat /tmp/tls.key /tmp/tls.crt > /tmp/tls.pem", timeout=w.left())


@row("openssl s_server, s_client", "a file by TLS 1.3, checksum compared", 1)
def openssl(w):
    certificate(w, w.a)
    w.serve(w.a, f"cd {FILES} && exec openssl s_server -accept 4433 -cert /tmp/tls.crt "
            "-key /tmp/tls.key -WWW", 4433)
    seconds = w.timed("printf 'GET /medium HTTP/1.0\\r\\n\\r\\n' | openssl s_client -quiet "
                      f"-ign_eof -connect {w.a.ip}:4433 2>/tmp/tls.err "
                      "| sed '1,/^\\r*$/d' | sha256sum")
    digest = w.last.out.split()[0]
    need(digest == w.digest("medium"), f"checksum {digest}")
    return w.size("medium") / 1e6 / seconds, "MB/s", ""


STUNNEL = """foreground = quiet
pid =
socket = l:TCP_NODELAY=1
[s]
client = {client}
accept = {accept}
connect = {connect}
{cert}
"""


@row("stunnel", "curl, TLS tunnel from B to A and on to nginx on B; checksum compared", 2, 1)
def stunnel(w):
    """curl uses TCP to its end of the tunnel, which is on the same host."""
    certificate(w, w.a)
    nginx(w, w.b, 8080)
    w.a.write("/tmp/stunnel-a.conf", STUNNEL.format(
        client="no", accept=4434, connect=f"{w.b.ip}:8080", cert="cert = /tmp/tls.pem"))
    w.b.write("/tmp/stunnel-b.conf", STUNNEL.format(
        client="yes", accept=8443, connect=f"{w.a.ip}:4434", cert=""))
    for vm, port in ((w.a, 4434), (w.b, 8443)):
        w.serve(vm, f"exec stunnel4 /tmp/stunnel-{vm.name}.conf", port)
    return fetch(w, "http://127.0.0.1:8443/medium", "medium", {})


# Measuring programs


# Its server cannot bind to a port with a connection in TIME-WAIT
SOCKPERF = itertools.count(11111)


def sockperf_server(w):
    """Start the server; return the client's arguments to reach it."""
    port = next(SOCKPERF)
    w.serve(w.a, f"exec sockperf server --tcp -p {port}", port)
    return f"--tcp -i {w.a.ip} -p {port} -t {w.seconds}"


@row("sockperf ping-pong", "64 bytes there and back, contents compared", 1)
def sockperf(w):
    to = sockperf_server(w)
    out = w.client(f"sockperf ping-pong {to} -m 64 --data-integrity 2>&1")
    need(not re.search(r"data integrity test failed|ERROR", out), out)
    latency = number(r"(?:Latency is|avg-latency=)\s*([\d.]+)", out)
    return 1e6 / latency / 2, "rounds/s", f"one way {latency:.0f} us"


@row("sockperf throughput", "messages of 1400 bytes", 1)
def sockperf_stream(w):
    to = sockperf_server(w)
    out = w.client(f"sockperf throughput {to} -m 1400 2>&1")
    return number(r"BandWidth is ([\d.]+) MBps", out), "MiB/s", ""


def iperf3(w, flags):
    w.serve(w.a, "exec iperf3 -s -p 5201 --forceflush", 5201)
    out = w.client(f"iperf3 -c {w.a.ip} -p 5201 -t {w.seconds} -f m {flags}")
    return number(r"([\d.]+) Mbits/sec\s+receiver", out), "Mbit/s"


@row("iperf3 -Z", "sendfile from a file, to A", 2)
def iperf3_zerocopy(w):
    return *iperf3(w, "-Z"), ""


@row("iperf3 -Z -R", "sendfile from a file, from A", 2)
def iperf3_reverse(w):
    return *iperf3(w, "-Z -R"), ""


def fio_job(out, ddir):
    """The results of fio's only job in one direction."""
    job = json.loads(out[out.index("{"):])["jobs"][0]
    need(job["error"] == 0, f"{ddir}: error {job['error']}")
    return job[ddir]


@row("fio, net engine", "blocks of 64 KB to A", 1)
def fio(w):
    """fio's reader counts only the bytes of the last read of a block.

    It reads until the block is complete, and counts each short read as another call.
    """
    options = "--ioengine=net --port=8888 --protocol=tcp --bs=64k --output-format=json"
    blocks = 64 * w.seconds
    reader = w.serve(w.a, f"exec fio --name=r {options} --listen --rw=read --size=1g", 8888)
    out = w.client(f"fio --name=w {options} --hostname={w.a.ip} --rw=write "
                   f"--size={blocks * 64}k")
    sent = fio_job(out, "write")
    got = fio_job(reader.wait(w.left()).out, "read")
    whole = got["total_ios"] - got["short_ios"]
    need(sent["total_ios"] == blocks and sent["short_ios"] == 0, f"sent {sent}")
    need(whole == blocks, f"{whole} of {blocks} blocks received: {got}")
    return sent["bw"] / 1024, "MiB/s", ""


def stress(w, flags):
    out = w.client(f"stress-ng {flags} -t {w.seconds} --metrics --no-rand-seed 2>&1")
    need("successful run completed" in out and "fail:" not in out, out)
    return number(r"metrc.*?\] \S+\s+\d+\s+[\d.]+\s+[\d.]+\s+[\d.]+\s+([\d.]+)\s", out), \
        "operations/s"


@row("stress-ng --sock", "all ways to send, on one host", 10, None)
def stress_sock(w):
    return *stress(w, "--sock 1 --sock-domain ipv4"), ""


@row("stress-ng --sock, IPv6", "all ways to send, on one host", 10, None)
def stress_sock6(w):
    return *stress(w, "--sock 1 --sock-domain ipv6"), ""


@row("stress-ng --sockmany", "many connections, on one host", 10, None)
def stress_many(w):
    return *stress(w, "--sockmany 1"), ""


@row("stress-ng --sockabuse", "calls that make no sense on sockets, on one host", 10, None)
def stress_abuse(w):
    return *stress(w, "--sockabuse 1"), ""


@row("stress-ng --epoll", "epoll on sockets of one host", 10, None)
def stress_epoll(w):
    return *stress(w, "--epoll 1 --epoll-domain ipv4"), ""
