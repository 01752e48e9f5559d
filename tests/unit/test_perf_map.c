/* Perf maps of JIT compilers: the line that names an address, and the parts of a name. */
#include "support/memory_file.h"
#include "symbol/jit_name.h"
#include "symbol/perf_map.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- lines ---- */

/* The names of addresses in a file with this text; their texts are in `arena`. */
static struct perf_map_counts find(const char *text, size_t size, const uint64_t *addresses, size_t count,
                                   struct perf_map_name *names, struct arena *arena)
{
    struct perf_map_counts counts;
    int fd = memory_file(text, size);
    assert_int_equal(perf_map_find(fd, addresses, count, names, arena, &counts, NULL), 0);
    close(fd);
    return counts;
}

enum { MOST_ADDRESSES = 8 };

/* The names of addresses, with spaces between them; "-" for one without. */
static const char *names_of(const char *text, size_t count, const uint64_t *addresses)
{
    static char out[1024];
    struct perf_map_name names[MOST_ADDRESSES] = {0};
    struct arena arena = {0};
    find(text, strlen(text), addresses, count, names, &arena);
    size_t used = 0;
    for (size_t i = 0; i < count; i++)
        used += (size_t)snprintf(out + used, sizeof(out) - used, "%s%.*s", i ? " " : "",
                                 names[i].text ? (int)names[i].length : 1, names[i].text ? names[i].text : "-");
    arena_destroy(&arena);
    return out;
}

#define NAMES(text, ...)                                                                                               \
    names_of((text), sizeof((uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t), (uint64_t[]){__VA_ARGS__})

static void test_an_address_has_the_name_of_the_line_that_covers_it(void **unused)
{
    (void)unused;
    const char *map = "1000 10 a\n1010 20 b\n2000 8 c\n";
    assert_string_equal(NAMES(map, 0xfff, 0x1000, 0x100f, 0x1010, 0x102f, 0x1030, 0x2007, 0x2008), "- a a b b - c -");
    assert_string_equal(NAMES("2000 8 c\n1010 20 b\n1000 10 a\n", 0x1000, 0x1010, 0x2000), "a b c");
    assert_string_equal(NAMES("0x1000 0x10 a b::c(int)\n", 0x1008), "a b::c(int)");
    assert_string_equal(NAMES("7F00DEADBEEF 1 upper\r\n", 0x7f00deadbeef), "upper");
}

static void test_the_last_line_wins(void **unused)
{
    (void)unused;
    assert_string_equal(NAMES("1000 100 old\n1000 100 new\n", 0x1000, 0x10ff), "new new");
    assert_string_equal(NAMES("1000 100 old\n1040 20 new\n", 0x1000, 0x1040, 0x105f, 0x1060), "old new new old");
    assert_string_equal(NAMES("1040 20 small\n1000 100 large\n", 0x1000, 0x1040, 0x10ff), "large large large");
    assert_string_equal(NAMES("1000 80 a\n1040 80 b\n1060 80 c\n1000 1 d\n", 0x1000, 0x1001, 0x1040, 0x1060, 0x10df),
                        "d a b c c");
}

static void test_what_is_no_line_is_ignored(void **unused)
{
    (void)unused;
    assert_string_equal(NAMES("", 0x1000), "-");
    assert_string_equal(NAMES("\n\n \n", 0x1000), "-");
    assert_string_equal(NAMES("1000 10\n1000 10 \n1000\n 1000 10 a\n1000 10", 0x1000), "-");
    assert_string_equal(NAMES("1000 0 empty\n", 0x1000), "-");
    assert_string_equal(NAMES("1000 -10 a\n+1000 10 b\nx 10 c\n0x 10 d\n", 0x1000), "-");
    assert_string_equal(NAMES("00000000000001000 10 seventeen digits\n", 0x1000), "-");
    assert_string_equal(NAMES("1000 10 a\nrubbish\n1000 10 cut off at the e", 0x1000), "a");
}

static void test_sizes_past_the_end_of_memory_end_there(void **unused)
{
    (void)unused;
    const char *map = "ffffffffffffff00 ffffffffffffffff high\n10 ffffffffffffffff wide\n0 1 zero\n";
    assert_string_equal(NAMES(map, 0, 0xf, 0x10, UINT64_MAX), "zero - wide wide");
    assert_string_equal(NAMES("ffffffffffffff00 ffffffffffffffff high\n", 0, 0xfffffffffffffeff, UINT64_MAX),
                        "- - high");
}

static void test_a_name_that_is_known_stays(void **unused)
{
    (void)unused;
    uint64_t addresses[] = {0x1000, 0x1001, 0x1002};
    struct perf_map_name names[3] = {[1] = {.text = "own", .length = 3}};
    struct arena arena = {0};
    find("1000 10 parent\n", 15, addresses, 3, names, &arena);
    assert_memory_equal(names[0].text, "parent", 6);
    assert_memory_equal(names[1].text, "own", 3);
    assert_memory_equal(names[2].text, "parent", 6);
    arena_destroy(&arena);
}

static void test_long_names_are_cut(void **unused)
{
    (void)unused;
    char text[3 * PERF_MAP_NAME_MAX] = "1000 10 ";
    memset(text + 8, 'n', sizeof(text) - 9);
    text[sizeof(text) - 1] = '\n';
    struct arena arena = {0};
    struct perf_map_name name = {0};
    find(text, sizeof(text), (uint64_t[]){0x1000}, 1, &name, &arena);
    assert_int_equal(name.length, PERF_MAP_NAME_MAX);
    arena_destroy(&arena);
}

static void test_every_truncation_gives_a_name_of_a_whole_line(void **unused)
{
    (void)unused;
    const char *text = "1000 100 first\n1000 80 second\n1000 40 third\n";
    size_t size = strlen(text), second = strlen("1000 100 first\n1000 80 second\n");
    for (size_t cut = 0; cut <= size; cut++) {
        struct arena arena = {0};
        struct perf_map_name name = {0};
        find(text, cut, (uint64_t[]){0x1000}, 1, &name, &arena);
        const char *wanted = cut < 15 ? "" : cut < second ? "first" : cut < size ? "second" : "third";
        assert_int_equal(name.length, strlen(wanted));
        assert_true(name.length == 0 || !memcmp(name.text, wanted, name.length));
        arena_destroy(&arena);
    }
}

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525 + 1013904223;
    return *state >> 8;
}

