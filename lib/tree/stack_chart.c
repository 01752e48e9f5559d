/*
 * One pass over the samples of the range groups them: a sample at least one column wide is a group of its own; narrower
 * samples join the next sample that is wide enough. Each group has only the innermost call node that all its samples
 * share; as nodes are numbered depth first, finding this node takes one comparison per sample. Drawing a chart
 * takes little more time than reading its samples. Each group opens and closes rects.
 */
#include "tree/stack_chart.h"

#include "tree/engine_state.h"

struct level {
    uint32_t node; /* of the open rect */
    uint32_t rect;
    uint32_t aggregate; /* the last aggregate at this depth, or STACK_NO_RECT */
};

ARRAY_TYPE(struct levels, struct level);

struct chart {
    const struct engine *engine;
    const struct call_nodes *nodes;
    struct levels levels; /* by depth */
    uint32_t open;        /* the number of levels with an open rect */
    struct stack_rects *rects;
};

/* Consecutive samples in the same columns. */
struct group {
    uint32_t start, end; /* columns */
    double first, last;  /* ms */
    uint32_t common;     /* the innermost node on all stacks of the group, or NODE_NONE for none */
    uint32_t example;    /* the node of the longest sample with a node */
    double longest;      /* columns */
    uint32_t runnable;   /* stack of a wait for a CPU, on the rects of the last sample; PROFILE_NONE: none */
    size_t count;
};

static bool is_within(const struct call_nodes *nodes, uint32_t node, uint32_t ancestor)
{
    return node >= ancestor && node < nodes->end[ancestor];
}

static uint32_t find_common_node(const struct call_nodes *nodes, uint32_t a, uint32_t b)
{
    if (b == NODE_NONE)
        return NODE_NONE;
    while (a != NODE_NONE && !is_within(nodes, b, a))
        a = nodes->prefix[a];
    return a;
}

static uint32_t count_levels(const struct call_nodes *nodes, uint32_t node)
{
    return node == NODE_NONE ? 0 : nodes->depth[node] + 1;
}

static bool reserve_levels(struct chart *chart, uint32_t count)
{
    while (chart->levels.length < count)
        if (!array_push(&chart->levels, (struct level){.aggregate = STACK_NO_RECT}))
            return false;
    return true;
}

static void close_rects(struct chart *chart, uint32_t node, uint32_t column, double time)
{
    for (; chart->open; chart->open--) {
        const struct level *level = &chart->levels.data[chart->open - 1];
        if (node != NODE_NONE && is_within(chart->nodes, node, level->node))
            return;
        chart->rects->data[level->rect].end = column;
        chart->rects->data[level->rect].last = time;
    }
}

/* Opens the missing rects from the innermost open rect to the node's rect. False if memory ran out. */
static bool open_rects(struct chart *chart, uint32_t node, const struct group *group)
{
    uint32_t count = count_levels(chart->nodes, node);
    if (!chart->levels.data)
        return count == 0;
    for (uint32_t at = node, depth = count; depth-- > chart->open; at = chart->nodes->prefix[at])
        chart->levels.data[depth].node = at;
    for (; chart->open < count; chart->open++) {
        struct level *level = &chart->levels.data[chart->open];
        uint32_t func = chart->nodes->func[level->node];
        struct stack_rect rect = {.first = group->first,
                                  .start = group->start,
                                  .node = level->node,
                                  .parent = chart->open ? chart->levels.data[chart->open - 1].rect : STACK_NO_RECT,
                                  .depth = chart->open,
                                  .func = func,
                                  .category = chart->nodes->category[level->node],
                                  .matches = engine_func_matches(chart->engine, func)};
        level->rect = (uint32_t)chart->rects->length;
        if (!array_push(chart->rects, rect))
            return false;
    }
    return true;
}

