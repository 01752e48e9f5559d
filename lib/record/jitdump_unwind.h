/*
 * How to walk through code that a compiler notes in a jitdump file with unwinding information: code that keeps no frame
 * pointer cannot be walked otherwise. The stacks are walked while the program runs, so the file is followed while it is
 * written. Each piece of code becomes a mapping of its process, with a module that knows its frames.
 *
 * The newest code at an address counts, not that of the sample's time, which is some milliseconds older at most. What
 * its compiler has not yet written to the file, because it collects records, is not known: it is walked as code of
 * which nothing is known.
 *
 * Threads: one thread, which is the recorder thread of a recording.
 */
#ifndef PROF_RECORD_JITDUMP_UNWIND_H
#define PROF_RECORD_JITDUMP_UNWIND_H

#include "unwind/address_space.h"

#include <stdbool.h>

struct jitdump_unwind;

/* `fd`: the open file, which outlives this. NULL if memory ran out. */
struct jitdump_unwind *jitdump_unwind_new(int fd);
void jitdump_unwind_free(struct jitdump_unwind *frames);

/* Reads on, and puts what is new into the address space of the process. With nothing new, it is one read that gives
 * nothing. A file that is none, is damaged or too large is followed no further. */
void jitdump_unwind_follow(struct jitdump_unwind *frames, struct address_space *space);

#endif
