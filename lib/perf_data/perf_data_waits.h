/*
 * When the threads of a perf.data file wait, and why. A part of perf_data_feed.c.
 *
 * SWITCH records (perf record --switch-events) say when. Without them, the tracepoint sched:sched_switch does, if all
 * processes were recorded: of one process it tells when its threads leave a CPU, and not when they are back. (Some
 * kernels do not tell of what the idle task of a CPU hands over to: of these CPUs neither.) Both say whether the thread
 * could have run on. The stack where it waits is that of a sample of the tracepoint, or of the event context-switches;
 * of its part in the kernel, the functions tell the reason.
 */
#pragma once

#include "perf_data/perf_data_state.h"

/* Whether the samples of an event have the stacks where threads are about to wait. */
bool perf_data_waits_is_switch(const struct perf_data_attr *attr);

/* For the first pass: finds out from the samples of sched:sched_switch whether all processes were recorded. */
int perf_data_waits_survey(struct perf_data_feed *feed, const struct perf_data_record *record);

/* After it: decides where switches come from. */
void perf_data_waits_choose(struct perf_data_feed *feed);

int perf_data_waits_open(struct perf_data_feed *feed);
void perf_data_waits_close(struct perf_data_feed *feed);

/* Takes in the stack of a sample of such an event: kernel frames, then the others. */
int perf_data_waits_give_stack(struct perf_data_feed *feed, const struct perf_data_record *record,
                               struct tracked_thread *thread, size_t kernel_frames, size_t frames, uint32_t flags);

/* Takes in the switch that a sample tells, if it is one of sched:sched_switch: after the sample itself. */
int perf_data_waits_switch(struct perf_data_feed *feed, const struct perf_data_record *record);
