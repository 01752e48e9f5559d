/*
 * ELF for the ARM architecture (AAELF, "Mapping symbols"): $a, $t and $x start ARM, Thumb and AArch64 code, $d starts
 * data; a period and any text may follow. strip removes them with the other local symbols. Without mapping symbols, bit
 * 0 of a function's address shows whether the function is Thumb code. Without a function, Thumb is likely, because
 * compilers for today's systems generate it; but PLT stubs are ARM code.
 */
#include "base/search.h"
#include "elf/elf_table.h"
#include "symbol/mapping_symbols.h"
#include "arch/plt_stub.h"

#include <elf.h>

/* Real files have two symbol tables. A hostile file could have a million, each as large as the file. */
enum { TABLES_MAX = 4 };

struct search {
    uint64_t start, end;
    struct mapping_symbol before;   /* the last mapping symbol before `start` */
    struct mapping_symbol function; /* the last function at or before `start` */
    bool has_before, has_function;
};

static bool parse_mapping_symbol(const char *name, enum code_kind *kind)
{
    if (!name || name[0] != '$' || (name[1] && name[2] && name[2] != '.'))
        return false;
    switch (name[1]) {
    case 'a':
    case 'x':
        *kind = CODE_PLAIN;
        return true;
    case 't':
        *kind = CODE_THUMB;
        return true;
    case 'd':
        *kind = CODE_DATA;
        return true;
    default:
        return false;
    }
}

static void compare_with_last_function(struct search *search, const struct elf_symbol *symbol)
{
    struct mapping_symbol function = {symbol->value, symbol->is_thumb ? CODE_THUMB : CODE_PLAIN};
    if (function.address > search->start || (search->has_function && function.address < search->function.address))
        return;
    search->function = function;
    search->has_function = true;
}

static bool add_mapping_symbol(struct mapping_symbols *kinds, struct search *search, struct mapping_symbol mark)
{
    if (mark.address >= search->end)
        return true;
    if (mark.address >= search->start)
        return array_push(&kinds->marks, mark);
    if (!search->has_before || mark.address >= search->before.address)
        search->before = mark;
    search->has_before = true;
    return true;
}

static bool read_table(struct mapping_symbols *kinds, struct search *search, const struct elf_file *file,
                       const struct elf_section *table, const struct elf_section *section)
{
    struct elf_symbols symbols;
    if (table->link >= file->sections.length || !elf_symbols_load(&symbols, file, table, 0, SIZE_MAX))
        return true;
    struct window names = {.bytes = &file->sections.data[table->link].bytes, .step = 256};
    bool done = true;
    for (size_t i = 0; done && i < symbols.count; i++) {
        struct elf_symbol symbol = elf_symbols_get(&symbols, i);
        struct mapping_symbol mark = {.address = symbol.value};
        if (symbol.section >= file->sections.length || &file->sections.data[symbol.section] != section)
            continue;
        if (symbol.type == STT_FUNC && file->machine == EM_ARM)
            compare_with_last_function(search, &symbol);
        else if (symbol.type == STT_NOTYPE && parse_mapping_symbol(window_read_string(&names, symbol.name), &mark.kind))
            done = add_mapping_symbol(kinds, search, mark);
    }
    window_destroy(&names);
    elf_symbols_free(&symbols);
    return done;
}

DEFINE_COMPARE(compare_addresses, struct mapping_symbol, ORDER(a->address, b->address))

static enum code_kind guess_code_kind(const struct elf_file *file, const struct elf_section *section,
                                      const struct search *search)
{
    if (file->machine != EM_ARM)
        return CODE_PLAIN;
    if (search->has_function)
        return search->function.kind;
    return is_plt_section(section) ? CODE_PLAIN : CODE_THUMB;
}

int mapping_symbols_find(struct mapping_symbols *kinds, const struct elf_file *file, uint64_t start, uint64_t end,
                         struct error *err)
{
    struct search search = {.start = start, .end = end};
    const struct elf_section *section = elf_file_find_section_at(file, start);
    *kinds = (struct mapping_symbols){.missing = CODE_PLAIN};
    if (!section || (file->machine != EM_ARM && file->machine != EM_AARCH64))
        return 0;
    size_t tables_left = TABLES_MAX;
    for (size_t i = 0; i < file->sections.length && tables_left; i++) {
        const struct elf_section *table = &file->sections.data[i];
        if ((table->type != SHT_SYMTAB && table->type != SHT_DYNSYM) || !table->bytes.size)
            continue;
        if (!read_table(kinds, &search, file, table, section))
            return error_no_memory(err);
        tables_left--;
    }
    kinds->missing = search.has_before ? search.before.kind : guess_code_kind(file, section, &search);
    array_sort(&kinds->marks, compare_addresses);
    return 0;
}

enum code_kind mapping_symbols_get_kind(const struct mapping_symbols *kinds, uint64_t address, uint64_t *until)
{
    size_t count = kinds->marks.length;
    size_t next = search_count(kinds->marks.data, count, element->address <= address);
    *until = next < count ? kinds->marks.data[next].address : UINT64_MAX;
    return next ? kinds->marks.data[next - 1].kind : kinds->missing;
}

void mapping_symbols_destroy(struct mapping_symbols *kinds)
{
    array_free(&kinds->marks);
}
