// SPDX-License-Identifier: GPL-2.0
/*
 * smc check without a host: the RDMA adapters, and why one does not serve. Without the module the
 * RDMA subsystem is asked; its module knows its own limits, too.
 */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <rdma/rdma_netlink.h>

#include "check.h"

#define MAX_ADAPTERS	32
#define MAX_PORTS	2		/* the first ones, as the module uses them */

#define NODE_CA		1
#define NODE_IWARP	4

#define CAP_MEM_MGT	0x200000	/* IB_DEVICE_MEM_MGT_EXTENSIONS */

struct adapter {
	char name[64];
	char lack[128];			/* why it cannot carry SMC, or empty */
	struct adapter_port {
		bool is_there, is_active;
		char interface[IF_NAMESIZE];	/* the first that has a GID */
		int nr_gids;
		bool has_v1, has_v2;	/* GIDs for versions of SMC-R */
		char gid[INET6_ADDRSTRLEN];
		bool is_roce_v2;
	} ports[MAX_PORTS];
};

struct adapters {
	struct adapter adapter[MAX_ADAPTERS];
	size_t nr;
};

static bool read_file(const struct adapter *adapter, const char *name, char *line, int size)
{
	char path[256];

	snprintf(path, sizeof(path), IB_DIR "/%s/%s", adapter->name, name);
	return read_line(path, line, size);
}

static bool read_port_file(const struct adapter *adapter, int number, const char *name,
			   char *line, int size)
{
	char file[64];

	snprintf(file, sizeof(file), "ports/%d/%s", number, name);
	return read_file(adapter, file, line, size);
}

/* The driver of what an RDMA or network device sits on; empty for software. */
static void read_driver(const char *path, char *driver, size_t size)
{
	char link[PATH_MAX];
	ssize_t len = readlink(path, link, sizeof(link) - 1);

	link[len < 0 ? 0 : len] = '\0';
	snprintf(driver, size, "%s", strrchr(link, '/') ? strrchr(link, '/') + 1 : "");
}

static bool speaks_roce(const struct adapter *adapter)
{
	char line[64];
	int i;

	for (i = 1; i <= MAX_PORTS; i++)
		if (read_port_file(adapter, i, "link_layer", line, sizeof(line)) &&
		    !strcmp(line, "Ethernet"))
			return true;
	return false;
}

/* As smc_cap_lack() in the module finds it; a device does not show all of its limits. */
static const char *lack_of(const struct adapter *adapter, uint64_t caps)
{
	char line[64], path[256], driver[64];
	int type = 0;

	if (read_file(adapter, "node_type", line, sizeof(line)))
		type = atoi(line);
	snprintf(path, sizeof(path), IB_DIR "/%s/device/driver", adapter->name);
	read_driver(path, driver, sizeof(driver));
	if (type == NODE_IWARP)
		return "it speaks iWARP, not RoCE";
	if (type != NODE_CA || !speaks_roce(adapter))
		return "no port speaks RoCE";
	if (!strcmp(driver, "mana"))
		return "its driver serves user space only";
	if (!(caps & CAP_MEM_MGT))
		return "it cannot register memory by work requests";
	/* ocrdma has no other network driver */
	if (!strcmp(driver, "be2net"))
		return "its driver does not support chosen addresses of registered memory";
	return "";
}

static void note_gid(struct adapter_port *port, const struct gid *gid, long roce)
{
	bool is_usable = roce != (gid->is_roce_v2 ? 1 : 2);
	bool is_better = gid->is_roce_v2 && !IN6_IS_ADDR_LINKLOCAL(&gid->addr);

	if (!*port->interface)
		snprintf(port->interface, sizeof(port->interface), "%s", gid->interface);
	if (!is_usable)
		return;
	port->nr_gids++;
	if (!*port->gid || (is_better && !port->has_v2)) {
		inet_ntop(AF_INET6, &gid->addr, port->gid, sizeof(port->gid));
		port->is_roce_v2 = gid->is_roce_v2;
	}
	port->has_v1 = true;
	port->has_v2 |= is_better;
}

