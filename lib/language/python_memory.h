/*
 * Reads the memory of a process in pages, for one sample at a time.
 *
 * Reading a page takes about 1 us, most of which the system call takes. So one call reads all pages that the thread's
 * last sample needed. The sample's copy of the stack replaces reads of the stack.
 *
 * A hostile process can cause at most PYTHON_PAGES reads per sample.
 *
 * Threads: the recorder thread.
 */
#pragma once

#include "os/target_memory.h"

enum { PYTHON_PAGE = 4096, PYTHON_PAGES = 64, PYTHON_PAGES_KEPT = 16 };

struct python_page {
    uint64_t address;
    bool is_used; /* the sample has used the page */
    unsigned char bytes[PYTHON_PAGE];
};

/* Addresses of the pages that a thread's last sample needed. Starts zeroed. */
struct python_pages {
    uint64_t addresses[PYTHON_PAGES_KEPT];
    size_t count;
};

struct python_memory {
    struct target_thread thread; /* a running thread of the process */
    const unsigned char *copy;   /* copy of the stack, starting at `sp` */
    uint64_t sp;
    size_t copy_size;
    struct python_page *pages; /* PYTHON_PAGES */
    size_t count, last;        /* count: number of pages; last: index of the page used last */
    size_t reads;              /* system calls */
};

/* Returns false if memory ran out. */
bool python_memory_init(struct python_memory *memory);
void python_memory_destroy(struct python_memory *memory);

/* Starts a sample; the copy of its stack may be NULL. */
void python_memory_start(struct python_memory *memory, struct target_thread thread, uint64_t sp,
                         const unsigned char *copy, size_t copy_size);

/* Ascending addresses of stack words that must still equal the copied stack. NULL: all of its top. */
struct python_words {
    const uint64_t *addresses;
    size_t count;
};

/* Reads the existing pages of `pages`, and compares the top of the copied stack with the current stack. Returns false
 * if the stacks differ, or if no memory could be read. */
bool python_memory_fetch(struct python_memory *memory, const struct python_pages *pages,
                         const struct python_words *words);

void python_memory_store_addresses(const struct python_memory *memory, struct python_pages *pages);

/* Copies `size` bytes, at most a page. Returns false if the bytes cannot be read, or if the sample has read too many
 * pages. */
bool python_memory_read(struct python_memory *memory, uint64_t address, void *out, size_t size);

/* Returns the 8 bytes at `address`, or 0 if they cannot be read. */
uint64_t python_memory_read_u64(struct python_memory *memory, uint64_t address);

/* Copies up to `size` bytes with a system call of its own. Returns their number. */
size_t python_memory_copy(struct python_memory *memory, uint64_t address, void *out, size_t size);
