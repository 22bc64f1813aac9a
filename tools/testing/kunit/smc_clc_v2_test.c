// SPDX-License-Identifier: GPL-2.0
/*
 * Version 2 and its agreement with version 1, in whole handshakes: the decisions of both
 * sides, with every message encoded and decoded in between (protocol.md).
 */
#include "smc_kunit.h"

#include "../../../net/smc/proto/smc_clc_nego.h"
#include "smc_kunit_clc.h"

#define V2_EID_A	"EID-A                           "
#define V2_EID_B	"EID.B                           "
#define V2_EID_C	"0C                              "

static const u8 v2_client_id[] = { 0x12, 0x34, 0x52, 0x54, 0x00, 0xaa, 0xbb, 0xcc };
static const u8 v2_server_id[] = { 0x56, 0x78, 0x52, 0x54, 0x00, 0xdd, 0xee, 0xff };
static const u8 v2_client_mac[] = { 0x52, 0x54, 0x00, 0xaa, 0xbb, 0xcc };
static const u8 v2_server_mac[] = { 0x52, 0x54, 0x00, 0xdd, 0xee, 0xff };
static const u8 v2_client_gid_v1[SMC_GID_LEN] = { 0xfe, 0x80, [15] = 1 };
static const u8 v2_client_gid[SMC_GID_LEN] = { [10] = 0xff, 0xff, 10, 0, 0, 1 };
static const u8 v2_server_gid[SMC_GID_LEN] = { [10] = 0xff, 0xff, 10, 9, 0, 1 };
static const u8 v2_client_gid6[SMC_GID_LEN] = { 0x20, 0x01, 0x0d, 0xb8, [15] = 1 };
static const u8 v2_server_gid6[SMC_GID_LEN] = { 0xfd, 0x43, 9, [15] = 2 };
static const u8 v2_client_gid_ll[SMC_GID_LEN] = { 0xfe, 0x80, [8] = 2, [15] = 1 };
static const u8 v2_server_gid_ll[SMC_GID_LEN] = { 0xfe, 0x80, [8] = 2, [15] = 2 };
static const u8 v2_host[SMC_CLC_HOST_LEN] = "client                          ";

static const struct smc_nego_rmbe v2_rmbe = {
	.rkey = 0xa0b0, .addr = 0x7f0000100000, .token = 5, .index = 7, .size_code = 2,
};

/**
 * struct v2_side - the abilities of one side
 * @v1: client: has a subnet to name; server: shares it
 * @v2: has a RoCE v2 GID and a route to the peer
 * @release: of version 2
 * @conns: its limit of connections
 * @links: its limit of links
 * @eids: names, by letter
 * @gid: kind of its RoCE v2 GID: 0 for IPv4, '6' for IPv6, 'l' for link-local
 * @features: bits that differ from the usual ones, 3 at a client and 6 at a server
 */
struct v2_side {
	bool v1;
	bool v2;
	u8 release;
	u8 conns;
	u8 links;
	const char *eids;
	char gid;
	u8 features;
};

/**
 * struct v2_outcome - the result of a handshake
 * @decline: the reason, if it was declined
 * @at: the side that declined: 0 none, 1 the client at its Proposal, 2 the server, 3 the
 *	client at the Accept, 4 the server at the Confirm
 * @client: the result at the client
 * @server: the result at the server
 */
struct v2_outcome {
	enum smc_decline decline;
	unsigned int at;
	struct smc_params client;
	struct smc_params server;
};

static const char *v2_eid_of(char letter)
{
	return letter == 'A' ? V2_EID_A : letter == 'B' ? V2_EID_B : V2_EID_C;
}

static const u8 *v2_gid(char kind, bool is_server)
{
	switch (kind) {
	case '6':
		return is_server ? v2_server_gid6 : v2_client_gid6;
	case 'l':
		return is_server ? v2_server_gid_ll : v2_client_gid_ll;
	default:
		return is_server ? v2_server_gid : v2_client_gid;
	}
}

static void v2_local(const struct v2_side *side, bool is_server, struct smc_nego_local *local)
{
	const char *eid;

	memset(local, 0, sizeof(*local));
	memcpy(local->peer_id, is_server ? v2_server_id : v2_client_id, 8);
	memcpy(local->gid, v2_client_gid_v1, sizeof(local->gid));
	memcpy(local->mac, is_server ? v2_server_mac : v2_client_mac, 6);
	if (side->v1) {
		local->subnets.ipv4 = 0x0a000001;
		local->subnets.ipv4_len = 24;
	}
	local->has_v2 = side->v2;
	local->v2.release = side->release;
	local->v2.max_conns = side->conns;
	local->v2.max_links = side->links;
	local->v2.features = (is_server ? 6 : 3) ^ side->features;
	memcpy(local->v2.gid, v2_gid(side->gid, is_server), SMC_GID_LEN);
	for (eid = side->eids; *eid; eid++)
		memcpy(local->v2.eid[local->v2.nr_eids++], v2_eid_of(*eid), SMC_EID_LEN);
}

