#include "profile/build_merge.h"

/* Maps rows of the thread's tables to rows of the shared tables. */
struct maps {
    uint32_t *sources, *resources, *native_symbols, *funcs, *frames, *stacks;
};

static uint32_t *allocate_map(size_t rows)
{
    return malloc((rows + 1) * sizeof(uint32_t));
}

static uint32_t map_row(const uint32_t *map, uint32_t row)
{
    return row == PROFILE_NONE ? PROFILE_NONE : map[row];
}

static bool maps_init(struct maps *maps, const struct profile *part)
{
    maps->sources = allocate_map(part->sources.length);
    maps->resources = allocate_map(part->resources.length);
    maps->native_symbols = allocate_map(part->native_symbols.length);
    maps->funcs = allocate_map(part->funcs.length);
    maps->frames = allocate_map(part->frames.length);
    maps->stacks = allocate_map(part->stacks.length);
    return maps->sources && maps->resources && maps->native_symbols && maps->funcs && maps->frames && maps->stacks;
}

static void maps_destroy(struct maps *maps)
{
    free(maps->sources);
    free(maps->resources);
    free(maps->native_symbols);
    free(maps->funcs);
    free(maps->frames);
    free(maps->stacks);
}

static bool merge_small_tables(struct interner *interner, const struct profile *part, struct maps *maps)
{
    bool done = true;
    for (size_t i = 0; done && i < part->sources.length; i++)
        done = (maps->sources[i] = intern_source(interner, &part->sources.data[i])) != PROFILE_NONE;
    for (size_t i = 0; done && i < part->resources.length; i++)
        done = (maps->resources[i] = intern_resource(interner, &part->resources.data[i])) != PROFILE_NONE;
    for (size_t i = 0; done && i < part->native_symbols.length; i++)
        done =
            (maps->native_symbols[i] = intern_native_symbol(interner, &part->native_symbols.data[i])) != PROFILE_NONE;
    return done;
}

static bool merge_funcs(struct interner *interner, const struct func_table *funcs, struct maps *maps)
{
    bool done = true;
    for (size_t i = 0; done && i < funcs->length; i++) {
        struct func_row row = {.name = funcs->name[i],
                               .resource = map_row(maps->resources, funcs->resource[i]),
                               .source = map_row(maps->sources, funcs->source[i]),
                               .line = funcs->line[i],
                               .column = funcs->column[i],
                               .flags = funcs->flags[i]};
        done = (maps->funcs[i] = intern_func(interner, &row)) != PROFILE_NONE;
    }
    return done;
}

static bool merge_frames(struct interner *interner, const struct frame_table *frames, struct maps *maps)
{
    bool done = true;
    for (size_t i = 0; done && i < frames->length; i++) {
        struct frame_row row = {.address = frames->address[i],
                                .lib = frames->lib[i],
                                .func = maps->funcs[frames->func[i]],
                                .category = frames->category[i],
                                .subcategory = frames->subcategory[i],
                                .native_symbol = map_row(maps->native_symbols, frames->native_symbol[i]),
                                .line = frames->line[i],
                                .column = frames->column[i],
                                .inline_depth = frames->inline_depth[i]};
        done = (maps->frames[i] = intern_frame(interner, &row)) != PROFILE_NONE;
    }
    return done;
}

static bool merge_stacks(struct interner *interner, const struct stack_table *stacks, struct maps *maps)
{
    bool done = true;
    for (size_t i = 0; done && i < stacks->length; i++) {
        uint32_t prefix = map_row(maps->stacks, stacks->prefix[i]);
        done = (maps->stacks[i] = intern_stack(interner, prefix, maps->frames[stacks->frame[i]])) != PROFILE_NONE;
    }
    return done;
}

static int map_stacks(struct build *build, const struct column *stacks, size_t count, const uint32_t *map,
                      size_t thread, const char *key)
{
    uint32_t *stack = stacks->data;
    for (size_t i = 0; i < stacks->length; i++) {
        if (stack[i] >= count && stack[i] != PROFILE_NONE)
            return error_set(build->err, EINVAL, "threads[%zu].%s.stack[%zu] is %u, but the table has only %zu stacks",
                             thread, key, i, stack[i], count);
        stack[i] = map_row(map, stack[i]);
    }
    return 0;
}

static int map_samples(struct build *build, struct raw_thread *raw, size_t count, const uint32_t *map, size_t thread)
{
    int code = 0;
    const struct {
        const char *key;
        const struct column *stacks;
    } tables[] = {{"samples", &raw->samples.stack},
                  {"jsAllocations", &raw->js_allocations.stack},
                  {"nativeAllocations", &raw->native_allocations.stack}};
    raw->samples.waker_stack.length = 0; /* prof writes the column only with a shared table */
    for (size_t k = 0; !code && k < sizeof(tables) / sizeof(*tables); k++)
        code = map_stacks(build, tables[k].stacks, count, map, thread, tables[k].key);
    for (size_t k = 0; !code && k < raw->events.length; k++)
        code = map_stacks(build, &raw->events.data[k]->samples.stack, count, map, thread, "eventSamples");
    return code;
}

static int merge_part(struct build *build, struct interner *interner, const struct profile *part,
                      struct raw_thread *raw, size_t index)
{
    struct maps maps = {0};
    bool done = maps_init(&maps, part) && merge_small_tables(interner, part, &maps) &&
                merge_funcs(interner, &part->funcs, &maps) && merge_frames(interner, &part->frames, &maps) &&
                merge_stacks(interner, &part->stacks, &maps);
    int code = done ? map_samples(build, raw, part->stacks.length, maps.stacks, index) : error_no_memory(build->err);
    raw->stack_map = maps.stacks; /* marker payloads also refer to stacks */
    raw->stack_count = part->stacks.length;
    maps.stacks = NULL;
    maps_destroy(&maps);
    return code;
}

int build_merge_thread(struct build *build, struct interner *interner, struct raw_thread *raw, size_t index,
                       const struct column *strings)
{
    struct profile part = {0}, *profile = build->profile;
    bool shares_sources = raw->own.funcs.source.present;
    int code = build_tables(build, &raw->own, strings, &part);
    /* Versions 58 and 59 already share the sources, and the funcs of all threads refer to them. */
    if (!code && shares_sources && !array_append(&part.sources, profile->sources.data, profile->sources.length))
        code = error_no_memory(build->err);

    /* The part borrows the libraries and categories of the profile for the check. */
    part.strings = profile->strings;
    part.libs.data = profile->libs.data;
    part.libs.length = profile->libs.length;
    part.categories.data = profile->categories.data;
    part.categories.length = profile->categories.length;
    if (!code)
        code = profile_check_tables(&part, build->err);
    if (!code)
        code = merge_part(build, interner, &part, raw, index);
    else
        error_prefix(build->err, code, "thread %zu", index);
    part.strings = (struct strings){0};
    part.libs.data = NULL;
    part.categories.data = NULL;
    part.libs.length = part.categories.length = 0;
    profile_destroy(&part);
    return code;
}
