/*
 * OpenTelemetry profiles, signal v1development, in Protocol Buffers: a ProfilesData message, or the request that sends
 * one, as otlp_export.c writes it (with the sources of the format). All tables are in one dictionary after the
 * profiles, and index 0 stands for "none".
 *
 * Each profile has one sample type. The first type with samples is the weight, as prof writes it; the others are
 * events. If a sample has no values, its number of timestamps is its value.
 */
#include "import/importers.h"
#include "import/protobuf_read.h"

enum { MOST_LINES = 256, KINDS_MAX = 32 };

struct mapping {
    uint64_t start, offset, file;
    uint32_t build_id, lib, resource; /* + 1, or 0 for none yet */
};

struct location {
    struct cursor message;
    size_t first, frames; /* first frame in otlp.frames, and number of frames, or 0 until the frames are made */
};

struct stack {
    struct cursor message;
    uint32_t row; /* of the builder */
    bool is_made;
};

struct kind { /* a sample type */
    struct builder_text type, unit;
    uint32_t table;
    double scale;
    bool has_samples;
};

struct otlp {
    struct profile_builder *builder;
    struct error *err;
    ARRAY(struct builder_text) strings;
    ARRAY(struct mapping) mappings;
    ARRAY(struct location) locations;
    ARRAY(struct cursor) functions, attributes;
    ARRAY(struct stack) stacks;
    ARRAY(uint32_t) frames, list; /* frames of the locations; indices of the current message */
    struct kind kinds[KINDS_MAX];
    size_t kind_count, main;
    bool lacks_names;
};

struct owner { /* of a sample */
    uint64_t pid, tid;
    struct builder_text process, thread;
};

static int fail_damaged(const struct otlp *file, const char *what)
{
    return error_set(file->err, EINVAL, "%s is damaged or truncated", what);
}

static struct builder_text find_string(const struct otlp *file, uint64_t index)
{
    return index < file->strings.length ? file->strings.data[index] : (struct builder_text){"", 0};
}

static struct builder_text get_text(struct cursor bytes)
{
    return (struct builder_text){bytes.at ? (const char *)bytes.at : "", cursor_left(&bytes)};
}

/* Checks the first complete fields of a message: a resource with attributes, and profiles of a scope. */
bool otlp_begins(const char *text, size_t size, bool is_whole)
{
    (void)is_whole;
    struct cursor data = cursor_of(text, size);
    if (cursor_u8(&data) != 0x0a)
        return false;
    uint64_t length = cursor_uleb(&data);
    if (data.failed || length < 2)
        return false;
    uint8_t tag = cursor_u8(&data);
    if (tag == 0x0a) {
        uint64_t resource = cursor_uleb(&data);
        const unsigned char *bytes = cursor_bytes(&data, resource);
        if (!bytes || (resource && *bytes != 0x0a))
            return false;
        tag = cursor_u8(&data);
    }
    cursor_uleb(&data); /* the scope's size */
    uint8_t inner = cursor_u8(&data);
    return !data.failed && tag == 0x12 && (inner == 0x0a || inner == 0x12);
}

/* ---- the dictionary ---- */

static int read_mapping(struct otlp *file, struct cursor message)
{
    struct mapping mapping = {0};
    struct protobuf_field field;
    while (protobuf_next(&message, &field)) {
        uint64_t ignored = 0, attribute;
        uint64_t *const places[] = {&ignored, &mapping.start, &ignored, &mapping.offset, &mapping.file};
        *places[field.number < 5 ? field.number : 0] = field.value;
        while (field.number == 5 && protobuf_next_value(&field, &attribute))
            if (!array_push(&file->list, (uint32_t)(attribute < UINT32_MAX ? attribute : 0)))
                return error_no_memory(file->err);
    }
    mapping.build_id = (uint32_t)file->list.length; /* start of the attributes in the message, until they are read */
    if (message.failed)
        return fail_damaged(file, "a mapping");
    return array_push(&file->mappings, mapping) ? 0 : error_no_memory(file->err);
}

