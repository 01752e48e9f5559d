/*
 * Names, inline chains, files, lines and columns of our reader of DWARF are those of libdw, the second one: over the
 * same programs as in test_symbol_llvm.c, and programs of this machine.
 */
#include "support/agreement.h"

static size_t read_frames(struct agreement *a, FILE *in, struct other_frame *frames, size_t max)
{
    (void)in;
    if (a->next == 0)
        agreement_ask_reader(a, SYMBOL_READER_LIBDW, &a->by_libdw);
    const struct symbol_answer *answer = &a->by_libdw.answers[a->next++];
    assert_true(answer->frame_count < max);
    frames[0] = (struct other_frame){0};
    for (size_t f = 0; f < answer->frame_count; f++) {
        const struct symbol_frame *frame = &a->by_libdw.frames.data[answer->first_frame + answer->frame_count - 1 - f];
        frames[f] = (struct other_frame){
            .function = frame->function, .file = frame->file, .line = frame->line, .column = frame->column};
    }
    return answer->frame_count ? answer->frame_count : 1;
}

static const char *explain_name(struct agreement *a, size_t i, const struct symbol_frame *ours,
                                const struct other_frame *theirs, bool is_outermost)
{
    (void)a, (void)i, (void)ours, (void)theirs, (void)is_outermost;
    return NULL;
}

/* lld --icf=all gives one copy of the code the lines of all functions that it folded. */
static const char *explain_line(struct agreement *a, size_t i, const struct symbol_frame *ours,
                                const struct other_frame *theirs, bool is_outermost)
{
    (void)ours, (void)theirs;
    const char *thunk = "non-virtual thunk to derived::~derived()";
    bool is_folded = is_outermost && agreement_symbol_at(a, a->rvas[i], thunk);
    return is_folded ? "either is right: of the line tables of folded functions, they take the last, we the first"
                     : NULL;
}

static const struct agreement_with libdw = {
    .name = "libdw",
    .has_columns = true,
    .read = read_frames,
    .explain_name = explain_name,
    .explain_line = explain_line,
};

/* ---- what our reader declines, and what is damaged ---- */

struct patched {
    char directory[32], path[64];
    struct agreement a;
};

/* Builds a program of DWARF 5 with one unit. */
static void patched_build(struct patched *p)
{
    char command[512];
    *p = (struct patched){0};
    strcpy(p->directory, "/tmp/test_symbol_libdw_XXXXXX");
    assert_non_null(mkdtemp(p->directory));
    snprintf(p->path, sizeof(p->path), "%s/program", p->directory);
    snprintf(command, sizeof(command), "gcc -g -gdwarf-5 -O2 -o %s tests/targets/names.c", p->path);
    assert_int_equal(system(command), 0);
    p->a.path = p->path;
    agreement_pick(&p->a);
}

/* Overwrites `count` bytes of a section from `at` on, to its end at most. */
static void patched_set(const struct patched *p, const char *section, uint64_t at, unsigned char value, size_t count)
{
    struct elf_file file;
    assert_int_equal(elf_file_open(&file, p->path, NULL), 0);
    const struct elf_section *found = elf_file_find_section(&file, section);
    assert_non_null(found);
    assert_true(at < found->size);
    if (count > found->size - at)
        count = found->size - at;
    FILE *out = fopen(p->path, "r+b");
    assert_non_null(out);
    fseek(out, (long)(found->bytes.offset + at), SEEK_SET);
    for (size_t i = 0; i < count; i++)
        fputc(value, out);
    fclose(out);
    elf_file_close(&file);
}

static void patched_look_up(struct patched *p, struct symbol_answers *answers)
{
    struct error err = {""};
    struct symbolizer *symbolizer = symbolizer_new(NULL);
    struct symbol_lib lib = {.kind = SYMBOL_LIB_ELF, .name = p->path, .path = p->path};
    assert_non_null(symbolizer);
    assert_int_equal(symbolizer_lookup(symbolizer, &lib, p->a.rvas, p->a.count, answers, &err), 0);
    symbolizer_free(symbolizer);
}

static void patched_destroy(struct patched *p)
{
    unlink(p->path);
    rmdir(p->directory);
    free(p->a.rvas);
    arena_destroy(&p->a.arena);
}

enum { LINE_OPERATIONS = 13, UNIT_VERSION = 4 }; /* offsets: maximum operations per instruction; version */

/* A line table for a machine with several operations in an instruction is one that our reader does not know. */
static void test_declined_units_are_read_by_libdw(void **unused)
{
    (void)unused;
    struct patched p;
    struct symbol_answers before, after;
    patched_build(&p);
    patched_look_up(&p, &before);
    patched_set(&p, ".debug_line", LINE_OPERATIONS, 4, 1);
    patched_look_up(&p, &after);
    assert_int_equal(before.from_libdw, 0);
    assert_true(after.from_libdw > p.a.count / 2);
    assert_false(after.is_damaged);
    assert_int_equal(after.frames.length, before.frames.length);
    size_t lines = 0;
    for (size_t i = 0; i < after.frames.length; i++) {
        assert_string_equal(after.frames.data[i].function, before.frames.data[i].function);
        lines += after.frames.data[i].line != 0;
    }
    assert_true(lines > 0);
    symbol_answers_destroy(&before);
    symbol_answers_destroy(&after);
    patched_destroy(&p);
}

