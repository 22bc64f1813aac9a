// SPDX-License-Identifier: GPL-2.0
/*
 * The tables of the handshake: what each row undoes, where a Decline may be sent, and the
 * timeouts. Everything below is faked and records its calls.
 */
#include "smc_kunit.h"
#include "smc_kunit_sock.h"

#include <net/tcp.h>

#include "../../../net/smc/sock/smc_child.h"
#include "../../../net/smc/sock/smc_close.h"
#include "../../../net/smc/sock/smc_hs.h"
#include "../../../net/smc/sock/smc_hs_meet.h"
#include "../../../net/smc/sock/smc_hs_outcome.h"
#include "../../../net/smc/sock/smc_hs_ring.h"
#include "../../../net/smc/sock/smc_hs_path.h"
#include "../../../net/smc/group/smc_link.h"
#include "../../../net/smc/group/smc_llc.h"
#include "../../../net/smc/group/smc_llc_msg.h"
#include "../../../net/smc/group/smc_core.h"
#include "../../../net/smc/group/smc_pool.h"
#include "../../../net/smc/rdma/smc_net.h"
#include "../../../net/smc/group/smc_peer.h"
#include "../../../net/smc/sock/smc_path.h"
#include "../../../net/smc/sock/smc_tcp.h"
#include "../../../net/smc/sock/smc_tx.h"

/* no traces */
#define SMC_TRACE_H

/* Time limit of a CLC message, too long to expire within a case. */
#define TABLE_MS	1000000
/* The timer is not armed. */
#define TABLE_UNARMED	ULONG_MAX

static struct smc_pernet table_net;

/* The cleanup steps in order; the Declines sent; the message of the peer. */
static char table_log[128];
static unsigned int table_nr_declines, table_nr_steps, table_nr_queued, table_nr_late;
static unsigned int table_nr_unanswered, table_nr_proposed, table_nr_silent;
static unsigned int table_nr_prepared, table_nr_checked;
static bool table_if_quiet, table_has_payload, table_is_acked, table_is_expected;
static bool table_is_owned, table_is_locked, table_has_no_memory;
static int table_decline_rc, table_send_rc, table_recv_rc, table_take_rc;
static enum smc_clc_type table_recv_type;
static enum smc_hs_outcome table_step_out, table_late_out;
static unsigned long table_delay;	/* of the timer, jiffies */
static struct smc_link_group *table_forming;

static void table_note(const char *what)
{
	strlcat(table_log, what, sizeof(table_log));
	strlcat(table_log, " ", sizeof(table_log));
}

static enum smc_hs_outcome table_step(struct smc_hs *hs)
{
	table_nr_steps++;
	return table_step_out;
}

static enum smc_hs_outcome table_late(struct smc_hs *hs)
{
	table_nr_late++;
	return table_late_out;
}

/* The rows for an end on this host. */
static enum smc_hs_outcome table_meet_out, table_meet_late_out;

static enum smc_hs_outcome table_meet(struct smc_hs *hs)
{
	return table_meet_out;
}

static enum smc_hs_outcome table_meet_late(struct smc_hs *hs)
{
	return table_meet_late_out;
}

static void table_undo_meet(struct smc_hs *hs)
{
	table_note("meet");
}

static enum smc_hs_outcome table_take_offer(struct smc_hs *hs)
{
	return smc_hs_fail(hs, -EPROTO);
}

static void table_put_port(struct smc_hs *hs)
{
	table_note("port");
}

static void table_buf_put(struct smc_buf_pool *pool, struct smc_buf_elem *elem)
{
	if (elem->buf)
		table_note(pool->kind == SMC_BUF_RMB ? "rmbe" : "sndbuf");
	elem->buf = NULL;
}

static void table_lgr_fail(struct smc_link_group *lgr, enum smc_decline decline)
{
	table_note("fail");
}

static void table_doubt(struct smc_link_group *lgr)
{
	table_note("doubt");
}

static struct smc_link_group *table_find_link(const struct smc_lgr_key *key,
					      const struct smc_ib_peer *peer)
{
	return smc_lgr_get(table_forming);
}

static bool table_unreserve(struct smc_link_group *lgr)
{
	table_note("unreserve");
	return false;
}

static void table_leave(struct smc_conn *conn, bool is_peer_done)
{
	table_note(is_peer_done ? "leave" : "leave-element");
	conn->lgr = NULL;
	conn->rmbe.buf = NULL;
	conn->sndbuf.buf = NULL;
	conn->phase = SMC_CONN_LEFT;
}

static void table_forget_unread(struct smc_conn *conn)
{
	if (conn->phase == SMC_CONN_LEFT)
		table_note("unread");
}

static void table_drop_conn(struct smc_sock *smc)
{
	table_note("conn");
	smc->conn = NULL;
}

static int table_prepare(struct smc_clc_tx *tx, const struct smc_clc_msg *msg)
{
	table_nr_prepared++;
	tx->len = 1;
	tx->done = 0;
	tx->bytes[0] = msg->type;
	return 0;
}

static int table_send(struct sock *sk, struct smc_clc_tx *tx, bool if_quiet)
{
	if (!table_is_locked)
		return -EDEADLK;
	if (table_send_rc)
		return table_send_rc;
	if (!smc_clc_is_pending(tx) || tx->bytes[0] != SMC_CLC_DECLINE)
		return 0;
	table_nr_declines++;
	table_if_quiet = if_quiet;
	if (!table_decline_rc)
		tx->done = tx->len;
	return table_decline_rc;
}

/* The socket lock, which a call may own. */
static bool table_lock(struct sock *sk, enum smc_missed what)
{
	table_is_locked = !table_is_owned && what == SMC_MISSED_HANDSHAKE;
	return table_is_locked;
}

static void table_unlock(struct sock *sk)
{
	table_is_locked = false;
}

static void table_release(struct sock *sk)
{
	release_sock(sk);
}

static void *table_zalloc(size_t size, gfp_t gfp)
{
	return table_has_no_memory ? NULL : kzalloc(size, gfp);
}

static int table_recv(struct sock *sk, struct smc_clc_rx *rx, struct smc_clc_msg *msg,
		      u8 expected, enum smc_decline *refused)
{
	if (!table_recv_rc)
		msg->type = table_recv_type;
	return table_recv_rc;
}

static int table_take_decline(struct sock *sk, struct smc_clc_rx *rx, const u8 *peer_id)
{
	return table_take_rc;
}

static struct smc_link_group *table_reserve(const struct smc_lgr_key *key,
					    const struct smc_ib_end *end, bool *is_first,
					    struct smc_link_group **forming)
{
	*forming = smc_lgr_get(table_forming);
	return ERR_PTR(-EAGAIN);
}

static struct smc_link_group *table_reserve_link(const struct smc_lgr_key *key,
						 const struct smc_ib_peer *peer,
						 struct smc_link **link,
						 struct smc_link_group **forming)
{
	return table_reserve(key, NULL, NULL, forming);
}

static void table_llc_declined(struct smc_link_group *lgr)
{
	table_note("declined");
}

static void table_llc_tcp_ended(struct smc_link_group *lgr)
{
	table_note("ended");
}

static void table_queue(struct smc_sock *smc)
{
	table_nr_queued++;
}

static void table_queue_delayed(struct smc_sock *smc, unsigned long delay_jiffies)
{
	table_delay = delay_jiffies;
}

static bool table_is_optional;

static void table_finish(struct smc_hs *hs)
{
}

static int table_join(struct smc_conn *conn, struct smc_link_group *lgr, struct smc_link *link)
{
	return 0;
}

