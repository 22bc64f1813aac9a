# SPDX-License-Identifier: GPL-2.0
"""The sysctl.conf of deployed hosts loads.

Queue depths act on new links, the least and the greatest as well.

covers: API-01 LG-17
"""
import errno

import netns
from common import stream_client, stream_server

timeout = 90
PORT = 5840
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
           "wmem": (262144, 16384, (1 << 30) - 1), "rmem": (262144, 16384, (1 << 30) - 1)}


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


def run(t):
    t.no_groups()
    t.step("sysctl.conf")
    configured(t)
    ended(t, talk(t, CONF["smcr_max_send_wr"], CONF["smcr_max_recv_wr"]))

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
