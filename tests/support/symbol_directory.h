/* A directory in which a test builds programs, and lookups of their addresses. For the tests of lib/symbol. */
#pragma once

#include "elf/elf_table.h"
#include "support/directory.h"
#include "symbol/symbol.h"
#include "symbol/symbol_table.h"

/* A program with a call that is inlined: main() calls middle(), which contains inner(). */
static const char inlining_source[] = "static inline int inner(int x)\n"
                                      "{\n"
                                      "    return x * 7 + 1;\n"
                                      "}\n"
                                      "__attribute__((noinline)) int middle(int x)\n"
                                      "{\n"
                                      "    return inner(x) ^ 5;\n"
                                      "}\n"
                                      "int main(int argc, char **argv)\n"
                                      "{\n"
                                      "    (void)argv;\n"
                                      "    return middle(argc);\n"
                                      "}\n";

/* The rva of a function, by its name in .symtab. */
static inline uint64_t address_of(const char *path, const char *name)
{
    struct elf_file file;
    struct error err = {""};
    assert_int_equal(elf_file_open(&file, path, &err), 0);
    const struct elf_section *table = elf_file_find_section(&file, ".symtab");
    assert_non_null(table);
    struct elf_symbols symbols;
    assert_true(elf_symbols_load(&symbols, &file, table, 0, SIZE_MAX));
    struct window names = {.bytes = &file.sections.data[table->link].bytes};
    uint64_t address = 0;
    for (size_t i = 0; i < symbols.count; i++) {
        struct elf_symbol symbol = elf_symbols_get(&symbols, i);
        if (strcmp(window_read_string(&names, symbol.name), name) == 0)
            address = symbol.value - file.base;
    }
    window_destroy(&names);
    elf_symbols_free(&symbols);
    elf_file_close(&file);
    assert_true(address != 0);
    return address;
}

/* The caller destroys the answers. */
static inline struct symbol_answers lookup(const struct symbol_lib *lib, const uint64_t *rvas, size_t count)
{
    struct error err = {""};
    struct symbol_answers answers;
    struct symbolizer *symbolizer = symbolizer_new(&(struct symbolizer_options){.threads = 2});
    assert_non_null(symbolizer);
    assert_int_equal(symbolizer_lookup(symbolizer, lib, rvas, count, &answers, &err), 0);
    assert_int_equal(answers.count, count);
    symbolizer_free(symbolizer);
    return answers;
}

static inline struct symbol_answers lookup_file(const char *path, uint64_t rva)
{
    struct symbol_lib lib = {.kind = SYMBOL_LIB_ELF, .name = "program", .path = path};
    return lookup(&lib, &rva, 1);
}

static inline unsigned char *read_whole(const char *path, size_t *size)
{
    struct elf_file file;
    struct error err;
    assert_int_equal(elf_file_open(&file, path, &err), 0);
    *size = (size_t)file.bytes.size;
    unsigned char *bytes = bytes_load(&file.bytes);
    elf_file_close(&file);
    assert_non_null(bytes);
    return bytes;
}