static void table_set_probe(struct smc_link_group *lgr, const struct smc_llc_probe *probe)
{
}

static void table_failed(struct net *net, enum smc_peer_failure failure,
			 const struct in6_addr *peer, u16 port, enum smc_decline reason,
			 u32 diagnosis)
{
	table_nr_unanswered += failure == SMC_PEER_UNANSWERED;
	table_nr_silent += failure == SMC_PEER_CLIENT;
}

static void table_works(struct net *net, enum smc_peer_failure failure,
			const struct in6_addr *peer, u16 port)
{
	table_nr_proposed += failure == SMC_PEER_CLIENT;
}

static void table_peer_addr(const struct sock *sk, struct in6_addr *peer)
{
	memset(peer, 0, sizeof(*peer));
}

#define trace_smc_clc_error(...)	((void)0)
#define trace_smc_clc_rx(...)		((void)0)
#define trace_smc_clc_tx(...)		((void)0)
#define trace_smc_handshake(...)	((void)0)

/* The rows of other files. */
#define smc_hs_client_meet		table_meet
#define smc_hs_client_join		table_meet
#define smc_hs_server_meet		table_meet
#define smc_hs_server_last		table_meet
#define smc_hs_late_meet		table_meet_late
#define smc_hs_late_join		table_meet_late
#define smc_hs_late_last		table_meet_late
#define smc_hs_undo_meet		table_undo_meet
#define smc_hs_server_route		table_step
#define smc_hs_take_offer		table_take_offer
#define smc_hs_client_route		table_step
#define smc_hs_get_sndbuf		table_step
#define smc_hs_get_rmbe			table_step
#define smc_hs_late_route		table_late
#define smc_hs_late_ring		table_late
#define smc_hs_put_port			table_put_port
#define smc_hs_can_do_without(...)	table_is_optional

/* The functions that the rows call. */
#define smc_buf_put			table_buf_put
#define smc_child_count(...)		((void)0)
#define smc_child_check(...)		((void)table_nr_checked++)
#define smc_clc_is_acked(...)		table_is_acked
#define smc_clc_prepare			table_prepare
#define smc_clc_recv			table_recv
#define smc_clc_send			table_send
#define smc_clc_take_decline		table_take_decline
#define smc_close_leave			table_leave
#define smc_close_unlock(...)		((void)0)
#define smc_conn_forget_unread		table_forget_unread
#define smc_conn_join			table_join
#define smc_conn_open(...)		((void)0)
#define smc_conn_set_peer(...)		0
#define smc_conn_announced_link(...)		NULL
#define smc_meet_expect(...)		table_is_expected
#define smc_meet_leave(...)		((void)0)
#define smc_hs_build_proposal(...)	smc_hs_decline(hs, SMC_DECLINE_NOSMCRDEV)
#define smc_hs_find_port(...)		smc_hs_decline(hs, SMC_DECLINE_NOSMCRDEV)
#define smc_hs_back_to_idle(...)	((void)0)
#define smc_hs_finish			table_finish
#define smc_hs_finish_failed(...)	((void)0)
#define smc_hs_go_routed(...)		((void)0)
#define smc_hs_note_path(...)		((void)0)
#define smc_ib_end_follow(...)		0
#define smc_listener_count(...)		((void)0)
#define smc_lgr_fail			table_lgr_fail
#define smc_lgr_find_link		table_find_link
#define smc_lgr_form(...)		ERR_PTR(-ENOMEM)
#define smc_lgr_reserve			table_reserve
#define smc_lgr_reserve_link		table_reserve_link
#define smc_lgr_unreserve		table_unreserve
#define smc_link_connect(...)		0
#define smc_link_create(...)		ERR_PTR(-ENOMEM)
#define smc_llc_arm_idle(...)		((void)0)
#define smc_pool_end_idle(...)		((void)0)
#define smc_pool_make_room(...)		((void)0)
#define smc_llc_declined		table_llc_declined
#define smc_llc_tcp_ended		table_llc_tcp_ended
#define smc_llc_probe_group			table_doubt
#define smc_llc_init(...)		((void)0)
#define smc_llc_set_probe		table_set_probe
#define smc_llc_start_group(...)		((void)0)
#define smc_pool_trim(...)		((void)0)
#define smc_net(...)			(&table_net)
#define smc_path_peer_addr		table_peer_addr
#define smc_peer_failed			table_failed
#define smc_peer_works			table_works
#define smc_path_class(...)		((void)0)
#define smc_path_local_host(...)	((void)0)
#define smc_path_local_id(...)		((void)0)
#define smc_rtoken_find(...)		(-1)
#define smc_sock_drop_conn		table_drop_conn
#define release_sock			table_unlock
#define smc_sock_lock_work		table_lock
#define smc_sock_make_conn(...)		0
#define smc_sock_queue			table_queue
#define smc_sock_queue_delayed		table_queue_delayed
#define smc_stat_inc(...)		((void)0)
#define smc_tcp_holds_payload(...)	table_has_payload
#define smc_tx_push(...)		((void)0)
#undef kzalloc
#define kzalloc				table_zalloc

#include "../../../net/smc/sock/smc_hs.c"

/**
 * struct table_row - the expected properties of a row, by kind of contact
 * @step: in words
 * @declines: a Decline may be sent on subsequent contact
 * @declines_first: the same on first contact
 * @undone: the cleanup of a handshake that falls back there on first contact
 */
struct table_row {
	const char *step;
	bool declines;
	bool declines_first;
	const char *undone;
};

static const struct table_row table_server[] = {
	{ "meet",		false, false, "meet " },
	{ "last",		false, false, "meet " },
	{ "Proposal",		true,  true,  "meet " },
	{ "port",		true,  true,  "port meet " },
	{ "route",		true,  true,  "port meet " },
	{ "offer",		true,  true,  "port meet " },
	{ "group",		true,  true,  "fail unreserve port meet " },
	{ "link",		true,  true,  "fail unreserve port meet " },
	{ "connection",		true,  true,  "conn fail unreserve port meet " },
	{ "sndbuf",		true,  true,  "sndbuf conn fail unreserve port meet " },
	{ "rmbe",		true,  true,  "rmbe sndbuf conn fail unreserve port meet " },
	{ "join",		true,  true,  "fail leave unread conn port meet " },
	{ "Accept",		true,  true,  "fail leave unread conn port meet " },
	{ "send",		false, false, "fail leave unread conn port meet " },
	{ "Confirm",		false, true,  "fail leave unread conn port meet " },
	{ "check",		false, true,  "fail leave unread conn port meet " },
	{ "peer",		false, true,  "fail leave unread conn port meet " },
	{ "llc",		false, false, "fail leave unread conn port meet " },
	{ "first contact",	false, false, "fail leave unread conn port meet " },
	{ "back out",		true,  true,  "fail leave unread conn port meet " },
	{ "cross",		false, false, "fail leave unread conn port meet " },
	{ "open",		false, false, "fail leave unread conn port meet " },
};

