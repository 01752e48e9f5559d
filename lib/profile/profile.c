/*
 * Appends to the tables of a profile, and frees them. Columns of one table grow together: a table has one
 * capacity, and a row is written only when every column has room for it.
 */
#include "profile/profile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_CAPACITY = 64 };

/* `column` is the address of a pointer of any type, which is why it is read and written as bytes. */
static bool column_resize(void *column, size_t rows, size_t row_size)
{
    void *data;
    memcpy(&data, column, sizeof(data));
    void *moved = rows > SIZE_MAX / row_size ? NULL : realloc(data, rows * row_size);
    if (moved)
        memcpy(column, &moved, sizeof(moved));
    return moved != NULL;
}

#define RESIZE(column, rows) column_resize(&(column), (rows), sizeof(*(column)))

/* The capacity to resize to, for one more row; 0 if the table cannot grow (indexes are 32 bits wide). */
static size_t grown_capacity(size_t capacity)
{
    if (capacity > PROFILE_NONE / 2)
        return 0;
    return capacity ? capacity * 2 : FIRST_CAPACITY;
}

static bool stacks_grow(struct stack_table *table)
{
    size_t rows = grown_capacity(table->capacity);
    if (!rows || !RESIZE(table->prefix, rows) || !RESIZE(table->frame, rows))
        return false;
    table->capacity = rows;
    return true;
}

uint32_t profile_add_stack(struct profile *profile, uint32_t prefix, uint32_t frame)
{
    struct stack_table *table = &profile->stacks;
    if (table->length == table->capacity && !stacks_grow(table))
        return PROFILE_NONE;
    table->prefix[table->length] = prefix;
    table->frame[table->length] = frame;
    return (uint32_t)table->length++;
}

static bool frames_grow(struct frame_table *table)
{
    size_t rows = grown_capacity(table->capacity);
    if (!rows || !RESIZE(table->address, rows) || !RESIZE(table->lib, rows) || !RESIZE(table->inline_depth, rows) ||
        !RESIZE(table->category, rows) || !RESIZE(table->subcategory, rows) || !RESIZE(table->func, rows) ||
        !RESIZE(table->native_symbol, rows) || !RESIZE(table->line, rows) || !RESIZE(table->column, rows))
        return false;
    table->capacity = rows;
    return true;
}

uint32_t profile_add_frame(struct profile *profile, uint32_t func, uint32_t lib, int64_t address)
{
    struct frame_table *table = &profile->frames;
    if (table->length == table->capacity && !frames_grow(table))
        return PROFILE_NONE;
    size_t row = table->length++;
    table->address[row] = address;
    table->lib[row] = lib;
    table->inline_depth[row] = 0;
    table->category[row] = table->subcategory[row] = PROFILE_NONE;
    table->func[row] = func;
    table->native_symbol[row] = PROFILE_NONE;
    table->line[row] = table->column[row] = 0;
    return (uint32_t)row;
}

static bool funcs_grow(struct func_table *table)
{
    size_t rows = grown_capacity(table->capacity);
    if (!rows || !RESIZE(table->name, rows) || !RESIZE(table->resource, rows) || !RESIZE(table->source, rows) ||
        !RESIZE(table->line, rows) || !RESIZE(table->column, rows) || !RESIZE(table->flags, rows))
        return false;
    table->capacity = rows;
    return true;
}

uint32_t profile_add_func(struct profile *profile, uint32_t name, uint32_t resource)
{
    struct func_table *table = &profile->funcs;
    if (table->length == table->capacity && !funcs_grow(table))
        return PROFILE_NONE;
    size_t row = table->length++;
    table->name[row] = name;
    table->resource[row] = resource;
    table->source[row] = PROFILE_NONE;
    table->line[row] = table->column[row] = 0;
    table->flags[row] = 0;
    return (uint32_t)row;
}

