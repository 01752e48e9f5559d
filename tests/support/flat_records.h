/*
 * Flat records, for tests: one struct for all events and one for all samples, which are shorter to write down than the
 * structs of each kind (spool/records.h).
 */
#pragma once

#include "spool/counter_kinds.h"
#include "spool/spool.h"
#include "spool/spool_format.h"

#include <string.h>

struct spool_lib {
    uint32_t kind;
    const char *path;              /* "/usr/bin/gdb", "[kernel.kallsyms]", "[vdso]", "[nf_tables]" */
    const unsigned char *build_id; /* GNU build id; size 0 if there is none */
    size_t build_id_size;
    uint64_t device, inode, size, mtime_ns; /* of the file as it was mapped; 0 unknown */
    const unsigned char *image;             /* SPOOL_LIB_VDSO: its ELF image */
    size_t image_size;
};

/* One event. Fields that its kind does not name are 0 or NULL. Texts are valid until the next read. */
struct spool_event {
    enum spool_record_kind kind;
    uint32_t number;
    uint32_t process; /* SPOOL_THREAD */
    uint32_t parent;  /* SPOOL_PROCESS: number of the parent process, or of the one it replaces; SPOOL_NO_NUMBER */
    bool exec;        /* SPOOL_PROCESS: the same pid goes on as a new program; its mappings start empty, whereas
                         after a fork they start as a copy of the parent's at that time */
    uint32_t pid, tid, cpu;
    uint32_t lib_number; /* SPOOL_MAP */
    uint32_t mark;       /* SPOOL_PROGRAM_MARK: enum spool_mark */
    uint64_t time;       /* ns, CLOCK_MONOTONIC */
    uint64_t start, end, rva;
    uint64_t count;
    const char *name, *value;
    struct spool_lib lib;
};

enum { SAMPLE_WAIT_GOES_ON = 16, SAMPLE_COUNTERS = 32, SAMPLE_COUNTERS_BASE = 64 }; /* besides enum sample_flags */

struct sample {
    uint32_t thread; /* the recorder's number for the thread (spool.h) */
    uint32_t cpu;
    uint64_t time;     /* ns, CLOCK_MONOTONIC */
    uint64_t cpu_time; /* ns of CPU since this thread's previous sample; of a wait: up to its beginning */
    uint64_t wait;     /* ns that the thread waited up to `time`; 0: it ran */
    uint32_t reason;   /* of a wait: enum wait_reason */
    uint32_t object;   /* of a wait: the number of what it waited for (SPOOL_OBJECT); 0 unknown */
    uint32_t waker;    /* of a wait: the number of what ended it (SPOOL_OBJECT); 0 unknown */
    uint32_t flags;    /* enum sample_flags */
    uint32_t event;    /* number of the event that was sampled (event_list.h), from 1 on; 0: the clock of CPU time */
    uint64_t period;   /* of an event: how many of them the sample stands for; its cpu_time is 0 */
    uint32_t frame_count;
    uint32_t kernel_frame_count; /* how many frames, the first of `frames`, are kernel addresses */
    const uint64_t *frames; /* leaf first; pcs as unwind_walk() gives them. From the reader: valid until the next */
};

struct counter_reading {
    uint32_t whose;
    uint64_t time, since;
    bool is_base;
    size_t count;
    const uint64_t *values;
};

/* ---- translation ---- */

static const size_t flat_sizes[] = {
    [SPOOL_STORES_BOOL] = sizeof(bool),         [SPOOL_STORES_U32] = sizeof(uint32_t),
    [SPOOL_STORES_U64] = sizeof(uint64_t),      [SPOOL_STORES_DOUBLE] = sizeof(double),
    [SPOOL_STORES_TEXT] = sizeof(const char *), [SPOOL_STORES_BLOB] = sizeof(struct spool_blob),
};

/* Offsets of the fields in struct spool_event, in the order of the table. */
static inline const size_t *flat_offsets(uint32_t kind)
{
#define FLAT(ID, ...)                                                                                                  \
    case SPOOL_##ID: {                                                                                                 \
        static const size_t offsets[] = {__VA_ARGS__};                                                                 \
        return offsets;                                                                                                \
    }
