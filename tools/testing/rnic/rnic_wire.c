// SPDX-License-Identifier: GPL-2.0
/*
 * Packets of RoCE v1 (ethertype 0x8915) and v2 (UDP port 4791) on the network device.
 *
 * The hook of ingress takes them before the IP stack, macvlan and VLAN devices, as an adapter
 * does. A packet to an address of this device never reaches the wire.
 */
#include <linux/crc32.h>
#include <linux/etherdevice.h>
#include <linux/if_vlan.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/netfilter_netdev.h>
#include <linux/udp.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include <rdma/ib_pack.h>

#include "rnic.h"

enum {
	ETH_P_ROCE = 0x8915,
	ROCE_V2_PORT = 4791,
	GRH_NEXT_BTH = 0x1b,
	BTH_SOLICITED = 0x80,
	BTH_MIG = 0x40,
	BTH_PAD_SHIFT = 4,
	BTH_ACK = 1U << 31,
	ICRC_LEN = 4,
	MAX_QUEUED = 4096,
	/* the CRC of the eight bytes 0xff in place of a local route header */
	ICRC_SEED = 0xdebb20e3,
};

struct bth {
	u8 opcode;
	u8 flags;
	__be16 pkey;
	__be32 qpn;
	__be32 psn;
} __packed;

struct reth {
	__be64 va;
	__be32 rkey;
	__be32 length;
} __packed;

static_assert(sizeof(struct bth) == 12);
static_assert(sizeof(struct reth) == 16);

/* What follows the BTH, by opcode of RC. */
enum { HAS_RETH = 1, HAS_IMM = 2, HAS_AETH = 4, KNOWN = 8 };

static u8 headers_of(u8 opcode)
{
	switch (opcode) {
	case IB_OPCODE_SEND_FIRST:
	case IB_OPCODE_SEND_MIDDLE:
	case IB_OPCODE_SEND_LAST:
	case IB_OPCODE_SEND_ONLY:
	case IB_OPCODE_RDMA_WRITE_MIDDLE:
	case IB_OPCODE_RDMA_WRITE_LAST:
		return KNOWN;
	case IB_OPCODE_SEND_LAST_WITH_IMMEDIATE:
	case IB_OPCODE_SEND_ONLY_WITH_IMMEDIATE:
	case IB_OPCODE_RDMA_WRITE_LAST_WITH_IMMEDIATE:
		return KNOWN | HAS_IMM;
	case IB_OPCODE_RDMA_WRITE_FIRST:
	case IB_OPCODE_RDMA_WRITE_ONLY:
		return KNOWN | HAS_RETH;
	case IB_OPCODE_RDMA_WRITE_ONLY_WITH_IMMEDIATE:
		return KNOWN | HAS_RETH | HAS_IMM;
	case IB_OPCODE_ACKNOWLEDGE:
		return KNOWN | HAS_AETH;
	default:
		return 0;
	}
}

static u32 size_of_headers(u8 has)
{
	return sizeof(struct bth) + (has & HAS_RETH ? sizeof(struct reth) : 0) +
	       (has & HAS_IMM ? sizeof(__be32) : 0) + (has & HAS_AETH ? sizeof(__be32) : 0);
}

/* The ICRC of a packet from its network header to its payload, without what routers change. */
static __le32 icrc_of(const struct sk_buff *skb, bool is_v1, u32 len)
{
	u8 copy[sizeof(struct ipv6hdr) + sizeof(struct udphdr) + sizeof(struct bth)];
	u32 l3 = is_v1 || ipv6_hdr(skb)->version == 6 ? sizeof(struct ipv6hdr) :
							sizeof(struct iphdr);
	u32 l4 = is_v1 ? 0 : sizeof(struct udphdr), head = l3 + l4 + sizeof(struct bth);
	struct ipv6hdr *ip6 = (struct ipv6hdr *)copy;
	struct iphdr *ip4 = (struct iphdr *)copy;
	u32 crc;

	memcpy(copy, skb_network_header(skb), head);
	if (l3 == sizeof(*ip6)) {
		memset(ip6->flow_lbl, 0xff, sizeof(ip6->flow_lbl));
		ip6->priority = 0xf;
		ip6->hop_limit = 0xff;
	} else {
		ip4->ttl = 0xff;
		ip4->check = CSUM_MANGLED_0;
		ip4->tos = 0xff;
	}
	if (l4)
		((struct udphdr *)(copy + l3))->check = CSUM_MANGLED_0;
	/* the byte before the number of the QP */
	copy[l3 + l4 + offsetof(struct bth, qpn)] = 0xff;
	crc = crc32_le(ICRC_SEED, copy, head);
	crc = crc32_le(crc, skb_network_header(skb) + head, len - head);
	return cpu_to_le32(~crc);
}

