/*
 * Writes the metadata of a recording to its spool: at the start how it is made, at the end how it went. info.h has the
 * names.
 *
 * Threads: one thread, which is the recorder thread of a recording.
 */
#pragma once

#include "base/error.h"
#include "record/record.h"
#include "spool/spool.h"
#include "unwind/unwind.h"

#include <stdint.h>

struct metadata_start {
    char *const *command; /* the words of what is recorded, NULL at the end; NULL if it is the whole system */
    const char *event, *tier;
    uint32_t rate;       /* samples a second that are taken, which may be fewer than were asked for */
    bool switches;       /* it is known when threads run */
    bool off_cpu;        /* waits are recorded */
    bool wakers;         /* and who ended them */
    uint32_t stack_size; /* bytes copied with each sample */
    uint64_t started;    /* ns of CLOCK_MONOTONIC */
};

/* `result`: with the notes of the beginning. */
int metadata_write_start(struct spool_writer *spool, const struct record_options *options,
                         const struct metadata_start *start, const struct record_result *result, struct error *err);

/* `truncated_by_reason`: stacks by enum unwind_end. */
int metadata_write_end(struct spool_writer *spool, const struct record_options *options,
                       const struct record_result *result, const uint64_t *truncated_by_reason, struct error *err);
