/* The field lists, which have the struct member for each key of each object. */
#include "profile/raw.h"

#define LENGTH_OF(list) (sizeof(list) / sizeof(*(list)))
#define FIELDS(list)    .fields = (list), .count = LENGTH_OF(list)
#define VALUE(key, kind, type, member)                                                                                 \
    {                                                                                                                  \
        (key), (kind), offsetof(type, member), COLUMN_INDEX, NULL, 0                                                   \
    }
#define COLUMN(key, column, type, member)                                                                              \
    {                                                                                                                  \
        (key), FIELD_COLUMN, offsetof(type, member), (column), NULL, 0                                                 \
    }
#define OBJECT(key, schema, type, member)                                                                              \
    {                                                                                                                  \
        (key), FIELD_OBJECT, offsetof(type, member), COLUMN_INDEX, &(schema), 0                                        \
    }
#define OBJECTS(key, schema, type, member)                                                                             \
    {                                                                                                                  \
        (key), FIELD_ARRAY, offsetof(type, member), COLUMN_INDEX, &(schema), 0                                         \
    }
#define ELEMENTS(element) .initial = &(element), .element_size = sizeof(element)
#define POINTERS(element) .initial = &(element), .element_size = sizeof(element), .is_pointer = true

/* ---- tables ---- */

static const struct field stack_fields[] = {
    COLUMN("frame", COLUMN_INDEX, struct raw_stacks, frame),
    COLUMN("prefix", COLUMN_INDEX, struct raw_stacks, prefix),
    COLUMN("prefixOffset", COLUMN_INDEX, struct raw_stacks, prefix_offset),
    VALUE("length", FIELD_LENGTH, struct raw_stacks, length),
};
static const struct schema stack_schema = {FIELDS(stack_fields)};

static const struct field frame_fields[] = {
    COLUMN("address", COLUMN_ADDRESS, struct raw_frames, address),
    COLUMN("lib", COLUMN_INDEX, struct raw_frames, lib),
    COLUMN("inlineDepth", COLUMN_SMALL, struct raw_frames, inline_depth),
    COLUMN("category", COLUMN_INDEX, struct raw_frames, category),
    COLUMN("subcategory", COLUMN_INDEX, struct raw_frames, subcategory),
    COLUMN("func", COLUMN_INDEX, struct raw_frames, func),
    COLUMN("nativeSymbol", COLUMN_INDEX, struct raw_frames, native_symbol),
    COLUMN("line", COLUMN_POSITION, struct raw_frames, line),
    COLUMN("column", COLUMN_POSITION, struct raw_frames, column),
    VALUE("length", FIELD_LENGTH, struct raw_frames, length),
    COLUMN("flags", COLUMN_SMALL, struct raw_frames, flags),
};
static const struct schema frame_schema = {FIELDS(frame_fields)};

static const struct field func_fields[] = {
    COLUMN("name", COLUMN_REF, struct raw_funcs, name),
    COLUMN("isJS", COLUMN_FLAG, struct raw_funcs, is_js),
    COLUMN("relevantForJS", COLUMN_FLAG, struct raw_funcs, relevant_for_js),
    COLUMN("resource", COLUMN_INDEX, struct raw_funcs, resource),
    COLUMN("source", COLUMN_INDEX, struct raw_funcs, source),
    COLUMN("fileName", COLUMN_REF, struct raw_funcs, file_name),
    COLUMN("lineNumber", COLUMN_POSITION, struct raw_funcs, line),
    COLUMN("columnNumber", COLUMN_POSITION, struct raw_funcs, column),
    VALUE("length", FIELD_LENGTH, struct raw_funcs, length),
    COLUMN("flags", COLUMN_SMALL, struct raw_funcs, flags),
};
static const struct schema func_schema = {FIELDS(func_fields)};

static const struct field resource_fields[] = {
    COLUMN("name", COLUMN_REF, struct raw_resources, name),      COLUMN("host", COLUMN_REF, struct raw_resources, host),
    COLUMN("type", COLUMN_SMALL, struct raw_resources, type),    COLUMN("lib", COLUMN_INDEX, struct raw_resources, lib),
    VALUE("length", FIELD_LENGTH, struct raw_resources, length),
};
static const struct schema resource_schema = {FIELDS(resource_fields)};