static void put_bth(struct rnic_qp *qp, struct sk_buff *skb, const struct rnic_packet *p, u32 pad)
{
	struct bth *bth = skb_put(skb, sizeof(*bth));

	*bth = (struct bth){
		.opcode = p->opcode,
		.flags = (p->is_solicited ? BTH_SOLICITED : 0) | BTH_MIG | pad << BTH_PAD_SHIFT,
		.pkey = cpu_to_be16(0xffff),
		.qpn = cpu_to_be32(qp->path.dest_qpn),
		.psn = cpu_to_be32(p->psn | (p->wants_ack ? BTH_ACK : 0)),
	};
}

/**
 * rnic_wire_alloc() - make a packet to the peer of a QP
 * @qp: QP
 * @p: what it says; on return its payload is where @p->size bytes belong
 *
 * Context: The engine.
 * Return: the packet for rnic_wire_send(), or NULL without memory.
 */
struct sk_buff *rnic_wire_alloc(struct rnic_qp *qp, struct rnic_packet *p)
{
	u32 front = LL_RESERVED_SPACE(qp->dev->netdev) + sizeof(struct ipv6hdr) +
		    sizeof(struct udphdr);
	u32 pad = -p->size & 3;
	u8 has = headers_of(p->opcode);
	struct sk_buff *skb;

	skb = alloc_skb(front + size_of_headers(has) + p->size + pad + ICRC_LEN, GFP_KERNEL);
	if (!skb)
		return NULL;
	skb_reserve(skb, front);
	put_bth(qp, skb, p, pad);
	if (has & HAS_RETH) {
		struct reth *reth = skb_put(skb, sizeof(*reth));

		reth->va = cpu_to_be64(p->raddr);
		reth->rkey = cpu_to_be32(p->rkey);
		reth->length = cpu_to_be32(p->length);
	}
	if (has & HAS_IMM)
		skb_put_data(skb, &p->imm, sizeof(p->imm));
	if (has & HAS_AETH)
		*(__be32 *)skb_put(skb, sizeof(__be32)) = cpu_to_be32(p->syndrome << 24 | p->msn);
	p->payload = skb_put(skb, p->size);
	skb_put_zero(skb, pad);
	return skb;
}

static void push_udp(struct rnic_qp *qp, struct sk_buff *skb)
{
	u32 len = skb->len + ICRC_LEN;
	struct udphdr *udp = skb_push(skb, sizeof(*udp));

	udp->source = htons(rdma_get_udp_sport(qp->path.flow_label, qp->ib.qp_num,
					       qp->path.dest_qpn));
	udp->dest = htons(ROCE_V2_PORT);
	udp->len = htons(sizeof(*udp) + len);
	udp->check = 0;
	skb_reset_transport_header(skb);
}

static void push_ip4(struct rnic_qp *qp, struct sk_buff *skb)
{
	const struct rnic_path *path = &qp->path;
	u32 len = skb->len + ICRC_LEN;
	struct iphdr *ip = skb_push(skb, sizeof(*ip));

	*ip = (struct iphdr){
		.version = 4, .ihl = 5, .tos = path->traffic_class, .ttl = path->hop_limit,
		.protocol = IPPROTO_UDP, .frag_off = htons(IP_DF),
		.tot_len = htons(sizeof(*ip) + len),
	};
	memcpy(&ip->saddr, path->sgid.raw + 12, 4);
	memcpy(&ip->daddr, path->dgid.raw + 12, 4);
	ip->check = ip_fast_csum(ip, ip->ihl);
	skb->protocol = htons(ETH_P_IP);
}

/* The IPv6 header of RoCE v2, or the GRH of v1, which looks the same. */
static void push_ip6(struct rnic_qp *qp, struct sk_buff *skb, bool is_v1)
{
	const struct rnic_path *path = &qp->path;
	u32 len = skb->len + ICRC_LEN;
	struct ipv6hdr *ip = skb_push(skb, sizeof(*ip));

	ip6_flow_hdr(ip, path->traffic_class, htonl(path->flow_label & 0xfffff));
	ip->payload_len = htons(len);
	ip->nexthdr = is_v1 ? GRH_NEXT_BTH : IPPROTO_UDP;
	ip->hop_limit = path->hop_limit;
	memcpy(&ip->saddr, path->sgid.raw, 16);
	memcpy(&ip->daddr, path->dgid.raw, 16);
	skb->protocol = htons(is_v1 ? ETH_P_ROCE : ETH_P_IPV6);
}

