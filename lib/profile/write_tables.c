/*
 * A table of the file is an object with an array for each column, and its length. So a list of columns describes each
 * table: the key, the format of the values, and their place in memory: a column (COLUMN) or a member of each row of an
 * array of structs (MEMBER).
 */
#include "profile/write_tables.h"

#include "profile/tooltip_row.h"

enum cell_kind {
    CELL_NULL,               /* null in each row */
    CELL_NUMBER,             /* uint32_t */
    CELL_SMALL,              /* uint8_t */
    CELL_ADDRESS,            /* int64_t */
    CELL_DOUBLE,             /* double; NAN is null */
    CELL_INDEX,              /* uint32_t; PROFILE_NONE is null */
    CELL_INDEX_OR_MINUS_ONE, /* uint32_t; PROFILE_NONE is -1 */
    CELL_POSITIVE,           /* uint32_t; 0 is null */
    CELL_PREFIX,             /* uint32_t: an earlier row, written as the distance to it; PROFILE_NONE is 0 */
    CELL_STRING,             /* uint32_t: a string, written as its index in the file; PROFILE_NONE is null */
    CELL_TEXT,               /* uint32_t: a string, written as text; PROFILE_NONE is null */
    CELL_JSON,               /* uint32_t: a string that is JSON text, written unchanged; PROFILE_NONE is null */
    CELL_IS_JS,              /* uint8_t: enum func_flags */
    CELL_RELEVANT_FOR_JS,
};

struct table_column {
    const char *key;
    enum cell_kind kind;
    const void *rows;
    size_t row_size, offset; /* offset of the cell in its row */
};

#define COLUMN(values)       (values), sizeof(*(values)), 0
#define MEMBER(rows, member) (rows), sizeof(*(rows)), offsetof(__typeof__(*(rows)), member)
#define NOTHING              NULL, 0, 0

struct table_writer {
    struct json_writer *json;
    const struct profile *profile;
    const struct string_map *strings;
    bool is_piece;
};

static void write_number_unless(struct json_writer *json, uint32_t number, uint32_t null)
{
    if (number == null)
        json_null(json);
    else
        json_unsigned(json, number);
}

static void write_cell(const struct table_writer *writer, enum cell_kind kind, const void *cell, size_t row)
{
    struct json_writer *json = writer->json;
    const uint32_t *number = cell;
    const uint8_t *small = cell;
    const int64_t *address = cell;
    const double *value = cell;
    switch (kind) {
    case CELL_NULL:
        json_null(json);
        break;
    case CELL_NUMBER:
        json_unsigned(json, *number);
        break;
    case CELL_SMALL:
        json_unsigned(json, *small);
        break;
    case CELL_ADDRESS:
        json_signed(json, *address);
        break;
    case CELL_DOUBLE:
        json_double(json, *value);
        break;
    case CELL_INDEX:
        write_number_unless(json, *number, PROFILE_NONE);
        break;
    case CELL_INDEX_OR_MINUS_ONE:
        json_signed(json, *number == PROFILE_NONE ? -1 : (int64_t)*number);
        break;
    case CELL_POSITIVE:
        write_number_unless(json, *number, 0);
        break;
    case CELL_PREFIX:
        json_unsigned(json, *number == PROFILE_NONE ? 0 : row - *number);
        break;
    case CELL_STRING:
        write_number_unless(json, *number == PROFILE_NONE ? PROFILE_NONE : writer->strings->number[*number],
                            PROFILE_NONE);
        break;
    case CELL_TEXT:
        write_string(json, writer->profile, *number);
        break;
    case CELL_JSON:
        write_json_string(json, writer->profile, *number);
        break;
    case CELL_IS_JS:
        json_bool(json, *small & FUNC_IS_JS);
        break;
    case CELL_RELEVANT_FOR_JS:
        json_bool(json, *small & FUNC_RELEVANT_FOR_JS);
        break;
    }
}

static const void *get_cell(const struct table_column *column, size_t row)
{
    return column->rows ? (const char *)column->rows + row * column->row_size + column->offset : NULL;
}

