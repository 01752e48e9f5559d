/*
 * Finds file code that a process has copied to anonymous memory at the same addresses: node (--use-largepages), HHVM
 * and BOLT move their text to huge pages this way. The kernel then reports anonymous memory, which looks like JIT code.
 * This memory counts as file code if a file was mapped at its addresses before, or is mapped right below (in
 * /proc/PID/maps of an older process), and if its bytes equal the bytes of the file.
 *
 * The recorder compares the bytes when a sample hits the memory, because the program has completed the copy before it
 * runs the code.
 *
 * Threads: the recorder thread.
 */
#pragma once

#include "os/target_memory.h"
#include "unwind/address_space.h"

struct text_copy {
    struct mapping file; /* module with the contents of the memory if the memory is a copy; holds a reference */
    bool is_equal;       /* the memory is known to be a copy */
};

/* Starts zeroed. */
struct text_copies {
    ARRAY(struct text_copy) copies;
};

/* Stores the file mappings of `space` between these addresses, before memory without a file replaces them. Returns
 * false if memory ran out. */
bool text_copies_replace(struct text_copies *copies, const struct address_space *space, uint64_t start, uint64_t end);

/* Adds memory that may contain a copy of the code of `file`, at the same addresses. Returns false if memory ran out. */
bool text_copies_add(struct text_copies *copies, const struct mapping *file);

/* Drops possible copies in a range, because a file is now mapped in it. */
void text_copies_drop(struct text_copies *copies, uint64_t start, uint64_t end);

/* Whether the memory at `pc` is a copy, or may be a copy. */
bool text_copies_has(const struct text_copies *copies, uint64_t pc);

/* Whether the memory at `pc` equals the code of its file, as an earlier comparison found. */
bool text_copies_are_equal(const struct text_copies *copies, uint64_t pc);

/* Returns the file mapping of which the anonymous memory at `pc` is a copy, in the process of thread `tid`. NULL if the
 * memory is not a copy; then drops it from the table. Valid until the next change. */
const struct mapping *text_copies_find(struct text_copies *copies, struct target_thread thread, uint64_t pc);

/* Copies the table to a forked process, `child` (zeroed). Returns false if memory ran out. */
bool text_copies_inherit(struct text_copies *child, const struct text_copies *parent);

void text_copies_destroy(struct text_copies *copies);
