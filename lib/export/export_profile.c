#include "export/export_profile.h"
#include "export/sanitize.h"

#include "base/arena.h"
#include "profile/write.h"

/* A copy of a profile with the query applied. The copy shares the tables that the query does not change; an arena holds
 * the other tables. */
struct made_profile {
    struct profile profile;
    struct arena memory;
    bool has_strings;       /* the profile has strings of its own */
    uint32_t *thread_index; /* for each thread of the original, its index in the copy, or PROFILE_NONE if left out */
};

struct leaf_context {
    const struct stack_view *stacks;
    const struct call_nodes *nodes;
    const uint8_t *matching; /* for each call node, whether the search matches, or NULL (all match) */
};

static void *copy_array(struct made_profile *made, const void *from, size_t count, size_t size)
{
    void *to = arena_alloc(&made->memory, (count + 1) * size);
    if (to && count && from)
        memcpy(to, from, count * size);
    return to;
}

/* ---- stacks ---- */

/* Adds rows to the func table for functions that stand for a library. */
static bool add_resource_funcs(struct made_profile *made, const struct profile *original)
{
    struct func_table *funcs = &made->profile.funcs;
    size_t count = original->resources.length;
    uint32_t *name = arena_alloc(&made->memory, (funcs->length + count + 1) * sizeof(*name));
    uint32_t *resource = arena_alloc(&made->memory, (funcs->length + count + 1) * sizeof(*resource));
    uint32_t *source = arena_alloc(&made->memory, (funcs->length + count + 1) * sizeof(*source));
    uint32_t *line = arena_alloc(&made->memory, (funcs->length + count + 1) * sizeof(*line));
    uint32_t *column = arena_alloc(&made->memory, (funcs->length + count + 1) * sizeof(*column));
    uint8_t *flags = arena_alloc(&made->memory, funcs->length + count + 1);
    if (!name || !resource || !source || !line || !column || !flags)
        return false;
    if (funcs->length) {
        memcpy(name, funcs->name, funcs->length * sizeof(*name));
        memcpy(resource, funcs->resource, funcs->length * sizeof(*resource));
        memcpy(source, funcs->source, funcs->length * sizeof(*source));
        memcpy(line, funcs->line, funcs->length * sizeof(*line));
        memcpy(column, funcs->column, funcs->length * sizeof(*column));
        memcpy(flags, funcs->flags, funcs->length);
    }
    for (size_t i = 0; i < count; i++) {
        size_t at = funcs->length + i;
        name[at] = original->resources.data[i].name;
        resource[at] = (uint32_t)i;
        source[at] = PROFILE_NONE;
        line[at] = column[at] = 0;
        flags[at] = 0;
    }
    *funcs = (struct func_table){.name = name,
                                 .resource = resource,
                                 .source = source,
                                 .line = line,
                                 .column = column,
                                 .flags = flags,
                                 .length = funcs->length + count};
    return true;
}

/* Returns whether the stacks are unchanged by transforms. */
static bool has_own_stacks(const struct profile *original, const struct stack_view *view)
{
    if (view->length != original->stacks.length || view->leaf)
        return false;
    for (size_t i = 0; i < view->length; i++)
        if (view->prefix[i] != original->stacks.prefix[i] || view->frame[i] != original->stacks.frame[i] ||
            view->func[i] != original->frames.func[view->frame[i]])
            return false;
    return true;
}

/* Builds the stacks after the transforms. Each stack gets a frame of its own, because a transform can give one frame
 * several functions. */
