/* SPDX-License-Identifier: GPL-2.0 */
/* Why a connection would use SMC or TCP. */
#ifndef SMC_EXPLAIN_H
#define SMC_EXPLAIN_H

#include <linux/in6.h>
#include <linux/smc.h>

#include "proto/smc_clc_nego.h"

struct net;

#define SMC_EXPLAIN_TEXT	96

/**
 * struct smc_explain_check - one check of the way to an offer
 * @is_known: it was made; later ones are not without a route
 * @is_ok: it does not prevent SMC, or this version of it
 * @reason: why not, if a connection reports that
 * @number: what @text is about: a rule's id, milliseconds, a count or an MTU
 * @text: facts in words
 */
struct smc_explain_check {
	bool is_known;
	bool is_ok;
	enum smc_decline reason;
	u32 number;
	char text[SMC_EXPLAIN_TEXT];
};

/**
 * struct smc_explain - what a connection would do
 * @reason: of TCP; SMC_DECLINE_NONE if SMC is offered, or if there is no route at all
 * @offers_v1: version 1 is offered
 * @offers_v2: version 2 is offered
 * @check: by &enum smc_explain_id
 */
struct smc_explain {
	enum smc_decline reason;
	bool offers_v1;
	bool offers_v2;
	struct smc_explain_check check[SMC_EXPLAIN_ID_MAX + 1];
};

int smc_explain(struct net *net, const struct in6_addr *peer, u16 port, struct smc_explain *ex);

#endif /* SMC_EXPLAIN_H */
