// SPDX-License-Identifier: GPL-2.0
/*
 * Rings that nobody uses go back when memory is short.
 *
 * Operation: link groups keep areas whose connections have ended, since the
 * next ones will want them. The kernel asks how many pages that is, and asks
 * for some of them. The answer is a promise: a peer has to be told before an
 * RMB goes (RFC 7609 3.5.5.2.2), so work items of the groups give them back.
 *
 * Only whole areas go. What is unused in an area that has a connection is
 * bounded by net.smc.spare_mem.
 *
 * Locks: the kernel asks in the middle of allocations, whatever lock their
 * caller holds. So nothing is taken here but the lock of the list of groups,
 * under which nobody allocates.
 */
#include "smc_compat.h"
#include "group/smc_llc_sweep.h"
#include "group/smc_shrink.h"

static struct shrinker *smc_shrinker;

static void shrink_add_up(struct smc_link_group *lgr, void *arg)
{
	unsigned long *bytes = arg;

	*bytes += smc_llc_idle_mem(lgr);
}

static unsigned long shrink_count(struct shrinker *shrinker, struct shrink_control *sc)
{
	unsigned long bytes = 0;

	smc_lgr_for_each(shrink_add_up, &bytes);
	return bytes >> PAGE_SHIFT ?: SHRINK_EMPTY;
}

static void shrink_ask(struct smc_link_group *lgr, void *arg)
{
	unsigned long *left = arg;

	*left -= smc_llc_reclaim(lgr, *left);
}

static unsigned long shrink_scan(struct shrinker *shrinker, struct shrink_control *sc)
{
	unsigned long want = sc->nr_to_scan << PAGE_SHIFT;
	unsigned long left = want;

	smc_lgr_for_each(shrink_ask, &left);
	return left == want ? SHRINK_STOP : (want - left) >> PAGE_SHIFT;
}

/**
 * smc_shrink_init() - be asked when memory is short
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
 * smc_shrink_exit() - undo smc_shrink_init()
 *
 * Nobody asks any more when this returns.
 *
 * Context: Process context, module unload.
 */
void smc_shrink_exit(void)
{
	smc_compat_shrinker_del(smc_shrinker);
}
