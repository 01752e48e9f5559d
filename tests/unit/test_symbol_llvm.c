/*
 * Names, inline chains, files, lines and columns are those of llvm-symbolizer: over addresses in all functions of
 * programs built by gcc, clang, rustc and go at several levels of optimisation and versions of DWARF, and of programs
 * of this machine. A difference is no failure where we mean it; the reasons below say whose doing it is. Compilers that
 * are not there are left out.
 */
#include "support/agreement.h"

static size_t read_frames(struct agreement *a, FILE *in, struct other_frame *frames, size_t max)
{
    static char line[AGREEMENT_LINE];
    size_t count = 0;
    while (agreement_read_line(in, line) && line[0]) {
        assert_true(count < max);
        struct other_frame *frame = &frames[count++];
        *frame = (struct other_frame){0};
        agreement_take_name(a, frame, line);
        assert_true(agreement_read_line(in, line));
        char *column = strrchr(line, ':');
        *column = '\0';
        char *number = strrchr(line, ':');
        *number = '\0';
        frame->column = (unsigned)strtoul(column + 1, NULL, 10);
        frame->line = (unsigned)strtoul(number + 1, NULL, 10);
        frame->file = strcmp(line, "??") == 0 ? NULL : arena_copy(&a->arena, line, strlen(line));
    }
    return count;
}

static const char *explain_name(struct agreement *a, size_t i, const struct symbol_frame *ours,
                                const struct other_frame *theirs, bool is_outermost)
{
    const struct symbol_answer *answer = &a->answers.answers[i];
    size_t length = ours->function ? strlen(ours->function) : 0;
    size_t short_length = theirs->function ? strlen(theirs->function) : 0;
    if (!theirs->is_mangled && length > short_length + 2 && theirs->function &&
        strcmp(ours->function + length - short_length, theirs->function) == 0 &&
        strncmp(ours->function + length - short_length - 2, "::", 2) == 0)
        return "ours says more: the namespaces and classes around a DW_AT_name";
    if (!theirs->is_mangled && theirs->function && strncmp(theirs->function, "__GI_", 5) == 0)
        return "theirs is glibc's internal alias, which stands for the linkage name; we only take mangled ones";
    if (is_outermost && answer->symbol && theirs->function &&
        agreement_symbol_at(a, answer->symbol_address, theirs->function))
        return "either is right: they take the last of several symbols of an address, we the debug info's or the best";
    if (is_outermost && !theirs->function)
        return "theirs is missing: they find no symbol after a label without a size, we the function around it";
    return NULL;
}

static const char *explain_line(struct agreement *a, size_t i, const struct symbol_frame *ours,
                                const struct other_frame *theirs, bool is_outermost)
{
    size_t length = theirs->file ? strlen(theirs->file) : 0;
    bool is_object = agreement_ends_with(theirs->file, ".o");
    if (!ours->file && ours->line == 0 && theirs->line == 0 && length && (is_object || !strchr(theirs->file, '/')))
        return "theirs is wrong: without debug info the STT_FILE symbol before a static function, not always its file";
    if (is_outermost && !agreement_same(ours->function, theirs->function) && theirs->function &&
        agreement_symbol_at(a, a->answers.answers[i].symbol_address, theirs->function))
        return "either is right: the linker folded functions of the same code, with a line of each for one address";
    return NULL;
}

static const struct agreement_with llvm = {
    .name = "llvm-symbolizer",
    .program = "llvm-symbolizer",
    .command = "llvm-symbolizer --no-demangle <%s --obj='%s'",
    .has_columns = true,
    .read = read_frames,
    .explain_name = explain_name,
    .explain_line = explain_line,
};

static void test_gcc_programs(void **unused)
{
    (void)unused;
    agreement_build_all(&llvm, "gcc");
    agreement_build_all(&llvm, "g++");
}

static void test_clang_programs(void **unused)
{
    (void)unused;
    agreement_build_all(&llvm, "clang");
    agreement_build_all(&llvm, "clang++");
}

static void test_rust_programs(void **unused)
{
    (void)unused;
    agreement_build_all(&llvm, "rustc");
}

static void test_go_programs(void **unused)
{
    (void)unused;
    agreement_build_all(&llvm, "go");
}

static void test_programs_of_this_machine(void **unused)
{
    (void)unused;
    static const char *const paths[] = {"/usr/bin/python3", "/usr/bin/gdb", "/bin/bash",
                                        "/lib/x86_64-linux-gnu/libc.so.6", "/usr/lib/x86_64-linux-gnu/libstdc++.so.6"};
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
        if (access(paths[i], R_OK) == 0 && agreement_has_command(llvm.program))
            agreement_compare(paths[i], &llvm);
}

static char **files_of_user;

static void test_files_of_user(void **unused)
{
    (void)unused;
    for (char **file = files_of_user; *file; file++)
        agreement_compare(*file, &llvm);
}

/* With arguments: compares these files alone. */
int main(int argc, char **argv)
{
    const struct CMUnitTest with_files[] = {cmocka_unit_test(test_files_of_user)};
    files_of_user = argv + 1;
    if (argc > 1)
        return cmocka_run_group_tests(with_files, NULL, agreement_print_totals);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gcc_programs),
        cmocka_unit_test(test_clang_programs),
        cmocka_unit_test(test_rust_programs),
        cmocka_unit_test(test_go_programs),
        cmocka_unit_test(test_programs_of_this_machine),
    };
    return cmocka_run_group_tests(tests, NULL, agreement_print_totals);
}
