/*
 * The result of an import of a perf.data file.
 */
#pragma once

#include "base/standard.h"

struct perf_data_result {
    char version[64];         /* version of perf that wrote the file; may be empty */
    uint64_t samples, events; /* number of imported samples: of CPU time, and of other events */
    uint64_t truncated;       /* number of imported samples with a truncated stack */
    uint64_t waits;
    uint64_t idle, guest;   /* number of omitted samples: of idle CPUs, of virtual machines */
    uint64_t other;         /* number of samples of events beyond the limit */
    uint64_t damaged;       /* number of unreadable records */
    uint64_t late;          /* number of records out of order, whose times were adjusted */
    uint64_t lost;          /* samples lost by the kernel, from the file's LOST records */
    bool is_truncated;      /* the file is truncated, or perf was killed */
    uint64_t missing;       /* number of mapped files that are missing, or have another build id */
    char missing_name[256]; /* name of the first of these files */
    bool is_other_kernel;   /* kernel addresses are of another kernel, or of an earlier boot */
};
