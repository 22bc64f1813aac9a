// SPDX-License-Identifier: GPL-2.0
/*
 * smc attach, detach and status of a tool that was built without libbpf or clang.
 */
#include <stdlib.h>

#include "smc.h"

static int is_missing(const struct args *args)
{
	fprintf(stderr, "smc: %s is not in this tool: it was built without libbpf or clang\n",
		args->name);
	return EXIT_FAILURE;
}

int cmd_attach(const struct args *args)
{
	return is_missing(args);
}

int cmd_detach(const struct args *args)
{
	return is_missing(args);
}

int cmd_status(const struct args *args)
{
	return is_missing(args);
}
