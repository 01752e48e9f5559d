/*
 * Each allocation of an operation fails in turn. A failing operation reports it, leaks nothing (the leak checker runs
 * at the end) and does not crash; an operation that can do without the memory returns a complete result.
 */
#include "assemble/assemble.h"
#include "base/checksum.h"
#include "os/file_io.h"
#include "perf_bytes.h"
#include "profile/compare.h"
#include "file/profile_file.h"
#include "profile/match_funcs.h"
#include "process/library_table.h"
#include "spool/spool.h"
#include "process/tracker.h"
#include "support/failing_memory.h"
#include "support/directory.h"
#include "support/jslb_bytes.h"
#include "support/profile_text.h"
#include "symbol/disassemble.h"
#include "symbol/jit_name.h"
#include "symbol/jitdump.h"
#include "symbol/kallsyms.h"
#include "symbol/perf_map.h"
#include "symbol/symbol.h"
#include "tree/address_costs.h"
#include "tree/changes.h"
#include "tree/engine.h"
#include "tree/find_names.h"
#include "tree/flame.h"
#include "tree/profile_info.h"
#include "tree/line_costs.h"
#include "tree/marker_view.h"
#include "tree/stack_chart.h"
#include "tree/samply_waits.h"
#include "tree/object_waits.h"
#include "tree/wait_groups.h"
#include "support/flat_records.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sys/mman.h>
#include <unistd.h>

struct attempt {
    const char *text; /* of a profile */
    const char *other_text;
    const struct profile *profile;
    int code;
    struct error err;
    size_t rows; /* of what came out */
};

enum { MOST_ALLOCATIONS = 200000, LOOKED_AT = 2 }; /* LOOKED_AT: a thread with samples and markers */

/* Once without failure, which gives the rows to expect; then with each allocation failing. */
static void fail_in_turn(void (*operation)(void *context), struct attempt *attempt)
{
    operation(attempt);
    if (attempt->code)
        fail_msg("%s", attempt->err.text);
    size_t expected = attempt->rows;
    assert_true(expected > 0);
    for (long n = 0; n < MOST_ALLOCATIONS; n++) {
        attempt->err.text[0] = '\0';
        if (!run_with_failure(n, operation, attempt)) {
            print_message("%ld allocations\n", n);
            assert_true(n > 10);
            return;
        }
        if (attempt->code == 0)
            assert_int_equal(attempt->rows, expected);
        else if (!strstr(attempt->err.text, "memory"))
            fail_msg("allocation %ld: code %d, \"%s\"", n, attempt->code, attempt->err.text);
    }
    fail_msg("there is no end to it");
}

/* ---- profile ---- */

static int read_profile(const char *text, struct profile *profile, struct error *err)
{
    struct profile_reader *reader = profile_reader_new();
    if (!reader)
        return error_no_memory(err);
    int code = profile_reader_feed(reader, text, strlen(text), err);
    if (!code)
        code = profile_reader_finish(reader, profile, err);
    profile_reader_free(reader);
    return code;
}

static int discard(void *context, const void *bytes, size_t size, struct error *err)
{
    (void)bytes, (void)err;
    *(size_t *)context += size;
    return 0;
}

static void read_and_write(void *context)
{
    struct attempt *attempt = context;
    struct profile profile = {0};
    struct byte_sink sink = {.write = discard, .context = &attempt->rows};
    attempt->rows = 0;
    attempt->code = read_profile(attempt->text, &profile, &attempt->err);
    if (attempt->code)
        return;
    attempt->code = profile_write(&profile, NULL, 0, &sink, &attempt->err);
    profile_destroy(&profile);
}

static void test_profiles_are_read_and_written(void **unused)
{
    (void)unused;
    struct attempt attempt = {.text = text_of_file("full.json")};
    fail_in_turn(read_and_write, &attempt);
    free((void *)attempt.text);
}

static char output_path[64], input_path[64];

/* A file of some kind, into a packed one. */
static void convert(void *context)
{
    struct attempt *attempt = context;
    struct profile profile = {0};
    struct profile_file *file = NULL;
    attempt->rows = 0;
    attempt->code = profile_load(input_path, &profile, &attempt->err);
    if (attempt->code)
        return;
    for (size_t i = 0; i < profile.threads.length; i++)
        attempt->rows += profile.threads.data[i].samples.length + profile.threads.data[i].markers.length;
    attempt->code = profile_file_create(&file, output_path, &attempt->err);
    if (!attempt->code) {
        struct byte_sink sink = profile_file_make_sink(file);
        attempt->code = profile_write(&profile, NULL, 0, &sink, &attempt->err);
        if (attempt->code)
            profile_file_abandon(file);
        else
            attempt->code = profile_file_commit(file, &attempt->err);
    }
    profile_destroy(&profile);
}

