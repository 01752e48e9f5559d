/*
 * Names, inline chains, files, lines and columns are those of llvm-symbolizer: over addresses in all functions of
 * programs built by gcc, clang, rustc and go at several levels of optimisation and versions of DWARF, and of programs
 * of this machine. A difference is no failure where we mean it; the reasons below say whose doing it is. Without one of
 * the tools a test is skipped.
 */
#include "support/agreement_llvm.h"

static void test_gcc_programs(void **unused)
{
    (void)unused;
    agreement_build_all(&agreement_llvm, "gcc");
    agreement_build_all(&agreement_llvm, "g++");
}

static void test_clang_programs(void **unused)
{
    (void)unused;
    agreement_build_all(&agreement_llvm, "clang");
    agreement_build_all(&agreement_llvm, "clang++");
}

static void test_rust_programs(void **unused)
{
    (void)unused;
    agreement_build_all(&agreement_llvm, "rustc");
}

static void test_go_programs(void **unused)
{
    (void)unused;
    agreement_build_all(&agreement_llvm, "go");
}

static void test_programs_of_this_machine(void **unused)
{
    (void)unused;
    if (!agreement_has_command(agreement_llvm.program))
        skip();
    static const char *const paths[] = {"/usr/bin/python3", "/usr/bin/gdb", "/bin/bash",
                                        "/lib/x86_64-linux-gnu/libc.so.6", "/usr/lib/x86_64-linux-gnu/libstdc++.so.6"};
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
        if (access(paths[i], R_OK) == 0)
            agreement_compare(paths[i], &agreement_llvm);
}

static char **files_of_user;

static void test_files_of_user(void **unused)
{
    (void)unused;
    for (char **file = files_of_user; *file; file++)
        agreement_compare(*file, &agreement_llvm);
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