static void v2_end(bool is_server, char gid, struct smc_nego_end *end)
{
	memset(end, 0, sizeof(*end));
	memcpy(end->peer_id, is_server ? v2_server_id : v2_client_id, 8);
	memcpy(end->gid, v2_gid(gid, is_server), SMC_GID_LEN);
	memcpy(end->mac, is_server ? v2_server_mac : v2_client_mac, 6);
	memcpy(end->host, v2_host, sizeof(end->host));
	end->qpn = is_server ? 0x11 : 0x12;
	end->is_direct = true;
}

/*
 * A peer that only knows release 0 may leave out the end of the first contact extension,
 * which release 1 has added (protocol.md).
 */
static size_t v2_shorten(const struct smc_clc_msg *msg, u8 *buf, size_t len)
{
	size_t at = SMC_CLC_ACCEPT_LEN - SMC_CLC_TRL_LEN + sizeof(struct smc_clc_v2_tail_wire);

	if (msg->type == SMC_CLC_PROPOSAL || msg->version != SMC_CLC_V2 ||
	    !msg->accept.first_contact || msg->accept.fce.release)
		return len;
	memmove(buf + at + 36, buf + at + 52, len - at - 52);
	len -= 52 - 36;
	buf[5] = len >> 8;
	buf[6] = len;
	return len;
}

/* Encode and decode: the message as the other side sees it. */
static void v2_carry(struct kunit *test, struct smc_clc_msg *msg, bool is_short)
{
	static u8 buf[SMC_CLC_MSG_MAX_LEN];
	u8 version = msg->version;
	size_t len;

	len = smc_kunit_clc_encode(msg, buf, sizeof(buf));
	KUNIT_ASSERT_GT(test, len, 0);
	if (is_short)
		len = v2_shorten(msg, buf, len);
	KUNIT_ASSERT_EQ(test, smc_clc_decode(buf, len, msg), SMC_CLC_OK);
	KUNIT_ASSERT_EQ(test, msg->version, version);
}

/* A change to a message on the wire, to get a peer that behaves otherwise. */
struct v2_twist {
	void (*accept)(struct smc_clc_msg *msg);
	void (*confirm)(struct smc_clc_msg *msg);
	bool is_short;	/* a message of release 0 has the short form */
};

static void v2_shake(struct kunit *test, const struct v2_side *c, const struct v2_side *s,
		     const struct v2_twist *twist, struct v2_outcome *out)
{
	static const struct smc_nego_known nothing = { .max_size_code = 5 };
	/* too large for a stack; cases run one after the other */
	static struct smc_nego_confirmed confirmed;
	static struct smc_nego_accepted accepted;
	static struct smc_clc_proposal offer;
	static struct smc_nego_local local;
	static u8 peer_gid[SMC_GID_LEN];
	static struct smc_nego_end end;
	static struct smc_clc_msg msg;

	memset(out, 0, sizeof(*out));
	out->at = 1;
	v2_local(c, false, &local);
	out->decline = smc_nego_propose(&local, &msg);
	if (out->decline != SMC_DECLINE_NONE)
		return;
	offer = msg.proposal;
	v2_carry(test, &msg, twist->is_short);

	out->at = 2;
	v2_local(s, true, &local);
	out->decline = smc_nego_server(&msg.proposal, &local, s->v1, peer_gid, &out->server);
	if (out->decline != SMC_DECLINE_NONE)
		return;
	v2_end(true, s->gid, &end);
	smc_nego_build_data(&msg, SMC_CLC_ACCEPT, &end, &v2_rmbe, SMC_MTU_4096, &out->server, true);
	if (twist->accept)
		twist->accept(&msg);
	v2_carry(test, &msg, twist->is_short);

	out->at = 3;
	out->decline = smc_nego_classify_accept(&msg, &offer, &nothing, SMC_MTU_1024, &accepted);
	out->client = accepted.params;
	if (out->decline != SMC_DECLINE_NONE)
		return;
	v2_end(false, c->gid, &end);
	smc_nego_build_data(&msg, SMC_CLC_CONFIRM, &end, &v2_rmbe,
			    accepted.params.mtu, &out->client, true);
	if (twist->confirm)
		twist->confirm(&msg);
	v2_carry(test, &msg, twist->is_short);

	out->at = 4;
	out->decline = smc_nego_check_confirm(&msg, &offer, &out->server, NULL, SMC_MTU_4096,
					      &confirmed);
	if (out->decline != SMC_DECLINE_NONE)
		return;
	out->server = confirmed.params;
	out->at = 0;
}

static const struct v2_twist v2_straight;
static const struct v2_twist v2_short = { .is_short = true };

