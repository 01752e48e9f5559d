#include "export/sanitize.h"
#include "export/sanitize_values.h"

#include "profile/notes.h"

static const char hidden_name[] = "(hidden)";

/* ---- markers ---- */

/* Copies the first strings of the table, which payloads refer to by index, to the same indexes. */
static void copy_reserved_strings(struct sanitizer *sanitizer)
{
    struct text_buffer unused = {0};
    const struct profile *profile = sanitizer->original;
    for (size_t i = 0; i < profile->threads.length; i++) {
        const struct marker_table *markers = &profile->threads.data[i].markers;
        for (size_t k = 0; k < markers->length && !sanitizer->status; k++) {
            if (markers->data[k] == PROFILE_NONE)
                continue;
            const struct string_entry *payload = &profile->strings.entries.data[markers->data[k]];
            uint32_t schema = sanitizer_find_schema(sanitizer, payload);
            bool has_strings = false;
            for (uint32_t f = 0; schema != SCHEMA_NONE && f < sanitizer->schemas.items.data[schema].field_count; f++) {
                const char *format =
                    sanitizer->schemas.fields.data[sanitizer->schemas.items.data[schema].first_field + f].format;
                has_strings = has_strings || strstr(format, "unique-string") || strstr(format, "flow-id");
            }
            if (has_strings)
                sanitizer_write_json(sanitizer, payload, schema, &unused);
        }
    }
    array_free(&unused);
    sanitizer->copy->meta.kept_strings = (uint32_t)sanitizer->copy->strings.entries.length;
}

static void copy_markers(struct sanitizer *sanitizer, struct marker_table *markers)
{
    const struct marker_table old = *markers;
    struct text_buffer json = {0};
    markers->name = sanitizer_alloc(sanitizer, old.length, sizeof(*markers->name));
    markers->data = sanitizer_alloc(sanitizer, old.length, sizeof(*markers->data));
    for (size_t i = 0; i < old.length && !sanitizer->status; i++) {
        markers->name[i] = sanitizer_keep_text(sanitizer, old.name[i]);
        markers->data[i] = PROFILE_NONE;
        if (old.data[i] == PROFILE_NONE)
            continue;
        const struct string_entry *payload = &sanitizer->original->strings.entries.data[old.data[i]];
        sanitizer_write_json(sanitizer, payload, sanitizer_find_schema(sanitizer, payload), &json);
        markers->data[i] = sanitizer_add(sanitizer, json.data ? json.data : "", json.length);
    }
    array_free(&json);
    sanitizer->summary->markers += old.length;
}

/* ---- samples ---- */

static void mark_used_stacks(struct sanitizer *sanitizer, const struct sample_table *samples)
{
    for (size_t i = 0; i < samples->length; i++)
        if (samples->stack[i] != PROFILE_NONE)
            sanitizer->used_stack[samples->stack[i]] = 1;
    for (size_t i = 0; samples->waker_stack && i < samples->length; i++)
        if (samples->waker_stack[i] != PROFILE_NONE)
            sanitizer->used_stack[samples->waker_stack[i]] = 1;
}

static void copy_stacks(struct sanitizer *sanitizer, uint32_t **stacks, size_t length, const uint32_t *alias)
{
    uint32_t *copy = sanitizer_copy(sanitizer, *stacks, length, sizeof(*copy));
    for (size_t i = 0; alias && copy && i < length; i++)
        if (copy[i] != PROFILE_NONE)
            copy[i] = alias[copy[i]];
    *stacks = copy;
}

static void copy_samples(struct sanitizer *sanitizer, struct sample_table *samples, const uint32_t *alias)
{
    copy_stacks(sanitizer, &samples->stack, samples->length, alias);
    if (samples->waker_stack)
        copy_stacks(sanitizer, &samples->waker_stack, samples->length, alias);
    if (!samples->waker || sanitizer->status)
        return;
    uint32_t *waker = sanitizer_alloc(sanitizer, samples->length, sizeof(*waker));
    for (size_t i = 0; waker && i < samples->length; i++)
        waker[i] = sanitizer_keep_text(sanitizer, samples->waker[i]);
    samples->waker = waker;
}

