/* SPDX-License-Identifier: GPL-2.0 */
/* Link groups and links, and the functions that find, form and end groups. */
#ifndef SMC_CORE_H
#define SMC_CORE_H

#include <linux/in6.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

#include "proto/smc_clc_nego.h"
#include "proto/smc_state.h"
#include "rdma/smc_buf.h"
#include "rdma/smc_wr.h"
#include "group/smc_conn.h"
#include "group/smc_llc_types.h"

struct smc_link_group;

/* Bound on links without queues in one group; above it the peer gets another group. */
#define SMC_LINKS_KEPT_MAX	1024

enum smc_role { SMC_ROLE_CLIENT, SMC_ROLE_SERVER };	/* values as in diag */

/**
 * struct smc_link - one RC queue pair between two RNICs
 * @wr: its queues; completion handlers get a pointer to this
 * @lgr: the group, which outlives its links
 * @index: place in lgr->links and in every per-link array
 * @num: link number on the wire, 0 until the LLC machine assigns it; @num, @uid and @peer_uid are
 *	 for display, LID-06
 * @uid: our link user ID
 * @peer_uid: the peer's, LID-04
 * @state: under lgr->lock, changed by smc_link_set_state(); released after @peer, so that a reader
 *	   of the state may read the peer
 * @peer: the peer's end, const once the state has left SMC_LINK_UNUSED
 * @is_direct: as ADD LINK announces for a link that is not the first; set before the LLC machine
 *	       knows the link
 * @psn: our initial packet sequence number
 * @quiet: jiffies without a completion, of the last report of a stall
 * @users: tasks that work on the queues without a lock, under lgr->lock
 * @wait_lock: guards @waiters
 * @waiters: connections (conn->wait_node) that found no free slot, in order; each entry holds a
 *	     reference on its connection
 * @is_draining: connections that leave it for a new link wait for a TEST LINK response, under
 *		 lgr->lock
 * @nr_conns: connections whose sends use it
 * @cost: what its queues count in the limit of the host, in bytes
 * @is_kept: it is or was active, the peer may name it, or a caller may hold a pointer to it
 * @node: in lgr->all_links
 *
 * A kept link lives as long as its group, with or without queues: a pointer to it is valid while
 * its holder has a reference on the group. Any other link is freed with its queues, a grace period
 * after it was taken out of lgr->links.
 */
struct smc_link {
	struct smc_wr wr;
	struct smc_link_group *lgr;
	u8 index;
	u8 num;
	u32 uid;
	u32 peer_uid;
	enum smc_link_state state;
	struct smc_ib_peer peer;
	bool is_direct;
	u32 psn;
	unsigned long quiet;
	unsigned int users;
	spinlock_t wait_lock;		/* see above */
	struct list_head waiters;
	bool is_draining;
	atomic_t nr_conns;
	u32 cost;
	bool is_kept;
	struct list_head node;
};

static inline struct smc_link *smc_link_of(struct smc_wr *wr)
{
	return container_of(wr, struct smc_link, wr);
}

/* A device may still report to queues that it does not give up. */
static inline void smc_link_free(struct smc_link *link)
{
	if (!test_bit(SMC_WR_IS_KEPT, &link->wr.flags))
		kfree(link);
}

/**
 * struct smc_lgr_key - what two handshakes of one group have in common
 * @net: namespace
 * @role: ours
 * @vlan: VLAN id, 0 for none
 * @version: SMC-R version
 * @peer_id: peer ID as announced
 * @peer_gid: GID of its RNIC, as in its first message
 * @peer_mac: MAC address of that RNIC
 * @peer_addr: its TCP address, IPv4 mapped
 * @hop_mac: at a server, next hop of packets to that RNIC
 * @hop_limit: their hop limit; 0 where no route was looked up, and only then
 *
 * A peer ID is not authenticated. So a server admits a client only to a group that has or had a
 * link to the RNIC named by the client, and lets it wait for a first contact of the same address
 * only.
 */
struct smc_lgr_key {
	struct net *net;
	enum smc_role role;
	u16 vlan;
	u8 version;
	u8 peer_id[8];
	u8 peer_gid[16];
	u8 peer_mac[6];
	struct in6_addr peer_addr;
	u8 hop_mac[6];
	u8 hop_limit;
};

/* Part of a token that is an index in @conns: one for each element that a group can have, RMB-01 */
#define SMC_TOKEN_INDEX	0xffff

