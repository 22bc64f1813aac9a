// SPDX-License-Identifier: GPL-2.0
/*
 * smc policy: rules for which connections of this network namespace may use SMC.
 */
#include <errno.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <netlink/attr.h>
#include <netlink/msg.h>

#include "smc.h"

#define RULE_TEXT	512

/* A rule as its attributes have it */
struct rule {
	struct genl_attr attr[SMC_NLA_POLICY_MAX];
	int nr;
	uint16_t port[2];
	struct in6_addr peer;
	uint64_t cgroup;
	uint32_t uid, before;
};

static const char * const actions[] = { "smc", "tcp" };
static const char * const roles[] = { "connect", "listen" };

static void put(struct rule *rule, int type, const void *data, size_t len)
{
	rule->attr[rule->nr++] = (struct genl_attr){ .type = type, .data = data, .len = len };
}

static void put_u8(struct rule *rule, int type, uint8_t number)
{
	rule->attr[rule->nr++] = (struct genl_attr){ .type = type, .number = number };
}

static int read_port(struct rule *rule, const char *text)
{
	if (ports_read(text, &rule->port[0], &rule->port[1]))
		return EXIT_USAGE;
	/* all of them: no condition */
	if (!rule->port[0] && rule->port[1] == UINT16_MAX)
		return 0;
	put(rule, SMC_NLA_POLICY_PORT_FIRST, &rule->port[0], sizeof(rule->port[0]));
	put(rule, SMC_NLA_POLICY_PORT_LAST, &rule->port[1], sizeof(rule->port[1]));
	return 0;
}

static int read_peer(struct rule *rule, const char *text)
{
	uint8_t bits;

	if (addr_read_prefix(text, &rule->peer, &bits))
		return EXIT_USAGE;
	put(rule, SMC_NLA_POLICY_PEER_ADDR, &rule->peer, sizeof(rule->peer));
	put_u8(rule, SMC_NLA_POLICY_PREFIX, bits);
	return 0;
}

/* By path, or by ID: names of groups that are numbers need a slash. */
static int read_cgroup(struct rule *rule, const char *text)
{
	char mount[PATH_MAX];
	int status;

	if (!number_read(text, '\0', UINT64_MAX, &rule->cgroup)) {
		if (!cgroup_find_mount(mount))
			return EXIT_FAILURE;
		status = cgroup_id(mount, text, &rule->cgroup);
		if (status)
			return status;
	}
	if (!rule->cgroup)
		return wrong("0 is no ID of a control group");
	put(rule, SMC_NLA_POLICY_CGROUP, &rule->cgroup, sizeof(rule->cgroup));
	return 0;
}

static int read_uid(struct rule *rule, const char *text)
{
	struct passwd *user;
	uint64_t uid;

	if (number_read(text, '\0', UINT32_MAX - 1, &uid)) {
		rule->uid = uid;
	} else {
		user = getpwnam(text);
		if (!user)
			return wrong("\"%s\" is neither a user nor a number of one", text);
		rule->uid = user->pw_uid;
	}
	put(rule, SMC_NLA_POLICY_UID, &rule->uid, sizeof(rule->uid));
	return 0;
}

static int read_id(const char *text, uint32_t *id)
{
	uint64_t number;

	if (!number_read(text, '\0', UINT32_MAX, &number) || !number)
		return wrong("\"%s\" is no number of a rule; `smc policy` shows them", text);
	*id = number;
	return 0;
}

static const struct {
	const char *word;
	int attr;
	int (*read)(struct rule *rule, const char *text);
} parts[] = {
	{ "port", SMC_NLA_POLICY_PORT_FIRST, read_port },
	{ "peer", SMC_NLA_POLICY_PEER_ADDR, read_peer },
	{ "cgroup", SMC_NLA_POLICY_CGROUP, read_cgroup },
	{ "uid", SMC_NLA_POLICY_UID, read_uid },
};

static int find_word(const char *word, const char * const words[2])
{
	return !strcmp(word, words[0]) ? 0 : !strcmp(word, words[1]) ? 1 : -1;
}

static bool has(const struct rule *rule, int type)
{
	int i;

	for (i = 0; i < rule->nr; i++)
		if (rule->attr[i].type == type)
			return true;
	return false;
}