/* Both sides agree on the same result. */
static void v2_expect_agreement(struct kunit *test, const struct v2_outcome *out)
{
	const struct smc_params *c = &out->client, *s = &out->server;

	KUNIT_EXPECT_EQ(test, out->decline, SMC_DECLINE_NONE);
	KUNIT_EXPECT_EQ(test, out->at, 0);
	KUNIT_EXPECT_EQ(test, c->version, s->version);
	KUNIT_EXPECT_EQ(test, c->release, s->release);
	KUNIT_EXPECT_EQ(test, c->is_routed, s->is_routed);
	KUNIT_EXPECT_EQ(test, c->mtu, SMC_MTU_1024);
	KUNIT_EXPECT_EQ(test, s->mtu, SMC_MTU_1024);
	KUNIT_EXPECT_EQ(test, c->max_links, s->max_links);
	KUNIT_EXPECT_EQ(test, c->max_links_is_fixed, s->max_links_is_fixed);
	KUNIT_EXPECT_EQ(test, c->max_conns, s->max_conns);
	KUNIT_EXPECT_EQ(test, c->announced_max_conns, s->announced_max_conns);
	KUNIT_EXPECT_EQ(test, c->max_size_code, s->max_size_code);
	KUNIT_EXPECT_EQ(test, c->has_dialect, s->has_dialect);
	KUNIT_EXPECT_EQ(test, c->llc_form, s->llc_form);
	KUNIT_EXPECT_EQ(test, c->features, s->features);
	KUNIT_EXPECT_MEMEQ(test, c->eid, s->eid, sizeof(c->eid));
}

struct v2_row {
	const char *name;
	struct v2_side client;
	struct v2_side server;
	unsigned int at;
	enum smc_decline decline;
	u8 version;
	u8 release;
	u8 conns;
	u8 links;
	char eid;
};

static const struct v2_row v2_rows[] = {
	{ "both know version 1 only",
	  { true, false, 1, 255, 2, "" }, { true, false, 1, 255, 2, "" },
	  0, SMC_DECLINE_NONE, 1, 0, 255, 8 },
	{ "no EID anywhere",
	  { true, true, 1, 255, 2, "" }, { true, true, 1, 255, 2, "" },
	  0, SMC_DECLINE_NONE, 1, 0, 255, 8 },
	{ "EID at the client only",
	  { true, true, 1, 255, 2, "A" }, { true, true, 1, 255, 2, "" },
	  0, SMC_DECLINE_NONE, 1, 0, 255, 8 },
	{ "EID at the server only",
	  { true, true, 1, 255, 2, "" }, { true, true, 1, 255, 2, "A" },
	  0, SMC_DECLINE_NONE, 1, 0, 255, 8 },
	{ "EIDs differ", { true, true, 1, 255, 2, "A" }, { true, true, 1, 255, 2, "B" },
	  0, SMC_DECLINE_NONE, 1, 0, 255, 8 },
	{ "EIDs differ, and so do the subnets",
	  { true, true, 1, 255, 2, "A" }, { false, true, 1, 255, 2, "B" },
	  2, SMC_DECLINE_DIFFPREFIX },
	{ "EIDs differ, version 1 is not offered",
	  { false, true, 1, 255, 2, "A" }, { true, true, 1, 255, 2, "BC" },
	  2, SMC_DECLINE_NOUEID },
	{ "version 2.1", { true, true, 1, 255, 2, "A" }, { true, true, 1, 255, 2, "A" },
	  0, SMC_DECLINE_NONE, 2, 1, 255, 2, 'A' },
	{ "version 2 crosses subnets",
	  { true, true, 1, 255, 2, "A" }, { false, true, 1, 255, 2, "A" },
	  0, SMC_DECLINE_NONE, 2, 1, 255, 2, 'A' },
	{ "version 2 alone", { false, true, 1, 255, 2, "A" }, { false, true, 1, 255, 2, "A" },
	  0, SMC_DECLINE_NONE, 2, 1, 255, 2, 'A' },
	{ "the client's first EID counts",
	  { true, true, 1, 255, 2, "CAB" }, { true, true, 1, 255, 2, "BA" },
	  0, SMC_DECLINE_NONE, 2, 1, 255, 2, 'A' },
	{ "client of version 2.0",
	  { true, true, 0, 255, 2, "A" }, { true, true, 1, 100, 1, "A" },
	  0, SMC_DECLINE_NONE, 2, 0, 255, 2, 'A' },
	{ "server of version 2.0",
	  { true, true, 1, 100, 1, "A" }, { true, true, 0, 255, 2, "A" },
	  0, SMC_DECLINE_NONE, 2, 0, 255, 2, 'A' },
	{ "client of a release to come",
	  { true, true, 15, 255, 2, "A" }, { true, true, 1, 255, 2, "A" },
	  0, SMC_DECLINE_NONE, 2, 1, 255, 2, 'A' },
	{ "the smaller limits win",
	  { true, true, 1, 100, 2, "A" }, { true, true, 1, 255, 1, "A" },
	  0, SMC_DECLINE_NONE, 2, 1, 100, 1, 'A' },
	{ "limits as small as may be",
	  { true, true, 1, 16, 1, "A" }, { true, true, 1, 255, 2, "A" },
	  0, SMC_DECLINE_NONE, 2, 1, 16, 1, 'A' },
	{ "too few connections, version 1 is left",
	  { true, true, 1, 15, 2, "A" }, { true, true, 1, 255, 2, "A" },
	  0, SMC_DECLINE_NONE, 1, 0, 255, 8 },
	{ "too few connections",
	  { false, true, 1, 15, 2, "A" }, { true, true, 1, 255, 2, "A" },
	  2, SMC_DECLINE_MAXCONNERR },
	{ "no link at all", { false, true, 1, 255, 0, "A" }, { true, true, 1, 255, 2, "A" },
	  2, SMC_DECLINE_MAXLINKERR },
	{ "limits mean nothing at release 0",
	  { false, true, 0, 0, 0, "A" }, { true, true, 1, 255, 2, "A" },
	  0, SMC_DECLINE_NONE, 2, 0, 255, 2, 'A' },
	{ "no way to the client's GID",
	  { false, true, 1, 255, 2, "A" }, { true, false, 1, 255, 2, "A" },
	  2, SMC_DECLINE_NOROUTE },
	{ "no way to the client's GID, but a subnet in common",
	  { true, true, 1, 255, 2, "A" }, { true, false, 1, 255, 2, "A" },
	  0, SMC_DECLINE_NONE, 1, 0, 255, 8 },
	{ "no RoCE v2 GID at the client",
	  { true, false, 1, 255, 2, "A" }, { true, true, 1, 255, 2, "A" },
	  0, SMC_DECLINE_NONE, 1, 0, 255, 8 },
	{ "IPv6 GIDs", { true, true, 1, 255, 2, "A", '6' }, { false, true, 1, 255, 2, "A", '6' },
	  0, SMC_DECLINE_NONE, 2, 1, 255, 2, 'A' },
	{ "IPv6 GIDs, and no prefix to name",
	  { false, true, 1, 255, 2, "A", '6' }, { false, true, 1, 255, 2, "A", '6' },
	  0, SMC_DECLINE_NONE, 2, 1, 255, 2, 'A' },
	{ "link-local GIDs", { false, true, 1, 255, 2, "A", 'l' },
	  { false, true, 1, 255, 2, "A", 'l' }, 0, SMC_DECLINE_NONE, 2, 1, 255, 2, 'A' },
	{ "IPv6 GID, server of IPv4 ones, a subnet in common",
	  { true, true, 1, 255, 2, "A", '6' }, { true, true, 1, 255, 2, "A" },
	  0, SMC_DECLINE_NONE, 1, 0, 255, 8 },
	{ "IPv6 GID, server of IPv4 ones, other subnets",
	  { true, true, 1, 255, 2, "A", '6' }, { false, true, 1, 255, 2, "A" },
	  2, SMC_DECLINE_DIFFPREFIX },
	{ "IPv6 GID, server of IPv4 ones, version 2 alone",
	  { false, true, 1, 255, 2, "A", '6' }, { true, true, 1, 255, 2, "A" },
	  2, SMC_DECLINE_NOROUTE },
	{ "IPv4 GID, server of IPv6 ones",
	  { false, true, 1, 255, 2, "A" }, { true, true, 1, 255, 2, "A", '6' },
	  2, SMC_DECLINE_NOROUTE },
	{ "link-local GID, server of others",
	  { false, true, 1, 255, 2, "A", 'l' }, { true, true, 1, 255, 2, "A", '6' },
	  2, SMC_DECLINE_NOROUTE },
	{ "server of a link-local GID",
	  { false, true, 1, 255, 2, "A", '6' }, { true, true, 1, 255, 2, "A", 'l' },
	  2, SMC_DECLINE_NOROUTE },
	{ "nothing to offer", { false, false, 1, 255, 2, "A" }, { true, true, 1, 255, 2, "A" },
	  1, SMC_DECLINE_CNFERR },
	{ "no EID, and no subnet to name",
	  { false, true, 1, 255, 2, "" }, { true, true, 1, 255, 2, "A" },
	  1, SMC_DECLINE_CNFERR },
};

