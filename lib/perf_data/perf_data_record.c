#include "perf_data/perf_data_record.h"

#include "base/cursor.h"

#include <linux/perf_event.h>

enum { HEADER = 8, BRANCH_SIZE = 24 };

static bool has_bits(uint64_t set, uint64_t bits)
{
    return (set & bits) != 0;
}

/* ---- event of a record ---- */

static uint64_t read_word(const unsigned char *bytes, size_t size, size_t offset)
{
    uint64_t value = 0;
    if (offset <= size && size - offset >= sizeof(value))
        memcpy(&value, bytes + offset, sizeof(value));
    return value;
}

/* Either all events of a file have IDENTIFIER, or all have the same fields before ID. A sample without an id, or with
 * id 0, belongs to the first event, as in perf. */
static const struct perf_data_attr *find_attr(const struct perf_data *data, uint32_t type, const unsigned char *bytes,
                                              size_t size)
{
    if (!data->attrs.length)
        return NULL;
    const struct perf_data_attr *first = &data->attrs.data[0];
    if (data->attrs.length == 1)
        return first;
    uint64_t fields = first->sample_type;
    uint64_t id = 0;
    if (has_bits(fields, PERF_SAMPLE_IDENTIFIER)) {
        id = read_word(bytes, size, type == PERF_RECORD_SAMPLE ? HEADER : size - 8);
    } else if (has_bits(fields, PERF_SAMPLE_ID) && type == PERF_RECORD_SAMPLE) {
        uint64_t before = fields & (PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR);
        id = read_word(bytes, size, HEADER + 8 * (size_t)__builtin_popcountll(before));
    }
    const struct perf_data_attr *found = perf_data_find_attr(data, id);
    /* no id: a record that perf synthesizes for a running process */
    return found || (id && type == PERF_RECORD_SAMPLE) ? found : first;
}

static struct perf_layout find_record_layout(const struct perf_data_attr *attr, uint32_t type)
{
    bool has_fields = attr && (attr->has_trailer || type == PERF_RECORD_SAMPLE);
    return (struct perf_layout){.sample_type = has_fields ? attr->sample_type : 0,
                                .read_format = has_fields ? attr->read_format : 0};
}

uint64_t perf_data_record_get_time(const struct perf_data *data, const unsigned char *bytes, size_t size)
{
    struct cursor c = cursor_of(bytes, size);
    uint32_t type = cursor_u32(&c);
    struct perf_layout layout = find_record_layout(find_attr(data, type, bytes, size), type);
    size_t offset = perf_record_find_time_offset(&layout, type, size);
    return offset == SIZE_MAX ? 0 : read_word(bytes, size, offset);
}

/* ---- samples ---- */

/* Without a group: value, times, id. For a group: number, times, and for each event its value and id. */
static void parse_read(uint64_t format, struct cursor *c, struct perf_data_record *out)
{
    uint64_t times = (has_bits(format, PERF_FORMAT_TOTAL_TIME_ENABLED) ? 1 : 0) +
                     (has_bits(format, PERF_FORMAT_TOTAL_TIME_RUNNING) ? 1 : 0);
    uint64_t words = (has_bits(format, PERF_FORMAT_ID) ? 1 : 0) + (has_bits(format, PERF_FORMAT_LOST) ? 1 : 0);
    uint64_t first = cursor_u64(c);
    if (!has_bits(format, PERF_FORMAT_GROUP)) {
        out->record.sample.value = first;
        cursor_bytes(c, 8 * (times + words));
        return;
    }
    words++;
    if (first > cursor_left(c) / (8 * words)) {
        c->failed = true;
        return;
    }
    cursor_bytes(c, 8 * times);
    const unsigned char *group = cursor_bytes(c, 8 * words * first);
    if (!has_bits(format, PERF_FORMAT_ID))
        return;
    out->group = group;
    out->group_count = group ? (size_t)first : 0;
    out->group_stride = 8 * (size_t)words;
}

struct perf_data_count perf_data_record_get_count(const struct perf_data *data, const struct perf_data_record *record,
                                                  size_t i)
{
    struct perf_data_count count = {NULL, 0, 0};
    const unsigned char *at = record->group + i * record->group_stride;
    memcpy(&count.value, at, sizeof(count.value));
    memcpy(&count.id, at + 8, sizeof(count.id));
    count.attr = perf_data_find_attr(data, count.id);
    return count;
}

