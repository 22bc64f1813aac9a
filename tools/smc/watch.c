// SPDX-License-Identifier: GPL-2.0
/*
 * smc watch: rates of this network namespace, of links and of connections, live.
 */
#include <errno.h>
#include <inttypes.h>
#include <langinfo.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <sys/ioctl.h>

#include "smc.h"

#define HISTORY 60
#define CONNS_MAX 4096

struct conn {
	char local[ADDR_TEXT], peer[ADDR_TEXT];
	char link[4];		/* its number; mem: in memory */
	struct smc_diag_conninfo info;
};

/* What one look at the module has found */
struct look {
	double time;
	struct stats stats;
	struct links links;
	size_t nr_seen;			/* connections, also those that are not kept */
	size_t nr_conns;
	struct conn conns[CONNS_MAX];
};

/* A rate over time: of this namespace, in one direction */
struct course {
	const char *name;
	const char *counters[2];	/* their sum */
	double rates[HISTORY];		/* the last one last */
	size_t nr;
	double peak;
};

static struct course courses[] = {
	{ "sent", { "tx_bytes", "memory_bytes" } },
	{ "received", { "rx_bytes" } },
	{ "messages sent", { "cdc_tx", "imm_tx" } },
	{ "messages received", { "cdc_rx", "imm_rx" } },
};

static volatile sig_atomic_t is_interrupted;

static void interrupt(int number)
{
	(void)number;
	is_interrupted = 1;
}

static int add_conn(const struct diag_sock *sock, void *arg)
{
	struct look *look = arg;
	struct conn *conn = &look->conns[look->nr_conns];

	if (!sock->has_conn || ++look->nr_seen > CONNS_MAX)
		return 0;
	list_endpoints(sock, conn->local, conn->peer);
	snprintf(conn->link, sizeof(conn->link), sock->has_pair ? "mem" : "%u",
		 sock->link.link_id);
	conn->info = sock->conn;
	look->nr_conns++;
	return 0;
}

static int take(struct look *look)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	look->time = time.tv_sec + time.tv_nsec / 1e9;
	look->nr_conns = 0;
	look->nr_seen = 0;
	if (stats_read(&look->stats) || links_read(&look->links))
		return EXIT_FAILURE;
	if (diag_dump(NULL, add_conn, look)) {
		fprintf(stderr, "smc: no answer of sock_diag (is the module smc_diag loaded?)\n");
		return EXIT_FAILURE;
	}
	return 0;
}

/* A counter that went back belongs to another module, link or connection. */
static double per_second(uint64_t now, uint64_t before, double seconds)
{
	return now >= before && seconds > 0 ? (now - before) / seconds : 0;
}

/* Bytes from one cursor to a later one of a ring; wraps have 16 bits. */
static uint64_t distance(const struct smc_diag_cursor *from, const struct smc_diag_cursor *to,
			 uint32_t size)
{
	return (uint64_t)(uint16_t)(to->wrap - from->wrap) * size + to->count - from->count;
}

static const char *amount(char text[16], double value)
{
	static const char units[] = " kMGTP";
	const char *unit = units;

	for (; value >= 999.5 && unit[1]; unit++)
		value /= 1000;
	if (*unit == ' ')
		snprintf(text, 16, "%.0f", value);
	else
		snprintf(text, 16, "%.*f %c", value < 99.95 ? 1 : 0, value, *unit);
	return text;
}

/* The last rates as a line of bars, the highest of them being the peak */
static void print_bars(const struct course *course)
{
	static const char * const blocks[] = {
		" ", "\u2581", "\u2582", "\u2583", "\u2584", "\u2585", "\u2586", "\u2587", "\u2588",
	};
	static const char * const letters[] = { " ", ".", ".", ":", ":", "=", "=", "#", "#" };
	bool is_utf8 = !strcmp(nl_langinfo(CODESET), "UTF-8");
	double most = 0;
	size_t i, level;

	for (i = 0; i < course->nr; i++)
		if (course->rates[i] > most)
			most = course->rates[i];
	for (i = 0; i < course->nr; i++) {
		level = most > 0 ? course->rates[i] / most * 8 + 0.5 : 0;
		if (!level && course->rates[i] > 0)
			level = 1;
		fputs((is_utf8 ? blocks : letters)[level], stdout);
	}
	putchar('\n');
}

static void print_course(struct course *course, const struct look *now, const struct look *before)
{
	uint64_t moved = 0, moved_before = 0;
	char last[16], peak[16], mean[16];
	double sum = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(course->counters) && course->counters[i]; i++) {
		moved += stats_value(&now->stats, course->counters[i]);
		moved_before += stats_value(&before->stats, course->counters[i]);
	}
	if (course->nr == HISTORY)
		memmove(course->rates, course->rates + 1, (--course->nr) * sizeof(*course->rates));
	course->rates[course->nr++] = per_second(moved, moved_before, now->time - before->time);
	for (i = 0; i < course->nr; i++)
		sum += course->rates[i];
	if (course->rates[course->nr - 1] > course->peak)
		course->peak = course->rates[course->nr - 1];
	printf("%-18s %9s %9s %9s  ", course->name, amount(last, course->rates[course->nr - 1]),
	       amount(mean, sum / course->nr), amount(peak, course->peak));
	print_bars(course);
}

