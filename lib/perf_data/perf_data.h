/*
 * Reader of the files of `perf record` (perf.data), versions 4.x to 6.x: seekable files, and the output of `perf record
 * -o -` to a pipe. See perf_data.c for the layout.
 *
 * perf_data.h handles the container: attributes of events, features of the header, and decompression of records.
 * perf_data_record.h parses records, perf_data_order.h sorts them.
 *
 * All bytes are untrusted: reads are bounds-checked, and memory is bounded.
 *
 * Threads: one at a time.
 */
#pragma once

#include "base/array.h"
#include "base/error.h"
#include "base/hash.h"
#include "perf_data/perf_data_command.h"
#include "perf_data/perf_data_tracing.h"

/* The used fields of struct perf_event_attr (linux/perf_event.h). */
struct perf_data_attr {
    uint32_t type;
    uint64_t config;
    uint64_t sample_period; /* period, or frequency in Hz */
    bool is_frequency;
    bool is_inherited; /* true if each thread has a counter; false if each opened CPU or thread has one */
    bool exclude_kernel;
    bool starts_at_exec; /* perf started the program, without recording the time before the exec */
    bool has_trailer;    /* sample_id_all */
    int32_t clock;       /* clock of all times, as for clock_gettime(2), or -1 (the kernel's internal clock) */
    uint64_t sample_type, read_format, branch_sample_type, user_registers, interrupt_registers;
    uint32_t stack_size; /* number of copied stack bytes */
    uint16_t max_stack;  /* frames of a call chain, or 0 (the kernel's default) */
    char name[64];       /* name, such as "cpu-clock:u"; empty: not in the file */
};

struct perf_data_build_id {
    uint32_t pid; /* UINT32_MAX for the kernel */
    const char *path;
    unsigned char id[20];
    uint32_t size;
};

/* Features of the header; missing features are empty or 0. Texts lie in the file. */
struct perf_data_features {
    char host[128], release[128], version[64], arch[32], cpu_name[128];
    struct perf_data_command command;
    uint32_t cpus, cpus_online;
    uint64_t memory;                    /* bytes */
    uint64_t clock_wall, clock_of_wall; /* ns since the epoch, and on the clock of the records, at the same moment */
    bool has_clock;
};

struct perf_data_part { /* another file of the directory: records without a header */
    const unsigned char *bytes;
    size_t size;
};

struct perf_data {
    const unsigned char *bytes;
    size_t size;
    bool is_pipe, is_compressed;
    bool is_visited;             /* all records were visited, and perf's metadata was read */
    size_t data_start, data_end; /* range of the records */
    ARRAY(struct perf_data_attr) attrs;
    struct hash attr_by_id; /* id of an event -> index in attrs */
    ARRAY(struct perf_data_build_id) build_ids;
    struct perf_data_features features;
    struct perf_data_tracing tracing;
    ARRAY(struct perf_data_part) parts; /* the caller's */
    bool is_truncated;                  /* a file ends in the middle of a record */
    uint64_t damaged;                   /* compressed records that cannot be read */
    /* Called when the reader no longer needs the first `size` bytes of a file; may be NULL. */
    void (*release)(void *context, const unsigned char *bytes, size_t size);
    void *context;
};

/* Returns whether a file with these first bytes is a perf.data file, of either byte order and any version. */
bool perf_data_recognize(const unsigned char *bytes, size_t size);

/* Reads the header. `bytes` must outlive `data`. -EINVAL with a sentence that begins with a verb ("is ...") if the file
 * has another or an unsupported format. Call perf_data_destroy() also after an error. */
int perf_data_open(struct perf_data *data, const void *bytes, size_t size, struct error *err);
void perf_data_destroy(struct perf_data *data);

/* Visits a record: `bytes` begins with the header, which contains `size`. If `lasts`, the bytes are part of the file,
 * and stay valid; otherwise the bytes are valid until the visitor returns. The visitor returns 0 to continue. */
typedef int perf_data_visitor(void *context, const unsigned char *bytes, size_t size, bool lasts);

/* Adds a file of the directory that `perf record --threads` writes: "data" has the header, "data.0" and so on only
 * records. `bytes` must outlive `data`. False if memory ran out. */
bool perf_data_add_part(struct perf_data *data, const void *bytes, size_t size);

/* Visits all records, also compressed records, in file order: first the main file, then the other files of the
 * directory. Records of a pipe that contain parts of the header are applied, then visited. Returns the result of the
 * visitor, or a negative errno value. */
int perf_data_visit_records(struct perf_data *data, perf_data_visitor *visit, void *context, struct error *err);

/* Applies a record in which perf describes the file; ignores other records: for perf_data_visit_records(). */
int perf_data_read_own_record(struct perf_data *data, uint32_t type, const unsigned char *bytes, size_t size,
                              bool lasts, struct error *err);

/* Returns the attribute of the event with this id, or NULL if unknown. */
const struct perf_data_attr *perf_data_find_attr(const struct perf_data *data, uint64_t id);

/* Returns the build id of a file in the header, or NULL. */
const struct perf_data_build_id *perf_data_find_build_id(const struct perf_data *data, const char *path);

/* Types of records that perf writes, not the kernel (tools/lib/perf/include/perf/event.h). */
enum perf_data_record_type {
    PERF_DATA_ATTR = 64,
    PERF_DATA_TRACING_DATA = 66,
    PERF_DATA_BUILD_ID = 67,
    PERF_DATA_FINISHED_ROUND = 68,
    PERF_DATA_AUXTRACE = 71,
    PERF_DATA_EVENT_UPDATE = 78,
    PERF_DATA_FEATURE = 80,
    PERF_DATA_COMPRESSED = 81,
    PERF_DATA_COMPRESSED2 = 83,
    PERF_DATA_FIRST_OWN = 64,
};
