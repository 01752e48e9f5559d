/*
 * Reads the DIEs of one unit: abbreviations, attribute values, texts. One reader belongs to one thread.
 *
 *     const struct dwarf_abbrev *abbrev = dwarf_die_read_code(reader, &cursor);
 *     either  dwarf_die_skip(reader, abbrev, &cursor);
 *     or      for each i < abbrev->attribute_count:
 *                 value = dwarf_value_read(reader, &cursor, &dwarf_get_attributes(reader, abbrev)[i]);
 */
#pragma once

#include "base/hash.h"
#include "symbol/dwarf_sections.h"

#include <stdatomic.h>

struct dwarf_attribute {
    uint16_t name, form;
    int64_t implicit; /* the value of DW_FORM_implicit_const */
};

struct dwarf_abbrev {
    uint16_t tag;
    bool has_children;
    bool has_sibling;
    bool has_code; /* DW_AT_low_pc or DW_AT_ranges */
    bool has_unknown_form;
    uint32_t first_attribute, attribute_count;
    uint32_t first_skip, skip_count; /* skips of the abbreviation's values: see dwarf_unit.c */
};

/* An attribute's value before resolution: a constant, offset, index or reference in `number`; for DW_FORM_string the
 * offset of the text in .debug_info. */
struct dwarf_value {
    uint16_t form; /* 0: the DIE has no such attribute */
    uint64_t number;
};

/* The addresses of a DIE before resolution. */
struct dwarf_code {
    struct dwarf_value low, high, ranges;
};

enum { DWARF_UNIT_WORK_MAX = 1 << 26 };

struct dwarf_unit_reader {
    const struct dwarf_file *file;
    const struct dwarf_unit *unit;
    ARRAY(struct dwarf_abbrev) abbrevs; /* abbreviation code c is at [c - 1] while codes are dense */
    ARRAY(struct dwarf_attribute) attributes;
    ARRAY(uint32_t) skips;
    struct hash sparse_codes; /* code -> index, for codes that are not dense */
    struct bytes unit_bytes;  /* part of .debug_info, header included: the bytes of `info` */
    struct window info, str, line_str, ranges, addr, str_offsets, alternate_str;
    uint64_t work_left;      /* remaining work of this reader, in steps of a few ns: see dwarf_count_work() */
    const atomic_bool *stop; /* true cancels the reading; may be NULL */
    enum dwarf_verdict verdict;

    /* Of the root DIE. */
    struct dwarf_code code;
    struct dwarf_value name, directory, lines;
    uint64_t low_pc; /* base of range lists */
    uint64_t addr_base, str_offsets_base, rnglists_base;
    uint64_t ranges_base; /* base of offsets into .debug_ranges: 0 except for a split unit of DWARF 4 */
    uint16_t language;    /* DW_LANG_* */

    /* The id of a skeleton, whose DIEs are in another file (dwarf_split.h), and of its split unit. */
    struct dwarf_value dwo_name; /* form 0: not a skeleton */
    uint64_t dwo_id;
    bool has_dwo_id;
    uint64_t split_ranges_base; /* ranges_base of the split unit */
};

/* Reads the abbreviations and the root DIE. Returns -EINVAL if the abbreviations or the DIE are unreadable. `verdict`
 * has the reason. Destroy the reader even after a failure, and do not move it. */
int dwarf_unit_reader_init(struct dwarf_unit_reader *reader, const struct dwarf_file *file,
                           const struct dwarf_unit *unit);

/* Initializes a reader for the root DIE alone, in a tenth of the time. No other DIE can be read. */
int dwarf_unit_reader_init_root(struct dwarf_unit_reader *reader, const struct dwarf_file *file,
                                const struct dwarf_unit *unit);

/* Initializes a reader for a split unit. Addresses of a split unit, and before DWARF 5 its range lists, are relative to
 * bases in its skeleton. */
