// SPDX-License-Identifier: GPL-2.0
/*
 * A library that the tests preload into the tool: answers its requests to the generic
 * netlink families in place of a kernel. FAKE_ERROR is the errno of each request to
 * the module, FAKE_TEXT the kernel's text for it. FAKE_LOG is a file that gets a line
 * for each request that is no dump. FAKE_STATS is a file with names and values of counters.
 * FAKE_MARK is an attribute of connections over RDMA, without a value.
 * FAKE_NO_FILTER: sock_diag knows no filter.
 * FAKE_INODE, FAKE_NETNS and FAKE_PEER are inode, namespace and token of an end in memory.
 * FAKE_PAUSE is 1 or 0 for pause frames, FAKE_PFC has the priorities with flow control, as bits.
 * FAKE_RDMA has the names of RDMA devices; one after a "-" cannot register memory.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <linux/dcbnl.h>
#include <linux/ethtool.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <linux/smc.h>
#include <linux/smc_diag.h>
#include <linux/sock_diag.h>
#include <rdma/rdma_netlink.h>

#define FAMILY_ID 0x77	/* of both families */
#define GROUP_ID 0x55
#define ENDS_ID 0x56
#define RDMA_ID RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_GET)

typedef ssize_t (*sendmsg_fn)(int fd, const struct msghdr *msg, int flags);
typedef ssize_t (*recvmsg_fn)(int fd, struct msghdr *msg, int flags);

ssize_t sendmsg(int fd, const struct msghdr *msg, int flags);
ssize_t recvmsg(int fd, struct msghdr *msg, int flags);
int setsockopt(int fd, int level, int name, const void *value, socklen_t len);
int socket(int domain, int type, int protocol);

static char answer[65536];	/* to the request that was sent last */
static size_t answer_len, answered;
static int our_fd = -1;
static struct nlmsghdr request;
static size_t message, nest;	/* offsets of what is open */

static void put_bytes(const void *data, size_t len)
{
	memcpy(answer + answer_len, data, len);
	answer_len += (len + 3) & ~3;
}

static void begin(uint16_t type, uint8_t cmd)
{
	struct nlmsghdr head = { .nlmsg_type = type, .nlmsg_seq = request.nlmsg_seq,
				 .nlmsg_pid = request.nlmsg_pid };
	struct genlmsghdr genl = { .cmd = cmd, .version = 1 };

	if (request.nlmsg_flags & NLM_F_DUMP)
		head.nlmsg_flags = NLM_F_MULTI;
	message = answer_len;
	put_bytes(&head, sizeof(head));
	put_bytes(&genl, sizeof(genl));
}

static void end(void)
{
	uint32_t len = answer_len - message;

	memcpy(answer + message, &len, sizeof(len));
}

static void put(uint16_t type, const void *data, size_t len)
{
	struct nlattr attr = { .nla_type = type, .nla_len = sizeof(attr) + len };

	put_bytes(&attr, sizeof(attr));
	put_bytes(data, len);
}

static void put_u8(uint16_t type, uint8_t value)
{
	put(type, &value, sizeof(value));
}

static void put_u16(uint16_t type, uint16_t value)
{
	put(type, &value, sizeof(value));
}

static void put_u32(uint16_t type, uint32_t value)
{
	put(type, &value, sizeof(value));
}

static void put_u64(uint16_t type, uint64_t value)
{
	put(type, &value, sizeof(value));
}

static void put_text(uint16_t type, const char *text)
{
	put(type, text, strlen(text) + 1);
}

static size_t open_nest(uint16_t type)
{
	struct nlattr attr = { .nla_type = type | NLA_F_NESTED };
	size_t outer = nest;

	nest = answer_len;
	put_bytes(&attr, sizeof(attr));
	return outer;
}

static void close_nest(size_t outer)
{
	uint16_t len = answer_len - nest;

	memcpy(answer + nest, &len, sizeof(len));
	nest = outer;
}

