#include "tree/tree_rows.h"

#include <stdlib.h>

static bool grow_column(void *column, size_t capacity, size_t element_size)
{
    void **place = column;
    void *moved = realloc(*place, capacity * element_size);
    if (moved)
        *place = moved;
    return moved != NULL;
}

static bool reserve_row(struct tree_rows *rows)
{
    if (rows->length < rows->capacity)
        return true;
    size_t capacity = rows->capacity ? rows->capacity * 2 : 8;
    if (!grow_column(&rows->node, capacity, sizeof(*rows->node)) ||
        !grow_column(&rows->depth, capacity, sizeof(*rows->depth)) ||
        !grow_column(&rows->func, capacity, sizeof(*rows->func)) ||
        !grow_column(&rows->category, capacity, sizeof(*rows->category)) ||
        !grow_column(&rows->total, capacity, sizeof(*rows->total)) ||
        !grow_column(&rows->self, capacity, sizeof(*rows->self)) ||
        !grow_column(&rows->has_children, capacity, sizeof(*rows->has_children)))
        return false;
    rows->capacity = capacity;
    return true;
}

bool tree_rows_push(struct tree_rows *rows, struct tree_row row)
{
    if (!reserve_row(rows))
        return false;
    size_t at = rows->length++;
    rows->node[at] = row.node;
    rows->depth[at] = row.depth;
    rows->func[at] = row.func;
    rows->category[at] = row.category;
    rows->total[at] = row.total;
    rows->self[at] = row.self;
    rows->has_children[at] = row.has_children;
    return true;
}

void tree_rows_destroy(struct tree_rows *rows)
{
    free(rows->node);
    free(rows->depth);
    free(rows->func);
    free(rows->category);
    free(rows->total);
    free(rows->self);
    free(rows->has_children);
    *rows = (struct tree_rows){0};
}
