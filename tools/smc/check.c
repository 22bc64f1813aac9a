// SPDX-License-Identifier: GPL-2.0
/*
 * smc check: examines this host, or the way to another one, tells what a connection would use and
 * why, and says what to mend. With --try it makes a connection.
 */
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
#include <netlink/attr.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "check.h"

/* Values of net.smc.memory: within a network namespace (1), and with others of the host */
#define MEMORY_OFF	0
#define MEMORY_HOST	2

static const char * const verdicts[] = { "right", "doubtful", "WRONG" };

/* What to do about a reason */
static const struct {
	uint32_t reason;
	const char *mend;
} mends[] = {
	{ SMC_CLC_DECL_PEERNOSMC, "`smc run` or `smc enable` there; a filter drops TCP options" },
	{ SMC_CLC_DECL_NOSMCDEV, "`rdma link` at both ends; see smc pnet" },
	{ SMC_CLC_DECL_NOSMCRDEV, "`rdma link`; see smc pnet" },
	{ SMC_CLC_DECL_UNFIT, "`smc devices`: start it, another adapter, or another mode of it" },
	{ SMC_CLC_DECL_DIFFPREFIX, "prefix lengths at both ends; smc ueid add NAME on both hosts" },
	{ SMC_CLC_DECL_NOINDIRECT, "prefix lengths at both ends: they differ" },
	{ SMC_CLC_DECL_NOUEID, "smc ueid add NAME on both hosts" },
	{ SMC_CLC_DECL_MAXCONNERR, "sysctl net.smc.smcr_max_conns_per_lgr=255 at both ends" },
	{ SMC_CLC_DECL_MAXLINKERR, "sysctl net.smc.smcr_max_links_per_lgr=2 at both ends" },
	{ SMC_CLC_DECL_NOROUTE, "`ip route get`, `ip neigh` for the address of the adapter" },
	{ SMC_CLC_DECL_CNFERR, "give the interface an IP address with its prefix length" },
	{ SMC_CLC_DECL_GETVLANERR, "`ip -d link`: the VLAN of the interface" },
	{ SMC_CLC_DECL_TIMEOUT_CL, "let UDP port 4791 pass; MTU; net.smc.roce at both ends" },
	{ SMC_CLC_DECL_TIMEOUT_AL, "let UDP port 4791 pass; MTU; net.smc.roce at both ends" },
	{ SMC_CLC_DECL_NOACTLINK, "cables and switches; let UDP port 4791 pass; then try again" },
	{ SMC_CLC_DECL_IPSEC, "see `ip xfrm policy`: RDMA would bypass it" },
	{ SMC_CLC_DECL_OPTUNSUPP, "turn off fast open, or what else the program asks of TCP" },
	{ SMC_CLC_DECL_POLICY, "`smc policy` shows the rules; net.smc.enable" },
	{ SMC_CLC_DECL_DRAIN, "smc drain --undo" },
	{ SMC_CLC_DECL_LGRLIMIT, "`smc groups`; net.smc.max_lgrs_per_peer" },
	{ SMC_CLC_DECL_MEM, "free memory; `rdma resource`" },
	{ SMC_CLC_DECL_PEERDECL, "`smc history` on the peer has its reason" },
	{ SMC_CLC_DECL_ERR_RDYLNK, "`rdma link` at both ends; the adapter's lines in `dmesg`" },
	{ SMC_CLC_DECL_ERR_REGBUF, "`rdma resource`; smaller net.smc.wmem and net.smc.rmem" },
	{ SMC_CLC_DECL_SYNCERR, "nothing: the next connection repairs it" },
};

/* A code has details in its lower half. */
static const char *mend_of(uint32_t reason)
{
	static const uint32_t masks[] = { 0xffffffff, 0xffff0000 };
	size_t i, m;

	for (m = 0; m < ARRAY_SIZE(masks); m++)
		for (i = 0; i < ARRAY_SIZE(mends); i++)
			if (mends[i].reason == (reason & masks[m]))
				return mends[i].mend;
	return "a bug report, with `smc report` of both hosts";
}

