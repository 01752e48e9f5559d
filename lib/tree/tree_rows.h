/*
 * Rows of a tree in display order, stored in columns. Every tree answers with them.
 */
#pragma once

#include "tree/order.h"
#include "tree/timings.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tree_row {
    uint32_t node; /* handle in the tree of the request */
    uint32_t depth, func, category;
    double total, self;
    bool has_children;
    bool is_compared; /* total and self are changes between the sides: */
    struct side_figures sides[PROFILE_SIDES];
    double rank; /* the largest |total| of the row and those below, as far as that is known */
};

/* A column each. Zero it to start; the memory is used again by later calls. */
struct tree_rows {
    uint32_t *node;
    uint32_t *depth, *func, *category;
    double *total, *self;
    uint8_t *has_children;
    /* Of a comparison, see struct tree_row; else they mean nothing. */
    bool is_compared;
    double *base_total, *base_self, *new_total, *new_self, *rank;
    size_t length, capacity, compared_capacity;
};

/* False if memory ran out. */
bool tree_rows_push(struct tree_rows *rows, struct tree_row row);

/* A tree to make rows of; its nodes are named by handles. */
struct row_source {
    void *tree;
    /* Appends the children of a node, in any order: the handle is the index, the weight (of any sign) the magnitude. */
    int (*collect_children)(void *tree, uint32_t node, struct order_entries *children, struct error *err);
    struct tree_row (*row)(void *tree, uint32_t node);
};

/* Replaces `rows` by the children of a node, heaviest first. */
int tree_rows_of_children(struct tree_rows *rows, const struct row_source *source, uint32_t node, struct error *err);

/* Lists all descendants of a node, depth first with the heaviest child first; at most `limit`. */
int tree_rows_of_descendants(struct tree_rows *rows, const struct row_source *source, uint32_t node, size_t limit,
                             struct error *err);

void tree_rows_destroy(struct tree_rows *rows);
