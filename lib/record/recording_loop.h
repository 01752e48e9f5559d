/*
 * What both recording loops (perf_recording.c, ptrace_recording.c) do in each round: handle signals, read marks, do
 * what is due.
 *
 * Threads: all functions act on the thread that calls them, the recorder thread.
 */
#pragma once

#include "base/error.h"
#include "record/recording.h"

#include <stdbool.h>
#include <stdint.h>

/* Reads pending signals from signal_fd. */
void recording_loop_take_signals(struct recording *recording);

/* Ends the recording after its duration, or when all followed processes have ended. Flushes the spool once a second. */
int recording_loop_keep_time(struct recording *recording, uint64_t now, struct error *err);

/* Writes the new marks of programs to the spool if a read is due. `is_end`: all that remain. */
int recording_loop_read_marks(struct recording *recording, bool is_end, struct error *err);
