// SPDX-License-Identifier: GPL-2.0
/*
 * The offers of a handshake, by its port and route: when the default EID counts, and what a failed
 * first contact means for the next one. Ports, routes and the memory of peers are faked.
 */
#include "smc_kunit.h"

#include "../../../net/smc/rdma/smc_eid.h"
#include "../../../net/smc/rdma/smc_net.h"
#include "../../../net/smc/sock/smc_path.h"
#include "../../../net/smc/group/smc_peer.h"
#include "../../../net/smc/sock/smc_hs_path.h"

#define WAY_EID		"SMC-KUNIT.OPERATOR              "

/* 10.0.0.1, as a GID */
static const u8 way_gid[SMC_GID_LEN] = { [10] = 0xff, 0xff, 10, 0, 0, 1 };

/**
 * struct way_world - what a handshake finds
 * @reason: of the search for a port
 * @is_direct: TCP's route has no gateway
 * @is_near: the client is in a subnet of the server
 * @has_eid: the operator has added WAY_EID
 * @needs_v2: RoCE v1 has failed already
 * @is_silent: the next hop does not answer
 * @is_remembered: that is known
 * @route: to the peer's GID; none if its hop limit is 0
 */
struct way_world {
	enum smc_decline reason;
	bool is_direct;
	bool is_near;
	bool has_eid;
	bool needs_v2;
	bool is_silent;
	bool is_remembered;
	struct smc_route route;
};

static struct smc_ib_dev way_dev;
static struct smc_pernet way_net;
static struct smc_sock way_smc;
static struct way_world way;
static unsigned int way_nr_remembered;
static enum smc_peer_failure way_failure;

static struct smc_pernet *way_settings(const struct net *net)
{
	return &way_net;
}

static void way_end(struct smc_ib_end *end)
{
	memset(end, 0, sizeof(*end));
	end->dev = &way_dev;
	memcpy(end->gid.raw, way_gid, sizeof(way_gid));
}

static void way_end_put(struct smc_ib_end *end)
{
	end->dev = NULL;
}

static void way_end_copy(struct smc_ib_end *to, const struct smc_ib_end *from)
{
	*to = *from;
}

static enum smc_decline way_find(struct sock *tsk, struct smc_ib_end *end,
				 struct smc_nego_subnets *subnets)
{
	memset(end, 0, sizeof(*end));
	if (subnets)
		memset(subnets, 0, sizeof(*subnets));
	if (way.reason != SMC_DECLINE_NONE)
		return way.reason;
	way_end(end);
	if (subnets) {
		subnets->ipv4 = 0x0a000001;
		subnets->ipv4_len = 24;
	}
	return SMC_DECLINE_NONE;
}

static enum smc_decline way_find_server(struct sock *tsk, const struct smc_clc_proposal *prop,
					struct smc_ib_end *end, bool *is_near)
{
	*is_near = way.is_near;
	return way_find(tsk, end, NULL);
}

static bool way_find_routed(struct sock *tsk, const u8 *peer_gid, const struct smc_ib_end *other,
			    struct smc_ib_end *end)
{
	way_end(end);
	return true;
}

static bool way_is_direct(struct sock *tsk)
{
	return way.is_direct;
}

static bool way_needs_ipsec(struct sock *tsk)
{
	return false;
}

static void way_get_rules(struct sock *tsk, struct smc_route_rules *rules)
{
}

static int way_find_route(struct net *net, const struct smc_route_rules *rules,
			  const struct smc_ib_end *end, const u8 gid[16], struct smc_route *route)
{
	if (way.is_silent)
		return -EAGAIN;
	*route = way.route;
	return way.route.hop_limit ? 0 : -EHOSTUNREACH;
}

static bool way_any(bool has_default)
{
	return has_default || way.has_eid;
}

static unsigned int way_list(bool has_default, u8 eid[SMC_CLC_EIDS_MAX][SMC_EID_LEN])
{
	unsigned int nr = 0;

	if (way.has_eid)
		memcpy(eid[nr++], WAY_EID, SMC_EID_LEN);
	if (has_default)
		memcpy(eid[nr++], SMC_EID_DEFAULT, SMC_EID_LEN);
	return nr;
}

static bool way_is_added(const u8 eid[SMC_EID_LEN])
{
	return way.has_eid && !memcmp(eid, WAY_EID, SMC_EID_LEN);
}

static void way_peer_addr(const struct sock *tsk, struct in6_addr *peer)
{
	memset(peer, 0, sizeof(*peer));
}

static enum smc_decline way_recall(struct net *net, enum smc_peer_failure failure,
				   const struct in6_addr *peer, u16 port,
				   struct smc_peer_entry *entry)
{
	return failure == SMC_PEER_ROUTED_PATH && way.is_remembered ? SMC_DECLINE_NOROUTE :
								      SMC_DECLINE_NONE;
}