static void read_port(struct adapter *adapter, int number)
{
	struct adapter_port *port = &adapter->ports[number - 1];
	long roce = read_setting("roce");
	char line[64];
	struct gid gid;
	int i;

	port->is_there = read_port_file(adapter, number, "state", line, sizeof(line));
	port->is_active = port->is_there && strstr(line, "ACTIVE");
	for (i = 0; port->is_there && i < MAX_GIDS; i++)
		if (check_read_gid(adapter->name, number, i, &gid))
			note_gid(port, &gid, roce);
}

static int note_adapter(struct nl_msg *msg, void *arg)
{
	struct nlattr *tb[RDMA_NLDEV_ATTR_MAX + 1];
	struct adapters *adapters = arg;
	struct adapter *adapter = &adapters->adapter[adapters->nr];
	uint64_t caps;
	int number;

	if (adapters->nr == MAX_ADAPTERS ||
	    nlmsg_parse(nlmsg_hdr(msg), 0, tb, RDMA_NLDEV_ATTR_MAX, NULL) ||
	    !tb[RDMA_NLDEV_ATTR_DEV_NAME])
		return NL_SKIP;
	adapters->nr++;
	nla_strlcpy(adapter->name, tb[RDMA_NLDEV_ATTR_DEV_NAME], sizeof(adapter->name));
	caps = tb[RDMA_NLDEV_ATTR_CAP_FLAGS] ? nla_get_u64(tb[RDMA_NLDEV_ATTR_CAP_FLAGS]) : 0;
	snprintf(adapter->lack, sizeof(adapter->lack), "%s", lack_of(adapter, caps));
	for (number = 1; number <= MAX_PORTS; number++)
		read_port(adapter, number);
	return NL_OK;
}

/* The module knows best. */
static int note_unfit(int cmd, struct nlattr **tb, void *arg)
{
	struct nlattr *in[FIELD_MAX + 1] = { 0 };
	struct adapters *adapters = arg;
	size_t i;

	(void)cmd;
	if (!tb[SMC_GEN_DEV_SMCR] ||
	    nla_parse_nested(in, FIELD_MAX, tb[SMC_GEN_DEV_SMCR], NULL) < 0 ||
	    !in[SMC_NLA_DEV_IB_NAME] || !in[SMC_NLA_DEV_UNFIT])
		return 0;
	for (i = 0; i < adapters->nr; i++)
		if (!nla_strcmp(in[SMC_NLA_DEV_IB_NAME], adapters->adapter[i].name))
			nla_strlcpy(adapters->adapter[i].lack, in[SMC_NLA_DEV_UNFIT],
				    sizeof(adapters->adapter[i].lack));
	return 0;
}

static bool does_serve(const struct adapter *adapter, const struct adapter_port *port)
{
	return !*adapter->lack && port->is_active && port->nr_gids;
}

/* @verdict: on a port that does not serve */
static void judge_port(struct check *check, enum verdict bad, const struct adapter *adapter,
		       int number)
{
	const struct adapter_port *port = &adapter->ports[number - 1];
	const char *interface = *port->interface ? port->interface : "the interface";
	char others[32] = "", mend[128];

	if (!port->is_active) {
		snprintf(mend, sizeof(mend), "ip link set %s up; the cable, the switch", interface);
		verdict(check, bad, "RDMA", mend, "%s port %d is not active", adapter->name,
			number);
		return;
	}
	if (!port->nr_gids) {
		snprintf(mend, sizeof(mend),
			 "ip address add ADDRESS/BITS dev %s; net.smc.roce is 0 by default",
			 interface);
		verdict(check, bad, "RDMA", mend, "%s port %d has no GID that is allowed",
			adapter->name, number);
		return;
	}
	if (port->nr_gids > 1)
		snprintf(others, sizeof(others), " and %d more", port->nr_gids - 1);
	verdict(check, RIGHT, "RDMA", NULL, "%s port %d is active on %s; GID %s (RoCE v%d)%s",
		adapter->name, number, port->interface, port->gid, port->is_roce_v2 ? 2 : 1,
		others);
	check->may_v1 |= port->has_v1;
	check->may_v2 |= port->has_v2;
	snprintf(check->interface, sizeof(check->interface), "%s", port->interface);
	check_interface(check);
}

