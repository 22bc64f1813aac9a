// SPDX-License-Identifier: GPL-2.0
/*
 * The wire between the test machines.
 *
 * Each network card of each machine is a unix datagram socket pair with QEMU
 * (-netdev dgram). A segment joins the cards with the same number of all
 * machines: a frame that one card sends goes to every other card of the
 * segment. The relay reads at all times, so a paused machine never blocks its
 * peer. Frames that a machine does not fetch are queued up to a limit, then
 * dropped.
 *
 * Each frame passes a list of rules. A rule has a matcher (sender, protocol,
 * ports, RoCE opcode, LLC or CLC type, size, position among the matching
 * frames) and an action (drop, lose a share, delay, hold back behind later
 * frames, duplicate, overwrite bytes and correct the checksums).
 * Segments can be cut, counted and recorded to a pcap file.
 *
 * Control is a unix stream socket with one command per line and one answer
 * per command: "ok ..." or "error ...".
 *
 *   port NAME SEG LOCAL REMOTE [swap]
 *                                  make the socket LOCAL, send to REMOTE; with swap its
 *                                  soft-RoCE has the bytes of the ICRC in reverse order
 *   greet NAME                     the machine of these ports has started or restarted
 *   cut SEG FROM / uncut SEG FROM  FROM is a port name or *
 *   rule [key=value ...]           add a rule, answers its number
 *   unrule ID | unrule *           remove
 *   hits ID                        how often the rule matched and acted
 *   stats SEG                      frames, bytes, drops of each port
 *   capture SEG FILE / capture SEG -
 *   inject SEG TO HEX              deliver a frame to port TO (or *)
 *   quit
 *
 * Rule keys: seg=N from=NAME proto=tcp|udp|icmp|arp|roce|ip6 port=N sport=N
 * dport=N opcode=N llc=N cdc=1 clc=N flags=N (TCP flags that must be set)
 * nflags=N (TCP flags that must be clear) longer=N shorter=N skip=N count=N payload=1
 * at=OFF:HEX (upper layer payload bytes) find=HEX vlan=N (0: without a tag)
 * Action keys: drop=1 delay=MS hold=N dup=1 set=OFF:HEX xor=OFF:HEX (offset
 * within the upper layer payload), share=PERCENT (act on this share of the frames)
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

enum {
	MAX_PORTS = 24,
	MAX_SEGS = 8,
	MAX_RULES = 64,
	MAX_CTL = 8,
	MAX_FRAME = 69632,
	MAX_QUEUED = 4096,	/* frames waiting for one machine */
	MAX_BYTES = 128,	/* bytes in one hex argument */
	MAX_LINE = 8192,
	ROCE_PORT = 4791,
	BTH_LEN = 12,
	ICRC_LEN = 4,
};

struct frame {
	struct frame *next;
	uint64_t due_us;
	uint32_t len;
	uint8_t data[];
};

struct queue {
	struct frame *head;
	struct frame **tail;
	unsigned int n;
};

struct port {
	char name[16];
	int seg;
	int fd;
	bool cut;
	bool armed;		/* EPOLLOUT is on */
	bool swaps;		/* the bytes of the ICRC */
	struct sockaddr_un remote;
	struct queue out;
	uint64_t rx_frames, rx_bytes, tx_frames, tx_bytes, dropped, overflow;
};

struct bytes {
	int off;
	int len;
	uint8_t val[MAX_BYTES];
};

struct rule {
	int id;
	int seg, vlan, proto, port, sport, dport, opcode, llc, clc;
	int flags, nflags, longer, shorter, payload, cdc;
	long skip, count;
	char from[16];
	struct bytes at, find;
	bool drop, dup;
	double share;		/* percent; 0: all */
	int delay_ms, hold;
	struct bytes set, xor;
	long seen, acted;
	struct queue held;
	int held_port;
};

struct seg {
	FILE *pcap;
};

/* The input of the matcher: offsets in the frame. */
struct view {
	int proto, sport, dport;
	int l3, l4, l3_len, pay, pay_len;	/* pay: after TCP, UDP or BTH */
	int opcode, tcp_flags, ipv, vlan;
	bool roce;
	bool grh;		/* RoCE v1: no UDP */
};

enum { P_ANY, P_TCP, P_UDP, P_ICMP, P_ARP, P_ROCE, P_IP6, P_OTHER };

static struct port ports[MAX_PORTS];
static int nports;
static struct seg segs[MAX_SEGS];
static struct rule rules[MAX_RULES];
static int nrules, next_rule_id = 1;
static struct queue delayed;
static int epfd, ctl_fd;
static uint32_t crc_table[256];