static void way_failed(struct net *net, enum smc_peer_failure failure, const struct in6_addr *peer,
		       u16 port, enum smc_decline reason, u32 diagnosis)
{
	way_nr_remembered++;
	way_failure = failure;
}

static bool way_try_v2(struct net *net, const struct in6_addr *peer)
{
	return !way.needs_v2;
}

#define smc_net				way_settings
#define smc_ib_end_put			way_end_put
#define smc_ib_end_copy			way_end_copy
#define smc_path_find			way_find
#define smc_path_find_server		way_find_server
#define smc_path_find_routed		way_find_routed
#define smc_path_is_direct		way_is_direct
#define smc_path_needs_ipsec		way_needs_ipsec
#define smc_path_local_id(...)		((void)0)
#define smc_path_get_rules		way_get_rules
#define smc_route_find			way_find_route
#define smc_eid_any			way_any
#define smc_eid_list			way_list
#define smc_eid_is_added		way_is_added
#define smc_path_peer_addr		way_peer_addr
#define smc_peer_recall			way_recall
#define smc_peer_failed			way_failed
#define smc_peer_try_v2			way_try_v2

#include "../../../net/smc/sock/smc_hs_path.c"

static int way_init(struct kunit *test)
{
	way = (struct way_world){
		.is_direct = true, .is_near = true, .route.hop_limit = 1, .route.is_direct = true,
	};
	way_net.set = (struct smc_settings){
		.default_eid = SMC_EID_DEFAULT_NEAR, .max_links = 2, .max_conns_per_lgr = 255,
	};
	way_nr_remembered = 0;
	return 0;
}

static struct smc_hs *way_hs(struct kunit *test, enum smc_role role)
{
	struct smc_hs *hs = kunit_kzalloc(test, sizeof(*hs), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, hs);
	hs->smc = &way_smc;
	hs->role = role;
	return hs;
}

/* What a client proposes: bit 0 version 1, bit 1 the default EID, bit 2 that of the operator. */
static unsigned int way_proposes(struct kunit *test)
{
	struct smc_clc_msg *msg = kunit_kzalloc(test, sizeof(*msg), GFP_KERNEL);
	struct smc_hs *hs = way_hs(test, SMC_ROLE_CLIENT);
	const struct smc_clc_proposal *prop = &msg->proposal;
	unsigned int i, what;

	KUNIT_ASSERT_NOT_NULL(test, msg);
	if (smc_hs_build_proposal(hs, msg) != SMC_HS_GO_ON)
		return 0;
	what = prop->offers_v1;
	for (i = 0; prop->offers_v2 && i < prop->v2.nr_eids; i++)
		what |= memcmp(prop->v2.eid[i], SMC_EID_DEFAULT, SMC_EID_LEN) ? 4 : 2;
	return what;
}

static void a_client_offers_the_default_eid_in_its_subnet(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, way_proposes(test), 3);
	way.has_eid = true;
	KUNIT_EXPECT_EQ(test, way_proposes(test), 7);
	way.is_direct = false;
	KUNIT_EXPECT_EQ(test, way_proposes(test), 5);
	way.has_eid = false;
	KUNIT_EXPECT_EQ(test, way_proposes(test), 1);
	way_net.set.default_eid = SMC_EID_DEFAULT_ALWAYS;
	KUNIT_EXPECT_EQ(test, way_proposes(test), 3);
	way.is_direct = true;
	way_net.set.default_eid = SMC_EID_DEFAULT_NEVER;
	KUNIT_EXPECT_EQ(test, way_proposes(test), 1);
}

/* Link-local addresses prove no subnet in common. */
static void without_a_subnet_there_is_no_default_eid(struct kunit *test)
{
	way.reason = SMC_DECLINE_CNFERR;
	KUNIT_EXPECT_EQ(test, way_proposes(test), 0);
	way_net.set.default_eid = SMC_EID_DEFAULT_ALWAYS;
	KUNIT_EXPECT_EQ(test, way_proposes(test), 2);
}

static void settings_may_ask_for_what_version_2_lacks(struct kunit *test)
{
	struct smc_settings *set = &way_net.set;

	set->dialect = 1;
	KUNIT_EXPECT_EQ(test, way_proposes(test), 1);
	set->dialect = 0;
	set->max_links = 3;
	KUNIT_EXPECT_EQ(test, way_proposes(test), 1);
	set->max_links = 1;
	KUNIT_EXPECT_EQ(test, way_proposes(test), 3);
	set->max_conns_per_lgr = 15;
	KUNIT_EXPECT_EQ(test, way_proposes(test), 1);
	/* the operator's own EID counts in any case */
	way.has_eid = true;
	KUNIT_EXPECT_EQ(test, way_proposes(test), 5);
}

