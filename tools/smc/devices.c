// SPDX-License-Identifier: GPL-2.0
/*
 * smc devices: the RDMA devices, why one does not serve, and the orders to stop and start one.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <netlink/attr.h>

#include "smc.h"

#define STOP_MAX	60		/* seconds for links to end, ample with peers that answer */
#define WAIT_MAX	(24 * 3600)
#define LOOK_US		200000		/* between two looks */

static const char * const port_states[] = { "down", "active" };

static const struct field port_fields[] = {
	{ SMC_NLA_DEV_PORT_STATE, "state", .kind = FIELD_NAME, .names = port_states,
	  .nr_names = ARRAY_SIZE(port_states) },
	{ SMC_NLA_DEV_PORT_NETDEV, "interface", .kind = FIELD_INTERFACE },
	{ SMC_NLA_DEV_PORT_PNETID, "pnetid", .kind = FIELD_TEXT },
	{ SMC_NLA_DEV_PORT_PNET_USR, "is_pnetid_set_by_user", .kind = FIELD_BOOL },
	{ SMC_NLA_DEV_PORT_LNK_CNT, "links" },
	{ }
};

#define PORT(attribute, title_, column_) \
	{ attribute, "port", title_, .kind = FIELD_NEST, .inner = port_fields, .column = column_ }

static const struct field device_fields[] = {
	{ SMC_NLA_DEV_IB_NAME, "name", "DEVICE", .kind = FIELD_TEXT },
	{ SMC_NLA_DEV_PCI_ID, "pci", "PCI", .kind = FIELD_TEXT },
	{ SMC_NLA_DEV_IS_CRIT, "is_critical", "CRITICAL", .kind = FIELD_BOOL },
	PORT(SMC_NLA_DEV_PORT, "LINKS-1", SMC_NLA_DEV_PORT_LNK_CNT),
	PORT(SMC_NLA_DEV_PORT2, "LINKS-2", SMC_NLA_DEV_PORT_LNK_CNT),
	{ SMC_NLA_DEV_PORT, "port1", .kind = FIELD_NEST, .inner = port_fields },
	{ SMC_NLA_DEV_PORT2, "port2", .kind = FIELD_NEST, .inner = port_fields },
	COUNTS(SMC_NLA_DEV_COUNTS, "TX-BYTES", SMC_NLA_COUNT_TX_BYTES),
	COUNTS(SMC_NLA_DEV_COUNTS, "RX-BYTES", SMC_NLA_COUNT_RX_BYTES),
	{ SMC_NLA_DEV_COUNTS, "counts", .kind = FIELD_NEST, .inner = count_fields },
	{ SMC_NLA_DEV_UNFIT, "unfit", "UNFIT", .kind = FIELD_TEXT },
	{ }
};

static const struct dump devices = {
	"devices", SMC_NETLINK_GET_DEV_SMCR, SMC_GEN_DEV_SMCR, device_fields, SMC_NETLINK_DUMP_UNFIT
};

struct stopped {
	const char *name;
	uint64_t links;
};

static int add_links(int cmd, struct nlattr **tb, void *arg)
{
	struct nlattr *in[FIELD_MAX + 1], *nest = tb[SMC_GEN_DEV_SMCR];
	struct stopped *stopped = arg;

	(void)cmd;
	if (!nest || nla_parse_nested(in, FIELD_MAX, nest, NULL) < 0 || !in[SMC_NLA_DEV_IB_NAME] ||
	    strcmp(nla_get_string(in[SMC_NLA_DEV_IB_NAME]), stopped->name))
		return 0;
	stopped->links += fields_number(in[SMC_NLA_DEV_PORT], SMC_NLA_DEV_PORT_LNK_CNT) +
			  fields_number(in[SMC_NLA_DEV_PORT2], SMC_NLA_DEV_PORT_LNK_CNT);
	return 0;
}

/* Waits until a stopped device has no link. Return: exit status. */
static int wait_stopped(const char *name, long seconds)
{
	long looks = seconds * 1000000 / LOOK_US;
	struct stopped stopped;

	do {
		stopped = (struct stopped){ .name = name };
		if (genl_ask(SMC_GENL_FAMILY_NAME, SMC_NETLINK_DUMP_UNFIT, NULL, add_links,
			     &stopped, NULL))
			return EXIT_FAILURE;
		if (!stopped.links)
			return 0;
		usleep(LOOK_US);
	} while (looks-- > 0);
	fprintf(stderr, "smc: %llu links of %s are left: `smc devices`\n",
		(unsigned long long)stopped.links, name);
	return EXIT_FAILURE;
}

static int change(int cmd, const char *name)
{
	const struct genl_attr attrs[] = { { .type = SMC_NLA_DEV_IB_NAME, .text = name }, { } };

	return genl_ask(SMC_GENL_FAMILY_NAME, cmd, attrs, NULL, NULL, NULL) ? EXIT_FAILURE : 0;
}

/**
 * cmd_devices() - list the RDMA devices, stop or start one
 * @args: the words say what; option j for JSON, w for the time to wait at most
 *
 * Return: exit status, EXIT_FAILURE if a stopped device still has links.
 */
int cmd_devices(const struct args *args)
{
	const char *what = args->nr_words ? args->words[0] : "show";
	bool stops = !strcmp(what, "stop");
	long wait = STOP_MAX;

	if (!number_option(args, 'w', 0, WAIT_MAX, &wait))
		return EXIT_USAGE;
	if (args->option['w'] && !stops)
		return wrong("a time to wait is for stop only");
	if (!strcmp(what, "show"))
		return args->nr_words > 1 ?
		       wrong("show takes no argument \"%s\"", args->words[1]) :
		       dump_print(&devices, args);
	if (!stops && strcmp(what, "start"))
		return wrong("\"%s\" is none of show, stop and start", what);
	if (args->nr_words < 2)
		return wrong("%s which device?", what);
	if (!stops)
		return change(SMC_NETLINK_START_DEV, args->words[1]);
	return change(SMC_NETLINK_STOP_DEV, args->words[1]) ?:
	       wait_stopped(args->words[1], wait);
}
