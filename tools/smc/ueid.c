// SPDX-License-Identifier: GPL-2.0
/*
 * smc ueid: the EIDs of this host, by the generic netlink family of the module.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <netlink/attr.h>
#include <netlink/errno.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/netlink.h>

#include "smc.h"

/* Connects to the module; prints the error and returns NULL if that fails. */
static struct nl_sock *ueid_open(int *family)
{
	struct nl_sock *nl = nl_socket_alloc();
	int err;

	if (!nl) {
		fprintf(stderr, "smc: out of memory\n");
		return NULL;
	}
	err = genl_connect(nl);
	if (!err) {
		*family = genl_ctrl_resolve(nl, SMC_GENL_FAMILY_NAME);
		err = *family < 0 ? *family : 0;
	}
	if (!err)
		return nl;
	fprintf(stderr, "smc: %s%s\n", nl_geterror(err),
		err == -NLE_OBJ_NOTFOUND ? " (is the module smc loaded?)" : "");
	nl_socket_free(nl);
	return NULL;
}

static int ueid_print(struct nl_msg *msg, void *arg)
{
	struct nlattr *tb[SMC_NLA_EID_TABLE_MAX + 1];
	const char *eid;
	int len;

	(void)arg;
	if (genlmsg_parse(nlmsg_hdr(msg), 0, tb, SMC_NLA_EID_TABLE_MAX, NULL) < 0 ||
	    !tb[SMC_NLA_EID_TABLE_ENTRY])
		return NL_SKIP;
	eid = nla_data(tb[SMC_NLA_EID_TABLE_ENTRY]);
	len = strnlen(eid, nla_len(tb[SMC_NLA_EID_TABLE_ENTRY]));
	while (len && eid[len - 1] == ' ')
		len--;
	printf("%.*s\n", len, eid);
	return NL_OK;
}

static int ueid_show(void)
{
	int family, err;
	struct nl_sock *nl = ueid_open(&family);

	if (!nl)
		return EXIT_FAILURE;
	nl_socket_disable_auto_ack(nl);
	nl_socket_modify_cb(nl, NL_CB_VALID, NL_CB_CUSTOM, ueid_print, NULL);
	err = genl_send_simple(nl, family, SMC_NETLINK_DUMP_UEID, SMC_GENL_FAMILY_VERSION,
			       NLM_F_DUMP);
	if (err >= 0)
		err = nl_recvmsgs_default(nl);
	nl_socket_free(nl);
	if (err < 0) {
		fprintf(stderr, "smc: %s\n", nl_geterror(err));
		return EXIT_FAILURE;
	}
	return 0;
}

/* The text for an error of the module. */
static const char *ueid_error(int cmd, int err)
{
	switch (-err) {
	case NLE_EXIST:
		return "this host has that EID already";
	case NLE_OBJ_NOTFOUND:
		return "this host has no such EID";
	case NLE_RANGE:
		return "this host has as many EIDs as it can have";
	case NLE_PERM:
	case NLE_NOACCESS:
		return "only root (CAP_NET_ADMIN) may change EIDs";
	case NLE_INVAL:
		if (cmd == SMC_NETLINK_ADD_UEID)
			return "that is no EID";
		break;
	}
	return nl_geterror(err);
}

static int ueid_change(int cmd, const char *eid)
{
	struct nl_msg *msg;
	struct nl_sock *nl;
	int family, err;

	nl = ueid_open(&family);
	if (!nl)
		return EXIT_FAILURE;
	err = -NLE_NOMEM;
	msg = nlmsg_alloc();
	if (msg && genlmsg_put(msg, NL_AUTO_PORT, NL_AUTO_SEQ, family, 0, 0, cmd,
			       SMC_GENL_FAMILY_VERSION)) {
		err = eid ? nla_put_string(msg, SMC_NLA_EID_TABLE_ENTRY, eid) : 0;
		if (!err)
			err = nl_send_sync(nl, msg);	/* frees it */
		else
			nlmsg_free(msg);
	}
	nl_socket_free(nl);
	if (err < 0) {
		fprintf(stderr, "smc: %s\n", ueid_error(cmd, err));
		return EXIT_FAILURE;
	}
	return 0;
}

/* An EID is written in capitals and padded with blanks; 0 if it is too long. */
static int ueid_form(const char *text, char eid[SMC_MAX_EID_LEN + 1])
{
	size_t i, len = strlen(text);

	if (!len || len > SMC_MAX_EID_LEN)
		return 0;
	memset(eid, ' ', SMC_MAX_EID_LEN);
	eid[SMC_MAX_EID_LEN] = '\0';
	for (i = 0; i < len; i++)
		eid[i] = toupper((unsigned char)text[i]);
	return 1;
}

int cmd_ueid(const struct args *args)
{
	const char *what = args->nr_words ? args->words[0] : "show";
	char eid[SMC_MAX_EID_LEN + 1];
	bool adds = !strcmp(what, "add");

	if (!adds && strcmp(what, "del")) {
		bool shows = !strcmp(what, "show");

		if (!shows && strcmp(what, "flush"))
			return wrong("\"%s\" is none of show, add, del and flush", what);
		if (args->nr_words > 1)
			return wrong("%s takes no EID", what);
		return shows ? ueid_show() : ueid_change(SMC_NETLINK_FLUSH_UEID, NULL);
	}
	if (args->nr_words < 2)
		return wrong("%s which EID?", what);
	if (!ueid_form(args->words[1], eid))
		return wrong("an EID has 1 to %d letters, digits, dots and hyphens",
			     SMC_MAX_EID_LEN);
	return ueid_change(adds ? SMC_NETLINK_ADD_UEID : SMC_NETLINK_REMOVE_UEID, eid);
}