static const struct table_row table_client[] = {
	{ "meet",		false, false, "meet " },
	{ "memory",		false, false, "meet " },
	{ "Proposal",		true,  true,  "port meet " },
	{ "send",		false, false, "port meet " },
	{ "Accept",		true,  true,  "port meet " },
	{ "group",		true,  true,  "port meet " },
	{ "route",		true,  true,  "port meet " },
	{ "form",		true,  true,  "fail unreserve port meet " },
	{ "link",		true,  true,  "fail unreserve port meet " },
	{ "connection",		true,  true,  "conn fail unreserve port meet " },
	{ "sndbuf",		true,  true,  "sndbuf conn fail unreserve port meet " },
	{ "rmbe",		true,  true,  "rmbe sndbuf conn fail unreserve port meet " },
	{ "join",		true,  true,  "fail leave unread conn port meet " },
	{ "peer",		true,  true,  "fail leave unread conn port meet " },
	{ "llc",		true,  true,  "fail leave unread conn port meet " },
	{ "Confirm",		true,  true,  "fail leave unread conn port meet " },
	{ "send",		false, false, "fail leave unread conn port meet " },
	{ "first contact",	false, false, "fail leave unread conn port meet " },
	{ "back out",		true,  true,  "fail leave unread conn port meet " },
	{ "cross",		false, false, "fail leave unread conn port meet " },
	{ "open",		false, false, "fail leave unread conn port meet " },
};

/* Indices of rows. */
enum {
	SERVER_MEET = 0,
	SERVER_LAST = 1,
	SERVER_PROPOSAL = 2,
	SERVER_ROUTE = 4,
	SERVER_GROUP = 6,
	SERVER_CONN = 8,
	SERVER_SNDBUF = 9,
	SERVER_JOIN = 11,
	SERVER_ACCEPT = 12,
	SERVER_SEND = 13,
	SERVER_CONFIRM = 14,
	SERVER_FIRST = 18,
	SERVER_BACK_OUT = 19,
	SERVER_CROSS = 20,
	SERVER_OPEN = 21,
	CLIENT_MEET = 0,
	CLIENT_MEMORY = 1,
	CLIENT_SEND = 3,
	CLIENT_ACCEPT = 4,
	CLIENT_GROUP = 5,
	CLIENT_FORM = 7,
	CLIENT_CONN = 9,
	CLIENT_SNDBUF = 10,
	CLIENT_JOIN = 12,
	CLIENT_CONFIRM = 15,
};

struct table_lab {
	struct smc_hs hs;
	struct smc_sock smc;
	struct tcp_sock tp;
	struct smc_link_group lgr;
	struct smc_conn conn;
};

/* A handshake at a row, with all resources of the rows before it. */
static struct smc_hs *table_reach(struct kunit *test, enum smc_role role, unsigned int step,
				  bool is_first)
{
	bool is_server = role == SMC_ROLE_SERVER;
	/* never dereferenced */
	struct smc_buf *buf = (void *)test;
	struct table_lab *lab = test->priv;
	struct smc_hs *hs = &lab->hs;
	unsigned int group = is_server ? SERVER_GROUP : is_first ? CLIENT_FORM : CLIENT_GROUP;

	memset(hs, 0, sizeof(*hs));
	hs->smc = &lab->smc;
	hs->net = &init_net;
	hs->role = role;
	hs->step = step;
	hs->since = jiffies;
	hs->is_first = is_first;
	if (step >= group)
		hs->lgr = &lab->lgr;
	lab->smc.conn = step >= (is_server ? SERVER_CONN : CLIENT_CONN) ? &lab->conn : NULL;
	lab->conn.phase = SMC_CONN_SETUP;
	lab->conn.lgr = step >= (is_server ? SERVER_JOIN : CLIENT_JOIN) ? &lab->lgr : NULL;
	lab->conn.sndbuf.buf = step >= (is_server ? SERVER_SNDBUF : CLIENT_SNDBUF) ? buf : NULL;
	lab->conn.rmbe.buf = step > (is_server ? SERVER_SNDBUF : CLIENT_SNDBUF) ? buf : NULL;
	hs->rx.type = is_server ? SMC_CLC_CONFIRM : SMC_CLC_ACCEPT;
	table_log[0] = '\0';
	table_nr_declines = 0;
	table_nr_steps = 0;
	table_nr_queued = 0;
	table_nr_late = 0;
	table_nr_unanswered = 0;
	table_nr_proposed = 0;
	table_nr_silent = 0;
	table_nr_prepared = 0;
	table_delay = TABLE_UNARMED;
	return hs;
}

static int table_init(struct kunit *test)
{
	struct table_lab *lab = kunit_kzalloc(test, sizeof(*lab), GFP_KERNEL);

	if (!lab)
		return -ENOMEM;
	test->priv = lab;
	lab->smc.sk = (struct sock *)&lab->tp;
	lab->lgr.rmbs.kind = SMC_BUF_RMB;
	lab->lgr.sends.kind = SMC_BUF_SEND;
	skb_queue_head_init(&lab->smc.sk->sk_receive_queue);
	INIT_DELAYED_WORK(&lab->smc.hs_work, smc_hs_work);
	init_waitqueue_head(&lab->lgr.waitq);
	init_waitqueue_head(&lab->lgr.sends.waitq);
	init_waitqueue_head(&lab->lgr.rmbs.waitq);
	refcount_set(&lab->lgr.refs, 1);
	table_forming = &lab->lgr;
	table_net.set.clc_timeout_ms = TABLE_MS;
	table_is_owned = false;
	table_decline_rc = 0;
	table_send_rc = 0;
	table_recv_rc = -EAGAIN;
	table_take_rc = -ENODATA;
	table_has_payload = false;
	table_is_acked = false;
	table_is_expected = false;
	table_meet_out = SMC_HS_GO_ON;
	table_meet_late_out = SMC_HS_GO_ON;
	table_step_out = SMC_HS_WAIT;
	table_late_out = SMC_HS_GO_ON;
	return 0;
}

/* The row of a handshake wants a Decline. */
static void table_decline(struct smc_hs *hs, enum smc_decline reason)
{
	hs_move_on(hs, smc_hs_decline(hs, reason));
	hs_run(hs);
}

static const struct table_row *table_rows(enum smc_role role, unsigned int *nr)
{
	static_assert(ARRAY_SIZE(table_server) == ARRAY_SIZE(hs_server));
	static_assert(ARRAY_SIZE(table_client) == ARRAY_SIZE(hs_client));
	*nr = role == SMC_ROLE_SERVER ? ARRAY_SIZE(table_server) : ARRAY_SIZE(table_client);
	return role == SMC_ROLE_SERVER ? table_server : table_client;
}

/* Remove the words for steps that only first contact has. */
static void table_strip(char *to, const char *from, size_t size)
{
	const char *at = strstr(from, "fail ");

	strscpy(to, from, size);
	if (at)
		strscpy(to + (at - from), at + strlen("fail "), size - (at - from));
}

static void each_row_undoes_what_was_done_the_last_first(struct kunit *test)
{
	const struct table_row *row;
	char undone[64];
	unsigned int nr, i;
	int role;

	for (role = SMC_ROLE_CLIENT; role <= SMC_ROLE_SERVER; role++) {
		row = table_rows(role, &nr);
		for (i = 0; i < nr; i++) {
			hs_end(table_reach(test, role, i, true), SMC_HS_TCP);
			KUNIT_EXPECT_STREQ_MSG(test, table_log, row[i].undone, "%d: %s", role,
					       row[i].step);
			/* another row releases the client's group then */
			if (role == SMC_ROLE_CLIENT && (i == CLIENT_GROUP || i == CLIENT_FORM - 1))
				continue;
			table_strip(undone, row[i].undone, sizeof(undone));
			hs_end(table_reach(test, role, i, false), SMC_HS_TCP);
			KUNIT_EXPECT_STREQ_MSG(test, table_log, undone, "%d: %s", role,
					       row[i].step);
		}
	}
	hs_end(table_reach(test, SMC_ROLE_CLIENT, CLIENT_GROUP, false), SMC_HS_TCP);
	KUNIT_EXPECT_STREQ(test, table_log, "unreserve port meet ");
}

