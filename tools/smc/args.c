// SPDX-License-Identifier: GPL-2.0
/*
 * The command line of a command, checked against its row in the table of commands.
 */
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "smc.h"

/* A command takes the long form of each letter in its options. */
static const struct option long_options[] = {
	{ "all", no_argument, NULL, 'a' },
	{ "ends", no_argument, NULL, 'e' },
	{ "human", no_argument, NULL, 'h' },
	{ "interval", required_argument, NULL, 'i' },
	{ "json", no_argument, NULL, 'j' },
	{ "landing", no_argument, NULL, 'l' },
	{ "move", no_argument, NULL, 'm' },
	{ "number", required_argument, NULL, 'n' },
	{ "peers", no_argument, NULL, 'P' },
	{ "root", required_argument, NULL, 'r' },
	{ "serve", no_argument, NULL, 'S' },
	{ "socket", required_argument, NULL, 's' },
	{ "sync", no_argument, NULL, 'S' },
	{ "try", no_argument, NULL, 'T' },
	{ "undo", no_argument, NULL, 'u' },
	{ "verbose", no_argument, NULL, 'v' },
	{ "wait", required_argument, NULL, 'w' },
	{ "watch", no_argument, NULL, 'W' },
	{ }
};

/**
 * wrong() - say what is wrong with the command line
 * @format: the sentence, without a final stop, and its values as printf() takes them
 *
 * Return: EXIT_USAGE, for which main() also prints the usage of the command.
 */
int wrong(const char *format, ...)
{
	va_list values;

	fputs("smc: ", stderr);
	va_start(values, format);
	vfprintf(stderr, format, values);
	va_end(values);
	fputc('\n', stderr);
	return EXIT_USAGE;
}

/**
 * number_option() - read the value of an option as a number
 * @args: the command line
 * @letter: of the option
 * @low: the least that is allowed
 * @high: the most
 * @value: set if the option is given
 *
 * Return: false after a message if the value is not allowed.
 */
bool number_option(const struct args *args, char letter, long low, long high, long *value)
{
	const char *text = args->option[(int)letter];
	char *end;
	long number;

	if (!text)
		return true;
	errno = 0;
	number = strtol(text, &end, 10);
	if (errno || *end || end == text || number < low || number > high) {
		wrong("\"%s\" is no number from %ld to %ld", text, low, high);
		return false;
	}
	*value = number;
	return true;
}

static int wrong_option(const struct command *command, const char *option)
{
	const char *c;

	fprintf(stderr, "smc: %s has no option \"%s\"", command->name, option);
	if (*command->options)
		fputs("; it has", stderr);
	for (c = command->options; *c; c++)
		if (*c != ':' && *c != '+')
			fprintf(stderr, " -%c", *c);
	fputc('\n', stderr);
	return EXIT_USAGE;
}

/**
 * args_parse() - read the command line of a command
 * @command: its row in the table
 * @argc: as of main(), with the name of the command as the first word
 * @argv: likewise
 * @args: empty; filled
 *
 * Return: 0, or EXIT_USAGE after a message if the table does not allow it.
 */
int args_parse(const struct command *command, int argc, char **argv, struct args *args)
{
	const char *allowed = command->options;
	char options[32];
	int opt;

	/* '+' ends the options at the first word, and must come first */
	snprintf(options, sizeof(options), "%s:%s", *allowed == '+' ? "+" : "",
		 allowed + (*allowed == '+'));
	opterr = 0;
	/* a report reads several command lines */
	optind = 0;
	while ((opt = getopt_long(argc, argv, options, long_options, NULL)) != -1) {
		if (opt == ':')
			return wrong("option \"%s\" needs a value", argv[optind - 1]);
		if (opt == '?' || !strchr(allowed, opt))
			return wrong_option(command, opt == '?' && optopt ?
					    (char []){ '-', optopt, '\0' } : argv[optind - 1]);
		args->option[opt] = optarg ? optarg : "";
	}
	args->name = command->name;
	args->words = argv + optind;
	args->nr_words = argc - optind;
	if (args->nr_words > command->max_words)
		return wrong("%s takes no argument \"%s\"", command->name,
			     args->words[command->max_words]);
	if (args->nr_words < command->min_words)
		return wrong("%s needs another argument", command->name);
	return 0;
}