static void test_files_are_converted(void **unused)
{
    static const char *const names[] = {"full.json",
                                        "samply-0.13-markers.json",
                                        "samply-0.13.json",
                                        "version53.json",
                                        "import/small.cpuprofile",
                                        "import/small.folded",
                                        "import/small.gecko.json",
                                        "import/small.perf-script",
                                        "import/small.speedscope.json",
                                        "import/small.trace.json",
                                        "import/chunks.trace.json",
                                        "import/samples.trace.json",
                                        "import/go-heap.pprof"};
    (void)unused;
    struct attempt attempt = {0};
    snprintf(output_path, sizeof(output_path), "%s/packed.json.gz", directory);
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        snprintf(input_path, sizeof(input_path), "tests/data/%s", names[i]);
        fail_in_turn(convert, &attempt);
    }
}

/* What was different before version 49: libraries of a thread, times of markers, names with a place. */
static void test_old_versions_are_read(void **unused)
{
    static const char text[] =
        "{\"meta\":{\"preprocessedProfileVersion\":1,\"interval\":1},\"threads\":[{\"name\":\"Content\",\"libs\":[{"
        "\"name\":"
        "\"/a/b\",\"pdbName\":\"b.pdb\",\"breakpadId\":\"\"}],\"stringArray\":[\"f (x -> a.js:3)\",\"m\",\"b\"],"
        "\"frameTable\":{\"length\":1,\"func\":[0],\"category\":[32]},\"funcTable\":{\"length\":1,\"name\":[0],"
        "\"resource\":[0],\"isJS\":[true]},\"resourceTable\":{\"length\":1,\"name\":[2],\"type\":[1],\"lib\":[0]},"
        "\"stackTable\":{\"length\":1,\"prefix\":[null],\"frame\":[0]},\"samples\":{\"length\":1,\"stack\":[0],"
        "\"time\":[5]},\"markers\":{\"length\":1,\"name\":[1],\"time\":[1],\"data\":[{\"startTime\":1,\"endTime\":2}]}}"
        "]}";
    (void)unused;
    struct attempt attempt = {.text = text};
    fail_in_turn(read_and_write, &attempt);
}

/* Samples that are not in order of time, and a container of binary columns. */
static void test_odd_files_are_read(void **unused)
{
    (void)unused;
    struct attempt attempt = {0};
    snprintf(output_path, sizeof(output_path), "%s/packed.json.gz", directory);
    snprintf(input_path, sizeof(input_path), "%s/odd.json", directory);
    char *text = text_replace(text_of_file("full.json"), "\"timeDeltas\": [1, 1, 1, 1]", "\"time\": [3, 1, 9, 2]");
    write_text("odd.json", text);
    free(text);
    fail_in_turn(convert, &attempt);
    snprintf(input_path, sizeof(input_path), "%s/container", directory);
    struct memory container = {0};
    make_minimal_container(&container);
    FILE *file = fopen(input_path, "wb");
    assert_non_null(file);
    fwrite(container.data, 1, container.length, file);
    fclose(file);
    array_free(&container);
    fail_in_turn(convert, &attempt);
}

/* ---- tree ---- */

static int ask(struct engine *engine, bool inverted, size_t *rows_seen, struct error *err)
{
    static const struct transform transforms[] = {{.kind = TRANSFORM_MERGE_FUNCTION, .index = 1},
                                                  {.kind = TRANSFORM_COLLAPSE_RECURSION, .index = 0}};
    uint32_t thread = 0;
    struct tree_query query = {.threads = &thread,
                               .thread_count = 1,
                               .range = engine_get_full_range(engine),
                               .transforms = transforms,
                               .transform_count = 2,
                               .search = "",
                               .inverted = inverted};
    struct tree_rows rows = {0};
    struct flame_rects rects = {0};
    struct func_timings functions = {0};
    struct butterfly butterfly;
    struct node_details details = {0};
    const struct flame_request flame = {.part = {0, 1}};
    int code = engine_set_query(engine, &query, err);
    if (!code)
        code = engine_list_descendants(engine, NODE_NONE, 100, &rows, err);
    if (!code)
        code = engine_compute_flame(engine, &flame, &rects, err);
    if (!code)
        code = engine_list_functions(engine, FUNCS_BY_SELF, &functions, err);
    if (!code && rows.length)
        code = engine_compute_details(engine, rows.node[0], &details, err);
    if (!code)
        code = engine_compute_butterfly(engine, (struct butterfly_focus){.kind = BUTTERFLY_FUNCTION, .index = 0},
                                        &butterfly, err);
    if (!code)
        butterfly_destroy(&butterfly);
    *rows_seen += rows.length + rects.length;
    node_details_destroy(&details);
    func_timings_destroy(&functions);
    array_free(&rects);
    tree_rows_destroy(&rows);
    return code;
}

