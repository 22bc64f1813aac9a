// SPDX-License-Identifier: GPL-2.0
/*
 * smc groups and links: dumps of the module, by tables of fields; and the order to end a group or
 * link.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <netlink/attr.h>
#include <netlink/msg.h>

#include "smc.h"

static const char * const roles[] = { "client", "server" };

static const char * const kinds[] = {
	[SMC_LGR_NONE] = "none",
	[SMC_LGR_SINGLE] = "single",
	[SMC_LGR_SYMMETRIC] = "symmetric",
	[SMC_LGR_ASYMMETRIC_PEER] = "asymmetric-peer",
	[SMC_LGR_ASYMMETRIC_LOCAL] = "asymmetric-local",
};

static const char * const dialects[] = { "rfc", "deployed" };
static const char * const systems[] = { NULL, "z/OS", "Linux", "AIX" };

const char * const link_conditions[] = {
	[SMC_LINK_IS_UNUSED] = "unused",
	[SMC_LINK_IS_INACTIVE] = "inactive",
	[SMC_LINK_IS_ACTIVATING] = "activating",
	[SMC_LINK_IS_ACTIVE] = "active",
};

const struct field count_fields[] = {
	{ SMC_NLA_COUNT_TX_BYTES, "tx_bytes", .kind = FIELD_BYTE_COUNT },
	{ SMC_NLA_COUNT_RX_BYTES, "rx_bytes", .kind = FIELD_BYTE_COUNT },
	{ SMC_NLA_COUNT_TX_MSGS, "tx_messages" },
	{ SMC_NLA_COUNT_RX_MSGS, "rx_messages" },
	{ SMC_NLA_COUNT_RETRIES, "retries" },
	{ SMC_NLA_COUNT_TX_CLOSED, "tx_windows_closed" },
	{ SMC_NLA_COUNT_RX_CLOSED, "rx_windows_closed" },
	{ SMC_NLA_COUNT_SLOT_WAITS, "slot_waits" },
	{ SMC_NLA_COUNT_TX_ERRORS, "tx_errors" },
	{ SMC_NLA_COUNT_RX_ERRORS, "rx_errors" },
	{ SMC_NLA_COUNT_LEAKS, "leaks" },
	{ }
};

static const struct field version2[] = {
	{ SMC_NLA_LGR_V2_REL, "peer_release" },
	{ SMC_NLA_LGR_V2_OS, "peer_system", .kind = FIELD_NAME, .names = systems,
	  .nr_names = ARRAY_SIZE(systems) },
	{ SMC_NLA_LGR_V2_NEG_EID, "eid", .kind = FIELD_TEXT },
	{ SMC_NLA_LGR_V2_PEER_HOST, "peer_host", .kind = FIELD_TEXT },
	{ }
};

const struct field group_fields[] = {
	{ SMC_NLA_LGR_R_ID, "id", "GROUP", .kind = FIELD_HEX },
	{ SMC_NLA_LGR_R_ROLE, "role", "ROLE", .kind = FIELD_NAME, .names = roles,
	  .nr_names = ARRAY_SIZE(roles) },
	{ SMC_NLA_LGR_R_PEER_ADDR, "peer_address", "PEER", .kind = FIELD_ADDRESS },
	{ SMC_NLA_LGR_R_PEER_ID, "peer_id", .kind = FIELD_BYTES },
	{ SMC_NLA_LGR_R_VERSION, "version", "VER" },
	{ SMC_NLA_LGR_R_RELEASE, "release" },
	{ SMC_NLA_LGR_R_DIALECT, "dialect", .kind = FIELD_NAME, .names = dialects,
	  .nr_names = ARRAY_SIZE(dialects) },
	{ SMC_NLA_LGR_R_TYPE, "type", "TYPE", .kind = FIELD_NAME, .names = kinds,
	  .nr_names = ARRAY_SIZE(kinds) },
	{ SMC_NLA_LGR_R_LINKS, "links", "LINKS" },
	{ SMC_NLA_LGR_R_LINKS_MAX, "links_max" },
	{ SMC_NLA_LGR_R_CONNS_NUM, "connections", "CONNS" },
	{ SMC_NLA_LGR_R_CONNS_MAX, "connections_max" },
	{ SMC_NLA_LGR_R_VLAN, "vlan", "VLAN" },
	{ SMC_NLA_LGR_R_PNETID, "pnetid", "PNETID", .kind = FIELD_TEXT },
	{ SMC_NLA_LGR_R_IMMEDIATE, "immediate_data", .kind = FIELD_BOOL },
	{ SMC_NLA_LGR_R_NET_COOKIE, "net_cookie" },
	{ SMC_NLA_LGR_R_SNDBUF_ALLOC, "sndbuf_bytes", .kind = FIELD_BYTE_COUNT },
	{ SMC_NLA_LGR_R_SNDBUF_USED, "sndbuf_used_bytes", .kind = FIELD_BYTE_COUNT },
	{ SMC_NLA_LGR_R_RMB_ALLOC, "rmb_bytes", .kind = FIELD_BYTE_COUNT },
	{ SMC_NLA_LGR_R_RMB_USED, "rmb_used_bytes", .kind = FIELD_BYTE_COUNT },
	{ SMC_NLA_LGR_R_V2_COMMON, "version2", .kind = FIELD_NEST, .inner = version2 },
	COUNTS(SMC_NLA_LGR_R_COUNTS, "TX-BYTES", SMC_NLA_COUNT_TX_BYTES),
	COUNTS(SMC_NLA_LGR_R_COUNTS, "RX-BYTES", SMC_NLA_COUNT_RX_BYTES),
	{ SMC_NLA_LGR_R_COUNTS, "counts", .kind = FIELD_NEST, .inner = count_fields },
	{ }
};

/* Attributes of a peer, which only this file knows */
enum {
	PEER_ADDR = 1,
	PEER_ID,
	PEER_HOST,
	PEER_GID,
	PEER_GROUPS,
	PEER_LINKS,
	PEER_CONNS,
	PEER_COUNTS,
	PEER_MAX = PEER_COUNTS,
};

