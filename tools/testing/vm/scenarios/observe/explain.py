# SPDX-License-Identifier: GPL-2.0
"""Tools say why a connection would use SMC or TCP, why others did, and what is remembered.

What `smc check` says is compared with the next connection. One that is TCP because of what is
remembered says so; entries are cleared one by one, by root only.
"""
import errno
import ipaddress
import json
import re
import struct

from common import stream_client, stream_server

kernels = ("stock", "debug")
dialects = (0,)
ipv = (4,)
timeout = 150
PORT = 6010
N = 10_007
NODEV, POLICY, IPSEC = 0x03030002, 0x03F00000, 0x03020000
FORGET = 102


def code(cmd, attrs=b""):
    """The errno of a request."""
    import smcnl
    with smcnl.Family() as f:
        f.send(f.id, cmd, attrs, smcnl.NLM_F_REQUEST | smcnl.NLM_F_ACK)
        try:
            list(f.answers())
        except OSError as e:
            return e.errno
    return 0


def attr(kind, data):
    return struct.pack("=HH", 4 + len(data), kind) + data + bytes(-len(data) % 4)


def asked(h):
    """Requests that are none are refused."""
    for what, attrs in (("nothing", b""), ("a short address", attr(8, bytes(4))),
                        ("port 0", attr(8, bytes(16)) + attr(9, b"\0\0"))):
        h.check(code(FORGET, attrs) in (errno.EINVAL, errno.ERANGE), f"{what} is forgotten")
    h.equal(code(FORGET, attr(8, bytes(16))), errno.ENOENT, "forget of nothing")


def smc(t, *args):
    return t.run_smc(*args).out


def read(t, vm, words, name):
    return json.loads(smc(t, vm, f"{words} -j"))[name]


def explained(t, want, *wrong, port=PORT):
    """What B says of A: versions or a reason, and the checks that are wrong."""
    out = json.loads(smc(t, t.b, f"explain -j {t.a.ip}:{port}", 0 if want is None else 1))
    t.equal(sorted(c["check"] for c in out["checks"] if c["verdict"] == "wrong"), sorted(wrong),
            f"checks of {out}")
    t.equal(t.reason(out), want, "reason")
    return out


def port(t, out):
    """The device and the GID that a connection would use."""
    text = next(c["text"] for c in out["checks"] if c["check"] == "RDMA")
    t.check(re.fullmatch(r"rxe0 port 1 is active; GID \S+.*", text), text)
    return ipaddress.ip_address(text.split("GID ")[1].split()[0])


def same_socket(t, listed):
    """An open socket is found by its inode or descriptor, and its peer is explained."""
    from smcvm import kernel
    inode = listed["inode"]
    path = t.b.run("for f in /proc/[0-9]*/fd/*; do [ \"$(readlink $f)\" != "
                   f"'socket:[{inode}]' ] || echo $f; done").out.split()[0]
    tool = t.guest_path(kernel.user_tool("smc"))
    host = t.b.run(f"{tool} check -j {listed['peer']}", check=False)
    for name in (inode, path):
        out = t.b.run(f"{tool} check -j --socket {name}", check=False)
        t.equal(out.rc, host.rc, f"exit status for {name}")
        said = json.loads(out.out)
        for key in ("local", "peer", "inode", "mode", "reason"):
            t.equal(said["socket"].get(key), listed.get(key), f"{key} of {name}")
        t.equal(said["text"], json.loads(host.out)["text"], f"choice for {name}")


def talk(t, mode, reason=None, port=PORT):
    """One connection of B to A, and what B lists of it."""
    s = t.half(t.a, stream_server, port=port, n_in=N, n_out=N)
    s.expect("listening", t.left())
    c = t.half(t.b, stream_client, port=port, n_in=N, n_out=N)
    t.expect_all("moved", s, c)
    t.mode(t.b, mode, port, 1, reason)
    listed = [x for x in read(t, t.b, "list", "sockets") if x["peer"].endswith(f":{port}")]
    same_socket(t, listed[0])
    for half in (s, c):
        half.gate("end")
    t.wait_all(s, c)
    t.no_sockets(t.b, port)
    return listed[0]


