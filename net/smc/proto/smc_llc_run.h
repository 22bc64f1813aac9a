/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by the files of the LLC machine only: smc_llc_flow.c has the events, first contact,
 * probes and the end of the group; smc_llc_add.c and smc_llc_delete.c the exchanges that change
 * the links; smc_llc_keys.c those about RMBs; smc_llc_links.c the rules for RNICs and link
 * numbers.
 *
 * All functions here run within smc_llc_flow_event(), whose caller serialises. They take no lock
 * and do not sleep. A u8 link is the index of a link.
 */
#ifndef _SMC_LLC_RUN_H
#define _SMC_LLC_RUN_H

#include "proto/smc_clc_nego.h"
#include "proto/smc_llc_flow.h"

#define SMC_LLC_NO_LINK		((u8)SMC_LLC_LINKS)

/* A quiet link has this time to recover while others answer. */
#define SMC_LLC_DOUBT_MS	600

/* One call of smc_llc_flow_event(). */
struct smc_llc_run {
	struct smc_llc_flow *flow;
	struct smc_llc_actions *out;
	u64 now;
};

/* Actions and times. */
struct smc_llc_action *smc_llc_emit(struct smc_llc_run *run, enum smc_llc_action_type type,
				    u8 link);
struct smc_llc_msg *smc_llc_emit_send(struct smc_llc_run *run, u8 link, u8 type, bool is_reply,
				      u64 cookie);
u64 smc_llc_after(const struct smc_llc_run *run, int ms);
void smc_llc_await_delete(const struct smc_llc_run *run, struct smc_llc_link *lnk);

/* State of group and links. */
bool smc_llc_is_forming(const struct smc_llc_flow *flow);
bool smc_llc_is_confirmed(const struct smc_llc_flow *flow);
bool smc_llc_is_deleting(const struct smc_llc_flow *flow, u8 link);
bool smc_llc_is_unusable(const struct smc_llc_flow *flow, u8 link);
bool smc_llc_may_begin(const struct smc_llc_flow *flow);
bool smc_llc_is_any_ending(const struct smc_llc_flow *flow);
u8 smc_llc_link_in(const struct smc_llc_flow *flow, enum smc_llc_link_state state);
u8 smc_llc_link_by_num(const struct smc_llc_flow *flow, u8 num);
bool smc_llc_has_ended(const struct smc_llc_flow *flow, u8 num);
u8 smc_llc_carrier(const struct smc_llc_flow *flow, u8 except);
bool smc_llc_end_equals(const struct smc_llc_end *a, const struct smc_llc_end *b);

/* Links. */
struct smc_llc_link *smc_llc_link_make(struct smc_llc_flow *flow, u8 link, u8 num);
bool smc_llc_link_move(struct smc_llc_link *lnk, enum smc_llc_link_state to);
bool smc_llc_data_move(struct smc_llc_link *lnk, enum smc_llc_data to);
void smc_llc_link_failed(struct smc_llc_run *run, u8 link, enum smc_llc_why why, u32 reason);
void smc_llc_link_up(struct smc_llc_run *run, u8 link);
void smc_llc_link_retire(struct smc_llc_run *run, u8 link);
void smc_llc_link_clear(struct smc_llc_run *run, u8 link, int ms);
void smc_llc_link_cleared(struct smc_llc_run *run, u8 link);
void smc_llc_link_destroy(struct smc_llc_run *run, u8 link, bool is_agreed);
void smc_llc_send_test_link(struct smc_llc_run *run, u8 link);
void smc_llc_arm_probe(struct smc_llc_run *run, u8 link);
void smc_llc_arm_retry(struct smc_llc_run *run, bool has_failed);
void smc_llc_retry(struct smc_llc_flow *flow);
void smc_llc_reset_retry(struct smc_llc_flow *flow);
void smc_llc_want_link(struct smc_llc_flow *flow);
struct smc_llc_confirm_link *smc_llc_send_confirm_link(struct smc_llc_run *run, u8 link,
						       bool is_reply, bool no_eye_catcher,
						       u8 max_links);

/* Ends of exchanges and of the group. */
bool smc_llc_commit(struct smc_llc_flow *flow, enum smc_llc_commitment to);
void smc_llc_stop_timers(struct smc_llc_flow *flow);
void smc_llc_config_done(struct smc_llc_run *run);
void smc_llc_rkey_done(struct smc_llc_run *run, int result);
void smc_llc_fail_group(struct smc_llc_run *run, enum smc_llc_fail fail, enum smc_llc_why why,
			enum smc_decline diagnosis);
void smc_llc_fail_local(struct smc_llc_run *run, enum smc_llc_why why,
			enum smc_decline diagnosis);
void smc_llc_terminate(struct smc_llc_run *run, enum smc_llc_why why);
void smc_llc_stale(struct smc_llc_run *run, u8 link, u8 num);
void smc_llc_out_of_sync(struct smc_llc_run *run, u8 link, enum smc_llc_why why);

#endif /* _SMC_LLC_RUN_H */
