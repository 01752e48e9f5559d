#include "language/python_library.h"

#include "base/path.h"
#include "elf/elf_file.h"
#include "elf/elf_table.h"

enum { NAMES_MAX = 64 << 20 }; /* limit of dynamic symbol names, in bytes; CPython has 50 KB */

bool python_library_is_likely(const char *path)
{
    return strstr(path_get_base_name(path), "python") != NULL;
}

struct wanted {
    const char *name;
    uint64_t *address;
};

static void find_symbols(const struct elf_file *elf, const struct elf_symbols *symbols, const char *names,
                         uint64_t names_size, const struct wanted *wanted, size_t count)
{
    for (size_t i = 0; i < symbols->count; i++) {
        struct elf_symbol symbol = elf_symbols_get(symbols, i);
        if (!symbol.section || symbol.value < elf->base || symbol.name >= names_size)
            continue;
        for (size_t j = 0; j < count; j++)
            if (strcmp(names + symbol.name, wanted[j].name) == 0)
                *wanted[j].address = symbol.value - elf->base;
    }
}

bool python_library_read(struct file_source *file, struct python_library *library)
{
    struct elf_file elf;
    *library = (struct python_library){0};
    const struct wanted wanted[] = {
        {"_PyRuntime", &library->runtime}, {"Py_Version", &library->version}, {"PyCode_Type", &library->code_type}};
    if (elf_file_open_source(&elf, file, file->path ? file->path : "python", NULL))
        return false;
    const struct elf_section *section = elf.is_64 ? elf_file_find_section(&elf, ".dynsym") : NULL;
    const struct elf_section *texts =
        section && section->link < elf.sections.length ? &elf.sections.data[section->link] : NULL;
    struct elf_symbols symbols;
    unsigned char *names = texts && texts->bytes.size < NAMES_MAX ? bytes_load(&texts->bytes) : NULL;
    if (names && elf_symbols_load(&symbols, &elf, section, 0, SIZE_MAX)) {
        find_symbols(&elf, &symbols, (const char *)names, texts->bytes.size, wanted, 3);
        elf_symbols_free(&symbols);
    }
    free(names);
    elf_file_close(&elf);
    return library->runtime && library->code_type;
}