/* A client offers both versions, with @nr_eids. */
static struct smc_hs *way_server(struct kunit *test, unsigned int nr_eids)
{
	struct smc_hs *hs = way_hs(test, SMC_ROLE_SERVER);
	struct smc_clc_proposal *prop = &hs->proposal;

	prop->offers_v1 = true;
	prop->offers_v2 = true;
	prop->has_subnets = true;
	memcpy(prop->v2.gid, way_gid, sizeof(way_gid));
	prop->v2.release = SMC_NEGO_RELEASE;
	prop->v2.max_conns = 255;
	prop->v2.max_links = 2;
	prop->v2.nr_eids = nr_eids;
	memcpy(prop->v2.eid[0], SMC_EID_DEFAULT, SMC_EID_LEN);
	memcpy(prop->v2.eid[1], WAY_EID, SMC_EID_LEN);
	return hs;
}

/* The version that a server chooses, 0 for a Decline. */
static unsigned int way_chooses(struct kunit *test, unsigned int nr_eids)
{
	struct smc_hs *hs = way_server(test, nr_eids);

	if (smc_hs_find_port(hs, NULL) != SMC_HS_GO_ON ||
	    smc_hs_server_route(hs) != SMC_HS_GO_ON || smc_hs_take_offer(hs) != SMC_HS_GO_ON)
		return 0;
	return hs->params.version;
}

/* The next hop does not answer: version 1 if there is a subnet in common, else a Decline. */
static void a_silent_neighbour_costs_only_its_path(struct kunit *test)
{
	struct smc_hs *hs;
	int i;

	way.is_silent = true;
	way.has_eid = true;
	for (i = 0; i < 2; i++) {
		hs = way_server(test, 2);
		way.is_near = !i;
		KUNIT_ASSERT_EQ(test, smc_hs_find_port(hs, NULL), SMC_HS_GO_ON);
		KUNIT_EXPECT_EQ(test, smc_hs_server_route(hs), SMC_HS_WAIT);
		KUNIT_EXPECT_EQ(test, smc_hs_can_do_without(hs), way.is_near);
		KUNIT_EXPECT_EQ(test, smc_hs_late_route(hs),
				way.is_near ? SMC_HS_GO_ON : SMC_HS_DECLINE);
		KUNIT_EXPECT_EQ(test, way_failure,
				way.is_near ? SMC_PEER_ROUTED_PATH : SMC_PEER_FIRST_CONTACT);
		if (!way.is_near)
			continue;
		KUNIT_EXPECT_EQ(test, smc_hs_take_offer(hs), SMC_HS_GO_ON);
		KUNIT_EXPECT_EQ(test, hs->params.version, SMC_CLC_V1);
	}
	/* the next connection does not wait, where it need not */
	way.is_remembered = true;
	way.is_near = true;
	KUNIT_EXPECT_EQ(test, way_chooses(test, 2), SMC_CLC_V1);
	way.is_near = false;
	hs = way_server(test, 2);
	KUNIT_ASSERT_EQ(test, smc_hs_find_port(hs, NULL), SMC_HS_GO_ON);
	KUNIT_EXPECT_EQ(test, smc_hs_server_route(hs), SMC_HS_WAIT);
	/* a client has no other path once the server has chosen this one */
	hs = way_hs(test, SMC_ROLE_CLIENT);
	hs->params.is_routed = true;
	hs->proposal.offers_v1 = true;
	hs->is_near = true;
	KUNIT_EXPECT_EQ(test, smc_hs_client_route(hs), SMC_HS_WAIT);
	KUNIT_EXPECT_EQ(test, smc_hs_late_route(hs), SMC_HS_DECLINE);
	KUNIT_EXPECT_EQ(test, hs->reason, SMC_DECLINE_NOROUTE);
}

static void a_server_knows_the_default_eid_in_its_subnet(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, way_chooses(test, 1), SMC_CLC_V2);
	/* the GIDs have a gateway between them, as where an RNIC is beside the interface of TCP */
	way.route.is_direct = false;
	way.route.hop_limit = 64;
	KUNIT_EXPECT_EQ(test, way_chooses(test, 1), SMC_CLC_V1);
	way_net.set.default_eid = SMC_EID_DEFAULT_ALWAYS;
	KUNIT_EXPECT_EQ(test, way_chooses(test, 1), SMC_CLC_V2);
	way_net.set.default_eid = SMC_EID_DEFAULT_NEVER;
	KUNIT_EXPECT_EQ(test, way_chooses(test, 2), SMC_CLC_V1);
	way.has_eid = true;
	KUNIT_EXPECT_EQ(test, way_chooses(test, 2), SMC_CLC_V2);
	/* no route, or another subnet */
	way.route.hop_limit = 0;
	KUNIT_EXPECT_EQ(test, way_chooses(test, 2), SMC_CLC_V1);
	way_init(test);
	way.is_near = false;
	KUNIT_EXPECT_EQ(test, way_chooses(test, 1), 0);
}

