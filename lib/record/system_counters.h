/*
 * Counters of the machine: how long each CPU was busy (/proc/stat), and the energy that its parts have used where it
 * counts that and this user may know: powercap, which since Linux 5.10 only root may read.
 *
 * Threads: the recorder thread.
 */
#pragma once

#include "base/error.h"
#include "spool/spool.h"

#include <stdbool.h>
#include <stdint.h>

#define SYSTEM_COUNTERS_POWER "/sys/class/powercap"

struct system_counters;

/* `power_folder`: SYSTEM_COUNTERS_POWER, or another one of that form. NULL in *out if there is nothing to count. */
int system_counters_new(struct system_counters **out, bool cpus, bool power, const char *power_folder,
                        struct error *err);
void system_counters_free(struct system_counters *counters);

/* The names of what energy is counted of, with commas between them, in the order of the readings; "": of nothing. */
const char *system_counters_power_names(const struct system_counters *counters);

/* Writes readings if the last ones are `interval` ns old. */
int system_counters_read(struct system_counters *counters, struct spool_writer *spool, uint64_t now, uint64_t interval,
                         bool is_base, struct error *err);

/* What has changed since the last readings does not count: nothing was recorded. */
void system_counters_resume(struct system_counters *counters);
