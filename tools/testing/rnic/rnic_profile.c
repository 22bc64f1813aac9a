// SPDX-License-Identifier: GPL-2.0
/* The kinds of adapters, from the drivers of Linux 6.12: limits, and habits of their verbs. */
#include "rnic.h"

static const struct rnic_profile rnic_profiles[] = {
	{
		.name = "mlx5",
		.max_send_sge = 30, .max_recv_sge = 32, .max_wr = 8192,
		.max_inline = 312, .inlines = RNIC_INLINE_ROUNDED,
		.max_pages = 65536, .min_page = 4096, .verb_us = 300, .ack_factor = 4,
		.habits = RNIC_HAS_V1 | RNIC_EVENT_CARRIER | RNIC_EVENT_ADMIN | RNIC_CQ_ERROR_QP |
			  RNIC_SHUFFLES | RNIC_MERGES,
		.comp = RNIC_COMP_HARDIRQ, .arm = RNIC_ARM_EVENT, .fatal = RNIC_FATAL_FLUSHES,
	}, {
		.name = "mlx4",
		.max_send_sge = 16, .max_recv_sge = 16, .max_wr = 16351,
		.max_inline = 1024, .inlines = RNIC_INLINE_NONE,
		.max_pages = 511, .min_page = 4096, .verb_us = 1000, .ack_factor = 1,
		.habits = RNIC_HAS_V1 | RNIC_EVENT_CARRIER | RNIC_EVENT_ADMIN | RNIC_CQ_ERROR_QP,
		.comp = RNIC_COMP_HARDIRQ, .arm = RNIC_ARM_EVENT, .fatal = RNIC_FATAL_FLUSHES,
	}, {
		.name = "bnxt_re",
		.max_send_sge = 6, .max_recv_sge = 6, .max_wr = 8192,
		.max_inline = 96, .inlines = RNIC_INLINE_LIMIT,
		.max_pages = 512, .min_page = 4096, .verb_us = 500, .ack_factor = 1,
		.habits = RNIC_HAS_V1 | RNIC_EVENT_CARRIER | RNIC_EVENT_ADMIN | RNIC_PORT_RTNL |
			  RNIC_MERGES,
		.comp = RNIC_COMP_TASKLET, .arm = RNIC_ARM_REFUSES,
		.fatal = RNIC_FATAL_MODIFY_TIMEDOUT,
	}, {
		.name = "irdma",
		.max_send_sge = 13, .max_recv_sge = 13, .max_wr = 4080,
		.max_inline = 101, .inlines = RNIC_INLINE_AS_ASKED,
		.max_pages = 262144, .min_page = 4096, .verb_us = 1000,
		.habits = RNIC_EVENT_ADMIN | RNIC_PORT_RTNL | RNIC_MERGES,
		.comp = RNIC_COMP_TASKLET_IRQS_OFF, .arm = RNIC_ARM_REPORTS,
		.fatal = RNIC_FATAL_MODIFY_EINVAL,
	}, {
		.name = "erdma",
		.max_send_sge = 6, .max_recv_sge = 1, .max_wr = 8192,
		.max_inline = 96, .inlines = RNIC_INLINE_AS_ASKED,
		.max_pages = 512, .min_page = PAGE_SIZE, .verb_us = 300,
		.habits = RNIC_EVENT_ADMIN | RNIC_PORT_RTNL | RNIC_QP_EVENT_IRQ,
		.comp = RNIC_COMP_TASKLET, .arm = RNIC_ARM_REPORTS, .fatal = RNIC_FATAL_LOSES_CQES,
	}, {
		.name = "hns",
		.max_send_sge = 16, .max_recv_sge = 16, .max_wr = 8192,
		.max_inline = 1024, .inlines = RNIC_INLINE_POWER_OF_2,
		.max_pages = 512, .min_page = 4096, .verb_us = 500, .ack_factor = 1,
		.habits = RNIC_HAS_V1 | RNIC_PORT_RTNL | RNIC_MERGES,
		.comp = RNIC_COMP_BH_WORK, .arm = RNIC_ARM_EVENT, .fatal = RNIC_FATAL_POST_EIO,
	}, {
		.name = "strictest",
		.max_send_sge = 2, .max_recv_sge = 2, .max_wr = 1024,
		.max_inline = 0, .inlines = RNIC_INLINE_NONE,
		.max_pages = 128, .min_page = 4096, .verb_us = 50000,
		.habits = RNIC_PORT_RTNL | RNIC_QP_EVENT_IRQ | RNIC_SHUFFLES | RNIC_MERGES,
		.comp = RNIC_COMP_HARDIRQ, .arm = RNIC_ARM_RANDOM, .fatal = RNIC_FATAL_RANDOM,
	},
};

/**
 * rnic_profile_find() - the profile of a name
 * @name: as in the module's parameter
 *
 * Return: the profile, or NULL if there is none.
 */
const struct rnic_profile *rnic_profile_find(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rnic_profiles); i++)
		if (!strcmp(rnic_profiles[i].name, name))
			return &rnic_profiles[i];
	return NULL;
}
