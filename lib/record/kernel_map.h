/*
 * The address ranges of the kernel and its modules, by which the assembler names kernel addresses. In the spool they
 * are mappings of no process.
 *
 * Threads: one thread, which is the recorder thread of a recording.
 */
#pragma once

#include "base/error.h"
#include "record/library_table.h"
#include "record/spool.h"

/* Writes the ranges that /proc/kallsyms and /proc/modules show to this user. If their addresses are hidden
 * (kernel.kptr_restrict), writes nothing and succeeds. */
int kernel_map_write(struct library_table *libraries, struct spool_writer *spool, uint64_t time, struct error *err);

/* Writes that the kernel added or removed code (a BPF program) at that time. */
int kernel_map_symbol(struct library_table *libraries, struct spool_writer *spool, uint64_t time,
                      const struct perf_kernel_symbol *symbol, struct error *err);
