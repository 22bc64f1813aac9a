// SPDX-License-Identifier: GPL-2.0
/*
 * smc completion: completions for bash, from the table of commands.
 */
#include <string.h>

#include "smc.h"

/* The words of the usage that are no placeholders: small letters only */
static void print_words(const char *usage)
{
	const char *word;
	size_t len;

	for (; *usage; usage += len) {
		len = strcspn(usage, "[]{}|. ");
		word = usage;
		if (len && strspn(word, "-abcdefghijklmnopqrstuvwxyz") >= len && word[len] != '.')
			printf(" %.*s", (int)len, word);
		if (!len)
			len = 1;
	}
}

/**
 * completion_print() - print a script for bash
 * @commands: the table
 * @nr: its rows
 *
 * Programs, units, control groups and files complete as such.
 *
 * Return: exit status.
 */
int completion_print(const struct command *commands, size_t nr)
{
	size_t i;

	printf("# bash completion for smc, printed by `smc completion`\n"
	       "_smc()\n{\n"
	       "\tlocal word=${COMP_WORDS[COMP_CWORD]} words\n\n"
	       "\tif [ \"$COMP_CWORD\" -eq 1 ]; then\n\t\twords='");
	for (i = 0; i < nr; i++)
		printf("%s ", commands[i].name);
	printf("help --version'\n\t\tCOMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
	       "\t\treturn\n\tfi\n"
	       "\tcase ${COMP_WORDS[COMP_CWORD - 1]} in\n"
	       "\t--root | -r)\n\t\tCOMPREPLY=($(compgen -d -- \"$word\"))\n\t\treturn\n\t\t;;\n"
	       "\tesac\n"
	       "\tcase ${COMP_WORDS[1]} in\n");
	for (i = 0; i < nr; i++) {
		printf("\t%s) words='", commands[i].name);
		print_words(commands[i].args);
		printf("' ;;\n");
	}
	printf("\tesac\n"
	       "\tCOMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
	       "\t[[ $word != -* ]] || return 0\n"
	       "\tcase ${COMP_WORDS[1]} in\n"
	       "\t(run) COMPREPLY+=($(compgen -c -- \"$word\")) ;;\n"
	       "\t(report) COMPREPLY+=($(compgen -f -- \"$word\")) ;;\n"
	       "\t(enable | disable)\n"
	       "\t\tCOMPREPLY+=($(compgen -W \"$(systemctl list-unit-files \\\n"
	       "\t\t\t--type=service --no-legend 2>/dev/null |\n"
	       "\t\t\tcut -d ' ' -f 1)\" -- \"$word\"))\n"
	       "\t\t;;\n"
	       "\t(attach | detach)\n"
	       "\t\tCOMPREPLY+=($(cd /sys/fs/cgroup 2>/dev/null &&\n"
	       "\t\t\tcompgen -d -- \"$word\"))\n"
	       "\t\t;;\n"
	       "\tesac\n}\ncomplete -F _smc smc\n");
	return 0;
}
