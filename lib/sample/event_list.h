/*
 * The events that a user wants sampled beside the clock of CPU time, by the names that perf(1) and others have for
 * them:
 *
 *     cycles, cache-misses, page-faults ...     known_events()
 *     r1a8                                      a raw number of the processor
 *     sched:sched_switch                        a tracepoint of the kernel
 *     uprobe:PATH:FUNCTION[+OFFSET]             entry of a function of a program or library, or of an instruction in it
 *     uprobe:PATH:0xADDRESS                     an instruction, by its address in the file
 *     uretprobe:PATH:FUNCTION                   return of a function
 *     usdt:PATH:PROVIDER:NAME                   a static probe (elf_probes.h)
 *
 * and any of these with /period=N/ behind it.
 *
 * event_list_add() turns such a text into what perf_event_open(2) takes. It reads files and tracefs for that, and opens
 * no event: event_sampling.h does.
 */
#pragma once

#include "base/array.h"
#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

enum event_kind {
    EVENT_CLOCK, /* CPU time, which is sampled anyway */
    EVENT_HARDWARE,
    EVENT_CACHE,
    EVENT_RAW,
    EVENT_SOFTWARE,
    EVENT_TRACEPOINT,
    EVENT_UPROBE,
    EVENT_URETPROBE,
    EVENT_USDT
};

enum { EVENTS_MAX = 16 /* of a recording */ };

/* What the kernel knows by a number. */
struct known_event {
    const char *name, *alias; /* alias NULL: none */
    enum event_kind kind;
    uint32_t type; /* PERF_TYPE_... */
    uint64_t config;
    bool in_kernel; /* it happens in the kernel, and is not there for those who may not see that */
    const char *what;
    bool is_rare; /* each is a sample, if no period is asked for: at a frequency few would be */
};

const struct known_event *known_events(size_t *count);

/* Where a probe is, as offsets in its file. */
struct event_point {
    uint64_t offset;    /* of the instruction */
    uint64_t semaphore; /* of the number that the kernel is to raise meanwhile; 0: none */
};

struct event {
    char *name; /* as the user wrote it, without a period */
    enum event_kind kind;
    uint32_t type;   /* PERF_TYPE_..., or the number of the PMU */
    uint64_t config; /* of probes: without semaphore */
    bool in_kernel;
    bool only_user, only_kernel;      /* the modifiers ":u" and ":k" */
    uint64_t period;                  /* one sample for so many events; 0: as many samples a second as the clock has */
    char *path;                       /* of probes */
    ARRAY(struct event_point) points; /* of probes */
};

ARRAY_TYPE(struct event_list, struct event);

/*
 * Adds an event; those of the clock, and one that is there already, add nothing. A text of tracepoints may be a pattern
 * ("sched:sched_*"), and adds all that match, by name. `period`: for events whose text has none; 0: 1 for tracepoints,
 * probes and the software events that are rare, a frequency for others. -EINVAL: the text names no event, and the
 * sentence has near names. Other failures: the event cannot be had here (a file is missing, tracefs is not readable).
 */
int event_list_add(struct event_list *list, const char *text, uint64_t period, struct error *err);
void event_list_destroy(struct event_list *list);

/* Whether it happens where a thread leaves its CPU, on which it has the stack of its wait. */
bool event_is_switch(const struct event *event);

/* Whether samples of it come at their own times: with a period, not a frequency. */
static inline bool event_has_period(const struct event *event)
{
    return event->period != 0;
}
