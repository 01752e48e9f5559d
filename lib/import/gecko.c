/*
 * Gecko profiles, as Firefox records them before the profiler page processes them. Each thread has its own strings, and
 * tables of rows whose schema lists the columns. Processes are nested profiles with their own start times. Frames are
 * addresses in memory (the libraries' ranges make them relative), script functions "name (url:line:column)", or labels.
 * (https://github.com/firefox-devtools/profiler/blob/main/docs-developer/gecko-profile-format.md)
 */
#include "base/search.h"
#include "import/importers.h"
#include "import/json_tree.h"

struct gecko_lib {
    uint64_t start, end;
    uint32_t lib, resource;
};

struct gecko {
    struct json_tree tree;
    struct profile_builder *builder;
    struct error *err;
    double start_time; /* start time of the outer process, ms since the epoch */
    double shift;      /* start of the current process, ms */
    ARRAY(uint32_t) categories;
    ARRAY(struct gecko_lib) libs; /* libraries of the process, sorted by start */
    /* for each row of the thread, JSON node of the string, JSON node of the frame, stack of the profile */
    ARRAY(uint32_t) strings, frames, stacks;
    ARRAY(bool) is_caller; /* per stack of the thread */
    size_t thread_number;
    bool has_addresses;
};

/* A table of rows, and the schema of its columns. */
struct table {
    uint32_t schema, data;
};

static struct table find_table(const struct gecko *file, uint32_t thread, const char *key)
{
    uint32_t node = json_tree_get(&file->tree, thread, key);
    return (struct table){json_tree_get(&file->tree, node, "schema"), json_tree_get(&file->tree, node, "data")};
}

static uint32_t find_column(const struct gecko *file, const struct table *table, const char *key)
{
    return (uint32_t)json_tree_get_integer(&file->tree, json_tree_get(&file->tree, table->schema, key), 64, UINT32_MAX);
}

/* Finds a cell of a row, which may be shorter than the schema. */
static uint32_t find_cell(const struct gecko *file, uint32_t row, uint32_t column)
{
    uint32_t node = json_tree_get_first(&file->tree, row);
    for (uint32_t i = 0; i < column && node != JSON_TREE_NONE; i++)
        node = json_tree_get_next(&file->tree, row, node);
    return column == UINT32_MAX ? JSON_TREE_NONE : node;
}

static uint64_t read_index(const struct gecko *file, uint32_t node)
{
    return json_tree_get_integer(&file->tree, node, UINT32_MAX - 1, UINT64_MAX);
}

static int fail_missing_row(const struct gecko *file, const char *what, size_t row)
{
    return error_set(file->err, EINVAL, "thread %zu: %s[%zu] refers to a missing row", file->thread_number, what, row);
}

/* ---- processes ---- */

DEFINE_COMPARE(compare_libs, struct gecko_lib, ORDER(a->start, b->start))

static int read_libs(struct gecko *file, uint32_t process)
{
    const struct json_tree *tree = &file->tree;
    uint32_t list = json_tree_get(tree, process, "libs");
    file->libs.length = 0;
    for (uint32_t node = json_tree_get_first(tree, list); node != JSON_TREE_NONE;
         node = json_tree_get_next(tree, list, node)) {
        struct gecko_lib lib = {
            .start = json_tree_get_integer(tree, json_tree_get(tree, node, "start"), UINT64_C(1) << 53, 0),
            .end = json_tree_get_integer(tree, json_tree_get(tree, node, "end"), UINT64_C(1) << 53, 0)};
        lib.lib =
            builder_add_lib(file->builder, builder_get_json_text(&file->tree, json_tree_get(tree, node, "path")),
                            builder_get_json_text(&file->tree, json_tree_get(tree, node, "codeId")), &lib.resource);
        if (lib.lib == PROFILE_NONE || !array_push(&file->libs, lib))
            return error_no_memory(file->err);
    }
    array_sort(&file->libs, compare_libs);
    return 0;
}