/* RMB-28: an announced element may be written to, unless the handshake falls back. */
static void an_element_that_was_announced_is_lost_with_a_reset(struct kunit *test)
{
	hs_end(table_reach(test, SMC_ROLE_SERVER, SERVER_JOIN, false), SMC_HS_FAILED);
	KUNIT_EXPECT_STREQ(test, table_log, "leave unread conn port meet ");
	hs_end(table_reach(test, SMC_ROLE_SERVER, SERVER_ACCEPT, false), SMC_HS_FAILED);
	KUNIT_EXPECT_STREQ(test, table_log, "leave-element unread conn port meet ");
	hs_end(table_reach(test, SMC_ROLE_SERVER, SERVER_CROSS, true), SMC_HS_FAILED);
	KUNIT_EXPECT_STREQ(test, table_log, "fail leave-element unread conn port meet ");
	hs_end(table_reach(test, SMC_ROLE_CLIENT, CLIENT_CONFIRM - 1, false), SMC_HS_FAILED);
	KUNIT_EXPECT_STREQ(test, table_log, "leave unread conn port meet ");
	hs_end(table_reach(test, SMC_ROLE_CLIENT, CLIENT_CONFIRM, false), SMC_HS_FAILED);
	KUNIT_EXPECT_STREQ(test, table_log, "leave-element unread conn port meet ");
}

static void a_connection_that_could_not_join_has_a_reservation(struct kunit *test)
{
	struct smc_hs *hs = table_reach(test, SMC_ROLE_SERVER, SERVER_JOIN, false);

	hs->smc->conn->lgr = NULL;
	table_decline(hs, SMC_DECLINE_MEM);
	KUNIT_EXPECT_STREQ(test, table_log, "rmbe sndbuf conn unreserve port meet ");
	KUNIT_EXPECT_EQ(test, table_nr_declines, 1);
}

static void without_memory_there_is_no_connection_to_drop(struct kunit *test)
{
	struct smc_hs *hs = table_reach(test, SMC_ROLE_SERVER, SERVER_CONN, false);

	hs->smc->conn = NULL;
	table_decline(hs, SMC_DECLINE_MEM);
	KUNIT_EXPECT_STREQ(test, table_log, "unreserve port meet ");
}

static void an_open_connection_keeps_its_group(struct kunit *test)
{
	struct smc_hs *hs = table_reach(test, SMC_ROLE_SERVER, SERVER_OPEN, true);

	hs_run(hs);
	KUNIT_EXPECT_EQ(test, hs->outcome, SMC_HS_SMC);
	KUNIT_EXPECT_STREQ(test, table_log, "port meet ");
	KUNIT_EXPECT_NOT_NULL(test, hs->smc->conn->lgr);
}

/* DCLN-04, AMB-33: others share the peer's address, so its links tell. */
static void a_decline_with_s_bit_probes_the_group(struct kunit *test)
{
	struct smc_hs *hs = table_reach(test, SMC_ROLE_SERVER, SERVER_CONFIRM, false);

	hs->rx.type = SMC_CLC_DECLINE;
	hs->rx.decline.out_of_sync = true;
	hs_end(hs, SMC_HS_TCP);
	KUNIT_EXPECT_STREQ(test, table_log, "doubt leave unread conn port meet ");
	/* without the bit there is nothing to ask */
	hs = table_reach(test, SMC_ROLE_SERVER, SERVER_CONFIRM, false);
	hs->rx.type = SMC_CLC_DECLINE;
	hs_end(hs, SMC_HS_TCP);
	KUNIT_EXPECT_STREQ(test, table_log, "leave unread conn port meet ");
}

/* AMB-06 */
static void a_first_contact_by_a_known_link_probes_the_group(struct kunit *test)
{
	struct smc_hs *hs = table_reach(test, SMC_ROLE_CLIENT, CLIENT_FORM, false);

	hs->lgr = NULL;
	hs->rx.accept.first_contact = true;
	hs_run(hs);
	KUNIT_EXPECT_EQ(test, hs->outcome, SMC_HS_TCP);
	KUNIT_EXPECT_EQ(test, hs->reason, SMC_DECLINE_MEM);
	KUNIT_EXPECT_STREQ(test, table_log, "doubt port meet ");
	KUNIT_EXPECT_EQ(test, refcount_read(&table_forming->refs), 1);
}

/* CLC-09, ERR-07, ERR-08 */
static void a_decline_is_sent_where_the_row_allows_it(struct kunit *test)
{
	const struct table_row *row;
	unsigned int nr, i, is_first;
	struct smc_hs *hs;
	bool may;
	int role;

	for (role = SMC_ROLE_CLIENT; role <= SMC_ROLE_SERVER; role++) {
		row = table_rows(role, &nr);
		for (i = 0; i < nr; i++) {
			for (is_first = 0; is_first < 2; is_first++) {
				may = is_first ? row[i].declines_first : row[i].declines;
				hs = table_reach(test, role, i, is_first);
				table_decline(hs, SMC_DECLINE_MEM);
				KUNIT_EXPECT_EQ_MSG(test, table_nr_declines, may, "%d: %s", role,
						    row[i].step);
				KUNIT_EXPECT_EQ_MSG(test, hs->outcome,
						    may ? SMC_HS_TCP : SMC_HS_FAILED, "%d: %s",
						    role, row[i].step);
				KUNIT_EXPECT_EQ(test, hs->err, may ? 0 : -ECONNRESET);
				/* without one no Decline is sent */
				hs_end(table_reach(test, role, i, is_first), SMC_HS_TCP);
				KUNIT_EXPECT_EQ(test, table_nr_declines, 0);
			}
		}
	}
}

static void a_row_that_waits_says_what_for(struct kunit *test)
{
	const struct hs_row *row;
	unsigned int nr, i;
	int role;

	for (role = SMC_ROLE_CLIENT; role <= SMC_ROLE_SERVER; role++) {
		row = role == SMC_ROLE_SERVER ? hs_server : hs_client;
		table_rows(role, &nr);
		for (i = 0; i < nr; i++) {
			KUNIT_EXPECT_EQ_MSG(test, !row[i].limit, !row[i].late, "%d: %u", role,
					    i);
			KUNIT_EXPECT_TRUE_MSG(test, row[i].event || !row[i].limit, "%d: %u", role,
					      i);
			/* only LLC's timers run beside the row's */
			KUNIT_EXPECT_TRUE_MSG(test, row[i].limit || !row[i].event ||
					      row[i].step == hs_first_contact, "%d: %u", role, i);
		}
	}
}

/* A client at a row while a call owns the socket lock, and after the time of that row. */
static struct smc_hs *table_stuck(struct kunit *test, unsigned int step, unsigned long limit)
{
	struct smc_hs *hs = table_reach(test, SMC_ROLE_CLIENT, step, false);

	hs->smc->phase = SMC_PHASE_HANDSHAKE;
	table_is_owned = true;
	hs_run(hs);
	KUNIT_EXPECT_EQ(test, hs->outcome, SMC_HS_GO_ON);
	KUNIT_EXPECT_EQ(test, hs->step, step);
	KUNIT_EXPECT_STREQ(test, table_log, "");
	/* the release of the lock is the event: there is nothing to poll for */
	KUNIT_EXPECT_GT(test, table_delay, SMC_HS_SLICE);
	hs->since -= limit;
	hs_run(hs);
	return hs;
}

