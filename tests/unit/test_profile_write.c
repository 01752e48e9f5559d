/* Written profiles have version 70, read back equal, and keep their sums when times are rounded. */
#include "file/profile_file.h"
#include "support/directory.h"
#include "support/profile_text.h"
#include "support/sample_rows.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <cmocka.h>

static void read_text(const char *text, struct profile *profile)
{
    struct error err = {""};
    if (read_bytes(text, strlen(text), SIZE_MAX, profile, &err) != 0)
        fail_msg("%s", err.text);
}

static void assert_same_after_round_trip(const char *name)
{
    char *text = text_of_file(name);
    struct profile first = {0}, second = {0};
    read_text(text, &first);
    char *written = text_of_profile(&first, 0);
    read_text(written, &second);
    char *again = text_of_profile(&second, 0);
    assert_string_equal(written, again);
    free(written);
    free(again);
    free(text);
    profile_destroy(&first);
    profile_destroy(&second);
}

static void test_what_is_read_and_written_reads_the_same(void **state)
{
    (void)state;
    assert_same_after_round_trip("minimal.json");
    assert_same_after_round_trip("full.json");
    assert_same_after_round_trip("version53.json");
}

static void test_threads_to_be_seen_and_selected_at_first_are_kept(void **state)
{
    (void)state;
    char *text = text_of_file("minimal.json");
    struct profile first = {0}, second = {0};
    read_text(text, &first);
    assert_true(array_push(&first.meta.initial_visible_threads, 0));
    assert_true(array_push(&first.meta.initial_selected_threads, 0));
    char *written = text_of_profile(&first, 0);
    read_text(written, &second);
    assert_int_equal(second.meta.initial_visible_threads.length, 1);
    assert_int_equal(second.meta.initial_selected_threads.length, 1);
    free(written);
    free(text);
    profile_destroy(&first);
    profile_destroy(&second);
}

/* Every value of the file is in what is written: the texts of both without spaces are compared table by table. */
static void test_the_tables_of_the_minimal_file_are_written_as_they_are(void **state)
{
    (void)state;
    static const char *const parts[] = {
        "\"preprocessedProfileVersion\":70",
        "\"stringArray\":[\"main\",\"work\",\"leaf\",\"app\",\"/src/app.c\"]",
        "\"stackTable\":{\"frame\":[0,1,2],\"prefixOffset\":[0,1,1],\"length\":3}",
        "\"frameTable\":{\"address\":[4112,4368,4640],\"lib\":[0,0,0],\"inlineDepth\":[0,0,0],\"category\":[1,1,2],"
        "\"subcategory\":[0,0,0],\"func\":[0,1,2],\"nativeSymbol\":[0,1,null],\"innerWindowID\":[null,null,null],"
        "\"line\":[10,20,null],\"column\":[null,null,null],\"originalLocation\":[null,null,null],\"length\":3}",
        "\"funcTable\":{\"name\":[0,1,2],\"isJS\":[false,false,false],\"relevantForJS\":[false,false,false],"
        "\"resource\":[0,0,-1],\"source\":[0,0,null],\"lineNumber\":[null,null,null],\"columnNumber\":[null,null,null],"
        "\"originalLocation\":[null,null,null],\"length\":3}",
        "\"resourceTable\":{\"name\":[3],\"host\":[null],\"type\":[1],\"length\":1}",
        "\"nativeSymbols\":{\"libIndex\":[0,0],\"address\":[4096,4352],\"name\":[0,1],\"functionSize\":[128,null],"
        "\"length\":2}",
        "\"samples\":{\"stack\":[2,1,null,2],\"timeDeltas\":[1,1,1,1],\"weight\":null,\"weightType\":\"samples\","
        "\"threadCPUDelta\":[null,1000,0,500],\"length\":4}",
        "\"pid\":\"42\",\"tid\":42,"};
    char *text = text_of_file("minimal.json");
    struct profile profile = {0};
    read_text(text, &profile);
    char *written = text_of_profile(&profile, 0.001);
    for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
        if (!strstr(written, parts[i]))
            fail_msg("no %s in %s", parts[i], written);
    free(written);
    free(text);
    profile_destroy(&profile);
}

