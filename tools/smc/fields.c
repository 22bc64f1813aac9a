// SPDX-License-Identifier: GPL-2.0
/*
 * Prints attributes of netlink as columns of a table, or as members in JSON, by a
 * table of fields.
 */
#include <inttypes.h>
#include <string.h>

#include <arpa/inet.h>
#include <net/if.h>
#include <netlink/attr.h>

#include "smc.h"

#define TEXT_MAX 128

/* Messages have numbers of one, two, four or eight bytes. */
static uint64_t number(const struct nlattr *attr)
{
	switch (nla_len(attr)) {
	case 1:
		return nla_get_u8(attr);
	case 2:
		return nla_get_u16(attr);
	case 4:
		return nla_get_u32(attr);
	case 8:
		return nla_get_u64(attr);
	}
	return 0;
}

static void address_text(char *text, const struct nlattr *attr)
{
	const struct in6_addr *addr = nla_data(attr);

	if (nla_len(attr) < (int)sizeof(*addr))
		snprintf(text, TEXT_MAX, "?");
	else if (IN6_IS_ADDR_V4MAPPED(addr))
		inet_ntop(AF_INET, &addr->s6_addr[12], text, TEXT_MAX);
	else
		inet_ntop(AF_INET6, addr, text, TEXT_MAX);
}

static void bytes_text(char *text, const struct nlattr *attr)
{
	const uint8_t *bytes = nla_data(attr);
	int i;

	for (i = 0; i < nla_len(attr) && i < TEXT_MAX / 2 - 1; i++)
		sprintf(text + 2 * i, "%02x", bytes[i]);
}

/* Fills the text of a field; false if it is a number for programs. */
static bool field_text(char text[TEXT_MAX], const struct field *field, const struct nlattr *attr)
{
	uint64_t value;

	*text = '\0';
	switch (field->kind) {
	case FIELD_TEXT:
		snprintf(text, TEXT_MAX, "%.*s", nla_len(attr), (char *)nla_data(attr));
		return true;
	case FIELD_ADDRESS:
		address_text(text, attr);
		return true;
	case FIELD_BYTES:
		bytes_text(text, attr);
		return true;
	case FIELD_HEX:
		snprintf(text, TEXT_MAX, "%08" PRIx64, number(attr));
		return true;
	case FIELD_WIRE:
		snprintf(text, TEXT_MAX, "%08x", ntohl((uint32_t)number(attr)));
		return true;
	case FIELD_NAME:
		value = number(attr);
		snprintf(text, TEXT_MAX, "%s", value < field->nr_names && field->names[value] ?
			 field->names[value] : "unknown");
		return true;
	case FIELD_INTERFACE:
		if (!number(attr) || !if_indextoname(number(attr), text))
			snprintf(text, TEXT_MAX, "-");
		return true;
	case FIELD_NUMBER:
	case FIELD_NEST:
		break;
	}
	snprintf(text, TEXT_MAX, "%" PRIu64, number(attr));
	return false;
}

/* Parses a nest by the highest attribute that the fields name. */
static bool parse(struct nlattr **tb, const struct nlattr *nest)
{
	memset(tb, 0, (FIELD_MAX + 1) * sizeof(*tb));
	return nest && nla_parse_nested(tb, FIELD_MAX, (struct nlattr *)nest, NULL) >= 0;
}

/**
 * fields_head() - print the titles of the columns
 * @fields: up to one without a name
 */
void fields_head(const struct field *fields)
{
	bool is_first = true;

	for (; fields->name; fields++) {
		if (fields->title)
			printf("%s%-*s", is_first ? "" : " ", fields->width, fields->title);
		is_first &= !fields->title;
	}
	putchar('\n');
}

/**
 * fields_row_of() - print the columns of one message
 * @fields: up to one without a name
 * @tb: the attributes; a missing one is a dash
 */
