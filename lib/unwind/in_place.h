/*
 * Walks the stack of a thread stopped by ptrace with libunwind, if prof's own walker found only a truncated stack:
 * libunwind reads the whole stack in the thread's memory, and knows .debug_frame of separate files.
 *
 * A walk with libunwind takes 50 us instead of 1 us, during which the thread stays stopped, and milliseconds for a
 * program's first stack. So the time of each walk, and of all walks, is limited. Without CFI, libunwind guesses by
 * frame pointers, so a stack counts only if it ends where prof's own rules find the start of a thread
 * (docs/decisions.md, "prof has its own unwinder").
 *
 * prof loads libunwind-ptrace at the first walk.
 *
 * Threads: one thread, the tracer of the threads whose stacks it walks.
 */
#pragma once

#include "unwind/unwind.h"

#include <sys/types.h>

struct in_place_walker;

/* Returns NULL if libunwind is not installed, or memory ran out. */
struct in_place_walker *in_place_walker_new(void);
void in_place_walker_free(struct in_place_walker *walker);

/* A stopped thread. */
struct in_place_thread {
    pid_t pid, tid;
    uint32_t program;            /* the caller's number of the running program; each exec changes the number */
    struct address_space *space; /* address space of the thread's process */
};

/* Walks to the start of the thread, and writes up to `max` pcs as unwind_walk() does. Returns the number of pcs, or 0
 * if the walk did not reach the start, or if walks with libunwind have already taken 1% of the time. */
size_t in_place_walk(struct in_place_walker *walker, const struct in_place_thread *thread, uint64_t *pcs, size_t max);