static void enqueue(struct rnic_dev *dev, struct sk_buff *skb)
{
	if (skb_queue_len_lockless(&dev->rxq) >= MAX_QUEUED) {
		kfree_skb(skb);
		return;
	}
	skb_queue_tail(&dev->rxq, skb);
	rnic_kick(dev);
}

static bool is_port_up(const struct rnic_dev *dev)
{
	return netif_running(dev->netdev) && netif_carrier_ok(dev->netdev);
}

/**
 * rnic_wire_send() - send a packet
 * @qp: QP
 * @skb: packet of rnic_wire_alloc(), consumed
 *
 * Context: The engine.
 */
void rnic_wire_send(struct rnic_qp *qp, struct sk_buff *skb)
{
	const struct rnic_path *path = &qp->path;
	bool is_v1 = path->type == IB_GID_TYPE_ROCE;
	struct rnic_dev *dev = qp->dev;
	struct ethhdr *eth;
	__le32 icrc;

	if (!is_v1)
		push_udp(qp, skb);
	if (!is_v1 && ipv6_addr_v4mapped((struct in6_addr *)path->dgid.raw))
		push_ip4(qp, skb);
	else
		push_ip6(qp, skb, is_v1);
	skb_reset_network_header(skb);
	icrc = icrc_of(skb, is_v1, skb->len);
	skb_put_data(skb, &icrc, sizeof(icrc));
	rnic_count(dev, RNIC_STAT_SENT_PKTS);
	if (READ_ONCE(dev->faults.cut) || !is_port_up(dev)) {
		rnic_count(dev, RNIC_STAT_SEND_ERR);
		kfree_skb(skb);
		return;
	}
	if (path->is_own) {
		enqueue(dev, skb);
		return;
	}
	eth = skb_push(skb, sizeof(*eth));
	ether_addr_copy(eth->h_dest, path->dmac);
	ether_addr_copy(eth->h_source, path->smac);
	eth->h_proto = skb->protocol;
	skb_reset_mac_header(skb);
	if (path->vlan < VLAN_N_VID)
		__vlan_hwaccel_put_tag(skb, htons(ETH_P_8021Q), path->vlan);
	skb->dev = dev->netdev;
	dev_queue_xmit(skb);
}

/* Read the addresses; the offset of the BTH, or 0. */
static u32 parse_address(const struct sk_buff *skb, struct rnic_packet *p)
{
	const struct ipv6hdr *ip6 = ipv6_hdr(skb);
	const struct iphdr *ip4 = ip_hdr(skb);

	p->type = skb->protocol == htons(ETH_P_ROCE) ? IB_GID_TYPE_ROCE :
						       IB_GID_TYPE_ROCE_UDP_ENCAP;
	if (skb->protocol == htons(ETH_P_IP)) {
		ipv6_addr_set_v4mapped(ip4->saddr, (struct in6_addr *)p->sgid.raw);
		ipv6_addr_set_v4mapped(ip4->daddr, (struct in6_addr *)p->dgid.raw);
		return sizeof(*ip4) + sizeof(struct udphdr);
	}
	memcpy(p->sgid.raw, &ip6->saddr, 16);
	memcpy(p->dgid.raw, &ip6->daddr, 16);
	return sizeof(*ip6) + (p->type == IB_GID_TYPE_ROCE ? 0 : sizeof(struct udphdr));
}

/**
 * rnic_wire_parse() - read a packet
 * @skb: packet whose data begin with the network header
 * @p: what it says; its payload points into @skb
 *
 * Return: false if it is none of RC that this model knows, or its ICRC is wrong.
 */
