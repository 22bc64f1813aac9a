/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A strict model of an RNIC: what real adapters demand of a ULP, on a network device.
 *
 * Each object lives in the file of its name. Verbs take @rnic_dev.lock only to exclude the
 * engine, which executes everything under it. Lock order: rnic_dev.lock, rnic_qp.lock,
 * rnic_cq.lock, rnic_dma.lock.
 */
#ifndef RNIC_H
#define RNIC_H

#include <linux/debugfs.h>
#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/iommu.h>
#include <linux/irq_work.h>
#include <linux/mutex.h>
#include <linux/netdevice.h>
#include <linux/netfilter.h>
#include <linux/skbuff.h>
#include <linux/smp.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>
#include <rdma/ib_verbs.h>

enum {
	RNIC_DMA_LKEY = 0x100,		/* the local DMA key; an MR never has it */
	RNIC_MAX_SGE = 32,
	RNIC_PSN_MASK = 0xffffff,
	RNIC_PIECE = 64,		/* bytes that are placed at once */
	RNIC_MAX_MTU = 4096,
};

enum rnic_comp_context {
	RNIC_COMP_HARDIRQ,
	RNIC_COMP_TASKLET,
	RNIC_COMP_TASKLET_IRQS_OFF,
	RNIC_COMP_BH_WORK,
};

/* What arming does if there already are completions. */
enum rnic_arm {
	RNIC_ARM_EVENT,		/* an event at once; never reports */
	RNIC_ARM_REPORTS,	/* arms, and reports */
	RNIC_ARM_REFUSES,	/* reports and does not arm */
	RNIC_ARM_RANDOM,
};

/* The inline capacity that create_qp returns for one that was asked. */
enum rnic_inline {
	RNIC_INLINE_NONE,
	RNIC_INLINE_AS_ASKED,
	RNIC_INLINE_ROUNDED,
	RNIC_INLINE_POWER_OF_2,
	RNIC_INLINE_LIMIT,
};

/* What a device does after a fatal error, until it is removed. */
enum rnic_fatal {
	RNIC_FATAL_FLUSHES,		/* one event, then flushes that only polling finds */
	RNIC_FATAL_MODIFY_TIMEDOUT,
	RNIC_FATAL_MODIFY_EINVAL,
	RNIC_FATAL_LOSES_CQES,
	RNIC_FATAL_POST_EIO,
	RNIC_FATAL_RANDOM,		/* one of the others */
};

enum rnic_habit {
	RNIC_HAS_V1 = BIT(0),		/* GIDs of RoCE v1, too */
	RNIC_EVENT_CARRIER = BIT(1),	/* port events for the carrier */
	RNIC_EVENT_ADMIN = BIT(2),	/* port events for up and down */
	RNIC_PORT_RTNL = BIT(3),	/* query_port takes the RTNL */
	RNIC_CQ_ERROR_QP = BIT(4),	/* a CQ error ends the QPs of the CQ */
	RNIC_QP_EVENT_IRQ = BIT(5),	/* events of QPs with interrupts off */
	RNIC_SHUFFLES = BIT(6),		/* relaxed ordering of WRITE payload */
	RNIC_MERGES = BIT(7),		/* maps a scatterlist to few segments */
};

/* Limits and habits of one kind of adapter. */
struct rnic_profile {
	const char *name;		/* its driver */
	u32 max_send_sge;		/* SGEs of a send */
	u32 max_recv_sge;		/* SGEs of a receive */
	u32 max_wr;			/* depth of a queue */
	u32 max_inline;			/* largest inline capacity that may be asked */
	u32 max_pages;			/* entries of a page list */
	u32 min_page;			/* smallest page size of an MR, a power of two */
	u32 verb_us;			/* time of a command to the firmware */
	/* the retransmission timer is so often the one that was asked; 0: ignored */
	u32 ack_factor;
	u32 habits;			/* bits of enum rnic_habit */
	enum rnic_inline inlines;	/* capacity that is returned */
	enum rnic_comp_context comp;	/* context of the completion handler */
	enum rnic_arm arm;		/* arming of a CQ that is not empty */
	enum rnic_fatal fatal;		/* after a fatal error */
};

