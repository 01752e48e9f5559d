/*
 * Well-formed debug info that makes a simple reader run for ever: many units that refer to one long list, and circular
 * references. Each test ends in seconds or is killed.
 */
#include "support/symbol_directory.h"

#include <sys/time.h>

enum { MOST_CPU_SECONDS = 100, ADDRESSES = 1000 };

/* Abbreviation 1 is a compile unit with the attributes in `unit_attributes`; the sections after it are in `rest`. */
static void assemble(const char *unit_attributes, const char *rest)
{
    char source[4096];
    int length = snprintf(source, sizeof(source),
                          ".text\n.globl _start\n_start: .fill %d, 1, 0x90\n"
                          ".section .debug_abbrev,\"\",@progbits\n"
                          ".uleb128 1\n.uleb128 0x11\n.byte 0\n%s.byte 0, 0\n"
                          ".uleb128 2\n.uleb128 0x11\n.byte 1\n.byte 0x11, 1, 0x12, 7\n.byte 0, 0\n"
                          ".uleb128 3\n.uleb128 0x2e\n.byte 0\n.byte 0x11, 1, 0x12, 7, 0x31, 0x13\n.byte 0, 0\n"
                          ".byte 0\n%s",
                          ADDRESSES, unit_attributes, rest);
    assert_true(length > 0 && length < (int)sizeof(source));
    write_text("hostile.s", source);
    run("gcc -nostdlib -static -Wl,--build-id=none -o hostile hostile.s");
}

/* Kills the test with SIGPROF after the seconds of CPU time, so that other programs do not use up the limit. */
static void limit_cpu_time(time_t seconds)
{
    const struct itimerval timer = {.it_value.tv_sec = seconds};
    assert_int_equal(setitimer(ITIMER_PROF, &timer, NULL), 0);
}

/* Looks up all addresses at once, in time. */
static struct symbol_answers lookup_in_time(void)
{
    char path[300];
    uint64_t rvas[ADDRESSES];
    snprintf(path, sizeof(path), "%s/hostile", directory);
    uint64_t start = address_of(path, "_start");
    for (size_t i = 0; i < ADDRESSES; i++)
        rvas[i] = start + i;
    struct symbol_lib lib = {.kind = SYMBOL_LIB_ELF, .name = "hostile", .path = path};
    limit_cpu_time(MOST_CPU_SECONDS);
    struct symbol_answers answers = lookup(&lib, rvas, ADDRESSES);
    limit_cpu_time(0);
    for (size_t i = 0; i < ADDRESSES; i++)
        assert_string_equal(answers.answers[i].symbol, "_start");
    return answers;
}

/* 20,000 units, and a list of a million empty ranges: unbounded, 100 s without sanitizers. */
static void test_units_that_share_a_long_list_of_ranges_take_no_time(void **unused)
{
    (void)unused;
    assemble(".byte 0x55, 0x17\n", /* DW_AT_ranges, DW_FORM_sec_offset */
             ".section .debug_info,\"\",@progbits\n"
             ".rept 20000\n.long 12\n.short 4\n.long 0\n.byte 8, 1\n.long 0\n.endr\n"
             ".section .debug_ranges,\"\",@progbits\n.fill 2000000, 8, 1\n.quad 0, 0\n");
    struct symbol_answers answers = lookup_in_time();
    symbol_answers_destroy(&answers);
}

/* Each address in a unit of its own, all of them with one line table of 16 MB. */
static void test_units_that_share_a_long_line_table_take_no_time(void **unused)
{
    (void)unused;
    assemble(".byte 0x11, 1, 0x12, 7, 0x10, 0x17\n", /* DW_AT_low_pc, DW_AT_high_pc (data8), DW_AT_stmt_list */
             ".section .debug_info,\"\",@progbits\n.set place, 0\n"
             ".rept 1000\n.long 28\n.short 4\n.long 0\n.byte 8, 1\n.quad _start + place\n.quad 1\n.long 0\n"
             ".set place, place + 1\n.endr\n"
             ".section .debug_line,\"\",@progbits\n.long 16777216 + 14\n.short 4\n.long 8\n"
             ".byte 1, 1, 1, 0, 1, 1, 0, 0\n.fill 16777216, 1, 1\n");
    struct symbol_answers answers = lookup_in_time();
    symbol_answers_destroy(&answers);
}

/* Functions whose DW_AT_abstract_origin leads to themselves or to each other. */
static void test_functions_that_are_their_own_origin_have_the_names_of_symbols(void **unused)
{
    (void)unused;
    assemble("", ".section .debug_info,\"\",@progbits\n"
                 "unit: .long unit_end - . - 4\n.short 4\n.long 0\n.byte 8\n.byte 2\n.quad _start\n.quad 1000\n"
                 "self: .byte 3\n.quad _start\n.quad 500\n.long self - unit\n"
                 "first: .byte 3\n.quad _start + 500\n.quad 250\n.long second - unit\n"
                 "second: .byte 3\n.quad _start + 750\n.quad 250\n.long first - unit\n"
                 ".byte 0\nunit_end:\n");
    struct symbol_answers answers = lookup_in_time();
    assert_true(answers.has_debug_info);
    for (size_t i = 0; i < ADDRESSES; i++) {
        assert_int_equal(answers.answers[i].frame_count, 1);
        assert_string_equal(answers.frames.data[answers.answers[i].first_frame].function, "_start");
    }
    symbol_answers_destroy(&answers);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_units_that_share_a_long_list_of_ranges_take_no_time),
        cmocka_unit_test(test_units_that_share_a_long_line_table_take_no_time),
        cmocka_unit_test(test_functions_that_are_their_own_origin_have_the_names_of_symbols),
    };
    return cmocka_run_group_tests(tests, make_empty_directory, remove_directory);
}