static bool make_stacks(struct made_profile *made, const struct profile *original, const struct stack_view *view)
{
    if (has_own_stacks(original, view))
        return true;
    struct profile *profile = &made->profile;
    const struct frame_table *old = &original->frames;
    size_t count = view->length;
    struct frame_table frames = {.length = count};
    struct stack_table stacks = {.prefix = copy_array(made, view->prefix, count, sizeof(uint32_t)), .length = count};
    stacks.frame = copy_array(made, NULL, count, sizeof(uint32_t));
    frames.address = copy_array(made, NULL, count, sizeof(*frames.address));
    frames.lib = copy_array(made, NULL, count, sizeof(*frames.lib));
    frames.inline_depth = copy_array(made, NULL, count, sizeof(*frames.inline_depth));
    frames.category = copy_array(made, NULL, count, sizeof(*frames.category));
    frames.subcategory = copy_array(made, NULL, count, sizeof(*frames.subcategory));
    frames.func = copy_array(made, view->func, count, sizeof(*frames.func));
    frames.native_symbol = copy_array(made, NULL, count, sizeof(*frames.native_symbol));
    frames.line = copy_array(made, NULL, count, sizeof(*frames.line));
    frames.column = copy_array(made, NULL, count, sizeof(*frames.column));
    if (!stacks.prefix || !stacks.frame || !frames.address || !frames.lib || !frames.inline_depth || !frames.category ||
        !frames.subcategory || !frames.func || !frames.native_symbol || !frames.line || !frames.column ||
        !add_resource_funcs(made, original))
        return false;
    for (size_t i = 0; i < count; i++) {
        uint32_t frame = view->frame[i];
        bool is_own = old->func[frame] == view->func[i];
        stacks.frame[i] = (uint32_t)i;
        frames.address[i] = is_own ? old->address[frame] : -1;
        frames.lib[i] = is_own ? old->lib[frame] : PROFILE_NONE;
        frames.inline_depth[i] = is_own ? old->inline_depth[frame] : 0;
        frames.category[i] = view->category[i];
        frames.subcategory[i] = old->category[frame] == view->category[i] ? old->subcategory[frame] : 0;
        frames.native_symbol[i] = is_own ? old->native_symbol[frame] : PROFILE_NONE;
        frames.line[i] = is_own ? old->line[frame] : 0;
        frames.column[i] = is_own ? old->column[frame] : 0;
    }
    profile->stacks = stacks;
    profile->frames = frames;
    return true;
}

/* ---- samples ---- */

static uint32_t find_leaf(const struct leaf_context *context, uint32_t stack)
{
    uint32_t leaf = stack == PROFILE_NONE ? PROFILE_NONE : stack_view_get_leaf(context->stacks, stack);
    uint32_t node = leaf == PROFILE_NONE ? NODE_NONE : context->nodes->of_stack[leaf];
    return node != NODE_NONE && (!context->matching || context->matching[node]) ? leaf : PROFILE_NONE;
}

/* Selects the rows of a range. Uncounted samples stay without a stack, because the CPU times of adjacent rows depend on
 * the samples. */
static bool select_samples(struct made_profile *made, struct sample_table *samples, const struct leaf_context *context,
                           struct time_range range)
{
    size_t first, last;
    find_samples_in_range(samples, range, &first, &last);
    size_t count = last - first;
    uint32_t *stack = arena_alloc(&made->memory, (count + 1) * sizeof(*stack));
    uint32_t *waker_stack =
        samples->waker_stack ? arena_alloc(&made->memory, (count + 1) * sizeof(*waker_stack)) : NULL;
    if (!stack || (samples->waker_stack && !waker_stack))
        return false;
    for (size_t i = 0; i < count; i++)
        stack[i] = find_leaf(context, samples->stack[first + i]);
    for (size_t i = 0; waker_stack && i < count; i++)
        waker_stack[i] = samples->waker_stack[first + i] == PROFILE_NONE
                             ? PROFILE_NONE
                             : stack_view_get_leaf(context->stacks, samples->waker_stack[first + i]);
    samples->stack = stack;
    samples->waker_stack = waker_stack;
    samples->time = samples->time ? samples->time + first : NULL; /* NULL for a table without rows */
    samples->weight = samples->weight ? samples->weight + first : NULL;
    samples->cpu_delta = samples->cpu_delta ? samples->cpu_delta + first : NULL;
    samples->waker = samples->waker ? samples->waker + first : NULL;
    samples->address = samples->address ? samples->address + first : NULL;
    samples->length = count;
    if (samples->partner) {
        uint32_t *partner = copy_array(made, samples->partner + first, count, sizeof(*partner));
        for (size_t i = 0; partner && i < count; i++)
            partner[i] = partner[i] != PROFILE_NONE && partner[i] >= first && partner[i] < last
                             ? partner[i] - (uint32_t)first
                             : PROFILE_NONE;
        samples->partner = partner;
        return partner != NULL;
    }
    return true;
}