KUNIT_ARRAY_PARAM_DESC(v2_row, v2_rows, name);

static void clc_05_versions_meet(struct kunit *test)
{
	const struct v2_row *row = test->param_value;
	static const u8 none[SMC_EID_LEN];
	struct v2_outcome out, same;

	v2_shake(test, &row->client, &row->server, &v2_short, &same);
	v2_shake(test, &row->client, &row->server, &v2_straight, &out);
	KUNIT_EXPECT_MEMEQ(test, &same, &out, sizeof(out));
	KUNIT_EXPECT_EQ(test, out.at, row->at);
	KUNIT_EXPECT_EQ(test, out.decline, row->decline);
	if (row->at)
		return;
	v2_expect_agreement(test, &out);
	KUNIT_EXPECT_EQ(test, out.server.version, row->version);
	KUNIT_EXPECT_EQ(test, out.server.release, row->release);
	KUNIT_EXPECT_EQ(test, out.server.max_conns, row->conns);
	KUNIT_EXPECT_EQ(test, out.server.max_links, row->links);
	KUNIT_EXPECT_EQ(test, out.server.max_links_is_fixed, row->release > 0);
	KUNIT_EXPECT_EQ(test, out.server.announced_max_conns, row->release ? row->conns : 0);
	KUNIT_EXPECT_EQ(test, out.server.is_routed, row->version == 2);
	KUNIT_EXPECT_EQ(test, out.server.has_dialect, row->version == 2);
	KUNIT_EXPECT_EQ(test, out.server.llc_form,
			row->version == 2 ? SMC_LLC_FORM_V2 : SMC_LLC_FORM_V1);
	/* 6 at the server, 3 at the client: both know 2 */
	KUNIT_EXPECT_EQ(test, out.server.features, row->release ? 2 : 0);
	KUNIT_EXPECT_MEMEQ(test, out.server.eid,
			   row->eid ? (const u8 *)v2_eid_of(row->eid) : none, SMC_EID_LEN);
	KUNIT_EXPECT_EQ(test, out.server.peer_is_direct, row->version == 2);
}

