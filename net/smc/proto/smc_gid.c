// SPDX-License-Identifier: GPL-2.0
/*
 * GIDs of RoCE ports as addresses.
 *
 * A RoCE v2 packet is either IPv4 or IPv6, so both GIDs need the same IP version. A routed path
 * needs more: a link-local address is meaningless behind a router or on another LAN of the same
 * host. It is usable where TCP itself uses that address towards the peer's: then both are on
 * one known LAN.
 */
#include <linux/string.h>

#include "proto/smc_gid.h"

/**
 * smc_gid_classify() - kind of a GID as an IP address
 * @gid: 16 bytes
 *
 * Context: Any context.
 * Return: its kind.
 */
enum smc_gid_kind smc_gid_classify(const u8 gid[SMC_GID_LEN])
{
	static const u8 mapped[12] = { [10] = 0xff, [11] = 0xff };

	if (!memcmp(gid, mapped, sizeof(mapped)))
		return SMC_GID_IPV4;
	if (gid[0] == 0xfe && (gid[1] & 0xc0) == 0x80)
		return SMC_GID_LINK_LOCAL;
	return SMC_GID_IPV6;
}

/**
 * smc_gid_kinds_like() - kinds of GIDs that reach a neighbour
 * @gid: RoCE v2 GID of the neighbour on the same LAN
 *
 * Context: Any context.
 * Return: set of kinds, of one IP version.
 */
unsigned int smc_gid_kinds_like(const u8 gid[SMC_GID_LEN])
{
	if (smc_gid_classify(gid) == SMC_GID_IPV4)
		return SMC_GID_ONE(SMC_GID_IPV4);
	return SMC_GID_ANY_IPV6;
}

/**
 * smc_gid_is_routable_to() - check whether a route may connect two GIDs
 * @own: RoCE v2 GID of this host
 * @peer: RoCE v2 GID of the peer
 *
 * Context: Any context.
 * Return: true if both are of the same kind.
 */
bool smc_gid_is_routable_to(const u8 own[SMC_GID_LEN], const u8 peer[SMC_GID_LEN])
{
	return smc_gid_classify(own) == smc_gid_classify(peer);
}

/**
 * smc_gid_rank() - rank a GID as local end of a link
 * @facts: the GID
 * @need: what the caller needs
 *
 * RoCE v1, which RFC 7609 means by RoCE, ranks first unless the caller says otherwise: messages do
 * not say which version a side uses. Then the GID named by the caller, which is the address of the
 * TCP connection: so a link ends with an address that its connections need, and with no other. But
 * an IPv6 address ranks behind IPv4 where the caller takes both: connections of either version
 * share their links. Then a GID of the route's own device before one of a lower device. Then, for
 * RoCE v2, IPv4 before IPv6, and a primary address before a secondary one. Of equals the caller
 * takes the first.
 *
 * Context: Any context.
 * Return: 0 if it is unusable, otherwise higher is better.
 */
unsigned int smc_gid_rank(const struct smc_gid_facts *facts, const struct smc_gid_criteria *need)
{
	enum smc_gid_kind kind = smc_gid_classify(facts->gid);
	bool is_named = !memcmp(facts->gid, need->gid, SMC_GID_LEN);
	bool is_v2_ipv4 = !facts->is_v1 && kind == SMC_GID_IPV4;
	bool goes_first = is_named &&
			  (kind == SMC_GID_IPV4 || !(need->kinds & SMC_GID_ONE(SMC_GID_IPV4)));
	bool is_wanted_roce = facts->is_v1 == (need->roce != SMC_GID_V2_FIRST);

	if (need->roce == (facts->is_v1 ? SMC_GID_V2_ONLY : SMC_GID_V1_ONLY))
		return 0;
	if (!facts->is_v1 && !(need->kinds & SMC_GID_ONE(kind)))
		return 0;
	if (need->named_only && !(is_named && facts->is_theirs))
		return 0;
	return 1 + !facts->is_secondary + 2 * is_named + 4 * is_v2_ipv4 + 8 * facts->is_theirs +
	       16 * goes_first + 32 * is_wanted_roce;
}
