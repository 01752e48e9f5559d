/*
 * Abbreviations and attribute values.
 *
 * prof only skips nine of ten DIEs. So prof makes a list of skips for each abbreviation. Neighboring values of fixed
 * size become one byte count, and each other value becomes one code. prof skips a variable with name, file, line, type
 * and location in three steps, without decoding five values.
 */
#include "symbol/dwarf_unit.h"

#include <dwarf.h>

/* A skip below SKIP_CODES is a byte count. */
enum {
    SKIP_CODES = 0x10000,
    SKIP_LEB = SKIP_CODES,
    SKIP_STRING,
    SKIP_BLOCK1,
    SKIP_BLOCK2,
    SKIP_BLOCK4,
    SKIP_BLOCK,
    SKIP_INDIRECT,
    SKIP_UNKNOWN,
};

/* Limits for a table of abbreviations. */
enum { ABBREVS_MAX = 1 << 20, ATTRIBUTES_MAX = 1 << 22 };

static uint32_t find_form_skip(const struct dwarf_unit *unit, uint16_t form)
{
    switch (form) {
    case DW_FORM_flag_present:
    case DW_FORM_implicit_const:
        return 0;
    case DW_FORM_data1:
    case DW_FORM_ref1:
    case DW_FORM_flag:
    case DW_FORM_strx1:
    case DW_FORM_addrx1:
        return 1;
    case DW_FORM_data2:
    case DW_FORM_ref2:
    case DW_FORM_strx2:
    case DW_FORM_addrx2:
        return 2;
    case DW_FORM_strx3:
    case DW_FORM_addrx3:
        return 3;
    case DW_FORM_data4:
    case DW_FORM_ref4:
    case DW_FORM_ref_sup4:
    case DW_FORM_strx4:
    case DW_FORM_addrx4:
        return 4;
    case DW_FORM_data8:
    case DW_FORM_ref8:
    case DW_FORM_ref_sup8:
    case DW_FORM_ref_sig8:
        return 8;
    case DW_FORM_data16:
        return 16;
    case DW_FORM_addr:
        return unit->address_size;
    case DW_FORM_ref_addr:
        return unit->version == 2 ? unit->address_size : unit->offset_size;
    case DW_FORM_strp:
    case DW_FORM_line_strp:
    case DW_FORM_strp_sup:
    case DW_FORM_sec_offset:
    case DW_FORM_GNU_strp_alt:
    case DW_FORM_GNU_ref_alt:
        return unit->offset_size;
    case DW_FORM_sdata:
    case DW_FORM_udata:
    case DW_FORM_ref_udata:
    case DW_FORM_strx:
    case DW_FORM_addrx:
    case DW_FORM_loclistx:
    case DW_FORM_rnglistx:
    case DW_FORM_GNU_addr_index:
    case DW_FORM_GNU_str_index:
        return SKIP_LEB;
    case DW_FORM_string:
        return SKIP_STRING;
    case DW_FORM_block1:
        return SKIP_BLOCK1;
    case DW_FORM_block2:
        return SKIP_BLOCK2;
    case DW_FORM_block4:
        return SKIP_BLOCK4;
    case DW_FORM_block:
    case DW_FORM_exprloc:
        return SKIP_BLOCK;
    case DW_FORM_indirect:
        return SKIP_INDIRECT;
    default:
        return SKIP_UNKNOWN;
    }
}

static void skip_leb(struct cursor *c)
{
    while (cursor_u8(c) & 0x80)
        ;
}

static void skip_form(const struct dwarf_unit *unit, uint16_t form, struct cursor *c);

static void skip_value(const struct dwarf_unit *unit, uint32_t skip, struct cursor *c)
{
    switch (skip) {
    case SKIP_LEB:
        skip_leb(c);
        break;
    case SKIP_STRING:
        cursor_string(c);
        break;
    case SKIP_BLOCK1:
        cursor_bytes(c, cursor_u8(c));
        break;
    case SKIP_BLOCK2:
        cursor_bytes(c, cursor_u16(c));
        break;
    case SKIP_BLOCK4:
        cursor_bytes(c, cursor_u32(c));
        break;
    case SKIP_BLOCK:
        cursor_bytes(c, cursor_uleb(c));
        break;
    case SKIP_INDIRECT:
        skip_form(unit, (uint16_t)cursor_uleb(c), c);
        break;
    case SKIP_UNKNOWN:
        c->failed = true;
        break;
    default:
        cursor_bytes(c, skip);
    }
}