static void test_any_overlap_is_answered_as_a_search_line_by_line_does(void **unused)
{
    (void)unused;
    enum { LINES = 200, SPACE = 512 };
    for (uint32_t seed = 1; seed <= 50; seed++) {
        uint32_t state = seed;
        int wanted[SPACE];
        char text[LINES * 32];
        size_t used = 0;
        for (int i = 0; i < SPACE; i++)
            wanted[i] = -1;
        for (int line = 0; line < LINES; line++) {
            uint32_t start = next_random(&state) % SPACE, size = next_random(&state) % (seed % 2 ? 16 : SPACE);
            for (uint32_t i = start; i < start + size && i < SPACE; i++)
                wanted[i] = line;
            used += (size_t)snprintf(text + used, sizeof(text) - used, "%x %x %d\n", start, size, line);
        }
        uint64_t addresses[SPACE];
        struct perf_map_name names[SPACE] = {0};
        for (uint64_t i = 0; i < SPACE; i++)
            addresses[i] = i;
        struct arena arena = {0};
        find(text, used, addresses, SPACE, names, &arena);
        for (int i = 0; i < SPACE; i++)
            assert_int_equal(names[i].text ? atoi(names[i].text) : -1, wanted[i]);
        arena_destroy(&arena);
    }
}

static void test_a_million_lines_over_all_addresses_take_no_time(void **unused)
{
    (void)unused;
    enum { LINES = 1000000, ADDRESSES = 10000 };
    char *text = malloc((size_t)LINES * 24);
    uint64_t *addresses = malloc(ADDRESSES * sizeof(*addresses));
    struct perf_map_name *names = calloc(ADDRESSES, sizeof(*names));
    assert_true(text && addresses && names);
    size_t used = 0;
    for (int i = 0; i < LINES; i++) /* the last address has its name from the line that is read last, the first one */
        used += (size_t)sprintf(text + used, "0 %x n\n", i ? ADDRESSES - 1 : ADDRESSES);
    for (uint64_t i = 0; i < ADDRESSES; i++)
        addresses[i] = i;
    struct arena arena = {0};
    clock_t before = clock();
    find(text, used, addresses, ADDRESSES, names, &arena);
    assert_true(clock() - before < 5 * CLOCKS_PER_SEC);
    assert_non_null(names[0].text);
    assert_non_null(names[ADDRESSES - 1].text);
    arena_destroy(&arena);
    free(text);
    free(addresses);
    free(names);
}

