#include "spool/spool_format.h"

#include "spool/block_file_state.h"
#include "spool/counter_kinds.h"
#include "spool/wait_reasons.h"

/* ---- types ---- */

#define WITH_NAMES(array) .names = (array), .name_count = sizeof(array) / sizeof(*(array))

static const char *const library_kinds[] = {
    [SPOOL_LIB_FILE] = "file", [SPOOL_LIB_KERNEL] = "kernel",           [SPOOL_LIB_KERNEL_MODULE] = "kernel_module",
    [SPOOL_LIB_VDSO] = "vdso", [SPOOL_LIB_KERNEL_CODE] = "kernel_code",
};
_Static_assert(sizeof(library_kinds) / sizeof(*library_kinds) == SPOOL_LIB_KINDS, "each kind of library has a name");

static const char *const marks[] = {
    [SPOOL_MARK_INSTANT] = "instant", [SPOOL_MARK_BEGIN] = "begin",     [SPOOL_MARK_END] = "end",
    [SPOOL_MARK_SPAN] = "span",       [SPOOL_MARK_COUNTER] = "counter",
};
_Static_assert(sizeof(marks) / sizeof(*marks) == SPOOL_MARK_KINDS, "each kind of mark has a name");

/* By bit. */
static const char *const sample_flags[] = {"truncated", "without_cfi", "completed_live", "without_weight"};
_Static_assert(SAMPLE_TRUNCATED == 1 && SAMPLE_WITHOUT_CFI == 2 && SAMPLE_COMPLETED_LIVE == 4 &&
                   SAMPLE_WITHOUT_WEIGHT == 8,
               "the names are in the order of the bits");

const char *const spool_counter_names[] = {
    [COUNTER_SWAP] = "swap_bytes",
    [COUNTER_THREADS] = "threads",
    [COUNTER_MAJOR_FAULTS] = "major_faults",
    [COUNTER_DISK_READ] = "disk_read_bytes",
    [COUNTER_DISK_WRITTEN] = "disk_written_bytes",
    [COUNTER_PREEMPTIONS] = "preemptions",
    [COUNTER_READ] = "read_bytes",
    [COUNTER_WRITTEN] = "written_bytes",
    [COUNTER_WAITS] = "waits",
    [COUNTER_MEMORY] = "memory_bytes",
    [COUNTER_MINOR_FAULTS] = "minor_faults",
    [COUNTER_CPU_TIME] = "cpu_time_ns",
};
_Static_assert(sizeof(spool_counter_names) / sizeof(*spool_counter_names) == COUNTER_KINDS, "each counter has a name");

#define NUMBER_OF(what) "number of " what ", or null"

