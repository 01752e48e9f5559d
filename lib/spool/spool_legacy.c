/*
 * Translates between the structs of each kind (records.h) and struct spool_event and struct sample, which precede them.
 */
#include "spool/spool_legacy.h"

#include "spool/spool_format.h"

#include <string.h>

static const size_t sizes[] = {
    [SPOOL_STORES_BOOL] = sizeof(bool),         [SPOOL_STORES_U32] = sizeof(uint32_t),
    [SPOOL_STORES_U64] = sizeof(uint64_t),      [SPOOL_STORES_DOUBLE] = sizeof(double),
    [SPOOL_STORES_TEXT] = sizeof(const char *), [SPOOL_STORES_BLOB] = sizeof(struct spool_blob),
};

/* Offsets of the fields in struct spool_event, in the order of the table. */
static const size_t *offsets_of(uint32_t kind)
{
    switch (kind) {
#define FIELD(name, TYPE, member, meaning)          offsetof(struct spool_event, member),
#define FIELD_IF(mark, name, TYPE, member, meaning) offsetof(struct spool_event, member),
#define EVENT(ID, name, number, since, meaning, ...)                                                                   \
    case SPOOL_##ID: {                                                                                                 \
        static const size_t offsets[] = {__VA_ARGS__};                                                                 \
        return offsets;                                                                                                \
    }
#include "spool/record_kinds.h"
    default:
        return NULL;
    }
}

static void copy(const struct spool_kind *kind, const size_t *offsets, uint32_t mark, char *record, char *event,
                 bool to_event)
{
    for (size_t i = 0; kind->fields[i].name; i++) {
        const struct spool_field *field = &kind->fields[i];
        if (!spool_field_is_in(field, mark))
            continue;
        char *in_record = record + field->offset, *in_event = event + offsets[i];
        memcpy(to_event ? in_event : in_record, to_event ? in_record : in_event, sizes[field->storage]);
    }
}

bool spool_legacy_record(const struct spool_event *event, struct spool_record *record)
{
    const size_t *offsets = offsets_of(event->kind);
    struct spool_event from = *event;
    *record = (struct spool_record){.kind = event->kind};
    if (offsets)
        copy(spool_kind_of(event->kind), offsets, event->mark, (char *)&record->metadata, (char *)&from, false);
    return offsets;
}

void spool_legacy_event(const struct spool_record *record, struct spool_event *event)
{
    struct spool_record from = *record;
    *event = (struct spool_event){.kind = record->kind};
    copy(spool_kind_of(record->kind), offsets_of(record->kind),
         record->kind == SPOOL_PROGRAM_MARK ? record->program_mark.mark : 0, (char *)&from.metadata, (char *)event,
         true);
}

#define STACK_FLAGS (~(uint32_t)(SAMPLE_WAIT_GOES_ON | SAMPLE_COUNTERS | SAMPLE_COUNTERS_BASE))

#define TO_RECORD(to, from)                                                                                            \
    ((to)->thread = (from)->thread, (to)->time_ns = (from)->time, (to)->cpu = (from)->cpu,                             \
     (to)->flags = (from)->flags & STACK_FLAGS, (to)->kernel_frames = (from)->kernel_frame_count,                      \
     (to)->frames = (struct spool_list){(from)->frames, (from)->frame_count})

void spool_legacy_record_of_sample(const struct sample *sample, struct spool_record *record)
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

void spool_legacy_sample(const struct spool_record *record, struct sample *sample)
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
