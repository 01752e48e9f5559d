/*
 * The wakeup mode of one CPU's ring: every sample is announced (perf_events_announce()) and wakes the recorder, or the
 * recorder looks at the ring now and then. While stacks are deeper than their copies, every sample is, so that the
 * recorder can read the rest of the stack before it changes. Else looking now and then costs less: a wakeup costs the
 * recorder 5-10 us of CPU time, and an announcement costs the target's thread an interrupt.
 *
 * Threads: one thread, which is the recorder thread of a recording.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct wakeup_mode {
    bool fast;
    uint64_t last_short; /* ns: the last stack that was deeper than its copy; before that, the first sample */
    uint64_t hysteresis; /* ns of good stacks after which it slows down */
    uint64_t slow_until; /* ns: the fast mode did not help, so it does not return before this time */
    uint32_t late;       /* stacks in a row that could not be completed because they were read too late */
};

enum wakeup_stack {
    WAKEUP_STACK_FITS,  /* the copy was deep enough */
    WAKEUP_STACK_SHORT, /* it was not; the rest was read, or could not be for other reasons than time */
    WAKEUP_STACK_LATE,  /* it was not, and it was too late to read the rest */
};

/* A recording starts fast, to learn how deep the stacks are, and soon slows down if they are not. */
void wakeup_mode_init(struct wakeup_mode *mode, bool fast);

/* Takes in one sample of the CPU, at its time in ns. Returns whether the next sample shall wake the recorder. */
bool wakeup_mode_sample(struct wakeup_mode *mode, uint64_t time, enum wakeup_stack stack);

/* Takes in that samples were lost: too many wakeups leave the recorder no time to read them. */
void wakeup_mode_lost(struct wakeup_mode *mode, uint64_t time);
