/* Names of events become perf attributes; static probes of programs are found, and invalid notes are rejected. */
#include "base/typing_distance.h"
#include "elf/elf_probes.h"
#include "sample/event_list.h"
#include "support/directory.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <unistd.h>

static int make_program(void **state)
{
    (void)state;
    if (make_empty_directory(state))
        return -1;
    /* As sys/sdt.h writes them: one probe in two places, and one with a semaphore. */
    write_text(
        "program.c",
        "__attribute__((section(\".probes\"))) unsigned short gate = 0;\n"
        "#define PROBE(name, semaphore) __asm__ volatile(\"990: nop\\n.pushsection "
        ".note.stapsdt,\\\"\\\",\\\"note\\\"\\n\"\\\n"
        "    \".balign 4\\n.4byte 992f-991f, 994f-993f, 3\\n991: .asciz \\\"stapsdt\\\"\\n992: .balign 4\\n\"\\\n"
        "    \"993: .8byte 990b\\n.8byte _.stapsdt.base\\n.8byte \" semaphore \"\\n\"\\\n"
        "    \".asciz \\\"shop\\\"\\n.asciz \\\"\" name \"\\\"\\n.asciz \\\"\\\"\\n994: .balign 4\\n.popsection\\n\")\n"
        "__asm__(\".pushsection .stapsdt.base,\\\"aG\\\",\\\"progbits\\\",.stapsdt.base,comdat\\n\"\n"
        "    \".weak _.stapsdt.base\\n.hidden _.stapsdt.base\\n_.stapsdt.base: .space 1\\n.popsection\\n\");\n"
        "int sell(int x) { PROBE(\"sold\", \"0\"); return x; }\n"
        "int buy(int x) { PROBE(\"sold\", \"0\"); PROBE(\"bought\", \"gate\"); return x + gate; }\n"
        "int main(int c, char **v) { return sell(c) + buy(c) - 2 * c - gate; }\n");
    run("gcc -g -O1 -fno-inline -no-pie -o program program.c && gcc -g -O1 -fno-inline -fPIE -pie -o moved program.c");
    return 0;
}

static int add(struct event_list *list, const char *text, uint64_t period, struct error *err)
{
    err->text[0] = '\0';
    return event_list_add(list, text, period, err);
}

static void test_names_of_the_kernel(void **state)
{
    (void)state;
    struct event_list list = {0};
    struct error err;
    assert_int_equal(add(&list, "page-faults", 0, &err), 0);
    assert_int_equal(add(&list, "cs", 7, &err), 0);
    assert_int_equal(add(&list, "context-switches", 0, &err), 0); /* there already */
    assert_int_equal(add(&list, "r1a8/period=1000/", 7, &err), 0);
    assert_int_equal(add(&list, "cpu-clock", 0, &err), 0); /* recorded anyway */
    assert_int_equal(list.length, 3);
    assert_int_equal(list.data[0].config, PERF_COUNT_SW_PAGE_FAULTS);
    assert_false(event_has_period(&list.data[0]));
    assert_string_equal(list.data[1].name, "context-switches");
    assert_true(list.data[1].in_kernel && list.data[1].period == 7);
    assert_string_equal(list.data[2].name, "r1a8");
    assert_true(list.data[2].type == PERF_TYPE_RAW && list.data[2].config == 0x1a8 && list.data[2].period == 1000);
    event_list_destroy(&list);
}

static void test_wrong_names_are_told_with_near_ones(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"page-fault", "page-faults"},      {"instrutions", "did you mean instructions"},
        {"branch-mises", "branch-misses"},  {"nothing-of-the-sort", "see 'prof events'"},
        {"cycles/period=x/", "period"},     {"rxyz", "unknown event 'rxyz'"},
        {"", "unknown event ''"},           {"usdt:/bin/x", "usdt:PATH:PROVIDER:NAME"},
        {"uprobe:", "uprobe:PATH:FUNCTION"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct event_list list = {0};
        struct error err;
        assert_int_equal(add(&list, cases[i][0], 0, &err), -EINVAL);
        if (!strstr(err.text, cases[i][1]))
            fail_msg("\"%s\" does not say \"%s\"", err.text, cases[i][1]);
        assert_int_equal(list.length, 0);
        event_list_destroy(&list);
    }
}

