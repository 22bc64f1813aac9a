// SPDX-License-Identifier: GPL-2.0
/*
 * smc stats: the counters of the module for this network namespace.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <netlink/attr.h>

#include "smc.h"

static const struct field sizes[] = {
	{ SMC_NLA_STATS_PLOAD_8K, "to_8k" },
	{ SMC_NLA_STATS_PLOAD_16K, "to_16k" },
	{ SMC_NLA_STATS_PLOAD_32K, "to_32k" },
	{ SMC_NLA_STATS_PLOAD_64K, "to_64k" },
	{ SMC_NLA_STATS_PLOAD_128K, "to_128k" },
	{ SMC_NLA_STATS_PLOAD_256K, "to_256k" },
	{ SMC_NLA_STATS_PLOAD_512K, "to_512k" },
	{ SMC_NLA_STATS_PLOAD_1024K, "to_1024k" },
	{ SMC_NLA_STATS_PLOAD_G_1024K, "above_1024k" },
	{ }
};

static const struct field buffers[] = {
	{ SMC_NLA_STATS_RMB_SIZE_SM_PEER_CNT, "too_small_peer" },
	{ SMC_NLA_STATS_RMB_SIZE_SM_CNT, "too_small" },
	{ SMC_NLA_STATS_RMB_FULL_PEER_CNT, "full_peer" },
	{ SMC_NLA_STATS_RMB_FULL_CNT, "full" },
	{ SMC_NLA_STATS_RMB_REUSE_CNT, "reused" },
	{ SMC_NLA_STATS_RMB_ALLOC_CNT, "allocated" },
	{ SMC_NLA_STATS_RMB_DGRADE_CNT, "downgraded" },
	{ }
};

#define NEST(inner_) .kind = FIELD_NEST, .inner = inner_

/* What has no counter of its own */
static const struct field classes[] = {
	{ SMC_NLA_STATS_T_TXPLOAD_SIZE, "sends", NEST(sizes) },
	{ SMC_NLA_STATS_T_RXPLOAD_SIZE, "receives", NEST(sizes) },
	{ SMC_NLA_STATS_T_TX_RMB_SIZE, "send_buffers", NEST(sizes) },
	{ SMC_NLA_STATS_T_RX_RMB_SIZE, "receive_buffers", NEST(sizes) },
	{ SMC_NLA_STATS_T_TX_RMB_STATS, "send_buffer", NEST(buffers) },
	{ SMC_NLA_STATS_T_RX_RMB_STATS, "receive_buffer", NEST(buffers) },
	{ SMC_NLA_STATS_T_CLNT_V1_SUCC, "client_v1" },
	{ SMC_NLA_STATS_T_CLNT_V2_SUCC, "client_v2" },
	{ SMC_NLA_STATS_T_SRV_V1_SUCC, "server_v1" },
	{ SMC_NLA_STATS_T_SRV_V2_SUCC, "server_v2" },
	{ SMC_NLA_STATS_T_SPLICE_CNT, "splices" },
	{ SMC_NLA_STATS_T_CORK_CNT, "corked" },
	{ SMC_NLA_STATS_T_NDLY_CNT, "nodelay" },
	{ SMC_NLA_STATS_T_URG_DATA_CNT, "urgent" },
	{ SMC_NLA_STATS_T_RX_RMB_USAGE, "receive_buffer_bytes" },
	{ SMC_NLA_STATS_T_TX_RMB_USAGE, "send_buffer_bytes" },
	{ }
};

struct printer {
	struct json *json;	/* NULL: text */
	bool all;
};

