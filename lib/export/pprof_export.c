/*
 * pprof's profile.proto (https://github.com/google/pprof/blob/main/proto/profile.proto): samples are lists of
 * locations, leaf first, with a value of each weight and the thread as labels. The profile's addresses are relative to
 * their library, but pprof's mappings are ranges of memory, so each library gets an address range. Inlined calls are
 * additional lines of a location.
 *
 * The fields of a message may have any order. prof writes the large tables first, and the strings of the tables last.
 */
#include "base/json.h"
#include "export/export_stacks.h"
#include "export/export_strings.h"
#include "import/pprof_labels.h"
#include "export/protobuf_write.h"

#include <ctype.h>

enum profile_field {
    PROFILE_SAMPLE_TYPE = 1,
    PROFILE_SAMPLE,
    PROFILE_MAPPING,
    PROFILE_LOCATION,
    PROFILE_FUNCTION,
    PROFILE_STRING,
    PROFILE_TIME = 9,
    PROFILE_DURATION,
    PROFILE_PERIOD_TYPE,
    PROFILE_PERIOD,
    PROFILE_DEFAULT_SAMPLE_TYPE = 14
};
enum value_type_field { VALUE_TYPE = 1, VALUE_UNIT };
enum sample_field { SAMPLE_LOCATION = 1, SAMPLE_VALUE, SAMPLE_LABEL };
enum label_field { LABEL_KEY = 1, LABEL_TEXT, LABEL_NUMBER };
enum mapping_field {
    MAPPING_ID = 1,
    MAPPING_START,
    MAPPING_LIMIT,
    MAPPING_FILE = 5,
    MAPPING_BUILD_ID,
    MAPPING_HAS_FUNCTIONS,
    MAPPING_HAS_FILES,
    MAPPING_HAS_LINES,
    MAPPING_HAS_INLINED
};
enum location_field { LOCATION_ID = 1, LOCATION_MAPPING, LOCATION_ADDRESS, LOCATION_LINE };
enum line_field { LINE_FUNCTION = 1, LINE_LINE, LINE_COLUMN };
enum function_field { FUNCTION_ID = 1, FUNCTION_NAME, FUNCTION_SYSTEM_NAME, FUNCTION_FILE, FUNCTION_START_LINE };

enum { FLUSH_AT = 256 * 1024, MAPPING_ALIGNMENT = 0x1000 };

struct mapping {
    uint64_t start, limit; /* 0: no location is in the library */
};

struct pprof {
    const struct export_view *view;
    const struct profile *profile;
    const struct byte_sink *sink;
    struct error *err;
    struct protobuf_writer out;
    struct weight_list weights;
    double carries[SAMPLE_TABLES + WEIGH_KINDS + 8]; /* rounding errors for export_round_with_carry(), per weight */
    struct export_stacks stacks;
    struct export_sums sums;
    struct export_strings strings;
    struct mapping *mappings;                 /* per library */
    uint8_t *used_locations, *used_functions; /* by a sample */
};

/* Writes the buffered output to the sink if it has at least `least` bytes. */
static int flush(struct pprof *pprof, size_t least)
{
    struct text_buffer *bytes = &pprof->out.bytes;
    if (pprof->out.failed || pprof->strings.failed)
        return error_no_memory(pprof->err);
    if (bytes->length < least)
        return 0;
    int code = pprof->sink->write(pprof->sink->context, bytes->data, bytes->length, pprof->err);
    bytes->length = 0;
    return code;
}

static void write_value_type(struct pprof *pprof, uint32_t field, const char *type, const char *unit)
{
    size_t opened = protobuf_open(&pprof->out, field);
    protobuf_write_unsigned(&pprof->out, VALUE_TYPE, export_add_string(&pprof->strings, type));
    protobuf_write_unsigned(&pprof->out, VALUE_UNIT, export_add_string(&pprof->strings, unit));
    protobuf_close(&pprof->out, opened);
}

