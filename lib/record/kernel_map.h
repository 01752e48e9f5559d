/*
 * Where the kernel and its modules are, for naming kernel addresses later: noted in the spool as mappings of no
 * process.
 */
#ifndef PROF_RECORD_KERNEL_MAP_H
#define PROF_RECORD_KERNEL_MAP_H

#include "base/error.h"
#include "record/library_table.h"
#include "record/spool.h"

/* What /proc/kallsyms and /proc/modules show to this user; addresses that are hidden (kernel.kptr_restrict) give no
 * mapping, and that is no error. */
int kernel_map_write(struct library_table *libraries, struct spool_writer *spool, uint64_t time, struct error *err);

/* Code that the kernel made or dropped at that time. */
int kernel_map_symbol(struct library_table *libraries, struct spool_writer *spool, uint64_t time,
                      const struct perf_kernel_symbol *symbol, struct error *err);

#endif
