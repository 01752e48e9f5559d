/* Programs without unwind tables: the walker reads .debug_frame, however a linker or objcopy has compressed it. */
#include "elf/elf_file.h"
#include "elf/elf_table.h"
#include "support/directory.h"
#include "unwind/unwind.h"

#include <fcntl.h>
#include <unistd.h>

static int make_program(void **unused)
{
    if (make_empty_directory(unused) != 0)
        return -1;
    write_text("program.c",
               "int callee(int x) { return x * 7; } int main(int argc, char **v) { return callee(argc) + !v; }\n");
    run("gcc -g -O1 -fno-asynchronous-unwind-tables -fno-unwind-tables -o plain program.c");
    return 0;
}

static uint64_t address_of_main(const char *name)
{
    struct elf_file file;
    struct elf_symbols symbols;
    uint64_t address = 0;
    assert_int_equal(elf_file_open(&file, in_directory(name), NULL), 0);
    const struct elf_section *table = elf_file_find_section(&file, ".symtab");
    assert_true(elf_symbols_load(&symbols, &file, table, 0, SIZE_MAX));
    struct window names = {.bytes = &file.sections.data[table->link].bytes};
    for (size_t i = 0; i < symbols.count; i++)
        if (strcmp(window_read_string(&names, elf_symbols_get(&symbols, i).name), "main") == 0)
            address = elf_symbols_get(&symbols, i).value;
    window_destroy(&names);
    elf_symbols_free(&symbols);
    elf_file_close(&file);
    return address;
}

static bool finds_main(const char *name)
{
    struct error err = {""};
    uint64_t start, size, address = address_of_main(name);
    int fd = open(in_directory(name), O_RDONLY | O_CLOEXEC);
    struct unwind_module *module;
    assert_int_equal(unwind_module_open(&module, fd, name, &err), 0);
    close(fd);
    bool found = unwind_module_find_function(module, address + 1, &start, &size) && start == address;
    unwind_module_unref(module);
    return found;
}

static void test_plain(void **unused)
{
    (void)unused;
    assert_true(finds_main("plain"));
}

static void test_compressed_with(const char *kind)
{
    run("objcopy --compress-debug-sections=%s plain packed", kind);
    assert_true(finds_main("packed"));
}

static void test_compressed_with_zlib(void **unused)
{
    (void)unused;
    test_compressed_with("zlib-gabi");
    test_compressed_with("zlib-gnu");
}

static void test_compressed_with_zstd(void **unused)
{
    (void)unused;
    if (system("objcopy --help | grep -q zstd") != 0)
        skip();
    test_compressed_with("zstd");
}

static void test_without_it_there_is_no_function(void **unused)
{
    (void)unused;
    run("objcopy --remove-section=.debug_frame plain without");
    assert_false(finds_main("without"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain),
        cmocka_unit_test(test_compressed_with_zlib),
        cmocka_unit_test(test_compressed_with_zstd),
        cmocka_unit_test(test_without_it_there_is_no_function),
    };
    return cmocka_run_group_tests(tests, make_program, remove_directory);
}
