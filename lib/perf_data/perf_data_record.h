/*
 * Parses the records of a perf.data file to the structs that lib/sample uses for the records of a ring. Events of a
 * file may have any fields; prof's own events have only the fields that prof uses. Threads: any; nothing is shared.
 */
#pragma once

#include "perf_data/perf_data.h"
#include "sample/perf_record.h"

struct perf_data_record {
    struct perf_record record;         /* MMAP records become MMAP2, without device and inode */
    const struct perf_data_attr *attr; /* attribute of the record's event, or NULL (not in the file) */
    /* Samples with the branches of a call stack (LBR): leaf first, 24 bytes each (from, to, flags); unaligned. */
    const unsigned char *branches;
    size_t branch_count;
    const unsigned char *raw; /* the recorded fields of a tracepoint (perf_data_tracing.h), or NULL */
    size_t raw_size;
    bool has_period;
    /* The counts of all events of a group so far (perf record -e '{...}:S'), or NULL for none. */
    const unsigned char *group;
    size_t group_count, group_stride; /* stride: bytes */
};

struct perf_data_count {
    const struct perf_data_attr *attr; /* attribute of the event, or NULL (not in the file) */
    uint64_t id, value;
};

/* Returns count `i` of a group. */
struct perf_data_count perf_data_record_get_count(const struct perf_data *data, const struct perf_data_record *record,
                                                  size_t i);

/* Parses a record of the kernel. Returns 0, or -EINVAL if the record is too short for the fields of its event. */
int perf_data_record_parse(const struct perf_data *data, const unsigned char *bytes, size_t size,
                           struct perf_data_record *out);

/* Returns the time of a record in ns, or 0 for none. */
uint64_t perf_data_record_get_time(const struct perf_data *data, const unsigned char *bytes, size_t size);
