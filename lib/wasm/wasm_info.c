/*
 * Information about the profile: ProfileInfo of api.ts.
 */
#include "profile/notes.h"
#include "tree/changes.h"
#include "tree/engine_state.h"
#include "tree/timeline_counters.h"
#include "tree/frame_kinds.h"
#include "tree/process_tree.h"
#include "tree/profile_info.h"
#include "tree/wait_groups.h"
#include "wasm/wasm_calls.h"
#include "wasm/wasm_session.h"

void session_begin_json(struct session *session)
{
    session->text.length = 0;
    session->text_sink = text_sink(&session->text);
    json_writer_init(&session->json, &session->text_sink, &session->err);
}

const struct view *session_answer_json(struct session *session, int code)
{
    int written = json_writer_finish(&session->json);
    return code || written ? NULL : ANSWER_ARRAY(session, &session->text);
}

static void write_string(struct json_writer *json, const char *key, const struct profile *profile, uint32_t string)
{
    json_key(json, key);
    bool known = string < profile->strings.entries.length;
    const struct string_entry *entry = known ? &profile->strings.entries.data[string] : NULL;
    json_text(json, known ? entry->text : "", known ? entry->length : 0);
}

static void write_thread_list(struct json_writer *json, const char *key, const struct thread_list *list)
{
    json_member_open(json, key, '[');
    for (size_t i = 0; i < list->length; i++)
        json_unsigned(json, list->data[i]);
    json_close(json, ']');
}

static void write_metadata(struct json_writer *json, const char *key, const struct metadata *metadata)
{
    json_member_open(json, key, '[');
    for (size_t i = 0; i < metadata->length; i++) {
        json_open(json, '{');
        json_member_text(json, "label", metadata->data[i].label);
        json_member_text(json, "value", metadata->data[i].value);
        json_close(json, '}');
    }
    json_close(json, ']');
}

static int write_all_metadata(struct json_writer *json, const struct profile *profile, struct error *err)
{
    struct arena arena = {0};
    struct metadata metadata = {0};
    int code = list_profile_metadata(&metadata, &arena, profile, err);
    write_metadata(json, "metadata", &metadata);
    json_member_open(json, "extra", '[');
    for (size_t i = 0; !code && i < profile->meta.extra.length; i++) {
        const struct extra_section *section = &profile->meta.extra.data[i];
        if (is_notes_section(profile, section))
            continue;
        metadata.length = 0;
        code = list_section_metadata(&metadata, &arena, profile, section, err);
        json_open(json, '{');
        write_string(json, "label", profile, section->label);
        write_metadata(json, "entries", &metadata);
        json_close(json, '}');
    }
    json_close(json, ']');
    array_free(&metadata);
    arena_destroy(&arena);
    return code;
}

static int write_notes(struct json_writer *json, const struct profile *profile, struct error *err)
{
    struct arena arena = {0};
    struct notes notes = {0};
    int code = list_notes(&notes, &arena, profile, err);
    find_funcs_of_notes(&notes, profile);
    json_open(json, '[');
    for (size_t i = 0; !code && i < notes.length; i++) {
        const struct note *note = &notes.data[i];
        json_open(json, '{');
        json_member_double(json, "from", note->from);
        json_member_double(json, "to", note->to);
        json_member_double(json, "func", note->func == PROFILE_NONE ? -1 : note->func);
        json_member_text(json, "name", note->name);
        json_member_text(json, "library", note->library);
        json_member_text(json, "comment", note->comment);
        json_close(json, '}');
    }
    json_close(json, ']');
    array_free(&notes);
    arena_destroy(&arena);
    return code;
}

/* Lists the argument that distinguishes the process of each thread from others of its name. The caller frees
 * *arguments. */
static int list_arguments(const char ***arguments, struct process_tree *tree, const struct engine *engine,
                          struct error *err)
{
    const struct profile *profile = engine_get_profile(engine);
    *arguments = calloc(profile->threads.length, sizeof(**arguments));
    int code = *arguments ? process_tree_list(tree, profile, engine_get_full_range(engine), err) : error_no_memory(err);
    if (code)
        return code;
    for (size_t i = 0; i < tree->processes.length; i++) {
        const struct process *process = &tree->processes.data[i];
        for (uint32_t k = process->first_thread; k < process->first_thread + process->thread_count; k++) {
            uint32_t name = profile->threads.data[tree->threads[k]].process_name;
            if (strcmp(profile_text(profile, name), process->name) == 0)
                (*arguments)[tree->threads[k]] = process->argument;
        }
    }
    return 0;
}

