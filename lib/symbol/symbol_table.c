/*
 * Matches symbols with addresses.
 *
 * A lookup has few addresses and many symbols (ten thousand and a million), so the symbols are not sorted. One pass
 * over the table finds for each symbol, by binary search, the sorted addresses that it contains. libLLVM's 35,000
 * symbols and 10,000 addresses take 2 ms. The pass reads only the names of symbols that match an address.
 *
 * Several symbols may contain an address:
 *  - A function with a size that contains it wins over labels inside it; the innermost first.
 *  - Otherwise the nearest symbol before it wins, if it has no size. Assembly symbols often have no size, so such a
 * symbol reaches to the next symbol or the end of its section.
 *  - Among symbols with the same start: functions before untyped labels, global and weak before local ones, then the
 * name with fewer leading underscores, then the shorter one, then the first in the alphabet. So malloc wins over
 * __libc_malloc and __GI___libc_malloc. (Weak symbols rank like global ones because libc's public names are weak
 * aliases: brk of __brk.)
 */
#include "symbol/symbol_table.h"

#include "base/search.h"
#include "elf/elf_table.h"

enum { WORK_PER_LOOKUP = 1 << 26 };

int symbol_matcher_init(struct symbol_matcher *matcher, const uint64_t *rvas, size_t count, struct error *err)
{
    *matcher = (struct symbol_matcher){.rvas = rvas, .count = count, .work_left = WORK_PER_LOOKUP};
    matcher->sized = calloc(count + 1, sizeof(*matcher->sized));
    matcher->unsized = calloc(count + 1, sizeof(*matcher->unsized));
    matcher->nearest = calloc(count + 1, sizeof(*matcher->nearest));
    matcher->next = malloc((count + 1) * sizeof(*matcher->next));
    if (!matcher->sized || !matcher->unsized || !matcher->nearest || !matcher->next) {
        symbol_matcher_destroy(matcher);
        return error_no_memory(err);
    }
    memset(matcher->next, 0xff, (count + 1) * sizeof(*matcher->next));
    return 0;
}

void symbol_matcher_destroy(struct symbol_matcher *matcher)
{
    free(matcher->sized);
    free(matcher->unsized);
    free(matcher->nearest);
    free(matcher->next);
    for (size_t i = 0; i < matcher->source_count; i++)
        window_destroy(&matcher->sources[i]);
    arena_destroy(&matcher->arena);
    *matcher = (struct symbol_matcher){0};
}

static const char *copy_name(struct symbol_matcher *matcher, const struct symbol_candidate *candidate)
{
    const char *name = window_read_string(&matcher->sources[candidate->source - 1], candidate->name);
    if (!name || !*name)
        return NULL;
    const char *version = strchr(name + 1, '@');
    const char *copy = arena_copy(&matcher->arena, name, version ? (size_t)(version - name) : strlen(name));
    matcher->no_memory |= !copy;
    return copy;
}

static bool is_better_name(const char *name, const char *than)
{
    size_t underscores = strspn(name, "_"), other_underscores = strspn(than, "_");
    if (underscores != other_underscores)
        return underscores < other_underscores;
    size_t length = strlen(name), other_length = strlen(than);
    return length != other_length ? length < other_length : strcmp(name, than) < 0;
}

static bool is_same_candidate(const struct symbol_candidate *a, const struct symbol_candidate *b)
{
    return a->start == b->start && a->name == b->name && a->source == b->source && a->rank == b->rank;
}

/* Returns whether `a` is the better of two symbols with the same start. */
static bool is_better_candidate(struct symbol_matcher *matcher, const struct symbol_candidate *a,
                                const struct symbol_candidate *than)
{
    if (a->rank != than->rank)
        return a->rank > than->rank;
    const char *name = copy_name(matcher, a), *other = copy_name(matcher, than);
    return name && (!other || is_better_name(name, other));
}

static void match_sized_symbol(struct symbol_matcher *matcher, size_t first, const struct symbol_candidate *symbol)
{
    struct symbol_candidate compared = {0}; /* neighbors mostly hold the same symbol, and comparing names is slow */
    bool won = false;
    uint64_t end = symbol->start + symbol->size;
    for (size_t i = first; i < matcher->count && matcher->rvas[i] < end && matcher->work_left;
         i++, matcher->work_left--) {
        struct symbol_candidate *held = &matcher->sized[i];
        if (held->source && held->start == symbol->start) {
            if (!is_same_candidate(held, &compared)) {
                compared = *held;
                won = is_better_candidate(matcher, symbol, held);
            }
            if (won)
                *held = *symbol;
        } else if (!held->source || held->start < symbol->start) {
            *held = *symbol;
        }
    }
}

static void match_unsized_symbol(struct symbol_matcher *matcher, size_t first, const struct symbol_candidate *symbol)
{
    if (first >= matcher->count)
        return;
    struct symbol_candidate *held = &matcher->unsized[first];
    if (!held->source || held->start < symbol->start ||
        (held->start == symbol->start && is_better_candidate(matcher, symbol, held)))
        *held = *symbol;
}

static void match_symbol(struct symbol_matcher *matcher, const struct symbol_candidate *symbol)
{
    size_t first = search_first_at_or_after(matcher->rvas, matcher->count, symbol->start);
    if (symbol->size && first < matcher->count && matcher->nearest[first] < symbol->start + 1)
        matcher->nearest[first] = symbol->start + 1; /* 0 means none */
    if (first > 0 && symbol->start < matcher->next[first - 1])
        matcher->next[first - 1] = symbol->start;
    if (symbol->size)
        match_sized_symbol(matcher, first, symbol);
    else
        match_unsized_symbol(matcher, first, symbol);
}

