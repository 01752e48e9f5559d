/*
 * Writes a profile as processed JSON, version 70, piece by piece: the tables from memory, the samples of each thread
 * from a `struct sample_source`, so that a recording of any length is saved without holding its samples.
 */
#pragma once

#include "base/sink.h"
#include "profile/profile.h"

struct sample_row {
    uint32_t stack;       /* or PROFILE_NONE (null) */
    double time;          /* ms */
    double weight;        /* read only if the thread has weights */
    double cpu_delta;     /* µs, or NAN (null); read only if the thread has CPU times */
    uint32_t waker;       /* string, or PROFILE_NONE (null); read only if the thread has wakers */
    uint32_t waker_stack; /* stack, or PROFILE_NONE (null); read only if the thread has wakers */
};

struct slice_row { /* a row of struct slice_table */
    uint32_t cpu;
    double start, end, off_cpu; /* ms */
};

/* The samples of a thread, in time order. The writer writes one column at a time, so it reads each thread several
 * times, and calls rewind() before each pass. */
struct sample_source {
    int (*rewind)(void *context, size_t thread, struct error *err);
    bool (*next)(void *context, struct sample_row *row); /* false at the end */
    bool has_weight, has_cpu_delta, has_wakers;
    /* Begins a pass over the samples of event `event` of meta.events; next() then sets stack, time and weight. NULL: no
     * events. */
    int (*rewind_event)(void *context, size_t thread, size_t event, struct error *err);
    /* Begins a pass over the slices of a thread, which next_slice() returns. NULL: no slices. */
    int (*rewind_slices)(void *context, size_t thread, struct error *err);
    bool (*next_slice)(void *context, struct slice_row *row);
    void *context;
};

/* If `samples` is NULL, samples come from the tables of the profile. Times are written in multiples of
 * `time_resolution` ms (0: as precise as a double needs). */
int profile_write(const struct profile *profile, const struct sample_source *samples, double time_resolution,
                  const struct byte_sink *sink, struct error *err);

/* The new rows of one sample table, in a growing profile (append.h). */
struct added_samples {
    size_t thread;
    int event;      /* index of the event in meta.events, or -1 for the thread's own samples */
    uint64_t first; /* row of the table at which `samples` begin */
};

/* Writes the rows of the shared tables after `from` as an object of "added". */
int profile_write_added_tables(const struct profile *profile, const struct profile_rows *from,
                               const struct byte_sink *sink, struct error *err);

/* Writes the rows of a sample table as an object of "added". `samples` contains only the rows of this table. */
int profile_write_added(const struct profile *profile, const struct sample_source *samples,
                        const struct added_samples *added, double time_resolution, const struct byte_sink *sink,
                        struct error *err);

/* Writes the slices of a thread from `samples` as an object of "added". */
int profile_write_added_slices(const struct profile *profile, const struct sample_source *samples, size_t thread,
                               const struct byte_sink *sink, struct error *err);

/* Returns the coarsest lossless resolution (ms) of a profile's sample times, or 0 (full precision). */
double profile_find_time_resolution(const struct profile *profile);
