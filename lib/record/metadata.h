/*
 * Writes the metadata of a recording to its spool: its settings at the start, its results at the end. info.h has the
 * names.
 *
 * Threads: the recorder thread.
 */
#pragma once

#include "base/error.h"
#include "record/record_options.h"
#include "record/record_result.h"
#include "spool/spool.h"
#include "unwind/unwind.h"

struct metadata_start {
    char *const *command; /* arguments of the recorded program, NULL at the end, or NULL (the whole system) */
    const char *event, *tier;
    uint32_t rate;       /* actual samples per second, at most the requested rate */
    bool switches;       /* the recorder sees when threads run (switch records) */
    bool off_cpu;        /* the recorder stores waits */
    bool wakers;         /* the recorder stores the wakers of waits */
    uint32_t stack_size; /* stack bytes copied with each sample */
    uint64_t started;    /* ns of CLOCK_MONOTONIC */
};

/* `result` has the notes from the start of the recording. */
int metadata_write_start(struct spool_writer *spool, const struct record_options *options,
                         const struct metadata_start *start, const struct record_result *result, struct error *err);

int metadata_write_end(struct spool_writer *spool, const struct record_options *options,
                       const struct record_result *result, struct error *err);
