/*
 * pprof's profile.proto (https://github.com/google/pprof/blob/main/proto/profile.proto), as Go's runtime/pprof,
 * gperftools, jemalloc's jeprof --proto, Pyroscope and Parca write it. The default sample type, else the last type, is
 * the weight, as in `go tool pprof`; the other types are events (meta.events). A location with several lines is a
 * function with its inlined calls, the innermost first.
 *
 * If the default type has no values, the first type with values is the weight.
 *
 * Samples have no times. Labels "pid", "tid", "thread_id" or "thread" assign a sample to a thread; for other labels see
 * pprof_labels.h.
 */
#include "import/importers.h"
#include "import/pprof_labels.h"
#include "import/protobuf_read.h"

enum { MOST_LINES = 256 }; /* limit of lines in a location: each use of the location adds as many frames */

struct value_type {
    uint64_t type, unit; /* strings */
    uint32_t table;      /* table of the builder, or PROFILE_NONE if omitted */
    double scale;        /* factor from value to weight of the main samples */
    bool has_values;     /* some values are not 0 */
};

struct mapping {
    uint64_t start, offset, file, build_id;
    uint32_t lib, resource; /* PROFILE_NONE: not made yet, or out of memory */
};

struct location {
    struct cursor message;
    uint64_t address, mapping;
    size_t first_frame, frames; /* first frame, and number of frames, or 0 until the frames are made */
};

struct function {
    uint64_t name, system_name, file, line;
};

struct pprof {
    struct profile_builder *builder;
    struct error *err;
    ARRAY(struct builder_text) strings;
    ARRAY(struct value_type) types;
    ARRAY(struct mapping) mappings;
    ARRAY(struct location) locations;
    ARRAY(struct function) functions;
    struct hash mapping_of, location_of, function_of; /* id -> index */
    ARRAY(uint32_t) frames;                           /* frames of the locations, outermost first */
    ARRAY(uint64_t) ids;                              /* of the current sample */
    ARRAY(struct pprof_label) sample_labels;          /* labels of the current sample */
    struct pprof_labels labels;
    uint64_t default_type, period_unit, period, time;
    uint32_t kernel; /* category */
    bool has_names, lacks_names;
};

static struct builder_text find_string(const struct pprof *file, uint64_t index)
{
    return index < file->strings.length ? file->strings.data[index] : (struct builder_text){"", 0};
}

static int fail_damaged(const struct pprof *file, const char *what)
{
    return error_set(file->err, EINVAL, "%s is damaged or truncated", what);
}

/* ---- detection ---- */

/* Returns whether all complete fields of the text are fields of a profile, and one is a sample type. */
bool pprof_begins(const char *text, size_t size, bool is_whole)
{
    struct cursor message = cursor_of(text, size);
    struct protobuf_field field;
    bool has_type = false;
    while (protobuf_next(&message, &field)) {
        bool is_number = (field.number >= 7 && field.number <= 10) || field.number == 12 || field.number == 14;
        bool is_bytes = (field.number >= 1 && field.number <= 6) || field.number == 11;
        bool is_either = field.number == 13; /* comments, packed or not */
        if (field.number > 15 || (is_number && field.wire != 0) || (is_bytes && field.wire != 2) ||
            (is_either && field.wire != 0 && field.wire != 2))
            return false;
        if (field.number == 1) {
            struct protobuf_field part;
            while (protobuf_next(&field.bytes, &part))
                if (part.number > 2 || part.wire != 0)
                    return false;
            if (field.bytes.failed)
                return false;
            has_type = true;
        }
    }
    return has_type && (!message.failed || !is_whole || size > 0);
}

/* ---- the tables ---- */

static int read_mapping(struct pprof *file, struct cursor message)
{
    enum { ID = 1, START, LIMIT, OFFSET, FILE_NAME, BUILD_ID, FIELDS };
    uint64_t row[FIELDS] = {0};
    if (!protobuf_read_numbers(message, row, FIELDS))
        return fail_damaged(file, "a mapping");
    const struct mapping mapping = {row[START], row[OFFSET], row[FILE_NAME], row[BUILD_ID], PROFILE_NONE, PROFILE_NONE};
    if (!array_push(&file->mappings, mapping) ||
        !hash_set(&file->mapping_of, row[ID], (uint32_t)file->mappings.length - 1))
        return error_no_memory(file->err);
    return 0;
}

