/*
 * The costs of locations: lines of a source file, addresses of a function, calls inlined into a line. The cost of a
 * location is the weight of the samples with it in their stack. Each sample counts once, even with recursion.
 */
#pragma once

#include "base/array.h"
#include "base/hash.h"
#include "tree/details.h"
#include "tree/path_nodes.h"

/* Which frames of samples count: the frames of one row of a tree, or of one func, and their callees. */
struct frame_selection {
    const struct tree_path *path; /* path of the row, or NULL (see func) */
    uint32_t func;                /* func whose frames count, or PROFILE_NONE (all frames of all samples) */
};

struct location_request {
    const uint32_t *of_stack; /* stack of the view -> location of its frame, or PROFILE_NONE */
    uint32_t count;           /* number of locations */
    bool are_calls;           /* locations are calls: a call counts only if its caller (the prefix) counts */
    struct frame_selection selection;
};

/* Numbers the values that identify locations, in order of first use. Starts zeroed. */
struct location_numbers {
    struct hash index;
    ARRAY(uint64_t) values; /* value of each number */
};

/* Returns the number of a value, or PROFILE_NONE if memory runs out. */
uint32_t number_location(struct location_numbers *numbers, uint64_t value);
void location_numbers_destroy(struct location_numbers *numbers);

struct location_costs {
    double *total;    /* for each location, weight of samples with the location; owned */
    double *self;     /* for each location, weight of samples that end in the location */
    double any_total; /* weight of samples with any location */
    double any_self;  /* weight of samples that end in any location */
};

/* Sums the costs in time linear in the number of stacks; for an inverted path, times the length of the path. */
int location_costs_sum(struct location_costs *costs, const struct counted_stacks *counted,
                       const struct location_request *request, struct error *err);

void location_costs_destroy(struct location_costs *costs);
