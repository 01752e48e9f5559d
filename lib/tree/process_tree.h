/*
 * The processes of a profile as a tree: who started whom, with exit statuses, CPU times, and the critical path of
 * processes, for builds and scripts.
 *
 * Markers "Process" and "Exec" have the parents, the commands and the exit statuses. A process without a marker is
 * known from its threads, and is a root.
 *
 * The critical path goes backwards in time from the end of the root with the most CPU time. Where a process waited
 * until a child ended, the path continues with the child, and at the start of the child with the parent. Unlike the
 * critical path of a thread (critical_path.h), this path needs no wakers.
 */
#pragma once

#include "base/text_buffer.h"
#include "tree/process_list.h"

/* Whether the threads belong to several processes over time, which are not the sides of a comparison. */
bool profile_has_processes(const struct profile *profile);

/* Fills a zeroed tree with the processes that live in a range with finite bounds, ms. A parent that does not live in
 * the range has no row. The caller calls process_tree_destroy(), also after a failure. Time: n log n for n rows of
 * threads, markers and processes, whatever the profile contains. */
int process_tree_make(struct process_tree *tree, const struct profile *profile, struct time_range range,
                      struct error *err);

/* Like process_tree_make(), but without CPU times, descendants, the path and the times of the whole tree. Does not read
 * the samples. */
int process_tree_list(struct process_tree *tree, const struct profile *profile, struct time_range range,
                      struct error *err);

void process_tree_destroy(struct process_tree *tree);

/* Appends the serial part as a sentence: "At most one process at a time runs for the last 23.9 s of 28.2 s, mostly cc1
 * huge.c (0.9 of 2 CPUs)." Appends nothing if the tree has no serial part, or the profile is not of several CPUs. */
int process_tree_append_sentence(struct text_buffer *text, const struct process_tree *tree,
                                 const struct profile *profile, struct error *err);
