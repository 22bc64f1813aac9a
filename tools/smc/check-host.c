// SPDX-License-Identifier: GPL-2.0
/*
 * smc check without a host: whether this host can run the module, before it is installed, too.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sys/utsname.h>

#include "check.h"

#define VERSION(major, minor)	((major) * 1000 + (minor))
#define KERNEL_FIRST		VERSION(6, 1)	/* as in dkms.conf */
#define KERNEL_LAST		VERSION(7, 3)
#define KERNELS			"6.1 to 7.3"

#define SECURE_BOOT "/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"

/* The module of this name, for the running kernel */
struct host {
	struct utsname uts;
	bool is_loaded;		/* one is */
	bool is_ours;		/* and it is that of this project */
	bool is_installed;	/* modprobe finds ours */
	char path[256];		/* what modprobe finds, below /lib/modules/RELEASE */
};

static FILE *open_kernel_file(const struct host *host, const char *format)
{
	char path[512];

	snprintf(path, sizeof(path), format, host->uts.release);
	return fopen(path, "r");
}

/* Finds the module in a list of depmod; what follows a colon are the modules that one needs. */
static bool find_module(FILE *file, char *path, size_t size)
{
	bool found = false;
	const char *name;
	char line[4096];

	while (file && !found && fgets(line, sizeof(line), file)) {
		line[strcspn(line, ":\n")] = '\0';
		name = strrchr(line, '/');
		found = name && (!strcmp(name, "/smc.ko") || !strncmp(name, "/smc.ko.", 8));
		if (found)
			snprintf(path, size, "%.255s", line);
	}
	if (file)
		fclose(file);
	return found;
}

static void examine_module(struct host *host)
{
	uname(&host->uts);
	host->is_loaded = !access("/sys/module/smc", F_OK);
	host->is_ours = !access("/sys/module/smc/version", F_OK);
	/* that of the distribution is where its other modules are */
	host->is_installed = find_module(open_kernel_file(host, "/lib/modules/%s/modules.dep"),
					 host->path, sizeof(host->path)) &&
			     strncmp(host->path, "kernel/", 7);
}

/* 'y', 'm', 'n', or '?' where the configuration is not to be found */
static char config_of(const struct host *host, const char *name)
{
	static const char * const places[] = {
		"/lib/modules/%s/build/.config", "/lib/modules/%s/config", "/boot/config-%s",
	};
	size_t i, len = strlen(name);
	char line[256], value = 'n';
	FILE *file = NULL;

	for (i = 0; i < ARRAY_SIZE(places) && !file; i++)
		file = open_kernel_file(host, places[i]);
	if (!file)
		return '?';
	while (value == 'n' && fgets(line, sizeof(line), file))
		if (!strncmp(line, name, len) && line[len] == '=')
			value = line[len + 1];
	fclose(file);
	return value;
}

static bool is_built_in(const struct host *host)
{
	char path[256];

	return config_of(host, "CONFIG_SMC") == 'y' ||
	       find_module(open_kernel_file(host, "/lib/modules/%s/modules.builtin"), path,
			   sizeof(path));
}

static bool is_in_range(const struct host *host)
{
	unsigned int major, minor;

	return sscanf(host->uts.release, "%u.%u", &major, &minor) == 2 && minor < 1000 &&
	       VERSION(major, minor) >= KERNEL_FIRST && VERSION(major, minor) <= KERNEL_LAST;
}

