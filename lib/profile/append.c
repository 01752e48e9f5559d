#include "profile/append.h"

/* ---- rows of a table ---- */

struct row_column {
    size_t offset, size;
};

#define COLUMN_OF(table, column)                                                                                       \
    {                                                                                                                  \
        offsetof(table, column), sizeof(*((table *)0)->column)                                                         \
    }
#define PLACE(column) COLUMN_OF(struct sample_table, column)

static const struct row_column columns[] = {PLACE(stack),     PLACE(time),  PLACE(weight),
                                            PLACE(cpu_delta), PLACE(waker), PLACE(waker_stack)};

enum { COLUMNS = sizeof(columns) / sizeof(*columns) };

/* Returns the pointer to a column. The code copies the pointer as bytes, because its type differs between columns. */
static void *get_column(const void *table, const struct row_column *column)
{
    void *data;
    memcpy(&data, (const char *)table + column->offset, sizeof(data));
    return data;
}

static void set_column(void *table, const struct row_column *column, void *data)
{
    memcpy((char *)table + column->offset, &data, sizeof(data));
}

/* Frees all columns, also the columns of allocations, which no piece has. */
static void free_rows(struct sample_table *table)
{
    free(table->address);
    free(table->partner);
    table->address = NULL;
    table->partner = NULL;
    for (size_t i = 0; i < COLUMNS; i++) {
        free(get_column(table, &columns[i]));
        set_column(table, &columns[i], NULL);
    }
    table->length = table->capacity = 0;
}

static void move_rows(struct sample_table *to, struct sample_table *from)
{
    free_rows(to);
    for (size_t i = 0; i < COLUMNS; i++) {
        set_column(to, &columns[i], get_column(from, &columns[i]));
        set_column(from, &columns[i], NULL);
    }
    to->length = from->length;
    to->capacity = from->capacity;
    from->length = from->capacity = 0;
}

static bool have_equal_columns(const struct sample_table *left, const struct sample_table *right)
{
    for (size_t i = 0; i < COLUMNS; i++)
        if ((get_column(left, &columns[i]) != NULL) != (get_column(right, &columns[i]) != NULL))
            return false;
    return left->address == NULL && right->address == NULL;
}

/* Changes the number of rows for which the columns of a table have room. */
static bool resize_columns(void *table, const struct row_column *own, size_t count, size_t capacity)
{
    for (size_t i = 0; i < count; i++) {
        void *data = get_column(table, &own[i]);
        void *moved = data ? realloc(data, capacity * own[i].size) : NULL;
        if (data && !moved)
            return false;
        set_column(table, &own[i], moved);
    }
    return true;
}

/* Returns a quarter more rows than needed, so that a growing table rarely moves. */
static size_t choose_capacity(size_t length)
{
    return length + length / 4 + 1;
}

static bool reserve_rows(struct sample_table *table, size_t length)
{
    size_t capacity = table->capacity ? table->capacity : table->length;
    if (length <= capacity)
        return true;
    capacity = choose_capacity(length);
    if (!resize_columns(table, columns, COLUMNS, capacity))
        return false;
    table->capacity = capacity;
    return true;
}

int sample_table_append(struct sample_table *table, size_t row, struct sample_table *rows, struct error *err)
{
    if (row > table->length)
        return error_set(err, EINVAL, "samples are missing before row %zu: the table has only %zu rows", row,
                         table->length);
    if (row == 0) {
        move_rows(table, rows);
        return 0;
    }
    if (rows->length && !have_equal_columns(table, rows))
        return error_set(err, EINVAL, "the samples starting at row %zu have different columns from the rows before",
                         row);
    if (rows->length > PROFILE_NONE - row || !reserve_rows(table, row + rows->length))
        return error_no_memory(err);
    for (size_t i = 0; i < rows->length && rows->time[i] < table->time[row - 1]; i++)
        rows->time[i] = table->time[row - 1];
    for (size_t i = 0; i < COLUMNS && rows->length; i++)
        if (get_column(table, &columns[i]))
            memcpy((char *)get_column(table, &columns[i]) + row * columns[i].size, get_column(rows, &columns[i]),
                   rows->length * columns[i].size);
    table->length = row + rows->length;
    free_rows(rows);
    return 0;
}

/* ---- slices ---- */

static const struct row_column slice_columns[] = {
    COLUMN_OF(struct slice_table, cpu), COLUMN_OF(struct slice_table, start), COLUMN_OF(struct slice_table, end),
    COLUMN_OF(struct slice_table, off_cpu)};

static bool reserve_slices(struct slice_table *table, size_t length)
{
    size_t capacity = choose_capacity(length);
    if (length <= table->capacity)
        return true;
    if (!resize_columns(table, slice_columns, sizeof(slice_columns) / sizeof(*slice_columns), capacity))
        return false;
    table->capacity = capacity;
    return true;
}

int slice_table_append(struct slice_table *table, struct slice_table *rows, struct error *err)
{
    size_t row = table->length, count = rows->length;
    if (row && count && !reserve_slices(table, row + count))
        return error_no_memory(err);
    if (row == 0) {
        slice_table_free(table);
        *table = *rows;
        *rows = (struct slice_table){0};
        return 0;
    }
    for (size_t i = 0; i < count; i++) {
        double start = fmax(rows->start[i], table->start[row - 1]), end = fmax(rows->end[i], start);
        table->cpu[row + i] = rows->cpu[i];
        table->start[row + i] = start;
        table->end[row + i] = end;
        table->off_cpu[row + i] = fmin(rows->off_cpu[i], end - start);
    }
    table->length = row + count;
    slice_table_free(rows);
    return 0;
}

