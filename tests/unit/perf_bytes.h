/* Perf records made by hand, as the kernel would write them with the layout below. */
#pragma once

#include "sample/perf_record.h"

#include <linux/perf_event.h>
#include <stdint.h>
#include <string.h>

static const struct perf_layout test_layout = {
    .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD |
                   PERF_SAMPLE_READ | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
    .read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING | PERF_FORMAT_ID | PERF_FORMAT_LOST,
};

struct record_bytes {
    unsigned char bytes[4096];
    size_t size;
};

static inline void put_bytes(struct record_bytes *record, const void *bytes, size_t size)
{
    memcpy(record->bytes + record->size, bytes, size);
    record->size += size;
}

static inline void put_u64(struct record_bytes *record, uint64_t value)
{
    put_bytes(record, &value, sizeof(value));
}

static inline void put_u32s(struct record_bytes *record, uint32_t first, uint32_t second)
{
    put_bytes(record, &first, sizeof(first));
    put_bytes(record, &second, sizeof(second));
}

/* NUL-terminated and filled up to a multiple of 8 bytes. */
static inline void put_text(struct record_bytes *record, const char *text)
{
    char padded[256] = "";
    strncpy(padded, text, sizeof(padded) - 1);
    put_bytes(record, padded, (strlen(padded) + 8) & ~(size_t)7);
}

static inline void put_header(struct record_bytes *record, uint32_t type, uint16_t misc)
{
    struct perf_event_header header = {.type = type, .misc = misc};
    record->size = 0;
    put_bytes(record, &header, sizeof(header));
}

static inline void finish(struct record_bytes *record)
{
    uint16_t size = (uint16_t)record->size;
    memcpy(record->bytes + 6, &size, sizeof(size));
}

static inline void put_trailer(struct record_bytes *record, uint32_t pid, uint32_t tid, uint64_t time)
{
    put_u32s(record, pid, tid);
    put_u64(record, time);
    put_u32s(record, 3, 0); /* CPU */
    finish(record);
}

static inline void make_task(struct record_bytes *record, uint32_t type, uint32_t pid, uint32_t parent_pid,
                             uint32_t tid, uint32_t parent_tid, uint64_t time)
{
    put_header(record, type, 0);
    put_u32s(record, pid, parent_pid);
    put_u32s(record, tid, parent_tid);
    put_u64(record, time);
    put_trailer(record, pid, tid, time);
}

static inline void make_comm(struct record_bytes *record, uint32_t pid, uint32_t tid, const char *name, int exec,
                             uint64_t time)
{
    put_header(record, PERF_RECORD_COMM, exec ? PERF_RECORD_MISC_COMM_EXEC : 0);
    put_u32s(record, pid, tid);
    put_text(record, name);
    put_trailer(record, pid, tid, time);
}

static inline void make_mmap(struct record_bytes *record, uint32_t pid, uint64_t start, uint64_t length,
                             const char *path, uint32_t protection, uint64_t time)
{
    put_header(record, PERF_RECORD_MMAP2, 0);
    put_u32s(record, pid, pid);
    put_u64(record, start);
    put_u64(record, length);
    put_u64(record, 0x1000);
    put_u32s(record, 8, 1); /* device */
    put_u64(record, 4711);  /* inode */
    put_u64(record, 0);
    put_u32s(record, protection, 2);
    put_text(record, path);
    put_trailer(record, pid, pid, time);
}

static inline void make_lost(struct record_bytes *record, uint64_t lost, uint64_t time)
{
    put_header(record, PERF_RECORD_LOST, 0);
    put_u64(record, 1);
    put_u64(record, lost);
    put_trailer(record, 0, 0, time);
}

/* A sample with two kernel frames and a 64-byte stack of which `copied` bytes are there. */
static inline void make_sample(struct record_bytes *record, uint32_t pid, uint32_t tid, uint64_t time, uint64_t copied)
{
    unsigned char stack[64];
    for (size_t i = 0; i < sizeof(stack); i++)
        stack[i] = (unsigned char)i;
    put_header(record, PERF_RECORD_SAMPLE, 0);
    put_u64(record, 0x401000);
    put_u32s(record, pid, tid);
    put_u64(record, time);
    put_u32s(record, 3, 0);
    put_u64(record, 1000000); /* period */
    put_u64(record, 5000000); /* value, enabled, running, id, lost */
    put_u64(record, 6000000);
    put_u64(record, 5500000);
    put_u64(record, 77);
    put_u64(record, 0);
    put_u64(record, 3); /* call chain */
    put_u64(record, (uint64_t)PERF_CONTEXT_KERNEL);
    put_u64(record, 0xffffffff81001000);
    put_u64(record, 0xffffffff81002000);
    put_u64(record, PERF_SAMPLE_REGS_ABI_64);
    for (uint64_t i = 0; i < SAMPLE_REGISTERS; i++)
        put_u64(record, 100 + i);
    put_u64(record, sizeof(stack));
    put_bytes(record, stack, sizeof(stack));
    put_u64(record, copied);
    finish(record);
}
