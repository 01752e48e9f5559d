/*
 * OpenTelemetry profiles, signal v1development
 * (https://github.com/open-telemetry/opentelemetry-proto/blob/main/opentelemetry/proto/profiles/v1development/profiles.proto,
 * as go.opentelemetry.io/collector/pdata/pprofile v0.165.0 reads it): a ProfilesData message. Each process is a
 * resource, and each weight of a process is a profile. A sample names a stack and the attributes of its thread. Stacks,
 * locations, functions, mappings and texts are in one dictionary, whose tables begin with an empty entry for "none".
 * The mappings are ranges of memory that the exporter chooses for each library, as in pprof_export.c.
 */
#include "export/otlp_export.h"

#include "base/json.h"
#include "export/export_stacks.h"
#include "export/export_strings.h"
#include "export/protobuf_write.h"

enum data_field { DATA_RESOURCE = 1, DATA_DICTIONARY };
enum resource_profiles_field { RESOURCE_PROFILES_RESOURCE = 1, RESOURCE_PROFILES_SCOPE };
enum resource_field { RESOURCE_ATTRIBUTE = 1 };
enum scope_profiles_field { SCOPE_PROFILES_SCOPE = 1, SCOPE_PROFILES_PROFILE };
enum scope_field { SCOPE_NAME = 1, SCOPE_VERSION };
enum key_value_field { KEY_VALUE_KEY = 1, KEY_VALUE_VALUE };
enum any_value_field { ANY_TEXT = 1, ANY_INTEGER = 3 };
enum profile_field {
    PROFILE_SAMPLE_TYPE = 1,
    PROFILE_SAMPLE,
    PROFILE_TIME,
    PROFILE_DURATION,
    PROFILE_PERIOD_TYPE,
    PROFILE_PERIOD,
    PROFILE_ID
};
enum value_type_field { VALUE_TYPE = 1, VALUE_UNIT };
enum sample_field { SAMPLE_STACK = 1, SAMPLE_ATTRIBUTES, SAMPLE_LINK, SAMPLE_VALUES };
enum dictionary_field {
    DICTIONARY_MAPPING = 1,
    DICTIONARY_LOCATION,
    DICTIONARY_FUNCTION,
    DICTIONARY_LINK,
    DICTIONARY_STRING,
    DICTIONARY_ATTRIBUTE,
    DICTIONARY_STACK
};
enum mapping_field { MAPPING_START = 1, MAPPING_LIMIT, MAPPING_OFFSET, MAPPING_FILE, MAPPING_ATTRIBUTES };
enum location_field { LOCATION_MAPPING = 1, LOCATION_ADDRESS, LOCATION_LINE, LOCATION_ATTRIBUTES };
enum line_field { LINE_FUNCTION = 1, LINE_LINE, LINE_COLUMN };
enum function_field { FUNCTION_NAME = 1, FUNCTION_SYSTEM_NAME, FUNCTION_FILE, FUNCTION_START_LINE };
enum attribute_field { ATTRIBUTE_KEY = 1, ATTRIBUTE_VALUE };
enum stack_field { STACK_LOCATIONS = 1 };

enum { MAPPING_ALIGNMENT = 0x1000 };

struct otlp {
    const struct export_view *view;
    const struct profile *profile;
    const struct otlp_sending *sending; /* if NULL, a file is written */
    uint32_t profile_count;             /* so far */
    const struct byte_sink *sink;
    struct error *err;
    struct protobuf_writer out, attributes; /* `attributes` are indexes in the dictionary */
    uint32_t attribute_count;
    struct weight_list weights;
    struct export_stacks stacks;
    struct export_sums sums;
    struct export_strings strings;
    /* per row of the profile (or of export_stacks): index in the dictionary, or 0 for none */
    uint32_t *stack_index, *location_index, *function_index, *mapping_index;
    /* for each row of the dictionary, row in the profile */
    ARRAY(uint32_t) stack_list, location_list, function_list, mapping_list;
    uint64_t *limits; /* for each library, end of its address range */
    uint64_t *starts; /* for each library, start of its address range */
    bool failed;
};