static void write_thread(struct json_writer *json, const struct engine *engine, const struct marker_view *markers,
                         uint32_t index, const char *argument)
{
    const struct profile *profile = engine_get_profile(engine);
    const struct thread *thread = &profile->threads.data[index];
    json_open(json, '{');
    json_member_double(json, "index", index);
    write_string(json, "name", profile, thread->name);
    write_string(json, "processName", profile, thread->process_name);
    write_string(json, "pid", profile, thread->pid);
    write_string(json, "tid", profile, thread->tid);
    json_member_text(json, "argument", argument ? argument : "");
    json_member_bool(json, "isMain", thread->is_main);
    json_member_double(json, "side", thread->side);
    json_member_double(json, "run", thread->run);
    json_member_double(json, "start", isnan(thread->start) ? thread->process_start : thread->start);
    json_member_double(json, "end", isnan(thread->end) ? thread->process_end : thread->end);
    json_member_double(json, "markerCount", (double)thread->markers.length);
    json_member_double(json, "markerPlaces", markers ? marker_view_find_places(markers, index) : 0);
    json_member_bool(
        json, "hasWaits",
        markers && marker_view_has_kind(markers, index, find_on_cpu_schema(marker_view_get_context(markers)->schemas)));
    const struct wait_rows waits = get_wait_rows(profile, index);
    json_member_bool(json, "hasWaitRows", has_wait_rows(&waits));
    json_member_double(json, "activity",
                       engine_measure_thread_activity(engine, index, (struct time_range){-INFINITY, INFINITY}));
    json_close(json, '}');
}

static bool has_intervals(const struct profile *profile)
{
    for (size_t i = 0; i < profile->threads.length; i++)
        for (size_t row = 0; row < profile->threads.data[i].markers.length; row++)
            if (profile->threads.data[i].markers.phase[row] != MARKER_INSTANT)
                return true;
    return false;
}

static void write_counter(struct json_writer *json, const struct profile *profile, uint32_t index)
{
    const struct counter *counter = &profile->counters.data[index];
    struct counter_display display;
    read_counter_display(&display, profile, counter);
    json_open(json, '{');
    json_member_double(json, "index", index);
    json_member_text(json, "label", display.label);
    write_string(json, "description", profile, counter->description);
    write_string(json, "pid", profile, counter->pid);
    json_member_double(json, "thread", counter->main_thread);
    json_member_text(json, "unit", display.unit);
    json_member_text(json, "color", display.color);
    json_member_bool(json, "isRate", display.is_rate);
    json_member_bool(json, "startsAtZero", display.starts_at_zero);
    json_member_bool(json, "isHiddenAtFirst", display.is_hidden_at_first);
    json_member_bool(json, "isOfSystem", display.is_of_system);
    json_member_double(json, "sortWeight", display.sort_weight);
    json_close(json, '}');
}

/* Writes the graphs of a marker kind for a thread. */
static void write_marker_graphs(struct json_writer *json, const struct marker_schemas *schemas, uint32_t schema,
                                uint32_t thread)
{
    const struct marker_schema *kind = &schemas->items.data[schema];
    json_open(json, '{');
    json_member_double(json, "thread", thread);
    json_member_double(json, "schema", schema);
    json_member_text(json, "name", kind->name);
    json_member_open(json, "graphs", '[');
    for (uint32_t i = 0; i < kind->graph_count; i++) {
        const struct marker_graph_kind *graph = &schemas->graphs.data[kind->first_graph + i];
        json_open(json, '{');
        json_member_text(json, "label", get_marker_label(schemas, schema, graph->key));
        json_member_text(json, "color", graph->color ? graph->color : "");
        json_member_bool(json, "isBar", graph->is_bar);
        json_close(json, '}');
    }
    json_close(json, ']');
    json_close(json, '}');
}

