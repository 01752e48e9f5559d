#include "profile/write_tables.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- strings ---- */

static void mark(uint32_t *used, uint32_t string)
{
    if (string != PROFILE_NONE)
        used[string] = 1;
}

static void mark_used_strings(uint32_t *used, const struct profile *profile)
{
    for (uint32_t i = 0; i < profile->meta.kept_strings; i++)
        mark(used, i);
    for (size_t i = 0; i < profile->funcs.length; i++)
        mark(used, profile->funcs.name[i]);
    for (size_t i = 0; i < profile->resources.length; i++) {
        mark(used, profile->resources.data[i].name);
        mark(used, profile->resources.data[i].host);
    }
    for (size_t i = 0; i < profile->native_symbols.length; i++)
        mark(used, profile->native_symbols.data[i].name);
    for (size_t i = 0; i < profile->sources.length; i++) {
        mark(used, profile->sources.data[i].filename);
        mark(used, profile->sources.data[i].source_map_url);
    }
    for (size_t i = 0; i < profile->threads.length; i++) {
        const struct marker_table *markers = &profile->threads.data[i].markers;
        for (size_t k = 0; k < markers->length; k++)
            mark(used, markers->name[k]);
    }
}

bool string_map_init(struct string_map *map, const struct profile *profile)
{
    size_t length = profile->strings.entries.length;
    map->count = 0;
    map->number = calloc(length + 1, sizeof(*map->number));
    if (!map->number)
        return false;
    mark_used_strings(map->number, profile);
    for (size_t i = 0; i < length; i++)
        map->number[i] = map->number[i] ? map->count++ : PROFILE_NONE;
    return true;
}

void string_map_destroy(struct string_map *map)
{
    free(map->number);
    *map = (struct string_map){0};
}

void write_string(struct json_writer *json, const struct profile *profile, uint32_t string)
{
    if (string == PROFILE_NONE)
        json_null(json);
    else
        json_text(json, strings_text(&profile->strings, string), profile->strings.entries.data[string].length);
}

/* ---- meta ---- */

static void write_known_text(struct json_writer *json, const char *key, const struct profile *profile, uint32_t string)
{
    if (string == PROFILE_NONE)
        return;
    json_key(json, key);
    write_string(json, profile, string);
}

static void write_known_number(struct json_writer *json, const char *key, uint64_t value)
{
    if (value == 0)
        return;
    json_key(json, key);
    json_unsigned(json, value);
}

static void write_raw_string(struct json_writer *json, const struct profile *profile, uint32_t string)
{
    json_raw(json, strings_text(&profile->strings, string), profile->strings.entries.data[string].length);
}