/* Returns the next index of a table of the dictionary, starting at 1. */
#define TAKE_INDEX(otlp, index, list, what)                                                                            \
    do {                                                                                                               \
        if (!(index)[what]) {                                                                                          \
            if (array_push(list, what))                                                                                \
                (index)[what] = (uint32_t)(list)->length;                                                              \
            else                                                                                                       \
                (otlp)->failed = true;                                                                                 \
        }                                                                                                              \
    } while (0)

static int check_memory(const struct otlp *otlp)
{
    bool failed = otlp->failed || otlp->out.failed || otlp->attributes.failed || otlp->strings.failed;
    return failed ? error_no_memory(otlp->err) : 0;
}

static int flush(struct otlp *otlp)
{
    int code = check_memory(otlp);
    struct text_buffer *bytes = &otlp->out.bytes;
    if (!code && bytes->length)
        code = otlp->sink->write(otlp->sink->context, bytes->data, bytes->length, otlp->err);
    bytes->length = 0;
    return code;
}

static const char *is_valid_text(struct otlp *otlp, const char *text)
{
    uint32_t index = export_add_string(&otlp->strings, text);
    return strings_text(&otlp->strings.table, index);
}

static bool parse_number(const char *text, uint64_t *number)
{
    size_t digits = strspn(text, "0123456789");
    if (digits == 0 || digits > 18 || text[digits])
        return false;
    *number = strtoull(text, NULL, 10);
    return true;
}

static void write_any_value(struct otlp *otlp, struct protobuf_writer *out, uint32_t field, const char *text,
                            bool may_be_number)
{
    uint64_t number;
    size_t value = protobuf_open(out, field);
    if (may_be_number && parse_number(text, &number))
        protobuf_write_unsigned(out, ANY_INTEGER, number);
    else
        protobuf_write_text(out, ANY_TEXT, is_valid_text(otlp, text));
    protobuf_close(out, value);
}

/* Adds an attribute to the dictionary; returns the index. */
static uint32_t add_attribute(struct otlp *otlp, const char *key, const char *text, bool may_be_number)
{
    size_t opened = protobuf_open(&otlp->attributes, DICTIONARY_ATTRIBUTE);
    protobuf_write_unsigned(&otlp->attributes, ATTRIBUTE_KEY, export_add_string(&otlp->strings, key));
    write_any_value(otlp, &otlp->attributes, ATTRIBUTE_VALUE, text, may_be_number);
    protobuf_close(&otlp->attributes, opened);
    return ++otlp->attribute_count;
}

static void write_attribute(struct otlp *otlp, const char *key, const char *text, bool may_be_number)
{
    if (!*text)
        return;
    size_t opened = protobuf_open(&otlp->out, RESOURCE_ATTRIBUTE);
    protobuf_write_text(&otlp->out, KEY_VALUE_KEY, is_valid_text(otlp, key));
    write_any_value(otlp, &otlp->out, KEY_VALUE_VALUE, text, may_be_number);
    protobuf_close(&otlp->out, opened);
}

/* ---- samples ---- */

static void add_location(struct otlp *otlp, uint32_t location)
{
    if (otlp->location_index[location])
        return;
    TAKE_INDEX(otlp, otlp->location_index, &otlp->location_list, location);
    uint32_t frame = otlp->stacks.locations.data[location].frame;
    if (frame != PROFILE_NONE && otlp->profile->frames.address[frame] >= 0 &&
        otlp->profile->frames.lib[frame] != PROFILE_NONE) {
        uint32_t lib = otlp->profile->frames.lib[frame];
        uint64_t end = (uint64_t)otlp->profile->frames.address[frame] + 1;
        TAKE_INDEX(otlp, otlp->mapping_index, &otlp->mapping_list, lib);
        otlp->limits[lib] = end > otlp->limits[lib] ? end : otlp->limits[lib];
    }
    for (uint32_t at = location; at != LOCATION_NONE; at = otlp->stacks.locations.data[at].outer) {
        uint32_t func = otlp->stacks.locations.data[at].func;
        TAKE_INDEX(otlp, otlp->function_index, &otlp->function_list, func);
    }
}

