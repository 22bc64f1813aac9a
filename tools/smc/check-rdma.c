// SPDX-License-Identifier: GPL-2.0
/*
 * smc check: the RDMA ports and GIDs that serve a route, as the module chooses them, and EIDs.
 */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include <arpa/inet.h>
#include <netlink/attr.h>

#include "check.h"

#define MAX_PNETIDS	4

/* Is NAME the interface, or below it (VLAN, bond, bridge)? */
static bool is_below(const char *name, const char *interface, int depth)
{
	char path[64 + IF_NAMESIZE];
	struct dirent *entry;
	bool found = !strcmp(name, interface);
	DIR *dir;

	snprintf(path, sizeof(path), "/sys/class/net/%s", interface);
	dir = found || depth > 8 ? NULL : opendir(path);
	while (dir && !found && (entry = readdir(dir)))
		if (!strncmp(entry->d_name, "lower_", 6))
			found = is_below(name, entry->d_name + 6, depth + 1);
	if (dir)
		closedir(dir);
	return found;
}

static bool is_v4(const struct in6_addr *addr)
{
	return IN6_IS_ADDR_V4MAPPED(addr);
}

/* Addresses that RoCE can take the path of TCP between */
static bool is_alike(const struct in6_addr *a, const struct in6_addr *b)
{
	return is_v4(a) == is_v4(b) && IN6_IS_ADDR_LINKLOCAL(a) == IN6_IS_ADDR_LINKLOCAL(b);
}

/* A port while its GIDs are read, and the best GID for each version of SMC-R */
struct port {
	const char *device;
	int number;
	bool has_pnetid;		/* that of the interface: any GID serves */
	bool is_below;			/* a GID is of the interface, or of one below it */
	int rank_v1, rank_v2;
	struct in6_addr gid_v1, gid_v2;
	bool is_v1_roce_v2;
};

/*
 * The order of smc_gid_rank() in the module: RoCE v1 first, for version 1 without other settings;
 * then the address of TCP; the interface's own GIDs; IPv4.
 */
static void rank_gid(const struct check *check, struct port *port, const struct in6_addr *gid,
		     bool is_roce_v2, bool is_own)
{
	long roce = read_setting("roce");
	bool is_named = !memcmp(gid, &check->route.local, sizeof(*gid));
	int rank = 1 + 2 * is_named + 4 * (is_roce_v2 && is_v4(gid)) + 8 * is_own;
	int rank_v1 = rank + 16 * (is_named && is_v4(gid)) + 32 * !is_roce_v2;

	if (roce != (is_roce_v2 ? 1 : 2) && rank_v1 > port->rank_v1) {
		port->rank_v1 = rank_v1;
		port->gid_v1 = *gid;
		port->is_v1_roce_v2 = is_roce_v2;
	}
	if (is_roce_v2 && roce != 1 && is_alike(gid, &check->route.local) &&
	    (is_named || !IN6_IS_ADDR_LINKLOCAL(gid)) && rank + 16 * is_named > port->rank_v2) {
		port->rank_v2 = rank + 16 * is_named;
		port->gid_v2 = *gid;
	}
}

static bool read_gid_file(const struct port *port, const char *name, int index, char *line,
			  int size)
{
	char path[512];

	snprintf(path, sizeof(path), IB_DIR "/%s/ports/%d/%s/%d", port->device, port->number, name,
		 index);
	return read_line(path, line, size);
}

/**
 * check_read_gid() - read one entry of the table of a port
 * @device: the RDMA device
 * @port: of it
 * @index: of the entry
 * @gid: filled
 *
 * Return: false if the entry has no GID.
 */
bool check_read_gid(const char *device, int port, int index, struct gid *gid)
{
	const struct port at = { .device = device, .number = port };
	char type[64], text[64];

	if (!read_gid_file(&at, "gid_attrs/ndevs", index, gid->interface,
			   sizeof(gid->interface)) ||
	    !read_gid_file(&at, "gid_attrs/types", index, type, sizeof(type)) ||
	    !read_gid_file(&at, "gids", index, text, sizeof(text)) ||
	    inet_pton(AF_INET6, text, &gid->addr) != 1)
		return false;
	gid->is_roce_v2 = !strcmp(type, "RoCE v2");
	return true;
}

static void read_gids(const struct check *check, struct port *port)
{
	struct gid gid;
	bool is_near;
	int i;

	for (i = 0; i < MAX_GIDS; i++) {
		if (!check_read_gid(port->device, port->number, i, &gid))
			continue;
		is_near = is_below(gid.interface, check->interface, 0);
		port->is_below |= is_near;
		if (is_near || port->has_pnetid)
			rank_gid(check, port, &gid.addr, gid.is_roce_v2,
				 !strcmp(gid.interface, check->interface));
	}
}