#define AT(member) offsetof(struct spool_event, member)
    switch (kind) {
        FLAT(INFO, AT(name), AT(value))
        FLAT(PROCESS, AT(number), AT(parent), AT(exec), AT(pid), AT(time), AT(name))
        FLAT(THREAD, AT(number), AT(process), AT(tid), AT(time), AT(name))
        FLAT(NAME, AT(number), AT(time), AT(name))
        FLAT(THREAD_END, AT(number), AT(time))
        FLAT(LIB, AT(number), AT(lib.kind), AT(lib.path), AT(lib.build_id), AT(lib.device), AT(lib.inode), AT(lib.size),
             AT(lib.mtime_ns), AT(lib.image))
        FLAT(MAP, AT(number), AT(time), AT(start), AT(end), AT(rva), AT(lib_number))
        FLAT(LOST, AT(time), AT(start), AT(cpu), AT(count))
        FLAT(PAUSED, AT(time))
        FLAT(RESUMED, AT(time))
        FLAT(MARK, AT(time), AT(value))
        FLAT(RUN, AT(time), AT(count))
        FLAT(UNSAMPLED_THREAD, AT(number), AT(time), AT(count))
        FLAT(OBJECT, AT(number), AT(name))
        FLAT(MARK_NAME, AT(number), AT(name))
        FLAT(PROGRAM_MARK, AT(mark), AT(number), AT(pid), AT(tid), AT(time), AT(end), AT(end), AT(value))
        FLAT(MARKS_LOST, AT(pid), AT(start), AT(time), AT(count))
        FLAT(COMMAND, AT(number), AT(value))
        FLAT(EXIT, AT(pid), AT(time), AT(count))
        FLAT(WORK, AT(time), AT(end), AT(name))
        FLAT(PYTHON_FUNCTION, AT(number), AT(name), AT(value), AT(count))
        FLAT(SIGNAL, AT(pid), AT(tid), AT(time), AT(number), AT(name))
        FLAT(OOM_KILL, AT(pid), AT(time), AT(count))
        FLAT(UNSAMPLED_PROCESS, AT(number), AT(time), AT(count))
    default:
        return NULL;
    }
#undef FLAT
#undef AT
}

static inline void flat_copy(const struct spool_kind *kind, const size_t *offsets, uint32_t mark, char *record,
                             char *event, bool to_event)
{
    for (size_t i = 0; kind->fields[i].name; i++) {
        const struct spool_field *field = &kind->fields[i];
        if (!spool_field_is_in(field, mark))
            continue;
        char *in_record = record + field->offset, *in_event = event + offsets[i];
        memcpy(to_event ? in_event : in_record, to_event ? in_record : in_event, flat_sizes[field->storage]);
    }
}

static inline bool flat_to_record(const struct spool_event *event, struct spool_record *record)
{
    const size_t *offsets = flat_offsets(event->kind);
    struct spool_event from = *event;
    *record = (struct spool_record){.kind = event->kind};
    if (offsets)
        flat_copy(spool_find_kind(event->kind), offsets, event->mark, (char *)&record->metadata, (char *)&from, false);
    return offsets;
}

static inline void flat_event_of(const struct spool_record *record, struct spool_event *event)
{
    struct spool_record from = *record;
    *event = (struct spool_event){.kind = record->kind};
    flat_copy(spool_find_kind(record->kind), flat_offsets(record->kind),
              record->kind == SPOOL_PROGRAM_MARK ? record->program_mark.mark : 0, (char *)&from.metadata, (char *)event,
              true);
}

#define STACK_FLAGS (~(uint32_t)(SAMPLE_WAIT_GOES_ON | SAMPLE_COUNTERS | SAMPLE_COUNTERS_BASE))

#define TO_RECORD(to, from)                                                                                            \
    ((to)->thread = (from)->thread, (to)->time_ns = (from)->time, (to)->cpu = (from)->cpu,                             \
     (to)->flags = (from)->flags & STACK_FLAGS, (to)->kernel_frames = (from)->kernel_frame_count,                      \
     (to)->frames = (struct spool_list){(from)->frames, (from)->frame_count})

