#include "profile/merge.h"

#include "profile/merge_payloads.h"
#include "profile/intern.h"
#include "profile/match_funcs.h"

/* The new indexes of the rows of `from`. */
struct merge {
    struct profile *into, *from;
    struct func_matches matches; /* complete after functions and resources are appended */
    uint32_t *strings;           /* PROFILE_NONE: not mapped yet */
    uint32_t *categories, *libs, *sources, *symbols;
    uint32_t **subcategories; /* per category */
    uint32_t first_frame, first_stack, first_thread;
    uint32_t events[PROFILE_EVENTS_MAX];
    struct hash pids; /* strings of `into` */
    bool is_out_of_memory;
};

static uint32_t *allocate_map(size_t length)
{
    uint32_t *map = malloc((length + 1) * sizeof(*map));
    if (map)
        memset(map, 0xff, (length + 1) * sizeof(*map));
    return map;
}

static uint32_t check_index(struct merge *merge, uint32_t index)
{
    merge->is_out_of_memory |= index == PROFILE_NONE;
    return index;
}

static uint32_t map_string(void *context, uint32_t string)
{
    struct merge *merge = context;
    if (string >= merge->from->strings.entries.length)
        return PROFILE_NONE;
    uint32_t *place = &merge->strings[string];
    const struct string_entry *entry = &merge->from->strings.entries.data[string];
    if (*place == PROFILE_NONE)
        *place = check_index(merge, strings_add(&merge->into->strings, entry->text, entry->length));
    return *place;
}

static uint32_t map_stack(void *context, uint32_t stack)
{
    return stack + ((const struct merge *)context)->first_stack;
}

static uint32_t map_index(const uint32_t *map, uint32_t index)
{
    return index == PROFILE_NONE ? PROFILE_NONE : map[index];
}

/* ---- small tables ---- */

static void map_categories(struct merge *merge)
{
    struct profile *into = merge->into;
    const struct profile *from = merge->from;
    struct interner interner = {.profile = into};
    for (uint32_t i = 0; i < from->categories.length && !merge->is_out_of_memory; i++) {
        const struct category *category = &from->categories.data[i];
        uint32_t name = map_string(merge, category->name), at = 0;
        while (at < into->categories.length && into->categories.data[at].name != name)
            at++;
        if (at == into->categories.length)
            at = check_index(merge, profile_add_category(into, profile_text(from, category->name),
                                                         profile_text(from, category->color)));
        merge->categories[i] = at;
        merge->subcategories[i] = allocate_map(category->subcategories.length);
        merge->is_out_of_memory |= !merge->subcategories[i];
        for (size_t k = 0; k < category->subcategories.length && !merge->is_out_of_memory; k++)
            merge->subcategories[i][k] = check_index(
                merge, intern_subcategory(&interner, at, profile_text(from, category->subcategories.data[k])));
    }
    interner_destroy(&interner);
}

static uint64_t make_library_key(const struct library *lib)
{
    return hash_mix(hash_mix((uint64_t)lib->path << 32 | lib->name, (uint64_t)lib->code_id << 32 | lib->breakpad_id),
                    (uint64_t)lib->debug_path << 32 | lib->debug_name);
}

static uint64_t make_source_key(const struct source *source)
{
    return (uint64_t)source->filename << 32 | source->id;
}

static uint64_t make_symbol_key(const struct native_symbol *symbol)
{
    return hash_mix((uint64_t)symbol->address, (uint64_t)symbol->lib << 32 | symbol->name);
}

/* Returns the row with this key; if none exists, adds the key with row `next`, and returns `next`. */
static uint32_t find_slot(struct merge *merge, struct hash *index, uint64_t key, size_t next)
{
    uint32_t *place = hash_at(index, key);
    merge->is_out_of_memory |= !place;
    if (place && *place == HASH_MISSING)
        *place = (uint32_t)next;
    return place ? *place : PROFILE_NONE;
}

