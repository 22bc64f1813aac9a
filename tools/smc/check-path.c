// SPDX-License-Identifier: GPL-2.0
/*
 * smc check: what happens to the packets of RoCE at an interface: its MTU and flow control.
 */
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