static int read_categories(struct gecko *file)
{
    const struct json_tree *tree = &file->tree;
    uint32_t list = json_tree_get(tree, json_tree_get(tree, 0, "meta"), "categories");
    for (uint32_t node = json_tree_get_first(tree, list); node != JSON_TREE_NONE;
         node = json_tree_get_next(tree, list, node)) {
        const struct string_entry *name = json_tree_get_text(tree, json_tree_get(tree, node, "name"));
        const struct string_entry *color = json_tree_get_text(tree, json_tree_get(tree, node, "color"));
        uint32_t category =
            builder_add_category(file->builder, name ? name->text : "Other", color ? color->text : "grey");
        if (!array_push(&file->categories, category))
            return error_no_memory(file->err);
    }
    return 0;
}

/* ---- frames ---- */

static const struct gecko_lib *find_lib(const struct gecko *file, uint64_t address)
{
    size_t count = search_count(file->libs.data, file->libs.length, element->start <= address);
    return count && address < file->libs.data[count - 1].end ? &file->libs.data[count - 1] : NULL;
}

struct frame_columns {
    uint32_t location, category, line;
};

static uint32_t make_frame(struct gecko *file, const struct frame_columns *columns, uint32_t row, bool is_caller)
{
    struct builder_frame frame = {0};
    uint64_t string = read_index(file, find_cell(file, row, columns->location));
    uint64_t category = read_index(file, find_cell(file, row, columns->category));
    char digits[24], text[24];
    frame.name = string < file->strings.length ? builder_get_json_text(&file->tree, file->strings.data[string])
                                               : builder_text("(unknown)");
    frame.category = category < file->categories.length ? file->categories.data[category] + 1 : 0;
    frame.line = (uint32_t)json_tree_get_integer(&file->tree, find_cell(file, row, columns->line), INT32_MAX, 0);
    if (frame.name.length < sizeof(digits) && profile_is_address(frame.name.text)) {
        memcpy(digits, frame.name.text, frame.name.length);
        digits[frame.name.length] = '\0';
        uint64_t address = strtoull(digits, NULL, 16) - is_caller; /* a caller's address is the return address */
        const struct gecko_lib *lib = find_lib(file, address);
        frame.address = lib ? address - lib->start : address;
        if (lib) {
            frame.lib = lib->lib + 1;
            frame.resource = lib->resource + 1;
            file->has_addresses = true;
        }
        snprintf(text, sizeof(text), "0x%llx", (unsigned long long)frame.address);
        frame.name = builder_text(text);
    } else
        builder_split_script(&frame);
    return builder_add_frame(file->builder, &frame);
}

/* ---- threads ---- */

static bool list_rows(const struct gecko *file, uint32_t list, uint32_t **rows, size_t *length, size_t *capacity)
{
    *length = 0;
    for (uint32_t node = json_tree_get_first(&file->tree, list); node != JSON_TREE_NONE;
         node = json_tree_get_next(&file->tree, list, node)) {
        if (!array_grow((void **)rows, *length, capacity, 1, sizeof(**rows)))
            return false;
        (*rows)[(*length)++] = node;
    }
    return true;
}

#define LIST_ROWS(file, list, array) list_rows((file), (list), &(array)->data, &(array)->length, &(array)->capacity)

static int mark_callers(struct gecko *file, const struct table *stacks, uint32_t prefix_column)
{
    file->is_caller.length = 0;
    for (uint32_t row = json_tree_get_first(&file->tree, stacks->data); row != JSON_TREE_NONE;
         row = json_tree_get_next(&file->tree, stacks->data, row)) {
        uint64_t prefix = read_index(file, find_cell(file, row, prefix_column));
        if (!array_push(&file->is_caller, false))
            return error_no_memory(file->err);
        if (prefix < file->is_caller.length)
            file->is_caller.data[prefix] = true;
    }
    return 0;
}

