// SPDX-License-Identifier: GPL-2.0
/*
 * The rows of a handshake for two ends on this host: what each state of the table leads to, and
 * what is left of a pair that is not used. The table, the pair and the connection are faked.
 */
#include "smc_kunit.h"

#include <net/tcp.h>

#include "../../../net/smc/group/smc_pair.h"
#include "../../../net/smc/sock/smc_close.h"
#include "../../../net/smc/sock/smc_hs_meet.h"
#include "../../../net/smc/sock/smc_path.h"

/* What the table says, and what is done, in order. */
static enum smc_meet_state share_state;
static bool share_has_client, share_is_left, share_is_bound, share_needs_ipsec;
static bool share_has_no_pair, share_has_no_conn;
static u32 share_sizes[2];
static int share_nr_refs;
static char share_log[128];
static struct smc_conn share_conn;

/* Never dereferenced. */
#define SHARE_PAIR ((struct smc_pair *)&share_nr_refs)

static void share_note(const char *what)
{
	strlcat(share_log, what, sizeof(share_log));
	strlcat(share_log, " ", sizeof(share_log));
}

static enum smc_meet_state share_look(struct smc_sock *smc)
{
	return share_state;
}

static void share_leave(struct smc_sock *smc)
{
	share_note("leave");
	share_state = SMC_MEET_NONE;
}

static bool share_withdraw(struct smc_sock *smc)
{
	if (!share_is_bound)
		share_leave(smc);
	return !share_is_bound;
}

static bool share_find(struct smc_sock *smc, u32 *size)
{
	*size = 65536;
	return share_has_client;
}

static bool share_take(struct smc_sock *smc, struct smc_pair *pair)
{
	share_note("take");
	/* the table's */
	share_nr_refs -= !share_is_left;
	return !share_is_left;
}

static struct smc_pair *share_fetch(struct smc_sock *smc)
{
	share_nr_refs += !share_is_left;
	return share_is_left ? NULL : SHARE_PAIR;
}

static bool share_confirm(struct smc_sock *smc)
{
	share_note("confirm");
	return !share_is_bound;
}

static struct smc_pair *share_alloc(u32 client_size, u32 server_size)
{
	share_sizes[SMC_ROLE_CLIENT] = client_size;
	share_sizes[SMC_ROLE_SERVER] = server_size;
	share_nr_refs += !share_has_no_pair;
	return share_has_no_pair ? NULL : SHARE_PAIR;
}

static void share_put(struct smc_pair *pair)
{
	share_nr_refs--;
}

static void share_join(struct smc_conn *conn, struct smc_pair *pair, enum smc_role role)
{
	share_note(role == SMC_ROLE_CLIENT ? "client" : "server");
	conn->pair = pair;
}

static int share_make_conn(struct smc_sock *smc)
{
	if (share_has_no_conn)
		return -ENOMEM;
	smc->conn = &share_conn;
	return 0;
}

static void share_drop_conn(struct smc_sock *smc)
{
	share_note("drop");
	smc->conn = NULL;
	share_conn.pair = NULL;
}

#define smc_close_leave(...)		share_note("part")
#define smc_conn_forget_unread(...)	((void)0)
#define smc_conn_open(...)		share_note("open")
#define smc_meet_confirm		share_confirm
#define smc_meet_fetch			share_fetch
#define smc_meet_find			share_find
#define smc_meet_leave			share_leave
#define smc_meet_refuse(...)		share_note("refuse")
#define smc_meet_ring_size(...)		131072
#define smc_meet_get_state		share_look
#define smc_meet_take			share_take
#define smc_meet_withdraw		share_withdraw
#define smc_pair_alloc			share_alloc
#define smc_pair_join			share_join
#define smc_pair_put			share_put
#define smc_path_needs_ipsec(...)	share_needs_ipsec
#define smc_sock_drop_conn		share_drop_conn
#define smc_sock_make_conn		share_make_conn

#include "../../../net/smc/sock/smc_hs_meet.c"

struct share_lab {
	struct smc_hs hs;
	struct smc_sock smc;
	struct tcp_sock tp;
};

static int share_init(struct kunit *test)
{
	struct share_lab *lab = kunit_kzalloc(test, sizeof(*lab), GFP_KERNEL);

	if (!lab)
		return -ENOMEM;
	test->priv = lab;
	lab->hs.smc = &lab->smc;
	lab->smc.sk = (struct sock *)&lab->tp;
	lab->hs.since = jiffies - HZ;
	memset(&share_conn, 0, sizeof(share_conn));
	share_state = SMC_MEET_NONE;
	share_has_client = false;
	share_is_left = false;
	share_is_bound = false;
	share_needs_ipsec = false;
	share_has_no_pair = false;
	share_has_no_conn = false;
	share_nr_refs = 0;
	share_log[0] = '\0';
	return 0;
}