const struct spool_type_text spool_types[SPOOL_TYPES] = {
    [SPOOL_TYPE_TEXT] = {.name = "text", .in_dump = "text, with U+FFFD for bytes that are not UTF-8"},
    [SPOOL_TYPE_BYTES] = {.name = "bytes", .in_dump = "the first 64 bytes as a text, two hexadecimal digits each"},
    [SPOOL_TYPE_IMAGE] = {.name = "image", .in_dump = "number of bytes"},
    [SPOOL_TYPE_BOOL] = {.name = "bool", .in_dump = "true or false"},
    [SPOOL_TYPE_COUNT] = {.name = "number", .in_dump = "number"},
    [SPOOL_TYPE_SIZE] = {.name = "size", .in_dump = "number of bytes"},
    [SPOOL_TYPE_TIME] = {.name = "time",
                         .in_dump = "time in ns of CLOCK_MONOTONIC, or of the clock that the metadata `clock` names"},
    [SPOOL_TYPE_REALTIME] = {.name = "date", .in_dump = "ns since the Unix epoch"},
    [SPOOL_TYPE_DURATION] = {.name = "duration", .in_dump = "ns"},
    [SPOOL_TYPE_DOUBLE] = {.name = "double", .in_dump = "number, null if it is not finite"},
    [SPOOL_TYPE_ADDRESS] = {.name = "address", .in_dump = "text in hexadecimal, such as \"0x7f00\""},
    [SPOOL_TYPE_PID] = {.name = "pid", .in_dump = "number"},
    [SPOOL_TYPE_CPU] = {.name = "cpu", .in_dump = NUMBER_OF("the CPU, from 0")},
    [SPOOL_TYPE_PROCESS] = {.name = "process", .in_dump = NUMBER_OF("a `process` record")},
    [SPOOL_TYPE_THREAD] = {.name = "thread", .in_dump = NUMBER_OF("a `thread` record")},
    [SPOOL_TYPE_LIBRARY] = {.name = "library", .in_dump = NUMBER_OF("a `library` record")},
    [SPOOL_TYPE_OBJECT] = {.name = "object", .in_dump = "number of an `object` record, or 0"},
    [SPOOL_TYPE_FUNCTION] = {.name = "function", .in_dump = NUMBER_OF("a `python_function` record")},
    [SPOOL_TYPE_MARK_NAME] = {.name = "mark_name", .in_dump = NUMBER_OF("a `mark_name` record")},
    [SPOOL_TYPE_SIGNAL] = {.name = "signal", .in_dump = "number of the signal"},
    [SPOOL_TYPE_EVENT] = {.name = "event",
                          .in_dump = "number of the event, from 1 (metadata `event_name_1` has its name)"},
    [SPOOL_TYPE_LIBRARY_KIND] = {.name = "library_kind", .in_dump = "one of", WITH_NAMES(library_kinds)},
    [SPOOL_TYPE_MARK] = {.name = "mark", .in_dump = "one of", WITH_NAMES(marks)},
    [SPOOL_TYPE_WAIT_REASON] = {.name = "wait_reason",
                                .in_dump = "one of",
                                .names = wait_reason_names,
                                .name_count = WAIT_REASONS},
    [SPOOL_TYPE_SAMPLE_FLAGS] = {.name = "flags", .in_dump = "list of", WITH_NAMES(sample_flags)},
    [SPOOL_TYPE_COUNTED] = {.name = "counted", .in_dump = "number of a `process` record, \"cpus\" or \"power\""},
    [SPOOL_TYPE_FRAME_COUNT] = {.name = "frame_count", .in_dump = "number"},
    [SPOOL_TYPE_FRAMES] =
        {.name = "frames",
         .in_dump =
             "list of addresses. The address of a Python frame is the sum of bit 62, the number of its `python_function` record << 24, and its line"},
    [SPOOL_TYPE_VALUES] = {.name = "values", .in_dump = "object or list of numbers, null if unknown"},
};

/* ---- kinds ---- */

/* How a struct member stores a field. A C type without such a storage does not compile. */
#define STORAGE(type, member)                                                                                          \
    _Generic(((const type *)0)->member,                                                                                \
        bool: SPOOL_STORES_BOOL,                                                                                       \
        uint32_t: SPOOL_STORES_U32,                                                                                    \
        uint64_t: SPOOL_STORES_U64,                                                                                    \
        double: SPOOL_STORES_DOUBLE,                                                                                   \
        const char *: SPOOL_STORES_TEXT,                                                                               \
        struct spool_blob: SPOOL_STORES_BLOB,                                                                          \
        struct spool_list: SPOOL_STORES_LIST)

#define FIELD(key, TYPE, description) FIELD_IF(INSTANT, key, TYPE, description)
#define FIELD_IF(mark, key, TYPE, description)                                                                         \
    {.name = #key,                                                                                                     \
     .type = SPOOL_TYPE_##TYPE,                                                                                        \
     .storage = STORAGE(record, key),                                                                                  \
     .offset = offsetof(record, key),                                                                                  \
     .only_in = SPOOL_MARK_##mark,                                                                                     \
     .meaning = (description)},

const struct spool_kind *spool_find_kind(uint32_t kind)
{
    switch (kind) {
#define EVENT(ID, key, number, first, description, ...)                                                                \
    case SPOOL_##ID: {                                                                                                 \
        typedef struct spool_##key record;                                                                             \
        static const struct spool_field fields[] = {__VA_ARGS__{.name = NULL}};                                        \
        static const struct spool_kind found = {                                                                       \
            .name = #key, .since = (first), .meaning = (description), .fields = fields};                               \
        return &found;                                                                                                 \
    }
#define SAMPLE EVENT
#include "spool/record_kinds.h"
    default:
        return NULL;
    }
}

_Static_assert(SPOOL_DUMP_BYTES == 64, "the type has the number");

