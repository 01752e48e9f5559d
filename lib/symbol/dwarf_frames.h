/*
 * The result of a DWARF reader: for each requested address, the functions at the address, with their lines. prof's own
 * reader (lookup_unit.c) and the libdw reader (libdw_reader.h) both produce this result.
 */
#pragma once

#include "base/arena.h"
#include "base/array.h"

enum { DWARF_INLINES_MAX = 1024 }; /* per address */

/* Texts are in the arena of the frames, or NULL if unknown. */
struct dwarf_frame {
    const char *function, *file;
    uint32_t line, column; /* 1-based, or 0 if unknown */
    bool is_partial;       /* the name in the symbol table is better, see struct dwarf_name */
};

struct dwarf_frames {
    ARRAY(struct dwarf_frame) list; /* frames of each address, outermost first */
    /* for each address, index after the last frame of the address; the frames of address i begin at ends[i - 1] */
    uint32_t *ends;
    struct arena arena;
};

static inline uint32_t dwarf_frames_get_first(const struct dwarf_frames *frames, size_t i)
{
    return i ? frames->ends[i - 1] : 0;
}

/* Reverses the frames from index `first` to the end, because readers find the innermost frame first. */
static inline void dwarf_frames_reverse(struct dwarf_frames *frames, size_t first)
{
    for (size_t a = first, b = frames->list.length; a + 1 < b--; a++) {
        struct dwarf_frame swapped = frames->list.data[a];
        frames->list.data[a] = frames->list.data[b];
        frames->list.data[b] = swapped;
    }
}

static inline void dwarf_frames_destroy(struct dwarf_frames *frames)
{
    array_free(&frames->list);
    free(frames->ends);
    arena_destroy(&frames->arena);
    *frames = (struct dwarf_frames){.ends = NULL};
}
