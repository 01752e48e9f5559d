/*
 * The choice among several symbols at an address (rules: lib/symbol/symbol_table.c): aliases, labels inside functions,
 * assembly without sizes, data among code, the markers of ARM's assemblers, resolvers and their targets, functions that
 * a linker folded.
 */
#include "support/symbol_directory.h"

#include <unistd.h>

static bool build(const char *source_name, const char *source, const char *compiler)
{
    char command[1024];
    write_text(source_name, source);
    snprintf(command, sizeof(command), "cd %s && %s -o program %s", directory, compiler, source_name);
    print_message("%s\n", command);
    return system(command) == 0;
}

/* Looks up one address; `expected` NULL: it has no name. */
static void assert_named(uint64_t rva, const char *expected)
{
    char path[128];
    struct error err = {""};
    struct symbol_answers answers;
    struct symbolizer *symbolizer = symbolizer_new(&(struct symbolizer_options){.threads = 1});
    snprintf(path, sizeof(path), "%s/program", directory);
    struct symbol_lib lib = {.kind = SYMBOL_LIB_ELF, .name = "program", .path = path};
    assert_non_null(symbolizer);
    assert_int_equal(symbolizer_lookup(symbolizer, &lib, &rva, 1, &answers, &err), 0);
    const struct symbol_answer *answer = &answers.answers[0];
    if (!expected && answer->symbol)
        fail_msg("0x%llx is named %s", (unsigned long long)rva, answer->symbol);
    for (uint32_t i = 0; !expected && i < answer->frame_count; i++)
        assert_null(answers.frames.data[answer->first_frame + i].function);
    if (expected) {
        assert_non_null(answer->symbol);
        assert_string_equal(answer->symbol, expected);
        assert_string_equal(answers.frames.data[answer->first_frame].function, expected);
    }
    symbol_answers_destroy(&answers);
    symbolizer_free(symbolizer);
}

static void test_the_public_and_plainest_of_several_names_is_taken(void **unused)
{
    (void)unused;
    assert_true(build("program.s",
                      ".text\n"
                      ".globl _start, __open64, open_nocancel\n"
                      ".weak open, open64\n"
                      ".type _start, @function\n.type __open64, @function\n.type open_nocancel, @function\n"
                      ".type open, @function\n.type open64, @function\n.type o, @function\n.type a_label, @notype\n"
                      "_start:\n nop\n nop\n.size _start, . - _start\n"
                      "__open64:\nopen_nocancel:\nopen64:\nopen:\no:\na_label:\n nop\n nop\n nop\n"
                      ".size __open64, . - open\n.size open_nocancel, . - open\n.size open, . - open\n"
                      ".size open64, . - open\n.size o, . - open\n",
                      "gcc -nostdlib -static"));
    assert_named(address_of(in_directory("program"), "open"), "open"); /* o is shorter, but local */
    assert_named(address_of(in_directory("program"), "open") + 2, "open");
    assert_named(address_of(in_directory("program"), "_start") + 1, "_start");
}

static void test_functions_win_over_what_lies_in_them(void **unused)
{
    (void)unused;
    assert_true(build("program.s",
                      ".text\n.globl _start, outer, inner\n"
                      ".type outer, @function\n.type inner, @function\n.type table, @object\n"
                      "_start:\n nop\n"
                      "outer:\n nop\n nop\n"
                      "loop:\n nop\n nop\n"
                      "inner:\n nop\n nop\n.size inner, . - inner\n"
                      " nop\n nop\n.size outer, . - outer\n"
                      "table:\n .quad 1, 2\n.size table, . - table\n",
                      "gcc -nostdlib -static -Wa,-L"));
    assert_named(address_of(in_directory("program"), "loop") + 1, "outer");
    assert_named(address_of(in_directory("program"), "inner") + 1, "inner");
    assert_named(address_of(in_directory("program"), "inner") + 2, "outer");
    assert_named(address_of(in_directory("program"), "table") + 8, NULL); /* data among code names nothing */
}

static void test_assembly_without_sizes_ends_at_the_next_symbol_or_section(void **unused)
{
    (void)unused;
    assert_true(build("program.s",
                      ".text\n.globl _start, first, second\n"
                      "_start:\n nop\n"
                      "first:\n nop\n nop\n"
                      ".Llocal:\n nop\n"
                      "second:\n nop\n nop\n"
                      ".section .other, \"ax\"\n nop\n nop\n"
                      ".globl third\n"
                      "third:\n nop\n nop\n",
                      "gcc -nostdlib -static -Wa,-L"));
    assert_named(address_of(in_directory("program"), "first") + 2, "first"); /* .Llocal is a label of the assembler */
    assert_named(address_of(in_directory("program"), "second") + 1, "second");
    assert_named(address_of(in_directory("program"), "third") + 1, "third");
    assert_named(address_of(in_directory("program"), "third") - 1, NULL); /* before the first symbol of its section */
}