/* Lines and instructions of the one file that the profile has. */
static int ask_for_costs(struct engine *engine, size_t *rows_seen, struct error *err)
{
    const struct profile *profile = engine_get_profile(engine);
    struct counted_stacks counted = engine_get_counted_stacks(engine);
    const struct line_request lines_of = {.source = 0, .func = PROFILE_NONE};
    const struct address_request addresses_of = {.symbol = 1};
    struct line_costs lines = {0};
    struct hot_lines hot = {0};
    struct address_costs addresses = {0};
    struct symbol_costs symbols = {0};
    struct address_lines table = {0};
    struct code_addresses places = {0};
    int code = line_costs_compute(&lines, profile, &counted, &lines_of, err);
    if (!code)
        code = hot_lines_compute(&hot, profile, &counted, 10, err);
    if (!code)
        code = address_costs_compute(&addresses, profile, &counted, &addresses_of, err);
    if (!code)
        code = symbol_costs_compute(&symbols, profile, &counted, 1, addresses_of.selection, err);
    if (!code)
        code = list_address_lines(&table, profile, 1, err);
    if (!code)
        code = list_source_places(&places, profile, 0, 4, err);
    *rows_seen +=
        lines.lines.length + hot.rows.length + addresses.rows.length + symbols.length + table.length + places.length;
    line_costs_destroy(&lines);
    hot_lines_destroy(&hot);
    address_costs_destroy(&addresses);
    array_free(&symbols);
    array_free(&table);
    array_free(&places);
    return code;
}

static int ask_for_metadata(struct engine *engine, size_t *rows_seen, struct error *err)
{
    const struct profile *profile = engine_get_profile(engine);
    struct metadata metadata = {0};
    struct arena arena = {0};
    struct name_finder finder = {0};
    struct found_names found = {0};
    int code = list_profile_metadata(&metadata, &arena, profile, err);
    if (!code)
        code = list_section_metadata(&metadata, &arena, profile, &profile->meta.extra.data[0], err);
    if (!code)
        code = name_finder_init(&finder, profile, err);
    if (!code)
        code = name_finder_find(&finder, "lf", 2, 10, &found, err);
    *rows_seen += metadata.length + found.length;
    array_free(&found);
    name_finder_destroy(&finder);
    array_free(&metadata);
    arena_destroy(&arena);
    return code;
}

static void look_at_tree(void *context)
{
    struct attempt *attempt = context;
    struct profile profile = {0};
    attempt->rows = 0;
    attempt->code = read_profile(attempt->text, &profile, &attempt->err);
    if (attempt->code)
        return;
    struct engine *engine = engine_new(&profile, &attempt->err);
    if (!engine) {
        attempt->code = -ENOMEM;
        return;
    }
    for (int inverted = 0; inverted < 2 && !attempt->code; inverted++)
        attempt->code = ask(engine, inverted, &attempt->rows, &attempt->err);
    if (!attempt->code)
        attempt->code = ask_for_costs(engine, &attempt->rows, &attempt->err);
    if (!attempt->code)
        attempt->code = ask_for_metadata(engine, &attempt->rows, &attempt->err);
    engine_free(engine);
}

static void test_trees_are_asked_for(void **unused)
{
    (void)unused;
    struct attempt attempt = {.text = text_of_file("full.json")};
    fail_in_turn(look_at_tree, &attempt);
    free((void *)attempt.text);
}

/* A comparison of two profiles of which one has another library, and its verdicts. */
static int judge_functions(struct engine *engine, size_t *rows_seen, struct error *err)
{
    const struct profile *profile = engine_get_profile(engine);
    uint32_t threads[8] = {0};
    struct func_changes changes = {.length = 0};
    for (uint32_t i = 0; i < profile->threads.length && i < 8; i++)
        threads[i] = i;
    const struct tree_query query = {.threads = threads,
                                     .thread_count = profile->threads.length < 8 ? profile->threads.length : 8,
                                     .range = whole_time,
                                     .search = ""};
    int code = engine_set_query(engine, &query, err);
    for (int order = FUNCS_BY_SELF; !code && order <= FUNCS_BY_TOTAL; order++) {
        code = func_changes_find(&changes, engine, (enum func_order)order, err);
        *rows_seen += code ? 0 : changes.length + changes.functions.length;
        func_changes_destroy(&changes);
    }
    return code;
}

static void compare_profiles(void *context)
{
    struct attempt *attempt = context;
    struct profile profiles[PROFILE_SIDES] = {{.meta = {0}}, {.meta = {0}}}, compared;
    struct compare_input inputs[] = {{&profiles[SIDE_BASE], "a", SIDE_BASE, -INFINITY, INFINITY, NULL},
                                     {&profiles[SIDE_NEW], "b", SIDE_NEW, 1, INFINITY, NULL}};
    attempt->rows = 0;
    attempt->code = read_profile(attempt->text, &profiles[SIDE_BASE], &attempt->err);
    if (attempt->code)
        return;
    attempt->code = read_profile(attempt->other_text, &profiles[SIDE_NEW], &attempt->err);
    if (attempt->code) {
        profile_destroy(&profiles[SIDE_BASE]);
        return;
    }
    attempt->code =
        profile_compare(&compared, inputs, PROFILE_SIDES, FORGIVE_TEMPLATES | FORGIVE_SUFFIXES, &attempt->err);
    if (attempt->code)
        return;
    attempt->code = comparison_set_scale(&compared, COMPARE_BY_FUNCTION, "main", &attempt->err);
    if (attempt->code) {
        profile_destroy(&compared);
        return;
    }
    struct engine *engine = engine_new(&compared, &attempt->err);
    attempt->code = engine ? judge_functions(engine, &attempt->rows, &attempt->err) : -ENOMEM;
    engine_free(engine);
}