static void judge_adapter(struct check *check, enum verdict bad, const struct adapter *adapter)
{
	const char *mend = "another adapter, or another mode of this one";
	int number;

	if (!strcmp(adapter->lack, "an operator has stopped it"))
		mend = "smc devices start DEVICE";
	if (*adapter->lack) {
		verdict(check, bad, "RDMA", mend, "%s cannot carry SMC: %s", adapter->name,
			adapter->lack);
		return;
	}
	for (number = 1; number <= MAX_PORTS; number++)
		if (adapter->ports[number - 1].is_there)
			judge_port(check, bad, adapter, number);
}

/* Network adapters whose driver for RDMA is a module of its own, which is not loaded */
static bool check_half_adapters(struct check *check)
{
	static const struct {
		const char *driver, *rdma;
	} halves[] = {
		{ "mlx5_core", "mlx5_ib" }, { "mlx4_core", "mlx4_ib" }, { "ice", "irdma" },
		{ "bnxt_en", "bnxt_re" }, { "qede", "qedr" }, { "hns3", "hns_roce_hw_v2" },
	};
	char path[512], driver[64], mend[64];
	DIR *dir = opendir("/sys/class/net");
	struct dirent *entry;
	bool found = false;
	size_t i;

	while (dir && (entry = readdir(dir))) {
		snprintf(path, sizeof(path), "/sys/class/net/%s/device/infiniband", entry->d_name);
		if (*entry->d_name == '.' || !access(path, F_OK))
			continue;
		snprintf(path, sizeof(path), "/sys/class/net/%s/device/driver", entry->d_name);
		read_driver(path, driver, sizeof(driver));
		for (i = 0; i < ARRAY_SIZE(halves); i++) {
			if (strcmp(driver, halves[i].driver))
				continue;
			found = true;
			snprintf(mend, sizeof(mend), "modprobe %s", halves[i].rdma);
			verdict(check, DOUBTFUL, "RDMA", mend,
				"%s of %s has no RDMA device; perhaps its adapter can",
				entry->d_name, driver);
		}
	}
	if (dir)
		closedir(dir);
	return found;
}

static bool is_software(const struct adapter *adapter)
{
	char path[256];

	/* of soft-RoCE, which names its network interface there */
	snprintf(path, sizeof(path), IB_DIR "/%.63s/parent", adapter->name);
	return !access(path, F_OK);
}

static const char *say_nothing(int cmd, int err)
{
	(void)cmd;
	(void)err;
	return "";
}

/**
 * check_adapters() - tell which RDMA adapters serve, with their GIDs, and why others do not
 * @check: receives the versions of SMC-R that are possible
 * @is_ours: the module is loaded
 */
void check_adapters(struct check *check, bool is_ours)
{
	int type = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_GET), number;
	bool serves = false, is_seen_by_filters = false;
	struct adapters *all = calloc(1, sizeof(*all));
	const struct adapter *adapter;
	bool is_half;

	if (!all)
		return;
	netlink_ask(NETLINK_RDMA, nlmsg_alloc_simple(type, NLM_F_REQUEST | NLM_F_DUMP),
		    note_adapter, all);
	if (is_ours)
		genl_ask(SMC_GENL_FAMILY_NAME, SMC_NETLINK_DUMP_UNFIT, NULL, note_unfit, all,
			 say_nothing);
	for (adapter = all->adapter; adapter < all->adapter + all->nr; adapter++)
		for (number = 1; number <= MAX_PORTS; number++)
			if (does_serve(adapter, &adapter->ports[number - 1])) {
				serves = true;
				is_seen_by_filters |= is_software(adapter);
			}
	/* one adapter that serves is enough */
	for (adapter = all->adapter; adapter < all->adapter + all->nr; adapter++)
		judge_adapter(check, serves ? DOUBTFUL : WRONG, adapter);
	is_half = check_half_adapters(check);
	if (!all->nr && !is_half)
		verdict(check, RIGHT, "RDMA", NULL,
			"no adapter: connections with other hosts are TCP");
	if (is_seen_by_filters)
		check_filters(check);
	else if (serves)
		verdict(check, RIGHT, "UDP 4791", NULL,
			"adapters pass by the filters of this host; for the network: smc check --try HOST:PORT");
	free(all);
}