/* A client learns from the Accept where the server's RNIC is. */
static void a_client_follows_the_default_eid_through_no_gateway(struct kunit *test)
{
	struct smc_hs *hs = way_hs(test, SMC_ROLE_CLIENT);

	hs->params.is_routed = true;
	hs->params.peer_is_direct = true;
	memcpy(hs->params.eid, SMC_EID_DEFAULT, SMC_EID_LEN);
	KUNIT_EXPECT_EQ(test, smc_hs_client_route(hs), SMC_HS_GO_ON);
	way.route.is_direct = false;
	KUNIT_EXPECT_EQ(test, smc_hs_client_route(hs), SMC_HS_DECLINE);
	KUNIT_EXPECT_EQ(test, hs->reason, SMC_DECLINE_NOROUTE);
	way_net.set.default_eid = SMC_EID_DEFAULT_ALWAYS;
	KUNIT_EXPECT_EQ(test, smc_hs_client_route(hs), SMC_HS_GO_ON);
	way_net.set.default_eid = SMC_EID_DEFAULT_NEAR;
	way.has_eid = true;
	memcpy(hs->params.eid, WAY_EID, SMC_EID_LEN);
	KUNIT_EXPECT_EQ(test, smc_hs_client_route(hs), SMC_HS_GO_ON);
}

/* Only where RoCE v1 may be the reason is the next one not TCP. */
static void a_failed_first_contact_by_roce_v1_is_tried_by_roce_v2(struct kunit *test)
{
	static const struct {
		const char *what;
		enum smc_role role;
		bool is_v2, is_routed, needs_v2;
		int roce;
		bool is_tcp;
	} rows[] = {
		{ "a client by RoCE v1", SMC_ROLE_CLIENT, .is_tcp = false },
		{ "a client by RoCE v2", SMC_ROLE_CLIENT, .is_v2 = true, .is_tcp = true },
		{ "a server by RoCE v1", SMC_ROLE_SERVER, .is_tcp = false },
		{ "its client may have used RoCE v1", SMC_ROLE_SERVER, .is_v2 = true },
		{ "the second time", SMC_ROLE_SERVER, .is_v2 = true, .needs_v2 = true,
		  .is_tcp = true },
		{ "no RoCE v2 at all", SMC_ROLE_CLIENT, .needs_v2 = true, .is_tcp = true },
		{ "version 2", SMC_ROLE_SERVER, .is_v2 = true, .is_routed = true, .is_tcp = true },
		{ "RoCE v1 only", SMC_ROLE_CLIENT, .roce = SMC_GID_V1_ONLY, .is_tcp = true },
		{ "RoCE v2 only", SMC_ROLE_SERVER, .is_v2 = true, .roce = SMC_GID_V2_ONLY,
		  .is_tcp = true },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct smc_hs *hs = way_hs(test, rows[i].role);

		way_nr_remembered = 0;
		way.needs_v2 = rows[i].needs_v2;
		way_net.set.roce = rows[i].roce;
		hs->end.is_v2 = rows[i].is_v2;
		hs->params.is_routed = rows[i].is_routed;
		smc_hs_note_path(hs, SMC_DECLINE_TIMEOUT_CL);
		KUNIT_EXPECT_EQ_MSG(test, way_nr_remembered, rows[i].is_tcp, "%s", rows[i].what);
	}
}

static struct kunit_case smc_hs_path_cases[] = {
	KUNIT_CASE(a_client_offers_the_default_eid_in_its_subnet),
	KUNIT_CASE(without_a_subnet_there_is_no_default_eid),
	KUNIT_CASE(settings_may_ask_for_what_version_2_lacks),
	KUNIT_CASE(a_server_knows_the_default_eid_in_its_subnet),
	KUNIT_CASE(a_silent_neighbour_costs_only_its_path),
	KUNIT_CASE(a_client_follows_the_default_eid_through_no_gateway),
	KUNIT_CASE(a_failed_first_contact_by_roce_v1_is_tried_by_roce_v2),
	{}
};

static struct kunit_suite smc_hs_path_suite = {
	.name = "smc_hs_path",
	.init = way_init,
	.test_cases = smc_hs_path_cases,
};

kunit_test_suite(smc_hs_path_suite);
