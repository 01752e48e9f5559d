#include "export/export_stacks.h"

/* ---- locations ---- */

static bool is_own_func(const struct export_stacks *stacks, uint32_t stack)
{
    return stacks->view->func[stack] == stacks->profile->frames.func[stacks->view->frame[stack]];
}

/* Returns whether a stack is a call inlined into its caller. */
static bool is_inlined(const struct export_stacks *stacks, uint32_t stack)
{
    const struct frame_table *frames = &stacks->profile->frames;
    uint32_t prefix = stacks->view->prefix[stack], frame = stacks->view->frame[stack];
    if (prefix == PROFILE_NONE || frames->inline_depth[frame] == 0)
        return false;
    uint32_t outer = stacks->view->frame[prefix];
    return frames->address[frame] >= 0 && frames->address[outer] == frames->address[frame] &&
           frames->lib[outer] == frames->lib[frame] && frames->inline_depth[outer] + 1 == frames->inline_depth[frame] &&
           is_own_func(stacks, stack) && is_own_func(stacks, prefix);
}

static uint32_t find_location(struct export_stacks *stacks, const struct export_location *location)
{
    uint64_t key = hash_mix((uint64_t)location->outer << 32 | location->func, location->frame);
    uint32_t *first = hash_at(&stacks->index, key);
    if (!first)
        return LOCATION_NONE;
    for (uint32_t i = *first; i != HASH_MISSING; i = stacks->locations.data[i].next) {
        const struct export_location *other = &stacks->locations.data[i];
        if (other->outer == location->outer && other->func == location->func && other->frame == location->frame)
            return i;
    }
    uint32_t added = (uint32_t)stacks->locations.length;
    if (!array_push(&stacks->locations, *location)) {
        if (*first == HASH_MISSING)
            *first = 0; /* any location, because memory ran out */
        return LOCATION_NONE;
    }
    stacks->locations.data[added].next = *first;
    *first = added;
    return added;
}

int export_stacks_init(struct export_stacks *stacks, const struct engine *engine, struct error *err)
{
    stacks->view = engine_get_stacks(engine);
    stacks->profile = engine_get_profile(engine);
    size_t length = stacks->view->length;
    stacks->location = malloc((length + 1) * sizeof(*stacks->location));
    stacks->caller = malloc((length + 1) * sizeof(*stacks->caller));
    if (!stacks->location || !stacks->caller)
        return error_no_memory(err);
    for (uint32_t stack = 0; stack < length; stack++) {
        uint32_t prefix = stacks->view->prefix[stack];
        bool inlined = is_inlined(stacks, stack);
        const struct export_location location = {.outer = inlined ? stacks->location[prefix] : LOCATION_NONE,
                                                 .func = stacks->view->func[stack],
                                                 .frame = is_own_func(stacks, stack) ? stacks->view->frame[stack]
                                                                                     : PROFILE_NONE,
                                                 .next = LOCATION_NONE};
        stacks->caller[stack] = inlined ? stacks->caller[prefix] : prefix;
        stacks->location[stack] = find_location(stacks, &location);
        if (stacks->location[stack] == LOCATION_NONE)
            return error_no_memory(err);
    }
    return 0;
}

void export_stacks_destroy(struct export_stacks *stacks)
{
    array_free(&stacks->locations);
    hash_destroy(&stacks->index);
    free(stacks->location);
    free(stacks->caller);
    *stacks = (struct export_stacks){0};
}

/* ---- sums ---- */

struct summing {
    struct export_sums *sums;
    size_t weight, weight_count;
    bool failed;
};

static void add_sum(void *context, uint32_t stack, double weight, double time)
{
    struct summing *summing = context;
    struct export_sums *sums = summing->sums;
    (void)time;
    if (weight == 0 || summing->failed)
        return;
    uint32_t row = sums->row[stack];
    if (row == PROFILE_NONE) {
        row = (uint32_t)sums->stacks.length;
        if (!array_push(&sums->stacks, stack) || !array_reserve(&sums->values, summing->weight_count)) {
            summing->failed = true;
            return;
        }
        memset(sums->values.data + sums->values.length, 0, summing->weight_count * sizeof(double));
        sums->values.length += summing->weight_count;
        sums->row[stack] = row;
    }
    sums->values.data[row * summing->weight_count + summing->weight] += weight;
}

int export_sums_fill(struct export_sums *sums, const struct export_view *view, uint32_t thread,
                     const struct weight_list *weights, struct error *err)
{
    size_t count = engine_get_stacks(view->engine)->length;
    if (!sums->row || sums->row_count != count) {
        free(sums->row);
        sums->row = malloc((count + 1) * sizeof(*sums->row));
        sums->row_count = sums->row ? count : 0;
        if (!sums->row)
            return error_no_memory(err);
        memset(sums->row, 0xff, (count + 1) * sizeof(*sums->row)); /* PROFILE_NONE */
    }
    for (size_t i = 0; i < sums->stacks.length; i++)
        sums->row[sums->stacks.data[i]] = PROFILE_NONE;
    sums->stacks.length = sums->values.length = 0;
    struct summing summing = {.sums = sums, .weight_count = weights->length};
    for (size_t i = 0; i < weights->length; i++) {
        summing.weight = i;
        engine_weigh_thread(view->engine, thread, weights->data[i].kind, weights->data[i].table, add_sum, &summing);
    }
    return summing.failed ? error_no_memory(err) : 0;
}

void export_sums_destroy(struct export_sums *sums)
{
    array_free(&sums->stacks);
    array_free(&sums->values);
    free(sums->row);
    *sums = (struct export_sums){0};
}
