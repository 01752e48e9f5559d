#include "language/python_layout.h"

#include "base/cursor.h"

/* Offsets come from offsetof() with the headers of CPython 3.11.7 and 3.12.1, and 3.13.0 for fields that
 * _Py_DebugOffsets lacks. */
static const struct python_layout layout_311 = {
    .grouping = PYTHON_CFRAMES,
    .interpreters = 40,
    .threads = 16,
    .next_thread = 8,
    .interpreter = 16,
    .native_thread_id = 160,
    .current = 56,
    .has_cframes = true,
    .cframe_current = 8,
    .cframe_previous = 16,
    .previous = 48,
    .code = 32,
    .instruction = 56,
    .owner = 69,
    .is_entry = 68,
    .filename = 112,
    .qualname = 128,
    .line_table = 136,
    .first_line = 72,
    .bytecode = 184,
    .text_state = 32,
    .text_length = 16,
    .text_ascii = 48,
    .text_compact = 72,
};

static const struct python_layout layout_312 = {
    .grouping = PYTHON_SHIMS,
    .interpreters = 40,
    .threads = 72,
    .next_thread = 8,
    .interpreter = 16,
    .native_thread_id = 144,
    .current = 56,
    .has_cframes = true,
    .cframe_current = 0,
    .cframe_previous = 8,
    .previous = 8,
    .code = 0,
    .instruction = 56,
    .owner = 70,
    .shim_owner = 3,
    .filename = 112,
    .qualname = 128,
    .line_table = 136,
    .first_line = 68,
    .bytecode = 192,
    .version = 92,
    .text_state = 32,
    .text_length = 16,
    .text_ascii = 40,
    .text_compact = 56,
};

enum { OFFSET_MAX = 1 << 20 }; /* limit of a field offset; the structs are smaller */

static void read_offset(struct cursor *at, uint32_t *offset)
{
    uint64_t value = cursor_u64(at);
    at->failed |= value > OFFSET_MAX;
    *offset = (uint32_t)value;
}

static void skip_offsets(struct cursor *at, size_t count)
{
    cursor_bytes(at, count * sizeof(uint64_t));
}

/* The fields of _Py_DebugOffsets in 3.13, each a u64. */
static bool read_offsets_313(struct cursor *at, struct python_layout *layout)
{
    skip_offsets(at, 2); /* runtime: size, finalizing */
    read_offset(at, &layout->interpreters);
    skip_offsets(at, 2); /* interpreter: size, id */
    read_offset(at, &layout->next_interpreter);
    read_offset(at, &layout->threads);
    skip_offsets(at, 9 + 2); /* other fields of the interpreter; thread: size, previous */
    read_offset(at, &layout->next_thread);
    read_offset(at, &layout->interpreter);
    read_offset(at, &layout->current);
    skip_offsets(at, 1); /* thread_id */
    read_offset(at, &layout->native_thread_id);
    skip_offsets(at, 2 + 1); /* its others; frame: size */
    read_offset(at, &layout->previous);
    read_offset(at, &layout->code);
    read_offset(at, &layout->instruction);
    skip_offsets(at, 1); /* localsplus */
    read_offset(at, &layout->owner);
    skip_offsets(at, 1); /* code: size */
    read_offset(at, &layout->filename);
    skip_offsets(at, 1); /* name */
    read_offset(at, &layout->qualname);
    read_offset(at, &layout->line_table);
    read_offset(at, &layout->first_line);
    skip_offsets(at, 3); /* argcount, localsplusnames, localspluskinds */
    read_offset(at, &layout->bytecode);
    skip_offsets(at, 2 + 4 + 3 + 3 + 3 + 2 + 3 + 3 + 1); /* fields of other objects; unicode: size */
    read_offset(at, &layout->text_state);
    read_offset(at, &layout->text_length);
    read_offset(at, &layout->text_ascii);
    return !at->failed;
}

static int find_layout_313(struct python_layout *layout, uint32_t version, const unsigned char *runtime,
                           struct error *err)
{
    struct cursor at = cursor_of(runtime, PYTHON_DEBUG_OFFSETS_SIZE);
    const unsigned char *cookie = cursor_bytes(&at, 8);
    uint64_t stored_version = cursor_u64(&at), is_free_threaded = cursor_u64(&at);
    *layout = layout_312;
    layout->has_cframes = false;
    layout->points_to_next = true;
    layout->text_compact = 56;
    if (!cookie || memcmp(cookie, "xdebugpy", 8) != 0 || stored_version != version || !read_offsets_313(&at, layout))
        return error_set(err, ENOTSUP, "_PyRuntime has implausible values");
    if (is_free_threaded)
        return error_set(err, ENOTSUP, "prof cannot read the frames of Python without a GIL");
    return 0;
}

int python_layout_find(struct python_layout *layout, uint32_t version, const unsigned char *runtime, struct error *err)
{
    switch (version >> 16) {
    case 0x030b:
        *layout = layout_311;
        return 0;
    case 0x030c:
        *layout = layout_312;
        return 0;
    case 0x030d:
        return find_layout_313(layout, version, runtime, err);
    default:
        return error_set(err, ENOTSUP, "this is Python %u.%u; prof reads the frames of Python 3.11, 3.12 and 3.13",
                         version >> 24, version >> 16 & 0xff);
    }
}