static const struct field peer_fields[] = {
	{ PEER_ADDR, "address", "PEER", .kind = FIELD_ADDRESS },
	{ PEER_ID, "id", "ID", .kind = FIELD_BYTES },
	{ PEER_HOST, "host", .kind = FIELD_TEXT },
	{ PEER_GID, "gid", .kind = FIELD_TEXT },
	{ PEER_GROUPS, "groups", "GROUPS" },
	{ PEER_LINKS, "links", "LINKS" },
	{ PEER_CONNS, "connections", "CONNS" },
	COUNTS(PEER_COUNTS, "TX-BYTES", SMC_NLA_COUNT_TX_BYTES),
	COUNTS(PEER_COUNTS, "RX-BYTES", SMC_NLA_COUNT_RX_BYTES),
	COUNTS(PEER_COUNTS, "RETRIES", SMC_NLA_COUNT_RETRIES),
	COUNTS(PEER_COUNTS, "TX-CLOSED", SMC_NLA_COUNT_TX_CLOSED),
	COUNTS(PEER_COUNTS, "TX-ERRORS", SMC_NLA_COUNT_TX_ERRORS),
	{ PEER_COUNTS, "counts", .kind = FIELD_NEST, .inner = count_fields },
	{ }
};

const struct field link_fields[] = {
	{ SMC_NLA_LINK_LGR_ID, "group", "GROUP", .kind = FIELD_HEX },
	{ SMC_NLA_LINK_ID, "id", "LINK" },
	{ SMC_NLA_LINK_STATE, "state", "STATE", .kind = FIELD_NAME, .names = link_conditions,
	  .nr_names = LINK_CONDITIONS },
	{ SMC_NLA_LINK_IB_DEV, "device", "DEVICE", .kind = FIELD_TEXT },
	{ SMC_NLA_LINK_IB_PORT, "port", "PORT" },
	{ SMC_NLA_LINK_NET_DEV, "interface", "INTERFACE", .kind = FIELD_INTERFACE },
	{ SMC_NLA_LINK_CONN_CNT, "connections", "CONNS" },
	{ SMC_NLA_LINK_GID, "gid", .kind = FIELD_TEXT },
	{ SMC_NLA_LINK_PEER_GID, "peer_gid", .kind = FIELD_TEXT },
	{ SMC_NLA_LINK_UID, "user_id", .kind = FIELD_WIRE },
	{ SMC_NLA_LINK_PEER_UID, "peer_user_id", .kind = FIELD_WIRE },
	{ SMC_NLA_LINK_QPN, "qpn" },
	{ SMC_NLA_LINK_PEER_QPN, "peer_qpn" },
	{ SMC_NLA_LINK_MTU, "mtu", "MTU" },
	COUNTS(SMC_NLA_LINK_COUNTS, "TX-BYTES", SMC_NLA_COUNT_TX_BYTES),
	COUNTS(SMC_NLA_LINK_COUNTS, "RX-BYTES", SMC_NLA_COUNT_RX_BYTES),
	COUNTS(SMC_NLA_LINK_COUNTS, "TX-MESSAGES", SMC_NLA_COUNT_TX_MSGS),
	COUNTS(SMC_NLA_LINK_COUNTS, "RX-MESSAGES", SMC_NLA_COUNT_RX_MSGS),
	{ SMC_NLA_LINK_COUNTS, "counts", .kind = FIELD_NEST, .inner = count_fields },
	{ }
};

