// SPDX-License-Identifier: GPL-2.0
/*
 * Connections change their link, RFC 7609 2.3 and 4.6.
 *
 * Operation:
 *   Each side chooses the link for its sends alone (FAIL-03). A work item of the group checks all
 *   connections. One whose link is no longer active stops posting (SMC_CONN_LEAVING). When its last
 *   message has completed, well or not (FAIL-04), the work item runs again and moves it to another
 *   link, with the peer's key for that link (FAIL-16). Its sender then posts a validation message
 *   and repeats what did not complete; smc_tx.c.
 *
 *   A new link takes over connections once, from links with more than their share. A completion
 *   proves that the peer's RNIC has a message, not that the peer has processed it. Each link is a
 *   queue there, so a message on the new link may overtake one on the old link. This side waits for
 *   the late message, but deployed peers reset a connection whose validation names a message they
 *   have not seen (FAIL-10, protocol.md). So these connections stop posting, and the LLC engine
 *   sends TEST LINK on the old link behind everything they have sent. They move after the response,
 *   which proves that the peer has processed it, or when the link is lost.
 *
 *   A link that is deleted in good order still works. There all connections stop posting before the
 *   peer is asked. They move after the response or a time-out, when the engine moves the link to
 *   SMC_LINK_INACTIVE.
 *
 *   If no link is active, connections wait for a new link or for the end of the group.
 *
 * Ownership:
 *   The queued or running work item holds a reference on the group.
 *
 * Locks:
 *   lgr->lock for links and the peer's keys, inside it conn->lock.
 */
#include "smc_compat.h"
#include "rdma/smc_net.h"
#include "group/smc_core.h"
#include "group/smc_failover.h"
#include "group/smc_link.h"

/* Number of connections by link index after all planned moves. */
struct move_plan {
	struct smc_link_group *lgr;
	unsigned int nr_links;
	unsigned int load[SMC_LINKS_MAX];
	bool is_open[SMC_LINKS_MAX];
};

static bool move_is_settled(const struct move_plan *plan, const struct smc_conn *conn,
			    const struct smc_link *link)
{
	lockdep_assert_held(&conn->lock);
	return conn->phase != SMC_CONN_LEAVING && plan->is_open[link->index] &&
	       plan->lgr->links[link->index] == link;
}

static void move_plan_init(struct move_plan *plan, struct smc_link_group *lgr)
{
	struct smc_link *link;
	struct smc_conn *conn;
	unsigned long pos;
	int i;

	memset(plan, 0, sizeof(*plan));
	plan->lgr = lgr;
	for (i = 0; i < SMC_LINKS_MAX; i++) {
		link = lgr->links[i];
		plan->is_open[i] = link && link->state == SMC_LINK_ACTIVE;
		plan->nr_links += plan->is_open[i];
	}
	xa_for_each(&lgr->conns, pos, conn) {
		guard(spinlock_bh)(&conn->lock);
		link = smc_conn_link(conn);
		if (link && move_is_settled(plan, conn, link))
			plan->load[link->index]++;
	}
}

/* An RMB cannot be reached on a link where the peer announced no key for it. */
static bool move_can_reach(const struct smc_conn *conn, int index)
{
	return conn->rtoken < 0 ||
	       smc_rtoken_is_known(conn->lgr->rtokens, conn->rtoken, index);
}

/* The active link with the fewest connections that reaches the peer's element, or NULL. */
static struct smc_link *move_choose(const struct move_plan *plan, const struct smc_conn *conn)
{
	int i, best = -1;

	for (i = 0; i < SMC_LINKS_MAX; i++)
		if (plan->is_open[i] && move_can_reach(conn, i) &&
		    (best < 0 || plan->load[i] < plan->load[best]))
			best = i;
	return best < 0 ? NULL : plan->lgr->links[best];
}

static void move_set_target(struct smc_conn *conn, const struct smc_link *link)
{
	const struct smc_rtoken *tok;

	lockdep_assert_held(&conn->lock);
	if (conn->rtoken < 0)
		return;
	tok = &link->lgr->rtokens->tok[conn->rtoken];
	conn->peer_rkey = tok->rkey[link->index];
	conn->peer_addr = tok->vaddr[link->index] + (u64)(conn->peer_index - 1) * conn->peer_size;
}

/*
 * Set key and address of a connection's writes for its link. Expects lgr->lock held. Returns 0;
 * -ECONNABORTED if it is on no link; -ENOKEY if the peer announced no key of the RMB there.
 */
int smc_failover_set_target(struct smc_conn *conn)
{
	struct smc_link *link;

	lockdep_assert_held(&conn->lgr->lock);
	guard(spinlock_bh)(&conn->lock);
	link = smc_conn_link(conn);
	if (!link)
		return -ECONNABORTED;
	if (!move_can_reach(conn, link->index))
		return -ENOKEY;
	move_set_target(conn, link);
	return 0;
}

/* Nothing is in flight. */
static void move_to(struct smc_conn *conn, struct smc_link *link)
{
	struct smc_link *from = smc_conn_link(conn);

	lockdep_assert_held(&conn->lock);
	smc_conn_set_link(conn, link);
	smc_link_del_waiter(from, conn);
	move_set_target(conn, link);
	smc_conn_set_phase(conn, SMC_CONN_VALIDATING);
	smc_stat_inc(sock_net(conn->sk), SMC_STAT_CONN_MOVED);
}

