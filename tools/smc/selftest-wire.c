// SPDX-License-Identifier: GPL-2.0
/*
 * What both ends of `smc selftest` do: transfers that end in time, and data that show each fault.
 */
#include <endian.h>
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/utsname.h>

#include "selftest.h"

/* Patterns with these seeds are the same in each byte, or in each second one. */
enum { SEED_ZEROS, SEED_ONES, SEED_TURNS, SEED_RANDOM };

static volatile sig_atomic_t is_late;
static long limit;

static void on_alarm(int signal)
{
	(void)signal;
	is_late = 1;
}

/**
 * limit_start() - have calls of this process end in time
 * @seconds: from now on
 *
 * Then a signal interrupts each call that would sleep, once a second: one that came before the
 * call does no harm.
 */
void limit_start(long seconds)
{
	const struct itimerval timer = { .it_value.tv_sec = seconds, .it_interval.tv_sec = 1 };
	const struct sigaction action = { .sa_handler = on_alarm };

	is_late = 0;
	limit = seconds;
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &timer, NULL);
}

void limit_end(void)
{
	setitimer(ITIMER_REAL, &(struct itimerval){ 0 }, NULL);
}

/**
 * wire_fault() - note what is wrong with a connection
 * @wire: the connection; an earlier fault stays
 * @format: what, and its values as printf() takes them
 *
 * Return: false.
 */
bool wire_fault(struct wire *wire, const char *format, ...)
{
	va_list values;

	if (*wire->text)
		return false;
	va_start(values, format);
	vsnprintf(wire->text, sizeof(wire->text), format, values);
	va_end(values);
	return false;
}

/* A call has failed, or is not worth it any more. Return: true to repeat it */
static bool repeats(struct wire *wire, const char *call)
{
	if (is_late)
		return wire_fault(wire, "%s: not done within %ld s", call, limit);
	if (errno == EINTR)
		return true;
	return wire_fault(wire, "%s: %s", call, strerror(errno));
}

bool wire_send(struct wire *wire, const void *data, size_t len)
{
	const char *at = data;

	while (len) {
		ssize_t n = is_late ? -1 : send(wire->fd, at, len, MSG_NOSIGNAL);

		if (n < 0 && !repeats(wire, "send"))
			return false;
		if (n > 0) {
			at += n;
			len -= n;
		}
	}
	return true;
}

/* Return: bytes, 0 at the end of the data, -1 after a fault */
ssize_t wire_recv_some(struct wire *wire, void *data, size_t len)
{
	ssize_t n;

	do {
		n = is_late ? -1 : recv(wire->fd, data, len, 0);
	} while (n < 0 && repeats(wire, "receive"));
	if (n > 0)
		wire->bytes += n;
	return n;
}

/* Return: false after a fault, or with @wire->is_end */
bool wire_recv(struct wire *wire, void *data, size_t len)
{
	char *at = data;

	while (len) {
		ssize_t n = wire_recv_some(wire, at, len);

		wire->is_end = !n && at == data;
		if (!n && !wire->is_end)
			wire_fault(wire, "receive: the data end %zu bytes too early", len);
		if (n <= 0)
			return false;
		at += n;
		len -= n;
	}
	return true;
}

bool wire_recv_end(struct wire *wire)
{
	char byte;
	ssize_t n = wire_recv_some(wire, &byte, 1);

	return n > 0 ? wire_fault(wire, "receive: more data than there should be") : !n;
}

/* The finalizer of splitmix64: neighbours have nothing in common. */
static uint64_t mix(uint64_t x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
	return x ^ x >> 31;
}

/* Fills whole words; the contents depend on the place, so that a shift shows. */
static void fill(char *data, size_t len, size_t at, uint64_t seed)
{
	static const uint8_t same[] = { [SEED_ZEROS] = 0, [SEED_ONES] = 0xff };
	size_t i;

	if (seed < SEED_TURNS) {
		memset(data, same[seed], len);
		return;
	}
	for (i = 0; i < len; i += 8) {
		uint64_t word = htobe64(seed == SEED_TURNS ? 0x55aa55aa55aa55aaULL :
					mix(seed + (at + i) * 0x9e3779b97f4a7c15ULL));

		memcpy(data + i, &word, len - i < 8 ? len - i : 8);
	}
}