/* A call may own the socket lock for any time, but not the device and the group. */
static void a_call_that_owns_the_lock_holds_no_device(struct kunit *test)
{
	unsigned long full = msecs_to_jiffies(TABLE_MS);
	struct smc_hs *hs;

	hs = table_stuck(test, CLIENT_SEND, full / 2);
	KUNIT_EXPECT_EQ(test, hs->outcome, SMC_HS_FAILED);
	KUNIT_EXPECT_EQ(test, hs->err, -ENOBUFS);
	KUNIT_EXPECT_STREQ(test, table_log, "port meet ");
	hs = table_stuck(test, CLIENT_ACCEPT, full);
	KUNIT_EXPECT_EQ(test, hs->outcome, SMC_HS_FAILED);
	KUNIT_EXPECT_EQ(test, hs->err, -ETIMEDOUT);
	KUNIT_EXPECT_STREQ(test, table_log, "port meet ");
	/* its answer may be there: the service is not to blame */
	KUNIT_EXPECT_EQ(test, table_nr_unanswered, 0);
	hs = table_stuck(test, CLIENT_CONFIRM + 1, full / 2);
	KUNIT_EXPECT_EQ(test, hs->outcome, SMC_HS_FAILED);
	KUNIT_EXPECT_STREQ(test, table_log, "leave-element unread conn port meet ");

	table_is_owned = false;
	hs = table_reach(test, SMC_ROLE_CLIENT, CLIENT_GROUP, false);
	table_is_owned = true;
	table_decline(hs, SMC_DECLINE_MEM);
	KUNIT_EXPECT_EQ(test, hs->outcome, SMC_HS_GO_ON);
	KUNIT_EXPECT_STREQ(test, table_log, "");
	hs->since -= full / 2;
	hs_run(hs);
	KUNIT_EXPECT_EQ(test, hs->outcome, SMC_HS_FAILED);
	KUNIT_EXPECT_STREQ(test, table_log, "unreserve port meet ");
	KUNIT_EXPECT_EQ(test, table_nr_declines, 0);
}

/* TCP may lack memory, or a call may own the lock, any number of times. */
static void a_message_is_sent_once(struct kunit *test)
{
	struct smc_hs *hs = table_reach(test, SMC_ROLE_CLIENT, CLIENT_GROUP, false);

	table_send_rc = -EAGAIN;
	table_decline(hs, SMC_DECLINE_MEM);
	KUNIT_EXPECT_LE(test, table_delay, SMC_HS_SLICE);
	table_is_owned = true;
	hs_run(hs);
	table_is_owned = false;
	hs_run(hs);
	KUNIT_EXPECT_EQ(test, hs->outcome, SMC_HS_GO_ON);
	table_send_rc = 0;
	hs_run(hs);
	KUNIT_EXPECT_EQ(test, hs->outcome, SMC_HS_TCP);
	KUNIT_EXPECT_EQ(test, table_nr_declines, 1);
	KUNIT_EXPECT_EQ(test, table_nr_prepared, 1);

	/* also after first contact, where the peer's Decline may come first */
	hs = table_reach(test, SMC_ROLE_SERVER, SERVER_BACK_OUT, true);
	hs->reason = SMC_DECLINE_MEM;
	table_send_rc = -EAGAIN;
	hs_run(hs);
	table_is_owned = true;
	hs_run(hs);
	table_is_owned = false;
	table_send_rc = 0;
	hs_run(hs);
	KUNIT_EXPECT_EQ(test, hs->step, SERVER_CROSS);
	KUNIT_EXPECT_EQ(test, table_nr_declines, 1);
	KUNIT_EXPECT_EQ(test, table_nr_prepared, 1);
}

/* TMR-01, ERR-14: the timer runs for the remaining time of a message. */
static void a_message_has_its_time(struct kunit *test)
{
	struct smc_hs *hs = table_reach(test, SMC_ROLE_CLIENT, CLIENT_ACCEPT, false);
	unsigned long full = msecs_to_jiffies(TABLE_MS);

	hs_run(hs);
	KUNIT_EXPECT_EQ(test, hs->outcome, SMC_HS_GO_ON);
	KUNIT_EXPECT_GT(test, table_delay, 0);
	KUNIT_EXPECT_LE(test, table_delay, full);
	hs->since -= full;
	hs_run(hs);
	KUNIT_EXPECT_EQ(test, hs->outcome, SMC_HS_FAILED);
	KUNIT_EXPECT_EQ(test, hs->err, -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, table_nr_declines, 0);
}

/* A client that waits for the Accept, and reads @rc. */
static unsigned int table_unanswered(struct kunit *test, int rc, enum smc_phase phase, long waited)
{
	struct smc_hs *hs = table_reach(test, SMC_ROLE_CLIENT, CLIENT_ACCEPT, false);

	hs->smc->phase = phase;
	hs->since -= waited;
	table_recv_rc = rc;
	if (phase == SMC_PHASE_HANDSHAKE)
		hs_run(hs);
	else
		hs_abort(hs);
	return table_nr_unanswered;
}

/* A service that echoed the TCP option; not one that the application or this host gave up. */
static void a_service_without_any_answer_is_noted(struct kunit *test)
{
	long half = msecs_to_jiffies(TABLE_MS) / 2;

	KUNIT_EXPECT_EQ(test, table_unanswered(test, -EPROTO, SMC_PHASE_HANDSHAKE, 0), 1);
	KUNIT_EXPECT_EQ(test, table_unanswered(test, -ECONNRESET, SMC_PHASE_HANDSHAKE, 0), 1);
	KUNIT_EXPECT_EQ(test, table_unanswered(test, -EAGAIN, SMC_PHASE_HANDSHAKE, 0), 0);
	KUNIT_EXPECT_EQ(test, table_unanswered(test, -EAGAIN, SMC_PHASE_HANDSHAKE, 2 * half), 1);
	KUNIT_EXPECT_EQ(test, table_unanswered(test, -EHOSTUNREACH, SMC_PHASE_HANDSHAKE, 0), 0);
	KUNIT_EXPECT_EQ(test, table_unanswered(test, -ECONNABORTED, SMC_PHASE_HANDSHAKE, 0), 0);
	KUNIT_EXPECT_EQ(test, table_unanswered(test, 0, SMC_PHASE_STOPPING, 0), 0);
	KUNIT_EXPECT_EQ(test, table_unanswered(test, 0, SMC_PHASE_STOPPING, half), 1);
	hs_end(table_reach(test, SMC_ROLE_CLIENT, CLIENT_GROUP, false), SMC_HS_FAILED);
	KUNIT_EXPECT_EQ(test, table_nr_unanswered, 0);
}

/* Only where the neighbour is the only hope is it waited for as long as for a peer. */
static void a_neighbour_that_is_not_needed_has_less_time(struct kunit *test)
{
	unsigned long half = msecs_to_jiffies(TABLE_MS) / 2;
	struct smc_hs *hs = table_reach(test, SMC_ROLE_SERVER, SERVER_ROUTE, false);

	KUNIT_EXPECT_EQ(test, hs_limit_jiffies(hs, HS_ROUTE), half);
	table_is_optional = true;
	KUNIT_EXPECT_EQ(test, hs_limit_jiffies(hs, HS_ROUTE),
			msecs_to_jiffies(SMC_ROUTE_NEIGHBOUR_MS));
	table_is_optional = false;
}

/* Also where the server starts late: the limit counts from the start of the connection. */
static void a_proposal_has_its_time(struct kunit *test)
{
	struct smc_hs *hs = table_reach(test, SMC_ROLE_SERVER, SERVER_PROPOSAL, false);

	hs->since -= msecs_to_jiffies(TABLE_MS);
	hs_run(hs);
	KUNIT_EXPECT_EQ(test, hs->step, SERVER_PROPOSAL);
	KUNIT_EXPECT_EQ(test, hs->outcome, SMC_HS_FAILED);
	KUNIT_EXPECT_EQ(test, hs->err, -ETIMEDOUT);
}

