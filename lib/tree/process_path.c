#include "tree/process_path.h"

#include "tree/order.h"

struct walk {
    struct process_tree *tree;
    const struct profile *profile;
    uint32_t *by_end; /* processes by parent, then by end */
    uint32_t *first,
        *remaining; /* for each process, its first child in by_end, and its children that the walk has not seen */
};

static bool must_follow(const void *context, uint32_t a, uint32_t b)
{
    const struct process *processes = ((const struct walk *)context)->tree->processes.data;
    const struct process *left = &processes[a], *right = &processes[b];
    return left->parent != right->parent ? right->parent < left->parent : right->end < left->end;
}

/* Whether a process waits just before a time, or has no samples then. */
static bool is_waiting(const struct walk *walk, const struct process *process, double time)
{
    enum { MOST_THREADS = 64 };
    static const double clocks_differ = 1.1; /* the CPU time of a gap and its length have two clocks */
    bool has_gap = false;
    for (uint32_t i = 0; i < process->thread_count && i < MOST_THREADS; i++) {
        const struct thread_gaps gaps = find_sample_gaps(walk->profile, walk->tree->threads[process->first_thread + i]);
        struct time_range extent;
        size_t gap = find_gap_at(&gaps, nextafter(time, -INFINITY), &extent);
        if (gap == SIZE_MAX)
            continue;
        if (time - extent.from > clocks_differ * measure_gap_in(&gaps, gap, whole_time).cpu)
            return true;
        has_gap = true;
    }
    return !has_gap;
}

/* Returns the last child that ended at `time` or earlier while its parent waited for it, or PROFILE_NONE. */
static uint32_t find_child(struct walk *walk, uint32_t parent, double time)
{
    const struct process *processes = walk->tree->processes.data;
    while (walk->remaining[parent]) {
        uint32_t child = walk->by_end[walk->first[parent] + --walk->remaining[parent]];
        if (processes[child].end <= time && is_waiting(walk, &processes[parent], processes[child].end))
            return child;
    }
    return PROFILE_NONE;
}

static bool add_step(struct process_tree *tree, uint32_t process, double from, double to)
{
    tree->processes.data[process].on_path += to - from;
    return !(from < to) || array_push(&tree->path, (struct process_step){from, to, process});
}

static bool follow(struct walk *walk, uint32_t root)
{
    struct process_tree *tree = walk->tree;
    const struct process *processes = tree->processes.data;
    double time = processes[root].end;
    for (uint32_t process = root;;) {
        uint32_t child = find_child(walk, process, time);
        double from = child == PROFILE_NONE ? fmin(time, processes[process].start) : processes[child].end;
        if (!add_step(tree, process, from, time))
            return false;
        if (child == PROFILE_NONE && process == root)
            break;
        time = from;
        process = child == PROFILE_NONE ? processes[process].parent : child;
    }
    for (size_t i = 0, last = tree->path.length; i + 1 < last; i++, last--) {
        struct process_step swap = tree->path.data[i];
        tree->path.data[i] = tree->path.data[last - 1];
        tree->path.data[last - 1] = swap;
    }
    return true;
}

int find_process_path(struct process_tree *tree, const struct profile *profile, struct error *err)
{
    size_t count = tree->processes.length;
    const struct process *processes = tree->processes.data;
    struct walk walk = {.tree = tree,
                        .profile = profile,
                        .by_end = malloc((count + 1) * sizeof(*walk.by_end)),
                        .first = calloc(count + 1, sizeof(*walk.first)),
                        .remaining = calloc(count + 1, sizeof(*walk.remaining))};
    int code = walk.by_end && walk.first && walk.remaining ? 0 : error_no_memory(err);
    uint32_t root = 0;
    for (uint32_t i = 0; !code && i < count; i++) {
        walk.by_end[i] = i;
        root = processes[i].tree_cpu > processes[root].tree_cpu ? i : root;
    }
    if (!code)
        code = order_sort_numbers(walk.by_end, count, must_follow, &walk, err);
    for (uint32_t i = 0; !code && i < count; i++) {
        uint32_t parent = processes[walk.by_end[i]].parent;
        if (parent == PROFILE_NONE)
            continue;
        walk.first[parent] = walk.remaining[parent]++ ? walk.first[parent] : i;
    }
    if (!code && count && !follow(&walk, root))
        code = error_no_memory(err);
    free(walk.by_end);
    free(walk.first);
    free(walk.remaining);
    return code;
}