static const struct field native_symbol_fields[] = {
    COLUMN("libIndex", COLUMN_INDEX, struct raw_native_symbols, lib),
    COLUMN("address", COLUMN_ADDRESS, struct raw_native_symbols, address),
    COLUMN("name", COLUMN_REF, struct raw_native_symbols, name),
    COLUMN("functionSize", COLUMN_POSITION, struct raw_native_symbols, size),
    VALUE("length", FIELD_LENGTH, struct raw_native_symbols, length),
};
static const struct schema native_symbol_schema = {FIELDS(native_symbol_fields)};

static const struct field source_fields[] = {
    COLUMN("filename", COLUMN_REF, struct raw_sources, filename),
    COLUMN("id", COLUMN_REF, struct raw_sources, id),
    COLUMN("uuid", COLUMN_REF, struct raw_sources, id), /* key before version 61 */
    COLUMN("startLine", COLUMN_POSITION, struct raw_sources, start_line),
    COLUMN("startColumn", COLUMN_POSITION, struct raw_sources, start_column),
    COLUMN("content", COLUMN_REF, struct raw_sources, content),
    COLUMN("sourceMapURL", COLUMN_REF, struct raw_sources, source_map_url),
    VALUE("length", FIELD_LENGTH, struct raw_sources, length),
};
static const struct schema source_schema = {FIELDS(source_fields)};

static const struct field shared_fields[] = {
    COLUMN("stringArray", COLUMN_TEXT, struct raw_tables, strings),
    OBJECT("stackTable", stack_schema, struct raw_tables, stacks),
    OBJECT("frameTable", frame_schema, struct raw_tables, frames),
    OBJECT("funcTable", func_schema, struct raw_tables, funcs),
    OBJECT("resourceTable", resource_schema, struct raw_tables, resources),
    OBJECT("nativeSymbols", native_symbol_schema, struct raw_tables, native_symbols),
    OBJECT("sources", source_schema, struct raw_tables, sources),
};
static const struct schema shared_schema = {FIELDS(shared_fields)};

/* ---- threads ---- */

static const struct field sample_fields[] = {
    COLUMN("stack", COLUMN_INDEX, struct raw_samples, stack),
    COLUMN("time", COLUMN_DOUBLE, struct raw_samples, time),
    COLUMN("timeDeltas", COLUMN_DOUBLE, struct raw_samples, time_deltas),
    COLUMN("weight", COLUMN_DOUBLE, struct raw_samples, weight),
    COLUMN("duration", COLUMN_DOUBLE, struct raw_samples, weight), /* key before version 29 */
    VALUE("weightType", FIELD_TEXT, struct raw_samples, weight_type),
    COLUMN("threadCPUDelta", COLUMN_DOUBLE, struct raw_samples, cpu_delta),
    COLUMN("memoryAddress", COLUMN_DOUBLE, struct raw_samples, address),
    COLUMN("waker", COLUMN_TEXT, struct raw_samples, waker),
    COLUMN("wakerStack", COLUMN_INDEX, struct raw_samples, waker_stack),
    VALUE("stackTableLength", FIELD_LENGTH, struct raw_samples, stack_table_length),
    VALUE("length", FIELD_LENGTH, struct raw_samples, length),
};
static const struct schema sample_schema = {FIELDS(sample_fields)};

static const struct field slice_fields[] = {
    COLUMN("cpu", COLUMN_INDEX, struct raw_slices, cpu),
    COLUMN("time", COLUMN_DOUBLE, struct raw_slices, time),
    COLUMN("timeDeltas", COLUMN_DOUBLE, struct raw_slices, time_deltas),
    COLUMN("duration", COLUMN_DOUBLE, struct raw_slices, duration),
    COLUMN("offCpu", COLUMN_DOUBLE, struct raw_slices, off_cpu),
    VALUE("length", FIELD_LENGTH, struct raw_slices, length),
};
static const struct schema slice_schema = {FIELDS(slice_fields)};

static const struct raw_event_samples no_event_samples = {.event = PROFILE_NONE, .samples.weight_type = PROFILE_NONE};
static const struct field event_sample_fields[] = {
    VALUE("event", FIELD_TEXT, struct raw_event_samples, event),
    COLUMN("stack", COLUMN_INDEX, struct raw_event_samples, samples.stack),
    COLUMN("time", COLUMN_DOUBLE, struct raw_event_samples, samples.time),
    COLUMN("timeDeltas", COLUMN_DOUBLE, struct raw_event_samples, samples.time_deltas),
    COLUMN("weight", COLUMN_DOUBLE, struct raw_event_samples, samples.weight),
    VALUE("length", FIELD_LENGTH, struct raw_event_samples, samples.length),
};
static const struct schema event_sample_schema = {FIELDS(event_sample_fields), POINTERS(no_event_samples)};

