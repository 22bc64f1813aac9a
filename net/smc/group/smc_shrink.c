// SPDX-License-Identifier: GPL-2.0
/*
 * Shrinker: unused rings go back when memory is short.
 *
 * Operation: link groups keep regions without connections for later connections. The
 * kernel asks for their size, and for some of them back. The answer is a promise: a
 * peer has to release an RMB first (RFC 7609 3.5.5.2.2), so work items of the groups give
 * them back. Only whole regions go; net.smc.spare_mem bounds what is unused in others.
 *
 * Locks: the kernel asks in the middle of allocations, with any lock held. So only the
 * lock of the list of groups is taken, under which nothing allocates.
 */
#include "smc_compat.h"
#include "group/smc_llc_sweep.h"
#include "group/smc_shrink.h"

static struct shrinker *smc_shrinker;

static void shrink_add_idle(struct smc_link_group *lgr, void *arg)
{
	unsigned long *bytes = arg;

	*bytes += smc_llc_idle_mem(lgr);
}

static unsigned long shrink_count(struct shrinker *shrinker, struct shrink_control *sc)
{
	unsigned long bytes = 0;

	smc_lgr_for_each(shrink_add_idle, &bytes);
	return bytes >> PAGE_SHIFT ?: SHRINK_EMPTY;
}

static void shrink_reclaim(struct smc_link_group *lgr, void *arg)
{
	unsigned long *left = arg;

	*left -= smc_llc_reclaim(lgr, *left);
}

static unsigned long shrink_scan(struct shrinker *shrinker, struct shrink_control *sc)
{
	unsigned long want = sc->nr_to_scan << PAGE_SHIFT;
	unsigned long left = want;

	smc_lgr_for_each(shrink_reclaim, &left);
	return left == want ? SHRINK_STOP : (want - left) >> PAGE_SHIFT;
}

/**
 * smc_shrink_init() - register the shrinker
 *
 * Context: Process context, module load.
 * Return: 0 or -ENOMEM.
 */
int smc_shrink_init(void)
{
	smc_shrinker = smc_compat_shrinker_add("smc_rings", shrink_count, shrink_scan);
	return smc_shrinker ? 0 : -ENOMEM;
}

/**
 * smc_shrink_exit() - unregister the shrinker
 *
 * It is not running any more when this returns.
 *
 * Context: Process context, module unload.
 */
void smc_shrink_exit(void)
{
	smc_compat_shrinker_del(smc_shrinker);
}
