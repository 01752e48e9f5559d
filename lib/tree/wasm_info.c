/*
 * What the profile is: ProfileInfo of api.ts.
 */
#include "base/json_write.h"
#include "tree/counters.h"
#include "tree/info.h"
#include "tree/wasm_calls.h"
#include "tree/wasm_session.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void put_string(struct json_writer *json, const char *key, const struct profile *profile, uint32_t string)
{
    json_key(json, key);
    bool known = string < profile->strings.entries.length;
    const struct string_entry *entry = known ? &profile->strings.entries.data[string] : NULL;
    json_text(json, known ? entry->text : "", known ? entry->length : 0);
}

static void put_number(struct json_writer *json, const char *key, double value)
{
    json_key(json, key);
    json_double(json, value); /* null if it is not known */
}

static void put_thread_list(struct json_writer *json, const char *key, const struct thread_list *list)
{
    json_key(json, key);
    json_open(json, '[');
    for (size_t i = 0; i < list->length; i++)
        json_unsigned(json, list->data[i]);
    json_close(json, ']');
}

static void put_metadata(struct json_writer *json, const char *key, const struct metadata *metadata)
{
    json_key(json, key);
    json_open(json, '[');
    for (size_t i = 0; i < metadata->length; i++) {
        json_open(json, '{');
        json_key(json, "label");
        json_text_z(json, metadata->data[i].label);
        json_key(json, "value");
        json_text_z(json, metadata->data[i].value);
        json_close(json, '}');
    }
    json_close(json, ']');
}

static int put_all_metadata(struct json_writer *json, const struct profile *profile, struct error *err)
{
    struct arena arena = {0};
    struct metadata metadata = {0};
    int code = metadata_of_profile(&metadata, &arena, profile, err);
    put_metadata(json, "metadata", &metadata);
    json_key(json, "extra");
    json_open(json, '[');
    for (size_t i = 0; !code && i < profile->meta.extra.length; i++) {
        const struct extra_section *section = &profile->meta.extra.data[i];
        metadata.length = 0;
        code = metadata_of_section(&metadata, &arena, profile, section, err);
        json_open(json, '{');
        put_string(json, "label", profile, section->label);
        put_metadata(json, "entries", &metadata);
        json_close(json, '}');
    }
    json_close(json, ']');
    array_free(&metadata);
    arena_destroy(&arena);
    return code;
}

static void put_thread(struct json_writer *json, const struct engine *engine, const struct marker_view *markers,
                       uint32_t index)
{
    const struct profile *profile = engine_profile(engine);
    const struct thread *thread = &profile->threads.data[index];
    json_open(json, '{');
    put_number(json, "index", index);
    put_string(json, "name", profile, thread->name);
    put_string(json, "processName", profile, thread->process_name);
    put_string(json, "pid", profile, thread->pid);
    put_string(json, "tid", profile, thread->tid);
    json_key(json, "isMain");
    json_bool(json, thread->is_main);
    put_number(json, "start", isnan(thread->start) ? thread->process_start : thread->start);
    put_number(json, "end", isnan(thread->end) ? thread->process_end : thread->end);
    put_number(json, "sampleCount", (double)thread->samples.length);
    put_number(json, "markerCount", (double)thread->markers.length);
    put_number(json, "markerPlaces", markers ? marker_view_places(markers, index) : 0);
    json_key(json, "hasWaits");
    json_bool(json,
              markers && marker_view_has_kind(markers, index, waits_schema(marker_view_context(markers)->schemas)));
    put_number(
        json, "activity",
        thread_activity(&thread->samples, engine_stacks(engine), engine_idle_category(engine), profile->meta.interval));
    json_close(json, '}');
}

static void put_counter(struct json_writer *json, const struct profile *profile, uint32_t index)
{
    const struct counter *counter = &profile->counters.data[index];
    struct counter_display display;
    counter_display_of(&display, profile, counter);
    json_open(json, '{');
    put_number(json, "index", index);
    json_key(json, "label");
    json_text_z(json, display.label);
    put_string(json, "description", profile, counter->description);
    put_string(json, "pid", profile, counter->pid);
    put_number(json, "thread", counter->main_thread);
    json_key(json, "unit");
    json_text_z(json, display.unit);
    json_key(json, "color");
    json_text_z(json, display.color);
    json_key(json, "isRate");
    json_bool(json, display.is_rate);
    put_number(json, "sortWeight", display.sort_weight);
    json_close(json, '}');
}

/* What a kind of markers draws of a thread. */
static void put_marker_graphs(struct json_writer *json, const struct marker_schemas *schemas, uint32_t schema,
                              uint32_t thread)
{
    const struct marker_schema *kind = &schemas->items.data[schema];
    json_open(json, '{');
    put_number(json, "thread", thread);
    put_number(json, "schema", schema);
    json_key(json, "name");
    json_text_z(json, kind->name);
    json_key(json, "graphs");
    json_open(json, '[');
    for (uint32_t i = 0; i < kind->graph_count; i++) {
        const struct marker_graph_kind *graph = &schemas->graphs.data[kind->first_graph + i];
        json_open(json, '{');
        json_key(json, "label");
        json_text_z(json, marker_schema_label(schemas, schema, graph->key));
        json_key(json, "color");
        json_text_z(json, graph->color ? graph->color : "");
        json_key(json, "isBar");
        json_bool(json, graph->is_bar);
        json_close(json, '}');
    }
    json_close(json, ']');
    json_close(json, '}');
}