static void write_header(struct pprof *pprof)
{
    const struct profile_meta *meta = &pprof->profile->meta;
    struct time_range range = pprof->view->range;
    for (size_t i = 0; i < pprof->weights.length; i++)
        write_value_type(pprof, PROFILE_SAMPLE_TYPE, export_get_weight_name(&pprof->weights.data[i]),
                         export_get_weight_unit(&pprof->weights.data[i]));
    write_value_type(pprof, PROFILE_PERIOD_TYPE, "cpu", "nanoseconds");
    double none = 0, from = isfinite(range.from) ? range.from : 0;
    protobuf_write_signed(&pprof->out, PROFILE_PERIOD, export_round_with_carry(meta->interval * 1e6, &none));
    double start = trunc(meta->start_time); /* separate terms, because a double cannot represent ns since 1970 */
    none = 0;
    int64_t part = export_round_with_carry((meta->start_time - start + from) * 1e6, &none);
    if (start > 0 && start < 9e12)
        protobuf_write_signed(&pprof->out, PROFILE_TIME, (int64_t)start * 1000000 + part);
    none = 0;
    if (isfinite(range.to - range.from))
        protobuf_write_signed(&pprof->out, PROFILE_DURATION,
                              export_round_with_carry((range.to - range.from) * 1e6, &none));
    protobuf_write_unsigned(&pprof->out, PROFILE_DEFAULT_SAMPLE_TYPE,
                            export_add_string(&pprof->strings, export_get_weight_name(&pprof->view->weight)));
}

/* ---- samples ---- */

static void write_text_label(struct pprof *pprof, const char *key, uint32_t text)
{
    if (!text)
        return;
    size_t opened = protobuf_open(&pprof->out, SAMPLE_LABEL);
    protobuf_write_unsigned(&pprof->out, LABEL_KEY, export_add_string(&pprof->strings, key));
    protobuf_write_unsigned(&pprof->out, LABEL_TEXT, text);
    protobuf_close(&pprof->out, opened);
}

/* Writes a number label if the text is a number: "123". */
static void write_number_label(struct pprof *pprof, const char *key, uint32_t string)
{
    const char *text = profile_text(pprof->profile, string);
    size_t digits = strspn(text, "0123456789");
    if (digits == 0 || digits > 18 || text[digits]) {
        write_text_label(pprof, key, export_add_profile_string(&pprof->strings, string));
        return;
    }
    size_t opened = protobuf_open(&pprof->out, SAMPLE_LABEL);
    protobuf_write_unsigned(&pprof->out, LABEL_KEY, export_add_string(&pprof->strings, key));
    protobuf_write_unsigned(&pprof->out, LABEL_NUMBER, strtoull(text, NULL, 10));
    protobuf_close(&pprof->out, opened);
}

/* Returns the payload of the thread's marker "Labels", which the importer makes, or PROFILE_NONE for none. */
static uint32_t encode_thread_labels(const struct pprof *pprof, const struct thread *thread)
{
    static const char begin[] = "{\"type\":\"" PPROF_LABELS_TYPE "\"";
    for (size_t i = 0; i < thread->markers.length; i++)
        if (!strncmp(profile_text(pprof->profile, thread->markers.data[i]), begin, sizeof(begin) - 1))
            return thread->markers.data[i];
    return PROFILE_NONE;
}

/* Writes the labels of an imported file. `set` gets the labels in the form of the importer's thread names. */
static bool write_imported_labels(struct pprof *pprof, uint32_t payload, struct text_buffer *set)
{
    const struct string_entry *entry = &pprof->profile->strings.entries.data[payload];
    struct json json;
    bool enough = true;
    json_init_whole(&json, entry->text, entry->length);
    json_next(&json); /* the brace */
    while (enough && json_next(&json) == JSON_KEY) {
        bool is_type = json_is(&json, "type");
        uint32_t key = export_add_text(&pprof->strings, json.text, json.length);
        size_t before = set->length;
        if (!is_type)
            enough = (!before || text_append(set, ", ", 2)) && text_append(set, json.text, json.length) &&
                     text_append(set, "=", 1);
        if (json_next(&json) != JSON_STRING || is_type)
            continue;
        enough = enough && text_append(set, json.text, json.length);
        size_t opened = protobuf_open(&pprof->out, SAMPLE_LABEL);
        protobuf_write_unsigned(&pprof->out, LABEL_KEY, key);
        protobuf_write_unsigned(&pprof->out, LABEL_TEXT, export_add_text(&pprof->strings, json.text, json.length));
        protobuf_close(&pprof->out, opened);
    }
    json_destroy(&json);
    return enough;
}

