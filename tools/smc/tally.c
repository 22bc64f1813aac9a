// SPDX-License-Identifier: GPL-2.0
/*
 * What `smc survey` makes of the connections that it has seen: sums, and a verdict.
 */
#include <string.h>

#include <linux/tcp.h>

#include "survey.h"

/* A connection with less costs more by its set-up than SMC saves: see performance.md. */
#define KEPT_REQUESTS	10
#define KEPT_BYTES	1048576

/* Less than both, in a second, says nothing about a host. */
#define LITTLE_BYTES	1000000
#define LITTLE_REQUESTS	100

/* Percent of the bytes or of the requests of a host that make it worth it */
#define SHARE_PARTLY	10
#define SHARE_YES	50

#define EPHEMERAL	32768	/* ports that the kernel chooses by default */

/**
 * flow_count() - take over what TCP has counted
 * @flow: the connection
 * @info: struct tcp_info, which older kernels have shorter
 * @len: of it
 */
void flow_count(struct flow *flow, const void *info, size_t len)
{
	struct tcp_info tcp = { 0 };

	memcpy(&tcp, info, len < sizeof(tcp) ? len : sizeof(tcp));
	flow->bytes = tcp.tcpi_bytes_acked + tcp.tcpi_bytes_received;
	flow->requests = tcp.tcpi_data_segs_in < tcp.tcpi_data_segs_out ?
			 tcp.tcpi_data_segs_in : tcp.tcpi_data_segs_out;
	flow->rtt_us = tcp.tcpi_min_rtt;
}

/**
 * tally_listener() - note the socket of a service
 * @tally: zeroed at first
 * @flow: the socket
 */
void tally_listener(struct tally *tally, const struct flow *flow)
{
	tally->listeners[flow->local_port] = flow->inode;
}

/* Both ends of a connection within the host are seen; the sums have one of them. */
static bool is_other_end(const struct flow *flow)
{
	int order = memcmp(&flow->local, &flow->peer, sizeof(flow->local));

	return order ? order > 0 : flow->local_port > flow->peer_port;
}

/* Without a listener, the port that a program has chosen is that of the service. */
static bool is_server(const struct tally *tally, enum reach reach, const struct flow *flow)
{
	if (tally->listeners[flow->local_port])
		return true;
	if (reach == REACH_HOST && tally->listeners[flow->peer_port])
		return false;
	return flow->local_port < EPHEMERAL && flow->peer_port >= EPHEMERAL;
}

static struct service *service_of(struct tally *tally, enum reach reach, const struct flow *flow)
{
	bool is_local = is_server(tally, reach, flow);
	uint16_t port = is_local ? flow->local_port : flow->peer_port;
	enum side side = reach == REACH_HOST ? SIDE_BOTH : is_local ? SIDE_SERVER : SIDE_CLIENT;
	struct service *service = &tally->services[side][port];

	if (side != SIDE_CLIENT && tally->listeners[port])
		service->inode = tally->listeners[port];
	else if (flow->inode && is_local == (side != SIDE_CLIENT))
		service->inode = flow->inode;
	return service;
}

/**
 * tally_add() - add what a connection moved
 * @tally: with the listeners of the host
 * @reach: the link that SMC would have
 * @flow: its end, or now
 * @before: what it had moved when the survey began, NULL if it is newer
 * @is_open: it has not ended
 */
void tally_add(struct tally *tally, enum reach reach, const struct flow *flow,
	       const struct flow *before, bool is_open)
{
	uint64_t bytes = flow->bytes - (before ? before->bytes : 0);
	uint64_t requests = flow->requests - (before ? before->requests : 0);
	struct amount *amount = &tally->amounts[reach];
	struct service *service;
	bool is_kept;

	/* without a byte it was refused, or is not connected yet */
	if (!flow->bytes || (reach == REACH_HOST && is_other_end(flow)))
		return;
	is_kept = before || is_open || requests >= KEPT_REQUESTS || bytes >= KEPT_BYTES;
	amount->open += is_open;
	amount->new += !before;
	amount->bytes += bytes;
	amount->requests += requests;
	amount->rtt_us += requests * flow->rtt_us;
	service = service_of(tally, reach, flow);
	service->connections++;
	service->bytes += bytes;
	service->requests += requests;
	if (!is_kept)
		return;
	amount->kept_bytes += bytes;
	amount->kept_requests += requests;
	if (reach == REACH_HOST || reach == REACH_SUBNET)
		service->served_bytes += bytes;
}

