/*
 * A profile in the making: what the replay of a recording has, and the profile that is made of it. assemble.c makes one
 * of a recording that has ended; live_assembly.c goes on with one as the recording does.
 */
#pragma once

#include "assemble/assemble.h"
#include "assemble/replay.h"
#include "assemble/symbolization.h"
#include "assemble/trust.h"
#include "profile/intern.h"
#include "profile/profile.h"

ARRAY_TYPE(struct replay_numbers, uint32_t);

struct assembly {
    struct replay replay;
    struct profile profile;
    struct interner interner;
    struct symbolization symbolization;
    struct symbolizer *symbolizer; /* NULL until something is to be symbolized */
    struct trust trust;
    struct replay_numbers stack_map; /* per stack of the replay: the profile's stack */
    struct replay_numbers order;     /* the profile's threads, as indexes of the replay's */
    struct replay_numbers wakers; /* the profile's strings of the replay's objects; empty: nobody noted who woke whom */
    uint64_t start_ns;            /* CLOCK_MONOTONIC at time 0 of the profile */
    const struct recording_window *window; /* the part of the recording that the profile has; NULL: all */
    struct window_threads window_threads;  /* at its end */
};

/* Before the replay. */
void assembly_init(struct assembly *assembly, const struct assemble_options *options);
void assembly_destroy(struct assembly *assembly);

/* Gives the profile the frames and stacks of the replay that it has not yet. */
int assembly_add_stacks(struct assembly *assembly, const struct assemble_options *options, struct error *err);

/* Gives the profile all but those, and samples: its threads, markers, counters and metadata. */
int assembly_describe(struct assembly *assembly, const struct assemble_options *options, struct assemble_result *result,
                      struct error *err);

/* Takes back what that gave it. */
void assembly_forget_description(struct assembly *assembly);

void assembly_fill_result(const struct assembly *assembly, struct assemble_result *result);

/* ms of the profile. */
static inline double assembly_ms(const struct assembly *assembly, uint64_t time)
{
    return time > assembly->start_ns ? (double)(time - assembly->start_ns) / 1e6 : 0;
}

/* Multiples of which (ms) the times of samples are written as: a hundredth of the interval, which is fine enough to
 * order samples and show jitter, and coarse enough to compress well. */
double assembly_time_resolution(const struct assembly *assembly);
