// SPDX-License-Identifier: GPL-2.0
/*
 * What is unusual on a connection.
 *
 * Operation: one word has a bit for each thing that the short ways of sending, receiving and
 * completing cannot serve. A change of the state ends with smc_conn_unlock(), which computes the
 * word from the state as a whole: no bit can be forgotten. The short ways change nothing that
 * counts here. They read the word with the lock or without it; what is published to a reader
 * without the lock follows the word that belongs to it.
 *
 * Options of the socket are no part of it: they are TCP's, change without a call of this module,
 * and are read where they count.
 */
#include "group/smc_conn.h"

/**
 * smc_conn_attn_of() - find out what is unusual
 * @conn: the connection
 *
 * It follows from the state alone.
 *
 * Context: Any context but hard interrupt. Expects conn->lock held.
 * Return: set of &enum smc_attn.
 */
u32 smc_conn_attn_of(const struct smc_conn *conn)
{
	const struct smc_cdc_ctl *ctl = &conn->ctl;
	u32 attn = 0;

	lockdep_assert_held(&conn->lock);
	if (conn->phase != SMC_CONN_OPEN || !smc_conn_is_carried(conn))
		attn |= SMC_ATTN_PHASE;
	if (ctl->rx_conn_flags || ctl->tx_conn_flags || conn->wants_drain || conn->is_purged)
		attn |= SMC_ATTN_END;
	if (smc_cdc_is_urgent(ctl))
		attn |= SMC_ATTN_URG;
	if (conn->tx_cork || conn->tx_flush)
		attn |= SMC_ATTN_CORK;
	if (conn->stamps || conn->tx_pages || conn->tx_is_timed)
		attn |= SMC_ATTN_NOTICE;
	if (smc_cdc_is_update_awaited(ctl))
		attn |= SMC_ATTN_PEER;
	if (ctl->rx_nr_waits || ctl->rx_is_replayed || ctl->tx_is_replaying)
		attn |= SMC_ATTN_HELD;
	if (ctl->rx_edge.base || ctl->tx_edge.base || conn->needs_sync)
		attn |= SMC_ATTN_MEMORY;
	return attn;
}

/**
 * smc_conn_attend() - compute what is unusual after a change
 * @conn: the connection
 *
 * Context: Any context but hard interrupt. Expects conn->lock held.
 */
void smc_conn_attend(struct smc_conn *conn)
{
	u32 attn;

	lockdep_assert_held(&conn->lock);
	attn = smc_conn_attn_of(conn);
	if (attn != conn->attn)
		WRITE_ONCE(conn->attn, attn);
}