bool rnic_wire_parse(struct sk_buff *skb, struct rnic_packet *p)
{
	u32 at = parse_address(skb, p), len = skb->len, pad;
	const struct bth *bth;
	__le32 icrc;
	u8 has;

	if (len < at + sizeof(*bth) + ICRC_LEN)
		return false;
	bth = (void *)(skb->data + at);
	has = headers_of(bth->opcode);
	pad = bth->flags >> BTH_PAD_SHIFT & 3;
	if (!has || len < at + size_of_headers(has) + pad + ICRC_LEN)
		return false;
	icrc = icrc_of(skb, p->type == IB_GID_TYPE_ROCE, len - ICRC_LEN);
	if (memcmp(&icrc, skb->data + len - ICRC_LEN, ICRC_LEN))
		return false;
	p->opcode = bth->opcode;
	p->is_solicited = bth->flags & BTH_SOLICITED;
	p->qpn = be32_to_cpu(bth->qpn) & RNIC_PSN_MASK;
	p->psn = be32_to_cpu(bth->psn) & RNIC_PSN_MASK;
	p->wants_ack = be32_to_cpu(bth->psn) & BTH_ACK;
	at += sizeof(*bth);
	if (has & HAS_RETH) {
		const struct reth *reth = (void *)(skb->data + at);

		p->raddr = be64_to_cpu(reth->va);
		p->rkey = be32_to_cpu(reth->rkey);
		p->length = be32_to_cpu(reth->length);
		at += sizeof(*reth);
	}
	if (has & HAS_IMM) {
		memcpy(&p->imm, skb->data + at, sizeof(p->imm));
		at += sizeof(p->imm);
	}
	if (has & HAS_AETH) {
		u32 aeth = be32_to_cpup((__be32 *)(skb->data + at));

		p->syndrome = aeth >> 24;
		p->msn = aeth & RNIC_PSN_MASK;
		at += sizeof(aeth);
	}
	p->payload = skb->data + at;
	p->size = len - ICRC_LEN - pad - at;
	return true;
}

/* Is this a packet of RoCE; then its size from the network header on, else 0. */
static u32 roce_size(struct sk_buff *skb)
{
	u32 head = sizeof(struct ipv6hdr) + sizeof(struct udphdr);
	const struct ipv6hdr *ip6;
	const struct udphdr *udp;
	const struct iphdr *ip4;

	if (skb->protocol == htons(ETH_P_IP)) {
		if (!pskb_may_pull(skb, sizeof(*ip4) + sizeof(*udp)))
			return 0;
		ip4 = ip_hdr(skb);
		udp = (void *)(ip4 + 1);
		if (ip4->version != 4 || ip4->ihl != 5 || ip4->protocol != IPPROTO_UDP ||
		    ip_is_fragment(ip4) || udp->dest != htons(ROCE_V2_PORT))
			return 0;
		return ntohs(ip4->tot_len);
	}
	if (skb->protocol != htons(ETH_P_IPV6) && skb->protocol != htons(ETH_P_ROCE))
		return 0;
	if (!pskb_may_pull(skb, head))
		return 0;
	ip6 = ipv6_hdr(skb);
	udp = (void *)(ip6 + 1);
	if (skb->protocol == htons(ETH_P_IPV6) &&
	    (ip6->nexthdr != IPPROTO_UDP || udp->dest != htons(ROCE_V2_PORT)))
		return 0;
	return sizeof(*ip6) + ntohs(ip6->payload_len);
}

/* The device's own MAC address, or a QP of the device: a macvlan may have another address. */
static bool is_for(struct rnic_dev *dev, const struct sk_buff *skb)
{
	struct rnic_packet p;
	u32 at = parse_address(skb, &p);
	const struct bth *bth = (void *)(skb->data + at);

	if (skb->pkt_type == PACKET_HOST)
		return true;
	return skb->len >= at + sizeof(*bth) &&
	       xa_load(&dev->qps, be32_to_cpu(bth->qpn) & RNIC_PSN_MASK);
}

static unsigned int on_ingress(void *priv, struct sk_buff *skb, const struct nf_hook_state *state)
{
	struct rnic_dev *dev = priv;
	u32 size = roce_size(skb);

	if (!size)
		return NF_ACCEPT;
	/* what does not fit together is lost, as in an adapter */
	if (size > skb->len || skb_linearize(skb) || pskb_trim_rcsum(skb, size))
		return NF_DROP;
	if (!is_for(dev, skb))
		return NF_ACCEPT;
	skb = skb_share_check(skb, GFP_ATOMIC);
	if (skb)
		enqueue(dev, skb);
	return NF_STOLEN;
}

/**
 * rnic_wire_open() - begin to receive
 * @dev: device with its engine
 *
 * Context: Process context.
 * Return: 0, or a negative errno.
 */
int rnic_wire_open(struct rnic_dev *dev)
{
	dev->hook = (struct nf_hook_ops){
		.hook = on_ingress,
		.dev = dev->netdev,
		.priv = dev,
		.pf = NFPROTO_NETDEV,
		.hooknum = NF_NETDEV_INGRESS,
		.priority = INT_MIN,
	};
	return nf_register_net_hook(dev_net(dev->netdev), &dev->hook);
}

/**
 * rnic_wire_close() - receive no more
 * @dev: device with its engine
 *
 * Context: Process context.
 */
void rnic_wire_close(struct rnic_dev *dev)
{
	nf_unregister_net_hook(dev_net(dev->netdev), &dev->hook);
	synchronize_net();
}