/* Writes the thread's name, without the labels that the importer appends. */
static void write_thread_name(struct pprof *pprof, const struct thread *thread, const struct text_buffer *set)
{
    const char *name = profile_text(pprof->profile, thread->name);
    size_t length = strlen(name), kept = length;
    if (set->length && length == set->length && !memcmp(name, set->data, length))
        return;
    if (set->length && length > set->length + 3 && !memcmp(name + length - set->length - 1, set->data, set->length))
        kept = length - set->length - 3; /* "name (set)" */
    write_text_label(pprof, "thread", export_add_text(&pprof->strings, name, kept));
}

/* Encodes the labels of a thread once, because all samples of the thread have the same labels. */
static bool encode_labels(struct pprof *pprof, uint32_t index, struct text_buffer *labels)
{
    const struct thread *thread = &pprof->profile->threads.data[index];
    size_t before = pprof->out.bytes.length;
    write_number_label(pprof, "pid", thread->pid);
    write_number_label(pprof, "tid", thread->tid);
    uint32_t imported = encode_thread_labels(pprof, thread);
    struct text_buffer set = {0};
    bool has_labels = imported == PROFILE_NONE || write_imported_labels(pprof, imported, &set);
    write_thread_name(pprof, thread, &set);
    write_text_label(pprof, "process", export_add_profile_string(&pprof->strings, thread->process_name));
    array_free(&set);
    if (pprof->out.failed || !has_labels)
        return false;
    labels->length = 0;
    bool enough = text_append(labels, pprof->out.bytes.data + before, pprof->out.bytes.length - before);
    pprof->out.bytes.length = before;
    return enough;
}

/* Rounds the values. Returns whether a value is not 0, because the file omits samples with only zeros. */
static bool round_values(struct pprof *pprof, size_t row, int64_t *values, size_t count)
{
    bool counts = false;
    for (size_t i = 0; i < count; i++) {
        double value = pprof->sums.values.data[row * count + i] * export_get_weight_scale(&pprof->weights.data[i]);
        values[i] = value == 0 ? 0 : export_round_with_carry(value, &pprof->carries[i]);
        counts |= values[i] != 0;
    }
    return counts;
}

static void write_sample(struct pprof *pprof, size_t row, const struct text_buffer *labels)
{
    enum { MOST_WEIGHTS = sizeof(pprof->carries) / sizeof(*pprof->carries) };
    int64_t values[MOST_WEIGHTS];
    const size_t count = pprof->weights.length;
    if (!round_values(pprof, row, values, count))
        return;
    size_t sample = protobuf_open(&pprof->out, PROFILE_SAMPLE);
    size_t list = protobuf_open(&pprof->out, SAMPLE_LOCATION);
    for (uint32_t stack = pprof->sums.stacks.data[row]; stack != PROFILE_NONE; stack = pprof->stacks.caller[stack]) {
        pprof->used_locations[pprof->stacks.location[stack]] = 1;
        protobuf_write_element(&pprof->out, (uint64_t)pprof->stacks.location[stack] + 1);
    }
    protobuf_close(&pprof->out, list);
    list = protobuf_open(&pprof->out, SAMPLE_VALUE);
    for (size_t i = 0; i < count; i++)
        protobuf_write_element(&pprof->out, (uint64_t)values[i]);
    protobuf_close(&pprof->out, list);
    if (!pprof->out.failed && !text_append(&pprof->out.bytes, labels->data, labels->length))
        pprof->out.failed = true;
    protobuf_close(&pprof->out, sample);
}

static int write_samples(struct pprof *pprof)
{
    struct text_buffer labels = {0};
    int code = 0;
    for (size_t i = 0; !code && i < pprof->view->thread_count; i++) {
        uint32_t thread = pprof->view->threads[i];
        code = export_sums_fill(&pprof->sums, pprof->view, thread, &pprof->weights, pprof->err);
        if (!code && !encode_labels(pprof, thread, &labels))
            code = error_no_memory(pprof->err);
        for (size_t row = 0; !code && row < pprof->sums.stacks.length; row++) {
            write_sample(pprof, row, &labels);
            code = flush(pprof, FLUSH_AT);
        }
    }
    array_free(&labels);
    return code;
}

/* ---- tables ---- */

