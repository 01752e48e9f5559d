#include "profile/write_meta.h"

#include "profile/write_strings.h"

static void write_known_text(struct json_writer *json, const char *key, const struct profile *profile, uint32_t string)
{
    if (string != PROFILE_NONE)
        write_string_member(json, key, profile, string);
}

static void write_known_number(struct json_writer *json, const char *key, uint64_t value)
{
    if (value == 0)
        return;
    json_member_unsigned(json, key, value);
}

static void write_categories(struct json_writer *json, const struct profile *profile)
{
    json_open(json, '[');
    for (size_t i = 0; i < profile->categories.length; i++) {
        const struct category *category = &profile->categories.data[i];
        json_open(json, '{');
        write_string_member(json, "name", profile, category->name);
        write_string_member(json, "color", profile, category->color);
        json_member_open(json, "subcategories", '[');
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
        write_string_member(json, "label", profile, section->label);
        json_member_open(json, "entries", '[');
        for (size_t k = 0; k < section->entries.length; k++) {
            const struct extra_entry *entry = &section->entries.data[k];
            json_open(json, '{');
            write_string_member(json, "label", profile, entry->label);
            write_string_member(json, "format", profile, entry->format);
            json_key(json, "value");
            write_json_string(json, profile, entry->value);
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

static void write_sample_units(struct json_writer *json)
{
    json_open(json, '{');
    json_member_text(json, "time", "ms");
    json_member_text(json, "eventDelay", "ms");
    json_member_text(json, "threadCPUDelta", "µs");
    json_close(json, '}');
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

/* Omits an empty list, which the format does not allow. */
static void write_thread_list(struct json_writer *json, const char *key, const struct thread_list *list)
{
    if (list->length == 0)
        return;
    json_member_open(json, key, '[');
    for (size_t i = 0; i < list->length; i++)
        json_unsigned(json, list->data[i]);
    json_close(json, ']');
}

static void write_events(struct json_writer *json, const struct profile *profile)
{
    if (!profile->meta.events.length)
        return;
    if (profile->meta.has_only_events) {
        json_member_bool(json, "sampledEventsOnly", true);
    }
    json_member_open(json, "sampledEvents", '[');
    for (size_t i = 0; i < profile->meta.events.length; i++) {
        json_open(json, '{');
        write_string_member(json, "name", profile, profile->meta.events.data[i].name);
        json_member_double(json, "period", profile->meta.events.data[i].period);
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void write_comparison(struct json_writer *json, const struct profile *profile)
{
    const struct profile_comparison *comparison = &profile->meta.comparison;
    json_member_open(json, "comparison", '{');
    write_string_member(json, "base", profile, comparison->name[SIDE_BASE]);
    write_string_member(json, "new", profile, comparison->name[SIDE_NEW]);
    json_member_unsigned(json, "baseRuns", comparison->runs[SIDE_BASE]);
    json_member_unsigned(json, "newRuns", comparison->runs[SIDE_NEW]);
    json_member_double(json, "scale", comparison->scale);
    write_known_text(json, "scaledBy", profile, comparison->scaled_by);
    json_member_bool(json, "oneAfterOther", comparison->is_one_after_other);
    write_known_text(json, "warning", profile, profile->meta.warning);
    json_close(json, '}');
}

void write_meta(struct json_writer *json, const struct profile *profile)
{
    const struct profile_meta *meta = &profile->meta;
    enum { GECKO_VERSION = 36 }; /* required by the format; readers use preprocessedProfileVersion */
    json_open(json, '{');
    json_member_double(json, "interval", meta->interval);
    json_member_double(json, "startTime", meta->start_time);
    json_member_unsigned(json, "processType", 0);
    json_key(json, "product");
    if (meta->product == PROFILE_NONE)
        json_text_z(json, "");
    else
        write_string(json, profile, meta->product);
    json_member_unsigned(json, "stackwalk", 1);
    json_member_unsigned(json, "version", GECKO_VERSION);
    json_member_unsigned(json, "preprocessedProfileVersion", PROFILE_VERSION);
    json_key(json, "markerSchema");
    if (meta->marker_schema == PROFILE_NONE)
        json_raw(json, "[]", 2);
    else
        write_json_string(json, profile, meta->marker_schema);
    if (profile->categories.length) {
        json_key(json, "categories");
        write_categories(json, profile);
    }
    if (meta->symbolicated >= 0) {
        json_member_bool(json, "symbolicated", meta->symbolicated);
    }
    if (!has_script_funcs(profile)) {
        json_member_bool(json, "usesOnlyOneStackType", true);
        json_member_bool(json, "sourceCodeIsNotOnSearchfox", true);
    }
    if (meta->has_cpu_delta) {
        json_key(json, "sampleUnits");
        write_sample_units(json);
    }
    write_known_text(json, "importedFrom", profile, meta->imported_from);
    write_known_text(json, "arguments", profile, meta->arguments);
    if (isfinite(meta->profiling_start) && isfinite(meta->profiling_end)) {
        json_member_double(json, "profilingStartTime", meta->profiling_start);
        json_member_double(json, "profilingEndTime", meta->profiling_end);
    }
    write_thread_list(json, "initialVisibleThreads", &meta->initial_visible_threads);
    write_thread_list(json, "initialSelectedThreads", &meta->initial_selected_threads);
    write_machine(json, profile);
    if (meta->has_no_times) {
        json_member_bool(json, "timesAreOrder", true);
    }
    write_events(json, profile);
    if (profile_is_comparison(profile))
        write_comparison(json, profile);
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
        json_open(json, '{');
        write_string_member(json, "arch", profile, lib->arch);
        write_string_member(json, "name", profile, lib->name);
        write_string_member(json, "path", profile, lib->path);
        write_string_member(json, "debugName", profile, lib->debug_name);
        write_string_member(json, "debugPath", profile, lib->debug_path);
        write_string_member(json, "breakpadId", profile, lib->breakpad_id);
        write_string_member(json, "codeId", profile, lib->code_id);
        json_close(json, '}');
    }
    json_close(json, ']');
}