static bool v2_share_eid(const struct v2_side *c, const struct v2_side *s)
{
	const char *eid;

	for (eid = c->eids; *eid; eid++)
		if (strchr(s->eids, *eid))
			return true;
	return false;
}

/* The expected result, computed in another way than the code does. */
static enum smc_decline v2_expected(const struct v2_side *c, const struct v2_side *s, u8 *version)
{
	bool offered = c->v2 && *c->eids;
	bool is_21 = c->release && s->release;
	enum smc_decline why = SMC_DECLINE_NONE;

	*version = 0;
	if (!c->v1 && !offered)
		return SMC_DECLINE_CNFERR;
	if (!offered)
		why = SMC_DECLINE_PEERNOSMC;
	else if (!v2_share_eid(c, s))
		why = SMC_DECLINE_NOUEID;
	else if (!s->v2 || c->gid != s->gid)
		why = SMC_DECLINE_NOROUTE;
	else if (is_21 && (c->conns < 16 || s->conns < 16))
		why = SMC_DECLINE_MAXCONNERR;
	else if (is_21 && (!c->links || !s->links))
		why = SMC_DECLINE_MAXLINKERR;
	if (why == SMC_DECLINE_NONE)
		*version = 2;
	else if (c->v1 && s->v1)
		*version = 1;
	if (*version)
		return SMC_DECLINE_NONE;
	return c->v1 ? SMC_DECLINE_DIFFPREFIX : why;
}

/* Every combination of a few values of each: thousands of handshakes. */
static void clc_05_every_combination_agrees_or_declines(struct kunit *test)
{
	static const char *const eids[] = { "", "A", "B", "AB" };
	static const char gids[] = { 0, '6', 'l' };
	static const u8 conns[] = { 15, 255 };
	unsigned int i, agreed[3] = {}, declined = 0;
	struct v2_side c, s;
	struct v2_outcome *out;
	enum smc_decline want;
	u8 version, both;

	out = kunit_kzalloc(test, sizeof(*out), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, out);
	for (i = 0; i < 2 * 2 * 2 * 2 * 4 * 4 * 2 * 2 * 2 * 2; i++) {
		unsigned int n = i;

		c.v1 = n % 2; n /= 2;
		c.v2 = n % 2; n /= 2;
		s.v1 = n % 2; n /= 2;
		s.v2 = n % 2; n /= 2;
		c.eids = eids[n % 4]; n /= 4;
		s.eids = eids[n % 4]; n /= 4;
		c.release = n % 2; n /= 2;
		s.release = n % 2; n /= 2;
		c.conns = conns[n % 2]; n /= 2;
		s.conns = conns[n % 2];
		c.links = i % 3;
		s.links = i % 5 % 3;
		c.gid = gids[i % 7 % 3];
		s.gid = i % 11 < 8 ? c.gid : gids[i % 11 - 8];
		c.features = i % 13 % 8;
		s.features = i % 17 % 8;
		want = v2_expected(&c, &s, &version);
		v2_shake(test, &c, &s, i % 19 < 9 ? &v2_short : &v2_straight, out);
		KUNIT_ASSERT_EQ_MSG(test, out->decline, want, "combination %u", i);
		KUNIT_ASSERT_EQ_MSG(test, out->server.version * !out->at, version,
				    "combination %u", i);
		agreed[version]++;
		declined += !version;
		if (!version)
			continue;
		v2_expect_agreement(test, out);
		both = (3 ^ c.features) & (6 ^ s.features);
		KUNIT_ASSERT_EQ_MSG(test, out->server.features, out->server.release ? both : 0,
				    "combination %u", i);
	}
	KUNIT_EXPECT_GT(test, agreed[1], 100);
	KUNIT_EXPECT_GT(test, agreed[2], 100);
	KUNIT_EXPECT_GT(test, declined, 100);
}

/* Servers whose answer does not fit the Proposal */

static void v2_accept_release(struct smc_clc_msg *msg)
{
	msg->accept.fce.release = 2;
}

static void v2_accept_few_conns(struct smc_clc_msg *msg)
{
	msg->accept.fce.max_conns = 15;
}

static void v2_accept_more_conns(struct smc_clc_msg *msg)
{
	msg->accept.fce.max_conns = 201;
}

static void v2_accept_no_links(struct smc_clc_msg *msg)
{
	msg->accept.fce.max_links = 0;
}

static void v2_accept_more_links(struct smc_clc_msg *msg)
{
	msg->accept.fce.max_links = 3;
}

static void v2_accept_eid(struct smc_clc_msg *msg)
{
	memcpy(msg->accept.eid, V2_EID_C, SMC_EID_LEN);
}

static void v2_accept_mtu(struct smc_clc_msg *msg)
{
	msg->accept.mtu = 6;
}

/* It names a GID of another kind than ours. */
static void v2_accept_ipv6(struct smc_clc_msg *msg)
{
	memcpy(msg->accept.gid, v2_server_gid6, sizeof(msg->accept.gid));
}

