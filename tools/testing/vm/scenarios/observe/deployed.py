# SPDX-License-Identifier: GPL-2.0
"""What deployed hosts have works: their sysctl.conf loads, and /proc/net/smc4 and smc6 list sockets.

Queue depths act on new links, the least and the greatest as well. The files in /proc agree with
sock_diag, for any user, in each namespace, and read in pieces.

covers: API-01 LG-17
"""
import errno
import os

import netns
from common import stream_client, stream_server

timeout = 90
PORT, MANY = 5840, 40
N_OUT, N_IN = 300_007, 200_003
# every name of Documentation/networking/smc-sysctl.rst, with other values than ours
CONF = {
    "autocorking_size": 32768, "smcr_buf_type": 0, "smcr_testlink_time": 2_000_000_000,
    "wmem": 65536, "rmem": 131072, "smcr_max_links_per_lgr": 1, "smcr_max_conns_per_lgr": 32,
    "limit_smc_hs": 1, "smcr_max_send_wr": 16, "smcr_max_recv_wr": 48,
}
REFUSED = {"smcr_buf_type": (-1, 3), "smcr_testlink_time": (-1,),
           "smcr_max_send_wr": (0, 1, 2049), "smcr_max_recv_wr": (0, 1, 2049)}
# default, least and greatest value
LOWERED = {"smcr_max_send_wr": (64, 2, 2048), "smcr_max_recv_wr": (256, 2, 2048),
           "wmem": (262144, 16384, (1 << 30) - 1), "rmem": (262144, 16384, (1 << 30) - 1),
           "spare_mem": (32 << 20, 0, (1 << 30) - 1), "max_idle_lgrs": (256, 0, 65535)}
STATES = {1: "ACTIVE", 2: "INIT", 10: "LISTEN"}
HEAD = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  " \
       "timeout inode mode\n"


def rows(text):
    """The lines of a file as sock_diag shows sockets."""
    head, *lines = text.splitlines(keepends=True)
    if head != HEAD:
        raise ValueError(f"first line {head!r}")
    out = []
    for n, line in enumerate(lines):
        sl, own, peer, state, _, _, _, uid, _, inode, mode = line.split()
        if sl != f"{n}:" or not line.endswith("\n"):
            raise ValueError(f"line {n}: {line!r}")
        out.append({"state": STATES[int(state, 16)], "mode": mode, "uid": int(uid),
                    "inode": int(inode), "sport": int(own.split(":")[1], 16),
                    "dport": int(peer.split(":")[1], 16), "own": own.split(":")[0]})
    return out