static void test_profiles_are_compared(void **unused)
{
    (void)unused;
    struct attempt attempt = {.text = text_of_file("full.json")};
    char *other = text_replace(text_of_file("full.json"), "\"leaf\", \"app\"", "\"leaf<int>.isra.0\", \"renamed\"");
    attempt.other_text = text_replace(other, "\"Log\"", "\"Diary\"");
    fail_in_turn(compare_profiles, &attempt);
    free((void *)attempt.text);
    free((void *)attempt.other_text);
}

/* The tables beside the tree. */
static int ask_for_tables(struct engine *engine, size_t *rows_seen, struct error *err)
{
    struct func_timings table = {0};
    int code = 0;
    for (int kind = GROUP_LIBRARY; !code && kind <= GROUP_THREAD; kind++) {
        code = engine_list_groups(engine, (enum group_kind)kind, &table, err);
        *rows_seen += table.length;
        func_timings_destroy(&table);
    }
    if (!code)
        code = engine_list_functions_by_weight(engine, WEIGH_SAMPLES, TABLE_SAMPLES, &table, err);
    *rows_seen += table.length;
    func_timings_destroy(&table);
    struct wait_groups waits = {0};
    if (!code)
        code = engine_group_waits(engine, WAITS_BY_THREAD, &waits, err);
    wait_groups_destroy(&waits);
    struct object_waits of_object = {0};
    if (!code)
        code = object_waits_find(&of_object, engine, 0, err);
    object_waits_destroy(&of_object);
    return code;
}

static int ask_for_butterflies(struct engine *engine, size_t *rows_seen, struct error *err)
{
    int code = 0;
    for (int kind = BUTTERFLY_FUNCTION; !code && kind <= BUTTERFLY_CATEGORY; kind++) {
        struct butterfly_focus focus = {.kind = (enum butterfly_kind)kind, .index = 1};
        struct butterfly butterfly;
        code = engine_compute_butterfly(engine, focus, &butterfly, err);
        bool is_made = code == 0;
        for (int side = BUTTERFLY_CALLERS; !code && side <= BUTTERFLY_CALLEES; side++) {
            struct tree_rows rows = {0};
            code = butterfly_list_descendants(&butterfly, (enum butterfly_side)side, NODE_NONE, 1000, &rows, err);
            *rows_seen += rows.length;
            tree_rows_destroy(&rows);
        }
        if (is_made)
            butterfly_destroy(&butterfly);
    }
    return code;
}

/* The heaviest path, where it is, what becomes of it, its row in the flame graph and its part of the timeline. */
static int ask_for_path(struct engine *engine, size_t *rows_seen, struct error *err)
{
    static const struct transform merge = {.kind = TRANSFORM_MERGE_CATEGORY, .index = 1};
    struct node_path path = {0}, again = {0};
    struct tree_rows rows = {0};
    struct flame_part part;
    struct activity activity = {0};
    uint32_t node = NODE_NONE;
    int code = engine_find_heaviest_path(engine, 64, 0, &path, err);
    if (!code)
        code = engine_find_node(engine, path.data, path.length, true, &node, err);
    if (!code)
        code = engine_read_row(engine, node, &rows, err);
    if (!code)
        code = engine_read_path(engine, node, &again, err);
    if (!code)
        assert_int_equal(again.length, path.length);
    if (!code)
        code = engine_find_flame_part(engine, path.data, path.length, &part, err);
    struct tree_path end = {.funcs = again.data, .length = again.length};
    struct time_range whole = engine_get_full_range(engine);
    if (!code)
        code = engine_compute_activity(engine,
                                       &(struct activity_query){.threads = (uint32_t[]){LOOKED_AT},
                                                                .thread_count = 1,
                                                                .range = {whole.from, whole.to},
                                                                .width = 16,
                                                                .search = "a",
                                                                .search_length = 1,
                                                                .path = &end},
                                       &activity, err);
    *rows_seen += path.length + rows.length + activity.row_count;
    activity_destroy(&activity);
    if (!code)
        code = engine_compute_unfiltered_activity(
            engine,
            &(struct activity_query){
                .threads = (uint32_t[]){LOOKED_AT}, .thread_count = 1, .range = {whole.from, whole.to}, .width = 16},
            &activity, err);
    activity_destroy(&activity);
    if (!code)
        code = engine_rewrite_path(engine, &merge, again.data, &again.length, err);
    array_free(&path);
    array_free(&again);
    tree_rows_destroy(&rows);
    return code;
}

