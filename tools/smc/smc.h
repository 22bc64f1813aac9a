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

#include <netinet/in.h>

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

/* of a module, twice */
#define NOT_LOADED "the module %s is not loaded; try `modprobe %s`"

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
	const char *options;		/* as getopt() takes them; with '+' before the words only */
	int min_words;
	int max_words;
	const char *args;		/* the same for people */
	const char *help;
	int (*run)(const struct args *args);
};

#define NO_LIMIT 1000000	/* for max_words */

/* args.c */
int args_parse(const struct command *command, int argc, char **argv, struct args *args);
bool number_option(const struct args *args, char letter, long low, long high, long *value);
int wrong(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* smc.c */
int command_run(int argc, char **argv);

int cmd_apply(const struct args *args);
int cmd_attach(const struct args *args);
int cmd_check(const struct args *args);
int cmd_completion(const struct args *args);
int cmd_detach(const struct args *args);
int cmd_disable(const struct args *args);
int cmd_drain(const struct args *args);
int cmd_enable(const struct args *args);
int cmd_devices(const struct args *args);
int cmd_events(const struct args *args);
int cmd_groups(const struct args *args);
int cmd_history(const struct args *args);
int cmd_links(const struct args *args);
int cmd_list(const struct args *args);
int cmd_metrics(const struct args *args);
int cmd_peers(const struct args *args);
int cmd_pnet(const struct args *args);
int cmd_policy(const struct args *args);
int cmd_reasons(const struct args *args);
int cmd_report(const struct args *args);
int cmd_run(const struct args *args);
int cmd_selftest(const struct args *args);
int cmd_stats(const struct args *args);
int cmd_status(const struct args *args);
int cmd_survey(const struct args *args);
int cmd_ueid(const struct args *args);
int cmd_watch(const struct args *args);

/* drain.c: parameters of the module; exit status, after a message unless 0 */
int drain_set(bool is_on);
int drain_move(void);

/* reason.c: why a connection uses TCP */
const char *reason_name(uint32_t code);
const char *reason_text(uint32_t code);

#define REASON_WORDS 256

void reason_words(char text[REASON_WORDS], uint32_t reason, uint32_t age_ms, uint32_t diagnosis);

/* complete.c */
int completion_print(const struct command *commands, size_t nr);

/* run.c: the preload library */
bool run_find_library(char path[PATH_MAX]);
void run_warn_of_module(void);

/* addr.c: addresses and numbers as users write them */
bool number_read(const char *text, char end, uint64_t max, uint64_t *value);
bool addr_read(const char *text, struct in6_addr *addr);
bool addr_read_service(const char *text, struct in6_addr *addr, uint16_t *port);

int addr_read_prefix(const char *text, struct in6_addr *addr, uint8_t *bits);
int ports_read(const char *text, uint16_t *first, uint16_t *last);

#define ADDR_V4_BITS 96	/* in front of a mapped address */

#define HOST_TEXT 256

bool host_read(const char *text, char host[HOST_TEXT], uint16_t *port);

#define ADDR_TEXT 56	/* of an IPv6 address in brackets with its port */

void addr_text(char text[ADDR_TEXT], const struct in6_addr *addr, uint16_t port);

/* cgroup.c: control groups of the unified hierarchy */
bool cgroup_find_mount(char path[PATH_MAX]);
int cgroup_id(const char *mount, const char *name, uint64_t *id);
int cgroup_own(uint64_t *ids, int max);
bool cgroup_path(const char *mount, uint64_t id, char path[PATH_MAX]);

typedef int (*cgroup_visit)(const char *path, void *arg);

int cgroup_watch(char * const *patterns, int nr, cgroup_visit visit, void *arg);

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
	bool has_pair;
	struct smc_diag_conninfo conn;
	struct smc_diag_lgrinfo link;
	struct smc_diag_linkinfo group;
	struct smc_diag_listeninfo queue;
	struct smc_diag_dmbinfo dmb;
	struct smc_diag_pairinfo pair;
	struct smc_diag_fallback fallback;
	uint32_t memory_age;	/* ms that it had been remembered, or 0 */
	bool is_landing;
	bool has_lost_tcp;
};