static int read_row(struct otlp *file, const struct protobuf_field *field)
{
    bool done = true;
    if (field->wire != 2)
        return field->number >= 1 && field->number <= 7 ? fail_damaged(file, "the dictionary") : 0;
    switch (field->number) {
    case 1:
        return read_mapping(file, field->bytes);
    case 2:
        done = array_push(&file->locations, (struct location){.message = field->bytes});
        break;
    case 3:
        done = array_push(&file->functions, field->bytes);
        break;
    case 5:
        done = array_push(&file->strings, get_text(field->bytes));
        break;
    case 6:
        done = array_push(&file->attributes, field->bytes);
        break;
    case 7:
        done = array_push(&file->stacks, (struct stack){.message = field->bytes, .row = PROFILE_NONE});
        break;
    default:
        break;
    }
    return done ? 0 : error_no_memory(file->err);
}

/* Reads an attribute: returns its key, and sets its value, a text or a number. */
static void read_value(struct cursor value, struct builder_text *text, uint64_t *number)
{
    struct protobuf_field field;
    while (protobuf_next(&value, &field)) {
        if (field.number == 1 && field.wire == 2)
            *text = get_text(field.bytes);
        else if (field.number == 3)
            *number = field.value;
    }
}

static struct builder_text read_attribute(const struct otlp *file, uint64_t index, struct builder_text *text,
                                          uint64_t *number)
{
    struct builder_text key = {"", 0};
    struct protobuf_field field;
    *text = key;
    *number = 0;
    if (index >= file->attributes.length)
        return key;
    struct cursor message = file->attributes.data[index];
    while (protobuf_next(&message, &field)) {
        if (field.number == 1)
            key = find_string(file, field.value);
        else if (field.number == 2 && field.wire == 2)
            read_value(field.bytes, text, number);
    }
    return key;
}

/* Sets the build ids of mappings from their attributes, in file->list. */
static void set_build_ids(struct otlp *file)
{
    size_t at = 0;
    for (size_t i = 0; i < file->mappings.length; i++) {
        struct mapping *mapping = &file->mappings.data[i];
        size_t end = mapping->build_id;
        for (mapping->build_id = 0; at < end; at++) {
            struct builder_text text;
            uint64_t number;
            if (builder_text_is(read_attribute(file, file->list.data[at], &text, &number),
                                "process.executable.build_id.gnu"))
                mapping->build_id = file->list.data[at] + 1;
        }
    }
}

static int read_dictionary(struct otlp *file, struct cursor data)
{
    struct protobuf_field field, row;
    int code = 0;
    while (!code && protobuf_next(&data, &field)) {
        if (field.number != 2 || field.wire != 2)
            continue;
        while (!code && protobuf_next(&field.bytes, &row))
            code = read_row(file, &row);
        if (!code && field.bytes.failed)
            code = fail_damaged(file, "the dictionary");
    }
    if (!code && data.failed)
        code = error_set(file->err, EINVAL, "the file is damaged or truncated");
    if (!code && !file->strings.length)
        code = error_set(file->err, EINVAL, "the file has no dictionary, or is truncated");
    set_build_ids(file);
    return code;
}

/* ---- stacks ---- */

static void set_library(struct otlp *file, uint64_t index, uint64_t address, struct builder_frame *frame)
{
    frame->address = address;
    if (index == 0 || index >= file->mappings.length)
        return;
    struct mapping *mapping = &file->mappings.data[index];
    struct builder_text path = find_string(file, mapping->file), build_id = {"", 0};
    uint64_t ignored;
    if (!path.length)
        return;
    if (!mapping->lib) {
        if (mapping->build_id)
            read_attribute(file, mapping->build_id - 1, &build_id, &ignored);
        uint32_t resource;
        mapping->lib = builder_add_lib(file->builder, path, build_id, &resource) + 1;
        mapping->resource = resource + 1;
    }
    frame->lib = mapping->lib;
    frame->resource = mapping->resource;
    frame->address = address - mapping->start + mapping->offset;
}

