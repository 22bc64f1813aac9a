// SPDX-License-Identifier: GPL-2.0
/*
 * Requests to the generic netlink families of the module.
 */
#include <errno.h>
#include <string.h>

#include <linux/netlink.h>
#include <netlink/attr.h>
#include <netlink/errno.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <sys/socket.h>

#include "smc.h"

struct genl {
	struct nl_sock *sock;
	int family;
	genl_visit visit;
	void *arg;
	bool is_done;		/* the visitor has enough */
	int err;		/* of the kernel, -errno */
	uint64_t cookie;	/* of the acknowledgment, or 0 */
	char text[256];		/* the kernel's own words for it, or empty */
};

static int on_message(struct nl_msg *msg, void *arg)
{
	struct nlattr *tb[GENL_MAX + 1];
	struct genl *genl = arg;
	struct nlmsghdr *head = nlmsg_hdr(msg);

	if (!genlmsg_valid_hdr(head, 0) || genlmsg_parse(head, 0, tb, GENL_MAX, NULL) < 0)
		return NL_SKIP;
	genl->is_done = genl->visit && genl->visit(genlmsg_hdr(head)->cmd, tb, genl->arg);
	return genl->is_done ? NL_STOP : NL_OK;
}

/* An error message has the kernel's text behind a request that may be capped. */
static int on_error(struct sockaddr_nl *from, struct nlmsgerr *error, void *arg)
{
	struct nlmsghdr *head = (struct nlmsghdr *)((char *)error - NLMSG_HDRLEN);
	size_t at = sizeof(*error);
	struct genl *genl = arg;
	struct nlattr *text;

	(void)from;
	genl->err = error->error;
	if (!(head->nlmsg_flags & NLM_F_CAPPED))
		at += error->msg.nlmsg_len - NLMSG_HDRLEN;
	at = NLMSG_ALIGN(at);
	if (head->nlmsg_flags & NLM_F_ACK_TLVS && head->nlmsg_len >= NLMSG_HDRLEN + at) {
		text = nla_find((struct nlattr *)((char *)error + at),
				head->nlmsg_len - NLMSG_HDRLEN - at, NLMSGERR_ATTR_MSG);
		if (text)
			snprintf(genl->text, sizeof(genl->text), "%.*s", nla_len(text),
				 (char *)nla_data(text));
	}
	return NL_STOP;
}

/* libnl has a handler of its own for the acknowledgment of a request. */
static int on_any(struct nl_msg *msg, void *arg)
{
	struct nlmsghdr *head = nlmsg_hdr(msg);
	const struct nlmsgerr *error = nlmsg_data(head);
	struct genl *genl = arg;
	struct nlattr *cookie;
	int at = NLMSG_ALIGN(sizeof(*error));

	if (head->nlmsg_type != NLMSG_ERROR || !(head->nlmsg_flags & NLM_F_ACK_TLVS) ||
	    nlmsg_datalen(head) < at || error->error)
		return NL_OK;
	cookie = nla_find((struct nlattr *)((char *)error + at), nlmsg_datalen(head) - at,
			  NLMSGERR_ATTR_COOKIE);
	if (cookie && nla_len(cookie) == sizeof(genl->cookie))
		genl->cookie = nla_get_u64(cookie);
	return NL_OK;
}

static int open_genl(struct genl *genl, const char *family)
{
	int on = 1, err;

	genl->sock = nl_socket_alloc();
	if (!genl->sock)
		return -NLE_NOMEM;
	err = genl_connect(genl->sock);
	if (err < 0)
		return err;
	genl->family = genl_ctrl_resolve(genl->sock, family);
	if (genl->family < 0)
		return genl->family;
	nl_socket_set_msg_buf_size(genl->sock, 65536);
	setsockopt(nl_socket_get_fd(genl->sock), SOL_NETLINK, NETLINK_EXT_ACK, &on, sizeof(on));
	nl_socket_modify_cb(genl->sock, NL_CB_VALID, NL_CB_CUSTOM, on_message, genl);
	nl_socket_modify_cb(genl->sock, NL_CB_MSG_IN, NL_CB_CUSTOM, on_any, genl);
	nl_socket_modify_err_cb(genl->sock, NL_CB_CUSTOM, on_error, genl);
	return 0;
}

static int put_attrs(struct nl_msg *msg, const struct genl_attr *attrs)
{
	int err = 0;

	for (; !err && attrs && attrs->type; attrs++)
		if (attrs->text)
			err = nla_put_string(msg, attrs->type, attrs->text);
		else if (attrs->data)
			err = nla_put(msg, attrs->type, attrs->len, attrs->data);
		else
			err = nla_put_u8(msg, attrs->type, attrs->number);
	return err;
}