static void put_error(int err, const char *text)
{
	struct nlmsgerr error = { .error = -err, .msg = request };
	struct nlmsghdr head = { .nlmsg_type = NLMSG_ERROR, .nlmsg_flags = NLM_F_CAPPED,
				 .nlmsg_seq = request.nlmsg_seq, .nlmsg_pid = request.nlmsg_pid };

	if (text)
		head.nlmsg_flags |= NLM_F_ACK_TLVS;
	message = answer_len;
	put_bytes(&head, sizeof(head));
	put_bytes(&error, sizeof(error));
	if (text)
		put_text(NLMSGERR_ATTR_MSG, text);
	end();
}

/* An acknowledgment with the id of what was made */
static void put_ack(uint64_t cookie)
{
	struct nlmsgerr error = { .msg = request };
	struct nlmsghdr head = { .nlmsg_type = NLMSG_ERROR,
				 .nlmsg_flags = NLM_F_CAPPED | NLM_F_ACK_TLVS,
				 .nlmsg_seq = request.nlmsg_seq, .nlmsg_pid = request.nlmsg_pid };

	message = answer_len;
	put_bytes(&head, sizeof(head));
	put_bytes(&error, sizeof(error));
	put_u64(NLMSGERR_ATTR_COOKIE, cookie);
	end();
}

static void put_done(void)
{
	struct nlmsghdr head = { .nlmsg_type = NLMSG_DONE, .nlmsg_flags = NLM_F_MULTI,
				 .nlmsg_seq = request.nlmsg_seq, .nlmsg_pid = request.nlmsg_pid };
	uint32_t status = 0;

	message = answer_len;
	put_bytes(&head, sizeof(head));
	put_bytes(&status, sizeof(status));
	end();
}

static void put_family(void)
{
	size_t groups, group;

	begin(GENL_ID_CTRL, CTRL_CMD_NEWFAMILY);
	put_u16(CTRL_ATTR_FAMILY_ID, FAMILY_ID);
	put_text(CTRL_ATTR_FAMILY_NAME,
		 getenv("FAKE_PNET") ? SMCR_GENL_FAMILY_NAME : SMC_GENL_FAMILY_NAME);
	put_u32(CTRL_ATTR_VERSION, 1);
	put_u32(CTRL_ATTR_HDRSIZE, 0);
	put_u32(CTRL_ATTR_MAXATTR, 64);
	groups = open_nest(CTRL_ATTR_MCAST_GROUPS);
	group = open_nest(1);
	put_u32(CTRL_ATTR_MCAST_GRP_ID, GROUP_ID);
	put_text(CTRL_ATTR_MCAST_GRP_NAME, SMC_GENL_EVENTS);
	close_nest(group);
	group = open_nest(2);
	put_u32(CTRL_ATTR_MCAST_GRP_ID, ENDS_ID);
	put_text(CTRL_ATTR_MCAST_GRP_NAME, SMC_GENL_ENDS);
	close_nest(group);
	close_nest(groups);
	end();
}

static void put_counts(uint16_t type, uint64_t first)
{
	size_t outer = open_nest(type);
	int i;

	for (i = SMC_NLA_COUNT_TX_BYTES; i <= SMC_NLA_COUNT_LEAKS; i++)
		put_u64(i, first + i);
	close_nest(outer);
}

static void put_group_of(uint8_t cmd, uint8_t host)
{
	const uint8_t v4[16] = { [10] = 0xff, 0xff, 192, 0, 2, host };
	static const uint8_t peer_id[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };
	size_t outer, inner;

	begin(FAMILY_ID, cmd);
	outer = open_nest(SMC_GEN_LGR_SMCR);
	put_u32(SMC_NLA_LGR_R_ID, 0x00112a3f);
	put_u8(SMC_NLA_LGR_R_ROLE, 1);
	put_u8(SMC_NLA_LGR_R_TYPE, SMC_LGR_SYMMETRIC);
	put_text(SMC_NLA_LGR_R_PNETID, "NET1");
	put_u32(SMC_NLA_LGR_R_CONNS_NUM, 3);
	inner = open_nest(SMC_NLA_LGR_R_V2_COMMON);
	put_u8(SMC_NLA_LGR_V2_OS, 2);
	put_text(SMC_NLA_LGR_V2_NEG_EID, "RACK.\"7\"");
	put_text(SMC_NLA_LGR_V2_PEER_HOST, "z\303\274rich\377   ");
	close_nest(inner);
	put_u16(SMC_NLA_LGR_R_VLAN, 1234);
	put_u8(SMC_NLA_LGR_R_LINKS, 2);
	put_u8(SMC_NLA_LGR_R_VERSION, 2);
	put_u8(SMC_NLA_LGR_R_DIALECT, 1);
	put(SMC_NLA_LGR_R_PEER_ID, peer_id, sizeof(peer_id));
	put(SMC_NLA_LGR_R_PEER_ADDR, v4, sizeof(v4));
	put_counts(SMC_NLA_LGR_R_COUNTS, 1000);
	close_nest(outer);
	if (cmd != SMC_NETLINK_EVENT_LINK_UP)
		end();
}

