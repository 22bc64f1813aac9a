/* SPDX-License-Identifier: GPL-2.0 */
/* What the two ends of `smc selftest` say to each other. */
#ifndef TOOLS_SMC_SELFTEST_H
#define TOOLS_SMC_SELFTEST_H

#include <assert.h>
#include <linux/types.h>

#include "check.h"

#define SELFTEST_PORT	14791
#define SELFTEST_MAGIC	0x534d435465737431ULL	/* changes with the messages */
#define SELFTEST_MAX	16777216U		/* bytes of a message of data */
#define SELFTEST_LIMIT	60			/* seconds that a test may take */
#define SELFTEST_CHUNK	65536

/* A connection is for one test. The client begins, and asks; an answer ends it. */
enum selftest_kind {
	SELFTEST_FACTS = 1,	/* the answer is all */
	SELFTEST_SIZES,		/* messages of selftest_size(), each goes there and back */
	SELFTEST_HALF,		/* a message there, its end, and one back */
	SELFTEST_RATE,		/* as many bytes as the client likes, and their end */
	SELFTEST_ECHO,		/* messages of one size go there and back, until their end */
};

/* Numbers are in network order. */
struct selftest_request {
	__be64 magic;
	__be32 kind;
	__be32 size;		/* of HALF and ECHO */
	__be64 seed;		/* of the contents, likewise */
};

static_assert(sizeof(struct selftest_request) == 24, "request");

struct selftest_answer {
	__be64 magic;
	__be64 bytes;		/* that the server has received */
	__be64 cpu_ns;		/* of the process for this connection */
	__be32 is_wrong;	/* the server has found a fault */
	__be32 landing;		/* setting of the server */
	char host[96];		/* kernel and module */
	char adapter[ADAPTER_TEXT];
	char text[128];		/* the fault */
};

static_assert(sizeof(struct selftest_answer) == 512, "answer");

/* A connection */
struct wire {
	int fd;
	uint64_t bytes;		/* received */
	bool is_end;		/* the data have ended where a message would begin */
	char text[128];		/* the first fault, or empty */
};

/* selftest-wire.c */
void limit_start(long seconds);
void limit_end(void);
bool wire_fault(struct wire *wire, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool wire_send(struct wire *wire, const void *data, size_t len);
bool wire_recv(struct wire *wire, void *data, size_t len);
bool wire_recv_end(struct wire *wire);
ssize_t wire_recv_some(struct wire *wire, void *data, size_t len);
bool wire_send_pattern(struct wire *wire, size_t len, uint64_t seed);
bool wire_recv_pattern(struct wire *wire, size_t len, uint64_t seed);
void wire_ports(const struct wire *wire, uint16_t *local, uint16_t *peer);
bool selftest_size(unsigned int number, size_t *size, uint64_t *seed);
uint64_t selftest_back(uint64_t seed);
void selftest_host(char text[96]);
uint64_t cpu_ns(void);
uint64_t clock_ns(void);

/* selftest-serve.c */
int selftest_serve(uint16_t port, long limit);

#endif /* TOOLS_SMC_SELFTEST_H */