static struct smc_hs *share_hs(struct kunit *test)
{
	return &((struct share_lab *)test->priv)->hs;
}

/* The server's side of an end that waits. */
static struct smc_hs *share_taken(struct kunit *test, enum smc_meet_state state)
{
	struct smc_hs *hs = share_hs(test);

	share_state = state;
	hs->smc->conn = &share_conn;
	share_conn.pair = SHARE_PAIR;
	return hs;
}

static bool share_has_waited(const struct smc_hs *hs)
{
	return jiffies - hs->since < HZ / 2;
}

static void a_server_gives_its_client_a_pair(struct kunit *test)
{
	struct smc_hs *hs = share_hs(test);

	share_has_client = true;
	KUNIT_EXPECT_EQ(test, smc_hs_server_meet(hs), SMC_HS_GO_ON);
	KUNIT_EXPECT_STREQ(test, share_log, "server take ");
	KUNIT_EXPECT_EQ(test, share_sizes[SMC_ROLE_CLIENT], 65536);
	KUNIT_EXPECT_EQ(test, share_sizes[SMC_ROLE_SERVER], 131072);
	KUNIT_EXPECT_EQ(test, share_nr_refs, 0);
}

static void a_server_without_a_client_here_does_nothing(struct kunit *test)
{
	struct smc_hs *hs = share_hs(test);

	KUNIT_EXPECT_EQ(test, smc_hs_server_meet(hs), SMC_HS_GO_ON);
	KUNIT_EXPECT_EQ(test, smc_hs_server_last(hs), SMC_HS_GO_ON);
	KUNIT_EXPECT_STREQ(test, share_log, "");
	/* the time of the Proposal runs */
	KUNIT_EXPECT_FALSE(test, share_has_waited(hs));
}

struct share_refusal {
	const char *what;
	enum smc_decline fallback;
	bool needs_ipsec;
	bool has_no_pair;
	bool has_no_conn;
	bool is_left;
	const char *log;
};

static const struct share_refusal share_refusals[] = {
	{ "an option", .fallback = SMC_DECLINE_OPTUNSUPP, .log = "refuse " },
	{ "IPsec", .needs_ipsec = true, .log = "refuse " },
	{ "no memory for a pair", .has_no_pair = true, .log = "refuse " },
	{ "no memory for a connection", .has_no_conn = true, .log = "refuse " },
	{ "the client has left", .is_left = true, .log = "server take part drop refuse " },
};