/* Names of soft-RoCE, which tools and tests read. */
enum rnic_stat {
	RNIC_STAT_SENT_PKTS,
	RNIC_STAT_RCVD_PKTS,
	RNIC_STAT_DUPLICATE,
	RNIC_STAT_OUT_OF_SEQ,
	RNIC_STAT_RCVD_RNR,
	RNIC_STAT_SENT_RNR,
	RNIC_STAT_RCVD_SEQ,
	RNIC_STAT_RETRY_EXC,
	RNIC_STAT_RNR_EXC,
	RNIC_STAT_RETRIES,
	RNIC_STAT_SEND_ERR,
	RNIC_STAT_LINK_DOWNED,
	RNIC_STAT_SENDS,
	RNIC_STAT_RECVS,
	RNIC_STAT_WRITES,
	RNIC_STAT_INLINE,
	RNIC_STAT_EVENTS,
	RNIC_NR_STATS,
};

/* Calls of a verb that fail, on one device or on all. */
struct rnic_calls {
	u32 fail;			/* so many fail */
	u32 skip;			/* after so many that do not */
	atomic_t failed;		/* have failed since this was set */
};

/* Faults and switches, written in debugfs; 0 is off. */
struct rnic_faults {
	u32 dead;			/* completions are lost */
	u32 dead_send;			/* completions of sends are lost */
	u32 quiet;			/* completions come, events do not */
	u32 late_us;			/* completions come up to that late, and together */
	u32 spurious;			/* events come twice */
	u32 shuffle;			/* the payload of a WRITE is placed in random order */
	u32 twice;			/* the payload of a WRITE is placed twice */
	u32 cut;			/* the wire loses all packets */
	u32 alloc_pages;		/* alloc_mr of more pages finds no memory */
	u32 map_every;			/* every mapping of a multiple of this number fails */
	struct rnic_calls create;	/* alloc_pd, create_cq, create_qp */
	struct rnic_calls modify;	/* modify_qp */
	struct rnic_calls destroy;	/* destroy_qp */
	struct rnic_calls alloc;	/* alloc_mr */
	struct rnic_calls dereg;	/* dereg_mr */
	struct rnic_calls post;		/* requests of post_send, but for the next */
	struct rnic_calls reg;		/* REG_MR requests of post_send */
	struct rnic_calls recv;		/* requests of post_recv */
};

/* The memory that a device may access. */
struct rnic_dma {
	spinlock_t lock;		/* protects all of this */
	struct xarray pages;		/* struct rnic_page, by number of the page */
	unsigned long next;		/* page to give; none is given twice */
	u32 nr_mappings;		/* mappings */
	u32 nr_calls;			/* calls that map */
};

/* A device. */
struct rnic_dev {
	struct ib_device ib;		/* what the core knows */
	const struct rnic_profile *profile;	/* limits and habits */
	struct net_device *netdev;	/* the port; referenced */
	struct device *device;		/* the device of its DMA */
	struct iommu_domain *domain;	/* translates its addresses; NULL without an IOMMU */
	struct nf_hook_ops hook;	/* takes the packets of RoCE */
	struct notifier_block netdev_nb;	/* notifier of @netdev */
	struct task_struct *engine;	/* the thread that executes everything */
	wait_queue_head_t wait;		/* where @engine waits */
	atomic_t kicked;		/* @engine has work */
	call_single_data_t doorbell;	/* wakes @engine on its CPU */
	struct mutex lock;		/* held while @engine executes */
	struct sk_buff_head rxq;	/* received packets */
	struct xarray qps;		/* by number */
	struct xarray mrs;		/* by number */
	struct rnic_dma dma;		/* memory; unused if the DMA is that of the kernel */
	bool is_bounce;			/* the DMA is that of the model */
	bool was_up;			/* state of the port at its last event */
	int fatal;			/* enum rnic_fatal plus one after a fatal error */
	struct rnic_faults faults;	/* see there */
	atomic64_t stats[RNIC_NR_STATS];	/* counters */
	struct dentry *dir;		/* directory in debugfs */
};

struct rnic_pd {
	struct ib_pd ib;
};

