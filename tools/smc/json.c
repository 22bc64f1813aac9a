// SPDX-License-Identifier: GPL-2.0
/*
 * Writes JSON. The text is kept until the whole answer is known: a failure prints none of it.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "smc.h"

/* The length of the UTF-8 character that a text begins with, 0 if it is none. */
static size_t utf8_len(const unsigned char *c)
{
	size_t i, len = *c < 0x80 ? 1 : *c < 0xe0 ? 2 : *c < 0xf0 ? 3 : 4;

	if ((*c >= 0x80 && *c < 0xc2) || *c > 0xf4)
		return 0;

	for (i = 1; i < len; i++)
		if ((c[i] & 0xc0) != 0x80)
			return 0;
	/* longer than necessary, half of a pair of UTF-16, or beyond Unicode */
	if ((*c == 0xe0 && c[1] < 0xa0) || (*c == 0xed && c[1] > 0x9f) ||
	    (*c == 0xf0 && c[1] < 0x90) || (*c == 0xf4 && c[1] > 0x8f))
		return 0;
	return len;
}

static void put_text(struct json *json, const char *text)
{
	const unsigned char *c = (const unsigned char *)text;
	size_t len;

	fputc('"', json->file);
	for (; *c; c += len ? len : 1) {
		len = utf8_len(c);
		if (*c == '"' || *c == '\\')
			fprintf(json->file, "\\%c", *c);
		else if (*c < 0x20 || *c == 0x7f || !len)
			fprintf(json->file, "\\u%04x", len ? *c : 0xfffd);
		else
			fwrite(c, 1, len, json->file);
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
 * @json: at the beginning of the output, zeroed but for is_line
 */
void json_begin(struct json *json)
{
	json->file = open_memstream(&json->text, &json->len);
	if (!json->file) {
		perror("smc");
		exit(EXIT_FAILURE);
	}
	json_open(json, NULL, '{');
	json_number(json, "schema", JSON_SCHEMA);
}

/**
 * json_end() - close the object, and print it
 * @json: after json_begin()
 * @err: nothing is printed unless 0
 *
 * Return: exit status.
 */
int json_end(struct json *json, int err)
{
	json_close(json, '}');
	fputc('\n', json->file);
	if (fclose(json->file))
		err = 1;
	if (!err)
		fwrite(json->text, 1, json->len, stdout);
	free(json->text);
	return err ? EXIT_FAILURE : 0;
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

void json_bool(struct json *json, const char *name, bool value)
{
	put_name(json, name);
	fputs(value ? "true" : "false", json->file);
}

/**
 * json_reason() - write why a connection uses TCP
 * @json: the output
 * @name: of the member
 * @code: the code, 0 for none: the member is left out
 */
void json_reason(struct json *json, const char *name, uint32_t code)
{
	char text[16];

	if (!code)
		return;
	snprintf(text, sizeof(text), "0x%08x", code);
	json_open(json, name, '{');
	json_string(json, "code", text);
	if (reason_name(code))
		json_string(json, "name", reason_name(code));
	json_string(json, "text", reason_text(code));
	json_close(json, '}');
}
