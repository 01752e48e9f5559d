#include "elf/elf_relocate.h"

#include "elf/elf_table.h"

/* First addresses of a module's code, and of the code that the kernel frees after loading the module. Neither address
 * is 0, because debug info has address 0 for code that the linker dropped. */
static const uint64_t module_base = UINT64_C(1) << 32, far_away = UINT64_C(1) << 40;

void elf_assign_module_addresses(struct elf_file *file)
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

/* Returns the number of bytes that a relocation of this type fills with the sum of symbol and addend, or 0 if the type
 * computes another value. */
static unsigned find_relocation_width(const struct elf_file *file, uint32_t type)
{
    if (file->machine == EM_X86_64)
        return type == R_X86_64_64 ? 8 : type == R_X86_64_32 || type == R_X86_64_32S ? 4 : 0;
    if (file->machine == EM_AARCH64)
        return type == R_AARCH64_ABS64 ? 8 : type == R_AARCH64_ABS32 ? 4 : 0;
    return 0;
}

static bool find_value(const struct elf_file *file, const struct elf_symbols *symbols, uint32_t index, uint64_t *value)
{
    if (index >= symbols->count)
        return false;
    struct elf_symbol symbol = elf_symbols_get(symbols, index);
    if (symbol.section == SHN_UNDEF || symbol.section >= file->sections.length)
        return false;
    *value = file->sections.data[symbol.section].address + symbol.value;
    return true;
}

static void apply_relocation(const struct elf_file *file, const struct elf_symbols *symbols,
                             struct elf_relocation relocation, unsigned char *bytes, uint64_t size)
{
    uint64_t value;
    unsigned width = find_relocation_width(file, relocation.type);
    if (width == 0 || relocation.address > size || width > size - relocation.address ||
        !find_value(file, symbols, relocation.symbol, &value))
        return;
    value += relocation.addend;
    for (unsigned i = 0; i < width; i++)
        bytes[relocation.address + i] = (unsigned char)(value >> (8 * i));
}

static const struct elf_section *find_relocations(const struct elf_file *file, const struct elf_section *section)
{
    char name[300];
    snprintf(name, sizeof(name), ".rela%s", section->name);
    const struct elf_section *relocations =
        file->type == ET_REL && file->is_64 && !file->is_big_endian ? elf_file_find_section(file, name) : NULL;
    bool is_usable = relocations && relocations->type == SHT_RELA && relocations->link < file->sections.length;
    return is_usable ? relocations : NULL;
}

bool elf_has_relocations(const struct elf_file *file, const struct elf_section *section)
{
    return find_relocations(file, section) != NULL;
}

void elf_relocate(const struct elf_file *file, const struct elf_section *section, unsigned char *bytes, uint64_t size)
{
    const struct elf_section *relocations = find_relocations(file, section);
    struct elf_relocations list;
    struct elf_symbols symbols;
    if (!relocations || !elf_relocations_load(&list, file, relocations))
        return;
    if (elf_symbols_load(&symbols, file, &file->sections.data[relocations->link], 0, SIZE_MAX))
        for (size_t i = 0; i < list.count; i++)
            apply_relocation(file, &symbols, elf_relocations_get(&list, i), bytes, size);
    elf_relocations_free(&list);
    elf_symbols_free(&symbols);
}
