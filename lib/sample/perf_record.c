/*
 * A record is a header (type, misc, size), a body that depends on the type, and, except in samples, the identifier
 * trailer.
 *
 * A ring is shared memory, and one torn record would crash a parser that trusts lengths. So the parser reads every
 * field through a bounds-checked cursor.
 */
#include "sample/perf_record.h"

#include "base/cursor.h"

#include <linux/perf_event.h>
#include <sys/mman.h>

enum { HEADER_SIZE = 8 };

static bool has_any_bit(uint64_t set, uint64_t bits)
{
    return (set & bits) != 0;
}

/* The trailer of a record has 8 bytes for each requested field of this list, in the order of the list. */
static size_t get_trailer_size(const struct perf_layout *layout)
{
    uint64_t fields = layout->sample_type & (PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID |
                                             PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER);
    return 8 * (size_t)__builtin_popcountll(fields);
}

size_t perf_record_find_time_offset(const struct perf_layout *layout, uint32_t type, size_t size)
{
    uint64_t type_bits = layout->sample_type;
    if (!has_any_bit(type_bits, PERF_SAMPLE_TIME))
        return SIZE_MAX;
    if (type == PERF_RECORD_SAMPLE) {
        size_t offset = HEADER_SIZE + 8 * (size_t)__builtin_popcountll(
                                              type_bits & (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID));
        return offset + 8 <= size ? offset : SIZE_MAX;
    }
    size_t trailer = get_trailer_size(layout);
    if (size < HEADER_SIZE + trailer || size % 8)
        return SIZE_MAX;
    return size - trailer + (has_any_bit(type_bits, PERF_SAMPLE_TID) ? 8 : 0);
}

uint64_t perf_record_read_sample_id(const struct perf_layout *layout, const void *bytes, size_t size)
{
    struct cursor c = cursor_of(bytes, size);
    uint32_t type = cursor_u32(&c);
    cursor_u32(&c); /* misc, size */
    if (type != PERF_RECORD_SAMPLE || !has_any_bit(layout->sample_type, PERF_SAMPLE_ID))
        return 0;
    uint64_t fields = layout->sample_type &
                      (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR);
    cursor_bytes(&c, 8 * (uint64_t)__builtin_popcountll(fields));
    uint64_t id = cursor_u64(&c);
    return c.failed ? 0 : id;
}

static void parse_trailer(const struct perf_layout *layout, struct cursor c, struct perf_record *record)
{
    if (has_any_bit(layout->sample_type, PERF_SAMPLE_TID)) {
        record->pid = cursor_u32(&c);
        record->tid = cursor_u32(&c);
    }
    if (has_any_bit(layout->sample_type, PERF_SAMPLE_TIME))
        record->time = cursor_u64(&c);
    if (has_any_bit(layout->sample_type, PERF_SAMPLE_ID))
        record->id = cursor_u64(&c);
    if (has_any_bit(layout->sample_type, PERF_SAMPLE_STREAM_ID))
        cursor_u64(&c);
    if (has_any_bit(layout->sample_type, PERF_SAMPLE_CPU))
        record->cpu = cursor_u32(&c);
}

static void parse_counter(const struct perf_layout *layout, struct cursor *c, struct perf_sample *sample)
{
    sample->value = cursor_u64(c);
    if (has_any_bit(layout->read_format, PERF_FORMAT_TOTAL_TIME_ENABLED))
        cursor_u64(c);
    if (has_any_bit(layout->read_format, PERF_FORMAT_TOTAL_TIME_RUNNING))
        sample->running = cursor_u64(c);
    if (has_any_bit(layout->read_format, PERF_FORMAT_ID))
        sample->id = cursor_u64(c);
    if (has_any_bit(layout->read_format, PERF_FORMAT_LOST))
        cursor_u64(c);
}

/* The fields have the order of perf_output_sample() in the kernel. */
void perf_sample_read_head(uint64_t type, struct cursor *c, struct perf_record *record)
{
    if (has_any_bit(type, PERF_SAMPLE_IDENTIFIER))
        record->id = cursor_u64(c);
    if (has_any_bit(type, PERF_SAMPLE_IP))
        record->sample.ip = cursor_u64(c);
    if (has_any_bit(type, PERF_SAMPLE_TID)) {
        record->pid = cursor_u32(c);
        record->tid = cursor_u32(c);
    }
    if (has_any_bit(type, PERF_SAMPLE_TIME))
        record->time = cursor_u64(c);
    if (has_any_bit(type, PERF_SAMPLE_ADDR))
        cursor_u64(c);
    if (has_any_bit(type, PERF_SAMPLE_ID))
        record->id = cursor_u64(c);
    if (has_any_bit(type, PERF_SAMPLE_STREAM_ID))
        cursor_u64(c);
    if (has_any_bit(type, PERF_SAMPLE_CPU)) {
        record->cpu = cursor_u32(c);
        cursor_u32(c);
    }
}

void perf_sample_read_callchain(struct perf_sample *sample, struct cursor *c)
{
    uint64_t length = cursor_u64(c);
    if (length > cursor_left(c) / 8) {
        c->failed = true;
        return;
    }
    sample->callchain = cursor_bytes(c, length * 8);
    sample->callchain_length = (size_t)length;
}