/* Adds a rect for one category of a shared column. False if memory ran out. */
static bool add_aggregate(struct chart *chart, uint32_t node, const struct group *group)
{
    uint32_t depth = chart->nodes->depth[node], category = chart->nodes->category[node];
    struct level *level = &chart->levels.data[depth];
    struct stack_rect *last = level->aggregate == STACK_NO_RECT ? NULL : &chart->rects->data[level->aggregate];
    uint32_t matches = engine_func_matches(chart->engine, chart->nodes->func[node]);
    if (last && last->end == group->start && last->category == category && last->matches == matches) {
        last->end = group->end;
        last->last = group->last;
        return true;
    }
    level->aggregate = (uint32_t)chart->rects->length;
    return array_push(chart->rects, (struct stack_rect){.first = group->first,
                                                        .last = group->last,
                                                        .start = group->start,
                                                        .end = group->end,
                                                        .node = NODE_NONE,
                                                        .parent = STACK_NO_RECT,
                                                        .depth = depth,
                                                        .func = PROFILE_NONE,
                                                        .category = category,
                                                        .matches = matches});
}

static bool draw_group(struct chart *chart, const struct group *group)
{
    const struct call_nodes *nodes = chart->nodes;
    uint32_t shared = count_levels(nodes, group->common), depth = count_levels(nodes, group->example);
    close_rects(chart, group->common, group->start, group->first);
    if (!reserve_levels(chart, depth > shared ? depth : shared) || !open_rects(chart, group->common, group))
        return false;
    for (uint32_t node = group->example; depth > shared; node = nodes->prefix[node], depth--)
        if (!add_aggregate(chart, node, group))
            return false;
    return true;
}

/* Adds the rect of a wait for a CPU, on the open rects. False if memory ran out. */
static bool add_runnable(struct chart *chart, const struct group *group)
{
    const struct profile *profile = engine_get_profile(chart->engine);
    uint32_t frame = profile->stacks.frame[group->runnable], func = profile->frames.func[frame];
    return array_push(chart->rects, (struct stack_rect){.first = group->first,
                                                        .last = group->last,
                                                        .start = group->start,
                                                        .end = group->end,
                                                        .node = NODE_NONE,
                                                        .parent = STACK_NO_RECT,
                                                        .depth = chart->open,
                                                        .func = func,
                                                        .category = profile->frames.category[frame],
                                                        .matches = engine_func_matches(chart->engine, func)});
}

static void add_to_group(struct group *group, const struct call_nodes *nodes, uint32_t node, double width)
{
    if (group->count++ == 0) {
        group->common = group->example = node;
        group->longest = width;
        return;
    }
    group->common = find_common_node(nodes, group->common, node);
    if (node != NODE_NONE && (group->example == NODE_NONE || width > group->longest)) {
        group->longest = width;
        group->example = node;
    }
}

/* The last sample of the group is wide: only its first column is shared with earlier samples. False if memory ran
 * out. */
static bool finish_group(struct chart *chart, struct group *group, uint32_t node, double time)
{
    bool enough = true;
    if (group->count > 1 && group->end > group->start + 1) {
        struct group shared = *group;
        shared.end = group->start + 1;
        shared.last = time;
        enough = draw_group(chart, &shared);
        group->start = shared.end;
        group->first = time;
        group->count = 1;
    }
    if (group->count == 1)
        group->common = group->example = node;
    enough = enough && draw_group(chart, group);
    if (group->count == 1 && group->runnable != PROFILE_NONE)
        enough = enough && add_runnable(chart, group);
    *group = (struct group){
        .start = group->end, .end = group->end, .first = group->last, .last = group->last, .runnable = PROFILE_NONE};
    return enough;
}

/* ---- from samples to groups ---- */

struct scale {
    const struct sample_table *samples;
    const uint32_t *node_of_stack;
    const uint8_t *matching; /* by node, or NULL (all) */
    struct thread_gaps gaps;
    double interval, from, columns_per_ms;
    double columns_per_change; /* 0 if widths are proportional to durations */
    uint32_t columns;
    bool has_running, has_waits; /* whether the weight of the query counts running time and waits, in a thread with
                                  * recorded waits */
    uint32_t runnable_reason;    /* find_runnable_reason() */
};

/* A time range with one known stack. */
struct piece {
    uint32_t node;
    uint32_t runnable;  /* see struct group */
    double first, last; /* ms */
};

static double get_time_after(const struct scale *scale, size_t i)
{
    const struct sample_table *samples = scale->samples;
    double after = samples->time[i] + scale->interval;
    if (i + 1 < samples->length)
        return samples->time[i + 1];
    return fmax(samples->time[i], fmin(after, scale->gaps.known_end));
}

