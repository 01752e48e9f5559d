/* OpenTelemetry profiles, as go.opentelemetry.io/collector's pdata and prof write them. */
#include "export/protobuf_write.h"
#include "profile/profile.h"
#include "support/profile_text.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "support/import_text.h"

static void put_numbers(struct protobuf_writer *w, uint32_t field, const uint64_t *numbers, size_t count)
{
    size_t list = protobuf_open(w, field);
    for (size_t i = 0; i < count; i++)
        protobuf_write_element(w, numbers[i]);
    protobuf_close(w, list);
}

static void put_attribute(struct protobuf_writer *w, uint32_t field, uint64_t key, const char *text, uint64_t number)
{
    size_t attribute = protobuf_open(w, field);
    if (field == 1)
        protobuf_write_text(w, 1, "process.pid");
    else
        protobuf_write_unsigned(w, 1, key);
    size_t value = protobuf_open(w, 2);
    if (text)
        protobuf_write_text(w, 1, text);
    else
        protobuf_write_unsigned(w, 3, number);
    protobuf_close(w, value);
    protobuf_close(w, attribute);
}

/* A profile of one sample type, whose samples are stacks 1 and 2; `value` 0: two timestamps. */
static void put_profile(struct protobuf_writer *w, uint64_t type, uint64_t unit, uint64_t value)
{
    size_t profile = protobuf_open(w, 2), part = protobuf_open(w, 1);
    protobuf_write_unsigned(w, 1, type);
    protobuf_write_unsigned(w, 2, unit);
    protobuf_close(w, part);
    for (uint64_t stack = 1; stack <= 2; stack++) {
        size_t sample = protobuf_open(w, 2);
        protobuf_write_unsigned(w, 1, stack);
        put_numbers(w, 2, (const uint64_t[]){1, 2}, 2);
        if (value)
            put_numbers(w, 4, (const uint64_t[]){value * stack}, 1);
        else {
            size_t times = protobuf_open(w, 5);
            protobuf_write_element_fixed64(w, 7);
            protobuf_write_element_fixed64(w, 9);
            protobuf_close(w, times);
        }
        protobuf_close(w, sample);
    }
    protobuf_close(w, profile);
}

static void put_location(struct protobuf_writer *w, uint64_t mapping, uint64_t address, const uint64_t *functions,
                         size_t count)
{
    size_t location = protobuf_open(w, 2);
    protobuf_write_unsigned(w, 1, mapping);
    protobuf_write_unsigned(w, 2, address);
    for (size_t i = 0; i < count; i++) {
        size_t line = protobuf_open(w, 3);
        protobuf_write_unsigned(w, 1, functions[i]);
        protobuf_write_unsigned(w, 2, 40 + i);
        protobuf_close(w, line);
    }
    protobuf_close(w, location);
}

enum {
    TEXT_MAIN = 1,
    TEXT_WORK,
    TEXT_INLINED,
    TEXT_PATH,
    TEXT_CPU,
    TEXT_NS,
    TEXT_SAMPLES,
    TEXT_COUNT,
    TEXT_TID,
    TEXT_NAME
};

static void put_dictionary(struct protobuf_writer *w)
{
    static const char *const texts[] = {"",        "main",  "work",      "inlined",    "/bin/app", "cpu", "nanoseconds",
                                        "samples", "count", "thread.id", "thread.name"};
    size_t dictionary = protobuf_open(w, 2), row = protobuf_open(w, 1);
    protobuf_close(w, row);
    row = protobuf_open(w, 1);
    protobuf_write_unsigned(w, 1, 0x10000);
    protobuf_write_unsigned(w, 2, 0x20000);
    protobuf_write_unsigned(w, 4, TEXT_PATH);
    protobuf_close(w, row);
    put_location(w, 0, 0, NULL, 0);
    put_location(w, 1, 0x10010, (const uint64_t[]){1}, 1);
    put_location(w, 1, 0x10020, (const uint64_t[]){3, 2}, 2);
    for (uint64_t name = 0; name <= TEXT_INLINED; name++) {
        row = protobuf_open(w, 3);
        protobuf_write_unsigned(w, 1, name);
        protobuf_close(w, row);
    }
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
        protobuf_write_bytes(w, 5, texts[i], strlen(texts[i]));
    protobuf_close(w, protobuf_open(w, 6));
    put_attribute(w, 6, TEXT_TID, NULL, 8);
    put_attribute(w, 6, TEXT_NAME, "worker", 0);
    protobuf_close(w, protobuf_open(w, 7));
    static const uint64_t stacks[2][2] = {{1}, {2, 1}};
    for (size_t i = 0; i < 2; i++) {
        row = protobuf_open(w, 7);
        put_numbers(w, 1, stacks[i], i + 1);
        protobuf_close(w, row);
    }
    protobuf_close(w, dictionary);
}

