/*
 * Which functions are at an address: the subprogram and the calls that were inlined into it, from one pass over the
 * DIEs of a unit.
 */
#ifndef PROF_SYMBOL_DWARF_FUNCTIONS_H
#define PROF_SYMBOL_DWARF_FUNCTIONS_H

#include "symbol/dwarf_unit.h"

enum { DWARF_NO_FUNCTION = UINT32_MAX };

/* A subprogram, or an inlined call of one. */
struct dwarf_function {
    uint64_t die;       /* offset in .debug_info */
    uint32_t parent;    /* inlined: the function that it was inlined into; DWARF_NO_FUNCTION for a subprogram */
    uint64_t call_file; /* inlined: where it was called, in numbers of the line table; line and column 0 if unknown */
    uint32_t call_line, call_column;
};

struct dwarf_functions {
    ARRAY(struct dwarf_function) list; /* those that were hit and the ones around them */
    uint32_t *innermost;               /* per address: into `list`, or DWARF_NO_FUNCTION */
};

/* Finds the functions at `count` sorted vaddrs of the reader's unit. On success destroy the result. A unit that is
 * damaged gives what was found before the damage. Fails only when memory runs out. */
int dwarf_functions_find(struct dwarf_functions *functions, struct dwarf_unit_reader *reader, const uint64_t *vaddrs,
                         size_t count, struct error *err);

void dwarf_functions_destroy(struct dwarf_functions *functions);

#endif
