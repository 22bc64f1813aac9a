/* SPDX-License-Identifier: GPL-2.0 */
/*
 * PNETIDs: entries that say which network a network device or an RDMA port is in, and how
 * they are found.
 */
#ifndef SMC_PNET_TABLE_H
#define SMC_PNET_TABLE_H

#include <linux/types.h>

#define SMC_PNET_ID_LEN		16	/* characters of a PNETID at most */
#define SMC_PNET_DEVICE_LEN	63	/* of a device's name at most */

/* Name of a network: capital letters and digits, padded with NULs; empty for none. */
struct smc_pnet_id {
	char text[SMC_PNET_ID_LEN + 1];
};

/* Names a network device, or a port of an RDMA device. */
struct smc_pnet_entry {
	struct smc_pnet_id id;
	char device[SMC_PNET_DEVICE_LEN + 1];	/* padded; a '*' at its end matches any rest */
	u8 port;				/* of an RDMA device; 0 for a network device */
};

/**
 * enum smc_pnet_fit - relation of an RDMA port to the PNETID of a route
 * @SMC_PNET_OTHER: the port has another PNETID
 * @SMC_PNET_OPEN: the port has none, or the route has none
 * @SMC_PNET_INHERITED: the same, by the entry of the port's network device
 * @SMC_PNET_NAMED: the same, by an entry of the port
 */
enum smc_pnet_fit {
	SMC_PNET_OTHER,
	SMC_PNET_OPEN,
	SMC_PNET_INHERITED,
	SMC_PNET_NAMED,
};

#define SMC_PNET_SET(fit)	(1U << (fit))

static inline bool smc_pnet_id_is_set(const struct smc_pnet_id *id)
{
	return id->text[0];
}

bool smc_pnet_table_read_id(const char *text, struct smc_pnet_id *id);
bool smc_pnet_table_read_device(const char *text, unsigned int max,
				char device[SMC_PNET_DEVICE_LEN + 1]);
bool smc_pnet_table_same_id(const struct smc_pnet_id *a, const struct smc_pnet_id *b);
bool smc_pnet_table_has(const struct smc_pnet_entry *table, unsigned int nr,
			const struct smc_pnet_entry *entry);
const struct smc_pnet_entry *smc_pnet_table_find(const struct smc_pnet_entry *table,
						 unsigned int nr, const char *name, u8 port);
unsigned int smc_pnet_table_remove(struct smc_pnet_entry *table, unsigned int nr,
				   const struct smc_pnet_id *id);
enum smc_pnet_fit smc_pnet_table_fit(const struct smc_pnet_id *wanted,
				     const struct smc_pnet_id *port,
				     const struct smc_pnet_id *netdev);

#endif /* SMC_PNET_TABLE_H */