/* Writes the members of a table. */
static void write_columns(const struct table_writer *writer, const struct table_column *columns, size_t count,
                          size_t length)
{
    struct json_writer *json = writer->json;
    for (const struct table_column *column = columns; column < columns + count; column++) {
        json_member_open(json, column->key, '[');
        for (size_t row = 0; row < length; row++)
            write_cell(writer, column->kind, get_cell(column, row), row);
        json_close(json, ']');
    }
    json_member_unsigned(json, "length", length);
}

static void write_table(const struct table_writer *writer, const struct table_column *columns, size_t count,
                        size_t length)
{
    json_open(writer->json, '{');
    write_columns(writer, columns, count, length);
    json_close(writer->json, '}');
}

#define WRITE_TABLE(writer, columns, length) write_table(writer, columns, sizeof(columns) / sizeof(*(columns)), length)

/* ---- shared ---- */

static void write_string_array(const struct table_writer *writer)
{
    struct json_writer *json = writer->json;
    json_open(json, '[');
    for (size_t i = 0; i < writer->profile->strings.entries.length; i++)
        if (writer->strings->number[i] != PROFILE_NONE)
            write_string(json, writer->profile, (uint32_t)i);
    json_close(json, ']');
}

static void write_stacks(const struct table_writer *writer)
{
    const struct stack_table *stacks = &writer->profile->stacks;
    const struct table_column columns[] = {
        {"frame", CELL_INDEX, COLUMN(stacks->frame)},
        {writer->is_piece ? "prefix" : "prefixOffset", writer->is_piece ? CELL_INDEX : CELL_PREFIX,
         COLUMN(stacks->prefix)},
    };
    WRITE_TABLE(writer, columns, stacks->length);
}

static void write_frames(const struct table_writer *writer)
{
    const struct frame_table *frames = &writer->profile->frames;
    const struct table_column columns[] = {
        {"address", CELL_ADDRESS, COLUMN(frames->address)},
        {"lib", CELL_INDEX_OR_MINUS_ONE, COLUMN(frames->lib)},
        {"inlineDepth", CELL_SMALL, COLUMN(frames->inline_depth)},
        {"category", CELL_INDEX, COLUMN(frames->category)},
        {"subcategory", CELL_INDEX, COLUMN(frames->subcategory)},
        {"func", CELL_INDEX, COLUMN(frames->func)},
        {"nativeSymbol", CELL_INDEX, COLUMN(frames->native_symbol)},
        {"innerWindowID", CELL_NULL, NOTHING},
        {"line", CELL_POSITIVE, COLUMN(frames->line)},
        {"column", CELL_POSITIVE, COLUMN(frames->column)},
        {"originalLocation", CELL_NULL, NOTHING},
    };
    WRITE_TABLE(writer, columns, frames->length);
}

static void write_funcs(const struct table_writer *writer)
{
    const struct func_table *funcs = &writer->profile->funcs;
    const struct table_column columns[] = {
        {"name", CELL_STRING, COLUMN(funcs->name)},
        {"isJS", CELL_IS_JS, COLUMN(funcs->flags)},
        {"relevantForJS", CELL_RELEVANT_FOR_JS, COLUMN(funcs->flags)},
        {"resource", CELL_INDEX_OR_MINUS_ONE, COLUMN(funcs->resource)},
        {"source", CELL_INDEX, COLUMN(funcs->source)},
        {"lineNumber", CELL_POSITIVE, COLUMN(funcs->line)},
        {"columnNumber", CELL_POSITIVE, COLUMN(funcs->column)},
        {"originalLocation", CELL_NULL, NOTHING},
    };
    WRITE_TABLE(writer, columns, funcs->length);
}

static void write_resources(const struct table_writer *writer)
{
    const struct resource *rows = writer->profile->resources.data;
    const struct table_column columns[] = {
        {"name", CELL_STRING, MEMBER(rows, name)},
        {"host", CELL_STRING, MEMBER(rows, host)},
        {"type", CELL_NUMBER, MEMBER(rows, type)},
    };
    WRITE_TABLE(writer, columns, writer->profile->resources.length);
}

static void write_native_symbols(const struct table_writer *writer)
{
    const struct native_symbol *rows = writer->profile->native_symbols.data;
    const struct table_column columns[] = {
        {"libIndex", CELL_NUMBER, MEMBER(rows, lib)},
        {"address", CELL_ADDRESS, MEMBER(rows, address)},
        {"name", CELL_STRING, MEMBER(rows, name)},
        {"functionSize", CELL_POSITIVE, MEMBER(rows, size)},
    };
    WRITE_TABLE(writer, columns, writer->profile->native_symbols.length);
}

