// SPDX-License-Identifier: GPL-2.0
/*
 * The EIDs of this host.
 *
 * One table for the host, as deployed kernels have it: filled by the operator
 * through generic netlink, read by each handshake.
 */
#include <linux/errno.h>
#include <linux/spinlock.h>
#include <linux/string.h>

#include "proto/smc_clc_wire.h"
#include "smc_compat.h"
#include "rdma/smc_eid.h"

static DEFINE_SPINLOCK(smc_eid_lock);	/* guards the two that follow */
static u8 smc_eids[SMC_EIDS_USER_MAX][SMC_EID_LEN];
static unsigned int smc_nr_eids;

/* Its place, or -ENOENT. */
static int smc_eid_find(const u8 eid[SMC_EID_LEN])
{
	unsigned int i;

	lockdep_assert_held(&smc_eid_lock);
	for (i = 0; i < smc_nr_eids; i++)
		if (!memcmp(smc_eids[i], eid, SMC_EID_LEN))
			return i;
	return -ENOENT;
}

/**
 * smc_eid_add() - the host joins a group of hosts
 * @eid: its name, blank padded, without two dots side by side
 *
 * Counts for handshakes that begin from now on, in every network namespace.
 *
 * Context: Any context but interrupt.
 * Return: 0; -EINVAL if that is no EID; -EEXIST if it is there already; -ERANGE
 * if there are SMC_EIDS_USER_MAX.
 */
int smc_eid_add(const u8 eid[SMC_EID_LEN])
{
	/* Tools of deployed hosts let nobody have two dots. What a peer sends is taken. */
	if (!smc_clc_eid_is_valid(eid) || strnstr((const char *)eid, "..", SMC_EID_LEN))
		return -EINVAL;
	guard(spinlock)(&smc_eid_lock);
	if (smc_eid_find(eid) >= 0)
		return -EEXIST;
	if (smc_nr_eids == SMC_EIDS_USER_MAX)
		return -ERANGE;
	memcpy(smc_eids[smc_nr_eids], eid, SMC_EID_LEN);
	WRITE_ONCE(smc_nr_eids, smc_nr_eids + 1);
	return 0;
}

/**
 * smc_eid_remove() - the host leaves a group of hosts
 * @eid: its name, blank padded
 *
 * Link groups that were formed by it stay.
 *
 * Context: Any context but interrupt.
 * Return: 0, or -ENOENT if there is no such EID.
 */
int smc_eid_remove(const u8 eid[SMC_EID_LEN])
{
	int i;

	guard(spinlock)(&smc_eid_lock);
	i = smc_eid_find(eid);
	if (i < 0)
		return i;
	WRITE_ONCE(smc_nr_eids, smc_nr_eids - 1);
	memmove(smc_eids[i], smc_eids[i + 1], (smc_nr_eids - i) * SMC_EID_LEN);
	return 0;
}

/**
 * smc_eid_flush() - the host leaves all groups of hosts
 *
 * Context: Any context but interrupt.
 */
void smc_eid_flush(void)
{
	guard(spinlock)(&smc_eid_lock);
	WRITE_ONCE(smc_nr_eids, 0);
}

/**
 * smc_eid_any() - does this host belong to any group of hosts
 * @has_default: to that of the default EID
 *
 * Context: Any context.
 * Return: true if smc_eid_list() would not be empty.
 */
bool smc_eid_any(bool has_default)
{
	return has_default || READ_ONCE(smc_nr_eids);
}

/**
 * smc_eid_get() - look at one EID
 * @i: which of them
 * @eid: receives it
 *
 * Context: Any context but interrupt.
 * Return: false if there are no more than @i.
 */
bool smc_eid_get(unsigned int i, u8 eid[SMC_EID_LEN])
{
	guard(spinlock)(&smc_eid_lock);
	if (i >= smc_nr_eids)
		return false;
	memcpy(eid, smc_eids[i], SMC_EID_LEN);
	return true;
}

/**
 * smc_eid_list() - all EIDs for a handshake
 * @has_default: the default one is among them
 * @eid: receives them, in the order in which they were added, the default last
 *
 * Context: Any context but interrupt.
 * Return: how many there are.
 */
unsigned int smc_eid_list(bool has_default, u8 eid[SMC_CLC_EIDS_MAX][SMC_EID_LEN])
{
	unsigned int nr;

	guard(spinlock)(&smc_eid_lock);
	nr = smc_nr_eids;
	memcpy(eid, smc_eids, nr * SMC_EID_LEN);
	if (has_default && smc_eid_find(SMC_EID_DEFAULT) < 0)
		memcpy(eid[nr++], SMC_EID_DEFAULT, SMC_EID_LEN);
	return nr;
}