static const struct raw_added_tables no_added_tables;
static const struct field added_table_fields[] = {
    VALUE("stacks", FIELD_COUNT, struct raw_added_tables, stacks),
    VALUE("frames", FIELD_COUNT, struct raw_added_tables, frames),
    VALUE("funcs", FIELD_COUNT, struct raw_added_tables, funcs),
    VALUE("resources", FIELD_COUNT, struct raw_added_tables, resources),
    VALUE("nativeSymbols", FIELD_COUNT, struct raw_added_tables, native_symbols),
    VALUE("sources", FIELD_COUNT, struct raw_added_tables, sources),
    OBJECT("shared", shared_schema, struct raw_added_tables, tables),
};
static const struct schema added_table_schema = {FIELDS(added_table_fields), POINTERS(no_added_tables)};

static const struct raw_added no_added = {
    .thread = PROFILE_NONE, .event = PROFILE_NONE, .samples.weight_type = PROFILE_NONE};
static const struct field added_fields[] = {
    OBJECTS("tables", added_table_schema, struct raw_added, tables),
    VALUE("thread", FIELD_COUNT, struct raw_added, thread),
    VALUE("first", FIELD_COUNT, struct raw_added, first),
    VALUE("event", FIELD_TEXT, struct raw_added, event),
    COLUMN("stack", COLUMN_INDEX, struct raw_added, samples.stack),
    COLUMN("time", COLUMN_DOUBLE, struct raw_added, samples.time),
    COLUMN("timeDeltas", COLUMN_DOUBLE, struct raw_added, samples.time_deltas),
    COLUMN("weight", COLUMN_DOUBLE, struct raw_added, samples.weight),
    COLUMN("threadCPUDelta", COLUMN_DOUBLE, struct raw_added, samples.cpu_delta),
    COLUMN("waker", COLUMN_TEXT, struct raw_added, samples.waker),
    COLUMN("wakerStack", COLUMN_INDEX, struct raw_added, samples.waker_stack),
    VALUE("length", FIELD_LENGTH, struct raw_added, samples.length),
    OBJECT("cpuSlices", slice_schema, struct raw_added, slices),
};
static const struct schema added_schema = {FIELDS(added_fields), POINTERS(no_added)};

static const struct field marker_fields[] = {
    COLUMN("data", COLUMN_JSON, struct raw_markers, data),
    COLUMN("name", COLUMN_REF, struct raw_markers, name),
    COLUMN("startTime", COLUMN_DOUBLE, struct raw_markers, start),
    COLUMN("endTime", COLUMN_DOUBLE, struct raw_markers, end),
    COLUMN("phase", COLUMN_SMALL, struct raw_markers, phase),
    COLUMN("category", COLUMN_INDEX, struct raw_markers, category),
    COLUMN("time", COLUMN_DOUBLE, struct raw_markers, time),
    VALUE("length", FIELD_LENGTH, struct raw_markers, length),
};
static const struct schema marker_schema = {FIELDS(marker_fields)};

/* A profile copied from the browser's console has its string table in an object. */
static const struct field string_table_fields[] = {{"_array", FIELD_COLUMN, 0, COLUMN_TEXT, NULL, 0}};
static const struct schema string_table_schema = {FIELDS(string_table_fields)};

static const struct library no_library = {PROFILE_NONE, PROFILE_NONE, PROFILE_NONE, PROFILE_NONE,
                                          PROFILE_NONE, PROFILE_NONE, PROFILE_NONE};

static const struct field library_fields[] = {
    VALUE("arch", FIELD_TEXT, struct library, arch),
    VALUE("name", FIELD_TEXT, struct library, name),
    VALUE("path", FIELD_TEXT, struct library, path),
    VALUE("debugName", FIELD_TEXT, struct library, debug_name),
    VALUE("pdbName", FIELD_TEXT, struct library, debug_name), /* its name before version 2 */
    VALUE("debugPath", FIELD_TEXT, struct library, debug_path),
    VALUE("breakpadId", FIELD_TEXT, struct library, breakpad_id),
    VALUE("codeId", FIELD_TEXT, struct library, code_id),
};
static const struct schema library_schema = {FIELDS(library_fields), ELEMENTS(no_library)};

