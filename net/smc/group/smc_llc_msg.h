/* SPDX-License-Identifier: GPL-2.0 */
/* LLC messages in and out of the engine, and helpers for the other files of the engine. */
#ifndef _SMC_LLC_MSG_H
#define _SMC_LLC_MSG_H

#include <linux/jiffies.h>

#include "rdma/smc_net.h"
#include "group/smc_core.h"

void smc_llc_rx(struct smc_wr *wr, const u8 *msg, u32 len);
void smc_llc_set_probe(struct smc_link_group *lgr, const struct smc_llc_probe *probe);

/* for the engine: events */
int smc_llc_queue_init(void);
void smc_llc_queue_exit(void);
void smc_llc_queue_open(struct smc_link_group *lgr);
void smc_llc_queue_close(struct smc_link_group *lgr);

bool smc_llc_queue_pop(struct smc_llc *llc, unsigned long busy, struct smc_llc_item *item);
unsigned long smc_llc_busy_links(const struct smc_link_group *lgr);
bool smc_llc_answer_test(struct smc_link *link, const u8 *msg, u32 len, unsigned int least);
void smc_llc_report(struct smc_link_group *lgr, enum smc_llc_event_type type, u8 link, bool ok,
		    u64 cookie);
void smc_llc_queue_work(struct smc_link_group *lgr);
void smc_llc_queue_work_in(struct smc_link_group *lgr, unsigned long delay_jiffies);

/* for the engine: messages of the machine */
void smc_llc_msg_send(struct smc_link_group *lgr, struct smc_llc_action *act);
void smc_llc_msg_keep(struct smc_llc *llc, u8 **kept);
void smc_llc_msg_drop(u8 **msg);
int smc_llc_msg_prepare_long(struct smc_link_group *lgr);
void smc_llc_msg_free_long(struct smc_llc *llc);

/* for the engine: keys of the peer's RMBs */
bool smc_llc_rtoken_store_pairs(struct smc_link_group *lgr, const struct smc_llc_action *act);
void smc_llc_rtoken_delete(struct smc_link_group *lgr, const struct smc_llc_action *act,
			   struct smc_llc_event *ev);

static inline struct smc_link_group *lgr_of(struct smc_llc *llc)
{
	return container_of(llc, struct smc_link_group, llc);
}

/* time base of the machine, in ms */
static inline u64 llc_now(void)
{
	return jiffies64_to_msecs(get_jiffies_64());
}

static inline struct smc_settings *llc_settings(const struct smc_link_group *lgr)
{
	return &smc_net(lgr->key.net)->set;
}

static inline void llc_count(const struct smc_link_group *lgr, enum smc_stat id)
{
	smc_stat_inc(lgr->key.net, id);
}

#endif /* _SMC_LLC_MSG_H */
