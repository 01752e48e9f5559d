/*
 * Records slices, the times in which each thread ran on one CPU, from the records of switches.
 *
 * A slice ends if the thread moves to another CPU or stays off the CPU for a sampling interval, so these times are
 * exact. Shorter times off the CPU are in a slice of at most SLICE_INTERVALS, whose time on the CPU is exact. A thread
 * that switches 50,000 times a second therefore has at most a tenth as many slices as samples.
 *
 * With ptrace, prof records no slices, because prof does not see the switches themselves.
 */
#pragma once

#include "process/tracker.h"
#include "record/waits_state.h"

enum { SLICE_INTERVALS = 10 }; /* limit of a slice with times off the CPU, in sampling intervals */

/* Adds the time of a thread on its CPU up to `time` (ns). Like all functions here, fails only if the spool cannot be
 * written. */
int cpu_slices_add_running_time(struct waits *waits, struct tracked_thread *thread, uint64_t time, struct error *err);

/* Writes the slice of a thread that stays off its CPU, and the time of a thread that runs on. `is_end`: the thread or
 * the recording ends at `now` (ns). */
int cpu_slices_flush(struct waits *waits, struct tracked_thread *thread, uint64_t now, bool is_end, struct error *err);