/* Return true if the peer may not have processed all sends on a link that works, FAIL-19. */
static bool move_must_wait(const struct smc_conn *conn, const struct smc_link *from)
{
	lockdep_assert_held(&conn->lock);
	return conn->phase != SMC_CONN_SETUP &&
	       (from->state == SMC_LINK_DELETING ||
		(from->state == SMC_LINK_ACTIVE && from->is_draining));
}

/* Move one connection if needed; returns the events to raise. */
static u32 move_one(struct move_plan *plan, struct smc_conn *conn)
{
	struct smc_link *from, *to;

	guard(smc_conn)(conn);
	from = smc_conn_link(conn);
	if (!from)
		return 0;
	to = move_choose(plan, conn);
	if (!to) {
		smc_conn_set_phase(conn, SMC_CONN_LEAVING);
		if (!plan->nr_links)
			return 0;
		/* No active link reaches its element. */
		conn->rtoken = -1;
		return SMC_EV_LINK_LOST;
	}
	if (move_is_settled(plan, conn, from))
		return 0;
	plan->load[to->index]++;
	/* the link that it was to move to may be lost: then it goes on where it is */
	if (conn->tx_inflight || (to != from && move_must_wait(conn, from)))
		smc_conn_set_phase(conn, SMC_CONN_LEAVING);
	else
		move_to(conn, to);
	return conn->phase == SMC_CONN_LEAVING ? 0 : SMC_EV_MOVED;
}

static void smc_failover_work(struct work_struct *work)
{
	struct smc_link_group *lgr = container_of(work, struct smc_link_group, move_work);
	struct move_plan plan;
	struct smc_conn *conn;
	unsigned long pos;
	u32 events;

	mutex_lock(&lgr->lock);
	move_plan_init(&plan, lgr);
	xa_for_each(&lgr->conns, pos, conn) {
		events = move_one(&plan, conn);
		if (events & SMC_EV_LINK_LOST)
			smc_conn_abort(conn);
		else if (events)
			conn->ops->event(conn, events);
	}
	mutex_unlock(&lgr->lock);
	smc_lgr_put(lgr);
}

void smc_failover_queue(struct smc_link_group *lgr)
{
	smc_core_queue(lgr, &lgr->move_work);
}

/*
 * Stop posts of all connections on a link in SMC_LINK_DELETING. A message posted there after this
 * call follows all that they have sent. They move when it becomes SMC_LINK_INACTIVE. Expects
 * lgr->lock held. RFC 7609 4.6.1; FAIL-10, FAIL-19.
 */
void smc_failover_quiesce(struct smc_link *link)
{
	struct smc_link_group *lgr = link->lgr;
	struct smc_conn *conn;
	unsigned long pos;

	lockdep_assert_held(&lgr->lock);
	xa_for_each(&lgr->conns, pos, conn) {
		guard(smc_conn)(conn);
		if (smc_conn_link(conn) == link)
			smc_conn_set_phase(conn, SMC_CONN_LEAVING);
	}
	smc_failover_queue(lgr);
}

/*
 * A new link takes its share of the connections: those on links of the mask @links with more than
 * their share stop posting. The caller posts TEST LINK on each link of the returned mask, and calls
 * smc_failover_link_drained() after the response. Expects lgr->lock held. RFC 7609 2.3, 4.6.1;
 * FAIL-10, FAIL-19, LB-01, LB-04.
 */
unsigned long smc_failover_spread(struct smc_link_group *lgr, unsigned long links)
{
	struct smc_link *from, *to;
	struct move_plan plan;
	unsigned long left = 0;
	struct smc_conn *conn;
	unsigned long pos;
	int i;

	lockdep_assert_held(&lgr->lock);
	move_plan_init(&plan, lgr);
	/* those that are leaving already may move to any link */
	for (i = 0; i < SMC_LINKS_MAX; i++)
		if (!lgr->links[i] || lgr->links[i]->is_draining)
			links &= ~BIT(i);
	xa_for_each(&lgr->conns, pos, conn) {
		guard(smc_conn)(conn);
		from = smc_conn_link(conn);
		to = from && links & BIT(from->index) && conn->phase == SMC_CONN_OPEN &&
		     move_is_settled(&plan, conn, from) ? move_choose(&plan, conn) : NULL;
		if (to && plan.load[from->index] > plan.load[to->index] + 1) {
			smc_conn_set_phase(conn, SMC_CONN_LEAVING);
			from->is_draining = true;
			left |= BIT(from->index);
			plan.load[from->index]--;
			plan.load[to->index]++;
		}
	}
	return left;
}

/* Connections that smc_failover_spread() stopped there move. Expects lgr->lock held. */
void smc_failover_link_drained(struct smc_link *link)
{
	lockdep_assert_held(&link->lgr->lock);
	link->is_draining = false;
	smc_failover_queue(link->lgr);
}

void smc_failover_init(struct smc_link_group *lgr)
{
	INIT_WORK(&lgr->move_work, smc_failover_work);
}