static int read_location(struct pprof *file, struct cursor message)
{
    enum { ID = 1, MAPPING, ADDRESS, FIELDS };
    uint64_t row[FIELDS] = {0};
    if (!protobuf_read_numbers(message, row, FIELDS))
        return fail_damaged(file, "a location");
    const struct location location = {.message = message, .mapping = row[MAPPING], .address = row[ADDRESS]};
    if (!array_push(&file->locations, location) ||
        !hash_set(&file->location_of, row[ID], (uint32_t)file->locations.length - 1))
        return error_no_memory(file->err);
    return 0;
}

static int read_function(struct pprof *file, struct cursor message)
{
    enum { ID = 1, NAME, SYSTEM_NAME, FILE_NAME, LINE, FIELDS };
    uint64_t row[FIELDS] = {0};
    if (!protobuf_read_numbers(message, row, FIELDS))
        return fail_damaged(file, "a function");
    const struct function function = {row[NAME], row[SYSTEM_NAME], row[FILE_NAME], row[LINE]};
    if (!array_push(&file->functions, function) ||
        !hash_set(&file->function_of, row[ID], (uint32_t)file->functions.length - 1))
        return error_no_memory(file->err);
    return 0;
}

static int read_table_row(struct pprof *file, const struct protobuf_field *field)
{
    uint64_t type[3] = {0}; /* type and unit */
    switch (field->number) {
    case 1:
        if (!protobuf_read_numbers(field->bytes, type, 3))
            return fail_damaged(file, "a sample type");
        return array_push(&file->types, ((struct value_type){.type = type[1], .unit = type[2]}))
                   ? 0
                   : error_no_memory(file->err);
    case 3:
        return read_mapping(file, field->bytes);
    case 4:
        return read_location(file, field->bytes);
    case 5:
        return read_function(file, field->bytes);
    case 6: {
        struct builder_text text = {(const char *)field->bytes.at, cursor_left(&field->bytes)};
        return array_push(&file->strings, text) ? 0 : error_no_memory(file->err);
    }
    case 9:
        file->time = field->value;
        return 0;
    case 11:
        if (!protobuf_read_numbers(field->bytes, type, 3))
            return fail_damaged(file, "the period type");
        file->period_unit = type[2];
        return 0;
    case 12:
        file->period = field->value;
        return 0;
    case 14:
        file->default_type = field->value;
        return 0;
    default:
        return 0;
    }
}

/* ---- weights ---- */

/* Returns ms per unit, or 0 if the unit is no unit of time. */
static double get_unit_ms(struct builder_text unit)
{
    static const struct {
        const char *name;
        double ms;
    } units[] = {{"nanoseconds", 1e-6}, {"ns", 1e-6}, {"microseconds", 1e-3}, {"us", 1e-3},
                 {"milliseconds", 1},   {"ms", 1},    {"seconds", 1e3},       {"s", 1e3}};
    for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
        if (builder_text_is(unit, units[i].name))
            return units[i].ms;
    return 0;
}

static void add_event(struct pprof *file, struct value_type *type)
{
    struct builder_text name = find_string(file, type->type), unit = find_string(file, type->unit);
    double ms = get_unit_ms(unit);
    char text[128];
    int length = ms > 0 ? snprintf(text, sizeof(text), "%.*s (ms)", (int)name.length % 100, name.text)
                        : snprintf(text, sizeof(text), "%.*s (%.*s)", (int)name.length % 80, name.text,
                                   (int)unit.length % 30, unit.text);
    type->scale = ms > 0 ? ms : 1;
    if (builder_text_is(unit, "count"))
        type->table = builder_add_event(file->builder, name);
    else
        type->table = builder_add_event(file->builder, (struct builder_text){text, (size_t)length});
    if (type->table == 0)
        type->table = PROFILE_NONE; /* beyond the limit of events */
}