static void v2_accept_v1(struct smc_clc_msg *msg)
{
	msg->version = SMC_CLC_V1;
}

/* and clients */

static void v2_confirm_release(struct smc_clc_msg *msg)
{
	msg->accept.fce.release = 0;
}

static void v2_confirm_conns(struct smc_clc_msg *msg)
{
	msg->accept.fce.max_conns--;
}

static void v2_confirm_links(struct smc_clc_msg *msg)
{
	msg->accept.fce.max_links++;
}

static void v2_confirm_eid(struct smc_clc_msg *msg)
{
	memcpy(msg->accept.eid, V2_EID_B, SMC_EID_LEN);
}

static void v2_confirm_no_fce(struct smc_clc_msg *msg)
{
	msg->accept.first_contact = false;
}

static void v2_confirm_v1(struct smc_clc_msg *msg)
{
	msg->version = SMC_CLC_V1;
}

static void v2_confirm_gid(struct smc_clc_msg *msg)
{
	msg->accept.gid[15] ^= 1;
}

static void v2_confirm_host(struct smc_clc_msg *msg)
{
	msg->accept.peer_id[1] ^= 1;
}

static void v2_confirm_mtu(struct smc_clc_msg *msg)
{
	msg->accept.mtu = 0;
}

struct v2_liar {
	const char *name;
	struct v2_twist twist;
	unsigned int at;
	enum smc_decline decline;
};

static const struct v2_liar v2_liars[] = {
	{ "server of a release not offered", { .accept = v2_accept_release },
	  3, SMC_DECLINE_RELEASEERR },
	{ "server with too few connections", { .accept = v2_accept_few_conns },
	  3, SMC_DECLINE_MAXCONNERR },
	{ "server with more than asked for", { .accept = v2_accept_more_conns },
	  3, SMC_DECLINE_MAXCONNERR },
	{ "server without links", { .accept = v2_accept_no_links },
	  3, SMC_DECLINE_MAXLINKERR },
	{ "server with more links than asked for", { .accept = v2_accept_more_links },
	  3, SMC_DECLINE_MAXLINKERR },
	{ "server with an EID of its own", { .accept = v2_accept_eid },
	  3, SMC_DECLINE_NOUEID },
	{ "server with an MTU that is none", { .accept = v2_accept_mtu },
	  3, SMC_DECLINE_MODEUNSUPP },
	{ "server of a version not offered", { .accept = v2_accept_v1 },
	  3, SMC_DECLINE_MODEUNSUPP },
	{ "server of a GID that is no IPv4 address", { .accept = v2_accept_ipv6 },
	  3, SMC_DECLINE_NOROUTE },
	{ "client of another release", { .confirm = v2_confirm_release },
	  4, SMC_DECLINE_RELEASEERR },
	{ "client of release 0, by its length, too",
	  { .confirm = v2_confirm_release, .is_short = true }, 4, SMC_DECLINE_RELEASEERR },
	{ "client with fewer connections", { .confirm = v2_confirm_conns },
	  4, SMC_DECLINE_MAXCONNERR },
	{ "client with more links", { .confirm = v2_confirm_links },
	  4, SMC_DECLINE_MAXLINKERR },
	{ "client with another EID", { .confirm = v2_confirm_eid },
	  4, SMC_DECLINE_NOUEID },
	{ "client without the extension", { .confirm = v2_confirm_no_fce },
	  4, SMC_DECLINE_NOV2EXT },
	{ "client of another version", { .confirm = v2_confirm_v1 },
	  4, SMC_DECLINE_VERSMISMAT },
	{ "client at another GID than it proposed", { .confirm = v2_confirm_gid },
	  4, SMC_DECLINE_NOROUTE },
	{ "client of another name than it proposed", { .confirm = v2_confirm_host },
	  4, SMC_DECLINE_SYNCERR },
	{ "client with an MTU that is none", { .confirm = v2_confirm_mtu },
	  4, SMC_DECLINE_MODEUNSUPP },
};

KUNIT_ARRAY_PARAM_DESC(v2_liar, v2_liars, name);

static void err_17_a_contradiction_is_declined(struct kunit *test)
{
	static const struct v2_side client = { false, true, 1, 200, 2, "AB" };
	static const struct v2_side server = { false, true, 1, 255, 2, "A" };
	const struct v2_liar *row = test->param_value;
	struct v2_outcome out;

	v2_shake(test, &client, &server, &row->twist, &out);
	KUNIT_EXPECT_EQ(test, out.at, row->at);
	KUNIT_EXPECT_EQ(test, out.decline, row->decline);
}

