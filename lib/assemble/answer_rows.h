/*
 * From the symbolizer's answer for one address to rows of a profile: one func per (name, library, file), one frame per
 * address and inline depth, one native symbol.
 */
#ifndef PROF_ASSEMBLE_ANSWER_ROWS_H
#define PROF_ASSEMBLE_ANSWER_ROWS_H

#include "profile/intern.h"
#include "symbol/symbol.h"

/* What all frames of an address have in common. */
struct library_rows {
    uint32_t lib, resource;         /* rows */
    uint32_t category, subcategory; /* PROFILE_NONE, both or neither */
};

ARRAY_TYPE(struct row_list, uint32_t);

/* Appends to `frames` the frames of the address, outermost first: as the symbolizer answered, or a single one named
 * "0x..." after where its function begins in the library, or after itself where not even that is known. False if memory
 * ran out. */
bool answer_rows_add(struct interner *interner, const struct library_rows *lib, uint64_t rva,
                     const struct symbol_answers *answers, const struct symbol_answer *answer, struct row_list *frames);

#endif