static void write_categories(struct json_writer *json, const struct profile *profile)
{
    json_open(json, '[');
    for (size_t i = 0; i < profile->categories.length; i++) {
        const struct category *category = &profile->categories.data[i];
        json_open(json, '{');
        json_key(json, "name");
        write_string(json, profile, category->name);
        json_key(json, "color");
        write_string(json, profile, category->color);
        json_key(json, "subcategories");
        json_open(json, '[');
        for (size_t k = 0; k < category->subcategories.length; k++)
            write_string(json, profile, category->subcategories.data[k]);
        json_close(json, ']');
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void write_extra(struct json_writer *json, const struct profile *profile)
{
    json_open(json, '[');
    for (size_t i = 0; i < profile->meta.extra.length; i++) {
        const struct extra_section *section = &profile->meta.extra.data[i];
        json_open(json, '{');
        json_key(json, "label");
        write_string(json, profile, section->label);
        json_key(json, "entries");
        json_open(json, '[');
        for (size_t k = 0; k < section->entries.length; k++) {
            const struct extra_entry *entry = &section->entries.data[k];
            json_open(json, '{');
            json_key(json, "label");
            write_string(json, profile, entry->label);
            json_key(json, "format");
            write_string(json, profile, entry->format);
            json_key(json, "value");
            write_raw_string(json, profile, entry->value);
            json_close(json, '}');
        }
        json_close(json, ']');
        json_close(json, '}');
    }
    json_close(json, ']');
}

static bool has_script_funcs(const struct profile *profile)
{
    for (size_t i = 0; i < profile->funcs.length; i++)
        if (profile->funcs.flags[i])
            return true;
    return false;
}

static void write_machine(struct json_writer *json, const struct profile *profile)
{
    const struct profile_meta *meta = &profile->meta;
    write_known_text(json, "oscpu", profile, meta->os);
    write_known_text(json, "abi", profile, meta->abi);
    write_known_text(json, "platform", profile, meta->platform);
    write_known_text(json, "CPUName", profile, meta->cpu_name);
    write_known_text(json, "misc", profile, meta->misc);
    write_known_number(json, "physicalCPUs", meta->physical_cpus);
    write_known_number(json, "logicalCPUs", meta->logical_cpus);
    write_known_number(json, "mainMemory", meta->main_memory);
    write_known_number(json, "startTimeAsClockMonotonicNanosecondsSinceBoot", meta->monotonic_start_ns);
}

void write_meta(struct json_writer *json, const struct profile *profile)
{
    const struct profile_meta *meta = &profile->meta;
    enum { GECKO_VERSION = 36 }; /* required by the type, and ignored where preprocessedProfileVersion is there */
    json_open(json, '{');
    json_key(json, "interval");
    json_double(json, meta->interval);
    json_key(json, "startTime");
    json_double(json, meta->start_time);
    json_key(json, "processType");
    json_unsigned(json, 0);
    json_key(json, "product");
    if (meta->product == PROFILE_NONE)
        json_text_z(json, "");
    else
        write_string(json, profile, meta->product);
    json_key(json, "stackwalk");
    json_unsigned(json, 1);
    json_key(json, "version");
    json_unsigned(json, GECKO_VERSION);
    json_key(json, "preprocessedProfileVersion");
    json_unsigned(json, PROFILE_VERSION);
    json_key(json, "markerSchema");
    if (meta->marker_schema == PROFILE_NONE)
        json_raw(json, "[]", 2);
    else
        write_raw_string(json, profile, meta->marker_schema);
    if (profile->categories.length) {
        json_key(json, "categories");
        write_categories(json, profile);
    }
    if (meta->symbolicated >= 0) {
        json_key(json, "symbolicated");
        json_bool(json, meta->symbolicated);
    }
    if (!has_script_funcs(profile)) {
        json_key(json, "usesOnlyOneStackType");
        json_bool(json, true);
        json_key(json, "sourceCodeIsNotOnSearchfox");
        json_bool(json, true);
    }
    if (meta->has_cpu_delta) {
        json_key(json, "sampleUnits");
        json_raw(json, "{\"time\":\"ms\",\"eventDelay\":\"ms\",\"threadCPUDelta\":\"\xc2\xb5s\"}",
                 strlen("{\"time\":\"ms\",\"eventDelay\":\"ms\",\"threadCPUDelta\":\"\xc2\xb5s\"}"));
    }
    write_known_text(json, "importedFrom", profile, meta->imported_from);
    write_known_text(json, "arguments", profile, meta->arguments);
    if (isfinite(meta->profiling_start) && isfinite(meta->profiling_end)) {
        json_key(json, "profilingStartTime");
        json_double(json, meta->profiling_start);
        json_key(json, "profilingEndTime");
        json_double(json, meta->profiling_end);
    }
    if (meta->initial_visible_threads.length) {
        json_key(json, "initialVisibleThreads");
        json_open(json, '[');
        for (size_t i = 0; i < meta->initial_visible_threads.length; i++)
            json_unsigned(json, meta->initial_visible_threads.data[i]);
        json_close(json, ']');
    }
    write_machine(json, profile);
    if (meta->extra.length) {
        json_key(json, "extra");
        write_extra(json, profile);
    }
    json_close(json, '}');
}

void write_libs(struct json_writer *json, const struct profile *profile)
{
    json_open(json, '[');
    for (size_t i = 0; i < profile->libs.length; i++) {
        const struct library *lib = &profile->libs.data[i];
        const struct {
            const char *key;
            uint32_t text;
        } texts[] = {{"arch", lib->arch},
                     {"name", lib->name},
                     {"path", lib->path},
                     {"debugName", lib->debug_name},
                     {"debugPath", lib->debug_path},
                     {"breakpadId", lib->breakpad_id},
                     {"codeId", lib->code_id}};
        json_open(json, '{');
        for (size_t k = 0; k < sizeof(texts) / sizeof(*texts); k++) {
            json_key(json, texts[k].key);
            write_string(json, profile, texts[k].text);
        }
        json_close(json, '}');
    }
    json_close(json, ']');
}

/* ---- columns ---- */

static void open_column(struct json_writer *json, const char *key)
{
    json_key(json, key);
    json_open(json, '[');
}

static void write_indexes(struct json_writer *json, const char *key, const uint32_t *column, size_t length)
{
    open_column(json, key);
    for (size_t i = 0; i < length; i++)
        if (column[i] == PROFILE_NONE)
            json_null(json);
        else
            json_unsigned(json, column[i]);
    json_close(json, ']');
}

/* Where the format wants -1 and not null. */
static void write_indexes_or_minus_one(struct json_writer *json, const char *key, const uint32_t *column, size_t length)
{
    open_column(json, key);
    for (size_t i = 0; i < length; i++)
        json_signed(json, column[i] == PROFILE_NONE ? -1 : (int64_t)column[i]);
    json_close(json, ']');
}

/* Lines and columns of source: 0 is null. */
static void write_positions(struct json_writer *json, const char *key, const uint32_t *column, size_t length)
{
    open_column(json, key);
    for (size_t i = 0; i < length; i++)
        if (column[i] == 0)
            json_null(json);
        else
            json_unsigned(json, column[i]);
    json_close(json, ']');
}

static void write_string_numbers(struct json_writer *json, const char *key, const uint32_t *column, size_t length,
                                 const struct string_map *strings)
{
    open_column(json, key);
    for (size_t i = 0; i < length; i++)
        json_unsigned(json, strings->number[column[i]]);
    json_close(json, ']');
}

static void write_nulls(struct json_writer *json, const char *key, size_t length)
{
    open_column(json, key);
    for (size_t i = 0; i < length; i++)
        json_null(json);
    json_close(json, ']');
}

static void write_length(struct json_writer *json, size_t length)
{
    json_key(json, "length");
    json_unsigned(json, length);
}

/* ---- shared ---- */

static void write_string_array(struct json_writer *json, const struct profile *profile,
                               const struct string_map *strings)
{
    open_column(json, "stringArray");
    for (size_t i = 0; i < profile->strings.entries.length; i++)
        if (strings->number[i] != PROFILE_NONE)
            write_string(json, profile, (uint32_t)i);
    json_close(json, ']');
}

static void write_stacks(struct json_writer *json, const struct stack_table *stacks)
{
    json_key(json, "stackTable");
    json_open(json, '{');
    write_indexes(json, "frame", stacks->frame, stacks->length);
    open_column(json, "prefixOffset");
    for (size_t i = 0; i < stacks->length; i++)
        json_unsigned(json, stacks->prefix[i] == PROFILE_NONE ? 0 : i - stacks->prefix[i]);
    json_close(json, ']');
    write_length(json, stacks->length);
    json_close(json, '}');
}

static void write_frames(struct json_writer *json, const struct frame_table *frames)
{
    size_t length = frames->length;
    json_key(json, "frameTable");
    json_open(json, '{');
    open_column(json, "address");
    for (size_t i = 0; i < length; i++)
        json_signed(json, frames->address[i]);
    json_close(json, ']');
    write_indexes_or_minus_one(json, "lib", frames->lib, length);
    open_column(json, "inlineDepth");
    for (size_t i = 0; i < length; i++)
        json_unsigned(json, frames->inline_depth[i]);
    json_close(json, ']');
    write_indexes(json, "category", frames->category, length);
    write_indexes(json, "subcategory", frames->subcategory, length);
    write_indexes(json, "func", frames->func, length);
    write_indexes(json, "nativeSymbol", frames->native_symbol, length);
    write_nulls(json, "innerWindowID", length);
    write_positions(json, "line", frames->line, length);
    write_positions(json, "column", frames->column, length);
    write_nulls(json, "originalLocation", length);
    write_length(json, length);
    json_close(json, '}');
}

static void write_flag(struct json_writer *json, const char *key, const struct func_table *funcs, uint8_t flag)
{
    open_column(json, key);
    for (size_t i = 0; i < funcs->length; i++)
        json_bool(json, funcs->flags[i] & flag);
    json_close(json, ']');
}

static void write_funcs(struct json_writer *json, const struct func_table *funcs, const struct string_map *strings)
{
    size_t length = funcs->length;
    json_key(json, "funcTable");
    json_open(json, '{');
    write_string_numbers(json, "name", funcs->name, length, strings);
    write_flag(json, "isJS", funcs, FUNC_IS_JS);
    write_flag(json, "relevantForJS", funcs, FUNC_RELEVANT_FOR_JS);
    write_indexes_or_minus_one(json, "resource", funcs->resource, length);
    write_indexes(json, "source", funcs->source, length);
    write_positions(json, "lineNumber", funcs->line, length);
    write_positions(json, "columnNumber", funcs->column, length);
    write_nulls(json, "originalLocation", length);
    write_length(json, length);
    json_close(json, '}');
}

/* One column out of an array of rows: `value` writes the member of row `i`. */
#define WRITE_MEMBER(key, array, write_value)                                                                          \
    do {                                                                                                               \
        open_column(json, (key));                                                                                      \
        for (size_t i = 0; i < (array).length; i++)                                                                    \
            write_value;                                                                                               \
        json_close(json, ']');                                                                                         \
    } while (0)

static void write_string_number(struct json_writer *json, const struct string_map *strings, uint32_t string)
{
    if (string == PROFILE_NONE)
        json_null(json);
    else
        json_unsigned(json, strings->number[string]);
}

static void write_resources(struct json_writer *json, const struct profile *profile, const struct string_map *strings)
{
    const struct resource *rows = profile->resources.data;
    json_key(json, "resourceTable");
    json_open(json, '{');
    WRITE_MEMBER("name", profile->resources, write_string_number(json, strings, rows[i].name));
    WRITE_MEMBER("host", profile->resources, write_string_number(json, strings, rows[i].host));
    WRITE_MEMBER("type", profile->resources, json_unsigned(json, rows[i].type));
    write_length(json, profile->resources.length);
    json_close(json, '}');
}

static void write_size(struct json_writer *json, uint32_t size)
{
    if (size == 0)
        json_null(json);
    else
        json_unsigned(json, size);
}

static void write_native_symbols(struct json_writer *json, const struct profile *profile,
                                 const struct string_map *strings)
{
    const struct native_symbol *rows = profile->native_symbols.data;
    json_key(json, "nativeSymbols");
    json_open(json, '{');
    WRITE_MEMBER("libIndex", profile->native_symbols, json_unsigned(json, rows[i].lib));
    WRITE_MEMBER("address", profile->native_symbols, json_signed(json, rows[i].address));
    WRITE_MEMBER("name", profile->native_symbols, write_string_number(json, strings, rows[i].name));
    WRITE_MEMBER("functionSize", profile->native_symbols, write_size(json, rows[i].size));
    write_length(json, profile->native_symbols.length);
    json_close(json, '}');
}

static void write_sources(struct json_writer *json, const struct profile *profile, const struct string_map *strings)
{
    const struct source *rows = profile->sources.data;
    json_key(json, "sources");
    json_open(json, '{');
    WRITE_MEMBER("id", profile->sources, write_string(json, profile, rows[i].id));
    WRITE_MEMBER("filename", profile->sources, write_string_number(json, strings, rows[i].filename));
    WRITE_MEMBER("startLine", profile->sources, json_unsigned(json, rows[i].start_line));
    WRITE_MEMBER("startColumn", profile->sources, json_unsigned(json, rows[i].start_column));
    WRITE_MEMBER("sourceMapURL", profile->sources, write_string_number(json, strings, rows[i].source_map_url));
    WRITE_MEMBER("content", profile->sources, write_string(json, profile, rows[i].content));
    write_length(json, profile->sources.length);
    json_close(json, '}');
}

void write_shared(struct json_writer *json, const struct profile *profile, const struct string_map *strings)
{
    json_open(json, '{');
    write_string_array(json, profile, strings);
    write_stacks(json, &profile->stacks);
    write_frames(json, &profile->frames);
    write_funcs(json, &profile->funcs, strings);
    write_resources(json, profile, strings);
    write_native_symbols(json, profile, strings);
    write_sources(json, profile, strings);
    json_key(json, "sourceLocationTable");
    json_raw(json, "{\"source\":[],\"line\":[],\"column\":[],\"length\":0}",
             strlen("{\"source\":[],\"line\":[],\"column\":[],\"length\":0}"));
    json_close(json, '}');
}

/* ---- markers and counters ---- */

static void write_doubles(struct json_writer *json, const char *key, const double *column, size_t length)
{
    open_column(json, key);
    for (size_t i = 0; i < length; i++)
        json_double(json, column[i]);
    json_close(json, ']');
}

void write_markers(struct json_writer *json, const struct marker_table *markers, const struct profile *profile,
                   const struct string_map *strings)
{
    size_t length = markers->length;
    json_open(json, '{');
    open_column(json, "data");
    for (size_t i = 0; i < length; i++)
        if (markers->data[i] == PROFILE_NONE)
            json_null(json);
        else
            write_raw_string(json, profile, markers->data[i]);
    json_close(json, ']');
    write_string_numbers(json, "name", markers->name, length, strings);
    write_doubles(json, "startTime", markers->start, length);
    write_doubles(json, "endTime", markers->end, length);
    open_column(json, "phase");
    for (size_t i = 0; i < length; i++)
        json_unsigned(json, markers->phase[i]);
    json_close(json, ']');
    write_indexes(json, "category", markers->category, length);
    write_length(json, length);
    json_close(json, '}');
}

/* The display that the Firefox Profiler gives to counters of files that have none. */
static void write_default_display(struct json_writer *json, const struct profile *profile,
                                  const struct counter *counter)
{
    bool memory = strcmp(strings_text(&profile->strings, counter->category), "Memory") == 0;
    json_open(json, '{');
    json_key(json, "graphType");
    json_text_z(json, memory ? "line-accumulated" : "line-rate");
    json_key(json, "unit");
    json_text_z(json, memory ? "bytes" : "");
    json_key(json, "color");
    json_text_z(json, memory ? "orange" : "grey");
    json_key(json, "markerSchemaLocation");
    if (memory)
        json_text_z(json, "timeline-memory");
    else
        json_null(json);
    json_key(json, "sortWeight");
    json_unsigned(json, memory ? 20 : 50);
    json_key(json, "label");
    write_string(json, profile, counter->name);
    json_key(json, "tooltipRows");
    json_raw(json, "[]", 2);
    json_close(json, '}');
}

void write_counters(struct json_writer *json, const struct profile *profile)
{
    json_open(json, '[');
    for (size_t i = 0; i < profile->counters.length; i++) {
        const struct counter *counter = &profile->counters.data[i];
        json_open(json, '{');
        json_key(json, "name");
        write_string(json, profile, counter->name);
        json_key(json, "category");
        write_string(json, profile, counter->category);
        json_key(json, "description");
        write_string(json, profile, counter->description);
        json_key(json, "pid");
        write_string(json, profile, counter->pid);
        json_key(json, "mainThreadIndex");
        json_unsigned(json, counter->main_thread);
        json_key(json, "samples");
        json_open(json, '{');
        write_doubles(json, "time", counter->time, counter->length);
        write_doubles(json, "count", counter->count, counter->length);
        write_length(json, counter->length);
        json_close(json, '}');
        json_key(json, "display");
        if (counter->json == PROFILE_NONE)
            write_default_display(json, profile, counter);
        else
            write_raw_string(json, profile, counter->json);
        json_close(json, '}');
    }
    json_close(json, ']');
}