static void test_texts_that_are_written_in_place_stay_out_of_the_string_table(void **state)
{
    (void)state;
    char *text = text_of_file("minimal.json");
    struct profile profile = {0}, back = {0};
    read_text(text, &profile);
    assert_true(profile.strings.entries.length > 5);
    profile.meta.kept_strings = 0;
    char *written = text_of_profile(&profile, 0);
    read_text(written, &back);
    assert_int_equal(back.meta.kept_strings, 5);
    assert_string_equal(strings_text(&back.strings, back.funcs.name[2]), "leaf");
    free(written);
    free(text);
    profile_destroy(&profile);
    profile_destroy(&back);
}

/* A thread of `count` samples about 1 ms apart whose CPU time follows the wall time, with jitter in both. */
static void make_jittery_thread(struct profile *profile, size_t count)
{
    profile_init(profile);
    profile->meta.interval = 1;
    profile->meta.has_cpu_delta = true;
    uint32_t text = strings_add_z(&profile->strings, "x");
    profile_add_category(profile, "Other", "grey");
    profile_add_func(profile, text, PROFILE_NONE);
    profile_add_frame(profile, 0, PROFILE_NONE, -1);
    profile_add_stack(profile, PROFILE_NONE, 0);
    struct thread *thread = profile_add_thread(profile);
    thread->name = thread->process_type = thread->pid = thread->tid = text;
    assert_true(samples_give_cpu_delta(&thread->samples));
    uint64_t random = 5;
    double time = 3.14159;
    for (size_t i = 0; i < count; i++) {
        random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
        double delta = i % 97 == 0 ? 25 : 1 + ((double)(random >> 40) / 16777216.0 - 0.5) * 0.02;
        time += delta;
        assert_true(samples_add(&thread->samples, 0, time));
        thread->samples.cpu_delta[i] = i == 0 ? NAN : i % 97 == 0 ? 3.25 : delta * 1000 - 2.5;
    }
}

static void test_times_on_a_grid_are_never_off_by_more_than_a_step(void **state)
{
    (void)state;
    enum { COUNT = 5000 };
    struct profile profile, back = {0};
    make_jittery_thread(&profile, COUNT);
    char *written = text_of_profile(&profile, 0.01);
    read_text(written, &back);
    const struct sample_table *exact = &profile.threads.data[0].samples, *rounded = &back.threads.data[0].samples;
    double exact_cpu = 0, rounded_cpu = 0;
    for (size_t i = 0; i < COUNT; i++) {
        assert_true(fabs(exact->time[i] - rounded->time[i]) <= 0.01 + 1e-9);
        exact_cpu += isnan(exact->cpu_delta[i]) ? 0 : exact->cpu_delta[i];
        rounded_cpu += isnan(rounded->cpu_delta[i]) ? 0 : rounded->cpu_delta[i];
        assert_true(fabs(exact_cpu - rounded_cpu) <= 10 + 1e-6);
    }
    free(written);
    profile_destroy(&profile);
    profile_destroy(&back);
}

static void test_who_ended_waits_stands_in_the_samples_as_a_text(void **state)
{
    (void)state;
    struct profile profile, back = {0};
    make_jittery_thread(&profile, 0);
    struct sample_table *samples = &profile.threads.data[0].samples;
    assert_true(samples_give_waker(samples));
    for (int i = 0; i < 3; i++) {
        assert_true(samples_add(samples, 0, i));
        samples->cpu_delta[i] = 0;
    }
    samples->waker[1] = strings_add_z(&profile.strings, "worker (7)");
    samples->waker_stack[1] = 0;
    char *written = text_of_profile(&profile, 0.01);
    assert_non_null(strstr(written, "\"waker\":[null,\"worker (7)\",null]"));
    read_text(written, &back);
    const struct sample_table *read = &back.threads.data[0].samples;
    assert_non_null(read->waker);
    assert_int_equal(read->waker[0], PROFILE_NONE);
    assert_string_equal(strings_text(&back.strings, read->waker[1]), "worker (7)");
    assert_int_equal(read->waker[2], PROFILE_NONE);
    assert_int_equal(read->waker_stack[0], PROFILE_NONE);
    assert_int_equal(read->waker_stack[1], 0);
    profile_destroy(&back);
    back = (struct profile){0};
    char *length = strstr(written, "\"stackTableLength\":1");
    assert_non_null(length);
    length[strlen("\"stackTableLength\":")] = '2'; /* another tool has dropped a stack */
    read_text(written, &back);
    assert_null(back.threads.data[0].samples.waker_stack);
    free(written);
    profile_destroy(&profile);
    profile_destroy(&back);
}