static void test_a_recording_has_a_limited_number_of_events(void **state)
{
    (void)state;
    struct event_list list = {0};
    struct error err;
    char name[16];
    for (int i = 0; i < EVENTS_MAX; i++) {
        snprintf(name, sizeof(name), "r%x", i);
        assert_int_equal(add(&list, name, 0, &err), 0);
    }
    assert_int_equal(add(&list, "rff", 0, &err), -EINVAL);
    assert_int_equal(add(&list, "r1", 0, &err), 0); /* there already */
    event_list_destroy(&list);
}

/* "file offset of the address that nm prints", by readelf's program headers. */
static uint64_t offset_of(const char *program, const char *symbol)
{
    char command[512], line[64] = "";
    snprintf(
        command, sizeof(command),
        "cd %s && a=$((0x$(nm %s | awk '$3 == \"%s\" { print $1 }'))) && readelf -lW %s | while read type offset "
        "address physical size rest; do [ $type = LOAD ] && [ $a -ge $((address)) ] && [ $a -lt $((address + size)) "
        "] && echo $((a - address + offset)); done",
        directory, program, symbol, program);
    FILE *in = popen(command, "r");
    if (!in || !fgets(line, sizeof(line), in))
        line[0] = '\0';
    if (in)
        pclose(in);
    return strtoull(line, NULL, 10);
}

static bool has_uprobes(void)
{
    return access("/sys/bus/event_source/devices/uprobe/type", R_OK) == 0;
}

static void test_probes_are_at_offsets_of_their_file(void **state)
{
    (void)state;
    static const char *const programs[] = {"program", "moved"};
    if (!has_uprobes())
        skip();
    for (size_t i = 0; i < 2; i++) {
        struct event_list list = {0};
        struct error err;
        char text[512];
        snprintf(text, sizeof(text), "uprobe:%s:sell", in_directory(programs[i]));
        assert_int_equal(add(&list, text, 0, &err), 0);
        snprintf(text, sizeof(text), "uretprobe:%s:sell", in_directory(programs[i]));
        assert_int_equal(add(&list, text, 0, &err), 0);
        snprintf(text, sizeof(text), "uprobe:%s:sell+0x2", in_directory(programs[i]));
        assert_int_equal(add(&list, text, 0, &err), 0);
        snprintf(text, sizeof(text), "uprobe:%s:sell+10", in_directory(programs[i]));
        assert_int_equal(add(&list, text, 0, &err), 0);
        uint64_t offset = offset_of(programs[i], "sell");
        assert_true(offset != 0);
        assert_int_equal(list.data[0].points.length, 1);
        assert_int_equal(list.data[0].points.data[0].offset, offset);
        assert_int_equal(list.data[2].points.data[0].offset, offset + 2);
        assert_int_equal(list.data[3].points.data[0].offset, offset + 10);
        assert_int_equal(list.data[0].config, 0);
        assert_int_equal(list.data[1].config, 1);
        assert_int_equal(list.data[0].period, 1);
        event_list_destroy(&list);
    }
}

