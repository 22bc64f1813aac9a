// SPDX-License-Identifier: GPL-2.0
/*
 * Writes JSON as a stream.
 */
#include <inttypes.h>

#include "smc.h"

static void put_text(struct json *json, const char *text)
{
	const unsigned char *c;

	fputc('"', json->file);
	for (c = (const unsigned char *)text; *c; c++) {
		if (*c == '"' || *c == '\\')
			fprintf(json->file, "\\%c", *c);
		else if (*c < 0x20 || *c >= 0x7f)
			fprintf(json->file, "\\u%04x", *c);
		else
			fputc(*c, json->file);
	}
	fputc('"', json->file);
}

/* Writes the comma and the newline before a member, and its name if any. */
static void put_name(struct json *json, const char *name)
{
	if (json->has_member[json->depth])
		fputc(',', json->file);
	json->has_member[json->depth] = true;
	if (json->depth && !json->is_line)
		fprintf(json->file, "\n%*s", 2 * json->depth, "");
	if (name) {
		put_text(json, name);
		fputs(": ", json->file);
	}
}

/**
 * json_begin() - open an object with the version of the schema
 * @json: at the beginning of the output
 */
void json_begin(struct json *json)
{
	json_open(json, NULL, '{');
	json_number(json, "schema", JSON_SCHEMA);
}

void json_open(struct json *json, const char *name, char bracket)
{
	put_name(json, name);
	fputc(bracket, json->file);
	json->has_member[++json->depth] = false;
}

void json_close(struct json *json, char bracket)
{
	bool has_member = json->has_member[json->depth--];

	if (has_member && !json->is_line)
		fprintf(json->file, "\n%*s", 2 * json->depth, "");
	fputc(bracket, json->file);
	if (!json->depth)
		fputc('\n', json->file);
}

void json_string(struct json *json, const char *name, const char *value)
{
	put_name(json, name);
	put_text(json, value);
}

void json_number(struct json *json, const char *name, uint64_t value)
{
	put_name(json, name);
	fprintf(json->file, "%" PRIu64, value);
}
