#include "tree/tree_rows.h"

enum { COMPARED_COLUMNS = 5 };

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

static void list_side_columns(struct tree_rows *rows, double **columns[COMPARED_COLUMNS])
{
    columns[0] = &rows->base_total;
    columns[1] = &rows->base_self;
    columns[2] = &rows->new_total;
    columns[3] = &rows->new_self;
    columns[4] = &rows->rank;
}

/* Grows the columns of sides to the size of the other columns; allocates them at the first row of a comparison. */
static bool reserve_sides(struct tree_rows *rows)
{
    double **columns[COMPARED_COLUMNS];
    list_side_columns(rows, columns);
    if (rows->compared_capacity == rows->capacity)
        return true;
    for (size_t i = 0; i < COMPARED_COLUMNS; i++)
        if (!grow_column(columns[i], rows->capacity, sizeof(double)))
            return false;
    rows->compared_capacity = rows->capacity;
    return true;
}

bool tree_rows_push(struct tree_rows *rows, struct tree_row row)
{
    if (!reserve_row(rows) || (row.is_compared && !reserve_sides(rows)))
        return false;
    size_t at = rows->length++;
    rows->node[at] = row.node;
    rows->depth[at] = row.depth;
    rows->func[at] = row.func;
    rows->category[at] = row.category;
    rows->total[at] = row.total;
    rows->self[at] = row.self;
    rows->has_children[at] = row.has_children;
    rows->is_compared = row.is_compared;
    if (!row.is_compared)
        return true;
    rows->base_total[at] = row.sides[SIDE_BASE].total;
    rows->base_self[at] = row.sides[SIDE_BASE].self;
    rows->new_total[at] = row.sides[SIDE_NEW].total;
    rows->new_self[at] = row.sides[SIDE_NEW].self;
    rows->rank[at] = row.rank;
    return true;
}

static bool push_row_of_node(struct tree_rows *rows, const struct row_source *source, uint32_t node)
{
    return tree_rows_push(rows, source->row(source->tree, node));
}

/* Appends the children of `node` to `children`, heaviest first. */
static int sort_children(const struct row_source *source, uint32_t node, struct order_entries *children,
                         struct error *err)
{
    size_t first = children->length;
    int code = source->collect_children(source->tree, node, children, err);
    if (code || children->length == first)
        return code;
    return order_sort_heaviest_first(children->data + first, children->length - first, err);
}

int tree_rows_list_children(struct tree_rows *rows, const struct row_source *source, uint32_t node, struct error *err)
{
    struct order_entries children = {0};
    rows->length = 0;
    int code = sort_children(source, node, &children, err);
    for (size_t i = 0; !code && i < children.length; i++)
        if (!push_row_of_node(rows, source, children.data[i].index))
            code = error_no_memory(err);
    array_free(&children);
    return code;
}

static void reverse(struct order_entry *entries, size_t length)
{
    for (size_t i = 0; i < length / 2; i++) {
        struct order_entry swap = entries[i];
        entries[i] = entries[length - 1 - i];
        entries[length - 1 - i] = swap;
    }
}

int tree_rows_list_descendants(struct tree_rows *rows, const struct row_source *source, uint32_t node, size_t limit,
                               struct error *err)
{
    struct order_entries pending = {0}; /* a stack: the next row is on top */
    int code = 0;
    rows->length = 0;
    while (!code && rows->length < limit) {
        size_t base = pending.length;
        code = sort_children(source, node, &pending, err);
        if (code || pending.length == 0)
            break;
        reverse(pending.data + base, pending.length - base);
        node = pending.data[--pending.length].index;
        if (!push_row_of_node(rows, source, node))
            code = error_no_memory(err);
    }
    array_free(&pending);
    return code;
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
    double **columns[COMPARED_COLUMNS];
    list_side_columns(rows, columns);
    for (size_t i = 0; i < COMPARED_COLUMNS; i++)
        free(*columns[i]);
    *rows = (struct tree_rows){0};
}
