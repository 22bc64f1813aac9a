// SPDX-License-Identifier: GPL-2.0
/* The close machine with any events in any state of the data: it ends once, and stays so. */
#include "fz.h"

#include "proto/smc_state.h"

static bool is_state(enum smc_conn_state state)
{
	return state == SMC_STATE_ACTIVE || state == SMC_STATE_INIT || state == SMC_STATE_CLOSED ||
	       (state >= SMC_STATE_PEERCLOSEWAIT1 && state <= SMC_STATE_LASTWORD);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct fz_in in = { data, size };
	unsigned int nr_tcp_ends = 0, nr_freed = 0;
	struct smc_close_ctl ctl;
	bool was_reset = false;
	u8 bits;

	smc_state_close_init(&ctl);
	while (in.left) {
		enum smc_close_event event = fz_u8(&in) % SMC_CLOSE_NR_EVENTS;
		struct smc_close_ctl before = ctl;
		struct smc_close_facts facts;
		struct smc_close_step step;

		bits = fz_u8(&in);
		facts = (struct smc_close_facts){
			.has_unread = bits & 1, .has_unsent = bits & 2, .has_inflight = bits & 4,
			.has_progress = bits & 8, .has_links = !(bits & 16),
			.is_abort_due = bits & 32,
		};
		step = smc_state_close(&ctl, event, &facts);
		was_reset |= event == SMC_CLOSE_RX_RST;
		FZ_CHECK(is_state(ctl.state) && step.next == ctl.state);
		FZ_CHECK(step.cause < SMC_CLOSE_NR_EVENTS);
		nr_tcp_ends += !!(step.actions & SMC_CLOSE_DO_TCP_RST);
		nr_tcp_ends += !!(step.actions & SMC_CLOSE_DO_TCP_FIN);
		nr_freed += !!(step.actions & SMC_CLOSE_DO_FREE_RMBE);
		FZ_CHECK(nr_tcp_ends <= 1 && nr_freed <= 1);
		FZ_CHECK(!(step.actions & SMC_CLOSE_DO_REPORT_ERR) == !step.sk_err);
		FZ_CHECK(step.sk_err >= 0);
		FZ_CHECK(!(step.actions & SMC_CLOSE_DO_SEND_C) ||
			 !(step.actions & SMC_CLOSE_DO_SEND_A));
		if (before.state == SMC_STATE_CLOSED)
			FZ_CHECK(ctl.state == SMC_STATE_CLOSED && !step.actions);
		/* a closed connection has freed its element; one side has ended TCP */
		if (ctl.state == SMC_STATE_CLOSED)
			FZ_CHECK(nr_freed && (nr_tcp_ends || was_reset));
		FZ_CHECK(smc_state_conn_name(ctl.state) && smc_state_event_name(event));
		FZ_CHECK(is_state(smc_state_shown(ctl.state)));
	}
	return 0;
}
