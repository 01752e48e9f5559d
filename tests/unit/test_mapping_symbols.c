/* The kinds of code in ARM programs, with and without mapping symbols. Needs clang and lld. */
#include "support/symbol_directory.h"
#include "symbol/mapping_symbols.h"

/* An ARM and a Thumb function, each with a constant behind its code. */
static const char source[] =
    "__attribute__((target(\"thumb\"), noinline)) int thumb(int x) { return x * 0x12345679; }\n"
    "__attribute__((target(\"arm\"), noinline)) int plain(int x) { return x * 0x23456791; }\n";

static bool has_tools(void)
{
    return has_command("clang") && has_command("ld.lld") && has_command("llvm-strip");
}

static int make_programs(void **unused)
{
    if (make_empty_directory(unused) != 0)
        return -1;
    if (!has_tools())
        return 0;
    write_text("a.c", source);
    /* ARMv5 has no instruction to load 32 bits: they stand as data behind the code */
    run("clang --target=armv5te-linux-gnueabi -O1 -fuse-ld=lld -nostdlib -shared -o whole a.c && "
        "cp whole bare && llvm-strip --strip-all bare");
    return 0;
}

static void open_or_skip(struct elf_file *file, const char *name)
{
    struct error err = {""};
    if (!has_tools()) {
        print_message("no clang, ld.lld or llvm-strip here\n");
        skip();
    }
    assert_int_equal(elf_file_open(file, in_directory(name), &err), 0);
}

/* The kind at an address, where the reader begins at `start`. */
static enum code_kind kind_at(const struct elf_file *file, uint64_t start, uint64_t address)
{
    struct mapping_symbols kinds;
    struct error err = {""};
    uint64_t until;
    assert_int_equal(mapping_symbols_find(&kinds, file, start, start + 64, &err), 0);
    enum code_kind kind = mapping_symbols_get_kind(&kinds, address, &until);
    assert_true(until > address);
    mapping_symbols_destroy(&kinds);
    return kind;
}

static uint64_t start_of(const struct elf_file *file, const char *name)
{
    return (address_of(in_directory("whole"), name) + file->base) & ~UINT64_C(1);
}

/* Where the constant of the function is. */
static uint64_t constant_behind(const struct elf_file *file, uint64_t start, uint32_t constant)
{
    const struct elf_section *section = elf_file_find_section_at(file, start);
    for (uint64_t at = start & ~UINT64_C(3); at < start + 64; at += 4) {
        unsigned char word[4];
        assert_true(bytes_read(&section->bytes, at - section->address, word, 4));
        if (((uint32_t)word[3] << 24 | (uint32_t)word[2] << 16 | (uint32_t)word[1] << 8 | word[0]) == constant)
            return at;
    }
    fail_msg("the constant is not there");
    return 0;
}

static void test_symbols_tell_code_from_data(void **unused)
{
    (void)unused;
    struct elf_file file;
    open_or_skip(&file, "whole");
    uint64_t thumb = start_of(&file, "thumb"), plain = start_of(&file, "plain");
    uint64_t data = constant_behind(&file, thumb, 0x12345679), more = constant_behind(&file, plain, 0x23456791);
    assert_int_equal(kind_at(&file, thumb, thumb), CODE_THUMB);
    assert_int_equal(kind_at(&file, thumb, data), CODE_DATA);
    assert_int_equal(kind_at(&file, plain, plain), CODE_PLAIN);
    assert_int_equal(kind_at(&file, plain, more), CODE_DATA);
    assert_int_equal(kind_at(&file, thumb, plain), CODE_PLAIN);
    elf_file_close(&file);
}

static void test_what_begins_before_the_part_that_is_read_counts(void **unused)
{
    (void)unused;
    struct elf_file file;
    open_or_skip(&file, "whole");
    uint64_t thumb = start_of(&file, "thumb"), plain = start_of(&file, "plain");
    uint64_t data = constant_behind(&file, thumb, 0x12345679);
    assert_int_equal(kind_at(&file, thumb + 2, thumb + 2), CODE_THUMB);
    assert_int_equal(kind_at(&file, plain + 4, plain + 4), CODE_PLAIN);
    assert_int_equal(kind_at(&file, data + 2, data + 2), CODE_DATA);
    elf_file_close(&file);
}

static void test_stripped_functions_say_by_their_address_what_they_are(void **unused)
{
    (void)unused;
    struct elf_file file;
    open_or_skip(&file, "bare");
    uint64_t thumb = start_of(&file, "thumb"), plain = start_of(&file, "plain");
    assert_int_equal(kind_at(&file, thumb, thumb), CODE_THUMB);
    assert_int_equal(kind_at(&file, thumb + 2, thumb + 2), CODE_THUMB);
    assert_int_equal(kind_at(&file, plain, plain), CODE_PLAIN);
    assert_int_equal(kind_at(&file, plain + 4, plain + 4), CODE_PLAIN);
    elf_file_close(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_symbols_tell_code_from_data),
        cmocka_unit_test(test_what_begins_before_the_part_that_is_read_counts),
        cmocka_unit_test(test_stripped_functions_say_by_their_address_what_they_are),
    };
    return cmocka_run_group_tests(tests, make_programs, remove_directory);
}