static void parse_registers(struct cursor *c, struct perf_sample *sample)
{
    sample->registers_abi = cursor_u64(c);
    if (sample->registers_abi == PERF_SAMPLE_REGS_ABI_NONE)
        return;
    for (unsigned i = 0; i < SAMPLE_REGISTERS; i++)
        sample->registers[sample_register_dwarf[i]] = cursor_u64(c);
}

void perf_sample_read_stack(struct perf_sample *sample, struct cursor *c)
{
    uint64_t room = cursor_u64(c);
    if (!room)
        return;
    const unsigned char *bytes = cursor_bytes(c, room);
    uint64_t copied = cursor_u64(c);
    if (c->failed || copied > room) {
        c->failed = true;
        return;
    }
    sample->stack = bytes;
    sample->stack_size = (size_t)copied;
    sample->stack_full = copied == room;
}

static void parse_sample(const struct perf_layout *layout, struct cursor *c, struct perf_record *record)
{
    struct perf_sample *sample = &record->sample;
    uint64_t type = layout->sample_type;
    perf_sample_read_head(type, c, record);
    if (has_any_bit(type, PERF_SAMPLE_PERIOD))
        sample->period = cursor_u64(c);
    if (has_any_bit(type, PERF_SAMPLE_READ))
        parse_counter(layout, c, sample);
    if (has_any_bit(type, PERF_SAMPLE_CALLCHAIN))
        perf_sample_read_callchain(sample, c);
    if (has_any_bit(type, PERF_SAMPLE_RAW))
        cursor_bytes(c, cursor_u32(c));
    if (has_any_bit(type, PERF_SAMPLE_REGS_USER))
        parse_registers(c, sample);
    if (has_any_bit(type, PERF_SAMPLE_STACK_USER))
        perf_sample_read_stack(sample, c);
}

static void parse_mapping(struct cursor *c, struct perf_record *record)
{
    struct perf_mapping *mapping = &record->mapping;
    record->pid = cursor_u32(c);
    record->tid = cursor_u32(c);
    mapping->start = cursor_u64(c);
    mapping->length = cursor_u64(c);
    mapping->file_offset = cursor_u64(c);
    if (record->misc & PERF_RECORD_MISC_MMAP_BUILD_ID) {
        mapping->has_build_id = true;
        size_t size = cursor_u8(c);
        cursor_bytes(c, 3);
        const unsigned char *id = cursor_bytes(c, sizeof(mapping->build_id));
        if (id && size <= sizeof(mapping->build_id)) {
            memcpy(mapping->build_id, id, size);
            mapping->build_id_size = size;
        }
    } else {
        mapping->device_major = cursor_u32(c);
        mapping->device_minor = cursor_u32(c);
        mapping->inode = cursor_u64(c);
        mapping->generation = cursor_u64(c);
    }
    mapping->executable = cursor_u32(c) & PROT_EXEC;
    cursor_u32(c); /* flags */
    mapping->path = cursor_string(c);
}

static void parse_kernel_symbol(struct cursor *c, struct perf_kernel_symbol *symbol)
{
    symbol->start = cursor_u64(c);
    symbol->length = cursor_u32(c);
    cursor_u16(c); /* type of code (BPF, out of line) */
    symbol->is_removed = cursor_u16(c) & PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER;
    symbol->name = cursor_string(c);
}

static void parse_task(struct cursor *c, struct perf_record *record)
{
    record->pid = cursor_u32(c);
    record->task.parent_pid = cursor_u32(c);
    record->tid = cursor_u32(c);
    record->task.parent_tid = cursor_u32(c);
    record->time = cursor_u64(c);
}

int perf_record_parse(const struct perf_layout *layout, const void *bytes, size_t size, struct perf_record *record)
{
    memset(record, 0, sizeof(*record));
    struct cursor c = cursor_of(bytes, size);
    record->type = cursor_u32(&c);
    record->misc = cursor_u16(&c);
    cursor_u16(&c); /* the size: perf_ring_peek() has already read it */
    if (record->type == PERF_RECORD_SAMPLE) {
        parse_sample(layout, &c, record);
        return c.failed ? -EINVAL : 0;
    }

    size_t trailer = get_trailer_size(layout);
    if (c.failed || cursor_left(&c) < trailer)
        return -EINVAL;
    c.end -= trailer;
    parse_trailer(layout, cursor_of(c.end, trailer), record);
    switch (record->type) {
    case PERF_RECORD_MMAP2:
        parse_mapping(&c, record);
        break;
    case PERF_RECORD_KSYMBOL:
        parse_kernel_symbol(&c, &record->kernel_symbol);
        break;
    case PERF_RECORD_COMM:
        record->pid = cursor_u32(&c);
        record->tid = cursor_u32(&c);
        record->comm.name = cursor_string(&c);
        record->comm.exec = record->misc & PERF_RECORD_MISC_COMM_EXEC;
        break;
    case PERF_RECORD_FORK:
    case PERF_RECORD_EXIT:
        parse_task(&c, record);
        break;
    case PERF_RECORD_SWITCH:
    case PERF_RECORD_SWITCH_CPU_WIDE: /* the record also has the other thread */
        record->context_switch.out = record->misc & PERF_RECORD_MISC_SWITCH_OUT;
        record->context_switch.preempted = record->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT;
        break;
    case PERF_RECORD_LOST:
        cursor_u64(&c); /* id of the event */
        record->lost = cursor_u64(&c);
        break;
    case PERF_RECORD_LOST_SAMPLES:
        record->lost = cursor_u64(&c);
        break;
    default:
        break;
    }
    return c.failed ? -EINVAL : 0;
}
