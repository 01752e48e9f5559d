/*
 * The lookup of one library's addresses.
 *
 * The name of a function is the first of these:
 *   1. the linkage name in the debug info, demangled;
 *   2. for a function that was not inlined, the symbol's name. C has no linkage names, and the public alias is the
 * familiar one (brk, where the debug info has __brk). gcc omits linkage names of internal C++ functions, and DW_AT_name
 * lacks the parameters;
 *   3. DW_AT_name, in C++ with namespaces and classes;
 *   4. the symbol's name;
 *   5. the name in a Go program's table (lookup_go.c).
 * Parts and copies of a function (.cold, .constprop) get the function's name: they are one func with several symbols.
 */
#include "base/search.h"
#include "base/strings.h"
#include "base/starts_with.h"
#include "symbol/demangle.h"
#include "symbol/kernel_file.h"
#include "symbol/lookup.h"
#include "symbol/plt.h"
#include "unwind/unwind.h"

#include <elf.h>

/* Work limit for the units of a library, in steps of dwarf_count_work(). Undamaged files need less than one step per
 * byte. */
enum { WORK_AT_LEAST = 1 << 24, WORK_PER_BYTE = 16 };

static void set_problem(struct lookup *lookup, const char *text)
{
    if (!lookup->problem[0])
        snprintf(lookup->problem, sizeof(lookup->problem), "%s", text);
}

static bool is_elf(const struct lookup *lookup)
{
    return lookup->lib->kind == SYMBOL_LIB_ELF || lookup->lib->kind == SYMBOL_LIB_VDSO;
}

/* ---- opening ---- */

static int group_by_unit(struct lookup *lookup, const uint32_t *unit_of, struct error *err)
{
    size_t count = lookup->job->count;
    struct numbered *pairs = malloc((count + 1) * sizeof(*pairs));
    lookup->by_unit = malloc((count + 1) * sizeof(*lookup->by_unit));
    if (!pairs || !lookup->by_unit) {
        free(pairs);
        return error_no_memory(err);
    }
    size_t used = 0;
    for (size_t i = 0; i < count; i++)
        if (unit_of[i] != DWARF_NO_UNIT)
            pairs[used++] = (struct numbered){unit_of[i], i};
    sort_numbered(pairs, used);
    int code = 0;
    for (size_t i = 0; code == 0 && i < used; i++) {
        lookup->by_unit[i] = (uint32_t)pairs[i].index;
        if (i == 0 || pairs[i].number != pairs[i - 1].number)
            if (!array_push(&lookup->units, (struct lookup_unit){.unit = (uint32_t)pairs[i].number, .first = i}))
                code = error_no_memory(err);
        if (code == 0)
            lookup->units.data[lookup->units.length - 1].count++;
    }
    free(pairs);
    return code;
}

uint64_t lookup_get_unit_size(const struct lookup *lookup, const struct lookup_unit *unit)
{
    return lookup->dwarf.units.data[unit->unit].end - lookup->dwarf.units.data[unit->unit].offset;
}

/* Returns the number of threads for a unit: its share of all threads, if the unit is large enough. Each thread loads
 * the whole unit and passes all of its DIEs. Functions with requested addresses take most of the time. 2,000 addresses
 * in one unit of 7 MB take 82 ms of CPU time on one thread and 136 ms on four (gcc; clang: 120 and 176). Splitting the
 * DIEs instead would need their offsets: only gcc writes DW_AT_sibling, and finding them takes as long as skipping. */
static size_t count_unit_parts(const struct lookup *lookup, const struct lookup_unit *unit, uint64_t size_of_all)
{
    enum { SMALL_UNIT = 256 << 10, FEW_ADDRESSES = 64, PARTS_MEMORY_MAX = 128 << 20 };
    uint64_t size = lookup_get_unit_size(lookup, unit);
    if (size < SMALL_UNIT)
        return 1;
    uint64_t parts = (lookup->threads * size + size_of_all - 1) / size_of_all;
    if (parts > unit->count / FEW_ADDRESSES)
        parts = unit->count / FEW_ADDRESSES;
    if (parts > PARTS_MEMORY_MAX / size)
        parts = PARTS_MEMORY_MAX / size;
    return parts ? (size_t)parts : 1;
}