static const struct paused_range no_range = {NAN, NAN, PROFILE_NONE};
static const struct field paused_range_fields[] = {
    VALUE("startTime", FIELD_DOUBLE, struct paused_range, start),
    VALUE("endTime", FIELD_DOUBLE, struct paused_range, end),
    VALUE("reason", FIELD_TEXT, struct paused_range, reason),
};
static const struct schema paused_range_schema = {FIELDS(paused_range_fields), ELEMENTS(no_range)};

static const struct raw_thread no_thread = {
    .thread = {.name = PROFILE_NONE,
               .process_name = PROFILE_NONE,
               .process_type = PROFILE_NONE,
               .pid = PROFILE_NONE,
               .tid = PROFILE_NONE,
               .process_start = NAN,
               .process_end = NAN,
               .start = NAN,
               .end = NAN},
    .samples.weight_type = PROFILE_NONE,
    .js_allocations.weight_type = PROFILE_NONE,
    .native_allocations.weight_type = PROFILE_NONE,
};
static const struct field thread_fields[] = {
    VALUE("name", FIELD_TEXT, struct raw_thread, thread.name),
    VALUE("processName", FIELD_TEXT, struct raw_thread, thread.process_name),
    VALUE("processType", FIELD_TEXT, struct raw_thread, thread.process_type),
    VALUE("pid", FIELD_TEXT, struct raw_thread, thread.pid),
    VALUE("tid", FIELD_TEXT, struct raw_thread, thread.tid),
    VALUE("isMainThread", FIELD_BOOL, struct raw_thread, thread.is_main),
    VALUE("processStartupTime", FIELD_DOUBLE, struct raw_thread, thread.process_start),
    VALUE("processShutdownTime", FIELD_DOUBLE, struct raw_thread, thread.process_end),
    VALUE("registerTime", FIELD_DOUBLE, struct raw_thread, thread.start),
    VALUE("unregisterTime", FIELD_DOUBLE, struct raw_thread, thread.end),
    OBJECTS("pausedRanges", paused_range_schema, struct raw_thread, thread.paused),
    VALUE("comparisonSide", FIELD_COUNT, struct raw_thread, thread.side),
    VALUE("comparisonRun", FIELD_COUNT, struct raw_thread, thread.run),
    OBJECT("samples", sample_schema, struct raw_thread, samples),
    OBJECT("jsAllocations", sample_schema, struct raw_thread, js_allocations),
    OBJECT("nativeAllocations", sample_schema, struct raw_thread, native_allocations),
    OBJECTS("eventSamples", event_sample_schema, struct raw_thread, events),
    OBJECT("cpuSlices", slice_schema, struct raw_thread, slices),
    OBJECT("markers", marker_schema, struct raw_thread, markers),
    COLUMN("stringArray", COLUMN_TEXT, struct raw_thread, own.strings),
    {"stringTable", FIELD_COLUMN, offsetof(struct raw_thread, own.strings), COLUMN_TEXT, &string_table_schema, 0},
    OBJECT("stackTable", stack_schema, struct raw_thread, own.stacks),
    OBJECT("frameTable", frame_schema, struct raw_thread, own.frames),
    OBJECT("funcTable", func_schema, struct raw_thread, own.funcs),
    OBJECT("resourceTable", resource_schema, struct raw_thread, own.resources),
    OBJECT("nativeSymbols", native_symbol_schema, struct raw_thread, own.native_symbols),
    {"libs", FIELD_ARRAY, offsetof(struct raw_thread, libs), COLUMN_INDEX, &library_schema,
     offsetof(struct raw_thread, has_libs) + 1},
};
static const struct schema thread_schema = {FIELDS(thread_fields), POINTERS(no_thread)};

static const struct field counter_sample_fields[] = {
    COLUMN("time", COLUMN_DOUBLE, struct raw_counter, time),
    COLUMN("timeDeltas", COLUMN_DOUBLE, struct raw_counter, time_deltas),
    COLUMN("count", COLUMN_DOUBLE, struct raw_counter, count),
    VALUE("length", FIELD_LENGTH, struct raw_counter, length),
};
static const struct schema counter_sample_schema = {FIELDS(counter_sample_fields)};

