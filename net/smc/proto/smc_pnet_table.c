// SPDX-License-Identifier: GPL-2.0
/*
 * PNETIDs: entries that say which network a network device or an RDMA port is in.
 *
 * An entry names its device and need not have one: a device is looked up by its name when a
 * connection asks. So entries survive devices, and a device that is renamed has the entry of
 * its new name. For devices that come and go an entry names all whose names begin alike.
 */
#include <linux/string.h>

#include "proto/smc_pnet_table.h"

static unsigned int pnet_length(const char *text)
{
	unsigned int n = 0;

	while (text[n])
		n++;
	return n;
}

static bool pnet_is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

/* The character as PNETIDs have it, or 0. */
static char pnet_fold(char c)
{
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 'A';
	return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ? c : 0;
}

/**
 * smc_pnet_table_read_id() - read a PNETID as users write it
 * @text: the string; blanks around the PNETID are ignored
 * @id: filled on success, in capital letters
 *
 * Context: Any context.
 * Return: false unless it has 1 to 16 letters and digits.
 */
bool smc_pnet_table_read_id(const char *text, struct smc_pnet_id *id)
{
	unsigned int i, n;

	while (pnet_is_blank(*text))
		text++;
	n = pnet_length(text);
	while (n && pnet_is_blank(text[n - 1]))
		n--;
	if (!n || n > SMC_PNET_ID_LEN)
		return false;
	memset(id, 0, sizeof(*id));
	for (i = 0; i < n; i++) {
		id->text[i] = pnet_fold(text[i]);
		if (!id->text[i])
			return false;
	}
	return true;
}

/**
 * smc_pnet_table_read_device() - read a device's name, or the beginning of names and a '*'
 * @text: the string
 * @max: its longest length, at most SMC_PNET_DEVICE_LEN
 * @device: filled on success
 *
 * Context: Any context.
 * Return: false if it is empty, too long, or has a blank, a control character, a '/', or a
 *	   '*' before its end.
 */
bool smc_pnet_table_read_device(const char *text, unsigned int max,
				char device[SMC_PNET_DEVICE_LEN + 1])
{
	unsigned int i, n = pnet_length(text);

	if (!n || n > max)
		return false;
	for (i = 0; i < n; i++) {
		unsigned char c = text[i];

		if (c <= ' ' || c == 0x7f || c == '/' || (c == '*' && i + 1 < n))
			return false;
	}
	memset(device, 0, SMC_PNET_DEVICE_LEN + 1);
	memcpy(device, text, n);
	return true;
}

/**
 * smc_pnet_table_same_id() - compare two PNETIDs
 * @a: the one
 * @b: the other
 *
 * Context: Any context.
 * Return: true if they are equal, also if both are empty.
 */
bool smc_pnet_table_same_id(const struct smc_pnet_id *a, const struct smc_pnet_id *b)
{
	return !memcmp(a, b, sizeof(*a));
}

/**
 * smc_pnet_table_has() - check whether a device, or a port, has an entry already
 * @table: the entries
 * @nr: their number
 * @entry: names the device and port, with any PNETID
 *
 * Context: Any context.
 * Return: true if so.
 */
bool smc_pnet_table_has(const struct smc_pnet_entry *table, unsigned int nr,
			const struct smc_pnet_entry *entry)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		if (table[i].port == entry->port &&
		    !memcmp(table[i].device, entry->device, sizeof(entry->device)))
			return true;
	return false;
}

/* How well an entry names a device: 0 for not at all, more for more characters. */
static unsigned int pnet_rank(const char *device, const char *name)
{
	unsigned int n = pnet_length(device);
	unsigned int len = pnet_length(name);

	if (n == len && !memcmp(device, name, n))
		return n + 2;
	if (!n || device[n - 1] != '*' || n - 1 > len || memcmp(device, name, n - 1))
		return 0;
	return n;
}

/**
 * smc_pnet_table_find() - find the entry of a device
 * @table: the entries
 * @nr: their number
 * @name: name of the device
 * @port: port of an RDMA device; 0 for a network device
 *
 * The whole name goes before a name with '*', and a longer one of these before a shorter one.
 *
 * Context: Any context.
 * Return: the entry, or NULL.
 */
const struct smc_pnet_entry *smc_pnet_table_find(const struct smc_pnet_entry *table,
						 unsigned int nr, const char *name, u8 port)
{
	const struct smc_pnet_entry *found = NULL;
	unsigned int i, rank, best = 0;

	for (i = 0; i < nr; i++) {
		rank = table[i].port == port ? pnet_rank(table[i].device, name) : 0;
		if (rank > best) {
			best = rank;
			found = &table[i];
		}
	}
	return found;
}

/**
 * smc_pnet_table_remove() - remove the entries of a PNETID
 * @table: the entries; the others keep their order
 * @nr: their number
 * @id: the PNETID
 *
 * Context: Any context.
 * Return: the number of entries that are left.
 */
unsigned int smc_pnet_table_remove(struct smc_pnet_entry *table, unsigned int nr,
				   const struct smc_pnet_id *id)
{
	unsigned int i, left = 0;

	for (i = 0; i < nr; i++)
		if (!smc_pnet_table_same_id(&table[i].id, id))
			table[left++] = table[i];
	return left;
}

/**
 * smc_pnet_table_fit() - relate an RDMA port to the PNETID of a route
 * @wanted: PNETID of the route's device; empty if it has none
 * @port: that of the port's own entry; empty if it has none
 * @netdev: that of the port's network device; empty if it has none
 *
 * An entry of the port goes before that of its network device.
 *
 * Context: Any context.
 * Return: the relation.
 */
enum smc_pnet_fit smc_pnet_table_fit(const struct smc_pnet_id *wanted,
				     const struct smc_pnet_id *port,
				     const struct smc_pnet_id *netdev)
{
	const struct smc_pnet_id *own = smc_pnet_id_is_set(port) ? port : netdev;

	if (!smc_pnet_id_is_set(wanted) || !smc_pnet_id_is_set(own))
		return SMC_PNET_OPEN;
	if (!smc_pnet_table_same_id(own, wanted))
		return SMC_PNET_OTHER;
	return own == port ? SMC_PNET_NAMED : SMC_PNET_INHERITED;
}
