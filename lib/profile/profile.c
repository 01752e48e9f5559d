/*
 * Appends to the tables of a profile, and frees them. Columns of one table grow together: a table has one
 * capacity, and a row is written only when every column has room for it.
 */
#include "profile/profile.h"

enum { FIRST_CAPACITY = 64 };

/* A column of a table: the address of its data pointer, and the size of an element. */
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
                                                     PLACE(sample_table, waker),   PLACE(sample_table, waker_stack)};
static const struct column_place marker_columns[] = {PLACE(marker_table, name),     PLACE(marker_table, start),
                                                     PLACE(marker_table, end),      PLACE(marker_table, phase),
                                                     PLACE(marker_table, category), PLACE(marker_table, data)};
static const struct column_place counter_columns[] = {PLACE(counter, time), PLACE(counter, count)};

/* Returns the pointer to a column. The code copies the pointer as bytes, because its type differs between columns. */
static void *get_column(const void *table, const struct column_place *column)
{
    void *data;
    memcpy(&data, (const char *)table + column->offset, sizeof(data));
    return data;
}

/* Grows a table of any type for one more row. */
static bool table_grow(void *table, const struct column_place *columns, size_t count, size_t *capacity)
{
    if (*capacity > PROFILE_NONE / 2) /* indexes are 32 bits wide */
        return false;
    size_t rows = *capacity ? *capacity * 2 : FIRST_CAPACITY;
    for (const struct column_place *column = columns; column < columns + count; column++) {
        void *moved = rows > SIZE_MAX / column->size ? NULL : realloc(get_column(table, column), rows * column->size);
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
        free(get_column(table, column));
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

/* ---- rows of all shared tables ---- */

struct profile_rows profile_count_rows(const struct profile *profile)
{
    return (struct profile_rows){.stacks = profile->stacks.length,
                                 .frames = profile->frames.length,
                                 .funcs = profile->funcs.length,
                                 .resources = profile->resources.length,
                                 .native_symbols = profile->native_symbols.length,
                                 .sources = profile->sources.length};
}

static void shift_columns(void *table, const struct column_place *columns, size_t count, size_t rows)
{
    for (const struct column_place *column = columns; rows && column < columns + count; column++) {
        void *data = (char *)get_column(table, column) + rows * column->size;
        memcpy((char *)table + column->offset, &data, sizeof(data));
    }
}

#define TABLE_SHIFT(table, columns, rows)                                                                              \
    (shift_columns((table), (columns), sizeof(columns) / sizeof(*(columns)), (rows)), (table)->length -= (rows))
#define ARRAY_SHIFT(array, rows)                                                                                       \
    do {                                                                                                               \
        if (rows)                                                                                                      \
            (array)->data += (rows);                                                                                   \
        (array)->length -= (rows);                                                                                     \
    } while (0)

struct profile profile_borrow_rows(const struct profile *profile, const struct profile_rows *from)
{
    struct profile view;
    profile_init(&view);
    view.strings = profile->strings;
    view.stacks = profile->stacks;
    view.frames = profile->frames;
    view.funcs = profile->funcs;
    memcpy(&view.resources, &profile->resources, sizeof(view.resources));
    memcpy(&view.native_symbols, &profile->native_symbols, sizeof(view.native_symbols));
    memcpy(&view.sources, &profile->sources, sizeof(view.sources));
    TABLE_SHIFT(&view.stacks, stack_columns, from->stacks);
    TABLE_SHIFT(&view.frames, frame_columns, from->frames);
    TABLE_SHIFT(&view.funcs, func_columns, from->funcs);
    ARRAY_SHIFT(&view.resources, from->resources);
    ARRAY_SHIFT(&view.native_symbols, from->native_symbols);
    ARRAY_SHIFT(&view.sources, from->sources);
    return view;
}

/* Reserves `extra` more rows, and a quarter more if the columns have to move. */
static bool table_reserve(void *table, const struct column_place *columns, size_t count, size_t length,
                          size_t *capacity, size_t extra)
{
    size_t rows = length + extra;
    if (rows <= *capacity)
        return true;
    if (rows > PROFILE_NONE / 2)
        return false;
    rows += rows / 4;
    for (const struct column_place *column = columns; column < columns + count; column++) {
        void *moved = realloc(get_column(table, column), rows * column->size);
        if (!moved)
            return false;
        memcpy((char *)table + column->offset, &moved, sizeof(moved));
    }
    *capacity = rows;
    return true;
}

static void copy_rows(void *table, const void *from, const struct column_place *columns, size_t count, size_t at,
                      size_t rows)
{
    for (const struct column_place *column = columns; rows && column < columns + count; column++)
        memcpy((char *)get_column(table, column) + at * column->size, get_column(from, column), rows * column->size);
}

#define TABLE_RESERVE(table, columns, extra)                                                                           \
    table_reserve((table), (columns), sizeof(columns) / sizeof(*(columns)), (table)->length, &(table)->capacity,       \
                  (extra))
#define TABLE_MOVE(table, from, columns)                                                                               \
    do {                                                                                                               \
        copy_rows((table), (from), (columns), sizeof(columns) / sizeof(*(columns)), (table)->length, (from)->length);  \
        (table)->length += (from)->length;                                                                             \
        TABLE_FREE((from), (columns));                                                                                 \
        memset((from), 0, sizeof(*(from)));                                                                            \
    } while (0)

bool profile_reserve_rows(struct profile *profile, const struct profile_rows *extra)
{
    return TABLE_RESERVE(&profile->stacks, stack_columns, extra->stacks) &&
           TABLE_RESERVE(&profile->frames, frame_columns, extra->frames) &&
           TABLE_RESERVE(&profile->funcs, func_columns, extra->funcs) &&
           array_reserve(&profile->resources, extra->resources) &&
           array_reserve(&profile->native_symbols, extra->native_symbols) &&
           array_reserve(&profile->sources, extra->sources);
}

bool profile_append_rows(struct profile *profile, struct profile *from)
{
    const struct profile_rows extra = profile_count_rows(from);
    if (!profile_reserve_rows(profile, &extra))
        return false;
    TABLE_MOVE(&profile->stacks, &from->stacks, stack_columns);
    TABLE_MOVE(&profile->frames, &from->frames, frame_columns);
    TABLE_MOVE(&profile->funcs, &from->funcs, func_columns);
    array_append(&profile->resources, from->resources.data, from->resources.length);
    array_append(&profile->native_symbols, from->native_symbols.data, from->native_symbols.length);
    array_append(&profile->sources, from->sources.data, from->sources.length);
    array_free(&from->resources);
    array_free(&from->native_symbols);
    array_free(&from->sources);
    return true;
}

#define SWAP(left, right)                                                                                              \
    do {                                                                                                               \
        char kept[sizeof(left)];                                                                                       \
        memcpy(kept, &(left), sizeof(kept));                                                                           \
        memcpy(&(left), &(right), sizeof(kept));                                                                       \
        memcpy(&(right), kept, sizeof(kept));                                                                          \
    } while (0)

void profile_swap_rows(struct profile *left, struct profile *right)
{
    SWAP(left->stacks, right->stacks);
    SWAP(left->frames, right->frames);
    SWAP(left->funcs, right->funcs);
    SWAP(left->resources, right->resources);
    SWAP(left->native_symbols, right->native_symbols);
    SWAP(left->sources, right->sources);
}

/* ---- more ---- */

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

uint32_t profile_find_default_category(const struct profile *profile)
{
    uint32_t grey = strings_find(&profile->strings, "grey", 4);
    if (grey != STRING_NONE)
        for (size_t i = 0; i < profile->categories.length; i++)
            if (profile->categories.data[i].color == grey)
                return (uint32_t)i;
    return 0;
}

void sample_table_free(struct sample_table *table)
{
    TABLE_FREE(table, sample_columns);
    *table = (struct sample_table){0};
}

const struct sample_table *thread_samples(const struct thread *thread, enum sample_table_kind kind)
{
    static const struct sample_table none = {.weight_type = WEIGHT_BYTES};
    if (kind == TABLE_SAMPLES)
        return &thread->samples;
    return (size_t)kind <= thread->more.length ? &thread->more.data[kind - 1] : &none;
}

void slice_table_free(struct slice_table *table)
{
    free(table->cpu);
    free(table->start);
    free(table->end);
    free(table->off_cpu);
    *table = (struct slice_table){0};
}

void thread_destroy(struct thread *thread)
{
    slice_table_free(&thread->slices);
    sample_table_free(&thread->samples);
    for (size_t k = 0; k < thread->more.length; k++)
        sample_table_free(&thread->more.data[k]);
    array_free(&thread->more);
    array_free(&thread->paused);
    TABLE_FREE(&thread->markers, marker_columns);
    *thread = (struct thread){0};
}

void counter_destroy(struct counter *counter)
{
    TABLE_FREE(counter, counter_columns);
    *counter = (struct counter){0};
}

static void meta_init(struct profile_meta *meta)
{
    *meta = (struct profile_meta){0};
    meta->version = PROFILE_VERSION;
    meta->profiling_start = meta->profiling_end = NAN;
    meta->product = meta->os = meta->abi = meta->platform = PROFILE_NONE;
    meta->cpu_name = meta->arguments = meta->imported_from = meta->misc = PROFILE_NONE;
    meta->symbolicated = -1;
    meta->marker_schema = meta->warning = meta->added_next = PROFILE_NONE;
    meta->comparison.name[SIDE_BASE] = meta->comparison.name[SIDE_NEW] = meta->comparison.scaled_by = PROFILE_NONE;
}

void profile_init(struct profile *profile)
{
    *profile = (struct profile){0};
    meta_init(&profile->meta);
}

void profile_forget_description(struct profile *profile)
{
    for (size_t i = 0; i < profile->meta.extra.length; i++)
        array_free(&profile->meta.extra.data[i].entries);
    array_free(&profile->meta.extra);
    array_free(&profile->meta.events);
    array_free(&profile->meta.initial_visible_threads);
    array_free(&profile->meta.initial_selected_threads);
    meta_init(&profile->meta);
    for (size_t i = 0; i < profile->threads.length; i++)
        thread_destroy(&profile->threads.data[i]);
    array_free(&profile->threads);
    for (size_t i = 0; i < profile->counters.length; i++)
        counter_destroy(&profile->counters.data[i]);
    array_free(&profile->counters);
}

void profile_destroy(struct profile *profile)
{
    profile_forget_description(profile);
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
    strings_destroy(&profile->strings);
    profile_init(profile);
}