/* Before version 48: a list with one group, which has the members of the counter. */
static const struct field sample_group_fields[] = {
    {"samples", FIELD_OBJECT, 0, COLUMN_INDEX, &counter_sample_schema, 0},
};
static const struct schema sample_group_schema = {FIELDS(sample_group_fields)};

static const struct raw_counter no_counter = {.counter = {.name = PROFILE_NONE,
                                                          .category = PROFILE_NONE,
                                                          .description = PROFILE_NONE,
                                                          .pid = PROFILE_NONE,
                                                          .json = PROFILE_NONE}};
static const struct field counter_fields[] = {
    {"sampleGroups", FIELD_ARRAY, 0, COLUMN_INDEX, &sample_group_schema, 0},
    VALUE("name", FIELD_TEXT, struct raw_counter, counter.name),
    VALUE("category", FIELD_TEXT, struct raw_counter, counter.category),
    VALUE("description", FIELD_TEXT, struct raw_counter, counter.description),
    VALUE("pid", FIELD_TEXT, struct raw_counter, counter.pid),
    VALUE("mainThreadIndex", FIELD_COUNT, struct raw_counter, counter.main_thread),
    VALUE("display", FIELD_JSON, struct raw_counter, counter.json),
    {"samples", FIELD_OBJECT, 0, COLUMN_INDEX, &counter_sample_schema, 0},
};
static const struct schema counter_schema = {FIELDS(counter_fields), POINTERS(no_counter)};

/* ---- meta ---- */

static const struct raw_category no_category = {.name = PROFILE_NONE, .color = PROFILE_NONE};
static const struct field category_fields[] = {
    VALUE("name", FIELD_TEXT, struct raw_category, name),
    VALUE("color", FIELD_TEXT, struct raw_category, color),
    COLUMN("subcategories", COLUMN_TEXT, struct raw_category, subcategories),
};
static const struct schema category_schema = {FIELDS(category_fields), ELEMENTS(no_category)};

static const struct extra_entry no_entry = {PROFILE_NONE, PROFILE_NONE, PROFILE_NONE};
static const struct field extra_entry_fields[] = {
    VALUE("label", FIELD_TEXT, struct extra_entry, label),
    VALUE("format", FIELD_TEXT, struct extra_entry, format),
    VALUE("value", FIELD_JSON, struct extra_entry, value),
};
static const struct schema extra_entry_schema = {FIELDS(extra_entry_fields), ELEMENTS(no_entry)};

static const struct extra_section no_section = {.label = PROFILE_NONE};
static const struct field extra_section_fields[] = {
    VALUE("label", FIELD_TEXT, struct extra_section, label),
    OBJECTS("entries", extra_entry_schema, struct extra_section, entries),
};
static const struct schema extra_section_schema = {FIELDS(extra_section_fields), ELEMENTS(no_section)};

static const struct profile_event no_event = {.name = PROFILE_NONE};
static const struct field event_fields[] = {
    VALUE("name", FIELD_TEXT, struct profile_event, name),
    VALUE("period", FIELD_DOUBLE, struct profile_event, period),
};
static const struct schema event_schema = {FIELDS(event_fields), ELEMENTS(no_event)};

static const struct field comparison_fields[] = {
    VALUE("base", FIELD_TEXT, struct raw_meta, meta.comparison.name[SIDE_BASE]),
    VALUE("new", FIELD_TEXT, struct raw_meta, meta.comparison.name[SIDE_NEW]),
    VALUE("baseRuns", FIELD_COUNT, struct raw_meta, meta.comparison.runs[SIDE_BASE]),
    VALUE("newRuns", FIELD_COUNT, struct raw_meta, meta.comparison.runs[SIDE_NEW]),
    VALUE("scale", FIELD_DOUBLE, struct raw_meta, meta.comparison.scale),
    VALUE("scaledBy", FIELD_TEXT, struct raw_meta, meta.comparison.scaled_by),
    VALUE("oneAfterOther", FIELD_BOOL, struct raw_meta, meta.comparison.is_one_after_other),
    VALUE("warning", FIELD_TEXT, struct raw_meta, meta.warning),
};
static const struct schema comparison_schema = {FIELDS(comparison_fields)};