static void put_group(uint8_t cmd)
{
	put_group_of(cmd, 7);
}

static void put_link_nest(int id)
{
	size_t outer = open_nest(SMC_GEN_LINK_SMCR);

	put_u8(SMC_NLA_LINK_ID, id);
	put_text(SMC_NLA_LINK_IB_DEV, "mlx5_0");
	put_u8(SMC_NLA_LINK_IB_PORT, 1);
	put_text(SMC_NLA_LINK_PEER_GID, "fe80::7");
	put_u32(SMC_NLA_LINK_CONN_CNT, 2);
	put_u32(SMC_NLA_LINK_UID, htonl(0x0a0b0c0d));
	put_u32(SMC_NLA_LINK_STATE, id == 9 ? 99 : SMC_LINK_IS_ACTIVE);
	put_u32(SMC_NLA_LINK_LGR_ID, 0x00112a3f);
	put_u32(SMC_NLA_LINK_MTU, 4096);
	put_counts(SMC_NLA_LINK_COUNTS, 1ULL << 40);
	close_nest(outer);
}

static void put_link(int id)
{
	begin(FAMILY_ID, SMC_NETLINK_GET_LINK_SMCR);
	put_link_nest(id);
	end();
}

static void put_device(void)
{
	size_t outer, port;

	begin(FAMILY_ID, SMC_NETLINK_GET_DEV_SMCR);
	outer = open_nest(SMC_GEN_DEV_SMCR);
	put_u8(SMC_NLA_DEV_IS_CRIT, 1);
	put_text(SMC_NLA_DEV_PCI_ID, "0000:01:00.0");
	port = open_nest(SMC_NLA_DEV_PORT);
	put_u32(SMC_NLA_DEV_PORT_NETDEV, 1);
	put_u8(SMC_NLA_DEV_PORT_STATE, 1);
	put_u32(SMC_NLA_DEV_PORT_LNK_CNT, 5);
	close_nest(port);
	put_text(SMC_NLA_DEV_IB_NAME, "mlx5_0");
	put_counts(SMC_NLA_DEV_COUNTS, 3000);
	close_nest(outer);
	end();
}

static void put_unfit(void)
{
	size_t outer, port;

	begin(FAMILY_ID, SMC_NETLINK_DUMP_UNFIT);
	outer = open_nest(SMC_GEN_DEV_SMCR);
	put_u8(SMC_NLA_DEV_IS_CRIT, 0);
	put_text(SMC_NLA_DEV_PCI_ID, "");
	put_text(SMC_NLA_DEV_IB_NAME, "siw0");
	put_text(SMC_NLA_DEV_UNFIT, "it speaks iWARP, not RoCE");
	port = open_nest(SMC_NLA_DEV_PORT);
	put_u32(SMC_NLA_DEV_PORT_NETDEV, 1);
	if (getenv("FAKE_LINKS"))
		put_u32(SMC_NLA_DEV_PORT_LNK_CNT, atoi(getenv("FAKE_LINKS")));
	close_nest(port);
	close_nest(outer);
	end();
}

static void put_reason(uint8_t role, uint32_t reason, uint64_t count)
{
	size_t outer;

	begin(FAMILY_ID, SMC_NETLINK_GET_FBACK_STATS);
	outer = open_nest(SMC_GEN_FBACK_STATS);
	put_u8(SMC_NLA_FBACK_STATS_TYPE, role);
	put_u32(SMC_NLA_FBACK_STATS_RSN_CODE, reason);
	put_u16(SMC_NLA_FBACK_STATS_RSN_CNT, count > 65535 ? 65535 : count);
	put_u64(SMC_NLA_FBACK_STATS_RSN_TOTAL, count);
	close_nest(outer);
	end();
}