/* ---- files ---- */

/* Lines of all lengths, so that the reader's chunks of 1 MiB end anywhere in them. */
static void test_lines_are_found_wherever_chunks_end(void **unused)
{
    (void)unused;
    enum { LINES = 60000, ADDRESSES = LINES };
    char *text = malloc((size_t)LINES * 160);
    uint64_t *addresses = malloc(ADDRESSES * sizeof(*addresses));
    struct perf_map_name *names = calloc(ADDRESSES, sizeof(*names));
    struct arena arena = {0};
    assert_true(text && addresses && names);
    size_t used = 0;
    for (int i = 0; i < LINES; i++) {
        addresses[i] = (uint64_t)i * 16;
        used += (size_t)sprintf(text + used, "%x 10 f%0*d\n", i * 16, 1 + i % 100, i);
    }
    assert_true(used > (size_t)3 << 20);
    struct perf_map_counts counts = find(text, used, addresses, ADDRESSES, names, &arena);
    for (int i = 0; i < LINES; i++) {
        assert_non_null(names[i].text);
        assert_int_equal(strtol(names[i].text + 1, NULL, 10), i);
    }
    assert_int_equal(counts.lines, LINES);
    assert_int_equal(counts.malformed, 0);
    arena_destroy(&arena);
    free(text);
    free(addresses);
    free(names);
}

static void test_a_line_without_end_is_skipped(void **unused)
{
    (void)unused;
    enum { FIRST = 10, LINE = 5 << 20 };
    char *text = malloc(LINE + 64);
    struct perf_map_name names[2] = {0};
    struct arena arena = {0};
    assert_non_null(text);
    memset(text, 'x', LINE);
    memcpy(text, "1000 10 a\n", FIRST);
    memcpy(text + FIRST, "1000 10 ", 8);
    struct perf_map_counts counts = find(text, LINE, (uint64_t[]){0x1000}, 1, names, &arena); /* truncated */
    assert_memory_equal(names[0].text, "a", 1);
    assert_int_equal(counts.malformed, 0);
    strcpy(text + LINE, "\n2000 10 b\n");
    names[0].text = NULL;
    counts = find(text, LINE + 11, (uint64_t[]){0x1000, 0x2000}, 2, names, &arena);
    assert_memory_equal(names[0].text, "a", 1);
    assert_memory_equal(names[1].text, "b", 1);
    assert_int_equal(counts.lines, 3);
    assert_int_equal(counts.malformed, 1);
    arena_destroy(&arena);
    free(text);
}

static void test_of_a_huge_file_the_end_is_read(void **unused)
{
    (void)unused;
    const size_t most = (size_t)256 << 20;
    const char *cut_line = "1111000 10 half\n", *last_line = "2000 10 last\n";
    int fd = memfd_create("map", 0);
    assert_int_equal(ftruncate(fd, (off_t)most + 4), 0);
    assert_int_equal(pwrite(fd, cut_line, strlen(cut_line), 0),
                     strlen(cut_line)); /* its first four digits are cut off */
    assert_int_equal(pwrite(fd, "\n", 1, (off_t)(most + 3 - strlen(last_line))), 1);
    assert_int_equal(pwrite(fd, last_line, strlen(last_line), (off_t)(most + 4 - strlen(last_line))),
                     strlen(last_line));
    struct perf_map_counts counts;
    struct perf_map_name names[2] = {0};
    struct arena arena = {0};
    assert_int_equal(perf_map_find(fd, (uint64_t[]){0x0, 0x2000}, 2, names, &arena, &counts, NULL), 0);
    assert_true(counts.is_cut);
    assert_null(names[0].text);
    assert_memory_equal(names[1].text, "last", 4);
    arena_destroy(&arena);
    close(fd);
}

