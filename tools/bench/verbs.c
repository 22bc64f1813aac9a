// SPDX-License-Identifier: GPL-2.0
/*
 * Messages by RDMA verbs without any socket, for the benchmark: what the network
 * itself costs.
 *
 *   verbs server KIND PORT [SIZE]            answer each message
 *   verbs sink KIND PORT                     count messages, answer some of them
 *   verbs rounds KIND HOST PORT N [SIZE]     N messages and answers
 *   verbs stream KIND HOST PORT N [SIZE]     N messages
 *
 * A message is a WRITE into the ring of the peer and its notice. KIND says how the
 * notice is sent: "send" as a SEND of 44 bytes in the same chain, as SMC-R does, or
 * "imm" as the immediate data of the WRITE. The server has one connection and is
 * killed at its end. Both sides wait for events of completion queues and copy nothing.
 * The clients do as much for each line of input, too, and print the total.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>

#define RING		(4 << 20)	/* bytes that the peer writes to */
#define NOTICE		44		/* bytes of a SEND */
#define DEPTH		64		/* messages under way */
#define BATCH		16		/* messages for each answer of a stream, or signal */

/* Where the peer writes to: private data of the connection. */
struct ring {
	uint64_t addr;
	uint32_t rkey;
};

/* The first message of a stream. */
struct stream {
	uint64_t n;
	uint64_t size;
};

static char mine[RING], out[RING], notice[NOTICE];
static struct ibv_mr *mine_mr, *out_mr, *notice_mr;
static struct ring peer;
static struct rdma_cm_id *id;
static int is_imm;
static size_t size = 64;
static unsigned long posted;