static const struct field sample_unit_fields[] = {
    VALUE("threadCPUDelta", FIELD_TEXT, struct raw_meta, cpu_unit),
};
static const struct schema sample_unit_schema = {FIELDS(sample_unit_fields)};

static const struct field meta_fields[] = {
    VALUE("interval", FIELD_DOUBLE, struct raw_meta, meta.interval),
    VALUE("startTime", FIELD_DOUBLE, struct raw_meta, meta.start_time),
    VALUE("profilingStartTime", FIELD_DOUBLE, struct raw_meta, meta.profiling_start),
    VALUE("profilingEndTime", FIELD_DOUBLE, struct raw_meta, meta.profiling_end),
    VALUE("product", FIELD_TEXT, struct raw_meta, meta.product),
    VALUE("oscpu", FIELD_TEXT, struct raw_meta, meta.os),
    VALUE("abi", FIELD_TEXT, struct raw_meta, meta.abi),
    VALUE("platform", FIELD_TEXT, struct raw_meta, meta.platform),
    VALUE("CPUName", FIELD_TEXT, struct raw_meta, meta.cpu_name),
    VALUE("arguments", FIELD_TEXT, struct raw_meta, meta.arguments),
    VALUE("importedFrom", FIELD_TEXT, struct raw_meta, meta.imported_from),
    VALUE("misc", FIELD_TEXT, struct raw_meta, meta.misc),
    VALUE("physicalCPUs", FIELD_COUNT, struct raw_meta, meta.physical_cpus),
    VALUE("logicalCPUs", FIELD_COUNT, struct raw_meta, meta.logical_cpus),
    VALUE("mainMemory", FIELD_COUNT64, struct raw_meta, meta.main_memory),
    VALUE("startTimeAsClockMonotonicNanosecondsSinceBoot", FIELD_COUNT64, struct raw_meta, meta.monotonic_start_ns),
    VALUE("symbolicated", FIELD_YES_NO, struct raw_meta, meta.symbolicated),
    VALUE("markerSchema", FIELD_JSON, struct raw_meta, meta.marker_schema),
    VALUE("version", FIELD_COUNT, struct raw_meta, gecko_version),
    {"preprocessedProfileVersion", FIELD_DOUBLE, offsetof(struct raw_meta, version), COLUMN_INDEX, NULL,
     offsetof(struct raw_meta, has_version) + 1},
    COLUMN("initialVisibleThreads", COLUMN_INDEX, struct raw_meta, initial_visible_threads),
    COLUMN("initialSelectedThreads", COLUMN_INDEX, struct raw_meta, initial_selected_threads),
    {"sampleUnits", FIELD_OBJECT, 0, COLUMN_INDEX, &sample_unit_schema, 0},
    {"categories", FIELD_ARRAY, offsetof(struct raw_meta, categories), COLUMN_INDEX, &category_schema,
     offsetof(struct raw_meta, has_categories) + 1},
    OBJECTS("extra", extra_section_schema, struct raw_meta, meta.extra),
    {"comparison", FIELD_OBJECT, 0, COLUMN_INDEX, &comparison_schema, 0},
    OBJECTS("sampledEvents", event_schema, struct raw_meta, meta.events),
    VALUE("sampledEventsOnly", FIELD_BOOL, struct raw_meta, meta.has_only_events),
    VALUE("timesAreOrder", FIELD_BOOL, struct raw_meta, meta.has_no_times),
};
static const struct schema meta_schema = {FIELDS(meta_fields)};

static const struct field profile_fields[] = {
    {"meta", FIELD_OBJECT, offsetof(struct raw_profile, meta), COLUMN_INDEX, &meta_schema,
     offsetof(struct raw_profile, meta.present) + 1},
    OBJECTS("libs", library_schema, struct raw_profile, libs),
    OBJECT("shared", shared_schema, struct raw_profile, shared),
    {"threads", FIELD_ARRAY, offsetof(struct raw_profile, threads), COLUMN_INDEX, &thread_schema,
     offsetof(struct raw_profile, has_threads) + 1},
    OBJECTS("counters", counter_schema, struct raw_profile, counters),
    VALUE("addedFrom", FIELD_COUNT64, struct raw_profile, meta.meta.added_from),
    VALUE("addedNext", FIELD_TEXT, struct raw_profile, meta.meta.added_next),
    OBJECTS("added", added_schema, struct raw_profile, added),
    VALUE("processes", FIELD_SEEN, struct raw_profile, has_processes),
    VALUE("traceEvents", FIELD_SEEN, struct raw_profile, has_trace_events),
    VALUE("resourceProfiles", FIELD_SEEN, struct raw_profile, has_resource_profiles),
};
const struct schema RAW_PROFILE_SCHEMA = {FIELDS(profile_fields)};

