/*
 * Versions 1 to 48 of the format, upgraded as the Firefox Profiler does (processed-profile-versioning):
 *
 *      2  libraries: "pdbName" becomes "debugName", "name" is a path before
 *      4  functions of JavaScript had their file and line in their name: "name (file:line)"
 *     12  categories of frames were bits, and there was no list of them
 *     14  threads have a pid
 *     18  a column behind the line made the line a part of the file name
 *     29  "duration" becomes "weight" (raw.c)
 *     30  markers had a "time", and start, end and phase in their payload
 *     41  the libraries of a thread become those of the profile, columns of resources are as long as their table
 *     46  "isMainThread"
 *     48  the samples of counters were in groups (raw.c)
 *
 * Unlike the Firefox Profiler's upgraders, prof guesses no categories from names, and does not change marker payloads.
 */
#include "profile/build_old.h"

#include "base/json.h"
#include "base/starts_with.h"

enum { NEXT_VERSION = 49 };

static const char *get_raw_text(const struct build *build, uint32_t text)
{
    return text == PROFILE_NONE ? "" : strings_text(&build->raw->texts, text);
}

static int add_text(struct build *build, const char *text, size_t length, uint32_t *out)
{
    *out = strings_add(&build->raw->texts, text, length);
    return *out == STRING_NONE ? error_no_memory(build->err) : 0;
}

/* Extends a column to the length of its table; new elements are 0 or PROFILE_NONE. */
static bool extend_column(struct column *column, enum column_type type, size_t rows)
{
    static const double null = NAN;
    while (column->length < rows)
        if (!column_reserve(column, type, 1) || !column_append(column, type, &null, 1))
            return false;
    column->present = true;
    return true;
}

/* ---- libraries ---- */

static bool is_same_library(const struct library *a, const struct library *b)
{
    return a->name == b->name && a->path == b->path && a->debug_name == b->debug_name &&
           a->breakpad_id == b->breakpad_id && a->arch == b->arch;
}

/* Finds the slot of a library in the index, with the value HASH_MISSING if the profile lacks the library, or NULL if
 * memory ran out. */
static uint32_t *find_library_slot(struct build *build, const struct library *lib)
{
    uint64_t key = hash_mix((uint64_t)lib->name << 32 | lib->path, (uint64_t)lib->debug_name << 32 | lib->breakpad_id);
    for (key = hash_mix(key, lib->arch);; key++) {
        uint32_t *place = hash_at(&build->old_libraries, key);
        if (!place || *place == HASH_MISSING || is_same_library(&build->raw->libs.data[*place], lib))
            return place;
    }
}

/* Indexes the profile's own libraries; its threads have other libraries. */
static int index_libraries(struct build *build)
{
    for (size_t i = 0; i < build->raw->libs.length; i++) {
        uint32_t *place = find_library_slot(build, &build->raw->libs.data[i]);
        if (!place)
            return error_no_memory(build->err);
        if (*place == HASH_MISSING)
            *place = (uint32_t)i;
    }
    return 0;
}

static int find_library(struct build *build, struct library lib, uint32_t *index)
{
    if (lib.path == PROFILE_NONE) { /* version 1 */
        const char *name = get_raw_text(build, lib.debug_name);
        size_t length = strlen(name);
        lib.path = lib.name;
        int code = add_text(build, name, ends_with(name, ".pdb") ? length - 4 : length, &lib.name);
        if (code)
            return code;
    }
    uint32_t *place = find_library_slot(build, &lib);
    if (!place)
        return error_no_memory(build->err);
    if (*place == HASH_MISSING) {
        *place = (uint32_t)build->raw->libs.length;
        if (!array_push(&build->raw->libs, lib))
            return error_no_memory(build->err);
    }
    *index = *place;
    return 0;
}