static void skip_form(const struct dwarf_unit *unit, uint16_t form, struct cursor *c)
{
    uint32_t skip = find_form_skip(unit, form);
    /* rejects nested indirect forms, which no compiler writes */
    if (skip == SKIP_INDIRECT)
        c->failed = true;
    else
        skip_value(unit, skip, c);
}

static bool add_skip(struct dwarf_unit_reader *reader, struct dwarf_abbrev *abbrev, uint32_t skip)
{
    uint32_t *last = abbrev->skip_count ? &reader->skips.data[reader->skips.length - 1] : NULL;
    if (skip == 0)
        return true;
    if (skip < SKIP_CODES && last && *last < SKIP_CODES && *last + skip < SKIP_CODES) {
        *last += skip;
        return true;
    }
    abbrev->skip_count++;
    return array_push(&reader->skips, skip);
}

/* Reads the attributes of one abbreviation (7.5.3). */
static bool read_attributes(struct dwarf_unit_reader *reader, struct dwarf_abbrev *abbrev, struct cursor *c)
{
    abbrev->first_attribute = (uint32_t)reader->attributes.length;
    abbrev->first_skip = (uint32_t)reader->skips.length;
    while (!c->failed && reader->attributes.length < ATTRIBUTES_MAX) {
        uint64_t name = cursor_uleb(c), form = cursor_uleb(c);
        if (name == 0 && form == 0)
            return !c->failed;
        struct dwarf_attribute attribute = {.name = name <= UINT16_MAX ? (uint16_t)name : 0,
                                            .form = form <= UINT16_MAX ? (uint16_t)form : 0};
        if (form == DW_FORM_implicit_const)
            attribute.implicit = cursor_sleb(c);
        abbrev->has_sibling |= name == DW_AT_sibling;
        abbrev->has_code |= name == DW_AT_low_pc || name == DW_AT_ranges;
        abbrev->has_unknown_form |= find_form_skip(reader->unit, attribute.form) == SKIP_UNKNOWN;
        abbrev->attribute_count++;
        if (!array_push(&reader->attributes, attribute) ||
            !add_skip(reader, abbrev, find_form_skip(reader->unit, attribute.form))) {
            dwarf_stop_reading(reader, DWARF_NO_MEMORY);
            return false;
        }
    }
    return false;
}

/* Reads all abbreviations, or those up to code `last`. */
static int read_abbrevs(struct dwarf_unit_reader *reader, uint64_t last)
{
    const struct bytes *section = &reader->file->sections[DWARF_ABBREV];
    struct bytes part = bytes_get_part(section, reader->unit->abbrev_offset, section->size);
    struct cursor c = part.size ? cursor_of(part.memory, (size_t)part.size) : (struct cursor){0};
    bool dense = true;
    while (reader->abbrevs.length < ABBREVS_MAX) {
        uint64_t code = cursor_uleb(&c);
        if (code == 0)
            break;
        struct dwarf_abbrev abbrev = {.tag = (uint16_t)cursor_uleb(&c)};
        abbrev.has_children = cursor_u8(&c) == DW_CHILDREN_yes;
        if (!read_attributes(reader, &abbrev, &c))
            break; /* the abbreviations before the damage may be enough */
        uint32_t index = (uint32_t)reader->abbrevs.length;
        if (!array_push(&reader->abbrevs, abbrev))
            return -ENOMEM;
        dense = dense && code == (uint64_t)index + 1;
        if (!dense && !hash_set(&reader->sparse_codes, code, index))
            return -ENOMEM;
        if (code == last)
            break;
    }
    return reader->abbrevs.length ? 0 : -EINVAL;
}

const struct dwarf_abbrev *dwarf_die_read_code(const struct dwarf_unit_reader *reader, struct cursor *c)
{
    uint64_t code = cursor_uleb(c);
    if (code == 0)
        return NULL;
    uint64_t index = code - 1;
    if (reader->sparse_codes.length) {
        uint32_t sparse = hash_get(&reader->sparse_codes, code);
        size_t dense_count = reader->abbrevs.length - reader->sparse_codes.length;
        index = sparse != HASH_MISSING ? sparse : index < dense_count ? index : UINT64_MAX;
    }
    if (index < reader->abbrevs.length)
        return &reader->abbrevs.data[index];
    c->failed = true;
    return NULL;
}

