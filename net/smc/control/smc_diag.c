// SPDX-License-Identifier: GPL-2.0
/*
 * sock_diag for family 43: all sockets of the caller's namespace, and connections that fell
 * back to TCP while TCP has them. Tools that know SMC-D see a connection in memory as one over a
 * loopback device.
 *
 * It only reads: it walks the lists of smc.ko and takes each connection's lock for its cursors.
 */
#include <linux/module.h>
#include <linux/sock_diag.h>
#include <net/inet_sock.h>
#include <net/netlink.h>

#include "group/smc_core.h"
#include "group/smc_pair.h"
#include "sock/smc_history.h"
#include "sock/smc_sock.h"

/* Dump position: netlink_callback.args. */
enum smc_diag_arg {
	SMC_DIAG_ARG_PASS,	/* 0, 1: protocols; 2: connections on TCP */
	SMC_DIAG_ARG_POS,	/* in that pass */
};

#define SMC_DIAG_PASS_TCP	2

struct smc_diag_walk {
	struct sk_buff *skb;
	struct netlink_callback *cb;
	struct user_namespace *user_ns;
	u8 wanted;
	int protocol;
	const struct smc_diag_filter *filter;	/* NULL: all sockets are wanted */
};

/* Present it as a socket of this family, with the uid of the caller's user namespace. */
static struct nlmsghdr *smc_diag_begin(struct smc_diag_walk *w, const struct smc_diag_msg *msg)
{
	struct smc_diag_msg *to;
	struct nlmsghdr *nlh;

	nlh = nlmsg_put(w->skb, NETLINK_CB(w->cb->skb).portid, w->cb->nlh->nlmsg_seq,
			w->cb->nlh->nlmsg_type, sizeof(*to),
			w->filter ? NLM_F_MULTI | NLM_F_DUMP_FILTERED : NLM_F_MULTI);
	if (!nlh)
		return NULL;
	to = nlmsg_data(nlh);
	*to = *msg;
	to->family = PF_SMC;
	to->uid = from_kuid_munged(w->user_ns, KUIDT_INIT(msg->uid));
	return nlh;
}

static bool smc_diag_has_port(const struct smc_diag_filter *filter, __be16 port)
{
	return ntohs(port) >= filter->port_first && ntohs(port) <= filter->port_last;
}

static bool smc_diag_is_wanted(const struct smc_diag_filter *filter,
			       const struct smc_diag_msg *msg)
{
	struct in6_addr peer;

	if (!filter)
		return true;
	if (msg->family == AF_INET)
		ipv6_addr_set_v4mapped(msg->id.idiag_dst[0], &peer);
	else
		memcpy(&peer, msg->id.idiag_dst, sizeof(peer));
	return filter->states & BIT(msg->state) && filter->modes & BIT(msg->mode) &&
	       (smc_diag_has_port(filter, msg->id.idiag_sport) ||
		smc_diag_has_port(filter, msg->id.idiag_dport)) &&
	       ipv6_prefix_equal(&peer, (const struct in6_addr *)filter->peer, filter->prefix);
}

static struct smc_diag_cursor diag_cursor(const struct smc_edge *e, u64 pos)
{
	struct smc_cursor c = {};

	/* the streams begin when the group knows its dialect */
	if (e->size)
		c = smc_edge_cursor(e, pos);
	return (struct smc_diag_cursor){ .wrap = c.wrap, .count = c.off };
}

/* Of the send ring, whose size is a power of two */
static struct smc_diag_cursor diag_place(u32 size, u64 pos)
{
	return (struct smc_diag_cursor){ .wrap = size ? pos >> ilog2(size) : 0,
					 .count = size ? pos & (size - 1) : 0 };
}