static void write_all_marker_graphs(struct json_writer *json, const struct engine *engine,
                                    const struct marker_view *markers)
{
    const struct marker_schemas *schemas = markers ? marker_view_get_context(markers)->schemas : NULL;
    json_member_open(json, "markerGraphs", '[');
    for (uint32_t schema = 0; schemas && schema < schemas->items.length; schema++)
        for (uint32_t i = 0; schemas->items.data[schema].graph_count && i < engine_get_profile(engine)->threads.length;
             i++)
            if (marker_view_has_kind(markers, i, schema))
                write_marker_graphs(json, schemas, schema, i);
    json_close(json, ']');
}

static void write_subcategories(struct json_writer *json, const struct profile *profile,
                                const struct category *category)
{
    json_member_open(json, "subcategories", '[');
    for (size_t i = 0; i < category->subcategories.length; i++)
        json_text_z(json, profile_text(profile, category->subcategories.data[i]));
    json_close(json, ']');
}

static void write_tables(struct json_writer *json, const struct engine *engine, const struct marker_view *markers,
                         const struct cpu_numbers *cpus, const char *const *arguments)
{
    const struct profile *profile = engine_get_profile(engine);
    json_member_open(json, "categories", '[');
    for (size_t i = 0; i < profile->categories.length; i++) {
        json_open(json, '{');
        write_string(json, "name", profile, profile->categories.data[i].name);
        write_string(json, "color", profile, profile->categories.data[i].color);
        write_subcategories(json, profile, &profile->categories.data[i]);
        json_close(json, '}');
    }
    json_close(json, ']');
    json_member_open(json, "threads", '[');
    for (uint32_t i = 0; i < profile->threads.length; i++)
        write_thread(json, engine, markers, i, arguments[i]);
    json_close(json, ']');
    json_member_open(json, "counters", '[');
    for (uint32_t i = 0; i < profile->counters.length; i++)
        write_counter(json, profile, i);
    json_close(json, ']');
    write_all_marker_graphs(json, engine, markers);
    json_member_open(json, "cpus", '[');
    for (size_t i = 0; i < cpus->length; i++)
        json_unsigned(json, cpus->data[i]);
    json_close(json, ']');
    write_thread_list(json, "initialThreads", &profile->meta.initial_visible_threads);
    write_thread_list(json, "initialSelection", &profile->meta.initial_selected_threads);
    json_member_open(json, "libs", '[');
    for (size_t i = 0; i < profile->libs.length; i++) {
        json_open(json, '{');
        write_string(json, "name", profile, profile->libs.data[i].name);
        write_string(json, "path", profile, profile->libs.data[i].path);
        json_close(json, '}');
    }
    json_close(json, ']');
}

static int write_weights(struct json_writer *json, struct session *session)
{
    const struct weight_list *weights = session_get_weights(session);
    json_member_open(json, "weights", '[');
    for (size_t i = 0; weights && i < weights->length; i++) {
        const struct weight *weight = &weights->data[i];
        const char *const members[][2] = {
            {"id", weight->id}, {"label", weight->label}, {"hint", weight->hint}, {"unit", weight->unit}};
        json_open(json, '{');
        for (size_t m = 0; m < sizeof(members) / sizeof(*members); m++)
            json_member_text(json, members[m][0], members[m][1]);
        json_close(json, '}');
    }
    json_close(json, ']');
    return weights ? 0 : error_no_memory(&session->err);
}

static void write_counts(struct json_writer *json, const struct profile *profile)
{
    double markers = 0;
    for (uint32_t i = 0; i < profile->threads.length; i++)
        markers += (double)profile->threads.data[i].markers.length;
    json_member_double(json, "sampleCount", count_all_samples(profile));
    json_member_double(json, "markerCount", markers);
    struct address_counts addresses = count_symbolized_addresses(profile);
    json_member_double(json, "addressCount", (double)addresses.all);
    json_member_double(json, "resolvedCount", (double)addresses.resolved);
}