static int split_large_units(struct lookup *lookup, struct error *err)
{
    uint64_t size_of_all = 0;
    size_t count = lookup->units.length;
    for (size_t i = 0; i < count; i++)
        size_of_all += lookup_get_unit_size(lookup, &lookup->units.data[i]);
    for (size_t i = 0; i < count; i++) {
        struct lookup_unit whole = lookup->units.data[i];
        size_t parts = count_unit_parts(lookup, &whole, size_of_all);
        lookup->units.data[i].count = whole.count / parts;
        for (size_t part = 1; part < parts; part++) {
            size_t first = whole.count * part / parts, end = whole.count * (part + 1) / parts;
            struct lookup_unit unit = {.unit = whole.unit, .first = whole.first + first, .count = end - first};
            if (!array_push(&lookup->units, unit))
                return error_no_memory(err);
        }
    }
    return 0;
}

static uint64_t *convert_to_vaddrs(const uint64_t *rvas, size_t count, uint64_t base)
{
    uint64_t *vaddrs = malloc((count + 1) * sizeof(*vaddrs));
    for (size_t i = 0; vaddrs && i < count; i++)
        vaddrs[i] = rvas[i] + base;
    return vaddrs;
}

static int find_units(struct lookup *lookup, struct error *err)
{
    const struct symbol_job *job = lookup->job;
    uint64_t *vaddrs = convert_to_vaddrs(job->rvas, job->count, lookup->dwarf_base);
    uint32_t *unit_of = malloc((job->count + 1) * sizeof(*unit_of));
    int code;
    if (vaddrs && unit_of) {
        dwarf_file_find_units(&lookup->dwarf, vaddrs, job->count, unit_of);
        code = group_by_unit(lookup, unit_of, err);
        if (code == 0)
            code = split_large_units(lookup, err);
    } else {
        code = error_no_memory(err);
    }
    free(vaddrs);
    free(unit_of);
    return code;
}

static int open_dwarf(struct lookup *lookup, struct error *err)
{
    struct error why = {""};
    const struct elf_file *file = debug_files_get_dwarf(&lookup->files);
    if (!file)
        return 0;
    if (file->type != ET_EXEC && file->type != ET_DYN && lookup->lib->kind != SYMBOL_LIB_MODULE) {
        set_problem(lookup, "prof does not read the debug info of object files");
        return 0;
    }
    lookup->dwarf_base = file->has_load ? file->base : lookup->files.base;
    if (lookup->reader == SYMBOL_READER_LIBDW)
        return 0;
    int code = dwarf_file_open(&lookup->dwarf, file, &why);
    if (code != 0) {
        if (code == -ENOMEM)
            return error_no_memory(err);
        lookup->file_verdict = code == -ENOTSUP ? DWARF_DECLINED : DWARF_DAMAGED;
        if (lookup->file_verdict == DWARF_DAMAGED)
            set_problem(lookup, why.text);
        return 0;
    }
    if (lookup->files.has_alternate && dwarf_file_open(&lookup->alternate, &lookup->files.alternate, &why) == 0)
        lookup->dwarf.alternate = &lookup->alternate;
    lookup->has_package = dwarf_split_find_package(&lookup->package, lookup->lib, file, lookup->files.search);
    lookup->work_left = WORK_AT_LEAST + WORK_PER_BYTE * file->bytes.size;
    lookup->job->answers.has_debug_info = lookup->dwarf.units.length > 0;
    return find_units(lookup, err);
}

void lookup_open_files(struct lookup *lookup, const struct symbol_lib *lib, const struct debug_search *search)
{
    *lookup = (struct lookup){.lib = lib, .problem = ""};
    debug_files_open(&lookup->files, lib, search);
    set_problem(lookup, lookup->files.problem);
}

