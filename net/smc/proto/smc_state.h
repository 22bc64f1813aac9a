/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The states of connections, links and link groups, and their legal moves.
 *
 * A connection's states are those of RFC 7609 Section 4.8 with the numbers
 * that user space knows from smc_diag, and one more, see smc_state_shown().
 */
#ifndef _SMC_STATE_H
#define _SMC_STATE_H

#include <linux/types.h>

enum smc_conn_state {
	SMC_STATE_ACTIVE		= 1,
	SMC_STATE_INIT			= 2,
	SMC_STATE_CLOSED		= 7,
	SMC_STATE_LISTEN		= 10,
	/* Active close. */
	SMC_STATE_PEERCLOSEWAIT1	= 20,
	SMC_STATE_PEERCLOSEWAIT2	= 21,
	/* Passive close. */
	SMC_STATE_APPCLOSEWAIT1		= 22,
	SMC_STATE_APPCLOSEWAIT2		= 23,
	SMC_STATE_APPFINCLOSEWAIT	= 24,
	SMC_STATE_PEERFINCLOSEWAIT	= 25,
	/* Abort. */
	SMC_STATE_PEERABORTWAIT		= 26,
	SMC_STATE_PROCESSABORT		= 27,
	/* Both sides have closed; the peer's RNIC has not acknowledged our C yet. */
	SMC_STATE_LASTWORD		= 28,
};

/* What happened to a connection. */
enum smc_close_event {
	SMC_CLOSE_ESTABLISHED,	/* rendezvous is complete */
	SMC_CLOSE_APP_CLOSE,	/* close() or shutdown(both) */
	SMC_CLOSE_APP_SHUT_WR,
	SMC_CLOSE_APP_SHUT_RD,
	SMC_CLOSE_TX_DRAINED,	/* all was written and has completed */
	SMC_CLOSE_RX_DATA,	/* the producer cursor moved */
	SMC_CLOSE_RX_DONE,	/* D */
	SMC_CLOSE_RX_CLOSED,	/* C */
	SMC_CLOSE_RX_ABORT,	/* A */
	SMC_CLOSE_RX_RST,	/* the TCP connection was reset by the peer */
	SMC_CLOSE_APP_ABORT,	/* linger 0, connect() to AF_UNSPEC, never accepted */
	SMC_CLOSE_FAULT,	/* overrun, bad cursor, loss, payload on TCP */
	SMC_CLOSE_SILENCE,	/* keepalive or TCP_USER_TIMEOUT gives the peer up */
	SMC_CLOSE_LINK_LOST,	/* no link reaches the peer any more */
	SMC_CLOSE_TIMER,	/* what START_TIMER started has run out */
	SMC_CLOSE_FINAL_DONE,	/* the CDC with C or A completed, well or not, or never will */
	SMC_CLOSE_NR_EVENTS,
};

/*
 * What to do, to be carried out in the order of the bits. A timer that is started again
 * begins anew. Exactly one of TCP_RST and TCP_FIN, at most once, comes in the life of a
 * connection, unless the peer reset TCP itself.
 */
enum smc_close_action {
	SMC_CLOSE_DO_PURGE		= 1 << 0,  /* drop unsent data, unread where due */
	SMC_CLOSE_DO_REPORT_ERR		= 1 << 1,  /* sk_err of the step */
	SMC_CLOSE_DO_SEND_D		= 1 << 2,
	SMC_CLOSE_DO_SEND_C		= 1 << 3,
	SMC_CLOSE_DO_SEND_A		= 1 << 4,
	SMC_CLOSE_DO_WAIT_DRAIN		= 1 << 5,  /* then report TX_DRAINED */
	SMC_CLOSE_DO_START_TIMER	= 1 << 6,
	SMC_CLOSE_DO_STOP_TIMER		= 1 << 7,
	SMC_CLOSE_DO_TCP_RST		= 1 << 8,
	SMC_CLOSE_DO_TCP_FIN		= 1 << 9,
	SMC_CLOSE_DO_WAKE_READERS	= 1 << 10,
	SMC_CLOSE_DO_WAKE_WRITERS	= 1 << 11,
	SMC_CLOSE_DO_FREE_RMBE		= 1 << 12,  /* and leave the group */
};

