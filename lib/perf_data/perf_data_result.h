/*
 * The result of an import of a perf.data file.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct perf_data_result {
    char version[64];         /* version of the perf that wrote it; may be empty */
    uint64_t samples, events; /* imported: of CPU time, and of other events */
    uint64_t truncated;       /* of both, with a stack that does not reach the thread's start */
    uint64_t waits;
    uint64_t idle, guest;   /* samples that are left out: of CPUs that were idle, of virtual machines */
    uint64_t other;         /* and of more events than a profile has */
    uint64_t damaged;       /* records that cannot be read */
    uint64_t late;          /* records out of order, whose times were adjusted */
    uint64_t lost;          /* by the kernel, from the file's LOST records */
    bool is_truncated;      /* the file ends in the middle: perf was killed, or the file was cut */
    uint64_t missing;       /* mapped files that are not here, or have another build id */
    char missing_name[256]; /* the name of the first one */
    bool is_other_kernel;   /* kernel addresses belong to another kernel, or to an earlier boot */
};