/* Converts a column from libraries of the thread to libraries of the profile. */
static int add_libraries(struct build *build, const struct raw_thread *thread, struct column *column)
{
    uint32_t *lib = column->data;
    int code = 0;
    for (size_t i = 0; i < column->length && !code; i++)
        if (lib[i] < thread->libs.length)
            code = find_library(build, thread->libs.data[lib[i]], &lib[i]);
        else if (lib[i] != PROFILE_NONE)
            code = error_set(build->err, EINVAL, "a resource names library %u, but its thread has only %zu", lib[i],
                             thread->libs.length);
    return code;
}

static int convert_resources(struct build *build, struct raw_thread *thread)
{
    struct raw_resources *resources = &thread->own.resources;
    size_t rows = build_rows(resources->length, &resources->name);
    if (rows > resources->name.length)
        return 0; /* damaged column: build_tables() reports the error */
    if (!extend_column(&resources->lib, COLUMN_INDEX, rows) || !extend_column(&resources->host, COLUMN_REF, rows))
        return error_no_memory(build->err);
    int code = thread->has_libs ? add_libraries(build, thread, &resources->lib) : 0;
    return code || !thread->has_libs ? code : add_libraries(build, thread, &thread->own.native_symbols.lib);
}

/* ---- functions ---- */

static uint32_t get_ref_text(const struct column *strings, uint32_t ref)
{
    if (ref == PROFILE_NONE || ref & RAW_TEXT)
        return ref == PROFILE_NONE ? ref : ref & ~RAW_TEXT;
    return ref < strings->length ? ((const uint32_t *)strings->data)[ref] : PROFILE_NONE;
}

/* Removes ":12" from "file:12", and stores the number. Returns false without a number. */
static bool split_number(const char *text, size_t *length, uint32_t *number)
{
    size_t at = *length;
    while (at && text[at - 1] >= '0' && text[at - 1] <= '9')
        at--;
    if (at < 2 || at == *length || *length - at > 9 || text[at - 1] != ':')
        return false;
    *number = (uint32_t)strtoul(text + at, NULL, 10);
    *length = at - 1;
    return true;
}

/* Splits "name (loader -> file:12)" or "file:12". */
static int split_name(struct build *build, uint32_t text, uint32_t *name, uint32_t *file, uint32_t *line)
{
    const char *start = get_raw_text(build, text), *from = start;
    size_t length = strlen(start);
    const char *bracket = length && start[length - 1] == ')' ? strstr(start, " (") : NULL;
    for (const char *next; bracket && (next = strstr(bracket + 1, " (")) && strchr(next, ':');)
        bracket = next;
    if (bracket) {
        from = bracket + 2;
        length = (size_t)(start + length - 1 - from);
    }
    if (!split_number(from, &length, line))
        return 0;
    for (const char *arrow; (arrow = strstr(from, " -> ")) && arrow < from + length;) {
        length -= (size_t)(arrow + 4 - from);
        from = arrow + 4;
    }
    char *copy = malloc(length + 1); /* a copy, because a new text may move the other texts */
    if (!copy)
        return error_no_memory(build->err);
    memcpy(copy, from, length);
    size_t name_length = bracket ? (size_t)(bracket - start) : 0;
    int code = add_text(build, copy, length, file);
    if (!code && name_length) {
        char *own = malloc(name_length);
        code = own ? 0 : error_no_memory(build->err);
        if (own) {
            memcpy(own, get_raw_text(build, text), name_length);
            code = add_text(build, own, name_length, name);
        }
        free(own);
    } else if (!code) {
        *name = *file;
    }
    free(copy);
    return code;
}

