// SPDX-License-Identifier: GPL-2.0
/*
 * smc check: what happens to the packets of RoCE at an interface: its MTU, flow control, filters.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/dcbnl.h>
#include <linux/ethtool.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "check.h"

#define ROCE_MTU_LEAST	1100	/* the smallest useful MTU of RDMA, with headers */
#define CHAINS_MAX	1000	/* that are read from one hook on */

static int note_pfc(struct nl_msg *msg, void *arg)
{
	struct nlattr *tb[DCB_ATTR_MAX + 1], *in[DCB_ATTR_IEEE_MAX + 1];
	const struct nlattr *attr;

	if (nlmsg_parse(nlmsg_hdr(msg), sizeof(struct dcbmsg), tb, DCB_ATTR_MAX, NULL) ||
	    !tb[DCB_ATTR_IEEE] ||
	    nla_parse_nested(in, DCB_ATTR_IEEE_MAX, tb[DCB_ATTR_IEEE], NULL))
		return NL_SKIP;
	attr = in[DCB_ATTR_IEEE_PFC];
	if (attr && nla_len(attr) >= (int)sizeof(struct ieee_pfc))
		*(uint8_t *)arg = ((const struct ieee_pfc *)nla_data(attr))->pfc_en;
	return NL_OK;
}

/* The priorities with flow control, a bit for each; 0 where the driver does not say */
static uint8_t read_pfc(const char *interface)
{
	struct nl_msg *msg = nlmsg_alloc_simple(RTM_GETDCB, NLM_F_REQUEST);
	struct dcbmsg dcb = { .dcb_family = AF_UNSPEC, .cmd = DCB_CMD_IEEE_GET };
	uint8_t priorities = 0;

	if (msg && (nlmsg_append(msg, &dcb, sizeof(dcb), NLMSG_ALIGNTO) ||
		    nla_put_string(msg, DCB_ATTR_IFNAME, interface))) {
		nlmsg_free(msg);
		return 0;
	}
	netlink_ask(NETLINK_ROUTE, msg, note_pfc, &priorities);
	return priorities;
}

/* Packets are in priority 0 without a setting. The adapter knows what a DSCP means. */
static void check_pfc(struct check *check, uint8_t priorities)
{
	long sl = read_setting("rdma_sl"), tos = read_setting("rdma_tos");
	char list[24] = "", mend[128];
	size_t len = 0;
	int i;

	for (i = 0; i < 8; i++)
		if (priorities & 1 << i)
			len += snprintf(list + len, sizeof(list) - len, "%s%d", len ? ", " : "", i);
	snprintf(mend, sizeof(mend),
		 "sysctl net.smc.rdma_sl=%.1s, or net.smc.rdma_tos=N with N four times the DSCP",
		 list);
	verdict(check, priorities & 1 || sl || tos ? RIGHT : DOUBTFUL, "pause", mend,
		"%s has priority flow control for %s; net.smc.rdma_sl is %ld, net.smc.rdma_tos %ld",
		check->interface, list, sl, tos);
}

static void check_pause(struct check *check, int fd, struct ifreq *request)
{
	struct ethtool_pauseparam pause = { .cmd = ETHTOOL_GPAUSEPARAM };
	uint8_t priorities;
	char mend[128];

	request->ifr_data = (char *)&pause;
	if (ioctl(fd, SIOCETHTOOL, request)) {
		verdict(check, DOUBTFUL, "pause", "ask the owner of the network",
			"%s does not say whether pause frames are on", check->interface);
		return;
	}
	priorities = pause.rx_pause && pause.tx_pause ? 0 : read_pfc(check->interface);
	if (priorities) {
		check_pfc(check, priorities);
		return;
	}
	snprintf(mend, sizeof(mend), "ethtool -A %s rx on tx on; the same at the switch",
		 check->interface);
	verdict(check, pause.rx_pause && pause.tx_pause ? RIGHT : DOUBTFUL, "pause", mend,
		"pause frames of %s: receive %s, send %s", check->interface,
		pause.rx_pause ? "on" : "off", pause.tx_pause ? "on" : "off");
}

/**
 * check_interface() - tell the MTU of the interface, and whether its network drops packets
 * @check: with the interface
 */
void check_interface(struct check *check)
{
	struct ifreq request = { 0 };
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	char mend[64];

	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", check->interface);
	snprintf(mend, sizeof(mend), "ip link set %s mtu 1500", check->interface);
	if (!ioctl(fd, SIOCGIFMTU, &request))
		verdict(check, request.ifr_mtu < ROCE_MTU_LEAST ? DOUBTFUL : RIGHT, "MTU", mend,
			"%d on %s", request.ifr_mtu, check->interface);
	check_pause(check, fd, &request);
	close(fd);
}

/* What a chain of rules does with UDP port 4791, the worst last */
enum fate { PASSES, IS_ACCEPTED, MAY_DROP, IS_DROPPED };

static const char *line_after(const char *line)
{
	line += strcspn(line, "\n");
	return *line ? line + 1 : line;
}