/* TMR-01: on a fast path half of it, on a slow or unknown one more. */
static void a_proposal_is_awaited_by_the_round_trip(struct kunit *test)
{
	struct smc_hs *hs = table_reach(test, SMC_ROLE_SERVER, SERVER_PROPOSAL, false);
	unsigned long full = msecs_to_jiffies(TABLE_MS);
	struct table_lab *lab = test->priv;
	u32 *rto = &lab->tp.inet_conn.icsk_rto;

	*rto = 1;
	KUNIT_EXPECT_EQ(test, hs_limit_jiffies(hs, HS_PROPOSAL), full / 2);
	*rto = full / 10;
	KUNIT_EXPECT_EQ(test, hs_limit_jiffies(hs, HS_PROPOSAL), full / 10 * 8);
	*rto = full;
	KUNIT_EXPECT_EQ(test, hs_limit_jiffies(hs, HS_PROPOSAL), full);
}

/* A server that waits for the Proposal, and reads @rc. */
static struct smc_hs *table_await_proposal(struct kunit *test, int rc, long waited)
{
	struct smc_hs *hs = table_reach(test, SMC_ROLE_SERVER, SERVER_PROPOSAL, false);

	hs->since -= waited;
	table_recv_rc = rc;
	hs_run(hs);
	return hs;
}

/* ERR-15, ERR-16: bytes of the application, before we sent anything. */
static void a_client_without_a_proposal_is_tcp(struct kunit *test)
{
	struct smc_hs *hs = table_await_proposal(test, -ENOMSG, 0);

	KUNIT_EXPECT_EQ(test, hs->outcome, SMC_HS_TCP);
	KUNIT_EXPECT_EQ(test, hs->reason, SMC_DECLINE_PEERNOSMC);
	KUNIT_EXPECT_EQ(test, table_nr_declines, 0);
	KUNIT_EXPECT_EQ(test, table_nr_silent, 1);
	hs = table_await_proposal(test, -EPROTO, 0);
	KUNIT_EXPECT_EQ(test, hs->outcome, SMC_HS_FAILED);
	KUNIT_EXPECT_EQ(test, table_nr_silent, 0);

	/* later on the peer has a message of ours */
	hs = table_reach(test, SMC_ROLE_SERVER, SERVER_CONFIRM, false);
	table_recv_rc = -ENOMSG;
	hs_run(hs);
	KUNIT_EXPECT_EQ(test, hs->outcome, SMC_HS_FAILED);
	KUNIT_EXPECT_EQ(test, hs->err, -ECONNRESET);
	KUNIT_EXPECT_EQ(test, table_nr_silent, 0);
	KUNIT_EXPECT_EQ(test, table_nr_proposed, 1);
}

/* Not one that closed early, or that sent a part. */
static void a_silent_client_is_noted(struct kunit *test)
{
	long full = msecs_to_jiffies(TABLE_MS);
	struct smc_hs *hs;

	table_await_proposal(test, -EAGAIN, full);
	KUNIT_EXPECT_EQ(test, table_nr_silent, 1);
	table_await_proposal(test, -ECONNRESET, 0);
	KUNIT_EXPECT_EQ(test, table_nr_silent, 0);
	hs = table_reach(test, SMC_ROLE_SERVER, SERVER_PROPOSAL, false);
	hs->half.done = SMC_CLC_HDR_LEN;
	table_recv_rc = -EAGAIN;
	hs->since -= full;
	hs_run(hs);
	KUNIT_EXPECT_EQ(test, hs->err, -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, table_nr_silent, 0);
	KUNIT_EXPECT_EQ(test, table_nr_proposed, 0);
}

/* The next row runs; no event reports a neighbour, so the timer polls. */
static void a_step_that_is_late_may_go_on(struct kunit *test)
{
	struct smc_hs *hs = table_reach(test, SMC_ROLE_SERVER, SERVER_ROUTE, false);

	hs_run(hs);
	KUNIT_EXPECT_EQ(test, hs->step, SERVER_ROUTE);
	KUNIT_EXPECT_LE(test, table_delay, SMC_HS_SLICE);
	hs->since -= msecs_to_jiffies(TABLE_MS);
	hs_run(hs);
	KUNIT_EXPECT_EQ(test, table_nr_late, 1);
	KUNIT_EXPECT_EQ(test, hs->step, SERVER_ROUTE + 1);
}

/* A step in progress ends by itself; the timer is off until then. */
static void a_step_that_is_late_may_wait_on(struct kunit *test)
{
	struct smc_hs *hs = table_reach(test, SMC_ROLE_SERVER, SERVER_SNDBUF, false);

	table_late_out = SMC_HS_WAIT;
	hs->since -= msecs_to_jiffies(TABLE_MS);
	hs_run(hs);
	KUNIT_EXPECT_EQ(test, hs->outcome, SMC_HS_GO_ON);
	KUNIT_EXPECT_EQ(test, table_delay, TABLE_UNARMED);
	hs_unwatch(hs);
}

/* Otherwise an event between the check and the watch would be lost. */
static void a_step_repeats_its_check_after_it_joined_the_queue(struct kunit *test)
{
	struct smc_hs *hs = table_reach(test, SMC_ROLE_SERVER, SERVER_SNDBUF, false);

	hs_run(hs);
	KUNIT_EXPECT_EQ(test, table_nr_steps, 2);
	wake_up(&hs->lgr->sends.waitq);
	KUNIT_EXPECT_EQ(test, table_nr_queued, 1);
	/* it left the queue, and joins it again */
	wake_up(&hs->lgr->sends.waitq);
	KUNIT_EXPECT_EQ(test, table_nr_queued, 1);
	hs_run(hs);
	KUNIT_EXPECT_EQ(test, table_nr_steps, 4);
	hs_unwatch(hs);
	wake_up(&hs->lgr->sends.waitq);
	KUNIT_EXPECT_EQ(test, table_nr_queued, 1);
}

static unsigned int table_nr_others;

static int table_wake_other(struct wait_queue_entry *watch, unsigned int mode, int sync, void *key)
{
	table_nr_others++;
	return 1;
}

/* Hundreds may wait for an element: each event concerns one, which passes it on. */
static void one_that_waits_for_an_element_is_woken_at_a_time(struct kunit *test)
{
	static const unsigned int steps[] = { SERVER_SNDBUF, SERVER_SNDBUF + 1 };
	wait_queue_head_t *waitq;
	wait_queue_entry_t other;
	struct smc_hs *hs;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(steps); i++) {
		hs = table_reach(test, SMC_ROLE_SERVER, steps[i], false);
		waitq = i ? &hs->lgr->rmbs.waitq : &hs->lgr->sends.waitq;
		table_nr_others = 0;
		hs_run(hs);
		init_waitqueue_func_entry(&other, table_wake_other);
		add_wait_queue_exclusive(waitq, &other);
		wake_up(waitq);
		KUNIT_EXPECT_EQ(test, table_nr_queued, 1);
		KUNIT_EXPECT_EQ(test, table_nr_others, 0U);
		/* too early: it stays the first */
		hs_run(hs);
		wake_up(waitq);
		KUNIT_EXPECT_EQ(test, table_nr_queued, 2);
		KUNIT_EXPECT_EQ(test, table_nr_others, 0U);
		hs_unwatch(hs);
		KUNIT_EXPECT_EQ(test, table_nr_others, 1U);
		remove_wait_queue(waitq, &other);
		/* no watch is left */
		KUNIT_EXPECT_FALSE(test, waitqueue_active(waitq));
	}
}