int dwarf_unit_reader_init_split(struct dwarf_unit_reader *reader, const struct dwarf_file *file,
                                 const struct dwarf_unit *unit, const struct dwarf_unit_reader *skeleton);
void dwarf_unit_reader_destroy(struct dwarf_unit_reader *reader);

/* Returns a cursor at this offset of .debug_info, over at least one DIE of usual size, or an empty cursor if the offset
 * is outside the unit. */
struct cursor dwarf_unit_open_cursor(struct dwarf_unit_reader *reader, uint64_t offset);

/* Loads the whole unit, and returns a cursor at the root DIE over all of it. After this call, all cursors of the unit
 * stay valid. */
struct cursor dwarf_unit_load(struct dwarf_unit_reader *reader);

/* Returns the offset in .debug_info of a position in a cursor of this unit. */
uint64_t dwarf_unit_get_offset(const struct dwarf_unit_reader *reader, const unsigned char *at);

/* Records why reading stops. The worst verdict stays. */
static inline void dwarf_stop_reading(struct dwarf_unit_reader *reader, enum dwarf_verdict verdict)
{
    if (verdict > reader->verdict)
        reader->verdict = verdict;
}

/* Records that reading stops at a DIE with this abbreviation, or with NULL at a missing abbreviation. */
static inline void dwarf_stop_reading_at(struct dwarf_unit_reader *reader, const struct dwarf_abbrev *abbrev)
{
    dwarf_stop_reading(reader, abbrev && abbrev->has_unknown_form ? DWARF_DECLINED : DWARF_DAMAGED);
}

/* Reads the abbreviation code. Returns NULL at the end of a list of children, or NULL with c->failed set if the code is
 * unknown. */
const struct dwarf_abbrev *dwarf_die_read_code(const struct dwarf_unit_reader *reader, struct cursor *c);

/* Skips all values of the DIE. */
void dwarf_die_skip(const struct dwarf_unit_reader *reader, const struct dwarf_abbrev *abbrev, struct cursor *c);

static inline const struct dwarf_attribute *dwarf_get_attributes(const struct dwarf_unit_reader *reader,
                                                                 const struct dwarf_abbrev *abbrev)
{
    return array_at(&reader->attributes, abbrev->first_attribute);
}

/* Counts work against a budget per unit. A hostile file can make reading endless: a thousand units may share one list
 * of a million ranges. Returns false when the budget is spent; the unit then counts as damaged. */
static inline bool dwarf_count_work(struct dwarf_unit_reader *reader, uint64_t steps)
{
    bool is_stopped = reader->stop && atomic_load_explicit(reader->stop, memory_order_relaxed);
    reader->work_left = steps < reader->work_left && !is_stopped ? reader->work_left - steps : 0;
    if (reader->work_left == 0)
        dwarf_stop_reading(reader, DWARF_DAMAGED);
    return reader->work_left > 0;
}

struct dwarf_value dwarf_value_read(const struct dwarf_unit_reader *reader, struct cursor *c,
                                    const struct dwarf_attribute *attribute);

/* Stores the value if the attribute gives the addresses of a DIE. */
void dwarf_code_store(struct dwarf_code *code, uint16_t name, struct dwarf_value value);

/* Returns the text of a string value, or NULL if the value has another form or is damaged. Valid until the next call.
 */
const char *dwarf_value_get_text(struct dwarf_unit_reader *reader, struct dwarf_value value);

/* Reads the address of an address value. Returns false if the value has another form or is damaged. */
bool dwarf_value_get_address(struct dwarf_unit_reader *reader, struct dwarf_value value, uint64_t *address);

/* Resolves a reference to an offset in .debug_info of `*file`. Returns false for other forms, and for type signatures.
 */
bool dwarf_value_resolve_reference(const struct dwarf_unit_reader *reader, struct dwarf_value value, uint64_t *offset,
                                   const struct dwarf_file **file);

/* Reads an offset or address of the unit's size. At the end of the data: 0, with c->failed set. */
uint64_t dwarf_read_sized(struct cursor *c, uint8_t size);
