// SPDX-License-Identifier: GPL-2.0
/*
 * The answer of a command: an array of objects in JSON, or a table. It is printed when it is whole.
 */
#include <stdlib.h>

#include <netlink/attr.h>

#include "smc.h"

/**
 * output_begin() - begin the answer
 * @out: anything
 * @args: option j for JSON, h for bytes in units
 * @name: of the array in JSON
 * @fields: have the titles of the table; NULL: the caller adds titles
 */
void output_begin(struct output *out, const struct args *args, const char *name,
		  const struct field *fields)
{
	*out = (struct output){ .is_json = args->option['j'], .is_human = args->option['h'] };
	if (out->is_json) {
		json_begin(&out->json);
		json_open(&out->json, name, '[');
	} else if (fields) {
		fields_head(&out->table, fields);
	}
}

/**
 * output_add() - add an object, or a row
 * @out: after output_begin()
 * @fields: up to one without a name
 * @tb: the attributes
 */
void output_add(struct output *out, const struct field *fields, struct nlattr **tb)
{
	if (!out->is_json) {
		fields_row_of(&out->table, fields, tb, out->is_human);
		return;
	}
	json_open(&out->json, NULL, '{');
	fields_json_of(&out->json, fields, tb);
	json_close(&out->json, '}');
}

/**
 * output_end() - print the answer
 * @out: after output_begin()
 * @err: nothing is printed unless 0
 *
 * Return: exit status.
 */
int output_end(struct output *out, int err)
{
	if (!out->is_json)
		return table_end(&out->table, err);
	json_close(&out->json, ']');
	return json_end(&out->json, err);
}

struct printer {
	const struct dump *dump;
	struct output out;
};

static int print_message(int cmd, struct nlattr **tb, void *arg)
{
	struct nlattr *in[FIELD_MAX + 1] = { 0 };
	struct printer *printer = arg;
	const struct dump *dump = printer->dump;

	(void)cmd;
	if (tb[dump->nest] && nla_parse_nested(in, FIELD_MAX, tb[dump->nest], NULL) >= 0)
		output_add(&printer->out, dump->fields, in);
	return 0;
}

/* Other modules do not know the command for more. */
static const char *say_nothing(int cmd, int err)
{
	(void)cmd;
	(void)err;
	return "";
}

/**
 * dump_print() - ask for a dump and print it
 * @dump: what to ask and how to print it
 * @args: as for output_begin()
 *
 * Return: exit status.
 */
int dump_print(const struct dump *dump, const struct args *args)
{
	struct printer printer = { .dump = dump };
	int err;

	output_begin(&printer.out, args, dump->name, dump->fields);
	err = genl_ask(SMC_GENL_FAMILY_NAME, dump->cmd, NULL, print_message, &printer, NULL);
	if (!err && dump->more)
		genl_ask(SMC_GENL_FAMILY_NAME, dump->more, NULL, print_message, &printer,
			 say_nothing);
	return output_end(&printer.out, err);
}
