/*
 * The events to sample in addition to CPU time, by the names of perf(1) and other tools:
 *
 *     cycles, cache-misses, page-faults ...     list_known_events()
 *     r1a8                                      a raw event number of the processor
 *     sched:sched_switch                        a tracepoint of the kernel
 *     uprobe:PATH:FUNCTION[+OFFSET]             entry of a function of a program or library, or of an instruction in it
 *     uprobe:PATH:0xADDRESS                     an instruction, by its address in the file
 *     uretprobe:PATH:FUNCTION                   return of a function
 *     usdt:PATH:PROVIDER:NAME                   a static probe (elf_probes.h)
 *
 * each optionally followed by /period=N/.
 *
 * event_list_add() translates such a name into the attributes of perf_event_open(2). The function reads files and
 * tracefs, and opens no event. event_sampling.h opens the events.
 */
#pragma once

#include "base/array.h"
#include "base/error.h"

enum event_kind {
    EVENT_CLOCK, /* CPU time, always sampled */
    EVENT_HARDWARE,
    EVENT_CACHE,
    EVENT_RAW,
    EVENT_SOFTWARE,
    EVENT_TRACEPOINT,
    EVENT_UPROBE,
    EVENT_URETPROBE,
    EVENT_USDT
};

enum { EVENTS_MAX = 16 }; /* limit of events of a recording */

/* An event with a number in the kernel. */
struct known_event {
    const char *name, *alias; /* alias NULL: none */
    enum event_kind kind;
    uint32_t type; /* PERF_TYPE_... */
    uint64_t config;
    bool in_kernel; /* the event occurs in the kernel, so the user needs permission to record the kernel */
    const char *what;
    bool is_rare; /* the default period is 1, because a frequency would give few samples */
};

const struct known_event *list_known_events(size_t *count);

/* Location of a probe, as offsets in its file. */
struct event_point {
    uint64_t offset;    /* of the instruction */
    uint64_t semaphore; /* offset of the semaphore that the kernel increments while the probe is used, or 0 for none */
};

struct event {
    char *name; /* the user's name of the event, without the period */
    enum event_kind kind;
    uint32_t type;   /* PERF_TYPE_..., or the number of the PMU */
    uint64_t config; /* perf_event_attr.config of the event; for probes, without the semaphore */
    bool in_kernel;
    bool only_user, only_kernel;      /* the modifiers ":u" and ":k" */
    uint64_t period;                  /* occurrences per sample, or 0 to sample at the clock's frequency */
    char *path;                       /* of probes */
    ARRAY(struct event_point) points; /* of probes */
};

ARRAY_TYPE(struct event_list, struct event);

/*
 * Adds an event by name. CPU-clock events and duplicates add nothing. A pattern of tracepoints ("sched:sched_*") adds
 * all matches, sorted by name. `period` applies to events without a period of their own. If `period` is 0, tracepoints,
 * probes and rare software events have period 1, and other events a frequency. Returns -EINVAL if `text` names no
 * event, with a sentence that suggests similar names. Other errors: the event is not available on this system (a
 * missing file, an unreadable tracefs).
 */
int event_list_add(struct event_list *list, const char *text, uint64_t period, struct error *err);
void event_list_destroy(struct event_list *list);

/* Whether the event occurs when a thread leaves its CPU, so that a sample of the event has the stack of the wait. */
bool event_is_switch(const struct event *event);

/* Whether the event samples with a period, not a frequency. */
static inline bool event_has_period(const struct event *event)
{
    return event->period != 0;
}