static void *copy(const void *data, size_t size)
{
    void *made = malloc(size);
    assert_non_null(made);
    return memcpy(made, data, size);
}

static void test_slices_have_whole_microseconds(void **state)
{
    (void)state;
    static const uint32_t cpus[] = {3, 0, 3};
    static const double starts[] = {1.0004, 2.5, 3.9994}, ends[] = {2.5, 2.51, 3.99945}, off_cpu[] = {0.25, 0, 0};
    struct profile profile, back = {0};
    make_jittery_thread(&profile, 0);
    profile.threads.data[0].slices = (struct slice_table){.cpu = copy(cpus, sizeof(cpus)),
                                                          .start = copy(starts, sizeof(starts)),
                                                          .end = copy(ends, sizeof(ends)),
                                                          .off_cpu = copy(off_cpu, sizeof(off_cpu)),
                                                          .length = 3};
    char *written = text_of_profile(&profile, 0.01);
    assert_non_null(strstr(written, "\"cpuSlices\":{\"cpu\":[3,0,3],\"timeDeltas\":[1,1.5,1.5],"
                                    "\"duration\":[1.5,0.01,0],\"offCpu\":[0.25,0,0],\"length\":3}"));
    read_text(written, &back);
    const struct slice_table *read = &back.threads.data[0].slices;
    assert_int_equal(read->length, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(read->cpu[i], cpus[i]);
        assert_true(fabs(read->start[i] - starts[i]) < 0.001 && fabs(read->end[i] - ends[i]) < 0.001);
        assert_true(read->off_cpu[i] == off_cpu[i]);
    }
    free(written);
    profile_destroy(&profile);
    profile_destroy(&back);
}

static void test_what_was_on_the_grid_stays_where_it_is(void **state)
{
    (void)state;
    struct profile profile, once = {0};
    make_jittery_thread(&profile, 2000);
    char *written = text_of_profile(&profile, 0.01);
    read_text(written, &once);
    char *again = text_of_profile(&once, 0.01);
    assert_string_equal(written, again);
    free(written);
    free(again);
    profile_destroy(&profile);
    profile_destroy(&once);
}

static void test_full_precision_keeps_every_time(void **state)
{
    (void)state;
    enum { COUNT = 1000 };
    struct profile profile, back = {0};
    make_jittery_thread(&profile, COUNT);
    char *written = text_of_profile(&profile, 0);
    read_text(written, &back);
    assert_memory_equal(profile.threads.data[0].samples.time, back.threads.data[0].samples.time,
                        COUNT * sizeof(double));
    free(written);
    profile_destroy(&profile);
    profile_destroy(&back);
}

/* ---- a stream of samples ---- */

struct stream {
    size_t passes, row;
    int fail_at_pass;
};

static int stream_rewind(void *context, size_t thread, struct error *err)
{
    struct stream *stream = context;
    assert_int_equal(thread, 0);
    stream->row = 0;
    if ((int)++stream->passes == stream->fail_at_pass)
        return error_set(err, EIO, "the spool is gone");
    return 0;
}

static bool stream_next(void *context, struct sample_row *row)
{
    struct stream *stream = context;
    *row = (struct sample_row){
        .stack = stream->row % 2 ? PROFILE_NONE : 0, .time = (double)stream->row, .weight = 2.5, .cpu_delta = 7};
    return stream->row++ < 3;
}

