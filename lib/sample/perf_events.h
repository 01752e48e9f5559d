/*
 * The perf events that sample threads and their descendants, and their rings: one ring per online CPU, and on each CPU
 * one event per thread. A command before exec has one thread, a running process has many.
 *
 * To sample the whole system or a cgroup, each CPU has one event. A second event per CPU, which does not sample, then
 * reports the processes and mappings of the whole system.
 *
 * A ring becomes readable (poll) when a quarter of the ring is full. The event of a CPU can also announce each sample
 * with a signal (perf_events_set_announcing()), which costs the target's thread a second interrupt. docs/decisions.md,
 * "Rings wake the recorder late, except for deep stacks", has the reasons for both ways.
 *
 * The rings belong to dummy events that never count, so their poll does not report the end of the target.
 *
 * Threads: the recorder thread.
 */
#pragma once

#include "base/error.h"
#include "sample/cpu_list.h"
#include "sample/perf_event_set.h"

#include <sys/types.h>

struct perf_options {
    uint32_t rate;               /* samples per second of CPU time */
    bool at_exec;                /* events start when their thread calls exec, not at once */
    bool all;                    /* sample all processes, by perf_events_add_all(), not perf_events_add_thread() */
    bool threads_only;           /* do not sample child processes of the added threads */
    bool no_cpu_samples;         /* the clock only reports processes and mappings, without samples */
    bool switches;               /* record context switches, if the kernel can (4.3 and later) */
    const struct cpu_list *cpus; /* sample only these CPUs, or NULL (all) */
    /* Events to sample in addition to the clock, or NULL for none. Must outlive struct perf_events. */
    const struct event_list *events;
};

enum { PERF_EVENT_REFUSED = -EBADE /* error code outside the kernel's errno values */ };

/*
 * Opens the rings, and finds out which events the kernel supports and permits. Drops unsupported or refused features:
 * kernel frames first, then ring size, then the size of stack copies; each refusal adds a note. -EPERM, -EACCES or
 * -ENOSYS if the kernel refuses all perf events, or those of the whole system; the sentence names the setting that
 * permits perf events. -ENODEV if no CPU of `cpus` is online. PERF_EVENT_REFUSED if one of `events` cannot be sampled.
 * A failure leaves nothing open.
 */
int perf_events_open(struct perf_events *events, const struct perf_options *options, struct error *err);

/* Samples a thread and its future children. -ESRCH if the thread has ended; -EPERM or -EACCES with a sentence if this
 * user may not sample it. */
int perf_events_add_thread(struct perf_events *events, pid_t tid, struct error *err);

/* Samples all processes on the CPUs. With `cgroup` (a descriptor of its directory, which may be closed afterwards,
 * or -1 for none), samples only processes of the cgroup and its descendants. */
int perf_events_add_all(struct perf_events *events, int cgroup, struct error *err);

/* The initial value: perf_events_close() accepts it. */
#define PERF_EVENTS_NONE ((struct perf_events){.announcement_fd = -1})

/* Turns the announcement of each sample of the CPU on or off. Cheap if nothing changes. */
void perf_events_set_announcing(struct perf_cpu *cpu, bool announce);

/* Makes announcement_fd unreadable until the next announcement. Call this function before reading the rings. In the
 * other order, prof loses the announcement of a sample that arrives in between. */
void perf_events_clear_announcements(struct perf_events *events);

/* Stops sampling; the rings stay readable. */
void perf_events_stop(struct perf_events *events);

/* The kernel's counts over all recorded threads, including those that have ended. */
struct perf_totals {
    uint64_t cpu_time; /* ns of CPU time on the sampled CPUs; 0: not counted (the whole system) */
    uint64_t lost;     /* samples of the clock dropped because a ring was full, or 0 if the kernel does not count
                        * them (before 6.0) */
};

/* Returns how many of the `records` of a LOST record were samples. Rings also hold mapping records. When CPUs are
 * sampled, other events write mapping records, and the kernel counts the losses of each event (since Linux 6.0).
 * Otherwise all lost records count as samples. */
uint64_t perf_events_count_lost(struct perf_events *events, size_t ring, uint64_t records);

struct perf_totals perf_events_read_totals(const struct perf_events *events);

/* Returns how many CPUs came online after the events were opened. */
uint32_t perf_events_count_new_cpus(const struct perf_events *events);

void perf_events_close(struct perf_events *events);
