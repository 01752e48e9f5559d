#include "sample/tracepoint.h"

#include "arch/dwarf_registers.h"
#include "base/cursor.h"

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

uint64_t tracepoint_get_sample_type(bool have_ids, bool has_stack)
{
    return PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_RAW |
           (have_ids ? PERF_SAMPLE_ID : 0) | (has_stack ? PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER : 0);
}

int tracepoint_open(uint64_t id, uint32_t cpu, bool have_ids, size_t ring_size, uint32_t stack_size)
{
    struct perf_event_attr attr = {
        .type = PERF_TYPE_TRACEPOINT,
        .size = sizeof(attr),
        .config = id,
        .sample_period = 1,
        .sample_type = tracepoint_get_sample_type(have_ids, stack_size != 0),
        .sample_id_all = 1,
        .sample_regs_user = stack_size ? SAMPLE_REGISTERS_MASK : 0,
        .sample_stack_user = stack_size,
        .watermark = 1,
        .wakeup_watermark = (uint32_t)(ring_size / 4),
        .use_clockid = 1,
        .clockid = CLOCK_MONOTONIC,
    };
    long fd = syscall(SYS_perf_event_open, &attr, -1, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);
    return fd < 0 ? -errno : (int)fd;
}

bool tracepoint_parse(struct tracepoint_record *record, const void *bytes, size_t size, bool have_ids)
{
    struct cursor c = cursor_of(bytes, size);
    uint32_t type = cursor_u32(&c);
    cursor_u32(&c); /* misc, size */
    cursor_u64(&c); /* ip */
    *record = (struct tracepoint_record){.pid = cursor_u32(&c)};
    record->tid = cursor_u32(&c);
    record->time = cursor_u64(&c);
    if (have_ids)
        cursor_u64(&c);
    cursor_u64(&c); /* cpu */
    record->size = cursor_u32(&c);
    record->fields = cursor_bytes(&c, record->size);
    return !c.failed && type == PERF_RECORD_SAMPLE;
}

static struct cursor find_field(const struct tracepoint_record *record, size_t offset)
{
    return offset < record->size ? cursor_of(record->fields + offset, record->size - offset) : cursor_of(NULL, 0);
}

uint8_t tracepoint_read_u8(const struct tracepoint_record *record, size_t offset, bool *failed)
{
    struct cursor c = find_field(record, offset);
    uint8_t value = cursor_u8(&c);
    *failed |= c.failed;
    return value;
}

uint32_t tracepoint_read_u32(const struct tracepoint_record *record, size_t offset, bool *failed)
{
    struct cursor c = find_field(record, offset);
    uint32_t value = cursor_u32(&c);
    *failed |= c.failed;
    return value;
}
