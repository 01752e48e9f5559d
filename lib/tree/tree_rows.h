/*
 * Rows of a tree in display order, stored in columns. All trees return their rows in this form.
 */
#pragma once

#include "tree/order.h"
#include "tree/timings.h"

struct tree_row {
    uint32_t node; /* handle of the node in its tree */
    uint32_t depth, func, category;
    double total, self;
    bool has_children;
    bool is_compared; /* the row is of a comparison: total and self are changes, and the members below are valid */
    struct side_figures sides[PROFILE_SIDES];
    double rank; /* the largest known |total| of the row and its descendants */
};

/* Each member is a column. The caller zeroes the struct once; later calls reuse its memory. */
struct tree_rows {
    uint32_t *node;
    uint32_t *depth, *func, *category;
    double *total, *self;
    uint8_t *has_children;
    /* Only for a comparison, see struct tree_row. */
    bool is_compared;
    double *base_total, *base_self, *new_total, *new_self, *rank;
    size_t length, capacity, compared_capacity;
};

/* False if memory ran out. */
bool tree_rows_push(struct tree_rows *rows, struct tree_row row);

/* A tree as the source of rows; handles identify its nodes. */
struct row_source {
    void *tree;
    /* Appends the children of a node, in any order: the entry's index is the handle, its magnitude the weight (of any
     * sign). */
    int (*collect_children)(void *tree, uint32_t node, struct order_entries *children, struct error *err);
    struct tree_row (*row)(void *tree, uint32_t node);
};

/* Replaces `rows` by the children of a node, heaviest first. */
int tree_rows_list_children(struct tree_rows *rows, const struct row_source *source, uint32_t node, struct error *err);

/* Lists all descendants of a node, depth first with the heaviest child first; at most `limit`. */
int tree_rows_list_descendants(struct tree_rows *rows, const struct row_source *source, uint32_t node, size_t limit,
                               struct error *err);

void tree_rows_destroy(struct tree_rows *rows);