void dwarf_die_skip(const struct dwarf_unit_reader *reader, const struct dwarf_abbrev *abbrev, struct cursor *c)
{
    const uint32_t *skips = reader->skips.data; /* NULL if no DIE of the unit has attributes */
    for (uint32_t i = abbrev->first_skip; i < abbrev->first_skip + abbrev->skip_count; i++) {
        if (skips[i] < SKIP_CODES)
            cursor_bytes(c, skips[i]);
        else
            skip_value(reader->unit, skips[i], c);
    }
}

uint64_t dwarf_read_sized(struct cursor *c, uint8_t size)
{
    switch (size) {
    case 1:
        return cursor_u8(c);
    case 2:
        return cursor_u16(c);
    case 3: {
        uint64_t low = cursor_u16(c);
        return low | (uint64_t)cursor_u8(c) << 16;
    }
    case 4:
        return cursor_u32(c);
    case 8:
        return cursor_u64(c);
    default:
        cursor_bytes(c, size);
        return 0;
    }
}

struct dwarf_value dwarf_value_read(const struct dwarf_unit_reader *reader, struct cursor *c,
                                    const struct dwarf_attribute *attribute)
{
    struct dwarf_value value = {.form = attribute->form};
    if (value.form == DW_FORM_indirect)
        value.form = (uint16_t)cursor_uleb(c);
    uint32_t skip = find_form_skip(reader->unit, value.form);
    if (value.form == DW_FORM_implicit_const)
        value.number = (uint64_t)attribute->implicit;
    else if (value.form == DW_FORM_flag_present)
        value.number = 1;
    else if (value.form == DW_FORM_sdata)
        value.number = (uint64_t)cursor_sleb(c);
    else if (value.form == DW_FORM_string)
        value.number = dwarf_unit_get_offset(reader, c->at);
    else if (skip == SKIP_LEB)
        value.number = cursor_uleb(c);
    else if (skip < SKIP_CODES)
        value.number = dwarf_read_sized(c, (uint8_t)skip);
    if (skip >= SKIP_CODES && skip != SKIP_LEB)
        skip_form(reader->unit, value.form, c);
    if (c->failed)
        value.form = 0;
    return value;
}

void dwarf_code_store(struct dwarf_code *code, uint16_t name, struct dwarf_value value)
{
    if (name == DW_AT_low_pc)
        code->low = value;
    else if (name == DW_AT_high_pc)
        code->high = value;
    else if (name == DW_AT_ranges)
        code->ranges = value;
}

/* ---- resolving values ---- */

static const char *find_indexed_text(struct dwarf_unit_reader *reader, uint64_t index)
{
    uint8_t size = reader->unit->offset_size;
    if (index > UINT32_MAX)
        return NULL;
    struct cursor c = window_read_at(&reader->str_offsets, reader->str_offsets_base + index * size, size);
    uint64_t offset = dwarf_read_sized(&c, size);
    return c.failed ? NULL : window_read_string(&reader->str, offset);
}

const char *dwarf_value_get_text(struct dwarf_unit_reader *reader, struct dwarf_value value)
{
    switch (value.form) {
    case DW_FORM_string:
        return window_read_string(&reader->info, value.number - reader->unit->offset);
    case DW_FORM_strp:
        return window_read_string(&reader->str, value.number);
    case DW_FORM_line_strp:
        return window_read_string(&reader->line_str, value.number);
    case DW_FORM_GNU_strp_alt:
    case DW_FORM_strp_sup:
        return window_read_string(&reader->alternate_str, value.number);
    case DW_FORM_strx:
    case DW_FORM_strx1:
    case DW_FORM_strx2:
    case DW_FORM_strx3:
    case DW_FORM_strx4:
    case DW_FORM_GNU_str_index:
        return find_indexed_text(reader, value.number);
    default:
        return NULL;
    }
}

