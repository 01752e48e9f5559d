/* The names of functions, found from their DIEs through DW_AT_abstract_origin and DW_AT_specification. */
#pragma once

#include "base/arena.h"
#include "symbol/dwarf_unit.h"

struct dwarf_name {
    const char *text; /* demangled linkage name, or DW_AT_name (in C++ with its scopes), or NULL if unknown */
    /* the DIE has no mangled name, so the symbol's name is better. The symbol's name has parameters (gcc omits mangled
     * names of internal C++ functions), or is the public alias (C: brk, __brk). */
    bool is_partial;
};

/* Another unit that this unit's DIEs refer to (link-time optimization, dwz). */
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

/* Texts go to `arena`. */
void dwarf_names_init(struct dwarf_names *names, struct dwarf_unit_reader *reader, struct arena *arena);
void dwarf_names_destroy(struct dwarf_names *names);

/* Returns the name of the function whose DIE is at this offset of the unit's .debug_info. `text` is NULL for a function
 * without a name. Needs the stack size of demangle(). */
struct dwarf_name dwarf_names_get(struct dwarf_names *names, uint64_t die);

/* Naming rules, shared by both readers of DWARF. */

/* gcc -gdwarf-2 -gstrict-dwarf cannot describe the second part of a split function. gcc emits an artificial function
 * for the second part, but leaves the part's inlined calls in the first function. The DWARF readers skip the artificial
 * function, because it would hide the inlined calls. `name` is DW_AT_name of the function, or NULL. */
bool dwarf_function_is_made_up(bool has_children, const char *name);

/* Whether names in this language (DW_LANG_*) include their namespaces and classes. */
bool dwarf_language_has_scoped_names(uint16_t language);

/* Whether DW_AT_name is better than the symbol, which has a suffix or a linker's spelling in this language. */
bool dwarf_language_has_whole_names(uint16_t language);

bool dwarf_language_is_ada(uint16_t language);

/* Whether a DIE with this tag is a scope of names. */
bool dwarf_tag_is_scope(uint16_t tag);