/* A word and its value, or a word alone. Returns the words used, or 0 after a message. */
static int read_part(struct rule *rule, const char *words[], int nr)
{
	int role = find_word(words[0], roles), type = SMC_NLA_POLICY_ROLE, taken = 1;
	size_t i = 0;

	if (role < 0) {
		while (i < ARRAY_SIZE(parts) && strcmp(words[0], parts[i].word))
			i++;
		if (i == ARRAY_SIZE(parts)) {
			wrong("\"%s\" is none of connect, listen, port, peer, cgroup and uid",
			      words[0]);
			return 0;
		}
		if (nr < 2) {
			wrong("%s needs a value", words[0]);
			return 0;
		}
		type = parts[i].attr;
		taken = 2;
	}
	if (has(rule, type)) {
		wrong("\"%s\" is one word too many: a rule has each part once", words[0]);
		return 0;
	}
	if (role >= 0)
		put_u8(rule, type, role);
	else if (parts[i].read(rule, words[1]))
		return 0;
	return taken;
}

/* The words after "add" */
static int read_rule(struct rule *rule, const char *words[], int nr)
{
	int at = 0, action, taken;

	memset(rule, 0, sizeof(*rule));
	if (nr > 1 && !strcmp(words[0], "before")) {
		if (read_id(words[1], &rule->before))
			return EXIT_USAGE;
		put(rule, SMC_NLA_POLICY_BEFORE, &rule->before, sizeof(rule->before));
		at = 2;
	}
	action = at < nr ? find_word(words[at], actions) : -1;
	if (action < 0)
		return wrong("a rule begins with smc or tcp");
	put_u8(rule, SMC_NLA_POLICY_ACTION, action);
	for (at++; at < nr; at += taken) {
		taken = read_part(rule, words + at, nr - at);
		if (!taken)
			return EXIT_USAGE;
	}
	return 0;
}

static const char *policy_error(int cmd, int err)
{
	switch (-err) {
	case EEXIST:
		return "a rule says the same already";
	case ENOENT:
		return "there is no rule with that number";
	case EINVAL:
	case ERANGE:
		return cmd == SMC_NETLINK_ADD_POLICY ? "that is no rule" : NULL;
	}
	return NULL;
}

static const char *policy_apply_error(int cmd, int err)
{
	return err == -EEXIST ? "" : policy_error(cmd, err);
}

/**
 * policy_add() - add a rule of a file unless one says the same
 * @words: the words of a line
 * @nr: their number
 * @dry: only check them
 *
 * Return: 0, or an error after a message.
 */
int policy_add(const char *words[], int nr, bool dry)
{
	struct rule rule;
	int err = read_rule(&rule, words, nr);

	if (err || dry)
		return err;
	err = genl_ask(SMC_GENL_FAMILY_NAME, SMC_NETLINK_ADD_POLICY, rule.attr, NULL, NULL,
		       policy_apply_error);
	return err == -EEXIST ? 0 : err;
}

static int policy_change(int cmd, const struct genl_attr *attrs)
{
	return genl_ask(SMC_GENL_FAMILY_NAME, cmd, attrs, NULL, NULL, policy_error) ?
	       EXIT_FAILURE : 0;
}

__attribute__((format(printf, 2, 3)))
static void append(char text[RULE_TEXT], const char *format, ...)
{
	size_t len = strlen(text);
	va_list values;

	va_start(values, format);
	vsnprintf(text + len, RULE_TEXT - len, format, values);
	va_end(values);
}

static void append_peer(char text[RULE_TEXT], struct nlattr **tb)
{
	const struct in6_addr *addr = nla_data(tb[SMC_NLA_POLICY_PEER_ADDR]);
	int bits = nla_get_u8(tb[SMC_NLA_POLICY_PREFIX]);
	char peer[INET6_ADDRSTRLEN];
	bool is_v4 = IN6_IS_ADDR_V4MAPPED(addr) && bits >= ADDR_V4_BITS;

	if (is_v4)
		inet_ntop(AF_INET, &addr->s6_addr[12], peer, sizeof(peer));
	else
		inet_ntop(AF_INET6, addr, peer, sizeof(peer));
	append(text, " peer %s", peer);
	if (bits < 128)
		append(text, "/%d", is_v4 ? bits - ADDR_V4_BITS : bits);
}

