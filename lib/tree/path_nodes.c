#include "tree/path_nodes.h"

static uint32_t find_child(const struct call_nodes *nodes, uint32_t parent, uint32_t func)
{
    uint32_t last = call_nodes_get_children_end(nodes, parent);
    for (uint32_t child = call_nodes_get_first_child(nodes, parent); child < last; child = nodes->end[child])
        if (nodes->func[child] == func)
            return child;
    return NODE_NONE;
}

static void keep_subtree(const struct call_nodes *nodes, const struct tree_path *path, uint8_t *matching)
{
    uint32_t node = NODE_NONE;
    for (size_t i = 0; i < path->length; i++) {
        node = find_child(nodes, node, path->funcs[i]);
        if (node == NODE_NONE)
            return;
    }
    memset(matching + node, 1, nodes->end[node] - node);
}

static bool ends_with_path(const struct call_nodes *nodes, uint32_t node, const struct tree_path *path)
{
    for (size_t i = 0; i < path->length; i++) {
        if (node == NODE_NONE || nodes->func[node] != path->funcs[i])
            return false;
        node = nodes->prefix[node];
    }
    return true;
}

/* Takes time linear in the number of nodes, times the length of the path. */
static void match_nodes(const struct call_nodes *nodes, const struct tree_path *path, uint8_t *matching)
{
    memset(matching, path->length == 0, nodes->length);
    if (path->length == 0)
        return;
    if (!path->inverted) {
        keep_subtree(nodes, path, matching);
        return;
    }
    for (uint32_t node = 0; node < nodes->length; node++)
        matching[node] = ends_with_path(nodes, node, path);
}

int matching_path_update(struct matching_path *cached, const struct call_nodes *nodes, const struct tree_path *path,
                         struct error *err)
{
    if (cached->valid && cached->inverted == path->inverted && array_equals(&cached->funcs, path->funcs, path->length))
        return 0;
    cached->valid = false;
    cached->funcs.length = 0;
    if (!cached->matching)
        cached->matching = malloc(nodes->length + 1);
    if (!cached->matching || !array_reserve(&cached->funcs, path->length))
        return error_no_memory(err);
    for (size_t i = 0; i < path->length; i++)
        cached->funcs.data[cached->funcs.length++] = path->funcs[i];
    cached->inverted = path->inverted;
    match_nodes(nodes, path, cached->matching);
    cached->valid = true;
    return 0;
}

void matching_path_destroy(struct matching_path *cached)
{
    array_free(&cached->funcs);
    free(cached->matching);
    *cached = (struct matching_path){0};
}
