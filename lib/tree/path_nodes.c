#include "tree/path_nodes.h"

#include <stdlib.h>
#include <string.h>

static uint32_t find_child(const struct call_nodes *nodes, uint32_t parent, uint32_t func)
{
    uint32_t last = call_nodes_last(nodes, parent);
    for (uint32_t child = call_nodes_first(nodes, parent); child < last; child = nodes->end[child])
        if (nodes->func[child] == func)
            return child;
    return NODE_NONE;
}

static void keep_subtree(const struct call_nodes *nodes, const struct tree_path *path, uint8_t *kept)
{
    uint32_t node = NODE_NONE;
    for (size_t i = 0; i < path->length; i++) {
        node = find_child(nodes, node, path->funcs[i]);
        if (node == NODE_NONE)
            return;
    }
    memset(kept + node, 1, nodes->end[node] - node);
}

static bool ends_in(const struct call_nodes *nodes, uint32_t node, const struct tree_path *path)
{
    for (size_t i = 0; i < path->length; i++) {
        if (node == NODE_NONE || nodes->func[node] != path->funcs[i])
            return false;
        node = nodes->prefix[node];
    }
    return true;
}

void path_nodes(const struct call_nodes *nodes, const struct tree_path *path, uint8_t *kept)
{
    memset(kept, path->length == 0, nodes->length);
    if (path->length == 0)
        return;
    if (!path->inverted) {
        keep_subtree(nodes, path, kept);
        return;
    }
    for (uint32_t node = 0; node < nodes->length; node++)
        kept[node] = ends_in(nodes, node, path);
}

static bool is_same(const struct kept_path *kept, const struct tree_path *path)
{
    if (!kept->valid || kept->inverted != path->inverted || kept->funcs.length != path->length)
        return false;
    return path->length == 0 || memcmp(kept->funcs.data, path->funcs, path->length * sizeof(*path->funcs)) == 0;
}

int kept_path_update(struct kept_path *kept, const struct call_nodes *nodes, const struct tree_path *path,
                     struct error *err)
{
    if (is_same(kept, path))
        return 0;
    kept->valid = false;
    kept->funcs.length = 0;
    if (!kept->kept)
        kept->kept = malloc(nodes->length + 1);
    if (!kept->kept || !array_reserve(&kept->funcs, path->length))
        return error_no_memory(err);
    for (size_t i = 0; i < path->length; i++)
        kept->funcs.data[kept->funcs.length++] = path->funcs[i];
    kept->inverted = path->inverted;
    path_nodes(nodes, path, kept->kept);
    kept->valid = true;
    return 0;
}

void kept_path_destroy(struct kept_path *kept)
{
    array_free(&kept->funcs);
    free(kept->kept);
    *kept = (struct kept_path){0};
}
