/*
 * Appends to the tables of a profile, and frees them. Columns of one table grow together: a table has one
 * capacity, and a row is written only when every column has room for it.
 */
#include "profile/profile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_CAPACITY = 64 };

/* A column of a table: where the pointer to its elements is, and the size of one. */
struct column_place {
    size_t offset, size;
};

#define PLACE(type, column)                                                                                            \
    {                                                                                                                  \
        offsetof(struct type, column), sizeof(*((struct type *)0)->column)                                             \
    }

static const struct column_place stack_columns[] = {PLACE(stack_table, prefix), PLACE(stack_table, frame)};
static const struct column_place frame_columns[] = {
    PLACE(frame_table, address),       PLACE(frame_table, lib),         PLACE(frame_table, inline_depth),
    PLACE(frame_table, category),      PLACE(frame_table, subcategory), PLACE(frame_table, func),
    PLACE(frame_table, native_symbol), PLACE(frame_table, line),        PLACE(frame_table, column)};
static const struct column_place func_columns[] = {PLACE(func_table, name),   PLACE(func_table, resource),
                                                   PLACE(func_table, source), PLACE(func_table, line),
                                                   PLACE(func_table, column), PLACE(func_table, flags)};
static const struct column_place sample_columns[] = {PLACE(sample_table, stack),   PLACE(sample_table, time),
                                                     PLACE(sample_table, weight),  PLACE(sample_table, cpu_delta),
                                                     PLACE(sample_table, address), PLACE(sample_table, partner),
                                                     PLACE(sample_table, waker)};
static const struct column_place marker_columns[] = {PLACE(marker_table, name),     PLACE(marker_table, start),
                                                     PLACE(marker_table, end),      PLACE(marker_table, phase),
                                                     PLACE(marker_table, category), PLACE(marker_table, data)};
static const struct column_place counter_columns[] = {PLACE(counter, time), PLACE(counter, count)};

/* A pointer of any type, which is why it is read and written as bytes. */
static void *column_at(const void *table, const struct column_place *column)
{
    void *data;
    memcpy(&data, (const char *)table + column->offset, sizeof(data));
    return data;
}

/* Room for one more row, in a table of any type. */
static bool table_grow(void *table, const struct column_place *columns, size_t count, size_t *capacity)
{
    if (*capacity > PROFILE_NONE / 2) /* indexes are 32 bits wide */
        return false;
    size_t rows = *capacity ? *capacity * 2 : FIRST_CAPACITY;
    for (const struct column_place *column = columns; column < columns + count; column++) {
        void *moved = rows > SIZE_MAX / column->size ? NULL : realloc(column_at(table, column), rows * column->size);
        if (!moved)
            return false;
        memcpy((char *)table + column->offset, &moved, sizeof(moved));
    }
    *capacity = rows;
    return true;
}

static void table_free(void *table, const struct column_place *columns, size_t count)
{
    for (const struct column_place *column = columns; column < columns + count; column++)
        free(column_at(table, column));
}

#define TABLE_GROW(table, columns)                                                                                     \
    table_grow((table), (columns), sizeof(columns) / sizeof(*(columns)), &(table)->capacity)
#define TABLE_FREE(table, columns) table_free((table), (columns), sizeof(columns) / sizeof(*(columns)))

uint32_t profile_add_stack(struct profile *profile, uint32_t prefix, uint32_t frame)
{
    struct stack_table *table = &profile->stacks;
    if (table->length == table->capacity && !TABLE_GROW(table, stack_columns))
        return PROFILE_NONE;
    table->prefix[table->length] = prefix;
    table->frame[table->length] = frame;
    return (uint32_t)table->length++;
}

uint32_t profile_add_frame(struct profile *profile, uint32_t func, uint32_t lib, int64_t address)
{
    struct frame_table *table = &profile->frames;
    if (table->length == table->capacity && !TABLE_GROW(table, frame_columns))
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

uint32_t profile_add_func(struct profile *profile, uint32_t name, uint32_t resource)
{
    struct func_table *table = &profile->funcs;
    if (table->length == table->capacity && !TABLE_GROW(table, func_columns))
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

const struct sample_table *thread_samples(const struct thread *thread, enum sample_table_kind kind)
{
    static const struct sample_table none = {.weight_type = WEIGHT_BYTES};
    if (kind == TABLE_SAMPLES)
        return &thread->samples;
    return (size_t)kind <= thread->more.length ? &thread->more.data[kind - 1] : &none;
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

void profile_destroy(struct profile *profile)
{
    for (size_t i = 0; i < profile->meta.extra.length; i++)
        array_free(&profile->meta.extra.data[i].entries);
    array_free(&profile->meta.extra);
    array_free(&profile->meta.events);
    array_free(&profile->meta.initial_visible_threads);
    array_free(&profile->meta.initial_selected_threads);
    array_free(&profile->libs);
    for (size_t i = 0; i < profile->categories.length; i++)
        array_free(&profile->categories.data[i].subcategories);
    array_free(&profile->categories);
    TABLE_FREE(&profile->stacks, stack_columns);
    TABLE_FREE(&profile->frames, frame_columns);
    TABLE_FREE(&profile->funcs, func_columns);
    array_free(&profile->resources);
    array_free(&profile->native_symbols);
    array_free(&profile->sources);
    for (size_t i = 0; i < profile->threads.length; i++) {
        struct thread *thread = &profile->threads.data[i];
        TABLE_FREE(&thread->samples, sample_columns);
        for (size_t k = 0; k < thread->more.length; k++)
            TABLE_FREE(&thread->more.data[k], sample_columns);
        array_free(&thread->more);
        array_free(&thread->paused);
        TABLE_FREE(&thread->markers, marker_columns);
    }
    array_free(&profile->threads);
    for (size_t i = 0; i < profile->counters.length; i++)
        TABLE_FREE(&profile->counters.data[i], counter_columns);
    array_free(&profile->counters);
    strings_destroy(&profile->strings);
    profile_init(profile);
}
