// SPDX-License-Identifier: GPL-2.0
/*
 * smc check: examines this host and the way to another one, and says what to mend.
 */
#include <dirent.h>
#include <errno.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <netlink/attr.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "smc.h"

#define IB_DIR "/sys/class/infiniband"
#define ROCE_MTU_LEAST 1100	/* the smallest useful MTU of RDMA, with headers */

enum verdict { RIGHT, DOUBTFUL, WRONG };

struct check {
	struct json *json;		/* NULL: text */
	enum verdict worst;
	char host[256];
	const char *port;		/* NULL for none */
	struct sockaddr_storage peer, local;
	socklen_t len;
	char interface[IF_NAMESIZE];
	bool is_same_host;
	bool is_same_subnet;
};

static const char * const verdicts[] = { "right", "doubtful", "WRONG" };

/* Prints one line, and below it what to do. */
__attribute__((format(printf, 5, 6)))
static bool verdict(struct check *check, enum verdict verdict, const char *what, const char *mend,
		    const char *format, ...)
{
	char text[512];
	va_list values;

	va_start(values, format);
	vsnprintf(text, sizeof(text), format, values);
	va_end(values);
	if (verdict > check->worst)
		check->worst = verdict;
	if (!check->json) {
		printf("%-9s %-12s %s\n", verdicts[verdict], what, text);
		if (verdict != RIGHT && mend)
			printf("%-22s mend: %s\n", "", mend);
	} else {
		json_open(check->json, NULL, '{');
		json_string(check->json, "check", what);
		json_string(check->json, "verdict", verdict == WRONG ? "wrong" : verdicts[verdict]);
		json_string(check->json, "text", text);
		json_string(check->json, "mend", verdict != RIGHT && mend ? mend : "");
		json_close(check->json, '}');
	}
	fflush(stdout);
	return verdict != WRONG;
}

static bool read_line(const char *path, char *line, int size)
{
	FILE *file = fopen(path, "r");
	bool is_read = file && fgets(line, size, file);

	if (file)
		fclose(file);
	if (is_read)
		line[strcspn(line, "\n")] = '\0';
	return is_read;
}

/* A socket makes the kernel load the module. */
static bool check_module(struct check *check)
{
	int fd = socket(AF_INET, SOCK_STREAM, IPPROTO_SMC);
	char version[64];

	if (fd < 0)
		return verdict(check, WRONG, "module", "install the module, then: modprobe smc",
			       "no socket of IPPROTO_SMC: %s", strerror(errno));
	close(fd);
	if (!read_line("/sys/module/smc/version", version, sizeof(version)))
		return verdict(check, DOUBTFUL, "module", "modprobe -r smc_diag smc; modprobe smc",
			       "the loaded module has no version: it is another one");
	return verdict(check, RIGHT, "module", NULL, "version %s is loaded", version);
}

static bool check_address(struct check *check)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
	struct addrinfo *found;
	int err = getaddrinfo(check->host, check->port ? check->port : "4791", &hints, &found);

	if (err)
		return verdict(check, WRONG, "address", "name an address, or mend the name service",
			       "%s: %s", check->host, gai_strerror(err));
	memcpy(&check->peer, found->ai_addr, found->ai_addrlen);
	check->len = found->ai_addrlen;
	freeaddrinfo(found);
	return true;
}

static const uint8_t *bytes_of(const struct sockaddr *addr, size_t *len)
{
	*len = addr->sa_family == AF_INET ? 4 : 16;
	return addr->sa_family == AF_INET ?
	       (const uint8_t *)&((const struct sockaddr_in *)addr)->sin_addr :
	       (const uint8_t *)&((const struct sockaddr_in6 *)addr)->sin6_addr;
}

static bool is_masked_equal(const struct sockaddr *a, const struct sockaddr *b,
			    const struct sockaddr *mask)
{
	size_t len, i;
	const uint8_t *one = bytes_of(a, &len), *other = bytes_of(b, &len);
	const uint8_t *bits = mask ? bytes_of(mask, &len) : NULL;

	for (i = 0; i < len; i++)
		if ((one[i] ^ other[i]) & (bits ? bits[i] : 0xff))
			return false;
	return true;
}