static int smc_diag_put_conninfo(struct sk_buff *skb, struct smc_conn *conn)
{
	const struct smc_cdc_ctl *ctl = &conn->ctl;
	struct smc_diag_conninfo info;

	memset(&info, 0, sizeof(info));
	spin_lock_bh(&conn->lock);
	info.token = conn->token;
	info.sndbuf_size = conn->sndbuf.size;
	info.rmbe_size = conn->rmbe.size;
	info.peer_rmbe_size = conn->peer_size;
	/* the other end in memory moves rx_prod; callers move rx_cons and tx_prep */
	info.rx_prod = diag_cursor(&ctl->rx_edge, READ_ONCE(ctl->rx_prod));
	info.rx_cons = diag_cursor(&ctl->rx_edge, READ_ONCE(ctl->rx_cons));
	info.tx_prod = diag_cursor(&ctl->tx_edge, ctl->tx_sent);
	info.tx_cons = diag_cursor(&ctl->tx_edge, ctl->tx_cons);
	info.rx_flags.prod = ctl->rx_prod_flags;
	info.rx_flags.conn_state = ctl->rx_conn_flags;
	info.tx_flags.prod = ctl->tx_prod_flags;
	info.tx_flags.conn_state = ctl->tx_conn_sent;
	info.tx_prep = diag_place(ctl->snd_size, READ_ONCE(ctl->tx_prep));
	info.tx_sent = diag_place(ctl->snd_size, ctl->tx_sent);
	info.tx_fin = diag_place(ctl->snd_size, ctl->tx_fin);
	spin_unlock_bh(&conn->lock);
	if (!info.token)
		return 0;
	return nla_put(skb, SMC_DIAG_CONNINFO, sizeof(info), &info);
}

/* The caller holds the group; RCU protects the links. */
static u8 smc_diag_count_links(const struct smc_link_group *lgr)
{
	u8 nr = 0;
	int i;

	rcu_read_lock();
	for (i = 0; i < SMC_LINKS_MAX; i++) {
		const struct smc_link *link = READ_ONCE(lgr->links[i]);

		nr += link && READ_ONCE(link->state) == SMC_LINK_ACTIVE;
	}
	rcu_read_unlock();
	return nr;
}

/*
 * While conn->lock is held, a link that is set keeps its group alive. Everything is read in
 * one hold, since the link may change afterwards. LID-06, LG-17
 */
static bool smc_diag_fill_link(struct smc_diag_lgrinfo *info, struct smc_diag_linkinfo *more,
			       struct smc_conn *conn)
{
	const struct smc_link *link;

	memset(info, 0, sizeof(*info));
	memset(more, 0, sizeof(*more));
	spin_lock_bh(&conn->lock);
	link = smc_conn_link(conn);
	if (link) {
		info->link_id = link->num;
		info->ibport = link->wr.end.port;
		info->role = link->lgr->key.role;
		strscpy(info->ibname, link->wr.dev_name, sizeof(info->ibname));
		snprintf(info->gid, sizeof(info->gid), "%pI6", link->wr.end.gid.raw);
		snprintf(info->peer_gid, sizeof(info->peer_gid), "%pI6", link->peer.gid);
		more->user_id = link->uid;
		more->peer_user_id = link->peer_uid;
		more->nr_links = smc_diag_count_links(link->lgr);
	}
	spin_unlock_bh(&conn->lock);
	return link;
}

static int smc_diag_put_lgrinfo(struct sk_buff *skb, struct smc_conn *conn)
{
	struct smc_diag_linkinfo more;
	struct smc_diag_lgrinfo info;

	if (!smc_diag_fill_link(&info, &more, conn))
		return 0;
	if (nla_put(skb, SMC_DIAG_LGRINFO, sizeof(info), &info))
		return -EMSGSIZE;
	return nla_put(skb, SMC_DIAG_LINKINFO, sizeof(more), &more);
}

/* The pair of a connection in memory is const once it is set. */
static bool smc_diag_is_in_memory(struct smc_conn *conn)
{
	bool is_in_memory;

	spin_lock_bh(&conn->lock);
	is_in_memory = conn->pair;
	spin_unlock_bh(&conn->lock);
	return is_in_memory;
}

static int smc_diag_put_pair(struct sk_buff *skb, struct smc_conn *conn)
{
	struct smc_diag_dmbinfo dmb = { .linkid = SMC_DIAG_LINKID_LOOPBACK };
	struct smc_diag_pairinfo info;

	dmb.token = READ_ONCE(conn->token);
	if (!dmb.token || !smc_diag_is_in_memory(conn))
		return 0;
	smc_pair_describe(conn, &info);
	dmb.my_gid = sock_net(conn->sk)->net_cookie;
	dmb.peer_gid = info.peer_net;
	dmb.peer_token = info.peer_token;
	if (nla_put(skb, SMC_DIAG_DMBINFO, sizeof(dmb), &dmb))
		return -EMSGSIZE;
	return nla_put(skb, SMC_DIAG_PAIRINFO, sizeof(info), &info);
}