static void print_link(const struct link *link, const struct look *now, const struct look *before)
{
	static const int rates[] = { SMC_NLA_COUNT_TX_BYTES, SMC_NLA_COUNT_RX_BYTES,
				     SMC_NLA_COUNT_TX_MSGS, SMC_NLA_COUNT_RX_MSGS };
	double seconds = now->time - before->time;
	static const struct link none;
	const struct link *old = &none;
	char text[ARRAY_SIZE(rates)][16];
	size_t i;

	for (i = 0; i < before->links.nr; i++)
		if (before->links.link[i].group == link->group &&
		    before->links.link[i].id == link->id)
			old = &before->links.link[i];
	if (old == &none)
		old = link;	/* no rate yet */
	for (i = 0; i < ARRAY_SIZE(rates); i++)
		amount(text[i], per_second(link->counts[rates[i]], old->counts[rates[i]], seconds));
	printf("%08x %-4u %-10s %-10s %5" PRIu64 " %9s %9s %9s %9s\n", link->group, link->id,
	       link->is_active ? "active" : "inactive", link->device, link->connections,
	       text[0], text[1], text[2], text[3]);
}

static const struct conn *same_conn(const struct look *look, const struct conn *conn)
{
	size_t i;

	for (i = 0; i < look->nr_conns; i++)
		if (look->conns[i].info.token == conn->info.token &&
		    !strcmp(look->conns[i].local, conn->local) &&
		    !strcmp(look->conns[i].peer, conn->peer))
			return &look->conns[i];
	return NULL;
}

static void print_conn(const struct conn *conn, const struct look *now, const struct look *before)
{
	const struct smc_diag_conninfo *info = &conn->info;
	const struct conn *old = same_conn(before, conn);
	double seconds = now->time - before->time;
	uint64_t tx = 0, rx = 0, unread;
	char text[4][16];

	if (old) {
		tx = distance(&old->info.tx_sent, &info->tx_sent, info->peer_rmbe_size);
		rx = distance(&old->info.rx_prod, &info->rx_prod, info->rmbe_size);
	}
	unread = distance(&info->tx_cons, &info->tx_prod, info->peer_rmbe_size);
	printf("%-28s %-28s %-4s %9s %9s %9s %9s\n", conn->local, conn->peer, conn->link,
	       amount(text[0], per_second(tx, 0, seconds)),
	       amount(text[1], per_second(rx, 0, seconds)),
	       amount(text[2], unread < info->peer_rmbe_size ? info->peer_rmbe_size - unread : 0),
	       amount(text[3], distance(&info->rx_cons, &info->rx_prod, info->rmbe_size)));
}

/* Returns how many lines the terminal has; a file has no limit. */
static size_t lines_of_screen(void)
{
	struct winsize size;

	if (!isatty(STDOUT_FILENO))
		return SIZE_MAX;
	return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || size.ws_row < 12 ? 24 : size.ws_row;
}

static void print_look(const struct look *now, const struct look *before)
{
	size_t room = lines_of_screen();
	time_t wall = time(NULL);
	char clock[16];
	size_t i;

	if (room != SIZE_MAX)
		fputs("\033[H\033[J", stdout);
	strftime(clock, sizeof(clock), "%T", localtime(&wall));
	printf("%-18s %9s %9s %9s\n", clock, "now", "mean", "peak");
	for (i = 0; i < ARRAY_SIZE(courses); i++)
		print_course(&courses[i], now, before);
	printf("\n%-8s %-4s %-10s %-10s %5s %9s %9s %9s %9s\n", "GROUP", "LINK", "STATE", "DEVICE",
	       "CONNS", "SENT/s", "RECVD/s", "MSGS/s", "MSGS-IN/s");
	room -= ARRAY_SIZE(courses) + 6;
	for (i = 0; i < now->links.nr && i < room / 2; i++)
		print_link(&now->links.link[i], now, before);
	room -= i;
	printf("\n%-28s %-28s %-4s %9s %9s %9s %9s\n", "LOCAL", "PEER", "LINK", "SENT/s", "RECVD/s",
	       "WINDOW", "UNREAD");
	if (room && now->nr_seen > room)
		room--;
	for (i = 0; i < now->nr_conns && i < room; i++)
		print_conn(&now->conns[i], now, before);
	if (i < now->nr_seen)
		printf("and %zu more\n", now->nr_seen - i);
	fflush(stdout);
}

/**
 * cmd_watch() - show rates until interrupted
 * @args: option i, the seconds between two looks; option n, how many to show
 *
 * Return: exit status.
 */
int cmd_watch(const struct args *args)
{
	struct sigaction action = { .sa_handler = interrupt };
	struct look *looks = calloc(2, sizeof(*looks));
	long interval = 1, left = -1, turn;
	int status;

	if (!number_option(args, 'i', 1, 3600, &interval) ||
	    !number_option(args, 'n', 1, 1000000, &left)) {
		free(looks);
		return EXIT_USAGE;
	}
	if (!looks)
		return EXIT_FAILURE;
	setlocale(LC_CTYPE, "");
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	status = take(&looks[0]);
	for (turn = 1; !status && left-- && !is_interrupted; turn++) {
		sleep(interval);
		if (is_interrupted)
			break;
		status = take(&looks[turn % 2]);
		if (!status)
			print_look(&looks[turn % 2], &looks[(turn + 1) % 2]);
		if (ferror(stdout))
			status = EXIT_FAILURE;
	}
	free(looks);
	return status;
}
