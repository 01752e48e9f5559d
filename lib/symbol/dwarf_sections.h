/*
 * The DWARF sections of a file and the headers of its units, as plain data: dwarf_file.h reads them, dwarf_unit.h reads
 * the DIEs of one unit.
 *
 * Section numbers refer to DWARF 5 (dwarfstd.org).
 */
#pragma once

#include "base/array.h"
#include "elf/bytes.h"

enum dwarf_section {
    DWARF_INFO,
    DWARF_ABBREV,
    DWARF_LINE,
    DWARF_STR,
    DWARF_LINE_STR,
    DWARF_RANGES,
    DWARF_RNGLISTS,
    DWARF_ADDR,
    DWARF_STR_OFFSETS,
    DWARF_ARANGES,
    DWARF_SECTIONS,
};

/* The result of prof's own reader. The verdict decides whether libdw may read the remaining data. The verdict of a unit
 * is its first problem. Several units together have the worst verdict of a unit. */
enum dwarf_verdict {
    DWARF_READ, /* read to the end of the unit */
    /* stopped at unsupported data: a version, a form, an extension, a big-endian file. libdw reads the unit. */
    DWARF_DECLINED,
    /* stopped at data that contradicts the standard, points outside the file, or takes too long to read. The file may
     * be hostile, so libdw must not read it. */
    DWARF_DAMAGED,
    DWARF_NO_MEMORY, /* stopped because memory ran out: the lookup fails */
};

/* A unit header (7.5.1). Offsets are into .debug_info. */
struct dwarf_unit {
    uint64_t offset; /* of the header */
    uint64_t root;   /* of the first DIE */
    uint64_t end;
    uint64_t abbrev_offset; /* into .debug_abbrev */
    uint64_t dwo_id;        /* id of a DW_UT_skeleton or DW_UT_split_compile */
    uint16_t version;
    uint8_t type; /* DW_UT_*; DW_UT_compile before version 5 */
    uint8_t address_size, offset_size;
    bool has_aranges;           /* .debug_aranges lists the addresses of the unit */
    enum dwarf_verdict verdict; /* verdict of the header; prof reads the unit only after DWARF_READ */
};

struct dwarf_file {
    struct bytes sections[DWARF_SECTIONS];
    unsigned char *owned[DWARF_SECTIONS];
    ARRAY(struct dwarf_unit) units;     /* by offset */
    const struct dwarf_file *alternate; /* the file that .gnu_debugaltlink names (dwz), or NULL */
    bool is_split;                      /* the file has split units: see dwarf_split.h */
    enum dwarf_verdict verdict;         /* worst verdict of the unit headers and the searched root DIEs */
};