static void add_stack(struct otlp *otlp, uint32_t stack)
{
    if (otlp->stack_index[stack])
        return;
    TAKE_INDEX(otlp, otlp->stack_index, &otlp->stack_list, stack);
    for (uint32_t at = stack; at != PROFILE_NONE; at = otlp->stacks.caller[at])
        add_location(otlp, otlp->stacks.location[at]);
}

static void write_value_type(struct otlp *otlp, uint32_t field, const char *type, const char *unit)
{
    size_t opened = protobuf_open(&otlp->out, field);
    protobuf_write_unsigned(&otlp->out, VALUE_TYPE, export_add_string(&otlp->strings, type));
    protobuf_write_unsigned(&otlp->out, VALUE_UNIT, export_add_string(&otlp->strings, unit));
    protobuf_close(&otlp->out, opened);
}

static void write_times(struct otlp *otlp)
{
    const struct profile_meta *meta = &otlp->profile->meta;
    struct time_range range = otlp->view->range;
    if (otlp->sending && otlp->sending->range.from < otlp->sending->range.to)
        range = otlp->sending->range;
    double start = trunc(meta->start_time), from = isfinite(range.from) ? range.from : 0, none = 0;
    int64_t part = export_round_with_carry((meta->start_time - start + from) * 1e6, &none);
    if (start > 0 && start < 9e12)
        protobuf_write_fixed64(&otlp->out, PROFILE_TIME, (uint64_t)((int64_t)start * 1000000 + part));
    none = 0;
    if (isfinite(range.to - range.from))
        protobuf_write_signed(&otlp->out, PROFILE_DURATION,
                              export_round_with_carry((range.to - range.from) * 1e6, &none));
    write_value_type(otlp, PROFILE_PERIOD_TYPE, "cpu", "nanoseconds");
    none = 0;
    protobuf_write_signed(&otlp->out, PROFILE_PERIOD, export_round_with_carry(meta->interval * 1e6, &none));
}

static void write_sample(struct otlp *otlp, uint32_t stack, int64_t value, const uint32_t attributes[2])
{
    add_stack(otlp, stack);
    size_t sample = protobuf_open(&otlp->out, PROFILE_SAMPLE);
    protobuf_write_unsigned(&otlp->out, SAMPLE_STACK, otlp->stack_index[stack]);
    size_t list = protobuf_open(&otlp->out, SAMPLE_ATTRIBUTES);
    protobuf_write_element(&otlp->out, attributes[0]);
    protobuf_write_element(&otlp->out, attributes[1]);
    protobuf_close(&otlp->out, list);
    list = protobuf_open(&otlp->out, SAMPLE_VALUES);
    protobuf_write_element(&otlp->out, (uint64_t)value);
    protobuf_close(&otlp->out, list);
    protobuf_close(&otlp->out, sample);
}

/* Writes the id of a profile. The ids of a message differ in the last four bytes. */
static void write_profile_id(struct otlp *otlp)
{
    unsigned char id[OTLP_ID_SIZE];
    uint32_t number = otlp->profile_count++;
    if (!otlp->sending)
        return;
    memcpy(id, otlp->sending->id, sizeof(id));
    for (unsigned i = 0; i < sizeof(number); i++)
        id[OTLP_ID_SIZE - 1 - i] ^= (unsigned char)(number >> (8 * i));
    protobuf_write_bytes(&otlp->out, PROFILE_ID, id, sizeof(id));
}

/* Returns whether two threads belong to the same process. */
static bool is_same_process(const struct otlp *otlp, uint32_t thread, uint32_t other)
{
    return otlp->profile->threads.data[thread].pid == otlp->profile->threads.data[other].pid;
}

/* Writes the profile of one weight for the process of a thread. `attributes` has two indexes per thread of the view.
 * When sending, profiles without samples are omitted. */