static bool select_markers(struct made_profile *made, struct marker_table *markers, struct time_range range)
{
    size_t kept = 0;
    markers->name = copy_array(made, markers->name, markers->length, sizeof(*markers->name));
    markers->start = copy_array(made, markers->start, markers->length, sizeof(*markers->start));
    markers->end = copy_array(made, markers->end, markers->length, sizeof(*markers->end));
    markers->phase = copy_array(made, markers->phase, markers->length, sizeof(*markers->phase));
    markers->category = copy_array(made, markers->category, markers->length, sizeof(*markers->category));
    markers->data = copy_array(made, markers->data, markers->length, sizeof(*markers->data));
    if (!markers->name || !markers->start || !markers->end || !markers->phase || !markers->category || !markers->data)
        return false;
    for (size_t i = 0; i < markers->length; i++) {
        double start = markers->start[i], end = markers->phase[i] == 0 ? start : markers->end[i];
        if (start >= range.to || end < range.from) /* false for a NAN */
            continue;
        markers->name[kept] = markers->name[i];
        markers->start[kept] = markers->start[i];
        markers->end[kept] = markers->end[i];
        markers->phase[kept] = markers->phase[i];
        markers->category[kept] = markers->category[i];
        markers->data[kept++] = markers->data[i];
    }
    markers->length = kept;
    return true;
}

/* Keeps the slices that overlap the range. */
static void select_slices(struct slice_table *slices, struct time_range range)
{
    while (slices->length && slices->start[slices->length - 1] >= range.to)
        slices->length--;
    while (slices->length && slices->end[0] <= range.from) {
        slices->cpu++;
        slices->start++;
        slices->end++;
        slices->off_cpu++;
        slices->length--;
    }
}

static bool make_thread(struct made_profile *made, const struct export_view *view, uint32_t index,
                        const struct leaf_context *context, struct thread *thread)
{
    *thread = engine_get_profile(view->engine)->threads.data[index];
    thread->samples = *engine_get_samples(view->engine, index);
    thread->more.data = copy_array(made, thread->more.data, thread->more.length, sizeof(*thread->more.data));
    select_slices(&thread->slices, view->range);
    bool enough = thread->more.data && select_samples(made, &thread->samples, context, view->range) &&
                  select_markers(made, &thread->markers, view->range);
    for (size_t i = 0; enough && i < thread->more.length; i++)
        enough = thread->more.data[i].length == 0 || select_samples(made, &thread->more.data[i], context, view->range);
    return enough;
}

static bool make_threads(struct made_profile *made, const struct export_view *view, const struct leaf_context *context)
{
    const struct profile *original = engine_get_profile(view->engine);
    made->thread_index = arena_alloc(&made->memory, (original->threads.length + 1) * sizeof(*made->thread_index));
    struct thread *threads = arena_alloc(&made->memory, (view->thread_count + 1) * sizeof(*threads));
    if (!made->thread_index || !threads)
        return false;
    memset(made->thread_index, 0xff, original->threads.length * sizeof(*made->thread_index)); /* PROFILE_NONE */
    bool enough = true;
    for (size_t i = 0; enough && i < view->thread_count; i++) {
        made->thread_index[view->threads[i]] = (uint32_t)i;
        enough = make_thread(made, view, view->threads[i], context, &threads[i]);
    }
    made->profile.threads.data = threads;
    made->profile.threads.length = view->thread_count;
    return enough;
}

