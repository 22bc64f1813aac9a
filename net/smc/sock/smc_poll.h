/* SPDX-License-Identifier: GPL-2.0 */
/* poll(), select() and epoll, and the events of a connection that wake them. */
#ifndef SMC_POLL_H
#define SMC_POLL_H

#include <linux/net.h>
#include <linux/poll.h>
#include <linux/types.h>

struct smc_conn;

__poll_t smc_poll(struct file *file, struct socket *sock, poll_table *wait);
void smc_conn_event(struct smc_conn *conn, u32 events);

#endif /* SMC_POLL_H */