static void copy_threads(struct sanitizer *sanitizer)
{
    struct sanitize_summary *summary = sanitizer->summary;
    struct profile *copy = sanitizer->copy;
    copy->threads.data =
        sanitizer_copy(sanitizer, copy->threads.data, copy->threads.length, sizeof(*copy->threads.data));
    summary->from = INFINITY;
    summary->to = -INFINITY;
    for (size_t i = 0; i < copy->threads.length && !sanitizer->status; i++) {
        struct thread *thread = &copy->threads.data[i];
        thread->name = sanitizer_keep_text(sanitizer, thread->name);
        thread->process_name = sanitizer_keep_text(sanitizer, thread->process_name);
        thread->process_type = sanitizer_keep_word(sanitizer, thread->process_type);
        thread->pid = sanitizer_keep_word(sanitizer, thread->pid);
        thread->tid = sanitizer_keep_word(sanitizer, thread->tid);
        thread->paused.data =
            sanitizer_copy(sanitizer, thread->paused.data, thread->paused.length, sizeof(*thread->paused.data));
        for (size_t k = 0; k < thread->paused.length && !sanitizer->status; k++)
            thread->paused.data[k].reason = sanitizer_keep_word(sanitizer, thread->paused.data[k].reason);
        copy_markers(sanitizer, &thread->markers);
        mark_used_stacks(sanitizer, &thread->samples);
        for (size_t k = 0; k < thread->more.length; k++)
            mark_used_stacks(sanitizer, &thread->more.data[k]);
        summary->samples += thread->samples.length;
        if (thread->samples.length) {
            summary->from = fmin(summary->from, thread->samples.time[0]);
            summary->to = fmax(summary->to, thread->samples.time[thread->samples.length - 1]);
        }
    }
    summary->threads = copy->threads.length;
}

/* ---- functions ---- */

static bool matches_pattern(const char *name, const char *pattern)
{
    size_t length = strlen(pattern);
    if (!length)
        return false;
    return pattern[length - 1] == '*' ? strncmp(name, pattern, length - 1) == 0 : strcmp(name, pattern) == 0;
}

static bool is_hidden_library(const struct sanitizer *sanitizer, const char *library)
{
    for (size_t i = 0; i < sanitizer->options->library_count; i++)
        if (matches_pattern(library, sanitizer->options->libraries[i]))
            return false;
    return sanitizer->options->library_count > 0;
}

static bool is_hidden(const struct sanitizer *sanitizer, uint32_t func)
{
    return is_hidden_library(sanitizer, get_func_library_name(sanitizer->original, func));
}

static void mark_used(struct sanitizer *sanitizer)
{
    const struct profile *profile = sanitizer->original;
    for (size_t i = profile->stacks.length; i-- > 0;) {
        if (!sanitizer->used_stack[i])
            continue;
        if (profile->stacks.prefix[i] != PROFILE_NONE)
            sanitizer->used_stack[profile->stacks.prefix[i]] = 1;
        sanitizer->used_frame[profile->stacks.frame[i]] = 1;
    }
    for (size_t i = 0; i < profile->frames.length; i++) {
        uint32_t func = profile->frames.func[i];
        if (!sanitizer->used_frame[i])
            continue;
        if (profile->funcs.resource[func] != PROFILE_NONE)
            sanitizer->used_resource[profile->funcs.resource[func]] = 1;
        if (is_hidden(sanitizer, func)) {
            sanitizer->used_func[func] = 2;
            continue;
        }
        sanitizer->used_func[func] = 1;
        if (profile->frames.native_symbol[i] != PROFILE_NONE)
            sanitizer->used_symbol[profile->frames.native_symbol[i]] = 1;
        if (profile->funcs.source[func] != PROFILE_NONE)
            sanitizer->used_source[profile->funcs.source[func]] = 1;
    }
}

