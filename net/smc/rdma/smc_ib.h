/* SPDX-License-Identifier: GPL-2.0 */
/*
 * RDMA devices and ports: the GID that serves a network device, the state of a
 * port, and the state changes of an RC queue pair.
 */
#ifndef SMC_IB_H
#define SMC_IB_H

#include <linux/completion.h>
#include <linux/if_ether.h>
#include <linux/list.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>

#include "proto/smc_gid.h"
#include "proto/smc_pnet_table.h"
#include "rdma/smc_cap.h"

#define SMC_IB_MAX_PORTS 2
#define SMC_IB_MAX_RETRIES 7	/* of the transport; no limit on soft-RoCE */

struct smc_ib_end;

/* Counters of a link, in the order of enum smc_count_attr */
enum smc_ib_count {
	SMC_IB_TX_BYTES,	/* written and completed */
	SMC_IB_RX_BYTES,	/* announced by the peer */
	SMC_IB_TX_MSGS,		/* completed without error */
	SMC_IB_RX_MSGS,
	SMC_IB_RETRIES,		/* replays after failover */
	SMC_IB_TX_CLOSED,	/* messages that tell that the peer's ring is full */
	SMC_IB_RX_CLOSED,	/* the same of the peer, about our ring */
	SMC_IB_SLOT_WAITS,	/* connections that waited for a send slot */
	SMC_IB_TX_ERRORS,	/* completions in error; flushed ones do not count */
	SMC_IB_RX_ERRORS,
	SMC_IB_LEAKS,		/* objects that the device did not give up: their memory is kept */
	SMC_IB_NR_COUNTS
};

/**
 * struct smc_ib_counts - counters of a link, until its queues are gone also in those of its device
 * @node: in the device's list, under its lock
 * @port: of the link
 * @nr: by &enum smc_ib_count; most have one writer at a time and need no atomic operation
 */
struct smc_ib_counts {
	struct list_head node;
	u8 port;
	atomic64_t nr[SMC_IB_NR_COUNTS];
};

/* For a counter that only completion handlers of one link write, or holders of one lock. */
static inline void smc_ib_count(struct smc_ib_counts *counts, enum smc_ib_count id, u64 n)
{
	atomic64_set(&counts->nr[id], atomic64_read(&counts->nr[id]) + n);
}

static inline void smc_ib_count_shared(struct smc_ib_counts *counts, enum smc_ib_count id)
{
	atomic64_inc(&counts->nr[id]);
}

/**
 * struct smc_ib_watch - a watcher of one local end
 * @node: in the device's list, under its lock
 * @end: the end that is watched; belongs to the watcher
 * @work: the watcher's; queued when the device fails or is removed, or when one of its
 *	  ports may have failed or changes its GIDs. It checks smc_ib_end_is_leaving(),
 *	  smc_ib_end_is_dead() and smc_ib_end_is_up().
 */
struct smc_ib_watch {
	struct list_head node;
	const struct smc_ib_end *end;
	struct delayed_work work;
};

/**
 * struct smc_ib_gids - the cached number of a port's GIDs
 * @nr: number of entries up to the last GID of its table
 * @change: value of gid_changes before they were counted; 0: they were not counted
 */
struct smc_ib_gids {
	u16 nr;
	int change;
};

/**
 * struct smc_ib_dev - an RDMA device
 * @list: in the list of devices, or in that of devices that lack something, under the lists' lock
 * @ibdev: the device; valid while a reference is held
 * @handler: registered for events of the device
 * @refs: one for the list, one per &struct smc_ib_end
 * @released: completes when the last reference is dropped; removal waits for it
 * @lock: guards @watches, @is_leaving, @gids, @links and @past; taken with interrupts off
 * @watches: watchers of the ends on this device
 * @is_leaving: removal has begun, or an operator has stopped it: no new watchers
 * @is_dead: the device reported a fatal error; set once
 * @gids: by port number less one
 * @gid_changes: number of changes of its GIDs so far, from 1
 * @nr_ports: ports in use, at most SMC_IB_MAX_PORTS
 * @next_vector: round-robin counter of completion vectors
 * @lack: why it cannot carry links; under the lists' lock
 * @cap: sizes that it allows, if it can
 * @serial: greater than that of all devices that entered a list earlier; under the lists' lock
 * @links: &struct smc_ib_counts of all queues on the device
 * @past: sums of the links that are gone
 */
