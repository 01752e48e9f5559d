/*
 * Each allocation of an operation fails in turn. What cannot be done is said, nothing is lost (the leak checker looks
 * at the end), nothing crashes; and where an operation can do without, its result is whole.
 */
#include "assemble/assemble.h"
#include "perf_bytes.h"
#include "profile/file.h"
#include "record/library_table.h"
#include "record/spool.h"
#include "record/tracker.h"
#include "support/failing_memory.h"
#include "support/folder.h"
#include "support/profile_text.h"
#include "symbol/symbol.h"
#include "tree/engine.h"
#include "tree/flame.h"

#include <errno.h>
#include <unistd.h>

struct attempt {
    const char *text; /* of a profile */
    int code;
    struct error err;
    size_t rows; /* of what came out */
};

enum { MOST_ALLOCATIONS = 200000 };

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

/* ---- tree ---- */

static int ask(struct engine *engine, bool inverted, size_t *rows_seen, struct error *err)
{
    static const struct transform transforms[] = {{.kind = TRANSFORM_MERGE_FUNCTION, .index = 1},
                                                  {.kind = TRANSFORM_COLLAPSE_RECURSION, .index = 0}};
    uint32_t thread = 0;
    struct tree_query query = {.threads = &thread,
                               .thread_count = 1,
                               .range = engine_full_range(engine),
                               .transforms = transforms,
                               .transform_count = 2,
                               .search = "",
                               .inverted = inverted};
    struct tree_rows rows = {0};
    struct flame_rects rects = {0};
    struct func_timings functions = {0};
    struct node_details details = {0};
    const struct flame_request flame = {.part = {0, 1}};
    int code = engine_query(engine, &query, err);
    if (!code)
        code = engine_descendants(engine, NODE_NONE, 100, &rows, err);
    if (!code)
        code = engine_flame(engine, &flame, &rects, err);
    if (!code)
        code = engine_functions(engine, FUNCS_BY_SELF, &functions, err);
    if (!code && rows.length)
        code = engine_details(engine, rows.node[0], &details, err);
    if (!code)
        code = engine_butterfly(engine, (struct butterfly_center){.kind = BUTTERFLY_FUNCTION, .index = 0}, err);
    *rows_seen += rows.length + rects.length;
    node_details_destroy(&details);
    func_timings_destroy(&functions);
    array_free(&rects);
    tree_rows_destroy(&rows);
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
    engine_free(engine);
}

static void test_trees_are_asked_for(void **unused)
{
    (void)unused;
    struct attempt attempt = {.text = text_of_file("full.json")};
    fail_in_turn(look_at_tree, &attempt);
    free((void *)attempt.text);
}

/* ---- symbol ---- */

static char program[64];

static void look_up(void *context)
{
    struct attempt *attempt = context;
    enum { COUNT = 64 };
    uint64_t rvas[COUNT];
    struct symbol_answers answers = {.problem = ""};
    struct symbol_lib lib = {.kind = SYMBOL_LIB_ELF, .name = "program", .path = program};
    for (uint64_t i = 0; i < COUNT; i++)
        rvas[i] = 0x1000 + 16 * i;
    struct symbolizer *symbolizer =
        symbolizer_new(&(struct symbolizer_options){.threads = 1, .use_cache = true}, &attempt->err);
    attempt->code = symbolizer ? symbolizer_lookup(symbolizer, &lib, rvas, COUNT, &answers, &attempt->err) : -ENOMEM;
    attempt->rows = attempt->code ? 0 : answers.frames.length;
    symbol_answers_destroy(&answers);
    symbolizer_free(symbolizer);
}

/* A library of which something could not be read for want of memory has fewer names, and says so; no lookup fails. */
static void test_addresses_are_looked_up(void **unused)
{
    (void)unused;
    struct attempt attempt = {0};
    write_text("program.c", "static inline int inner(int x) { return x * 7 + 1; }\n"
                            "__attribute__((noinline)) int middle(int x) { return inner(x) ^ 5; }\n"
                            "int main(int argc, char **argv) { (void)argv; return middle(argc); }\n");
    run("gcc -g -O1 -o program program.c");
    snprintf(program, sizeof(program), "%s/program", folder);
    look_up(&attempt);
    assert_true(attempt.rows > 0);
    long n = 0;
    while (n < MOST_ALLOCATIONS && run_with_failure(n, look_up, &attempt))
        n++;
    assert_in_range(n, 20, MOST_ALLOCATIONS - 1);
}

/* ---- record and assemble ---- */

static char spool_path[64], output_path[64];

static int track(struct tracker *tracker, const struct record_bytes *made, struct error *err)
{
    struct perf_record record;
    assert_int_equal(perf_record_parse(&test_layout, made->bytes, made->size, &record), 0);
    return tracker_record(tracker, &record, err);
}

/* After lost records the mappings of a process, here our own, are read again. */
static int lose_and_refresh(struct tracker *tracker, struct error *err)
{
    struct record_bytes made;
    struct tracked_thread *thread = NULL;
    struct tracked_process *process = NULL;
    bool changed = false;
    uint32_t pid = (uint32_t)getpid();
    int code = tracker_find(tracker, pid, pid, 24, &thread, &process, err);
    make_lost(&made, 7, 25);
    if (!code)
        code = track(tracker, &made, err);
    if (!code)
        code = tracker_refresh(tracker, process, 26, &changed, err);
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
    if (!code)
        code = tracker_find(tracker, 0x7ffffff1, 0x7ffffff1, 20, &thread, &process, err);
    for (uint64_t i = 0; !code && i < 3; i++) {
        struct sample sample = {.thread = thread->number, .time = 20 + i, .frame_count = 2, .frames = frames};
        code = spool_writer_sample(spool, &sample, err);
    }
    if (!code)
        code = lose_and_refresh(tracker, err);
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

static void record_and_assemble(void *context)
{
    struct attempt *attempt = context;
    struct assemble_options options = {.threads = 1};
    struct assemble_result result = {0};
    attempt->code = record_it(&attempt->err);
    if (!attempt->code)
        attempt->code = assemble_recording(spool_path, output_path, &options, &result, &attempt->err);
    attempt->rows = (size_t)result.samples;
}

static void test_recordings_are_made(void **unused)
{
    (void)unused;
    struct attempt attempt = {0};
    snprintf(spool_path, sizeof(spool_path), "%s/spool", folder);
    snprintf(output_path, sizeof(output_path), "%s/profile.json", folder);
    fail_in_turn(record_and_assemble, &attempt);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_profiles_are_read_and_written),
        cmocka_unit_test(test_trees_are_asked_for),
        cmocka_unit_test(test_addresses_are_looked_up),
        cmocka_unit_test(test_recordings_are_made),
    };
    return cmocka_run_group_tests(tests, make_empty_folder, remove_folder);
}