/* As llvm-symbolizer says: no function, with debug info and without it. */
static void test_padding_between_functions_belongs_to_neither(void **unused)
{
    (void)unused;
    static const char source[] = "__attribute__((noinline)) int first(int x) { return x + 1; }\n"
                                 "__attribute__((noinline)) int second(int x) { return first(x) * 3; }\n"
                                 "int main(int argc, char **argv) { return argv ? second(argc) : 0; }\n";
    static const char *const compilers[] = {"gcc -O2 -falign-functions=64", "gcc -g -O2 -falign-functions=64"};
    for (size_t i = 0; i < 2; i++) {
        assert_true(build("padded.c", source, compilers[i]));
        uint64_t second = address_of(in_directory("program"), "second");
        assert_named(address_of(in_directory("program"), "first") + 1, "first");
        assert_named(second - 1, NULL);
        assert_named(address_of(in_directory("program"), "first") + 32, NULL);
        assert_named(second, "second");
    }
}

static void test_markers_of_code_and_data_are_no_names(void **unused)
{
    (void)unused;
    if (!has_command("clang") || !has_command("ld.lld"))
        skip();
    static const char source[] = ".text\n.globl _start, work\n"
                                 "_start:\n nop\n"
                                 "work:\n nop\n nop\n"
                                 " .word 7\n" /* $d, and $x behind it */
                                 " nop\n nop\n";
    assert_true(build("program.s", source, "clang --target=aarch64-linux-gnu -nostdlib -static -fuse-ld=lld"));
    for (uint64_t at = 0; at < 20; at += 4)
        assert_named(address_of(in_directory("program"), "work") + at, "work");
    assert_true(build("program.s", source, "clang --target=armv7-linux-gnueabi -nostdlib -static -fuse-ld=lld"));
    for (uint64_t at = 0; at < 20; at += 4)
        assert_named(address_of(in_directory("program"), "work") + at, "work");
}

static void test_resolvers_and_their_targets_have_their_own_names(void **unused)
{
    (void)unused;
    assert_true(build("program.c",
                      "static int fast(int x) { return x + 1; }\n"
                      "static int slow(int x) { return x * 3; }\n"
                      "static int (*choose(void))(int) { return __builtin_cpu_supports(\"sse2\") ? fast : slow; }\n"
                      "int work(int) __attribute__((ifunc(\"choose\")));\n"
                      "int main(int argc, char **argv) { (void)argv; return work(argc); }\n",
                      "gcc -O1"));
    assert_named(address_of(in_directory("program"), "fast"), "fast");
    assert_named(address_of(in_directory("program"), "slow"), "slow");
    assert_named(address_of(in_directory("program"), "choose"),
                 "work"); /* one address with two names; the public one */
}

static void test_folded_functions_have_one_of_their_names(void **unused)
{
    (void)unused;
    if (!has_command("clang") || !has_command("ld.lld"))
        skip();
    assert_true(build("program.c",
                      "__attribute__((noinline)) long beta(long x) { return x * 977 + 12; }\n"
                      "__attribute__((noinline)) long alpha(long x) { return x * 977 + 12; }\n"
                      "int main(int argc, char **argv) { (void)argv; return (int)(alpha(argc) - beta(argc + 1)); }\n",
                      "clang -O1 -g -ffunction-sections -fuse-ld=lld -Wl,--icf=all"));
    assert_int_equal(address_of(in_directory("program"), "alpha"), address_of(in_directory("program"), "beta"));
    char path[128];
    struct error err = {""};
    uint64_t rva = address_of(in_directory("program"), "beta");
    struct symbol_answers answers;
    struct symbolizer *symbolizer = symbolizer_new(NULL);
    snprintf(path, sizeof(path), "%s/program", directory);
    struct symbol_lib lib = {.kind = SYMBOL_LIB_ELF, .name = "program", .path = path};
    assert_int_equal(symbolizer_lookup(symbolizer, &lib, &rva, 1, &answers, &err), 0);
    assert_string_equal(answers.answers[0].symbol, "beta"); /* the shorter one */
    const struct symbol_frame *frame = &answers.frames.data[answers.answers[0].first_frame];
    assert_true(strcmp(frame->function, "alpha") == 0 || strcmp(frame->function, "beta") == 0);
    assert_int_equal(answers.answers[0].frame_count, 1); /* not one inlined into the other */
    symbol_answers_destroy(&answers);
    symbolizer_free(symbolizer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_public_and_plainest_of_several_names_is_taken),
        cmocka_unit_test(test_functions_win_over_what_lies_in_them),
        cmocka_unit_test(test_assembly_without_sizes_ends_at_the_next_symbol_or_section),
        cmocka_unit_test(test_padding_between_functions_belongs_to_neither),
        cmocka_unit_test(test_markers_of_code_and_data_are_no_names),
        cmocka_unit_test(test_resolvers_and_their_targets_have_their_own_names),
        cmocka_unit_test(test_folded_functions_have_one_of_their_names),
    };
    return cmocka_run_group_tests(tests, make_empty_directory, remove_directory);
}