bool dwarf_value_get_address(struct dwarf_unit_reader *reader, struct dwarf_value value, uint64_t *address)
{
    uint8_t size = reader->unit->address_size;
    switch (value.form) {
    case DW_FORM_addr:
        *address = value.number;
        return true;
    case DW_FORM_addrx:
    case DW_FORM_addrx1:
    case DW_FORM_addrx2:
    case DW_FORM_addrx3:
    case DW_FORM_addrx4:
    case DW_FORM_GNU_addr_index: {
        if (value.number > UINT32_MAX)
            return false;
        struct cursor c = window_read_at(&reader->addr, reader->addr_base + value.number * size, size);
        *address = dwarf_read_sized(&c, size);
        return !c.failed;
    }
    default:
        return false;
    }
}

bool dwarf_value_resolve_reference(const struct dwarf_unit_reader *reader, struct dwarf_value value, uint64_t *offset,
                                   const struct dwarf_file **file)
{
    *file = reader->file;
    *offset = value.number;
    switch (value.form) {
    case DW_FORM_ref1:
    case DW_FORM_ref2:
    case DW_FORM_ref4:
    case DW_FORM_ref8:
    case DW_FORM_ref_udata:
        *offset += reader->unit->offset;
        return *offset >= reader->unit->root && *offset < reader->unit->end;
    case DW_FORM_ref_addr:
        return true;
    case DW_FORM_GNU_ref_alt:
    case DW_FORM_ref_sup4:
    case DW_FORM_ref_sup8:
        *file = reader->file->alternate;
        return *file != NULL;
    default:
        return false;
    }
}

/* ---- the reader ---- */

uint64_t dwarf_unit_get_offset(const struct dwarf_unit_reader *reader, const unsigned char *at)
{
    const struct window *info = &reader->info;
    uint64_t inside =
        info->bytes->memory ? (uint64_t)(at - info->bytes->memory) : info->start + (uint64_t)(at - info->buffer);
    return reader->unit->offset + inside;
}

struct cursor dwarf_unit_open_cursor(struct dwarf_unit_reader *reader, uint64_t offset)
{
    enum { LARGEST_USUAL_DIE = 2048 };
    if (offset < reader->unit->root)
        return (struct cursor){0};
    return window_read_at(&reader->info, offset - reader->unit->offset, LARGEST_USUAL_DIE);
}

struct cursor dwarf_unit_load(struct dwarf_unit_reader *reader)
{
    uint64_t header = reader->unit->root - reader->unit->offset;
    if (reader->unit_bytes.size > BYTES_LOAD_MAX)
        return (struct cursor){0};
    struct cursor c = window_read_at(&reader->info, 0, (size_t)reader->unit_bytes.size);
    cursor_bytes(&c, header);
    return c;
}

static void store_root_attribute(struct dwarf_unit_reader *reader, uint16_t name, struct dwarf_value value)
{
    dwarf_code_store(&reader->code, name, value);
    switch (name) {
    case DW_AT_name:
        reader->name = value;
        break;
    case DW_AT_comp_dir:
        reader->directory = value;
        break;
    case DW_AT_stmt_list:
        reader->lines = value;
        break;
    case DW_AT_language:
        reader->language = (uint16_t)value.number;
        break;
    case DW_AT_addr_base:
    case DW_AT_GNU_addr_base:
        reader->addr_base = value.number;
        break;
    case DW_AT_str_offsets_base:
        reader->str_offsets_base = value.number;
        break;
    case DW_AT_rnglists_base:
        reader->rnglists_base = value.number;
        break;
    case DW_AT_dwo_name:
    case DW_AT_GNU_dwo_name:
        reader->dwo_name = value;
        break;
    case DW_AT_GNU_dwo_id:
        reader->dwo_id = value.number;
        reader->has_dwo_id = true;
        break;
    case DW_AT_GNU_ranges_base:
        reader->split_ranges_base = value.number;
        break;
    default:
        break;
    }
}

static int read_root(struct dwarf_unit_reader *reader)
{
    struct cursor c = dwarf_unit_open_cursor(reader, reader->unit->root);
    const struct dwarf_abbrev *root = dwarf_die_read_code(reader, &c);
    if (!root) {
        dwarf_stop_reading_at(reader, NULL);
        return -EINVAL;
    }
    for (uint32_t i = 0; i < root->attribute_count; i++) {
        const struct dwarf_attribute *attribute = &dwarf_get_attributes(reader, root)[i];
        store_root_attribute(reader, attribute->name, dwarf_value_read(reader, &c, attribute));
    }
    if (c.failed) {
        dwarf_stop_reading_at(reader, root);
        return -EINVAL;
    }
    dwarf_value_get_address(reader, reader->code.low, &reader->low_pc);
    return 0;
}

