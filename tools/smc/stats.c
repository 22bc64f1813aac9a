// SPDX-License-Identifier: GPL-2.0
/*
 * smc stats: the counters of the module for this network namespace.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <netlink/attr.h>

#include "smc.h"

static int add_counter(int cmd, struct nlattr **tb, void *arg)
{
	struct nlattr *in[SMC_NLA_COUNTER_MAX + 1];
	struct stats *stats = arg;
	struct counter *counter = &stats->counters[stats->nr];

	(void)cmd;
	if (!tb[SMC_GEN_COUNTER] ||
	    nla_parse_nested(in, SMC_NLA_COUNTER_MAX, tb[SMC_GEN_COUNTER], NULL) < 0 ||
	    !in[SMC_NLA_COUNTER_NAME])
		return 0;
	stats->is_cut = stats->nr == ARRAY_SIZE(stats->counters);
	if (stats->is_cut)
		return 1;
	nla_strlcpy(counter->name, in[SMC_NLA_COUNTER_NAME], sizeof(counter->name));
	counter->value = fields_number(tb[SMC_GEN_COUNTER], SMC_NLA_COUNTER_VALUE);
	stats->nr++;
	return 0;
}

/**
 * stats_read() - read the counters of this network namespace
 * @stats: filled
 *
 * Return: 0, or an exit status after a message.
 */
int stats_read(struct stats *stats)
{
	stats->nr = 0;
	stats->is_cut = false;
	if (genl_ask(SMC_GENL_FAMILY_NAME, SMC_NETLINK_DUMP_COUNTERS, NULL, add_counter, stats,
		     NULL))
		return EXIT_FAILURE;
	if (!stats->is_cut)
		return 0;
	fprintf(stderr, "smc: the module has more than %zu counters\n", stats->nr);
	return EXIT_FAILURE;
}

/**
 * stats_value() - find a counter
 * @stats: counters that were read
 * @name: its name
 *
 * Return: its value, 0 if the module does not have it.
 */
uint64_t stats_value(const struct stats *stats, const char *name)
{
	size_t i;

	for (i = 0; i < stats->nr; i++)
		if (!strcmp(stats->counters[i].name, name))
			return stats->counters[i].value;
	return 0;
}

static int print_reason(int cmd, struct nlattr **tb, void *arg)
{
	struct output *out = arg;
	struct nlattr *nest = tb[SMC_GEN_FBACK_STATS];
	char text[REASON_WORDS];
	const char *role;
	uint32_t reason;
	uint64_t count;

	(void)cmd;
	if (!nest)
		return 0;
	stats_fallback(nest, &role, &reason, &count);
	if (!out->is_json) {
		snprintf(text, sizeof(text), "fallback_%s", role);
		table_cell(&out->table, text);
		snprintf(text, sizeof(text), "%" PRIu64, count);
		table_cell(&out->table, text);
		reason_words(text, reason, 0, 0);
		table_cell(&out->table, text);
		return 0;
	}
	json_open(&out->json, NULL, '{');
	json_string(&out->json, "role", role);
	json_reason(&out->json, "reason", reason);
	json_number(&out->json, "count", count);
	json_close(&out->json, '}');
	return 0;
}

/**
 * stats_fallback() - read how often connections became TCP for one reason
 * @nest: of the message
 * @role: filled with the role
 * @reason: with the code
 * @count: with the number; the module's own attribute does not stop at 65535
 */
void stats_fallback(const struct nlattr *nest, const char **role, uint32_t *reason,
		    uint64_t *count)
{
	*role = fields_number(nest, SMC_NLA_FBACK_STATS_TYPE) ? "server" : "client";
	*reason = fields_number(nest, SMC_NLA_FBACK_STATS_RSN_CODE);
	*count = fields_number(nest, SMC_NLA_FBACK_STATS_RSN_TOTAL);
	if (!*count)
		*count = fields_number(nest, SMC_NLA_FBACK_STATS_RSN_CNT);
}

static int ask_fallbacks(struct output *out)
{
	return genl_ask(SMC_GENL_FAMILY_NAME, SMC_NETLINK_GET_FBACK_STATS, NULL, print_reason, out,
			NULL);
}

/* Bytes are a matter of the name. */
static void put_value(char text[24], const struct counter *counter, bool is_human)
{
	const char *end = strrchr(counter->name, '_');

	if (is_human && end && !strcmp(end, "_bytes"))
		bytes_human(counter->value, text);
	else
		snprintf(text, 24, "%" PRIu64, counter->value);
}

static int print_text(const struct args *args)
{
	struct output counters, fallbacks;
	struct stats stats;
	char text[24];
	size_t i;

	if (stats_read(&stats))
		return EXIT_FAILURE;
	output_begin(&counters, args, NULL, NULL);
	table_title(&counters.table, "COUNTER", false);
	table_title(&counters.table, "VALUE", true);
	for (i = 0; i < stats.nr; i++) {
		if (!stats.counters[i].value && !args->option['a'])
			continue;
		table_cell(&counters.table, stats.counters[i].name);
		put_value(text, &stats.counters[i], args->option['h']);
		table_cell(&counters.table, text);
	}
	output_begin(&fallbacks, args, NULL, NULL);
	table_title(&fallbacks.table, "COUNTER", false);
	table_title(&fallbacks.table, "VALUE", true);
	table_title(&fallbacks.table, "REASON", false);
	if (ask_fallbacks(&fallbacks))
		return EXIT_FAILURE;
	output_end(&counters, 0);
	if (fallbacks.table.nr == fallbacks.table.nr_columns)
		return 0;
	putchar('\n');
	return output_end(&fallbacks, 0);
}

/* @is_line: one of many, with the time */
static int print_json(bool is_line)
{
	struct output out = { .is_json = true, .json.is_line = is_line };
	struct json *json = &out.json;
	struct timespec now;
	struct stats stats;
	size_t i;
	int err;

	if (stats_read(&stats))
		return EXIT_FAILURE;
	clock_gettime(CLOCK_REALTIME, &now);
	json_begin(json);
	if (is_line)
		json_number(json, "time_ns", now.tv_sec * 1000000000ULL + now.tv_nsec);
	json_open(json, "counters", '{');
	for (i = 0; i < stats.nr; i++)
		json_number(json, stats.counters[i].name, stats.counters[i].value);
	json_close(json, '}');
	json_open(json, "fallbacks", '[');
	err = ask_fallbacks(&out);
	json_close(json, ']');
	return json_end(json, err) || fflush(stdout) ? EXIT_FAILURE : 0;
}

/* A line of JSON each time */
static int repeat(const struct args *args)
{
	long interval = 1, left = -1;
	int status;

	if (!number_option(args, 'i', 1, 86400, &interval) ||
	    !number_option(args, 'n', 1, 1000000000, &left))
		return EXIT_USAGE;
	if (!args->option['j'])
		return wrong("--interval and --number go with -j; for people there is `smc watch`");
	for (status = print_json(true); !status && --left; status = print_json(true))
		sleep(interval);
	return status;
}

/**
 * cmd_stats() - print the counters
 * @args: option a for zeros, h for bytes in units, j for JSON, i and n to repeat it, P for those of
 *	  peers
 *
 * Return: exit status.
 */
int cmd_stats(const struct args *args)
{
	bool repeats = args->option['i'] || args->option['n'];

	if (args->option['P'] && (args->option['a'] || repeats))
		return wrong("--peers goes with -h and -j only");
	if (args->option['P'])
		return peer_stats(args);
	if (repeats)
		return repeat(args);
	return args->option['j'] ? print_json(false) : print_text(args);
}