/* Finds the sample types with values. */
static void find_used_values(struct pprof *file, struct cursor message)
{
    struct protobuf_field field, part;
    while (protobuf_next(&message, &field)) {
        size_t i = 0;
        while (field.number == 2 && field.wire == 2 && protobuf_next(&field.bytes, &part)) {
            uint64_t value;
            while (part.number == 2 && protobuf_next_value(&part, &value)) {
                if (i < file->types.length)
                    file->types.data[i].has_values |= value != 0;
                i++;
            }
        }
    }
}

/* Chooses the default type, else the last type, as in `go tool pprof`; if that type has no values, the first type with
 * values. */
static size_t choose_type(struct pprof *file)
{
    size_t chosen = file->types.length - 1;
    for (size_t i = 0; i < file->types.length; i++)
        if (file->default_type && file->types.data[i].type == file->default_type)
            chosen = i;
    if (file->types.data[chosen].has_values)
        return chosen;
    for (size_t i = 0; i < file->types.length; i++) {
        if (!file->types.data[i].has_values)
            continue;
        struct builder_text before = find_string(file, file->types.data[chosen].type);
        struct builder_text now = find_string(file, file->types.data[i].type);
        char text[160];
        snprintf(text, sizeof(text),
                 "The default sample type of the file, %.*s, has no values: the weight of samples is %.*s.",
                 (int)before.length % 40, before.text, (int)now.length % 40, now.text);
        builder_warn(file->builder, text);
        return i;
    }
    return chosen;
}

static int choose_weights(struct pprof *file, const char *text, size_t size)
{
    struct profile_builder *builder = file->builder;
    if (file->types.length == 0)
        return error_set(file->err, EINVAL, "the file has no sample types");
    find_used_values(file, cursor_of(text, size));
    size_t chosen = choose_type(file);
    struct value_type *main = &file->types.data[chosen];
    double ms = get_unit_ms(find_string(file, main->unit));
    builder->weight_type = ms > 0                                                    ? WEIGHT_TRACING_MS
                           : builder_text_is(find_string(file, main->unit), "bytes") ? WEIGHT_BYTES
                                                                                     : WEIGHT_SAMPLES;
    main->scale = ms > 0 ? ms : 1;
    for (size_t i = 0; i < file->types.length; i++)
        if (i != chosen)
            add_event(file, &file->types.data[i]);
    double interval = (double)file->period * get_unit_ms(find_string(file, file->period_unit));
    if (interval > 0)
        builder->profile->meta.interval = interval;
    builder->profile->meta.start_time = (double)(int64_t)file->time / 1e6;
    return 0;
}

/* ---- locations ---- */

static void set_library(struct pprof *file, const struct location *location, struct builder_frame *frame)
{
    uint32_t index = location->mapping ? hash_get(&file->mapping_of, location->mapping) : HASH_MISSING;
    if (index == HASH_MISSING)
        return;
    struct mapping *mapping = &file->mappings.data[index];
    struct builder_text path = find_string(file, mapping->file);
    if (!path.length)
        return;
    if (mapping->lib == PROFILE_NONE)
        mapping->lib = builder_add_lib(file->builder, path, find_string(file, mapping->build_id), &mapping->resource);
    frame->lib = mapping->lib + 1;
    frame->resource = mapping->resource + 1;
    frame->address = location->address - mapping->start + mapping->offset;
    if (path.text[0] == '[' && path.length > 7 && memcmp(path.text, "[kernel", 7) == 0)
        frame->category = file->kernel + 1;
}

enum { LINE_FUNCTION = 1, LINE_NUMBER, LINE_FIELDS };

struct line {
    uint64_t fields[LINE_FIELDS];
};

static int add_frame(struct pprof *file, struct builder_frame *frame, const struct line *line)
{
    char text[24];
    uint32_t index = line ? hash_get(&file->function_of, line->fields[LINE_FUNCTION]) : HASH_MISSING;
    const struct function *function = index == HASH_MISSING ? NULL : &file->functions.data[index];
    frame->name = function ? find_string(file, function->name) : (struct builder_text){"", 0};
    if (function && !frame->name.length)
        frame->name = find_string(file, function->system_name);
    frame->file = function ? find_string(file, function->file) : (struct builder_text){"", 0};
    frame->func_line = function && function->line < INT32_MAX ? (uint32_t)function->line : 0;
    frame->line = line && line->fields[LINE_NUMBER] < INT32_MAX ? (uint32_t)line->fields[LINE_NUMBER] : 0;
    if (frame->name.length)
        file->has_names = true;
    else {
        file->lacks_names = true;
        snprintf(text, sizeof(text), "0x%llx", (unsigned long long)frame->address);
        frame->name = builder_text(text);
    }
    if (!array_push(&file->frames, builder_add_frame(file->builder, frame)))
        return error_no_memory(file->err);
    frame->inline_depth += frame->inline_depth < UINT8_MAX;
    return 0;
}