/* ---- a profile ---- */

/* Maps the strings of one part to those of another part, which numbers strings differently. */
struct renumbering {
    const struct profile *before;
    struct profile *profile;
    uint32_t *numbers; /* PROFILE_NONE: unknown yet */
};

static bool renumber_indexes(struct renumbering *to, uint32_t *string)
{
    if (*string == PROFILE_NONE)
        return true;
    uint32_t *number = &to->numbers[*string];
    if (*number == PROFILE_NONE) {
        const struct string_entry *text = &to->before->strings.entries.data[*string];
        *number = strings_add(&to->profile->strings, text->text, text->length);
    }
    if (*number == STRING_NONE)
        return false;
    *string = *number;
    return true;
}

static bool renumber_wakers(struct renumbering *to, struct sample_table *table)
{
    bool enough = true;
    for (size_t i = 0; enough && table->waker && i < table->length; i++)
        enough = renumber_indexes(to, &table->waker[i]);
    return enough;
}

/* Renumbers the strings of the previous part's shared tables. */
static bool renumber_rows(struct renumbering *to, struct profile *before)
{
    bool enough = true;
    for (size_t i = 0; enough && i < before->funcs.length; i++)
        enough = renumber_indexes(to, &before->funcs.name[i]);
    for (size_t i = 0; enough && i < before->resources.length; i++)
        enough = renumber_indexes(to, &before->resources.data[i].name) &&
                 renumber_indexes(to, &before->resources.data[i].host);
    for (size_t i = 0; enough && i < before->native_symbols.length; i++)
        enough = renumber_indexes(to, &before->native_symbols.data[i].name);
    for (size_t i = 0; enough && i < before->sources.length; i++) {
        struct source *source = &before->sources.data[i];
        enough = renumber_indexes(to, &source->filename) && renumber_indexes(to, &source->id) &&
                 renumber_indexes(to, &source->content) && renumber_indexes(to, &source->source_map_url);
    }
    return enough;
}

static int renumber_all(struct profile *profile, struct profile *before, struct error *err)
{
    size_t count = before->strings.entries.length;
    struct renumbering to = {before, profile, malloc((count + 1) * sizeof(*to.numbers))};
    bool enough = to.numbers != NULL;
    for (size_t i = 0; enough && i < count; i++)
        to.numbers[i] = PROFILE_NONE;
    for (size_t i = 0; enough && i < before->threads.length; i++)
        enough = renumber_wakers(&to, &before->threads.data[i].samples);
    enough = enough && renumber_rows(&to, before);
    free(to.numbers);
    return enough ? 0 : error_no_memory(err);
}

static int continue_table(struct sample_table *table, struct sample_table *before, struct error *err)
{
    int code = table->joins ? sample_table_append(before, table->joins - 1, table, err) : 0;
    if (!code)
        move_rows(table, before);
    return code;
}

static int continue_thread(struct thread *thread, struct thread *before, struct error *err)
{
    while (thread->more.length < before->more.length)
        if (!array_push_zero(&thread->more))
            return error_no_memory(err);
    while (before->more.length < thread->more.length)
        if (!array_push_zero(&before->more))
            return error_no_memory(err);
    int code = slice_table_append(&before->slices, &thread->slices, err);
    if (!code) {
        thread->slices = before->slices;
        before->slices = (struct slice_table){0};
        code = continue_table(&thread->samples, &before->samples, err);
    }
    for (size_t i = 0; !code && i < thread->more.length; i++)
        code = continue_table(&thread->more.data[i], &before->more.data[i], err);
    return code;
}

static bool has_no_rows(const struct profile_rows *rows)
{
    return !rows->stacks && !rows->frames && !rows->funcs && !rows->resources && !rows->native_symbols &&
           !rows->sources;
}

/* Returns whether the rows of `profile` follow the rows of `before`. If so, the rows of `profile` may use the numbers
 * of libraries and categories of `before`. */
static bool is_continuation(const struct profile *profile, const struct profile *before)
{
    const struct profile_rows has = profile_count_rows(before), more = profile_count_rows(profile);
    const struct profile_rows *wanted = &profile->meta.rows_before;
    bool has_no_piece = has_no_rows(wanted) && has_no_rows(&more);
    bool follows = (has_no_piece || memcmp(wanted, &has, sizeof(has)) == 0) &&
                   profile->threads.length >= before->threads.length && profile->libs.length >= before->libs.length &&
                   profile->categories.length >= before->categories.length;
    for (size_t i = 0; follows && i < before->categories.length; i++)
        follows = profile->categories.data[i].subcategories.length >= before->categories.data[i].subcategories.length;
    return follows;
}

int profile_continue(struct profile *profile, struct profile *before, struct error *err)
{
    if (!is_continuation(profile, before))
        return error_set(err, EINVAL, "the update does not begin where the profile ends");
    int code = renumber_all(profile, before, err);
    for (size_t i = 0; !code && i < before->threads.length; i++)
        code = continue_thread(&profile->threads.data[i], &before->threads.data[i], err);
    if (!code && !profile_append_rows(before, profile))
        code = error_no_memory(err);
    if (code)
        return code;
    profile_swap_rows(profile, before);
    profile->meta.rows_before = (struct profile_rows){0};
    return 0;
}