static void put_stats(void)
{
	size_t outer, smcr, sizes;

	begin(FAMILY_ID, SMC_NETLINK_GET_STATS);
	outer = open_nest(SMC_GEN_STATS);
	smcr = open_nest(SMC_NLA_STATS_SMCR_TECH);
	sizes = open_nest(SMC_NLA_STATS_T_TXPLOAD_SIZE);
	put_u64(SMC_NLA_STATS_PLOAD_8K, 17);
	put_u64(SMC_NLA_STATS_PLOAD_16K, 0);
	close_nest(sizes);
	put_u64(SMC_NLA_STATS_T_CLNT_V2_SUCC, 4);
	close_nest(smcr);
	close_nest(outer);
	end();
}

static void put_counters(void)
{
	FILE *file = getenv("FAKE_STATS") ? fopen(getenv("FAKE_STATS"), "r") : NULL;
	unsigned long long value;
	char name[64];
	size_t outer;

	while (file && fscanf(file, "%63s %llu", name, &value) == 2) {
		begin(FAMILY_ID, SMC_NETLINK_DUMP_COUNTERS);
		outer = open_nest(SMC_GEN_COUNTER);
		put_text(SMC_NLA_COUNTER_NAME, name);
		put_u64(SMC_NLA_COUNTER_VALUE, value);
		close_nest(outer);
		end();
	}
	if (file)
		fclose(file);
}

static uint64_t number(const char *name)
{
	const char *text = getenv(name);

	return text ? strtoull(text, NULL, 10) : 0;
}

static struct smc_diag_filter wanted;	/* zero: all sockets */

/* One socket for each mode: 10.0.0.1:80 to 10.0.0.2:4000 */
static void put_socket(uint8_t state, uint8_t mode, uint8_t role)
{
	bool is_filtered = wanted.modes && !getenv("FAKE_NO_FILTER");
	struct nlmsghdr head = { .nlmsg_type = SOCK_DIAG_BY_FAMILY,
				 .nlmsg_flags = NLM_F_MULTI |
						(is_filtered ? NLM_F_DUMP_FILTERED : 0),
				 .nlmsg_seq = request.nlmsg_seq, .nlmsg_pid = request.nlmsg_pid };
	struct smc_diag_msg sock = { .family = 43, .state = state, .mode = mode };
	struct smc_diag_conninfo conn = { .token = role, .peer_rmbe_size = 65536,
					  .tx_sent = { .count = 100 } };
	struct smc_diag_lgrinfo link = { .link_id = 1, .role = role, .ibname = "mlx5_0",
					 .ibport = 1 };
	struct smc_diag_dmbinfo dmb = { .linkid = SMC_DIAG_LINKID_LOOPBACK, .my_gid = 1,
					.peer_gid = number("FAKE_NETNS"), .token = 7 };
	struct smc_diag_pairinfo pair = { .peer_inode = number("FAKE_INODE"), .role = role,
					  .peer_token = number("FAKE_PEER") };

	if (is_filtered && !(wanted.modes & 1 << mode && wanted.states & 1 << state))
		return;
	sock.id.idiag_src[0] = htonl(0x0a000001);
	sock.id.idiag_dst[0] = htonl(0x0a000002);
	sock.id.idiag_sport = htons(80);
	sock.id.idiag_dport = htons(4000);
	message = answer_len;
	put_bytes(&head, sizeof(head));
	put_bytes(&sock, sizeof(sock));
	if (mode == SMC_DIAG_MODE_SMCR && state == SMC_DIAG_ST_ACTIVE) {
		put(SMC_DIAG_CONNINFO, &conn, sizeof(conn));
		put(SMC_DIAG_LGRINFO, &link, sizeof(link));
		if (getenv("FAKE_MARK"))
			put(number("FAKE_MARK"), "", 0);
	}
	if (mode == SMC_DIAG_MODE_SMCD) {
		put(SMC_DIAG_CONNINFO, &conn, sizeof(conn));
		put(SMC_DIAG_DMBINFO, &dmb, sizeof(dmb));
		put(SMC_DIAG_PAIRINFO, &pair, sizeof(pair));
	}
	end();
}