static int ask_for_charts(struct engine *engine, size_t *rows_seen, struct error *err)
{
    struct stack_chart_request request = {.thread = LOOKED_AT, .range = engine_get_full_range(engine), .columns = 64};
    struct stack_rects rects = {0};
    struct tree_rows rows = {0};
    struct node_details details = {0};
    int code = engine_compute_stack_chart(engine, &request, &rects, err);
    if (!code)
        code = engine_list_children(engine, NODE_NONE, &rows, err);
    if (!code)
        code = engine_compute_function_details(engine, rows.func[0], &details, err);
    *rows_seen += rects.length + rows.length;
    node_details_destroy(&details);
    tree_rows_destroy(&rows);
    array_free(&rects);
    return code;
}

static int ask_everything(struct engine *engine, enum transform_kind kind, size_t *rows_seen, struct error *err)
{
    static const char search[] = "-zzz, /[a-z]+/";
    const uint32_t thread = LOOKED_AT, path[] = {3};
    struct transform transforms[] = {{.kind = TRANSFORM_FILTER_MARKERS, .text = "o", .text_length = 1},
                                     {.kind = kind,
                                      .index = 1,
                                      .path = path,
                                      .path_length = transform_has_path(kind) ? 1 : 0,
                                      .text = "a, /b/",
                                      .text_length = 6}};
    struct tree_query query = {.threads = &thread,
                               .thread_count = 1,
                               .range = engine_get_full_range(engine),
                               .transforms = transforms,
                               .transform_count = kind == TRANSFORM_FILTER_MARKERS ? 1 : 2,
                               .search = search,
                               .search_length = strlen(search)};
    int code = engine_set_query(engine, &query, err);
    if (!code && kind == TRANSFORM_FILTER_MARKERS)
        code = ask_for_tables(engine, rows_seen, err);
    if (!code && kind == TRANSFORM_FILTER_MARKERS)
        code = ask_for_butterflies(engine, rows_seen, err);
    if (!code && kind == TRANSFORM_FILTER_MARKERS)
        code = ask_for_path(engine, rows_seen, err);
    if (!code && kind == TRANSFORM_FILTER_MARKERS)
        code = ask_for_charts(engine, rows_seen, err);
    *rows_seen += engine_count_nodes(engine);
    return code;
}

/* The profile is a copy each time; only what the engine allocates may fail. */
static void look_at_everything(void *context)
{
    struct attempt *attempt = context;
    attempt->rows = 0;
    long left = atomic_exchange(&allocations_left, -1);
    struct profile profile = {0};
    assert_int_equal(read_profile(attempt->text, &profile, &attempt->err), 0);
    atomic_store(&allocations_left, left);
    struct engine *engine = engine_new(&profile, &attempt->err);
    attempt->code = engine ? 0 : -ENOMEM;
    for (int kind = 0; !attempt->code && kind < TRANSFORM_KINDS; kind++)
        attempt->code = ask_everything(engine, (enum transform_kind)kind, &attempt->rows, &attempt->err);
    engine_free(engine);
}

static int look_at_labels(const struct marker_view *view, size_t *rows_seen, struct error *err)
{
    const struct marker_list *list = marker_view_get_markers(view);
    struct text_buffer text = {0};
    struct payload payload = {0};
    int code = 0;
    for (size_t i = 0; !code && i < list->length && i < 4; i++)
        for (int label = MARKER_TABLE_LABEL; !code && label <= MARKER_TOOLTIP_LABEL; label++)
            code = marker_label_append(&text, marker_view_get_context(view), &list->data[i], (enum marker_label)label,
                                       &payload, err);
    *rows_seen += text.length;
    payload_destroy(&payload);
    array_free(&text);
    return code;
}

static int look_at_view(struct marker_view *view, size_t *rows_seen, struct error *err)
{
    static const struct marker_sort keys[] = {{MARKER_DETAILS, true}, {MARKER_DURATION, false}};
    const uint32_t threads[] = {LOOKED_AT, 4};
    struct marker_query query = {threads, 2, whole_time, "/./, -zzz", 9, 0};
    struct marker_window window = {0, 1e9, 1e5, 0, 1000};
    struct marker_rects rects = {0};
    double totals[WAIT_STATES];
    int code = marker_view_set_query(view, &query, err);
    const struct marker_chart *chart = code ? NULL : marker_view_lay_out(view, err);
    if (!code)
        code = chart ? marker_chart_list_rects(&rects, chart, marker_view_get_markers(view), &window, err) : -ENOMEM;
    *rows_seen += rects.length;
    if (!code)
        code = marker_view_sort(view, keys, 2, err) ? 0 : -ENOMEM;
    if (!code)
        code = marker_view_list_track_rects(view, LOOKED_AT, &window, marker_view_find_places(view, LOOKED_AT), &rects,
                                            err);
    if (!code)
        code = marker_view_get_points(view, LOOKED_AT, 0, 0, err) ? 0 : -ENOMEM;
    if (!code)
        code = list_on_cpu_rects(&rects, totals, marker_view_get_context(view), marker_view_get_markers(view), &window,
                                 err);
    marker_rects_destroy(&rects);
    return code ? code : look_at_labels(view, rows_seen, err);
}

