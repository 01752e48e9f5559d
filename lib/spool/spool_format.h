/*
 * The format of the spool file as tables: record kinds, their fields, and the types of fields, generated from
 * record_kinds.h.
 *
 * Threads: any, because the tables are constant.
 */
#pragma once

#include "base/text_buffer.h"
#include "spool/records.h"

enum { SPOOL_DUMP_BYTES = 64 }; /* limit of bytes of a BYTES field in the dump */

/* Types of fields. spool_types has their units. */
enum spool_type {
    SPOOL_TYPE_TEXT,
    SPOOL_TYPE_BYTES,
    SPOOL_TYPE_IMAGE,
    SPOOL_TYPE_BOOL,
    SPOOL_TYPE_COUNT,
    SPOOL_TYPE_SIZE,
    SPOOL_TYPE_TIME,
    SPOOL_TYPE_REALTIME,
    SPOOL_TYPE_DURATION,
    SPOOL_TYPE_DOUBLE,
    SPOOL_TYPE_ADDRESS,
    SPOOL_TYPE_PID,
    SPOOL_TYPE_CPU,
    SPOOL_TYPE_PROCESS,
    SPOOL_TYPE_THREAD,
    SPOOL_TYPE_LIBRARY,
    SPOOL_TYPE_OBJECT,
    SPOOL_TYPE_FUNCTION,
    SPOOL_TYPE_MARK_NAME,
    SPOOL_TYPE_SIGNAL,
    SPOOL_TYPE_EVENT,
    SPOOL_TYPE_LIBRARY_KIND,
    SPOOL_TYPE_MARK,
    SPOOL_TYPE_WAIT_REASON,
    SPOOL_TYPE_SAMPLE_FLAGS,
    SPOOL_TYPE_COUNTED,
    SPOOL_TYPE_FRAME_COUNT,
    SPOOL_TYPE_FRAMES,
    SPOOL_TYPE_VALUES,
    SPOOL_TYPES
};

struct spool_type_text {
    const char *name;
    const char *in_dump;      /* form of the type in the output of `prof dump`, with its unit */
    const char *const *names; /* names of an enum's values, or of the bits of flags, or NULL for other types */
    size_t name_count;
};

extern const struct spool_type_text spool_types[SPOOL_TYPES];

/* How a struct member stores a field, by its C type. */
enum spool_storage {
    SPOOL_STORES_BOOL,
    SPOOL_STORES_U32,
    SPOOL_STORES_U64,
    SPOOL_STORES_DOUBLE,
    SPOOL_STORES_TEXT,
    SPOOL_STORES_BLOB,
    SPOOL_STORES_LIST,
};

struct spool_field {
    const char *name;
    enum spool_type type;
    enum spool_storage storage;
    size_t offset;           /* offset of the member in the struct of its kind */
    enum spool_mark only_in; /* SPOOL_MARK_INSTANT: the field is in all records; else only in marks of this kind */
    const char *meaning;
};

struct spool_kind {
    const char *name;
    uint32_t since; /* version of the format */
    const char *meaning;
    const struct spool_field *fields; /* ended by a field without a name */
};

enum {
    SPOOL_EVENT_KINDS = 1
#define EVENT(...) +1
#include "spool/record_kinds.h"
};
enum {
    SPOOL_SAMPLE_KINDS = 0
#define SAMPLE(...) +1
#include "spool/record_kinds.h"
};

/* Returns the description of a record kind (enum spool_record_kind), or NULL for an unknown kind. */
const struct spool_kind *spool_find_kind(uint32_t kind);

/* Names of the counters of a process, indexed by enum counter_kind. */
extern const char *const spool_counter_names[];

/* The member of a struct. */
static inline const void *spool_field_get_member(const struct spool_field *field, const void *record)
{
    return (const char *)record + field->offset;
}

/* Whether an event with this `mark` has the field. */
static inline bool spool_field_is_in(const struct spool_field *field, uint32_t mark)
{
    return field->only_in == SPOOL_MARK_INSTANT || field->only_in == mark;
}

/* Appends the documentation of the format in Markdown, docs/spool-format.md. False if memory ran out. */
bool spool_format_describe(struct text_buffer *out);
