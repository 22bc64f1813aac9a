// SPDX-License-Identifier: GPL-2.0
/*
 * smc drain: new connections of the whole host use TCP, so that the module can be replaced when
 * those on SMC have ended, or have gone on in TCP.
 */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <netlink/attr.h>

#include "smc.h"

#define MODULE_DIR	"/sys/module/smc"
#define DRAIN_FILE	MODULE_DIR "/parameters/drain"
#define LAND_FILE	MODULE_DIR "/parameters/land"
#define WAIT_MAX	(7 * 24 * 3600)
#define MOVE_MAX	60	/* ample for what can move */
#define LOOK_US		200000	/* between two looks */

struct use {
	bool is_known;
	uint64_t conns, groups;
};

static int read_use(int cmd, struct nlattr **tb, void *arg)
{
	struct use *use = arg;
	struct nlattr *info = tb[SMC_GEN_SYS_INFO], *conns;

	(void)cmd;
	conns = info ? nla_find(nla_data(info), nla_len(info), SMC_NLA_SYS_CONNS) : NULL;
	use->is_known = conns;
	use->conns = fields_number(info, SMC_NLA_SYS_CONNS);
	use->groups = fields_number(info, SMC_NLA_SYS_GROUPS);
	return 0;
}

static time_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec;
}

/* Return: exit status, after a message unless 0 */
static int get_use(struct use *use)
{
	if (genl_ask(SMC_GENL_FAMILY_NAME, SMC_NETLINK_GET_SYS_INFO, NULL, read_use, use, NULL))
		return EXIT_FAILURE;
	if (use->is_known)
		return 0;
	fprintf(stderr, "smc: the module does not tell: only root of the host is told\n");
	return EXIT_FAILURE;
}

static int set_parameter(const char *path, bool is_on)
{
	FILE *file = fopen(path, "w");
	bool failed = !file || fputs(is_on ? "Y\n" : "N\n", file) < 0;
	int err = errno;

	if (file && fclose(file)) {
		failed = true;
		err = errno;
	}
	if (!failed)
		return 0;
	if (err == ENOENT && access(MODULE_DIR, F_OK))
		fprintf(stderr, "smc: " NOT_LOADED "\n", "smc", "smc");
	else
		fprintf(stderr, "smc: %s: %s\n", path, strerror(err));
	return EXIT_FAILURE;
}

/* Has new connections use TCP, or ends that. */
int drain_set(bool is_on)
{
	return set_parameter(DRAIN_FILE, is_on);
}

/* Has connections go on in TCP that can, and are there now. */
int drain_move(void)
{
	return set_parameter(LAND_FILE, true);
}

/* Sockets that hold the module: its use count without other modules, such as smc_diag */
static long count_sockets(void)
{
	FILE *file = fopen(MODULE_DIR "/refcnt", "r");
	DIR *holders = opendir(MODULE_DIR "/holders");
	struct dirent *entry;
	long nr = 0;

	if (file && fscanf(file, "%ld", &nr) != 1)
		nr = 0;
	while (holders && (entry = readdir(holders)))
		nr -= *entry->d_name != '.';
	if (file)
		fclose(file);
	if (holders)
		closedir(holders);
	return nr > 0 ? nr : 0;
}

static void report(const struct use *use)
{
	long sockets = count_sockets();

	if (use->groups)
		printf("%llu link groups are idle and end with the module\n",
		       (unsigned long long)use->groups);
	if (sockets)
		printf("%ld sockets hold the module, such as listeners: end their programs\n",
		       sockets);
	else
		printf("no socket holds the module: `modprobe -r smc_diag smc`\n");
}

/**
 * cmd_drain() - let new connections use TCP and wait until none is on SMC
 * @args: option w, how many seconds to wait at most; u to end that state; m to have sockets go on
 *	  in TCP that can
 *
 * Return: exit status, EXIT_FAILURE if connections are left.
 */
int cmd_drain(const struct args *args)
{
	bool moves = args->option['m'];
	long wait = moves ? MOVE_MAX : WAIT_MAX;
	struct use use = { 0 };
	time_t end;

	if (!number_option(args, 'w', 0, WAIT_MAX, &wait))
		return EXIT_USAGE;
	if (args->option['u'] && (args->option['w'] || moves))
		return wrong("--undo neither waits nor moves");
	if (args->option['u'])
		return drain_set(false);
	if (drain_set(true))
		return EXIT_FAILURE;
	end = now() + wait;
	for (;;) {
		/* handshakes and queues of listeners take a moment: it is asked again */
		if ((moves && drain_move()) || get_use(&use))
			return EXIT_FAILURE;
		if ((!use.conns && !(moves && count_sockets())) || now() >= end)
			break;
		usleep(LOOK_US);
	}
	if (use.conns) {
		printf("%llu connections of this host are left, and %llu link groups: `smc list`\n",
		       (unsigned long long)use.conns, (unsigned long long)use.groups);
		return EXIT_FAILURE;
	}
	report(&use);
	return 0;
}
