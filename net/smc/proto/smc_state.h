/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The states of connections, links and link groups, and their legal moves. A connection's
 * states are those of RFC 7609 Section 4.8 with the numbers of smc_diag, and one more, see
 * smc_state_shown().
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
	/* Both sides have closed; our C is not acknowledged yet. */
	SMC_STATE_LASTWORD		= 28,
};

enum smc_close_event {
	SMC_CLOSE_ESTABLISHED,	/* rendezvous is complete */
	SMC_CLOSE_APP_CLOSE,	/* close() or shutdown(both) */
	SMC_CLOSE_APP_SHUT_WR,
	SMC_CLOSE_APP_SHUT_RD,
	SMC_CLOSE_TX_DRAINED,	/* all data were written and completed */
	SMC_CLOSE_RX_DATA,	/* the producer cursor moved */
	SMC_CLOSE_RX_DONE,	/* D */
	SMC_CLOSE_RX_CLOSED,	/* C */
	SMC_CLOSE_RX_ABORT,	/* A */
	SMC_CLOSE_RX_RST,	/* the TCP connection was reset, or timed out */
	SMC_CLOSE_APP_ABORT,	/* linger 0, connect() to AF_UNSPEC, never accepted */
	SMC_CLOSE_FAULT,	/* overrun, bad cursor, loss, payload on TCP */
	SMC_CLOSE_SILENCE,	/* keepalive or TCP_USER_TIMEOUT expired */
	SMC_CLOSE_LINK_LOST,	/* no link reaches the peer */
	SMC_CLOSE_TIMER,	/* the timer of START_TIMER expired */
	SMC_CLOSE_FINAL_DONE,	/* the CDC with C or A completed, failed, or never will */
	SMC_CLOSE_NR_EVENTS,
};

/*
 * Actions, carried out in the order of the bits. START_TIMER restarts a running timer. Each
 * connection has exactly one TCP_RST or TCP_FIN, unless TCP has ended before.
 */
enum smc_close_action {
	SMC_CLOSE_DO_PURGE		= 1 << 0,  /* drop unsent data, unread data where due */
	SMC_CLOSE_DO_REPORT_ERR		= 1 << 1,  /* @sk_err of the step */
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
	SMC_CLOSE_DO_GO_WITHOUT_TCP	= 1 << 13,  /* only TCP has ended: forget its error */
};

/* State of the data path when an event happens. */
struct smc_close_facts {
	bool	has_unread;	/* bytes in our element not yet read */
	bool	has_unsent;	/* bytes in the send ring not yet written */
	bool	has_inflight;	/* RDMA WRITEs that have not completed */
	bool	has_progress;	/* WRITEs completed since START_TIMER */
	bool	has_links;	/* the group is up, even if this side cannot use its links */
	bool	is_abort_due;	/* if TCP has ended: A may be in flight */
	bool	is_in_use;	/* the peer has sent a message of this connection */
	bool	has_answer;	/* since TCP has ended a message has come on its link */
};

/* State of the close machine of a connection. */
struct smc_close_ctl {
	enum smc_conn_state	state;
	u32			seen;	/* enum smc_close_bit of smc_state.c */
};

struct smc_close_step {
	enum smc_conn_state	next;
	u32			actions;
	enum smc_close_event	cause;		/* the event, or the earlier one behind it */
	int			sk_err;		/* positive, with REPORT_ERR */
	/*
	 * With FREE_RMBE: the peer announced that it writes no more, or no link is left on
	 * which it could. Otherwise a timer or an error frees the element (RMB-28), and its
	 * owner should delay the reuse.
	 */
	bool			is_peer_done;
};

void smc_state_close_init(struct smc_close_ctl *ctl);
struct smc_close_step smc_state_close(struct smc_close_ctl *ctl,
				      enum smc_close_event event,
				      const struct smc_close_facts *facts);
bool smc_state_is_alive(const struct smc_close_ctl *ctl);
bool smc_state_is_usable(const struct smc_close_ctl *ctl);
bool smc_state_is_open(const struct smc_close_ctl *ctl);
bool smc_state_is_draining(const struct smc_close_ctl *ctl);
bool smc_state_awaits_abort(const struct smc_close_ctl *ctl);
bool smc_state_awaits_final(const struct smc_close_ctl *ctl);
bool smc_state_awaits_fin(const struct smc_close_ctl *ctl);
bool smc_state_has_lost_tcp(const struct smc_close_ctl *ctl);
bool smc_state_has_seen(const struct smc_close_ctl *ctl, enum smc_close_event event);
enum smc_conn_state smc_state_shown(enum smc_conn_state state);
const char *smc_state_conn_name(enum smc_conn_state state);
const char *smc_state_event_name(enum smc_close_event event);

enum smc_link_state {
	SMC_LINK_UNUSED		= 0,	/* new, not connected */
	SMC_LINK_INACTIVE	= 1,	/* final: lost, cleared or given up */
	SMC_LINK_ACTIVATING	= 2,
	SMC_LINK_ACTIVE		= 3,
	SMC_LINK_DELETING	= 4,	/* given up: carries no new data, not yet clear */
	SMC_LINK_NR_STATES,
};

enum smc_lgr_state {
	SMC_LGR_FORMING,	/* first contact is under way, other connections wait */
	SMC_LGR_ACTIVE,
	SMC_LGR_TERMINATING,	/* takes no new connections or links */
	SMC_LGR_DEAD,
	SMC_LGR_NR_STATES,
};

enum smc_lgr_type {
	SMC_LGR_TYPE_NONE		= 0,
	SMC_LGR_TYPE_SINGLE		= 1,
	SMC_LGR_TYPE_SYMMETRIC		= 2,
	SMC_LGR_TYPE_ASYMMETRIC_PEER	= 3,	/* two local ports, one of the peer */
	SMC_LGR_TYPE_ASYMMETRIC_LOCAL	= 4,	/* one local port, two of the peer */
	SMC_LGR_NR_TYPES,
};

bool smc_state_link_may_move(enum smc_link_state from, enum smc_link_state to);
bool smc_state_lgr_may_move(enum smc_lgr_state from, enum smc_lgr_state to);

/* Names for operators. */
extern const char * const smc_state_link_names[SMC_LINK_NR_STATES];
extern const char * const smc_state_lgr_names[SMC_LGR_NR_STATES];
extern const char * const smc_state_lgr_type_names[SMC_LGR_NR_TYPES];

#endif /* _SMC_STATE_H */
