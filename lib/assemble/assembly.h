/*
 * The state of an assembly: the replay of a recording, and the profile that prof builds from the replay. assemble.c
 * handles a finished recording; live_assembly.c extends the profile while the recording runs.
 */
#pragma once

#include "assemble/assemble_options.h"
#include "assemble/replay_state.h"
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
    struct symbolizer *symbolizer; /* NULL until the first symbolization */
    struct trust trust;
    struct replay_numbers stack_map; /* stack of the replay -> stack of the profile */
    struct replay_numbers order;     /* threads of the profile, as indexes of the replay's threads */
    struct replay_numbers wakers;    /* object of the replay -> string of the profile; empty: no wakers recorded */
    uint64_t start_ns;               /* CLOCK_MONOTONIC at time 0 of the profile */
    const struct recording_window *window; /* the assembled part of the recording, or NULL (all) */
    struct window_threads window_threads;  /* state of the threads at the end of the window */
};

/* Call this function before the replay. */
void assembly_init(struct assembly *assembly, const struct assemble_options *options);
void assembly_destroy(struct assembly *assembly);

/* Adds new frames and stacks of the replay to the profile. */
int assembly_add_stacks(struct assembly *assembly, const struct assemble_options *options, struct error *err);

/* Adds threads, markers, counters and metadata to the profile. */
int assembly_describe(struct assembly *assembly, const struct assemble_options *options, struct assemble_result *result,
                      struct error *err);

/* Removes the threads, markers, counters and metadata that assembly_describe() added. */
void assembly_remove_description(struct assembly *assembly);

void assembly_describe_result(const struct assembly *assembly, struct assemble_result *result);

/* Converts ns of CLOCK_MONOTONIC to ms of the profile. */
static inline double assembly_convert_to_ms(const struct assembly *assembly, uint64_t time)
{
    return time > assembly->start_ns ? (double)(time - assembly->start_ns) / 1e6 : 0;
}

/* Returns the resolution (ms) of sample times: a hundredth of the interval, fine enough to order samples and show
 * jitter, coarse enough to compress well. */
double assembly_get_time_resolution(const struct assembly *assembly);
