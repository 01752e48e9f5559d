/*
 * Parses jitdump files, in which a JIT compiler describes its code. The file has a header and records, each with its
 * size and time:
 *
 *     header    := "DTiJ" version size machine pad pid  time flags       (u32 but for the last two; flag 1: the times
 *                                                                         are of the processor's own clock)
 *     record    := kind (u32) size (u32) time (u64) body
 *     LOAD 0    := pid tid (u32)  vma address size index (u64)  name NUL  code
 *     MOVE 1    := pid tid (u32)  vma old-address new-address size index (u64)
 *     DEBUG 2   := address count (u64)  count * { address (u64) line column (u32) file NUL }   of the next LOAD there;
 *                                                                         file "\xff": the same as before
 *     CLOSE 3   := nothing
 *     UNWIND 4  := size header-size mapped-size (u64)  bytes              of the next LOAD
 *
 * The bytes of UNWIND are an .eh_frame followed by its .eh_frame_hdr of header-size bytes. (The specification has the
 * opposite order, but perf reads, and V8 and Python write, the order given here.) Their addresses are relative to an
 * .eh_frame that follows the code, at the next multiple of 8.
 *
 * Sources: tools/perf/Documentation/jitdump-specification.txt, and genelf.c beside it, of Linux.
 */
#pragma once

#include "base/cursor.h"
#include "base/error.h"

enum jit_record_kind { JIT_LOAD, JIT_MOVE, JIT_DEBUG, JIT_CLOSE, JIT_UNWIND };

/* Sizes in bytes of the parts with a fixed size. */
enum { JIT_HEADER_SIZE = 40, JIT_RECORD_HEAD = 16, JIT_LOAD_SIZE = 40, JIT_MOVE_SIZE = 48, JIT_UNWIND_SIZE = 24 };

struct jit_header {
    uint32_t size;    /* bytes up to the first record, at least JIT_HEADER_SIZE */
    uint16_t machine; /* machine as in ELF files, such as EM_X86_64 */
    bool has_own_clock;
};

/* Reads the header. -EINVAL if the file is not a jitdump file, or has an unknown version. */
int jit_read_header(struct cursor *c, struct jit_header *header, struct error *err);

struct jit_record {
    uint32_t kind; /* enum jit_record_kind, or an unknown kind */
    uint32_t size; /* bytes, including JIT_RECORD_HEAD */
    uint64_t time;
};

/* Reads the head of a record. Returns false if it is truncated or has an impossible size. */
bool jit_record_read(struct cursor *c, struct jit_record *record);

struct jit_load {
    uint64_t start, size; /* address and size in bytes of the code */
    uint64_t index;       /* index of the code in this file */
};

/* Reads the body of the record up to the name. Returns false if it is truncated. */
bool jit_load_read(struct cursor *c, struct jit_load *load);

struct jit_move {
    uint64_t from, to, size, index;
};

bool jit_move_read(struct cursor *c, struct jit_move *move);

struct jit_unwind {
    uint64_t size;        /* bytes that follow */
    uint64_t header_size; /* bytes of the .eh_frame_hdr at the end of the unwind information */
};

/* Returns false if the record is truncated, or its header is larger than the record. */
bool jit_unwind_read(struct cursor *c, struct jit_unwind *unwind);