int lookup_open(struct lookup *lookup, struct symbol_job *job, bool with_dwarf, struct error *err)
{
    lookup->job = job;
    lookup->with_lines = with_dwarf;
    job->answers = (struct symbol_answers){.problem = ""};
    lookup->symbols = calloc(job->count + 1, sizeof(*lookup->symbols));
    if (!lookup->symbols)
        return error_no_memory(err);
    job->answers.is_found = lookup->files.has_mapped || lookup->files.has_separate;
    return with_dwarf ? open_dwarf(lookup, err) : 0;
}

void lookup_close(struct lookup *lookup)
{
    for (size_t i = 0; i < lookup->units.length; i++)
        dwarf_frames_destroy(&lookup->units.data[i].frames);
    dwarf_frames_destroy(&lookup->go);
    dwarf_frames_destroy(&lookup->libdw);
    array_free(&lookup->units);
    dwarf_file_close(&lookup->dwarf);
    dwarf_file_close(&lookup->alternate);
    if (lookup->has_package)
        dwarf_split_file_close(&lookup->package);
    debug_files_close(&lookup->files);
    free(lookup->by_unit);
    free(lookup->symbols);
    arena_destroy(&lookup->arena);
}

uint64_t lookup_estimate_symbols_cost(const struct lookup *lookup)
{
    uint64_t cost = lookup->job->count * 16;
    const struct elf_file *files[] = {&lookup->files.mapped, &lookup->files.separate, &lookup->files.mini};
    for (size_t f = 0; f < sizeof(files) / sizeof(files[0]); f++)
        for (size_t i = 0; i < files[f]->sections.length; i++)
            if (files[f]->sections.data[i].type == SHT_SYMTAB || files[f]->sections.data[i].type == SHT_DYNSYM)
                cost += files[f]->sections.data[i].size;
    return cost;
}

/* ---- symbols ---- */

static int set_symbol(struct lookup *lookup, size_t i, const char *name, uint64_t start, uint64_t size,
                      struct error *err)
{
    struct lookup_symbol *symbol = &lookup->symbols[i];
    symbol->start = start;
    symbol->size = size;
    symbol->symbol = symbol->function = demangle(name, &lookup->arena);
    if (symbol->symbol && name[measure_base_name(name)])
        symbol->function = demangle_function(name, &lookup->arena);
    return symbol->symbol && symbol->function ? 0 : error_no_memory(err);
}

static void match_tables(struct lookup *lookup, struct symbol_matcher *matcher)
{
    const struct debug_files *files = &lookup->files;
    if (files->has_mapped)
        symbol_matcher_add(matcher, &files->mapped, files->base);
    if (files->has_separate)
        symbol_matcher_add(matcher, &files->separate, files->separate.has_load ? files->separate.base : files->base);
    if (files->has_mini)
        symbol_matcher_add(matcher, &files->mini, files->mini.has_load ? files->mini.base : files->base);
}

/* Without a symbol, the call frame information still gives the range of the function. */
static void find_function_ranges(struct lookup *lookup)
{
    const struct elf_file *file = &lookup->files.mapped;
    struct unwind_module *module = NULL;
    for (size_t i = 0; i < lookup->job->count; i++) {
        struct lookup_symbol *symbol = &lookup->symbols[i];
        const struct lookup_symbol *previous = i ? &lookup->symbols[i - 1] : NULL;
        uint64_t rva = lookup->job->rvas[i];
        if (symbol->symbol)
            continue;
        if (previous && !previous->symbol && rva - previous->start < previous->size) {
            *symbol = *previous;
            continue;
        }
        if (!module && unwind_module_open_file(&module, file->source, NULL))
            return;
        uint64_t start;
        if (unwind_module_find_function(module, rva + lookup->files.base, &start, &symbol->size))
            symbol->start = start - lookup->files.base;
    }
    unwind_module_unref(module);
}

