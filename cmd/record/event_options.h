/*
 * The options of `prof record` that name the events to sample beside CPU time, or instead: -e, --period,
 * --no-cpu-samples.
 */
#pragma once

#include "cmd/common/options.h"

#include "record/record.h"
#include "sample/event_list.h"

#include <stdbool.h>

/* Zero it. */
struct event_options {
    ARRAY(char *) texts; /* as given, one for each event */
    uint64_t period;     /* of events that have no own one; 0: none was given */
    bool no_cpu_samples; /* CPU time is not sampled */
    struct event_list list;
};

extern const struct option_row event_option_rows[];

/* Finds the events once all options are known. Returns 0, or the exit status after a message. */
int event_options_find(struct event_options *options);

void event_options_destroy(struct event_options *options);
