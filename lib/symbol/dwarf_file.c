#include "symbol/dwarf_file.h"

#include "base/search.h"
#include "elf/elf_contents.h"
#include "symbol/dwarf_ranges.h"
#include "symbol/dwarf_unit.h"

#include <dwarf.h>

static const char *const section_names[DWARF_SECTIONS] = {
    [DWARF_INFO] = ".debug_info",
    [DWARF_ABBREV] = ".debug_abbrev",
    [DWARF_LINE] = ".debug_line",
    [DWARF_STR] = ".debug_str",
    [DWARF_LINE_STR] = ".debug_line_str",
    [DWARF_RANGES] = ".debug_ranges",
    [DWARF_RNGLISTS] = ".debug_rnglists",
    [DWARF_ADDR] = ".debug_addr",
    [DWARF_STR_OFFSETS] = ".debug_str_offsets",
    [DWARF_ARANGES] = ".debug_aranges",
};

/* The sections of a .dwo file. A split unit also needs .debug_addr and, before DWARF 5, .debug_ranges. These sections
 * stay in the linked file, because the linker fills them in. */
static const char *const split_section_names[DWARF_SECTIONS] = {
    [DWARF_INFO] = ".debug_info.dwo",
    [DWARF_ABBREV] = ".debug_abbrev.dwo",
    [DWARF_STR] = ".debug_str.dwo",
    [DWARF_RNGLISTS] = ".debug_rnglists.dwo",
    [DWARF_STR_OFFSETS] = ".debug_str_offsets.dwo",
};

/* Limit for all compressed sections of a file. In a hostile file, several sections may share their bytes. */
#define UNPACKED_MAX (UINT64_C(4) << 30)

/* Limit of units of a file. Chromium has 30,000 units; a hostile file could have a unit in every 12 bytes. */
enum { UNITS_MAX = 4 << 20 };

/* Reads an initial length (7.4): 32-bit, or 0xffffffff and 64-bit. Returns the size of offsets, or 0 if the value is
 * reserved. */
static uint8_t read_initial_length(struct cursor *c, uint64_t *length)
{
    *length = cursor_u32(c);
    if (*length == 0xffffffff) {
        *length = cursor_u64(c);
        return 8;
    }
    return *length < 0xfffffff0 ? 4 : 0;
}

static enum dwarf_verdict check_unit_header(const struct dwarf_unit *unit, bool is_cut)
{
    if (is_cut || unit->root > unit->end)
        return DWARF_DAMAGED;
    bool is_known = unit->version >= 2 && unit->version <= 5 && unit->type >= DW_UT_compile &&
                    unit->type <= DW_UT_split_type && (unit->address_size == 8 || unit->address_size == 4);
    return is_known ? DWARF_READ : DWARF_DECLINED;
}

/* Returns false at the end of the list, with the reason in the verdict (DWARF_READ at trailing zeros). */
static bool read_unit(struct window *info, uint64_t offset, struct dwarf_unit *unit)
{
    struct cursor c = window_read_at(info, offset, 64);
    const unsigned char *start = c.at;
    uint64_t length;
    *unit = (struct dwarf_unit){.offset = offset, .type = DW_UT_compile};
    unit->offset_size = read_initial_length(&c, &length);
    uint64_t after_length = offset + (uint64_t)(c.at - start);
    if (c.failed || unit->offset_size == 0 || length == 0 || length > info->bytes->size - after_length) {
        bool is_reserved = !c.failed && unit->offset_size == 0;
        unit->verdict = is_reserved ? DWARF_DECLINED : c.failed || length ? DWARF_DAMAGED : DWARF_READ;
        return false;
    }
    unit->end = after_length + length;
    unit->version = cursor_u16(&c);
    if (unit->version >= 5) {
        unit->type = cursor_u8(&c);
        unit->address_size = cursor_u8(&c);
    }
    unit->abbrev_offset = unit->offset_size == 8 ? cursor_u64(&c) : cursor_u32(&c);
    if (unit->version < 5)
        unit->address_size = cursor_u8(&c);
    if (unit->type == DW_UT_skeleton || unit->type == DW_UT_split_compile)
        unit->dwo_id = cursor_u64(&c);
    else if (unit->type == DW_UT_type || unit->type == DW_UT_split_type)
        cursor_bytes(&c, 8u + unit->offset_size); /* signature, offset of the type */
    unit->root = offset + (uint64_t)(c.at - start);
    unit->verdict = check_unit_header(unit, c.failed);
    return true;
}