static void put_sockets(const struct nlmsghdr *head)
{
	const struct nlattr *attr = (const void *)((const char *)(head + 1) +
						   sizeof(struct smc_diag_req));
	FILE *log = getenv("FAKE_LOG") ? fopen(getenv("FAKE_LOG"), "a") : NULL;
	char peer[INET6_ADDRSTRLEN];

	memset(&wanted, 0, sizeof(wanted));
	if ((const char *)attr < (const char *)head + head->nlmsg_len)
		memcpy(&wanted, attr + 1, sizeof(wanted));
	if (log && wanted.modes)
		fprintf(log, "%d: %s/%u %u-%u\n", attr->nla_type,
			inet_ntop(AF_INET6, wanted.peer, peer, sizeof(peer)), wanted.prefix,
			wanted.port_first, wanted.port_last);
	if (log)
		fclose(log);
	put_socket(SMC_DIAG_ST_LISTEN, SMC_DIAG_MODE_SMCR, 0);
	put_socket(SMC_DIAG_ST_ACTIVE, SMC_DIAG_MODE_SMCR, 0);
	put_socket(SMC_DIAG_ST_ACTIVE, SMC_DIAG_MODE_SMCR, 1);
	put_socket(SMC_DIAG_ST_ACTIVE, SMC_DIAG_MODE_SMCR, 1);
	put_socket(SMC_DIAG_ST_ACTIVE, SMC_DIAG_MODE_FALLBACK_TCP, 0);
	put_socket(SMC_DIAG_ST_ACTIVE, SMC_DIAG_MODE_SMCD, 1);
	put_done();
}

static void put_pfc(void)
{
	struct nlmsghdr head = { .nlmsg_type = RTM_GETDCB, .nlmsg_seq = request.nlmsg_seq,
				 .nlmsg_pid = request.nlmsg_pid };
	struct dcbmsg dcb = { .cmd = DCB_CMD_IEEE_GET };
	struct ieee_pfc pfc = { .pfc_cap = 8, .pfc_en = number("FAKE_PFC") };
	size_t outer;

	message = answer_len;
	put_bytes(&head, sizeof(head));
	put_bytes(&dcb, sizeof(dcb));
	outer = open_nest(DCB_ATTR_IEEE);
	put(DCB_ATTR_IEEE_PFC, &pfc, sizeof(pfc));
	close_nest(outer);
	end();
}

/* The answer of the RDMA subsystem, with IB_DEVICE_MEM_MGT_EXTENSIONS or without */
static void put_rdma(void)
{
	struct nlmsghdr head = { .nlmsg_type = RDMA_ID, .nlmsg_flags = NLM_F_MULTI,
				 .nlmsg_seq = request.nlmsg_seq, .nlmsg_pid = request.nlmsg_pid };
	char *names = strdup(getenv("FAKE_RDMA") ? getenv("FAKE_RDMA") : ""), *name;

	for (name = strtok(names, " "); name; name = strtok(NULL, " ")) {
		message = answer_len;
		put_bytes(&head, sizeof(head));
		put_text(RDMA_NLDEV_ATTR_DEV_NAME, name + (*name == '-'));
		put_u64(RDMA_NLDEV_ATTR_CAP_FLAGS, *name == '-' ? 0 : 1 << 21);
		end();
	}
	free(names);
	put_done();
}

static void put_pnet(const char *name, const char *eth, const char *ib, uint8_t port)
{
	begin(FAMILY_ID, SMC_PNETID_GET);
	put_text(SMC_PNETID_NAME, name);
	put_text(SMC_PNETID_ETHNAME, eth);
	put_text(SMC_PNETID_IBNAME, ib);
	put_u8(SMC_PNETID_IBPORT, port);
	end();
}

