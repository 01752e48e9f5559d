/*
 * The DWARF sections of one ELF file, and the list of its units. Read-only, and shared by all threads.
 *
 * Why libdw (libdw_reader.h) is not the first reader: a Dwarf handle serves one thread, and keeps everything that it
 * decoded until it is closed. So several threads need several handles, each with a copy of the sections. Here a thread
 * reads one unit with pread(), walks its DIEs with the requested addresses at hand, and frees it. In one run on 120 MB
 * of .debug_info, with one thread each: libdw 1.4 s and 347 MB for ranges and line tables; this reader 0.4 s and 31 MB
 * for names, inlines and lines of 10,000 addresses (four threads: 0.2 s; llvm-symbolizer: 1.7 s).
 *
 * Formats: DWARF 2 to 5 (dwarfstd.org); section numbers below are those of version 5.
 */
#pragma once

#include "base/array.h"
#include "base/error.h"
#include "elf/bytes.h"
#include "elf/elf_file.h"

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

/* How far our reader got, and so whether libdw may read the rest. The first problem in a unit decides; of several units
 * the worst verdict counts. */
enum dwarf_verdict {
    DWARF_READ,      /* to its end */
    DWARF_DECLINED,  /* up to something that our reader does not know: a version, a form, an extension, a big-endian
                        file. libdw reads the rest. */
    DWARF_DAMAGED,   /* up to something that contradicts the standard, leads out of the file, or takes too long to read.
                        Nobody reads the rest: libdw must not see a hostile file. */
    DWARF_NO_MEMORY, /* until memory ran out: the lookup fails */
};

/* A unit header (7.5.1). Offsets are into .debug_info. */
struct dwarf_unit {
    uint64_t offset; /* of the header */
    uint64_t root;   /* of the first DIE */
    uint64_t end;
    uint64_t abbrev_offset; /* into .debug_abbrev */
    uint64_t dwo_id;        /* of a DW_UT_skeleton or DW_UT_split_compile */
    uint16_t version;
    uint8_t type; /* DW_UT_*; DW_UT_compile before version 5 */
    uint8_t address_size, offset_size;
    bool has_aranges;           /* .debug_aranges lists its addresses */
    enum dwarf_verdict verdict; /* of the header; unless DWARF_READ, nothing behind it is read */
};

struct dwarf_file {
    struct bytes sections[DWARF_SECTIONS];
    unsigned char *owned[DWARF_SECTIONS];
    ARRAY(struct dwarf_unit) units;     /* by offset */
    const struct dwarf_file *alternate; /* the file that .gnu_debugaltlink names (dwz), or NULL */
    bool is_split;                      /* the units are split ones: see dwarf_split.h */
    enum dwarf_verdict verdict;         /* of the unit headers, and of the searched root DIEs */
};

/* Reads section headers and unit headers. `file` must stay open. Without .debug_info, unit count 0. -EINVAL when a
 * section cannot be read, -ENOTSUP when the file is big-endian, each with a sentence. */
int dwarf_file_open(struct dwarf_file *dwarf, const struct elf_file *file, struct error *err);
void dwarf_file_close(struct dwarf_file *dwarf);

/* Finds the sections of a file, and decompresses them if needed. The caller frees the memory in `owned`. `split`: the
 * sections of a .dwo or .dwp file, whose names end so. */
int dwarf_sections_load(struct bytes sections[DWARF_SECTIONS], unsigned char *owned[DWARF_SECTIONS],
                        const struct elf_file *file, bool split, struct error *err);

/* Reads the unit headers of split debug info: of a .dwo file, or of one unit in a package. `sections` are those of that
 * file; `linked` is the file with the skeletons. Both must outlive `dwarf`. */
int dwarf_file_open_split(struct dwarf_file *dwarf, const struct bytes sections[DWARF_SECTIONS],
                          const struct dwarf_file *linked, struct error *err);

/* The unit that contains this offset of .debug_info, or NULL. */
const struct dwarf_unit *dwarf_file_unit_at(const struct dwarf_file *dwarf, uint64_t offset);

enum { DWARF_NO_UNIT = UINT32_MAX };

/* Finds for each of `count` sorted vaddrs the index of the compile unit with code there, or DWARF_NO_UNIT. Reads
 * .debug_aranges; for units that it does not list (clang and rustc write none) and addresses without a unit, reads the
 * ranges of the root DIEs. */
void dwarf_file_find_units(struct dwarf_file *dwarf, const uint64_t *vaddrs, size_t count, uint32_t *units);