static int read_units(struct dwarf_file *dwarf, struct error *err)
{
    struct window info = {.bytes = &dwarf->sections[DWARF_INFO], .step = 64};
    struct dwarf_unit unit;
    int code = 0;
    for (uint64_t at = 0; code == 0 && at < info.bytes->size && dwarf->units.length < UNITS_MAX; at = unit.end) {
        bool is_unit = read_unit(&info, at, &unit);
        if (unit.verdict > dwarf->verdict)
            dwarf->verdict = unit.verdict;
        if (!is_unit)
            break;
        if (!array_push(&dwarf->units, unit))
            code = error_no_memory(err);
    }
    window_destroy(&info);
    return code;
}

/* Loads .debug_abbrev, which is small and which all units need. */
static int load_abbrevs(struct dwarf_file *dwarf, struct error *err)
{
    struct bytes *abbrevs = &dwarf->sections[DWARF_ABBREV];
    if (abbrevs->memory || abbrevs->size == 0)
        return 0;
    dwarf->owned[DWARF_ABBREV] = bytes_load(abbrevs);
    if (!dwarf->owned[DWARF_ABBREV])
        return error_set(err, EIO, "cannot read section .debug_abbrev");
    *abbrevs = (struct bytes){.memory = dwarf->owned[DWARF_ABBREV], .size = abbrevs->size};
    return 0;
}

int dwarf_sections_load(struct bytes sections[DWARF_SECTIONS], unsigned char *owned[DWARF_SECTIONS],
                        const struct elf_file *file, bool split, struct error *err)
{
    const char *const *names = split ? split_section_names : section_names;
    uint64_t unpacked = 0;
    if (file->is_big_endian)
        return error_set(err, ENOTSUP, "prof does not read big-endian debug info");
    for (int i = 0; i < DWARF_SECTIONS; i++) {
        struct error why = {""};
        if (!names[i])
            continue;
        sections[i] = elf_file_load_contents(file, names[i], &owned[i], &why);
        if (why.text[0])
            return error_set(err, EINVAL, "%s", why.text);
        unpacked += owned[i] ? sections[i].size : 0;
        if (unpacked > UNPACKED_MAX)
            return error_set(err, E2BIG, "the decompressed debug info has more than %d GiB", (int)(UNPACKED_MAX >> 30));
    }
    return 0;
}

static int read_layout(struct dwarf_file *dwarf, struct error *err)
{
    int code = load_abbrevs(dwarf, err);
    if (code == 0)
        code = read_units(dwarf, err);
    if (code != 0)
        dwarf_file_close(dwarf);
    return code;
}

int dwarf_file_open(struct dwarf_file *dwarf, const struct elf_file *file, struct error *err)
{
    *dwarf = (struct dwarf_file){0};
    int code = dwarf_sections_load(dwarf->sections, dwarf->owned, file, false, err);
    if (code == 0)
        return read_layout(dwarf, err);
    dwarf_file_close(dwarf);
    return code;
}

int dwarf_file_open_split(struct dwarf_file *dwarf, const struct bytes sections[DWARF_SECTIONS],
                          const struct dwarf_file *linked, struct error *err)
{
    *dwarf = (struct dwarf_file){.is_split = true};
    memcpy(dwarf->sections, sections, sizeof(dwarf->sections));
    dwarf->sections[DWARF_ADDR] = linked->sections[DWARF_ADDR];
    dwarf->sections[DWARF_RANGES] = linked->sections[DWARF_RANGES];
    return read_layout(dwarf, err);
}

void dwarf_file_close(struct dwarf_file *dwarf)
{
    for (int i = 0; i < DWARF_SECTIONS; i++)
        free(dwarf->owned[i]);
    array_free(&dwarf->units);
    *dwarf = (struct dwarf_file){0};
}

const struct dwarf_unit *dwarf_file_find_unit(const struct dwarf_file *dwarf, uint64_t offset)
{
    size_t count = dwarf->units.length;
    size_t at = search_count(dwarf->units.data, count, element->end <= offset);
    const struct dwarf_unit *unit = at < count ? &dwarf->units.data[at] : NULL;
    return unit && unit->offset <= offset ? unit : NULL;
}

/*
 * ---- finding the unit of an address ----
 *
 * .debug_aranges maps addresses to units, but only gcc writes it. For other units prof reads the root DIEs, in 2 us per
 * unit (6 ms for 3,000 units of clang). .debug_names (6.1.1) has no addresses, and reading its unit lists is not faster
 * than reading the unit headers, in 0.7 us each.
 */

struct unit_search {
    const uint64_t *vaddrs;
    size_t count;
    uint32_t *units;
    size_t left;        /* addresses without a unit */
    uint64_t work_left; /* remaining steps, which bounds the work on overlapping ranges of a damaged file */
};