/* Returns the func that stands for the hidden funcs of a resource (PROFILE_NONE: without resource). */
static uint32_t add_hidden_func(const struct sanitizer *sanitizer, uint32_t resource)
{
    const struct profile *profile = sanitizer->original;
    return (uint32_t)(profile->funcs.length + (resource == PROFILE_NONE ? profile->resources.length : resource));
}

static void copy_funcs(struct sanitizer *sanitizer)
{
    const struct func_table *old = &sanitizer->original->funcs;
    size_t hidden = sanitizer->options->library_count ? sanitizer->original->resources.length + 1 : 0;
    size_t length = old->length + hidden;
    struct func_table funcs = {.name = sanitizer_alloc(sanitizer, length, sizeof(*funcs.name)),
                               .resource = sanitizer_alloc(sanitizer, length, sizeof(*funcs.resource)),
                               .source = sanitizer_alloc(sanitizer, length, sizeof(*funcs.source)),
                               .line = sanitizer_alloc(sanitizer, length, sizeof(*funcs.line)),
                               .column = sanitizer_alloc(sanitizer, length, sizeof(*funcs.column)),
                               .flags = sanitizer_alloc(sanitizer, length, sizeof(*funcs.flags)),
                               .length = length};
    for (size_t i = 0; i < length && !sanitizer->status; i++) {
        bool is_old = i < old->length, is_kept = is_old && sanitizer->used_func[i] == 1;
        size_t resource = i - old->length;
        funcs.name[i] = is_kept  ? sanitizer_keep(sanitizer, ROLE_CODE, old->name[i])
                        : is_old ? sanitizer_add(sanitizer, "", 0)
                                 : sanitizer_add(sanitizer, hidden_name, strlen(hidden_name));
        funcs.resource[i] = is_old                                             ? old->resource[i]
                            : resource < sanitizer->original->resources.length ? (uint32_t)resource
                                                                               : PROFILE_NONE;
        funcs.source[i] = is_kept ? old->source[i] : PROFILE_NONE;
        funcs.line[i] = is_kept ? old->line[i] : 0;
        funcs.column[i] = is_kept ? old->column[i] : 0;
        funcs.flags[i] = is_old ? old->flags[i] : 0;
        sanitizer->summary->functions += is_kept;
        sanitizer->summary->hidden += is_old && sanitizer->used_func[i] == 2;
    }
    sanitizer->copy->funcs = funcs;
}

/* Replaces hidden functions by their library. Calls between hidden functions of one library become one frame. Returns
 * for each stack the stack in which its samples end. */
