# SPDX-License-Identifier: GPL-2.0
"""Rules of a network namespace decide which connections may use SMC, at either end.

A connection that must not use SMC has no CLC message. Only the owner of a namespace changes its
rules, and what is no rule is refused.

covers: OPT-02 OPT-08
"""
import errno
import json
import os
import struct

import netns
from common import stream_server

kernels = ("stock", "debug")
dialects = (0,)
ipv = (4,)
timeout = 150
PORT = 5990
N = 100_003
POLICY, PEERNOSMC = 0x03F00000, 0x03010000
DUMP, ADD, DEL, FLUSH = range(96, 100)
ID, ACTION, ROLE, FIRST, LAST, ADDR, PREFIX, CGROUP, UID, HITS, BEFORE = range(1, 12)
LIMIT = 256
MOUNT, GROUP = "/sys/fs/cgroup", "policy/inner"
NOBODY = 65534


# What is asked of netlink

def attr(kind, data):
    return struct.pack("=HH", 4 + len(data), kind) + data + bytes(-len(data) % 4)


def number(kind, form, value):
    return attr(kind, struct.pack("=" + form, value))


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


def rules():
    """{attribute: bytes} of each rule."""
    import smcnl
    out = []
    with smcnl.Family() as f:
        f.send(f.id, DUMP, b"", smcnl.NLM_F_REQUEST | smcnl.NLM_F_DUMP)
        for _, data in f.answers():
            one = {}
            while data:
                size, kind = struct.unpack_from("=HH", data)
                one[kind] = data[4:size]
                data = data[(size + 3) & ~3:]
            out.append(one)
    return out


TCP = number(ACTION, "B", 1)
WRONG = (
    ("no action", b""),
    ("another action", number(ACTION, "B", 2)),
    ("a long action", number(ACTION, "I", 1)),
    ("an empty action", attr(ACTION, b"")),
    ("another role", TCP + number(ROLE, "B", 2)),
    ("a short port", TCP + number(FIRST, "B", 1)),
    ("a range that ends before it begins", TCP + number(FIRST, "H", 2) + number(LAST, "H", 1)),
    ("a short address", TCP + attr(ADDR, bytes(4))),
    ("a long address", TCP + attr(ADDR, bytes(20))),
    ("a prefix without an address", TCP + number(PREFIX, "B", 8)),
    ("a prefix that is too long", TCP + attr(ADDR, bytes(16)) + number(PREFIX, "B", 129)),
    ("a short group", TCP + number(CGROUP, "I", 1)),
    ("a long user", TCP + number(UID, "Q", 1)),
    ("no user", TCP + number(UID, "I", 0xffffffff)),
    ("the number of a rule", TCP + number(ID, "I", 1)),
    ("a count", TCP + number(HITS, "Q", 1)),
    ("an unknown attribute", TCP + number(99, "I", 1)),
    ("half an attribute", TCP + b"\5\0"),
)


def as_root(h):
    h.equal(code(FLUSH), 0, "flush")
    for what, attrs in WRONG:
        h.check(code(ADD, attrs) in (errno.EINVAL, errno.ERANGE), f"{what} is accepted")
    h.equal(code(ADD, TCP + number(BEFORE, "I", 77)), errno.ENOENT, "a place that does not exist")
    h.equal(code(DEL), errno.EINVAL, "del of nothing")
    h.equal(code(DEL, number(ID, "I", 77)), errno.ENOENT, "del of what does not exist")
    h.equal(rules(), [], "rules after wrong requests")
    # the last of two attributes counts, as everywhere in netlink
    h.equal(code(ADD, number(ACTION, "B", 0) + TCP), 0, "two actions")
    h.equal([r[ACTION] for r in rules()], [b"\1"], "its action")
    h.equal(code(ADD, TCP), errno.EEXIST, "the same again")
    for i in range(1, LIMIT):
        h.equal(code(ADD, TCP + number(FIRST, "H", i)), 0, f"rule {i}")
    h.equal(code(ADD, TCP + number(FIRST, "H", LIMIT)), errno.ENOSPC, "one more")
    found = rules()
    h.equal([r.get(FIRST) for r in found],
            [None] + [struct.pack("=H", i) for i in range(1, LIMIT)], "a full policy")
    h.equal(code(DEL, attr(ID, found[7][ID])), 0, "del")
    h.equal(len(rules()), LIMIT - 1, "rules that are left")