/**
 * rdma_is_at() - look for an RDMA device at a network interface
 * @interface: its name
 *
 * Asks the kernel, not the module: whether the device is fit for SMC is not known.
 *
 * Return: true if a GID of a device, but not of iWARP, belongs to it or to one below it.
 */
bool rdma_is_at(const char *interface)
{
	char path[512], line[IF_NAMESIZE];
	DIR *devices = opendir(IB_DIR);
	struct dirent *entry;
	bool found = false;
	int i;

	while (devices && !found && (entry = readdir(devices))) {
		struct port port = { .device = entry->d_name };

		/* the type of a node: "1: CA" has RoCE or InfiniBand */
		snprintf(path, sizeof(path), IB_DIR "/%s/node_type", entry->d_name);
		if (!read_line(path, line, sizeof(line)) || *line != '1')
			continue;
		for (i = 0; i < 2 * MAX_GIDS && !found; i++) {
			port.number = 1 + i / MAX_GIDS;
			found = read_gid_file(&port, "gid_attrs/ndevs", i % MAX_GIDS, line,
					      sizeof(line)) && is_below(line, interface, 0);
		}
	}
	if (devices)
		closedir(devices);
	return found;
}

static bool read_device(const char *device, const char *file, char line[64])
{
	char path[512];

	snprintf(path, sizeof(path), IB_DIR "/%s/%s", device, file);
	*line = '\0';
	return read_line(path, line, 64);
}

/**
 * rdma_describe() - describe an RDMA device
 * @device: its name
 * @port: the number of a port
 * @gid: the GID in use
 * @text: filled: driver, PCI ID, firmware, board, rate, version of RoCE
 */
void rdma_describe(const char *device, int port, const char *gid, char text[ADAPTER_TEXT])
{
	const struct port at = { .device = device, .number = port };
	char path[512], driver[PATH_MAX], file[64], line[64], id[64], *name;
	size_t len;
	int i;

	snprintf(path, sizeof(path), IB_DIR "/%s/device/driver", device);
	name = realpath(path, driver) ? strrchr(driver, '/') + 1 : "no PCI device";
	len = snprintf(text, ADAPTER_TEXT, "%.32s port %d, %.32s", device, port, name);
	if (read_device(device, "device/vendor", line) && read_device(device, "device/device", id))
		len += snprintf(text + len, ADAPTER_TEXT - len, " %.6s:%.6s", line, id);
	if (read_device(device, "fw_ver", line) && *line)
		len += snprintf(text + len, ADAPTER_TEXT - len, ", firmware %.24s", line);
	if (read_device(device, "board_id", line) && *line)
		len += snprintf(text + len, ADAPTER_TEXT - len, ", board %.24s", line);
	snprintf(file, sizeof(file), "ports/%d/rate", port);
	if (read_device(device, file, line))
		len += snprintf(text + len, ADAPTER_TEXT - len, ", %.24s", line);
	for (i = 0; i < MAX_GIDS; i++)
		if (read_gid_file(&at, "gids", i, line, sizeof(line)) && !strcmp(line, gid) &&
		    read_gid_file(&at, "gid_attrs/types", i, id, sizeof(id)))
			break;
	if (i < MAX_GIDS)
		snprintf(text + len, ADAPTER_TEXT - len, ", %.16s", id);
}

static void text_of(const struct in6_addr *gid, char text[INET6_ADDRSTRLEN])
{
	inet_ntop(AF_INET6, gid, text, INET6_ADDRSTRLEN);
}

/* Return: true if a connection can use the port. */
static bool judge_port(struct check *check, const struct port *port, bool is_active)
{
	char v1[INET6_ADDRSTRLEN], v2[INET6_ADDRSTRLEN];

	if (!is_active) {
		verdict(check, WRONG, "RDMA", "the cable, the switch, `ip link`; see `rdma link`",
			"%s port %d is not active", port->device, port->number);
		return false;
	}
	if (!port->rank_v1 && !port->rank_v2) {
		verdict(check, WRONG, "RDMA", "give the interface an IP address; net.smc.roce",
			"%s port %d has no GID for this route", port->device, port->number);
		return false;
	}
	text_of(&port->gid_v1, v1);
	text_of(&port->gid_v2, v2);
	if (!port->rank_v2 && !check->is_same_subnet)
		verdict(check, WRONG, "RDMA", "give the interface an IP address",
			"%s port %d has no GID of RoCE v2, which the router needs", port->device,
			port->number);
	else
		verdict(check, RIGHT, "RDMA", NULL, "%s port %d is active; GID %s%s%s%s",
			port->device, port->number, port->rank_v1 ? v1 : v2,
			port->rank_v1 ? port->is_v1_roce_v2 ? " (RoCE v2)" : " (RoCE v1)" : "",
			port->rank_v1 && port->rank_v2 ? ", for version 2 " : "",
			port->rank_v1 && port->rank_v2 ? v2 : "");
	check->may_v1 |= port->rank_v1 > 0;
	check->may_v2 |= port->rank_v2 > 0;
	return true;
}

