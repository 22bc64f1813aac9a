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

static void trim(char *text)
{
	size_t len = strlen(text);

	while (len && text[len - 1] == ' ')
		text[--len] = '\0';
}

/* Fills the text of a field; false if it is a number for programs. */
static bool field_text(char text[TEXT_MAX], const struct field *field, const struct nlattr *attr)
{
	uint64_t value;

	*text = '\0';
	switch (field->kind) {
	case FIELD_TEXT:
		snprintf(text, TEXT_MAX, "%.*s", nla_len(attr), (char *)nla_data(attr));
		trim(text);
		return true;
	case FIELD_BOOL:
		snprintf(text, TEXT_MAX, "%s", number(attr) ? "yes" : "no");
		return true;
	case FIELD_REASON:
		snprintf(text, TEXT_MAX, "0x%08" PRIx64, number(attr));
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
	case FIELD_BYTE_COUNT:
	case FIELD_NEST:
		break;
	}
	snprintf(text, TEXT_MAX, "%" PRIu64, number(attr));
	return false;
}

/* A row of a table by its attribute, or NULL */
static const struct field *field_of(const struct field *fields, int attr)
{
	while (fields->name && fields->attr != attr)
		fields++;
	return fields->name ? fields : NULL;
}

/* Parses a nest by the highest attribute that the fields name. */
static bool parse(struct nlattr **tb, const struct nlattr *nest)
{
	memset(tb, 0, (FIELD_MAX + 1) * sizeof(*tb));
	return nest && nla_parse_nested(tb, FIELD_MAX, (struct nlattr *)nest, NULL) >= 0;
}

static bool is_bytes(const struct field *field)
{
	if (field->kind == FIELD_NEST && field->inner)
		field = field_of(field->inner, field->column);
	return field && field->kind == FIELD_BYTE_COUNT;
}

static bool is_number(const struct field *field)
{
	return field->kind == FIELD_NUMBER || field->kind == FIELD_BYTE_COUNT ||
	       field->kind == FIELD_NEST;
}

/**
 * fields_head() - begin a table with the titles of the columns
 * @table: zeroed
 * @fields: up to one without a name
 */
void fields_head(struct table *table, const struct field *fields)
{
	for (; fields->name; fields++)
		if (fields->title)
			table_title(table, fields->title, is_number(fields));
}

/**
 * fields_row_of() - add the columns of one message to a table
 * @table: after fields_head()
 * @fields: up to one without a name
 * @tb: the attributes; a missing one is a dash
 * @is_human: with bytes in units
 */
void fields_row_of(struct table *table, const struct field *fields, struct nlattr **tb,
		   bool is_human)
{
	struct nlattr *inner[FIELD_MAX + 1];
	char text[TEXT_MAX];

	for (; fields->name; fields++) {
		struct nlattr *attr = tb[fields->attr];

		if (!fields->title)
			continue;
		/* a column of a nest has one of its numbers */
		if (attr && fields->kind == FIELD_NEST)
			attr = parse(inner, attr) ? inner[fields->column] : NULL;
		*text = '\0';
		if (attr && is_human && is_bytes(fields))
			bytes_human(number(attr), text);
		else if (attr)
			field_text(text, fields, attr);
		table_cell(table, text);
	}
}

/**
 * bytes_human() - write a number of bytes with a unit
 * @bytes: the number
 * @text: filled
 */
void bytes_human(uint64_t bytes, char text[16])
{
	static const char units[] = "BKMGTPE";
	double value = bytes;
	size_t unit = 0;

	for (; value >= 1024; value /= 1024)
		unit++;
	snprintf(text, 16, unit && value < 10 ? "%.1f%c" : "%.0f%c", value, units[unit]);
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

		if (!attr || (fields->kind == FIELD_NEST && fields->title))
			continue;
		if (fields->kind == FIELD_BOOL) {
			json_bool(json, fields->name, number(attr));
		} else if (fields->kind == FIELD_REASON) {
			json_reason(json, fields->name, number(attr));
		} else if (fields->kind == FIELD_NEST) {
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