/* A word or number of a line; neither a part of one. */
static const char *find_word(const char *line, const char *word)
{
	const char *end = line + strcspn(line, "\n");
	size_t len = strlen(word);
	const char *at = line;

	while ((at = memmem(at, end - at, word, len))) {
		if ((at == line || !isalnum((unsigned char)at[-1])) &&
		    !isalnum((unsigned char)at[len]) && at[len] != '_')
			return at;
		at += len;
	}
	return NULL;
}

/* The name behind jump or goto, or empty */
static void read_target(const char *line, char name[64])
{
	const char *at = find_word(line, "jump");

	if (!at)
		at = find_word(line, "goto");
	if (!at || sscanf(at, "%*s %63s", name) != 1)
		*name = '\0';
}

/* The first line in a chain of a table, NULL without such a chain */
static const char *find_chain(const char *table, const char *name)
{
	char head[80];
	const char *line;
	int len = snprintf(head, sizeof(head), "chain %s {", name);

	for (line = line_after(table); *line && *line != '}'; line = line_after(line))
		if (!strncmp(line + strspn(line, "\t "), head, len))
			return line_after(line);
	return NULL;
}

/* A rule that drops packets, and those of RoCE may be among them */
static bool may_drop(const char *line)
{
	return (find_word(line, "drop") || find_word(line, "reject")) &&
	       !find_word(line, "invalid") && !find_word(line, "tcp") &&
	       !find_word(line, "icmp") && !find_word(line, "icmpv6");
}

/* A rule for the port itself decides. @left: how many chains may still be read */
static enum fate read_chain(const char *table, const char *line, int depth, int *left)
{
	enum fate fate = PASSES, other;
	const char *next;
	char name[64];

	if (!line)
		return PASSES;
	if (depth > 16 || --*left < 0)
		return MAY_DROP;
	for (; *line && line[strspn(line, "\t ")] != '}'; line = line_after(line)) {
		if (find_word(line, "4791") && !find_word(line, "tcp"))
			return may_drop(line) ? IS_DROPPED : IS_ACCEPTED;
		if (may_drop(line))
			fate = MAY_DROP;
		read_target(line, name);
		next = *name ? find_chain(table, name) : NULL;
		other = read_chain(table, next, depth + 1, left);
		if (other == IS_ACCEPTED || other == IS_DROPPED)
			return other;
		if (other > fate)
			fate = other;
	}
	return fate;
}

/* Packets of this host pass all hooks but this one. */
static bool is_hook(const char *line)
{
	const char *hook = find_word(line, "hook");

	return hook && !find_word(line, "forward");
}

/* Prints the worst of all hooks. @rules: as nft lists them */
static void judge_filters(struct check *check, const char *rules)
{
	char family[16] = "", name[64] = "", chain[64] = "", mend[256], where[160] = "no rule";
	const char *line, *table = rules;
	enum fate worst = PASSES, fate;
	int left = CHAINS_MAX;

	for (line = rules; *line; line = line_after(line)) {
		if (sscanf(line, "table %15s %63s {", family, name) == 2)
			table = line;
		if (sscanf(line, " chain %63s {", chain) == 1)
			left = CHAINS_MAX;
		fate = is_hook(line) ? read_chain(table, line, 0, &left) : PASSES;
		if (fate <= worst)
			continue;
		worst = fate;
		snprintf(where, sizeof(where), "%s %s %s", family, name, chain);
	}
	snprintf(mend, sizeof(mend), "nft insert rule %s udp dport 4791 accept", where);
	verdict(check, worst == IS_DROPPED ? WRONG : worst == MAY_DROP ? DOUBTFUL : RIGHT,
		"UDP 4791", mend, worst == IS_DROPPED ? "%s drops it" :
		worst == MAY_DROP ? "%s drops packets, and has no rule for it" :
		worst == IS_ACCEPTED ? "%s accepts it" : "%s of this host drops it", where);
}

/**
 * check_filters() - tell whether the filters of this host let the packets of soft-RoCE pass
 * @check: the lines are printed
 *
 * Adapters pass by these filters.
 */
void check_filters(struct check *check)
{
	FILE *rules = popen("PATH=$PATH:/usr/sbin:/sbin nft list ruleset 2>/dev/null", "r");
	char *text = NULL, line[64];
	size_t size = 0;
	ssize_t len;

	len = rules ? getdelim(&text, &size, '\0', rules) : -1;
	if (!rules || pclose(rules))
		verdict(check, DOUBTFUL, "UDP 4791", "as root: smc check, with nft installed",
			"the filters of this host are not visible");
	else
		judge_filters(check, len > 0 ? text : "");
	free(text);
	if (read_line("/proc/net/ip_tables_names", line, sizeof(line)))
		verdict(check, DOUBTFUL, "UDP 4791",
			"iptables-legacy -I INPUT -p udp --dport 4791 -j ACCEPT",
			"iptables-legacy has rules, which nft does not show");
}