static void test_samples_come_from_a_stream(void **state)
{
    (void)state;
    struct profile profile;
    make_jittery_thread(&profile, 0);
    struct stream stream = {0};
    struct sample_source source = {
        .rewind = stream_rewind, .next = stream_next, .has_weight = true, .has_cpu_delta = true, .context = &stream};
    struct memory memory = {0};
    struct byte_sink sink = memory_sink(&memory);
    struct error err = {""};
    assert_int_equal(profile_write(&profile, &source, 0.001, &sink, &err), 0);
    assert_non_null(strstr(memory.data, "{\"stack\":[0,null,0],\"timeDeltas\":[0,1,1],\"weight\":[2.5,2.5,2.5],"
                                        "\"weightType\":\"samples\",\"threadCPUDelta\":[7,7,7],\"length\":3}"));
    array_free(&memory);

    stream = (struct stream){.fail_at_pass = 2};
    assert_int_equal(profile_write(&profile, &source, 0.001, &sink, &err), -EIO);
    assert_string_equal(err.text, "the spool is gone");
    array_free(&memory);
    profile_destroy(&profile);
}

/* ---- files ---- */

static size_t files_in_directory(void)
{
    char command[300], line[16] = "";
    snprintf(command, sizeof(command), "ls -A '%s' | wc -l", directory);
    FILE *pipe = popen(command, "r");
    assert_non_null(fgets(line, sizeof(line), pipe));
    pclose(pipe);
    return strtoul(line, NULL, 10);
}

static int save(const struct profile *profile, const char *path, struct error *err)
{
    struct profile_file *file;
    int rc = profile_file_create(&file, path, err);
    if (rc)
        return rc;
    struct byte_sink sink = profile_file_make_sink(file);
    rc = profile_write(profile, NULL, 0, &sink, err);
    if (!rc)
        return profile_file_commit(file, err);
    profile_file_abandon(file);
    return rc;
}

static void test_plain_and_packed_files_read_back_the_same(void **state)
{
    (void)state;
    struct profile profile, back = {0};
    struct error err = {""};
    make_jittery_thread(&profile, 50000); /* several blocks of the packing thread */
    char *expected = text_of_profile(&profile, 0);
    static const char *const names[] = {"a.json", "a.json.gz"};
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(save(&profile, in_directory(names[i]), &err), 0);
        assert_int_equal(profile_load(in_directory(names[i]), &back, &err), 0);
        char *actual = text_of_profile(&back, 0);
        assert_string_equal(actual, expected);
        free(actual);
        profile_destroy(&back);
    }
    struct stat plain, packed;
    assert_int_equal(stat(in_directory("a.json"), &plain), 0);
    assert_int_equal(stat(in_directory("a.json.gz"), &packed), 0);
    assert_true(packed.st_size < plain.st_size / 2);
    assert_int_equal(files_in_directory(), 2);
    free(expected);
    profile_destroy(&profile);
}

static void test_a_packed_file_of_many_blocks_is_whole_gzip(void **state)
{
    (void)state;
    enum { COUNT = 400000 }; /* more than the packer's ring holds */
    struct profile profile;
    struct error err = {""};
    make_jittery_thread(&profile, COUNT);
    char *expected = text_of_profile(&profile, 0);
    assert_int_equal(save(&profile, in_directory("many.json.gz"), &err), 0);
    gzFile file = gzopen(in_directory("many.json.gz"), "rb");
    size_t length = strlen(expected);
    char *actual = calloc(1, length + 2);
    assert_int_equal(gzread(file, actual, (unsigned)length + 1), length);
    assert_int_equal(gzclose(file), Z_OK); /* checks the sum at the end */
    assert_true(memcmp(actual, expected, length) == 0);
    unlink(in_directory("many.json.gz"));
    free(actual);
    free(expected);
    profile_destroy(&profile);
}

