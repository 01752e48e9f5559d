/*
 * Keeps the numbers of functions and threads, and the zero of times, the same from one profile of a growing recording
 * to the next, so that a page that follows it keeps what is selected and open. A function that gets another name gets a
 * new number, and the old one stands for nothing.
 *
 * Threads: one at a time.
 */
#pragma once

#include "base/array.h"
#include "base/error.h"
#include "base/strings.h"
#include "profile/intern.h"

struct stable_func {
    uint32_t name, resource, file; /* strings of `texts`; resource: the name of its library; STRING_NONE: it has none */
    uint32_t line, column;
    uint8_t flags;
};

/* Zero it to start. */
struct stable_numbers {
    struct strings texts;
    ARRAY(struct stable_func) funcs; /* by number */
    ARRAY(uint32_t) threads;         /* the profile's, in order, as numbers of the recording's */
    uint64_t start_ns;               /* CLOCK_MONOTONIC at time 0 of the profiles; 0: of the next one */
};

/* Adds the functions of the profiles before to an empty profile. */
int stable_numbers_add_funcs(const struct stable_numbers *numbers, struct interner *interner, struct error *err);

/* Notes the functions that the profile has beyond those. */
int stable_numbers_note_funcs(struct stable_numbers *numbers, const struct profile *profile, struct error *err);

void stable_numbers_destroy(struct stable_numbers *numbers);
