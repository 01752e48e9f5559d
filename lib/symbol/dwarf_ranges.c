#include "symbol/dwarf_ranges.h"

#include <dwarf.h>

static bool visit_range(dwarf_range_visitor *visit, void *context, uint64_t start, uint64_t end)
{
    return start == 0 || start >= end || visit(context, start, end);
}

/* Visits a list of .debug_ranges (DWARF 4, 2.17.3), which has pairs of addresses relative to a base. The largest
 * address selects a new base. */
static void visit_debug_ranges(struct dwarf_unit_reader *reader, uint64_t offset, dwarf_range_visitor *visit,
                               void *context)
{
    uint8_t size = reader->unit->address_size;
    uint64_t selects_base = size == 8 ? UINT64_MAX : UINT32_MAX;
    uint64_t base = reader->low_pc;
    for (; reader->work_left; reader->work_left--, offset += 2u * size) {
        struct cursor c = window_read_at(&reader->ranges, offset, 2u * size);
        uint64_t start = dwarf_read_sized(&c, size), end = dwarf_read_sized(&c, size);
        if (c.failed)
            dwarf_stop_reading(reader, DWARF_DAMAGED);
        if (c.failed || (start == 0 && end == 0))
            return;
        if (start == selects_base)
            base = end;
        else if (start < end && !visit_range(visit, context, base + start, base + end))
            return;
    }
}

static uint64_t read_indexed_address(struct dwarf_unit_reader *reader, struct cursor *c)
{
    uint64_t address = 0;
    struct dwarf_value value = {.form = DW_FORM_addrx, .number = cursor_uleb(c)};
    if (!dwarf_value_get_address(reader, value, &address))
        c->failed = true;
    return address;
}

/* Visits a list of .debug_rnglists (DWARF 5, 2.17.3). */
static void visit_rnglists(struct dwarf_unit_reader *reader, uint64_t offset, dwarf_range_visitor *visit, void *context)
{
    enum { LARGEST_ENTRY = 24 };
    uint8_t size = reader->unit->address_size;
    uint64_t base = reader->low_pc;
    bool base_was_dropped = false;
    for (; reader->work_left; reader->work_left--) {
        struct cursor c = window_read_at(&reader->ranges, offset, LARGEST_ENTRY);
        const unsigned char *entry = c.at;
        uint64_t start = 0, end = 0;
        switch (cursor_u8(&c)) {
        case DW_RLE_end_of_list:
            return;
        case DW_RLE_base_addressx:
            base = read_indexed_address(reader, &c);
            base_was_dropped = base == 0;
            break;
        case DW_RLE_startx_endx:
            start = read_indexed_address(reader, &c);
            end = read_indexed_address(reader, &c);
            break;
        case DW_RLE_startx_length:
            start = read_indexed_address(reader, &c);
            end = start + cursor_uleb(&c);
            break;
        case DW_RLE_offset_pair:
            start = base + cursor_uleb(&c);
            end = base + cursor_uleb(&c);
            if (base_was_dropped)
                start = 0;
            break;
        case DW_RLE_base_address:
            base = dwarf_read_sized(&c, size);
            base_was_dropped = base == 0;
            break;
        case DW_RLE_start_end:
            start = dwarf_read_sized(&c, size);
            end = dwarf_read_sized(&c, size);
            break;
        case DW_RLE_start_length:
            start = dwarf_read_sized(&c, size);
            end = start + cursor_uleb(&c);
            break;
        default:
            dwarf_stop_reading(reader, c.failed ? DWARF_DAMAGED : DWARF_DECLINED);
            return;
        }
        if (c.failed)
            dwarf_stop_reading(reader, DWARF_DAMAGED);
        if (c.failed || !visit_range(visit, context, start, end))
            return;
        offset += (uint64_t)(c.at - entry);
    }
}

/* Finds the offset of a list. DW_FORM_rnglistx is an index into the offsets at the unit's base in .debug_rnglists. */
static bool find_list_offset(struct dwarf_unit_reader *reader, struct dwarf_value ranges, uint64_t *offset)
{
    *offset = ranges.number;
    if (ranges.form != DW_FORM_rnglistx)
        return true;
    uint8_t size = reader->unit->offset_size;
    if (ranges.number > UINT32_MAX)
        return false;
    struct cursor c = window_read_at(&reader->ranges, reader->rnglists_base + ranges.number * size, size);
    *offset = reader->rnglists_base + dwarf_read_sized(&c, size);
    if (c.failed)
        dwarf_stop_reading(reader, DWARF_DAMAGED);
    return !c.failed;
}

static bool is_address_form(uint16_t form)
{
    return form == DW_FORM_addr || (form >= DW_FORM_addrx1 && form <= DW_FORM_addrx4) || form == DW_FORM_addrx ||
           form == DW_FORM_GNU_addr_index;
}

void dwarf_ranges_visit(struct dwarf_unit_reader *reader, const struct dwarf_code *code, dwarf_range_visitor *visit,
                        void *context)
{
    uint64_t start, end, offset;
    if (code->ranges.form) {
        if (!find_list_offset(reader, code->ranges, &offset))
            return;
        if (reader->unit->version >= 5)
            visit_rnglists(reader, offset, visit, context);
        else
            visit_debug_ranges(reader, reader->ranges_base + offset, visit, context);
        return;
    }
    if (!code->high.form || !dwarf_value_get_address(reader, code->low, &start))
        return;
    if (!is_address_form(code->high.form))
        end = start + code->high.number; /* since DWARF 4 a size */
    else if (!dwarf_value_get_address(reader, code->high, &end))
        return;
    visit_range(visit, context, start, end);
}
