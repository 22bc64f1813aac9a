// SPDX-License-Identifier: GPL-2.0
/*
 * The SMC sockets of this network namespace, by netlink's sock_diag.
 */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netlink/attr.h>
#include <netlink/errno.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>

#include "smc.h"

static_assert(sizeof(struct smc_diag_req) == 52, "request");
static_assert(sizeof(struct smc_diag_filter) == 28, "filter");
static_assert(sizeof(struct smc_diag_msg) == 64, "answer");
static_assert(sizeof(struct smc_diag_conninfo) == 76, "connection");
static_assert(sizeof(struct smc_diag_lgrinfo) == 147, "link");
static_assert(sizeof(struct smc_diag_linkinfo) == 12, "more of the link");
static_assert(sizeof(struct smc_diag_listeninfo) == 20, "listener");
static_assert(sizeof(struct smc_diag_fallback) == 8, "fallback");
static_assert(sizeof(struct smc_diag_dmbinfo) == 56, "in memory");
static_assert(sizeof(struct smc_diag_pairinfo) == 32, "other end");

const char *diag_state_name(uint8_t state)
{
	switch (state) {
	case SMC_DIAG_ST_ACTIVE: return "ACTIVE";
	case SMC_DIAG_ST_INIT: return "INIT";
	case SMC_DIAG_ST_CLOSED: return "CLOSED";
	case SMC_DIAG_ST_LISTEN: return "LISTEN";
	case SMC_DIAG_ST_PEERCLOSEWAIT1: return "PEERCLOSEWAIT1";
	case SMC_DIAG_ST_PEERCLOSEWAIT2: return "PEERCLOSEWAIT2";
	case SMC_DIAG_ST_APPCLOSEWAIT1: return "APPCLOSEWAIT1";
	case SMC_DIAG_ST_APPCLOSEWAIT2: return "APPCLOSEWAIT2";
	case SMC_DIAG_ST_APPFINCLOSEWAIT: return "APPFINCLOSEWAIT";
	case SMC_DIAG_ST_PEERFINCLOSEWAIT: return "PEERFINCLOSEWAIT";
	case SMC_DIAG_ST_PEERABORTWAIT: return "PEERABORTWAIT";
	case SMC_DIAG_ST_PROCESSABORT: return "PROCESSABORT";
	}
	return "UNKNOWN";
}

const char *diag_mode_name(uint8_t mode)
{
	switch (mode) {
	case SMC_DIAG_MODE_SMCR: return "SMC-R";
	case SMC_DIAG_MODE_FALLBACK_TCP: return "TCP";
	case SMC_DIAG_MODE_SMCD: return "memory";
	}
	return "UNKNOWN";
}

/* Copies the payload of an attribute; false if there is none or it is short. */
static bool fetch(struct nlattr **tb, int type, void *to, size_t size)
{
	if (!tb[type] || (size_t)nla_len(tb[type]) < size)
		return false;
	memcpy(to, nla_data(tb[type]), size);
	return true;
}

/* Returns 0, or a negative NLE code if the message is no valid answer. */
int diag_parse(struct nlmsghdr *nlh, struct diag_sock *sock)
{
	struct nlattr *tb[SMC_DIAG_TCP_LOST + 1];
	int err;

	memset(sock, 0, sizeof(*sock));
	if (nlh->nlmsg_type != SOCK_DIAG_BY_FAMILY)
		return -NLE_MSGTYPE_NOSUPPORT;
	if (!nlmsg_valid_hdr(nlh, sizeof(sock->msg)))
		return -NLE_MSG_TOOSHORT;
	err = nlmsg_parse(nlh, sizeof(sock->msg), tb, SMC_DIAG_TCP_LOST, NULL);
	if (err < 0)
		return err;

	memcpy(&sock->msg, nlmsg_data(nlh), sizeof(sock->msg));
	fetch(tb, SMC_DIAG_SHUTDOWN, &sock->shutdown, sizeof(sock->shutdown));
	fetch(tb, SMC_DIAG_FALLBACK, &sock->fallback, sizeof(sock->fallback));
	fetch(tb, SMC_DIAG_MEMORY_AGE, &sock->memory_age, sizeof(sock->memory_age));
	sock->has_conn = fetch(tb, SMC_DIAG_CONNINFO, &sock->conn,
			       sizeof(sock->conn));
	sock->has_link = fetch(tb, SMC_DIAG_LGRINFO, &sock->link,
			       sizeof(sock->link));
	sock->has_group = fetch(tb, SMC_DIAG_LINKINFO, &sock->group,
				sizeof(sock->group));
	sock->has_queue = fetch(tb, SMC_DIAG_LISTENINFO, &sock->queue,
				sizeof(sock->queue));
	sock->has_pair = fetch(tb, SMC_DIAG_DMBINFO, &sock->dmb, sizeof(sock->dmb)) &&
			 fetch(tb, SMC_DIAG_PAIRINFO, &sock->pair, sizeof(sock->pair));
	sock->is_landing = tb[SMC_DIAG_LANDING];
	sock->has_lost_tcp = tb[SMC_DIAG_TCP_LOST];
	/* Terminate the kernel's text inside its field. */
	sock->link.ibname[SMC_DIAG_IBNAME_LEN - 1] = '\0';
	sock->link.gid[SMC_DIAG_GID_LEN - 1] = '\0';
	sock->link.peer_gid[SMC_DIAG_GID_LEN - 1] = '\0';
	return 0;
}

