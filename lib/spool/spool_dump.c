#include "spool/spool_dump.h"

#include "spool/counter_kinds.h"
#include "spool/spool_format.h"

/* ---- one value ---- */

static void write_hex(struct json_writer *json, const unsigned char *bytes, uint64_t size)
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

static void write_enum(struct json_writer *json, const struct spool_type_text *type, uint64_t value)
{
    if (value < type->name_count)
        json_text_z(json, type->names[value]);
    else
        json_unsigned(json, value);
}

/* Writes flags as names, and bits without a name as numbers. */
static void write_flags(struct json_writer *json, const struct spool_type_text *type, uint64_t value)
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

static void write_number_or_null(struct json_writer *json, uint64_t value, uint64_t none)
{
    if (value == none)
        json_null(json);
    else
        json_unsigned(json, value);
}

static void write_counter_owner(struct json_writer *json, uint64_t whose)
{
    if (whose == COUNTERS_OF_CPUS)
        json_text_z(json, "cpus");
    else if (whose == COUNTERS_OF_POWER)
        json_text_z(json, "power");
    else
        json_unsigned(json, whose);
}

static void write_frames(struct json_writer *json, const struct spool_list *frames)
{
    json_open(json, '[');
    for (size_t i = 0; i < frames->count; i++)
        json_hex(json, frames->items[i]);
    json_close(json, ']');
}

static void write_values(struct json_writer *json, const struct spool_counters *counters)
{
    bool is_named = counters->of < COUNTERS_OF_POWER && counters->values.count <= COUNTER_KINDS;
    json_open(json, is_named ? '{' : '[');
    for (size_t i = 0; i < counters->values.count; i++) {
        if (is_named)
            json_key(json, spool_counter_names[i]);
        write_number_or_null(json, counters->values.items[i], COUNTER_UNKNOWN);
    }
    json_close(json, is_named ? '}' : ']');
}

static void write_number(struct json_writer *json, enum spool_type type, uint64_t value)
{
    switch (type) {
    case SPOOL_TYPE_ADDRESS:
        json_hex(json, value);
        break;
    case SPOOL_TYPE_CPU:
    case SPOOL_TYPE_PROCESS:
    case SPOOL_TYPE_THREAD:
    case SPOOL_TYPE_LIBRARY:
    case SPOOL_TYPE_FUNCTION:
    case SPOOL_TYPE_MARK_NAME:
        write_number_or_null(json, value, SPOOL_NO_NUMBER);
        break;
    case SPOOL_TYPE_LIBRARY_KIND:
    case SPOOL_TYPE_MARK:
    case SPOOL_TYPE_WAIT_REASON:
        write_enum(json, &spool_types[type], value);
        break;
    case SPOOL_TYPE_SAMPLE_FLAGS:
        write_flags(json, &spool_types[type], value);
        break;
    case SPOOL_TYPE_COUNTED:
        write_counter_owner(json, value);
        break;
    default:
        json_unsigned(json, value);
    }
}

static void write_blob(struct json_writer *json, enum spool_type type, const struct spool_blob *blob)
{
    if (type == SPOOL_TYPE_IMAGE)
        json_unsigned(json, blob->size);
    else
        write_hex(json, blob->bytes, blob->size);
}

/* ---- one record: `record` points to the struct spool_NAME of its kind ---- */

static void write_field(struct json_writer *json, const struct spool_field *field, const void *record)
{
    const void *member = spool_field_get_member(field, record);
    json_key(json, field->name);
    switch (field->storage) {
    case SPOOL_STORES_BOOL:
        json_bool(json, *(const bool *)member);
        break;
    case SPOOL_STORES_U32:
        write_number(json, field->type, *(const uint32_t *)member);
        break;
    case SPOOL_STORES_U64:
        write_number(json, field->type, *(const uint64_t *)member);
        break;
    case SPOOL_STORES_DOUBLE:
        json_double(json, *(const double *)member);
        break;
    case SPOOL_STORES_TEXT:
        json_text_z(json, *(const char *const *)member);
        break;
    case SPOOL_STORES_BLOB:
        write_blob(json, field->type, member);
        break;
    case SPOOL_STORES_LIST:
        if (field->type == SPOOL_TYPE_FRAMES)
            write_frames(json, member);
        else
            write_values(json, record);
        break;
    }
}

void spool_dump_record(struct json_writer *json, const struct spool_record *record)
{
    const struct spool_kind *kind = spool_find_kind(record->kind);
    uint32_t mark = record->kind == SPOOL_PROGRAM_MARK ? record->program_mark.mark : SPOOL_MARK_INSTANT;
    if (!kind)
        return;
    json_open(json, '{');
    json_member_text(json, "kind", kind->name);
    for (const struct spool_field *field = kind->fields; field->name; field++)
        if (spool_field_is_in(field, mark))
            write_field(json, field, &record->metadata);
    json_close(json, '}');
}