static uint8_t rank_symbol(unsigned type, unsigned binding)
{
    uint8_t rank = type == STT_NOTYPE ? 0 : 2;
    return (uint8_t)(rank + (binding != STB_LOCAL));
}

/* Returns the section of a symbol that can name code, or NULL for other symbols. */
static const struct elf_section *find_code_section(const struct elf_file *file, const struct elf_symbol *symbol)
{
    if (symbol->type != STT_FUNC && symbol->type != STT_GNU_IFUNC && symbol->type != STT_NOTYPE)
        return NULL;
    if (symbol->section == SHN_UNDEF || (!file->are_sections_made && symbol->section >= file->sections.length))
        return NULL;
    const struct elf_section *section =
        file->are_sections_made ? elf_file_find_section_at(file, symbol->value) : &file->sections.data[symbol->section];
    if (!section || !(section->flags & SHF_EXECINSTR) || symbol->value < section->address ||
        symbol->value - section->address >= section->size)
        return NULL;
    return section;
}

/* Returns the section of a symbol that can name a variable and has a size; NULL for other symbols. */
static const struct elf_section *find_data_section(const struct elf_file *file, const struct elf_symbol *symbol)
{
    if (symbol->type != STT_OBJECT || !symbol->size || file->are_sections_made || symbol->section == SHN_UNDEF ||
        symbol->section >= file->sections.length)
        return NULL;
    const struct elf_section *section = &file->sections.data[symbol->section];
    if (!(section->flags & SHF_WRITE) || section->flags & SHF_TLS || symbol->value < section->address ||
        symbol->value - section->address >= section->size)
        return NULL;
    return section;
}

/* Whether the name is an artifact of assemblers and linkers: a local label, or an ARM mapping symbol. */
static bool is_marker_name(struct window *names, uint32_t offset)
{
    const char *name = window_read_string(names, offset);
    return !name || !*name || name[0] == '$' || (name[0] == '.' && name[1] == 'L');
}

static void add_table(struct symbol_matcher *matcher, const struct elf_file *file, const struct elf_section *table,
                      uint64_t base)
{
    struct elf_symbols symbols;
    if (matcher->source_count == SYMBOL_SOURCES_MAX || table->link >= file->sections.length ||
        !elf_symbols_load(&symbols, file, table, 0, SIZE_MAX))
        return;
    struct window *names = &matcher->sources[matcher->source_count++];
    *names = (struct window){.bytes = &file->sections.data[table->link].bytes, .step = 256};
    for (size_t i = 0; i < symbols.count; i++) {
        struct elf_symbol symbol = elf_symbols_get(&symbols, i);
        const struct elf_section *section =
            matcher->finds_data ? find_data_section(file, &symbol) : find_code_section(file, &symbol);
        if (!section || symbol.value < base)
            continue;
        uint64_t left = section->address + section->size - symbol.value;
        struct symbol_candidate candidate = {
            .start = symbol.value - base,
            .size = symbol.size < left ? symbol.size : left,
            .section_end = symbol.value - base + left,
            .name = symbol.name,
            .source = (uint8_t)matcher->source_count,
            .rank = rank_symbol(symbol.type, symbol.binding),
        };
        if (symbol.type != STT_NOTYPE || !is_marker_name(names, symbol.name))
            match_symbol(matcher, &candidate);
    }
    elf_symbols_free(&symbols);
}

void symbol_matcher_add(struct symbol_matcher *matcher, const struct elf_file *file, uint64_t base)
{
    for (size_t i = 0; i < file->sections.length; i++)
        add_table(matcher, file, &file->sections.data[i], base);
}

/* The pass noted `nearest` and `unsized` at the first address after each start. This function copies both values to the
 * following addresses, and `next` to the preceding addresses. */
static void copy_candidates_to_neighbors(struct symbol_matcher *matcher)
{
    for (size_t i = 1; i < matcher->count; i++) {
        if (matcher->nearest[i] < matcher->nearest[i - 1])
            matcher->nearest[i] = matcher->nearest[i - 1];
        if (!matcher->unsized[i].source)
            matcher->unsized[i] = matcher->unsized[i - 1];
    }
    for (size_t i = matcher->count; i-- > 1;)
        if (matcher->next[i] < matcher->next[i - 1])
            matcher->next[i - 1] = matcher->next[i];
}

static bool is_in_unsized_symbol(const struct symbol_matcher *matcher, size_t i)
{
    const struct symbol_candidate *unsized = &matcher->unsized[i];
    return unsized->source && unsized->start + 1 > matcher->nearest[i] && matcher->rvas[i] < unsized->section_end;
}

bool symbol_matcher_finish(struct symbol_matcher *matcher, struct symbol_match *matches)
{
    copy_candidates_to_neighbors(matcher);
    for (size_t i = 0; i < matcher->count; i++) {
        const struct symbol_candidate *chosen = NULL;
        matches[i] = (struct symbol_match){0};
        if (matcher->sized[i].source)
            chosen = &matcher->sized[i];
        else if (is_in_unsized_symbol(matcher, i))
            chosen = &matcher->unsized[i];
        if (!chosen)
            continue;
        uint64_t end = matcher->next[i] < chosen->section_end ? matcher->next[i] : chosen->section_end;
        matches[i].start = chosen->start;
        matches[i].size = chosen->size ? chosen->size : end - chosen->start;
        matches[i].end = chosen->start + matches[i].size < end ? chosen->start + matches[i].size : end;
        if (i > 0 && matches[i - 1].name && matches[i - 1].start == chosen->start &&
            matches[i - 1].size == matches[i].size) {
            matches[i].name = matches[i - 1].name;
            continue;
        }
        matches[i].name = copy_name(matcher, chosen);
    }
    return !matcher->no_memory;
}
