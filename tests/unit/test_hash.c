/*
 * Hash tables with keys chosen to collide: the inverse of the function without a seed, as tables used it before
 * (base/checksum.h), makes any number of keys for one slot.
 */
#include "base/checksum.h"
#include "base/hash.h"
#include "base/strings.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
    KEYS = 20000,
    LONGEST_RUN = 400, /* of slots in a table that is 3/4 full: some 150 if keys are spread at random */
};

/* The number with which `odd` gives 1: Newton's method, each round doubles the bits that are right. */
static uint64_t inverse_of(uint64_t odd)
{
    uint64_t inverse = odd;
    for (int round = 0; round < 6; round++)
        inverse *= 2 - odd * inverse;
    return inverse;
}

static uint64_t unshift(uint64_t value, int shift)
{
    uint64_t x = value;
    for (int known = shift; known < 64; known += shift)
        x = value ^ (x >> shift);
    return x;
}

/* The `a` for which checksum_mix(a, b) is `value`. */
static uint64_t unmix(uint64_t value, uint64_t b)
{
    uint64_t x = unshift(value, 31) * inverse_of(UINT64_C(0x94d049bb133111eb));
    x = unshift(x, 27) * inverse_of(UINT64_C(0xbf58476d1ce4e5b9));
    return unshift(x, 30) - UINT64_C(0x9e3779b97f4a7c15) * (b + 1);
}

static size_t longest_run(const struct hash *table)
{
    size_t longest = 0, run = 0;
    for (size_t i = 0; i <= table->mask; i++) {
        run = table->slots[i].value == HASH_MISSING ? 0 : run + 1;
        longest = run > longest ? run : longest;
    }
    return longest;
}

/* Key number `i`, in one of several ways that somebody could choose keys. */
typedef uint64_t key_function(uint64_t i);

static uint64_t colliding_key(uint64_t i)
{
    return unmix(i << 32, 0);
}

static uint64_t following_key(uint64_t i)
{
    return i;
}

static uint64_t high_key(uint64_t i)
{
    return i << 40;
}

static uint64_t pair_key(uint64_t i)
{
    return (i % 141) << 32 | i / 141;
}

static void test_keys_that_somebody_chose_are_spread(void **state)
{
    (void)state;
    key_function *const functions[] = {colliding_key, following_key, high_key, pair_key};
    for (uint64_t seed = 0; seed < 8; seed++) {
        hash_set_seed(seed);
        for (size_t f = 0; f < sizeof(functions) / sizeof(*functions); f++) {
            struct hash table = {0};
            for (uint64_t i = 0; i < KEYS; i++)
                assert_true(hash_set(&table, functions[f](i), (uint32_t)i));
            assert_int_equal(table.length, KEYS);
            assert_in_range(longest_run(&table), 1, LONGEST_RUN);
            hash_destroy(&table);
        }
    }
}

static void test_colliding_keys_are_what_they_are_called(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < KEYS; i++)
        assert_int_equal((uint32_t)checksum_mix(colliding_key(i), 0), 0);
}

static size_t longest_chain(const struct strings *table)
{
    size_t longest = 0;
    for (size_t i = 0; i < table->entries.length; i++) {
        size_t chain = 1;
        for (uint32_t at = table->entries.data[i].next; at != STRING_NONE; at = table->entries.data[at].next)
            chain++;
        longest = chain > longest ? chain : longest;
    }
    return longest;
}

static void test_texts_that_somebody_chose_are_spread(void **state)
{
    (void)state;
    struct strings table = {0};
    uint64_t begin = checksum_mix(16, 0), sum = 0;
    for (uint64_t i = 0; i < 2000; i++) { /* few, for they would be compared with each other */
        uint64_t words[2] = {i, checksum_mix(begin ^ i, 1)};
        sum = i ? sum : checksum_bytes(words, sizeof(words));
        assert_int_equal(checksum_bytes(words, sizeof(words)), sum);
        assert_int_equal(strings_add(&table, (const char *)words, sizeof(words)), i);
    }
    assert_int_equal(longest_chain(&table), 1);
    assert_in_range(longest_run(&table.index), 1, LONGEST_RUN);
    strings_destroy(&table);
}

