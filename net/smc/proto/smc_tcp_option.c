// SPDX-License-Identifier: GPL-2.0
/*
 * The TCP option of SMC-R in bytes, RFC 7609 A.1 and W1: kind 254, length 6, ExID 0xe2d4c3d9.
 *
 * Operation: kernels without CONFIG_SMC neither write nor read it. Headers that come in are a
 * peer's, so nothing in them is trusted but their length, which the caller has checked.
 */
#include <linux/string.h>

#include "proto/smc_tcp_option.h"
#include "proto/smc_wire.h"

/* Kinds of options; RFC 9293, 2385, 5925, 7413, 4727 */
enum tcp_option_kind {
	TCP_OPTION_END		= 0,
	TCP_OPTION_NOP		= 1,
	TCP_OPTION_MD5		= 19,
	TCP_OPTION_AO		= 29,
	TCP_OPTION_FAST_OPEN	= 34,
	TCP_OPTION_EXPERIMENT	= 254,
};

enum tcp_header_byte {
	TCP_HEADER_OFFSET	= 12,	/* the upper half counts words of four bytes */
	TCP_HEADER_CHECKSUM	= 16,
};

/* The option as it is written, in its room */
static const u8 tcp_option[SMC_TCP_OPTION_ROOM] = {
	TCP_OPTION_NOP, TCP_OPTION_NOP, TCP_OPTION_EXPERIMENT, 6, 0xe2, 0xd4, 0xc3, 0xd9,
};

#define TCP_OPTION_PADDING	2
#define TCP_OPTION_LEN		(SMC_TCP_OPTION_ROOM - TCP_OPTION_PADDING)

static_assert(SMC_TCP_OPTION_ROOM % 4 == 0);

/*
 * Length of the option at @pos, NOPs and END included. Return: 0 if it does not fit; nothing
 * behind it can be an option.
 */
static unsigned int tcp_option_len(const u8 *hdr, unsigned int pos, unsigned int len)
{
	unsigned int size;

	if (hdr[pos] == TCP_OPTION_END)
		return len - pos;
	if (hdr[pos] == TCP_OPTION_NOP)
		return 1;
	if (len - pos < 2)
		return 0;
	size = hdr[pos + 1];
	return size >= 2 && size <= len - pos ? size : 0;
}

/**
 * smc_tcp_option_find() - look for the option
 * @hdr: a TCP header with its options
 * @len: its length
 *
 * Any other ExID or length is another protocol's option, OPT-11. One option is as good as two.
 * Options in front of a damaged one count, as in TCP.
 *
 * Context: Any context.
 * Return: true if there is one.
 */
bool smc_tcp_option_find(const u8 *hdr, unsigned int len)
{
	unsigned int pos, size;

	for (pos = SMC_TCP_HDR_LEN; pos < len; pos += size) {
		size = tcp_option_len(hdr, pos, len);
		if (!size)
			return false;
		if (size == TCP_OPTION_LEN &&
		    !memcmp(hdr + pos, tcp_option + TCP_OPTION_PADDING, size))
			return true;
	}
	return false;
}

/* A signature would not cover the option, or the SYN carries data for a program without SMC. */
static bool tcp_option_excludes_smc(u8 kind)
{
	return kind == TCP_OPTION_MD5 || kind == TCP_OPTION_AO || kind == TCP_OPTION_FAST_OPEN ||
	       kind == TCP_OPTION_EXPERIMENT;
}

/**
 * smc_tcp_option_may_add() - check whether a header can take the option
 * @hdr: the TCP header of a SYN or SYN-ACK of this host
 * @len: its length
 *
 * Context: Any context.
 * Return: false without room, with the option already, and for TCP-MD5, TCP-AO and Fast Open.
 */
bool smc_tcp_option_may_add(const u8 *hdr, unsigned int len)
{
	unsigned int pos, size;

	if (len + SMC_TCP_OPTION_ROOM > SMC_TCP_HDR_MAX)
		return false;
	for (pos = SMC_TCP_HDR_LEN; pos < len; pos += size) {
		size = tcp_option_len(hdr, pos, len);
		/* behind the end an option would not be found */
		if (!size || hdr[pos] == TCP_OPTION_END || tcp_option_excludes_smc(hdr[pos]))
			return false;
	}
	return true;
}

/* Add to a checksum field, which holds a sum or its complement in ones' complement. */
static void tcp_checksum_add(u8 *field, u32 sum, bool is_complement)
{
	u32 old = field[0] << 8 | field[1];

	sum += is_complement ? ~old & 0xffff : old;
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	if (is_complement)
		sum = ~sum;
	field[0] = sum >> 8 & 0xff;
	field[1] = sum & 0xff;
}

/**
 * smc_tcp_option_add() - append the option to a header
 * @hdr: a header for which smc_tcp_option_may_add() is true, with %SMC_TCP_OPTION_ROOM bytes
 *	 behind it
 * @is_partial: the checksum field has the sum of the pseudo header only, the rest is added later
 *
 * Updates the data offset and the checksum. The caller updates the length in the IP header.
 *
 * Context: Any context.
 */
void smc_tcp_option_add(u8 *hdr, bool is_partial)
{
	/* the pseudo header has the length of the segment */
	u32 sum = SMC_TCP_OPTION_ROOM;
	unsigned int i;

	memcpy(hdr + (hdr[TCP_HEADER_OFFSET] >> 4) * 4, tcp_option, sizeof(tcp_option));
	hdr[TCP_HEADER_OFFSET] += SMC_TCP_OPTION_ROOM / 4 << 4;
	if (!is_partial) {
		for (i = 0; i < sizeof(tcp_option); i += 2)
			sum += tcp_option[i] << 8 | tcp_option[i + 1];
		sum += SMC_TCP_OPTION_ROOM / 4 << 12;
	}
	tcp_checksum_add(hdr + TCP_HEADER_CHECKSUM, sum, !is_partial);
}