/* A completion and what polling it frees. */
struct rnic_cqe {
	struct ib_wc wc;		/* completion */
	struct rnic_qp *qp;		/* its QP */
	u32 end;			/* index of the WQE plus one */
	bool is_send;			/* of the send queue */
};

/* A CQ. */
struct rnic_cq {
	struct ib_cq ib;		/* what the core knows */
	struct rnic_dev *dev;		/* device */
	spinlock_t lock;		/* protects the members that follow it */
	struct rnic_cqe *cqes;		/* ring of @depth completions */
	u32 depth;			/* its size */
	u32 head;			/* completions ever made */
	u32 shown;			/* those of them that polling finds */
	u32 tail;			/* completions ever polled */
	u8 armed;			/* 1: for the next completion; 2: a solicited one */
	bool is_broken;			/* it has overrun */
	struct irq_work irq;		/* event in a hard interrupt */
	call_single_data_t remote;	/* event on rnic_irq_cpu */
	struct tasklet_struct tasklet;	/* event in a tasklet */
	struct work_struct work;	/* event in a work item of BH */
	struct hrtimer timer;		/* shows completions late */
};

/* A memory region. */
struct rnic_mr {
	struct ib_mr ib;		/* what the core knows */
	struct rnic_dev *dev;		/* device */
	u32 max_pages;			/* size of @pages */
	u32 nr_pages;			/* entries in use */
	u64 *pages;			/* DMA addresses */
	u64 iova;			/* first address, as registered */
	u64 length;			/* bytes, as registered */
	u32 page_size;			/* of the entries, as registered */
	int access;			/* flags, as registered */
	bool is_valid;			/* the key may be used; changes under the device's lock */
};

/* What REG_MR registers, as it was when it was posted. */
struct rnic_reg {
	struct rnic_mr *mr;
	u32 key;
	int access;
	u64 iova;
	u64 length;
	u32 page_size;
};

/* A request. */
struct rnic_wqe {
	u64 wr_id;			/* for its completion */
	enum ib_wr_opcode op;		/* opcode */
	int flags;			/* IB_SEND_* */
	int nr_sge;			/* SGEs */
	u32 length;			/* bytes of payload */
	__be32 imm;			/* immediate data */
	u32 rkey;			/* of a WRITE */
	u64 raddr;			/* of a WRITE */
	u32 first_psn;			/* of its first packet */
	u32 last_psn;			/* of its last packet; if it has none, one less */
	struct ib_sge *sge;		/* room for the SGEs that the QP allows */
	u8 *data;			/* room for the inline data that the QP allows */
	struct rnic_reg reg;		/* of REG_MR */
};

/* Indexes of a send or receive queue, which only grow. */
struct rnic_queue {
	struct rnic_wqe *wqes;		/* ring of @size entries */
	struct ib_sge *sges;		/* the SGEs of all entries */
	u8 *data;			/* the inline data of all entries */
	u32 size;			/* of the ring */
	u32 head;			/* posted */
	u32 free;			/* polled: below it, entries may be used again */
	u32 done;			/* completed; the engine's */
	u32 next;			/* the engine executes it; the engine's */
	u32 started;			/* the engine has never executed it; the engine's */
};

/* The other end and the way there; changes under the device's lock. */
struct rnic_path {
	union ib_gid sgid;
	union ib_gid dgid;
	enum ib_gid_type type;
	u8 smac[ETH_ALEN];
	u8 dmac[ETH_ALEN];
	u16 vlan;
	u8 hop_limit;
	u8 traffic_class;
	u32 flow_label;
	u32 dest_qpn;
	u32 mtu;
	bool is_own;		/* the other end is this device */
};

/* The sending half; the engine's. */
struct rnic_requester {
	u32 psn;			/* of the next packet */
	u32 una;			/* oldest that is not acknowledged */
	u32 max;			/* never sent */
	u32 offset;			/* bytes of the current request that were sent */
	u32 retries;			/* attempts without progress */
	u32 rnr_retries;		/* refused attempts without progress */
	u8 retry_cnt;			/* most of @retries */
	u8 rnr_retry;			/* most of @rnr_retries; 7 is no limit */
	u8 timeout;			/* exponent of the timer, as asked */
	unsigned long deadline;		/* retransmit then, in jiffies; 0 is never */
	unsigned long resume;		/* send nothing before, in jiffies; 0 is any time */
	enum ib_wc_status failed;	/* of the next request, which waits for its turn to fail */
};