static void write_sources(const struct table_writer *writer)
{
    const struct source *rows = writer->profile->sources.data;
    const struct table_column columns[] = {
        {"id", CELL_TEXT, MEMBER(rows, id)},
        {"filename", CELL_STRING, MEMBER(rows, filename)},
        {"startLine", CELL_NUMBER, MEMBER(rows, start_line)},
        {"startColumn", CELL_NUMBER, MEMBER(rows, start_column)},
        {"sourceMapURL", CELL_STRING, MEMBER(rows, source_map_url)},
        {"content", CELL_TEXT, MEMBER(rows, content)},
    };
    WRITE_TABLE(writer, columns, writer->profile->sources.length);
}

/* Writes an empty table of locations in the original sources of compiled scripts. */
static void write_source_locations(const struct table_writer *writer)
{
    static const struct table_column columns[] = {
        {"source", CELL_NULL, NOTHING},
        {"line", CELL_NULL, NOTHING},
        {"column", CELL_NULL, NOTHING},
    };
    WRITE_TABLE(writer, columns, 0);
}

void write_shared(struct json_writer *json, const struct profile *profile, const struct string_map *strings,
                  bool is_piece)
{
    static const struct {
        const char *key;
        void (*write)(const struct table_writer *writer);
    } tables[] = {
        {"stringArray", write_string_array}, {"stackTable", write_stacks},
        {"frameTable", write_frames},        {"funcTable", write_funcs},
        {"resourceTable", write_resources},  {"nativeSymbols", write_native_symbols},
        {"sources", write_sources},          {"sourceLocationTable", write_source_locations},
    };
    struct table_writer writer = {.json = json, .profile = profile, .strings = strings, .is_piece = is_piece};
    json_open(json, '{');
    for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++) {
        json_key(json, tables[i].key);
        tables[i].write(&writer);
    }
    json_close(json, '}');
}

/* ---- markers and counters ---- */

void write_markers(struct json_writer *json, const struct marker_table *markers, const struct profile *profile,
                   const struct string_map *strings)
{
    struct table_writer writer = {.json = json, .profile = profile, .strings = strings};
    const struct table_column columns[] = {
        {"data", CELL_JSON, COLUMN(markers->data)},         {"name", CELL_STRING, COLUMN(markers->name)},
        {"startTime", CELL_DOUBLE, COLUMN(markers->start)}, {"endTime", CELL_DOUBLE, COLUMN(markers->end)},
        {"phase", CELL_SMALL, COLUMN(markers->phase)},      {"category", CELL_INDEX, COLUMN(markers->category)},
    };
    WRITE_TABLE(&writer, columns, markers->length);
}

void write_allocations(struct json_writer *json, const struct thread *thread)
{
    static const char *const keys[] = {NULL, "jsAllocations", "nativeAllocations"};
    for (int kind = TABLE_JS_ALLOCATIONS; kind < TABLE_EVENTS; kind++) {
        const struct sample_table *table = thread_samples(thread, (enum sample_table_kind)kind);
        if (table->length == 0)
            continue;
        const struct table_writer writer = {.json = json};
        const struct table_column columns[] = {
            {"stack", CELL_INDEX, COLUMN(table->stack)},
            {"time", CELL_DOUBLE, COLUMN(table->time)},
            {"weight", CELL_DOUBLE, COLUMN(table->weight)},
            {"memoryAddress", CELL_DOUBLE, COLUMN(table->address)},
        };
        size_t count = sizeof(columns) / sizeof(*columns);
        json_key(json, keys[kind]);
        json_open(json, '{');
        write_columns(&writer, columns, table->address ? count : count - 1, table->length);
        json_member_text(json, "weightType", "bytes");
        json_close(json, '}');
    }
}

/* ---- display of counters ---- */