/* Copies the lists of threads, and counters, without removed threads. */
static bool copy_thread_list(struct made_profile *made, struct thread_list *list)
{
    uint32_t *kept = arena_alloc(&made->memory, (list->length + 1) * sizeof(*kept));
    size_t count = 0;
    for (size_t i = 0; kept && i < list->length; i++)
        if (made->thread_index[list->data[i]] != PROFILE_NONE)
            kept[count++] = made->thread_index[list->data[i]];
    *list = (struct thread_list){.data = kept, .length = count};
    return kept != NULL;
}

static bool copy_counters(struct made_profile *made, const struct profile *original, struct time_range range)
{
    struct counter *kept = arena_alloc(&made->memory, (original->counters.length + 1) * sizeof(*kept));
    size_t count = 0;
    for (size_t i = 0; kept && i < original->counters.length; i++) {
        struct counter counter = original->counters.data[i];
        if (made->thread_index[counter.main_thread] == PROFILE_NONE)
            continue;
        counter.main_thread = made->thread_index[counter.main_thread];
        for (; counter.length && counter.time[0] < range.from; counter.length--, counter.time++)
            counter.count++;
        while (counter.length && counter.time[counter.length - 1] >= range.to)
            counter.length--;
        kept[count++] = counter;
    }
    made->profile.counters.data = kept;
    made->profile.counters.length = count;
    return kept != NULL;
}

static bool make_profile(struct made_profile *made, const struct export_view *view)
{
    const struct counted_stacks counted = engine_get_counted_stacks(view->engine);
    const struct leaf_context context = {counted.stacks, counted.nodes, counted.matching};
    const struct profile *original = engine_get_profile(view->engine);
    made->profile = *original;
    made->profile.meta.profiling_start = view->range.from;
    made->profile.meta.profiling_end = view->range.to;
    return make_stacks(made, original, counted.stacks) && make_threads(made, view, &context) &&
           copy_thread_list(made, &made->profile.meta.initial_visible_threads) &&
           copy_thread_list(made, &made->profile.meta.initial_selected_threads) &&
           copy_counters(made, original, view->range);
}

/* Applies the query. `made` owns the exported profile; call exported_profile_destroy() even after a failure. Unchanged
 * tables are shared with the engine's profile. */
static int make_exported_profile(struct made_profile *made, const struct export_view *view,
                                 const struct profile **profile, struct sanitize_summary *summary, struct error *err)
{
    *profile = engine_get_profile(view->engine);
    if (!view->is_whole) {
        if (!make_profile(made, view))
            return error_no_memory(err);
        *profile = &made->profile;
    }
    if (!view->sanitize)
        return 0;
    if (*profile != &made->profile)
        made->profile = **profile;
    made->has_strings = true;
    *profile = &made->profile;
    return sanitize_profile(&made->profile, view->sanitize, &made->memory, summary, err);
}

static void exported_profile_destroy(struct made_profile *made)
{
    if (made->has_strings)
        strings_destroy(&made->profile.strings);
    arena_destroy(&made->memory);
}

int export_profile_json(const struct export_view *view, const struct byte_sink *sink, struct error *err)
{
    struct made_profile made = {0};
    struct sanitize_summary summary;
    const struct profile *profile;
    int code = make_exported_profile(&made, view, &profile, &summary, err);
    if (!code)
        code = profile_write(profile, NULL, profile_find_time_resolution(profile), sink, err);
    exported_profile_destroy(&made);
    return code;
}

int export_preview(const struct export_view *view, struct arena *memory, struct sanitize_summary *summary,
                   struct error *err)
{
    struct made_profile made = {0};
    const struct profile *profile;
    int code = make_exported_profile(&made, view, &profile, summary, err);
    arena_join(memory, &made.memory);
    exported_profile_destroy(&made);
    return code;
}