static int add_counter(int cmd, struct nlattr **tb, void *arg)
{
	struct nlattr *in[SMC_NLA_COUNTER_MAX + 1];
	struct stats *stats = arg;
	struct counter *counter = &stats->counters[stats->nr];

	(void)cmd;
	if (!tb[SMC_GEN_COUNTER] || stats->nr == ARRAY_SIZE(stats->counters) ||
	    nla_parse_nested(in, SMC_NLA_COUNTER_MAX, tb[SMC_GEN_COUNTER], NULL) < 0 ||
	    !in[SMC_NLA_COUNTER_NAME])
		return 0;
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
	return genl_ask(SMC_GENL_FAMILY_NAME, SMC_NETLINK_DUMP_COUNTERS, NULL, add_counter, stats,
			NULL) ? EXIT_FAILURE : 0;
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

static int print_classes(int cmd, struct nlattr **tb, void *arg)
{
	const struct printer *printer = arg;
	struct nlattr *stats[SMC_NLA_STATS_MAX + 1];
	struct nlattr *smcr;

	(void)cmd;
	if (!tb[SMC_GEN_STATS] ||
	    nla_parse_nested(stats, SMC_NLA_STATS_MAX, tb[SMC_GEN_STATS], NULL) < 0)
		return 0;
	smcr = stats[SMC_NLA_STATS_SMCR_TECH];
	if (printer->json)
		fields_json(printer->json, classes, smcr);
	else
		fields_list(classes, smcr, "", printer->all);
	return 0;
}

static int print_reason(int cmd, struct nlattr **tb, void *arg)
{
	const struct printer *printer = arg;
	struct nlattr *nest = tb[SMC_GEN_FBACK_STATS];
	const char *role, *name;
	uint32_t reason;
	uint64_t count;

	(void)cmd;
	if (!nest)
		return 0;
	stats_fallback(nest, &role, &reason, &count);
	name = reason_name(reason);
	if (!printer->json) {
		printf("%-24s %-8" PRIu64 " 0x%08x %s\n", !strcmp(role, "server") ?
		       "fallback_server" : "fallback_client", count, reason, reason_text(reason));
		return 0;
	}
	json_open(printer->json, NULL, '{');
	json_string(printer->json, "role", role);
	json_number(printer->json, "reason", reason);
	json_string(printer->json, "name", name ? name : "");
	json_string(printer->json, "text", reason_text(reason));
	json_number(printer->json, "count", count);
	json_close(printer->json, '}');
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

/**
 * cmd_stats() - print the counters, or draw them
 * @args: option a for zeros, j for JSON, P for those of peers, p for a drawing, t for its time
 *
 * Return: exit status.
 */
int cmd_stats(const struct args *args)
{
	struct json json = { .file = stdout };
	struct printer printer = {
		.json = args->option['j'] ? &json : NULL,
		.all = args->option['a'],
	};
	struct stats stats;
	int status, err;
	size_t i;

	if (args->option['P'] && (args->option['a'] || args->option['p'] || args->option['t']))
		return wrong("--peers goes with -j only");
	if (args->option['P'])
		return peer_stats(args->option['j']);
	if (args->option['p'])
		return plot(args);
	if (args->option['t'])
		return wrong("a time is meant for --plot only");
	status = stats_read(&stats);
	if (status)
		return status;
	if (printer.json) {
		json_begin(&json);
		json_open(&json, "counters", '{');
	}
	for (i = 0; i < stats.nr; i++) {
		const struct counter *counter = &stats.counters[i];

		if (printer.json)
			json_number(&json, counter->name, counter->value);
		else if (counter->value || printer.all)
			printf("%-24s %" PRIu64 "\n", counter->name, counter->value);
	}
	if (printer.json) {
		json_close(&json, '}');
		json_open(&json, "classes", '{');
	}
	err = genl_ask(SMC_GENL_FAMILY_NAME, SMC_NETLINK_GET_STATS, NULL, print_classes, &printer,
		       NULL);
	if (printer.json) {
		json_close(&json, '}');
		json_open(&json, "fallbacks", '[');
	}
	if (!err)
		err = genl_ask(SMC_GENL_FAMILY_NAME, SMC_NETLINK_GET_FBACK_STATS, NULL,
			       print_reason, &printer, NULL);
	if (printer.json) {
		json_close(&json, ']');
		json_close(&json, '}');
	}
	return err ? EXIT_FAILURE : 0;
}
