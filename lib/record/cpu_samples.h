/*
 * The producer of samples: walks the stack of each record of a sampling source, and appends the call chain to the
 * spool. A sample counts CPU time or another event (prof record -e).
 *
 * The recorder walks stacks at once, for two reasons. Stacks are large (up to 64 KiB each, 64 MB a second for each busy
 * CPU at 1 kHz), and call chains are small (some 10 bytes). And the recorder can still read the memory above the copy
 * (stack_reader.c, wakeup_mode.c).
 *
 * Threads: the recorder thread.
 */
#pragma once

#include "base/error.h"
#include "process/library_table.h"
#include "process/thread_filter.h"
#include "process/tracker.h"
#include "record/excess.h"
#include "record/pauses.h"
#include "record/python_stack.h"
#include "record/record_result.h"
#include "record/recorder_work.h"
#include "sample/wakeup_mode.h"
#include "sample/perf_merge.h"
#include "sample/perf_record.h"

struct cpu_samples;

/* All pointers belong to the caller and must outlive the samples. */
struct cpu_samples_options {
    struct spool_writer *spool;
    struct library_table *libraries;
    struct tracker *tracker;
    struct recorder_work *work;
    struct excesses *excesses;
    struct thread_filter *filter; /* counts samples of threads that the filter excludes */
    const struct pauses *pauses;  /* pauses, in which the recorder stores no samples */
    struct python_stacks *python; /* if NULL, Python frames are not requested */
    struct perf_merge *merge;     /* knows which threads run, or NULL (ptrace stops them) */
    /* ns of CPU time per sample without switch records, or 0 (each sample's record has its own period) */
    uint64_t period;
    bool has_switches; /* the source reports when threads run */
    bool has_waits;    /* the stack of a context-switch event counts for the wait that begins */
    const struct event_list *events;
    struct record_result *result; /* receives the counts of sampled events */
};

/* The frames and the quality of a walked stack. */
struct cpu_sample_quality {
    enum wakeup_stack depth;
    bool is_truncated, has_python;
};

int cpu_samples_new(struct cpu_samples **out, const struct cpu_samples_options *options, struct error *err);
void cpu_samples_free(struct cpu_samples *samples);

/* Stores a sample of CPU time. `is_stopped`: ptrace has stopped the thread, so that libunwind can walk it too. */
int cpu_samples_add(struct cpu_samples *samples, const struct perf_record *record, bool is_stopped,
                    struct cpu_sample_quality *quality, struct error *err);

/* Stores a sample of another event, which does not count as CPU time. `event` is the number of the event, from 1,
 * and `period` the number of occurrences that the sample stands for. */
int cpu_samples_add_event(struct cpu_samples *samples, const struct perf_record *record, uint32_t event,
                          uint64_t period, struct error *err);

/* Walks the stack of a waker, a recorded thread, and keeps the stack for the thread that it wakes. */
int cpu_samples_add_waker(struct cpu_samples *samples, const struct perf_record *record, struct tracked_thread *woken,
                          struct error *err);

/* Returns the number of CPU samples in the spool. */
uint64_t cpu_samples_get_count(const struct cpu_samples *samples);

/* Fills in the counts of samples, and adds notes about missing stacks. */
void cpu_samples_fill_result(const struct cpu_samples *samples, struct record_result *result);
