/*
 * Readings of waiting threads at random times: their stacks and reasons, and their runnable time.
 */
#pragma once

#include "record/waits_state.h"

enum {
    ACTIVE_NS = 50000000,   /* after a thread began to wait, the recorder reads the rings for this time in each pass */
    LOOK_NS = 4000000,      /* mean time between two passes, at random: readings meet nearly all longer waits */
    STACK_COPY = 16 * 1024, /* bytes of one read, enough for most waiting threads; a walk reads the rest if needed */
};

/* Reads the stacks of waiting threads: waits_start_reading() runs before the rings are read, waits_read_stacks()
 * afterwards. */
int waits_start_reading(struct waits *waits, struct error *err);
int waits_read_stacks(struct waits *waits, struct error *err);

/* Whether waits_read_stacks() will read waits, after a call of waits_start_reading(). */
bool waits_are_due(const struct waits *waits);

/* Whether to call waits_read_stacks() in a few milliseconds. */
bool waits_want_reading(const struct waits *waits);

/* Reads the stack of a waiting thread to run.stack, which stays NULL if the thread does not wait. The thread may
 * already run again, which its next switch shows. */
int read_wait_stack(struct waits *waits, struct tracked_thread *thread, struct tracked_process *process,
                    struct error *err);

/* Reads how long the thread was runnable without running, which the kernel counts, and takes this time from its waits.
 * Switches show preemptions, but not the time from a wakeup until the thread ran. */
void read_run_delay(struct waits *waits, uint32_t pid, struct tracked_thread *thread);

/* Returns the most runnable time (ns) that a wait up to `end` can contain, which is the growth of the kernel's count
 * since prof last read the count. Returns UINT64_MAX if unknown, as after the end of the thread. */
uint64_t find_most_runnable_time(struct waits *waits, struct tracked_thread *thread, uint64_t end);

/* Returns a random number of at least 0 and below `limit`. */
uint64_t random_below(struct waits *waits, uint64_t limit);

/* Sets the random time of the next pass. */
void plan_wait_reading(struct waits *waits, uint64_t now);
