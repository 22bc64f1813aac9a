// SPDX-License-Identifier: GPL-2.0
/*
 * EIDs of this host: one table for all namespaces, as in deployed kernels. The operator fills it
 * through generic netlink; each handshake reads it.
 */
#include <linux/errno.h>
#include <linux/spinlock.h>
#include <linux/string.h>

#include "smc_compat.h"
#include "proto/smc_clc_wire.h"
#include "rdma/smc_eid.h"

static DEFINE_SPINLOCK(smc_eid_lock);	/* protects the next two */
static u8 smc_eids[SMC_EIDS_USER_MAX][SMC_EID_LEN];
static unsigned int smc_nr_eids;

/* Returns the index, or -ENOENT. */
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
 * smc_eid_add() - add an EID to this host
 * @eid: blank padded, without two dots side by side
 *
 * Applies to handshakes that start later, in every network namespace.
 *
 * Context: Any context but interrupt.
 * Return: 0; -EINVAL if @eid is invalid; -EEXIST if it exists; -ERANGE if the table is full.
 */
int smc_eid_add(const u8 eid[SMC_EID_LEN])
{
	/* Deployed tools reject two dots. From a peer they are accepted. */
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
 * smc_eid_remove() - remove an EID from this host
 * @eid: blank padded
 *
 * Existing link groups remain.
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
 * smc_eid_flush() - remove all EIDs from this host
 *
 * Context: Any context but interrupt.
 */
void smc_eid_flush(void)
{
	guard(spinlock)(&smc_eid_lock);
	WRITE_ONCE(smc_nr_eids, 0);
}

/**
 * smc_eid_any() - check whether this host has an EID
 * @has_default: the default EID counts
 *
 * Context: Any context.
 * Return: true if smc_eid_list() would not be empty.
 */
bool smc_eid_any(bool has_default)
{
	return has_default || READ_ONCE(smc_nr_eids);
}

/**
 * smc_eid_is_added() - check for an EID of the operator
 * @eid: blank padded
 *
 * Context: Any context but interrupt.
 * Return: true if the table has it.
 */
bool smc_eid_is_added(const u8 eid[SMC_EID_LEN])
{
	guard(spinlock)(&smc_eid_lock);
	return smc_eid_find(eid) >= 0;
}

/**
 * smc_eid_get() - read an EID by its index
 * @i: index in the table
 * @eid: receives it
 *
 * Context: Any context but interrupt.
 * Return: false if the table has no entry @i.
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
 * smc_eid_list() - collect all EIDs for a handshake
 * @has_default: include the default EID
 * @eid: receives them in the order of addition, the default last
 *
 * Context: Any context but interrupt.
 * Return: the number of EIDs.
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
