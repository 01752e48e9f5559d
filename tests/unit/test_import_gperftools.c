/* Files of gperftools' CPU profiler: stacks of addresses and the mappings of the process, in words of 8 and 4 bytes. */
#include "profile/profile.h"
#include "support/profile_text.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "support/import_text.h"

struct words {
    unsigned char bytes[4096];
    size_t size;
    size_t word; /* bytes of one */
};

static void put(struct words *words, uint64_t value)
{
    memcpy(words->bytes + words->size, &value, words->word); /* this machine is little-endian, as the file */
    words->size += words->word;
}

static void put_all(struct words *words, const uint64_t *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        put(words, values[i]);
}

/* 20 samples of leaf 0x1010 below the return address 0x2021, then 7 of 0x2000 alone, in a program whose code is mapped
 * 0x1000 behind its beginning, and an address of no library. */
static void make_profile(struct words *words, size_t word)
{
    static const uint64_t values[] = {
        0, 3,          0,           10000, 0,     /* records: */ 20, 2, 0x40001010, 0x40002021, 7,
        1, 0x40002000, /* and */ 1, 1,     0x666, /* trailer: */ 0,  1, 0};
    static const char maps[] = "40000000-40001000 r--p 00000000 00:00 17 /nonexistent/program\n"
                               "40001000-40003000 r-xp 00001000 00:00 17 /nonexistent/program\n"
                               "build=not a mapping\n"
                               "50000000-50001000 rw-p 00000000 00:00 0 [heap]\n";
    *words = (struct words){.word = word};
    put_all(words, values, sizeof(values) / sizeof(*values));
    memcpy(words->bytes + words->size, maps, sizeof(maps) - 1);
    words->size += sizeof(maps) - 1;
}

static void test_stacks_have_their_counts_and_libraries(void **state)
{
    (void)state;
    for (size_t word = 4; word <= 8; word += 4) {
        struct words words;
        struct profile profile = {0};
        struct error err = {""};
        make_profile(&words, word);
        assert_int_equal(import_bytes((const char *)words.bytes, words.size, &profile, &err), 0);
        const struct sample_table *samples = &profile.threads.data[0].samples;
        assert_int_equal(samples->length, 3);
        assert_sample(&profile, samples, 0, "0x2020;0x1010", 0, 20); /* the call is before its return address */
        assert_sample(&profile, samples, 1, "0x2000", 20, 7);
        assert_sample(&profile, samples, 2, "0x666", 27, 1);
        assert_int_equal(profile.libs.length, 1);
        assert_string_equal(profile_text(&profile, profile.libs.data[0].path), "/nonexistent/program");
        assert_true(profile.meta.interval > 9.99 && profile.meta.interval < 10.01);
        assert_int_equal(profile.meta.symbolicated, 0);
        assert_warns(&profile, "no build IDs");
        profile_destroy(&profile);
    }
}

static void test_every_truncation_is_refused(void **state)
{
    (void)state;
    struct words words;
    make_profile(&words, 8);
    size_t records = 18 * sizeof(uint64_t);
    for (size_t size = 5 * sizeof(uint64_t); size < records; size++) {
        struct profile profile = {0};
        struct error err = {""};
        assert_int_not_equal(import_bytes((const char *)words.bytes, size, &profile, &err), 0);
        assert_non_null(strstr(err.text, "CPU profile of gperftools"));
    }
}

static void test_a_depth_beyond_all_stacks_is_refused(void **state)
{
    (void)state;
    static const uint64_t values[] = {0, 3, 0, 10000, 0, 1, UINT64_MAX / 2, 1};
    struct words words = {.word = 8};
    struct profile profile = {0};
    struct error err = {""};
    put_all(&words, values, sizeof(values) / sizeof(*values));
    assert_int_not_equal(import_bytes((const char *)words.bytes, words.size, &profile, &err), 0);
    assert_non_null(strstr(err.text, "record 1 is damaged"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stacks_have_their_counts_and_libraries),
        cmocka_unit_test(test_every_truncation_is_refused),
        cmocka_unit_test(test_a_depth_beyond_all_stacks_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