static uint32_t *hide_frames(struct sanitizer *sanitizer)
{
    const struct profile *profile = sanitizer->original;
    struct frame_table *frames = &sanitizer->copy->frames;
    struct stack_table *stacks = &sanitizer->copy->stacks;
    const size_t count = frames->length;
    frames->address = sanitizer_copy(sanitizer, frames->address, count, sizeof(*frames->address));
    frames->lib = sanitizer_copy(sanitizer, frames->lib, count, sizeof(*frames->lib));
    frames->inline_depth = sanitizer_copy(sanitizer, frames->inline_depth, count, sizeof(*frames->inline_depth));
    frames->func = sanitizer_copy(sanitizer, frames->func, count, sizeof(*frames->func));
    frames->native_symbol = sanitizer_copy(sanitizer, frames->native_symbol, count, sizeof(*frames->native_symbol));
    frames->line = sanitizer_copy(sanitizer, frames->line, count, sizeof(*frames->line));
    frames->column = sanitizer_copy(sanitizer, frames->column, count, sizeof(*frames->column));
    uint32_t *alias = sanitizer_alloc(sanitizer, stacks->length, sizeof(*alias));
    stacks->prefix = sanitizer_copy(sanitizer, stacks->prefix, stacks->length, sizeof(*stacks->prefix));
    if (sanitizer->status)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        uint32_t func = profile->frames.func[i];
        if (sanitizer->used_frame[i] && sanitizer->used_func[func] != 2)
            continue;
        if (sanitizer->options->library_count && is_hidden(sanitizer, func))
            frames->func[i] = add_hidden_func(sanitizer, profile->funcs.resource[func]);
        frames->address[i] = -1;
        frames->lib[i] = frames->native_symbol[i] = PROFILE_NONE;
        frames->inline_depth[i] = 0;
        frames->line[i] = frames->column[i] = 0;
    }
    for (size_t i = 0; i < stacks->length; i++) {
        uint32_t prefix = stacks->prefix[i] == PROFILE_NONE ? PROFILE_NONE : alias[stacks->prefix[i]];
        uint32_t func = frames->func[stacks->frame[i]];
        bool is_same =
            prefix != PROFILE_NONE && func >= profile->funcs.length && frames->func[stacks->frame[prefix]] == func;
        stacks->prefix[i] = prefix;
        alias[i] = is_same ? prefix : (uint32_t)i;
    }
    return alias;
}

static void copy_code_tables(struct sanitizer *sanitizer)
{
    struct profile *copy = sanitizer->copy;
    const struct profile *original = sanitizer->original;
    copy->native_symbols.data = sanitizer_copy(sanitizer, original->native_symbols.data,
                                               original->native_symbols.length, sizeof(*original->native_symbols.data));
    for (size_t i = 0; i < copy->native_symbols.length && !sanitizer->status; i++) {
        struct native_symbol *symbol = &copy->native_symbols.data[i];
        bool is_used = sanitizer->used_symbol[i];
        symbol->name = is_used ? sanitizer_keep(sanitizer, ROLE_CODE, symbol->name) : sanitizer_add(sanitizer, "", 0);
        if (!is_used)
            symbol->address = symbol->size = 0;
    }
    copy->sources.data =
        sanitizer_copy(sanitizer, original->sources.data, original->sources.length, sizeof(*original->sources.data));
    for (size_t i = 0; i < copy->sources.length && !sanitizer->status; i++) {
        struct source *source = &copy->sources.data[i];
        bool is_used = sanitizer->used_source[i], has_text = source->content != PROFILE_NONE;
        source->filename = is_used ? sanitizer_keep_text(sanitizer, source->filename) : sanitizer_add(sanitizer, "", 0);
        source->id = is_used ? sanitizer_keep_text(sanitizer, source->id) : PROFILE_NONE;
        source->source_map_url = is_used ? sanitizer_keep_text(sanitizer, source->source_map_url) : PROFILE_NONE;
        if (has_text && sanitizer_removes(sanitizer, SANITIZE_SOURCES))
            sanitizer->summary->changed[4]++;
        source->content = is_used && !sanitizer_removes(sanitizer, SANITIZE_SOURCES)
                              ? sanitizer_keep_text(sanitizer, source->content)
                              : PROFILE_NONE;
        sanitizer->summary->sources += is_used;
    }
    copy->resources.data = sanitizer_copy(sanitizer, original->resources.data, original->resources.length,
                                          sizeof(*original->resources.data));
    for (size_t i = 0; i < copy->resources.length && !sanitizer->status; i++) {
        struct resource *resource = &copy->resources.data[i];
        bool is_host = resource->host != PROFILE_NONE && sanitizer_removes(sanitizer, SANITIZE_URLS);
        resource->name = is_host || !sanitizer->used_resource[i]
                             ? sanitizer_add(sanitizer, is_host ? "url" : "", is_host ? 3 : 0)
                             : sanitizer_keep_text(sanitizer, resource->name);
        resource->host = is_host ? sanitizer_add(sanitizer, "url", 3) : sanitizer_keep_text(sanitizer, resource->host);
        sanitizer->summary->libraries += sanitizer->used_resource[i];
    }
    copy->libs.data =
        sanitizer_copy(sanitizer, original->libs.data, original->libs.length, sizeof(*original->libs.data));
    for (size_t i = 0; i < copy->libs.length && !sanitizer->status; i++) {
        struct library *lib = &copy->libs.data[i];
        uint32_t *texts[] = {&lib->name, &lib->path, &lib->debug_name, &lib->debug_path};
        for (size_t k = 0; k < sizeof(texts) / sizeof(*texts); k++)
            *texts[k] = sanitizer_keep_text(sanitizer, *texts[k]);
        lib->arch = sanitizer_keep_word(sanitizer, lib->arch);
        lib->breakpad_id = sanitizer_keep_word(sanitizer, lib->breakpad_id);
        lib->code_id = sanitizer_keep_word(sanitizer, lib->code_id);
    }
}

