/*
 * The costs of locations: lines of a source file, addresses of a function, calls inlined into a line. The cost of a
 * location is the weight of the samples that have it on their stack. Each sample counts once, recursion or not.
 */
#pragma once

#include "base/array.h"
#include "base/hash.h"
#include "tree/details.h"
#include "tree/path_nodes.h"

/* Which frames of the samples are looked at: those of one row of a tree, or of one func, and all that these call. */
struct frame_selection {
    const struct tree_path *path; /* of the row; NULL: see func */
    uint32_t func;                /* PROFILE_NONE: all frames of all samples */
};

struct location_request {
    const uint32_t *of_stack; /* per stack of the view: the place of its frame, or PROFILE_NONE */
    uint32_t count;           /* places are below it */
    bool are_calls; /* a place is a call: it is looked at only if the calling frame, that of the prefix, is as well */
    struct frame_selection selection;
};

/* Gives each value that stands for a place a number, in the order in which they are seen. Zero it to start. */
struct location_numbers {
    struct hash index;
    ARRAY(uint64_t) values; /* of each number */
};

/* PROFILE_NONE if memory ran out. */
uint32_t location_number(struct location_numbers *numbers, uint64_t value);
void location_numbers_destroy(struct location_numbers *numbers);

struct location_costs {
    double *total;    /* per place: of samples that have it; owned */
    double *self;     /* per place: of samples that end in it */
    double any_total; /* of samples that have any place */
    double any_self;  /* of samples that end in any place */
};

/* Linear in the number of stacks; for a path of an inverted tree, times its length where it matches. */
int location_costs_sum(struct location_costs *costs, const struct counted_stacks *counted,
                       const struct location_request *request, struct error *err);

void location_costs_destroy(struct location_costs *costs);
