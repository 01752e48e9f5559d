#include "spool/spool_dump.h"

#include "spool/counter_reading.h"
#include "spool/spool_format.h"

#include <string.h>

/* ---- one value ---- */

static void put_hex(struct json_writer *json, const unsigned char *bytes, uint64_t size)
{
    static const char digits[] = "0123456789abcdef";
    char text[2 * SPOOL_DUMP_BYTES];
    uint64_t shown = size < SPOOL_DUMP_BYTES ? size : SPOOL_DUMP_BYTES;
    for (uint64_t i = 0; i < shown; i++) {
        text[2 * i] = digits[bytes[i] >> 4];
        text[2 * i + 1] = digits[bytes[i] & 15];
    }
    json_text(json, text, 2 * shown);
}

static void put_enum(struct json_writer *json, const struct spool_type_text *type, uint64_t value)
{
    if (value < type->name_count)
        json_text_z(json, type->names[value]);
    else
        json_unsigned(json, value);
}

/* A bit without a name is a number. */
static void put_flags(struct json_writer *json, const struct spool_type_text *type, uint64_t value)
{
    json_open(json, '[');
    for (unsigned bit = 0; bit < 64; bit++) {
        if (!(value >> bit & 1))
            continue;
        if (bit < type->name_count)
            json_text_z(json, type->names[bit]);
        else
            json_unsigned(json, UINT64_C(1) << bit);
    }
    json_close(json, ']');
}

static void put_number_or_null(struct json_writer *json, uint64_t value, uint64_t none)
{
    if (value == none)
        json_null(json);
    else
        json_unsigned(json, value);
}

static void put_counted(struct json_writer *json, uint64_t whose)
{
    if (whose == COUNTERS_OF_CPUS)
        json_text_z(json, "cpus");
    else if (whose == COUNTERS_OF_POWER)
        json_text_z(json, "power");
    else
        json_unsigned(json, whose);
}

static void put_frames(struct json_writer *json, const struct sample *sample)
{
    json_open(json, '[');
    for (uint32_t i = 0; i < sample->frame_count; i++)
        json_hex(json, sample->frames[i]);
    json_close(json, ']');
}

static void put_values(struct json_writer *json, const struct counter_reading *reading)
{
    bool is_named = reading->whose < COUNTERS_OF_POWER && reading->count <= COUNTER_KINDS;
    json_open(json, is_named ? '{' : '[');
    for (size_t i = 0; i < reading->count; i++) {
        if (is_named)
            json_key(json, spool_counter_names[i]);
        put_number_or_null(json, reading->values[i], COUNTER_UNKNOWN);
    }
    json_close(json, is_named ? '}' : ']');
}

static void put_number(struct json_writer *json, enum spool_type type, uint64_t value)
{
    double number;
    switch (type) {
    case SPOOL_TYPE_ADDRESS:
        json_hex(json, value);
        break;
    case SPOOL_TYPE_DOUBLE:
        memcpy(&number, &value, sizeof(number));
        json_double(json, number);
        break;
    case SPOOL_TYPE_CPU:
    case SPOOL_TYPE_PROCESS:
    case SPOOL_TYPE_THREAD:
    case SPOOL_TYPE_LIBRARY:
    case SPOOL_TYPE_FUNCTION:
    case SPOOL_TYPE_MARK_NAME:
        put_number_or_null(json, value, SPOOL_NO_NUMBER);
        break;
    case SPOOL_TYPE_LIBRARY_KIND:
    case SPOOL_TYPE_MARK:
    case SPOOL_TYPE_WAIT_REASON:
        put_enum(json, &spool_types[type], value);
        break;
    case SPOOL_TYPE_SAMPLE_FLAGS:
        put_flags(json, &spool_types[type], value);
        break;
    case SPOOL_TYPE_COUNTED:
        put_counted(json, value);
        break;
    default:
        json_unsigned(json, value);
    }
}

static void put_bytes(struct json_writer *json, enum spool_type type, const void *member)
{
    const unsigned char *const *bytes = member;
    uint64_t size = *(const uint64_t *)(bytes + 1);
    if (type == SPOOL_TYPE_IMAGE)
        json_unsigned(json, size);
    else
        put_hex(json, *bytes, size);
}

/* ---- one record: `record` is the struct that the fields of the kind are in ---- */

static void put_field(struct json_writer *json, const struct spool_field *field, const void *record)
{
    const void *member = (const char *)record + field->offset;
    json_key(json, field->name);
    switch (field->storage) {
    case SPOOL_STORES_BOOL:
        json_bool(json, *(const bool *)member);
        break;
    case SPOOL_STORES_U32:
        put_number(json, field->type, *(const uint32_t *)member);
        break;
    case SPOOL_STORES_U64:
        put_number(json, field->type, *(const uint64_t *)member);
        break;
    case SPOOL_STORES_TEXT:
        json_text_z(json, *(const char *const *)member);
        break;
    case SPOOL_STORES_BYTES:
        put_bytes(json, field->type, member);
        break;
    case SPOOL_STORES_U64S:
        if (field->type == SPOOL_TYPE_FRAMES)
            put_frames(json, record);
        else
            put_values(json, record);
        break;
    }
}

/* `mark` is that of an event. */
static void put_record(struct json_writer *json, const struct spool_kind *kind, const void *record, uint32_t mark)
{
    json_open(json, '{');
    json_member_text(json, "kind", kind->name);
    for (const struct spool_field *field = kind->fields; field->name; field++)
        if (spool_field_is_in(field, mark))
            put_field(json, field, record);
    json_close(json, '}');
}

void spool_dump_event(struct json_writer *json, const struct spool_event *event)
{
    const struct spool_kind *kind = spool_event_kind_of(event->kind);
    if (kind)
        put_record(json, kind, event, event->mark);
}

static enum spool_sample_kind kind_of(const struct sample *sample)
{
    return sample->wait ? SPOOL_SAMPLE_WAIT : sample->event ? SPOOL_SAMPLE_EVENT : SPOOL_SAMPLE_CPU;
}

void spool_dump_sample(struct json_writer *json, const struct sample *sample)
{
    uint64_t values[CHUNK_MAX_FRAMES];
    struct counter_reading reading;
    if (counter_reading_of(sample, values, &reading))
        put_record(json, &spool_sample_kinds[SPOOL_SAMPLE_COUNTERS], &reading, 0);
    else
        put_record(json, &spool_sample_kinds[kind_of(sample)], sample, 0);
}