static void put_end(void)
{
	static const uint8_t v6[16] = { 0x20, 1, [15] = 1 };
	size_t outer;

	begin(FAMILY_ID, SMC_NETLINK_EVENT_CONN_END);
	outer = open_nest(SMC_GEN_EVENT);
	put_u64(SMC_NLA_EVENT_TIME, 1700000000123456789ULL);
	put_u8(SMC_NLA_EVENT_ROLE, 1);
	put(SMC_NLA_EVENT_PEER_ADDR, v6, sizeof(v6));
	put_u16(SMC_NLA_EVENT_PEER_PORT, 443);
	put_u8(SMC_NLA_EVENT_MODE, SMC_DIAG_MODE_SMCD);
	put_u64(SMC_NLA_EVENT_TX_BYTES, 1000);
	put_u64(SMC_NLA_EVENT_RX_BYTES, 5000000000);
	put_u64(SMC_NLA_EVENT_DURATION_MS, 61007);
	put_u64(SMC_NLA_EVENT_CGROUP, 1);
	close_nest(outer);
	end();
}

static void put_events(void)
{
	static const uint8_t v6[16] = { 0x20, 1, [15] = 1 };
	size_t outer;

	put_group(SMC_NETLINK_EVENT_LINK_UP);
	put_link_nest(1);
	outer = open_nest(SMC_GEN_EVENT);
	put_u64(SMC_NLA_EVENT_TIME, 1700000000123456789ULL);
	close_nest(outer);
	end();
	begin(FAMILY_ID, SMC_NETLINK_EVENT_TCP);
	outer = open_nest(SMC_GEN_EVENT);
	put_u64(SMC_NLA_EVENT_TIME, 1700000001000000000ULL);
	put_text(SMC_NLA_EVENT_TEXT, "the peer does not speak SMC");
	put_u32(SMC_NLA_EVENT_REASON, 0x03010000);
	put_u8(SMC_NLA_EVENT_ROLE, 0);
	put(SMC_NLA_EVENT_PEER_ADDR, v6, sizeof(v6));
	put_u16(SMC_NLA_EVENT_PEER_PORT, 443);
	close_nest(outer);
	end();
}

/* tcp connect port 80-90 peer 10.1.0.0/16 uid 1000, and one that matches all */
static void put_ueid(const char *name)
{
	char eid[SMC_MAX_EID_LEN + 1];

	snprintf(eid, sizeof(eid), "%-*s", SMC_MAX_EID_LEN, name);
	begin(FAMILY_ID, SMC_NETLINK_DUMP_UEID);
	put_text(SMC_NLA_EID_TABLE_ENTRY, eid);
	end();
}

static void put_policy(void)
{
	static const uint8_t net[16] = { [10] = 0xff, 0xff, 10, 1 };

	begin(FAMILY_ID, SMC_NETLINK_DUMP_POLICY);
	put_u32(SMC_NLA_POLICY_ID, 3);
	put_u8(SMC_NLA_POLICY_ACTION, 1);
	put_u8(SMC_NLA_POLICY_ROLE, 0);
	put_u16(SMC_NLA_POLICY_PORT_FIRST, 80);
	put_u16(SMC_NLA_POLICY_PORT_LAST, 90);
	put(SMC_NLA_POLICY_PEER_ADDR, net, sizeof(net));
	put_u8(SMC_NLA_POLICY_PREFIX, 112);
	put_u32(SMC_NLA_POLICY_UID, 1000);
	put_u64(SMC_NLA_POLICY_HITS, 5);
	end();
	begin(FAMILY_ID, SMC_NETLINK_DUMP_POLICY);
	put_u32(SMC_NLA_POLICY_ID, 4);
	put_u8(SMC_NLA_POLICY_ACTION, !!getenv("FAKE_TCP"));
	put_u64(SMC_NLA_POLICY_HITS, 0);
	end();
}

static void put_memory(uint8_t cmd)
{
	static const uint8_t peer[16] = { [10] = 0xff, 0xff, 192, 0, 2, 7 };
	size_t outer;

	begin(FAMILY_ID, cmd);
	outer = open_nest(SMC_GEN_EVENT);
	if (cmd == SMC_NETLINK_DUMP_HISTORY)
		put_u64(SMC_NLA_EVENT_TIME, 1700000000123456789ULL);
	put_u32(SMC_NLA_EVENT_REASON, 0x03030002);
	put_text(SMC_NLA_EVENT_TEXT, "no RDMA device");
	put(SMC_NLA_EVENT_PEER_ADDR, peer, sizeof(peer));
	put_u32(SMC_NLA_EVENT_AGE_MS, 1500);
	if (cmd == SMC_NETLINK_DUMP_PEERS) {
		put_u32(SMC_NLA_EVENT_MS, 8500);
		put_u8(SMC_NLA_EVENT_FAILURE, 1);
	}
	close_nest(outer);
	end();
}