/* ---- other tables ---- */

static void copy_categories(struct sanitizer *sanitizer)
{
    struct profile *copy = sanitizer->copy;
    copy->categories.data =
        sanitizer_copy(sanitizer, copy->categories.data, copy->categories.length, sizeof(*copy->categories.data));
    for (size_t i = 0; i < copy->categories.length && !sanitizer->status; i++) {
        struct category *category = &copy->categories.data[i];
        uint32_t *subcategories = sanitizer_copy(sanitizer, category->subcategories.data,
                                                 category->subcategories.length, sizeof(*subcategories));
        category->name = sanitizer_keep_word(sanitizer, category->name);
        category->color = sanitizer_keep_word(sanitizer, category->color);
        for (size_t k = 0; k < category->subcategories.length && !sanitizer->status; k++)
            subcategories[k] = sanitizer_keep_word(sanitizer, subcategories[k]);
        category->subcategories.data = subcategories;
    }
}

static void copy_counters(struct sanitizer *sanitizer)
{
    struct profile *copy = sanitizer->copy;
    copy->counters.data =
        sanitizer_copy(sanitizer, copy->counters.data, copy->counters.length, sizeof(*copy->counters.data));
    for (size_t i = 0; i < copy->counters.length && !sanitizer->status; i++) {
        struct counter *counter = &copy->counters.data[i];
        counter->name = sanitizer_keep_text(sanitizer, counter->name);
        counter->description = sanitizer_keep_text(sanitizer, counter->description);
        counter->category = sanitizer_keep_word(sanitizer, counter->category);
        counter->pid = sanitizer_keep_word(sanitizer, counter->pid);
        counter->json = sanitizer_keep_json(sanitizer, counter->json);
    }
}

/* Returns whether to keep an entry of the recording information. Entries of unknown tools are dropped. */
static bool is_kept_entry(const struct sanitizer *sanitizer, const char *section, const char *label)
{
    /* the lists include names that older versions of prof wrote */
    static const char *const sections[] = {"Recording", "Environment",     "Data quality", "Data quality, by thread",
                                           "Trust",     "Trust, by thread"};
    static const char *const arguments[] = {"Options of prof record", "Directory", "Folder", "Processes", "Filters"};
    bool is_known = false;
    for (size_t i = 0; i < sizeof(sections) / sizeof(*sections); i++)
        is_known = is_known || strcmp(section, sections[i]) == 0;
    if (sanitizer->options->is_part && strstr(section, ", by thread"))
        return false;
    if (sanitizer_removes(sanitizer, SANITIZE_NAMES) && (!strcmp(label, "Host") || !strcmp(label, "Container")))
        return false;
    if (!sanitizer_removes(sanitizer, SANITIZE_ARGUMENTS))
        return true;
    for (size_t i = 0; i < sizeof(arguments) / sizeof(*arguments); i++)
        is_known = is_known && strcmp(label, arguments[i]) != 0;
    return is_known && strncmp(label, "Variable ", 9) != 0;
}

