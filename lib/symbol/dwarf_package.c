#include "symbol/dwarf_package.h"

#include <dwarf.h>

/* Offsets of the parts of an index in its section. */
struct index_layout {
    uint16_t version;
    uint32_t columns, units, slots;
    uint64_t ids, rows, kinds, offsets, sizes;
};

static bool read_layout(const struct bytes *index, struct index_layout *layout)
{
    enum { HEADER_SIZE = 16, COLUMNS_MAX = 16 };
    unsigned char raw[HEADER_SIZE];
    if (!bytes_read(index, 0, raw, sizeof(raw)))
        return false;
    struct cursor c = cursor_of(raw, sizeof(raw));
    layout->version = cursor_u16(&c); /* the version has 32 bits in version 2, and 16 bits with padding in version 5 */
    cursor_u16(&c);
    layout->columns = cursor_u32(&c);
    layout->units = cursor_u32(&c);
    layout->slots = cursor_u32(&c);
    uint64_t cells = (uint64_t)layout->columns * layout->units;
    layout->ids = HEADER_SIZE;
    layout->rows = layout->ids + UINT64_C(8) * layout->slots;
    layout->kinds = layout->rows + UINT64_C(4) * layout->slots;
    layout->offsets = layout->kinds + UINT64_C(4) * layout->columns;
    layout->sizes = layout->offsets + 4 * cells;
    return (layout->version == 2 || layout->version == 5) && layout->columns <= COLUMNS_MAX && layout->slots > 0;
}

static bool read_u32(const struct bytes *index, uint64_t at, uint32_t *value)
{
    unsigned char raw[4];
    if (!bytes_read(index, at, raw, sizeof(raw)))
        return false;
    struct cursor c = cursor_of(raw, sizeof(raw));
    *value = cursor_u32(&c);
    return true;
}

/* Returns the 1-based row of the unit, or 0. */
static uint32_t find_row(const struct bytes *index, const struct index_layout *layout, uint64_t id)
{
    uint32_t mask = layout->slots - 1, slot = (uint32_t)id & mask, step = ((uint32_t)(id >> 32) & mask) | 1;
    for (uint32_t probes = 0; probes < layout->slots; probes++, slot = (slot + step) & mask) {
        unsigned char raw[8];
        uint32_t row;
        if (!bytes_read(index, layout->ids + UINT64_C(8) * slot, raw, sizeof(raw)) ||
            !read_u32(index, layout->rows + UINT64_C(4) * slot, &row))
            return 0;
        struct cursor c = cursor_of(raw, sizeof(raw));
        if (row == 0)
            return 0;
        if (cursor_u64(&c) == id)
            return row <= layout->units ? row : 0;
    }
    return 0;
}

static enum dwarf_section find_section(uint16_t version, uint32_t kind)
{
    switch (kind) {
    case DW_SECT_INFO:
        return DWARF_INFO;
    case DW_SECT_ABBREV:
        return DWARF_ABBREV;
    case DW_SECT_STR_OFFSETS:
        return DWARF_STR_OFFSETS;
    case DW_SECT_RNGLISTS:
        return version >= 5 ? DWARF_RNGLISTS : DWARF_SECTIONS;
    default:
        return DWARF_SECTIONS;
    }
}

bool dwarf_package_select(const struct bytes *index, uint64_t id, struct bytes sections[DWARF_SECTIONS])
{
    struct index_layout layout;
    uint32_t row = read_layout(index, &layout) ? find_row(index, &layout, id) : 0;
    if (row == 0)
        return false;
    for (uint32_t column = 0; column < layout.columns; column++) {
        uint64_t cell = 4 * ((uint64_t)(row - 1) * layout.columns + column);
        uint32_t kind, offset, size;
        if (!read_u32(index, layout.kinds + UINT64_C(4) * column, &kind) ||
            !read_u32(index, layout.offsets + cell, &offset) || !read_u32(index, layout.sizes + cell, &size))
            return false;
        enum dwarf_section section = find_section(layout.version, kind);
        if (section != DWARF_SECTIONS)
            sections[section] = bytes_get_part(&sections[section], offset, size);
    }
    return true;
}
