/*
 * Samples the events of a list (event_list.h) in addition to CPU time, on the rings of perf_events.h. The samples of
 * these events have the fields of CPU samples, and the id of the event.
 *
 * The sampling rate of an event with a period is unknown in advance. So its stack copies are short, and a ring has
 * space for more samples; the recorder reads the rest of a stack from the live process (unwind/stack_reader.h).
 *
 * Threads: as in perf_events.h.
 */
#pragma once

#include "base/array.h"
#include "base/error.h"
#include "base/hash.h"
#include "sample/event_list.h"
#include "sample/perf_record.h"

#include <sys/types.h>

struct perf_event_attr;

struct sampled_event_fd {
    int fd;
    uint32_t event; /* index in the list */
};

struct event_sampling {
    const struct event_list *list; /* NULL if none */
    ARRAY(struct sampled_event_fd) fds;
    struct hash numbers; /* id of an event -> index in the list */
};

/* The target of an event, as arguments of perf_event_open(2). */
struct event_place {
    pid_t pid;
    int cpu;
    unsigned long flags;
    int ring_fd; /* -1: no ring */
};

/* Opens and closes the event, to test whether this user can sample it. `clock` has the attributes of the recording's
 * clock event, or is NULL. Returns 0, or a negative errno value with a sentence: the reason why the kernel refuses
 * the event, and the setting that permits it. */
int event_check_access(const struct event *event, const struct perf_event_attr *clock, const struct event_place *place,
                       struct error *err);

/* Whether the list has probes of programs. A probe counts only in the threads for which it was opened, not in their
 * children, because probes cannot be inherited. */
bool event_sampling_has_probes(const struct event_sampling *sampling);

/* Opens all events of the list, with the remaining attributes of the clock's event `clock`. Returns 0 or the negative
 * errno value of the first failure; event_sampling_close() also closes the events that were opened before the
 * failure. */
int event_sampling_add(struct event_sampling *sampling, const struct perf_event_attr *clock,
                       const struct event_place *place);

/* Returns the number of the event with this id, 1-based, or 0 (not in the list). */
uint32_t event_sampling_find_number(const struct event_sampling *sampling, uint64_t id);

/* Returns the layout of the samples of event `number`. `layout` is the layout of the clock's samples. */
struct perf_layout event_sampling_get_layout(const struct event_sampling *sampling, const struct perf_layout *layout,
                                             uint32_t number);

/* Returns the number of occurrences for which a sample of event `number` stands. `period` is the field of the
 * sample. */
uint64_t event_sampling_get_period(const struct event_sampling *sampling, uint32_t number, uint64_t period);

/* Stops sampling. */
void event_sampling_stop(const struct event_sampling *sampling);

struct event_totals {
    uint64_t count; /* occurrences, sampled or not */
    uint64_t lost;  /* samples lost because the ring was full, or 0 if the kernel does not count them (before 6.0) */
};

/* Returns the kernel's counts of an event in all threads. `event` is an index in the list. `read_format` is the
 * read_format of the clock's event. */
struct event_totals event_sampling_read_totals(const struct event_sampling *sampling, uint64_t read_format,
                                               uint32_t event);

void event_sampling_close(struct event_sampling *sampling);
