/*
 * A second opinion: libunwind walks the stack of a thread that is stopped by ptrace, in its own memory. For stacks that
 * our walker leaves truncated: libunwind reads the stack as far as it goes, and knows .debug_frame of separate files.
 *
 * It takes 50 us where ours takes one, during which the thread stands still, and milliseconds for the first stack of a
 * program. So the time is limited, for a walk and on the whole. It guesses by frame pointers where it knows nothing: a
 * stack counts only if it ends where our rules find the start of a thread. docs/decisions.md, "An own unwinder".
 *
 * libunwind-ptrace is loaded when the first stack asks for it.
 *
 * Threads: one thread, the one that traces the threads whose stacks are walked.
 */
#pragma once

#include "unwind/unwind.h"

#include <stdint.h>
#include <sys/types.h>

struct in_place_walker;

/* NULL if libunwind is not installed, or memory ran out. */
struct in_place_walker *in_place_walker_new(void);
void in_place_walker_free(struct in_place_walker *walker);

/* A thread that is stopped. */
struct in_place_thread {
    pid_t tid;
    uint32_t program;            /* the caller's number for the program in memory: another one after exec */
    struct address_space *space; /* of its process */
};

/* Walks to the start of the thread, and writes up to `max` pcs as unwind_walk() does. Returns how many, or 0: the walk
 * did not get there, or it may not be tried now, because such walks have taken 1 % of the time. */
size_t in_place_walk(struct in_place_walker *walker, const struct in_place_thread *thread, uint64_t *pcs, size_t max);
