/*
 * Fields of tracepoints, described in perf.data files as in the kernel's tracefs (events/SYSTEM/NAME/format): formats
 * the data of a tracepoint as text. Thread safety: any thread may read a complete struct.
 */
#pragma once

#include "base/array.h"
#include "base/hash.h"
#include "base/strings.h"

enum tracing_field_kind { TRACING_UNSIGNED, TRACING_SIGNED, TRACING_HEX, TRACING_TEXT, TRACING_LOCATED_TEXT };

struct tracing_field {
    uint32_t name; /* in `names` */
    enum tracing_field_kind kind;
    uint32_t offset, size; /* offset in the recorded data, bytes */
};

struct tracing_format {
    uint32_t first, count; /* in `fields` */
};

struct perf_data_tracing {
    struct strings names;
    ARRAY(struct tracing_field) fields;
    ARRAY(struct tracing_format) formats;
    struct hash by_id; /* id of the tracepoint (perf_event_attr.config) -> index in formats */
};

/* Reads the tracing section of a perf.data file, up to the first damaged entry. Returns false if memory ran out. */
bool perf_data_tracing_read(struct perf_data_tracing *tracing, const void *bytes, size_t size);
void perf_data_tracing_destroy(struct perf_data_tracing *tracing);

/* Writes the recorded data of tracepoint `id` as "prev_comm=sh prev_pid=12", truncated to the buffer; "" if its
 * fields are unknown. */
void perf_data_tracing_write_text(const struct perf_data_tracing *tracing, uint64_t id, const void *raw,
                                  size_t raw_size, char *text, size_t size);

/* Reads a number field. Returns false if the tracepoint has no such field. */
bool perf_data_tracing_read_number(const struct perf_data_tracing *tracing, uint64_t id, const void *raw,
                                   size_t raw_size, const char *name, uint64_t *value);