/**
 * verdict() - print one line, and below it what to do
 * @check: remembers the worst
 * @verdict: on this part
 * @what: the part
 * @mend: what to do unless it is right, or NULL
 * @format: facts, and their values as printf() takes them
 *
 * Return: false if it is wrong.
 */
bool verdict(struct check *check, enum verdict verdict, const char *what, const char *mend,
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

/**
 * blocked() - print a line about what makes a connection TCP
 * @check: remembers the first reason
 * @reason: that a connection would report
 * @what: the part
 * @text: facts
 *
 * Return: false.
 */
bool blocked(struct check *check, uint32_t reason, const char *what, const char *text)
{
	if (!check->reason)
		check->reason = reason;
	return verdict(check, WRONG, what, mend_of(reason), "%s", text);
}

/**
 * read_line() - read the first line of a file
 * @path: of the file
 * @line: filled, without the end of the line
 * @size: of @line
 *
 * Return: false if there is none.
 */
bool read_line(const char *path, char *line, int size)
{
	FILE *file = fopen(path, "r");
	bool is_read = file && fgets(line, size, file);

	if (file)
		fclose(file);
	if (is_read)
		line[strcspn(line, "\n")] = '\0';
	return is_read;
}

/**
 * read_setting() - read a setting of this network namespace
 * @name: in net.smc
 *
 * Return: its value; 0 without it.
 */
long read_setting(const char *name)
{
	char path[128], line[32];

	snprintf(path, sizeof(path), "/proc/sys/net/smc/%s", name);
	return read_line(path, line, sizeof(line)) ? strtol(line, NULL, 10) : 0;
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

/* Fills @check->peer, unless the host is known already. */
static bool check_address(struct check *check)
{
	const struct addrinfo hints = { .ai_family = AF_INET6, .ai_flags = AI_V4MAPPED,
					.ai_socktype = SOCK_STREAM };
	const struct sockaddr_in6 *addr;
	struct addrinfo *found;
	int err;

	if (!*check->host)
		return true;
	err = getaddrinfo(check->host, NULL, &hints, &found);
	if (err)
		return verdict(check, WRONG, "address", "name an address, or mend the name service",
			       "%s: %s", check->host, gai_strerror(err));
	addr = (const struct sockaddr_in6 *)found->ai_addr;
	check->peer = addr->sin6_addr;
	check->scope = addr->sin6_scope_id;
	freeaddrinfo(found);
	return true;
}

static int note_drain(int cmd, struct nlattr **tb, void *arg)
{
	(void)cmd;
	*(bool *)arg |= fields_number(tb[SMC_GEN_SYS_INFO], SMC_NLA_SYS_DRAIN);
	return 0;
}

/**
 * check_switches() - tell whether all new connections are TCP
 * @check: a line is printed if they are
 *
 * Return: true if they are.
 */
bool check_switches(struct check *check)
{
	bool is_drained = false;
	char value[8];

	genl_ask(SMC_GENL_FAMILY_NAME, SMC_NETLINK_GET_SYS_INFO, NULL, note_drain, &is_drained,
		 NULL);
	if (is_drained) {
		blocked(check, SMC_CLC_DECL_DRAIN, "policy", "the module is drained");
		return true;
	}
	if (!read_line("/proc/sys/net/smc/enable", value, sizeof(value)) || strcmp(value, "0"))
		return false;
	if (!check->reason)
		check->reason = SMC_CLC_DECL_POLICY;
	verdict(check, WRONG, "policy", "sysctl net.smc.enable=1", "net.smc.enable is 0");
	return true;
}

/* Which rule decides for a connection of this user and control group */
static void check_policy(struct check *check)
{
	char text[64] = "no rule matches";
	bool is_tcp = false;
	uint32_t rule;

	if (check_switches(check))
		return;
	rule = policy_decide(&check->peer, check->port, &is_tcp);
	if (rule)
		snprintf(text, sizeof(text), "rule %u decides", rule);
	if (is_tcp)
		blocked(check, SMC_CLC_DECL_POLICY, "policy", text);
	else
		verdict(check, RIGHT, "policy", NULL, "%s", text);
}

static int note_memory(int cmd, struct nlattr **tb, void *arg)
{
	const struct nlattr *nest = tb[SMC_GEN_EVENT];
	struct nlattr *in[FIELD_MAX + 1] = { 0 };
	struct check *check = arg;
	uint32_t reason;
	char text[256];
	int what;

	(void)cmd;
	if (!nest || nla_parse_nested(in, FIELD_MAX, (struct nlattr *)nest, NULL) < 0 ||
	    !in[SMC_NLA_EVENT_PEER_ADDR] || nla_len(in[SMC_NLA_EVENT_PEER_ADDR]) != 16 ||
	    memcmp(nla_data(in[SMC_NLA_EVENT_PEER_ADDR]), &check->peer, sizeof(check->peer)))
		return 0;
	if (in[SMC_NLA_EVENT_PEER_PORT] &&
	    nla_get_u16(in[SMC_NLA_EVENT_PEER_PORT]) != check->port)
		return 0;
	what = fields_number(nest, SMC_NLA_EVENT_FAILURE);
	/* version 1 is used meanwhile; or it matters where that host is a client */
	if (what == SMC_PEER_NO_ROUTE || what == SMC_PEER_NO_PROPOSAL)
		return 0;
	reason = fields_number(nest, SMC_NLA_EVENT_REASON);
	snprintf(text, sizeof(text), "remembered for %llu ms, for %llu ms more: %s",
		 (unsigned long long)fields_number(nest, SMC_NLA_EVENT_AGE_MS),
		 (unsigned long long)fields_number(nest, SMC_NLA_EVENT_MS), reason_text(reason));
	if (!check->reason)
		check->reason = reason;
	verdict(check, WRONG, "memory", "remove the cause, then `smc peers forget`", "%s", text);
	return 1;
}

static const char *say_nothing(int cmd, int err)
{
	(void)cmd;
	(void)err;
	return "";
}

/* What others did is not for each user. */
static void check_memory(struct check *check)
{
	enum verdict worst = check->worst;
	int err;

	/* a line about the host, if there is one, is worse */
	check->worst = RIGHT;
	err = genl_ask(SMC_GENL_FAMILY_NAME, SMC_NETLINK_DUMP_PEERS, NULL, note_memory, check,
		       say_nothing);
	if (err == -EPERM || err == -EACCES)
		verdict(check, DOUBTFUL, "memory", "sudo smc check; or --try",
			"only root sees what is remembered of a host");
	else if (!err && check->worst == RIGHT)
		verdict(check, RIGHT, "memory", NULL, "nothing is remembered");
	if (worst > check->worst)
		check->worst = worst;
}

static struct in6_addr mapped(const struct sockaddr *addr)
{
	struct in6_addr out = { .s6_addr = { [10] = 0xff, [11] = 0xff } };

	if (addr->sa_family != AF_INET)
		return ((const struct sockaddr_in6 *)addr)->sin6_addr;
	memcpy(out.s6_addr + 12, &((const struct sockaddr_in *)addr)->sin_addr, 4);
	return out;
}

/* Compares the last bytes, which a mask of either family has. */
static bool is_masked_equal(const struct in6_addr *a, const struct in6_addr *b,
			    const struct sockaddr *mask)
{
	struct in6_addr bits = mapped(mask);
	int i, first = mask->sa_family == AF_INET ? 12 : 0;

	for (i = 0; i < 16; i++)
		if ((a->s6_addr[i] ^ b->s6_addr[i]) & (i < first ? 0xff : bits.s6_addr[i]))
			return false;
	return true;
}

static bool is_in_subnet(const struct check *check)
{
	struct ifaddrs *all, *one;
	struct in6_addr addr;
	bool found = false;

	if (getifaddrs(&all))
		return false;
	for (one = all; one && !found; one = one->ifa_next) {
		if (!one->ifa_addr || !one->ifa_netmask ||
		    (one->ifa_addr->sa_family != AF_INET && one->ifa_addr->sa_family != AF_INET6))
			continue;
		addr = mapped(one->ifa_addr);
		found = !memcmp(&addr, &check->route.local, sizeof(addr)) &&
			one->ifa_netmask->sa_family == one->ifa_addr->sa_family &&
			is_masked_equal(&addr, &check->peer, one->ifa_netmask);
	}
	freeifaddrs(all);
	return found;
}

static void address_text(const struct in6_addr *addr, char text[INET6_ADDRSTRLEN])
{
	if (IN6_IS_ADDR_V4MAPPED(addr))
		inet_ntop(AF_INET, addr->s6_addr + 12, text, INET6_ADDRSTRLEN);
	else
		inet_ntop(AF_INET6, addr, text, INET6_ADDRSTRLEN);
}

static bool check_route(struct check *check)
{
	char local[INET6_ADDRSTRLEN], peer[INET6_ADDRSTRLEN];
	int err = route_find(&check->peer, check->scope, check->port, &check->route);

	address_text(&check->peer, peer);
	if (err)
		return verdict(check, WRONG, "route", "ip route get ADDRESS", "no route to %s: %s",
			       peer, strerror(-err));
	check->has_route = true;
	address_text(&check->route.local, local);
	if_indextoname(check->route.interface, check->interface);
	check->is_same_subnet = is_in_subnet(check);
	return verdict(check, RIGHT, "route", NULL, "from %s over %s%s", local, check->interface,
		       check->route.is_same_host ? ", to this host itself" :
		       check->is_same_subnet ? ", in one IP subnet" :
		       check->route.has_gateway ? ", through a router" : ", in another IP subnet");
}

static void check_same_host(struct check *check)
{
	if (read_setting("memory") != MEMORY_OFF) {
		check->may_memory = true;
		verdict(check, RIGHT, "same host", NULL,
			"memory: both ends are in this network namespace");
		return;
	}
	if (!check->reason)
		check->reason = SMC_CLC_DECL_NOSMCRDEV;
	verdict(check, WRONG, "same host", "sysctl net.smc.memory=1",
		"net.smc.memory is 0: connections of this host to itself are TCP");
}

/* Nothing but a connection shows whether the other end is on this host. */
static void check_near(struct check *check)
{
	static const char * const drivers[] = {
		"veth", "bridge", "macvlan", "ipvlan", "netkit", "dummy", "tun",
	};
	struct ethtool_drvinfo info = { .cmd = ETHTOOL_GDRVINFO };
	struct ifreq request = { .ifr_data = (char *)&info };
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	size_t i;

	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", check->interface);
	if (read_setting("memory") == MEMORY_HOST && !ioctl(fd, SIOCETHTOOL, &request))
		for (i = 0; i < ARRAY_SIZE(drivers); i++)
			check->may_be_near |= !strcmp(info.driver, drivers[i]);
	close(fd);
	if (check->may_be_near)
		verdict(check, RIGHT, "same host", NULL,
			"net.smc.memory is 2: an end behind %s on this host gets memory if it has 2",
			check->interface);
}

static void check_ipsec(struct check *check)
{
	int needs = route_needs_ipsec(&check->route, &check->peer, check->port);

	if (needs > 0)
		blocked(check, SMC_CLC_DECL_IPSEC, "IPsec", "a policy of IPsec protects this path");
	else if (!needs)
		verdict(check, RIGHT, "IPsec", NULL, "no policy of IPsec protects this path");
}

/* A real connection shows what no setting shows: that UDP port 4791 passes. */
static void check_connection(struct check *check)
{
	const struct timeval patience = { .tv_sec = 20 };
	bool is_v4 = IN6_IS_ADDR_V4MAPPED(&check->peer);
	/* both families have the port at one place */
	struct sockaddr_in6 own_addr, addr = {
		.sin6_family = is_v4 ? AF_INET : AF_INET6, .sin6_port = htons(check->port),
		.sin6_addr = check->peer, .sin6_scope_id = check->scope,
	};
	struct diag_sock own = { 0 };
	char other[256];
	socklen_t len = sizeof(own_addr);
	int fd = socket(addr.sin6_family, SOCK_STREAM, IPPROTO_SMC);
	uint32_t reason;
	bool is_found;

	if (is_v4)
		memcpy(&((struct sockaddr_in *)&addr)->sin_addr, check->peer.s6_addr + 12, 4);

	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	if (connect(fd, (struct sockaddr *)&addr, sizeof(addr)) ||
	    getsockname(fd, (struct sockaddr *)&own_addr, &len)) {
		verdict(check, WRONG, "connection", "start the server, open its port",
			"port %u: %s", check->port, strerror(errno));
		close(fd);
		return;
	}
	is_found = !diag_find(ntohs(own_addr.sin6_port), check->port, &own);
	list_other_end(&own, other, sizeof(other));
	close(fd);
	reason = own.fallback.peer_diagnosis ? own.fallback.peer_diagnosis :
		 own.fallback.reason;
	if (!is_found)
		verdict(check, DOUBTFUL, "connection", "modprobe smc_diag",
			"connected, and no sock_diag tells how");
	else if (own.msg.mode == SMC_DIAG_MODE_SMCR)
		verdict(check, RIGHT, "connection", NULL, "SMC-R on link %u of %s: UDP 4791 passes",
			own.link.link_id, own.link.ibname);
	else if (own.msg.mode == SMC_DIAG_MODE_SMCD)
		verdict(check, RIGHT, "connection", NULL, "memory, with %s", other);
	else
		verdict(check, WRONG, "connection", mend_of(reason),
			"TCP, for reason 0x%08x%s: %s", reason,
			own.fallback.peer_diagnosis ? " of the peer" : "",
			reason_text(reason));
}

/* What a connection would do, after all that was found */
static void conclude(struct check *check)
{
	bool v1 = check->may_v1 && !check->reason, v2 = check->may_v2 && !check->reason;
	bool has_memory = check->may_memory && !check->reason;
	/* other reasons exclude memory as well */
	bool may_be_near = check->may_be_near &&
			   (!check->reason || check->reason == SMC_CLC_DECL_NOSMCRDEV ||
			    check->reason == SMC_CLC_DECL_UNFIT);

	if (check->json) {
		json_close(check->json, ']');
		json_bool(check->json, "offers_v1", v1);
		json_bool(check->json, "offers_v2", v2);
		json_bool(check->json, "offers_memory", has_memory || may_be_near);
		json_reason(check->json, "reason", check->reason);
		json_string(check->json, "text", v1 || v2 || has_memory ? "" :
			    check->reason ? reason_text(check->reason) :
			    check->is_examined ? "there is no route" : "unknown");
		return;
	}
	if (has_memory)
		printf("a connection uses memory: both ends are in this network namespace\n");
	else if (v1 || v2)
		printf("a connection offers SMC-R version %s; the peer may still decline\n",
		       v1 && v2 ? "1 and 2" : v1 ? "1" : "2");
	else if (check->reason)
		printf("a connection uses TCP: %s\n", reason_text(check->reason));
	else if (check->is_examined)
		printf("no connection is possible: there is no route\n");
	if (may_be_near)
		printf("or memory, where the other end is on this host and has net.smc.memory 2\n");
}

/* What connections of this host can use */
static void conclude_alone(struct check *check)
{
	bool has_rdma = check->may_v1 || check->may_v2;

	if (check->json) {
		json_close(check->json, ']');
		json_bool(check->json, "is_fit", check->is_fit);
		json_bool(check->json, "offers_v1", check->is_fit && check->may_v1);
		json_bool(check->json, "offers_v2", check->is_fit && check->may_v2);
		json_bool(check->json, "offers_memory", check->is_fit && check->may_memory);
	} else if (!check->is_fit) {
		printf("this host is not fit for SMC: mend what is WRONG\n");
	} else {
		printf("this host is fit: connections within it use %s, with other hosts %s\n",
		       check->may_memory ? "memory" : "TCP",
		       has_rdma ? "RDMA: smc check HOST" : "TCP");
	}
}

struct sought {
	uint64_t inode;
	struct diag_sock sock;
	bool is_found;
};

static int seek_socket(const struct diag_sock *sock, void *arg)
{
	struct sought *sought = arg;

	if (sock->msg.inode == sought->inode) {
		sought->sock = *sock;
		sought->is_found = true;
	}
	return sought->is_found;
}

/* The number of a socket, or the file in /proc of a descriptor. Return: exit status */
static int read_inode(const char *text, uint64_t *inode)
{
	static const char prefix[] = "socket:[";
	char link[sizeof(prefix) + 21];
	ssize_t len;

	if (*text != '/') {
		if (number_read(text, '\0', UINT32_MAX, inode))
			return 0;
		return wrong("\"%s\" is no inode and no path like /proc/1/fd/3", text);
	}
	len = readlink(text, link, sizeof(link) - 1);
	/* EINVAL: no link */
	if (len < 0 && errno != EINVAL) {
		fprintf(stderr, "smc: %s: %s\n", text, strerror(errno));
		return EXIT_FAILURE;
	}
	link[len < 0 ? 0 : len] = '\0';
	if (strncmp(link, prefix, strlen(prefix)) ||
	    !number_read(link + strlen(prefix), ']', UINT32_MAX, inode))
		return wrong("%s is no socket", text);
	return 0;
}

/* Finds a socket and its peer. Return: exit status */
static int socket_peer(const char *text, struct sought *sought, struct in6_addr *addr,
		       uint16_t *port)
{
	char local[ADDR_TEXT], peer[ADDR_TEXT];
	int err = read_inode(text, &sought->inode);

	if (err)
		return err;
	err = diag_dump(NULL, seek_socket, sought);
	if (err) {
		list_error(err);
		return EXIT_FAILURE;
	}
	if (!sought->is_found) {
		fprintf(stderr, "smc: no SMC socket here has inode %llu: `smc list -v`\n",
			(unsigned long long)sought->inode);
		return EXIT_FAILURE;
	}
	list_endpoints(&sought->sock, local, peer);
	if (addr_read_service(peer, addr, port))
		return 0;
	fprintf(stderr, "smc: this socket has no peer\n");
	return EXIT_FAILURE;
}

/* Return: exit status */
static int choose_target(struct check *check, const struct args *args, struct sought *sought)
{
	const char *host = args->words[0];

	if (host && args->option['s'])
		return wrong("%s takes either a host or a socket", args->name);
	if (args->option['s'])
		return socket_peer(args->option['s'], sought, &check->peer, &check->port);
	return !host || host_read(host, check->host, &check->port) ? 0 : EXIT_USAGE;
}

static void examine(struct check *check)
{
	bool knows_peer = check_address(check);

	if (!check_module(check) || !knows_peer)
		return;
	check->is_examined = true;
	check_policy(check);
	check_memory(check);
	if (!check_route(check))
		return;
	check_ipsec(check);
	if (check->route.is_same_host) {
		check_same_host(check);
	} else {
		check_near(check);
		check_devices(check);
		check_eid(check);
		check_interface(check);
	}
}

/**
 * cmd_check() - examine this host, or the way to another one, and tell what a connection would use
 * @args: the other host, with a port or without, or option s with a socket, which is listed and
 *	whose peer is the host; none of them for this host as such; option T makes a connection;
 *	option j for JSON
 *
 * Return: exit status: 1 if something is wrong.
 */
int cmd_check(const struct args *args)
{
	struct json json = { 0 };
	struct check check = { .json = args->option['j'] ? &json : NULL };
	bool is_alone = !args->nr_words && !args->option['s'];
	struct sought sought = { 0 };
	int err = choose_target(&check, args, &sought);

	if (!err && args->option['T'] && !check.port)
		err = wrong("--try takes HOST:PORT of a server");
	if (err)
		return err;
	if (check.json)
		json_begin(&json);
	if (sought.is_found)
		list_print(&sought.sock, check.json);
	if (check.json)
		json_open(&json, "checks", '[');
	if (is_alone) {
		check_host(&check);
		conclude_alone(&check);
	} else {
		examine(&check);
		if (args->option['T'] && check.has_route)
			check_connection(&check);
		conclude(&check);
	}
	if (check.json)
		json_end(&json, 0);
	return check.worst == WRONG ? EXIT_FAILURE : 0;
}