/* What the dumps of devices and PNETIDs have shown so far */
struct devices {
	struct check *check;
	char pnetids[MAX_PNETIDS][SMC_MAX_PNETID_LEN + 1];	/* of the interface */
	size_t nr_pnetids;
	bool found;			/* a port belongs to the interface */
	bool serves;			/* and can be used */
	bool is_any;			/* there is a device */
};

static bool has_pnetid(const struct devices *devices, const char *pnetid)
{
	size_t i;

	for (i = 0; i < devices->nr_pnetids; i++)
		if (!strcasecmp(devices->pnetids[i], pnetid))
			return true;
	return false;
}

static bool is_pattern_of(const char *pattern, const char *interface, int depth);

/* An entry names the interface or one below it; '*' at the end stands for any rest. */
static bool is_pattern_below(const char *pattern, const char *interface, int depth)
{
	char path[64 + IF_NAMESIZE];
	struct dirent *entry;
	bool found = false;
	DIR *dir;

	snprintf(path, sizeof(path), "/sys/class/net/%s", interface);
	dir = depth > 8 ? NULL : opendir(path);
	while (dir && !found && (entry = readdir(dir)))
		if (!strncmp(entry->d_name, "lower_", 6))
			found = is_pattern_of(pattern, entry->d_name + 6, depth + 1);
	if (dir)
		closedir(dir);
	return found;
}

static bool is_pattern_of(const char *pattern, const char *interface, int depth)
{
	size_t len = strlen(pattern);

	if (len && pattern[len - 1] == '*' ? !strncmp(pattern, interface, len - 1) :
					     !strcmp(pattern, interface))
		return true;
	return is_pattern_below(pattern, interface, depth);
}

static int note_pnetid(int cmd, struct nlattr **tb, void *arg)
{
	struct devices *devices = arg;
	char pattern[IF_NAMESIZE];

	(void)cmd;
	if (!tb[SMC_PNETID_NAME] || !tb[SMC_PNETID_ETHNAME] || devices->nr_pnetids == MAX_PNETIDS)
		return 0;
	nla_strlcpy(pattern, tb[SMC_PNETID_ETHNAME], sizeof(pattern));
	if (is_pattern_of(pattern, devices->check->interface, 0))
		nla_strlcpy(devices->pnetids[devices->nr_pnetids++], tb[SMC_PNETID_NAME],
			    SMC_MAX_PNETID_LEN + 1);
	return 0;
}

static bool is_at_interface(const struct check *check, const struct nlattr *port)
{
	char name[IF_NAMESIZE];

	return if_indextoname(fields_number(port, SMC_NLA_DEV_PORT_NETDEV), name) &&
	       is_below(name, check->interface, 0);
}

static void check_port(struct devices *devices, const char *device, int number,
		       const struct nlattr *nest)
{
	struct port port = { .device = device, .number = number };
	struct nlattr *in[FIELD_MAX + 1] = { 0 };
	char pnetid[SMC_MAX_PNETID_LEN + 1] = "";

	if (!nest || nla_parse_nested(in, FIELD_MAX, (struct nlattr *)nest, NULL) < 0)
		return;
	if (in[SMC_NLA_DEV_PORT_PNETID])
		nla_strlcpy(pnetid, in[SMC_NLA_DEV_PORT_PNETID], sizeof(pnetid));
	port.has_pnetid = has_pnetid(devices, pnetid);
	/* ports of another physical network do not serve */
	if (*pnetid && devices->nr_pnetids && !port.has_pnetid)
		return;
	read_gids(devices->check, &port);
	if (!port.has_pnetid && !port.is_below && !is_at_interface(devices->check, nest))
		return;
	devices->found = true;
	devices->serves |= judge_port(devices->check, &port,
				      fields_number(nest, SMC_NLA_DEV_PORT_STATE));
}