/* Makes the frames of a location from its lines, outermost first. */
static int make_frames(struct pprof *file, struct location *location)
{
    struct builder_frame frame = {.address = location->address};
    ARRAY(struct line) lines = {0};
    struct cursor message = location->message;
    struct protobuf_field field;
    int code = 0;
    set_library(file, location, &frame);
    while (!code && protobuf_next(&message, &field)) {
        if (field.number != 4 || field.wire != 2)
            continue;
        struct line line = {0};
        if (!protobuf_read_numbers(field.bytes, line.fields, LINE_FIELDS))
            code = fail_damaged(file, "a line of a location");
        if (!code && lines.length == MOST_LINES)
            code = error_set(file->err, EINVAL, "a location has more than %d lines", MOST_LINES);
        if (!code && !array_push(&lines, line))
            code = error_no_memory(file->err);
    }
    location->first_frame = file->frames.length;
    for (size_t i = lines.length; !code && i-- > 0;)
        code = add_frame(file, &frame, &lines.data[i]);
    if (!code && lines.length == 0)
        code = add_frame(file, &frame, NULL);
    location->frames = file->frames.length - location->first_frame;
    array_free(&lines);
    return code;
}

/* ---- samples ---- */

struct labels {
    uint64_t pid, tid;
    struct builder_text name, process;
};

static int read_label(struct pprof *file, struct cursor message, struct labels *labels)
{
    enum { KEY = 1, TEXT, NUMBER, UNIT, FIELDS };
    uint64_t row[FIELDS] = {0};
    protobuf_read_numbers(message, row, FIELDS);
    struct builder_text name = find_string(file, row[KEY]), value = find_string(file, row[TEXT]);
    uint64_t number = row[NUMBER];
    bool is_tid =
        builder_text_is(name, "tid") || builder_text_is(name, "thread_id") || builder_text_is(name, "thread id");
    int64_t as_is = (int64_t)number;
    if (!number && value.length && value.length < 19)
        for (size_t i = 0; i < value.length && value.text[i] >= '0' && value.text[i] <= '9'; i++)
            number = number * 10 + (uint64_t)(value.text[i] - '0');
    if (builder_text_is(name, "pid"))
        labels->pid = number;
    else if (is_tid)
        labels->tid = number;
    else if (builder_text_is(name, "thread") || builder_text_is(name, "thread_name") || builder_text_is(name, "comm")) {
        labels->name = value;
        if (!value.length)
            labels->tid = number;
    } else if (builder_text_is(name, "process"))
        labels->process = value;
    else if (name.length &&
             !array_push(&file->sample_labels, (struct pprof_label){name, value, find_string(file, row[UNIT]), as_is}))
        return error_no_memory(file->err);
    return 0;
}

static int make_stack(struct pprof *file, uint32_t *stack)
{
    *stack = PROFILE_NONE;
    for (size_t i = file->ids.length; i-- > 0;) { /* the leaf is the first */
        uint32_t index = hash_get(&file->location_of, file->ids.data[i]);
        if (index == HASH_MISSING)
            return error_set(file->err, EINVAL, "a sample refers to the missing location %llu",
                             (unsigned long long)file->ids.data[i]);
        struct location *location = &file->locations.data[index];
        int code = location->frames ? 0 : make_frames(file, location);
        if (code)
            return code;
        for (size_t k = 0; k < location->frames; k++)
            *stack = builder_add_stack(file->builder, *stack, file->frames.data[location->first_frame + k]);
    }
    return 0;
}

