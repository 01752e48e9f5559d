/*
 * A stub jumps through an entry of the global offset table, and a relocation gives the entry's symbol:
 *
 *     4014e0:  ff 25 32 2b 00 00    jmp *0x2b32(%rip)     # 404018      .plt, .plt.sec, .plt.got
 *     404018:  R_X86_64_JUMP_SLOT   memcpy                               .rela.plt, .rela.dyn
 *
 * So plt_stub.c reads the entry's address from the stub's code, and got_entries.c finds its relocation. Statically
 * linked programs call functions with several implementations (IFUNC) the same way. Such an entry has no symbol, but
 * the address of a function with a symbol.
 */
#include "base/search.h"
#include "symbol/demangle.h"
#include "symbol/got_entries.h"
#include "symbol/plt.h"
#include "arch/plt_stub.h"

/* Real files have at most three sections of stubs. A hostile file could have a million. */
enum { SECTIONS_MAX = 16 };

/* `matches`: indices of the symbol matches that are stubs. `entries`: their GOT entries, in the same order. */
struct stubs {
    ARRAY(struct got_entry) entries;
    ARRAY(size_t) matches;
};

static void stubs_destroy(struct stubs *stubs)
{
    array_free(&stubs->entries);
    array_free(&stubs->matches);
}

/* Finds up to SECTIONS_MAX sections of stubs. Returns their number. */
static size_t find_stub_sections(const struct elf_file *file, const struct elf_section **found)
{
    size_t count = 0;
    for (size_t i = 0; i < file->sections.length && count < SECTIONS_MAX; i++)
        if (is_plt_section(&file->sections.data[i]))
            found[count++] = &file->sections.data[i];
    return count;
}

static const struct elf_section *find_section(const struct elf_section *const *sections, size_t count, uint64_t vaddr)
{
    for (size_t i = 0; i < count; i++)
        if (vaddr >= sections[i]->address && vaddr - sections[i]->address < sections[i]->size)
            return sections[i];
    return NULL;
}

static bool list_stubs(const struct elf_file *file, uint64_t base, const uint64_t *rvas, size_t count,
                       struct symbol_match *matches, struct stubs *stubs)
{
    const struct elf_section *sections[SECTIONS_MAX];
    size_t section_count = find_stub_sections(file, sections);
    for (size_t i = 0; section_count && i < count; i++) {
        struct plt_stub stub;
        const struct elf_section *section =
            matches[i].name ? NULL : find_section(sections, section_count, rvas[i] + base);
        if (!section || !plt_stub_read(file, section, rvas[i] + base, &stub))
            continue;
        matches[i].start = stub.start - base;
        matches[i].size = stub.size;
        if (!array_push(&stubs->entries, (struct got_entry){.address = stub.got_entry}) ||
            !array_push(&stubs->matches, i))
            return false;
    }
    return true;
}

/* Sets the names of entries with a target in this file to the name of the function at the target. */
static int set_target_names(const struct elf_file *file, uint64_t base, struct got_entry *entries, size_t count,
                            struct arena *arena, struct error *err)
{
    ARRAY(uint64_t) rvas = {0};
    for (size_t i = 0; i < count; i++)
        if (!entries[i].name && entries[i].target >= base && !array_push(&rvas, entries[i].target - base)) {
            array_free(&rvas);
            return error_no_memory(err);
        }
    size_t distinct = sort_distinct(rvas.data, rvas.length);
    struct symbol_match *found = calloc(distinct + 1, sizeof(*found));
    struct symbol_matcher matcher = {0};
    int code = found ? 0 : error_no_memory(err);
    if (code == 0 && distinct)
        code = symbol_matcher_init(&matcher, rvas.data, distinct, err);
    if (code == 0 && distinct) {
        symbol_matcher_add(&matcher, file, base);
        if (!symbol_matcher_finish(&matcher, found))
            code = error_no_memory(err);
    }
    for (size_t i = 0; code == 0 && i < count; i++) {
        if (entries[i].name || entries[i].target < base)
            continue;
        size_t at = search_first_at_or_after(rvas.data, distinct, entries[i].target - base);
        if (at < distinct && found[at].name && !(entries[i].name = demangle(found[at].name, arena)))
            code = error_no_memory(err);
    }
    symbol_matcher_destroy(&matcher);
    free(found);
    array_free(&rvas);
    return code;
}

static bool set_stub_name(struct symbol_match *match, struct got_entry *entries, size_t count, uint64_t address,
                          struct arena *arena)
{
    const struct got_entry *entry = got_entries_find(entries, count, address);
    if (!entry || !entry->name)
        return true;
    size_t size = strlen(entry->name) + sizeof("@plt");
    char *text = arena_alloc(arena, size);
    if (text)
        snprintf(text, size, "%s@plt", entry->name);
    match->name = text;
    return text != NULL;
}

static int set_stub_names(const struct elf_file *file, uint64_t base, const struct stubs *stubs,
                          struct symbol_match *matches, struct arena *arena, struct error *err)
{
    size_t length = stubs->entries.length;
    struct got_entry *sorted = malloc((length + 1) * sizeof(*sorted));
    if (!sorted)
        return error_no_memory(err);
    memcpy(sorted, stubs->entries.data, length * sizeof(*sorted));
    size_t count = got_entries_sort(sorted, length);
    got_entries_resolve(file, sorted, count, arena);
    int code = set_target_names(file, base, sorted, count, arena, err);
    for (size_t i = 0; code == 0 && i < length; i++)
        if (!set_stub_name(&matches[stubs->matches.data[i]], sorted, count, stubs->entries.data[i].address, arena))
            code = error_no_memory(err);
    free(sorted);
    return code;
}

int plt_name_matches(const struct elf_file *file, uint64_t base, const uint64_t *rvas, size_t count,
                     struct symbol_match *matches, struct arena *arena, struct error *err)
{
    struct stubs stubs = {0};
    int code = 0;
    if (!list_stubs(file, base, rvas, count, matches, &stubs))
        code = error_no_memory(err);
    else if (stubs.entries.length)
        code = set_stub_names(file, base, &stubs, matches, arena, err);
    stubs_destroy(&stubs);
    return code;
}