static int read_stacks(struct gecko *file, uint32_t thread)
{
    struct table stacks = find_table(file, thread, "stackTable"), frames = find_table(file, thread, "frameTable");
    uint32_t prefix_column = find_column(file, &stacks, "prefix"), frame_column = find_column(file, &stacks, "frame");
    if (!LIST_ROWS(file, json_tree_get(&file->tree, thread, "stringTable"), &file->strings) ||
        !LIST_ROWS(file, frames.data, &file->frames))
        return error_no_memory(file->err);
    struct frame_columns columns = {find_column(file, &frames, "location"), find_column(file, &frames, "category"),
                                    find_column(file, &frames, "line")};
    int code = mark_callers(file, &stacks, prefix_column);
    file->stacks.length = 0;
    for (uint32_t row = json_tree_get_first(&file->tree, stacks.data); !code && row != JSON_TREE_NONE;
         row = json_tree_get_next(&file->tree, stacks.data, row)) {
        size_t number = file->stacks.length;
        uint32_t caller = find_cell(file, row, prefix_column), stack = PROFILE_NONE;
        uint64_t prefix = read_index(file, caller), frame = read_index(file, find_cell(file, row, frame_column));
        bool has_prefix = json_tree_has_type(&file->tree, caller, JSON_NUMBER);
        if ((has_prefix && prefix >= number) || frame >= file->frames.length)
            return fail_missing_row(file, "stackTable", number);
        stack = builder_add_stack(file->builder, has_prefix ? file->stacks.data[prefix] : PROFILE_NONE,
                                  make_frame(file, &columns, file->frames.data[frame], file->is_caller.data[number]));
        if (!array_push(&file->stacks, stack))
            code = error_no_memory(file->err);
    }
    return code;
}

static int read_samples(struct gecko *file, uint32_t thread, uint32_t to)
{
    struct table samples = find_table(file, thread, "samples");
    if (json_tree_has_type(&file->tree, json_tree_get(&file->tree, thread, "samples"), JSON_ARRAY_OPEN))
        return error_set(file->err, EINVAL,
                         "thread %zu: samples is a list; prof reads Gecko profiles of version 3 and later",
                         file->thread_number);
    uint32_t stack_column = find_column(file, &samples, "stack"), time_column = find_column(file, &samples, "time");
    size_t number = 0;
    for (uint32_t row = json_tree_get_first(&file->tree, samples.data); row != JSON_TREE_NONE;
         row = json_tree_get_next(&file->tree, samples.data, row), number++) {
        uint32_t node = find_cell(file, row, stack_column);
        uint64_t stack = read_index(file, node);
        double time = json_tree_get_number(&file->tree, find_cell(file, row, time_column));
        bool has_stack = json_tree_has_type(&file->tree, node, JSON_NUMBER);
        if (has_stack && stack >= file->stacks.length)
            return fail_missing_row(file, "samples", number);
        if (!isfinite(time))
            return error_set(file->err, EINVAL, "thread %zu: samples[%zu] has no time", file->thread_number, number);
        builder_add_sample(file->builder, to, 0, has_stack ? file->stacks.data[stack] : PROFILE_NONE,
                           time + file->shift, 1);
    }
    return 0;
}

static void read_markers(struct gecko *file, uint32_t thread, uint32_t to)
{
    struct table markers = find_table(file, thread, "markers");
    uint32_t name_column = find_column(file, &markers, "name"), start_column = find_column(file, &markers, "startTime");
    uint32_t end_column = find_column(file, &markers, "endTime"), phase_column = find_column(file, &markers, "phase");
    uint32_t category_column = find_column(file, &markers, "category");
    for (uint32_t row = json_tree_get_first(&file->tree, markers.data); row != JSON_TREE_NONE;
         row = json_tree_get_next(&file->tree, markers.data, row)) {
        uint64_t name = read_index(file, find_cell(file, row, name_column));
        uint64_t category = read_index(file, find_cell(file, row, category_column));
        struct builder_marker marker = {.data = PROFILE_NONE};
        marker.phase = (uint8_t)json_tree_get_integer(&file->tree, find_cell(file, row, phase_column), 3, 0);
        double start = json_tree_get_number(&file->tree, find_cell(file, row, start_column));
        double end = json_tree_get_number(&file->tree, find_cell(file, row, end_column));
        marker.start = marker.phase == 3 ? NAN : start + file->shift;
        marker.end = marker.phase == 0 || marker.phase == 2 ? NAN : end + file->shift;
        if (name >= file->strings.length || (marker.phase != 3 && !isfinite(start)) ||
            ((marker.phase & 1) && !isfinite(end)))
            continue; /* rows of older versions differ */
        marker.name = builder_add_string(file->builder, builder_get_json_text(&file->tree, file->strings.data[name]));
        marker.category = category < file->categories.length ? file->categories.data[category] : 0;
        builder_add_marker(file->builder, to, marker);
    }
}

