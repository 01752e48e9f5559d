/* The names of functions, found from their DIEs through DW_AT_abstract_origin and DW_AT_specification. */
#ifndef PROF_SYMBOL_DWARF_NAMES_H
#define PROF_SYMBOL_DWARF_NAMES_H

#include "base/arena.h"
#include "symbol/dwarf_unit.h"

struct dwarf_name {
    const char *text; /* demangled, or DW_AT_name, in C++ with its namespaces and classes; NULL if unknown */
    bool is_partial; /* there was no mangled name: a symbol's name is better, because it has parameters (gcc's C++ gives
                        no mangled name to what is not visible outside), or is the public one of several (C: brk, __brk)
                      */
};

/* A unit that DIEs of this one refer to (link-time optimization, dwz). */
struct dwarf_other_unit {
    struct dwarf_unit_reader *reader;
};

struct dwarf_names {
    struct dwarf_unit_reader *own;
    ARRAY(struct dwarf_other_unit) others;
    struct hash index; /* DIE -> into `list` */
    ARRAY(struct dwarf_name) list;
    struct arena *arena;
};

/* `arena` gets the texts. */
void dwarf_names_init(struct dwarf_names *names, struct dwarf_unit_reader *reader, struct arena *arena);
void dwarf_names_destroy(struct dwarf_names *names);

/* The name of the function whose DIE is at this offset of the unit's .debug_info. `text` NULL if it has none.
 * Wants the stack of demangle(). */
struct dwarf_name dwarf_names_get(struct dwarf_names *names, uint64_t die);

/* The rules for names, which both readers of DWARF follow. */

/* gcc -gdwarf-2 -gstrict-dwarf cannot say that a function has a second part. It makes up another function for that, but
 * leaves the calls that were inlined there in the first one. So the made up one would only hide these. `name` is its
 * DW_AT_name, or NULL. */
bool dwarf_function_is_made_up(bool has_children, const char *name);

/* Whether names of this language (DW_LANG_*) are written with those of the namespaces and classes around them. */
bool dwarf_language_has_scoped_names(uint16_t language);

/* Whether DW_AT_name says more than the symbol, which has a suffix or a spelling for linkers. */
bool dwarf_language_has_whole_names(uint16_t language);

bool dwarf_language_is_ada(uint16_t language);

/* Whether a DIE with this tag can be one of those around. */
bool dwarf_tag_is_scope(uint16_t tag);

#endif