static void append_cgroup(char text[RULE_TEXT], uint64_t id)
{
	char mount[PATH_MAX], path[PATH_MAX];

	if (cgroup_find_mount(mount) && cgroup_path(mount, id, path))
		append(text, " cgroup %s", path);
	else
		append(text, " cgroup %" PRIu64, id);
}

/* The words that `smc policy add` takes, after the action */
static void rule_text(char text[RULE_TEXT], struct nlattr **tb)
{
	*text = '\0';
	if (tb[SMC_NLA_POLICY_ROLE])
		append(text, " %s", roles[nla_get_u8(tb[SMC_NLA_POLICY_ROLE]) & 1]);
	if (tb[SMC_NLA_POLICY_PORT_FIRST] && tb[SMC_NLA_POLICY_PORT_LAST]) {
		int first = nla_get_u16(tb[SMC_NLA_POLICY_PORT_FIRST]);
		int last = nla_get_u16(tb[SMC_NLA_POLICY_PORT_LAST]);

		append(text, last > first ? " port %d-%d" : " port %d", first, last);
	}
	if (tb[SMC_NLA_POLICY_PEER_ADDR] && tb[SMC_NLA_POLICY_PREFIX] &&
	    nla_len(tb[SMC_NLA_POLICY_PEER_ADDR]) == sizeof(struct in6_addr))
		append_peer(text, tb);
	if (tb[SMC_NLA_POLICY_CGROUP])
		append_cgroup(text, nla_get_u64(tb[SMC_NLA_POLICY_CGROUP]));
	if (tb[SMC_NLA_POLICY_UID])
		append(text, " uid %" PRIu32, nla_get_u32(tb[SMC_NLA_POLICY_UID]));
}

#define CGROUPS_MAX 32	/* levels of the hierarchy */

static const struct field policy_fields[] = {
	{ SMC_NLA_POLICY_ID, "id", "ID" },
	{ SMC_NLA_POLICY_ACTION, "action", "ACTION", FIELD_NAME, actions, 2 },
	{ SMC_NLA_POLICY_HITS, "hits", "HITS" },
	{ SMC_NLA_POLICY_ROLE, "role", NULL, FIELD_NAME, roles, 2 },
	{ SMC_NLA_POLICY_PORT_FIRST, "port_first" },
	{ SMC_NLA_POLICY_PORT_LAST, "port_last" },
	{ SMC_NLA_POLICY_PEER_ADDR, "peer", NULL, FIELD_ADDRESS },
	{ SMC_NLA_POLICY_PREFIX, "prefix" },
	{ SMC_NLA_POLICY_CGROUP, "cgroup" },
	{ SMC_NLA_POLICY_UID, "uid" },
	{ }
};

static int print_rule(int cmd, struct nlattr **tb, void *arg)
{
	struct output *out = arg;
	char text[RULE_TEXT];

	(void)cmd;
	rule_text(text, tb);
	if (!out->is_json) {
		fields_row_of(&out->table, policy_fields, tb, false);
		table_cell(&out->table, *text ? text + 1 : "everything");
		return 0;
	}
	json_open(&out->json, NULL, '{');
	fields_json_of(&out->json, policy_fields, tb);
	json_string(&out->json, "rule", *text ? text + 1 : "");
	json_close(&out->json, '}');
	return 0;
}

static int policy_show(const struct args *args)
{
	struct output out;

	output_begin(&out, args, "policy", policy_fields);
	if (!out.is_json)
		table_title(&out.table, "CONNECTIONS", false);
	return output_end(&out, genl_ask(SMC_GENL_FAMILY_NAME, SMC_NETLINK_DUMP_POLICY, NULL,
					 print_rule, &out, NULL));
}

static int policy_del(const struct args *args)
{
	uint32_t id;
	const struct genl_attr attrs[] = {
		{ .type = SMC_NLA_POLICY_ID, .data = &id, .len = sizeof(id) }, { }
	};

	if (args->nr_words != 2)
		return wrong("del takes the number of one rule");
	return read_id(args->words[1], &id) ? EXIT_USAGE :
	       policy_change(SMC_NETLINK_DEL_POLICY, attrs);
}

/**
 * cmd_policy() - show or change the policy of this network namespace
 * @args: the words say what; option j for JSON
 *
 * Return: exit status.
 */
