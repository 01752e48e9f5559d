/*
 * Parses the records of a perf.data file to what lib/sample makes of those of a ring. The events of a file have any
 * fields, where those that prof opens have only what it uses.
 *
 * Threads: any; nothing is shared.
 */
#pragma once

#include "perf_data/perf_data.h"
#include "sample/perf_record.h"

struct perf_data_record {
    struct perf_record record;         /* MMAP records are told as MMAP2, without device and inode */
    const struct perf_data_attr *attr; /* of the event whose record it is; NULL: the file does not say */
    /* Samples with the branches of a call stack (LBR): leaf first, 24 bytes each (from, to, flags); unaligned. */
    const unsigned char *branches;
    size_t branch_count;
    const unsigned char *raw; /* of tracepoints: their fields (perf_data_tracing.h); NULL */
    size_t raw_size;
    bool has_period;
    /* What all events of a group counted until then (perf record -e '{...}:S'); NULL: nothing was read. */
    const unsigned char *group;
    size_t group_count, group_stride; /* stride: bytes */
};

struct perf_data_count {
    const struct perf_data_attr *attr; /* of the event; NULL: the file does not say */
    uint64_t id, value;
};

/* The `i`th of a group. */
struct perf_data_count perf_data_record_count(const struct perf_data *data, const struct perf_data_record *record,
                                              size_t i);

/* Parses a record of the kernel. Returns 0, or -EINVAL if it is too short for what its event has. */
int perf_data_record_parse(const struct perf_data *data, const unsigned char *bytes, size_t size,
                           struct perf_data_record *out);

/* The time of a record in ns; 0: it has none. */
uint64_t perf_data_record_time(const struct perf_data *data, const unsigned char *bytes, size_t size);
