/*
 * A relocation defines the value of a pointer, which is the address of a symbol (by its index in .dynsym), or an
 * address in the same file. An address in the same file is in the relocation (RELA), or in the pointer itself (REL, and
 * the packed .relr.dyn). So .relr.dyn stays packed. Layouts: System V ABI (gabi, "Relocation"), and its supplements for
 * each machine.
 */
#include "symbol/got_entries.h"

#include "base/search.h"
#include "elf/elf_table.h"
#include "symbol/demangle.h"

/* Real files have two relocation tables. A hostile file could have a million, each as large as the file. */
enum { TABLES_MAX = 16 };

/* Whether the relocation sets the pointer to an address in the same file. */
static bool is_relative(const struct elf_file *file, uint32_t type)
{
    switch (file->machine) {
    case EM_X86_64:
        return type == R_X86_64_RELATIVE || type == R_X86_64_IRELATIVE;
    case EM_386:
        return type == R_386_RELATIVE || type == R_386_IRELATIVE;
    case EM_AARCH64:
        return type == R_AARCH64_RELATIVE || type == R_AARCH64_IRELATIVE;
    case EM_ARM:
        return type == R_ARM_RELATIVE || type == R_ARM_IRELATIVE;
    default:
        return false;
    }
}

/* Returns the demangled name of a symbol in the table, or NULL if unnamed. */
static const char *find_symbol_name(const struct elf_file *file, const struct elf_section *table, uint32_t index,
                                    struct arena *arena)
{
    struct elf_symbols symbols;
    if (index == 0 || table->link >= file->sections.length || !elf_symbols_load(&symbols, file, table, index, 1))
        return NULL;
    struct window texts = {.bytes = &file->sections.data[table->link].bytes, .step = 256};
    const char *mangled = window_read_string(&texts, elf_symbols_get(&symbols, 0).name);
    const char *name = mangled && *mangled ? demangle(mangled, arena) : NULL;
    window_destroy(&texts);
    elf_symbols_free(&symbols);
    return name;
}

DEFINE_COMPARE(compare_addresses, struct got_entry, ORDER(a->address, b->address))

size_t got_entries_sort(struct got_entry *entries, size_t count)
{
    size_t kept = 0;
    if (count)
        qsort(entries, count, sizeof(*entries), compare_addresses);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || entries[i].address != entries[kept - 1].address)
            entries[kept++] = entries[i];
    return kept;
}

struct got_entry *got_entries_find(struct got_entry *entries, size_t count, uint64_t address)
{
    const struct got_entry wanted = {.address = address};
    return count ? bsearch(&wanted, entries, count, sizeof(wanted), compare_addresses) : NULL;
}

static void resolve_by_table(const struct elf_file *file, const struct elf_section *table, struct got_entry *entries,
                             size_t count, struct arena *arena)
{
    struct elf_relocations relocations;
    if (table->link >= file->sections.length || !elf_relocations_load(&relocations, file, table))
        return;
    for (size_t r = 0; r < relocations.count; r++) {
        struct elf_relocation relocation = elf_relocations_get(&relocations, r);
        if (relocation.address < entries[0].address || relocation.address > entries[count - 1].address)
            continue;
        struct got_entry *entry = got_entries_find(entries, count, relocation.address);
        if (!entry || entry->name || entry->target)
            continue;
        entry->name = find_symbol_name(file, &file->sections.data[table->link], relocation.symbol, arena);
        if (!entry->name && relocations.have_addends && is_relative(file, relocation.type))
            entry->target = relocation.addend;
    }
    elf_relocations_free(&relocations);
}

static uint64_t read_pointer(const struct elf_file *file, uint64_t address)
{
    const struct elf_section *section = elf_file_find_section_at(file, address);
    unsigned char raw[8] = {0};
    if (!section || !bytes_read(&section->bytes, address - section->address, raw, file->is_64 ? 8 : 4))
        return 0;
    struct cursor c = cursor_of(raw, sizeof(raw));
    return cursor_u64(&c);
}

void got_entries_resolve(const struct elf_file *file, struct got_entry *entries, size_t count, struct arena *arena)
{
    size_t tables_left = count ? TABLES_MAX : 0;
    for (size_t i = 0; i < file->sections.length && tables_left; i++) {
        const struct elf_section *table = &file->sections.data[i];
        if (table->type != SHT_RELA && table->type != SHT_REL)
            continue;
        resolve_by_table(file, table, entries, count, arena);
        tables_left--;
    }
    for (size_t i = 0; i < count; i++)
        if (!entries[i].name && !entries[i].target)
            entries[i].target = read_pointer(file, entries[i].address);
}
