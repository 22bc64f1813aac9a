// SPDX-License-Identifier: GPL-2.0
/*
 * Turns the stream sockets of chosen control groups, and of those below them, into
 * SMC sockets while socket() creates them. The kernel offers its protocol to this
 * program in update_socket_protocol(), since Linux 6.6.
 *
 * The program uses helpers only, no structure of the kernel, so one object serves
 * every kernel. libbpf finds the function by the BTF of the running one.
 */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "attach.h"

#define AF_INET		2
#define AF_INET6	10
#define SOCK_STREAM	1
#define TYPE_MASK	0xf	/* the rest are flags, such as SOCK_CLOEXEC */
#define IPPROTO_TCP	6
#define IPPROTO_SMC	256
#define IPPROTO_MPTCP	262	/* listeners of Go ask for it first */

/* How many sockets each attached group has, by the ID of the group */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, ATTACH_MAX);
	__uint(pinning, LIBBPF_PIN_BY_NAME);
	__type(key, __u64);
	__type(value, __u64);
} smc_cgroups SEC(".maps");

/* Levels begin at the root; beyond the task's own group the ID is 0. */
static __u64 *find_group(void)
{
	__u64 *sockets = NULL;
	__u64 id;
	int level;

	for (level = 0; level < ATTACH_LEVELS && !sockets; level++) {
		id = bpf_get_current_ancestor_cgroup_id(level);
		if (!id)
			break;
		sockets = bpf_map_lookup_elem(&smc_cgroups, &id);
	}
	return sockets;
}

/* Returns the protocol, or 0 to leave the choice to others. */
SEC("fmod_ret/update_socket_protocol")
int BPF_PROG(smc_attach, int family, int type, int protocol)
{
	__u64 *sockets;

	if ((family != AF_INET && family != AF_INET6) || (type & TYPE_MASK) != SOCK_STREAM ||
	    (protocol && protocol != IPPROTO_TCP && protocol != IPPROTO_MPTCP))
		return 0;
	sockets = find_group();
	if (!sockets)
		return 0;
	__sync_fetch_and_add(sockets, 1);
	return IPPROTO_SMC;
}

char LICENSE[] SEC("license") = "GPL";