struct ctl {
	int fd;
	int used;
	char buf[MAX_LINE];
};

static struct ctl ctls[MAX_CTL];

static uint64_t now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}

static void queue_init(struct queue *q)
{
	q->head = NULL;
	q->tail = &q->head;
	q->n = 0;
}

static void queue_add(struct queue *q, struct frame *f)
{
	f->next = NULL;
	*q->tail = f;
	q->tail = &f->next;
	q->n++;
}

static struct frame *queue_take(struct queue *q)
{
	struct frame *f = q->head;

	if (!f)
		return NULL;
	q->head = f->next;
	if (!q->head)
		q->tail = &q->head;
	q->n--;
	return f;
}

/* Inserts by due time, after frames that are due at the same time. */
static void queue_add_due(struct queue *q, struct frame *f)
{
	struct frame **at = &q->head;

	while (*at && (*at)->due_us <= f->due_us)
		at = &(*at)->next;
	f->next = *at;
	*at = f;
	if (!f->next)
		q->tail = &f->next;
	q->n++;
}

static struct frame *frame_new(const uint8_t *data, uint32_t len)
{
	struct frame *f = malloc(sizeof(*f) + len);

	if (!f) {
		fprintf(stderr, "relay: out of memory\n");
		exit(1);
	}
	f->due_us = 0;
	f->len = len;
	memcpy(f->data, data, len);
	return f;
}

static uint16_t get16(const uint8_t *p)
{
	return p[0] << 8 | p[1];
}

static void put16(uint8_t *p, uint16_t v)
{
	p[0] = v >> 8;
	p[1] = v & 0xff;
}

static void look(const uint8_t *d, int len, struct view *v)
{
	int off = 14, type, next;

	memset(v, 0, sizeof(*v));
	v->proto = P_OTHER;
	v->opcode = -1;
	if (len < off)
		return;
	type = get16(d + 12);
	if (type == 0x8100 && len >= 18) {
		v->vlan = get16(d + 14) & 0xfff;
		type = get16(d + 16);
		off = 18;
	}
	if (type == 0x0806) {
		v->proto = P_ARP;
		return;
	}
	v->l3 = off;
	if (type == 0x0800 && len >= off + 20) {
		v->ipv = 4;
		next = d[off + 9];
		v->l3_len = get16(d + off + 2);
		v->l4 = off + (d[off] & 15) * 4;
		if (get16(d + off + 6) & 0x1fff)
			return;
	} else if (type == 0x86dd && len >= off + 40) {
		v->ipv = 6;
		next = d[off + 6];
		v->l3_len = get16(d + off + 4) + 40;
		v->l4 = off + 40;
	} else if (type == 0x8915 && len >= off + 40 + BTH_LEN + ICRC_LEN) {
		v->ipv = 6;
		next = 0;
		v->l3_len = get16(d + off + 4) + 40;
		v->l4 = off + 40;
		v->roce = true;
		v->grh = true;
		v->opcode = d[v->l4];
		v->pay = v->l4 + BTH_LEN;
	} else {
		return;
	}
	if (v->l3_len > len - off)
		v->l3_len = len - off;
	if (next == 1 || next == 58) {
		v->proto = P_ICMP;
	} else if (next == 6 && v->l4 + 20 <= len) {
		v->proto = P_TCP;
		v->sport = get16(d + v->l4);
		v->dport = get16(d + v->l4 + 2);
		v->tcp_flags = d[v->l4 + 13];
		v->pay = v->l4 + (d[v->l4 + 12] >> 4) * 4;
	} else if (next == 17 && v->l4 + 8 <= len) {
		v->proto = P_UDP;
		v->sport = get16(d + v->l4);
		v->dport = get16(d + v->l4 + 2);
		v->pay = v->l4 + 8;
		if (v->dport == ROCE_PORT &&
		    v->pay + BTH_LEN + ICRC_LEN <= off + v->l3_len) {
			v->roce = true;
			v->opcode = d[v->pay];
			v->pay += BTH_LEN;
		}
	}
	v->pay_len = off + v->l3_len - v->pay - (v->roce ? ICRC_LEN : 0);
	if (!v->pay || v->pay_len < 0)
		v->pay_len = 0;
}

static bool has_bytes(const uint8_t *p, int len, const struct bytes *b)
{
	int i;

	if (b->off >= 0)
		return b->off + b->len <= len &&
		       !memcmp(p + b->off, b->val, b->len);
	for (i = 0; i + b->len <= len; i++)
		if (!memcmp(p + i, b->val, b->len))
			return true;
	return false;
}