/**
 * wire_send_pattern() - send a message, by one call if that takes it
 * @wire: the connection
 * @len: up to SELFTEST_MAX
 * @seed: of the contents
 *
 * Return: false after a fault.
 */
bool wire_send_pattern(struct wire *wire, size_t len, uint64_t seed)
{
	static char data[SELFTEST_MAX];

	fill(data, len, 0, seed);
	return wire_send(wire, data, len);
}

/* The first byte that differs is the fault; the others are received nevertheless. */
static void compare(struct wire *wire, const char *got, const char *want, size_t len, size_t at,
		    size_t whole)
{
	size_t i;

	if (!memcmp(got, want, len))
		return;
	for (i = 0; got[i] == want[i]; i++)
		;
	wire_fault(wire, "byte %zu of %zu is 0x%02x in place of 0x%02x", at + i, whole,
		   (uint8_t)got[i], (uint8_t)want[i]);
}

/**
 * wire_recv_pattern() - receive a message and compare it
 * @wire: the connection
 * @len: its length
 * @seed: of the contents
 *
 * Return: false if it did not come; a difference is a fault of @wire only.
 */
bool wire_recv_pattern(struct wire *wire, size_t len, uint64_t seed)
{
	static char got[SELFTEST_CHUNK], want[SELFTEST_CHUNK];
	size_t at, part;

	for (at = 0; at < len; at += part) {
		part = len - at < sizeof(got) ? len - at : sizeof(got);
		if (!wire_recv(wire, got, part)) {
			wire->is_end &= !at;
			return at && wire_fault(wire, "receive: the message ends at byte %zu", at);
		}
		fill(want, part, at, seed);
		compare(wire, got, want, part, at, len);
	}
	return true;
}

/* Both families have the port at one place. */
void wire_ports(const struct wire *wire, uint16_t *local, uint16_t *peer)
{
	struct sockaddr_in6 addr = { 0 };
	socklen_t len = sizeof(addr);

	getsockname(wire->fd, (struct sockaddr *)&addr, &len);
	*local = ntohs(addr.sin6_port);
	len = sizeof(addr);
	getpeername(wire->fd, (struct sockaddr *)&addr, &len);
	*peer = ntohs(addr.sin6_port);
}

/**
 * selftest_size() - get the messages of SELFTEST_SIZES
 * @number: of the message
 * @size: filled
 * @seed: filled
 *
 * The powers of two up to SELFTEST_MAX, an odd number behind each but the last, and other patterns.
 *
 * Return: false behind the last one.
 */
bool selftest_size(unsigned int number, size_t *size, uint64_t *seed)
{
	unsigned int power = number / 2;

	*seed = SEED_RANDOM + number;
	*size = (size_t)1 << power;
	if (number % 2)
		*size += *size / 3 | 1;
	if (*size <= SELFTEST_MAX)
		return true;
	/* what is behind the greatest size */
	number -= 49;
	*seed = number;
	*size = 1000003;
	return number < SEED_RANDOM;
}

/* The seed of the message that comes back. */
uint64_t selftest_back(uint64_t seed)
{
	return seed < SEED_RANDOM ? seed : ~seed;
}

/* What runs on this host */
void selftest_host(char text[96])
{
	char version[32] = "not loaded";
	struct utsname name;

	uname(&name);
	if (!read_line("/sys/module/smc/version", version, sizeof(version)) &&
	    !access("/sys/module/smc", F_OK))
		snprintf(version, sizeof(version), "another one");
	snprintf(text, 96, "Linux %.36s, %.12s, module smc: %.16s", name.release, name.machine,
		 version);
}

/* The time of processors that this process has used, without that of interrupts */
uint64_t cpu_ns(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000000ULL +
	       (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000ULL;
}

uint64_t clock_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000ULL + time.tv_nsec;
}
