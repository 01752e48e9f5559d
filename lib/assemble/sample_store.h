/*
 * Stores the samples of all threads in an unlinked file: a recording has them ordered by time, but a profile needs them
 * thread by thread. Only one small block per thread is in memory.
 */
#pragma once

#include "base/array.h"
#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

enum { SAMPLE_CPU_UNIT = 100 /* ns */ };

struct stored_sample {
    uint64_t time;        /* ns */
    uint32_t stack;       /* index of the replay's stack */
    uint32_t number : 30; /* read it with one of the functions below; of the store of an event: event_store.c */
    uint32_t is_wait : 1; /* the beginning or the end of a wait */
    uint32_t is_end : 1;  /* its end */
};

enum { SAMPLE_CPU_MAX = INT32_MAX / 2 }; /* of `number` */

/* CPU time since the thread's previous sample, in units of SAMPLE_CPU_UNIT. A wait has none. */
static inline uint32_t stored_sample_cpu_time(const struct stored_sample *sample)
{
    return sample->is_wait ? 0 : sample->number;
}

/* Of the end of a wait: its waker, a number of replay.objects. 0: unknown, or no end of a wait. */
static inline uint32_t stored_sample_waker(const struct stored_sample *sample)
{
    return sample->is_end ? sample->number : 0;
}

struct sample_store;

/* Creates the file in the directory of `beside`, the recording, because /tmp may be in memory. If that fails (its disk
 * is full or read-only), creates it in memory. */
struct sample_store *sample_store_new(const char *beside);
/* Opens another such file, owned by the caller. */
int sample_store_open_file(const char *beside, struct error *err);

void sample_store_free(struct sample_store *store);

int sample_store_add(struct sample_store *store, uint32_t thread, const struct stored_sample *sample,
                     struct error *err);

/* Returns the thread's newest sample, which the caller may change until it adds the next one; NULL: none. */
struct stored_sample *sample_store_newest(struct sample_store *store, uint32_t thread);

uint64_t sample_store_count(const struct sample_store *store, uint32_t thread);

/* Reads the samples of one thread in the order of their addition. Starts zeroed. */
struct sample_cursor {
    const struct sample_store *store;
    uint32_t thread;
    uint64_t position;
    size_t loaded_block; /* SIZE_MAX: none */
    struct stored_sample *block;
};

int sample_cursor_start(struct sample_cursor *cursor, const struct sample_store *store, uint32_t thread,
                        struct error *err);
/* Returns 1 with the next sample, 0 at the end, or a negative errno value. */
int sample_cursor_next(struct sample_cursor *cursor, struct stored_sample *sample, struct error *err);
void sample_cursor_destroy(struct sample_cursor *cursor);
