// SPDX-License-Identifier: GPL-2.0
/*
 * IP addresses and ports as users write them. IPv4 addresses are mapped ones.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <arpa/inet.h>

#include "smc.h"

/**
 * number_read() - read all of a text, or up to a character, as a decimal number
 * @text: the text
 * @end: the character
 * @max: the largest allowed value
 * @value: filled
 *
 * Return: false if it is no such number.
 */
bool number_read(const char *text, char end, uint64_t max, uint64_t *value)
{
	char *last;

	errno = 0;
	*value = strtoull(text, &last, 10);
	return *text >= '0' && *text <= '9' && !errno && (!*last || *last == end) && *value <= max;
}

/**
 * addr_read() - read an address
 * @text: in the usual form of its family
 * @addr: filled
 *
 * Return: false if it is none.
 */
bool addr_read(const char *text, struct in6_addr *addr)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

	memcpy(addr, mapped, sizeof(mapped));
	return inet_pton(AF_INET, text, &addr->s6_addr[12]) == 1 ||
	       inet_pton(AF_INET6, text, addr) == 1;
}

/**
 * addr_read_service() - read an address with or without a port
 * @text: ADDR, ADDR:PORT, or [ADDR]:PORT for IPv6
 * @addr: filled
 * @port: filled, 0 without one
 *
 * Return: false if it is none.
 */
bool addr_read_service(const char *text, struct in6_addr *addr, uint16_t *port)
{
	bool has_brackets = *text == '[';
	const char *end = has_brackets ? strchr(text, ']') : strchr(text, ':');
	char copy[INET6_ADDRSTRLEN];
	uint64_t number = 0;

	*port = 0;
	if (addr_read(text, addr))
		return true;
	if (!end || end - text - has_brackets >= (int)sizeof(copy))
		return false;
	snprintf(copy, sizeof(copy), "%.*s", (int)(end - text - has_brackets), text + has_brackets);
	end += has_brackets;
	if (*end && (*end != ':' || !number_read(end + 1, '\0', UINT16_MAX, &number) || !number))
		return false;
	*port = number;
	return addr_read(copy, addr);
}

/**
 * addr_read_prefix() - read an address with or without the number of bits that count
 * @text: ADDR or ADDR/BITS
 * @addr: filled; bits that do not count are 0
 * @bits: filled, of the whole 128
 *
 * Return: 0, or EXIT_USAGE after a message.
 */
int addr_read_prefix(const char *text, struct in6_addr *addr, uint8_t *bits)
{
	const char *slash = strchr(text, '/');
	char copy[INET6_ADDRSTRLEN];
	uint64_t number, max;
	unsigned int i;

	snprintf(copy, sizeof(copy), "%.*s", slash ? (int)(slash - text) : (int)strlen(text), text);
	if (!addr_read(copy, addr))
		return wrong("\"%s\" is no IP address", copy);
	max = strchr(copy, ':') ? 128 : 128 - ADDR_V4_BITS;
	number = max;
	if (slash && !number_read(slash + 1, '\0', max, &number))
		return wrong("\"%s\" is no prefix length from 0 to %d", slash + 1, (int)max);
	*bits = number + 128 - max;
	for (i = *bits; i < 128; i++)
		addr->s6_addr[i / 8] &= ~(0x80 >> i % 8);
	return 0;
}

/**
 * ports_read() - read a port or a range of them
 * @text: PORT or FIRST-LAST
 * @first: filled
 * @last: filled
 *
 * Return: 0, or EXIT_USAGE after a message.
 */
int ports_read(const char *text, uint16_t *first, uint16_t *last)
{
	const char *dash = strchr(text, '-');
	uint64_t low, high;

	if (!number_read(text, '-', UINT16_MAX, &low) ||
	    !number_read(dash ? dash + 1 : text, '\0', UINT16_MAX, &high) || high < low)
		return wrong("\"%s\" is no port from 0 to 65535 and no range FIRST-LAST", text);
	*first = low;
	*last = high;
	return 0;
}

/**
 * host_read() - read the name or address of a host with or without a port
 * @text: HOST, HOST:PORT, [HOST]:PORT, or an address of IPv6
 * @host: filled
 * @port: filled if there is one
 *
 * Return: false after a message if it is none.
 */
bool host_read(const char *text, char host[HOST_TEXT], uint16_t *port)
{
	const char *colon = strrchr(text, ':');
	size_t len = strlen(text);
	uint64_t number = 0;

	if (*text == '[') {
		colon = strchr(text, ']');
		if (!colon || (colon[1] && colon[1] != ':'))
			return !wrong("\"%s\" is no [ADDRESS] or [ADDRESS]:PORT", text);
		len = colon - ++text;
		colon = colon[1] ? colon + 1 : NULL;
	} else if (colon && strchr(text, ':') == colon) {
		len = colon - text;
	} else {
		colon = NULL;
	}
	if (!len || len >= HOST_TEXT)
		return !wrong("a host is missing");
	snprintf(host, HOST_TEXT, "%.*s", (int)len, text);
	if (!colon)
		return true;
	if (!number_read(colon + 1, '\0', UINT16_MAX, &number) || !number)
		return !wrong("\"%s\" is no port from 1 to 65535", colon + 1);
	*port = number;
	return true;
}

/**
 * addr_text() - write an address with its port
 * @text: filled with ADDR:PORT, [ADDR]:PORT, or the address alone
 * @addr: the address
 * @port: of it, or 0
 */
void addr_text(char text[ADDR_TEXT], const struct in6_addr *addr, uint16_t port)
{
	bool is_v4 = IN6_IS_ADDR_V4MAPPED(addr);
	char host[INET6_ADDRSTRLEN];

	inet_ntop(is_v4 ? AF_INET : AF_INET6, is_v4 ? &addr->s6_addr[12] : addr->s6_addr, host,
		  sizeof(host));
	if (port)
		snprintf(text, ADDR_TEXT, is_v4 ? "%s:%u" : "[%s]:%u", host, port);
	else
		snprintf(text, ADDR_TEXT, "%s", host);
}
