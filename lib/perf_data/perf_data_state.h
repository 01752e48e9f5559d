/*
 * State while the records of a perf.data file are fed to a spool, shared by the perf_data_feed.c files.
 */
#pragma once

#include "base/array.h"
#include "base/error.h"
#include "base/hash.h"
#include "perf_data/perf_data.h"
#include "perf_data/perf_data_groups.h"
#include "perf_data/perf_data_order.h"
#include "perf_data/perf_data_reason.h"
#include "perf_data/perf_data_record.h"
#include "perf_data/perf_data_result.h"
#include "process/library_table.h"
#include "process/thread_filter.h"
#include "process/tracker.h"
#include "record/mark_writer.h"
#include "record/waits.h"
#include "spool/spool.h"
#include "unwind/unwind.h"

/* The use of one event of the file. */
struct fed_event {
    uint64_t samples, truncated;
    bool is_read;    /* counts are in the samples of another event of the group */
    bool is_main;    /* the event's samples are the CPU samples */
    uint32_t number; /* number of the event in the profile, or 0 for none */
};

struct perf_data_feed {
    struct perf_data *data;
    struct perf_data_result *result;
    struct error *err;
    uint64_t mtime; /* start of the recording, ns since the epoch */

    /* results of the first pass * */
    uint64_t first, last; /* ns */
    uint64_t kernel_text; /* 0: not in the file */
    bool has_times;       /* records have times */
    bool has_switches, has_callchain, has_stacks, has_kernel;
    bool has_all_switches;               /* switches of all processes come from a tracepoint */
    struct hash last_on_cpu;             /* for each CPU, the thread that sched_switch last switched to */
    uint64_t switches, chained_switches; /* number of sched_switch samples, and number of samples from the thread that
                                            was last on the CPU */
    ARRAY(struct fed_event) events;      /* as data->attrs */
    struct perf_data_groups groups;

    struct perf_data_order order;
    struct spool_writer *spool;
    struct library_table *libraries;
    struct tracker *tracker;
    struct waits waits;
    struct perf_data_reasons reasons;
    struct mark_writer marks;    /* tracepoints */
    struct thread_filter filter; /* none */
    bool has_waits;
    uint64_t *frames; /* CHUNK_MAX_FRAMES */
    uint64_t truncated_by_reason[UNWIND_ENDS];
    uint64_t interval; /* interval of CPU samples of a busy thread, ns */
    uint64_t cpu_time;
    uint32_t event_count;
    bool is_this_kernel, kernel_is_mapped;
};