static int smc_diag_put_tail(struct sk_buff *skb, u8 shutdown, u32 reason, u32 peer_diagnosis,
			     u32 memory_age_ms)
{
	struct smc_diag_fallback fallback = {
		.reason = reason,
		.peer_diagnosis = peer_diagnosis,
	};

	if (nla_put_u8(skb, SMC_DIAG_SHUTDOWN, shutdown) ||
	    (memory_age_ms && nla_put_u32(skb, SMC_DIAG_MEMORY_AGE, memory_age_ms)))
		return -EMSGSIZE;
	return nla_put(skb, SMC_DIAG_FALLBACK, sizeof(fallback), &fallback);
}

static int smc_diag_put_listeninfo(struct sk_buff *skb, const struct smc_sock *smc)
{
	const struct smc_listener *listener = rcu_dereference(smc->listener);
	const struct sock *sk = smc->sk;
	struct smc_diag_listeninfo info;

	if (!listener)
		return 0;
	info = (struct smc_diag_listeninfo){
		.queue = READ_ONCE(sk->sk_ack_backlog),
		.queue_max = READ_ONCE(sk->sk_max_ack_backlog),
		.handshakes = READ_ONCE(listener->nr[SMC_CHILD_HANDSHAKE]),
		.deferred = READ_ONCE(listener->nr[SMC_CHILD_DEFERRED]),
		.family = READ_ONCE(sk->sk_family),
	};
	return nla_put(skb, SMC_DIAG_LISTENINFO, sizeof(info), &info);
}

static u8 smc_diag_mode(const struct smc_sock *smc, struct smc_conn *conn)
{
	if (smc->fallback != SMC_DECLINE_NONE)
		return SMC_DIAG_MODE_FALLBACK_TCP;
	return conn && smc_diag_is_in_memory(conn) ? SMC_DIAG_MODE_SMCD : SMC_DIAG_MODE_SMCR;
}

static int smc_diag_put_more(struct smc_diag_walk *w, struct smc_sock *smc, struct smc_conn *conn,
			     u8 state)
{
	int rc = 0;

	if (conn && w->wanted & SMC_DIAG_WANT(SMC_DIAG_CONNINFO))
		rc = smc_diag_put_conninfo(w->skb, conn);
	if (conn && !rc && w->wanted & SMC_DIAG_WANT(SMC_DIAG_LGRINFO))
		rc = smc_diag_put_lgrinfo(w->skb, conn);
	if (conn && !rc && w->wanted & SMC_DIAG_WANT(SMC_DIAG_DMBINFO))
		rc = smc_diag_put_pair(w->skb, conn);
	if (!rc && state == SMC_DIAG_ST_LISTEN)
		rc = smc_diag_put_listeninfo(w->skb, smc);
	if (!rc && READ_ONCE(smc->land))
		rc = nla_put_flag(w->skb, SMC_DIAG_LANDING);
	if (!rc && smc_sock_has_lost_tcp(smc))
		rc = nla_put_flag(w->skb, SMC_DIAG_TCP_LOST);
	return rc ?: smc_diag_put_tail(w->skb, READ_ONCE(smc->shutdown), smc->fallback,
				       smc->peer_diagnosis, smc->memory_age_ms);
}

/* Called in an RCU read section. */
static int smc_diag_visit(struct smc_sock *smc, void *arg)
{
	struct smc_diag_walk *w = arg;
	struct smc_diag_msg msg = {};
	struct sock *sk = smc->sk;
	struct smc_conn *conn;
	struct nlmsghdr *nlh;
	int rc;

	if (w->protocol != (sk->sk_family == AF_INET6 ? SMCPROTO_SMC6 : SMCPROTO_SMC))
		return 0;
	smc_history_describe(sk, &msg);
	/* pairs with smp_store_release() in smc_sock_make_conn() */
	conn = smp_load_acquire(&smc->conn);
	msg.mode = smc_diag_mode(smc, conn);
	msg.state = smc_sock_shown_state(smc);
	if (!smc_diag_is_wanted(w->filter, &msg))
		return 0;
	nlh = smc_diag_begin(w, &msg);
	if (!nlh)
		return -EMSGSIZE;
	rc = smc_diag_put_more(w, smc, conn, msg.state);
	if (rc)
		nlmsg_cancel(w->skb, nlh);
	else
		nlmsg_end(w->skb, nlh);
	return rc;
}

