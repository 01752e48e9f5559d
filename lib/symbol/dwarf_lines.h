/*
 * The line table of a unit: the file and line of each address, and the names of files by their number. Formats: DWARF 2
 * to 4 section 6.2, DWARF 5 section 6.2.
 */
#pragma once

#include "base/arena.h"
#include "symbol/dwarf_unit.h"

struct dwarf_line_row {
    uint64_t file; /* index into the table's files */
    uint32_t line, column;
    bool found;
};

/* A directory or file entry of the table. */
struct dwarf_line_name {
    struct dwarf_value text;   /* DW_FORM_string: an offset into `raw` */
    struct dwarf_value source; /* the embedded source text; form 0 without a source text */
    uint64_t directory;
};

struct dwarf_lines {
    struct dwarf_unit_reader *reader;
    unsigned char *raw; /* the table */
    size_t size;
    uint16_t version;
    uint8_t address_size, offset_size;
    uint8_t min_instruction_length, opcode_base;
    int8_t line_base;
    uint8_t line_range;
    const unsigned char *opcode_lengths;              /* opcode_base - 1 elements, in `raw` */
    size_t program;                                   /* offset of the line program in `raw`, or 0 (unreadable) */
    ARRAY(struct dwarf_line_name) directories, files; /* before version 5, number n is at [n - 1] */
    ARRAY(const char *) paths;                        /* cached path per file; filled on first use */
    struct arena *arena;
    enum dwarf_verdict verdict; /* verdict of the header; `reader` also records later problems */
};

/* Reads the header of the unit's line table; texts go to `arena`. A missing or damaged table has no files. Call
 * dwarf_lines_close(). */
void dwarf_lines_open(struct dwarf_lines *lines, struct dwarf_unit_reader *reader, struct arena *arena);
void dwarf_lines_close(struct dwarf_lines *lines);

/* Runs the line program once, and fills rows[i] for each of the sorted vaddrs that the program covers. */
void dwarf_lines_match(struct dwarf_lines *lines, const uint64_t *vaddrs, size_t count, struct dwarf_line_row *rows);

/* Matches starts of functions: if several rows have an address, rows[i] is the first row, which has the line of the
 * function itself. The last row may be the line of inlined code. */
void dwarf_lines_match_starts(struct dwarf_lines *lines, const uint64_t *vaddrs, size_t count,
                              struct dwarf_line_row *rows);

/* Returns the path of a file, absolute if the table or the unit has the directories, or NULL for an unknown file
 * number. */
const char *dwarf_lines_get_path(struct dwarf_lines *lines, uint64_t file);

/* Returns the source text that the table embeds for the file with this path of dwarf_lines_get_path() (clang
 * -gembed-source: DW_LNCT_LLVM_source in LLVM's BinaryFormat/Dwarf.def). NUL-terminated; `*length` excludes the NUL.
 * The caller frees it. NULL if the table embeds no text, the text exceeds DWARF_SOURCE_MAX, or memory ran out. */
char *dwarf_lines_load_source(struct dwarf_lines *lines, const char *path, size_t *length);

enum { DWARF_SOURCE_MAX = 16 << 20 };