/* A message that is being received. */
enum rnic_message {
	RNIC_NO_MESSAGE,
	RNIC_SEND,
	RNIC_WRITE,
};

/* The receiving half; the engine's. */
struct rnic_responder {
	u32 psn;			/* expected next */
	u32 msn;			/* messages received */
	enum rnic_message message;	/* kind of the message in progress */
	u32 rkey;			/* of a WRITE */
	u64 raddr;			/* where its next payload goes */
	u32 left;			/* bytes of the WRITE to come */
	u32 offset;			/* bytes of the message that were received */
	u8 rnr_timer;			/* code for a sender that found no receive */
	bool has_refused;		/* a NAK was sent for @psn */
	bool owes_ack;			/* an ACK is to be sent */
};

/* A QP. */
struct rnic_qp {
	struct ib_qp ib;		/* what the core knows */
	struct rnic_dev *dev;		/* device */
	/* protects the heads of the queues; @state changes under it and the device's lock */
	spinlock_t lock;
	enum ib_qp_state state;		/* state */
	struct ib_qp_cap cap;		/* as returned */
	bool signals_all;		/* every send has a completion */
	struct rnic_queue sq;		/* sends */
	struct rnic_queue rq;		/* receives */
	struct rnic_path path;		/* other end */
	int access;			/* what the other end may do */
	struct rnic_requester req;	/* sending half */
	struct rnic_responder resp;	/* receiving half */
};

/* A packet, received or to send. */
struct rnic_packet {
	u8 opcode;			/* of RC */
	u32 psn;			/* number */
	u32 qpn;			/* of the receiver */
	bool wants_ack;			/* its receiver shall answer */
	bool is_solicited;		/* its receiver's completion is solicited */
	__be32 imm;			/* immediate data */
	u64 raddr;			/* address of a WRITE */
	u32 rkey;			/* key of a WRITE */
	u32 length;			/* bytes of the whole WRITE */
	u8 syndrome;			/* of an ACK */
	u32 msn;			/* of an ACK */
	union ib_gid sgid;		/* sender's */
	union ib_gid dgid;		/* receiver's */
	enum ib_gid_type type;		/* of the GIDs */
	u8 *payload;			/* bytes */
	u32 size;			/* their number */
};

/* Syndromes of ACKs: two bits of kind, five of value. */
enum {
	RNIC_ACK = 0x1f,		/* without credits */
	RNIC_RNR = 0x20,
	RNIC_NAK_SEQUENCE = 0x60,
	RNIC_NAK_INVALID = 0x61,
	RNIC_NAK_ACCESS = 0x62,
	RNIC_NAK_OPERATION = 0x63,
	RNIC_KIND_MASK = 0xe0,
};

static inline struct rnic_dev *to_rnic(struct ib_device *ib)
{
	return container_of(ib, struct rnic_dev, ib);
}

static inline struct rnic_cq *to_rnic_cq(struct ib_cq *ib)
{
	return container_of(ib, struct rnic_cq, ib);
}

static inline struct rnic_qp *to_rnic_qp(struct ib_qp *ib)
{
	return container_of(ib, struct rnic_qp, ib);
}

static inline struct rnic_mr *to_rnic_mr(struct ib_mr *ib)
{
	return container_of(ib, struct rnic_mr, ib);
}

static inline void rnic_count(struct rnic_dev *dev, enum rnic_stat stat)
{
	atomic64_inc(&dev->stats[stat]);
}

/* Positive if A comes after B. */
static inline int rnic_psn_diff(u32 a, u32 b)
{
	return (int)((a - b) << 8) >> 8;
}

static inline u32 rnic_psn_add(u32 a, int n)
{
	return (a + n) & RNIC_PSN_MASK;
}

