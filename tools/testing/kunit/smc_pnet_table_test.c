// SPDX-License-Identifier: GPL-2.0
/*
 * PNETIDs: which strings are accepted, which entry a device has, and which ports fit a route.
 */
#include "smc_kunit.h"

#include "../../../net/smc/proto/smc_pnet_table.c"

struct pnet_id_case {
	const char *text;
	const char *id;		/* NULL if it is refused */
};

static const struct pnet_id_case pnet_id_cases[] = {
	{ "NET1", "NET1" },
	{ "a", "A" },
	{ "zZ09", "ZZ09" },
	{ " \t NET1 \r ", "NET1" },
	{ "0123456789abcdef", "0123456789ABCDEF" },
	{ "  0123456789abcdef  ", "0123456789ABCDEF" },
	{ "0123456789abcdefg", NULL },
	{ "", NULL },
	{ "   ", NULL },
	{ "NET 1", NULL },
	{ "\x01NET1", NULL },
	{ "NET-1", NULL },
	{ "NET*", NULL },
	{ "n/a", NULL },
	{ "\xc4", NULL },
	{ "@", NULL },
	{ "[", NULL },
	{ "`", NULL },
	{ "{", NULL },
	{ ":", NULL },
	{ "/", NULL },
};

static void pnet_ids_are_letters_and_digits(struct kunit *test)
{
	struct smc_pnet_id id, want;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(pnet_id_cases); i++) {
		const struct pnet_id_case *row = &pnet_id_cases[i];

		memset(&id, 0xff, sizeof(id));
		KUNIT_EXPECT_EQ_MSG(test, smc_pnet_table_read_id(row->text, &id), !!row->id,
				    "row %u", i);
		if (!row->id)
			continue;
		memset(&want, 0, sizeof(want));
		memcpy(want.text, row->id, strlen(row->id));
		KUNIT_EXPECT_MEMEQ(test, &id, &want, sizeof(id));
	}
}

static void pnet_names_of_devices(struct kunit *test)
{
	static const char longest[] =
		"abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz0123456789*";
	static const struct {
		const char *text;
		unsigned int max;
		bool is_good;
	} rows[] = {
		{ "eth0", 15, true },
		{ "eth*", 15, true },
		{ "*", 15, true },
		{ "0000:00:1f.0", 63, true },
		{ "\xc3\xa4", 15, true },
		{ "012345678901234", 15, true },
		{ "0123456789012345", 15, false },
		{ longest, 63, true },
		{ longest, 62, false },
		{ "", 15, false },
		{ "eth 0", 15, false },
		{ "eth0 ", 15, false },
		{ "e\tth", 15, false },
		{ "e\x7fth", 15, false },
		{ "eth/0", 15, false },
		{ "n/a", 15, false },
		{ "e*0", 15, false },
		{ "e**", 15, false },
	};
	char device[SMC_PNET_DEVICE_LEN + 1], want[SMC_PNET_DEVICE_LEN + 1];
	unsigned int i;

	KUNIT_ASSERT_EQ(test, strlen(longest), SMC_PNET_DEVICE_LEN);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		memset(device, 0xff, sizeof(device));
		KUNIT_EXPECT_EQ_MSG(test, smc_pnet_table_read_device(rows[i].text, rows[i].max,
								     device),
				    rows[i].is_good, "row %u", i);
		if (!rows[i].is_good)
			continue;
		memset(want, 0, sizeof(want));
		memcpy(want, rows[i].text, strlen(rows[i].text));
		KUNIT_EXPECT_MEMEQ(test, device, want, sizeof(want));
	}
}

static const struct smc_pnet_entry pnet_table[] = {
	{ { "ALL" }, "*", 0 },
	{ { "PODS" }, "veth*", 0 },
	{ { "RED" }, "veth1*", 0 },
	{ { "BLUE" }, "veth1", 0 },
	{ { "ONE" }, "mlx5_0", 1 },
	{ { "TWO" }, "mlx5_0", 2 },
	{ { "MORE" }, "mlx5_*", 2 },
	{ { "PODS" }, "pod", 0 },
	{ { "NONE" }, "", 0 },
};