static const char *end_error(int cmd, int err)
{
	(void)cmd;
	return err == -ENOENT ? "there is no such active group or link" : NULL;
}

/**
 * link_end() - end a link in good order
 * @group: its group
 * @link: its number, or 0 for the whole group
 * @explain: as for genl_ask()
 *
 * Return: 0, or -errno, after a message unless @explain is silent.
 */
int link_end(uint32_t group, uint8_t link, const char *(*explain)(int cmd, int err))
{
	const struct genl_attr attrs[] = {
		{ .type = SMC_NLA_LINK_LGR_ID, .data = &group, .len = sizeof(group) },
		{ .type = link ? SMC_NLA_LINK_ID : 0, .number = link }, { }
	};

	return genl_ask(SMC_GENL_FAMILY_NAME, SMC_NETLINK_END_LINK, attrs, NULL, NULL, explain);
}

/* Ends a link, or without its number the group. */
static int end_link(const char *group, const char *link)
{
	uint64_t number = 0;
	char *end;
	uint32_t id = strtoul(group, &end, 16);

	if (!*group || *end || strlen(group) > 8)
		return wrong("\"%s\" is no number of a group; `smc groups` shows them", group);
	if (link && (!number_read(link, '\0', UINT8_MAX, &number) || !number))
		return wrong("\"%s\" is no number of a link; `smc links` shows them", link);
	return link_end(id, number, end_error) ? EXIT_FAILURE : 0;
}

/* Shows, or ends what NR words behind "del" name. */
static int show_or_end(const struct args *args, int nr, const char *names, struct dump dump)
{
	const char *what = args->nr_words ? args->words[0] : "show";

	if (!strcmp(what, "del"))
		return args->nr_words == nr + 1 ?
		       end_link(args->words[1], nr > 1 ? args->words[2] : NULL) :
		       wrong("del takes %s", names);
	if (strcmp(what, "show"))
		return wrong("\"%s\" is neither show nor del", what);
	if (args->nr_words > 1)
		return wrong("show takes no argument \"%s\"", args->words[1]);
	return dump_print(&dump, args);
}

/**
 * cmd_groups() - list the link groups of this host, or end one
 * @args: the words say what; option j for JSON
 *
 * Return: exit status.
 */
int cmd_groups(const struct args *args)
{
	return show_or_end(args, 1, "a group",
			   (struct dump){ "groups", SMC_NETLINK_GET_LGR_SMCR, SMC_GEN_LGR_SMCR,
					  group_fields });
}

/**
 * cmd_links() - list the links of all groups, or end one
 * @args: the words say what; option j for JSON
 *
 * Return: exit status.
 */
int cmd_links(const struct args *args)
{
	return show_or_end(args, 2, "a group and a link",
			   (struct dump){ "links", SMC_NETLINK_GET_LINK_SMCR, SMC_GEN_LINK_SMCR,
					  link_fields });
}

