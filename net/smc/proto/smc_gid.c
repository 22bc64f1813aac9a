// SPDX-License-Identifier: GPL-2.0
/*
 * GIDs of RoCE ports as addresses.
 *
 * A RoCE v2 packet is either IPv4 or IPv6, so it takes two GIDs of the same IP
 * version. Where a route leads from one to the other it takes more: a link-local
 * address means nothing behind a router, nor on another LAN of the same host.
 * It is of use where TCP itself goes from that address to that of the peer: then
 * both are known to be on one LAN, and on which.
 */
#include <linux/string.h>

#include "proto/smc_gid.h"

/**
 * smc_gid_classify() - what is a GID as an IP address
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
 * smc_gid_kinds_like() - the kinds of GIDs that a neighbour's can talk to
 * @gid: of a RoCE v2 port on the same LAN
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
 * smc_gid_is_routable_to() - may a route lead from one GID to the other
 * @own: RoCE v2 GID of this host
 * @peer: the peer's
 *
 * Context: Any context.
 * Return: true if both are of the same kind.
 */
bool smc_gid_is_routable_to(const u8 own[SMC_GID_LEN], const u8 peer[SMC_GID_LEN])
{
	return smc_gid_classify(own) == smc_gid_classify(peer);
}

/**
 * smc_gid_rank() - how well does a GID serve as local end
 * @facts: the GID
 * @wish: what it has to be
 *
 * The one wished for by name is the best. Then RoCE v1, it is what RFC 7609 means
 * by RoCE; then one of the device of the route itself before one of a device it
 * rests on. Then, for RoCE v2, an IPv4 address before an IPv6 one: both reach a
 * neighbour, but the IPv4 neighbour is known already where the TCP connection
 * uses the same interface. Of equals the caller takes the first.
 *
 * Context: Any context.
 * Return: 0 if it does not serve, else the more the better.
 */
unsigned int smc_gid_rank(const struct smc_gid_facts *facts, const struct smc_gid_criteria *wish)
{
	enum smc_gid_kind kind = smc_gid_classify(facts->gid);
	bool is_named = !memcmp(facts->gid, wish->gid, SMC_GID_LEN);
	bool is_v2_ipv4 = !facts->is_v1 && kind == SMC_GID_IPV4;

	if (facts->is_v1 ? wish->v2_only : !(wish->kinds & SMC_GID_ONE(kind)))
		return 0;
	if (wish->named_only && !(is_named && facts->is_theirs))
		return 0;
	return 1 + is_v2_ipv4 + 2 * facts->is_theirs + 4 * facts->is_v1 + 8 * is_named;
}
