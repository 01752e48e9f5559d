#include "process/jit_records.h"

enum { FLAG_ARCH_CLOCK = 1 };

int jit_read_header(struct cursor *c, struct jit_header *header, struct error *err)
{
    const unsigned char *magic = cursor_bytes(c, 4);
    uint32_t version = cursor_u32(c);
    header->size = cursor_u32(c);
    header->machine = (uint16_t)cursor_u32(c);
    cursor_bytes(c, 16); /* pad, pid, time: V8 writes a time of another clock in the header than in the records */
    header->has_own_clock = cursor_u64(c) & FLAG_ARCH_CLOCK;
    if (c->failed || memcmp(magic, "DTiJ", 4) != 0 || header->size < JIT_HEADER_SIZE)
        return error_set(err, EINVAL, "this is not a jitdump file for this processor architecture");
    if (version != 1)
        return error_set(err, EINVAL, "this jitdump file has version %u; prof reads version 1", version);
    return 0;
}

bool jit_record_read(struct cursor *c, struct jit_record *record)
{
    record->kind = cursor_u32(c);
    record->size = cursor_u32(c);
    record->time = cursor_u64(c);
    return !c->failed && record->size >= JIT_RECORD_HEAD;
}

bool jit_load_read(struct cursor *c, struct jit_load *load)
{
    cursor_bytes(c, 16); /* pid, tid, vma */
    load->start = cursor_u64(c);
    load->size = cursor_u64(c);
    load->index = cursor_u64(c);
    return !c->failed;
}

bool jit_move_read(struct cursor *c, struct jit_move *move)
{
    cursor_bytes(c, 16);
    move->from = cursor_u64(c);
    move->to = cursor_u64(c);
    move->size = cursor_u64(c);
    move->index = cursor_u64(c);
    return !c->failed;
}

bool jit_unwind_read(struct cursor *c, struct jit_unwind *unwind)
{
    unwind->size = cursor_u64(c);
    unwind->header_size = cursor_u64(c);
    cursor_u64(c); /* size of the mapping in the program */
    return !c->failed && unwind->header_size <= unwind->size;
}
