/* pprof profiles: the sample type that becomes the weight, and the conversion of labels. */
#include "export/protobuf_write.h"
#include "support/profile_text.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "support/import_text.h"

enum { ALLOC = 1, COUNT, INUSE, BYTES, MAIN, WORK, REQUEST, A, B, SIZE, THREAD, WORKER, TEXTS };

static const char *const texts[TEXTS] = {"",     "alloc",   "count", "inuse", "bytes", "main",
                                         "work", "request", "A",     "B",     "size",  "thread"};

static void put_pair(struct protobuf_writer *out, uint32_t field, uint64_t first, uint64_t second)
{
    size_t opened = protobuf_open(out, field);
    protobuf_write_unsigned(out, 1, first);
    protobuf_write_unsigned(out, 2, second);
    protobuf_close(out, opened);
}

static void put_label(struct protobuf_writer *out, uint64_t key, uint64_t text, uint64_t number, uint64_t unit)
{
    size_t opened = protobuf_open(out, 3);
    protobuf_write_unsigned(out, 1, key);
    protobuf_write_unsigned(out, 2, text);
    protobuf_write_unsigned(out, 3, number);
    protobuf_write_unsigned(out, 4, unit);
    protobuf_close(out, opened);
}

/* A sample of main;work, with a label of a text, and one of a number; 0: without. */
static void put_sample(struct protobuf_writer *out, uint64_t alloc, uint64_t inuse, uint64_t request, uint64_t size)
{
    size_t sample = protobuf_open(out, 2), list = protobuf_open(out, 1);
    protobuf_write_element(out, 2);
    protobuf_write_element(out, 1);
    protobuf_close(out, list);
    list = protobuf_open(out, 2);
    protobuf_write_element(out, alloc);
    protobuf_write_element(out, inuse);
    protobuf_close(out, list);
    if (request)
        put_label(out, REQUEST, request, 0, 0);
    if (size)
        put_label(out, SIZE, 0, size, BYTES);
    protobuf_close(out, sample);
}

static void put_tables(struct protobuf_writer *out)
{
    for (uint64_t i = 1; i <= 2; i++) {
        size_t location = protobuf_open(out, 4);
        protobuf_write_unsigned(out, 1, i);
        size_t line = protobuf_open(out, 4);
        protobuf_write_unsigned(out, 1, i);
        protobuf_close(out, line);
        protobuf_close(out, location);
        put_pair(out, 5, i, MAIN + i - 1);
    }
    for (int i = 0; i < TEXTS; i++) {
        const char *text = texts[i] ? texts[i] : "worker";
        size_t length = strlen(text);
        if (length)
            protobuf_write_bytes(out, 6, text, length);
        else
            protobuf_close(out, protobuf_open(out, 6));
    }
}

static void import_made(struct protobuf_writer *out, struct profile *profile)
{
    struct error err = {""};
    *profile = (struct profile){0};
    if (import_bytes(out->bytes.data, out->bytes.length, profile, &err) != 0)
        fail_msg("%s", err.text);
    array_free(&out->bytes);
}

static void begin(struct protobuf_writer *out)
{
    *out = (struct protobuf_writer){0};
    put_pair(out, 1, ALLOC, COUNT);
    put_pair(out, 1, INUSE, BYTES);
}

static void test_a_default_type_without_values_gives_way(void **state)
{
    (void)state;
    for (uint64_t inuse = 0; inuse <= 7; inuse += 7) {
        struct protobuf_writer out;
        struct profile profile;
        begin(&out);
        put_sample(&out, 5, inuse, 0, 0);
        put_tables(&out);
        import_made(&out, &profile);
        const struct thread *thread = &profile.threads.data[0];
        assert_int_equal(thread->samples.length, 1);
        assert_string_equal(stack_text(&profile, thread->samples.stack[0]), "main;work");
        assert_true(sum_of_weights(&thread->samples) == (inuse ? 7 : 5));
        assert_int_equal(thread->samples.weight_type, inuse ? WEIGHT_BYTES : WEIGHT_SAMPLES);
        assert_int_equal(strstr(profile_text(&profile, profile.meta.warning), "inuse, has no values") == NULL,
                         inuse > 0);
        profile_destroy(&profile);
    }
}

static void test_labels_are_threads_and_markers(void **state)
{
    (void)state;
    struct protobuf_writer out;
    struct profile profile;
    begin(&out);
    put_sample(&out, 5, 7, A, 0);
    put_sample(&out, 5, 7, B, 4096);
    put_sample(&out, 5, 7, A, 0);
    put_sample(&out, 5, 7, 0, 0);
    put_tables(&out);
    import_made(&out, &profile);
    assert_int_equal(profile.threads.length, 3);
    static const char *const names[] = {"request=A", "request=B", "all samples"};
    for (size_t i = 0; i < 3; i++) {
        const struct thread *thread = &profile.threads.data[i];
        assert_string_equal(profile_text(&profile, thread->name), names[i]);
        assert_int_equal(thread->samples.length, i == 0 ? 2 : 1);
    }
    const struct marker_table *markers = &profile.threads.data[1].markers;
    assert_int_equal(markers->length, 2);
    assert_string_equal(profile_text(&profile, markers->data[0]), "{\"type\":\"pprof-labels\",\"request\":\"B\"}");
    assert_string_equal(profile_text(&profile, markers->name[1]), "size");
    assert_string_equal(profile_text(&profile, markers->data[1]),
                        "{\"type\":\"pprof-number\",\"value\":4096,\"unit\":\"bytes\"}");
    assert_int_equal(profile.meta.initial_selected_threads.length, 3);
    assert_non_null(strstr(profile_text(&profile, profile.meta.marker_schema), "\"request\""));
    profile_destroy(&profile);
}

/* So many threads help nobody. */
static void test_sets_of_labels_are_bounded(void **state)
{
    (void)state;
    enum { SETS = 1000 };
    struct protobuf_writer out;
    struct profile profile;
    begin(&out);
    for (uint64_t i = 0; i < SETS; i++)
        put_sample(&out, 5, 7, TEXTS + i, 0);
    put_tables(&out);
    for (int i = 0; i < SETS; i++) {
        char text[16];
        protobuf_write_bytes(&out, 6, text, (size_t)snprintf(text, sizeof(text), "user%d", i));
    }
    import_made(&out, &profile);
    assert_int_equal(profile.threads.length, 257);
    assert_int_equal(profile.threads.data[256].samples.length, SETS - 256);
    assert_warns(&profile, "too many sets of labels");
    profile_destroy(&profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_default_type_without_values_gives_way),
        cmocka_unit_test(test_labels_are_threads_and_markers),
        cmocka_unit_test(test_sets_of_labels_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
