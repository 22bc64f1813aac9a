// SPDX-License-Identifier: GPL-2.0
/*
 * smc report: what a bug report needs, as one text. Each section is a process of its own, so that
 * none of them stops the others.
 */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <sys/klog.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "check.h"

#define SECTION_MAX	60	/* seconds */
#define WORDS_MAX	16

/* The actions of klogctl() */
#define LOG_READ_ALL	3
#define LOG_SIZE	10

#define NOTICE \
	"It has addresses, ports, EIDs, and names of hosts, users' programs and control groups: " \
	"read it before you pass it on."

static int print_command(char *text);
static int print_program(char *text);
static int print_files(char *patterns);
static int print_gids(char *pattern);
static int print_log(char *word);

#define PORTS IB_DIR "/*/ports/*"

static const struct section {
	int (*print)(char *text);	/* Return: exit status */
	bool needs_module;
	const char *text;
} sections[] = {
	{ print_command, false, "--version" },
	{ print_files, false, "/proc/version /proc/sys/kernel/tainted /etc/os-release" },
	{ print_command, false, "check" },
	{ print_files, true, "/sys/module/smc/{version,srcversion,taint,refcnt,parameters/*}" },
	{ print_files, true, "/proc/sys/net/smc/*" },
	{ print_files, false, IB_DIR "/*/{node_type,fw_ver,hca_type,board_id}" },
	{ print_files, false, PORTS "/{link_layer,state,phys_state,rate}" },
	{ print_gids, false, PORTS },
	{ print_program, false, "rdma dev show -d" },
	{ print_program, false, "rdma link" },
	{ print_program, false, "rdma resource" },
	{ print_program, false, "rdma statistic" },
	{ print_program, false, "ip -d address" },
	{ print_program, false, "ip route show table all" },
	{ print_command, true, "devices" },
	{ print_command, true, "devices -j" },
	{ print_command, true, "groups" },
	{ print_command, true, "groups -j" },
	{ print_command, true, "links" },
	{ print_command, true, "links -j" },
	{ print_command, true, "list -v" },
	{ print_command, true, "stats" },
	{ print_command, true, "stats --peers" },
	{ print_command, true, "history" },
	{ print_command, true, "peers" },
	{ print_command, true, "policy" },
	{ print_command, true, "ueid" },
	{ print_command, true, "pnet" },
	{ print_command, false, "status" },
	{ print_log, false, "smc" },
};

static int split(char *text, char *words[WORDS_MAX])
{
	int nr = 0;

	for (text = strtok(text, " "); text && nr < WORDS_MAX - 1; text = strtok(NULL, " "))
		words[nr++] = text;
	words[nr] = NULL;
	return nr;
}

static int print_command(char *text)
{
	char *words[WORDS_MAX + 1] = { "smc" };
	int nr = split(text, words + 1);

	return command_run(nr + 1, words);
}

static int print_program(char *text)
{
	char *words[WORDS_MAX];

	split(text, words);
	execvp(*words, words);
	fprintf(stderr, "smc: %s: %s\n", *words, strerror(errno));
	return EXIT_FAILURE;
}

static int print_file(const char *path)
{
	FILE *file = fopen(path, "r");
	char line[512];

	while (file && fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = '\0';
		printf("%s: %s\n", path, line);
	}
	if (file && !ferror(file)) {
		fclose(file);
		return 0;
	}
	fprintf(stderr, "%s: %s\n", path, strerror(errno));
	if (file)
		fclose(file);
	return EXIT_FAILURE;
}

/* Reads all files of a section, also after one that fails. */
static int each_path(const char *pattern, int (*visit)(const char *path))
{
	int status = 0;
	glob_t found;
	size_t i;

	if (glob(pattern, GLOB_BRACE, NULL, &found)) {
		printf("no %s\n", pattern);
		return 0;
	}
	for (i = 0; i < found.gl_pathc; i++)
		status |= visit(found.gl_pathv[i]);
	globfree(&found);
	return status;
}

static int print_files(char *patterns)
{
	char *words[WORDS_MAX];
	int i, nr = split(patterns, words), status = 0;

	for (i = 0; i < nr; i++)
		status |= each_path(words[i], print_file);
	return status;
}