/* protocol.md: a deployed client with version 2 only has no peer ID in its Proposal. */
static void pid_05_client_may_name_itself_in_the_confirm(struct kunit *test)
{
	struct smc_clc_proposal prop = { .offers_v2 = true };
	struct smc_params params = { .version = SMC_CLC_V2, .release = 1,
				     .max_conns = 255, .max_links = 2 };
	struct smc_nego_confirmed result;
	enum smc_decline decline;
	struct smc_nego_end end;
	struct smc_clc_msg msg;

	memcpy(prop.v2.gid, v2_client_gid, sizeof(prop.v2.gid));
	v2_end(false, 0, &end);
	smc_nego_build_data(&msg, SMC_CLC_CONFIRM, &end, &v2_rmbe, SMC_MTU_4096, &params, true);
	decline = smc_nego_check_confirm(&msg, &prop, &params, NULL, SMC_MTU_4096, &result);
	KUNIT_EXPECT_EQ(test, decline, SMC_DECLINE_NONE);
	/* a client that named one in its Proposal must keep it */
	prop.peer_id[7] = 1;
	decline = smc_nego_check_confirm(&msg, &prop, &params, NULL, SMC_MTU_4096, &result);
	KUNIT_EXPECT_EQ(test, decline, SMC_DECLINE_SYNCERR);
	KUNIT_EXPECT_TRUE(test, result.must_reset);
	prop.peer_id[7] = 0;
	prop.offers_v1 = true;
	decline = smc_nego_check_confirm(&msg, &prop, &params, NULL, SMC_MTU_4096, &result);
	KUNIT_EXPECT_EQ(test, decline, SMC_DECLINE_SYNCERR);
	KUNIT_EXPECT_TRUE(test, result.must_reset);
}

/* The peer ID must be that of the group, if the group has one. */
static void pid_05_client_without_a_name_is_the_groups_peer(struct kunit *test)
{
	struct smc_nego_known known = { .has_link = true, .has_rtoken = true,
					.max_size_code = 15 };
	struct smc_params params = { .version = SMC_CLC_V2, .release = 1,
				     .max_conns = 255, .max_links = 2 };
	struct smc_clc_proposal prop = { .offers_v2 = true };
	struct smc_nego_confirmed result;
	enum smc_decline decline;
	struct smc_nego_end end;
	struct smc_clc_msg msg;

	memcpy(prop.v2.gid, v2_client_gid, sizeof(prop.v2.gid));
	memcpy(known.peer_id, v2_client_id, sizeof(known.peer_id));
	v2_end(false, 0, &end);
	smc_nego_build_data(&msg, SMC_CLC_CONFIRM, &end, &v2_rmbe, SMC_MTU_4096, &params, false);
	decline = smc_nego_check_confirm(&msg, &prop, &params, &known, SMC_MTU_4096, &result);
	KUNIT_EXPECT_EQ(test, decline, SMC_DECLINE_NONE);
	msg.accept.peer_id[1] ^= 1;
	decline = smc_nego_check_confirm(&msg, &prop, &params, &known, SMC_MTU_4096, &result);
	KUNIT_EXPECT_TRUE(test, result.must_reset);
	KUNIT_EXPECT_EQ(test, decline, SMC_DECLINE_SYNCERR);
	/* a deployed client may have had none then */
	memset(known.peer_id, 0, sizeof(known.peer_id));
	decline = smc_nego_check_confirm(&msg, &prop, &params, &known, SMC_MTU_4096, &result);
	KUNIT_EXPECT_EQ(test, decline, SMC_DECLINE_NONE);
}

static void sc_02_subsequent_contact_of_version_2(struct kunit *test)
{
	static const struct smc_nego_known known = { .has_link = true, .has_rtoken = true,
						     .max_size_code = 15 };
	struct smc_clc_proposal offer = { .offers_v2 = true };
	struct smc_params params = { .version = SMC_CLC_V2, .eid = { V2_EID_A } };
	struct smc_nego_accepted accepted;
	enum smc_decline decline;
	struct smc_nego_confirmed result;
	struct smc_nego_end end;
	struct smc_clc_msg msg;

	memcpy(offer.peer_id, v2_client_id, sizeof(offer.peer_id));
	memcpy(offer.v2.eid[0], V2_EID_A, SMC_EID_LEN);
	offer.v2.nr_eids = 1;
	v2_end(true, 0, &end);
	smc_nego_build_data(&msg, SMC_CLC_ACCEPT, &end, &v2_rmbe, SMC_MTU_4096, &params, false);
	v2_carry(test, &msg, false);
	decline = smc_nego_classify_accept(&msg, &offer, &known, SMC_MTU_4096, &accepted);
	KUNIT_ASSERT_EQ(test, decline, SMC_DECLINE_NONE);
	v2_end(false, 0, &end);
	smc_nego_build_data(&msg, SMC_CLC_CONFIRM, &end, &v2_rmbe, SMC_MTU_4096,
			    &accepted.params, false);
	v2_carry(test, &msg, false);
	KUNIT_EXPECT_FALSE(test, msg.accept.first_contact);
	decline = smc_nego_check_confirm(&msg, &offer, &params, &known, SMC_MTU_4096, &result);
	KUNIT_EXPECT_EQ(test, decline, SMC_DECLINE_NONE);
	/* after the Accept nothing is declined any more, ERR-07 */
	msg.version = SMC_CLC_V1;
	decline = smc_nego_check_confirm(&msg, &offer, &params, &known, SMC_MTU_4096, &result);
	KUNIT_EXPECT_TRUE(test, result.must_reset);
	KUNIT_EXPECT_EQ(test, decline, SMC_DECLINE_VERSMISMAT);
}