/* The kernel chooses address and interface of a socket that is connected. */
static bool check_route(struct check *check)
{
	int fd = socket(check->peer.ss_family, SOCK_DGRAM, 0);
	const struct sockaddr *local = (void *)&check->local, *peer = (void *)&check->peer;
	struct ifaddrs *all, *one;
	bool is_connected;
	char text[NI_MAXHOST];

	is_connected = fd >= 0 && !connect(fd, peer, check->len) &&
		       !getsockname(fd, (struct sockaddr *)&check->local, &check->len);
	if (fd >= 0)
		close(fd);
	if (!is_connected || getifaddrs(&all))
		return verdict(check, WRONG, "route", "ip route get ADDRESS", "no route to %s: %s",
			       check->host, strerror(errno));
	for (one = all; one; one = one->ifa_next) {
		if (!one->ifa_addr || one->ifa_addr->sa_family != local->sa_family)
			continue;
		if (is_masked_equal(one->ifa_addr, peer, NULL))
			check->is_same_host = true;
		if (!is_masked_equal(one->ifa_addr, local, NULL))
			continue;
		snprintf(check->interface, sizeof(check->interface), "%s", one->ifa_name);
		check->is_same_subnet = one->ifa_netmask &&
					is_masked_equal(local, peer, one->ifa_netmask);
	}
	freeifaddrs(all);
	getnameinfo(local, check->len, text, sizeof(text), NULL, 0, NI_NUMERICHOST);
	return verdict(check, RIGHT, "route", NULL, "from %s over %s%s", text, check->interface,
		       check->is_same_subnet ? ", in one IP subnet" : ", through a router");
}

static void check_same_host(struct check *check)
{
	char line[16] = "";

	if (read_line("/proc/sys/net/smc/same_host", line, sizeof(line)) && *line == '1')
		verdict(check, RIGHT, "same host", NULL, "net.smc.same_host is on");
	else
		verdict(check, WRONG, "same host", "sysctl net.smc.same_host=1",
			"%s is this host, and its connections to itself are TCP", check->host);
}

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

/* Looks at a port; true if it belongs to the interface. */
static bool check_port(struct check *check, const char *device, int port)
{
	char path[512], line[256], state[64] = "";
	bool belongs = false, has_v2 = false;
	int gid;

	for (gid = 0; gid < 256; gid++) {
		snprintf(path, sizeof(path), IB_DIR "/%s/ports/%d/gid_attrs/ndevs/%d", device, port,
			 gid);
		if (!read_line(path, line, sizeof(line)) || !is_below(line, check->interface, 0))
			continue;
		belongs = true;
		snprintf(path, sizeof(path), IB_DIR "/%s/ports/%d/gid_attrs/types/%d", device, port,
			 gid);
		has_v2 |= read_line(path, line, sizeof(line)) && !strcmp(line, "RoCE v2");
	}
	if (!belongs)
		return false;
	snprintf(path, sizeof(path), IB_DIR "/%s/ports/%d/state", device, port);
	read_line(path, state, sizeof(state));
	if (!strstr(state, "ACTIVE"))
		verdict(check, WRONG, "RDMA", "the cable, the switch, `ip link`; see `rdma link`",
			"%s port %d is not active: %s", device, port, state);
	else if (!has_v2 && !check->is_same_subnet)
		verdict(check, WRONG, "RDMA", "give the interface an IP address",
			"%s port %d has no GID of RoCE v2, which the router needs", device, port);
	else
		verdict(check, RIGHT, "RDMA", NULL, "%s port %d is active%s", device, port,
			has_v2 ? ", with GIDs of RoCE v2" : "");
	return true;
}

/* RDMA devices that cannot carry SMC */
struct unfit {
	struct check *check;
	bool found;			/* one belongs to the interface */
	char names[16][IF_NAMESIZE * 4];
	size_t nr;
};

static bool is_at_interface(const struct check *check, const struct nlattr *port)
{
	char name[IF_NAMESIZE];

	return if_indextoname(fields_number(port, SMC_NLA_DEV_PORT_NETDEV), name) &&
	       is_below(name, check->interface, 0);
}

