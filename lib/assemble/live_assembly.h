/*
 * The profile of a recording that goes on, which grows with it: each step reads what the spool has more, and gives
 *
 *   - behind those before, in a file that only grows, what is added to the sample tables and to those from stacks to
 *     sources (profile/append.h), whose rows keep their numbers;
 *   - a description: the profile without these. Of the sources it has the scripts, which the server may send.
 *
 * So a step costs the time of what is new, and of the threads, markers and counters so far, not that of the samples and
 * stacks so far.
 *
 * Names that JIT compilers write later than the code runs come too late for it: see live_assembly_is_outdated().
 *
 * A flight recorder, whose oldest samples go, is not for it.
 *
 * Threads: one at a time.
 */
#pragma once

#include "assemble/assemble.h"

#include <stdbool.h>
#include <stdint.h>

struct live_assembly;

/* `options`, and `spool_path`, must outlive it. NULL if memory ran out. */
struct live_assembly *live_assembly_new(const char *spool_path, const struct assemble_options *options);

/* Goes on with the recording. Fills `result`, with the description in memory_fd (JSON, the caller's), and *added with
 * where its samples end in the file of live_assembly_fd(). -ENODATA: it has no thread yet. After another failure it is
 * of no use any more. */
int live_assembly_go_on(struct live_assembly *live, struct assemble_result *result, uint64_t *added, struct error *err);

/* The file with what was added: objects of "added", each with a comma before it. Borrowed. */
int live_assembly_fd(const struct live_assembly *live);

/* Whether there is more JIT code without a name than at its first step, and files that name JIT code have grown since:
 * an assembly that begins anew may find the names. */
bool live_assembly_is_outdated(const struct live_assembly *live);

void live_assembly_free(struct live_assembly *live);
