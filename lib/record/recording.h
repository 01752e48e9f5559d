/*
 * A running recording: its source, its producers, and their shared data. Each member belongs to the file of its type;
 * other files call its functions. Private to lib/record; the public interface is record.h.
 *
 * Threads: all functions act on the thread that calls them, the recorder thread.
 */
#pragma once

#include "process/cpu_limit.h"
#include "process/library_table.h"
#include "process/thread_filter.h"
#include "process/tracker.h"
#include "record/control_state.h"
#include "record/counters.h"
#include "record/cpu_samples.h"
#include "record/excess.h"
#include "record/marks.h"
#include "record/process_ends.h"
#include "record/python_stack.h"
#include "record/record_options.h"
#include "record/record_result.h"
#include "record/recorder_work.h"
#include "record/loop_state.h"
#include "record/source.h"
#include "record/target.h"
#include "record/waits.h"
#include "spool/spool.h"

struct recording {
    const struct record_options *options;
    struct record_result *result;
    struct target *target;
    struct {
        bool is_ptrace;               /* ptrace replaces perf events */
        char refusal[PERF_NOTE_SIZE]; /* reason why the kernel refuses perf events, or "" if the kernel permits them */
    } sampler;
    struct source *source; /* NULL if not open */
    struct spool_writer *spool;
    struct library_table *libraries;
    struct tracker *tracker;
    struct thread_filter filter; /* of options.thread_names */
    struct excesses excesses;

    struct cpu_samples *samples;
    struct waits waits; /* used if the source sees when threads run */
    struct counters counters;
    struct marks marks;
    struct python_stacks python;
    struct process_ends ends;
    struct recorder_work work;
    struct cpu_limit cpu_limit; /* limit of the target's first process; unused for whole systems and cgroups */

    struct control control;
    struct recording_loop loop;
};

/* Whether the source reports when threads start and stop running, so that `waits` is in use. */
static inline bool recording_has_switches(const struct recording *recording)
{
    return recording->source && recording->source->has_switches;
}

/* Whether the recorder stores waits, and does not only measure them. */
static inline bool recording_stores_waits(const struct recording *recording)
{
    return recording_has_switches(recording) && recording->options->off_cpu;
}

/* Ends the loop. The first reason counts. */
void recording_end(struct recording *recording, enum record_end end, int signal);

/* Stores how the command ended, as wait4() reports. `context`: the recording. */
int recording_store_target_end(void *context, int status, const struct rusage *usage, struct error *err);

/* Ends the recording if `fd`, which is readable, reports that the last process of options.pids has ended. */
void recording_handle_end(struct recording *recording, int fd);

/* Runs the command again. */
int recording_run_again(struct recording *recording, struct error *err);

/* Stores the CPU time that only the kernel counted up to `stopped` (ns), the end of the recording. */
int recording_store_unsampled(struct recording *recording, uint64_t stopped, struct error *err);

/* Fills in the result at the end. `cpu_before` is the CPU time (ns) of this thread before the recording. */
void recording_fill_result(struct recording *recording, uint64_t cpu_before);