static void make_file(struct protobuf_writer *w, uint64_t samples)
{
    *w = (struct protobuf_writer){0};
    size_t data = protobuf_open(w, 1), part = protobuf_open(w, 1);
    put_attribute(w, 1, 0, NULL, 7);
    protobuf_close(w, part);
    part = protobuf_open(w, 2);
    protobuf_close(w, protobuf_open(w, 1));
    put_profile(w, TEXT_CPU, TEXT_NS, 3000000);
    put_profile(w, TEXT_SAMPLES, TEXT_COUNT, samples);
    protobuf_close(w, part);
    protobuf_close(w, data);
    put_dictionary(w);
    assert_false(w->failed);
}

static void test_profiles_are_weights_of_stacks_and_threads(void **state)
{
    (void)state;
    for (uint64_t samples = 0; samples <= 5; samples += 5) {
        struct protobuf_writer w;
        struct profile profile = {0};
        struct error err = {""};
        make_file(&w, samples);
        if (import_bytes(w.bytes.data, w.bytes.length, &profile, &err) != 0)
            fail_msg("%s", err.text);
        const struct thread *thread = &profile.threads.data[0];
        assert_int_equal(profile.threads.length, 1);
        assert_string_equal(profile_text(&profile, thread->name), "worker");
        assert_string_equal(profile_text(&profile, thread->pid), "7");
        assert_string_equal(profile_text(&profile, thread->tid), "8");
        assert_int_equal(thread->samples.weight_type, WEIGHT_TRACING_MS);
        assert_sample(&profile, &thread->samples, 0, "main", 0, 3);
        assert_sample(&profile, &thread->samples, 1, "main;work;inlined", 3, 6);
        assert_true(sum_of_weights(thread_samples(thread, TABLE_EVENTS)) == (samples ? 15 : 4));
        uint32_t frame = profile.stacks.frame[thread->samples.stack[1]];
        assert_int_equal(profile.frames.address[frame], 0x20);
        assert_int_equal(profile.frames.line[frame], 40);
        assert_string_equal(profile_text(&profile, profile.libs.data[0].path), "/bin/app");
        profile_destroy(&profile);
        array_free(&w.bytes);
    }
}

static void test_every_truncation_is_refused(void **state)
{
    (void)state;
    struct protobuf_writer w;
    make_file(&w, 5);
    for (size_t size = 1; size < w.bytes.length; size++) {
        struct profile profile = {0};
        struct error err = {""};
        assert_int_not_equal(import_bytes(w.bytes.data, size, &profile, &err), 0);
        assert_true(size < 64 || strstr(err.text, "OpenTelemetry profile"));
    }
    array_free(&w.bytes);
}

static void test_indices_that_are_not_there_are_refused(void **state)
{
    (void)state;
    struct protobuf_writer w = {0};
    struct profile profile = {0};
    struct error err = {""};
    size_t data = protobuf_open(&w, 1), part = protobuf_open(&w, 2);
    put_profile(&w, 0, 0, 1);
    protobuf_close(&w, part);
    protobuf_close(&w, data);
    size_t dictionary = protobuf_open(&w, 2);
    protobuf_write_text(&w, 5, "");
    protobuf_close(&w, dictionary);
    assert_int_not_equal(import_bytes(w.bytes.data, w.bytes.length, &profile, &err), 0);
    assert_non_null(strstr(err.text, "a sample refers to the missing stack 1"));
    array_free(&w.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_profiles_are_weights_of_stacks_and_threads),
        cmocka_unit_test(test_every_truncation_is_refused),
        cmocka_unit_test(test_indices_that_are_not_there_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