static void test_the_seed_decides_where_keys_go(void **state)
{
    (void)state;
    static const char text[] = "a text of more than sixteen bytes";
    size_t same = 0;
    for (size_t length = 0; length < sizeof(text); length++) {
        hash_set_seed(1);
        uint64_t first = hash_bytes(text, length);
        hash_set_seed(2);
        same += first == hash_bytes(text, length);
        hash_set_seed(1);
        assert_int_equal(first, hash_bytes(text, length));
    }
    assert_int_equal(same, 0);
}

static void test_checksums_depend_on_no_seed(void **state)
{
    (void)state;
    hash_set_seed(3);
    assert_int_equal(checksum_bytes("", 0), UINT64_C(0x631a9154fbabf717));
    assert_int_equal(checksum_bytes("spool and cache", 15), UINT64_C(0xff08a73f605a7044));
}

static void test_every_byte_and_the_length_count(void **state)
{
    (void)state;
    char text[40] = {0};
    struct hash seen = {0};
    for (size_t length = 0; length <= sizeof(text); length++) {
        assert_int_equal(hash_get(&seen, hash_bytes(text, length)), HASH_MISSING);
        hash_set(&seen, hash_bytes(text, length), 1);
        for (size_t i = 0; i < length; i++) {
            text[i] = 1;
            assert_int_equal(hash_get(&seen, hash_bytes(text, length)), HASH_MISSING);
            hash_set(&seen, hash_bytes(text, length), 1);
            text[i] = 0;
        }
    }
    hash_destroy(&seen);
}

/* Keys that follow each other, and of few different home slots: what is removed leaves gaps between others. */
static void test_a_table_is_what_was_set_and_not_removed(void **state)
{
    (void)state;
    enum { MODEL_KEYS = 300, ROUNDS = 20000 };
    uint32_t model[MODEL_KEYS], length = 0;
    uint64_t random = 42;
    struct hash table = {0};
    memset(model, 0xff, sizeof(model)); /* HASH_MISSING */
    hash_remove(&table, 1);
    for (uint32_t i = 0; i < ROUNDS; i++) {
        uint64_t key = (random = checksum_mix(random, i)) % MODEL_KEYS;
        length += model[key] == HASH_MISSING;
        if (random >> 32 & 1) {
            model[key] = i;
            assert_true(hash_set(&table, key, i));
        } else {
            model[key] = HASH_MISSING;
            length--;
            hash_remove(&table, key);
        }
        assert_int_equal(table.length, length);
        assert_true(length * 4 <= (table.mask + 1) * 3);
        for (uint64_t k = 0; i % 100 == 0 && k < MODEL_KEYS; k++)
            assert_int_equal(hash_get(&table, k), model[k]);
    }
    hash_clear(&table);
    for (uint64_t k = 0; k < MODEL_KEYS; k++)
        assert_int_equal(hash_get(&table, k), HASH_MISSING);
    hash_destroy(&table);
}

static void test_a_table_grows_when_it_is_three_quarters_full(void **state)
{
    (void)state;
    struct hash table = {0};
    for (uint32_t i = 0; i < 12; i++)
        assert_true(hash_set(&table, i, i));
    assert_int_equal(table.mask + 1, 16);
    assert_true(hash_set(&table, 12, 12));
    assert_int_equal(table.mask + 1, 32);
    hash_destroy(&table);
}

static void test_the_seed_is_all_of_the_key(void **state)
{
    (void)state;
    hash_set_seed(1);
    struct hash_seed first = hash_seed;
    hash_set_seed(2);
    assert_true(first.words[0] != hash_seed.words[0] && first.words[1] != hash_seed.words[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keys_that_somebody_chose_are_spread),
        cmocka_unit_test(test_colliding_keys_are_what_they_are_called),
        cmocka_unit_test(test_texts_that_somebody_chose_are_spread),
        cmocka_unit_test(test_the_seed_decides_where_keys_go),
        cmocka_unit_test(test_checksums_depend_on_no_seed),
        cmocka_unit_test(test_every_byte_and_the_length_count),
        cmocka_unit_test(test_a_table_is_what_was_set_and_not_removed),
        cmocka_unit_test(test_a_table_grows_when_it_is_three_quarters_full),
        cmocka_unit_test(test_the_seed_is_all_of_the_key),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