static bool match_proto(const struct rule *r, const struct view *v)
{
	switch (r->proto) {
	case P_ANY:
		return true;
	case P_ROCE:
		return v->roce;
	case P_IP6:
		return v->ipv == 6;
	default:
		return v->proto == r->proto;
	}
}

static bool is_clc(const uint8_t *p, int len, int type)
{
	return len >= 8 && p[0] == 0xe2 && p[1] == 0xd4 && p[2] == 0xc3 &&
	       (p[3] == 0xd9 || p[3] == 0xc4) && p[4] == type;
}

static bool match(const struct rule *r, const struct port *from,
		  const uint8_t *d, int len, const struct view *v)
{
	const uint8_t *pay = d + v->pay;

	if (r->seg >= 0 && r->seg != from->seg)
		return false;
	if (r->from[0] && strcmp(r->from, from->name))
		return false;
	if (r->vlan >= 0 && r->vlan != v->vlan)
		return false;
	if (!match_proto(r, v))
		return false;
	if (r->port >= 0 && v->sport != r->port && v->dport != r->port)
		return false;
	if (r->sport >= 0 && v->sport != r->sport)
		return false;
	if (r->dport >= 0 && v->dport != r->dport)
		return false;
	if (r->opcode >= 0 && v->opcode != r->opcode)
		return false;
	if (r->flags && (v->tcp_flags & r->flags) != r->flags)
		return false;
	if (r->nflags && (v->tcp_flags & r->nflags))
		return false;
	if (r->longer >= 0 && len <= r->longer)
		return false;
	if (r->shorter >= 0 && len >= r->shorter)
		return false;
	if (r->payload && !v->pay_len)
		return false;
	/* RC SEND ONLY carries every LLC and CDC message */
	if (r->llc >= 0 && !(v->opcode == 4 && v->pay_len >= 44 &&
			     (pay[0] & 0x0f) == r->llc && pay[0] != 0xfe))
		return false;
	if (r->cdc && !(v->opcode == 4 && v->pay_len >= 44 && pay[0] == 0xfe))
		return false;
	if (r->clc >= 0 && !(v->proto == P_TCP &&
			     is_clc(pay, v->pay_len, r->clc)))
		return false;
	if (r->at.len && !has_bytes(pay, v->pay_len, &r->at))
		return false;
	if (r->find.len && !has_bytes(pay, v->pay_len, &r->find))
		return false;
	return true;
}

static uint32_t csum_add(uint32_t sum, const uint8_t *p, int len)
{
	for (; len > 1; len -= 2, p += 2)
		sum += get16(p);
	if (len)
		sum += p[0] << 8;
	return sum;
}

static uint16_t csum_end(uint32_t sum)
{
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return ~sum;
}

static void fix_l4_csum(uint8_t *d, const struct view *v)
{
	int l4_len = v->l3 + v->l3_len - v->l4;
	int addr = v->ipv == 4 ? v->l3 + 12 : v->l3 + 8;
	int at = v->l4 + (v->proto == P_TCP ? 16 : 6);
	uint32_t sum;

	if (v->proto == P_UDP && !get16(d + at))
		return;
	put16(d + at, 0);
	sum = csum_add(0, d + addr, v->ipv == 4 ? 8 : 32);
	sum += (v->proto == P_TCP ? 6 : 17) + l4_len;
	sum = csum_add(sum, d + v->l4, l4_len);
	put16(d + at, csum_end(sum));
}

static uint32_t crc_add(uint32_t crc, const uint8_t *p, int len)
{
	while (len--)
		crc = crc_table[(crc ^ *p++) & 0xff] ^ (crc >> 8);
	return crc;
}

static void crc_init(void)
{
	uint32_t i, c;
	int k;

	for (i = 0; i < 256; i++) {
		c = i;
		for (k = 0; k < 8; k++)
			c = c & 1 ? 0xedb88320 ^ (c >> 1) : c >> 1;
		crc_table[i] = c;
	}
}

/*
 * The invariant CRC of RoCE v2 covers the packet with the fields that routers
 * may change set to ones, after eight bytes of ones in place of the LRH.
 */