static int write_profile(struct otlp *otlp, uint32_t of_thread, size_t weight, const uint32_t (*attributes)[2])
{
    const struct weight_list one = {.data = &otlp->weights.data[weight], .length = 1};
    double scale = export_get_weight_scale(one.data), carry = 0;
    size_t before = otlp->out.bytes.length, samples = 0;
    size_t profile = protobuf_open(&otlp->out, SCOPE_PROFILES_PROFILE);
    write_value_type(otlp, PROFILE_SAMPLE_TYPE, export_get_weight_name(one.data), export_get_weight_unit(one.data));
    write_times(otlp);
    write_profile_id(otlp);
    int code = 0;
    for (size_t i = 0; !code && i < otlp->view->thread_count; i++) {
        uint32_t thread = otlp->view->threads[i];
        if (!is_same_process(otlp, thread, of_thread))
            continue;
        code = export_sums_fill(&otlp->sums, otlp->view, thread, &one, otlp->err);
        for (size_t row = 0; !code && row < otlp->sums.stacks.length; row++) {
            int64_t value = export_round_with_carry(otlp->sums.values.data[row] * scale, &carry);
            if (value)
                write_sample(otlp, otlp->sums.stacks.data[row], value, attributes[i]);
            samples += value != 0;
        }
    }
    protobuf_close(&otlp->out, profile);
    if (otlp->sending && !samples) {
        otlp->out.bytes.length = before;
        otlp->profile_count--;
    }
    return code ? code : check_memory(otlp);
}

/* Reads the text of an entry of the profile's recording information; "" if it is missing. The value is JSON. */
static void find_extra_text(const struct profile *profile, const char *label, char *text, size_t size)
{
    text[0] = '\0';
    for (size_t i = 0; i < profile->meta.extra.length; i++) {
        const struct extra_section *section = &profile->meta.extra.data[i];
        for (size_t k = 0; k < section->entries.length; k++) {
            const char *value = profile_text(profile, section->entries.data[k].value);
            struct json json;
            if (strcmp(profile_text(profile, section->entries.data[k].label), label) != 0)
                continue;
            json_init_whole(&json, value, strlen(value));
            if (json_next(&json) == JSON_STRING && json.length < size) {
                memcpy(text, json.text, json.length);
                text[json.length] = '\0';
            }
            json_destroy(&json);
        }
    }
}

/* Writes a value from the profile, unless a label of the user overrides it. */
static void write_default_attribute(struct otlp *otlp, const char *key, const char *text, bool may_be_number)
{
    for (size_t i = 0; otlp->sending && i < otlp->sending->label_count; i++)
        if (strcmp(otlp->sending->labels[i].key, key) == 0)
            return;
    write_attribute(otlp, key, text, may_be_number);
}

/* Returns OpenTelemetry's name of the architecture: "amd64" for "x86_64-gcc3". */
static const char *get_otel_architecture(const struct profile *profile)
{
    const char *abi = profile_text(profile, profile->meta.abi);
    return strncmp(abi, "x86_64", 6) == 0 ? "amd64" : strncmp(abi, "aarch64", 7) == 0 ? "arm64" : "";
}

/* Names and values follow https://opentelemetry.io/docs/specs/semconv/resource. */
static void write_resource(struct otlp *otlp, const struct thread *thread)
{
    const struct profile *profile = otlp->profile;
    const char *name = profile_text(profile, thread->process_name);
    char host[256], pid[32];
    if (!*name)
        name = profile_text(profile, profile->meta.product);
    find_extra_text(profile, "Host", host, sizeof(host));
    snprintf(pid, sizeof(pid), "%s", profile_text(profile, thread->pid));
    pid[strcspn(pid, ".")] = '\0'; /* "123.1" is the second program of process 123 */
    size_t resource = protobuf_open(&otlp->out, RESOURCE_PROFILES_RESOURCE);
    write_default_attribute(otlp, "service.name", name, false);
    write_default_attribute(otlp, "process.executable.name", name, false);
    write_default_attribute(otlp, "process.pid", pid, true);
    write_default_attribute(otlp, "host.name", host, false);
    write_default_attribute(otlp, "host.arch", get_otel_architecture(profile), false);
    if (strcmp(profile_text(profile, profile->meta.platform), "Linux") == 0)
        write_default_attribute(otlp, "os.type", "linux", false);
    write_default_attribute(otlp, "os.description", profile_text(profile, profile->meta.os), false);
    for (size_t i = 0; otlp->sending && i < otlp->sending->label_count; i++)
        write_attribute(otlp, otlp->sending->labels[i].key, otlp->sending->labels[i].value, false);
    protobuf_close(&otlp->out, resource);
}