static int match_elf_symbols(struct lookup *lookup, struct error *err)
{
    size_t count = lookup->job->count;
    struct symbol_matcher matcher;
    int code = symbol_matcher_init(&matcher, lookup->job->rvas, count, err);
    if (code != 0)
        return code;
    struct symbol_match *matches = malloc((count + 1) * sizeof(*matches));
    if (!matches) {
        symbol_matcher_destroy(&matcher);
        return error_no_memory(err);
    }
    match_tables(lookup, &matcher);
    if (!symbol_matcher_finish(&matcher, matches))
        code = error_no_memory(err);
    else if (lookup->files.has_mapped)
        code = plt_name_matches(&lookup->files.mapped, lookup->files.base, lookup->job->rvas, count, matches,
                                &matcher.arena, err);
    for (size_t i = 0; code == 0 && i < count; i++) {
        if (!matches[i].name)
            continue;
        if (i > 0 && matches[i].name == matches[i - 1].name)
            lookup->symbols[i] = lookup->symbols[i - 1];
        else
            code = set_symbol(lookup, i, matches[i].name, matches[i].start, matches[i].size, err);
        lookup->symbols[i].from = lookup->job->rvas[i];
        lookup->symbols[i].to = matches[i].end;
    }
    free(matches);
    symbol_matcher_destroy(&matcher);
    if (code == 0)
        code = lookup_read_go_table(lookup, err);
    if (code == 0 && lookup->files.has_mapped && lookup->files.mapped.source)
        find_function_ranges(lookup);
    return code;
}

/* /proc/kallsyms does not describe this kernel or module: another one runs, or the kernel hides its symbols. */
static int match_kernel_file_symbols(struct lookup *lookup, struct error *err)
{
    lookup->job->answers.is_found = true;
    return lookup->files.separate.type == ET_REL
               ? 0
               : match_elf_symbols(lookup, err); /* relocatable: the DWARF has all names */
}

static int match_kernel_symbols(struct lookup *lookup, const struct kallsyms *kallsyms, struct error *err)
{
    const char *module = lookup->lib->kind == SYMBOL_LIB_MODULE ? lookup->lib->name : NULL;
    bool is_other = !kernel_file_is_running(lookup->lib);
    uint64_t base = is_other ? 0 : kallsyms_find_base(kallsyms, module);
    int code = 0;
    if (!base && lookup->files.has_separate)
        return match_kernel_file_symbols(lookup, err);
    lookup->job->answers.is_found = base != 0;
    if (is_other) {
        lookup->files.missing_symbols = MISSING_SYMBOLS_REPLACED;
        set_problem(lookup, module ? "another build of this kernel module is loaded"
                                   : "the running kernel is not the recorded kernel");
    } else if (kallsyms->problem[0]) {
        set_problem(lookup, kallsyms->problem);
    } else if (!base) {
        set_problem(lookup, module ? "this kernel module is no longer loaded" : "/proc/kallsyms has no _text");
    }
    for (size_t i = 0; base && code == 0 && i < lookup->job->count; i++) {
        uint64_t size, address = base + lookup->job->rvas[i];
        const struct kernel_symbol *symbol = kallsyms_find(kallsyms, module, address, &size);
        if (!symbol || symbol->address < base)
            continue;
        code = set_symbol(lookup, i, kallsyms->text + symbol->name, symbol->address - base, size, err);
        lookup->symbols[i].from = symbol->address - base;
        lookup->symbols[i].to = symbol->address - base + size;
    }
    return code;
}

int lookup_match_symbols(struct lookup *lookup, const struct kallsyms *kallsyms, struct error *err)
{
    return is_elf(lookup) ? match_elf_symbols(lookup, err) : match_kernel_symbols(lookup, kallsyms, err);
}

/* ---- answers ---- */

struct frames_of_address {
    const struct dwarf_frame *frames;
    uint32_t count;
};

static const char *copy_answer_text(struct strings *texts, const char *text, bool *no_memory)
{
    uint32_t index = text ? strings_add_z(texts, text) : STRING_NONE;
    if (text && index == STRING_NONE)
        *no_memory = true;
    return index == STRING_NONE ? NULL : strings_text(texts, index);
}

/* Copies the frames of a reader's k-th address, if the reader found frames. */
static void append_frames(struct frames_of_address *from, const struct dwarf_frames *frames, size_t k)
{
    uint32_t first = dwarf_frames_get_first(frames, k);
    if (frames->ends[k] > first)
        *from = (struct frames_of_address){frames->list.data + first, frames->ends[k] - first};
}