/* Units of split debug info have no bases of .debug_str_offsets.dwo and .debug_rnglists.dwo: their bases follow the
 * section's header (7.26, 7.28), which DWARF 4 does not have. */
static void set_implied_bases(struct dwarf_unit_reader *reader)
{
    if (!reader->file->is_split || reader->unit->version < 5)
        return;
    bool is_64 = reader->unit->offset_size == 8;
    reader->str_offsets_base = is_64 ? 16 : 8;
    reader->rnglists_base = is_64 ? 20 : 12;
}

static void init_reader(struct dwarf_unit_reader *reader, const struct dwarf_file *file, const struct dwarf_unit *unit)
{
    const struct bytes *sections = file->sections;
    *reader = (struct dwarf_unit_reader){
        .file = file,
        .unit = unit,
        .unit_bytes = bytes_get_part(&sections[DWARF_INFO], unit->offset, unit->end - unit->offset),
        .info = {.bytes = &reader->unit_bytes},
        .str = {.bytes = &sections[DWARF_STR], .step = 256},
        .line_str = {.bytes = &sections[DWARF_LINE_STR]},
        .ranges = {.bytes = &sections[unit->version >= 5 ? DWARF_RNGLISTS : DWARF_RANGES], .step = 1 << 16},
        .addr = {.bytes = &sections[DWARF_ADDR]},
        .str_offsets = {.bytes = &sections[DWARF_STR_OFFSETS]},
        .alternate_str = {.bytes = file->alternate ? &file->alternate->sections[DWARF_STR] : NULL, .step = 256},
        .work_left = DWARF_UNIT_WORK_MAX,
        .verdict = unit->verdict,
        .dwo_id = unit->dwo_id,
        .has_dwo_id = unit->type == DW_UT_skeleton || unit->type == DW_UT_split_compile,
    };
    set_implied_bases(reader);
}

static int read_abbreviations_and_root(struct dwarf_unit_reader *reader, uint64_t last_abbrev)
{
    if (reader->verdict != DWARF_READ)
        return -EINVAL;
    int code = read_abbrevs(reader, last_abbrev);
    if (code == -EINVAL)
        dwarf_stop_reading_at(reader, NULL);
    else if (code == -ENOMEM)
        dwarf_stop_reading(reader, DWARF_NO_MEMORY);
    dwarf_count_work(reader, reader->abbrevs.length + reader->attributes.length);
    return code == 0 ? read_root(reader) : code;
}

int dwarf_unit_reader_init(struct dwarf_unit_reader *reader, const struct dwarf_file *file,
                           const struct dwarf_unit *unit)
{
    init_reader(reader, file, unit);
    return read_abbreviations_and_root(reader, 0);
}

int dwarf_unit_reader_init_root(struct dwarf_unit_reader *reader, const struct dwarf_file *file,
                                const struct dwarf_unit *unit)
{
    init_reader(reader, file, unit);
    struct cursor c = dwarf_unit_open_cursor(reader, unit->root);
    return read_abbreviations_and_root(reader, cursor_uleb(&c));
}

int dwarf_unit_reader_init_split(struct dwarf_unit_reader *reader, const struct dwarf_file *file,
                                 const struct dwarf_unit *unit, const struct dwarf_unit_reader *skeleton)
{
    init_reader(reader, file, unit);
    reader->addr_base = skeleton->addr_base;
    reader->ranges_base = skeleton->split_ranges_base;
    reader->low_pc = skeleton->low_pc;
    return read_abbreviations_and_root(reader, 0);
}

void dwarf_unit_reader_destroy(struct dwarf_unit_reader *reader)
{
    array_free(&reader->abbrevs);
    array_free(&reader->attributes);
    array_free(&reader->skips);
    hash_destroy(&reader->sparse_codes);
    window_destroy(&reader->info);
    window_destroy(&reader->str);
    window_destroy(&reader->line_str);
    window_destroy(&reader->ranges);
    window_destroy(&reader->addr);
    window_destroy(&reader->str_offsets);
    window_destroy(&reader->alternate_str);
}
