/*
 * Counters of the machine: busy time of each CPU (/proc/stat), and the energy use of its parts (powercap, which since
 * Linux 5.10 only root may read).
 *
 * Threads: the recorder thread.
 */
#pragma once

#include "base/error.h"
#include "spool/spool.h"

#define SYSTEM_COUNTERS_POWER "/sys/class/powercap"

struct system_counters;

/* `power_directory`: SYSTEM_COUNTERS_POWER, or a directory of the same form. Sets *out to NULL if the machine has none
 * of these counters. */
int system_counters_new(struct system_counters **out, bool cpus, bool power, const char *power_directory,
                        struct error *err);
void system_counters_free(struct system_counters *counters);

/* Returns the comma-separated names of the energy counters, in the order of the readings, or "" without energy
 * counters. */
const char *system_counters_list_power_names(const struct system_counters *counters);

/* Writes readings if the previous readings are at least `interval` ns old. */
int system_counters_read(struct system_counters *counters, struct spool_writer *spool, uint64_t now, uint64_t interval,
                         bool is_base, struct error *err);

/* Ends a pause: changes since the last readings do not count. */
void system_counters_resume(struct system_counters *counters);
