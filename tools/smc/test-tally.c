// SPDX-License-Identifier: GPL-2.0
/*
 * Tests the sums and the verdict of `smc survey` with connections that are made up.
 */
#include <stdio.h>
#include <string.h>

#include <linux/tcp.h>

#include "survey.h"

#define MB 1000000

static struct tally tally;
static unsigned int passed, failed;

static void expect(const char *what, bool is_true)
{
	if (is_true) {
		passed++;
		return;
	}
	printf("test-tally: %s\n", what);
	failed++;
}

/* From 10.0.0.LOCAL to 10.0.0.PEER */
static struct flow flow_of(uint8_t local, uint16_t local_port, uint8_t peer, uint16_t peer_port,
			   uint64_t bytes, uint64_t requests)
{
	struct flow flow = { .local_port = local_port, .peer_port = peer_port, .bytes = bytes,
			     .requests = requests, .inode = local_port, .rtt_us = 7 };

	flow.local.s6_addr[15] = local;
	flow.peer.s6_addr[15] = peer;
	return flow;
}

static void add(enum reach reach, struct flow flow, bool is_open)
{
	tally_add(&tally, reach, &flow, NULL, is_open);
}

static void test_count(void)
{
	const struct tcp_info info = { .tcpi_bytes_acked = 3, .tcpi_bytes_received = 1ULL << 40,
				       .tcpi_data_segs_in = 9, .tcpi_data_segs_out = 5,
				       .tcpi_min_rtt = 77 };
	struct flow flow = { 0 };

	flow_count(&flow, &info, sizeof(info));
	expect("bytes of both directions", flow.bytes == (1ULL << 40) + 3);
	expect("requests are the fewer segments", flow.requests == 5);
	expect("round trip", flow.rtt_us == 77);
	flow_count(&flow, &info, offsetof(struct tcp_info, tcpi_bytes_received));
	expect("a shorter structure", flow.bytes == 3 && !flow.requests && !flow.rtt_us);
}

static void test_sums(void)
{
	const struct amount *amount = &tally.amounts[REACH_SUBNET];
	struct flow now = flow_of(1, 40000, 2, 80, 1500, 30);
	struct flow before = flow_of(1, 40000, 2, 80, 1000, 10);

	memset(&tally, 0, sizeof(tally));
	tally_add(&tally, REACH_SUBNET, &now, &before, true);
	expect("what an old connection moved since", amount->bytes == 500 &&
	       amount->requests == 20 && amount->open == 1 && !amount->new);
	expect("and is worth it", amount->kept_bytes == 500 && amount->kept_requests == 20);
	add(REACH_SUBNET, flow_of(1, 40001, 2, 80, 200, 1), false);
	expect("a short one is new", amount->bytes == 700 && amount->new == 1 &&
	       amount->open == 1);
	expect("and is not worth it", amount->kept_bytes == 500);
	add(REACH_SUBNET, flow_of(1, 40002, 2, 80, 100, 10), false);
	expect("but one of ten requests", amount->kept_bytes == 600);
	add(REACH_SUBNET, flow_of(1, 40003, 2, 80, 1 << 20, 1), false);
	expect("and one of a mebibyte", amount->kept_bytes == 600 + (1 << 20));
	add(REACH_SUBNET, flow_of(1, 40004, 2, 80, 0, 0), false);
	expect("one that was refused is none", amount->new == 3);
	expect("round trips by requests", amount->rtt_us == 7 * amount->requests);
}

static void test_services(void)
{
	const struct flow listener = flow_of(1, 50000, 0, 0, 0, 0);
	const struct service *top[TOP];
	uint16_t port;

	memset(&tally, 0, sizeof(tally));
	tally_listener(&tally, &listener);
	add(REACH_HOST, flow_of(1, 50000, 1, 40000, 100, 1), true);
	add(REACH_HOST, flow_of(1, 40000, 1, 50000, 100, 1), true);
	expect("one end of two counts", tally.amounts[REACH_HOST].bytes == 100 &&
	       tally.amounts[REACH_HOST].open == 1);
	expect("for the listener", tally.services[SIDE_BOTH][50000].bytes == 100 &&
	       tally.services[SIDE_BOTH][50000].inode == 50000);
	add(REACH_NONE, flow_of(1, 50000, 2, 80, 10, 1), true);
	expect("a server by its listener", tally.services[SIDE_SERVER][50000].bytes == 10);
	add(REACH_NONE, flow_of(1, 80, 2, 50000, 10, 1), true);
	expect("and without one", tally.services[SIDE_SERVER][80].inode == 80);
	add(REACH_NONE, flow_of(1, 40000, 2, 50000, 10, 1), true);
	expect("else it is a client", tally.services[SIDE_CLIENT][50000].inode == 40000);
	add(REACH_SUBNET, flow_of(1, 40001, 2, 50000, 20, 1), false);
	expect("what SMC would carry", tally.services[SIDE_CLIENT][50000].bytes == 30 &&
	       !tally.services[SIDE_CLIENT][50000].served_bytes);
	expect("all services", tally_top(&tally, top) == 4 && top[0]->bytes == 100 &&
	       top[1]->bytes == 30 && top[3]->bytes == 10);
	for (port = 1; port < 9; port++)
		add(REACH_SUBNET, flow_of(1, 40000, 2, port, 1000 * (port ^ 3), 1), true);
	expect("the five that moved most", tally_top(&tally, top) == TOP &&
	       top[0]->bytes == 11000 && top[1]->bytes == 7000 && top[4]->bytes == 4000);
}

static bool judge(enum worth worth, const char *words)
{
	char text[WORTH_TEXT];

	return tally_verdict(&tally, 10, text) == worth && strstr(text, words) &&
	       text[strlen(text) - 1] == '.';
}

static void test_verdict(void)
{
	memset(&tally, 0, sizeof(tally));
	expect("nothing", judge(WORTH_UNKNOWN, "No verdict"));
	add(REACH_NONE, flow_of(1, 40000, 2, 80, 10 * MB, 999), true);
	expect("no adapter", judge(WORTH_NO, "Not worth it: SMC would carry 0 % of the bytes"));
	add(REACH_ROUTED, flow_of(1, 40000, 3, 80, 10 * MB, 1), true);
	expect("routed is perhaps", judge(WORTH_NO, "and 50 % more through routers"));
	add(REACH_SUBNET, flow_of(1, 40000, 4, 80, 5 * MB, 0), true);
	expect("some", judge(WORTH_PARTLY, "20 % of the bytes and 0 % of the requests"));
	expect("of peers", judge(WORTH_PARTLY, "with peers that have it"));
	add(REACH_HOST, flow_of(1, 80, 1, 40000, 1, 1000), true);
	expect("requests count as well", judge(WORTH_YES, "50 % of the requests"));
	memset(&tally, 0, sizeof(tally));
	add(REACH_HOST, flow_of(1, 80, 1, 40000, 1, 1000), true);
	expect("few bytes in many requests", judge(WORTH_YES, "100 % of the requests"));
	expect("within the host", !judge(WORTH_YES, "peers"));
}

int main(void)
{
	test_count();
	test_sums();
	test_services();
	test_verdict();
	printf("%u passed, %u failed\n", passed, failed);
	return !!failed;
}