static int convert_function(struct build *build, struct raw_funcs *funcs, const struct column *strings, size_t i,
                            bool has_files)
{
    uint32_t *name = (uint32_t *)funcs->name.data + i, *file = (uint32_t *)funcs->file_name.data + i;
    uint32_t *line = (uint32_t *)funcs->line.data + i, *column = (uint32_t *)funcs->column.data + i;
    uint32_t text = get_ref_text(strings, *name), new_name = PROFILE_NONE, new_file = PROFILE_NONE, number = 0;
    int code = 0;
    if (!has_files && text != PROFILE_NONE)
        code = split_name(build, text, &new_name, &new_file, line);
    if (new_name != PROFILE_NONE) {
        *name = new_name | RAW_TEXT;
        *file = new_file | RAW_TEXT;
    }
    uint32_t file_text = get_ref_text(strings, *file);
    size_t length = strlen(get_raw_text(build, file_text));
    if (code || file_text == PROFILE_NONE || !split_number(get_raw_text(build, file_text), &length, &number))
        return code;
    char *copy = malloc(length + 1);
    if (!copy)
        return error_no_memory(build->err);
    memcpy(copy, get_raw_text(build, file_text), length);
    code = add_text(build, copy, length, &new_file);
    free(copy);
    *file = new_file | RAW_TEXT;
    *column = *line;
    *line = number;
    return code;
}

static int convert_functions(struct build *build, struct raw_thread *thread, const struct column *strings)
{
    struct raw_funcs *funcs = &thread->own.funcs;
    size_t rows = funcs->name.length;
    bool has_files = funcs->file_name.present;
    if (funcs->source.present || funcs->is_js.length != rows || (has_files && funcs->file_name.length != rows) ||
        (funcs->line.present && funcs->line.length != rows))
        return 0;
    if (!extend_column(&funcs->file_name, COLUMN_REF, rows) || !extend_column(&funcs->line, COLUMN_POSITION, rows) ||
        !extend_column(&funcs->column, COLUMN_POSITION, rows))
        return error_no_memory(build->err);
    int code = 0;
    for (size_t i = 0; i < rows && !code; i++)
        if (((const uint8_t *)funcs->is_js.data)[i])
            code = convert_function(build, funcs, strings, i, has_files);
    return code;
}

/* Maps the bits of js::ProfileEntry::Category to the default categories of files without a list. */
static void convert_categories(struct column *column)
{
    enum { FIRST_BIT = 4, OTHER = 1 };
    static const uint8_t of_bit[] = {OTHER, 2, 3, 4, 4, 5, 6, OTHER, OTHER}; /* CSS, JS, GC, CC, network, graphics */
    uint32_t *category = column->data;
    for (size_t i = 0; i < column->length; i++) {
        if (category[i] == PROFILE_NONE)
            continue;
        uint32_t bits = category[i], bit = 0;
        while (bit < sizeof(of_bit) && bits != UINT32_C(1) << (FIRST_BIT + bit))
            bit++;
        category[i] = bit < sizeof(of_bit) ? of_bit[bit] : OTHER;
    }
}

/* ---- markers ---- */

struct marker_times {
    bool is_tracing, begins, ends;
    double start, end;
};

static void read_payload(const char *text, size_t length, struct marker_times *times)
{
    enum { OTHER, TYPE, INTERVAL, START, END } key = OTHER;
    struct json json;
    json_init_whole(&json, text, length);
    for (enum json_type type; (type = json_next(&json)) > JSON_END;) {
        if (type == JSON_STRING && key == TYPE)
            times->is_tracing = json_is(&json, "tracing");
        if (type == JSON_STRING && key == INTERVAL) {
            times->begins = json_is(&json, "start");
            times->ends = json_is(&json, "end");
        }
        if (type == JSON_NUMBER && (key == START || key == END))
            *(key == START ? &times->start : &times->end) = json.number;
        bool is_key = type == JSON_KEY && json.depth == 1;
        key = !is_key                       ? OTHER
              : json_is(&json, "type")      ? TYPE
              : json_is(&json, "interval")  ? INTERVAL
              : json_is(&json, "startTime") ? START
              : json_is(&json, "endTime")   ? END
                                            : OTHER;
    }
    json_destroy(&json);
}