/* A peer is a peer ID at a TCP address. */
struct peer {
	uint8_t addr[16];
	uint8_t id[8];
	char host[64];
	char gid[64];			/* of one of its RNICs */
	uint32_t groups, links, connections;
	uint64_t counts[SMC_NLA_COUNT_MAX];
};

struct peers {
	size_t nr;
	struct peer *last;		/* of the group that was read last */
	struct peer peer[LINKS_MAX];
};

static struct peer *find_peer(struct peers *peers, const struct nlattr *addr,
			      const struct nlattr *id)
{
	struct peer *peer = peers->peer;

	for (; peer < peers->peer + peers->nr; peer++)
		if (!memcmp(peer->addr, nla_data(addr), sizeof(peer->addr)) &&
		    !memcmp(peer->id, nla_data(id), sizeof(peer->id)))
			return peer;
	if (peers->nr == ARRAY_SIZE(peers->peer))
		return NULL;
	memcpy(peer->addr, nla_data(addr), sizeof(peer->addr));
	memcpy(peer->id, nla_data(id), sizeof(peer->id));
	peers->nr++;
	return peer;
}

/* Adds a group to its peer. */
static void add_group(struct peers *peers, const struct nlattr *nest)
{
	struct nlattr *in[FIELD_MAX + 1] = { 0 }, *v2[SMC_NLA_LGR_V2_MAX + 1] = { 0 };
	struct peer *peer;
	int i;

	peers->last = NULL;
	if (nla_parse_nested(in, FIELD_MAX, (struct nlattr *)nest, NULL) < 0 ||
	    !in[SMC_NLA_LGR_R_PEER_ADDR] || nla_len(in[SMC_NLA_LGR_R_PEER_ADDR]) != 16 ||
	    !in[SMC_NLA_LGR_R_PEER_ID] || nla_len(in[SMC_NLA_LGR_R_PEER_ID]) != 8)
		return;
	peer = find_peer(peers, in[SMC_NLA_LGR_R_PEER_ADDR], in[SMC_NLA_LGR_R_PEER_ID]);
	peers->last = peer;
	if (!peer)
		return;
	peer->groups++;
	peer->links += fields_number(nest, SMC_NLA_LGR_R_LINKS);
	peer->connections += fields_number(nest, SMC_NLA_LGR_R_CONNS_NUM);
	for (i = 1; i < SMC_NLA_COUNT_MAX; i++)
		peer->counts[i] += fields_number(in[SMC_NLA_LGR_R_COUNTS], i);
	if (!*peer->host && in[SMC_NLA_LGR_R_V2_COMMON] &&
	    nla_parse_nested(v2, SMC_NLA_LGR_V2_MAX, in[SMC_NLA_LGR_R_V2_COMMON], NULL) >= 0 &&
	    v2[SMC_NLA_LGR_V2_PEER_HOST])
		nla_strlcpy(peer->host, v2[SMC_NLA_LGR_V2_PEER_HOST], sizeof(peer->host));
}

/* A group comes before its links, which have the GIDs. */
static int add_to_peer(int cmd, struct nlattr **tb, void *arg)
{
	struct nlattr *in[FIELD_MAX + 1] = { 0 };
	struct peers *peers = arg;

	(void)cmd;
	if (tb[SMC_GEN_LGR_SMCR])
		add_group(peers, tb[SMC_GEN_LGR_SMCR]);
	if (tb[SMC_GEN_LINK_SMCR] && peers->last && !*peers->last->gid &&
	    nla_parse_nested(in, FIELD_MAX, tb[SMC_GEN_LINK_SMCR], NULL) >= 0 &&
	    in[SMC_NLA_LINK_PEER_GID])
		nla_strlcpy(peers->last->gid, in[SMC_NLA_LINK_PEER_GID],
			    sizeof(peers->last->gid));
	return 0;
}

static int compare_peers(const void *a, const void *b)
{
	const struct peer *one = a, *other = b;
	int order = memcmp(one->addr, other->addr, sizeof(one->addr));

	return order ? order : memcmp(one->id, other->id, sizeof(one->id));
}