/* Adds a line of a location; `line` is NULL if the location has no line. */
static int add_frame(struct otlp *file, struct builder_frame frame, const uint64_t line[4])
{
    char text[24];
    uint64_t names[5] = {0};
    if (line && line[1] && line[1] < file->functions.length &&
        !protobuf_read_numbers(file->functions.data[line[1]], names, 5))
        return fail_damaged(file, "a function");
    frame.name = find_string(file, names[names[1] ? 1 : 2]);
    frame.file = find_string(file, names[3]);
    frame.func_line = names[4] < INT32_MAX ? (uint32_t)names[4] : 0;
    frame.line = line && line[2] < INT32_MAX ? (uint32_t)line[2] : 0;
    frame.column = line && line[3] < INT32_MAX ? (uint32_t)line[3] : 0;
    if (!frame.name.length) {
        file->lacks_names = true;
        snprintf(text, sizeof(text), "0x%llx", (unsigned long long)frame.address);
        frame.name = builder_text(text);
    }
    return array_push(&file->frames, builder_add_frame(file->builder, &frame)) ? 0 : error_no_memory(file->err);
}

/* Makes the frames of a location from its lines, outermost first; the file has the innermost line first. */
static int make_frames(struct otlp *file, struct location *location)
{
    uint64_t lines[MOST_LINES][4] = {{0}}, mapping = 0, address = 0;
    size_t count = 0;
    struct cursor message = location->message;
    struct protobuf_field field;
    struct builder_frame frame = {0};
    while (protobuf_next(&message, &field)) {
        if (field.number == 1)
            mapping = field.value;
        else if (field.number == 2)
            address = field.value;
        else if (field.number == 3 && field.wire == 2) {
            if (count == MOST_LINES)
                return error_set(file->err, EINVAL, "a location has more than %d lines", MOST_LINES);
            if (!protobuf_read_numbers(field.bytes, lines[count], 4))
                return fail_damaged(file, "a line of a location");
            count++;
        }
    }
    if (message.failed)
        return fail_damaged(file, "a location");
    int code = 0;
    set_library(file, mapping, address, &frame);
    location->first = file->frames.length;
    if (count == 0)
        code = add_frame(file, frame, NULL);
    for (size_t i = count; !code && i-- > 0;) {
        code = add_frame(file, frame, lines[i]);
        frame.inline_depth = (uint8_t)(count - i < UINT8_MAX ? count - i : UINT8_MAX);
    }
    location->frames = file->frames.length - location->first;
    return code;
}

static int make_stack(struct otlp *file, struct stack *stack)
{
    struct cursor message = stack->message;
    struct protobuf_field field;
    file->list.length = 0;
    while (protobuf_next(&message, &field)) {
        uint64_t index;
        while (field.number == 1 && protobuf_next_value(&field, &index)) {
            if (index >= file->locations.length)
                return error_set(file->err, EINVAL, "a stack refers to the missing location %llu",
                                 (unsigned long long)index);
            if (!array_push(&file->list, (uint32_t)index))
                return error_no_memory(file->err);
        }
    }
    if (message.failed)
        return fail_damaged(file, "a stack");
    for (size_t i = file->list.length; i-- > 0;) { /* the leaf is the first */
        struct location *location = &file->locations.data[file->list.data[i]];
        int code = location->frames ? 0 : make_frames(file, location);
        if (code)
            return code;
        for (size_t k = 0; k < location->frames; k++)
            stack->row = builder_add_stack(file->builder, stack->row, file->frames.data[location->first + k]);
    }
    stack->is_made = true;
    return 0;
}

/* ---- samples ---- */

