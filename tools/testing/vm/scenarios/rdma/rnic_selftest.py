# SPDX-License-Identifier: GPL-2.0
"""The model of an RNIC carries data, and notices each violation of an RNIC's rules.

Two devices of one machine, whose ports are the ends of a veth pair, run the self-test of
tools/testing/rnic with each profile: a WRITE, a SEND and immediate data arrive, memory that is
not synced is not seen, each of fifteen violations is counted once, and calls of verbs fail that are
to fail, and no others. Behind an IOMMU, with
rnic=PROFILE,iommu, an access to what is no longer mapped is counted.
"""
kernels = ("stock",)
dialects = (0,)
sides = ("none", "none")
rnic = "strictest"
timeout = 150

PROFILES = ("mlx5", "mlx4", "bnxt_re", "irdma", "erdma", "hns", "strictest")
DEBUG = "/sys/kernel/debug/rnic"


def test(t, profile, dma):
    t.step(f"{profile}, {dma}")
    path = "/host" + t.a.kernel.rnic_module()
    t.a.run(f"rmmod smc_rnic && insmod {path} profile={profile} dma={dma} && "
            "rdma link add rna type rnic netdev va && rdma link add rnb type rnic netdev vb")
    t.a.write(f"{DEBUG}/selftest", "rna rnb")
    t.equal(t.a.read(f"{DEBUG}/violations"), "0\n", f"{profile}: violations that no case expects")
    t.check(profile in t.a.read(f"{DEBUG}/rna/state"), "profile of the device")
    t.a.run("rdma link delete rna")


def run(t):
    t.a.run("ip link add va type veth peer name vb && ip link set va up && ip link set vb up")
    if t.case.rnic.endswith(",iommu"):
        test(t, "mlx5", "iommu")
    else:
        for profile in PROFILES:
            test(t, profile, "bounce")
        test(t, "mlx5", "direct")
    t.a.run("rmmod smc_rnic && ip link delete va")
    t.a.run("\n".join(["set -e", *t.pair.insert_rnic(t.a),
                       "rdma link add rxe0 type rxe netdev eth0"]))
    t.pair.wait_gid(t.a, 0)