static int print_gids_of(const char *path)
{
	char device[64], text[INET6_ADDRSTRLEN];
	const char *name = strstr(path, IB_DIR);
	struct gid gid;
	int i, port;

	if (!name || sscanf(name, IB_DIR "/%63[^/]/ports/%d", device, &port) != 2)
		return 0;
	for (i = 0; i < MAX_GIDS; i++) {
		if (!check_read_gid(device, port, i, &gid))
			continue;
		inet_ntop(AF_INET6, &gid.addr, text, sizeof(text));
		printf("%s port %d GID %d: %s RoCE v%d %s\n", device, port, i, text,
		       gid.is_roce_v2 ? 2 : 1, gid.interface);
	}
	return 0;
}

static int print_gids(char *pattern)
{
	return each_path(pattern, print_gids_of);
}

static int print_log(char *word)
{
	int size = klogctl(LOG_SIZE, NULL, 0), nr = 0;
	char *text = size > 0 ? malloc(size + 1) : NULL, *line;
	int len = text ? klogctl(LOG_READ_ALL, text, size) : -1;

	if (len < 0) {
		fprintf(stderr, "smc: the kernel log: %s\n", strerror(errno));
		free(text);
		return EXIT_FAILURE;
	}
	text[len] = '\0';
	for (line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
		if (strstr(line, word))
			nr += puts(line) >= 0;
	if (!nr)
		puts("no line");
	free(text);
	return 0;
}

static const char *name_of(const struct section *section)
{
	return section->print == print_command ? "smc " :
	       section->print == print_gids ? "GIDs of " :
	       section->print == print_log ? "the kernel log: " : "";
}

/* The child has an end also if it waits for something. Return: its status, as of wait() */
static int run_section(const struct section *section)
{
	char text[256];
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		snprintf(text, sizeof(text), "%s", section->text);
		dup2(STDOUT_FILENO, STDERR_FILENO);
		/* keeps the order of both */
		setvbuf(stdout, NULL, _IONBF, 0);
		alarm(SECTION_MAX);
		status = section->print(text);
		fflush(stdout);
		_exit(status);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0) {
		printf("smc: %s\n", strerror(errno));
		return 0;
	}
	return status;
}

static void print_section(const struct section *section, bool has_module)
{
	int status;

	printf("\n# %s%s\n\n", name_of(section), section->text);
	if (section->needs_module && !has_module) {
		puts("left out: the module smc is not loaded");
		return;
	}
	status = run_section(section);
	if (WIFSIGNALED(status))
		printf("(ended by signal %d: %s)\n", WTERMSIG(status),
		       strsignal(WTERMSIG(status)));
	else if (status)
		printf("(exit status %d)\n", WEXITSTATUS(status));
}

/* Root's answers are not for everybody. */
static bool open_output(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd >= 0 && dup2(fd, STDOUT_FILENO) >= 0) {
		close(fd);
		return true;
	}
	fprintf(stderr, "smc: %s: %s\n", path, strerror(errno));
	if (fd >= 0)
		close(fd);
	return false;
}

/**
 * cmd_report() - print what a bug report needs
 * @args: the file; none for standard output
 *
 * A section that fails says why. To ask a module that is not loaded would load it.
 *
 * Return: exit status: EXIT_FAILURE if it cannot be written.
 */
int cmd_report(const struct args *args)
{
	bool has_module = !access("/sys/module/smc", F_OK);
	const char *path = getenv("PATH");
	char more[4096], now[64];
	time_t seconds = time(NULL);
	size_t i;

	if (args->nr_words && !open_output(args->words[0]))
		return EXIT_FAILURE;
	/* plain su leaves the directories of rdma and ip out */
	snprintf(more, sizeof(more), "%s:/usr/sbin:/sbin", path ? path : "/usr/bin:/bin");
	setenv("PATH", more, 1);
	strftime(now, sizeof(now), "%F %T UTC", gmtime(&seconds));
	printf("Report of smc, %s, by user ID %u\n" NOTICE "\n", now, geteuid());
	for (i = 0; i < ARRAY_SIZE(sections); i++)
		print_section(&sections[i], has_module);
	if (fflush(stdout) || ferror(stdout)) {
		perror("smc");
		return EXIT_FAILURE;
	}
	fprintf(stderr, "smc: the report is written. " NOTICE "\n");
	return 0;
}