/* Default displays of counters by category, for files before version 62; the last entry is for all other categories. */
static const struct counter_kind {
    const char *category, *graph, *unit, *color, *place;
    unsigned sort_weight;
    struct tooltip_row rows[2];
} counter_kinds[] = {
    {"Memory",
     "line-accumulated",
     "bytes",
     "purple",
     "timeline-memory",
     20,
     {{"accumulated", "bytes", "Memory, relative to the least", NULL, false},
      {"count-range", "bytes", "Memory range in view", NULL, false}}},
    {"Bandwidth",
     "line-rate",
     "bytes",
     "blue",
     NULL,
     10,
     {{"rate", "bytes-per-second", "Transfer speed", NULL, false},
      {"accumulated", "bytes", "Transferred so far", NULL, false}}},
    {"power",
     "line-rate",
     "pWh",
     "grey",
     NULL,
     30,
     {{"count", "number", "Power", "power", false},
      {"committed-range-total", "number", "Energy in view", "energy", false}}},
    {"CPU", "line-rate", "percent", "grey", NULL, 40, {{"cpu-ratio", "percent", "CPU", NULL, false}}},
    {NULL, "line-rate", "", "grey", NULL, 50, {{"count", "number", NULL, NULL, false}}},
};

static const struct counter_kind *find_counter_kind(const struct profile *profile, const struct counter *counter)
{
    const struct counter_kind *kind = counter_kinds;
    while (kind->category && strcmp(strings_text(&profile->strings, counter->category), kind->category) != 0)
        kind++;
    return kind;
}

static void write_tooltip_rows(struct json_writer *json, const struct profile *profile, const struct counter *counter)
{
    const struct counter_kind *kind = find_counter_kind(profile, counter);
    json_member_open(json, "tooltipRows", '[');
    for (size_t i = 0; i < sizeof(kind->rows) / sizeof(*kind->rows) && kind->rows[i].source; i++) {
        const struct tooltip_row *row = &kind->rows[i];
        tooltip_row_open(json, row);
        if (row->label)
            json_member_text(json, "label", row->label);
        else
            write_string_member(json, "label", profile, counter->name);
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void write_default_display(struct json_writer *json, const struct profile *profile,
                                  const struct counter *counter)
{
    const struct counter_kind *kind = find_counter_kind(profile, counter);
    json_open(json, '{');
    json_member_text(json, "graphType", kind->graph);
    json_member_text(json, "unit", kind->unit);
    json_member_text(json, "color", kind->color);
    json_member_text(json, "markerSchemaLocation", kind->place);
    json_member_unsigned(json, "sortWeight", kind->sort_weight);
    write_string_member(json, "label", profile, counter->name);
    write_tooltip_rows(json, profile, counter);
    json_close(json, '}');
}

/* Writes the file's own display, with tooltip rows, which version 62 lacks and readers require. */
static void write_own_display(struct json_writer *json, const struct profile *profile, const struct counter *counter)
{
    const struct string_entry *entry = &profile->strings.entries.data[counter->json];
    struct json own;
    bool has_rows = false;
    json_init_whole(&own, entry->text, entry->length);
    for (enum json_type type; (type = json_next(&own)) > JSON_END;) {
        has_rows |= type == JSON_KEY && own.depth == 1 && json_is(&own, "tooltipRows");
        if (type == JSON_OBJECT_CLOSE && own.depth == 0 && !has_rows)
            write_tooltip_rows(json, profile, counter);
        json_token(json, &own, type);
    }
    json_destroy(&own);
}

static void write_counter(struct json_writer *json, const struct profile *profile, const struct counter *counter)
{
    struct table_writer writer = {.json = json, .profile = profile};
    const struct table_column samples[] = {
        {"time", CELL_DOUBLE, COLUMN(counter->time)},
        {"count", CELL_DOUBLE, COLUMN(counter->count)},
    };
    json_open(json, '{');
    write_string_member(json, "name", profile, counter->name);
    write_string_member(json, "category", profile, counter->category);
    write_string_member(json, "description", profile, counter->description);
    write_string_member(json, "pid", profile, counter->pid);
    json_member_unsigned(json, "mainThreadIndex", counter->main_thread);
    json_key(json, "samples");
    WRITE_TABLE(&writer, samples, counter->length);
    json_key(json, "display");
    if (profile_text(profile, counter->json)[0] == '{')
        write_own_display(json, profile, counter);
    else
        write_default_display(json, profile, counter);
    json_close(json, '}');
}

void write_counters(struct json_writer *json, const struct profile *profile)
{
    json_open(json, '[');
    for (size_t i = 0; i < profile->counters.length; i++)
        write_counter(json, profile, &profile->counters.data[i]);
    json_close(json, ']');
}
