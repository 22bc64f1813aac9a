/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What carries the bytes of a connection: the links of its group, smc_rdma.c, or memory that both
 * ends share, smc_pair.c. Of sock/, only keepalive looks at a link. The short ways branch on
 * conn->pair in place of a call through the table.
 */
#ifndef SMC_CARRIER_H
#define SMC_CARRIER_H

#include "group/smc_conn.h"

struct iov_iter;

/**
 * struct smc_carrier - a kind of carrier
 * @push: post what is due: data, a flag, a window; expects conn->lock held and releases it
 * @await: have the end of a message in flight cause an event
 * @poll: look for events now, until @is_over unless that is NULL; false if another task does
 * @done: completion of a short message, see struct smc_wr_flow
 * @write: copy data to the position tx_prep of the stream; bytes copied, fewer only after a fault,
 *	   or without memory. Expects the socket lock held, as the next two do
 * @read: copy data from a position that is readable; bytes copied
 * @byte: a byte that has just been announced; expects conn->lock held
 * @recall: copy data from a position of the stream to the peer, not received there; bytes copied.
 *	    Expects the socket lock held
 * @give: append pages with data to the stream in place of a copy; consumes @skb. Expects
 *	  conn->lock held
 * @takes_pages: large sends may leave the data in the pages of the caller
 * @is_up: the other end may still be reached, and may send
 * @probe: find out whether it can
 * @leave: see smc_conn_leave(); expects what that does
 * @name: of the device, for people; expects an RCU read section
 * @pass: free what was dropped unread; NULL where leaving does
 * @free: of what a connection holds at its end, in an RCU callback; NULL for nothing
 */
struct smc_carrier {
	void (*push)(struct smc_conn *conn);
	void (*await)(struct smc_conn *conn);
	bool (*poll)(struct smc_conn *conn, bool (*is_over)(void *arg), void *arg);
	void (*done)(struct ib_cq *cq, struct ib_wc *wc);
	size_t (*write)(struct smc_conn *conn, size_t len, struct iov_iter *from);
	size_t (*read)(struct smc_conn *conn, u64 pos, size_t len, struct iov_iter *to);
	u8 (*byte)(struct smc_conn *conn, u64 pos);
	size_t (*recall)(struct smc_conn *conn, u64 pos, size_t len, struct iov_iter *to);
	void (*give)(struct smc_conn *conn, struct sk_buff *skb);
	bool (*takes_pages)(const struct smc_conn *conn);
	bool (*is_up)(const struct smc_conn *conn);
	void (*probe)(struct smc_conn *conn);
	void (*leave)(struct smc_conn *conn, bool is_peer_done);
	const char *(*name)(const struct smc_conn *conn);
	void (*pass)(struct smc_conn *conn, u64 pos);
	void (*free)(struct smc_conn *conn);
};

extern const struct smc_carrier smc_carrier_rdma;
extern const struct smc_carrier smc_carrier_memory;

void smc_rdma_push_data(struct smc_conn *conn) __releases(&conn->lock);
void smc_pair_push_data(struct smc_conn *conn) __releases(&conn->lock);
size_t smc_pair_write(struct smc_conn *conn, size_t len, struct iov_iter *from);
size_t smc_pair_read(struct smc_conn *conn, u64 pos, size_t len, struct iov_iter *to);
void smc_pair_pass(struct smc_conn *conn, u64 pos);

/* Post what is due, then release conn->lock. */
static inline void smc_conn_push_unlock(struct smc_conn *conn)
	__releases(&conn->lock)
{
	conn->carrier->push(conn);
	__release(&conn->lock);
}

/* The same for data alone, where nothing of SMC_ATTN_ALL but SMC_ATTN_PEER is unusual. */
static inline void smc_conn_push_data(struct smc_conn *conn)
	__releases(&conn->lock)
{
	if (conn->pair)
		smc_pair_push_data(conn);
	else
		smc_rdma_push_data(conn);
}

#endif /* SMC_CARRIER_H */