static void die(const char *what)
{
	fprintf(stderr, "verbs: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void post_receive(void)
{
	if (rdma_post_recv(id, NULL, notice, NOTICE, notice_mr))
		die("receive");
}

/* Memory, and receives before the peer can send. */
static void prepare(void)
{
	int i;

	mine_mr = rdma_reg_write(id, mine, sizeof(mine));
	out_mr = rdma_reg_msgs(id, out, sizeof(out));
	notice_mr = rdma_reg_msgs(id, notice, sizeof(notice));
	if (!mine_mr || !out_mr || !notice_mr)
		die("memory");
	for (i = 0; i < 2 * DEPTH; i++)
		post_receive();
}

static void wait_signal(void)
{
	struct ibv_wc wc;

	if (rdma_get_send_comp(id, &wc) != 1 || wc.status != IBV_WC_SUCCESS)
		die("send");
}

/* Write LEN bytes to the offset AT of the peer's ring; the last of each BATCH is signalled. */
static void put(size_t len, size_t at)
{
	unsigned int flags = ++posted % BATCH ? 0 : IBV_SEND_SIGNALED;
	struct ibv_sge data = { (uintptr_t)out, len, out_mr->lkey };
	struct ibv_sge note = { (uintptr_t)notice, NOTICE, notice_mr->lkey };
	struct ibv_send_wr send = {
		.sg_list = &note, .num_sge = 1, .opcode = IBV_WR_SEND,
		.send_flags = flags | IBV_SEND_SOLICITED,
	};
	struct ibv_send_wr wr = {
		.sg_list = &data, .num_sge = 1,
		.opcode = is_imm ? IBV_WR_RDMA_WRITE_WITH_IMM : IBV_WR_RDMA_WRITE,
		.send_flags = is_imm ? flags | IBV_SEND_SOLICITED : 0,
		.wr.rdma = { peer.addr + at, peer.rkey },
		.next = is_imm ? NULL : &send,
	};
	struct ibv_send_wr *bad;

	errno = ibv_post_send(id->qp, &wr, &bad);
	if (errno)
		die("post");
	if (posted > BATCH && posted % BATCH == BATCH / 2)
		wait_signal();
}

static void get(void)
{
	struct ibv_wc wc;

	if (rdma_get_recv_comp(id, &wc) != 1 || wc.status != IBV_WC_SUCCESS)
		die("message");
	post_receive();
}

/* The messages of LEN bytes that may be under way, and that share the ring. */
static unsigned long window(size_t len)
{
	return len * DEPTH > RING ? RING / len : DEPTH;
}

/* One answer for so many messages. */
static unsigned long batch(size_t len)
{
	return window(len) < BATCH ? 1 : BATCH;
}

static void exchange(void)
{
	put(size, 0);
	get();
}

static void rounds(unsigned long n)
{
	while (n--)
		exchange();
}

static void stream(unsigned long n)
{
	struct stream what = { n, size };
	unsigned long i, answers = 0;

	memcpy(out, &what, sizeof(what));
	put(sizeof(what), 0);
	get();
	for (i = 0; i < n; i++) {
		if (i >= window(size) + answers * batch(size)) {
			get();
			answers++;
		}
		put(size, i % window(size) * size);
	}
	for (; answers < n / batch(size); answers++)
		get();
}

static void answer_all(void)
{
	for (;;) {
		get();
		put(size, 0);
	}
}

static void sink(void)
{
	struct stream what;
	unsigned long i;

	for (;;) {
		get();
		memcpy(&what, mine, sizeof(what));
		put(sizeof(what), 0);
		for (i = 1; i <= what.n; i++) {
			get();
			if (!(i % batch(what.size)))
				put(sizeof(what), 0);
		}
	}
}

static struct rdma_cm_id *endpoint(const char *host, const char *port)
{
	struct rdma_addrinfo hints = {
		.ai_flags = host ? 0 : RAI_PASSIVE, .ai_port_space = RDMA_PS_TCP,
	};
	struct ibv_qp_init_attr attr = {
		.cap = { .max_send_wr = 4 * DEPTH, .max_recv_wr = 2 * DEPTH,
			 .max_send_sge = 1, .max_recv_sge = 1 },
	};
	struct rdma_addrinfo *info;
	struct rdma_cm_id *ep;

	if (rdma_getaddrinfo(host ? host : "0.0.0.0", port, &hints, &info) ||
	    rdma_create_ep(&ep, info, NULL, &attr))
		die("endpoint");
	return ep;
}

/* Connect, or accept, and exchange the places of the rings. */
static void meet(struct rdma_cm_id *listener)
{
	struct rdma_conn_param param = { .retry_count = 7, .rnr_retry_count = 7 };
	struct ring ring;

	prepare();
	ring = (struct ring){ (uintptr_t)mine, mine_mr->rkey };
	param.private_data = &ring;
	param.private_data_len = sizeof(ring);
	if (listener)
		memcpy(&peer, id->event->param.conn.private_data, sizeof(peer));
	if (listener ? rdma_accept(id, &param) : rdma_connect(id, &param))
		die("connection");
	if (!listener)
		memcpy(&peer, id->event->param.conn.private_data, sizeof(peer));
}

static int serve(const char *port, void (*work)(void))
{
	struct rdma_cm_id *listener = endpoint(NULL, port);

	if (rdma_listen(listener, 1) || rdma_get_request(listener, &id))
		die("listen");
	meet(listener);
	work();
	return 0;
}

static int run(void (*work)(unsigned long n), const char *host, const char *port,
	       unsigned long n)
{
	unsigned long total = 0;
	char c;

	id = endpoint(host, port);
	meet(NULL);
	do {
		work(n);
		printf("%lu\n", total += n);
		fflush(stdout);
	} while (read(0, &c, 1) > 0);
	return 0;
}

/* The last argument may be a size. */
static int is_call(int argc, char **argv, const char *name, int args)
{
	if (argc < args || argc > args + 1 || strcmp(argv[1], name))
		return 0;
	if (argc > args)
		size = strtoul(argv[args], NULL, 10);
	return size > 0 && size <= RING;
}

int main(int argc, char **argv)
{
	is_imm = argc > 2 && !strcmp(argv[2], "imm");
	if (is_call(argc, argv, "server", 4))
		return serve(argv[3], answer_all);
	if (is_call(argc, argv, "sink", 4))
		return serve(argv[3], sink);
	if (is_call(argc, argv, "rounds", 6))
		return run(rounds, argv[3], argv[4], strtoul(argv[5], NULL, 10));
	if (is_call(argc, argv, "stream", 6))
		return run(stream, argv[3], argv[4], strtoul(argv[5], NULL, 10));
	fputs("usage: verbs server|sink KIND PORT [SIZE]\n"
	      "       verbs rounds|stream KIND HOST PORT N [SIZE]\n", stderr);
	return 2;
}
