/*
 * Waits of the threads of a perf.data file, with times and reasons. Part of perf_data_feed.c.
 *
 * The times come from SWITCH records (perf record --switch-events). Without SWITCH records, times come from the
 * tracepoint sched:sched_switch if perf recorded all processes. For a single process, the tracepoint reports only when
 * threads leave a CPU, not when threads return. (Some kernels omit switches from the idle task of a CPU: then waits on
 * that CPU are missing, too.) Both sources report whether the thread was runnable. The stack of a wait comes from a
 * sample of the tracepoint, or of the event context-switches; the stack's kernel functions give the reason.
 */
#pragma once

#include "perf_data/perf_data_state.h"

/* For the first pass: finds out from the samples of sched:sched_switch whether all processes were recorded. */
int perf_data_waits_count_switch(struct perf_data_feed *feed, const struct perf_data_record *record);

/* After perf_data_waits_count_switch(): chooses the source of switches. */
void perf_data_waits_choose_source(struct perf_data_feed *feed);

int perf_data_waits_open(struct perf_data_feed *feed);
void perf_data_waits_close(struct perf_data_feed *feed);

/* Stores the stack of a sample at a context switch, kernel frames before user frames. Ignores other samples. */
int perf_data_waits_store_stack(struct perf_data_feed *feed, const struct perf_data_record *record,
                                struct tracked_thread *thread, size_t kernel_frames, size_t frames, uint32_t flags);

/* Adds the switch of a sample of sched:sched_switch; ignores other samples. Call this function after feeding the
 * sample. */
int perf_data_waits_handle_switch(struct perf_data_feed *feed, const struct perf_data_record *record);