static void pnet_entry_of_a_device(struct kunit *test)
{
	static const struct {
		const char *name;
		u8 port;
		const char *id;		/* NULL if there is none */
	} rows[] = {
		{ "eth0", 0, "ALL" },
		{ "vet", 0, "ALL" },
		{ "veth", 0, "PODS" },
		{ "veth2", 0, "PODS" },
		{ "veth1", 0, "BLUE" },
		{ "veth12", 0, "RED" },
		{ "pod", 0, "PODS" },
		{ "pod1", 0, "ALL" },
		{ "mlx5_0", 1, "ONE" },
		{ "mlx5_0", 2, "TWO" },
		{ "mlx5_1", 2, "MORE" },
		{ "mlx5_", 2, "MORE" },
		{ "mlx5", 2, NULL },
		{ "mlx5_1", 1, NULL },
		{ "veth1", 1, NULL },
		{ "mlx5_0", 0, "ALL" },
	};
	const struct smc_pnet_entry *entry;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		entry = smc_pnet_table_find(pnet_table, ARRAY_SIZE(pnet_table), rows[i].name,
					    rows[i].port);
		KUNIT_EXPECT_EQ_MSG(test, !!entry, !!rows[i].id, "row %u", i);
		if (entry && rows[i].id)
			KUNIT_EXPECT_STREQ(test, entry->id.text, rows[i].id);
	}
	KUNIT_EXPECT_NULL(test, smc_pnet_table_find(NULL, 0, "eth0", 0));
}

/* The PNETID is no part of an entry's identity; '*' is a character of it. */
static void pnet_a_device_has_one_entry(struct kunit *test)
{
	static const struct {
		struct smc_pnet_entry entry;
		bool is_there;
	} rows[] = {
		{ { { "NEW" }, "veth1", 0 }, true },
		{ { { "NEW" }, "veth*", 0 }, true },
		{ { { "NEW" }, "mlx5_0", 2 }, true },
		{ { { "NEW" }, "veth2", 0 }, false },
		{ { { "NEW" }, "veth", 0 }, false },
		{ { { "NEW" }, "veth1", 1 }, false },
		{ { { "NEW" }, "mlx5_*", 1 }, false },
		{ { { "NEW" }, "mlx5_0", 0 }, false },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		KUNIT_EXPECT_EQ_MSG(test, smc_pnet_table_has(pnet_table, ARRAY_SIZE(pnet_table),
							     &rows[i].entry),
				    rows[i].is_there, "row %u", i);
}

static void pnet_remove_all_of_an_id(struct kunit *test)
{
	struct smc_pnet_entry table[ARRAY_SIZE(pnet_table)];
	static const struct smc_pnet_id pods = { "PODS" }, pod = { "POD" };
	unsigned int nr;

	memcpy(table, pnet_table, sizeof(table));
	KUNIT_EXPECT_EQ(test, smc_pnet_table_remove(table, ARRAY_SIZE(table), &pod),
			ARRAY_SIZE(table));
	KUNIT_EXPECT_MEMEQ(test, table, pnet_table, sizeof(table));
	nr = smc_pnet_table_remove(table, ARRAY_SIZE(table), &pods);
	KUNIT_EXPECT_EQ(test, nr, ARRAY_SIZE(table) - 2);
	KUNIT_EXPECT_STREQ(test, table[0].id.text, "ALL");
	KUNIT_EXPECT_MEMEQ(test, &table[1], &pnet_table[2], 5 * sizeof(table[0]));
}

static void pnet_fit_of_a_port(struct kunit *test)
{
	static const struct {
		struct smc_pnet_id wanted, port, netdev;
		enum smc_pnet_fit fit;
	} rows[] = {
		{ { "A" }, { "A" }, { "" }, SMC_PNET_NAMED },
		{ { "A" }, { "A" }, { "B" }, SMC_PNET_NAMED },
		{ { "A" }, { "B" }, { "A" }, SMC_PNET_OTHER },
		{ { "A" }, { "AB" }, { "" }, SMC_PNET_OTHER },
		{ { "A" }, { "" }, { "A" }, SMC_PNET_INHERITED },
		{ { "A" }, { "" }, { "B" }, SMC_PNET_OTHER },
		{ { "A" }, { "" }, { "" }, SMC_PNET_OPEN },
		{ { "" }, { "B" }, { "C" }, SMC_PNET_OPEN },
		{ { "" }, { "" }, { "" }, SMC_PNET_OPEN },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		KUNIT_EXPECT_EQ_MSG(test, smc_pnet_table_fit(&rows[i].wanted, &rows[i].port,
							     &rows[i].netdev),
				    rows[i].fit, "row %u", i);
}

static struct kunit_case smc_pnet_table_cases[] = {
	KUNIT_CASE(pnet_ids_are_letters_and_digits),
	KUNIT_CASE(pnet_names_of_devices),
	KUNIT_CASE(pnet_entry_of_a_device),
	KUNIT_CASE(pnet_a_device_has_one_entry),
	KUNIT_CASE(pnet_remove_all_of_an_id),
	KUNIT_CASE(pnet_fit_of_a_port),
	{}
};

static struct kunit_suite smc_pnet_table_suite = {
	.name = "smc_pnet_table",
	.test_cases = smc_pnet_table_cases,
};

kunit_test_suite(smc_pnet_table_suite);