static int convert_markers(struct build *build, struct raw_markers *markers)
{
    enum { INSTANT, INTERVAL, BEGIN, END };
    size_t rows = build_rows(markers->length, &markers->time);
    if (markers->start.present || !markers->time.present)
        return 0;
    build_truncate_column(&markers->time, rows);
    build_truncate_column(&markers->data, rows);
    rows = markers->time.length;
    if (markers->data.present && markers->data.length != rows)
        return error_set(build->err, EINVAL, "a table of markers has %zu times, but %zu payloads", rows,
                         markers->data.length);
    if (!extend_column(&markers->start, COLUMN_DOUBLE, rows) || !extend_column(&markers->end, COLUMN_DOUBLE, rows) ||
        !extend_column(&markers->phase, COLUMN_SMALL, rows))
        return error_no_memory(build->err);
    const double *time = markers->time.data;
    double *start = markers->start.data, *end = markers->end.data;
    uint8_t *phase = markers->phase.data;
    for (size_t i = 0; i < rows; i++) {
        struct marker_times times = {.start = NAN, .end = NAN};
        uint32_t data = markers->data.present ? ((const uint32_t *)markers->data.data)[i] : PROFILE_NONE;
        if (data != PROFILE_NONE) {
            const struct string_entry *entry = &build->raw->texts.entries.data[data];
            read_payload(entry->text, entry->length, &times);
        }
        bool has_both = !times.is_tracing && times.start < times.end;
        phase[i] = times.is_tracing && times.begins ? BEGIN
                   : times.is_tracing && times.ends ? END
                   : has_both                       ? INTERVAL
                                                    : INSTANT;
        start[i] = phase[i] == END ? NAN : has_both ? times.start : time[i];
        end[i] = phase[i] == END ? time[i] : has_both ? times.end : NAN;
    }
    return 0;
}

/* ---- threads ---- */

static bool is_number(const char *text)
{
    return *text && !text[strspn(text, "0123456789")];
}

static int convert_identity(struct build *build, struct thread *thread, size_t index)
{
    char text[48];
    uint32_t version = build->raw->meta.meta.version;
    int code = 0;
    if (thread->process_type == PROFILE_NONE && !strcmp(get_raw_text(build, thread->name), "Content")) { /* version 1 */
        code = add_text(build, "GeckoMain", 9, &thread->name);
        if (!code)
            code = add_text(build, "tab", 3, &thread->process_type);
    }
    if (!code && thread->pid == PROFILE_NONE) {
        int length = snprintf(text, sizeof(text), "Unknown Process %zu", index + 1);
        code = add_text(build, text, (size_t)length, &thread->pid);
    }
    const char *pid = get_raw_text(build, thread->pid);
    if (version < 46)
        thread->is_main = !strcmp(get_raw_text(build, thread->name), "GeckoMain") || !is_number(pid) ||
                          !strcmp(pid, get_raw_text(build, thread->tid));
    return code;
}

static int convert_thread(struct build *build, struct raw_thread *thread, size_t index)
{
    const struct column *strings = thread->own.strings.present ? &thread->own.strings : &build->raw->shared.strings;
    uint32_t version = build->raw->meta.meta.version;
    int code = convert_identity(build, &thread->thread, index);
    if (!code)
        code = convert_resources(build, thread);
    if (!code && version < 18)
        code = convert_functions(build, thread, strings);
    if (!code && version < 12 && !build->raw->meta.has_categories)
        convert_categories(&thread->own.frames.category);
    return code ? code : convert_markers(build, &thread->markers);
}

int build_old_layouts(struct build *build)
{
    if (build->raw->meta.meta.version >= NEXT_VERSION)
        return 0;
    int code = index_libraries(build);
    for (size_t i = 0; i < build->raw->threads.length && !code; i++)
        code = convert_thread(build, build->raw->threads.data[i], i);
    hash_destroy(&build->old_libraries);
    return code;
}