def paths(t):
    """v1 by the port of the route; the policy; no RNIC; no route; v2 with an EID."""
    out = explained(t, None)
    t.equal((out["offers_v1"], out["offers_v2"]), (1, 0), "versions")
    gid = port(t, out)
    used = ipaddress.ip_address(talk(t, "SMC-R")["link"]["gid"])
    t.equal(gid, used, "the GID of the link")
    t.ueid(t.b, "SMC-BENCH.EXPLAIN")
    out = explained(t, None)
    t.equal((out["offers_v1"], out["offers_v2"]), (1, 1), "versions")
    t.ueid(t.b, "--flush")
    smc(t, t.b, f"policy add tcp connect port {PORT}")
    explained(t, POLICY, "policy")
    explained(t, None, port=PORT + 1)
    talk(t, "TCP", POLICY)
    t.equal([r["hits"] for r in read(t, t.b, "policy", "policy")], [1], "hits")
    smc(t, t.b, "policy flush")
    t.set(t.b, memory=0)
    out = json.loads(smc(t, t.b, "explain -j 127.0.0.1", 1))
    t.equal(t.reason(out), NODEV, "loopback")
    t.restore("memory")
    smc(t, t.b, "explain 2001:db8::1", 1)
    smc(t, t.b, "explain host.invalid", 1)
    t.b.run(f"ip xfrm policy add dir out dst {t.a.ip}/32 tmpl proto esp mode transport level use")
    explained(t, IPSEC, "IPsec")
    t.b.run("ip xfrm policy flush")


def memory(t):
    """A path that drops RoCE is remembered, and the history has all connections."""
    t.reload(t.a, t.b, look=False)
    for vm in (t.a, t.b):
        t.set(vm, rdma_ack_exponent=15, peer_memory_ms=600_000, roce=2)
    before = len(read(t, t.b, "history", "history"))
    hole = t.relay.rule(drop=1, proto="udp", port=4791)
    first = talk(t, "TCP")
    t.relay.unrule(hole)
    t.check("memory_age_ms" not in first, f"a reason that was found now: {first}")
    peers = read(t, t.b, "peers", "peers")
    t.equal([(p["peer_address"], "peer_port" in p) for p in peers], [(t.a.ip, False)], "peers")
    t.check(0 < peers[0]["left_ms"] < 600_000, f"time that is left: {peers}")
    reason = t.reason(peers[0])
    explained(t, reason, "memory")
    second = talk(t, "TCP", reason)
    t.check(second["memory_age_ms"], f"{second} does not say that it was remembered")
    t.check("remembered for" in smc(t, t.b, "history"), "nor does the history")
    shown = read(t, t.b, "history", "history")[before:]
    t.equal([(r["role"], r["peer_address"], r["peer_port"], t.reason(r), "age_ms" in r)
             for r in shown],
            [("client", t.a.ip, PORT, reason, False),
             ("client", t.a.ip, PORT, reason, True)], "history")
    user = "setpriv --reuid 1000 --regid 1000 --clear-groups"
    # what others did is not for a user, so what is remembered is not for his check
    for what in ("history", "peers", "events"):
        t.equal(t.run_smc(t.b, what, 1, user).err, "smc: only root (CAP_NET_ADMIN) may do that\n",
                f"{what} of a user")
    t.check("doubtful  memory" in smc(t, t.b, f"check {t.a.ip}", 0, user), "memory for a user")
    smc(t, t.b, "list", 0, user)
    smc(t, t.b, f"peers forget {t.a.ip}", 1, user)
    smc(t, t.b, "peers flush", 1, user)
    smc(t, t.b, f"peers forget {t.a.ip}:{PORT}", 1)
    smc(t, t.b, f"peers forget {t.a.ip}")
    t.equal(read(t, t.b, "peers", "peers"), [], "peers after that")
    smc(t, t.a, "peers flush")
    talk(t, "SMC-R")
    # each namespace has its own
    t.b.run("ip netns add apart")
    t.equal(json.loads(smc(t, t.b, "history -j", 0, "ip netns exec apart"))["history"], [],
            "history of another namespace")
    t.b.run("ip netns del apart")


def run(t):
    t.step(asked.__doc__)
    t.wait_all(t.half(t.b, asked))
    t.rdma_start()
    t.step(paths.__doc__)
    paths(t)
    t.step(memory.__doc__)
    memory(t)