static int smc_diag_put_record(struct smc_diag_walk *w, const struct smc_history_record *rec)
{
	struct smc_diag_msg msg = rec->msg;
	struct nlmsghdr *nlh;

	msg.state = SMC_DIAG_ST_ACTIVE;
	msg.mode = SMC_DIAG_MODE_FALLBACK_TCP;
	if (!smc_diag_is_wanted(w->filter, &msg))
		return 0;
	nlh = smc_diag_begin(w, &msg);
	if (!nlh)
		return -EMSGSIZE;
	if (smc_diag_put_tail(w->skb, 0, rec->reason, rec->peer_diagnosis,
			      rec->memory_age_ms)) {
		nlmsg_cancel(w->skb, nlh);
		return -EMSGSIZE;
	}
	nlmsg_end(w->skb, nlh);
	return 0;
}

static int smc_diag_dump_tcp(struct smc_diag_walk *w, struct net *net, unsigned long *pos)
{
	struct smc_history_record rec;
	unsigned int next = *pos;

	while (smc_history_next(net, &next, &rec)) {
		if (smc_diag_put_record(w, &rec))
			return -EMSGSIZE;
		*pos = next;
	}
	return 0;
}

static const struct nlattr *smc_diag_find_filter(const struct nlmsghdr *nlh)
{
	return nlmsg_find_attr(nlh, sizeof(struct smc_diag_req), SMC_DIAG_REQ_FILTER);
}

static int smc_diag_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	const struct nlattr *filter = smc_diag_find_filter(cb->nlh);
	const struct smc_diag_req *req = nlmsg_data(cb->nlh);
	unsigned long pos = cb->args[SMC_DIAG_ARG_POS];
	struct net *net = sock_net(skb->sk);
	int rc = 0;
	struct smc_diag_walk w = {
		.skb = skb,
		.cb = cb,
		.user_ns = sk_user_ns(NETLINK_CB(cb->skb).sk),
		.wanted = req->ext,
		.protocol = cb->args[SMC_DIAG_ARG_PASS],
		.filter = filter ? nla_data(filter) : NULL,
	};

	while (!rc && w.protocol < SMC_DIAG_PASS_TCP) {
		rc = smc_sock_for_each(net, &pos, smc_diag_visit, &w);
		if (!rc) {
			w.protocol++;
			pos = 0;
		}
	}
	if (!rc && w.protocol == SMC_DIAG_PASS_TCP) {
		rc = smc_diag_dump_tcp(&w, net, &pos);
		if (!rc)
			w.protocol++;
	}
	cb->args[SMC_DIAG_ARG_PASS] = w.protocol;
	cb->args[SMC_DIAG_ARG_POS] = pos;
	return skb->len;
}

static bool smc_diag_filter_is_valid(const struct nlattr *attr)
{
	const struct smc_diag_filter *filter;

	if (!attr)
		return true;
	filter = nla_data(attr);
	return nla_len(attr) == sizeof(*filter) && filter->prefix <= 128;
}

static int smc_diag_request(struct sk_buff *skb, struct nlmsghdr *nlh)
{
	struct netlink_dump_control control = {
		.dump = smc_diag_dump,
	};

	if (nlmsg_len(nlh) < (int)sizeof(struct smc_diag_req))
		return -EINVAL;
	if (!smc_diag_filter_is_valid(smc_diag_find_filter(nlh)))
		return -EINVAL;
	/* user tools set only one of the dump bits; a request without them gets no answer */
	if (!(nlh->nlmsg_flags & NLM_F_DUMP))
		return 0;
	return netlink_dump_start(sock_net(skb->sk)->diag_nlsk, skb, nlh, &control);
}

static const struct sock_diag_handler smc_diag_handler = {
	.family	= PF_SMC,
	.dump	= smc_diag_request,
	.owner	= THIS_MODULE,
};

static void __exit smc_diag_exit(void)
{
	sock_diag_unregister(&smc_diag_handler);
}
module_exit(smc_diag_exit);

static int __init smc_diag_init(void)
{
	return sock_diag_register(&smc_diag_handler);
}
module_init(smc_diag_init);

MODULE_DESCRIPTION("SMC-R sockets via sock_diag");
MODULE_LICENSE("GPL");
MODULE_VERSION(SMC_VERSION);
MODULE_ALIAS_NET_PF_PROTO_TYPE(PF_NETLINK, NETLINK_SOCK_DIAG, PF_SMC);
MODULE_ALIAS("net-pf-16-proto-16-family-SMC_PNETID");