def as_nobody(h):
    """Everybody may read the rules."""
    h.equal(len(rules()), LIMIT - 1, "rules")
    for cmd in (ADD, DEL, FLUSH):
        h.equal(code(cmd, TCP if cmd == ADD else b""), errno.EPERM, f"command {cmd} of a user")
    h.equal(len(rules()), LIMIT - 1, "rules after that")


def as_owner(h):
    """The owner of a namespace has rules there, with users of the own user namespace."""
    h.equal(rules(), [], "rules in a new namespace")
    h.equal(code(ADD, TCP + number(UID, "I", 5)), errno.EINVAL, "a user that has no number")
    h.equal(code(ADD, TCP + number(UID, "I", 0)), 0, "the owner itself")
    h.equal([r[UID] for r in rules()], [struct.pack("=I", 0)], "the owner's number")
    h.equal(code(FLUSH), 0, "flush")


def asked(h):
    as_root(h)
    netns.in_child(h, as_nobody, uid=NOBODY)
    netns.apart(h, as_owner, uid=NOBODY)
    h.equal(len(rules()), LIMIT - 1, "rules of the first namespace")
    h.equal(code(FLUSH), 0, "flush")
    h.equal(rules(), [], "rules in the end")


# Connections

def client(h, port, uid=None, group=None):
    """A connection of a user, and of a process in a control group."""
    if group:
        with open(f"{MOUNT}/{group}/cgroup.procs", "w", encoding="ascii") as f:
            f.write("0")
    s = h.socket()
    if uid is not None:
        os.fchown(s.fileno(), uid, -1)
    s.connect((h.config["peer4"], port))
    h.both_ways(s, N, 1, N, 2, 30011)
    h.mark("moved")
    h.gate("end")
    h.finish(s)


def hits(t, vm):
    return [r["hits"] for r in json.loads(t.run_smc(vm, "policy -j").out)["policy"]]


def talk(t, a, b, **who):
    """One connection of B to A; (mode, reason) of each."""
    clc = t.relay.rule(proto="tcp", find="e2d4c3d9", port=PORT, nflags=2)
    s = t.half(t.a, stream_server, port=PORT, n_in=N, n_out=N)
    s.expect("listening", t.left())
    c = t.half(t.b, client, port=PORT, **who)
    t.expect_all("moved", s, c)
    for vm, (mode, reason) in ((t.a, a), (t.b, b)):
        t.mode(vm, mode, PORT, 1, reason)
    for half in (s, c):
        half.gate("end")
    t.wait_all(s, c)
    t.no_sockets(t.a, PORT)
    t.no_sockets(t.b, PORT)
    t.equal(bool(t.relay.hits(clc)[0]), a[0] == "SMC-R", "CLC messages on the wire")
    t.relay.unrule(clc)


SMC = ("SMC-R", None)
REFUSED, PLAIN = ("TCP", POLICY), ("TCP", PEERNOSMC)


def at_client(t):
    """connect(): ports, peers, users and groups; the first rule that matches decides."""
    t.b.run(f"mountpoint -q {MOUNT} || mount -t cgroup2 cgroup2 {MOUNT}")
    t.b.run(f"mkdir -p {MOUNT}/{GROUP}")
    for words, who, refused in (
            (f"tcp connect port {PORT}", {}, True),
            (f"tcp port {PORT + 1}-65535", {}, False),
            ("tcp listen", {}, False),
            ("tcp peer 10.43.0.0/24", {}, True),
            ("tcp peer fd43::/64", {}, False),
            ("tcp uid 1000", {}, False),
            ("tcp uid 1000", {"uid": 1000}, True),
            ("tcp cgroup policy", {}, False),
            ("tcp cgroup policy", {"group": GROUP}, True)):
        t.step(f"{words}, {who}")
        t.run_smc(t.b, f"policy add {words}")
        talk(t, PLAIN if refused else SMC, REFUSED if refused else SMC, **who)
        t.equal(hits(t, t.b), [int(refused)], "hits")
        t.run_smc(t.b, "policy flush")
    t.step("an exception")
    t.run_smc(t.b, "policy add tcp")
    first = json.loads(t.run_smc(t.b, "policy -j").out)["policy"][0]["id"]
    t.run_smc(t.b, f"policy add before {first} smc peer {t.a.ip}")
    talk(t, SMC, SMC)
    t.equal(hits(t, t.b), [1, 0], "hits")
    t.run_smc(t.b, f"policy del {first + 1}")
    talk(t, PLAIN, REFUSED)
    t.equal(hits(t, t.b), [1], "hits")
    t.run_smc(t.b, "policy flush")