static void test_what_cannot_be_read_is_an_error(void **unused)
{
    (void)unused;
    struct perf_map_counts counts;
    struct perf_map_name name = {0};
    struct arena arena = {0};
    struct error err;
    assert_true(perf_map_find(-1, (uint64_t[]){0}, 1, &name, &arena, &counts, &err) < 0);
    assert_non_null(strstr(err.text, "cannot read a perf map"));
}

/* ---- names ---- */

/* "function|file|line|column|tier" */
static const char *parse(const char *text, size_t length)
{
    static char out[4 * PERF_MAP_NAME_MAX];
    struct jit_name name;
    struct arena arena = {0};
    char *copy = malloc(length ? length : 1);
    assert_non_null(copy);
    memcpy(copy, text, length);
    assert_int_equal(jit_name_parse(&name, copy, length, &arena), 0);
    snprintf(out, sizeof(out), "%s|%s|%u|%u|%s", name.function, name.file ? name.file : "", name.line, name.column,
             name.tier ? name.tier : "");
    free(copy);
    arena_destroy(&arena);
    return out;
}

static void assert_parses(const char *text, const char *wanted)
{
    assert_string_equal(parse(text, strlen(text)), wanted);
}

static void test_v8_names_have_function_file_line_and_tier(void **unused)
{
    (void)unused;
    assert_parses("JS:*work /src/app.js:3:14", "work|/src/app.js|3|14|Optimized");
    assert_parses("JS:~work /src/app.js:3:14", "work|/src/app.js|3|14|Interpreted");
    assert_parses("JS:^work /src/app.js:3:14", "work|/src/app.js|3|14|Baseline");
    assert_parses("JS:+work /src/app.js:3:14", "work|/src/app.js|3|14|Maglev");
    assert_parses("JS:*'work /src/app.js:3:14", "work|/src/app.js|3|14|Optimized");
    assert_parses("JS:o+work /src/app.js:3:14", "work|/src/app.js|3|14|Maglev");
    assert_parses("LazyCompile:*work file.js:2", "work|file.js|2|0|Optimized");
    assert_parses("JS:open node:fs:10:4", "open|node:fs|10|4|");
    assert_parses("JS:~ /src/app.js:1:1", "(anonymous)|/src/app.js|1|1|Interpreted");
    assert_parses("Eval:~ /src/app.js:1:1", "(anonymous)|/src/app.js|1|1|Interpreted");
    assert_parses("JS:*f", "f||0|0|Optimized");
    assert_parses("JS:*get size /my files/a.js:7:3", "get size|/my files/a.js|7|3|Optimized");
    assert_parses("JS:~emit file:///src/m.mjs:52:7", "emit|file:///src/m.mjs|52|7|Interpreted");
    assert_parses("JS:~x /a.js:99999999999:5", "x|/a.js:99999999999|5|0|Interpreted");
    assert_parses("JS:~x :1:2", "x||1|2|Interpreted");
}

static void test_python_names_have_function_and_file(void **unused)
{
    (void)unused;
    assert_parses("py::work:/src/app.py", "work|/src/app.py|0|0|");
    assert_parses("py::C.f.<locals>.<lambda>:/src/a:b.py", "C.f.<locals>.<lambda>|/src/a:b.py|0|0|");
    assert_parses("py::_load:<frozen importlib._bootstrap>", "_load|<frozen importlib._bootstrap>|0|0|");
    assert_parses("py::alone", "alone||0|0|");
}

static void test_luajit_names_say_where_the_trace_begins(void **unused)
{
    (void)unused;
    assert_parses("TRACE_7::/src/app.lua:12", "app.lua:12|/src/app.lua|12|0|Trace");
    assert_parses("TRACE_123::app.lua:1", "app.lua:1|app.lua|1|0|Trace");
    assert_parses("TRACE_1::(string)", "(string)||0|0|Trace");
    assert_parses("TRACE_1", "TRACE_1||0|0|");
}

