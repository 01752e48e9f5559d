/*
 * The interface of a producer of records to the recording loop (recording_loop.c): when to run it, and its functions. A
 * producer uses the spool, the process table and its own state, but no other producer. Samples are the exception: their
 * source (source.h) drives their producer (cpu_samples.h) with each record.
 *
 * Functions may be NULL. The functions that return an int fail only if the spool cannot be written or memory runs out.
 */
#pragma once

#include "base/error.h"

struct producer {
    void *self;
    const char *work; /* name of the recorder_work record that a long run() writes, or NULL for none */
    bool has_pauses;  /* run() and finish() are not called in a pause */

    uint64_t (*deadline)(const void *self);                    /* latest time (ns) of the next run() */
    int (*run_early)(void *self, struct error *err);           /* called before each round of the source */
    int (*run)(void *self, uint64_t now, struct error *err);   /* called after each round of the source */
    int (*flush)(void *self, uint64_t now, struct error *err); /* called once a second, before the spool is flushed */
    int (*finish)(void *self, uint64_t stopped, struct error *err); /* called once, when the source has stopped */
};