static int write_process(struct otlp *otlp, uint32_t thread, const uint32_t (*attributes)[2])
{
    size_t before = otlp->out.bytes.length;
    uint32_t count = otlp->profile_count;
    size_t process = protobuf_open(&otlp->out, DATA_RESOURCE);
    write_resource(otlp, &otlp->profile->threads.data[thread]);
    size_t scope_profiles = protobuf_open(&otlp->out, RESOURCE_PROFILES_SCOPE);
    size_t scope = protobuf_open(&otlp->out, SCOPE_PROFILES_SCOPE);
    protobuf_write_text(&otlp->out, SCOPE_NAME, "prof");
    protobuf_close(&otlp->out, scope);
    int code = 0;
    for (size_t weight = 0; !code && weight < otlp->weights.length; weight++)
        code = write_profile(otlp, thread, weight, attributes);
    protobuf_close(&otlp->out, scope_profiles);
    protobuf_close(&otlp->out, process);
    if (otlp->sending && otlp->profile_count == count)
        otlp->out.bytes.length = before;
    return code ? code : flush(otlp);
}

static int write_processes(struct otlp *otlp)
{
    size_t count = otlp->view->thread_count;
    uint32_t(*attributes)[2] = calloc(count + 1, sizeof(*attributes));
    uint8_t *done = calloc(count + 1, 1);
    int code = attributes && done ? 0 : error_no_memory(otlp->err);
    for (size_t i = 0; !code && i < count; i++) {
        const struct thread *thread = &otlp->profile->threads.data[otlp->view->threads[i]];
        attributes[i][0] = add_attribute(otlp, "thread.id", profile_text(otlp->profile, thread->tid), true);
        attributes[i][1] = add_attribute(otlp, "thread.name", profile_text(otlp->profile, thread->name), false);
    }
    for (size_t i = 0; !code && i < count; i++) {
        if (done[i])
            continue;
        for (size_t j = i; j < count; j++)
            done[j] |= is_same_process(otlp, otlp->view->threads[j], otlp->view->threads[i]);
        code = write_process(otlp, otlp->view->threads[i], (const uint32_t(*)[2])attributes);
    }
    free(attributes);
    free(done);
    return code;
}

/* ---- the dictionary ---- */

static void write_empty_entry(struct otlp *otlp, uint32_t field)
{
    protobuf_close(&otlp->out, protobuf_open(&otlp->out, field));
}

static void write_mappings(struct otlp *otlp)
{
    uint64_t at = MAPPING_ALIGNMENT * 16;
    write_empty_entry(otlp, DICTIONARY_MAPPING);
    for (size_t i = 0; i < otlp->mapping_list.length; i++) {
        uint32_t index = otlp->mapping_list.data[i];
        const struct library *lib = &otlp->profile->libs.data[index];
        uint64_t size = (otlp->limits[index] + MAPPING_ALIGNMENT) / MAPPING_ALIGNMENT * MAPPING_ALIGNMENT;
        bool has_path = profile_text(otlp->profile, lib->path)[0] != '\0';
        const char *build_id = profile_text(otlp->profile, lib->code_id);
        size_t mapping = protobuf_open(&otlp->out, DICTIONARY_MAPPING);
        otlp->starts[index] = at;
        protobuf_write_unsigned(&otlp->out, MAPPING_START, at);
        protobuf_write_unsigned(&otlp->out, MAPPING_LIMIT, at + size);
        protobuf_write_unsigned(&otlp->out, MAPPING_FILE,
                                export_add_profile_string(&otlp->strings, has_path ? lib->path : lib->name));
        if (*build_id) {
            size_t list = protobuf_open(&otlp->out, MAPPING_ATTRIBUTES);
            protobuf_write_element(&otlp->out, add_attribute(otlp, "process.executable.build_id.gnu", build_id, false));
            protobuf_close(&otlp->out, list);
        }
        protobuf_close(&otlp->out, mapping);
        at += size + MAPPING_ALIGNMENT;
    }
}