unsigned int tally_percent(uint64_t part, uint64_t whole)
{
	return whole ? (100 * part + whole / 2) / whole : 0;
}

/**
 * tally_top() - find the services with the most bytes
 * @tally: all connections
 * @top: filled, the first has most
 *
 * Return: how many there are.
 */
size_t tally_top(const struct tally *tally, const struct service *top[TOP])
{
	const struct service *service = &tally->services[0][0];
	const struct service *end = service + SIDE_MAX * PORTS;
	size_t nr = 0, i;

	for (; service < end; service++) {
		if (!service->connections)
			continue;
		for (i = nr; i && top[i - 1]->bytes < service->bytes; i--)
			if (i < TOP)
				top[i] = top[i - 1];
		if (i < TOP)
			top[i] = service;
		nr += nr < TOP;
	}
	return nr;
}

static unsigned int max(unsigned int a, unsigned int b)
{
	return a > b ? a : b;
}

static enum worth worth_of(unsigned int share)
{
	return share >= SHARE_YES ? WORTH_YES : share >= SHARE_PARTLY ? WORTH_PARTLY : WORTH_NO;
}

/**
 * tally_verdict() - judge whether SMC is worth it on this host
 * @tally: all connections
 * @seconds: how long they were seen
 * @text: filled with a sentence
 *
 * Return: the verdict.
 */
enum worth tally_verdict(const struct tally *tally, unsigned int seconds, char text[WORTH_TEXT])
{
	static const char * const words[] = {
		[WORTH_NO] = "Not worth it",
		[WORTH_PARTLY] = "Worth it for some services",
		[WORTH_YES] = "Worth it",
	};
	static const char little[] =
		"No verdict: TCP moves too little here; survey this host under its usual load.";
	static const char carried[] =
		"%s: SMC would carry %u %% of the bytes and %u %% of the requests%s";
	static const char through[] =
		"; and %u %% more through routers, by version 2, with peers that have RDMA devices";
	const struct amount *host = &tally->amounts[REACH_HOST];
	const struct amount *subnet = &tally->amounts[REACH_SUBNET];
	const struct amount *routed = &tally->amounts[REACH_ROUTED];
	uint64_t bytes = 0, requests = 0;
	unsigned int of_bytes, of_requests, more;
	enum worth worth;
	int i, len;

	for (i = 0; i < REACH_MAX; i++) {
		bytes += tally->amounts[i].bytes;
		requests += tally->amounts[i].requests;
	}
	if (bytes < (uint64_t)LITTLE_BYTES * seconds &&
	    requests < (uint64_t)LITTLE_REQUESTS * seconds) {
		snprintf(text, WORTH_TEXT, "%s", little);
		return WORTH_UNKNOWN;
	}
	of_bytes = tally_percent(host->kept_bytes + subnet->kept_bytes, bytes);
	of_requests = tally_percent(host->kept_requests + subnet->kept_requests, requests);
	worth = worth_of(max(of_bytes, of_requests));
	len = snprintf(text, WORTH_TEXT, carried, words[worth], of_bytes, of_requests,
		       subnet->kept_bytes ? ", with peers that have it, too" : "");
	more = max(tally_percent(routed->kept_bytes, bytes),
		   tally_percent(routed->kept_requests, requests));
	if (more >= SHARE_PARTLY)
		len += snprintf(text + len, WORTH_TEXT - len, through, more);
	snprintf(text + len, WORTH_TEXT - len, ".");
	return worth;
}
