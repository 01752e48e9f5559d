/*
 * The ids of the rows of a tree, and --node.
 */
#pragma once

#include "cmd/report/report.h"

struct json_writer;

/* Allocates the ids of a row and its callers for report_make_node_id(). Returns NULL if memory runs out. The caller
 * frees them. */
uint64_t *report_node_ids_new(const struct report *report, const struct tree_rows *rows);

/* Returns the id of row `i`, after calls for its callers. */
uint64_t report_make_node_id(const struct report *report, const struct tree_rows *rows, size_t i, uint64_t *ids);

/* Writes the member "id". */
void report_write_node_id(struct json_writer *json, uint64_t id);

/* Stores in *path the path of the row with an id in the tree of the engine, and in the report the callers of the row.
 * The caller frees *path. Returns an exit status, after a message if it is not 0. */
int report_find_node(struct report *report, const char *id, struct node_path *path);

/* Writes the member "node" after --node: the callers of the row, its lines and its waits. */
int report_write_node(struct json_writer *json, const struct report *report, struct error *err);