struct nlmsghdr;

typedef int (*diag_visit)(const struct diag_sock *sock, void *arg);

int diag_parse(struct nlmsghdr *nlh, struct diag_sock *sock);
int diag_dump(const struct smc_diag_filter *filter, diag_visit visit, void *arg);
int diag_find(uint16_t local_port, uint16_t peer_port, struct diag_sock *sock);
const char *diag_state_name(uint8_t state);
const char *diag_mode_name(uint8_t mode);

/* filter.c */
int filter_read(const struct args *args, struct smc_diag_filter *filter);

/* netns.c: the network namespaces of this host */
#define NETNS_HOST "host"	/* that of process 1 */

typedef int (*netns_visit)(const char *name, const char *pod, void *arg);

int netns_each(netns_visit visit, void *arg);

/* process.c: the processes that have a socket open */
struct process {
	uint64_t inode;
	int pid;
	char command[16];
};

const struct process *process_find(uint64_t inode, size_t *nr);

/* genl.c: requests to the generic netlink families of the module */
#define GENL_MAX 80		/* the highest attribute of a message */
#define GENL_MAX_NESTED 80	/* of a nest */

struct nlattr;

typedef int (*genl_visit)(int cmd, struct nlattr **tb, void *arg);

struct genl_attr {
	uint16_t type;		/* 0 ends a list */
	const char *text;	/* NULL: the number is meant */
	uint8_t number;
	const void *data;	/* or these bytes, where there is no text */
	uint16_t len;
};

int genl_ask(const char *family, int cmd, const struct genl_attr *attrs, genl_visit visit,
	     void *arg, const char *(*explain)(int cmd, int err));
uint64_t genl_cookie(void);
int genl_watch(const char *family, const char *group, genl_visit visit, void *arg);

/* check.c: files of the kernel */
bool read_line(const char *path, char *line, int size);

/* stats.c: the counters of this network namespace */
struct stats {
	bool is_cut;		/* there are more */
	size_t nr;
	struct counter {
		char name[64];
		uint64_t value;
	} counters[256];
};

int stats_read(struct stats *stats);
uint64_t stats_value(const struct stats *stats, const char *name);
void stats_fallback(const struct nlattr *nest, const char **role, uint32_t *reason,
		    uint64_t *count);

/* list.c: a socket in words */
struct json;

void list_endpoints(const struct diag_sock *sock, char local[ADDR_TEXT], char peer[ADDR_TEXT]);
void list_print(const struct diag_sock *sock, struct json *json);
void list_other_end(const struct diag_sock *sock, char *text, size_t size);
void list_error(int err);

/* ueid.c, pnet.c, policy.c: the lines of files */
#define WORDS_MAX 16	/* more than any line may have */

struct lines {
	size_t nr;
	struct file_line {
		char *text;	/* holds the words */
		const char *words[WORDS_MAX];
		int nr;
		int line_nr;
	} *line;
};

int ueid_add(const char *words[], int nr, bool dry);
int ueid_sync(const struct lines *lines);
int pnet_add(const char *words[], int nr, bool dry);
int pnet_sync(const struct lines *lines);
int policy_add(const char *words[], int nr, bool dry);
int policy_sync(const struct lines *lines);
uint32_t policy_decide(const struct in6_addr *peer, uint16_t port, bool *is_tcp);

/* json.c: output for programs */
#define JSON_DEPTH 8

struct json {
	bool is_line;		/* the whole output is one line */
	FILE *file;
	char *text;		/* what was written to it */
	size_t len;
	int depth;
	bool has_member[JSON_DEPTH];
};

/* Of all output for programs: changes with a meaning, not with new members */
#define JSON_SCHEMA 2

void json_begin(struct json *json);
int json_end(struct json *json, int err);
void json_open(struct json *json, const char *name, char bracket);
void json_close(struct json *json, char bracket);
void json_string(struct json *json, const char *name, const char *value);
void json_number(struct json *json, const char *name, uint64_t value);
void json_bool(struct json *json, const char *name, bool value);
void json_reason(struct json *json, const char *name, uint32_t code);

