/*
 * The same agreement with llvm-symbolizer as in test_symbol_llvm.c for split debug info, in .dwo files and in packages,
 * and for programs of other machines. Missing tools are skipped.
 */
#include "support/agreement_llvm.h"

/* gdb finds the inlined calls that they miss. */
static const char *explain_count(struct agreement *a, size_t i, const struct symbol_frame *ours, size_t own_count,
                                 const struct other_frame *theirs, size_t count)
{
    const struct symbol_frame *outermost = &a->answers.frames.data[a->answers.answers[i].first_frame];
    if (count >= own_count || ours->line != theirs[0].line || !agreement_same(ours->file, theirs[0].file))
        return NULL;
    for (size_t f = 0; f < count; f++)
        if (!agreement_same(outermost[f].function, theirs[count - 1 - f].function))
            return NULL;
    return "theirs is wrong: in split debug info of clang they count range lists from 0, not from the skeleton's "
           "low_pc";
}

static struct agreement_with split_llvm(void)
{
    struct agreement_with with = agreement_llvm;
    with.explain_count = explain_count;
    return with;
}

static void run(const char *command)
{
    print_message("%s\n", command);
    assert_int_equal(system(command), 0);
}

/* With the debug info in a .dwo file, and then in a package made of it. */
static void compare_split(const char *compiler, const char *flags, const char *packer, const char *source)
{
    char directory[] = "/tmp/test_agreement_XXXXXX", command[4096], path[64];
    const struct agreement_with with = split_llvm();
    if (!has_command(compiler) || !has_command(with.program)) {
        print_message("no %s or %s here\n", compiler, with.program);
        return;
    }
    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof(path), "%s/program", directory);
    snprintf(
        command, sizeof(command),
        "source=$PWD/tests/targets/%s && cd %s && %s -gsplit-dwarf %s -c -o unit.o $source && %s -o program unit.o",
        source, directory, compiler, flags, compiler);
    run(command);
    agreement_compare(path, &with);
    if (packer && has_command(packer)) {
        snprintf(command, sizeof(command), "cd %s && %s -o program.dwp unit.dwo && rm unit.dwo", directory, packer);
        run(command);
        agreement_compare(path, &with);
    } else {
        print_message("nothing here makes a package of it\n");
    }
    snprintf(command, sizeof(command), "rm -r %s", directory);
    run(command);
}

static void test_split_debug_info_of_gcc(void **unused)
{
    (void)unused;
    compare_split("gcc", "-g -O2 -gdwarf-4", "dwp", "names.c");
    compare_split("g++", "-g -O0 -gdwarf-4", "dwp", "names.cpp");
    compare_split("g++", "-g -O2 -gdwarf-4", "dwp", "names.cpp");
    compare_split("gcc", "-g -O2 -gdwarf-5", NULL, "names.c"); /* dwp of binutils 2.40 leaves out version 5 */
    compare_split("g++", "-g -O0 -gdwarf-5", NULL, "names.cpp");
    compare_split("g++", "-g -O2 -gdwarf-5", NULL, "names.cpp");
}

static void test_split_debug_info_of_clang(void **unused)
{
    (void)unused;
    compare_split("clang", "-g -O2 -gdwarf-4", "llvm-dwp", "names.c");
    compare_split("clang++", "-g -O0 -gdwarf-4", "llvm-dwp", "names.cpp");
    compare_split("clang++", "-g -O2 -gdwarf-4", "llvm-dwp", "names.cpp");
    compare_split("clang", "-g -O2 -gdwarf-5", "llvm-dwp", "names.c");
    compare_split("clang++", "-g -O0 -gdwarf-5", "llvm-dwp", "names.cpp");
    compare_split("clang++", "-g -O2 -gdwarf-5", "llvm-dwp", "names.cpp");
    compare_split("clang++", "-g -O2 -fsplit-dwarf-inlining", "llvm-dwp", "names.cpp");
    compare_split("clang++", "-g -O2 -fdebug-types-section", "llvm-dwp", "names.cpp");
    compare_split("clang++", "-g -O2 -gsplit-dwarf=single", NULL, "names.cpp");
}

static void test_split_debug_info_of_rustc(void **unused)
{
    (void)unused;
    const struct agreement_with with = split_llvm();
    if (system("rustc -C split-debuginfo=packed --print cfg >/dev/null 2>&1") != 0) {
        print_message("no rustc here that splits debug info\n");
        skip();
    }
    agreement_build(&with, "rustc", "-g -C opt-level=2 -C split-debuginfo=unpacked", "busy.rs");
    agreement_build(&with, "rustc", "-g -C opt-level=2 -C split-debuginfo=packed", "busy.rs");
}

static void test_other_machines(void **unused)
{
    (void)unused;
    static const char *const machines[] = {"x86_64", "i386", "aarch64", "armv7", "thumbv7"};
    static const char *const levels[] = {"-g -O0", "-g -O2 -gdwarf-4", "-g -O2 -gdwarf-5"};
    if (!has_command("ld.lld")) {
        print_message("no ld.lld here\n");
        skip();
    }
    for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++)
        for (size_t k = 0; k < sizeof(levels) / sizeof(levels[0]); k++) {
            char flags[256];
            snprintf(flags, sizeof(flags), "--target=%s-linux-gnu %s -fuse-ld=lld -nostdlib -static -Wl,-e,main",
                     machines[i], levels[k]);
            agreement_build(&agreement_llvm, "clang", flags, "machines.c");
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_split_debug_info_of_gcc),
        cmocka_unit_test(test_split_debug_info_of_clang),
        cmocka_unit_test(test_split_debug_info_of_rustc),
        cmocka_unit_test(test_other_machines),
    };
    return cmocka_run_group_tests(tests, NULL, agreement_print_totals);
}
