/*
 * The address ranges of the kernel and its modules, by which the assembler names kernel addresses. In the spool they
 * are mappings of no process.
 *
 * Threads: one thread, which is the recorder thread of a recording.
 */
#pragma once

#include "base/error.h"
#include "process/library_table.h"
#include "spool/spool.h"

#include <stdbool.h>

/* Whether the kernel that runs now has this build id and its _text at this address: then it is that of the same boot.
 * `size` 0: the build id is not known, and only the address counts. */
bool kernel_map_is_running(const unsigned char *build_id, size_t size, uint64_t text);

/* Writes the ranges that /proc/kallsyms and /proc/modules show to this user. If their addresses are hidden
 * (kernel.kptr_restrict), writes nothing and succeeds. */
int kernel_map_write(struct library_table *libraries, struct spool_writer *spool, uint64_t time, struct error *err);

/* Writes that the kernel added or removed code (a BPF program) at that time. */
int kernel_map_symbol(struct library_table *libraries, struct spool_writer *spool, uint64_t time,
                      const struct perf_kernel_symbol *symbol, struct error *err);