static void test_erlang_names_have_no_dollar(void **unused)
{
    (void)unused;
    assert_parses("$lists:map/2", "lists:map/2||0|0|");
    assert_parses("$'Elixir.Enum':map/12", "'Elixir.Enum':map/12||0|0|");
    assert_parses("$global::process_main", "global::process_main||0|0|");
}

static void test_dotnet_names_have_their_tier(void **unused)
{
    (void)unused;
    assert_parses("int32 [app] Program::Main(string[])[Tier0]", "int32 [app] Program::Main(string[])||0|0|Tier0");
}

static void test_other_names_stay_as_they_are(void **unused)
{
    (void)unused;
    static const char *const names[] = {"Builtin:ArrayMap",
                                        "$",
                                        "$x",
                                        "$a/b",
                                        "$/2",
                                        "BytecodeHandler:Star0",
                                        "RegExp:a b/c:1:2",
                                        "Ljava/lang/String;::hashCode",
                                        "JS::Value::toNumber /x",
                                        "int32 [app] Program::Main(string[])",
                                        "JS:",
                                        "py::",
                                        "py:::x",
                                        "py::work"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) - 1; i++) {
        char wanted[128];
        snprintf(wanted, sizeof(wanted), "%s||0|0|", names[i]);
        assert_parses(names[i], wanted);
    }
}

static void test_names_can_be_shown_anywhere(void **unused)
{
    (void)unused;
    assert_parses("red\033[31m", "red\xef\xbf\xbd[31m||0|0|");
    assert_parses("JS:*a\tb\x7f /x\x01.js:1:2", "a\xef\xbf\xbd"
                                                "b\xef\xbf\xbd|/x\xef\xbf\xbd.js|1|2|Optimized");
    assert_parses("\xc2\x9b"
                  "31m gr\xc3\xbc\xc3\x9f \xff",
                  "\xef\xbf\xbd"
                  "31m gr\xc3\xbc\xc3\x9f \xef\xbf\xbd||0|0|");
    assert_string_equal(parse("a\0b", 3), "a\xef\xbf\xbd"
                                          "b||0|0|");
}

static void test_every_truncation_of_a_name_is_parsed(void **unused)
{
    (void)unused;
    static const char *const names[] = {"JS:o*'get work /src/\xc3\xa4pp.js:2147483647:4294967296", "py::a.b:/src/c.py"};
    for (size_t i = 0; i < 2; i++)
        for (size_t cut = 0; cut <= strlen(names[i]); cut++)
            assert_true(strlen(parse(names[i], cut)) >= 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_address_has_the_name_of_the_line_that_covers_it),
        cmocka_unit_test(test_the_last_line_wins),
        cmocka_unit_test(test_what_is_no_line_is_ignored),
        cmocka_unit_test(test_sizes_past_the_end_of_memory_end_there),
        cmocka_unit_test(test_a_name_that_is_known_stays),
        cmocka_unit_test(test_long_names_are_cut),
        cmocka_unit_test(test_every_truncation_gives_a_name_of_a_whole_line),
        cmocka_unit_test(test_any_overlap_is_answered_as_a_search_line_by_line_does),
        cmocka_unit_test(test_a_million_lines_over_all_addresses_take_no_time),
        cmocka_unit_test(test_lines_are_found_wherever_chunks_end),
        cmocka_unit_test(test_a_line_without_end_is_skipped),
        cmocka_unit_test(test_of_a_huge_file_the_end_is_read),
        cmocka_unit_test(test_what_cannot_be_read_is_an_error),
        cmocka_unit_test(test_v8_names_have_function_file_line_and_tier),
        cmocka_unit_test(test_python_names_have_function_and_file),
        cmocka_unit_test(test_luajit_names_say_where_the_trace_begins),
        cmocka_unit_test(test_erlang_names_have_no_dollar),
        cmocka_unit_test(test_dotnet_names_have_their_tier),
        cmocka_unit_test(test_other_names_stay_as_they_are),
        cmocka_unit_test(test_names_can_be_shown_anywhere),
        cmocka_unit_test(test_every_truncation_of_a_name_is_parsed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