static void write_lines(struct otlp *otlp, uint32_t location)
{
    for (; location != LOCATION_NONE; location = otlp->stacks.locations.data[location].outer) {
        const struct export_location *call = &otlp->stacks.locations.data[location];
        size_t line = protobuf_open(&otlp->out, LOCATION_LINE);
        protobuf_write_unsigned(&otlp->out, LINE_FUNCTION, otlp->function_index[call->func]);
        if (call->frame != PROFILE_NONE && otlp->profile->frames.line[call->frame])
            protobuf_write_unsigned(&otlp->out, LINE_LINE, otlp->profile->frames.line[call->frame]);
        if (call->frame != PROFILE_NONE && otlp->profile->frames.column[call->frame])
            protobuf_write_unsigned(&otlp->out, LINE_COLUMN, otlp->profile->frames.column[call->frame]);
        protobuf_close(&otlp->out, line);
    }
}

static void write_locations(struct otlp *otlp)
{
    static const char kernel[] = "[kernel";
    uint32_t types[2] = {0, 0}; /* attributes for native and kernel frames */
    write_empty_entry(otlp, DICTIONARY_LOCATION);
    for (size_t i = 0; i < otlp->location_list.length; i++) {
        uint32_t index = otlp->location_list.data[i], frame = otlp->stacks.locations.data[index].frame;
        uint32_t lib = frame == PROFILE_NONE ? PROFILE_NONE : otlp->profile->frames.lib[frame];
        size_t location = protobuf_open(&otlp->out, DICTIONARY_LOCATION);
        if (lib != PROFILE_NONE && otlp->profile->frames.address[frame] >= 0) {
            const char *name = profile_text(otlp->profile, otlp->profile->libs.data[lib].name);
            bool is_kernel = strncmp(name, kernel, strlen(kernel)) == 0;
            if (!types[is_kernel])
                types[is_kernel] = add_attribute(otlp, "profile.frame.type", is_kernel ? "kernel" : "native", false);
            protobuf_write_unsigned(&otlp->out, LOCATION_MAPPING, otlp->mapping_index[lib]);
            protobuf_write_unsigned(&otlp->out, LOCATION_ADDRESS,
                                    otlp->starts[lib] + (uint64_t)otlp->profile->frames.address[frame]);
            size_t list = protobuf_open(&otlp->out, LOCATION_ATTRIBUTES);
            protobuf_write_element(&otlp->out, types[is_kernel]);
            protobuf_close(&otlp->out, list);
        }
        write_lines(otlp, index);
        protobuf_close(&otlp->out, location);
    }
}

static void write_functions(struct otlp *otlp)
{
    write_empty_entry(otlp, DICTIONARY_FUNCTION);
    for (size_t i = 0; i < otlp->function_list.length; i++) {
        struct func_names names = get_func_names(otlp->profile, otlp->function_list.data[i]);
        size_t function = protobuf_open(&otlp->out, DICTIONARY_FUNCTION);
        protobuf_write_unsigned(&otlp->out, FUNCTION_NAME, export_add_profile_string(&otlp->strings, names.name));
        protobuf_write_unsigned(&otlp->out, FUNCTION_FILE, export_add_profile_string(&otlp->strings, names.file));
        protobuf_write_unsigned(&otlp->out, FUNCTION_START_LINE, names.line);
        protobuf_close(&otlp->out, function);
    }
}

