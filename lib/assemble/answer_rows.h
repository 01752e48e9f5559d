/*
 * Turns the symbolizer's answer for one address into rows of a profile: one func per (name, library, file), one frame
 * per address and inline depth, one native symbol.
 */
#pragma once

#include "profile/intern.h"
#include "symbol/symbol.h"

/* Columns shared by all frames of an address. */
struct library_rows {
    uint32_t lib, resource;         /* rows */
    uint32_t category, subcategory; /* both or neither are PROFILE_NONE */
};

ARRAY_TYPE(struct row_list, uint32_t);

/* Appends the frames of the address to `frames`, outermost first. Without a name, appends one frame "0x...", with the
 * start of the function or, if the start is unknown, the address. False if memory ran out. */
bool answer_rows_add(struct interner *interner, const struct library_rows *lib, uint64_t rva,
                     const struct symbol_answers *answers, const struct symbol_answer *answer, struct row_list *frames);