static void fix_icrc(uint8_t *d, const struct view *v)
{
	uint8_t head[128];
	int l3_hdr = v->l4 - v->l3;
	int l4_hdr = v->grh ? 0 : 8;
	int n = l3_hdr + l4_hdr + BTH_LEN;
	uint32_t crc;

	memcpy(head, d + v->l3, n);
	if (v->ipv == 4) {
		head[1] = 0xff;
		head[8] = 0xff;
		memset(head + 10, 0xff, 2);
	} else {
		head[0] |= 0x0f;
		memset(head + 1, 0xff, 3);
		head[7] = 0xff;
	}
	if (l4_hdr)
		memset(head + l3_hdr + 6, 0xff, 2);
	head[l3_hdr + l4_hdr + 4] = 0xff;
	crc = crc_add(0xffffffff, (const uint8_t *)"\xff\xff\xff\xff\xff\xff\xff\xff", 8);
	crc = crc_add(crc, head, n);
	crc = ~crc_add(crc, d + v->pay, v->pay_len);
	d[v->pay + v->pay_len] = crc & 0xff;
	d[v->pay + v->pay_len + 1] = crc >> 8 & 0xff;
	d[v->pay + v->pay_len + 2] = crc >> 16 & 0xff;
	d[v->pay + v->pay_len + 3] = crc >> 24;
}

/*
 * The ICRC is little endian on the wire. soft-RoCE, also that of Linux 7.2, writes it in the
 * order of its processor, so that only its like accepts the packets of a big endian machine.
 */
static void swap_icrc(uint8_t *d, uint32_t len)
{
	uint8_t *icrc, was[ICRC_LEN];
	struct view v;
	int i;

	look(d, len, &v);
	if (!v.roce)
		return;
	icrc = d + v.pay + v.pay_len;
	memcpy(was, icrc, ICRC_LEN);
	for (i = 0; i < ICRC_LEN; i++)
		icrc[i] = was[ICRC_LEN - 1 - i];
	fix_l4_csum(d, &v);
}

static bool overwrite(const struct rule *r, uint8_t *d, const struct view *v)
{
	uint8_t *pay = d + v->pay;
	int i;

	if (r->set.off + r->set.len > v->pay_len ||
	    r->xor.off + r->xor.len > v->pay_len)
		return false;
	memcpy(pay + r->set.off, r->set.val, r->set.len);
	for (i = 0; i < r->xor.len; i++)
		pay[r->xor.off + i] ^= r->xor.val[i];
	if (v->roce)
		fix_icrc(d, v);
	if (v->proto == P_TCP || v->proto == P_UDP)
		fix_l4_csum(d, v);
	return true;
}

static void record(struct seg *s, const uint8_t *d, uint32_t len)
{
	struct timeval tv;
	uint32_t head[4];

	if (!s->pcap)
		return;
	gettimeofday(&tv, NULL);
	head[0] = tv.tv_sec;
	head[1] = tv.tv_usec;
	head[2] = len;
	head[3] = len;
	fwrite(head, sizeof(head), 1, s->pcap);
	fwrite(d, len, 1, s->pcap);
}

static void port_arm(struct port *p, bool on)
{
	struct epoll_event ev = { .events = EPOLLIN | (on ? EPOLLOUT : 0) };

	if (p->armed == on)
		return;
	ev.data.u32 = p - ports;
	epoll_ctl(epfd, EPOLL_CTL_MOD, p->fd, &ev);
	p->armed = on;
}

/*
 * A connected datagram socket reports EPOLLOUT when its peer has room. A
 * machine that restarts has another socket, so connect again when the peer is
 * gone.
 */
static int port_send(struct port *p, const uint8_t *d, uint32_t len)
{
	int tries;

	for (tries = 0; tries < 2; tries++) {
		if (send(p->fd, d, len, MSG_DONTWAIT) >= 0) {
			p->tx_frames++;
			p->tx_bytes += len;
			return 0;
		}
		if (errno == EAGAIN || errno == ENOBUFS)
			return -EAGAIN;
		if (connect(p->fd, (struct sockaddr *)&p->remote,
			    sizeof(p->remote)))
			break;
	}
	p->dropped++;
	return 0;
}

static void port_flush(struct port *p)
{
	struct frame *f;

	while ((f = p->out.head)) {
		if (port_send(p, f->data, f->len) == -EAGAIN)
			break;
		free(queue_take(&p->out));
	}
	port_arm(p, p->out.head);
}

static void port_deliver(struct port *p, const uint8_t *d, uint32_t len)
{
	static uint8_t buf[MAX_FRAME];

	if (p->swaps) {
		memcpy(buf, d, len);
		swap_icrc(buf, len);
		d = buf;
	}
	if (!p->out.head && port_send(p, d, len) != -EAGAIN)
		return;
	if (p->out.n >= MAX_QUEUED) {
		p->overflow++;
		return;
	}
	queue_add(&p->out, frame_new(d, len));
	port_arm(p, true);
}

