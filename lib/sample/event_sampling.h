/*
 * Samples the events of a list (event_list.h) beside the clock of CPU time, on the rings of perf_events.h. Their
 * samples have the fields of its samples, and the id that tells whose they are.
 *
 * An event with a period samples as often as it happens, which nobody knows before. So its copies of stacks are short,
 * that more of them find room in a ring: the rest is read from the live process (record/stack_reader.h).
 *
 * Threads: as perf_events.h.
 */
#pragma once

#include "base/array.h"
#include "base/error.h"
#include "base/hash.h"
#include "sample/event_list.h"
#include "sample/perf_record.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct perf_event_attr;

struct sampled_event_fd {
    int fd;
    uint32_t event; /* index in the list */
};

struct event_sampling {
    const struct event_list *list; /* NULL: there are none */
    ARRAY(struct sampled_event_fd) fds;
    struct hash numbers; /* id of an event -> its index in the list */
};

/* Where to open an event: as perf_event_open(2) takes it. */
struct event_place {
    pid_t pid;
    int cpu;
    unsigned long flags;
    int ring_fd; /* -1: it has no ring */
};

/* Opens the event once and closes it, as it is without a clock (`clock` NULL) or beside that of a recording. Returns 0,
 * or a negative errno value with the sentence that says why this user cannot sample it here, and what allows it. */
int event_try(const struct event *event, const struct perf_event_attr *clock, const struct event_place *place,
              struct error *err);

/* Whether some are probes of programs. They count in the threads for which they are opened, not in those that these
 * start: the kernel cannot hand them on. */
bool event_sampling_has_probes(const struct event_sampling *sampling);

/* Opens all events of the list with the other attributes of `clock`, those of the clock's event. A negative errno value
 * of the first failure; what is open already is closed by event_sampling_close(). */
int event_sampling_add(struct event_sampling *sampling, const struct perf_event_attr *clock,
                       const struct event_place *place);

/* The number of the event with this id, from 1 on; 0: it is none of these. */
uint32_t event_sampling_number(const struct event_sampling *sampling, uint64_t id);

/* How the samples of event `number` are laid out, where those of the clock are as `layout`. */
struct perf_layout event_sampling_layout(const struct event_sampling *sampling, const struct perf_layout *layout,
                                         uint32_t number);

/* How many events a sample of event `number` stands for, whose field `period` is this. */
uint64_t event_sampling_period(const struct event_sampling *sampling, uint32_t number, uint64_t period);

/* Stops sampling. */
void event_sampling_stop(const struct event_sampling *sampling);

struct event_totals {
    uint64_t count; /* how often the event happened, sampled or not */
    uint64_t lost;  /* samples that had no room; 0 if the kernel does not count them (before 6.0) */
};

/* What the kernel counted of the event with this index in the list, of all threads. `read_format`: of the clock's
 * event. */
struct event_totals event_sampling_totals(const struct event_sampling *sampling, uint64_t read_format, uint32_t event);

void event_sampling_close(struct event_sampling *sampling);