static void test_static_probes_have_their_places_and_semaphores(void **state)
{
    (void)state;
    static const char *const programs[] = {"program", "moved"};
    if (!has_uprobes())
        skip();
    for (size_t i = 0; i < 2; i++) {
        struct event_list list = {0};
        struct error err;
        char text[512];
        snprintf(text, sizeof(text), "usdt:%s:shop:sold", in_directory(programs[i]));
        if (add(&list, text, 0, &err))
            fail_msg("%s", err.text);
        snprintf(text, sizeof(text), "usdt:%s:shop:bought", in_directory(programs[i]));
        if (add(&list, text, 0, &err))
            fail_msg("%s", err.text);
        assert_int_equal(list.data[0].points.length, 2);
        assert_int_equal(list.data[0].points.data[0].semaphore, 0);
        assert_int_equal(list.data[1].points.length, 1);
        assert_int_equal(list.data[1].points.data[0].semaphore, offset_of(programs[i], "gate"));
        snprintf(text, sizeof(text), "usdt:%s:shop:stolen", in_directory(programs[i]));
        assert_int_equal(add(&list, text, 0, &err), -EINVAL);
        event_list_destroy(&list);
    }
}

static void test_functions_that_are_not_there_are_told_with_near_ones(void **state)
{
    (void)state;
    struct event_list list = {0};
    struct error err;
    char text[512];
    if (!has_uprobes())
        skip();
    snprintf(text, sizeof(text), "uprobe:%s:sel", in_directory("program"));
    assert_int_equal(add(&list, text, 0, &err), -EINVAL);
    assert_non_null(strstr(err.text, "did you mean sell?"));
    event_list_destroy(&list);
}

/* Every byte of the notes is changed, and the file cut inside of them. */
static void test_notes_that_lie_are_refused(void **state)
{
    (void)state;
    struct elf_file file;
    struct elf_probes probes;
    struct error err;
    assert_int_equal(elf_file_open(&file, in_directory("program"), &err), 0);
    const struct elf_section *section = elf_file_find_section(&file, ".note.stapsdt");
    assert_non_null(section);
    size_t size = (size_t)section->bytes.size, offset = (size_t)section->bytes.offset,
           whole_size = (size_t)file.bytes.size;
    assert_int_equal(elf_probes_load(&probes, &file, &err), 0);
    assert_int_equal(probes.items.length, 3);
    assert_string_equal(probes.items.data[0].provider, "shop");
    elf_probes_free(&probes);
    unsigned char *whole = bytes_load(&file.bytes);
    assert_non_null(whole);
    elf_file_close(&file);
    for (size_t i = 0; i < size; i++)
        for (int change = 0; change < 3; change++) {
            unsigned char before = whole[offset + i];
            whole[offset + i] = change == 0 ? 0xff : change == 1 ? 0 : before ^ 0x40;
            assert_int_equal(elf_file_open_image(&file, whole, whole_size, "changed", &err), 0);
            assert_int_equal(elf_probes_load(&probes, &file, &err), 0);
            assert_in_range(probes.items.length, 0, 3);
            elf_probes_free(&probes);
            elf_file_close(&file);
            whole[offset + i] = before;
        }
    free(whole);
}

static void test_typing_distance(void **state)
{
    (void)state;
    assert_int_equal(compute_typing_distance("record", "record"), 0);
    assert_int_equal(compute_typing_distance("recrod", "record"), 2);
    assert_int_equal(compute_typing_distance("", "abc"), 3);
    assert_int_equal(compute_typing_distance("cat", "cart"), 1);
    char long_word[TYPING_WORD_MAX + 2];
    memset(long_word, 'a', sizeof(long_word));
    long_word[TYPING_WORD_MAX + 1] = '\0';
    assert_true(compute_typing_distance(long_word, "a") == SIZE_MAX &&
                compute_typing_distance("a", long_word) == SIZE_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_of_the_kernel),
        cmocka_unit_test(test_wrong_names_are_told_with_near_ones),
        cmocka_unit_test(test_a_recording_has_a_limited_number_of_events),
        cmocka_unit_test(test_probes_are_at_offsets_of_their_file),
        cmocka_unit_test(test_static_probes_have_their_places_and_semaphores),
        cmocka_unit_test(test_functions_that_are_not_there_are_told_with_near_ones),
        cmocka_unit_test(test_notes_that_lie_are_refused),
        cmocka_unit_test(test_typing_distance),
    };
    return cmocka_run_group_tests(tests, make_program, remove_directory);
}
