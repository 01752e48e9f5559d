/*
 * The critical path in parts: the CPU time of each thread, the waits by object, and the runnable time. The parts add up
 * to the range.
 */
#pragma once

#include "base/text_buffer.h"
#include "tree/engine.h"
#include "tree/own_frame.h"
#include "tree/path_pieces.h"

struct path_part {
    double ms;
    enum path_state state;
    bool is_estimated; /* more than 1 % are waits without rows of their own: see path_pieces.h */
    uint32_t thread;   /* the thread of the longest piece; PATH_RUNS and PATH_WAITS have the threads of its name */
    uint32_t func;   /* for PATH_RUNS and PATH_WAITS, the innermost func of the program with more than half of the part;
                        PROFILE_NONE: unknown */
    uint32_t object; /* for PATH_WAITS, the func of the object; PROFILE_NONE: unknown */
    uint32_t waiter; /* on another thread than the first: the thread that waited, in the longest piece; PROFILE_NONE:
                        none */
    uint32_t waited_for;       /* the func of the object for which `waiter` waited; PROFILE_NONE: unknown */
    struct own_place wakes_in; /* where the thread ended the wait of `waiter` */
};

ARRAY_TYPE(struct path_parts, struct path_part); /* zero it first; free it with array_free() */

/* Lists the parts, longest first: pieces of one state, name of a thread, object of a wait, and object for which others
 * waited. The pieces of `first`, the thread at which the path ends, form a group without a name. Time: n log n for n
 * pieces, and linear in the stacks for each of the first PATH_PARTS_NAMED parts, which alone have funcs. */
int find_critical_path_parts(const struct engine *engine, const struct critical_path *path, uint32_t first,
                             struct path_parts *parts, struct error *err);

enum { PATH_PARTS_NAMED = 12 };

enum { PATH_PARTS_USUAL = 6 };

/* Appends a sentence with the first `most` parts and the sum of the others: "Of 29.7 ms, 12.4 ms CPU time of worker-2
 * in compress while main waits for mutex cache, which ends in serve (cache.c:40), about 9.0 ms waiting (disk: read
 * data) in load, 8.3 ms in smaller parts." */
int path_parts_append_sentence(struct text_buffer *text, const struct engine *engine, const struct path_parts *parts,
                               uint32_t first, size_t most, struct error *err);

/* Returns one past the last segment that a table shows in one row with segment `i`. The segments of a row have the same
 * thread and state. A row has one wait. A row of CPU time may contain pauses of less than half an interval. */
size_t find_row_end(const struct profile *profile, const struct critical_path *path, size_t i);

/* Returns the segment that stands for the row [first, end): the longest of those in the leaf function with more than
 * half of the time of the row, else the longest of all. */
const struct path_segment *find_row_segment(const struct profile *profile, const struct critical_path *path,
                                            size_t first, size_t end);

/* Appends the innermost callers of a segment, and its waker, or the thread that waits for it: "compute < second <
 * start_thread, first waits for mutex lock_b, which ends in second (locks.c:20)". */
int path_segment_append_text(struct text_buffer *text, const struct profile *profile,
                             const struct path_segment *segment, struct error *err);

/* Returns "runs", "runnable", "waits", "unseen" or "absent". */
const char *get_path_state_name(enum path_state state);

/* Appends the times of the slowest intervals that the engine's query selects, thread by thread; none if no transform
 * selects the slowest intervals. */
int engine_list_slowest_ranges(const struct engine *engine, struct path_ranges *ranges, struct error *err);

/* Replaces the weights of the engine's query by the path: the tree then adds up to the range, in ms, without the
 * inverted tree. Each piece (path_pieces.h) counts for its stack; PATH_UNSEEN and pieces without a stack count for
 * "(not running)". Valid until the next query. */
int engine_weigh_path(struct engine *engine, const struct critical_path *path, struct error *err);
