/*
 * Reads unwind information of JIT code from jitdump files. Without this information, the walker cannot unwind code
 * without frame pointers. The recorder walks stacks while the program runs, so it reads the file while the compiler
 * writes it. Each JIT function becomes a mapping of its process; the module of the mapping has the CFI.
 *
 * The newest code at an address counts, although the sample may be some milliseconds older. The walker treats code
 * whose record is not yet written like other JIT code.
 *
 * Threads: the recorder thread.
 */
#pragma once

#include "unwind/address_space.h"

struct jitdump_unwind;

/* `fd`, the open file, must stay open. Returns NULL if memory ran out. */
struct jitdump_unwind *jitdump_unwind_new(int fd);
void jitdump_unwind_free(struct jitdump_unwind *frames);

/* Reads new records, and maps their code into the address space of the process. Costs one read() if the file has no new
 * records. Stops permanently if the file is damaged, too large or no jitdump file, or if memory ran out. */
void jitdump_unwind_follow(struct jitdump_unwind *frames, struct address_space *space);