struct smc_ib_dev {
	struct list_head list;
	struct ib_device *ibdev;
	struct ib_event_handler handler;
	refcount_t refs;
	struct completion released;
	spinlock_t lock;		/* see above */
	struct list_head watches;
	bool is_leaving;
	bool is_dead;
	struct smc_ib_gids gids[SMC_IB_MAX_PORTS];
	atomic_t gid_changes;
	u8 nr_ports;
	atomic_t next_vector;
	enum smc_cap_lack lack;
	struct smc_cap cap;
	u64 serial;
	struct list_head links;
	u64 past[SMC_IB_NR_COUNTS];
};

/**
 * struct smc_ib_end - the local end of a link: a port with one of its GIDs
 * @dev: the device; this struct holds a reference, smc_ib_end_put() drops it
 * @gid: the GID announced to the peer
 * @mac: the MAC address behind it
 * @port: port number
 * @mtu: active path MTU of the port
 * @vlan: VLAN id, 0 for none
 * @is_v2: the GID is of type RoCE v2 (UDP)
 * @is_beside: found by PNETID: the routes of the port's network device count, not those of
 *	       the TCP connection
 */
struct smc_ib_end {
	struct smc_ib_dev *dev;
	union ib_gid gid;
	u8 mac[ETH_ALEN];
	u8 port;
	enum ib_mtu mtu;
	u16 vlan;
	bool is_v2;
	bool is_beside;
};

/**
 * struct smc_ib_peer - the peer's end of a link, from Accept, Confirm or ADD LINK
 * @gid: its GID
 * @mac: its MAC address
 * @qpn: its queue pair number, 24 bits
 * @psn: its first packet sequence number, 24 bits
 * @mtu: the largest path MTU it supports
 * @hop_mac: MAC address of the next hop; zero: @mac
 * @hop_limit: hop limit of packets to it; 0: they stay in the subnet
 */
struct smc_ib_peer {
	u8 gid[16];
	u8 mac[ETH_ALEN];
	u32 qpn;
	u32 psn;
	enum ib_mtu mtu;
	u8 hop_mac[ETH_ALEN];
	u8 hop_limit;
};

/**
 * struct smc_ib_class - how networks treat the packets of a queue pair
 * @traffic_class: of IPv6, or TOS of IPv4: DSCP and ECN; RoCE v2
 * @sl: service level, 0 to 7: the priority of VLAN tags
 */
struct smc_ib_class {
	u8 traffic_class;
	u8 sl;
};

/**
 * struct smc_ib_lan - what all ports of one link group have in common
 * @vlan: VLAN id, 0 for none
 * @is_v2: GIDs are of type RoCE v2
 * @kinds: set of &enum smc_gid_kind allowed for RoCE v2 GIDs
 * @subnet: an IPv4 subnet of the first link's network device
 * @mask: its mask, 0 if there is none
 * @pnet: PNETID of the first link's port, or empty
 */
struct smc_ib_lan {
	u16 vlan;
	bool is_v2;
	u8 kinds;
	__be32 subnet;
	__be32 mask;
	struct smc_pnet_id pnet;
};

/**
 * struct smc_ib_port_view - a port for display
 * @ifindex: its network device, 0 if it is not in the caller's namespace
 * @is_active: its state is active
 * @nr_links: queue pairs on it
 * @pnet: its PNETID in that namespace, or empty
 */
struct smc_ib_port_view {
	int ifindex;
	bool is_active;
	u32 nr_links;
	struct smc_pnet_id pnet;
};

/**
 * struct smc_ib_view - a device for display
 * @serial: of the device, see &struct smc_ib_dev
 * @is_own: it belongs to the namespace, which may use it in any case
 * @lack: why it cannot carry links
 * @name: its name
 * @bus_name: of its parent, "" for a device of software
 * @pci_vendor: of a PCI device, or 0
 * @pci_device: of a PCI device, or 0
 * @nr_ports: entries in @port
 * @port: by number less one
 * @counts: sums of all its links so far
 */