/* Drops a note about a function without its name, and an entry that is no note. */
static bool is_kept_note(struct sanitizer *sanitizer, const struct extra_entry *entry)
{
    const char *json = profile_text(sanitizer->original, entry->value);
    struct note note;
    if (!read_note(&note, sanitizer->memory, json, strlen(json)))
        return false;
    if (!note.name || !note.library || !note.comment) {
        sanitizer_set_no_memory(sanitizer);
        return false;
    }
    if (!sanitizer_removes(sanitizer, SANITIZE_NOTES))
        return is_range_note(&note) || !is_hidden_library(sanitizer, note.library);
    const char *text = note.comment[0] ? note.comment : note.name;
    sanitizer->text.length = 0;
    sanitizer_count_change(sanitizer, SANITIZE_NOTES, text, strlen(text));
    return false;
}

static void copy_extra(struct sanitizer *sanitizer)
{
    struct profile_meta *meta = &sanitizer->copy->meta;
    const struct profile *original = sanitizer->original;
    struct text_buffer json = {0};
    struct extra_section *sections = sanitizer_copy(sanitizer, meta->extra.data, meta->extra.length, sizeof(*sections));
    size_t kept = 0;
    for (size_t i = 0; i < meta->extra.length && !sanitizer->status; i++) {
        struct extra_section section = sections[i];
        struct extra_entry *entries = sanitizer_alloc(sanitizer, section.entries.length, sizeof(*entries));
        size_t count = 0;
        bool has_notes = is_notes_section(original, &section);
        for (size_t k = 0; k < section.entries.length && !sanitizer->status; k++) {
            const struct extra_entry *entry = &section.entries.data[k];
            if (has_notes ? !is_kept_note(sanitizer, entry)
                          : !is_kept_entry(sanitizer, profile_text(original, section.label),
                                           profile_text(original, entry->label))) {
                sanitizer->summary->entries += !has_notes;
                continue;
            }
            entries[count] = (struct extra_entry){sanitizer_keep_text(sanitizer, entry->label),
                                                  sanitizer_keep_word(sanitizer, entry->format), PROFILE_NONE};
            if (entry->value != PROFILE_NONE) {
                sanitizer_write_json(sanitizer, &original->strings.entries.data[entry->value], SCHEMA_NONE, &json);
                entries[count].value = sanitizer_add(sanitizer, json.data ? json.data : "", json.length);
            }
            count++;
        }
        section.label = sanitizer_keep_word(sanitizer, section.label);
        section.entries.data = entries;
        section.entries.length = count;
        if (count)
            sections[kept++] = section;
    }
    array_free(&json);
    meta->extra.data = sections;
    meta->extra.length = kept;
}

static void copy_meta(struct sanitizer *sanitizer)
{
    struct profile_meta *meta = &sanitizer->copy->meta;
    uint32_t *texts[] = {&meta->product,       &meta->os,  &meta->abi, &meta->platform, &meta->cpu_name,
                         &meta->imported_from, &meta->misc};
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
        *texts[i] = sanitizer_keep_text(sanitizer, *texts[i]);
    if (sanitizer_removes(sanitizer, SANITIZE_ARGUMENTS)) {
        sanitizer->summary->entries += meta->arguments != PROFILE_NONE;
        meta->arguments = PROFILE_NONE;
    }
    meta->arguments = sanitizer_keep_text(sanitizer, meta->arguments);
    meta->marker_schema = sanitizer_keep_json(sanitizer, meta->marker_schema);
    meta->warning = sanitizer_keep_text(sanitizer, meta->warning);
    meta->added_next = PROFILE_NONE; /* a page would request more data from the server */
    for (size_t i = 0; i < PROFILE_SIDES && profile_is_comparison(sanitizer->original); i++)
        meta->comparison.name[i] = sanitizer_keep_text(sanitizer, meta->comparison.name[i]);
    if (profile_is_comparison(sanitizer->original))
        meta->comparison.scaled_by = sanitizer_keep_text(sanitizer, meta->comparison.scaled_by);
    meta->events.data = sanitizer_copy(sanitizer, meta->events.data, meta->events.length, sizeof(*meta->events.data));
    for (size_t i = 0; i < meta->events.length && !sanitizer->status; i++)
        meta->events.data[i].name = sanitizer_keep_text(sanitizer, meta->events.data[i].name);
    copy_extra(sanitizer);
}