static int write_comparison(struct json_writer *json, const struct profile *profile, struct error *err)
{
    const struct profile_comparison *comparison = &profile->meta.comparison;
    struct change_estimate wall_time;
    if (estimate_wall_time_change(&wall_time, profile, err))
        return -ENOMEM;
    json_member_open(json, "comparison", '{');
    write_string(json, "base", profile, comparison->name[SIDE_BASE]);
    write_string(json, "new", profile, comparison->name[SIDE_NEW]);
    json_member_double(json, "baseRuns", comparison->runs[SIDE_BASE]);
    json_member_double(json, "newRuns", comparison->runs[SIDE_NEW]);
    json_member_double(json, "scale", comparison->scale);
    write_string(json, "scaledBy", profile, comparison->scaled_by);
    json_member_bool(json, "isOneAfterOther", comparison->is_one_after_other);
    json_member_open(json, "wallTime", '{');
    json_member_double(json, "base", wall_time.base);
    json_member_double(json, "new", wall_time.new);
    json_member_double(json, "low", wall_time.low);
    json_member_double(json, "high", wall_time.high);
    json_close(json, '}');
    json_close(json, '}');
    return 0;
}

/* Returns ProfileInfo of api.ts as JSON text. */
const struct view *session_info(struct session *session)
{
    const struct profile *profile = engine_get_profile(session->engine);
    struct json_writer *json = &session->json;
    struct time_range range = engine_get_full_range(session->engine);
    if (!session->markers.view)
        session->markers.view = marker_view_new(profile, range, &session->err);
    session_begin_json(session);
    json_open(json, '{');
    write_string(json, "product", profile, profile->meta.product);
    json_member_double(json, "interval", profile->meta.has_no_times ? 0 : profile->meta.interval);
    json_member_bool(json, "timesAreOrder", profile->meta.has_no_times);
    json_member_double(json, "startTime", profile->meta.start_time);
    json_member_double(json, "rangeStart", range.from);
    json_member_double(json, "rangeEnd", range.to);
    int code = profile_is_comparison(profile) ? write_comparison(json, profile, &session->err) : 0;
    write_counts(json, profile);
    json_member_double(json, "frameKinds", get_frame_kinds(profile));
    uint32_t idle = engine_get_idle_category(session->engine);
    json_member_double(json, "idleCategory", idle == PROFILE_NONE ? -1 : (double)idle);
    uint32_t runnable = find_runnable_reason(profile);
    json_member_double(json, "runnableReason", runnable == PROFILE_NONE ? -1 : (double)runnable);
    json_member_bool(json, "hasWaits", engine_has_waits(session->engine));
    json_member_bool(json, "hasIntervals", has_intervals(profile));
    json_member_bool(json, "hasProcesses", profile_has_processes(profile));
    json_member_bool(json, "hasWakers", profile_has_wakers(profile));
    json_member_double(json, "funcCount", (double)profile->funcs.length);
    json_member_bool(json, "symbolicated", profile->meta.symbolicated != 0);
    write_string(json, "addedNext", profile, profile->meta.added_next);
    if (!code)
        code = write_weights(json, session);
    if (!code)
        code = write_all_metadata(json, profile, &session->err);
    json_key(json, "notes");
    if (!code)
        code = write_notes(json, profile, &session->err);
    if (!code)
        code = list_profile_cpus(profile, &session->timeline.cpus, &session->err);
    struct process_tree processes = {0};
    const char **arguments = NULL;
    if (!code)
        code = list_arguments(&arguments, &processes, session->engine, &session->err);
    if (!code)
        write_tables(json, session->engine, session->markers.view, &session->timeline.cpus, arguments);
    free(arguments);
    process_tree_destroy(&processes);
    json_close(json, '}');
    return session_answer_json(session, code);
}

/* Replaces the notes of the profile, which exports write. The input is the JSON of set_notes(). Returns the notes as in
 * session_info(), with the functions of this profile. */
const struct view *session_set_notes(struct session *session, uint32_t length)
{
    struct profile *profile = &session->engine->base->profile;
    session_begin_json(session);
    int code = set_notes(profile, (const char *)session->input.data, length, &session->err);
    if (!code)
        code = write_notes(&session->json, profile, &session->err);
    return session_answer_json(session, code);
}

double session_unnamed_share(const struct session *session)
{
    return compute_unnamed_share(engine_get_profile(session->engine));
}