def pieces(h, port, version):
    """Many sockets: read in pieces of any length, and from any position, the file is the same."""
    held = [h.listen(port + i, mark=False) for i in range(MANY)]
    path = f"/proc/net/smc{version}"
    fd = os.open(path, os.O_RDONLY)

    def read_from(at, size):
        os.lseek(fd, at, os.SEEK_SET)
        return b"".join(iter(lambda: os.read(fd, size), b""))
    whole = read_from(0, 1 << 16)
    h.equal({r["sport"] for r in rows(whole.decode())} & set(range(port, port + MANY)),
            set(range(port, port + MANY)), f"ports in {path}")
    for size in (1, 7, 100, 4096):
        h.check(read_from(0, size) == whole, f"{path} by {size} bytes")
    for at in (0, 1, 151, len(whole) // 2, len(whole) - 1, len(whole), len(whole) + 5):
        h.check(read_from(at, 1 << 16) == whole[at:], f"{path} from byte {at}")
    os.close(fd)
    for s in held:
        s.close()


def open_file(h, name):
    """A file that stays open while the module goes away."""
    with open(name, encoding="ascii") as f:
        h.mark("open")
        h.gate("gone")
        try:
            text = f.read()
        except OSError:
            text = ""
        h.equal(text, "", "after the end of the module")


def lower_only(h):
    """The owner of a namespace may not take more memory of the host for queues and rings."""
    for name, (default, least, most) in LOWERED.items():
        for value, code in ((default + 1, errno.EINVAL), (most, errno.EINVAL), (least, 0),
                            (default, 0)):
            try:
                with open(f"/proc/sys/net/smc/{name}", "w", encoding="ascii") as f:
                    f.write(str(value))
                got = 0
            except OSError as e:
                got = e.errno
            h.equal(got, code, f"{name} {value} by the owner of a namespace")


def owner(h):
    netns.apart(h, lower_only)


def configured(t):
    conf = "".join(f"net.smc.{k} = {v}\n" for k, v in CONF.items())
    for vm in (t.a, t.b):
        t.set(vm, **{k: vm.sysctl(f"net.smc.{k}") for k in CONF})
        r = vm.run(f"printf '%s' '{conf}' >/tmp/smc.conf; sysctl -p /tmp/smc.conf", check=False)
        t.equal((r.rc, r.err), (0, ""), f"{vm.name}: sysctl -p")
        for name, value in CONF.items():
            t.equal(int(vm.sysctl(f"net.smc.{name}")), value, f"{vm.name}: {name}")
            for bad in REFUSED.get(name, ()):
                t.check(vm.run(f"sysctl -w net.smc.{name}={bad}", check=False).rc,
                        f"{name} takes {bad}")
            t.equal(int(vm.sysctl(f"net.smc.{name}")), value, f"{vm.name}: {name}, after all")


def depths(t, vm):
    """The completion queues of the only link: for receives, and for sends."""
    import re
    out = vm.run("rdma resource show cq").out
    found = [int(n) for n in re.findall(r"cqe (\d+).*comm \[?smc\]?", out)]
    t.equal(len(found), 2, f"{vm.name}: completion queues: {out}")
    return sorted(found)


def talk(t, sends, recvs):
    """Streams that share a link with queues of these depths; LLC's slots and drains come on top."""
    halves = []
    for i in range(3):
        s = t.half(t.a, stream_server, port=PORT + i, n_in=N_IN, n_out=N_OUT)
        s.expect("listening", t.left())
        halves += [s, t.half(t.b, stream_client, port=PORT + i, n_in=N_IN, n_out=N_OUT)]
    t.expect_all("moved", *halves)
    for vm in (t.a, t.b):
        t.mode(vm, "SMC-R", PORT)
        # soft-RoCE rounds up
        want = sorted(2 ** n.bit_length() - 1
                      for n in ((max(sends, 4) + 8) * 3 + 4 + 1, recvs + 1))
        t.equal(depths(t, vm), want, f"{vm.name}: depths for {sends}, {recvs}")
    return halves


def ended(t, halves):
    for p in halves:
        p.gate("end")
    t.wait_all(*halves)
    for vm in (t.a, t.b):
        t.wait(lambda vm=vm: not t.queue_pairs(vm), f"{vm.name}: end of the link", 20)


def listed(t, vm, family):
    """The file agrees with sock_diag; another namespace has no sockets."""
    as_user = "setpriv --reuid 1000 --regid 1000 --clear-groups"
    names = ("state", "mode", "uid", "inode", "sport", "dport")
    got = rows(vm.run(f"{as_user} cat /proc/net/smc{family}").out)
    want = [{k: s[k] for k in names} for s in vm.sockets() if (":" in s["src"]) == (family == 6)]
    got_ = [{k: r[k] for k in names} for r in got]
    t.check(got_ == want and want, f"{vm.name}: smc{family} {got_}, sock_diag {want}")
    t.equal(vm.run(f"unshare -n cat /proc/self/net/smc{family}").out, HEAD, "another namespace")
    return got


def run(t):
    t.no_groups()
    t.step("sysctl.conf")
    configured(t)
    halves = talk(t, CONF["smcr_max_send_wr"], CONF["smcr_max_recv_wr"])

    t.step("sockets of IPv4")
    plain = t.half(t.a, stream_server, "tcp", port=PORT + 9, n_in=9, n_out=9)
    plain.expect("listening", t.left())
    fallback = t.half(t.b, stream_client, port=PORT + 9, n_in=9, n_out=9)
    t.expect_all("moved", plain, fallback)
    for vm in (t.a, t.b):
        got = listed(t, vm, 4)
        own = "".join(f"{int(x):02X}" for x in reversed(vm.ip.split(".")))
        t.check(sum(r["own"] == own and r["mode"] == "SMC-R" for r in got) >= 3,
                f"{vm.name}: connections of {own}: {got}")
        t.equal(vm.run("cat /proc/net/smc6").out, HEAD, "IPv6")
    t.check([r["mode"] for r in listed(t, t.b, 4) if r["dport"] == PORT + 9] == ["TCP"],
            "the connection that is TCP")
    for p in (plain, fallback):
        p.gate("end")
    t.wait_all(plain, fallback)
    ended(t, halves)

    t.step(lower_only.__doc__)
    t.wait_all(t.half(t.a, owner))

    t.step("least and greatest depths")
    for depth in (2, 2048):
        for vm in (t.a, t.b):
            t.set(vm, smcr_max_send_wr=depth, smcr_max_recv_wr=depth)
        ended(t, talk(t, depth, depth))
    # one side with few receives, and a peer that has much to send
    t.set(t.b, smcr_max_send_wr=2048, smcr_max_recv_wr=2)
    t.set(t.a, smcr_max_send_wr=2048, smcr_max_recv_wr=2048)
    s = t.half(t.a, stream_server, port=PORT, n_in=N_IN, n_out=10 * N_OUT)
    s.expect("listening", t.left())
    c = t.half(t.b, stream_client, port=PORT, n_in=N_IN, n_out=10 * N_OUT)
    t.expect_all("moved", s, c)
    ended(t, [s, c])

    t.step("many sockets")
    for version in (4, 6):
        t.wait_all(t.half(t.a, pieces, port=PORT, version=version, ipv=version))
    held = t.half(t.a, open_file, name="/proc/net/smc4")
    held.expect("open", t.left())
    t.restore()
    t.reload(t.a)
    held.gate("gone")
    t.wait_all(held)
