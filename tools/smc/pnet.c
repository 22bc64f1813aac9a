// SPDX-License-Identifier: GPL-2.0
/*
 * smc pnet: which network interfaces and RDMA ports are in the same physical network.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <netlink/attr.h>

#include "smc.h"

#define NONE "n/a"	/* the part that an entry does not have */

static const struct field pnet_fields[] = {
	{ SMC_PNETID_NAME, "pnetid", "PNETID", FIELD_TEXT },
	{ SMC_PNETID_ETHNAME, "interface", "INTERFACE", FIELD_TEXT },
	{ SMC_PNETID_IBNAME, "device", "DEVICE", FIELD_TEXT },
	{ SMC_PNETID_IBPORT, "port", "PORT" },
	{ }
};

struct printer {
	struct output out;
	const char *name;	/* NULL: all */
};

static bool is_text(struct nlattr *attr, const char *text)
{
	return attr && nla_len(attr) == (int)strlen(text) + 1 &&
	       !strcasecmp(nla_data(attr), text);
}

static int print_entry(int cmd, struct nlattr **tb, void *arg)
{
	struct printer *printer = arg;
	int i;

	(void)cmd;
	if (printer->name && !is_text(tb[SMC_PNETID_NAME], printer->name))
		return 0;
	for (i = SMC_PNETID_ETHNAME; i <= SMC_PNETID_IBNAME; i++)
		if (is_text(tb[i], NONE))
			tb[i] = NULL;
	if (!tb[SMC_PNETID_IBNAME])
		tb[SMC_PNETID_IBPORT] = NULL;
	output_add(&printer->out, pnet_fields, tb);
	return 0;
}

static int pnet_show(const char *name, const struct args *args)
{
	struct printer printer = { .name = name };

	output_begin(&printer.out, args, "pnetids", pnet_fields);
	return output_end(&printer.out, genl_ask(SMCR_GENL_FAMILY_NAME, SMC_PNETID_GET, NULL,
						 print_entry, &printer, NULL));
}

static const char *pnet_error(int cmd, int err)
{
	switch (-err) {
	case EEXIST:
		return "the interface or device has a PNETID already";
	case ENOENT:
		return "there is no such PNETID";
	case EINVAL:
		return cmd == SMC_PNETID_ADD ? "that is no PNETID, interface or device" : NULL;
	}
	return NULL;
}

static int pnet_change(int cmd, const struct genl_attr *attrs)
{
	return genl_ask(SMCR_GENL_FAMILY_NAME, cmd, attrs, NULL, NULL, pnet_error) ?
	       EXIT_FAILURE : 0;
}

/* A PNETID is up to 16 letters and digits; small letters become capitals. */
static bool pnet_form(const char *text, char name[SMC_MAX_PNETID_LEN + 1])
{
	size_t i, len = strlen(text);

	if (!len || len > SMC_MAX_PNETID_LEN)
		return false;
	for (i = 0; i <= len; i++) {
		name[i] = toupper((unsigned char)text[i]);
		if (text[i] && !isalnum((unsigned char)text[i]))
			return false;
	}
	return true;
}

static const char *pnet_apply_error(int cmd, int err)
{
	return err == -EEXIST ? "" : pnet_error(cmd, err);
}

/* The words after "add"; what exists already is an error for @explain to tell */
static int pnet_add_words(const char *words[], int nr, bool dry,
			  const char *(*explain)(int cmd, int err))
{
	const char *what = nr > 1 ? words[1] : "", *port = nr > 3 ? words[3] : "1";
	char name[SMC_MAX_PNETID_LEN + 1];
	struct genl_attr attrs[4] = { { SMC_PNETID_NAME, name, 0 } };
	bool is_device = !strcmp(what, "device");

	if (!pnet_form(words[0], name))
		return wrong("a PNETID has 1 to %d letters and digits", SMC_MAX_PNETID_LEN);
	if (nr < 3 || (!is_device && strcmp(what, "interface")))
		return wrong("add what? \"interface NAME\", or \"device NAME [PORT]\"");
	if (nr > 4 || (nr > 3 && !is_device))
		return wrong("\"%s\" is one word too many", words[nr - 1]);
	if (strlen(words[2]) > (is_device ? 63 : 15) || !*words[2])
		return wrong("\"%s\" is no name of %s", words[2],
			     is_device ? "a device" : "an interface");
	if (strcmp(port, "1") && strcmp(port, "2"))
		return wrong("\"%s\" is neither port 1 nor port 2", port);
	attrs[1].type = is_device ? SMC_PNETID_IBNAME : SMC_PNETID_ETHNAME;
	attrs[1].text = words[2];
	if (is_device)
		attrs[2] = (struct genl_attr){ SMC_PNETID_IBPORT, NULL, *port - '0' };
	return dry ? 0 : genl_ask(SMCR_GENL_FAMILY_NAME, SMC_PNETID_ADD, attrs, NULL, NULL,
				  explain);
}

