/*
 * Finds file code that a process has copied to anonymous memory at the same addresses: node (--use-largepages), HHVM
 * and BOLT move their text to huge pages this way. The kernel reports anonymous memory there, which looks like JIT
 * code. It counts as file code if a file was mapped there before, or is mapped right below (in /proc/PID/maps of an
 * older process), and if the bytes in memory equal the file's.
 *
 * The recorder compares the bytes when a sample hits the memory, because only then is the copy certainly complete.
 *
 * Threads: one thread, which is the recorder thread of a recording.
 */
#pragma once

#include "os/target_memory.h"
#include "unwind/address_space.h"

#include <stdbool.h>
#include <stdint.h>

struct text_copy {
    struct mapping file; /* the contents of the memory if it is a copy; holds a reference to the module */
    bool is_equal;       /* it is a copy; else that is unknown */
};

/* Starts zeroed. */
struct text_copies {
    ARRAY(struct text_copy) copies;
};

/* Notes that memory without a file is about to replace the file mappings of `space` between these addresses. Returns
 * false if memory ran out. */
bool text_copies_replace(struct text_copies *copies, const struct address_space *space, uint64_t start, uint64_t end);

/* Notes memory that may hold a copy of the code of `file`, at the same addresses. Returns false if memory ran out. */
bool text_copies_add(struct text_copies *copies, const struct mapping *file);

/* Notes that a file is now mapped there. */
void text_copies_forget(struct text_copies *copies, uint64_t start, uint64_t end);

/* Whether the memory at `pc` may be a copy, or is one. */
bool text_copies_know(const struct text_copies *copies, uint64_t pc);

/* Whether the memory at `pc` was found to hold the code of its file. */
bool text_copies_are_equal(const struct text_copies *copies, uint64_t pc);

/* The file mapping that the anonymous memory at `pc` is a copy of, in the process of thread `tid`; NULL if it is not
 * a copy, which is then forgotten. Valid until the next change. */
const struct mapping *text_copies_find(struct text_copies *copies, struct target_thread thread, uint64_t pc);

/* fork: `child` (zeroed) has the same memory. Returns false if memory ran out. */
bool text_copies_copy(struct text_copies *child, const struct text_copies *parent);

void text_copies_destroy(struct text_copies *copies);
