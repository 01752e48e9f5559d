#include "process/jitdump_unwind.h"

#include "process/jit_records.h"

#include <unistd.h>

/* Limits for damaged and hostile files, far more than any program needs. */
enum { MAPPINGS_MAX = 1 << 16, BYTES_MAX = 64 << 20, BYTES_OF_ONE_MAX = 1 << 20, CODE_MAX = 64 << 20 };

enum { RECORDS_AT_ONCE = 128 }; /* limit of bytes per call, some milliseconds; the next sample reads later records */

struct jitdump_unwind {
    int fd;
    bool has_ended; /* no more records follow */
    uint64_t at;    /* offset of the next record, or 0 (the header) */
    size_t bytes;   /* of all frames so far */

    unsigned char *next_frames; /* of the next code, or NULL */
    size_t next_size;
};

struct jitdump_unwind *jitdump_unwind_new(int fd)
{
    struct jitdump_unwind *frames = calloc(1, sizeof(*frames));
    if (frames)
        frames->fd = fd;
    return frames;
}

void jitdump_unwind_free(struct jitdump_unwind *frames)
{
    if (frames)
        free(frames->next_frames);
    free(frames);
}

/* ---- the mappings of the process ---- */

static bool is_compiled(const struct mapping *mapping)
{
    return mapping && mapping->lib == MAPPING_NO_LIB;
}

/* Drops the frames of a range: the range now has other code without known frames. */
static bool drop_range(struct address_space *space, uint64_t start, uint64_t end)
{
    struct mapping plain = {.start = start, .end = end, .lib = MAPPING_NO_LIB};
    const struct mapping *at = address_space_find(space, start);
    while (is_compiled(at) && !at->module && at->end < end)
        at = address_space_find(space, at->end);
    return !is_compiled(at) || !at->module || address_space_map(space, &plain);
}

/* Whether no library is mapped in a range: a jitdump file must not replace the code of libraries. */
static bool is_free_for_code(const struct address_space *space, uint64_t start, uint64_t size)
{
    return size && size <= CODE_MAX && start <= UINT64_MAX - CODE_MAX &&
           !address_space_has_file(space, start, start + size);
}

/* ---- records ---- */

static void drop_next_frames(struct jitdump_unwind *frames)
{
    free(frames->next_frames);
    frames->next_frames = NULL;
}

static bool map_load(struct jitdump_unwind *frames, struct address_space *space, const struct jit_load *load)
{
    struct mapping code = {.start = load->start, .end = load->start + load->size, .lib = MAPPING_NO_LIB};
    bool ok = true;
    if (is_free_for_code(space, load->start, load->size)) {
        if (frames->next_frames && space->count < MAPPINGS_MAX)
            ok = unwind_module_open_jit_code(&code.module, frames->next_frames, frames->next_size, load->start,
                                             load->size, NULL) != -ENOMEM;
        ok = ok && (code.module ? address_space_map(space, &code) : drop_range(space, code.start, code.end));
    }
    if (code.module) {
        frames->bytes += frames->next_size;
        unwind_module_unref(code.module);
    }
    drop_next_frames(frames);
    return ok;
}

static bool map_move(struct address_space *space, const struct jit_move *move)
{
    if (!is_free_for_code(space, move->from, move->size) || !is_free_for_code(space, move->to, move->size))
        return true;
    const struct mapping *from = address_space_find(space, move->from);
    struct mapping to = {.start = move->to, .end = move->to + move->size, .lib = MAPPING_NO_LIB};
    if (!from || !from->module)
        return drop_range(space, to.start, to.end);
    to.rva = from->rva + (move->from - from->start);
    to.module = unwind_module_ref(from->module);
    bool ok = drop_range(space, move->from, move->from + move->size) && address_space_map(space, &to);
    unwind_module_unref(to.module);
    return ok;
}

/* Returns false if the record is incomplete. */
static bool read_unwind(struct jitdump_unwind *frames, const struct jit_unwind *unwind, uint64_t at)
{
    size_t size = (size_t)(unwind->size - unwind->header_size);
    drop_next_frames(frames);
    if (!size || size > BYTES_OF_ONE_MAX || size > BYTES_MAX - frames->bytes)
        return true;
    unsigned char *bytes = malloc(size);
    if (bytes && pread(frames->fd, bytes, size, (off_t)at) != (ssize_t)size) {
        free(bytes);
        return false;
    }
    frames->next_frames = bytes;
    frames->next_size = size;
    return true;
}

/* ---- the file ---- */

static bool read_header(struct jitdump_unwind *frames)
{
    unsigned char bytes[JIT_HEADER_SIZE];
    struct jit_header header;
    if (pread(frames->fd, bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
        return false;
    struct cursor c = cursor_of(bytes, sizeof(bytes));
    frames->has_ended = jit_read_header(&c, &header, NULL) != 0;
    frames->at = header.size;
    return !frames->has_ended;
}

/* Reads the next record. Returns false if no record is left, or the record is incomplete. */
static bool read_record(struct jitdump_unwind *frames, struct address_space *space)
{
    unsigned char bytes[JIT_RECORD_HEAD + JIT_MOVE_SIZE];
    struct jit_record record;
    struct jit_load load;
    struct jit_move move;
    struct jit_unwind unwind;
    ssize_t got = pread(frames->fd, bytes, sizeof(bytes), (off_t)frames->at);
    if (got < JIT_RECORD_HEAD)
        return false;
    struct cursor c = cursor_of(bytes, (size_t)got);
    bool is_known = jit_record_read(&c, &record), ok = true;
    if (is_known && record.kind == JIT_LOAD && record.size >= JIT_RECORD_HEAD + JIT_LOAD_SIZE) {
        if (!jit_load_read(&c, &load))
            return false;
        ok = map_load(frames, space, &load);
    } else if (is_known && record.kind == JIT_MOVE && record.size >= JIT_RECORD_HEAD + JIT_MOVE_SIZE) {
        if (!jit_move_read(&c, &move))
            return false;
        ok = map_move(space, &move);
    } else if (is_known && record.kind == JIT_UNWIND && record.size >= JIT_RECORD_HEAD + JIT_UNWIND_SIZE) {
        if (cursor_left(&c) < JIT_UNWIND_SIZE)
            return false;
        bool fits = jit_unwind_read(&c, &unwind) && unwind.size <= record.size - JIT_RECORD_HEAD - JIT_UNWIND_SIZE;
        if (fits && !read_unwind(frames, &unwind, frames->at + JIT_RECORD_HEAD + JIT_UNWIND_SIZE))
            return false;
    }
    frames->has_ended = !is_known || !ok || record.kind == JIT_CLOSE;
    frames->at += record.size;
    return !frames->has_ended;
}

void jitdump_unwind_follow(struct jitdump_unwind *frames, struct address_space *space)
{
    if (frames->has_ended || (!frames->at && !read_header(frames)))
        return;
    for (unsigned i = 0; i < RECORDS_AT_ONCE && read_record(frames, space); i++)
        ;
}