/**
 * struct smc_link_group - all links between two peers with one role
 * @node: in the hash of groups, until the group is freed
 * @peer_node: in the table of groups by namespace and address of the peer, as long as @node
 * @idle_node: in the list of idle groups while it is active without connections; under the lock of
 *	       that list, put in under @state_lock as well
 * @refs: one for being up, dropped when the end begins; one per reservation or connection, send
 *	  ring in flight, work item and handshake
 * @key: what it was formed for, const after init
 * @memcg: control group that pays for the queues of its links, a reference, or NULL; set before it
 *	   has any
 * @params: negotiated parameters; the dialect is committed once, before the peer may send
 *	    (smc_lgr_commit_dialect())
 * @class: treatment of the packets of all links, from the connection that forms the group; written
 *	   before the first link
 * @peer_name: peer ID for display: that of @key, or if the peer's first message has none, that of
 *	       the next; written while FORMING
 * @peer_host: the peer's operating system, release and name, zero in version 1; written while
 *	       FORMING
 * @serial: greater than that of all earlier groups, const; its place in the list of groups
 * @id: local number for display, LG-09: low half of @serial; its low byte is 0
 * @state_lock: guards @state, @is_retired and @nr_conns
 * @state: changed by lgr_set_state(); also read with acquire
 * @type: single, symmetric..., for display
 * @is_committed: the dialect is settled, under @lock
 * @ext: extensions that both sides agreed on, SMC_LLC_EXT_* (protocol.md); written under @lock
 *	     before the peer may send
 * @is_retired: takes no further connection
 * @nr_conns: connections and reservations
 * @conns: &struct smc_conn by the index of its token, read under RCU by completion handlers; taken
 *	   out under @lock
 * @nr_tokens: tokens given so far, from a random start; the upper half of the next one
 * @lock: links, rtokens and the LLC machine; process context
 * @links: by index, written under @lock; read there or under RCU
 * @all_links: the present and past links, the last one first; written under @lock, also read under
 *	       RCU
 * @nr_kept: the past ones that stay until the group is freed, at most SMC_LINKS_KEPT_MAX, under
 *	     @lock
 * @dropped: unused buffers, still mapped on a failed link and freed with it; under @lock
 * @leaving: RMBs that the peer is asked to delete, still mapped, under @lock
 * @rtokens: the peer's RMBs, under @lock
 * @rmbs: our RMBs
 * @sends: our send buffers
 * @max_pages: what all RNICs of its links so far can register in one piece; only decreases, under
 *	       @lock
 * @is_growing: a task adds or gives back buffers, under @lock; it may wait for the peer
 * @is_mapping: a task maps or unmaps buffers on links, under @lock; it waits only for verbs
 * @waitq: woken when @state changes; may have hundreds of handshakes
 * @work_waitq: woken when @is_mapping or link->users change; only tasks that work on links wait
 * @fail_decline: how forming failed: a decline code if fallback is still allowed, 0 if the
 *		  connection must be reset
 * @fail_is_path: with @fail_decline 0: the peer did not answer in time
 * @llc: the engine, smc_llc.c
 * @move_work: moves connections to other links, smc_failover.c
 * @terminate_work: takes links down and releases the devices
 * @free_work: releases the memory when the last reference is gone
 */
struct smc_link_group {
	struct hlist_node node;
	struct hlist_node peer_node;
	struct list_head idle_node;
	refcount_t refs;
	struct smc_lgr_key key;
	struct mem_cgroup *memcg;
	struct smc_params params;
	struct smc_ib_class class;
	u8 peer_name[8];
	struct smc_clc_fce peer_host;
	u64 serial;
	u32 id;
	spinlock_t state_lock;		/* see above */
	enum smc_lgr_state state;
	enum smc_lgr_type type;
	bool is_committed;
	u8 ext;
	bool is_retired;
	unsigned int nr_conns;
	struct xarray conns;
	atomic_t nr_tokens;
	struct mutex lock;		/* lgr->lock, see above */
	struct smc_link *links[SMC_LINKS_MAX];
	struct list_head all_links;
	unsigned int nr_kept;
	struct list_head dropped;
	struct list_head leaving;
	struct smc_rtokens *rtokens;
	struct smc_buf_pool rmbs;
	struct smc_buf_pool sends;
	u32 max_pages;
	bool is_growing;
	bool is_mapping;
	wait_queue_head_t waitq;
	wait_queue_head_t work_waitq;
	enum smc_decline fail_decline;
	bool fail_is_path;
	struct smc_llc llc;
	struct work_struct move_work;
	struct work_struct terminate_work;
	struct work_struct free_work;
};

int smc_core_init(void);
void smc_core_exit(void);
void smc_core_queue(struct smc_link_group *lgr, struct work_struct *work);
void smc_core_queue_patient(struct smc_link_group *lgr, struct work_struct *work);

struct smc_link_group *smc_lgr_reserve(const struct smc_lgr_key *key,
				       const struct smc_ib_end *end, bool *is_first,
				       struct smc_link_group **forming);
struct smc_link_group *smc_lgr_form(const struct smc_lgr_key *key);
struct smc_link_group *smc_lgr_reserve_link(const struct smc_lgr_key *key,
					    const struct smc_ib_peer *peer,
					    struct smc_link **link,
					    struct smc_link_group **forming);
struct smc_link_group *smc_lgr_find_link(const struct smc_lgr_key *key,
					 const struct smc_ib_peer *peer);
bool smc_lgr_unreserve(struct smc_link_group *lgr);
bool smc_lgr_retire(struct smc_link_group *lgr);
struct smc_link_group *smc_lgr_pop_idle(const struct smc_lgr_key *key);
void smc_lgr_shut(struct smc_link_group *lgr);
struct smc_link_group *smc_lgr_get(struct smc_link_group *lgr);
void smc_lgr_put(struct smc_link_group *lgr);

bool smc_lgr_is_down(const struct smc_link_group *lgr);
bool smc_lgr_has_successor(const struct smc_link_group *lgr);
void smc_lgr_activate(struct smc_link_group *lgr);
void smc_lgr_fail(struct smc_link_group *lgr, enum smc_decline decline);
void smc_lgr_terminate(struct smc_link_group *lgr, const char *why);
void smc_lgr_terminate_all(struct net *net);

bool smc_lgr_drop_conn(struct smc_link_group *lgr);

/* Links; the caller holds a reference on the group. */
struct smc_link *smc_lgr_pick_link(struct smc_link_group *lgr);
struct smc_link *smc_lgr_link_by_peer(struct smc_link_group *lgr, const struct smc_ib_peer *peer);
bool smc_link_is_used(const struct smc_link *link);

struct smc_link_group *smc_lgr_next(const struct net *net, struct smc_link_group *prev, u64 after);
void smc_lgr_for_each(const struct net *net, void (*fn)(struct smc_link_group *lgr, void *arg),
		      void *arg);
void smc_lgr_wait_none(struct net *net);

void smc_lgr_commit_dialect(struct smc_link_group *lgr, enum smc_dialect dialect);

#endif /* SMC_CORE_H */
