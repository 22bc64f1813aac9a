/* SPDX-License-Identifier: GPL-2.0 */
/* How the two ends of a connection on this host find each other. */
#ifndef SMC_MEET_H
#define SMC_MEET_H

#include <linux/list.h>
#include <linux/types.h>

struct mem_cgroup;
struct net;
struct request_sock;
struct smc_pair;
struct smc_sock;
struct sock;

/**
 * struct smc_meet_key - identifies a TCP connection at both ends
 * @client_seq: number of the first byte that the client sends
 * @server_seq: number of the first byte that the server sends
 *
 * Addresses may be translated on the path, and several namespaces of a host may use the
 * same ones. The numbers derive from secrets of the kernel at each end, so only the two
 * ends and the path between them know both.
 */
struct smc_meet_key {
	u32 client_seq;
	u32 server_seq;
};

/* How far the two ends are. */
enum smc_meet_state {
	SMC_MEET_NONE,		/* does not take part, or not any more */
	SMC_MEET_OFFERED,	/* client: in the table */
	SMC_MEET_MET,		/* client: the server's child is in this kernel */
	SMC_MEET_TAKEN,		/* both: the server has made the pair */
	SMC_MEET_JOINED,	/* both: the client has joined it */
	SMC_MEET_DONE,		/* server: the client's connect() has its outcome */
	SMC_MEET_REFUSED,	/* the other end does not take part */
};

/**
 * struct smc_meet - one end, embedded in its socket
 * @node: client: in the table, from its entry until it leaves
 * @key: const while @state is set
 * @state: how far it is
 * @ring_size: client: bytes of the ring that it reads
 * @pair: client: the pair, from SMC_MEET_TAKEN until it is fetched; owns a reference
 * @other: the other end, from SMC_MEET_TAKEN until one of them leaves
 *
 * smc_meet_lock guards all members. Only the own end changes @state from and to SMC_MEET_NONE.
 */
struct smc_meet {
	struct hlist_node node;
	struct smc_meet_key key;
	enum smc_meet_state state;
	u32 ring_size;
	struct smc_pair *pair;
	struct smc_sock *other;
};

u32 smc_meet_ring_size(const struct sock *sk);

bool smc_meet_enter(struct smc_sock *smc);
void smc_meet_leave(struct smc_sock *smc);
bool smc_meet_withdraw(struct smc_sock *smc);
enum smc_meet_state smc_meet_get_state(struct smc_sock *smc);

void smc_meet_birth(const struct request_sock *req, const struct net *net);
bool smc_meet_expect(struct smc_sock *smc);
bool smc_meet_find(struct smc_sock *smc, u32 *client_size);
void smc_meet_refuse(struct smc_sock *smc);
bool smc_meet_take(struct smc_sock *smc, struct smc_pair *pair);
struct smc_pair *smc_meet_fetch(struct smc_sock *smc);
bool smc_meet_confirm(struct smc_sock *smc);

#endif /* SMC_MEET_H */