/* Either end queues the work item of the other. */
static void an_end_on_this_host_is_awaited_for_a_time(struct kunit *test)
{
	unsigned long half = msecs_to_jiffies(TABLE_MS) / 2;
	struct smc_hs *hs = table_reach(test, SMC_ROLE_SERVER, SERVER_LAST, false);

	table_meet_out = SMC_HS_WAIT;
	hs_run(hs);
	KUNIT_EXPECT_EQ(test, hs->outcome, SMC_HS_GO_ON);
	KUNIT_EXPECT_GT(test, table_delay, SMC_HS_SLICE);
	KUNIT_EXPECT_NULL(test, hs->waitq);
	table_meet_out = SMC_HS_SMC;
	hs_run(hs);
	KUNIT_EXPECT_EQ(test, hs->outcome, SMC_HS_SMC);
	KUNIT_EXPECT_EQ(test, table_nr_proposed, 1);

	hs = table_reach(test, SMC_ROLE_SERVER, SERVER_LAST, false);
	table_meet_out = SMC_HS_WAIT;
	table_meet_late_out = SMC_HS_SMC;
	hs->since -= half;
	hs_run(hs);
	KUNIT_EXPECT_EQ(test, hs->outcome, SMC_HS_SMC);
}

/* By loopback the child is born soon; by another device there may be none. */
static void a_birth_has_its_time(struct kunit *test)
{
	struct smc_hs *hs = table_reach(test, SMC_ROLE_CLIENT, CLIENT_MEET, false);
	unsigned long half = msecs_to_jiffies(TABLE_MS) / 2;

	hs->smc->place = SMC_PATH_INSIDE;
	KUNIT_EXPECT_EQ(test, hs_limit_jiffies(hs, HS_BIRTH), half);
	hs->smc->place = SMC_PATH_NEARBY;
	KUNIT_EXPECT_LE(test, hs_limit_jiffies(hs, HS_BIRTH), 2UL);
}

/* A server that meets nobody has not waited: the time of the Proposal has begun already. */
static void a_proposal_has_its_time_behind_the_rows_of_this_host(struct kunit *test)
{
	struct smc_hs *hs = table_reach(test, SMC_ROLE_SERVER, SERVER_MEET, false);

	hs->since -= msecs_to_jiffies(TABLE_MS);
	hs_run(hs);
	KUNIT_EXPECT_EQ(test, hs->step, SERVER_PROPOSAL);
	KUNIT_EXPECT_EQ(test, hs->err, -ETIMEDOUT);
	KUNIT_EXPECT_STREQ(test, table_log, "meet ");
}

/* A client that memory would have served has had no occasion for a Proposal. */
static void a_client_that_leaves_early_proves_nothing(struct kunit *test)
{
	hs_end(table_reach(test, SMC_ROLE_SERVER, SERVER_LAST, false), SMC_HS_FAILED);
	KUNIT_EXPECT_EQ(test, table_nr_silent, 0);
	KUNIT_EXPECT_EQ(test, table_nr_proposed, 0);
	hs_end(table_reach(test, SMC_ROLE_CLIENT, CLIENT_MEMORY, false), SMC_HS_FAILED);
	KUNIT_EXPECT_EQ(test, table_nr_unanswered, 0);
}

/* AMB-60 */
static void the_first_contact_of_another_is_awaited(struct kunit *test)
{
	struct smc_hs *hs = table_reach(test, SMC_ROLE_SERVER, SERVER_GROUP, false);

	hs->lgr = NULL;
	table_forming->state = SMC_LGR_FORMING;
	hs_run(hs);
	KUNIT_EXPECT_EQ(test, hs->outcome, SMC_HS_GO_ON);
	wake_up_all(&table_forming->waitq);
	KUNIT_EXPECT_EQ(test, table_nr_queued, 1);
	hs->since -= msecs_to_jiffies(TABLE_MS) / 2;
	hs_run(hs);
	KUNIT_EXPECT_EQ(test, hs->outcome, SMC_HS_TCP);
	KUNIT_EXPECT_EQ(test, hs->reason, SMC_DECLINE_TIMEOUT_CL);
	KUNIT_EXPECT_EQ(test, table_nr_declines, 1);
	KUNIT_EXPECT_EQ(test, refcount_read(&table_forming->refs), 1);
}

/* First contact, with the group in a state. */
static struct smc_hs *table_first(struct kunit *test, enum smc_lgr_state state,
				  enum smc_decline reason)
{
	struct smc_hs *hs = table_reach(test, SMC_ROLE_SERVER, SERVER_FIRST, true);

	hs->lgr->state = state;
	hs->lgr->fail_decline = reason;
	return hs;
}

/* ERR-21, ERR-22 */
static void first_contact_that_fails_is_declined(struct kunit *test)
{
	struct smc_hs *hs = table_first(test, SMC_LGR_TERMINATING, SMC_DECLINE_TIMEOUT_AL);

	hs_run(hs);
	KUNIT_EXPECT_EQ(test, table_nr_declines, 1);
	KUNIT_EXPECT_TRUE(test, table_if_quiet);
	/* the peer's message may be in flight */
	KUNIT_EXPECT_EQ(test, hs->step, SERVER_CROSS);
	KUNIT_EXPECT_EQ(test, hs->outcome, SMC_HS_GO_ON);
	KUNIT_EXPECT_LE(test, table_delay, SMC_HS_SLICE);
	table_is_acked = true;
	hs_run(hs);
	KUNIT_EXPECT_EQ(test, hs->outcome, SMC_HS_TCP);
	KUNIT_EXPECT_EQ(test, hs->reason, SMC_DECLINE_TIMEOUT_AL);
	KUNIT_EXPECT_EQ(test, table_nr_declines, 1);
}

static void a_peer_that_was_faster_is_not_declined(struct kunit *test)
{
	struct smc_hs *hs = table_first(test, SMC_LGR_TERMINATING, SMC_DECLINE_TIMEOUT_AL);

	table_decline_rc = -EEXIST;
	hs_run(hs);
	KUNIT_EXPECT_EQ(test, hs->step, SERVER_BACK_OUT);
	KUNIT_EXPECT_EQ(test, hs->outcome, SMC_HS_GO_ON);
	table_recv_rc = 0;
	table_recv_type = SMC_CLC_DECLINE;
	hs_run(hs);
	KUNIT_EXPECT_EQ(test, hs->outcome, SMC_HS_TCP);
	KUNIT_EXPECT_EQ(test, hs->reason, SMC_DECLINE_PEERDECL);
	/* the peer sends a Decline or nothing */
	hs = table_first(test, SMC_LGR_TERMINATING, SMC_DECLINE_TIMEOUT_AL);
	table_recv_rc = -EPROTO;
	hs_run(hs);
	KUNIT_EXPECT_EQ(test, hs->outcome, SMC_HS_FAILED);
	KUNIT_EXPECT_EQ(test, hs->err, -ECONNRESET);
}

/* A partly received Decline is read to its end before the answer. */
static void the_rest_of_a_decline_is_awaited(struct kunit *test)
{
	struct smc_hs *hs = table_first(test, SMC_LGR_TERMINATING, SMC_DECLINE_TIMEOUT_AL);

	hs->half.done = 4;
	hs_run(hs);
	KUNIT_EXPECT_EQ(test, table_nr_declines, 0);
	KUNIT_EXPECT_EQ(test, hs->step, SERVER_BACK_OUT);
	hs->since -= msecs_to_jiffies(TABLE_MS);
	hs_run(hs);
	KUNIT_EXPECT_EQ(test, hs->outcome, SMC_HS_FAILED);
	KUNIT_EXPECT_EQ(test, hs->err, -ETIMEDOUT);
}

