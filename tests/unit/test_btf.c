/* Types are found in BTF: in a small one by hand, and in that of the kernel. */
#include "sample/btf.h"

#include <linux/btf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* strings: 1 int, 5 pair, 10 first, 16 second, 23 pair_t, 30 bits */
static const char strings[] = "\0int\0pair\0first\0second\0pair_t\0bits";

enum { KIND = 24, HAS_BITS = 1u << 31 };

static const uint32_t types[] = {
    1,
    BTF_KIND_INT << KIND,
    4,
    32, /* 1: int */
    0,
    BTF_KIND_PTR << KIND,
    1, /* 2: int * */
    5,
    BTF_KIND_STRUCT << KIND | 2,
    16,
    10,
    1,
    0, /* 3: struct pair { int first; int *second; } */
    16,
    2,
    64, /* ... */
    23,
    BTF_KIND_TYPEDEF << KIND,
    3, /* 4: pair_t */
    30,
    BTF_KIND_STRUCT << KIND | 2 | HAS_BITS,
    4,
    10,
    1,
    0, /* 5: struct bits { int first; int second : 3; } */
    16,
    1,
    32 | 3u << 24, /* ... */
    5,
    BTF_KIND_TYPEDEF << KIND,
    1, /* 6: a typedef with the name of a struct */
};

static size_t make_btf(unsigned char *bytes)
{
    const struct btf_header header = {.magic = BTF_MAGIC,
                                      .version = 1,
                                      .hdr_len = sizeof(header),
                                      .type_len = sizeof(types),
                                      .str_off = sizeof(types),
                                      .str_len = sizeof(strings)};
    memcpy(bytes, &header, sizeof(header));
    memcpy(bytes + sizeof(header), types, sizeof(types));
    memcpy(bytes + sizeof(header) + sizeof(types), strings, sizeof(strings));
    return sizeof(header) + sizeof(types) + sizeof(strings);
}

static void test_types_have_their_numbers(void **state)
{
    unsigned char bytes[512];
    struct btf btf;
    struct btf_type_info type;
    (void)state;
    assert_true(btf_open_bytes(&btf, bytes, make_btf(bytes)));
    assert_true(btf_find(&btf, BTF_KIND_TYPEDEF, "pair_t", &type));
    assert_int_equal(type.id, 4);
    assert_true(btf_find(&btf, BTF_KIND_TYPEDEF, "pair", &type));
    assert_int_equal(type.id, 6);
    assert_true(btf_find(&btf, BTF_KIND_STRUCT, "pair", &type));
    assert_int_equal(type.id, 3);
    assert_false(btf_find(&btf, BTF_KIND_STRUCT, "pair_t", &type));
}

static void test_members_have_offsets_and_kinds(void **state)
{
    unsigned char bytes[512];
    struct btf btf;
    size_t offset;
    uint32_t kind;
    (void)state;
    assert_true(btf_open_bytes(&btf, bytes, make_btf(bytes)));
    assert_true(btf_find_member(&btf, "pair", "first", &offset, &kind));
    assert_int_equal(offset, 0);
    assert_int_equal(kind, BTF_KIND_INT);
    assert_true(btf_find_member(&btf, "pair", "second", &offset, &kind));
    assert_int_equal(offset, 8);
    assert_int_equal(kind, BTF_KIND_PTR);
    assert_true(btf_find_member(&btf, "bits", "first", &offset, &kind));
    assert_false(btf_find_member(&btf, "bits", "second", &offset, &kind)); /* a bit field has no address */
    assert_false(btf_find_member(&btf, "pair", "third", &offset, &kind));
    assert_false(btf_find_member(&btf, "nothing", "first", &offset, &kind));
}

static void test_truncated_bytes_do_no_harm(void **state)
{
    unsigned char bytes[512];
    struct btf btf;
    struct btf_type_info type;
    size_t size = make_btf(bytes), offset;
    uint32_t kind;
    (void)state;
    for (size_t i = 0; i < size; i++) {
        unsigned char *copy = malloc(i + 1); /* a read beyond the end is an error of the sanitizer */
        assert_non_null(copy);
        memcpy(copy, bytes, i);
        assert_false(btf_open_bytes(&btf, copy, i));
        free(copy);
    }
    const struct btf_header *header = (const struct btf_header *)bytes;
    for (uint32_t i = 0; i < header->type_len; i++) { /* the last type is cut */
        unsigned char damaged[512];
        memcpy(damaged, bytes, size);
        ((struct btf_header *)damaged)->type_len = i;
        assert_true(btf_open_bytes(&btf, damaged, size));
        assert_false(btf_find(&btf, BTF_KIND_TYPEDEF, "pair", &type));
        btf_find_member(&btf, "bits", "second", &offset, &kind);
    }
}

static void test_the_kernel_describes_its_threads(void **state)
{
    struct btf btf;
    size_t offset;
    uint32_t kind;
    (void)state;
    if (access("/sys/kernel/btf/vmlinux", R_OK) != 0)
        skip();
    assert_int_equal(btf_open_kernel(&btf), 0);
    assert_true(btf_find_member(&btf, "task_struct", "on_rq", &offset, &kind));
    assert_int_equal(kind, BTF_KIND_INT);
    assert_int_not_equal(offset, 0);
    btf_close(&btf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_types_have_their_numbers),
        cmocka_unit_test(test_members_have_offsets_and_kinds),
        cmocka_unit_test(test_truncated_bytes_do_no_harm),
        cmocka_unit_test(test_the_kernel_describes_its_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