def at_server(t):
    """A listener does not answer the option."""
    t.run_smc(t.a, f"policy add tcp listen port {PORT} peer {t.b.ip}")
    talk(t, REFUSED, PLAIN)
    t.equal(hits(t, t.a), [1], "hits")
    out = t.run_smc(t.a, "stats").out
    t.check("the policy of the network namespace says TCP" in out, f"no count of it in\n{out}")
    t.run_smc(t.a, "policy flush")
    t.run_smc(t.a, "policy add tcp connect")
    talk(t, SMC, SMC)
    t.run_smc(t.a, "policy flush")


def kept(t):
    """Rules of a file, twice; a wrong one changes nothing."""
    t.a.run("mkdir -p /run/p/etc/smc")
    t.a.run("printf 'tcp port 22 # ssh\\ntcp peer 192.0.2.0/24\\n' >/run/p/etc/smc/policy")
    for _ in range(2):
        t.run_smc(t.a, "apply --root /run/p")
        shown = [r["rule"] for r in json.loads(t.run_smc(t.a, "policy -j").out)["policy"]]
        t.equal(shown, ["port 22", "peer 192.0.2.0/24"], "rules")
    t.a.run("printf 'tcp port 80\\ntcp port x\\n' >/run/p/etc/smc/policy")
    t.check("line 2" in t.run_smc(t.a, "apply -r /run/p", 1).err, "the wrong line is not named")
    t.equal(len(hits(t, t.a)), 2, "rules")
    t.run_smc(t.a, "policy flush")


def synced(t):
    """What no file has goes, and the rules have the order of the file; ids of those that stay."""
    def shown():
        return [(r["rule"], r["id"])
                for r in json.loads(t.run_smc(t.a, "policy -j").out)["policy"]]
    t.a.run("mkdir -p /run/q/etc/smc")
    for words in ("tcp port 1", "tcp peer 10.1.2.3/8 uid 7", "smc listen", "tcp port 2-3"):
        t.run_smc(t.a, f"policy add {words}")
    ids = dict(shown())
    t.run_smc(t.a, "ueid add OLD.EID")
    t.a.run("printf 'new.eid\n' >/run/q/etc/smc/eids")
    t.a.run("printf '%s\n' 'tcp connect port 9' 'tcp peer 10.9.0.0/8 uid 7' 'tcp port 2-3' "
            "'tcp port 2-3' 'smc listen port 0-65535' >/run/q/etc/smc/policy")
    for _ in range(2):
        t.run_smc(t.a, "apply --sync --root /run/q")
        t.equal([rule for rule, _ in shown()], ["connect port 9", "peer 10.0.0.0/8 uid 7",
                                                "port 2-3", "listen"], "rules")
        t.equal([i for rule, i in shown() if rule.startswith(("peer", "port"))],
                [ids["peer 10.0.0.0/8 uid 7"], ids["port 2-3"]], "ids of those that stay")
        t.equal(json.loads(t.run_smc(t.a, "ueid -j").out)["eids"], ["NEW.EID"], "EIDs")
    t.a.run("rm -r /run/q/etc/smc/*")
    t.run_smc(t.a, "apply --sync --root /run/q")
    t.equal((shown(), json.loads(t.run_smc(t.a, "ueid -j").out)["eids"]), ([], []), "what is left")


def run(t):
    t.step("requests")
    t.wait_all(t.half(t.a, asked))
    t.rdma_start()
    t.step(at_client.__doc__)
    at_client(t)
    t.step(at_server.__doc__)
    at_server(t)
    t.step(kept.__doc__)
    kept(t)
    t.step(synced.__doc__)
    synced(t)