static void map_libs(struct merge *merge)
{
    struct profile *into = merge->into;
    struct hash index = {0};
    for (size_t i = 0; i < into->libs.length; i++)
        find_slot(merge, &index, make_library_key(&into->libs.data[i]), i);
    for (size_t i = 0; i < merge->from->libs.length && !merge->is_out_of_memory; i++) {
        const struct library *from = &merge->from->libs.data[i];
        struct library lib = {map_string(merge, from->arch),       map_string(merge, from->name),
                              map_string(merge, from->path),       map_string(merge, from->debug_name),
                              map_string(merge, from->debug_path), map_string(merge, from->breakpad_id),
                              map_string(merge, from->code_id)};
        merge->libs[i] = find_slot(merge, &index, make_library_key(&lib), into->libs.length);
        if (merge->libs[i] == into->libs.length)
            merge->is_out_of_memory |= !array_push(&into->libs, lib);
    }
    hash_destroy(&index);
}

static void map_sources(struct merge *merge)
{
    struct profile *into = merge->into;
    struct hash index = {0};
    for (size_t i = 0; i < into->sources.length; i++)
        find_slot(merge, &index, make_source_key(&into->sources.data[i]), i);
    for (size_t i = 0; i < merge->from->sources.length && !merge->is_out_of_memory; i++) {
        struct source source = merge->from->sources.data[i];
        source.filename = map_string(merge, source.filename);
        source.id = map_string(merge, source.id);
        source.content = map_string(merge, source.content);
        source.source_map_url = map_string(merge, source.source_map_url);
        merge->sources[i] = find_slot(merge, &index, make_source_key(&source), into->sources.length);
        if (merge->sources[i] == into->sources.length)
            merge->is_out_of_memory |= !array_push(&into->sources, source);
    }
    hash_destroy(&index);
}

static void map_symbols(struct merge *merge)
{
    struct profile *into = merge->into;
    struct hash index = {0};
    for (size_t i = 0; i < into->native_symbols.length; i++)
        find_slot(merge, &index, make_symbol_key(&into->native_symbols.data[i]), i);
    for (size_t i = 0; i < merge->from->native_symbols.length && !merge->is_out_of_memory; i++) {
        struct native_symbol symbol = merge->from->native_symbols.data[i];
        symbol.lib = merge->libs[symbol.lib];
        symbol.name = map_string(merge, symbol.name);
        merge->symbols[i] = find_slot(merge, &index, make_symbol_key(&symbol), into->native_symbols.length);
        if (merge->symbols[i] == into->native_symbols.length)
            merge->is_out_of_memory |= !array_push(&into->native_symbols, symbol);
    }
    hash_destroy(&index);
}

/* Merges the events of both profiles; drops events beyond the limit. */
static void map_events(struct merge *merge)
{
    struct profile_meta *meta = &merge->into->meta;
    for (size_t i = 0; i < merge->from->meta.events.length && !merge->is_out_of_memory; i++) {
        struct profile_event event = merge->from->meta.events.data[i];
        event.name = map_string(merge, event.name);
        uint32_t at = 0;
        while (at < meta->events.length && meta->events.data[at].name != event.name)
            at++;
        merge->events[i] = at < PROFILE_EVENTS_MAX ? at : PROFILE_NONE;
        if (at == meta->events.length && at < PROFILE_EVENTS_MAX)
            merge->is_out_of_memory |= !array_push(&meta->events, event);
    }
}

/* ---- functions, frames, stacks ---- */

static void append_funcs(struct merge *merge)
{
    struct profile *into = merge->into;
    const struct func_table *funcs = &merge->from->funcs;
    for (size_t i = 0; i < merge->from->resources.length && !merge->is_out_of_memory; i++) {
        if (merge->matches.resource[i] != PROFILE_NONE)
            continue;
        struct resource resource = merge->from->resources.data[i];
        resource.name = map_string(merge, resource.name);
        resource.host = map_string(merge, resource.host);
        merge->matches.resource[i] = (uint32_t)into->resources.length;
        merge->is_out_of_memory |= !array_push(&into->resources, resource);
    }
    for (size_t i = 0; i < funcs->length && !merge->is_out_of_memory; i++) {
        if (merge->matches.func[i] != PROFILE_NONE)
            continue;
        uint32_t func = check_index(merge, profile_add_func(into, map_string(merge, funcs->name[i]),
                                                            map_index(merge->matches.resource, funcs->resource[i])));
        if (func == PROFILE_NONE)
            return;
        merge->matches.func[i] = func;
        into->funcs.source[func] = map_index(merge->sources, funcs->source[i]);
        into->funcs.line[func] = funcs->line[i];
        into->funcs.column[func] = funcs->column[i];
        into->funcs.flags[func] = funcs->flags[i];
    }
}

