/*
 * The pieces of a critical path. Unseen waits are split by the recorded waits that stand for them.
 */
#pragma once

#include "tree/critical_path.h"

struct path_piece {
    double ms;
    uint32_t segment;      /* of the path */
    enum path_state state; /* of the segment; an estimated piece of PATH_UNSEEN is PATH_WAITS or PATH_RUNNABLE */
    uint32_t stack;        /* of the segment; of an estimated piece, of the wait that stands for it */
    bool is_estimated;
};

ARRAY_TYPE(struct path_pieces, struct path_piece); /* zero it first; free it with array_free() */

/* Lists one piece for each segment, and one for each recorded wait that stands for a part of a PATH_UNSEEN segment.
 * Uses the memory of an earlier call. The pieces of a segment add up to its length. The unseen time of a thread and the
 * weights of the waits that stand for this time are both in the order of time, so the n-th ms of the unseen time
 * belongs to the n-th ms of the weights. So the kinds of all unseen waits of a thread have the same sums as in
 * engine_group_waits(). Time: linear in the rows of the threads on the path, and n log n for n segments. */
int path_pieces_make(struct path_pieces *pieces, const struct profile *profile, const struct critical_path *path,
                     struct error *err);

/* Returns the func of the object of a wait with this stack; PROFILE_NONE: unknown. */
uint32_t find_path_object(const struct profile *profile, uint32_t stack);