/* DCLN-06, ERR-23 */
static void llc_learns_of_a_decline(struct kunit *test)
{
	struct smc_hs *hs = table_first(test, SMC_LGR_FORMING, SMC_DECLINE_NONE);

	hs_run(hs);
	KUNIT_EXPECT_EQ(test, hs->outcome, SMC_HS_GO_ON);
	hs->smc->sk->sk_shutdown = RCV_SHUTDOWN;
	/* a FIN without a Decline is none; LLC learns of it once */
	hs_run(hs);
	hs_run(hs);
	KUNIT_EXPECT_STREQ(test, table_log, "ended ");
	KUNIT_EXPECT_EQ(test, hs->outcome, SMC_HS_GO_ON);
	table_has_payload = true;
	table_recv_rc = 0;
	table_recv_type = SMC_CLC_DECLINE;
	hs_run(hs);
	KUNIT_EXPECT_STREQ(test, table_log, "ended declined ");
	KUNIT_EXPECT_EQ(test, hs->outcome, SMC_HS_GO_ON);
	hs->lgr->state = SMC_LGR_TERMINATING;
	hs->lgr->fail_decline = SMC_DECLINE_PEERDECL;
	hs_run(hs);
	KUNIT_EXPECT_EQ(test, hs->outcome, SMC_HS_TCP);
	KUNIT_EXPECT_EQ(test, table_nr_declines, 0);
}

/* ERR-12: past the point of no return */
static void what_may_not_be_declined_is_reset(struct kunit *test)
{
	struct smc_hs *hs = table_first(test, SMC_LGR_TERMINATING, SMC_DECLINE_NONE);

	hs_run(hs);
	KUNIT_EXPECT_EQ(test, hs->outcome, SMC_HS_FAILED);
	KUNIT_EXPECT_EQ(test, table_nr_declines, 0);
	/* a Decline that arrives too late */
	hs = table_first(test, SMC_LGR_ACTIVE, SMC_DECLINE_NONE);
	hs->rx.type = SMC_CLC_DECLINE;
	hs_run(hs);
	KUNIT_EXPECT_EQ(test, hs->outcome, SMC_HS_FAILED);
	KUNIT_EXPECT_STREQ(test, table_log, "doubt fail leave-element unread conn port meet ");
	/* nor may part of one stay in the stream */
	hs = table_first(test, SMC_LGR_ACTIVE, SMC_DECLINE_NONE);
	hs->half.done = 1;
	hs_run(hs);
	KUNIT_EXPECT_EQ(test, hs->outcome, SMC_HS_FAILED);
	hs = table_first(test, SMC_LGR_ACTIVE, SMC_DECLINE_NONE);
	hs_run(hs);
	KUNIT_EXPECT_EQ(test, hs->outcome, SMC_HS_SMC);
}

static struct proto table_proto = SMC_KUNIT_PROTO("smc_hs_test");

/* Events queue the work item of a child at any time. */
static void a_child_without_memory_leaves_its_work_item_nothing(struct kunit *test)
{
	struct smc_sock *smc = smc_kunit_new(&table_proto);
	struct smc_child child = {};
	struct sock *sk;

	KUNIT_ASSERT_NOT_NULL(test, smc);
	sk = smc->sk;
	INIT_DELAYED_WORK(&smc->hs_work, smc_hs_work);
	lock_sock(sk);
	smc_sock_set_phase(smc, SMC_PHASE_HANDSHAKE);
	table_has_no_memory = true;
	KUNIT_EXPECT_FALSE(test, smc_hs_begin_server(smc, &child, sk));
	/* there was no moment in which another task could end the child */
	KUNIT_EXPECT_TRUE(test, sock_owned_by_user_nocheck(sk));
	KUNIT_EXPECT_EQ(test, (int)smc->phase, SMC_PHASE_IDLE);
	table_nr_checked = 0;
	smc_sock_get(smc);
	smc_hs_work(&smc->hs_work.work);
	KUNIT_EXPECT_NULL(test, smc->hs);
	KUNIT_EXPECT_NULL(test, smc->child);
	KUNIT_EXPECT_EQ(test, table_nr_checked, 0);
	KUNIT_EXPECT_EQ(test, refcount_read(&smc->refs), 1);

	table_has_no_memory = false;
	smc->phase = SMC_PHASE_HANDSHAKE;
	KUNIT_EXPECT_TRUE(test, smc_hs_begin_server(smc, &child, sk));
	KUNIT_EXPECT_TRUE(test, sock_owned_by_user_nocheck(sk));
	KUNIT_EXPECT_PTR_EQ(test, smc->child, &child);
	KUNIT_ASSERT_NOT_NULL(test, smc->hs);
	table_release(sk);
	kfree(smc->hs);
	smc->hs = NULL;
	smc->child = NULL;
	smc_sock_put(smc);
	smc_kunit_free(smc);
}

static struct kunit_case table_cases[] = {
	KUNIT_CASE(each_row_undoes_what_was_done_the_last_first),
	KUNIT_CASE(an_element_that_was_announced_is_lost_with_a_reset),
	KUNIT_CASE(a_connection_that_could_not_join_has_a_reservation),
	KUNIT_CASE(without_memory_there_is_no_connection_to_drop),
	KUNIT_CASE(an_open_connection_keeps_its_group),
	KUNIT_CASE(a_decline_with_s_bit_probes_the_group),
	KUNIT_CASE(a_first_contact_by_a_known_link_probes_the_group),
	KUNIT_CASE(a_decline_is_sent_where_the_row_allows_it),
	KUNIT_CASE(a_row_that_waits_says_what_for),
	KUNIT_CASE(a_call_that_owns_the_lock_holds_no_device),
	KUNIT_CASE(a_message_is_sent_once),
	KUNIT_CASE(a_message_has_its_time),
	KUNIT_CASE(a_service_without_any_answer_is_noted),
	KUNIT_CASE(a_proposal_has_its_time),
	KUNIT_CASE(a_proposal_is_awaited_by_the_round_trip),
	KUNIT_CASE(a_client_without_a_proposal_is_tcp),
	KUNIT_CASE(a_silent_client_is_noted),
	KUNIT_CASE(a_neighbour_that_is_not_needed_has_less_time),
	KUNIT_CASE(a_step_that_is_late_may_go_on),
	KUNIT_CASE(a_step_that_is_late_may_wait_on),
	KUNIT_CASE(a_step_repeats_its_check_after_it_joined_the_queue),
	KUNIT_CASE(one_that_waits_for_an_element_is_woken_at_a_time),
	KUNIT_CASE(an_end_on_this_host_is_awaited_for_a_time),
	KUNIT_CASE(a_birth_has_its_time),
	KUNIT_CASE(a_proposal_has_its_time_behind_the_rows_of_this_host),
	KUNIT_CASE(a_client_that_leaves_early_proves_nothing),
	KUNIT_CASE(the_first_contact_of_another_is_awaited),
	KUNIT_CASE(first_contact_that_fails_is_declined),
	KUNIT_CASE(a_peer_that_was_faster_is_not_declined),
	KUNIT_CASE(the_rest_of_a_decline_is_awaited),
	KUNIT_CASE(llc_learns_of_a_decline),
	KUNIT_CASE(what_may_not_be_declined_is_reset),
	KUNIT_CASE(a_child_without_memory_leaves_its_work_item_nothing),
	{}
};

static struct kunit_suite table_suite = {
	.name = "smc_hs",
	.init = table_init,
	.test_cases = table_cases,
};

kunit_test_suite(table_suite);
