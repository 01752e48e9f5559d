/*
 * Rows of a tree in display order, in columns: what every tree answers with.
 */
#ifndef PROF_TREE_TREE_ROWS_H
#define PROF_TREE_TREE_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tree_row {
    uint32_t node; /* handle, of the tree that was asked */
    uint32_t depth, func, category;
    double total, self;
    bool has_children;
};

/* A column each. Zero it to start; the memory is used again by later calls. */
struct tree_rows {
    uint32_t *node;
    uint32_t *depth, *func, *category;
    double *total, *self;
    uint8_t *has_children;
    size_t length, capacity;
};

/* False if memory ran out. */
bool tree_rows_push(struct tree_rows *rows, struct tree_row row);

void tree_rows_destroy(struct tree_rows *rows);

#endif
