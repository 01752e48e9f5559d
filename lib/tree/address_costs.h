/*
 * The costs of the instructions of one native symbol, and the symbols that contain the code of a func: the machine code
 * of an inlined func is part of all its callers.
 */
#pragma once

#include "tree/location_costs.h"

struct address_cost {
    int64_t address; /* address in the frame table (of a call, its last byte), or start of the instruction */
    double total;    /* weight of samples with a frame at the address; recursion counts once */
    double self;     /* weight of samples with their leaf at the address */
};

struct address_costs {
    ARRAY(struct address_cost) rows; /* sorted by address; includes addresses of uncounted samples */
    double total, self;              /* weight of the symbol's samples, each sample once */
};

struct address_request {
    uint32_t symbol;        /* index in profile->native_symbols */
    const uint32_t *starts; /* starts of instructions relative to the symbol, ascending: one row per instruction. NULL:
                               one row per address */
    size_t start_count;
    struct frame_selection selection;
};

/* Computes the costs. The caller zeroes `costs`, and calls address_costs_destroy(), also after an error. */
int address_costs_compute(struct address_costs *costs, const struct profile *profile,
                          const struct counted_stacks *counted, const struct address_request *request,
                          struct error *err);

void address_costs_destroy(struct address_costs *costs);

struct symbol_cost {
    uint32_t symbol;
    double total; /* weight of samples with a frame of the func in this symbol */
    double self;
};

ARRAY_TYPE(struct symbol_costs, struct symbol_cost);

/* Lists the symbols with frames of the func, heaviest first, including symbols without a counted sample. */
int symbol_costs_compute(struct symbol_costs *costs, const struct profile *profile,
                         const struct counted_stacks *counted, uint32_t func, struct frame_selection selection,
                         struct error *err);

/* ---- source lines of the instructions ---- */

struct address_line {
    int64_t address;
    uint32_t depth;              /* inline depth: 0 is the frame of the symbol itself */
    uint32_t func, source, line; /* PROFILE_NONE if unknown; line: 0 if unknown */
};

ARRAY_TYPE(struct address_lines, struct address_line);

/* Lists the distinct funcs and lines in a symbol's frames, by address and inline depth. */
int list_address_lines(struct address_lines *lines, const struct profile *profile, uint32_t symbol, struct error *err);