/* rnic_main.c */
__printf(2, 3) void rnic_violation(struct rnic_dev *dev, const char *fmt, ...);
void rnic_expect(bool expected);
extern int rnic_irq_cpu, rnic_engine_cpu;
int rnic_nr_violations(bool expected);
void rnic_verb_sleep(struct rnic_dev *dev);
extern struct rnic_faults rnic_all;
bool rnic_fails(struct rnic_dev *dev, struct rnic_calls *calls);
int rnic_verb(struct rnic_dev *dev, struct rnic_calls *calls);

/* rnic_profile.c */
const struct rnic_profile *rnic_profile_find(const char *name);

/* rnic_dma.c */
void rnic_dma_init(struct rnic_dma *dma);
void rnic_dma_check_empty(struct rnic_dev *dev);
int rnic_dma_attach(struct rnic_dev *dev, const char *dma);
void rnic_dma_detach(struct rnic_dev *dev);
int rnic_dma_access(struct rnic_dev *dev, u64 addr, void *buf, u32 len, bool write);
bool rnic_dma_pin(struct rnic_dev *dev, u64 addr, int by);

/* rnic_mr.c */
struct ib_mr *rnic_get_dma_mr(struct ib_pd *pd, int access);
struct ib_mr *rnic_reg_user_mr(struct ib_pd *pd, u64 start, u64 length, u64 virt, int access,
			       struct ib_udata *udata);
struct ib_mr *rnic_alloc_mr(struct ib_pd *pd, enum ib_mr_type type, u32 max);
int rnic_map_mr_sg(struct ib_mr *ibmr, struct scatterlist *sg, int nents, unsigned int *offset);
int rnic_dereg_mr(struct ib_mr *ibmr, struct ib_udata *udata);
int rnic_mr_register(struct rnic_qp *qp, const struct rnic_reg *reg);
int rnic_mr_local(struct rnic_qp *qp, u32 lkey, u64 addr, void *buf, u32 len, bool write);
int rnic_mr_remote(struct rnic_qp *qp, u32 rkey, u64 addr, void *buf, u32 len);
bool rnic_mr_allows(struct rnic_qp *qp, u32 rkey, u64 addr, u32 len);

/* rnic_cq.c */
int rnic_create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
		   struct uverbs_attr_bundle *attrs);
int rnic_destroy_cq(struct ib_cq *ibcq, struct ib_udata *udata);
int rnic_poll_cq(struct ib_cq *ibcq, int nr, struct ib_wc *wc);
int rnic_req_notify_cq(struct ib_cq *ibcq, enum ib_cq_notify_flags flags);
void rnic_cq_push(struct rnic_cq *cq, const struct rnic_cqe *cqe, bool is_solicited);
void rnic_cq_fire(struct rnic_cq *cq);
void rnic_cq_forget(struct rnic_cq *cq, struct rnic_qp *qp);

/* rnic_qp.c */
int rnic_create_qp(struct ib_qp *ibqp, struct ib_qp_init_attr *attr, struct ib_udata *udata);
int rnic_modify_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask, struct ib_udata *udata);
int rnic_query_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		  struct ib_qp_init_attr *init);
int rnic_destroy_qp(struct ib_qp *ibqp, struct ib_udata *udata);
int rnic_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr, const struct ib_send_wr **bad);
int rnic_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr, const struct ib_recv_wr **bad);
void rnic_qp_set_state(struct rnic_qp *qp, enum ib_qp_state state);

/* rnic_engine.c */
void rnic_kick(struct rnic_dev *dev);
void rnic_flush(struct rnic_qp *qp);
int rnic_engine_start(struct rnic_dev *dev);
void rnic_engine_stop(struct rnic_dev *dev);

/* rnic_wire.c */
struct sk_buff *rnic_wire_alloc(struct rnic_qp *qp, struct rnic_packet *p);
void rnic_wire_send(struct rnic_qp *qp, struct sk_buff *skb);
bool rnic_wire_parse(struct sk_buff *skb, struct rnic_packet *p);
int rnic_wire_open(struct rnic_dev *dev);
void rnic_wire_close(struct rnic_dev *dev);

/* rnic_selftest.c */
int rnic_selftest(struct rnic_dev *a, struct rnic_dev *b);

#endif
