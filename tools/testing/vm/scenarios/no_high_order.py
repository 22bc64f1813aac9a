# SPDX-License-Identifier: GPL-2.0
"""No memory in pieces of more than eight pages: everything works all the same.

covers: RMB-02 RMB-03
"""
from common import requests, serve, stream_client, stream_server

kernels = ("debug",)
timeout = 60
FAIL = "/sys/kernel/debug/fail_page_alloc"


def fragment(vm):
    """From here on each allocation above order 3 fails, whoever asks for it."""
    for name, value in (("min-order", 4), ("ignore-gfp-wait", "N"),
                        ("ignore-gfp-highmem", "N"), ("verbose", 0), ("interval", 1),
                        ("times", -1), ("probability", 100)):
        vm.write(f"{FAIL}/{name}", str(value))


def run(t):
    if t.family != "smc":
        return
    vms = (t.a, t.b)
    for vm in vms:
        fragment(vm)
    try:
        # with nothing left over from before: groups, links and areas are new
        for vm in vms:
            t.reload(vm)
        t.rdma_start()
        t.both(serve, requests, 5310, sargs={"count": 20}, cargs={"n": 20})
        for i, size in enumerate((1 << 17, 1 << 19, 1 << 21)):
            n = 700_001
            t.in_step(stream_server, stream_client, 5311 + i, n_in=n, n_out=n,
                      sndbuf=size, rcvbuf=size)
        t.carried(t.a, 2_000_000)
        t.carried(t.b, 2_000_000)
    finally:
        for vm in vms:
            vm.write(f"{FAIL}/probability", "0")
