/*
 * What the recording loop (recording_loop.c) knows of a producer of records: when it wants to run, and what to call. A
 * producer knows the spool, the process table and its own state, not its neighbors. Samples are the exception: their
 * source (source.h) drives their producer (cpu_samples.h) with each record.
 *
 * Functions may be NULL. Those that return an int fail only if the spool cannot be written or memory runs out.
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

struct producer {
    void *self;
    const char *work; /* the spool has a record if run() takes long, with this name; NULL: none */
    bool has_pauses;  /* run() and finish() are not called in a pause */

    uint64_t (*deadline)(const void *self);                         /* ns: run() then at the latest */
    int (*run)(void *self, uint64_t now, struct error *err);        /* after each round of the source */
    int (*flush)(void *self, uint64_t now, struct error *err);      /* once a second, before the spool is flushed */
    int (*finish)(void *self, uint64_t stopped, struct error *err); /* once, when the source has stopped */
};