static void share_refusal_desc(const struct share_refusal *row, char *desc)
{
	strscpy(desc, row->what, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(share_refusal, share_refusals, share_refusal_desc);

static void a_server_that_cannot_leaves_it_to_clc(struct kunit *test)
{
	const struct share_refusal *row = test->param_value;
	struct smc_hs *hs = share_hs(test);

	share_has_client = true;
	hs->smc->fallback = row->fallback;
	share_needs_ipsec = row->needs_ipsec;
	share_has_no_pair = row->has_no_pair;
	share_has_no_conn = row->has_no_conn;
	share_is_left = row->is_left;
	KUNIT_EXPECT_EQ(test, smc_hs_server_meet(hs), SMC_HS_GO_ON);
	KUNIT_EXPECT_STREQ(test, share_log, row->log);
	KUNIT_EXPECT_EQ(test, share_nr_refs, 0);
	KUNIT_EXPECT_NULL(test, hs->smc->conn);
}

static void a_server_waits_for_connect_to_end(struct kunit *test)
{
	struct smc_hs *hs = share_taken(test, SMC_MEET_TAKEN);

	KUNIT_EXPECT_EQ(test, smc_hs_server_last(hs), SMC_HS_WAIT);
	share_state = SMC_MEET_JOINED;
	KUNIT_EXPECT_EQ(test, smc_hs_server_last(hs), SMC_HS_WAIT);
	/* a client that has joined may have ended TCP by now */
	hs->smc->sk->sk_shutdown = RCV_SHUTDOWN;
	KUNIT_EXPECT_EQ(test, smc_hs_server_last(hs), SMC_HS_WAIT);
	share_state = SMC_MEET_DONE;
	KUNIT_EXPECT_EQ(test, smc_hs_server_last(hs), SMC_HS_SMC);
	KUNIT_EXPECT_STREQ(test, share_log, "leave open ");
}

static void a_server_whose_client_leaves_goes_on_with_clc(struct kunit *test)
{
	struct smc_hs *hs = share_taken(test, SMC_MEET_REFUSED);

	KUNIT_EXPECT_EQ(test, smc_hs_server_last(hs), SMC_HS_GO_ON);
	KUNIT_EXPECT_STREQ(test, share_log, "leave part drop ");
	KUNIT_EXPECT_TRUE(test, share_has_waited(hs));
}

static void a_server_whose_client_dies_fails(struct kunit *test)
{
	struct smc_hs *hs = share_taken(test, SMC_MEET_TAKEN);

	hs->smc->sk->sk_err = ECONNRESET;
	KUNIT_EXPECT_EQ(test, smc_hs_server_last(hs), SMC_HS_FAILED);
	KUNIT_EXPECT_EQ(test, hs->err, -ECONNRESET);
	hs->outcome = SMC_HS_FAILED;
	smc_hs_undo_meet(hs);
	KUNIT_EXPECT_STREQ(test, share_log, "leave part drop ");
}

static void a_server_that_is_late_opens_what_is_joined(struct kunit *test)
{
	struct smc_hs *hs = share_taken(test, SMC_MEET_TAKEN);

	KUNIT_EXPECT_EQ(test, smc_hs_late_last(hs), SMC_HS_GO_ON);
	KUNIT_EXPECT_STREQ(test, share_log, "leave part drop ");
	share_log[0] = '\0';
	share_taken(test, SMC_MEET_JOINED);
	share_is_bound = true;
	KUNIT_EXPECT_EQ(test, smc_hs_late_last(hs), SMC_HS_SMC);
	KUNIT_EXPECT_STREQ(test, share_log, "leave open ");
}

static void a_client_waits_for_the_birth_of_its_server(struct kunit *test)
{
	struct smc_hs *hs = share_hs(test);

	share_state = SMC_MEET_OFFERED;
	KUNIT_EXPECT_EQ(test, smc_hs_client_meet(hs), SMC_HS_WAIT);
	share_state = SMC_MEET_MET;
	KUNIT_EXPECT_EQ(test, smc_hs_client_meet(hs), SMC_HS_GO_ON);
	KUNIT_EXPECT_EQ(test, smc_hs_client_join(hs), SMC_HS_WAIT);
	/* born at the last moment */
	KUNIT_EXPECT_EQ(test, smc_hs_late_meet(hs), SMC_HS_GO_ON);
	KUNIT_EXPECT_EQ(test, share_state, SMC_MEET_MET);
	KUNIT_EXPECT_STREQ(test, share_log, "");
}

static void a_client_of_another_host_goes_on_with_clc(struct kunit *test)
{
	struct smc_hs *hs = share_hs(test);

	KUNIT_EXPECT_EQ(test, smc_hs_client_meet(hs), SMC_HS_GO_ON);
	KUNIT_EXPECT_EQ(test, smc_hs_client_join(hs), SMC_HS_GO_ON);
	share_state = SMC_MEET_OFFERED;
	KUNIT_EXPECT_EQ(test, smc_hs_late_meet(hs), SMC_HS_GO_ON);
	KUNIT_EXPECT_STREQ(test, share_log, "leave ");
	KUNIT_EXPECT_TRUE(test, share_has_waited(hs));
	KUNIT_EXPECT_EQ(test, smc_hs_client_join(hs), SMC_HS_GO_ON);
}

static void a_client_fails_with_tcp(struct kunit *test)
{
	struct smc_hs *hs = share_hs(test);

	hs->smc->sk->sk_shutdown = RCV_SHUTDOWN;
	share_state = SMC_MEET_OFFERED;
	KUNIT_EXPECT_EQ(test, smc_hs_client_meet(hs), SMC_HS_FAILED);
	share_state = SMC_MEET_MET;
	KUNIT_EXPECT_EQ(test, smc_hs_client_join(hs), SMC_HS_FAILED);
	KUNIT_EXPECT_EQ(test, hs->err, -ECONNRESET);
}

static void a_client_joins_the_pair(struct kunit *test)
{
	struct smc_hs *hs = share_hs(test);

	share_state = SMC_MEET_TAKEN;
	KUNIT_EXPECT_EQ(test, smc_hs_client_join(hs), SMC_HS_SMC);
	KUNIT_EXPECT_STREQ(test, share_log, "client open confirm ");
	KUNIT_EXPECT_EQ(test, share_nr_refs, 0);
	/* the server learns later of connect() */
	hs->outcome = SMC_HS_SMC;
	smc_hs_undo_meet(hs);
	KUNIT_EXPECT_STREQ(test, share_log, "client open confirm ");
	KUNIT_EXPECT_NOT_NULL(test, hs->smc->conn);
}

static void a_client_that_is_refused_goes_on_with_clc(struct kunit *test)
{
	struct smc_hs *hs = share_hs(test);

	share_state = SMC_MEET_REFUSED;
	KUNIT_EXPECT_EQ(test, smc_hs_client_join(hs), SMC_HS_GO_ON);
	KUNIT_EXPECT_STREQ(test, share_log, "leave ");
	KUNIT_EXPECT_TRUE(test, share_has_waited(hs));
	/* before the pair is fetched */
	share_state = SMC_MEET_TAKEN;
	share_is_left = true;
	KUNIT_EXPECT_EQ(test, smc_hs_client_join(hs), SMC_HS_GO_ON);
	/* and afterwards */
	share_log[0] = '\0';
	share_state = SMC_MEET_TAKEN;
	share_is_left = false;
	share_is_bound = true;
	KUNIT_EXPECT_EQ(test, smc_hs_client_join(hs), SMC_HS_GO_ON);
	KUNIT_EXPECT_STREQ(test, share_log, "client open confirm part drop leave ");
	KUNIT_EXPECT_EQ(test, share_nr_refs, 0);
}

static void a_client_without_memory_goes_on_with_clc(struct kunit *test)
{
	struct smc_hs *hs = share_hs(test);

	share_state = SMC_MEET_TAKEN;
	share_has_no_conn = true;
	KUNIT_EXPECT_EQ(test, smc_hs_client_join(hs), SMC_HS_GO_ON);
	KUNIT_EXPECT_STREQ(test, share_log, "leave ");
	KUNIT_EXPECT_EQ(test, share_nr_refs, 0);
}

static void a_client_that_is_late_joins_what_there_is(struct kunit *test)
{
	struct smc_hs *hs = share_hs(test);

	share_state = SMC_MEET_TAKEN;
	KUNIT_EXPECT_EQ(test, smc_hs_late_join(hs), SMC_HS_GO_ON);
	KUNIT_EXPECT_STREQ(test, share_log, "leave ");
	share_log[0] = '\0';
	share_state = SMC_MEET_TAKEN;
	share_is_bound = true;
	smc_hs_late_join(hs);
	KUNIT_EXPECT_TRUE(test, strstarts(share_log, "client open confirm "));
}

static void clc_has_a_connection_of_its_own(struct kunit *test)
{
	struct smc_hs *hs = share_hs(test);

	hs->smc->conn = &share_conn;
	hs->outcome = SMC_HS_TCP;
	smc_hs_undo_meet(hs);
	KUNIT_EXPECT_STREQ(test, share_log, "leave ");
	KUNIT_EXPECT_NOT_NULL(test, hs->smc->conn);
}

static struct kunit_case share_cases[] = {
	KUNIT_CASE(a_server_gives_its_client_a_pair),
	KUNIT_CASE(a_server_without_a_client_here_does_nothing),
	KUNIT_CASE_PARAM(a_server_that_cannot_leaves_it_to_clc, share_refusal_gen_params),
	KUNIT_CASE(a_server_waits_for_connect_to_end),
	KUNIT_CASE(a_server_whose_client_leaves_goes_on_with_clc),
	KUNIT_CASE(a_server_whose_client_dies_fails),
	KUNIT_CASE(a_server_that_is_late_opens_what_is_joined),
	KUNIT_CASE(a_client_waits_for_the_birth_of_its_server),
	KUNIT_CASE(a_client_of_another_host_goes_on_with_clc),
	KUNIT_CASE(a_client_fails_with_tcp),
	KUNIT_CASE(a_client_joins_the_pair),
	KUNIT_CASE(a_client_that_is_refused_goes_on_with_clc),
	KUNIT_CASE(a_client_without_memory_goes_on_with_clc),
	KUNIT_CASE(a_client_that_is_late_joins_what_there_is),
	KUNIT_CASE(clc_has_a_connection_of_its_own),
	{}
};

static struct kunit_suite share_suite = {
	.name = "smc_hs_meet",
	.init = share_init,
	.test_cases = share_cases,
};

kunit_test_suite(share_suite);