/* table.c: output for people */
#define TABLE_COLUMNS 16

struct table {
	size_t nr_columns;
	bool is_number[TABLE_COLUMNS];
	char **cells;		/* by row, the titles first */
	size_t nr, room;
};

void table_title(struct table *table, const char *title, bool is_number);
void table_cell(struct table *table, const char *text);
int table_end(struct table *table, int err);

/* fields.c: attributes of netlink by a table */
#define FIELD_MAX GENL_MAX_NESTED

enum field_kind {
	FIELD_NUMBER,
	FIELD_BYTE_COUNT,	/* a number that people may want shorter */
	FIELD_BOOL,
	FIELD_TEXT,		/* blanks at the end are no part of it */
	FIELD_REASON,		/* why a connection uses TCP */
	FIELD_HEX,		/* a number of 32 bits that names something */
	FIELD_WIRE,		/* the same, its bytes as on the wire */
	FIELD_NAME,		/* a number with names */
	FIELD_BYTES,
	FIELD_ADDRESS,		/* 16 bytes */
	FIELD_INTERFACE,	/* an index */
	FIELD_NEST,
};

struct field {
	int attr;
	const char *name;		/* in JSON; NULL ends a list */
	const char *title;		/* of the column, NULL for none */
	enum field_kind kind;
	const char * const *names;	/* of FIELD_NAME */
	size_t nr_names;
	const struct field *inner;	/* of FIELD_NEST: what is in it */
	int column;			/* of FIELD_NEST with a title: the number in the column */
};

void fields_head(struct table *table, const struct field *fields);
void fields_row_of(struct table *table, const struct field *fields, struct nlattr **tb,
		   bool is_human);
void bytes_human(uint64_t bytes, char text[16]);
uint64_t fields_number(const struct nlattr *nest, int attr);
void fields_json(struct json *json, const struct field *fields, const struct nlattr *nest);
void fields_json_of(struct json *json, const struct field *fields, struct nlattr **tb);

/* output.c: an array in JSON, or a table */
struct output {
	bool is_json;
	bool is_human;		/* bytes in units */
	struct json json;
	struct table table;
};

void output_begin(struct output *out, const struct args *args, const char *name,
		  const struct field *fields);
void output_add(struct output *out, const struct field *fields, struct nlattr **tb);
int output_end(struct output *out, int err);

/* A dump of the module as such */
struct dump {
	const char *name;		/* of the array in JSON */
	int cmd;
	int nest;			/* messages without it are not meant */
	const struct field *fields;
	int more;			/* command for more of such messages, or 0 */
};

int dump_print(const struct dump *dump, const struct args *args);

/* events.c */
extern const struct field event_fields[];
void event_head(struct table *table);
void event_row(struct table *table, int cmd, struct nlattr **tb);

/* groups.c */
#define LINKS_MAX 1024
#define LINK_CONDITIONS (SMC_LINK_IS_ACTIVE + 1)

struct link {
	uint32_t group;
	uint8_t id;
	uint32_t user_id;		/* the name of the link, as sock_diag has it */
	uint32_t mtu;
	char device[64];
	bool is_active;
	uint64_t connections;
	uint64_t counts[SMC_NLA_COUNT_MAX + 1];
};

struct links {
	size_t nr;
	struct link link[LINKS_MAX];
};

int links_read(struct links *links);
int link_end(uint32_t group, uint8_t link, const char *(*explain)(int cmd, int err));
int peer_stats(const struct args *args);
#define COUNTS(attribute, title_, column_) \
	{ attribute, "counts", title_, .kind = FIELD_NEST, .inner = count_fields, \
	  .column = column_ }

extern const char * const link_conditions[LINK_CONDITIONS];
extern const struct field count_fields[];
extern const struct field group_fields[];
extern const struct field link_fields[];

#endif /* TOOLS_SMC_H */
