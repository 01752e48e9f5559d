/*
 * Writes the metadata of a recording to its spool: at the start how it is made, at the end how it went. info.h has the
 * names.
 *
 * Threads: one thread, which is the recorder thread of a recording.
 */
#pragma once

#include "base/error.h"
#include "record/record.h"
#include "record/spool.h"
#include "sample/perf_events.h"
#include "unwind/unwind.h"

#include <stdint.h>

/* `command`: the words of what is recorded, NULL at the end; NULL if it is the whole system. `started`: ns of
 * CLOCK_MONOTONIC. */
int metadata_write_start(struct spool_writer *spool, const struct record_options *options, char *const *command,
                         const struct perf_events *events, uint64_t started, struct error *err);

/* `truncated_by_reason`: stacks by enum unwind_end. */
int metadata_write_end(struct spool_writer *spool, const struct record_result *result,
                       const uint64_t *truncated_by_reason, struct error *err);