static int add_values(struct pprof *file, uint32_t thread, uint32_t stack, const uint64_t *values, size_t count)
{
    if (count != file->types.length)
        return error_set(file->err, EINVAL, "a sample has %zu values, but there are %zu sample types", count,
                         file->types.length);
    for (size_t i = 0; i < count; i++) {
        const struct value_type *type = &file->types.data[i];
        double weight = (double)(int64_t)values[i] * type->scale;
        if (type->table != PROFILE_NONE && weight != 0)
            builder_add_sample(file->builder, thread, type->table, stack, 0, weight);
    }
    return 0;
}

/* Adds the sample as a row of its thread. */
static int add_row(struct pprof *file, const struct labels *labels, uint32_t stack, const uint64_t *values,
                   size_t count)
{
    const struct pprof_label *list = file->sample_labels.data;
    size_t label_count = file->sample_labels.length;
    uint32_t thread = pprof_labels_add_thread(&file->labels, labels->pid, labels->tid, labels->name, list, label_count);
    if (thread == PROFILE_NONE)
        return error_no_memory(file->err);
    if (labels->process.length)
        file->builder->threads.data[thread].process_name = builder_add_string(file->builder, labels->process);
    const struct builder_thread *row = &file->builder->threads.data[thread];
    size_t rows = row->tables.length ? row->tables.data[0].time.length : 0;
    int code = add_values(file, thread, stack, values, count);
    return code || pprof_labels_add_markers(&file->labels, thread, rows, list, label_count)
               ? code
               : error_no_memory(file->err);
}

static int read_sample(struct pprof *file, struct cursor message)
{
    struct labels labels = {0};
    struct protobuf_field field;
    ARRAY(uint64_t) values = {0};
    bool done = true;
    int code = 0;
    file->ids.length = file->sample_labels.length = 0;
    while (!code && done && protobuf_next(&message, &field)) {
        uint64_t value;
        if (field.number == 3)
            code = read_label(file, field.bytes, &labels);
        while (done && (field.number == 1 || field.number == 2) && protobuf_next_value(&field, &value))
            done = field.number == 1 ? array_push(&file->ids, value) : array_push(&values, value);
    }
    if (!code)
        code = !done ? error_no_memory(file->err) : message.failed ? fail_damaged(file, "a sample") : 0;
    uint32_t stack = PROFILE_NONE;
    if (!code)
        code = make_stack(file, &stack);
    if (!code)
        code = add_row(file, &labels, stack, values.data, values.length);
    array_free(&values);
    return code;
}

static int read_all(struct pprof *file, const char *text, size_t size)
{
    struct cursor message = cursor_of(text, size);
    struct protobuf_field field;
    int code = 0;
    file->kernel = builder_add_category(file->builder, "Kernel", "orange");
    while (!code && protobuf_next(&message, &field))
        code = read_table_row(file, &field);
    if (!code && message.failed)
        code = error_set(file->err, EINVAL, "the file is damaged, or truncated after %zu bytes", size);
    if (!code)
        code = choose_weights(file, text, size);
    message = cursor_of(text, size);
    while (!code && protobuf_next(&message, &field))
        if (field.number == 2)
            code = read_sample(file, field.bytes);
    return code;
}

/* Handles files without symbols: requests symbolization, or warns if libraries have no build ids. */
static void mark_unsymbolized(struct pprof *file)
{
    for (size_t i = 0; i < file->mappings.length; i++)
        if (file->mappings.data[i].lib != PROFILE_NONE && !find_string(file, file->mappings.data[i].build_id).length)
            return builder_request_names(file->builder);
    file->builder->profile->meta.symbolicated = 0;
}

int pprof_read(const char *text, size_t size, struct profile_builder *builder, struct error *err)
{
    struct pprof file = {.builder = builder, .err = err, .labels.builder = builder};
    builder->has_no_times = true;
    int code = read_all(&file, text, size);
    if (!code)
        code = pprof_labels_finish(&file.labels, err);
    if (!code && file.lacks_names && !file.has_names)
        mark_unsymbolized(&file);
    array_free(&file.strings);
    array_free(&file.types);
    array_free(&file.mappings);
    array_free(&file.locations);
    array_free(&file.functions);
    array_free(&file.frames);
    array_free(&file.ids);
    array_free(&file.sample_labels);
    pprof_labels_destroy(&file.labels);
    hash_destroy(&file.mapping_of);
    hash_destroy(&file.location_of);
    hash_destroy(&file.function_of);
    return code;
}
