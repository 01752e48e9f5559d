/*
 * Reading and writing gzip leaves no upper half of a vector register in use.
 */
#include "os/vector_registers.h"

#include "base/text_buffer.h"
#include "file/gunzip.h"
#include "file/gzip.h"

#include <cpuid.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

enum { XSTATE_LEAF = 0xd, REPORTS_STATES_IN_USE = 1 << 2, UPPER_HALVES = 1 << 2 };

/* XGETBV with 1 in ECX reports the states in use. */
static bool can_read_states(void)
{
    unsigned eax = 0, ebx, ecx, edx;
    return __builtin_cpu_supports("avx") && __get_cpuid_count(XSTATE_LEAF, 1, &eax, &ebx, &ecx, &edx) &&
           eax & REPORTS_STATES_IN_USE;
}

static bool uses_upper_halves(void)
{
    uint32_t eax, edx;
    __asm__ volatile("xgetbv" : "=a"(eax), "=d"(edx) : "c"(1));
    return eax & UPPER_HALVES;
}

/* Does as functions of ISA-L do. */
static void use_upper_halves(void)
{
    __asm__ volatile("vpcmpeqd %%ymm0, %%ymm0, %%ymm0" ::: "xmm0");
}

static void test_release_ends_the_use(void **state)
{
    (void)state;
    if (!can_read_states())
        skip();
    use_upper_halves();
    assert_true(uses_upper_halves());
    vector_registers_release();
    assert_false(uses_upper_halves());
}

static void test_gzip_ends_the_use(void **state)
{
    (void)state;
    enum { SIZE = 100000 };
    struct text_buffer packed = {0};
    struct gzip_packer *packer;
    struct error err;
    size_t size;
    if (!can_read_states())
        skip();
    unsigned char *bytes = calloc(1, SIZE);
    assert_int_equal(gzip_packer_new(&packer, text_sink(&packed), &err), 0);
    assert_int_equal(gzip_packer_add(packer, bytes, SIZE, &err), 0);
    use_upper_halves();
    assert_int_equal(gzip_packer_finish(packer, &err), 0);
    assert_false(uses_upper_halves());
    struct gunzip *gunzip = gunzip_new();
    gunzip_feed(gunzip, (const unsigned char *)packed.data, packed.length);
    use_upper_halves();
    assert_int_equal(gunzip_read(gunzip, bytes, SIZE, &size, &err), 0);
    assert_false(uses_upper_halves());
    assert_int_equal(size, SIZE);
    gunzip_free(gunzip);
    gzip_packer_free(packer);
    array_free(&packed);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_release_ends_the_use),
        cmocka_unit_test(test_gzip_ends_the_use),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
