/*
 * The profile of a running recording, which grows with it. Each step reads the new part of the spool and produces
 *
 * - the rows added to the sample tables and to the tables from stacks to sources (profile/append.h), appended to a
 *   file; existing rows keep their numbers;
 * - a description: the profile without these tables. The sources in the description are scripts, which the server may
 *   send.
 *
 * The cost of a step therefore depends on the new data and on the numbers of threads, markers and counters, not on all
 * samples and stacks so far.
 *
 * A step misses symbols that a JIT compiler writes after its code has run: see live_assembly_is_outdated().
 *
 * Live assembly does not support flight recorders, which drop their oldest samples.
 *
 * Threads: one at a time.
 */
#pragma once

#include "assemble/assemble.h"

struct live_assembly;

/* `options` and `spool_path` must outlive the live assembly. Returns NULL if memory ran out. */
struct live_assembly *live_assembly_new(const char *spool_path, const struct assemble_options *options);

/* Reads the new part of the recording. Fills `result`, with the description in memory_fd (JSON, owned by the caller).
 * Sets *added to the end of the new rows in the file of live_assembly_get_fd(). -ENODATA: the recording has no thread
 * yet. After another failure, the only permitted call is live_assembly_free(). */
int live_assembly_add_step(struct live_assembly *live, struct assemble_result *result, uint64_t *added,
                           struct error *err);

/* Returns the file of added rows: objects of "added", each preceded by a comma. Borrowed. */
int live_assembly_get_fd(const struct live_assembly *live);

/* Whether a new assembly may find more symbols: more JIT code than at the first step has no symbol, and perf maps or
 * jitdumps have grown since then. */
bool live_assembly_is_outdated(const struct live_assembly *live);

void live_assembly_free(struct live_assembly *live);
