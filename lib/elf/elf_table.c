#include "elf/elf_table.h"

void elf_convert_to_native(const struct elf_file *file, Elf_Type type, unsigned char *bytes, size_t size)
{
    Elf_Data data = {.d_buf = bytes, .d_type = type, .d_version = EV_CURRENT, .d_size = size}, out = data;
    unsigned order = file->is_big_endian ? ELFDATA2MSB : ELFDATA2LSB;
    if (file->is_64)
        elf64_xlatetom(&out, &data, order);
    else
        elf32_xlatetom(&out, &data, order);
}

/* Loads up to *count entries starting at `first`, or NULL if none exist. */
static unsigned char *load_entries(const struct elf_file *file, const struct elf_section *section, Elf_Type type,
                                   size_t first, size_t *count)
{
    size_t size = file->is_64 ? elf64_fsize(type, 1, EV_CURRENT) : elf32_fsize(type, 1, EV_CURRENT);
    uint64_t all = section->bytes.size / size;
    if (first >= all)
        return NULL;
    if (*count > all - first)
        *count = (size_t)(all - first);
    struct bytes part = bytes_get_part(&section->bytes, first * size, *count * size);
    unsigned char *entries = bytes_load(&part);
    if (entries)
        elf_convert_to_native(file, type, entries, *count * size);
    return entries;
}

/* ---- symbols ---- */

bool elf_symbols_load(struct elf_symbols *symbols, const struct elf_file *file, const struct elf_section *section,
                      size_t first, size_t count)
{
    bool is_table = section->type == SHT_SYMTAB || section->type == SHT_DYNSYM;
    *symbols = (struct elf_symbols){.file = file};
    symbols->entries = is_table ? load_entries(file, section, ELF_T_SYM, first, &count) : NULL;
    symbols->count = symbols->entries ? count : 0;
    return symbols->entries != NULL;
}

struct elf_symbol elf_symbols_get(const struct elf_symbols *symbols, size_t i)
{
    bool is_64 = symbols->file->is_64;
    const unsigned char *at = symbols->entries + i * (is_64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym));
    unsigned char info = ELF_FIELD(is_64, Sym, at, st_info);
    struct elf_symbol symbol = {.name = ELF_FIELD(is_64, Sym, at, st_name),
                                .type = ELF64_ST_TYPE(info),
                                .binding = ELF64_ST_BIND(info),
                                .section = ELF_FIELD(is_64, Sym, at, st_shndx),
                                .value = ELF_FIELD(is_64, Sym, at, st_value),
                                .size = ELF_FIELD(is_64, Sym, at, st_size)};
    symbol.is_thumb = symbols->file->machine == EM_ARM && symbol.type == STT_FUNC && (symbol.value & 1);
    symbol.value -= symbol.is_thumb;
    return symbol;
}

void elf_symbols_free(struct elf_symbols *symbols)
{
    free(symbols->entries);
    *symbols = (struct elf_symbols){0};
}

/* ---- relocations ---- */

bool elf_relocations_load(struct elf_relocations *relocations, const struct elf_file *file,
                          const struct elf_section *section)
{
    bool have_addends = section->type == SHT_RELA;
    size_t count = SIZE_MAX;
    *relocations = (struct elf_relocations){.file = file, .have_addends = have_addends};
    if (have_addends || section->type == SHT_REL)
        relocations->entries = load_entries(file, section, have_addends ? ELF_T_RELA : ELF_T_REL, 0, &count);
    relocations->count = relocations->entries ? count : 0;
    return relocations->entries != NULL;
}

struct elf_relocation elf_relocations_get(const struct elf_relocations *relocations, size_t i)
{
    bool is_64 = relocations->file->is_64, have_addends = relocations->have_addends;
    size_t word = is_64 ? sizeof(uint64_t) : sizeof(uint32_t);
    const unsigned char *at = relocations->entries + i * (have_addends ? 3 : 2) * word;
    uint64_t info = ELF_FIELD(is_64, Rel, at, r_info); /* a Rela begins with a Rel */
    return (struct elf_relocation){.address = ELF_FIELD(is_64, Rel, at, r_offset),
                                   .addend = have_addends ? (uint64_t)ELF_FIELD(is_64, Rela, at, r_addend) : 0,
                                   .symbol = (uint32_t)(is_64 ? ELF64_R_SYM(info) : ELF32_R_SYM(info)),
                                   .type = (uint32_t)(is_64 ? ELF64_R_TYPE(info) : ELF32_R_TYPE(info))};
}

void elf_relocations_free(struct elf_relocations *relocations)
{
    free(relocations->entries);
    *relocations = (struct elf_relocations){0};
}
