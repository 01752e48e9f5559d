#include "symbol/elf_relocate.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Not 0, which in debug info is the address of what the linker dropped; and where code lies that is gone once the
 * module is loaded. */
static const uint64_t module_base = UINT64_C(1) << 32, far_away = UINT64_C(1) << 40;

void elf_layout_module(struct elf_file *file)
{
    const uint64_t wanted = SHF_ALLOC | SHF_EXECINSTR, too_large = UINT64_C(1) << 32;
    uint64_t end = module_base, init_end = far_away;
    for (size_t i = 0; i < file->sections.length; i++) {
        struct elf_section *section = &file->sections.data[i];
        if ((section->flags & wanted) != wanted)
            continue;
        uint64_t *behind = strncmp(section->name, ".init", 5) == 0 ? &init_end : &end;
        uint64_t alignment = section->alignment ? section->alignment : 1;
        if (alignment > too_large || section->size > too_large || *behind > 2 * far_away)
            return;
        section->address = (*behind + alignment - 1) / alignment * alignment;
        *behind = section->address + section->size;
    }
    file->has_load = true;
    file->base = module_base;
}

/* How many bytes a relocation fills with the address of its symbol and its addend; 0: it is of another kind. */
static unsigned width_of(const struct elf_file *file, uint32_t type)
{
    if (file->machine == EM_X86_64)
        return type == R_X86_64_64 ? 8 : type == R_X86_64_32 || type == R_X86_64_32S ? 4 : 0;
    if (file->machine == EM_AARCH64)
        return type == R_AARCH64_ABS64 ? 8 : type == R_AARCH64_ABS32 ? 4 : 0;
    return 0;
}

struct symbol_table {
    const unsigned char *bytes;
    size_t count;
};

static bool find_value(const struct elf_file *file, const struct symbol_table *symbols, uint64_t index, uint64_t *value)
{
    size_t size = elf_symbol_size(file);
    if (index >= symbols->count)
        return false;
    struct cursor c = cursor_of(symbols->bytes + index * size, size);
    struct elf_symbol symbol = elf_symbol_read(file, &c);
    if (symbol.section == SHN_UNDEF || symbol.section >= file->sections.length)
        return false;
    *value = file->sections.data[symbol.section].address + symbol.value;
    return true;
}

static void apply(const struct elf_file *file, const struct symbol_table *symbols, struct cursor c,
                  unsigned char *bytes, uint64_t size)
{
    while (cursor_left(&c) >= 24) {
        uint64_t at = cursor_u64(&c), info = cursor_u64(&c), addend = cursor_u64(&c), value;
        unsigned width = width_of(file, (uint32_t)info);
        if (width == 0 || at > size || width > size - at || !find_value(file, symbols, info >> 32, &value))
            continue;
        value += addend;
        for (unsigned i = 0; i < width; i++)
            bytes[at + i] = (unsigned char)(value >> (8 * i));
    }
}

const struct elf_section *elf_relocations(const struct elf_file *file, const struct elf_section *section)
{
    char name[300];
    snprintf(name, sizeof(name), ".rela%s", section->name);
    const struct elf_section *relocations = file->is_64 ? elf_file_section(file, name) : NULL;
    bool usable = relocations && relocations->type == SHT_RELA && relocations->link < file->sections.length;
    return usable ? relocations : NULL;
}

void elf_relocate(const struct elf_file *file, const struct elf_section *section, unsigned char *bytes, uint64_t size)
{
    const struct elf_section *relocations = elf_relocations(file, section);
    if (!relocations)
        return;
    const struct elf_section *table = &file->sections.data[relocations->link];
    unsigned char *list = bytes_load(&relocations->bytes), *symbols = bytes_load(&table->bytes);
    if (list && symbols) {
        struct symbol_table all = {.bytes = symbols, .count = (size_t)(table->bytes.size / elf_symbol_size(file))};
        apply(file, &all, cursor_of(list, (size_t)relocations->bytes.size), bytes, size);
    }
    free(list);
    free(symbols);
}
