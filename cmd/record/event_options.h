/*
 * The options of `prof record` that name the events to sample beside CPU time, or instead: -e, --period,
 * --no-cpu-samples.
 */
#pragma once

#include "record/record.h"
#include "sample/event_list.h"

#include <getopt.h>
#include <stdbool.h>

/* Zero it. */
struct event_options {
    ARRAY(char *) texts; /* as given, one for each event */
    uint64_t period;     /* of events that have no own one; 0: none was given */
    bool no_cpu_samples; /* CPU time is not sampled */
    struct event_list list;
};

/* For the table of long options; 'e' is the short one. */
enum { OPTION_PERIOD = 7000, OPTION_NO_CPU_SAMPLES };
#define EVENT_OPTIONS                                                                                                  \
    {"event", required_argument, NULL, 'e'}, {"no-cpu-samples", no_argument, NULL, OPTION_NO_CPU_SAMPLES},             \
    {                                                                                                                  \
        "period", required_argument, NULL, OPTION_PERIOD                                                               \
    }

/* Parses one of these options with its value, optarg. Returns 0, or the exit status after a message; -1 if it is
 * another option. */
int event_parse_option(struct event_options *options, int option);

/* Finds the events once all options are known. Returns 0, or the exit status after a message. */
int event_options_find(struct event_options *options);

void event_options_destroy(struct event_options *options);
