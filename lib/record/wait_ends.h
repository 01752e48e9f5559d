/*
 * What the end of a wait means for the spool. A wait that a reading met, and a long wait, is stored as a record. Any
 * other wait becomes part of the sums of its class of lengths (process/wait_classes.h) or of the runnable time of its
 * thread.
 */
#pragma once

#include "record/waits_state.h"

/* Whether a thread waits, or runs on a CPU outside of the list. */
bool is_off_cpu(const struct thread_run *run);

/* Stores or sums a wait, or the time on other CPUs, that ends at `time` (ns). Does nothing for a thread on its CPU. The
 * caller changes the state of the thread. `is_last`: the recording of the thread ends, so a long wait is stored even
 * without a reading. */
int wait_ends_store(struct waits *waits, struct tracked_thread *thread, uint64_t time, bool is_last, struct error *err);