/**
 * pnet_add() - add a PNETID of a file unless it exists
 * @words: the words of a line
 * @nr: their number
 * @dry: only check them
 *
 * Return: 0, or an error after a message.
 */
int pnet_add(const char *words[], int nr, bool dry)
{
	int err = pnet_add_words(words, nr, dry, pnet_apply_error);

	return err == -EEXIST ? 0 : err;
}

struct sync {
	const struct lines *lines;
	char name[SMC_MAX_PNETID_LEN + 1];	/* one that has more than the files give it */
};

static bool is_entry(struct nlattr **tb, const struct file_line *line)
{
	bool is_device = !strcmp(line->words[1], "device");
	int port = line->nr > 3 ? atoi(line->words[3]) : 1;

	return is_text(tb[SMC_PNETID_NAME], line->words[0]) &&
	       is_text(tb[is_device ? SMC_PNETID_IBNAME : SMC_PNETID_ETHNAME], line->words[2]) &&
	       (!is_device || !tb[SMC_PNETID_IBPORT] || nla_get_u8(tb[SMC_PNETID_IBPORT]) == port);
}

static int note_stale(int cmd, struct nlattr **tb, void *arg)
{
	struct sync *sync = arg;
	size_t i;

	(void)cmd;
	for (i = 0; i < sync->lines->nr; i++)
		if (is_entry(tb, &sync->lines->line[i]))
			return 0;
	if (tb[SMC_PNETID_NAME])
		nla_strlcpy(sync->name, tb[SMC_PNETID_NAME], sizeof(sync->name));
	return 0;
}

/**
 * pnet_sync() - remove the PNETIDs that have an entry which a file does not have
 * @lines: of the file, checked
 *
 * Return: 0, or an error after a message.
 */
int pnet_sync(const struct lines *lines)
{
	struct sync sync = { .lines = lines };
	const struct genl_attr by_name[] = { { SMC_PNETID_NAME, sync.name, 0 }, { } };
	int err;

	do {
		*sync.name = '\0';
		err = genl_ask(SMCR_GENL_FAMILY_NAME, SMC_PNETID_GET, NULL, note_stale, &sync,
			       NULL);
		if (!err && *sync.name)
			err = pnet_change(SMC_PNETID_DEL, by_name);
	} while (!err && *sync.name);
	return err;
}

/**
 * cmd_pnet() - show or change the PNETIDs of this network namespace
 * @args: the words say what; option j for JSON
 *
 * Return: exit status.
 */
int cmd_pnet(const struct args *args)
{
	const char *what = args->nr_words ? args->words[0] : "show";
	char name[SMC_MAX_PNETID_LEN + 1];
	const struct genl_attr by_name[] = { { SMC_PNETID_NAME, name, 0 }, { } };
	bool shows = !strcmp(what, "show"), adds = !strcmp(what, "add");

	if (!strcmp(what, "flush"))
		return args->nr_words > 1 ? wrong("flush takes no PNETID") :
		       pnet_change(SMC_PNETID_FLUSH, NULL);
	if (!shows && !adds && strcmp(what, "del"))
		return wrong("\"%s\" is none of show, add, del and flush", what);
	if (args->nr_words < 2)
		return shows ? pnet_show(NULL, args) :
		       wrong("%s which PNETID?", what);
	if (adds) {
		int err = pnet_add_words((const char **)args->words + 1, args->nr_words - 1, false,
					 pnet_error);

		return err < 0 ? EXIT_FAILURE : err;
	}
	if (!pnet_form(args->words[1], name))
		return wrong("a PNETID has 1 to %d letters and digits", SMC_MAX_PNETID_LEN);
	if (args->nr_words > 2)
		return wrong("%s takes one PNETID", what);
	return shows ? pnet_show(name, args) : pnet_change(SMC_PNETID_DEL, by_name);
}