static void write_stacks(struct otlp *otlp)
{
    write_empty_entry(otlp, DICTIONARY_STACK);
    for (size_t i = 0; i < otlp->stack_list.length; i++) {
        size_t stack = protobuf_open(&otlp->out, DICTIONARY_STACK);
        size_t list = protobuf_open(&otlp->out, STACK_LOCATIONS);
        for (uint32_t at = otlp->stack_list.data[i]; at != PROFILE_NONE; at = otlp->stacks.caller[at])
            protobuf_write_element(&otlp->out, otlp->location_index[otlp->stacks.location[at]]);
        protobuf_close(&otlp->out, list);
        protobuf_close(&otlp->out, stack);
    }
}

static int write_dictionary(struct otlp *otlp)
{
    size_t dictionary = protobuf_open(&otlp->out, DATA_DICTIONARY);
    write_mappings(otlp);
    write_locations(otlp);
    write_functions(otlp);
    write_stacks(otlp);
    write_empty_entry(otlp, DICTIONARY_LINK);
    write_empty_entry(otlp, DICTIONARY_ATTRIBUTE);
    if (!text_append(&otlp->out.bytes, otlp->attributes.bytes.data, otlp->attributes.bytes.length))
        otlp->failed = true;
    for (size_t i = 0; i < otlp->strings.table.entries.length; i++) {
        const struct string_entry *entry = &otlp->strings.table.entries.data[i];
        protobuf_write_bytes(&otlp->out, DICTIONARY_STRING, entry->text, entry->length);
    }
    protobuf_close(&otlp->out, dictionary);
    return flush(otlp);
}

static int init_export(struct otlp *otlp)
{
    int code = export_list_weights(otlp->view, &otlp->weights, otlp->err);
    if (!code)
        code = export_stacks_init(&otlp->stacks, otlp->view->engine, otlp->err);
    if (code)
        return code;
    size_t libs = otlp->profile->libs.length + 1;
    otlp->stack_index = calloc(otlp->stacks.view->length + 1, sizeof(uint32_t));
    otlp->location_index = calloc(otlp->stacks.locations.length + 1, sizeof(uint32_t));
    otlp->function_index = calloc((size_t)otlp->stacks.view->func_count + 1, sizeof(uint32_t));
    otlp->mapping_index = calloc(libs, sizeof(uint32_t));
    otlp->limits = calloc(libs, sizeof(*otlp->limits));
    otlp->starts = calloc(libs, sizeof(*otlp->starts));
    bool enough = otlp->stack_index && otlp->location_index && otlp->function_index && otlp->mapping_index &&
                  otlp->limits && otlp->starts && export_strings_init(&otlp->strings, otlp->profile);
    return enough ? 0 : error_no_memory(otlp->err);
}

int export_otlp_for_sending(const struct export_view *view, const struct otlp_sending *sending,
                            const struct byte_sink *sink, struct error *err)
{
    struct otlp otlp = {
        .view = view, .profile = engine_get_profile(view->engine), .sending = sending, .sink = sink, .err = err};
    int code = init_export(&otlp);
    if (!code)
        code = write_processes(&otlp);
    if (!code)
        code = write_dictionary(&otlp);
    array_free(&otlp.out.bytes);
    array_free(&otlp.attributes.bytes);
    array_free(&otlp.weights);
    export_stacks_destroy(&otlp.stacks);
    export_sums_destroy(&otlp.sums);
    export_strings_destroy(&otlp.strings);
    free(otlp.stack_index);
    free(otlp.location_index);
    free(otlp.function_index);
    free(otlp.mapping_index);
    free(otlp.limits);
    free(otlp.starts);
    array_free(&otlp.stack_list);
    array_free(&otlp.location_list);
    array_free(&otlp.function_list);
    array_free(&otlp.mapping_list);
    return code;
}

int export_otlp(const struct export_view *view, const struct byte_sink *sink, struct error *err)
{
    return export_otlp_for_sending(view, NULL, sink, err);
}