static void assign_range(struct unit_search *search, uint32_t unit, uint64_t start, uint64_t end)
{
    size_t i = search_first_at_or_after(search->vaddrs, search->count, start);
    for (; i < search->count && search->vaddrs[i] < end && search->work_left; i++, search->work_left--)
        if (search->units[i] == DWARF_NO_UNIT) {
            search->units[i] = unit;
            search->left--;
        }
}

/* Reads one set of .debug_aranges (6.1.2). The cursor begins after the length of the set, and ends with the set. */
static void read_arange_set(struct dwarf_file *dwarf, struct unit_search *search, struct cursor c, size_t length_size,
                            uint8_t offset_size)
{
    const unsigned char *start = c.at - length_size;
    cursor_u16(&c); /* version */
    uint64_t offset = offset_size == 8 ? cursor_u64(&c) : cursor_u32(&c);
    uint8_t address_size = cursor_u8(&c);
    uint8_t segment_size = cursor_u8(&c);
    const struct dwarf_unit *found = dwarf_file_find_unit(dwarf, offset);
    if (c.failed || !found || found->offset != offset || segment_size != 0 || (address_size != 8 && address_size != 4))
        return;
    struct dwarf_unit *unit = &dwarf->units.data[found - dwarf->units.data];
    size_t pair = 2u * address_size, misaligned = (size_t)(c.at - start) % pair;
    if (misaligned)
        cursor_bytes(&c, pair - misaligned);
    while (cursor_left(&c) >= pair && !c.failed) {
        uint64_t address = address_size == 8 ? cursor_u64(&c) : cursor_u32(&c);
        uint64_t length = address_size == 8 ? cursor_u64(&c) : cursor_u32(&c);
        if (address == 0 && length == 0)
            break;
        unit->has_aranges = true;
        if (address != 0 && address + length > address)
            assign_range(search, (uint32_t)(unit - dwarf->units.data), address, address + length);
    }
}

static void search_aranges(struct dwarf_file *dwarf, struct unit_search *search)
{
    unsigned char *raw = bytes_load(&dwarf->sections[DWARF_ARANGES]);
    struct cursor c = raw ? cursor_of(raw, (size_t)dwarf->sections[DWARF_ARANGES].size) : (struct cursor){0};
    while (cursor_left(&c) > 0) {
        uint64_t length;
        const unsigned char *start = c.at;
        uint8_t offset_size = read_initial_length(&c, &length);
        size_t length_size = (size_t)(c.at - start);
        const unsigned char *set = offset_size ? cursor_bytes(&c, length) : NULL;
        if (!set)
            break;
        read_arange_set(dwarf, search, cursor_of(set, (size_t)length), length_size, offset_size);
    }
    free(raw);
}

struct root_range {
    struct unit_search *search;
    uint32_t unit;
};

static bool assign_root_range(void *context, uint64_t start, uint64_t end)
{
    struct root_range *root = context;
    assign_range(root->search, root->unit, start, end);
    return root->search->work_left > 0;
}

static void search_root(struct dwarf_file *dwarf, struct unit_search *search, uint32_t index)
{
    const struct dwarf_unit *unit = &dwarf->units.data[index];
    if (unit->verdict != DWARF_READ || (unit->type != DW_UT_compile && unit->type != DW_UT_skeleton))
        return;
    struct dwarf_unit_reader reader;
    if (dwarf_unit_reader_init_root(&reader, dwarf, unit) == 0) {
        struct root_range root = {search, index};
        dwarf_ranges_visit(&reader, &reader.code, assign_root_range, &root);
    }
    if (reader.verdict > dwarf->verdict)
        dwarf->verdict = reader.verdict;
    uint64_t used = DWARF_UNIT_WORK_MAX - reader.work_left;
    search->work_left -= used < search->work_left ? used : search->work_left;
    dwarf_unit_reader_destroy(&reader);
}

void dwarf_file_find_units(struct dwarf_file *dwarf, const uint64_t *vaddrs, size_t count, uint32_t *units)
{
    const struct bytes *sections = dwarf->sections;
    struct unit_search search = {.vaddrs = vaddrs, .count = count, .units = units, .left = count};
    search.work_left = DWARF_UNIT_WORK_MAX + sections[DWARF_RANGES].size + sections[DWARF_RNGLISTS].size;
    for (size_t i = 0; i < count; i++)
        units[i] = DWARF_NO_UNIT;
    search_aranges(dwarf, &search);
    for (uint32_t i = 0; i < dwarf->units.length && search.left && search.work_left; i++)
        if (!dwarf->units.data[i].has_aranges)
            search_root(dwarf, &search, i);
    for (uint32_t i = 0; i < dwarf->units.length && search.left && search.work_left; i++)
        if (dwarf->units.data[i].has_aranges)
            search_root(dwarf, &search, i);
}
