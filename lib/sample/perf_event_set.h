/*
 * The open perf events of a recording, with the features that the system permits. perf_attr.h chooses the features,
 * perf_events.h opens, reads and closes the events.
 */
#pragma once

#include "base/array.h"
#include "sample/event_sampling.h"
#include "sample/perf_rate.h"
#include "sample/perf_record.h"
#include "sample/perf_ring.h"

#include <signal.h>

struct perf_cpu {
    uint32_t cpu;
    bool sampled;                            /* false if the events of the CPU only report processes and mappings */
    struct ARRAY_TYPE(perf_fds, int) events; /* events: one per added thread, or two for the whole system */
    int ring_fd;                             /* descriptor that is readable (poll) when a quarter of the ring is full */
    uint64_t lost;                           /* lost samples that perf_events_count_lost() has returned */
    bool announces;                          /* each sample makes announcement_fd readable */
    struct perf_ring ring;
};

enum perf_tier {
    PERF_TIER_KERNEL_AND_USER,
    PERF_TIER_USER, /* samples exclude the kernel; counters include kernel time */
};

enum { PERF_NOTES = 16, PERF_NOTE_SIZE = 400 };

struct perf_events {
    struct ARRAY_TYPE(perf_cpu_array, struct perf_cpu) cpus;
    struct perf_layout layout;
    struct event_sampling sampling; /* state of the events other than the clock */
    struct perf_rate rates; /* sampling rates of threads that ran before the recording; needs SWITCH and EXIT records */
    enum perf_tier tier;
    bool hardware;       /* true if the clock counts CPU cycles, false if the clock counts CPU time */
    bool no_samples;     /* the clock takes no samples */
    bool kernel_symbols; /* KSYMBOL records describe code that the kernel generates for the target (BPF programs) */
    bool build_ids;      /* MMAP2 records carry build ids */
    bool at_exec;        /* events start when their thread calls exec, not at once */
    bool all;            /* events of CPUs, not of threads */
    bool threads_only;   /* only threads, not child processes, inherit the events */
    bool some_cpus;      /* not all CPUs are sampled */
    bool switches;       /* SWITCH records report when threads leave their CPU and run again */
    struct perf_fds cpu_clocks; /* each event counts the CPU time of a thread and its descendants */
    int announcement_fd;        /* signalfd: readable (poll) when a sample was announced */
    sigset_t mask;              /* signal mask of the thread before the recorder blocked the announcement signal */
    uint32_t rate;              /* samples per second of CPU time */
    uint32_t stack_size;        /* maximum bytes of stack copied per sample */
    size_t ring_size;           /* bytes per ring */

    /* One sentence for each refused feature, with the setting that permits it. */
    char notes[PERF_NOTES][PERF_NOTE_SIZE];
    size_t note_count;
};