static int read_thread(struct gecko *file, uint32_t thread)
{
    const struct json_tree *tree = &file->tree;
    int code = read_stacks(file, thread);
    if (code)
        return code;
    uint32_t name =
        builder_add_string(file->builder, builder_get_json_text(&file->tree, json_tree_get(tree, thread, "name")));
    uint32_t process = builder_add_string(
        file->builder, builder_get_json_text(&file->tree, json_tree_get(tree, thread, "processType")));
    uint32_t to = builder_add_thread(
        file->builder, json_tree_get_integer(tree, json_tree_get(tree, thread, "pid"), UINT64_C(1) << 53, 0),
        json_tree_get_integer(tree, json_tree_get(tree, thread, "tid"), UINT64_C(1) << 53, 0), name);
    if (to == PROFILE_NONE)
        return error_no_memory(file->err);
    file->builder->threads.data[to].process_name = process;
    code = read_samples(file, thread, to);
    if (!code)
        read_markers(file, thread, to);
    return code;
}

static int read_process(struct gecko *file, uint32_t process)
{
    const struct json_tree *tree = &file->tree;
    double start = json_tree_get_number(tree, json_tree_get(tree, json_tree_get(tree, process, "meta"), "startTime"));
    file->shift = isfinite(start) && isfinite(file->start_time) ? start - file->start_time : 0;
    int code = read_libs(file, process);
    uint32_t threads = json_tree_get(tree, process, "threads");
    for (uint32_t node = json_tree_get_first(tree, threads); !code && node != JSON_TREE_NONE;
         node = json_tree_get_next(tree, threads, node), file->thread_number++)
        code = read_thread(file, node);
    return code;
}

static int read_all(struct gecko *file)
{
    const struct json_tree *tree = &file->tree;
    uint32_t meta = json_tree_get(tree, 0, "meta"), processes = json_tree_get(tree, 0, "processes");
    double interval = json_tree_get_number(tree, json_tree_get(tree, meta, "interval"));
    file->start_time = json_tree_get_number(tree, json_tree_get(tree, meta, "startTime"));
    if (interval > 0)
        file->builder->profile->meta.interval = interval;
    if (isfinite(file->start_time))
        file->builder->profile->meta.start_time = file->start_time;
    int code = read_categories(file);
    if (!code)
        code = read_process(file, 0);
    for (uint32_t node = json_tree_get_first(tree, processes); !code && node != JSON_TREE_NONE;
         node = json_tree_get_next(tree, processes, node))
        code = read_process(file, node);
    if (!code && file->has_addresses)
        file->builder->profile->meta.symbolicated = 0;
    return code;
}

int gecko_read(const char *text, size_t size, struct profile_builder *builder, struct error *err)
{
    struct gecko file = {.builder = builder, .err = err};
    int code = json_tree_read(&file.tree, text, size, err);
    if (!code)
        code = read_all(&file);
    array_free(&file.categories);
    array_free(&file.libs);
    array_free(&file.strings);
    array_free(&file.frames);
    array_free(&file.stacks);
    array_free(&file.is_caller);
    json_tree_destroy(&file.tree);
    return code;
}