/* ---- documentation ---- */

static const char introduction[] =
    "# The spool file\n"
    "\n"
    "A recorder writes this file while its target runs, and `prof load` turns it into a profile. `prof dump FILE` prints each\n"
    "record as a line of JSON. `prof dump --format` prints this page, from the table in `lib/spool/record_kinds.h`.\n"
    "\n"
    "This page describes version %d of the format. prof reads files of this version only. The error for a file of another\n"
    "version names the prof that recorded the file. A version with other kinds or fields has another number.\n"
    "\n"
    "## Bytes\n"
    "\n"
    "The file begins with `%s`, whose last character is the version. The rest of the file consists of blocks, each with\n"
    "its kind, its length and a checksum (`lib/spool/block_file.c`). A block has several events, or one chunk of samples.\n"
    "A killed recorder leaves whole blocks, and at most one incomplete block at the end.\n"
    "\n"
    "An event is the number of its kind in one byte, then its fields in the order of this page. The file stores numbers as\n"
    "LEB128, and bools as 0 or 1. Texts end with a NUL byte. Bytes and images begin with their size. The file stores a\n"
    "double as the integer with the same bits.\n"
    "\n"
    "A sample is an entry of a chunk. The entry stores the differences from the previous sample of its thread. A `counters`\n"
    "record stores the differences from the previous `counters` record of its process (`lib/spool/chunk.c`).\n"
    "\n"
    "An event precedes the records that refer to it. The number of a process, thread or library is valid up to the end\n"
    "of the file.\n";

static bool describe_type(struct text_buffer *out, const struct spool_type_text *type)
{
    bool ok = text_append_all(out, "| ", type->name, " | ", type->in_dump);
    for (size_t i = 0; ok && i < type->name_count; i++)
        ok = text_append_all(out, i ? ", `" : " `", type->names[i], "`");
    return ok && text_append_z(out, " |\n");
}

/* The kind is an entry of a chunk if `number` is 0. */
static bool describe_kind(struct text_buffer *out, const struct spool_kind *kind, uint32_t number)
{
    char origin[64];
    if (number)
        snprintf(origin, sizeof(origin), "This is event %u, since version %u.", (unsigned)number,
                 (unsigned)kind->since);
    else
        snprintf(origin, sizeof(origin), "This is an entry of a chunk, since version %u.", (unsigned)kind->since);
    bool ok = text_append_all(out, "\n### ", kind->name, "\n\n", kind->meaning, " ", origin,
                              "\n\n| field | type | meaning |\n|---|---|---|\n");
    for (const struct spool_field *field = kind->fields; ok && field->name; field++) {
        ok = text_append_all(out, "| `", field->name, "` | ", spool_types[field->type].name, " | ", field->meaning);
        if (ok && field->only_in != SPOOL_MARK_INSTANT)
            ok = text_append_all(out, " (only if `mark` is `", marks[field->only_in], "`)");
        ok = ok && text_append_z(out, " |\n");
    }
    return ok;
}

bool spool_format_describe(struct text_buffer *out)
{
    char text[sizeof(introduction) + 64];
    snprintf(text, sizeof(text), introduction, BLOCK_FILE_VERSION, BLOCK_FILE_MAGIC);
    bool ok = text_append_all(out, text, "\n## Types\n\n| type | in the dump |\n|---|---|\n");
    for (size_t i = 0; ok && i < SPOOL_TYPES; i++)
        ok = describe_type(out, &spool_types[i]);
    ok = ok && text_append_z(out, "\n## Events\n");
    for (uint32_t i = 0; ok && i < SPOOL_EVENT_KINDS; i++)
        ok = !spool_find_kind(i) || describe_kind(out, spool_find_kind(i), i);
    ok = ok && text_append_z(out, "\n## Samples\n");
    for (size_t i = 0; ok && i < SPOOL_SAMPLE_KINDS; i++)
        ok = describe_kind(out, spool_find_kind(SPOOL_SAMPLES + (uint32_t)i), 0);
    ok = ok && text_append_z(out, "\n## Counters of a process\n\n");
    for (size_t i = 0; ok && i < COUNTER_KINDS; i++)
        ok = text_append_all(out, i ? ", `" : "`", spool_counter_names[i], "`");
    return ok && text_append_z(out, "\n");
}
