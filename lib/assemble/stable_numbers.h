/*
 * Gives functions, threads and time 0 the same numbers in successive profiles of a growing recording, so that a live
 * page keeps its selection and open rows. A renamed function gets a new number, and its old number becomes unused.
 *
 * Threads: one at a time.
 */
#pragma once

#include "base/array.h"
#include "base/error.h"
#include "base/strings.h"
#include "profile/intern.h"

struct stable_func {
    uint32_t name, resource, file; /* strings of `texts`; resource: the name of its library, or STRING_NONE for none */
    uint32_t line, column;
    uint8_t flags;
};

/* Starts zeroed. */
struct stable_numbers {
    struct strings texts;
    ARRAY(struct stable_func) funcs; /* by number */
    ARRAY(uint32_t) threads;         /* threads of the profile, as numbers of the recording */
    uint64_t start_ns; /* CLOCK_MONOTONIC at time 0 of the profiles, or 0 until the first profile sets it */
};

/* Adds the functions of earlier profiles to an empty profile. */
int stable_numbers_add_funcs(const struct stable_numbers *numbers, struct interner *interner, struct error *err);

/* Stores the new functions of the profile. */
int stable_numbers_store_funcs(struct stable_numbers *numbers, const struct profile *profile, struct error *err);

void stable_numbers_destroy(struct stable_numbers *numbers);
