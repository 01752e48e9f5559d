/*
 * The line table of a unit: which file and line an address comes from, and the names of files by their number.
 * Formats: DWARF 2 to 4 section 6.2, DWARF 5 section 6.2.
 */
#ifndef PROF_SYMBOL_DWARF_LINES_H
#define PROF_SYMBOL_DWARF_LINES_H

#include "base/arena.h"
#include "symbol/dwarf_unit.h"

struct dwarf_line_row {
    uint64_t file; /* a number of the table's files */
    uint32_t line, column;
    bool found;
};

/* A directory or file as the table has it. */
struct dwarf_line_name {
    struct dwarf_value text;   /* DW_FORM_string: an offset into `raw` */
    struct dwarf_value source; /* all of the file's text, likewise; form 0 if the compiler did not store it */
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
    const unsigned char *opcode_lengths;              /* opcode_base - 1 of them, in `raw` */
    size_t program;                                   /* where the program begins in `raw`; 0: it cannot be read */
    ARRAY(struct dwarf_line_name) directories, files; /* before version 5, number n is at [n - 1] */
    ARRAY(const char *) paths;                        /* per file: once it was asked for */
    struct arena *arena;
    enum dwarf_verdict verdict; /* of the header; what goes wrong is noted in `reader`, too */
};

/* Reads the header of the unit's table; `arena` gets the texts. A unit without one, or with a damaged one, gives a
 * table without files. To be closed. */
void dwarf_lines_open(struct dwarf_lines *lines, struct dwarf_unit_reader *reader, struct arena *arena);
void dwarf_lines_close(struct dwarf_lines *lines);

/* Runs the program once, and fills rows[i] for the sorted vaddrs[i] that it covers. */
void dwarf_lines_match(struct dwarf_lines *lines, const uint64_t *vaddrs, size_t count, struct dwarf_line_row *rows);

/* The path of a file, absolute where the table or the unit says enough; NULL if there is no such file. */
const char *dwarf_lines_path(struct dwarf_lines *lines, uint64_t file);

/* The text of the file of that path, as dwarf_lines_path() gives it, if the compiler stored it in the table (clang
 * -gembed-source; DW_LNCT_LLVM_source in LLVM's BinaryFormat/Dwarf.def). The caller frees it; `*length` is without the
 * NUL behind it. NULL if it is not there, or longer than DWARF_SOURCE_MAX, or memory ran out. */
char *dwarf_lines_source(struct dwarf_lines *lines, const char *path, size_t *length);

enum { DWARF_SOURCE_MAX = 16 << 20 };

#endif