static bool is_sleep_after(const struct scale *scale, size_t i)
{
    const double *time = scale->samples->time;
    return i + 1 < scale->samples->length && time[i + 1] - time[i] > scale->gaps.shortest_wait &&
           gap_is_wait(&scale->gaps, i + 1);
}

static double convert_to_column(const struct scale *scale, double time)
{
    double column = (time - scale->from) * scale->columns_per_ms;
    return !(column > 0) ? 0 : column > scale->columns ? scale->columns : column;
}

static uint32_t find_node_of_sample(const struct scale *scale, uint32_t stack)
{
    uint32_t node = stack == PROFILE_NONE ? NODE_NONE : scale->node_of_stack[stack];
    return node != NODE_NONE && scale->matching && !scale->matching[node] ? NODE_NONE : node;
}

static uint32_t get_sample_node(const struct scale *scale, size_t i)
{
    return find_node_of_sample(scale, scale->samples->stack[i]);
}

/* Adds a piece that ends at column `end` to the group, and draws the group once it is wide enough. False if memory
 * ran out. */
static inline bool add_piece(struct chart *chart, struct group *group, struct piece piece, double *column, double end)
{
    end = end > *column ? end : *column; /* intervals may be negative */
    double width = end - *column;
    *column = end;
    group->last = piece.last;
    group->end = (uint32_t)(end + 0.5);
    group->runnable = piece.runnable;
    add_to_group(group, chart->nodes, piece.node, width);
    return group->end == group->start || finish_group(chart, group, piece.node, piece.first);
}

/* Splits the time from sample `i` to the next sample into one or two pieces. */
static size_t split_sample(const struct scale *scale, size_t i, struct piece pieces[2])
{
    const struct sample_table *samples = scale->samples;
    pieces[0] = (struct piece){get_sample_node(scale, i), PROFILE_NONE, samples->time[i], get_time_after(scale, i)};
    if (!is_sleep_after(scale, i))
        return 1;
    pieces[1] = pieces[0];
    pieces[0].last = pieces[1].first = samples->time[i] + scale->interval;
    pieces[1].node = gap_has_waiting_sample(&scale->gaps, i + 1) ? get_sample_node(scale, i + 1) : NODE_NONE;
    return 2;
}

/* Returns whether the wait that ends at row `i` counts, and is a wait for a CPU. */
static bool is_runnable(const struct scale *scale, size_t i)
{
    return scale->samples->stack[i] != PROFILE_NONE &&
           get_wait_row_reason(&scale->gaps.waits, i) == scale->runnable_reason;
}

/* Returns the node that a wait for a CPU interrupted, for the wait that ends at row `i`. The node has the callers in
 * the wait's stack, or else the stack of the CPU time before or after the wait. */
static uint32_t find_interrupted_node(const struct scale *scale, size_t i)
{
    const struct wait_rows *waits = &scale->gaps.waits;
    uint32_t callers = waits->prefix_of_stack[scale->samples->stack[i]];
    if (callers == PROFILE_NONE)
        callers = find_running_stack(waits, scale->samples, i - 1);
    if (callers == PROFILE_NONE && i + 1 < scale->samples->length)
        callers = find_running_stack(waits, scale->samples, i + 1);
    return find_node_of_sample(scale, callers);
}

/* Splits the time from sample `i` to the next sample in a thread with recorded waits. */
static size_t split_gap_with_waits(const struct scale *scale, size_t i, struct piece pieces[2])
{
    const struct wait_rows *waits = &scale->gaps.waits;
    size_t next = i + 1;
    bool is_last = next == scale->samples->length;
    pieces[0] = (struct piece){NODE_NONE, PROFILE_NONE, scale->samples->time[i], get_time_after(scale, i)};
    if (is_wait_end(waits, next)) {
        if (is_runnable(scale, next)) {
            pieces[0].node = find_interrupted_node(scale, next);
            pieces[0].runnable = scale->samples->stack[next];
        } else if (scale->has_waits) {
            pieces[0].node = get_sample_node(scale, next);
        }
        return 1;
    }
    if (is_last && !is_cpu_row(waits, i))
        return 1;
    if (scale->has_running)
        pieces[0].node = find_node_of_sample(scale, find_running_stack(waits, scale->samples, next));
    double ran_until = is_last ? INFINITY : get_running_end_of_gap(&scale->gaps, next);
    if (ran_until >= pieces[0].last)
        return 1;
    pieces[1] = (struct piece){NODE_NONE, PROFILE_NONE, ran_until, pieces[0].last};
    pieces[0].last = ran_until;
    return 2;
}

