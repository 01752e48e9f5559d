/*
 * The metadata of a profile: the machine, the command, the settings of the recording, and the quality of its data.
 */
#pragma once

#include "assemble/hints.h"
#include "assemble/replay_state.h"
#include "assemble/symbolization.h"
#include "assemble/trust.h"

/* Receives each figure of data quality. `format`: the format of the value, as in `meta.extra` of a profile. `value`: a
 * number in digits. */
struct metadata_listener {
    void (*receive)(void *context, const char *label, const char *format, const char *value); /* may be NULL */
    void *context;
};

/* Sources of the metadata. */
struct metadata_source {
    const struct replay *replay;
    const struct symbolization *symbolization;
    const struct hints *hints;
    const struct trust *trust;
    double range_start; /* ms: start of the profile's range */
    uint64_t start_ns;  /* CLOCK_MONOTONIC at time 0 of the profile */
    struct metadata_listener listener;
};

/* Fills profile->meta. */
int fill_metadata(struct profile *profile, const struct metadata_source *source, struct error *err);

/* Adds the numbers of program counters and of process, thread and library markers beyond the profile's limits. */
int metadata_add_omitted(struct profile *profile, size_t counters, size_t markers, struct error *err);