int cmd_policy(const struct args *args)
{
	const char *what = args->nr_words ? args->words[0] : "show";
	struct rule rule;
	int status;

	if (!strcmp(what, "del"))
		return policy_del(args);
	if (!strcmp(what, "add")) {
		status = read_rule(&rule, (const char **)args->words + 1, args->nr_words - 1);
		status = status ?: policy_change(SMC_NETLINK_ADD_POLICY, rule.attr);
		if (!status && genl_cookie())
			printf("%" PRIu64 "\n", genl_cookie());
		return status;
	}
	if (strcmp(what, "show") && strcmp(what, "flush"))
		return wrong("\"%s\" is none of show, add, del and flush", what);
	if (args->nr_words > 1)
		return wrong("%s takes no argument \"%s\"", what, args->words[1]);
	return *what == 's' ? policy_show(args) :
	       policy_change(SMC_NETLINK_FLUSH_POLICY, NULL);
}

#define RULES_MAX 256

/* The rules of the module, in their order */
struct rules {
	int nr;
	struct {
		uint32_t id;
		char text[RULE_TEXT];	/* with the action */
	} rule[RULES_MAX];
};

static void whole_text(char text[RULE_TEXT], struct nlattr **tb)
{
	rule_text(text, tb);
	append(text, " %s", actions[nla_get_u8(tb[SMC_NLA_POLICY_ACTION]) & 1]);
}

static int note_rule(int cmd, struct nlattr **tb, void *arg)
{
	struct rules *rules = arg;

	(void)cmd;
	if (!tb[SMC_NLA_POLICY_ID] || !tb[SMC_NLA_POLICY_ACTION] || rules->nr == RULES_MAX)
		return 0;
	rules->rule[rules->nr].id = nla_get_u32(tb[SMC_NLA_POLICY_ID]);
	whole_text(rules->rule[rules->nr++].text, tb);
	return 0;
}

/* A rule of a file in the same form. Return: false without memory. */
static bool file_text(char text[RULE_TEXT], const struct rule *rule)
{
	struct nlattr *tb[SMC_NLA_POLICY_MAX + 1] = { 0 };
	struct nl_msg *msg = nlmsg_alloc();
	bool is_whole = msg;
	int i;

	for (i = 0; is_whole && i < rule->nr; i++) {
		const struct genl_attr *attr = &rule->attr[i];

		is_whole = !(attr->data ? nla_put(msg, attr->type, attr->len, attr->data) :
					  nla_put_u8(msg, attr->type, attr->number));
	}
	is_whole = is_whole && nlmsg_parse(nlmsg_hdr(msg), 0, tb, SMC_NLA_POLICY_MAX, NULL) >= 0;
	if (is_whole)
		whole_text(text, tb);
	nlmsg_free(msg);
	return is_whole;
}

static int remove_rules(const struct rules *rules, int from, int to)
{
	struct genl_attr attrs[2] = { { .type = SMC_NLA_POLICY_ID, .len = sizeof(uint32_t) } };
	int err = 0;

	for (; !err && from < to; from++) {
		attrs[0].data = &rules->rule[from].id;
		err = policy_change(SMC_NETLINK_DEL_POLICY, attrs);
	}
	return err;
}

/**
 * policy_sync() - give the module the rules of a file, in its order, and no others
 * @lines: of the file, checked
 *
 * Rules that stay keep their counts; those between two of them are replaced.
 *
 * Return: 0, or an error after a message.
 */
int policy_sync(const struct lines *lines)
{
	static struct rules rules;
	char text[RULE_TEXT];
	int err, k, at = 0;
	struct rule rule;
	size_t i;

	rules.nr = 0;
	err = genl_ask(SMC_GENL_FAMILY_NAME, SMC_NETLINK_DUMP_POLICY, NULL, note_rule, &rules,
		       NULL);
	for (i = 0; !err && i < lines->nr; i++) {
		read_rule(&rule, lines->line[i].words, lines->line[i].nr);
		if (!file_text(text, &rule))
			return EXIT_FAILURE;
		for (k = at; k < rules.nr && strcmp(text, rules.rule[k].text); k++)
			;
		if (k < rules.nr) {
			err = remove_rules(&rules, at, k);
			at = k + 1;
			continue;
		}
		if (at < rules.nr && !has(&rule, SMC_NLA_POLICY_BEFORE))
			put(&rule, SMC_NLA_POLICY_BEFORE, &rules.rule[at].id,
			    sizeof(rules.rule[at].id));
		err = genl_ask(SMC_GENL_FAMILY_NAME, SMC_NETLINK_ADD_POLICY, rule.attr, NULL, NULL,
			       policy_apply_error);
		/* twice in the file */
		if (err == -EEXIST)
			err = 0;
	}
	return err ?: remove_rules(&rules, at, rules.nr);
}

