/*
 * CPU use of the processes of a tree over time. A thread counts while it runs, and while it is ready to run without a
 * CPU, because other programs on a busy machine do not make a build parallel.
 */
#pragma once

#include "tree/process_list.h"

/* Fills the CPU times of the processes, the times in which none, one or several threads run, and the serial part. */
int measure_process_usage(struct process_tree *tree, const struct profile *profile, struct error *err);