/* The last row of a function in a line table lasts until the next function. Bytes between two functions (padding, code
 * without a symbol, DIE or CFI) do not belong to the line of this row. */
static bool is_line_of_another_function(const struct lookup *lookup, const struct lookup_symbol *symbol,
                                        struct frames_of_address from)
{
    return is_elf(lookup) && from.count == 1 && !from.frames[0].function && !symbol->function && !symbol->size;
}

/* `own_file` is the file where the function begins, if only the symbol table names it. Code in it from another file is
 * inlined or included: as part of this function, it has no line. */
static bool fill_answer(struct symbol_answers *answers, struct strings *texts, size_t i,
                        const struct lookup_symbol *symbol, struct frames_of_address from, const char *own_file)
{
    struct symbol_answer *answer = &answers->answers[i];
    bool no_memory = false;
    answer->symbol = copy_answer_text(texts, symbol->symbol, &no_memory);
    answer->symbol_address = symbol->start;
    answer->symbol_size = symbol->size;
    answer->first_frame = (uint32_t)answers->frames.length;
    struct dwarf_frame only = {.is_partial = true};
    if (from.count == 0 && symbol->function)
        from = (struct frames_of_address){&only, 1};
    for (uint32_t f = 0; f < from.count; f++) {
        const struct dwarf_frame *frame = &from.frames[f];
        bool take_symbol = f == 0 && frame->is_partial && symbol->function;
        const char *function = take_symbol ? symbol->function : frame->function;
        char nim[DEMANGLE_NIM_MAX];
        if (function && frame->file && ends_with(frame->file, ".nim") && demangle_nim(function, nim))
            function = nim;
        struct symbol_frame kept = {.function = copy_answer_text(texts, function, &no_memory),
                                    .file = copy_answer_text(texts, frame->file, &no_memory),
                                    .line = frame->line,
                                    .column = frame->column};
        if (own_file && frame->file && strcmp(own_file, frame->file) != 0)
            kept =
                (struct symbol_frame){.function = kept.function, .file = copy_answer_text(texts, own_file, &no_memory)};
        if (!kept.function && !kept.file && from.count == 1)
            break;
        if (!array_push(&answers->frames, kept))
            return false;
        answer->frame_count++;
    }
    return !no_memory;
}

static void report_unread_debug_info(struct lookup *lookup)
{
    if (lookup->job->answers.is_damaged)
        set_problem(lookup, "its debug info is damaged: symbols, lines and inlined functions may be missing");
    for (size_t i = 0; i < lookup->units.length; i++)
        if (lookup->units.data[i].problem && !lookup->problem[0])
            snprintf(lookup->problem, sizeof(lookup->problem),
                     "inlined functions are missing: its debug info is split, and %s", lookup->units.data[i].problem);
}

/* Names of files that were not read to their ends would be wrong, and the cache would keep them. */
static bool has_run_out_of_memory(const struct lookup *lookup)
{
    const struct debug_files *files = &lookup->files;
    return (files->has_mapped && bytes_ran_out_of_memory(&files->mapped.bytes)) ||
           (files->has_separate && bytes_ran_out_of_memory(&files->separate.bytes)) ||
           (files->has_alternate && bytes_ran_out_of_memory(&files->alternate.bytes)) ||
           (lookup->has_package && bytes_ran_out_of_memory(&lookup->package.elf.bytes));
}

