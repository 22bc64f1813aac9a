// SPDX-License-Identifier: GPL-2.0
/*
 * Tables: columns are as wide as their cells need, numbers are right-aligned, and an empty cell is
 * a dash. A table is kept until the whole answer is known: a failure prints none of it.
 */
#include <stdlib.h>
#include <string.h>

#include "smc.h"

/* Characters of UTF-8 */
static int columns_of(const char *text)
{
	int nr = 0;

	for (; *text; text++)
		nr += (*text & 0xc0) != 0x80;
	return nr;
}

static void add(struct table *table, const char *text)
{
	if (table->nr == table->room) {
		table->room = 2 * table->room + 64;
		table->cells = realloc(table->cells, table->room * sizeof(*table->cells));
	}
	if (table->cells)
		table->cells[table->nr] = strdup(*text ? text : "-");
	if (!table->cells || !table->cells[table->nr++]) {
		perror("smc");
		exit(EXIT_FAILURE);
	}
}

/**
 * table_title() - add a column
 * @table: zeroed at first
 * @title: its head
 * @is_number: right-aligned
 */
void table_title(struct table *table, const char *title, bool is_number)
{
	if (table->nr_columns == TABLE_COLUMNS)
		abort();
	table->is_number[table->nr_columns++] = is_number;
	add(table, title);
}

/**
 * table_cell() - add the next cell, row by row
 * @table: with all its titles
 * @text: may be empty
 */
void table_cell(struct table *table, const char *text)
{
	add(table, text);
}

/**
 * table_end() - print a table and free it
 * @table: with all its cells
 * @err: nothing is printed unless 0
 *
 * Return: exit status.
 */
int table_end(struct table *table, int err)
{
	int width[TABLE_COLUMNS] = { 0 };
	size_t i, column;

	for (i = 0; i < table->nr; i++) {
		column = i % table->nr_columns;
		if (columns_of(table->cells[i]) > width[column])
			width[column] = columns_of(table->cells[i]);
	}
	for (i = 0; i < table->nr; i++) {
		const char *text = table->cells[i];
		int blanks;

		column = i % table->nr_columns;
		blanks = width[column] - columns_of(text);
		if (!err && table->is_number[column])
			printf("%*s%s", blanks, "", text);
		else if (!err)
			/* no blanks at the end of a line */
			printf("%s%*s", text, column + 1 < table->nr_columns ? blanks : 0, "");
		if (!err)
			putchar(column + 1 < table->nr_columns ? ' ' : '\n');
		free(table->cells[i]);
	}
	free(table->cells);
	return err ? EXIT_FAILURE : 0;
}