static int read_sample(struct otlp *file, struct cursor message, const struct kind *kind, struct owner owner)
{
    struct protobuf_field field;
    uint64_t index = 0, value, times = 0;
    double sum = 0;
    bool has_values = false;
    while (protobuf_next(&message, &field)) {
        struct builder_text text;
        uint64_t number;
        if (field.number == 1)
            index = field.value;
        while (field.number == 2 && protobuf_next_value(&field, &value)) {
            struct builder_text key = read_attribute(file, value, &text, &number);
            if (builder_text_is(key, "thread.id"))
                owner.tid = number;
            else if (builder_text_is(key, "thread.name"))
                owner.thread = text;
        }
        while (field.number == 4 && protobuf_next_value(&field, &value)) {
            sum += (double)(int64_t)value;
            has_values = true;
        }
        if (field.number == 5)
            times += field.wire == 2 ? cursor_left(&field.bytes) / sizeof(uint64_t) : 1;
    }
    if (message.failed)
        return fail_damaged(file, "a sample");
    if (index >= file->stacks.length)
        return error_set(file->err, EINVAL, "a sample refers to the missing stack %llu", (unsigned long long)index);
    struct stack *stack = &file->stacks.data[index];
    int code = stack->is_made ? 0 : make_stack(file, stack);
    if (code)
        return code;
    uint32_t name = owner.thread.length ? builder_add_string(file->builder, owner.thread) : PROFILE_NONE;
    uint32_t thread = builder_add_thread(file->builder, owner.pid, owner.tid, name);
    if (thread == PROFILE_NONE)
        return error_no_memory(file->err);
    if (owner.process.length)
        file->builder->threads.data[thread].process_name = builder_add_string(file->builder, owner.process);
    double weight = (has_values ? sum : (double)times) * kind->scale;
    if (kind->table != PROFILE_NONE && weight != 0)
        builder_add_sample(file->builder, thread, kind->table, stack->row, 0, weight);
    return 0;
}

/* Finds the kind of a profile's samples, and adds a missing kind. Returns NULL beyond the limit. */
static struct kind *find_kind(struct otlp *file, struct cursor profile)
{
    struct protobuf_field field;
    uint64_t names[3] = {0};
    while (protobuf_next(&profile, &field))
        if (field.number == 1 && field.wire == 2)
            protobuf_read_numbers(field.bytes, names, 3);
    struct kind kind = {.type = find_string(file, names[1]), .unit = find_string(file, names[2]), .scale = 1};
    for (size_t i = 0; i < file->kind_count; i++)
        if (file->kinds[i].type.text == kind.type.text && file->kinds[i].unit.text == kind.unit.text)
            return &file->kinds[i];
    if (file->kind_count == KINDS_MAX)
        return NULL;
    file->kinds[file->kind_count] = kind;
    return &file->kinds[file->kind_count++];
}

static void add_kind(struct otlp *file, struct cursor profile)
{
    struct kind *kind = find_kind(file, profile);
    struct protobuf_field field;
    while (kind && !kind->has_samples && protobuf_next(&profile, &field))
        kind->has_samples = field.number == 2;
}

static int read_samples(struct otlp *file, struct cursor profile, const struct owner *owner)
{
    struct protobuf_field field;
    const struct kind *kind = find_kind(file, profile);
    int code = 0;
    while (!code && protobuf_next(&profile, &field)) {
        if (field.number == 2 && field.wire == 2 && kind)
            code = read_sample(file, field.bytes, kind, *owner);
        else if (field.number == 3 && field.value)
            file->builder->profile->meta.start_time = (double)field.value / 1e6;
        else if (field.number == 6 && field.value)
            file->builder->profile->meta.interval = (double)field.value / 1e6; /* ns */
    }
    return code || !profile.failed ? code : fail_damaged(file, "a profile");
}

