/*
 * Accounts for the waits of a thread that no reading met, by classes of lengths (thread_run.h): which part of their
 * time is runnable, and for which waits a reading stands. The estimate: docs/quality.md, "Waits".
 */
#pragma once

#include "base/search.h"
#include "process/thread_run.h"

/* Returns the length (ns) of the shortest wait of the class that has waits of `length` ns. */
double find_shortest_of_class(uint64_t length);

/* Returns the class of a wait of `length` ns, or NULL if memory ran out. */
struct wait_class *find_wait_class(struct thread_run *run, uint64_t length);

/* Adds `count` waits, which last `ns` in sum. The last one ended at `end`. */
void add_unseen_waits(struct wait_class *class, uint64_t ns, uint32_t count, uint64_t end);

/* Takes `ready` ns of runnable time from the waits since the last reading, in proportion to their length. Waits that
 * are not yet in the spool get shorter now. The rest shortens later waits of the class. */
void take_runnable_time(struct thread_run *run, uint64_t ready);

/* Returns the mean runnable time (ns) in a wait of `length` ns of the class. */
uint64_t compute_mean_runnable_time(const struct wait_class *class, uint64_t length);

/* Returns the ns of runnable time by which prof shortens a wait of `length` ns. */
uint64_t subtract_owed_time(struct thread_run *run, struct wait_class *class, uint64_t length);

/* Counts a wait whose end only a sample showed, not the record of a switch. */
int add_late_switch(struct thread_run *run, uint64_t end, struct error *err);

/* The recorder sees some switches late (ptrace), so their times on a CPU exceed the kernel's count. Adds the difference
 * as waits. */
int add_missing_waits(struct thread_run *run, struct error *err);

/* Moves at most `most` ns of the waits in which readings found a runnable thread to the runnable time, and the rest
 * back to the unseen waits. Returns the moved ns. */
uint64_t flush_found_time(struct thread_run *run, uint64_t most);

/* Takes the mean runnable time from the waits since the last reading of schedstat, which a thread that ends does not
 * have any more. A class without such a reading has the mean of all classes. Without any reading of schedstat, takes
 * the waits in which readings found the thread runnable. */
void take_expected_runnable_time(struct thread_run *run);

/* Whether readings of some class found only a runnable thread. */
bool has_runnable_waits(const struct thread_run *run);

/* Takes the waits of the classes in which readings found only a runnable thread, whole classes up to `most` waits.
 * Returns their number. */
uint32_t take_runnable_waits(struct thread_run *run, double most);

/* Ends the wait of a thread that a reading found awake and that has not run since: it has been runnable since the
 * reading. */
int split_off_runnable_wait(struct thread_run *run, uint64_t end, struct error *err);
