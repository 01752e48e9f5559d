/*
 * The ids of the rows of a tree, and --node.
 */
#pragma once

#include "cmd/report/report.h"

struct json_writer;

/* Returns the id above the roots of the tree, which is that of the caller after --node. */
uint64_t report_node_root(const struct report *report);

/* Returns the id of the row of a func below the row `parent`. */
uint64_t report_node_id(const struct report *report, uint64_t parent, uint32_t func);

/* Writes the member "id". */
void report_write_node_id(struct json_writer *json, uint64_t id);

/* Stores in *path the path of the row with an id in the tree of the engine, and in the report the callers of the row.
 * The caller frees *path. Returns an exit status, after a message if it is not 0. */
int report_find_node(struct report *report, const char *id, struct node_path *path);

/* Writes the member "node" after --node: the callers of the row, its lines and its waits. */
int report_write_node(struct json_writer *json, const struct report *report, struct error *err);