/* Attributes are what tables of fields print. Return: false without memory */
static bool print_peer(const struct peer *peer, struct output *out)
{
	struct nl_msg *msg = nlmsg_alloc();
	struct nlattr *tb[PEER_MAX + 1], *nest;
	bool is_put;
	int i;

	is_put = msg && !nla_put(msg, PEER_ADDR, sizeof(peer->addr), peer->addr) &&
		 !nla_put(msg, PEER_ID, sizeof(peer->id), peer->id) &&
		 !nla_put_string(msg, PEER_HOST, peer->host) &&
		 !nla_put_string(msg, PEER_GID, peer->gid) &&
		 !nla_put_u32(msg, PEER_GROUPS, peer->groups) &&
		 !nla_put_u32(msg, PEER_LINKS, peer->links) &&
		 !nla_put_u32(msg, PEER_CONNS, peer->connections);
	nest = is_put ? nla_nest_start(msg, PEER_COUNTS) : NULL;
	is_put = nest;
	for (i = 1; is_put && i < SMC_NLA_COUNT_MAX; i++)
		is_put = !nla_put_u64(msg, i, peer->counts[i]);
	if (is_put) {
		nla_nest_end(msg, nest);
		nlmsg_parse(nlmsg_hdr(msg), 0, tb, PEER_MAX, NULL);
		output_add(out, peer_fields, tb);
	}
	nlmsg_free(msg);
	return is_put;
}

/**
 * peer_stats() - list the peers with sums over their groups, in both roles
 * @args: option j for JSON, h for bytes in units
 *
 * Return: exit status.
 */
int peer_stats(const struct args *args)
{
	static struct peers peers;
	struct output out;
	int err;
	size_t i;

	err = genl_ask(SMC_GENL_FAMILY_NAME, SMC_NETLINK_GET_LINK_SMCR, NULL, add_to_peer, &peers,
		       NULL);
	qsort(peers.peer, peers.nr, sizeof(peers.peer[0]), compare_peers);
	output_begin(&out, args, "peers", peer_fields);
	for (i = 0; !err && i < peers.nr; i++)
		err = !print_peer(&peers.peer[i], &out);
	return output_end(&out, err);
}

static int add_link(int cmd, struct nlattr **tb, void *arg)
{
	struct links *links = arg;
	struct nlattr *in[FIELD_MAX + 1] = { 0 };
	struct link *link = &links->link[links->nr];
	int i;

	(void)cmd;
	if (!tb[SMC_GEN_LINK_SMCR] || links->nr == LINKS_MAX ||
	    nla_parse_nested(in, FIELD_MAX, tb[SMC_GEN_LINK_SMCR], NULL) < 0)
		return 0;
	link->group = fields_number(tb[SMC_GEN_LINK_SMCR], SMC_NLA_LINK_LGR_ID);
	link->id = fields_number(tb[SMC_GEN_LINK_SMCR], SMC_NLA_LINK_ID);
	link->user_id = ntohl(fields_number(tb[SMC_GEN_LINK_SMCR], SMC_NLA_LINK_UID));
	link->mtu = fields_number(tb[SMC_GEN_LINK_SMCR], SMC_NLA_LINK_MTU);
	link->connections = fields_number(tb[SMC_GEN_LINK_SMCR], SMC_NLA_LINK_CONN_CNT);
	link->is_active = fields_number(tb[SMC_GEN_LINK_SMCR], SMC_NLA_LINK_STATE) ==
			  SMC_LINK_IS_ACTIVE;
	if (in[SMC_NLA_LINK_IB_DEV])
		nla_strlcpy(link->device, in[SMC_NLA_LINK_IB_DEV], sizeof(link->device));
	for (i = 1; i <= SMC_NLA_COUNT_MAX; i++)
		link->counts[i] = fields_number(in[SMC_NLA_LINK_COUNTS], i);
	links->nr++;
	return 0;
}

/**
 * links_read() - read the links of all groups
 * @links: filled; links beyond its size are left out
 *
 * Return: 0, or -errno after a message.
 */
int links_read(struct links *links)
{
	memset(links, 0, sizeof(*links));
	return genl_ask(SMC_GENL_FAMILY_NAME, SMC_NETLINK_GET_LINK_SMCR, NULL, add_link, links,
			NULL);
}
