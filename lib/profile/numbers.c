#include "profile/numbers.h"

#include "profile/profile.h"

/* Reads numbers into a column whose type matches the file. Does not update the column's length. */
static size_t read_in_place(struct json *json, const struct column *column, enum column_type type)
{
    switch (type) {
    case COLUMN_DOUBLE:
        return json_read_numbers(json, (double *)column->data + column->length, NUMBERS_BATCH);
    case COLUMN_INDEX:
        return json_read_indexes(json, PROFILE_NONE, (uint32_t *)column->data + column->length, NUMBERS_BATCH);
    case COLUMN_POSITION:
        return json_read_indexes(json, 0, (uint32_t *)column->data + column->length, NUMBERS_BATCH);
    default:
        return 0;
    }
}

/* Reads numbers up to the first that does not fit the column's type, and converts them. */
static size_t read_converted(struct json *json, struct column *column, enum column_type type)
{
    double batch[NUMBERS_BATCH];
    struct json_mark before = json_save_position(json);
    size_t count = json_read_numbers(json, batch, NUMBERS_BATCH);
    size_t taken = column_append(column, type, batch, count);
    if (taken < count) {
        json_restore_position(json, before);
        json_read_numbers(json, batch, taken);
    }
    return taken;
}

size_t numbers_take(struct json *json, struct column *column, enum column_type type)
{
    size_t count = read_in_place(json, column, type);
    column->length += count;
    return count ? count : read_converted(json, column, type);
}

size_t numbers_skip(struct json *json)
{
    double batch[NUMBERS_BATCH];
    return json_read_numbers(json, batch, NUMBERS_BATCH);
}

static bool read_elements(struct json *json, struct column *column, enum column_type type)
{
    for (;;) {
        if (!column_reserve(column, type, NUMBERS_BATCH))
            return false;
        if (numbers_take(json, column, type))
            continue;
        enum json_type token = json_next(json);
        if (token == JSON_ARRAY_CLOSE)
            return json_next(json) == JSON_END;
        double value = token == JSON_NUMBER ? json->number : NAN;
        if ((token != JSON_NUMBER && token != JSON_NULL) || !column_append(column, type, &value, 1))
            return false;
    }
}

void number_columns_destroy(struct number_columns *columns)
{
    for (int type = 0; type <= COLUMN_DOUBLE; type++)
        array_release(columns->of_type[type].data);
}

const struct column *numbers_read(struct number_columns *columns, enum column_type type, const char *text, size_t size)
{
    if (type > COLUMN_DOUBLE)
        return NULL;
    struct column *column = &columns->of_type[type];
    struct json json;
    json_init_whole(&json, text, size);
    column->length = 0;
    bool is_read = json_next(&json) == JSON_ARRAY_OPEN && read_elements(&json, column, type);
    json_destroy(&json);
    return is_read ? column : NULL;
}