/* The last step of every frame: send it to the segment and record it. */
static void wire(int from, const uint8_t *d, uint32_t len)
{
	int seg = ports[from].seg;
	int i;

	record(&segs[seg], d, len);
	for (i = 0; i < nports; i++)
		if (i != from && ports[i].seg == seg)
			port_deliver(&ports[i], d, len);
}

/* The number of its port precedes the bytes of a delayed frame. */
static void delay(int from, const uint8_t *d, uint32_t len, int ms)
{
	struct frame *f = malloc(sizeof(*f) + len + 1);

	if (!f)
		return;
	f->due_us = now_us() + ms * 1000ULL;
	f->len = len + 1;
	f->data[0] = from;
	memcpy(f->data + 1, d, len);
	queue_add_due(&delayed, f);
}

static void release_held(struct rule *r)
{
	struct frame *f;

	while ((f = queue_take(&r->held))) {
		wire(r->held_port, f->data, f->len);
		free(f);
	}
}

/* Returns true if the rule consumed the frame. */
static bool act(struct rule *r, int from, uint8_t *d, uint32_t len,
		const struct view *v)
{
	long n = r->seen++;

	if (n < r->skip || (r->count >= 0 && n >= r->skip + r->count))
		return false;
	if (r->share > 0 && drand48() * 100 >= r->share)
		return false;
	r->acted++;
	if (r->set.len || r->xor.len)
		overwrite(r, d, v);
	if (r->drop) {
		ports[from].dropped++;
		return true;
	}
	if (r->dup)
		wire(from, d, len);
	if (r->delay_ms) {
		delay(from, d, len, r->delay_ms);
		return true;
	}
	if (r->hold) {
		r->held_port = from;
		queue_add(&r->held, frame_new(d, len));
		if ((int)r->held.n > r->hold)
			release_held(r);
		return true;
	}
	return false;
}

/* Sends held frames after the next frame from the same port. */
static void after_frame(int from)
{
	int i;

	for (i = 0; i < nrules; i++)
		if (rules[i].held.head && rules[i].held_port == from)
			release_held(&rules[i]);
}

static void handle(int from, uint8_t *d, uint32_t len)
{
	struct port *p = &ports[from];
	struct view v;
	int i;

	p->rx_frames++;
	p->rx_bytes += len;
	if (p->cut) {
		p->dropped++;
		return;
	}
	if (nrules) {
		look(d, len, &v);
		for (i = 0; i < nrules; i++)
			if (match(&rules[i], p, d, len, &v) &&
			    act(&rules[i], from, d, len, &v))
				return;
	}
	wire(from, d, len);
	if (nrules)
		after_frame(from);
}

static void port_read(int i)
{
	static uint8_t buf[MAX_FRAME];
	ssize_t n;
	int budget;

	for (budget = 64; budget; budget--) {
		n = recv(ports[i].fd, buf, sizeof(buf), MSG_DONTWAIT);
		if (n <= 0)
			break;
		if (ports[i].swaps)
			swap_icrc(buf, n);
		handle(i, buf, n);
	}
}

static int unhex(const char *s, struct bytes *b)
{
	char *end;
	int i, n;

	b->off = -1;
	if (strchr(s, ':')) {
		b->off = strtol(s, &end, 0);
		if (*end != ':' || b->off < 0)
			return -EINVAL;
		s = end + 1;
	}
	n = strlen(s);
	if (!n || n % 2 || n / 2 > MAX_BYTES)
		return -EINVAL;
	for (i = 0; i < n / 2; i++)
		if (sscanf(s + 2 * i, "%2hhx", &b->val[i]) != 1)
			return -EINVAL;
	b->len = n / 2;
	return 0;
}

static int parse_proto(const char *s)
{
	static const char *const names[] = {
		[P_TCP] = "tcp", [P_UDP] = "udp", [P_ICMP] = "icmp",
		[P_ARP] = "arp", [P_ROCE] = "roce", [P_IP6] = "ip6",
	};
	int i;

	for (i = P_TCP; i <= P_IP6; i++)
		if (!strcmp(s, names[i]))
			return i;
	return -1;
}

