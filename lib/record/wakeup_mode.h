/*
 * How soon the samples of one CPU are wanted: at once while its stacks are deeper than their copies, so that the rest
 * can be read before it changes, and else many at a time, which costs less. A waking costs the recorder 5 to 10 us.
 *
 * Threads: one thread, which is the recorder thread of a recording.
 */
#ifndef PROF_RECORD_WAKEUP_MODE_H
#define PROF_RECORD_WAKEUP_MODE_H

#include <stdbool.h>
#include <stdint.h>

struct wakeup_mode {
    bool fast;
    uint64_t last_short; /* ns: when a stack was last too short; before that, the first sample */
    uint64_t hysteresis; /* ns of good stacks after which it slows down */
    uint64_t slow_until; /* ns: being fast was of no use, so not before this time again */
    uint32_t late;       /* stacks in a row that could not be completed because they were read too late */
};

enum wakeup_stack {
    WAKEUP_STACK_FITS,  /* the copy was deep enough */
    WAKEUP_STACK_SHORT, /* it was not; the rest was read, or could not be for other reasons than time */
    WAKEUP_STACK_LATE,  /* it was not, and it was too late to read the rest */
};

/* Best begun fast, to see what the stacks are like; it does not stay so for long if they are not deep. */
void wakeup_mode_init(struct wakeup_mode *mode, bool fast);

/* Takes in one sample of the CPU, at its time in ns; returns whether the next are wanted at once. */
bool wakeup_mode_sample(struct wakeup_mode *mode, uint64_t time, enum wakeup_stack stack);

/* Samples were lost: being woken for each one leaves the recorder no time to read them. */
void wakeup_mode_lost(struct wakeup_mode *mode, uint64_t time);

#endif