static int send_request(struct genl *genl, int cmd, const struct genl_attr *attrs)
{
	struct nl_msg *msg = nlmsg_alloc();
	int flags = genl->visit ? NLM_F_DUMP : 0;
	int err = -NLE_NOMEM;

	if (genl->visit)
		nl_socket_disable_auto_ack(genl->sock);
	if (msg && genlmsg_put(msg, NL_AUTO_PORT, NL_AUTO_SEQ, genl->family, 0, flags, cmd, 1)) {
		err = put_attrs(msg, attrs);
		if (!err)
			err = nl_send_auto(genl->sock, msg);
	}
	nlmsg_free(msg);
	return err < 0 ? err : 0;
}

static int complain(const struct genl *genl, int err)
{
	if (*genl->text)
		fprintf(stderr, "smc: %s\n", genl->text);
	else if (genl->err == -EPERM || genl->err == -EACCES || err == -NLE_PERM)
		fprintf(stderr, "smc: only root (CAP_NET_ADMIN) may do that\n");
	else if (genl->err == -EOPNOTSUPP)
		fprintf(stderr, "smc: the loaded module does not know that request\n");
	else if (genl->err)
		fprintf(stderr, "smc: %s\n", strerror(-genl->err));
	else if (err == -NLE_OBJ_NOTFOUND)
		fprintf(stderr, "smc: " NOT_LOADED "\n", "smc", "smc");
	else
		fprintf(stderr, "smc: %s\n", nl_geterror(err));
	return genl->err ? genl->err : -EIO;
}

static uint64_t last_cookie;

/**
 * genl_cookie() - what names the object that the last request of genl_ask() has made
 *
 * Return: the cookie of its acknowledgment, 0 if it had none.
 */
uint64_t genl_cookie(void)
{
	return last_cookie;
}

/**
 * genl_ask() - send a request to the module and wait for the whole answer
 * @family: the name of the family
 * @cmd: command
 * @attrs: attributes, up to one of type 0; NULL for none
 * @visit: called for each message of a dump until it returns non-zero; NULL if the
 *         command is no dump
 * @arg: for @visit
 * @explain: returns the text for an error of the command, NULL for the general one, or ""
 *           for silence; may be NULL
 *
 * Return: 0, or -errno after a message on standard error.
 */
int genl_ask(const char *family, int cmd, const struct genl_attr *attrs, genl_visit visit,
	     void *arg, const char *(*explain)(int cmd, int err))
{
	struct genl genl = { .visit = visit, .arg = arg };
	int err = open_genl(&genl, family);
	const char *text;

	if (!err)
		err = send_request(&genl, cmd, attrs);
	if (!err)
		err = visit ? nl_recvmsgs_default(genl.sock) : nl_wait_for_ack(genl.sock);
	nl_socket_free(genl.sock);
	last_cookie = genl.cookie;
	if (err >= 0 && !genl.err)
		return 0;
	text = genl.err && explain ? explain(cmd, genl.err) : NULL;
	if (text && !*text)
		return genl.err;
	if (text && !*genl.text)
		snprintf(genl.text, sizeof(genl.text), "%s", text);
	return complain(&genl, err);
}

/**
 * genl_watch() - receive the messages of a multicast group until the visitor has enough
 * @family: the name of the family
 * @group: the name of the group
 * @visit: called for each message until it returns non-zero
 * @arg: for @visit
 *
 * Return: 0, or -errno after a message on standard error. -ENOBUFS: events were lost.
 */
int genl_watch(const char *family, const char *group, genl_visit visit, void *arg)
{
	struct genl genl = { .visit = visit, .arg = arg };
	int err = open_genl(&genl, family);

	if (!err)
		err = genl_ctrl_resolve_grp(genl.sock, family, group);
	if (err >= 0)
		err = nl_socket_add_membership(genl.sock, err);
	if (err >= 0)
		nl_socket_disable_seq_check(genl.sock);
	while (err >= 0 && !genl.is_done)
		err = nl_recvmsgs_default(genl.sock);
	nl_socket_free(genl.sock);
	if (genl.is_done)
		return 0;
	if (err == -NLE_NOMEM) {
		fprintf(stderr, "smc: events were lost: they came faster than they were read\n");
		return -ENOBUFS;
	}
	return complain(&genl, err);
}