static void check_kernel(struct check *check, const struct host *host)
{
	const char *release = host->uts.release;
	/* the other ones of 64 bits have it in their names */
	bool is_64bit = strstr(host->uts.machine, "64") || !strcmp(host->uts.machine, "s390x");

	if (host->is_ours)
		verdict(check, RIGHT, "kernel", NULL, "%s runs the module", release);
	else if (!is_in_range(host))
		verdict(check, WRONG, "kernel", "boot a kernel from " KERNELS,
			"%s is none of " KERNELS ", for which the module is built", release);
	else if (!is_64bit)
		verdict(check, WRONG, "kernel", "boot a kernel of 64 bits",
			"a kernel of 32 bits: %s", host->uts.machine);
	else if (is_built_in(host))
		verdict(check, WRONG, "kernel", "boot a kernel with CONFIG_SMC=m, or without it",
			"%s has SMC built in (CONFIG_SMC=y), which no module replaces", release);
	else if (config_of(host, "CONFIG_INFINIBAND") == 'n')
		verdict(check, WRONG, "kernel", "boot a kernel with CONFIG_INFINIBAND",
			"%s has no CONFIG_INFINIBAND", release);
	else if (config_of(host, "CONFIG_SMC") == 'n' &&
		 config_of(host, "CONFIG_NETFILTER") == 'n')
		verdict(check, WRONG, "kernel", "boot a kernel with one of them",
			"%s has neither CONFIG_SMC nor CONFIG_NETFILTER", release);
	else
		verdict(check, RIGHT, "kernel", NULL,
			"%s is one of " KERNELS ", for which the module is built", release);
}

/* Fills the command that installs the headers, by what the distribution says of itself. */
static void headers_mend(const struct host *host, char *mend, size_t size)
{
	static const struct {
		const char *id, *format;
	} families[] = {
		{ "debian", "apt-get install linux-headers-%s" },
		{ "fedora", "dnf install kernel-devel-%s" },
		{ "rhel", "dnf install kernel-devel-%s" },
		{ "arch", "pacman -S linux-headers, and boot the kernel of that version" },
		{ "suse", "zypper install kernel-default-devel" },
	};
	FILE *file = fopen("/etc/os-release", "r");
	char line[256];
	size_t i;

	snprintf(mend, size, "install the headers of kernel %s", host->uts.release);
	while (file && fgets(line, sizeof(line), file)) {
		if (strncmp(line, "ID=", 3) && strncmp(line, "ID_LIKE=", 8))
			continue;
		for (i = 0; i < ARRAY_SIZE(families); i++)
			if (strstr(line, families[i].id))
				snprintf(mend, size, families[i].format, host->uts.release);
	}
	if (file)
		fclose(file);
}

static void check_headers(struct check *check, const struct host *host)
{
	FILE *file = open_kernel_file(host, "/lib/modules/%s/build/Makefile");
	char mend[256];

	if (file) {
		fclose(file);
		verdict(check, RIGHT, "headers", NULL, "/lib/modules/%s/build has them",
			host->uts.release);
		return;
	}
	headers_mend(host, mend, sizeof(mend));
	if (host->is_ours || host->is_installed)
		verdict(check, RIGHT, "headers", NULL, "none, which only a build needs");
	else
		verdict(check, WRONG, "headers", mend, "no headers of kernel %s",
			host->uts.release);
}

static void check_module_of(struct check *check, const struct host *host)
{
	const char *loads = host->is_installed ? "modprobe -r smc_diag smc; modprobe smc" :
			    "`make install`, then: modprobe -r smc_diag smc; modprobe smc";
	char version[64] = "";

	if (host->is_ours && read_line("/sys/module/smc/version", version, sizeof(version)))
		verdict(check, RIGHT, "module", NULL, "version %s is loaded", version);
	else if (host->is_loaded)
		verdict(check, DOUBTFUL, "module", loads,
			"another one is loaded, that of the distribution");
	else if (host->is_installed)
		verdict(check, RIGHT, "module", NULL, "%s is installed; socket() loads it",
			host->path);
	else if (*host->path)
		verdict(check, DOUBTFUL, "module", "`make install` or `make dkms`",
			"not installed; it will replace the distribution's, %s", host->path);
	else
		verdict(check, DOUBTFUL, "module", "`make install` or `make dkms`",
			"not installed; this kernel has none that it would replace");
}

