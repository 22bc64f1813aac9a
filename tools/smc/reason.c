// SPDX-License-Identifier: GPL-2.0
/*
 * The reasons for using TCP, in words. Declines carry the same codes, so some
 * of them come only from peers.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "smc.h"

#define REASON(id, words) { SMC_CLC_DECL_##id, #id, words }

static const struct reason {
	uint32_t code;
	const char *name;
	const char *text;
} reasons[] = {
	REASON(MEM, "not enough memory for buffers"),
	REASON(TIMEOUT_CL, "CONFIRM LINK did not arrive in time: RDMA packets get lost"),
	REASON(TIMEOUT_AL, "ADD LINK did not arrive in time"),
	REASON(CNFERR, "the local network configuration is not usable"),
	REASON(PEERNOSMC, "the peer does not speak SMC"),
	REASON(IPSEC, "the connection is subject to IPsec"),
	REASON(NOSMCDEV, "no device for SMC on the way to the peer"),
	REASON(NOSMCDDEV, "no ISM device on the way to the peer"),
	REASON(NOSMCRDEV, "no RDMA device on the way to the peer"),
	REASON(NOISM2SUPP, "no support for ISM version 2"),
	REASON(NOV2EXT, "the peer offered version 2 without its extension"),
	REASON(NOV2DEXT, "the peer offered SMC-D version 2 without its extension"),
	REASON(NOSEID, "the peer has no system EID"),
	REASON(NOSMCD2DEV, "no ISM version 2 device in common"),
	REASON(NOUEID, "the peer listed no EID that is known here"),
	REASON(RELEASEERR, "the peer answered with a release that was not offered"),
	REASON(MAXCONNERR, "no agreement on the number of connections"),
	REASON(MAXLINKERR, "no agreement on the number of links"),
	REASON(MODEUNSUPP, "the peer chose a mode that was not offered"),
	REASON(RMBE_EC, "the peer uses eye catchers in its buffers"),
	REASON(OPTUNSUPP, "a socket option, such as fast open, works with TCP only"),
	REASON(DIFFPREFIX, "the peer is in another subnet"),
	REASON(GETVLANERR, "the VLAN of the route is not known"),
	REASON(ISMVLANERR, "the ISM device refused the VLAN"),
	REASON(NOACTLINK, "the link group has no active link"),
	REASON(NOSRVLINK, "the server named a link that does not exist"),
	REASON(VERSMISMAT, "the versions do not match"),
	REASON(MAX_DMB, "the ISM device has no more buffers"),
	REASON(NOROUTE, "no route to the peer's RDMA address"),
	REASON(NOINDIRECT, "one side routes and the other does not"),
	REASON(POLICY, "the policy of the network namespace says TCP"),
	REASON(DRAIN, "the module is being drained, see `smc drain`"),
	REASON(LGRLIMIT, "too many link groups, with this peer or on this host"),
	REASON(UNFIT, "no RDMA device on the way is fit for SMC, see `smc devices`"),
	REASON(SYNCERR, "the two sides disagree about their link group"),
	REASON(PEERDECL, "the peer declined"),
	REASON(INTERR, "internal error"),
	REASON(ERR_RTOK, "the peer's buffer key could not be stored"),
	REASON(ERR_RDYLNK, "the queue pair could not be connected"),
	REASON(ERR_REGBUF, "the buffers could not be registered"),
};

/* Codes are made of a class, a reason and a detail: 1, 1 and 2 bytes. */
static const struct reason *find(uint32_t code)
{
	static const uint32_t masks[] = { 0xffffffff, 0xffff0000, 0xff000000 };
	size_t m, i;

	for (m = 0; m < ARRAY_SIZE(masks); m++)
		for (i = 0; i < ARRAY_SIZE(reasons); i++)
			if (reasons[i].code == (code & masks[m]))
				return &reasons[i];
	return NULL;
}

/* NULL if the code has no name of its own. */
const char *reason_name(uint32_t code)
{
	const struct reason *reason = find(code);

	return reason && reason->code == code ? reason->name : NULL;
}

/* A code with unknown details gets the text of its reason or class. */
const char *reason_text(uint32_t code)
{
	const struct reason *reason = find(code);

	if (!code)
		return "none";
	return reason ? reason->text : "a reason of the peer's own";
}

/**
 * reason_words() - say why a connection uses TCP, with the code
 * @text: filled
 * @reason: the code
 * @age_ms: for how long it had been remembered, or 0
 * @diagnosis: the peer's code, or 0
 */
void reason_words(char text[REASON_WORDS], uint32_t reason, uint32_t age_ms, uint32_t diagnosis)
{
	char age[48] = "", peer[128] = "";

	if (age_ms)
		snprintf(age, sizeof(age), "remembered for %u.%u s: ", age_ms / 1000,
			 age_ms / 100 % 10);
	if (diagnosis)
		snprintf(peer, sizeof(peer), ": 0x%08x %s", diagnosis, reason_text(diagnosis));
	snprintf(text, REASON_WORDS, "0x%08x %s%s%s", reason, age, reason_text(reason), peer);
}

static void print(uint32_t code)
{
	const char *name = reason_name(code);

	printf("0x%08x  %-12s  %s\n", code, name ? name : "-",
	       reason_text(code));
}

/*
 * In hexadecimal with 0x, and as lists without it show a code: with a leading zero or a letter.
 * Return: false if it is no code.
 */
static bool read_code(const char *word, uint32_t *code)
{
	bool is_hex = *word == '0' || strpbrk(word, "abcdefABCDEF");
	unsigned long long number;
	char *end;

	errno = 0;
	number = strtoull(word, &end, is_hex ? 16 : 10);
	*code = number;
	return isxdigit((unsigned char)*word) && !errno && !*end && number <= UINT32_MAX;
}

/**
 * cmd_reasons() - explain codes
 * @args: the codes; none for all
 *
 * Return: exit status, EXIT_FAILURE if a code is not known.
 */
int cmd_reasons(const struct args *args)
{
	uint32_t code;
	int word, status = 0;
	size_t i;

	for (word = 0; word < args->nr_words; word++) {
		if (!read_code(args->words[word], &code))
			return wrong("\"%s\" is no code, such as 0x03010000 or 50397184",
				     args->words[word]);
		if (find(code)) {
			print(code);
			continue;
		}
		fprintf(stderr, "smc: 0x%08x is not known; a peer may have codes of its own\n",
			code);
		status = EXIT_FAILURE;
	}
	for (i = 0; !args->nr_words && i < ARRAY_SIZE(reasons); i++)
		print(reasons[i].code);
	return status;
}