/* The command 1 means two things, by the family; a test asks only one of them. */
static void put_dump(uint8_t cmd)
{
	bool is_pnet = getenv("FAKE_PNET");

	if (is_pnet && cmd == SMC_PNETID_GET) {
		put_pnet("NET1", "eth0", "n/a", 255);
		put_pnet("NET1", "n/a", "mlx5_0", 2);
	} else if (cmd == SMC_NETLINK_GET_LGR_SMCR) {
		put_group(cmd);
	} else if (cmd == SMC_NETLINK_GET_LINK_SMCR) {
		put_group(SMC_NETLINK_GET_LGR_SMCR);
		put_link(1);
		put_link(9);
		if (getenv("FAKE_PEERS")) {
			put_group(SMC_NETLINK_GET_LGR_SMCR);
			put_group_of(SMC_NETLINK_GET_LGR_SMCR, 6);
		}
	} else if (cmd == SMC_NETLINK_GET_DEV_SMCR) {
		put_device();
	} else if (cmd == SMC_NETLINK_DUMP_UNFIT) {
		put_unfit();
	} else if (cmd == SMC_NETLINK_GET_STATS) {
		put_stats();
	} else if (cmd == SMC_NETLINK_DUMP_COUNTERS) {
		put_counters();
	} else if (cmd == SMC_NETLINK_GET_FBACK_STATS) {
		put_reason(0, 0x03010000, 70000);
		put_reason(1, 0x05000000, 2);
	} else if (cmd == SMC_NETLINK_DUMP_UEID && getenv("FAKE_UEID")) {
		put_ueid("RACK.1");
		put_ueid("RACK.2");
	} else if (cmd == SMC_NETLINK_DUMP_POLICY) {
		put_policy();
	} else if (cmd == SMC_NETLINK_DUMP_HISTORY || cmd == SMC_NETLINK_DUMP_PEERS) {
		put_memory(cmd);
	}
	put_done();
}

static void note(uint8_t cmd, const struct nlattr *attr, size_t len)
{
	FILE *log = getenv("FAKE_LOG") ? fopen(getenv("FAKE_LOG"), "a") : NULL;

	if (!log)
		return;
	fprintf(log, "%u", cmd);
	while (len >= sizeof(*attr) && attr->nla_len >= sizeof(*attr) && attr->nla_len <= len) {
		const char *data = (const char *)(attr + 1);
		size_t step = (attr->nla_len + 3) & ~3;

		if (attr->nla_len == sizeof(*attr) + 1)
			fprintf(log, " %u=%u", attr->nla_type, *(const uint8_t *)data);
		else if (attr->nla_len == sizeof(*attr) + 2)
			fprintf(log, " %u=%u", attr->nla_type, *(const uint16_t *)data);
		else if (attr->nla_len == sizeof(*attr) + 4 && cmd >= SMC_NETLINK_DUMP_POLICY)
			fprintf(log, " %u=%u", attr->nla_type, *(const uint32_t *)data);
		else
			fprintf(log, " %u=%s", attr->nla_type, data);
		attr = (const struct nlattr *)((const char *)attr + step);
		len -= step < len ? step : len;
	}
	fputc('\n', log);
	fclose(log);
}

