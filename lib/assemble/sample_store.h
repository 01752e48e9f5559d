/*
 * Stores the samples of all threads in an unlinked file: a recording has them ordered by time, but a profile needs them
 * thread by thread. Only one small block per thread is in memory.
 */
#pragma once

#include "base/array.h"
#include "base/error.h"

enum { SAMPLE_CPU_UNIT = 100 /* ns */ };

enum stored_kind {
    STORED_CPU,        /* a sample of CPU time, or a row for the CPU time before a wait */
    STORED_WAIT_BEGIN, /* start of a wait */
    STORED_WAIT_END,
    STORED_UNSEEN_END, /* end of a wait without a weight */
    STORED_EVENT,      /* a sample of another event than the CPU clock (event_store.h) */
    STORED_EVENT_HIGH, /* precedes an event sample with a large period */
    STORED_SLICE,      /* start or end of a slice, alternating, in a store of slices only */
};

#define STORED_TIME_MAX ((UINT64_C(1) << 61) - 1) /* ns: 73 years of uptime */

struct stored_sample {
    uint64_t time : 61;        /* ns */
    enum stored_kind kind : 3; /* selects the member of the union */
    union {
        uint32_t stack; /* index of the replay's stack */
        uint32_t cpu;   /* STORED_SLICE */
    };
    union {
        uint32_t cpu_time; /* STORED_CPU: since the thread's previous sample, in units of SAMPLE_CPU_UNIT */
        uint32_t unseen;   /* STORED_WAIT_BEGIN: time of the unseen waits for which the wait stands, in units of
                              SAMPLE_CPU_UNIT */
        uint32_t waker;    /* ends of waits: number in replay.wakers, from 1; 0 unknown */
        uint32_t off_cpu;  /* STORED_SLICE, of an end: time off the CPU, in units of SAMPLE_CPU_UNIT */
        uint32_t period;   /* the lower 32 bits of the period in STORED_EVENT, the upper bits in STORED_EVENT_HIGH */
    };
};

enum { SAMPLE_CPU_MAX = INT32_MAX / 2 }; /* limit of `cpu_time` */

/* Returns the CPU time of a stored sample of any kind. */
static inline uint32_t stored_sample_get_cpu_time(const struct stored_sample *sample)
{
    return sample->kind == STORED_CPU ? sample->cpu_time : 0;
}

static inline bool stored_sample_ends_wait(const struct stored_sample *sample)
{
    return sample->kind == STORED_WAIT_END || sample->kind == STORED_UNSEEN_END;
}

static inline bool stored_sample_is_wait(const struct stored_sample *sample)
{
    return sample->kind == STORED_WAIT_BEGIN || stored_sample_ends_wait(sample);
}

/* Limits the time to STORED_TIME_MAX. Only a damaged spool has a later time. */
static inline uint64_t limit_stored_time(uint64_t time)
{
    return time < STORED_TIME_MAX ? time : STORED_TIME_MAX;
}

struct sample_store;

/* Creates the file in the directory of `beside`, the recording, because /tmp may be in memory. If the disk is full or
 * read-only, or the file has the largest permitted size, stores further samples in memory. */
struct sample_store *sample_store_new(const char *beside);
/* Opens another unlinked file in the same way, or in memory. The caller owns the descriptor. */
int sample_store_open_file(const char *beside, struct error *err);

void sample_store_free(struct sample_store *store);

int sample_store_add(struct sample_store *store, uint32_t thread, const struct stored_sample *sample,
                     struct error *err);

/* Returns the thread's newest sample, which the caller may change until it adds the next one, or NULL for none. */
struct stored_sample *sample_store_get_newest(struct sample_store *store, uint32_t thread);

/* Returns the samples of the wait that is the thread's newest sample, or NULL for none. */
struct stored_sample *sample_store_get_newest_wait(struct sample_store *store, uint32_t thread);

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