/* A connection of this process, and what the rules say so far */
struct choice {
	const struct in6_addr *peer;
	uint16_t port;
	uint64_t cgroup[CGROUPS_MAX];	/* this one and those above */
	int nr_cgroups;			/* -1: not read */
	uint32_t rule;
	bool is_tcp;
};

static bool is_below_prefix(const struct in6_addr *addr, const struct in6_addr *net,
			    unsigned int bits)
{
	if (bits > 128 || memcmp(addr, net, bits / 8))
		return false;
	return !(bits % 8) ||
	       !((addr->s6_addr[bits / 8] ^ net->s6_addr[bits / 8]) & (0xff00 >> bits % 8));
}

static bool is_in_cgroup(struct choice *choice, uint64_t id)
{
	int i;

	if (choice->nr_cgroups < 0)
		choice->nr_cgroups = cgroup_own(choice->cgroup, CGROUPS_MAX);
	for (i = 0; i < choice->nr_cgroups; i++)
		if (choice->cgroup[i] == id)
			return true;
	return false;
}

static bool is_match(struct choice *choice, struct nlattr **tb)
{
	uint16_t first = tb[SMC_NLA_POLICY_PORT_FIRST] ?
			 nla_get_u16(tb[SMC_NLA_POLICY_PORT_FIRST]) : 0;
	uint16_t last = tb[SMC_NLA_POLICY_PORT_LAST] ?
			nla_get_u16(tb[SMC_NLA_POLICY_PORT_LAST]) : first;

	if (tb[SMC_NLA_POLICY_ROLE] && nla_get_u8(tb[SMC_NLA_POLICY_ROLE]))
		return false;
	if (tb[SMC_NLA_POLICY_PORT_FIRST] && (choice->port < first || choice->port > last))
		return false;
	if (tb[SMC_NLA_POLICY_PEER_ADDR] && nla_len(tb[SMC_NLA_POLICY_PEER_ADDR]) == 16 &&
	    !is_below_prefix(choice->peer, nla_data(tb[SMC_NLA_POLICY_PEER_ADDR]),
			     tb[SMC_NLA_POLICY_PREFIX] ? nla_get_u8(tb[SMC_NLA_POLICY_PREFIX]) :
			     128))
		return false;
	if (tb[SMC_NLA_POLICY_CGROUP] &&
	    !is_in_cgroup(choice, nla_get_u64(tb[SMC_NLA_POLICY_CGROUP])))
		return false;
	return !tb[SMC_NLA_POLICY_UID] || nla_get_u32(tb[SMC_NLA_POLICY_UID]) == geteuid();
}

static int note_match(int cmd, struct nlattr **tb, void *arg)
{
	struct choice *choice = arg;

	(void)cmd;
	if (choice->rule || !tb[SMC_NLA_POLICY_ID] || !tb[SMC_NLA_POLICY_ACTION] ||
	    !is_match(choice, tb))
		return 0;
	choice->rule = nla_get_u32(tb[SMC_NLA_POLICY_ID]);
	choice->is_tcp = nla_get_u8(tb[SMC_NLA_POLICY_ACTION]);
	return 1;
}

/**
 * policy_decide() - find the rule for a connection of this user and control group
 * @peer: where it goes, IPv4 mapped
 * @port: of the service, or 0
 * @is_tcp: set if the rule says TCP
 *
 * Return: the number of the rule, 0 if none matches.
 */
uint32_t policy_decide(const struct in6_addr *peer, uint16_t port, bool *is_tcp)
{
	struct choice choice = { .peer = peer, .port = port, .nr_cgroups = -1 };

	genl_ask(SMC_GENL_FAMILY_NAME, SMC_NETLINK_DUMP_POLICY, NULL, note_match, &choice, NULL);
	*is_tcp = choice.is_tcp;
	return choice.rule;
}