static void put_all_marker_graphs(struct json_writer *json, const struct engine *engine,
                                  const struct marker_view *markers)
{
    const struct marker_schemas *schemas = markers ? marker_view_context(markers)->schemas : NULL;
    json_key(json, "markerGraphs");
    json_open(json, '[');
    for (uint32_t schema = 0; schemas && schema < schemas->items.length; schema++)
        for (uint32_t i = 0; schemas->items.data[schema].graph_count && i < engine_profile(engine)->threads.length; i++)
            if (marker_view_has_kind(markers, i, schema))
                put_marker_graphs(json, schemas, schema, i);
    json_close(json, ']');
}

static void put_tables(struct json_writer *json, const struct engine *engine, const struct marker_view *markers)
{
    const struct profile *profile = engine_profile(engine);
    json_key(json, "categories");
    json_open(json, '[');
    for (size_t i = 0; i < profile->categories.length; i++) {
        json_open(json, '{');
        put_string(json, "name", profile, profile->categories.data[i].name);
        put_string(json, "color", profile, profile->categories.data[i].color);
        json_close(json, '}');
    }
    json_close(json, ']');
    json_key(json, "threads");
    json_open(json, '[');
    for (uint32_t i = 0; i < profile->threads.length; i++)
        put_thread(json, engine, markers, i);
    json_close(json, ']');
    json_key(json, "counters");
    json_open(json, '[');
    for (uint32_t i = 0; i < profile->counters.length; i++)
        put_counter(json, profile, i);
    json_close(json, ']');
    put_all_marker_graphs(json, engine, markers);
    put_thread_list(json, "initialThreads", &profile->meta.initial_visible_threads);
    put_thread_list(json, "initialSelection", &profile->meta.initial_selected_threads);
    json_key(json, "libs");
    json_open(json, '[');
    for (size_t i = 0; i < profile->libs.length; i++) {
        json_open(json, '{');
        put_string(json, "name", profile, profile->libs.data[i].name);
        put_string(json, "path", profile, profile->libs.data[i].path);
        json_close(json, '}');
    }
    json_close(json, ']');
}

static int put_weights(struct json_writer *json, struct session *session)
{
    const struct weight_list *weights = session_weights(session);
    json_key(json, "weights");
    json_open(json, '[');
    for (size_t i = 0; weights && i < weights->length; i++) {
        const struct weight *weight = &weights->data[i];
        const char *const members[][2] = {
            {"id", weight->id}, {"label", weight->label}, {"hint", weight->hint}, {"unit", weight->unit}};
        json_open(json, '{');
        for (size_t m = 0; m < sizeof(members) / sizeof(*members); m++) {
            json_key(json, members[m][0]);
            json_text_z(json, members[m][1]);
        }
        json_close(json, '}');
    }
    json_close(json, ']');
    return weights ? 0 : error_no_memory(&session->err);
}

static double count_samples(const struct profile *profile)
{
    double count = 0;
    for (size_t i = 0; i < profile->threads.length; i++)
        count += (double)profile->threads.data[i].samples.length;
    return count;
}

static double count_markers(const struct profile *profile)
{
    double count = 0;
    for (size_t i = 0; i < profile->threads.length; i++)
        count += (double)profile->threads.data[i].markers.length;
    return count;
}

/* ProfileInfo of api.ts as JSON text. */
const struct view *session_info(struct session *session)
{
    const struct profile *profile = engine_profile(session->engine);
    struct byte_sink sink = text_sink(&session->text);
    struct json_writer *json = malloc(sizeof(*json));
    struct time_range range = engine_full_range(session->engine);
    session->text.length = 0;
    if (!session->markers)
        session->markers = marker_view_new(profile, range, &session->err);
    if (!json) {
        error_no_memory(&session->err);
        return NULL;
    }
    json_writer_init(json, &sink, &session->err);
    json_open(json, '{');
    put_string(json, "product", profile, profile->meta.product);
    put_number(json, "interval", profile->meta.interval);
    put_number(json, "startTime", profile->meta.start_time);
    put_number(json, "rangeStart", range.from);
    put_number(json, "rangeEnd", range.to);
    put_number(json, "sampleCount", count_samples(profile));
    put_number(json, "markerCount", count_markers(profile));
    put_number(json, "funcCount", (double)profile->funcs.length);
    json_key(json, "symbolicated");
    json_bool(json, profile->meta.symbolicated != 0);
    int code = put_weights(json, session);
    if (!code)
        code = put_all_metadata(json, profile, &session->err);
    put_tables(json, session->engine, session->markers);
    json_close(json, '}');
    int written = json_writer_finish(json);
    free(json);
    if (code || written)
        return NULL;
    session->view = (struct view){(uint32_t)session->text.length, {session->text.data}};
    return &session->view;
}
