// SPDX-License-Identifier: GPL-2.0
/*
 * smc ueid: the EIDs of this host, by the generic netlink family of the module.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <netlink/attr.h>

#include "smc.h"

static int ueid_print(int cmd, struct nlattr **tb, void *arg)
{
	char text[SMC_MAX_EID_LEN + 1] = "";
	struct output *out = arg;
	int len;

	(void)cmd;
	if (!tb[SMC_NLA_EID_TABLE_ENTRY])
		return 0;
	nla_strlcpy(text, tb[SMC_NLA_EID_TABLE_ENTRY], sizeof(text));
	len = strlen(text);
	while (len && text[len - 1] == ' ')
		text[--len] = '\0';
	if (out->is_json)
		json_string(&out->json, NULL, text);
	else
		printf("%s\n", text);
	return 0;
}

static int ueid_show(const struct args *args)
{
	struct output out;

	output_begin(&out, args, "eids", NULL);
	return output_end(&out, genl_ask(SMC_GENL_FAMILY_NAME, SMC_NETLINK_DUMP_UEID, NULL,
					 ueid_print, &out, NULL));
}

static const char *ueid_error(int cmd, int err)
{
	switch (-err) {
	case EEXIST:
		return "this host has that EID already";
	case ENOENT:
		return "this host has no such EID";
	case ERANGE:
		return "this host has as many EIDs as it can have";
	case EPERM:
	case EACCES:
		return "only root (CAP_NET_ADMIN) may change EIDs";
	case EINVAL:
		return cmd == SMC_NETLINK_ADD_UEID ? "that is no EID" : NULL;
	}
	return NULL;
}

static int ueid_change(int cmd, const char *eid)
{
	const struct genl_attr attrs[] = { { SMC_NLA_EID_TABLE_ENTRY, eid, 0 }, { } };

	return genl_ask(SMC_GENL_FAMILY_NAME, cmd, eid ? attrs : NULL, NULL, NULL, ueid_error) ?
	       EXIT_FAILURE : 0;
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

static const char *ueid_apply_error(int cmd, int err)
{
	return err == -EEXIST ? "" : ueid_error(cmd, err);
}

/**
 * ueid_add() - add an EID of a file unless it exists
 * @words: the words of a line
 * @nr: their number
 * @dry: only check them
 *
 * Return: 0, or an error after a message.
 */
int ueid_add(const char *words[], int nr, bool dry)
{
	char eid[SMC_MAX_EID_LEN + 1];
	const struct genl_attr attrs[] = { { SMC_NLA_EID_TABLE_ENTRY, eid, 0 }, { } };
	int err = 0;

	if (nr != 1)
		return wrong("\"%s\" is one word too many", words[1]);
	if (!ueid_form(words[0], eid))
		return wrong("an EID has 1 to %d letters, digits, dots and hyphens",
			     SMC_MAX_EID_LEN);
	if (!dry)
		err = genl_ask(SMC_GENL_FAMILY_NAME, SMC_NETLINK_ADD_UEID, attrs, NULL, NULL,
			       ueid_apply_error);
	return err == -EEXIST ? 0 : err;
}

struct sync {
	const struct lines *lines;
	char eid[SMC_MAX_UEID][SMC_MAX_EID_LEN + 1];	/* what the files do not have */
	int nr;
};

static int note_stale(int cmd, struct nlattr **tb, void *arg)
{
	char eid[SMC_MAX_EID_LEN + 1] = "", wanted[SMC_MAX_EID_LEN + 1];
	struct sync *sync = arg;
	size_t i;

	(void)cmd;
	if (!tb[SMC_NLA_EID_TABLE_ENTRY] || sync->nr == SMC_MAX_UEID)
		return 0;
	nla_strlcpy(eid, tb[SMC_NLA_EID_TABLE_ENTRY], sizeof(eid));
	for (i = 0; i < sync->lines->nr; i++)
		if (ueid_form(sync->lines->line[i].words[0], wanted) && !strcmp(eid, wanted))
			return 0;
	memcpy(sync->eid[sync->nr++], eid, sizeof(eid));
	return 0;
}

/**
 * ueid_sync() - remove the EIDs that a file does not have
 * @lines: of the file, checked
 *
 * Return: 0, or an error after a message.
 */
int ueid_sync(const struct lines *lines)
{
	struct sync sync = { .lines = lines };
	int i, err;

	err = genl_ask(SMC_GENL_FAMILY_NAME, SMC_NETLINK_DUMP_UEID, NULL, note_stale, &sync, NULL);
	for (i = 0; !err && i < sync.nr; i++)
		err = ueid_change(SMC_NETLINK_REMOVE_UEID, sync.eid[i]);
	return err;
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
		return shows ? ueid_show(args) :
			       ueid_change(SMC_NETLINK_FLUSH_UEID, NULL);
	}
	if (args->nr_words < 2)
		return wrong("%s which EID?", what);
	if (!ueid_form(args->words[1], eid))
		return wrong("an EID has 1 to %d letters, digits, dots and hyphens",
			     SMC_MAX_EID_LEN);
	return ueid_change(adds ? SMC_NETLINK_ADD_UEID : SMC_NETLINK_REMOVE_UEID, eid);
}