struct smc_ib_view {
	u64 serial;
	bool is_own;
	enum smc_cap_lack lack;
	char name[IB_DEVICE_NAME_MAX];
	char bus_name[IB_DEVICE_NAME_MAX];
	u16 pci_vendor;
	u16 pci_device;
	u8 nr_ports;
	struct smc_ib_port_view port[SMC_IB_MAX_PORTS];
	u64 counts[SMC_IB_NR_COUNTS];
};

int smc_ib_stop(struct net *net, const char *name);
int smc_ib_start(struct net *net, const char *name);
int smc_ib_init(void);
void smc_ib_exit(void);

int smc_ib_find(struct net *net, struct net_device *ndev, const u8 own[16],
		enum smc_gid_roce roce, struct smc_ib_end *end);
int smc_ib_find_routed(struct net *net, struct net_device *ndev, const u8 own[16],
		       enum smc_gid_kind kind, struct smc_ib_end *end);
void smc_ib_end_put(struct smc_ib_end *end);
void smc_ib_end_copy(struct smc_ib_end *to, const struct smc_ib_end *from);
int smc_ib_end_follow(struct smc_ib_end *end, const u8 peer_gid[16]);
int smc_ib_local_mac(u8 mac[ETH_ALEN]);
bool smc_ib_end_is_at(const struct smc_ib_end *end, const struct net_device *ndev);
int smc_ib_end_ifindex(const struct smc_ib_end *end, const struct net *net);
struct net *smc_ib_end_net(const struct smc_ib_end *end);
bool smc_ib_end_is_active(const struct smc_ib_end *end);
bool smc_ib_end_is_up(const struct smc_ib_end *end);
enum ib_mtu smc_ib_end_mtu(const struct smc_ib_end *end);
bool smc_ib_end_serves(const struct smc_ib_end *end, const struct net *net);
bool smc_ib_end_is_dead(const struct smc_ib_end *end);
bool smc_ib_end_is_leaving(const struct smc_ib_end *end);
bool smc_ib_end_reaches(const struct smc_ib_end *end, const u8 peer_gid[16]);

/* Further ports for a link group. */
void smc_ib_lan_of(const struct net *net, const struct smc_ib_end *end, struct smc_ib_lan *lan);
unsigned int smc_ib_lan_ends(struct net *net, const struct smc_ib_lan *lan,
			     struct smc_ib_end *ends, unsigned int max);
void smc_ib_listen(struct work_struct *work);
void smc_ib_notify_listener(void);
bool smc_ib_has_device(void);
bool smc_ib_has_unfit(struct net_device *ndev);
int smc_ib_changes(void);
void smc_ib_recheck(void);

void smc_ib_view_dev(struct smc_ib_dev *dev, struct smc_ib_view *view);
bool smc_ib_next_view(struct net *net, bool is_unfit, u64 after, struct smc_ib_view *view);
void smc_ib_begin_counts(const struct smc_ib_end *end, struct smc_ib_counts *counts);
void smc_ib_end_counts(const struct smc_ib_end *end, struct smc_ib_counts *counts);

void smc_ib_event(struct ib_event_handler *handler, struct ib_event *event);
void smc_ib_wake(struct smc_ib_watch *watch);
void smc_ib_wake_watchers(struct smc_ib_dev *dev);
void smc_ib_leave(struct smc_ib_dev *dev);
int smc_ib_start_watch(struct smc_ib_watch *watch);
void smc_ib_unwatch(struct smc_ib_watch *watch);
struct smc_ib_dev *smc_ib_next_dev(struct smc_ib_dev *prev);
unsigned int smc_ib_next_vector(const struct smc_ib_end *end);

int smc_ib_qp_init(struct ib_qp *qp, const struct smc_ib_end *end);
int smc_ib_qp_rtr(struct ib_qp *qp, const struct smc_ib_end *end,
		  const struct smc_ib_peer *peer, const struct smc_ib_class *class);
int smc_ib_qp_rts(struct ib_qp *qp, u32 psn, u8 timeout, u8 retries);

#endif /* SMC_IB_H */