/* ---- values ---- */

static uint64_t to_unsigned(double value, uint64_t most)
{
    return value >= 0 && value <= (double)most && floor(value) == value ? (uint64_t)value : 0;
}

bool raw_store(struct raw_profile *raw, const struct field *field, void *place, const struct json *json,
               enum json_type type)
{
    double number = type == JSON_NUMBER ? json->number : NAN;
    bool is_bool = type == JSON_TRUE || type == JSON_FALSE;
    switch (field->kind) {
    case FIELD_TEXT:
        if (type != JSON_STRING && type != JSON_NUMBER)
            return true;
        *(uint32_t *)place = strings_add(&raw->texts, json->text, json->length);
        return *(uint32_t *)place < RAW_TEXT;
    case FIELD_DOUBLE:
        *(double *)place = number;
        return true;
    case FIELD_COUNT:
        *(uint32_t *)place = (uint32_t)to_unsigned(number, UINT32_MAX - 1);
        return true;
    case FIELD_COUNT64:
        *(uint64_t *)place = to_unsigned(number, UINT64_C(1) << 63);
        return true;
    case FIELD_LENGTH:
        *(raw_length *)place = number >= 0 && number < PROFILE_NONE ? to_unsigned(number, PROFILE_NONE) + 1 : 0;
        return true;
    case FIELD_BOOL:
        *(bool *)place = type == JSON_TRUE;
        return true;
    case FIELD_YES_NO:
        if (is_bool)
            *(int *)place = type == JSON_TRUE;
        return true;
    default:
        return true;
    }
}

/* ---- memory ---- */

void raw_profile_init(struct raw_profile *raw)
{
    *raw = (struct raw_profile){0};
    struct profile empty;
    profile_init(&empty);
    raw->meta.meta = empty.meta;
    raw->meta.meta.interval = NAN;
    raw->meta.cpu_unit = PROFILE_NONE;
}

ARRAY_TYPE(struct bytes, char);

void *raw_add_element(const struct schema *schema, void *list)
{
    struct bytes *elements = list;
    if (!schema->element_size)
        return list;
    size_t size = schema->is_pointer ? sizeof(void *) : schema->element_size;
    if (!array_grow((void **)&elements->data, elements->length, &elements->capacity, 1, size))
        return NULL;
    char *place = elements->data + elements->length * size;
    void *element = schema->is_pointer ? malloc(schema->element_size) : place;
    if (!element)
        return NULL;
    memcpy(element, schema->initial, schema->element_size);
    if (schema->is_pointer)
        memcpy(place, &element, sizeof(element));
    elements->length++;
    return element;
}

static void free_members(const struct schema *schema, void *object);

static void free_elements(const struct schema *schema, struct bytes *elements)
{
    bool is_pointer = schema->is_pointer;
    size_t size = is_pointer ? sizeof(void *) : schema->element_size;
    for (size_t i = 0; schema->element_size && i < elements->length; i++) {
        char *place = elements->data + i * size;
        void *element = is_pointer ? *(void **)(void *)place : place;
        free_members(schema, element);
        if (is_pointer)
            free(element);
    }
    if (schema->element_size)
        array_free(elements);
}

/* Frees the columns, objects and lists that the fields of an object describe. */
static void free_members(const struct schema *schema, void *object)
{
    for (size_t i = 0; i < schema->count; i++) {
        const struct field *field = &schema->fields[i];
        void *place = (char *)object + field->offset;
        if (field->kind == FIELD_COLUMN) {
            struct column *column = place;
            free(column->data);
            *column = (struct column){0};
        } else if (field->kind == FIELD_OBJECT) {
            free_members(field->schema, place);
        } else if (field->kind == FIELD_ARRAY) {
            free_elements(field->schema, place);
        }
    }
}

void raw_profile_destroy(struct raw_profile *raw)
{
    for (size_t i = 0; i < raw->threads.length; i++)
        free(raw->threads.data[i]->stack_map);
    free_members(&RAW_PROFILE_SCHEMA, raw);
    strings_destroy(&raw->texts);
}
