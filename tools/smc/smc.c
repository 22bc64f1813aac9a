// SPDX-License-Identifier: GPL-2.0
/*
 * smc - run programs over SMC sockets and show the state of the sockets
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "smc.h"

#define STATS_ARGS \
	"[-a] [-h] | -j [--interval SECONDS] [--number LOOKS] | --peers [-h | -j]"

static const struct command commands[] = {
	{ "run", "+v", 1, NO_LIMIT, "[-v] PROGRAM [ARGUMENT...]",
	  "run a program with SMC sockets in place of TCP sockets", cmd_run },
	{ "enable", "r:", 1, 1, "[--root DIR] UNIT",
	  "let a systemd service use SMC sockets", cmd_enable },
	{ "disable", "ar:", 0, 1, "[--root DIR] -a | UNIT",
	  "undo `smc enable`", cmd_disable },
	{ "attach", "W", 1, NO_LIMIT, "CGROUP... | --watch PATTERN...",
	  "turn the TCP sockets of control groups, and of those below, into SMC sockets",
	  cmd_attach },
	{ "detach", "a", 0, NO_LIMIT, "-a | CGROUP...",
	  "undo `smc attach`", cmd_detach },
	{ "status", "j", 0, 0, "[-j]",
	  "list the attached control groups and how many sockets each has got", cmd_status },
	{ "list", "jv", 0, 8, "[-v] [-j] [state|mode|port|peer X]...",
	  "list SMC sockets: what each uses, and if TCP, why", cmd_list },
	{ "check", "js:T", 0, 1, "[-j] [[--try] HOST[:PORT] | --socket INODE|/proc/PID/fd/FD]",
	  "say if this host is fit, or what a connection to another one would use, and what to mend",
	  cmd_check },
	{ "explain", "js:T", 0, 1, "[-j] [[--try] HOST[:PORT] | --socket INODE|/proc/PID/fd/FD]",
	  "the same as `smc check`", cmd_check },
	{ "survey", "hj", 0, 1, "[-h | -j] [SECONDS]",
	  "tell how much of the TCP of this network namespace SMC would carry, without the module",
	  cmd_survey },
	{ "selftest", "lSw:", 0, 1,
	  "[--landing] [--wait SECONDS] PEER[:PORT] | --serve [--wait SECONDS] [PORT]",
	  "try SMC with a peer that serves this: adapters, data, speed, and what happens to links",
	  cmd_selftest },
	{ "groups", "hj", 0, 2, "[-h | -j] [show | del GROUP]",
	  "list the link groups: peers, versions, bytes; or end one", cmd_groups },
	{ "history", "j", 0, 0, "[-j]",
	  "list the last connections that became TCP, also those that are gone, and why",
	  cmd_history },
	{ "peers", "j", 0, 2, "[-j] [show | forget ADDRESS[:PORT] | flush]",
	  "hosts and services to which connections use TCP for some time, and why", cmd_peers },
	{ "links", "hj", 0, 3, "[-h | -j] [show | del GROUP LINK]",
	  "list the links of all groups: devices, states, bytes, messages; or end one", cmd_links },
	{ "devices", "hjw:", 0, 2,
	  "[-h | -j] [show | stop DEVICE [--wait SECONDS] | start DEVICE]",
	  "list the RDMA devices, and why one does not serve; or take one out of use",
	  cmd_devices },
	{ "stats", "ahi:jn:P", 0, 0,
	  STATS_ARGS,
	  "print the counters of this network namespace, or of each peer",
	  cmd_stats },
	{ "watch", "i:n:", 0, 0, "[--interval SECONDS] [--number LOOKS]",
	  "show rates, windows and unread bytes of links and connections, live", cmd_watch },
	{ "metrics", "a", 0, 0, "[--all]",
	  "print counters, connections and links as OpenMetrics, or those of all network namespaces",
	  cmd_metrics },
	{ "ueid", "j", 0, 2, "[-j] [show | add EID | del EID | flush]",
	  "the groups of hosts this one belongs to, for SMC-R version 2", cmd_ueid },
	{ "pnet", "j", 0, 5,
	  "[-j] [show [ID] | add ID {interface NAME | device NAME [PORT]} | del ID | flush]",
	  "which interfaces and RDMA ports are in the same physical network", cmd_pnet },
	{ "policy", "j", 0, 15,
	  "[-j] [add [before N] smc|tcp [connect|listen] [port|peer|cgroup|uid X]...|del N|flush]",
	  "rules for which connections may use SMC; the first one that matches decides",
	  cmd_policy },
	{ "apply", "r:S", 0, 0, "[--sync] [--root DIR]",
	  "add the contents of the files eids, pnetids and policy in /etc/smc", cmd_apply },
	{ "drain", "muw:", 0, 0, "[--move] [--wait SECONDS] | --undo",
	  "let all new connections use TCP, and wait for the end of those on SMC, or move them",
	  cmd_drain },
	{ "events", "ej", 0, 0, "[-j] [--ends]",
	  "print what happens to groups, links and connections, or a record of each connection\n"
	  "        that ends, until interrupted", cmd_events },
	{ "reasons", "", 0, NO_LIMIT, "[CODE...]",
	  "explain the reasons for which connections use TCP", cmd_reasons },
	{ "report", "", 0, 1, "[FILE]",
	  "write what a bug report needs: versions, settings, adapters, connections, log",
	  cmd_report },
	{ "completion", "", 0, 0, "",
	  "print a script that completes these commands in bash", cmd_completion },
};

int cmd_completion(const struct args *args)
{
	(void)args;
	return completion_print(commands, ARRAY_SIZE(commands));
}

static void print_usage(FILE *file)
{
	size_t i;

	fprintf(file, "usage: smc COMMAND ...\n\n");
	for (i = 0; i < ARRAY_SIZE(commands); i++)
		fprintf(file, "  smc %s %s\n        %s\n", commands[i].name,
			commands[i].args, commands[i].help);
	fprintf(file, "\n-j prints JSON, -h bytes in units, --help after a command its usage.\n");
	fprintf(file, "smc --version prints the versions of tool and module.\n");
}

static void print_usage_of(FILE *file, const struct command *command)
{
	fprintf(file, "usage: smc %s %s\n", command->name, command->args);
}

/* -h, too, unless the command has an option of that letter. */
static bool is_help(const char *word, const char *options)
{
	return !strcmp(word, "help") || !strcmp(word, "--help") ||
	       (!strcmp(word, "-h") && !strchr(options, 'h'));
}