static int check_unfit(int cmd, struct nlattr **tb, void *arg)
{
	struct nlattr *in[FIELD_MAX + 1] = { 0 };
	struct unfit *unfit = arg;
	char *name;

	(void)cmd;
	if (!tb[SMC_GEN_DEV_SMCR] || unfit->nr == ARRAY_SIZE(unfit->names) ||
	    nla_parse_nested(in, FIELD_MAX, tb[SMC_GEN_DEV_SMCR], NULL) < 0 ||
	    !in[SMC_NLA_DEV_IB_NAME] || !in[SMC_NLA_DEV_UNFIT])
		return 0;
	name = unfit->names[unfit->nr++];
	nla_strlcpy(name, in[SMC_NLA_DEV_IB_NAME], sizeof(unfit->names[0]));
	if (!is_at_interface(unfit->check, in[SMC_NLA_DEV_PORT]) &&
	    !is_at_interface(unfit->check, in[SMC_NLA_DEV_PORT2]))
		return 0;
	unfit->found = true;
	verdict(unfit->check, WRONG, "RDMA", "another adapter, or another mode of this one",
		"%s cannot carry SMC: %.*s", name, nla_len(in[SMC_NLA_DEV_UNFIT]),
		(char *)nla_data(in[SMC_NLA_DEV_UNFIT]));
	return 0;
}

static bool is_unfit(const struct unfit *unfit, const char *name)
{
	size_t i;

	for (i = 0; i < unfit->nr; i++)
		if (!strcmp(unfit->names[i], name))
			return true;
	return false;
}

static const char *say_nothing(int cmd, int err)
{
	(void)cmd;
	(void)err;
	return "";
}

static void check_device(struct check *check)
{
	struct unfit unfit = { .check = check };
	DIR *dir = opendir(IB_DIR);
	struct dirent *entry;
	int port;

	genl_ask(SMC_GENL_FAMILY_NAME, SMC_NETLINK_DUMP_UNFIT, NULL, check_unfit, &unfit,
		 say_nothing);
	while (dir && (entry = readdir(dir)))
		for (port = 1; *entry->d_name != '.' && port <= 2; port++)
			unfit.found |= !is_unfit(&unfit, entry->d_name) &&
				       check_port(check, entry->d_name, port);
	if (dir)
		closedir(dir);
	if (!unfit.found)
		verdict(check, WRONG, "RDMA", "an adapter with RoCE, or a PNETID: see smc pnet",
			"no RDMA device at %s", check->interface);
}

static int count_eid(int cmd, struct nlattr **tb, void *arg)
{
	(void)cmd;
	*(int *)arg += !!tb[SMC_NLA_EID_TABLE_ENTRY];
	return 0;
}

static void check_eid(struct check *check)
{
	char line[16] = "";
	int nr = 0;

	genl_ask(SMC_GENL_FAMILY_NAME, SMC_NETLINK_DUMP_UEID, NULL, count_eid, &nr, NULL);
	if (read_line("/proc/sys/net/smc/default_eid", line, sizeof(line)))
		nr += *line == '1' || (*line == '2' && check->is_same_subnet);
	if (nr)
		verdict(check, RIGHT, "EID", NULL,
			"%d, for version 2; the peer needs one of them", nr);
	else
		verdict(check, check->is_same_subnet ? DOUBTFUL : WRONG, "EID",
			"smc ueid add NAME on both hosts",
			"none: no version 2, which other subnets and some systems need");
}

static void check_interface(struct check *check)
{
	struct ethtool_pauseparam pause = { .cmd = ETHTOOL_GPAUSEPARAM };
	struct ifreq request = { 0 };
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", check->interface);
	if (!ioctl(fd, SIOCGIFMTU, &request))
		verdict(check, request.ifr_mtu < ROCE_MTU_LEAST ? DOUBTFUL : RIGHT, "MTU",
			"ip link set INTERFACE mtu 1500", "%d on %s", request.ifr_mtu,
			check->interface);
	request.ifr_data = (char *)&pause;
	if (ioctl(fd, SIOCETHTOOL, &request))
		verdict(check, DOUBTFUL, "pause", "ask the owner of the network",
			"%s does not say whether pause frames are on", check->interface);
	else
		verdict(check, pause.rx_pause && pause.tx_pause ? RIGHT : DOUBTFUL, "pause",
			"ethtool -A INTERFACE rx on tx on; the same at the switch",
			"pause frames: receive %s, send %s", pause.rx_pause ? "on" : "off",
			pause.tx_pause ? "on" : "off");
	close(fd);
}