/* What only the data path knows when an event happens. */
struct smc_close_facts {
	bool	has_unread;	/* bytes in our element the application lacks */
	bool	has_unsent;	/* bytes in the send ring not yet written */
	bool	has_inflight;	/* RDMA WRITEs that have not completed */
	bool	has_progress;	/* some did since START_TIMER was asked for */
	bool	has_links;	/* the group is up, whether or not we can use its links */
	bool	is_abort_due;	/* if TCP was reset: A may be under way */
};

/* What the machine remembers of a connection. */
struct smc_close_ctl {
	enum smc_conn_state	state;
	u32			seen;	/* smc_state.c's own bits */
};

struct smc_close_step {
	enum smc_conn_state	next;
	u32			actions;
	enum smc_close_event	cause;		/* the event, or what it stands for */
	int			sk_err;		/* positive, with REPORT_ERR */
	/*
	 * With FREE_RMBE: the peer has said that it writes no more, or no link
	 * is left on which it could. Otherwise the element is freed on the
	 * strength of a timer or an error only (RMB-28), and its owner does
	 * well to reuse it late.
	 */
	bool			is_peer_done;
};

void smc_state_close_init(struct smc_close_ctl *ctl);
struct smc_close_step smc_state_close(struct smc_close_ctl *ctl,
				      enum smc_close_event event,
				      const struct smc_close_facts *facts);
bool smc_state_is_alive(const struct smc_close_ctl *ctl);
bool smc_state_is_usable(const struct smc_close_ctl *ctl);
bool smc_state_is_draining(const struct smc_close_ctl *ctl);
bool smc_state_awaits_abort(const struct smc_close_ctl *ctl);
bool smc_state_awaits_final(const struct smc_close_ctl *ctl);
bool smc_state_has_seen(const struct smc_close_ctl *ctl, enum smc_close_event event);
enum smc_conn_state smc_state_shown(enum smc_conn_state state);
const char *smc_state_conn_name(enum smc_conn_state state);
const char *smc_state_event_name(enum smc_close_event event);

enum smc_link_state {
	SMC_LINK_UNUSED		= 0,	/* new, not connected */
	SMC_LINK_INACTIVE	= 1,	/* lost, cleared or given up; the last one */
	SMC_LINK_ACTIVATING	= 2,
	SMC_LINK_ACTIVE		= 3,
	SMC_LINK_DELETING	= 4,	/* given up: carries no new data, and is not clear yet */
	SMC_LINK_NR_STATES,
};

enum smc_lgr_state {
	SMC_LGR_FORMING,	/* first contact under way, others wait */
	SMC_LGR_ACTIVE,
	SMC_LGR_TERMINATING,	/* takes no new connections or links */
	SMC_LGR_DEAD,
	SMC_LGR_NR_STATES,
};

enum smc_lgr_type {
	SMC_LGR_TYPE_NONE		= 0,
	SMC_LGR_TYPE_SINGLE		= 1,
	SMC_LGR_TYPE_SYMMETRIC		= 2,
	SMC_LGR_TYPE_ASYMMETRIC_PEER	= 3,	/* two ports here, one there */
	SMC_LGR_TYPE_ASYMMETRIC_LOCAL	= 4,	/* one port here, two there */
	SMC_LGR_NR_TYPES,
};

bool smc_state_link_may_move(enum smc_link_state from, enum smc_link_state to);
bool smc_state_lgr_may_move(enum smc_lgr_state from, enum smc_lgr_state to);

/* As operators see them. */
extern const char * const smc_state_link_names[SMC_LINK_NR_STATES];
extern const char * const smc_state_lgr_names[SMC_LGR_NR_STATES];
extern const char * const smc_state_lgr_type_names[SMC_LGR_NR_TYPES];

#endif /* _SMC_STATE_H */
