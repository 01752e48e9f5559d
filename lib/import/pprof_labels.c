#include "import/pprof_labels.h"

#include "base/json_string.h"
#include "base/text_buffer.h"

void pprof_labels_destroy(struct pprof_labels *labels)
{
    hash_destroy(&labels->sets);
    hash_destroy(&labels->keys);
    array_free(&labels->key_strings);
}

/* ---- texts ---- */

struct label_list {
    const struct pprof_label *labels;
    size_t count;
};

static void write_set(struct json_writer *json, const void *context)
{
    const struct label_list *list = context;
    char key[128];
    json_open(json, '{');
    json_member_text(json, "type", PPROF_LABELS_TYPE);
    for (size_t i = 0; i < list->count; i++) {
        const struct pprof_label *label = &list->labels[i];
        if (!label->text.length)
            continue;
        snprintf(key, sizeof(key), "%.*s", (int)(label->key.length < 100 ? label->key.length : 100), label->key.text);
        json_key(json, key);
        json_text(json, label->text.text, label->text.length);
    }
    json_close(json, '}');
}

static bool add_keys(struct pprof_labels *labels, const struct pprof_label *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t key = list[i].text.length ? builder_add_string(labels->builder, list[i].key) : 0;
        if (key == STRING_NONE)
            return false;
        if (list[i].text.length && hash_get(&labels->keys, key) == HASH_MISSING &&
            (!hash_set(&labels->keys, key, 1) || !array_push(&labels->key_strings, key)))
            return false;
    }
    return true;
}

/* Appends "request=A, user=B", the name of a thread without a name. */
static bool append_set(struct text_buffer *text, const struct pprof_label *list, size_t count)
{
    bool enough = true;
    for (size_t i = 0; enough && i < count; i++)
        if (list[i].text.length)
            enough = (text->length == 0 || text_append(text, ", ", 2)) &&
                     text_append(text, list[i].key.text, list[i].key.length) && text_append(text, "=", 1) &&
                     text_append(text, list[i].text.text, list[i].text.length);
    return enough;
}

static bool add_set_marker(struct pprof_labels *labels, uint32_t thread, const struct pprof_label *list, size_t count)
{
    struct label_list context = {list, count};
    struct builder_marker marker = {.end = NAN};
    if (labels->builder->threads.data[thread].markers.length)
        return true;
    marker.name = builder_add_string(labels->builder, builder_text("Labels"));
    marker.data = json_add_string(&labels->builder->profile->strings, write_set, &context);
    builder_add_marker(labels->builder, thread, marker);
    return marker.data != STRING_NONE && add_keys(labels, list, count);
}

uint32_t pprof_labels_add_thread(struct pprof_labels *labels, uint64_t pid, uint64_t tid, struct builder_text name,
                                 const struct pprof_label *list, size_t count)
{
    struct text_buffer set = {0};
    uint32_t string = PROFILE_NONE, thread = PROFILE_NONE;
    bool enough = append_set(&set, list, count);
    bool has_set = set.length > 0;
    if (enough && has_set) {
        string = builder_add_string(labels->builder, (struct builder_text){set.data, set.length});
        bool is_known = string != STRING_NONE && hash_get(&labels->sets, string) != HASH_MISSING;
        enough = string != STRING_NONE;
        if (!is_known && labels->count == PPROF_LABEL_SETS_MAX) {
            labels->has_too_many = true;
            has_set = false;
            string = PROFILE_NONE;
        } else if (!is_known && enough) {
            labels->count++;
            enough = hash_set(&labels->sets, string, 1);
        }
    }
    if (enough && name.length && has_set) { /* "worker (request=A)" */
        struct text_buffer both = {0};
        enough = text_append(&both, name.text, name.length) && text_append(&both, " (", 2) &&
                 text_append(&both, set.data, set.length) && text_append(&both, ")", 1);
        string =
            enough ? builder_add_string(labels->builder, (struct builder_text){both.data, both.length}) : STRING_NONE;
        enough = string != STRING_NONE;
        array_free(&both);
    } else if (enough && name.length) {
        string = builder_add_string(labels->builder, name);
        enough = string != STRING_NONE;
    }
    if (enough)
        thread = builder_add_thread(labels->builder, pid, tid, string);
    if (thread != PROFILE_NONE && has_set && !add_set_marker(labels, thread, list, count))
        thread = PROFILE_NONE;
    array_free(&set);
    return thread;
}

/* ---- numbers ---- */

static void write_number(struct json_writer *json, const void *context)
{
    const struct pprof_label *label = context;
    json_open(json, '{');
    json_member_text(json, "type", "pprof-number");
    json_key(json, "value");
    json_signed(json, label->number);
    if (label->unit.length) {
        json_key(json, "unit");
        json_text(json, label->unit.text, label->unit.length);
    }
    json_close(json, '}');
}

bool pprof_labels_add_markers(struct pprof_labels *labels, uint32_t thread, size_t row, const struct pprof_label *list,
                              size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (list[i].text.length)
            continue;
        struct builder_marker marker = {.start = (double)row, .end = NAN};
        marker.name = builder_add_string(labels->builder, list[i].key);
        marker.data = json_add_string(&labels->builder->profile->strings, write_number, &list[i]);
        if (marker.data == STRING_NONE)
            return false;
        builder_add_marker(labels->builder, thread, marker);
        labels->has_numbers = true;
    }
    return true;
}

/* ---- the end ---- */

static void write_field(struct json_writer *json, const char *key, const char *format)
{
    json_open(json, '{');
    json_member_text(json, "key", key);
    json_member_text(json, "label", key);
    json_member_text(json, "format", format);
    json_close(json, '}');
}

static void begin_schema(struct json_writer *json, const char *name, const char *label)
{
    json_open(json, '{');
    json_member_text(json, "name", name);
    json_member_open(json, "display", '[');
    json_text_z(json, "marker-chart");
    json_text_z(json, "marker-table");
    json_close(json, ']');
    json_member_text(json, "tableLabel", label);
    json_member_open(json, "fields", '[');
}

static void end_schema(struct json_writer *json)
{
    json_close(json, ']');
    json_close(json, '}');
}

static void write_schemas(struct json_writer *json, const void *context)
{
    const struct pprof_labels *labels = context;
    const struct profile *profile = labels->builder->profile;
    json_open(json, '[');
    begin_schema(json, PPROF_LABELS_TYPE, "");
    for (size_t i = 0; i < labels->key_strings.length; i++)
        write_field(json, profile_text(profile, labels->key_strings.data[i]), "string");
    end_schema(json);
    begin_schema(json, "pprof-number", "{marker.data.value} {marker.data.unit}");
    write_field(json, "value", "integer");
    write_field(json, "unit", "string");
    end_schema(json);
    json_close(json, ']');
}

int pprof_labels_finish(struct pprof_labels *labels, struct error *err)
{
    struct profile_meta *meta = &labels->builder->profile->meta;
    if (!labels->count && !labels->has_numbers)
        return 0;
    meta->marker_schema = json_add_string(&labels->builder->profile->strings, write_schemas, labels);
    if (meta->marker_schema == STRING_NONE)
        return error_no_memory(err);
    for (size_t i = 0; i < labels->builder->threads.length && labels->count; i++)
        if (!array_push(&meta->initial_selected_threads, (uint32_t)i))
            return error_no_memory(err);
    if (labels->has_too_many)
        builder_warn(labels->builder, "The file has too many sets of labels: the remaining samples have none.");
    return 0;
}
