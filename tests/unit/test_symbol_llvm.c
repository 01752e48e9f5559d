/*
 * Names, inline chains, files, lines and columns are those of llvm-symbolizer: over addresses in all functions of
 * programs built by gcc, clang, rustc and go at several levels of optimization and versions of DWARF, and of programs
 * of this machine. Intended differences are no failures; the reasons below name the tool that causes them. A test
 * without its tool is skipped.
 */
#include "support/agreement_llvm.h"

static void test_programs_of_this_machine(void **unused)
{
    (void)unused;
    if (!has_command(agreement_llvm.program))
        skip();
    static const char *const paths[] = {"/usr/bin/python3", "/usr/bin/gdb", "/bin/bash",
                                        "/lib/x86_64-linux-gnu/libc.so.6", "/usr/lib/x86_64-linux-gnu/libstdc++.so.6"};
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
        if (access(paths[i], R_OK) == 0)
            agreement_compare(paths[i], &agreement_llvm);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        return agreement_compare_files(argv + 1, &agreement_llvm);
    const struct CMUnitTest tests[] = {
        AGREEMENT_TESTS(&agreement_llvm),
        cmocka_unit_test(test_programs_of_this_machine),
    };
    return cmocka_run_group_tests(tests, NULL, agreement_print_totals);
}