static void assign_mappings(struct pprof *pprof)
{
    uint64_t at = MAPPING_ALIGNMENT * 16;
    for (size_t i = 0; i < pprof->stacks.locations.length; i++) {
        uint32_t frame = pprof->stacks.locations.data[i].frame;
        if (!pprof->used_locations[i] || frame == PROFILE_NONE || pprof->profile->frames.lib[frame] == PROFILE_NONE ||
            pprof->profile->frames.address[frame] < 0)
            continue;
        struct mapping *mapping = &pprof->mappings[pprof->profile->frames.lib[frame]];
        uint64_t end = (uint64_t)pprof->profile->frames.address[frame] + 1;
        mapping->limit = end > mapping->limit ? end : mapping->limit;
    }
    for (size_t i = 0; i < pprof->profile->libs.length; i++) {
        struct mapping *mapping = &pprof->mappings[i];
        if (!mapping->limit)
            continue;
        uint64_t size = (mapping->limit + MAPPING_ALIGNMENT) / MAPPING_ALIGNMENT * MAPPING_ALIGNMENT;
        *mapping = (struct mapping){at, at + size};
        at += size + MAPPING_ALIGNMENT; /* leaves a gap, so that no tool merges adjacent mappings */
    }
}

/* Formats the build id for pprof: lower-case hexadecimal digits. */
static uint32_t format_build_id(struct pprof *pprof, const struct library *lib)
{
    char text[128];
    const char *id = profile_text(pprof->profile, lib->code_id != PROFILE_NONE ? lib->code_id : lib->breakpad_id);
    size_t length = strlen(id);
    if (length >= sizeof(text))
        return 0;
    for (size_t i = 0; i <= length; i++)
        text[i] = (char)tolower((unsigned char)id[i]);
    return export_add_string(&pprof->strings, text);
}

static void write_mapping(struct pprof *pprof, size_t i)
{
    const struct library *lib = &pprof->profile->libs.data[i];
    const struct mapping *mapping = &pprof->mappings[i];
    size_t opened = protobuf_open(&pprof->out, PROFILE_MAPPING);
    protobuf_write_unsigned(&pprof->out, MAPPING_ID, i + 1);
    protobuf_write_unsigned(&pprof->out, MAPPING_START, mapping->start);
    protobuf_write_unsigned(&pprof->out, MAPPING_LIMIT, mapping->limit);
    bool has_path = profile_text(pprof->profile, lib->path)[0] != '\0';
    protobuf_write_unsigned(&pprof->out, MAPPING_FILE,
                            export_add_profile_string(&pprof->strings, has_path ? lib->path : lib->name));
    protobuf_write_unsigned(&pprof->out, MAPPING_BUILD_ID, format_build_id(pprof, lib));
    for (uint32_t field = MAPPING_HAS_FUNCTIONS; field <= MAPPING_HAS_INLINED; field++)
        protobuf_write_unsigned(&pprof->out, field, 1); /* true, because prof has symbolized the functions */
    protobuf_close(&pprof->out, opened);
}

/* Writes the mapping of the program first, because pprof names the profile after the first mapping. */
static int write_mappings(struct pprof *pprof)
{
    const struct profile *profile = pprof->profile;
    size_t count = profile->libs.length, program = 0;
    int code = 0;
    while (program < count &&
           (!pprof->mappings[program].limit || strcmp(profile_text(profile, profile->libs.data[program].name),
                                                      profile_text(profile, profile->meta.product)) != 0))
        program++;
    if (program < count)
        write_mapping(pprof, program);
    for (size_t i = 0; !code && i < count; i++) {
        if (!pprof->mappings[i].limit || i == program)
            continue;
        write_mapping(pprof, i);
        code = flush(pprof, FLUSH_AT);
    }
    return code;
}

/* Writes the calls of a location, innermost first. */
static void write_lines(struct pprof *pprof, uint32_t location)
{
    for (; location != LOCATION_NONE; location = pprof->stacks.locations.data[location].outer) {
        const struct export_location *call = &pprof->stacks.locations.data[location];
        size_t opened = protobuf_open(&pprof->out, LOCATION_LINE);
        pprof->used_functions[call->func] = 1;
        protobuf_write_unsigned(&pprof->out, LINE_FUNCTION, (uint64_t)call->func + 1);
        if (call->frame != PROFILE_NONE && pprof->profile->frames.line[call->frame])
            protobuf_write_unsigned(&pprof->out, LINE_LINE, pprof->profile->frames.line[call->frame]);
        if (call->frame != PROFILE_NONE && pprof->profile->frames.column[call->frame])
            protobuf_write_unsigned(&pprof->out, LINE_COLUMN, pprof->profile->frames.column[call->frame]);
        protobuf_close(&pprof->out, opened);
    }
}

