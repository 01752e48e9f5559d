/*
 * Makes the rows of a profile's sample tables from the stored samples of a replay, thread by thread.
 *
 * Rounds times and CPU times to the profile's resolution, and computes weights from the rounded values, so that sums of
 * weights equal sums of times.
 */
#pragma once

#include "assemble/assembly.h"
#include "profile/quantize.h"
#include "profile/write.h"

/* Position in one table. Starts zeroed, except `time` (NAN). */
struct sample_rows_state {
    uint64_t row;      /* rows so far */
    uint64_t position; /* stored samples read so far */
    double cpu;        /* ms of CPU time, not yet in the weight of a sample */
    double unseen;     /* ms: unseen waits for which the current wait stands */
    double time;       /* ms: time of the last sample; NAN before the first */
    double carried;    /* fraction of an event that is not yet in the weight of a sample */
    struct time_quantizer times;
    struct cpu_quantizer cpu_times;
};

#define SAMPLE_ROWS_START ((struct sample_rows_state){.time = NAN, .carried = 0.5})

struct sample_rows {
    const struct assembly *assembly;
    struct sample_cursor cursor;
    const struct replay_thread *thread;
    uint32_t number;         /* of the thread */
    bool of_event, is_empty; /* of_event: samples of an event; is_empty: without samples */
    double scale;            /* factor for the weights of the samples */
    struct sample_rows_state state, start;
    struct error *err;
    int code; /* error code of the first failed read */
};

bool sample_rows_next(void *context, struct sample_row *row);

/* Returns a source of the whole recording; call sample_cursor_destroy(&rows->cursor) at the end. */
struct sample_source make_sample_rows_source(struct sample_rows *rows);