ssize_t sendmsg(int fd, const struct msghdr *msg, int flags)
{
	sendmsg_fn next = (sendmsg_fn)dlsym(RTLD_NEXT, "sendmsg");
	const struct nlmsghdr *head = msg->msg_iov[0].iov_base;
	const struct genlmsghdr *genl = (const struct genlmsghdr *)(head + 1);
	const char *err = getenv("FAKE_ERROR");

	if (msg->msg_iov[0].iov_len < sizeof(*head) ||
	    (head->nlmsg_type != GENL_ID_CTRL && head->nlmsg_type != FAMILY_ID &&
	     head->nlmsg_type != SOCK_DIAG_BY_FAMILY && head->nlmsg_type != RDMA_ID &&
	     (head->nlmsg_type != RTM_GETDCB || !getenv("FAKE_PFC")))) {
		/* a number of one of ours may come again */
		if (fd == our_fd)
			our_fd = -1;
		return next(fd, msg, flags);
	}
	our_fd = fd;
	request = *head;
	answer_len = 0;
	answered = 0;
	if (head->nlmsg_type == GENL_ID_CTRL) {
		put_family();
		put_error(0, NULL);
	} else if (head->nlmsg_type == SOCK_DIAG_BY_FAMILY) {
		put_sockets(head);
	} else if (head->nlmsg_type == RTM_GETDCB) {
		put_pfc();
	} else if (head->nlmsg_type == RDMA_ID) {
		put_rdma();
	} else if (err) {
		put_error(atoi(err), getenv("FAKE_TEXT"));
	} else if (head->nlmsg_flags & NLM_F_DUMP) {
		put_dump(genl->cmd);
	} else {
		note(genl->cmd, (const struct nlattr *)(genl + 1),
		     head->nlmsg_len - sizeof(*head) - sizeof(*genl));
		if (genl->cmd == SMC_NETLINK_ADD_POLICY)
			put_ack(7);
		else
			put_error(0, NULL);
	}
	return head->nlmsg_len;
}

int ioctl(int fd, unsigned long what, ...)
{
	int on = number("FAKE_PAUSE");
	struct ethtool_pauseparam *pause;
	va_list args;
	void *arg;

	va_start(args, what);
	arg = va_arg(args, void *);
	va_end(args);
	pause = what == SIOCETHTOOL ? (void *)((struct ifreq *)arg)->ifr_data : NULL;
	if (!pause || !getenv("FAKE_PAUSE") || pause->cmd != ETHTOOL_GPAUSEPARAM)
		return ((int (*)(int, unsigned long, ...))dlsym(RTLD_NEXT, "ioctl"))(fd, what, arg);
	pause->rx_pause = on;
	pause->tx_pause = on;
	return 0;
}

/* A kernel without RDMA has no such protocol. */
int socket(int domain, int type, int protocol)
{
	if (domain == AF_NETLINK && protocol == NETLINK_RDMA)
		protocol = NETLINK_GENERIC;
	return ((int (*)(int, int, int))dlsym(RTLD_NEXT, "socket"))(domain, type, protocol);
}

/* A member of the group gets two events; then the messages end. */
int setsockopt(int fd, int level, int name, const void *value, socklen_t len)
{
	if (level == SOL_NETLINK && name == NETLINK_ADD_MEMBERSHIP) {
		memset(&request, 0, sizeof(request));
		our_fd = fd;
		answer_len = 0;
		answered = 0;
		if (*(const int *)value == ENDS_ID)
			put_end();
		else
			put_events();
		return 0;
	}
	return ((int (*)(int, int, int, const void *, socklen_t))dlsym(RTLD_NEXT, "setsockopt"))
		(fd, level, name, value, len);
}

/* Delivers one message after the other, each as a datagram, as the kernel may. */
ssize_t recvmsg(int fd, struct msghdr *msg, int flags)
{
	recvmsg_fn next = (recvmsg_fn)dlsym(RTLD_NEXT, "recvmsg");
	struct sockaddr_nl from = { .nl_family = AF_NETLINK };
	struct iovec *iov = msg->msg_iov;
	size_t whole, len;

	if (fd != our_fd)
		return next(fd, msg, flags);
	if (answered == answer_len) {
		errno = ENOBUFS;
		return -1;
	}
	whole = NLMSG_ALIGN(((struct nlmsghdr *)(answer + answered))->nlmsg_len);
	len = whole < iov->iov_len ? whole : iov->iov_len;
	memcpy(iov->iov_base, answer + answered, len);
	if (msg->msg_name)
		memcpy(msg->msg_name, &from, sizeof(from));
	msg->msg_namelen = sizeof(from);
	msg->msg_controllen = 0;
	msg->msg_flags = len < whole ? MSG_TRUNC : 0;
	if (!(flags & MSG_PEEK))
		answered += whole;
	return flags & MSG_TRUNC ? whole : len;
}
