/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Interfaces between the files of the user tool, and the commands that main()
 * calls.
 */
#ifndef TOOLS_SMC_H
#define TOOLS_SMC_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <linux/smc.h>
#include <linux/smc_diag.h>

#ifndef AF_SMC
#define AF_SMC 43
#endif

#ifndef IPPROTO_SMC
#define IPPROTO_SMC 256
#endif

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* Exit status of wrong usage */
#define EXIT_USAGE 2

/* The command line of a command, as its row in the table of commands allows it */
struct args {
	const char *name;		/* of the command */
	const char *option[128];	/* by letter: its value, "" for a flag, or NULL */
	char **words;			/* the rest, up to a NULL */
	int nr_words;
};

/* A row of the table of commands */
struct command {
	const char *name;
	const char *options;		/* as getopt() takes them */
	int min_words;
	int max_words;
	const char *args;		/* the same for people */
	const char *help;
	int (*run)(const struct args *args);
};

#define NO_LIMIT 1000000	/* for max_words */

/* args.c */
int args_parse(const struct command *command, int argc, char **argv, struct args *args);
int wrong(const char *format, ...) __attribute__((format(printf, 1, 2)));

int cmd_attach(const struct args *args);
int cmd_detach(const struct args *args);
int cmd_disable(const struct args *args);
int cmd_enable(const struct args *args);
int cmd_list(const struct args *args);
int cmd_reasons(const struct args *args);
int cmd_run(const struct args *args);
int cmd_stats(const struct args *args);
int cmd_status(const struct args *args);
int cmd_ueid(const struct args *args);

/* reason.c: why a connection uses TCP */
const char *reason_name(uint32_t code);
const char *reason_text(uint32_t code);

/* run.c: the preload library */
bool run_find_library(char path[PATH_MAX]);

/* reach.c: whether a preload library reaches a program */
const char *reach_problem(const char *name, char path[PATH_MAX]);

/* diag.c: the sockets of this network namespace */
struct diag_sock {
	struct smc_diag_msg msg;
	uint8_t shutdown;
	bool has_conn;
	bool has_link;
	bool has_group;
	bool has_queue;
	struct smc_diag_conninfo conn;
	struct smc_diag_lgrinfo link;
	struct smc_diag_linkinfo group;
	struct smc_diag_listeninfo queue;
	struct smc_diag_fallback fallback;
};

struct nlmsghdr;

typedef int (*diag_visit)(const struct diag_sock *sock, void *arg);

int diag_parse(struct nlmsghdr *nlh, struct diag_sock *sock);
int diag_dump(diag_visit visit, void *arg);
const char *diag_state_name(uint8_t state);
const char *diag_mode_name(uint8_t mode);

/* json.c: output for programs */
#define JSON_DEPTH 8

struct json {
	FILE *file;
	int depth;
	bool has_member[JSON_DEPTH];
};

/* Of all output for programs: changes with a meaning, not with new members */
#define JSON_SCHEMA 1

void json_begin(struct json *json);
void json_open(struct json *json, const char *name, char bracket);
void json_close(struct json *json, char bracket);
void json_string(struct json *json, const char *name, const char *value);
void json_number(struct json *json, const char *name, uint64_t value);

#endif /* TOOLS_SMC_H */