static void test_damaged_units_do_not_reach_libdw(void **unused)
{
    (void)unused;
    struct patched p;
    struct symbol_answers answers;
    patched_build(&p);
    patched_set(&p, ".debug_line", LINE_OPERATIONS, 4, 1);
    patched_set(&p, ".debug_info", 200, 0xff, SIZE_MAX);
    patched_look_up(&p, &answers);
    assert_true(answers.is_damaged);
    assert_int_equal(answers.from_libdw, 0);
    assert_non_null(strstr(answers.problem, "its debug info is damaged"));
    symbol_answers_destroy(&answers);
    patched_destroy(&p);
}

/* libdw does not know it either: symbols are what is left. */
static void test_unit_of_unknown_version_is_not_damaged(void **unused)
{
    (void)unused;
    struct patched p;
    struct symbol_answers answers;
    patched_build(&p);
    patched_set(&p, ".debug_info", UNIT_VERSION, 6, 1);
    patched_look_up(&p, &answers);
    assert_false(answers.is_damaged);
    assert_int_equal(answers.from_libdw, 0);
    for (size_t i = 0; i < answers.count; i++)
        assert_int_equal(answers.answers[i].frame_count, 1);
    symbol_answers_destroy(&answers);
    patched_destroy(&p);
}

/* The form of the root's DW_AT_producer (DW_FORM_strp) becomes one that nobody knows. */
static void test_unit_with_unknown_form_is_not_damaged(void **unused)
{
    (void)unused;
    struct patched p;
    struct symbol_answers answers;
    struct elf_file file;
    patched_build(&p);
    assert_int_equal(elf_file_open(&file, p.path, NULL), 0);
    const struct elf_section *section = elf_file_find_section(&file, ".debug_abbrev");
    unsigned char *abbrevs = bytes_load(&section->bytes);
    assert_non_null(abbrevs);
    size_t at = 0;
    while (at + 1 < section->bytes.size && !(abbrevs[at] == 0x25 && abbrevs[at + 1] == 0x0e))
        at++;
    assert_true(at + 1 < section->bytes.size);
    free(abbrevs);
    elf_file_close(&file);
    patched_set(&p, ".debug_abbrev", at + 1, 0x2d, 1);
    patched_look_up(&p, &answers);
    assert_false(answers.is_damaged);
    symbol_answers_destroy(&answers);
    patched_destroy(&p);
}

static void check_big_endian(const char *target)
{
    char name[] = "/tmp/test_symbol_libdw_XXXXXX", command[512];
    assert_true(close(mkstemp(name)) == 0);
    snprintf(
        command, sizeof(command),
        "clang --target=%s -g -O2 -ffreestanding -nostdlib -fuse-ld=lld -static -o %s tests/targets/symbols/alone.c",
        target, name);
    assert_int_equal(system(command), 0);
    struct agreement a = {.path = name};
    agreement_pick(&a);
    agreement_ask_reader(&a, SYMBOL_READER_OWN, &a.answers);
    assert_true(a.answers.has_debug_info);
    assert_int_equal(a.answers.from_libdw, a.count);
    bool has_inlined = false;
    for (size_t i = 0; i < a.count; i++) {
        const struct symbol_answer *answer = &a.answers.answers[i];
        const struct symbol_frame *frames = &a.answers.frames.data[answer->first_frame];
        assert_true(answer->frame_count > 0);
        assert_string_equal(answer->symbol, frames[0].function);
        assert_true(agreement_ends_with(frames[0].file, "tests/targets/symbols/alone.c"));
        has_inlined |= answer->frame_count == 2 && strcmp(frames[0].function, "outer") == 0 &&
                       strcmp(frames[1].function, "inner") == 0 && frames[1].line == 8;
    }
    assert_true(has_inlined);
    symbol_answers_destroy(&a.answers);
    free(a.rvas);
    unlink(name);
}

static void test_big_endian_programs_are_read_by_libdw(void **unused)
{
    (void)unused;
    if (!has_command("clang") || !has_command("ld.lld"))
        skip();
    check_big_endian("aarch64_be-linux-gnu");
    check_big_endian("powerpc-linux-gnu");
}

static void test_programs_of_this_machine(void **unused)
{
    (void)unused;
    static const char *const paths[] = {"/usr/bin/python3", "/bin/bash", "/lib/x86_64-linux-gnu/libc.so.6",
                                        "/usr/lib/x86_64-linux-gnu/libstdc++.so.6"};
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
        if (access(paths[i], R_OK) == 0)
            agreement_compare(paths[i], &libdw);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        return agreement_compare_files(argv + 1, &libdw);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_declined_units_are_read_by_libdw),
        cmocka_unit_test(test_damaged_units_do_not_reach_libdw),
        cmocka_unit_test(test_unit_of_unknown_version_is_not_damaged),
        cmocka_unit_test(test_unit_with_unknown_form_is_not_damaged),
        cmocka_unit_test(test_big_endian_programs_are_read_by_libdw),
        AGREEMENT_TESTS(&libdw),
        cmocka_unit_test(test_programs_of_this_machine),
    };
    return cmocka_run_group_tests(tests, NULL, agreement_print_totals);
}
