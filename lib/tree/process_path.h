/*
 * The critical path of processes: see process_tree.h.
 */
#pragma once

#include "tree/process_list.h"

/* Fills the path, and the time of each process on the path. */
int find_process_path(struct process_tree *tree, const struct profile *profile, struct error *err);