static void parse_branches(const struct perf_data_attr *attr, struct cursor *c, struct perf_data_record *out)
{
    uint64_t count = cursor_u64(c);
    if (has_bits(attr->branch_sample_type, PERF_SAMPLE_BRANCH_HW_INDEX))
        cursor_u64(c);
    if (count > cursor_left(c) / BRANCH_SIZE) {
        c->failed = true;
        return;
    }
    const unsigned char *branches = cursor_bytes(c, count * BRANCH_SIZE);
    if (has_bits(attr->branch_sample_type, PERF_SAMPLE_BRANCH_CALL_STACK)) {
        out->branches = branches;
        out->branch_count = (size_t)count;
    }
}

/* The bits of the mask are the bits of asm/perf_regs.h. perf may have recorded more registers than prof records. */
static void parse_registers(uint64_t mask, struct cursor *c, struct perf_sample *sample)
{
    sample->registers_abi = cursor_u64(c);
    if (sample->registers_abi == PERF_SAMPLE_REGS_ABI_NONE)
        return;
    const uint8_t *number = sample_register_dwarf;
    for (unsigned bit = 0; bit < 64; bit++) {
        bool is_known = SAMPLE_REGISTERS_MASK >> bit & 1;
        if (mask >> bit & 1) {
            uint64_t value = cursor_u64(c);
            if (is_known)
                sample->registers[*number] = value;
        }
        number += is_known;
    }
}

/* The fields have the order of perf_output_sample() in the kernel. Fields after the stack are ignored. */
static void parse_sample(const struct perf_data_attr *attr, struct cursor *c, struct perf_data_record *out)
{
    struct perf_record *record = &out->record;
    struct perf_sample *sample = &record->sample;
    uint64_t type = attr->sample_type;
    perf_sample_read_head(type, c, record);
    out->has_period = has_bits(type, PERF_SAMPLE_PERIOD);
    sample->period = out->has_period ? cursor_u64(c) : attr->is_frequency ? 0 : attr->sample_period;
    if (has_bits(type, PERF_SAMPLE_READ))
        parse_read(attr->read_format, c, out);
    if (has_bits(type, PERF_SAMPLE_CALLCHAIN))
        perf_sample_read_callchain(sample, c);
    if (has_bits(type, PERF_SAMPLE_RAW)) {
        out->raw_size = cursor_u32(c);
        out->raw = cursor_bytes(c, out->raw_size);
    }
    if (has_bits(type, PERF_SAMPLE_BRANCH_STACK))
        parse_branches(attr, c, out);
    if (has_bits(type, PERF_SAMPLE_REGS_USER))
        parse_registers(attr->user_registers, c, sample);
    if (has_bits(type, PERF_SAMPLE_STACK_USER))
        perf_sample_read_stack(sample, c);
}

/* ---- other records ---- */

/* Parses PERF_RECORD_MMAP, which perf writes for the kernel, and old kernels for all mappings. A bit distinguishes
 * mappings of data from executable ones. */
static int parse_old_mapping(const unsigned char *bytes, size_t size, struct perf_record *record)
{
    struct perf_mapping *mapping = &record->mapping;
    struct cursor c = cursor_of(bytes + HEADER, size - HEADER);
    record->type = PERF_RECORD_MMAP2;
    record->pid = cursor_u32(&c);
    record->tid = cursor_u32(&c);
    mapping->start = cursor_u64(&c);
    mapping->length = cursor_u64(&c);
    mapping->file_offset = cursor_u64(&c);
    mapping->executable = !(record->misc & PERF_RECORD_MISC_MMAP_DATA);
    mapping->path = cursor_string(&c);
    return c.failed ? -EINVAL : 0;
}

int perf_data_record_parse(const struct perf_data *data, const unsigned char *bytes, size_t size,
                           struct perf_data_record *out)
{
    *out = (struct perf_data_record){0};
    struct cursor c = cursor_of(bytes, size);
    uint32_t type = cursor_u32(&c);
    uint16_t misc = cursor_u16(&c);
    cursor_u16(&c);
    if (c.failed)
        return -EINVAL;
    out->attr = find_attr(data, type, bytes, size);
    if (type == PERF_RECORD_SAMPLE) {
        out->record.type = type;
        out->record.misc = misc;
        if (!out->attr)
            return -EINVAL;
        parse_sample(out->attr, &c, out);
        return c.failed ? -EINVAL : 0;
    }
    struct perf_layout layout = find_record_layout(out->attr, type);
    int code = perf_record_parse(&layout, bytes, size, &out->record);
    return code || type != PERF_RECORD_MMAP ? code : parse_old_mapping(bytes, size, &out->record);
}