static void look_at_markers(void *context)
{
    struct attempt *attempt = context;
    attempt->rows = 0;
    struct marker_view *view = marker_view_new(attempt->profile, (struct time_range){0, 1e9}, &attempt->err);
    attempt->code = view ? look_at_view(view, &attempt->rows, &attempt->err) : -ENOMEM;
    marker_view_free(view);
}

static void test_views_and_markers_are_asked_for(void **unused)
{
    (void)unused;
    struct profile profile = {0};
    struct attempt attempt = {.profile = &profile};
    char *text = text_of_file("samply-0.13-markers.json");
    text = text_replace(text, "\"display\":", "\"graphs\": [{\"key\": \"thread\", \"type\": \"line\"}], \"display\":");
    attempt.text = text;
    fail_in_turn(look_at_everything, &attempt);
    assert_int_equal(read_profile(text, &profile, &attempt.err), 0);
    fail_in_turn(look_at_markers, &attempt);
    profile_destroy(&profile);
    free(text);
}

/* ---- symbol ---- */

static char program[64], cache_path[64];

/* Looks the addresses up, and a second time in what the cache has of them. */
static int look_up_twice(struct symbolizer *symbolizer, const struct symbol_lib *lib, const uint64_t *rvas,
                         size_t count, struct attempt *attempt)
{
    int code = 0;
    attempt->rows = 0;
    for (int i = 0; i < 2 && !code; i++) {
        struct symbol_answers answers = {.problem = ""};
        code = symbolizer_lookup(symbolizer, lib, rvas, count, &answers, &attempt->err);
        attempt->rows += answers.frames.length;
        if (!code && answers.problem[0]) /* not a failure, but said */
            code = error_set(&attempt->err, ENOMEM, "%s", answers.problem);
        symbol_answers_destroy(&answers);
    }
    return code;
}

/* A library whose file could not be opened for want of memory has no names and says so; else the lookup fails. The
 * cache never gets names that are fewer or other than they should be. */
static void look_up_with(enum symbol_reader reader, struct attempt *attempt)
{
    enum { COUNT = 64 };
    uint64_t rvas[COUNT];
    struct symbol_lib lib = {.kind = SYMBOL_LIB_ELF, .name = "program", .path = input_path};
    struct symbolizer_options options = {
        .reader = reader, .threads = 1, .use_cache = true, .cache_directory = cache_path};
    for (uint64_t i = 0; i < COUNT; i++)
        rvas[i] = 0x1000 + 16 * i;
    struct symbolizer *symbolizer = symbolizer_new(&options);
    attempt->code = symbolizer ? look_up_twice(symbolizer, &lib, rvas, COUNT, attempt) : error_no_memory(&attempt->err);
    symbolizer_free(symbolizer);
    run("rm -rf cache");
}

static void look_up(void *attempt)
{
    look_up_with(SYMBOL_READER_OWN, attempt);
}

static void look_up_with_libdw(void *attempt)
{
    look_up_with(SYMBOL_READER_LIBDW, attempt);
}

static void test_addresses_are_looked_up(void **unused)
{
    (void)unused;
    struct attempt attempt = {0};
    write_text("program.c", "static inline int inner(int x) { return x * 7 + 1; }\n"
                            "__attribute__((noinline)) int middle(int x) { return inner(x) ^ 5; }\n"
                            "int main(int argc, char **argv) { (void)argv; return middle(argc); }\n");
    run("gcc -g -O1 -o program program.c");
    snprintf(program, sizeof(program), "%s/program", directory);
    snprintf(cache_path, sizeof(cache_path), "%s/cache", directory);
    snprintf(input_path, sizeof(input_path), "%s", program);
    fail_in_turn(look_up, &attempt);
    fail_in_turn(look_up_with_libdw, &attempt);
    snprintf(input_path, sizeof(input_path), "tests/fuzz/corpus/go/go122_pie");
    fail_in_turn(look_up, &attempt);
}

/* ---- symbol: names that are in no ELF file ---- */

static int name_from_perf_map(size_t *rows_seen, struct error *err)
{
    static const uint64_t addresses[] = {0, 0x1000};
    struct perf_map_name names[2] = {0};
    struct perf_map_counts counts;
    struct arena arena = {0};
    int fd = open(in_directory("perf.map"), O_RDONLY | O_CLOEXEC),
        code = perf_map_find(fd, addresses, 2, names, &arena, &counts, err);
    close(fd);
    for (int i = 0; !code && i < 2; i++) {
        struct jit_name name;
        if (!names[i].text)
            continue;
        code = jit_name_parse(&name, names[i].text, names[i].length, &arena);
        if (code)
            error_no_memory(err); /* the function has no sentence of its own */
        ++*rows_seen;
    }
    arena_destroy(&arena);
    return code;
}