static int rule_key(struct rule *r, const char *key, const char *val)
{
	const struct { const char *name; int *at; } ints[] = {
		{ "seg", &r->seg }, { "vlan", &r->vlan }, { "port", &r->port },
		{ "sport", &r->sport }, { "dport", &r->dport },
		{ "opcode", &r->opcode }, { "llc", &r->llc },
		{ "clc", &r->clc }, { "flags", &r->flags },
		{ "nflags", &r->nflags }, { "longer", &r->longer },
		{ "shorter", &r->shorter }, { "payload", &r->payload },
		{ "cdc", &r->cdc }, { "delay", &r->delay_ms },
		{ "hold", &r->hold },
	};
	const struct { const char *name; struct bytes *at; } raw[] = {
		{ "at", &r->at }, { "find", &r->find },
		{ "set", &r->set }, { "xor", &r->xor },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(ints); i++)
		if (!strcmp(key, ints[i].name)) {
			*ints[i].at = strtol(val, NULL, 0);
			return 0;
		}
	for (i = 0; i < ARRAY_SIZE(raw); i++)
		if (!strcmp(key, raw[i].name))
			return unhex(val, raw[i].at);
	if (!strcmp(key, "proto")) {
		r->proto = parse_proto(val);
		return r->proto < 0 ? -EINVAL : 0;
	}
	if (!strcmp(key, "from"))
		snprintf(r->from, sizeof(r->from), "%s", val);
	else if (!strcmp(key, "skip"))
		r->skip = strtol(val, NULL, 0);
	else if (!strcmp(key, "count"))
		r->count = strtol(val, NULL, 0);
	else if (!strcmp(key, "drop"))
		r->drop = atoi(val);
	else if (!strcmp(key, "dup"))
		r->dup = atoi(val);
	else if (!strcmp(key, "share"))
		r->share = strtod(val, NULL);
	else
		return -EINVAL;
	return 0;
}

static void say(struct ctl *c, const char *fmt, ...)
{
	char line[MAX_LINE];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(line, sizeof(line) - 1, fmt, ap);
	va_end(ap);
	if (n > (int)sizeof(line) - 2)
		n = sizeof(line) - 2;
	line[n++] = '\n';
	if (write(c->fd, line, n) != n)
		fprintf(stderr, "relay: control answer lost\n");
}

static void cmd_rule(struct ctl *c, char **arg, int n)
{
	struct rule *r = &rules[nrules];
	char *eq;
	int i;

	if (nrules == MAX_RULES) {
		say(c, "error too many rules");
		return;
	}
	memset(r, 0, sizeof(*r));
	/* -1: any */
	r->seg = -1;
	r->vlan = -1;
	r->port = -1;
	r->sport = -1;
	r->dport = -1;
	r->opcode = -1;
	r->llc = -1;
	r->clc = -1;
	r->longer = -1;
	r->shorter = -1;
	r->count = -1;
	for (i = 1; i < n; i++) {
		eq = strchr(arg[i], '=');
		if (!eq) {
			say(c, "error no '=' in %s", arg[i]);
			return;
		}
		*eq = 0;
		if (rule_key(r, arg[i], eq + 1)) {
			say(c, "error bad key or value: %s=%s", arg[i], eq + 1);
			return;
		}
	}
	if ((r->set.len && r->set.off < 0) || (r->xor.len && r->xor.off < 0)) {
		say(c, "error set and xor need an offset");
		return;
	}
	r->id = next_rule_id++;
	nrules++;
	queue_init(&r->held);
	say(c, "ok %d", r->id);
}

static void rule_remove(int i)
{
	int k;

	release_held(&rules[i]);
	nrules--;
	for (k = i; k < nrules; k++) {
		release_held(&rules[k + 1]);
		rules[k] = rules[k + 1];
		queue_init(&rules[k].held);
	}
}

static void cmd_unrule(struct ctl *c, const char *which)
{
	int i, found = 0;

	for (i = nrules - 1; i >= 0; i--)
		if (!strcmp(which, "*") || rules[i].id == atoi(which)) {
			rule_remove(i);
			found++;
		}
	say(c, "ok %d", found);
}

static void cmd_hits(struct ctl *c, const char *which)
{
	int i;

	for (i = 0; i < nrules; i++)
		if (rules[i].id == atoi(which)) {
			say(c, "ok %ld %ld", rules[i].seen, rules[i].acted);
			return;
		}
	say(c, "error no such rule");
}

static int unix_addr(struct sockaddr_un *sa, const char *path)
{
	memset(sa, 0, sizeof(*sa));
	sa->sun_family = AF_UNIX;
	if (strlen(path) >= sizeof(sa->sun_path))
		return -ENAMETOOLONG;
	memcpy(sa->sun_path, path, strlen(path));
	return 0;
}

