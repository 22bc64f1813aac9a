// SPDX-License-Identifier: GPL-2.0
/*
 * Which sockets a user wants to see, as words.
 */
#include <string.h>
#include <strings.h>

#include "smc.h"

static int read_state(struct smc_diag_filter *filter, const char *text)
{
	uint8_t state;

	for (state = 0; state < 32; state++) {
		if (!strcasecmp(text, diag_state_name(state))) {
			filter->states = 1U << state;
			return 0;
		}
	}
	return wrong("\"%s\" is no state of a socket; `smc list` shows them", text);
}

static int read_mode(struct smc_diag_filter *filter, const char *text)
{
	uint8_t mode;

	for (mode = SMC_DIAG_MODE_SMCR; mode <= SMC_DIAG_MODE_SMCD; mode++) {
		if (!strcasecmp(text, diag_mode_name(mode))) {
			filter->modes = 1U << mode;
			return 0;
		}
	}
	return wrong("\"%s\" is none of the modes SMC-R, memory and TCP", text);
}

static int read_ports(struct smc_diag_filter *filter, const char *text)
{
	return ports_read(text, &filter->port_first, &filter->port_last);
}

static int read_peer(struct smc_diag_filter *filter, const char *text)
{
	struct in6_addr peer;
	int status = addr_read_prefix(text, &peer, &filter->prefix);

	memcpy(filter->peer, &peer, sizeof(peer));
	return status;
}

static const struct {
	const char *word;
	int (*read)(struct smc_diag_filter *filter, const char *text);
} parts[] = {
	{ "state", read_state },
	{ "mode", read_mode },
	{ "port", read_ports },
	{ "peer", read_peer },
};

/**
 * filter_read() - read which sockets are wanted
 * @args: pairs of words
 * @filter: filled; without words it takes all sockets
 *
 * Return: 0, or EXIT_USAGE after a message.
 */
int filter_read(const struct args *args, struct smc_diag_filter *filter)
{
	int at, status = 0;
	size_t i;

	*filter = (struct smc_diag_filter){
		.states = UINT32_MAX, .modes = UINT8_MAX, .port_last = UINT16_MAX
	};
	for (at = 0; !status && at < args->nr_words; at += 2) {
		for (i = 0; i < ARRAY_SIZE(parts); i++)
			if (!strcmp(args->words[at], parts[i].word))
				break;
		if (i == ARRAY_SIZE(parts))
			return wrong("\"%s\" is none of state, mode, port and peer",
				     args->words[at]);
		if (at + 1 == args->nr_words)
			return wrong("%s needs a value", args->words[at]);
		status = parts[i].read(filter, args->words[at + 1]);
	}
	return status;
}
