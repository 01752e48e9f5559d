/*
 * Where in a unit the answer can be another one than just before: where functions and inlined calls begin and end, and
 * at the rows of the line table. Between two such places all addresses have the same answer, so that one lookup tells
 * of all of them.
 */
#ifndef PROF_SYMBOL_DWARF_EDGES_H
#define PROF_SYMBOL_DWARF_EDGES_H

#include "base/array.h"

#include <stdint.h>

/* Code of a function that was not inlined. */
struct dwarf_extent {
    uint64_t start, end;
    bool is_hit; /* a wanted address lies in it */
};

/* Zero it to start. */
struct dwarf_edges {
    ARRAY(uint64_t) vaddrs;
    ARRAY(struct dwarf_extent) functions;
    bool is_incomplete; /* there were too many: of no use */
};

void dwarf_edges_add(struct dwarf_edges *edges, uint64_t vaddr);
void dwarf_edges_add_function(struct dwarf_edges *edges, struct dwarf_extent function);

/* Code from one edge to the next. */
struct dwarf_stretch {
    uint64_t start;
    uint32_t size;
    uint32_t unit : 31;  /* for the caller to fill in */
    uint32_t is_hit : 1; /* it is of a function in which a wanted address lies */
};

ARRAY_TYPE(struct dwarf_stretches, struct dwarf_stretch);

/* Appends the stretches of the functions, ascending; none if the edges are not complete. False if memory ran out. */
bool dwarf_edges_cut(struct dwarf_edges *edges, struct dwarf_stretches *stretches);

void dwarf_edges_destroy(struct dwarf_edges *edges);

#endif
