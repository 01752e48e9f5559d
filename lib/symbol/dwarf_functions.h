/*
 * Finds the functions at an address: the subprogram, and the calls inlined into it. One pass over the DIEs of a unit.
 */
#pragma once

#include "symbol/dwarf_unit.h"

enum { DWARF_NO_FUNCTION = UINT32_MAX };

/* A subprogram, or an inlined call of a subprogram. */
struct dwarf_function {
    uint64_t die;    /* offset in .debug_info */
    uint32_t parent; /* caller of an inlined call; DWARF_NO_FUNCTION for a subprogram */
    /* call site of an inlined function; call_file indexes the line table; line and column are 0 if unknown */
    uint64_t call_file;
    uint32_t call_line, call_column;
};

struct dwarf_functions {
    ARRAY(struct dwarf_function) list; /* functions that contain a requested address, and their outer functions */
    uint32_t *innermost;               /* for each address, index into `list`, or DWARF_NO_FUNCTION */
};

/* Finds the functions at `count` sorted vaddrs in the reader's unit. On success destroy the result. Reading a damaged
 * unit ends at the damage, and keeps the functions found so far. Fails only when memory runs out. */
int dwarf_functions_find(struct dwarf_functions *functions, struct dwarf_unit_reader *reader, const uint64_t *vaddrs,
                         size_t count, struct error *err);

void dwarf_functions_destroy(struct dwarf_functions *functions);
