// SPDX-License-Identifier: GPL-2.0
/* Events reach the upcall while it is plugged in, and only then. */
#include <net/net_namespace.h>

#include "smc_kunit.h"

#include "../../../net/smc/rdma/smc_event.c"

static struct smc_event event_last;
static unsigned int event_nr;

static void event_take(const struct smc_event *event)
{
	event_last = *event;
	event_nr++;
}

static const struct smc_event_ops event_test_ops = {
	.send = event_take,
};

static void events_go_up_while_plugged_in(struct kunit *test)
{
	const struct smc_event event = {
		.cmd = SMC_NETLINK_EVENT_PEER, .net = &init_net, .ms = 3,
	};

	event_nr = 0;
	smc_event_send(&event);
	KUNIT_EXPECT_EQ(test, event_nr, 0);
	smc_event_init(&event_test_ops);
	smc_event_send(&event);
	KUNIT_EXPECT_EQ(test, event_nr, 1);
	KUNIT_EXPECT_EQ(test, event_last.cmd, SMC_NETLINK_EVENT_PEER);
	KUNIT_EXPECT_PTR_EQ(test, event_last.net, &init_net);
	KUNIT_EXPECT_EQ(test, event_last.ms, 3);
	smc_event_exit();
	smc_event_send(&event);
	KUNIT_EXPECT_EQ(test, event_nr, 1);
}

static struct kunit_case event_cases[] = {
	KUNIT_CASE(events_go_up_while_plugged_in),
	{}
};

static struct kunit_suite event_suite = {
	.name = "smc_event",
	.test_cases = event_cases,
};

kunit_test_suite(event_suite);
