#include "tree/wait_parts.h"

#include "tree/engine_state.h"

/* Finds the node for which the query counts waits with this stack; false if a filter dropped the stack. */
static bool find_node(const struct engine *engine, uint32_t stack, uint32_t *node)
{
    const uint8_t *matching = engine_get_matching_nodes(engine);
    *node = stack == PROFILE_NONE ? NODE_NONE : engine->nodes->of_sample[stack];
    return *node != NODE_NONE && (!matching || matching[*node]);
}

/* Returns the wait that ends at row `i`. */
static struct wait_part make_wait_part(const struct thread_gaps *gaps, size_t i, struct time_range range)
{
    const struct sample_table *samples = gaps->samples;
    const struct wait_weight weight = measure_wait_in(gaps, i, range);
    return (struct wait_part){.ms = weight.own + weight.unseen,
                              .longest = weight.own,
                              .length = weight.length,
                              .unseen = weight.length > 0 ? weight.unseen / weight.length : 0,
                              .is_recorded = true,
                              .time = {samples->time[i - 1], samples->time[i]},
                              .stack = samples->stack[i],
                              .waker = samples->waker ? samples->waker[i] : PROFILE_NONE,
                              .waker_stack = samples->waker_stack ? samples->waker_stack[i] : PROFILE_NONE};
}

bool visit_wait_parts(const struct engine *engine, uint32_t thread,
                      bool (*add)(void *context, const struct wait_part *part), void *context)
{
    const struct thread_gaps gaps = find_sample_gaps(engine_get_profile(engine), thread);
    const struct sample_table *left = engine_get_samples(engine, thread);
    struct row_cursor wait_end = {0};
    size_t first, after;
    if (!has_wait_rows(&gaps.waits))
        return true;
    bool has_waits = row_cursor_find(&wait_end, &gaps.waits, ROW_WAIT_END, 0) != SIZE_MAX;
    find_samples_in_range(left, engine->range, &first, &after);
    for (size_t i = first; i <= left->length; i++) {
        struct wait_part part = {.stack = PROFILE_NONE, .waker = PROFILE_NONE, .waker_stack = PROFILE_NONE};
        if (i > after && (i == left->length || left->time[i] >= engine->range.to + wait_weight_spread))
            break;
        if (has_waits && is_wait_end(&gaps.waits, i))
            part = make_wait_part(&gaps, i, engine->range);
        else if (!has_waits && i <= after)
            part.ms = measure_gap_in(&gaps, i, engine->range).wait;
        uint32_t stack = has_waits && part.is_recorded ? left->stack[i] : engine->base->not_running;
        if (part.ms > 0 && find_node(engine, stack, &part.node) && !add(context, &part))
            return false;
    }
    return true;
}