static int name_from_jitdump(size_t *rows_seen, struct error *err)
{
    struct jitdump dump;
    int fd = open("tests/fuzz/corpus/jitdump/moves_and_lines", O_RDONLY | O_CLOEXEC),
        code = jitdump_read(&dump, fd, err);
    close(fd);
    if (code)
        return code;
    *rows_seen += dump.codes.length + dump.lines.length + dump.texts.entries.length;
    jitdump_destroy(&dump);
    return 0;
}

static int name_from_kernel(size_t *rows_seen, struct error *err)
{
    char symbols[64], modules[64];
    struct kallsyms kallsyms, again;
    snprintf(symbols, sizeof(symbols), "%s/kallsyms", directory);
    snprintf(modules, sizeof(modules), "%s/modules", directory);
    int code = kallsyms_load(&kallsyms, symbols, modules, err);
    if (code)
        return code;
    size_t size = 0;
    unsigned char *bytes = kallsyms_encode(&kallsyms, &size);
    int file = memfd_create("kernel", MFD_CLOEXEC);
    static const uint64_t rvas[] = {0x123, 0x201};
    code = bytes && file_write(file, bytes, size) == 0 ? kallsyms_decode(&again, file, rvas, 2) : -ENOMEM;
    close(file);
    if (code == -ENOMEM)
        error_no_memory(err);
    *rows_seen += kallsyms.symbols.length + kallsyms.modules.length;
    if (!code)
        kallsyms_destroy(&again);
    kallsyms_destroy(&kallsyms);
    free(bytes);
    return code;
}

static void name_other_code(void *context)
{
    struct attempt *attempt = context;
    attempt->rows = 0;
    attempt->code = name_from_perf_map(&attempt->rows, &attempt->err);
    if (!attempt->code)
        attempt->code = name_from_jitdump(&attempt->rows, &attempt->err);
    if (!attempt->code)
        attempt->code = name_from_kernel(&attempt->rows, &attempt->err);
}

static void test_code_outside_of_files_is_named(void **unused)
{
    (void)unused;
    struct attempt attempt = {0};
    write_text("perf.map", "0 100 LazyCompile:*work /home/app.js:10:3\n1000 80 py::step:/home/app.py\n");
    write_text("kallsyms", "ffffffff81000000 T _text\nffffffff81000100 T do_work\nffffffff81000200 t other\n"
                           "ffffffffc0000000 t nft_go\t[nf_tables]\n");
    write_text("modules", "nf_tables 16384 0 - Live 0xffffffffc0000000\n");
    fail_in_turn(name_other_code, &attempt);
}

static void take_apart(void *context)
{
    struct attempt *attempt = context;
    struct disassembly code = {0};
    struct disassemble_request request = {
        .lib = {.kind = SYMBOL_LIB_ELF, .name = "program", .path = program}, .start = 0x1000, .size = 0x200};
    struct symbolizer_options options = {.threads = 1, .use_cache = true, .skip_inlines_and_lines = true};
    struct symbolizer *names = symbolizer_new(&options);
    attempt->code = names ? disassemble(&code, &request, names, &attempt->err) : error_no_memory(&attempt->err);
    attempt->rows = code.instructions.length;
    disassembly_destroy(&code);
    symbolizer_free(names);
}

static void test_code_is_disassembled(void **unused)
{
    (void)unused;
    struct attempt attempt = {0};
    fail_in_turn(take_apart, &attempt);
}

/* ---- record and assemble ---- */

static char spool_path[64];

static int track(struct tracker *tracker, const struct record_bytes *made, struct error *err)
{
    struct perf_record record;
    assert_int_equal(perf_record_parse(&test_layout, made->bytes, made->size, &record), 0);
    return tracker_handle_record(tracker, &record, err);
}

/* After lost records the mappings of a process, here our own, are read again. */
static int lose_and_refresh(struct tracker *tracker, struct error *err)
{
    struct record_bytes made;
    struct tracked_thread *thread = NULL;
    struct tracked_process *process = NULL;
    const uint64_t nowhere = 0x1000;
    const struct tracked_stack stack = {.pcs = &nowhere, .count = 1};
    bool changed = false;
    uint32_t pid = (uint32_t)getpid();
    int code = tracker_find_thread_and_process(tracker, pid, pid, 24, &thread, &process, err);
    make_lost(&made, 7, 25);
    if (!code)
        code = track(tracker, &made, err);
    if (!code)
        code = tracker_check_stack(tracker, process, &stack, UINT64_C(1) << 40, &changed, err);
    assert_true(code || changed);
    return code;
}