static int write_locations(struct pprof *pprof)
{
    int code = 0;
    for (uint32_t i = 0; !code && i < pprof->stacks.locations.length; i++) {
        if (!pprof->used_locations[i])
            continue;
        uint32_t frame = pprof->stacks.locations.data[i].frame;
        uint32_t lib = frame == PROFILE_NONE ? PROFILE_NONE : pprof->profile->frames.lib[frame];
        size_t opened = protobuf_open(&pprof->out, PROFILE_LOCATION);
        protobuf_write_unsigned(&pprof->out, LOCATION_ID, (uint64_t)i + 1);
        if (lib != PROFILE_NONE && pprof->profile->frames.address[frame] >= 0) {
            protobuf_write_unsigned(&pprof->out, LOCATION_MAPPING, (uint64_t)lib + 1);
            protobuf_write_unsigned(&pprof->out, LOCATION_ADDRESS,
                                    pprof->mappings[lib].start + (uint64_t)pprof->profile->frames.address[frame]);
        }
        write_lines(pprof, i);
        protobuf_close(&pprof->out, opened);
        code = flush(pprof, FLUSH_AT);
    }
    return code;
}

static int write_functions(struct pprof *pprof)
{
    int code = 0;
    for (uint32_t func = 0; !code && func < pprof->stacks.view->func_count; func++) {
        if (!pprof->used_functions[func])
            continue;
        struct func_names names = get_func_names(pprof->profile, func);
        uint32_t name = export_add_profile_string(&pprof->strings, names.name);
        size_t opened = protobuf_open(&pprof->out, PROFILE_FUNCTION);
        protobuf_write_unsigned(&pprof->out, FUNCTION_ID, (uint64_t)func + 1);
        protobuf_write_unsigned(&pprof->out, FUNCTION_NAME, name);
        protobuf_write_unsigned(&pprof->out, FUNCTION_SYSTEM_NAME, name);
        protobuf_write_unsigned(&pprof->out, FUNCTION_FILE, export_add_profile_string(&pprof->strings, names.file));
        protobuf_write_unsigned(&pprof->out, FUNCTION_START_LINE, names.line);
        protobuf_close(&pprof->out, opened);
        code = flush(pprof, FLUSH_AT);
    }
    return code;
}

static int write_strings(struct pprof *pprof)
{
    int code = 0;
    for (size_t i = 0; !code && i < pprof->strings.table.entries.length; i++) {
        const struct string_entry *entry = &pprof->strings.table.entries.data[i];
        protobuf_write_bytes(&pprof->out, PROFILE_STRING, entry->text, entry->length);
        code = flush(pprof, FLUSH_AT);
    }
    return code ? code : flush(pprof, 1);
}

static int prepare_export(struct pprof *pprof)
{
    int code = export_list_weights(pprof->view, &pprof->weights, pprof->err);
    if (!code)
        code = export_stacks_init(&pprof->stacks, pprof->view->engine, pprof->err);
    if (code)
        return code;
    pprof->mappings = calloc(pprof->profile->libs.length + 1, sizeof(*pprof->mappings));
    pprof->used_locations = calloc(pprof->stacks.locations.length + 1, 1);
    pprof->used_functions = calloc((size_t)pprof->stacks.view->func_count + 1, 1);
    bool enough = pprof->mappings && pprof->used_locations && pprof->used_functions &&
                  export_strings_init(&pprof->strings, pprof->profile);
    return enough ? 0 : error_no_memory(pprof->err);
}

int export_pprof(const struct export_view *view, const struct byte_sink *sink, struct error *err)
{
    struct pprof pprof = {.view = view, .profile = engine_get_profile(view->engine), .sink = sink, .err = err};
    int code = prepare_export(&pprof);
    if (!code) {
        write_header(&pprof);
        code = write_samples(&pprof);
    }
    if (!code) {
        assign_mappings(&pprof);
        code = write_mappings(&pprof);
    }
    if (!code)
        code = write_locations(&pprof);
    if (!code)
        code = write_functions(&pprof);
    if (!code)
        code = write_strings(&pprof);
    array_free(&pprof.out.bytes);
    array_free(&pprof.weights);
    export_stacks_destroy(&pprof.stacks);
    export_sums_destroy(&pprof.sums);
    export_strings_destroy(&pprof.strings);
    free(pprof.mappings);
    free(pprof.used_locations);
    free(pprof.used_functions);
    return code;
}