void fields_row_of(const struct field *fields, struct nlattr **tb)
{
	struct nlattr *inner[FIELD_MAX + 1];
	char text[TEXT_MAX];
	bool is_first = true;

	for (; fields->name; fields++) {
		struct nlattr *attr = tb[fields->attr];

		if (!fields->title)
			continue;
		/* a column of a nest has one of its numbers */
		if (attr && fields->kind == FIELD_NEST)
			attr = parse(inner, attr) ? inner[fields->column] : NULL;
		if (attr)
			field_text(text, fields, attr);
		else
			snprintf(text, sizeof(text), "-");
		printf("%s%-*s", is_first ? "" : " ", fields->width, text);
		is_first = false;
	}
	putchar('\n');
}

/**
 * fields_row() - print the columns of a nest
 * @fields: up to one without a name
 * @nest: the attributes
 */
void fields_row(const struct field *fields, const struct nlattr *nest)
{
	struct nlattr *tb[FIELD_MAX + 1];

	if (parse(tb, nest))
		fields_row_of(fields, tb);
}

/**
 * fields_words() - print a title and a value for each attribute of a nest that exists
 * @fields: up to one without a name; those without a title are left out
 * @nest: the attributes, may be NULL
 */
void fields_words(const struct field *fields, const struct nlattr *nest)
{
	struct nlattr *tb[FIELD_MAX + 1];
	char text[TEXT_MAX];

	if (!parse(tb, nest))
		return;
	for (; fields->name; fields++) {
		if (!fields->title || !tb[fields->attr])
			continue;
		field_text(text, fields, tb[fields->attr]);
		printf(" %s%s%s", fields->title, *fields->title ? " " : "", text);
	}
}

/**
 * fields_list() - print a line for each number of a nest and of the nests in it
 * @fields: up to one without a name
 * @nest: the attributes
 * @prefix: put before the names
 * @all: zeros, too
 */
void fields_list(const struct field *fields, const struct nlattr *nest, const char *prefix,
		 bool all)
{
	struct nlattr *tb[FIELD_MAX + 1];
	char name[TEXT_MAX];

	if (!parse(tb, nest))
		return;
	for (; fields->name; fields++) {
		const struct nlattr *attr = tb[fields->attr];

		if (!attr)
			continue;
		snprintf(name, sizeof(name), "%s%s", prefix, fields->name);
		if (fields->kind == FIELD_NEST) {
			strncat(name, "_", sizeof(name) - strlen(name) - 1);
			fields_list(fields->inner, attr, name, all);
		} else if (number(attr) || all) {
			printf("%-24s %" PRIu64 "\n", name, number(attr));
		}
	}
}

/**
 * fields_number() - read one number of a nest
 * @nest: the nest, may be NULL
 * @attr: its attribute
 *
 * Return: the number, 0 if there is none.
 */
uint64_t fields_number(const struct nlattr *nest, int attr)
{
	struct nlattr *tb[FIELD_MAX + 1];

	return parse(tb, nest) && tb[attr] ? number(tb[attr]) : 0;
}

/**
 * fields_json_of() - write attributes as members of the open object
 * @json: the output
 * @fields: up to one without a name
 * @tb: the attributes; missing ones are left out
 */
void fields_json_of(struct json *json, const struct field *fields, struct nlattr **tb)
{
	char text[TEXT_MAX];

	for (; fields->name; fields++) {
		const struct nlattr *attr = tb[fields->attr];

		if (!attr || (fields->kind == FIELD_NEST && !fields->inner))
			continue;
		if (fields->kind == FIELD_NEST) {
			json_open(json, fields->name, '{');
			fields_json(json, fields->inner, attr);
			json_close(json, '}');
		} else if (field_text(text, fields, attr)) {
			json_string(json, fields->name, text);
		} else {
			json_number(json, fields->name, number(attr));
		}
	}
}

/**
 * fields_json() - write the attributes of a nest as members of the open object
 * @json: the output
 * @fields: up to one without a name
 * @nest: the attributes
 */
void fields_json(struct json *json, const struct field *fields, const struct nlattr *nest)
{
	struct nlattr *tb[FIELD_MAX + 1];

	if (parse(tb, nest))
		fields_json_of(json, fields, tb);
}