static int track_all(struct spool_writer *spool, struct tracker *tracker, struct error *err)
{
    struct record_bytes made;
    struct tracked_thread *thread = NULL;
    struct tracked_process *process = NULL;
    const uint64_t frames[] = {0x401010, 0x401020};
    make_comm(&made, 0x7ffffff0, 0x7ffffff0, "program", 1, 10);
    int code = track(tracker, &made, err);
    make_mmap(&made, 0x7ffffff0, 0x401000, 0x1000, program, 5, 11);
    if (!code)
        code = track(tracker, &made, err);
    make_task(&made, PERF_RECORD_FORK, 0x7ffffff1, 0x7ffffff0, 0x7ffffff1, 0x7ffffff0, 12);
    if (!code)
        code = track(tracker, &made, err);
    for (uint64_t i = 0; !code && i < 4; i++) {
        uint32_t pid = 0x7ffffff0 + (i > 0); /* each process is found again */
        code = tracker_find_thread_and_process(tracker, pid, pid, 20 + i, &thread, &process, err);
        if (code)
            break;
        struct sample sample = {.thread = thread->number, .time = 20 + i, .frame_count = 2, .frames = frames};
        code = spool_writer_sample(spool, &sample, err);
    }
    if (!code)
        code = lose_and_refresh(tracker, err);
    const struct spool_event marks[] = {{.kind = SPOOL_PAUSED, .time = 26},
                                        {.kind = SPOOL_RESUMED, .time = 27},
                                        {.kind = SPOOL_MARK, .time = 28, .value = "here"},
                                        {.kind = SPOOL_RUN, .time = 29, .count = 2}};
    for (size_t i = 0; !code && i < sizeof(marks) / sizeof(*marks); i++)
        code = spool_writer_event(spool, &marks[i], err);
    make_task(&made, PERF_RECORD_EXIT, 0x7ffffff1, 0x7ffffff0, 0x7ffffff1, 0x7ffffff0, 30);
    return code ? code : track(tracker, &made, err);
}

static int record_it(struct error *err)
{
    unlink(spool_path);
    struct spool_writer *spool;
    int code = spool_writer_new(&spool, spool_path, err);
    if (code)
        return code;
    struct library_table *libraries = library_table_new(spool);
    struct tracker *tracker = tracker_new(spool, libraries);
    code = libraries && tracker ? track_all(spool, tracker, err) : error_no_memory(err);
    tracker_free(tracker);
    library_table_free(libraries);
    int closed = spool_writer_close(spool, code ? NULL : err);
    return code ? code : closed;
}

/* A checksum of what a saved profile says of its threads, and the rows of its tables. */
static size_t contents_of_file(const char *path)
{
    struct profile profile = {0};
    struct error err = {""};
    if (profile_load(path, &profile, &err))
        fail_msg("%s", err.text);
    uint64_t sum = profile.libs.length + profile.frames.length + profile.funcs.length;
    for (size_t i = 0; i < profile.threads.length; i++) {
        const struct thread *thread = &profile.threads.data[i];
        char text[256];
        snprintf(text, sizeof(text), "%s %s %s %s %zu", profile_text(&profile, thread->name),
                 profile_text(&profile, thread->process_name), profile_text(&profile, thread->pid),
                 profile_text(&profile, thread->tid), thread->samples.length);
        sum = checksum_mix(sum, checksum_bytes(text, strlen(text)));
    }
    profile_destroy(&profile);
    return (size_t)sum;
}

static void record_and_assemble(void *context)
{
    struct attempt *attempt = context;
    struct assemble_options options = {.threads = 1};
    struct assemble_result result = {0};
    attempt->code = record_it(&attempt->err);
    if (!attempt->code)
        attempt->code = assemble_recording(spool_path, output_path, &options, &result, &attempt->err);
    attempt->rows = (size_t)result.samples;
    long left = atomic_exchange(&allocations_left, -1);
    if (!attempt->code)
        attempt->rows += contents_of_file(output_path);
    atomic_store(&allocations_left, left);
}

static void test_recordings_are_made(void **unused)
{
    (void)unused;
    struct attempt attempt = {0};
    snprintf(spool_path, sizeof(spool_path), "%s/spool", directory);
    snprintf(output_path, sizeof(output_path), "%s/profile.json", directory);
    fail_in_turn(record_and_assemble, &attempt);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_profiles_are_read_and_written),
        cmocka_unit_test(test_files_are_converted),
        cmocka_unit_test(test_old_versions_are_read),
        cmocka_unit_test(test_odd_files_are_read),
        cmocka_unit_test(test_profiles_are_compared),
        cmocka_unit_test(test_trees_are_asked_for),
        cmocka_unit_test(test_views_and_markers_are_asked_for),
        cmocka_unit_test(test_addresses_are_looked_up),
        cmocka_unit_test(test_code_outside_of_files_is_named),
        cmocka_unit_test(test_code_is_disassembled),
        cmocka_unit_test(test_recordings_are_made),
    };
    return cmocka_run_group_tests(tests, make_empty_directory, remove_directory);
}