struct thread *profile_add_thread(struct profile *profile)
{
    struct thread *thread = array_push_zero(&profile->threads);
    if (thread) {
        thread->name = thread->process_name = thread->process_type = PROFILE_NONE;
        thread->pid = thread->tid = PROFILE_NONE;
        thread->process_start = thread->process_end = NAN;
        thread->start = thread->end = NAN;
    }
    return thread;
}

uint32_t profile_add_category(struct profile *profile, const char *name, const char *color)
{
    struct category category = {.name = strings_add_z(&profile->strings, name),
                                .color = strings_add_z(&profile->strings, color)};
    uint32_t other = strings_add_z(&profile->strings, "Other");
    if (category.name == STRING_NONE || category.color == STRING_NONE || other == STRING_NONE ||
        !array_push(&category.subcategories, other))
        return PROFILE_NONE;
    if (!array_push(&profile->categories, category)) {
        array_free(&category.subcategories);
        return PROFILE_NONE;
    }
    return (uint32_t)profile->categories.length - 1;
}

uint32_t profile_default_category(const struct profile *profile)
{
    uint32_t grey = strings_find(&profile->strings, "grey", 4);
    if (grey != STRING_NONE)
        for (size_t i = 0; i < profile->categories.length; i++)
            if (profile->categories.data[i].color == grey)
                return (uint32_t)i;
    return 0;
}

void profile_init(struct profile *profile)
{
    *profile = (struct profile){0};
    struct profile_meta *meta = &profile->meta;
    meta->version = PROFILE_VERSION;
    meta->profiling_start = meta->profiling_end = NAN;
    meta->product = meta->os = meta->abi = meta->platform = PROFILE_NONE;
    meta->cpu_name = meta->arguments = meta->imported_from = meta->misc = PROFILE_NONE;
    meta->symbolicated = -1;
    meta->marker_schema = meta->warning = PROFILE_NONE;
}

static void stacks_free(struct stack_table *table)
{
    free(table->prefix);
    free(table->frame);
    *table = (struct stack_table){0};
}

static void frames_free(struct frame_table *table)
{
    free(table->address);
    free(table->lib);
    free(table->inline_depth);
    free(table->category);
    free(table->subcategory);
    free(table->func);
    free(table->native_symbol);
    free(table->line);
    free(table->column);
    *table = (struct frame_table){0};
}

static void funcs_free(struct func_table *table)
{
    free(table->name);
    free(table->resource);
    free(table->source);
    free(table->line);
    free(table->column);
    free(table->flags);
    *table = (struct func_table){0};
}

static void thread_destroy(struct thread *thread)
{
    free(thread->samples.stack);
    free(thread->samples.time);
    free(thread->samples.weight);
    free(thread->samples.cpu_delta);
    free(thread->markers.name);
    free(thread->markers.start);
    free(thread->markers.end);
    free(thread->markers.phase);
    free(thread->markers.category);
    free(thread->markers.data);
}

void profile_destroy(struct profile *profile)
{
    for (size_t i = 0; i < profile->meta.extra.length; i++)
        array_free(&profile->meta.extra.data[i].entries);
    array_free(&profile->meta.extra);
    array_free(&profile->meta.initial_visible_threads);
    array_free(&profile->meta.initial_selected_threads);
    array_free(&profile->libs);
    for (size_t i = 0; i < profile->categories.length; i++)
        array_free(&profile->categories.data[i].subcategories);
    array_free(&profile->categories);
    stacks_free(&profile->stacks);
    frames_free(&profile->frames);
    funcs_free(&profile->funcs);
    array_free(&profile->resources);
    array_free(&profile->native_symbols);
    array_free(&profile->sources);
    for (size_t i = 0; i < profile->threads.length; i++)
        thread_destroy(&profile->threads.data[i]);
    array_free(&profile->threads);
    for (size_t i = 0; i < profile->counters.length; i++) {
        free(profile->counters.data[i].time);
        free(profile->counters.data[i].count);
    }
    array_free(&profile->counters);
    strings_destroy(&profile->strings);
    profile_init(profile);
}
