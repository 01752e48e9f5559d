/*
 * How often the CPU limit of a cgroup (cpu.max, in version 1 cpu.cfs_quota_us) stopped its threads. The kernel counts
 * periods, of 100 ms by default, in which the processes of a cgroup may run for a limited time. A group may have
 * several ancestors with a limit.
 *
 * Threads: any; nothing is shared.
 */
#pragma once

#include "base/standard.h"

#include <sys/types.h>

/* Counts since the creation of the cgroup. */
struct cpu_limit_counts {
    uint64_t periods;   /* number of periods in which a process of the cgroup was runnable */
    uint64_t throttled; /* number of these periods in which the limit stopped threads */
};

enum { CPU_LIMIT_LEVELS = 16, CPU_LIMIT_PATH = 512 };

/* The cgroup of a process and its ancestors, innermost first. Zeroed: none. */
struct cpu_limit {
    char path[CPU_LIMIT_PATH]; /* directory of the innermost cgroup */
    size_t level_count;
    struct cpu_limit_counts start[CPU_LIMIT_LEVELS];
};

/* Reads the counts of the cgroups of process `pid`. Finds none if the kernel or the mounts lack the controller. */
void cpu_limit_read_start(struct cpu_limit *limit, pid_t pid);

/* Returns the counts since cpu_limit_read_start() of the cgroup with the most throttled periods, or zeros without a
 * cgroup. */
struct cpu_limit_counts cpu_limit_read_change(const struct cpu_limit *limit);