static void cmd_port(struct ctl *c, char **arg)
{
	struct epoll_event ev = { .events = EPOLLIN };
	struct port *p = &ports[nports];
	struct sockaddr_un local;
	int size = 4 << 20;

	if (nports == MAX_PORTS || unix_addr(&local, arg[3]) ||
	    unix_addr(&p->remote, arg[4])) {
		say(c, "error too many ports or path too long");
		return;
	}
	snprintf(p->name, sizeof(p->name), "%s", arg[1]);
	p->seg = atoi(arg[2]);
	if (p->seg < 0 || p->seg >= MAX_SEGS) {
		say(c, "error no such segment");
		return;
	}
	p->swaps = arg[5] && !strcmp(arg[5], "swap");
	queue_init(&p->out);
	p->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	setsockopt(p->fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
	unlink(arg[3]);
	if (bind(p->fd, (struct sockaddr *)&local, sizeof(local))) {
		say(c, "error bind: %s", strerror(errno));
		close(p->fd);
		return;
	}
	/* fails while QEMU is not up yet; port_send() connects later */
	(void)!connect(p->fd, (struct sockaddr *)&p->remote,
		       sizeof(p->remote));
	ev.data.u32 = nports++;
	epoll_ctl(epfd, EPOLL_CTL_ADD, p->fd, &ev);
	say(c, "ok");
}

/*
 * A connected socket accepts frames of its peer only, and a restarted machine has
 * another socket: connect to it now, because frames from it would be lost until then.
 */
static void cmd_greet(struct ctl *c, const char *name)
{
	int i, n = 0;

	for (i = 0; i < nports; i++)
		if (!strcmp(ports[i].name, name) &&
		    !connect(ports[i].fd, (struct sockaddr *)&ports[i].remote,
			     sizeof(ports[i].remote)))
			n++;
	say(c, n ? "ok %d" : "error nobody there", n);
}

static void cmd_cut(struct ctl *c, char **arg, bool cut)
{
	int seg = atoi(arg[1]), i, n = 0;

	for (i = 0; i < nports; i++)
		if (ports[i].seg == seg && (!strcmp(arg[2], "*") ||
					    !strcmp(arg[2], ports[i].name))) {
			ports[i].cut = cut;
			n++;
		}
	say(c, n ? "ok %d" : "error no such port", n);
}

static void cmd_stats(struct ctl *c, const char *which)
{
	char line[MAX_LINE] = "ok";
	struct port *p;
	int i, at = 2;

	for (i = 0; i < nports; i++) {
		p = &ports[i];
		if (p->seg != atoi(which))
			continue;
		at += snprintf(line + at, sizeof(line) - at,
			       " %s %llu %llu %llu %llu", p->name,
			       (unsigned long long)p->rx_frames,
			       (unsigned long long)p->rx_bytes,
			       (unsigned long long)p->dropped,
			       (unsigned long long)p->overflow);
	}
	say(c, "%s", line);
}

static void cmd_capture(struct ctl *c, const char *which, const char *path)
{
	static const uint32_t head[6] = { 0xa1b2c3d4, 2 | 4 << 16, 0, 0, MAX_FRAME, 1 };
	int n = atoi(which);

	if (n < 0 || n >= MAX_SEGS) {
		say(c, "error no such segment");
		return;
	}
	if (segs[n].pcap)
		fclose(segs[n].pcap);
	segs[n].pcap = NULL;
	if (strcmp(path, "-")) {
		segs[n].pcap = fopen(path, "we");
		if (!segs[n].pcap) {
			say(c, "error %s: %s", path, strerror(errno));
			return;
		}
		fwrite(head, sizeof(head), 1, segs[n].pcap);
	}
	say(c, "ok");
}

static void cmd_inject(struct ctl *c, char **arg)
{
	static uint8_t buf[MAX_LINE / 2];
	int len = strlen(arg[3]) / 2, i, seg = atoi(arg[1]), n = 0;

	for (i = 0; i < len; i++)
		if (sscanf(arg[3] + 2 * i, "%2hhx", &buf[i]) != 1) {
			say(c, "error bad hex");
			return;
		}
	for (i = 0; i < nports; i++)
		if (ports[i].seg == seg && (!strcmp(arg[2], "*") ||
					    !strcmp(arg[2], ports[i].name))) {
			record(&segs[seg], buf, len);
			port_deliver(&ports[i], buf, len);
			n++;
		}
	say(c, n ? "ok %d" : "error no such port", n);
}

static void command(struct ctl *c, char *line)
{
	char *arg[32] = { NULL }, *save = NULL, *tok;
	int n = 0;

	for (tok = strtok_r(line, " ", &save); tok && n < 32;
	     tok = strtok_r(NULL, " ", &save))
		arg[n++] = tok;
	if (!n)
		return;
	if (!strcmp(arg[0], "port") && (n == 5 || n == 6))
		cmd_port(c, arg);
	else if (!strcmp(arg[0], "greet") && n == 2)
		cmd_greet(c, arg[1]);
	else if (!strcmp(arg[0], "cut") && n == 3)
		cmd_cut(c, arg, true);
	else if (!strcmp(arg[0], "uncut") && n == 3)
		cmd_cut(c, arg, false);
	else if (!strcmp(arg[0], "rule"))
		cmd_rule(c, arg, n);
	else if (!strcmp(arg[0], "unrule") && n == 2)
		cmd_unrule(c, arg[1]);
	else if (!strcmp(arg[0], "hits") && n == 2)
		cmd_hits(c, arg[1]);
	else if (!strcmp(arg[0], "stats") && n == 2)
		cmd_stats(c, arg[1]);
	else if (!strcmp(arg[0], "capture") && n == 3)
		cmd_capture(c, arg[1], arg[2]);
	else if (!strcmp(arg[0], "inject") && n == 4)
		cmd_inject(c, arg);
	else if (!strcmp(arg[0], "quit"))
		exit(0);
	else
		say(c, "error unknown verb or wrong number of words");
}

static void ctl_read(struct ctl *c)
{
	ssize_t n = read(c->fd, c->buf + c->used,
			 sizeof(c->buf) - c->used - 1);
	char *nl;

	if (n <= 0 || c->used + n >= (int)sizeof(c->buf) - 1) {
		close(c->fd);
		c->fd = -1;
		c->used = 0;
		return;
	}
	c->used += n;
	c->buf[c->used] = 0;
	while ((nl = memchr(c->buf, '\n', c->used))) {
		*nl++ = 0;
		command(c, c->buf);
		c->used -= nl - c->buf;
		memmove(c->buf, nl, c->used);
	}
}

enum { EV_LISTEN = 1000, EV_CTL = 1001 };

static void ctl_accept(void)
{
	struct epoll_event ev = { .events = EPOLLIN };
	int fd = accept4(ctl_fd, NULL, NULL, SOCK_CLOEXEC);
	int i;

	for (i = 0; fd >= 0 && i < MAX_CTL; i++)
		if (ctls[i].fd < 0) {
			ctls[i].fd = fd;
			ev.data.u32 = EV_CTL + i;
			epoll_ctl(epfd, EPOLL_CTL_ADD, fd, &ev);
			return;
		}
	if (fd >= 0)
		close(fd);
}

static int run_delayed(void)
{
	struct frame *f;
	uint64_t now;

	while ((f = delayed.head)) {
		now = now_us();
		if (f->due_us > now)
			return (f->due_us - now + 999) / 1000;
		queue_take(&delayed);
		if (!ports[f->data[0]].cut)
			wire(f->data[0], f->data + 1, f->len - 1);
		free(f);
	}
	return -1;
}

static void dispatch(const struct epoll_event *ev)
{
	uint32_t id = ev->data.u32;

	if (id == EV_LISTEN) {
		ctl_accept();
	} else if (id >= EV_CTL) {
		ctl_read(&ctls[id - EV_CTL]);
	} else {
		if (ev->events & EPOLLOUT)
			port_flush(&ports[id]);
		port_read(id);
	}
}

int main(int argc, char **argv)
{
	struct epoll_event ev = { .events = EPOLLIN }, evs[16];
	struct sockaddr_un sa;
	int i, n;

	if (argc != 2 || unix_addr(&sa, argv[1])) {
		fprintf(stderr, "usage: relay CONTROL-SOCKET\n");
		return 2;
	}
	signal(SIGPIPE, SIG_IGN);
	crc_init();
	srand48(1);
	queue_init(&delayed);
	for (i = 0; i < MAX_CTL; i++)
		ctls[i].fd = -1;
	epfd = epoll_create1(EPOLL_CLOEXEC);
	ctl_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	unlink(argv[1]);
	if (bind(ctl_fd, (struct sockaddr *)&sa, sizeof(sa)) ||
	    listen(ctl_fd, MAX_CTL)) {
		perror("relay: control socket");
		return 1;
	}
	ev.data.u32 = EV_LISTEN;
	epoll_ctl(epfd, EPOLL_CTL_ADD, ctl_fd, &ev);
	for (;;) {
		n = epoll_wait(epfd, evs, 16, run_delayed());
		if (n < 0 && errno != EINTR) {
			perror("relay: epoll_wait");
			return 1;
		}
		for (i = 0; i < n; i++)
			dispatch(&evs[i]);
	}
}