static int check_device(int cmd, struct nlattr **tb, void *arg)
{
	struct nlattr *in[FIELD_MAX + 1] = { 0 };
	struct devices *devices = arg;
	char name[64];

	(void)cmd;
	if (!tb[SMC_GEN_DEV_SMCR] ||
	    nla_parse_nested(in, FIELD_MAX, tb[SMC_GEN_DEV_SMCR], NULL) < 0 ||
	    !in[SMC_NLA_DEV_IB_NAME])
		return 0;
	devices->is_any = true;
	nla_strlcpy(name, in[SMC_NLA_DEV_IB_NAME], sizeof(name));
	check_port(devices, name, 1, in[SMC_NLA_DEV_PORT]);
	check_port(devices, name, 2, in[SMC_NLA_DEV_PORT2]);
	return 0;
}

/* A device that cannot carry SMC matters where it is at the interface. */
static int check_unfit(int cmd, struct nlattr **tb, void *arg)
{
	struct nlattr *in[FIELD_MAX + 1] = { 0 };
	struct devices *devices = arg;
	char name[64];

	(void)cmd;
	if (!tb[SMC_GEN_DEV_SMCR] ||
	    nla_parse_nested(in, FIELD_MAX, tb[SMC_GEN_DEV_SMCR], NULL) < 0 ||
	    !in[SMC_NLA_DEV_IB_NAME] || !in[SMC_NLA_DEV_UNFIT] ||
	    (!is_at_interface(devices->check, in[SMC_NLA_DEV_PORT]) &&
	     !is_at_interface(devices->check, in[SMC_NLA_DEV_PORT2])))
		return 0;
	devices->found = true;
	nla_strlcpy(name, in[SMC_NLA_DEV_IB_NAME], sizeof(name));
	verdict(devices->check, WRONG, "RDMA", "another adapter, or another mode of this one",
		"%s cannot carry SMC: %.*s", name, nla_len(in[SMC_NLA_DEV_UNFIT]),
		(char *)nla_data(in[SMC_NLA_DEV_UNFIT]));
	if (!devices->serves && !devices->check->reason)
		devices->check->reason = SMC_CLC_DECL_UNFIT;
	return 0;
}

static const char *say_nothing(int cmd, int err)
{
	(void)cmd;
	(void)err;
	return "";
}

/**
 * check_devices() - tell which RDMA ports and GIDs serve the route, and what is wrong with others
 * @check: with the route; receives the versions of SMC-R that are possible
 */
void check_devices(struct check *check)
{
	struct devices devices = { .check = check };

	genl_ask(SMCR_GENL_FAMILY_NAME, SMC_PNETID_GET, NULL, note_pnetid, &devices, say_nothing);
	if (devices.nr_pnetids)
		verdict(check, RIGHT, "PNETID", NULL, "%s of %s", devices.pnetids[0],
			check->interface);
	genl_ask(SMC_GENL_FAMILY_NAME, SMC_NETLINK_GET_DEV_SMCR, NULL, check_device, &devices,
		 NULL);
	genl_ask(SMC_GENL_FAMILY_NAME, SMC_NETLINK_DUMP_UNFIT, NULL, check_unfit, &devices,
		 say_nothing);
	if (!devices.found)
		verdict(check, WRONG, "RDMA", "an adapter with RoCE, or a PNETID: see smc pnet",
			devices.is_any ? "no RDMA device at %s" :
			"no RDMA device at %s, nor elsewhere on this host", check->interface);
	if (!devices.serves && !check->reason)
		check->reason = SMC_CLC_DECL_NOSMCRDEV;
}

static int count_eid(int cmd, struct nlattr **tb, void *arg)
{
	(void)cmd;
	*(int *)arg += !!tb[SMC_NLA_EID_TABLE_ENTRY];
	return 0;
}

/* The default EID counts always, or where version 2 has what the settings ask for. */
static bool has_default_eid(const struct check *check)
{
	long eid = read_setting("default_eid");

	return eid == 1 ||
	       (eid == 2 && check->is_same_subnet && !read_setting("dialect") &&
		read_setting("smcr_max_links_per_lgr") <= 2 &&
		read_setting("smcr_max_conns_per_lgr") >= 16);
}

/**
 * check_eid() - tell whether this host has an EID, for version 2
 * @check: with the route; without one, version 2 is not possible
 */
void check_eid(struct check *check)
{
	int nr = 0;

	genl_ask(SMC_GENL_FAMILY_NAME, SMC_NETLINK_DUMP_UEID, NULL, count_eid, &nr, NULL);
	nr += has_default_eid(check);
	if (nr) {
		verdict(check, RIGHT, "EID", NULL,
			"%d, for version 2; the peer needs one of them", nr);
		return;
	}
	check->may_v2 = false;
	verdict(check, check->is_same_subnet ? DOUBTFUL : WRONG, "EID",
		"smc ueid add NAME on both hosts",
		"none: no version 2, which other subnets and some systems need");
	if (!check->is_same_subnet && !check->reason)
		check->reason = SMC_CLC_DECL_NOUEID;
}