struct own {
	uint16_t port;		/* of this end, network order */
	struct diag_sock sock;
	bool found;
};

static int find_own(const struct diag_sock *sock, void *arg)
{
	struct own *own = arg;

	if (sock->msg.id.idiag_sport != own->port || sock->has_queue)
		return 0;
	own->sock = *sock;
	own->found = true;
	return 1;
}

/* A real connection shows what no setting shows: that UDP port 4791 passes. */
static void check_connection(struct check *check)
{
	const struct timeval patience = { .tv_sec = 20 };
	struct sockaddr_storage own_addr;
	struct own own = { 0 };
	socklen_t len = sizeof(own_addr);
	int fd = socket(check->peer.ss_family, SOCK_STREAM, IPPROTO_SMC);
	uint32_t reason;

	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	if (connect(fd, (struct sockaddr *)&check->peer, check->len) ||
	    getsockname(fd, (struct sockaddr *)&own_addr, &len)) {
		verdict(check, WRONG, "connection", "start the server, open its port",
			"port %s: %s", check->port, strerror(errno));
		close(fd);
		return;
	}
	own.port = own_addr.ss_family == AF_INET ? ((struct sockaddr_in *)&own_addr)->sin_port :
		   ((struct sockaddr_in6 *)&own_addr)->sin6_port;
	diag_dump(find_own, &own);
	close(fd);
	reason = own.sock.fallback.peer_diagnosis ? own.sock.fallback.peer_diagnosis :
		 own.sock.fallback.reason;
	if (!own.found)
		verdict(check, DOUBTFUL, "connection", "modprobe smc_diag",
			"connected, and no sock_diag tells how");
	else if (own.sock.msg.mode == SMC_DIAG_MODE_SMCR)
		verdict(check, RIGHT, "connection", NULL, "SMC-R on link %u of %s: UDP 4791 passes",
			own.sock.link.link_id, own.sock.link.ibname);
	else
		verdict(check, WRONG, "connection", "look the code up in the operations guide",
			"TCP, for reason 0x%08x: %s", reason, reason_text(reason));
}

/* HOST, HOST:PORT, [HOST]:PORT, or an address of IPv6. */
static bool parse_target(struct check *check, const char *word)
{
	const char *colon = strrchr(word, ':');
	size_t len = strlen(word);
	char *end;
	unsigned long port;

	if (*word == '[') {
		colon = strchr(word, ']');
		if (!colon || (colon[1] && colon[1] != ':'))
			return !wrong("\"%s\" is no [ADDRESS] or [ADDRESS]:PORT", word);
		len = colon - ++word;
		colon = colon[1] ? colon + 1 : NULL;
	} else if (colon && strchr(word, ':') == colon) {
		len = colon - word;
	} else {
		colon = NULL;
	}
	if (!len || len >= sizeof(check->host))
		return !wrong("a host is missing");
	snprintf(check->host, sizeof(check->host), "%.*s", (int)len, word);
	if (!colon)
		return true;
	check->port = colon + 1;
	port = strtoul(check->port, &end, 10);
	if (*end || !port || port > 65535)
		return !wrong("\"%s\" is no port from 1 to 65535", check->port);
	return true;
}

/**
 * cmd_check() - examine this host and the way to another one
 * @args: the other host, with a port if it serves; option j for JSON
 *
 * Return: exit status: 1 if something is wrong.
 */
int cmd_check(const struct args *args)
{
	struct json json = { .file = stdout };
	struct check check = { .json = args->option['j'] ? &json : NULL };
	bool knows_peer;

	if (!parse_target(&check, args->words[0]))
		return EXIT_USAGE;
	if (check.json) {
		json_begin(&json);
		json_open(&json, "checks", '[');
	}
	knows_peer = check_address(&check);
	if (check_module(&check) && knows_peer && check_route(&check)) {
		if (check.is_same_host) {
			check_same_host(&check);
		} else {
			check_device(&check);
			check_eid(&check);
			check_interface(&check);
		}
		if (check.port)
			check_connection(&check);
		else
			verdict(&check, DOUBTFUL, "connection", "smc check HOST:PORT of a server",
				"not tried: no port is named");
	}
	if (check.json) {
		json_close(&json, ']');
		json_close(&json, '}');
	}
	return check.worst == WRONG ? EXIT_FAILURE : 0;
}