struct visit_arg {
	const struct smc_diag_filter *filter;
	diag_visit visit;
	void *arg;
};

static int visit_one(struct nl_msg *msg, void *arg)
{
	struct visit_arg *to = arg;
	struct diag_sock sock;
	int err;

	/* another module takes no notice of a filter */
	if (to->filter && !(nlmsg_hdr(msg)->nlmsg_flags & NLM_F_DUMP_FILTERED))
		return -NLE_OPNOTSUPP;
	err = diag_parse(nlmsg_hdr(msg), &sock);
	if (err < 0)
		return err;
	return to->visit(&sock, to->arg) ? NL_STOP : NL_OK;
}

static int send_request(struct nl_sock *nl, const struct smc_diag_filter *filter)
{
	struct smc_diag_req req = {
		.family = AF_SMC,
		.ext = SMC_DIAG_WANT(SMC_DIAG_CONNINFO) |
		       SMC_DIAG_WANT(SMC_DIAG_LGRINFO) |
		       SMC_DIAG_WANT(SMC_DIAG_DMBINFO),
	};
	struct nl_msg *msg = nlmsg_alloc_simple(SOCK_DIAG_BY_FAMILY, NLM_F_REQUEST | NLM_F_DUMP);
	int err;

	if (!msg)
		return -NLE_NOMEM;
	err = nlmsg_append(msg, &req, sizeof(req), NLMSG_ALIGNTO);
	if (!err && filter)
		err = nla_put(msg, SMC_DIAG_REQ_FILTER, sizeof(*filter), filter);
	if (!err)
		err = nl_send_auto(nl, msg);
	nlmsg_free(msg);
	return err;
}

/*
 * Calls visit for every socket that the filter takes, NULL for all, until it returns non-zero.
 * Returns 0 or a negative NLE code; -NLE_OBJ_NOTFOUND if no module answers for SMC,
 * -NLE_OPNOTSUPP if that has no filter.
 */
int diag_dump(const struct smc_diag_filter *filter, diag_visit visit, void *arg)
{
	struct visit_arg to = { .filter = filter, .visit = visit, .arg = arg };
	struct nl_sock *nl;
	int err;

	nl = nl_socket_alloc();
	if (!nl)
		return -NLE_NOMEM;
	/* Messages of a dump need no acknowledgment. */
	nl_socket_disable_auto_ack(nl);
	nl_socket_set_msg_buf_size(nl, 32768);
	nl_socket_modify_cb(nl, NL_CB_VALID, NL_CB_CUSTOM, visit_one, &to);

	err = nl_connect(nl, NETLINK_SOCK_DIAG);
	if (err >= 0)
		err = send_request(nl, filter);
	if (err >= 0)
		err = nl_recvmsgs_default(nl);
	nl_socket_free(nl);
	return err < 0 ? err : 0;
}

struct sought {
	uint16_t local_port, peer_port;
	struct diag_sock *sock;
	bool is_found;
};

static int look_at(const struct diag_sock *sock, void *arg)
{
	struct sought *sought = arg;

	if (sock->has_queue || ntohs(sock->msg.id.idiag_sport) != sought->local_port ||
	    ntohs(sock->msg.id.idiag_dport) != sought->peer_port)
		return 0;
	*sought->sock = *sock;
	sought->is_found = true;
	return 1;
}

/**
 * diag_find() - find the SMC socket of a connection
 * @local_port: its own port
 * @peer_port: the port of the peer
 * @sock: filled
 *
 * Return: 0; -NLE_NOATTR if there is none; another negative NLE code if no module answers.
 */
int diag_find(uint16_t local_port, uint16_t peer_port, struct diag_sock *sock)
{
	struct sought sought = { .local_port = local_port, .peer_port = peer_port, .sock = sock };
	int err = diag_dump(NULL, look_at, &sought);

	return err ? err : sought.is_found ? 0 : -NLE_NOATTR;
}