/* The kernel takes signed modules only. Where it does not say, so it is with Secure Boot. */
static bool needs_signature(bool is_secure_boot)
{
	char line[64];

	if (read_line("/sys/module/module/parameters/sig_enforce", line, sizeof(line)) &&
	    *line == 'Y')
		return true;
	if (read_line("/sys/kernel/security/lockdown", line, sizeof(line)))
		return !strstr(line, "[none]");
	return is_secure_boot;
}

/* A compressed module does not show it: kmod unpacks it first. */
static bool is_unsigned(const struct host *host)
{
	static const char magic[] = "~Module signature appended~\n";
	char path[512], end[sizeof(magic)] = "";
	bool is_plain = !strcmp(strrchr(host->path, '.'), ".ko");
	FILE *file;

	snprintf(path, sizeof(path), "/lib/modules/%s/%s", host->uts.release, host->path);
	file = is_plain ? fopen(path, "r") : NULL;
	if (!file)
		return false;
	if (fseek(file, 1 - (long)sizeof(magic), SEEK_END) ||
	    fread(end, sizeof(magic) - 1, 1, file) != 1)
		*end = '\0';
	fclose(file);
	return strcmp(end, magic);
}

static void check_secure_boot(struct check *check, const struct host *host)
{
	const char *mend =
		"`make dkms` signs it; then mokutil --import /var/lib/dkms/mok.pub, and reboot";
	FILE *file = fopen(SECURE_BOOT, "r");
	unsigned char variable[5] = { 0 };	/* attributes, and the value */
	const char *state;
	bool is_on;

	is_on = file && fread(variable, sizeof(variable), 1, file) == 1 && variable[4] == 1;
	if (file)
		fclose(file);
	state = is_on ? "on" : "off";
	if (!needs_signature(is_on))
		verdict(check, RIGHT, "Secure Boot", NULL,
			"%s; the kernel takes modules without a signature", state);
	else if (host->is_ours)
		verdict(check, RIGHT, "Secure Boot", NULL, "%s; the kernel has taken the module",
			state);
	else if (!host->is_installed)
		verdict(check, DOUBTFUL, "Secure Boot", mend,
			"%s; the kernel takes only modules that are signed", state);
	else if (is_unsigned(host))
		verdict(check, WRONG, "Secure Boot", mend,
			"%s; the kernel refuses %s, which is not signed", state, host->path);
	else
		verdict(check, RIGHT, "Secure Boot", NULL,
			"%s; %s is signed, and its key must be known to the machine", state,
			host->path);
}

static void check_selinux(struct check *check)
{
	char line[8];

	if (!read_line("/sys/fs/selinux/enforce", line, sizeof(line)))
		verdict(check, RIGHT, "SELinux", NULL, "not in use");
	else if (*line != '1')
		verdict(check, RIGHT, "SELinux", NULL, "permissive");
	else
		verdict(check, DOUBTFUL, "SELinux",
			"semodule -i " SMC_POLICY ", which is installed with the tool",
			"enforcing: confined daemons need a rule, other programs do not");
}

static void check_memory_links(struct check *check, const struct host *host)
{
	check->may_memory = !host->is_ours || read_setting("memory");
	if (check->may_memory)
		verdict(check, RIGHT, "same host", NULL,
			"memory: connections within this host need no adapter");
	else
		verdict(check, DOUBTFUL, "same host", "sysctl net.smc.memory=1",
			"net.smc.memory is 0: connections of this host to itself are TCP");
}

/**
 * check_host() - tell whether this host can run the module, without loading it
 * @check: receives whether it can, and whether its sockets can share memory
 */
void check_host(struct check *check)
{
	struct host host = { 0 };

	examine_module(&host);
	check_kernel(check, &host);
	check_headers(check, &host);
	check_module_of(check, &host);
	check_secure_boot(check, &host);
	check_selinux(check);
	if (host.is_ours)
		check_switches(check);
	check_memory_links(check, &host);
	check->is_fit = check->worst != WRONG;
	check_adapters(check, host.is_ours);
}
