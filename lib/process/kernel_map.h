/*
 * Writes the address ranges of the kernel and its modules to the spool, for the symbolization of kernel addresses.
 * These ranges become mappings without a process.
 *
 * Threads: the recorder thread.
 */
#pragma once

#include "base/error.h"
#include "process/library_table.h"
#include "spool/spool.h"

/* Whether the running kernel has this build id and this address of _text, so that a recording is from the current boot.
 * `size` 0: unknown build id; only the address counts. */
bool kernel_map_is_running(const unsigned char *build_id, size_t size, uint64_t text);

/* Writes the ranges in /proc/kallsyms and /proc/modules. If the kernel hides their addresses from this user
 * (kernel.kptr_restrict), writes nothing and succeeds. */
int kernel_map_write(struct library_table *libraries, struct spool_writer *spool, uint64_t time, struct error *err);

/* Writes that the kernel added or removed code (a BPF program) at `time` (ns). */
int kernel_map_write_symbol(struct library_table *libraries, struct spool_writer *spool, uint64_t time,
                            const struct perf_kernel_symbol *symbol, struct error *err);