static void copy_tables(struct sanitizer *sanitizer)
{
    struct profile *copy = sanitizer->copy;
    copy_reserved_strings(sanitizer);
    memset(sanitizer->summary, 0, sizeof(*sanitizer->summary)); /* clears counts of the search for names */
    copy_threads(sanitizer);
    if (sanitizer->status)
        return;
    mark_used(sanitizer);
    uint32_t *alias = hide_frames(sanitizer);
    for (size_t i = 0; i < copy->threads.length && !sanitizer->status; i++) {
        struct thread *thread = &copy->threads.data[i];
        thread->more.data =
            sanitizer_copy(sanitizer, thread->more.data, thread->more.length, sizeof(*thread->more.data));
        copy_samples(sanitizer, &thread->samples, alias);
        for (size_t k = 0; k < thread->more.length && !sanitizer->status; k++)
            copy_samples(sanitizer, &thread->more.data[k], alias);
    }
    copy_funcs(sanitizer);
    copy_code_tables(sanitizer);
    copy_categories(sanitizer);
    copy_counters(sanitizer);
    copy_meta(sanitizer);
}

int sanitize_profile(struct profile *copy, const struct sanitize_options *options, struct arena *memory,
                     struct sanitize_summary *summary, struct error *err)
{
    const struct profile original = *copy;
    struct sanitizer sanitizer = {
        .original = &original, .copy = copy, .options = options, .memory = memory, .summary = summary, .err = err};
    size_t strings = original.strings.entries.length;
    memset(summary, 0, sizeof(*summary));
    memset(&copy->strings, 0, sizeof(copy->strings));
    for (size_t i = 0; i < ROLES; i++) {
        sanitizer.known[i] = sanitizer_alloc(&sanitizer, strings, sizeof(uint32_t));
        if (sanitizer.known[i])
            memset(sanitizer.known[i], 0xff, strings * sizeof(uint32_t)); /* PROFILE_NONE */
    }
    sanitizer.used_stack = sanitizer_alloc(&sanitizer, original.stacks.length, 1);
    sanitizer.used_frame = sanitizer_alloc(&sanitizer, original.frames.length, 1);
    sanitizer.used_func = sanitizer_alloc(&sanitizer, original.funcs.length, 1);
    sanitizer.used_symbol = sanitizer_alloc(&sanitizer, original.native_symbols.length, 1);
    sanitizer.used_source = sanitizer_alloc(&sanitizer, original.sources.length, 1);
    sanitizer.used_resource = sanitizer_alloc(&sanitizer, original.resources.length, 1);
    sanitizer.json = malloc(sizeof(*sanitizer.json));
    if (!sanitizer.json || !sanitizer_find_words(&sanitizer))
        sanitizer_set_no_memory(&sanitizer);
    if (!sanitizer.status && original.meta.marker_schema != PROFILE_NONE) {
        const struct string_entry *schema = &original.strings.entries.data[original.meta.marker_schema];
        sanitizer.status = marker_schemas_read(&sanitizer.schemas, schema->text, schema->length, err);
    }
    if (!sanitizer.status)
        copy_tables(&sanitizer);
    free(sanitizer.json);
    array_free(&sanitizer.text);
    marker_schemas_destroy(&sanitizer.schemas);
    sanitize_words_destroy(&sanitizer.words);
    return sanitizer.status;
}