static void read_owner(struct cursor resource, struct owner *owner)
{
    struct protobuf_field field, part;
    while (protobuf_next(&resource, &field)) {
        struct builder_text key = {"", 0}, text = key;
        uint64_t number = 0;
        while (field.number == 1 && field.wire == 2 && protobuf_next(&field.bytes, &part)) {
            if (part.number == 1)
                key = get_text(part.bytes);
            else if (part.number == 2)
                read_value(part.bytes, &text, &number);
        }
        if (builder_text_is(key, "process.pid"))
            owner->pid = number;
        else if (builder_text_is(key, "process.executable.name") ||
                 (builder_text_is(key, "service.name") && !owner->process.length))
            owner->process = text;
    }
}

/* Visits each profile of the file: adds its kind or, with `adds`, reads its samples. */
static int visit_profiles(struct otlp *file, struct cursor data, bool adds)
{
    struct protobuf_field resource, scope, profile;
    int code = 0;
    while (!code && protobuf_next(&data, &resource)) {
        struct owner owner = {0};
        if (resource.number != 1 || resource.wire != 2)
            continue;
        while (!code && protobuf_next(&resource.bytes, &scope)) {
            if (scope.number == 1 && scope.wire == 2)
                read_owner(scope.bytes, &owner);
            while (!code && scope.number == 2 && scope.wire == 2 && protobuf_next(&scope.bytes, &profile)) {
                if (profile.number != 2 || profile.wire != 2)
                    continue;
                if (adds)
                    code = read_samples(file, profile.bytes, &owner);
                else
                    add_kind(file, profile.bytes);
            }
            if (!code && scope.bytes.failed)
                code = fail_damaged(file, "the profiles of a scope");
        }
        if (!code && resource.bytes.failed)
            code = fail_damaged(file, "the profiles of a resource");
    }
    return code;
}

static int choose_weights(struct otlp *file)
{
    while (file->main < file->kind_count && !file->kinds[file->main].has_samples)
        file->main++;
    if (file->main == file->kind_count)
        return error_set(file->err, EINVAL, "the file has no samples");
    for (size_t i = 0; i < file->kind_count; i++) {
        struct kind *kind = &file->kinds[i];
        bool is_time = builder_text_is(kind->unit, "nanoseconds"), is_bytes = builder_text_is(kind->unit, "bytes");
        char name[160];
        snprintf(name, sizeof(name), "%.*s%s", (int)(kind->type.length < 100 ? kind->type.length : 100),
                 kind->type.text,
                 is_time    ? " (ms)"
                 : is_bytes ? " (bytes)"
                            : "");
        kind->scale = is_time ? 1e-6 : 1;
        if (i == file->main) {
            file->builder->weight_type = is_time ? WEIGHT_TRACING_MS : is_bytes ? WEIGHT_BYTES : WEIGHT_SAMPLES;
            continue;
        }
        kind->table = kind->has_samples ? builder_add_event(file->builder, builder_text(name)) : 0;
        if (kind->table == 0)
            kind->table = PROFILE_NONE; /* kinds without samples, or beyond the limit of events */
    }
    return 0;
}

int otlp_read(const char *text, size_t size, struct profile_builder *builder, struct error *err)
{
    struct otlp file = {.builder = builder, .err = err};
    builder->has_no_times = true;
    int code = read_dictionary(&file, cursor_of(text, size));
    if (!code)
        code = visit_profiles(&file, cursor_of(text, size), false);
    if (!code)
        code = choose_weights(&file);
    if (!code)
        code = visit_profiles(&file, cursor_of(text, size), true);
    if (!code && file.lacks_names && builder->profile->libs.length)
        builder->profile->meta.symbolicated = 0;
    array_free(&file.strings);
    array_free(&file.mappings);
    array_free(&file.locations);
    array_free(&file.functions);
    array_free(&file.attributes);
    array_free(&file.stacks);
    array_free(&file.frames);
    array_free(&file.list);
    return code;
}
