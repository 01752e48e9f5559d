/*
 * The addresses of one library on their way to answers, cut into pieces that different threads can do:
 *
 *     library_open      finds the files, and which compile units were hit
 *     library_symbols   matches symbol tables           \ all of these at the same time
 *     library_unit      reads one compile unit (each)   /
 *     library_answer    puts the pieces together
 *     library_close
 */
#ifndef PROF_SYMBOL_LIBRARY_H
#define PROF_SYMBOL_LIBRARY_H

#include "symbol/debug_file.h"
#include "symbol/dwarf_file.h"
#include "symbol/kallsyms.h"
#include "symbol/symbol.h"
#include "symbol/symbol_table.h"

/* What the symbol tables say of an address. Texts are in library.arena, or NULL. */
struct library_symbol {
    const char *symbol;   /* demangled */
    const char *function; /* the same without what compilers append to parts of a function */
    uint64_t start, size;
};

/* A frame as the debug info has it. Texts are in the unit's arena, or NULL. */
struct library_frame {
    const char *function, *file;
    uint32_t line, column;
    bool is_partial; /* the name of the symbol is better */
};

/* A compile unit that was hit. */
struct library_unit {
    uint32_t unit;
    size_t first, count;                /* its addresses: into library.by_unit */
    ARRAY(struct library_frame) frames; /* per address, outermost first */
    uint32_t *frame_ends;               /* per address: where its frames end */
    struct arena arena;
    int result;
};

struct library {
    struct symbol_job *job;
    struct debug_files files;
    struct dwarf_file dwarf, alternate;
    uint64_t dwarf_base; /* vaddr from which rvas count in the file with the DWARF */
    bool is_split;       /* some unit has its DIEs in a .dwo file */
    uint32_t *by_unit;   /* indexes of addresses, those of one unit together, ascending */
    ARRAY(struct library_unit) units;
    struct library_symbol *symbols; /* per address */
    struct arena arena;
    char problem[256];
};

int library_open(struct library *library, struct symbol_job *job, bool with_dwarf, struct error *err);
int library_symbols(struct library *library, const struct kallsyms *kallsyms, struct error *err);
int library_unit(struct library *library, size_t index, struct error *err);
int library_answer(struct library *library, struct error *err);
void library_close(struct library *library);

/* About how long library_symbols() and library_unit() take, to begin with the longest: bytes to read. */
uint64_t library_symbols_cost(const struct library *library);
uint64_t library_unit_cost(const struct library *library, size_t index);

#endif
