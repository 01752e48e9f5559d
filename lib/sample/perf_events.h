/*
 * The perf events that sample threads and their descendants, and their rings: one ring per online CPU, and for each CPU
 * one event per thread. A command that has not called exec yet is one thread, a process that runs has many.
 *
 * Or events that sample whatever runs on a CPU, or whatever of a cgroup: one per CPU. Then a second event per CPU,
 * which does not sample, tells of the processes and mappings of the whole system from the opening on.
 *
 * A ring becomes readable (poll) when a quarter of it has filled. The event of a CPU can also announce each sample
 * with a signal (perf_events_announce()), which costs the target's thread a second interrupt. Why both:
 * docs/decisions.md, "Wake up late, except for deep stacks".
 *
 * The rings belong to dummy events that never count, so their poll does not report the end of the target.
 *
 * Threads: one thread, which is the recorder thread of a recording.
 */
#pragma once

#include "base/array.h"
#include "base/error.h"
#include "sample/cpu_list.h"
#include "sample/event_sampling.h"
#include "sample/perf_rate.h"
#include "sample/perf_record.h"
#include "sample/perf_ring.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct perf_cpu {
    uint32_t cpu;
    bool sampled;                            /* otherwise its events only tell of processes and mappings */
    struct ARRAY_TYPE(perf_fds, int) events; /* one for each thread that was added, or two for the whole system */
    int ring_fd;                             /* readable (poll) when a quarter of the ring has filled since */
    uint64_t lost;                           /* samples, as far as perf_events_lost() has returned them */
    bool announces;                          /* each sample makes announcement_fd readable */
    struct perf_ring ring;
};

enum perf_tier {
    PERF_TIER_KERNEL_AND_USER,
    PERF_TIER_USER, /* no samples inside the kernel, though the counters include it */
};

enum { PERF_NOTES = 16, PERF_NOTE_SIZE = 400 };

struct perf_events {
    struct ARRAY_TYPE(perf_cpu_array, struct perf_cpu) cpus;
    struct perf_layout layout;
    struct event_sampling sampling; /* of the events beside the clock */
    struct perf_rate rates;         /* of threads that ran before; takes the records of switches and ends */
    enum perf_tier tier;
    bool hardware;       /* the event counts CPU cycles; otherwise the CPU clock */
    bool no_samples;     /* of the clock */
    bool kernel_symbols; /* KSYMBOL records describe code that the kernel generates for the target (BPF programs) */
    bool build_ids;      /* MMAP2 records carry build ids */
    bool at_exec;        /* events start when their thread calls exec, not at once */
    bool all;            /* events of CPUs, not of threads */
    bool threads_only;   /* of the threads that were added, threads inherit the events, child processes do not */
    bool some_cpus;      /* not all CPUs are sampled */
    bool switches;       /* SWITCH records say when a thread leaves its CPU, and when it is on one again */
    struct perf_fds cpu_clocks; /* each counts the CPU time of a thread and its descendants */
    int announcement_fd;        /* readable (poll) when a sample was announced; a signalfd */
    sigset_t mask;              /* of the thread before the signal of announcements was blocked in it */
    uint32_t rate;              /* samples per second of CPU time */
    uint32_t stack_size;        /* maximum bytes of stack copied per sample */
    size_t ring_size;           /* bytes each */

    /* One sentence for each feature that was refused, with the setting that permits it. */
    char notes[PERF_NOTES][PERF_NOTE_SIZE];
    size_t note_count;
};

struct perf_options {
    uint32_t rate;                   /* samples per second of CPU time */
    bool at_exec;                    /* events start when their thread calls exec, not at once */
    bool all;                        /* for perf_events_add_all(), not perf_events_add() */
    bool threads_only;               /* do not sample the child processes of the threads that are added */
    bool no_cpu_samples;             /* the clock takes no samples; it still tells of processes and mappings */
    bool switches;                   /* record context switches, where the kernel can (4.3 and later) */
    const struct cpu_list *cpus;     /* sample only what runs on these; NULL: on all */
    const struct event_list *events; /* sample these beside the clock; NULL: none. Must outlive what is opened */
};

enum { PERF_EVENT_REFUSED = -EBADE /* which the kernel never returns */ };

/*
 * Opens the rings, and finds out which events there may be. Drops what the kernel lacks or refuses: kernel frames
 * first, then ring size, then the size of stack copies; each refusal adds a note. -EPERM, -EACCES or -ENOSYS if the
 * kernel refuses perf events altogether, or those of the whole system; the sentence says which setting permits them.
 * -ENODEV if no CPU of `cpus` is online, PERF_EVENT_REFUSED if one of `events` cannot be sampled. Nothing stays open
 * after a failure.
 */
int perf_events_open(struct perf_events *events, const struct perf_options *options, struct error *err);

/* Samples a thread, and the threads and processes that it starts from now on. -ESRCH if it has ended, -EPERM or -EACCES
 * if it may not be sampled, with a sentence. */
int perf_events_add(struct perf_events *events, pid_t tid, struct error *err);

/* Samples whatever runs on the CPUs; with a cgroup (a descriptor of its folder, which may be closed afterwards; else
 * -1) only its processes and those of the cgroups below it. */
int perf_events_add_all(struct perf_events *events, int cgroup, struct error *err);

/* The struct before perf_events_open(), for what may be closed without having been opened. */
#define PERF_EVENTS_NONE ((struct perf_events){.announcement_fd = -1})

/* Has each sample of the CPU announced from now on, or none. Cheap if nothing changes. */
void perf_events_announce(struct perf_cpu *cpu, bool announce);

/* Makes announcement_fd unreadable until the next announcement. To be called before the rings are read, else a sample
 * that comes in between is announced to nobody. */
void perf_events_take_announcements(struct perf_events *events);

/* Stops sampling; the rings stay readable. */
void perf_events_stop(struct perf_events *events);

/* The kernel's counts over all recorded threads, including those that have ended. */
struct perf_totals {
    uint64_t cpu_time; /* ns, on the sampled CPUs; 0: not counted, of the whole system */
    uint64_t lost;     /* samples of the clock dropped because a ring was full; 0 if the kernel does not count them
                        * (before 6.0) */
};

/* Of the records that a LOST record of a ring counts, how many were samples. A ring takes mapping records as well, but
 * where CPUs are sampled, events of their own write these, and the kernel counts the losses of each event (since Linux
 * 6.0). Otherwise all count as samples. */
uint64_t perf_events_lost(struct perf_events *events, size_t ring, uint64_t records);

struct perf_totals perf_events_totals(const struct perf_events *events);

void perf_events_close(struct perf_events *events);
