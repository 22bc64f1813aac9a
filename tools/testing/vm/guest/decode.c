// SPDX-License-Identifier: GPL-2.0
/*
 * The module's own decoders as a filter. A line of input is "clc HEX" or "rdma HEX".
 * The line of output has the kind of the message and all its fields, numbers in
 * decimal, bytes as x and hex. A message that the decoders refuse is "bad".
 *
 * smcvm/dissect.py compiles it with offsetofend(); this file and codec/ replace
 * everything else that the codecs use of the kernel.
 */
#include <endian.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/types.h>

typedef __u8 u8;
typedef __u16 u16;
typedef __s16 s16;
typedef __u32 u32;
typedef __s32 s32;
typedef __u64 u64;
typedef __s64 s64;

#define __packed		__attribute__((packed))
#define static_assert		_Static_assert
#define BUILD_BUG_ON(cond)	_Static_assert(!(cond), #cond)
#define ARRAY_SIZE(a)		(sizeof(a) / sizeof((a)[0]))
#define fallthrough		__attribute__((fallthrough))
#define be16_to_cpu		be16toh
#define be32_to_cpu		be32toh
#define be64_to_cpu		be64toh
#define cpu_to_be16		htobe16
#define cpu_to_be32		htobe32
#define cpu_to_be64		htobe64
#define READ_ONCE(x)		(x)
#define WRITE_ONCE(x, value)	((x) = (value))
/* nobody else looks */
#define smp_store_release(p, value)	(*(p) = (value))
/* the same */
#define smp_load_acquire(p)	(*(p))

static long long min(long long a, long long b)
{
	return a < b ? a : b;
}

#define max_t(type, a, b)	((type)max(a, b))
#define min_t(type, a, b)	((type)min(a, b))

static long long max(long long a, long long b)
{
	return a > b ? a : b;
}

static long long min3(long long a, long long b, long long c)
{
	return min(a, min(b, c));
}

#include "proto/smc_ring.c"
#include "proto/smc_cdc_wire.c"
#include "proto/smc_clc_wire.c"
#include "proto/smc_llc_wire.c"

enum { MAX_LEN = 8192 };

static void say(const char *name, u64 value)
{
	printf(" %s=%llu", name, (unsigned long long)value);
}

static void say_bytes(const char *name, const u8 *p, size_t len)
{
	printf(" %s=x", name);
	while (len--)
		printf("%02x", *p++);
}

static void say_proposal(const struct smc_clc_proposal *p)
{
	say_bytes("peer_id", p->peer_id, sizeof(p->peer_id));
	if (p->offers_v1) {
		say_bytes("gid", p->gid, sizeof(p->gid));
		say_bytes("mac", p->mac, sizeof(p->mac));
	}
	if (p->has_subnets) {
		say("subnet", p->subnet);
		say("subnet_len", p->subnet_len);
		say("nr_prefixes", p->nr_prefixes);
		for (int i = 0; i < p->nr_prefixes; i++) {
			say_bytes("prefix", p->prefix[i].addr, sizeof(p->prefix[i].addr));
			say("prefix_len", p->prefix[i].len);
		}
	}
	if (p->offers_v2) {
		say_bytes("v2_gid", p->v2.gid, sizeof(p->v2.gid));
		say("release", p->v2.release);
		say("nr_eids", p->v2.nr_eids);
		for (int i = 0; i < p->v2.nr_eids; i++)
			say_bytes("eid", p->v2.eid[i], sizeof(p->v2.eid[i]));
	}
}

static void say_accept(const struct smc_clc_accept *a, u8 version)
{
	say_bytes("peer_id", a->peer_id, sizeof(a->peer_id));
	say_bytes("gid", a->gid, sizeof(a->gid));
	say_bytes("mac", a->mac, sizeof(a->mac));
	say("qpn", a->qpn);
	say("rkey", a->rkey);
	say("rmb_addr", a->rmb_addr);
	say("rmbe_index", a->rmbe_index);
	say("token", a->token);
	say("psn", a->psn);
	say("size_code", a->size_code);
	say("mtu", a->mtu);
	say("first_contact", a->first_contact);
	if (version != SMC_CLC_V2)
		return;
	say_bytes("eid", a->eid, sizeof(a->eid));
	if (!a->first_contact)
		return;
	say("os", a->fce.os);
	say("release", a->fce.release);
	say_bytes("host", a->fce.host, sizeof(a->fce.host));
	if (a->nr_gids)
		say("nr_gids", a->nr_gids);
	for (int i = 0; i < a->nr_gids; i++)
		say_bytes("gids", a->gids[i], sizeof(a->gids[i]));
}

static void say_decline(const struct smc_clc_decline *d)
{
	say_bytes("peer_id", d->peer_id, sizeof(d->peer_id));
	say("diagnosis", d->diagnosis);
	say("out_of_sync", d->out_of_sync);
}

static bool decode_clc(const u8 *buf, size_t len)
{
	struct smc_clc_msg msg;

	if (smc_clc_decode(buf, len, &msg) != SMC_CLC_OK)
		return false;
	switch (msg.type) {
	case SMC_CLC_PROPOSAL:
		printf("proposal");
		say_proposal(&msg.proposal);
		break;
	case SMC_CLC_ACCEPT:
	case SMC_CLC_CONFIRM:
		printf(msg.type == SMC_CLC_ACCEPT ? "accept" : "confirm");
		say_accept(&msg.accept, msg.version);
		break;
	default:
		printf("decline");
		say_decline(&msg.decline);
	}
	say("version", msg.version);
	return true;
}

