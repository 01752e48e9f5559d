#include "elf/elf_dynamic.h"

#include "elf/elf_table.h"

enum {
    ENTRIES_MAX = 4096,    /* limit of PT_DYNAMIC entries; real files have 40 */
    SYMBOLS_MAX = 1 << 22, /* libLLVM exports 35,000 */
    BUCKETS_MAX = 1 << 22  /* of DT_GNU_HASH */
};

/* Values of PT_DYNAMIC: addresses, except for string_size. 0: missing entry. */
struct dynamic {
    uint64_t symbols, strings, string_size, hash, gnu_hash;
};

/* Reads a 4-byte number in the file's byte order. Returns 0 beyond the end. */
static uint32_t read_word(const struct elf_file *file, struct window *window, uint64_t at)
{
    struct cursor c = window_read_at(window, at, sizeof(uint32_t));
    uint32_t word = cursor_u32(&c);
    return file->is_big_endian ? __builtin_bswap32(word) : word;
}

static bool read_dynamic(const struct elf_file *file, struct dynamic *dynamic)
{
    size_t entry_size = file->is_64 ? sizeof(Elf64_Dyn) : sizeof(Elf32_Dyn);
    struct bytes bytes = {0};
    for (size_t i = 0; i < file->segments.length && !bytes.size; i++)
        if (file->segments.data[i].type == PT_DYNAMIC)
            bytes = bytes_get_part(&file->bytes, file->segments.data[i].offset, file->segments.data[i].file_size);
    size_t count = bytes.size / entry_size < ENTRIES_MAX ? (size_t)(bytes.size / entry_size) : ENTRIES_MAX;
    bytes.size = count * entry_size;
    unsigned char *raw = bytes_load(&bytes);
    if (!raw)
        return false;
    elf_convert_to_native(file, ELF_T_DYN, raw, count * entry_size);
    for (size_t i = 0; i < count; i++) {
        const unsigned char *entry = raw + i * entry_size;
        uint64_t value = ELF_FIELD(file->is_64, Dyn, entry, d_un.d_val);
        switch (ELF_FIELD(file->is_64, Dyn, entry, d_tag)) {
        case DT_SYMTAB:
            dynamic->symbols = value;
            break;
        case DT_STRTAB:
            dynamic->strings = value;
            break;
        case DT_STRSZ:
            dynamic->string_size = value;
            break;
        case DT_HASH:
            dynamic->hash = value;
            break;
        case DT_GNU_HASH:
            dynamic->gnu_hash = value;
            break;
        case DT_NULL:
            i = count;
            break;
        default:
            break;
        }
    }
    free(raw);
    return dynamic->symbols && dynamic->strings && dynamic->string_size;
}

/* DT_GNU_HASH: four numbers (buckets, first symbol, words of the filter, shift), the filter, the buckets, and a chain
 * of hashes for each bucket; an odd hash ends a chain. The chain with the highest start ends at the last symbol. */
static uint64_t count_by_gnu_hash(const struct elf_file *file, struct window *table)
{
    uint32_t buckets = read_word(file, table, 0), first = read_word(file, table, 4), filter = read_word(file, table, 8);
    uint64_t buckets_at = 16 + (uint64_t)filter * (file->is_64 ? 8 : 4), chains_at = buckets_at + 4 * (uint64_t)buckets;
    uint32_t last = 0;
    if (buckets > BUCKETS_MAX || chains_at > table->bytes->size)
        return 0;
    for (uint32_t i = 0; i < buckets; i++) {
        uint32_t symbol = read_word(file, table, buckets_at + 4 * (uint64_t)i);
        last = symbol > last ? symbol : last;
    }
    if (last < first)
        return first; /* the library exports nothing */
    while (last < SYMBOLS_MAX && chains_at + 4 * (uint64_t)(last - first) < table->bytes->size &&
           !(read_word(file, table, chains_at + 4 * (uint64_t)(last - first)) & 1))
        last++;
    return (uint64_t)last + 1;
}

static uint64_t count_symbols(const struct elf_file *file, const struct dynamic *dynamic)
{
    struct bytes bytes = elf_file_get_bytes_at(file, dynamic->hash ? dynamic->hash : dynamic->gnu_hash);
    struct window table = {.bytes = &bytes};
    /* DT_HASH: the number of buckets, then the number of chains, which equals the number of symbols. */
    uint64_t count = dynamic->hash ? read_word(file, &table, 4) : count_by_gnu_hash(file, &table);
    window_destroy(&table);
    return count < SYMBOLS_MAX ? count : SYMBOLS_MAX;
}

int elf_dynamic_make_sections(struct elf_file *file, struct error *err)
{
    struct dynamic dynamic = {0};
    if (!read_dynamic(file, &dynamic))
        return 0;
    size_t symbol_size = file->is_64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
    struct bytes symbols = elf_file_get_bytes_at(file, dynamic.symbols),
                 strings = elf_file_get_bytes_at(file, dynamic.strings);
    symbols = bytes_get_part(&symbols, 0, count_symbols(file, &dynamic) * symbol_size);
    strings = bytes_get_part(&strings, 0, dynamic.string_size);
    if (!symbols.size || !strings.size)
        return 0;
    file->sections.length = 0;
    bool enough =
        array_push(&file->sections, (struct elf_section){.name = ""}) &&
        array_push(&file->sections, (struct elf_section){.name = ".dynsym",
                                                         .type = SHT_DYNSYM,
                                                         .link = 2,
                                                         .entry_size = symbol_size,
                                                         .size = symbols.size,
                                                         .bytes = symbols}) &&
        array_push(&file->sections,
                   (struct elf_section){.name = ".dynstr", .type = SHT_STRTAB, .size = strings.size, .bytes = strings});
    for (size_t i = 0; enough && i < file->segments.length; i++) {
        const struct elf_segment *segment = &file->segments.data[i];
        struct elf_section text = {.name = ".text",
                                   .type = SHT_PROGBITS,
                                   .flags = SHF_ALLOC | SHF_EXECINSTR,
                                   .address = segment->address,
                                   .size = segment->file_size,
                                   .bytes = bytes_get_part(&file->bytes, segment->offset, segment->file_size)};
        if (segment->type == PT_LOAD && (segment->flags & PF_X))
            enough = array_push(&file->sections, text);
    }
    file->are_sections_made = true;
    return enough ? 0 : error_no_memory(err);
}