static void test_a_packed_file_that_is_cut_off_says_so(void **state)
{
    (void)state;
    struct profile profile, back = {0};
    struct error err = {""};
    make_jittery_thread(&profile, 20000);
    assert_int_equal(save(&profile, in_directory("cut.json.gz"), &err), 0);
    struct stat status;
    assert_int_equal(stat(in_directory("cut.json.gz"), &status), 0);
    assert_int_equal(truncate(in_directory("cut.json.gz"), status.st_size / 2), 0);
    assert_int_not_equal(profile_load(in_directory("cut.json.gz"), &back, &err), 0);
    assert_non_null(strstr(err.text, "truncated"));
    FILE *file = fopen(in_directory("cut.json.gz"), "r+b");
    assert_int_equal(fseek(file, status.st_size / 4, SEEK_SET), 0);
    fputs("damage", file);
    fclose(file);
    assert_int_not_equal(profile_load(in_directory("cut.json.gz"), &back, &err), 0);
    assert_true(strstr(err.text, "damaged") || strstr(err.text, "at byte"));
    unlink(in_directory("cut.json.gz"));
    profile_destroy(&profile);
}

static void test_an_abandoned_file_leaves_nothing_and_spares_the_old_one(void **state)
{
    (void)state;
    struct profile_file *file;
    struct error err = {""};
    size_t before = files_in_directory();
    assert_int_equal(profile_file_create(&file, in_directory("a.json"), &err), 0);
    struct byte_sink sink = profile_file_make_sink(file);
    assert_int_equal(sink.write(sink.context, "half", 4, &err), 0);
    assert_int_equal(files_in_directory(), before + 1);
    profile_file_abandon(file);
    assert_int_equal(files_in_directory(), before);
    struct profile back = {0};
    assert_int_equal(profile_load(in_directory("a.json"), &back, &err), 0);
    profile_destroy(&back);
}

static void test_places_that_cannot_be_written_or_read_are_named(void **state)
{
    (void)state;
    struct profile_file *file;
    struct profile profile = {0};
    struct error err = {""};
    assert_int_equal(profile_file_create(&file, directory, &err), -EISDIR);
    assert_int_equal(profile_file_create(&file, "/no/such/directory/a.json", &err), -ENOENT);
    assert_non_null(strstr(err.text, "/no/such/directory/a.json"));
    assert_int_equal(profile_load(directory, &profile, &err), -EISDIR);
    assert_non_null(strstr(err.text, "is a directory"));
    assert_int_equal(profile_load("/no/such/file", &profile, &err), -ENOENT);
    assert_int_not_equal(profile_load("/bin/sh", &profile, &err), 0);
    assert_non_null(strstr(err.text, "/bin/sh"));
}

static void test_a_full_disk_is_reported(void **state)
{
    (void)state;
    struct profile profile;
    struct error err = {""};
    make_jittery_thread(&profile, 50000);
    assert_int_not_equal(save(&profile, "/dev/full", &err), 0);
    assert_non_null(strstr(err.text, "No space left"));
    profile_destroy(&profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_read_and_written_reads_the_same),
        cmocka_unit_test(test_threads_to_be_seen_and_selected_at_first_are_kept),
        cmocka_unit_test(test_the_tables_of_the_minimal_file_are_written_as_they_are),
        cmocka_unit_test(test_texts_that_are_written_in_place_stay_out_of_the_string_table),
        cmocka_unit_test(test_times_on_a_grid_are_never_off_by_more_than_a_step),
        cmocka_unit_test(test_who_ended_waits_stands_in_the_samples_as_a_text),
        cmocka_unit_test(test_slices_have_whole_microseconds),
        cmocka_unit_test(test_what_was_on_the_grid_stays_where_it_is),
        cmocka_unit_test(test_full_precision_keeps_every_time),
        cmocka_unit_test(test_samples_come_from_a_stream),
        cmocka_unit_test(test_plain_and_packed_files_read_back_the_same),
        cmocka_unit_test(test_a_packed_file_of_many_blocks_is_whole_gzip),
        cmocka_unit_test(test_a_packed_file_that_is_cut_off_says_so),
        cmocka_unit_test(test_an_abandoned_file_leaves_nothing_and_spares_the_old_one),
        cmocka_unit_test(test_places_that_cannot_be_written_or_read_are_named),
        cmocka_unit_test(test_a_full_disk_is_reported),
    };
    return cmocka_run_group_tests(tests, make_empty_directory, remove_directory);
}