static void say_end(const struct smc_llc_end *end)
{
	say_bytes("gid", end->gid, sizeof(end->gid));
	say_bytes("mac", end->mac, sizeof(end->mac));
	say("qpn", end->qpn);
}

static void say_add_link_cont(const struct smc_llc_add_link_cont *c)
{
	say("link_num", c->link_num);
	say("nr_rtokens", c->nr_rtokens);
	for (int i = 0; i < min(c->nr_rtokens, SMC_LLC_CONT_PAIRS); i++) {
		say("ref_rkey", c->pair[i].ref_rkey);
		say("new_rkey", c->pair[i].rkey);
		say("new_vaddr", c->pair[i].vaddr);
	}
}

static void say_confirm_rkey(const struct smc_llc_confirm_rkey *c)
{
	say("is_negative", c->is_negative);
	say("may_retry", c->may_retry);
	say("nr_rtokens", c->nr_rtokens);
	say("rkey", c->here.rkey);
	say("vaddr", c->here.vaddr);
	for (int i = 0; i < min(c->nr_rtokens, SMC_LLC_RKEY_SPECS); i++) {
		say("other_link", c->other[i].link_num);
		say("rkey", c->other[i].rkey);
		say("vaddr", c->other[i].vaddr);
	}
}

static void say_delete_rkey(const struct smc_llc_delete_rkey *d)
{
	say("is_negative", d->is_negative);
	say("count", d->count);
	say("error_mask", d->error_mask);
	for (int i = 0; i < d->count; i++)
		say("rkey", d->rkey[i]);
}

static bool decode_llc(const u8 *buf, size_t len)
{
	struct smc_llc_msg msg;

	if (smc_llc_decode(buf, len, SMC_DIALECT_DEPLOYED, &msg) != SMC_LLC_OK)
		return false;
	switch (msg.type) {
	case SMC_LLC_CONFIRM_LINK:
		printf("confirm_link");
		say_end(&msg.confirm_link.end);
		say("link_num", msg.confirm_link.link_num);
		say("link_uid", msg.confirm_link.link_uid);
		say("max_links", msg.confirm_link.max_links);
		break;
	case SMC_LLC_ADD_LINK:
		printf("add_link");
		say_end(&msg.add_link.end);
		say("psn", msg.add_link.end.psn);
		say("mtu", msg.add_link.end.mtu);
		say("link_num", msg.add_link.link_num);
		say("is_rejected", msg.add_link.is_rejected);
		break;
	case SMC_LLC_ADD_LINK_CONT:
		printf("add_link_cont");
		say_add_link_cont(&msg.add_link_cont);
		break;
	case SMC_LLC_DELETE_LINK:
		printf("delete_link");
		say("link_num", msg.delete_link.link_num);
		say("is_all", msg.delete_link.is_all);
		say("is_orderly", msg.delete_link.is_orderly);
		say("reason", msg.delete_link.reason);
		break;
	case SMC_LLC_CONFIRM_RKEY:
		printf("confirm_rkey");
		say_confirm_rkey(&msg.confirm_rkey);
		break;
	case SMC_LLC_DELETE_RKEY:
		printf("delete_rkey");
		say_delete_rkey(&msg.delete_rkey);
		break;
	case SMC_LLC_TEST_LINK:
		printf("test_link");
		break;
	default:
		return false;
	}
	say("is_reply", msg.is_reply);
	return true;
}

static bool decode_cdc(const u8 *buf, size_t len)
{
	struct smc_cdc_msg msg;

	if (smc_cdc_decode(buf, len, &msg))
		return false;
	printf("cdc");
	say("seq", msg.seq);
	say("token", msg.token);
	say("wrap", msg.prod.wrap);
	say("cursor", msg.prod.off);
	say("wrap", msg.cons.wrap);
	say("cursor", msg.cons.off);
	say("B", !!(msg.prod_flags & SMC_CDC_BLOCKED));
	say("P", !!(msg.prod_flags & SMC_CDC_URG_PENDING));
	say("U", !!(msg.prod_flags & SMC_CDC_URG_PRESENT));
	say("R", !!(msg.prod_flags & SMC_CDC_UPDATE_REQ));
	say("F", !!(msg.prod_flags & SMC_CDC_FAILOVER));
	say("D", !!(msg.conn_flags & SMC_CDC_DONE));
	say("C", !!(msg.conn_flags & SMC_CDC_CLOSED));
	say("A", !!(msg.conn_flags & SMC_CDC_ABORT));
	return true;
}

static bool decode(const char *kind, const u8 *buf, size_t len)
{
	if (!strcmp(kind, "clc"))
		return decode_clc(buf, len);
	return len && buf[0] == SMC_CDC_TYPE ? decode_cdc(buf, len) : decode_llc(buf, len);
}

int main(void)
{
	static char line[2 * MAX_LEN + 16], hex[2 * MAX_LEN + 1];
	static u8 buf[MAX_LEN];
	char kind[8];
	size_t len;

	while (fgets(line, sizeof(line), stdin)) {
		if (sscanf(line, "%7s %s", kind, hex) != 2)
			return EXIT_FAILURE;
		for (len = 0; sscanf(hex + 2 * len, "%2hhx", &buf[len]) == 1; len++)
			;
		if (!decode(kind, buf, len))
			printf("bad");
		putchar('\n');
	}
	return EXIT_SUCCESS;
}