static int print_version(void)
{
	char module[64] = "not loaded";
	FILE *file = fopen("/sys/module/smc/version", "r");

	if (file) {
		if (fscanf(file, "%63s", module) != 1)
			snprintf(module, sizeof(module), "unknown");
		fclose(file);
	} else if (!access("/sys/module/smc", F_OK)) {
		snprintf(module, sizeof(module), "another one, without a version");
	}
	printf("smc %s\nmodule smc: %s\n", SMC_VERSION, module);
	return 0;
}

static int run(const struct command *command, int argc, char **argv)
{
	struct args args = { 0 };
	int status;

	if (argc == 2 && *argv[1] == '-' && is_help(argv[1], command->options)) {
		print_usage_of(stdout, command);
		return 0;
	}
	status = args_parse(command, argc, argv, &args);
	if (!status)
		status = command->run(&args);
	if (status == EXIT_USAGE)
		print_usage_of(stderr, command);
	return status;
}

/* A failed write of the output is a failure of the command. */
static int written(int status)
{
	if (!status && (fflush(stdout) || ferror(stdout))) {
		perror("smc");
		status = EXIT_FAILURE;
	}
	return status;
}

/**
 * command_run() - run the command of a command line
 * @argc: as of main()
 * @argv: likewise
 *
 * Return: exit status.
 */
int command_run(int argc, char **argv)
{
	size_t i;

	if (argc < 2) {
		print_usage(stderr);
		return EXIT_USAGE;
	}
	if (is_help(argv[1], "")) {
		print_usage(stdout);
		return 0;
	}
	if (!strcmp(argv[1], "--version"))
		return print_version();
	for (i = 0; i < ARRAY_SIZE(commands); i++)
		if (!strcmp(argv[1], commands[i].name))
			return run(&commands[i], argc - 1, argv + 1);
	fprintf(stderr, "smc: no command \"%s\"\n", argv[1]);
	print_usage(stderr);
	return EXIT_USAGE;
}

int main(int argc, char **argv)
{
	return written(command_run(argc, argv));
}
