/*
 * The options of `prof record` that select events to sample: -e, --period, --no-cpu-samples.
 */
#pragma once

#include "cmd/common/options.h"

#include "record/record.h"
#include "sample/event_list.h"

/* Zero it. */
struct event_options {
    ARRAY(char *) texts; /* the arguments of -e, one for each event */
    uint64_t period;     /* --period, for events without a period of their own, or 0 if not given */
    bool no_cpu_samples; /* CPU time is not sampled */
    struct event_list list;
};

extern const struct option_row event_option_rows[];

/* Finds the events once all options are known. Returns 0, or the exit status after a message. */
int event_options_find(struct event_options *options);

void event_options_destroy(struct event_options *options);
