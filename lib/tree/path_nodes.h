/*
 * The samples of one row of a tree, as call nodes: the nodes below a path from the root or, in an inverted tree, the
 * nodes whose path ends in the row's path.
 */
#pragma once

#include "base/array.h"
#include "tree/call_nodes.h"

struct tree_path {
    const uint32_t *funcs; /* funcs of the path, root first; in an inverted tree, leaf first */
    size_t length;
    bool inverted;
};

/* Cached nodes of the latest path: graphs request the same path for each thread. Zero it to start. */
struct matching_path {
    ARRAY(uint32_t) funcs;
    bool inverted;
    bool valid;
    /* Per node: 1 if the row at the end of the path counts its samples, else 0. All 0 for a path that does not exist,
     * all 1 for a path of length 0. NULL before the first path is requested. */
    uint8_t *matching;
};

/* Updates cached->matching for `path`. All calls for one cache must pass the same `nodes`. */
int matching_path_update(struct matching_path *cached, const struct call_nodes *nodes, const struct tree_path *path,
                         struct error *err);

void matching_path_destroy(struct matching_path *cached);
