/*
 * The processes as JSON, for `prof report --processes --json` and the page.
 */
#pragma once

#include "base/json_write.h"
#include "tree/process_tree.h"

/* Writes the members of an open object, with at most `most` elements in each list. */
int write_process_tree(struct json_writer *json, const struct process_tree *tree, const struct profile *profile,
                       size_t most, struct error *err);
