/*
 * Records when each thread runs and waits, and the stacks of waiting threads.
 *
 * SWITCH records, which every user gets, have the time in ns at which a thread leaves its CPU and at which it runs
 * again. Only users who may record the kernel get the stacks of context switches. But every user can read the memory of
 * an own sleeping thread, and its sp and pc in /proc/PID/task/TID/syscall. So the recorder reads the stacks of waiting
 * threads every few milliseconds while threads switch. The recorder neither stops nor wakes a thread to read its stack.
 * A stack counts only if the thread slept until after the read, which the time of its next switch shows.
 *
 * Stored waits. Readings come at random times that do not depend on the threads. The recorder stores each wait that a
 * reading met, and each wait of a second or longer. A stored wait stands for the waits of its thread and of its class
 * of lengths that no reading met since the last stored wait of the class (unseen_ns). Within a class, readings meet
 * each reason in proportion to its time, so the time of each reason is unbiased. Waits of a class that no reading meets
 * for a second are stored as a sum, as REASON_UNSEEN. With ptrace, lengths are only means, so all waits are in class 0.
 *
 * Runnable time. A preemption is known from its switch. The time from a wakeup until the thread runs is part of what
 * the switches show as the wait. /proc/PID/task/TID/schedstat has the exact sum of both. Readings that find the thread
 * runnable show in which classes the runnable time is. Short preemptions are stored as sums.
 *
 * A preemption has a stack only from a sample of context-switches (docs/decisions.md, "Preemptions have no stack").
 *
 * If very many threads switch, the recorder reads fewer stacks, and so takes at most a few percent of a CPU.
 *
 * The recorder stores a long wait in parts of one second, so that a killed recorder loses at most the last second.
 *
 * With a list of CPUs, a wait belongs to the list if it began on a CPU of the list. It ends when the thread runs on any
 * CPU. While the thread runs on another CPU, the recorder stores the time as a wait named "on other CPUs", so that no
 * real wait appears longer. Threads that never run on a CPU of the list have no waits.
 *
 * docs/decisions.md, "prof records waits without tracepoints", compares the alternatives.
 *
 * Threads: the recorder thread.
 */
#pragma once

#include "base/error.h"
#include "record/producer.h"
#include "record/record_result.h"
#include "sample/perf_record.h"
#include "sample/wakeups.h"
#include "record/waits_state.h"

int waits_init(struct waits *waits, const struct waits_options *options, struct error *err);
void waits_destroy(struct waits *waits);

/* Handles a SWITCH record: a thread begins or ends a wait. Like all functions here, fails only if the spool cannot be
 * written or memory runs out. */
int waits_handle_switch(struct waits *waits, const struct perf_record *record, struct error *err);

/* Handles a wakeup of a thread. Returns whether the thread is recorded. */
bool waits_handle_wakeup(struct waits *waits, const struct wakeup *wakeup);

/* Returns the thread whose wait this wakeup ends, if the wait will have a record, so that the stack of the waker
 * counts. Otherwise returns NULL. */
struct tracked_thread *waits_find_woken(const struct waits *waits, const struct wakeup *wakeup);

/* Ends the waits of the thread of an EXIT record, or of all threads of the program that an exec replaces, of which any
 * may have called exec. The sums of these waits stay with the old program. Ignores other records. Call this function
 * before the tracker handles the record. */
int waits_end_tasks(struct waits *waits, const struct perf_record *record, struct error *err);

/* Handles the record of an exec after the tracker. */
void waits_handle_exec(struct waits *waits, const struct perf_record *record);

/* Adds a thread that existed before the recording, and finds out whether the thread waits. */
int waits_add_running(struct waits *waits, uint32_t tid, uint64_t time, struct error *err);

/* Stores the part of long waits up to `now` (ns). `end`: stores the part of all waits, because the recording ends. */
int waits_flush(struct waits *waits, uint64_t now, bool end, struct error *err);

/* Stops and resumes the storing of waits at `time` (ns). During the pause, the switches still update the threads. */
int waits_pause(struct waits *waits, uint64_t time, struct error *err);
void waits_resume(struct waits *waits, uint64_t time);

/* Notes that records were lost: the state of all threads becomes unknown. */
void waits_add_loss(struct waits *waits);

struct producer waits_as_producer(struct waits *waits);

/* Adds a note if this user may not read the stacks of some waiting threads. */
void waits_note_refused(const struct waits *waits, struct record_result *result);