static void fc_02_route_is_found_for_what_may_be_taken(struct kunit *test)
{
	static const struct v2_side side = { true, true, 1, 255, 2, "A" };
	static const struct v2_side other = { true, true, 1, 255, 2, "B" };
	static const struct v2_side ipv6 = { true, true, 1, 255, 2, "A", '6' };
	struct smc_clc_proposal prop = { .offers_v1 = true };
	static struct smc_nego_local client, server;

	v2_local(&side, false, &client);
	v2_local(&side, true, &server);
	prop.v2 = client.v2;
	KUNIT_EXPECT_NULL(test, smc_nego_routed_gid(&prop, &server));
	prop.offers_v2 = true;
	KUNIT_EXPECT_PTR_EQ(test, smc_nego_routed_gid(&prop, &server),
			    (const u8 *)prop.v2.gid);
	server.has_v2 = false;
	KUNIT_EXPECT_NULL(test, smc_nego_routed_gid(&prop, &server));
	v2_local(&other, true, &server);
	KUNIT_EXPECT_NULL(test, smc_nego_routed_gid(&prop, &server));
	/* nor is an impossible one looked for */
	v2_local(&ipv6, true, &server);
	KUNIT_EXPECT_NULL(test, smc_nego_routed_gid(&prop, &server));
}

/* protocol.md: the direct flag of an Accept */
static void fc_06_ways_fit_to_each_other(struct kunit *test)
{
	struct smc_params params = {};

	KUNIT_EXPECT_EQ(test, smc_nego_check_route(&params, true), SMC_DECLINE_NONE);
	params.is_routed = true;
	KUNIT_EXPECT_EQ(test, smc_nego_check_route(&params, true), SMC_DECLINE_NOINDIRECT);
	KUNIT_EXPECT_EQ(test, smc_nego_check_route(&params, false), SMC_DECLINE_NONE);
	params.peer_is_direct = true;
	KUNIT_EXPECT_EQ(test, smc_nego_check_route(&params, true), SMC_DECLINE_NONE);
	KUNIT_EXPECT_EQ(test, smc_nego_check_route(&params, false), SMC_DECLINE_NONE);
}

/* protocol.md: the form depends on the version of the peer's message */
static void dcln_01_form_follows_the_peer(struct kunit *test)
{
	struct smc_clc_msg msg;
	unsigned int version;
	u8 buf[44];

	for (version = 0; version < 16; version++) {
		smc_nego_build_decline(&msg, v2_server_id, SMC_DECLINE_NOUEID, false, version);
		KUNIT_EXPECT_EQ(test, smc_kunit_clc_encode(&msg, buf, sizeof(buf)),
				version >= 2 ? 44 : 28);
		KUNIT_EXPECT_EQ(test, buf[7], version >= 2 ? 0x20 : 0x10);
		if (version >= 2)
			KUNIT_EXPECT_EQ(test, buf[20], 0x20);
	}
}

static void eids_are_names(struct kunit *test)
{
	static const struct {
		const char *eid;
		bool is_valid;
	} rows[] = {
		{ "A                               ", true },
		{ "0                               ", true },
		{ "ABCDEFGHIJKLMNOPQRSTUVWXYZ012345", true },
		{ "Z.-9                            ", true },
		{ "                                ", false },
		{ " A                              ", false },
		{ "A B                             ", false },
		{ "-A                              ", false },
		{ ".A                              ", false },
		{ "a                               ", false },
		{ "A_                              ", false },
		{ "A\0                             ", false },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		KUNIT_EXPECT_EQ_MSG(test, smc_clc_eid_is_valid((const u8 *)rows[i].eid),
				    rows[i].is_valid, "row %u", i);
}

/* Version 2 has one dialect, two links, and at least 16 connections in a group. */
static void version_2_suits_what_the_settings_ask_for(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, smc_nego_suits_v2(false, 2, 255));
	KUNIT_EXPECT_TRUE(test, smc_nego_suits_v2(false, 1, 16));
	KUNIT_EXPECT_FALSE(test, smc_nego_suits_v2(true, 2, 255));
	KUNIT_EXPECT_FALSE(test, smc_nego_suits_v2(false, 3, 255));
	KUNIT_EXPECT_FALSE(test, smc_nego_suits_v2(false, 2, 15));
}

static struct kunit_case smc_clc_v2_cases[] = {
	KUNIT_CASE_PARAM(clc_05_versions_meet, v2_row_gen_params),
	KUNIT_CASE(clc_05_every_combination_agrees_or_declines),
	KUNIT_CASE_PARAM(err_17_a_contradiction_is_declined, v2_liar_gen_params),
	KUNIT_CASE(pid_05_client_may_name_itself_in_the_confirm),
	KUNIT_CASE(pid_05_client_without_a_name_is_the_groups_peer),
	KUNIT_CASE(sc_02_subsequent_contact_of_version_2),
	KUNIT_CASE(fc_02_route_is_found_for_what_may_be_taken),
	KUNIT_CASE(fc_06_ways_fit_to_each_other),
	KUNIT_CASE(dcln_01_form_follows_the_peer),
	KUNIT_CASE(eids_are_names),
	KUNIT_CASE(version_2_suits_what_the_settings_ask_for),
	{}
};

static struct kunit_suite smc_clc_v2_suite = {
	.name = "smc_clc_v2",
	.test_cases = smc_clc_v2_cases,
};

kunit_test_suite(smc_clc_v2_suite);