static void append_stacks(struct merge *merge)
{
    struct profile *into = merge->into;
    const struct frame_table *frames = &merge->from->frames;
    const struct stack_table *stacks = &merge->from->stacks;
    const struct profile_rows extra = {.stacks = stacks->length, .frames = frames->length};
    if (!profile_reserve_rows(into, &extra)) {
        merge->is_out_of_memory = true;
        return;
    }
    for (size_t i = 0; i < frames->length; i++) {
        uint32_t row =
            check_index(merge, profile_add_frame(into, merge->matches.func[frames->func[i]],
                                                 map_index(merge->libs, frames->lib[i]), frames->address[i]));
        if (row == PROFILE_NONE)
            return;
        uint32_t category = frames->category[i];
        into->frames.inline_depth[row] = frames->inline_depth[i];
        if (category != PROFILE_NONE) {
            into->frames.category[row] = merge->categories[category];
            into->frames.subcategory[row] = merge->subcategories[category][frames->subcategory[i]];
        }
        into->frames.native_symbol[row] = map_index(merge->symbols, frames->native_symbol[i]);
        into->frames.line[row] = frames->line[i];
        into->frames.column[row] = frames->column[i];
    }
    for (size_t i = 0; i < stacks->length; i++) {
        size_t row = merge->first_stack + i;
        uint32_t prefix = stacks->prefix[i];
        into->stacks.prefix[row] = prefix == PROFILE_NONE ? prefix : prefix + merge->first_stack;
        into->stacks.frame[row] = stacks->frame[i] + merge->first_frame;
    }
    into->stacks.length += stacks->length;
}

/* ---- threads ---- */

static void map_samples(struct merge *merge, struct sample_table *samples)
{
    for (size_t i = 0; i < samples->length; i++)
        if (samples->stack[i] != PROFILE_NONE)
            samples->stack[i] += merge->first_stack;
    for (size_t i = 0; samples->waker_stack && i < samples->length; i++)
        if (samples->waker_stack[i] != PROFILE_NONE)
            samples->waker_stack[i] += merge->first_stack;
    for (size_t i = 0; samples->waker && i < samples->length; i++)
        samples->waker[i] = map_string(merge, samples->waker[i]);
}

/* Reorders event tables to the order of `into`'s meta.events. */
static void map_tables(struct merge *merge, struct thread *thread)
{
    enum { FIRST_EVENT = TABLE_EVENTS - 1 }; /* in `more` */
    struct thread moved = {.more = {0}};
    for (size_t i = 0; i < thread->more.length; i++) {
        uint32_t event = i < FIRST_EVENT ? 0 : merge->events[i - FIRST_EVENT];
        size_t place = i < FIRST_EVENT ? i : event == PROFILE_NONE ? SIZE_MAX : FIRST_EVENT + event;
        map_samples(merge, &thread->more.data[i]);
        while (place != SIZE_MAX && moved.more.length <= place && !merge->is_out_of_memory) {
            struct sample_table *empty = array_push_zero(&moved.more);
            merge->is_out_of_memory |= !empty;
            if (empty)
                empty->weight_type = WEIGHT_BYTES;
        }
        if (merge->is_out_of_memory)
            break;
        if (place == SIZE_MAX)
            continue;
        moved.more.data[place] = thread->more.data[i];
        thread->more.data[i] = (struct sample_table){0};
    }
    for (size_t i = 0; i < thread->more.length; i++)
        sample_table_free(&thread->more.data[i]);
    array_free(&thread->more);
    memcpy(&thread->more, &moved.more, sizeof(thread->more));
}

static void map_markers(struct merge *merge, struct marker_table *markers)
{
    for (size_t i = 0; i < markers->length; i++) {
        markers->name[i] = map_string(merge, markers->name[i]);
        markers->category[i] = merge->categories[markers->category[i]];
    }
}

/* Maps a pid. If both profiles have the pid, the later process gets a suffix, as the format defines: "123.1". */
static uint32_t map_pid(struct merge *merge, uint32_t pid)
{
    char text[64];
    uint32_t mapped = map_string(merge, pid);
    for (unsigned i = 1; mapped != PROFILE_NONE && hash_get(&merge->pids, mapped) != HASH_MISSING; i++) {
        snprintf(text, sizeof(text), "%.40s.%u", profile_text(merge->from, pid), i);
        mapped = check_index(merge, strings_add_z(&merge->into->strings, text));
    }
    return mapped;
}