static inline void flat_sample_to_record(const struct sample *sample, struct spool_record *record)
{
    *record = (struct spool_record){.kind = sample->wait    ? SPOOL_WAIT
                                            : sample->event ? SPOOL_EVENT_SAMPLE
                                                            : SPOOL_SAMPLE};
    if (sample->wait) {
        TO_RECORD(&record->wait, sample);
        record->wait.cpu_time_ns = sample->cpu_time;
        record->wait.wait_ns = sample->wait;
        record->wait.reason = sample->reason;
        record->wait.object = sample->object;
        record->wait.waker = sample->waker;
        record->wait.goes_on = sample->flags & SAMPLE_WAIT_GOES_ON;
    } else if (sample->event) {
        TO_RECORD(&record->event_sample, sample);
        record->event_sample.event = sample->event;
        record->event_sample.period = sample->period;
    } else {
        TO_RECORD(&record->sample, sample);
        record->sample.cpu_time_ns = sample->cpu_time;
    }
}

#define TO_SAMPLE(from)                                                                                                \
    (struct sample)                                                                                                    \
    {                                                                                                                  \
        .thread = (from)->thread, .time = (from)->time_ns, .cpu = (from)->cpu, .flags = (from)->flags,                 \
        .kernel_frame_count = (from)->kernel_frames, .frames = (from)->frames.items,                                   \
        .frame_count = (uint32_t)(from)->frames.count                                                                  \
    }

static inline void flat_sample_of(const struct spool_record *record, struct sample *sample)
{
    const struct spool_counters *counters = &record->counters;
    switch (record->kind) {
    case SPOOL_WAIT:
        *sample = TO_SAMPLE(&record->wait);
        sample->flags |= record->wait.goes_on ? SAMPLE_WAIT_GOES_ON : 0;
        sample->cpu_time = record->wait.cpu_time_ns;
        sample->wait = record->wait.wait_ns;
        sample->reason = record->wait.reason;
        sample->object = record->wait.object;
        sample->waker = record->wait.waker;
        break;
    case SPOOL_EVENT_SAMPLE:
        *sample = TO_SAMPLE(&record->event_sample);
        sample->event = record->event_sample.event;
        sample->period = record->event_sample.period;
        break;
    case SPOOL_COUNTERS:
        *sample = (struct sample){
            .thread = (UINT32_C(1) << 31) + counters->of,
            .time = counters->time_ns,
            .cpu_time = counters->since_ns ? counters->time_ns - counters->since_ns : 0,
            .flags = SAMPLE_COUNTERS | (counters->is_base ? (uint32_t)SAMPLE_COUNTERS_BASE : 0),
            .frames = counters->values.items,
            .frame_count = (uint32_t)counters->values.count,
        };
        break;
    default:
        *sample = TO_SAMPLE(&record->sample);
        sample->cpu_time = record->sample.cpu_time_ns;
    }
}

/* ---- writing and reading ---- */

static inline int spool_writer_event(struct spool_writer *writer, const struct spool_event *event, struct error *err)
{
    struct spool_record record;
    return flat_to_record(event, &record) ? spool_writer_append(writer, event->kind, &record.metadata, err)
                                          : error_no_memory(err);
}

static inline int spool_writer_sample(struct spool_writer *writer, const struct sample *sample, struct error *err)
{
    struct spool_record record;
    flat_sample_to_record(sample, &record);
    return spool_writer_append(writer, record.kind, &record.metadata, err);
}

static inline int counter_writer_write(struct spool_writer *writer, const struct counter_reading *reading,
                                       struct error *err)
{
    const struct spool_counters counters = {.of = reading->whose,
                                            .time_ns = reading->time,
                                            .since_ns = reading->since,
                                            .is_base = reading->is_base,
                                            .values = {reading->values, reading->count}};
    return spool_write_counters(writer, &counters, err);
}

enum spool_item { SPOOL_END = 0, SPOOL_ITEM_EVENT = 1, SPOOL_ITEM_SAMPLE = 2 };

static inline int spool_reader_next(struct spool_reader *reader, struct spool_event *event, struct sample *sample,
                                    struct error *err)
{
    struct spool_record record = {0};
    int code;
    do
        code = spool_reader_read(reader, &record, err);
    while (code > 0 && record.kind == SPOOL_SLICE);
    if (code <= 0)
        return code;
    if (record.kind >= SPOOL_SAMPLES) {
        flat_sample_of(&record, sample);
        return SPOOL_ITEM_SAMPLE;
    }
    flat_event_of(&record, event);
    return SPOOL_ITEM_EVENT;
}
