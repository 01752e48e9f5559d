/*
 * The rows of a profile's sample tables, made of what the replay has stored, thread by thread.
 *
 * Times and CPU times are rounded here as the profile will have them, and weights are made of these: what a reader adds
 * up of the weights, another one adds up of the times.
 */
#pragma once

#include "assemble/assembly.h"
#include "profile/quantize.h"
#include "profile/write.h"

#include <math.h>

/* How far the rows of one table are. Zero it, but for `time` (NAN). */
struct sample_rows_state {
    uint64_t row;       /* rows so far */
    uint64_t position;  /* stored samples of these */
    double cpu, waited; /* ms that the weight of no sample has yet: on a CPU, and off it */
    double time;        /* ms: of the last sample; NAN before the first */
    double carried;     /* part of an event that the weight of no sample has yet */
    struct time_quantizer times;
    struct cpu_quantizer cpu_times;
};

#define SAMPLE_ROWS_START ((struct sample_rows_state){.time = NAN, .carried = 0.5})

struct rows_behind {
    bool is_known;
    double waited; /* ms */
};

struct sample_rows {
    const struct assembly *assembly;
    struct sample_cursor cursor;
    const struct replay_thread *thread;
    uint32_t number;                     /* of the thread */
    bool of_event, is_empty;             /* the samples of an event, of which there are none */
    double scale;                        /* of their weights */
    bool is_growing;                     /* others follow the last row: what is left at the end is theirs */
    struct rows_behind behind_last_wait; /* of this thread */
    struct sample_rows_state state, start;
    struct error *err;
    int code; /* of the first failed read */
};

/* Begins with `start` in each pass over the rows of a table. */
int sample_rows_rewind(void *context, size_t thread, struct error *err);
int sample_rows_rewind_event(void *context, size_t thread, size_t event, struct error *err);
bool sample_rows_next(void *context, struct sample_row *row);

/* A source of all of the recording; call sample_cursor_destroy(&rows->cursor) in the end. */
struct sample_source sample_rows_source(struct sample_rows *rows);
