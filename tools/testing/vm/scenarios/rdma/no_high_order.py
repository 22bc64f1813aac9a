# SPDX-License-Identifier: GPL-2.0
"""Connections work without contiguous memory of more than eight pages.

Rings have the sizes of net.smc.wmem and rmem, within the limits of the dialect and of
soft-RoCE.

covers: RMB-02 RMB-03
"""
from common import requests, serve, stream_client, stream_server

kernels = ("debug",)
timeout = 60
FAIL = "/sys/kernel/debug/fail_page_alloc"
MOST = {0: 1 << 21, 1: 1 << 19}     # one registration of soft-RoCE; the RFC's largest element


def fragment(vm):
    """Make each allocation above order 3 fail, in the whole kernel."""
    for name, value in (("min-order", 4), ("ignore-gfp-wait", "N"),
                        ("ignore-gfp-highmem", "N"), ("verbose", 0), ("interval", 1),
                        ("times", -1), ("probability", 100)):
        vm.write(f"{FAIL}/{name}", str(value))


def have_rings(t, port, size):
    for vm in (t.a, t.b):
        conn = t.mode(vm, "SMC-R", port)[0]["conn"]
        t.equal((conn["sndbuf"], conn["rcvbuf"]), (size, size), f"{vm.name}: rings")


def run(t):
    if t.family != "smc":
        return
    vms = (t.a, t.b)
    for vm in vms:
        fragment(vm)
    try:
        # with nothing left over from before: groups, links and regions are new
        t.reload(*vms)
        for vm in vms:
            # four seconds: what large rings have outstanding takes long on the debug kernel
            t.set(vm, rdma_ack_exponent=20)
        t.rdma_start()
        t.both(serve, requests, 5310, sargs={"count": 20}, cargs={"n": 20})
        n = 300_007
        asked = {min(size, MOST[t.dialect]): size for size in (1 << 16, 1 << 19, 1 << 21)}
        # in this order: a connection may get an unused ring of twice the size; 256 KiB is the default
        for port, (size, ask) in enumerate(asked.items(), 5311):
            t.step(f"rings of {ask} bytes")
            for vm in vms:
                t.set(vm, wmem=ask, rmem=ask)
            t.in_step(stream_server, stream_client, port,
                      lambda: have_rings(t, port, size), n_in=n, n_out=n)
        for vm in vms:
            t.carried(vm, n * len(asked))
    finally:
        for vm in vms:
            vm.write(f"{FAIL}/probability", "0")