static bool draw_by_time(struct chart *chart, const struct scale *scale, struct group *group, size_t first, size_t last)
{
    bool has_waits = has_wait_rows(&scale->gaps.waits);
    double column = convert_to_column(scale, scale->samples->time[first]);
    group->start = group->end = (uint32_t)(column + 0.5);
    for (size_t i = first; i < last; i++) {
        struct piece pieces[2];
        size_t count = has_waits ? split_gap_with_waits(scale, i, pieces) : split_sample(scale, i, pieces);
        for (size_t at = 0; at < count; at++) {
            bool is_before = at + 1 < count && pieces[at].first < scale->from && pieces[at].last <= scale->from;
            if (!is_before && !add_piece(chart, group, pieces[at], &column, convert_to_column(scale, pieces[at].last)))
                return false;
        }
    }
    return true;
}

static size_t count_changes(const struct scale *scale, size_t first, size_t last)
{
    size_t changes = 0;
    for (size_t i = first; i < last; i++)
        changes += i == first || get_sample_node(scale, i) != get_sample_node(scale, i - 1);
    return changes;
}

static bool draw_by_change(struct chart *chart, const struct scale *scale, struct group *group, size_t first,
                           size_t last)
{
    const struct sample_table *samples = scale->samples;
    double column = 0;
    for (size_t i = first, next; i < last; i = next) {
        uint32_t node = get_sample_node(scale, i);
        for (next = i + 1; next < last && get_sample_node(scale, next) == node;)
            next++;
        struct piece piece = {node, PROFILE_NONE, samples->time[i], get_time_after(scale, next - 1)};
        double end = fmin(column + scale->columns_per_change, scale->columns);
        if (!add_piece(chart, group, piece, &column, end))
            return false;
    }
    return true;
}

static bool draw_samples(struct chart *chart, const struct scale *scale, size_t first, size_t last)
{
    struct group group = {.first = scale->samples->time[first], .runnable = PROFILE_NONE};
    bool by_change = scale->columns_per_change > 0;
    if (!(by_change ? draw_by_change : draw_by_time)(chart, scale, &group, first, last))
        return false;
    if (group.count && group.start < scale->columns) { /* narrow samples at the end of the range */
        group.end = group.start + 1;
        if (!draw_group(chart, &group))
            return false;
    }
    close_rects(chart, NODE_NONE, group.end, group.last);
    return true;
}

int engine_compute_stack_chart(struct engine *engine, const struct stack_chart_request *request,
                               struct stack_rects *rects, struct error *err)
{
    const struct profile *profile = &engine->base->profile;
    double length = request->range.to - request->range.from;
    rects->length = 0;
    if (request->thread >= profile->threads.length)
        return error_set(err, EINVAL, "this profile has no thread %u", request->thread);
    const struct sample_table *samples = engine_get_samples(engine, request->thread);
    size_t first, last;
    find_samples_in_range(samples, request->range, &first, &last);
    if (!(length > 0) || request->columns == 0)
        return 0;
    struct scale scale = {.samples = samples,
                          .node_of_stack = engine->nodes->of_sample,
                          .matching = engine_get_matching_nodes(engine),
                          .gaps = find_sample_gaps(profile, request->thread),
                          .from = request->range.from,
                          .interval = profile->meta.interval,
                          .columns_per_ms = request->columns / length,
                          .columns = request->columns,
                          .has_running = engine->weight != WEIGH_OFF_CPU_TIME && engine->weight != WEIGH_OFF_CPU,
                          .has_waits = engine->weight != WEIGH_CPU_TIME && engine->weight != WEIGH_ON_CPU,
                          .runnable_reason = find_runnable_reason(profile)};
    if (first > 0 && get_time_after(&scale, first - 1) > request->range.from)
        first--;
    if (first == last)
        return 0;
    if (request->same_widths)
        scale.columns_per_change = (double)request->columns / (double)count_changes(&scale, first, last);
    struct chart chart = {.engine = engine, .nodes = engine->nodes, .rects = rects};
    bool enough = draw_samples(&chart, &scale, first, last);
    array_free(&chart.levels);
    return enough ? 0 : error_no_memory(err);
}