int lookup_fill_answers(struct lookup *lookup, struct error *err)
{
    struct symbol_answers *answers = &lookup->job->answers;
    size_t count = lookup->job->count;
    int code = has_run_out_of_memory(lookup) ? error_no_memory(err) : lookup_read_with_libdw(lookup, err);
    if (code != 0)
        return code;
    struct strings texts = {0};
    struct frames_of_address *from = calloc(count + 1, sizeof(*from));
    for (size_t u = 0; from && u < lookup->units.length; u++) {
        const struct lookup_unit *unit = &lookup->units.data[u];
        for (size_t i = 0; unit->frames.ends && i < unit->count; i++)
            append_frames(&from[lookup->by_unit[unit->first + i]], &unit->frames, i);
    }
    for (size_t i = 0; from && lookup->go.ends && i < count; i++)
        append_frames(&from[i], &lookup->go, i);
    for (size_t i = 0; from && lookup->libdw.ends && i < count; i++)
        append_frames(&from[i], &lookup->libdw, i);
    answers->answers = from ? arena_alloc(&texts.arena, (count + 1) * sizeof(*answers->answers)) : NULL;
    const char **own_files = calloc(count + 1, sizeof(*own_files));
    bool complete = answers->answers && own_files && lookup_find_function_files(lookup, own_files, err) == 0;
    answers->count = complete ? count : 0;
    if (complete)
        memset(answers->answers, 0, (count + 1) * sizeof(*answers->answers));
    for (size_t i = 0; complete && i < count; i++) {
        if (is_line_of_another_function(lookup, &lookup->symbols[i], from[i]))
            from[i] = (struct frames_of_address){0};
        complete = fill_answer(answers, &texts, i, &lookup->symbols[i], from[i], own_files[i]);
    }
    free(own_files);
    free(from);
    answers->arena = texts.arena; /* the texts stay; lookup data is freed */
    texts.arena = (struct arena){0};
    strings_destroy(&texts);
    if (!complete)
        return error_no_memory(err);
    report_unread_debug_info(lookup);
    return 0;
}

static bool has_unnamed_address(const struct symbol_answers *answers)
{
    for (size_t i = 0; i < answers->count; i++)
        if (answers->answers[i].frame_count == 0)
            return true;
    return false;
}

static enum missing_symbols_reason find_missing_symbols_reason(const struct lookup *lookup,
                                                               const struct symbol_answers *answers)
{
    bool unnamed = has_unnamed_address(answers);
    if (unnamed && lookup->files.missing_symbols)
        return lookup->files.missing_symbols;
    if (unnamed && !answers->has_debug_info) /* the address is in no function */
        return answers->is_found ? MISSING_SYMBOLS_STRIPPED : MISSING_SYMBOLS_NO_FILE;
    if (answers->is_damaged)
        return MISSING_SYMBOLS_DAMAGED;
    return answers->has_debug_info || lookup->lib->kind != SYMBOL_LIB_ELF ? MISSING_SYMBOLS_NONE
                                                                          : MISSING_SYMBOLS_NO_DEBUG_INFO;
}

void lookup_find_valid_ranges(const struct lookup *lookup, uint64_t *starts, uint32_t *sizes)
{
    enum { SPAN_MAX = 1 << 20 }; /* larger than any function; the range after the last symbol may be larger */
    bool only_symbols = !lookup->job->answers.has_debug_info;
    uint64_t end = 0;
    for (size_t i = 0; i < lookup->job->count; i++) {
        const struct lookup_symbol *symbol = &lookup->symbols[i];
        uint64_t rva = lookup->job->rvas[i];
        bool is_wide = only_symbols && symbol->from <= rva && rva < symbol->to && symbol->to - symbol->from <= SPAN_MAX;
        starts[i] = is_wide && symbol->from >= end ? symbol->from : rva;
        sizes[i] = rva < end ? 0 : is_wide ? (uint32_t)(symbol->to - starts[i]) : 1;
        if (sizes[i])
            end = starts[i] + sizes[i];
    }
}

void lookup_describe_problems(struct lookup *lookup, struct symbol_answers *answers)
{
    if (!answers->has_debug_info && lookup->lib->kind == SYMBOL_LIB_ELF)
        set_problem(
            lookup,
            answers->frames.length || answers->count == 0
                ? "no debug info, and prof found no separate debug file: lines and inlined functions are missing"
                : "no symbols for these addresses, and prof found no separate debug file");
    memcpy(answers->problem, lookup->problem, sizeof(answers->problem));
    answers->missing_symbols = find_missing_symbols_reason(lookup, answers);
}