static void collect_pids(struct merge *merge)
{
    for (size_t i = 0; i < merge->into->threads.length; i++)
        merge->is_out_of_memory |= !hash_set(&merge->pids, merge->into->threads.data[i].pid, 1);
}

static void append_threads(struct merge *merge)
{
    struct profile *into = merge->into, *from = merge->from;
    for (size_t i = 0; i < from->threads.length && !merge->is_out_of_memory; i++) {
        struct thread *thread = &from->threads.data[i];
        thread->name = map_string(merge, thread->name);
        thread->process_name = map_string(merge, thread->process_name);
        thread->process_type = map_string(merge, thread->process_type);
        thread->pid = map_pid(merge, thread->pid);
        thread->tid = map_string(merge, thread->tid);
        for (size_t k = 0; k < thread->paused.length; k++)
            thread->paused.data[k].reason = map_string(merge, thread->paused.data[k].reason);
        map_samples(merge, &thread->samples);
        map_tables(merge, thread);
        map_markers(merge, &thread->markers);
        if (!merge->is_out_of_memory)
            merge->is_out_of_memory |= !array_push(&into->threads, *thread);
        if (!merge->is_out_of_memory)
            *thread = (struct thread){0};
    }
}

static void append_counters(struct merge *merge)
{
    struct profile *into = merge->into, *from = merge->from;
    for (size_t i = 0; i < from->counters.length && !merge->is_out_of_memory; i++) {
        struct counter *counter = &from->counters.data[i];
        counter->name = map_string(merge, counter->name);
        counter->category = map_string(merge, counter->category);
        counter->description = map_string(merge, counter->description);
        counter->pid = map_pid(merge, counter->pid);
        counter->json = map_string(merge, counter->json);
        counter->main_thread += merge->first_thread;
        merge->is_out_of_memory |= !array_push(&into->counters, *counter);
        if (!merge->is_out_of_memory)
            *counter = (struct counter){0};
    }
}

/* ---- all ---- */

static bool init_merge(struct merge *merge)
{
    const struct profile *from = merge->from;
    merge->strings = allocate_map(from->strings.entries.length);
    merge->categories = allocate_map(from->categories.length);
    merge->subcategories = calloc(from->categories.length + 1, sizeof(*merge->subcategories));
    merge->libs = allocate_map(from->libs.length);
    merge->sources = allocate_map(from->sources.length);
    merge->symbols = allocate_map(from->native_symbols.length);
    merge->first_frame = (uint32_t)merge->into->frames.length;
    merge->first_stack = (uint32_t)merge->into->stacks.length;
    merge->first_thread = (uint32_t)merge->into->threads.length;
    return merge->strings && merge->categories && merge->subcategories && merge->libs && merge->sources &&
           merge->symbols;
}

static void finish_merge(struct merge *merge)
{
    func_matches_destroy(&merge->matches);
    for (size_t i = 0; merge->subcategories && i < merge->from->categories.length; i++)
        free(merge->subcategories[i]);
    free(merge->subcategories);
    free(merge->strings);
    free(merge->categories);
    free(merge->libs);
    free(merge->sources);
    free(merge->symbols);
    hash_destroy(&merge->pids);
}

int profile_merge(struct profile *into, struct profile *from, struct error *err)
{
    struct merge merge = {.into = into, .from = from};
    merge.is_out_of_memory = !init_merge(&merge);
    int code = merge.is_out_of_memory ? 0 : func_matches_find(&merge.matches, into, from, err);
    void (*const steps[])(struct merge *) = {map_categories, map_libs,     map_sources,   map_symbols,
                                             map_events,     append_funcs, append_stacks, collect_pids};
    for (size_t i = 0; !code && !merge.is_out_of_memory && i < sizeof(steps) / sizeof(*steps); i++)
        steps[i](&merge);
    if (!code && !merge.is_out_of_memory) {
        const struct payload_rewriter indexes = {.string = map_string, .stack = map_stack, .context = &merge};
        code = payloads_merge(into, from, &indexes, err);
    }
    if (!code && !merge.is_out_of_memory)
        append_threads(&merge);
    if (!code && !merge.is_out_of_memory)
        append_counters(&merge);
    finish_merge(&merge);
    return code ? code : merge.is_out_of_memory ? error_no_memory(err) : 0;
}
