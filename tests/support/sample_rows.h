/*
 * Makes samples one by one, for tests and measurements. prof itself fills whole columns.
 */
#pragma once

#include "profile/profile.h"

#include <math.h>
#include <stdlib.h>

/* Room in one column for `rows` rows; the column stays as it was if memory ran out. */
#define SAMPLES_GROW(column, rows)                                                                                     \
    do {                                                                                                               \
        void *moved = realloc((column), (rows) * sizeof(*(column)));                                                   \
        if (!moved)                                                                                                    \
            return false;                                                                                              \
        (column) = moved;                                                                                              \
    } while (0)

/* Gives a table without samples its optional columns. False if memory ran out. */
static inline bool samples_give_weight(struct sample_table *samples)
{
    SAMPLES_GROW(samples->weight, 1);
    return true;
}

static inline bool samples_give_cpu_delta(struct sample_table *samples)
{
    SAMPLES_GROW(samples->cpu_delta, 1);
    return true;
}

static inline bool samples_give_waker(struct sample_table *samples)
{
    SAMPLES_GROW(samples->waker, 1);
    SAMPLES_GROW(samples->waker_stack, 1);
    return true;
}

/* Appends a sample of weight 1 and unknown CPU time. False if memory ran out. */
static inline bool samples_add(struct sample_table *samples, uint32_t stack, double time)
{
    size_t row = samples->length;
    if ((row & (row - 1)) == 0) {
        size_t rows = row ? 2 * row : 1;
        SAMPLES_GROW(samples->stack, rows);
        SAMPLES_GROW(samples->time, rows);
        if (samples->weight)
            SAMPLES_GROW(samples->weight, rows);
        if (samples->cpu_delta)
            SAMPLES_GROW(samples->cpu_delta, rows);
        if (samples->waker)
            SAMPLES_GROW(samples->waker, rows);
        if (samples->waker_stack)
            SAMPLES_GROW(samples->waker_stack, rows);
    }
    samples->stack[row] = stack;
    samples->time[row] = time;
    if (samples->weight)
        samples->weight[row] = 1;
    if (samples->cpu_delta)
        samples->cpu_delta[row] = NAN;
    if (samples->waker)
        samples->waker[row] = PROFILE_NONE;
    if (samples->waker_stack)
        samples->waker_stack[row] = PROFILE_NONE;
    samples->length++;
    return true;
}
