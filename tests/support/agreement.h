/*
 * Compares our names, inline chains, files and lines with those of another symbolizer, for addresses in all functions
 * of programs that the test builds. A test provides the command of the other symbolizer, a parser of its output, and
 * reasons for intended differences. Each reason names the tool that causes it; the test prints how often it applied.
 *
 * $AGREEMENT_ADDRESSES is the number of addresses of each program (else 1000). `make agreement` takes more, and
 * includes programs that `make check` omits to save time.
 */
#pragma once

#include "base/array.h"
#include "support/command.h"
#include "symbol/debug_file.h"
#include "symbol/demangle.h"
#include "elf/elf_table.h"
#include "symbol/symbol.h"

#include <elf.h>
#include <string.h>
#include <unistd.h>

enum { AGREEMENT_LINE = 1 << 17, AGREEMENT_FRAMES = 256, AGREEMENT_REPORTED = 10, AGREEMENT_REASONS = 16 };

/* A frame from the other symbolizer. */
struct other_frame {
    const char *function; /* without the suffixes of parts, demangled by us: the test does not compare demangling */
    bool is_mangled;
    const char *file; /* NULL: ?? */
    unsigned line, column;
};

struct agreement_reason {
    const char *text;
    size_t count;
};

struct agreement {
    const char *path;
    uint64_t *rvas;
    size_t count;
    uint64_t base;
    struct symbol_answers answers;
    size_t frames, explained, wrong;
    size_t next; /* address to be read */
    struct symbol_answers by_libdw;
    const char *alias; /* found last by agreement_symbol_at() */
    uint64_t alias_rva;
    struct arena arena;
};

/* The differences of the other symbolizers. */
struct agreement_with {
    const char *name;    /* as in messages */
    const char *program; /* the first word of its command; NULL: no command is needed */
    const char *command; /* printf format: the file with the addresses, the program; NULL */
    bool has_columns;
    /* The frames of the next address, innermost first. */
    size_t (*read)(struct agreement *a, FILE *in, struct other_frame *frames, size_t max);
    /* Why a difference is meant, or NULL. Frames are the innermost ones where their numbers differ. */
    const char *(*explain_name)(struct agreement *a, size_t i, const struct symbol_frame *ours,
                                const struct other_frame *theirs, bool is_outermost);
    const char *(*explain_line)(struct agreement *a, size_t i, const struct symbol_frame *ours,
                                const struct other_frame *theirs, bool is_outermost);
    const char *(*explain_count)(struct agreement *a, size_t i, const struct symbol_frame *ours, size_t own_count,
                                 const struct other_frame *theirs, size_t count); /* or NULL */
};

struct agreement_totals {
    size_t programs, addresses, frames, explained, wrong;
    struct agreement_reason reasons[AGREEMENT_REASONS];
};

static struct agreement_totals agreement_totals;

static int agreement_ascending(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static size_t agreement_addresses(void)
{
    const char *text = getenv("AGREEMENT_ADDRESSES");
    return text ? strtoul(text, NULL, 10) : 1000;
}

/* Picks the first byte of every function, and as many addresses inside as there is room for. */
static void agreement_pick(struct agreement *a)
{
    struct elf_file file;
    struct error err = {""};
    assert_int_equal(elf_file_open(&file, a->path, &err), 0);
    a->base = file.base;
    const struct elf_section *table = elf_file_find_section(&file, ".symtab");
    if (!table)
        table = elf_file_find_section(&file, ".dynsym");
    assert_non_null(table);
    struct elf_symbols symbols;
    assert_true(elf_symbols_load(&symbols, &file, table, 0, SIZE_MAX));
    ARRAY(struct elf_symbol) functions = {0};
    for (size_t i = 0; i < symbols.count; i++) {
        struct elf_symbol symbol = elf_symbols_get(&symbols, i);
        if (symbol.type == STT_FUNC && symbol.size && symbol.section != SHN_UNDEF)
            assert_true(array_push(&functions, symbol));
    }
    size_t max = agreement_addresses(), used = 0;
    size_t places = max / (functions.length + 1) + 1, every = functions.length / max + 1;
    a->rvas = malloc((functions.length / every + 1) * places * sizeof(*a->rvas));
    assert_non_null(a->rvas);
    for (size_t f = 0; f < functions.length; f += every)
        for (size_t i = 0; i < places; i++)
            a->rvas[used++] = functions.data[f].value - file.base + functions.data[f].size * i / places;
    qsort(a->rvas, used, sizeof(a->rvas[0]), agreement_ascending);
    for (size_t i = 0; i < used; i++)
        if (a->count == 0 || a->rvas[i] != a->rvas[a->count - 1])
            a->rvas[a->count++] = a->rvas[i];
    array_free(&functions);
    elf_symbols_free(&symbols);
    elf_file_close(&file);
}

static void agreement_ask_reader(struct agreement *a, enum symbol_reader reader, struct symbol_answers *answers)
{
    struct error err = {""};
    struct symbolizer_options options = {.reader = reader};
    struct symbolizer *symbolizer = symbolizer_new(&options);
    assert_non_null(symbolizer);
    struct symbol_lib lib = {.kind = SYMBOL_LIB_ELF, .name = a->path, .path = a->path};
    assert_int_equal(symbolizer_lookup(symbolizer, &lib, a->rvas, a->count, answers, &err), 0);
    assert_false(answers->is_damaged);
    symbolizer_free(symbolizer);
}

static FILE *agreement_ask(const struct agreement *a, const struct agreement_with *with)
{
    char list[] = "/tmp/test_agreement_XXXXXX", command[4096], with_cleaning[5000];
    int fd = mkstemp(list);
    assert_true(fd >= 0);
    FILE *out = fdopen(fd, "w");
    for (size_t i = 0; i < a->count; i++)
        fprintf(out, "0x%llx\n", (unsigned long long)(a->rvas[i] + a->base));
    fclose(out);
    snprintf(command, sizeof(command), with->command, list, a->path);
    snprintf(with_cleaning, sizeof(with_cleaning), "%s; rm %s", command, list);
    FILE *answers = popen(with_cleaning, "r");
    assert_non_null(answers);
    return answers;
}

static inline bool agreement_read_line(FILE *in, char *line)
{
    if (!fgets(line, AGREEMENT_LINE, in))
        return false;
    line[strcspn(line, "\n")] = '\0';
    return true;
}

/* "??" is no name. */
static inline void agreement_take_name(struct agreement *a, struct other_frame *frame, const char *name)
{
    frame->is_mangled = is_mangled(name);
    frame->function = strcmp(name, "??") == 0 ? NULL : demangle_function(name, &a->arena);
}

/* "FILE:NUMBER": cuts the number off. */
static inline unsigned agreement_cut_number(char *text)
{
    char *colon = strrchr(text, ':');
    assert_non_null(colon);
    *colon = '\0';
    return (unsigned)strtoul(colon + 1, NULL, 10);
}

/* "FILE:LINE"; "??" is no file. */
static inline void agreement_take_place(struct agreement *a, struct other_frame *frame, char *place)
{
    frame->line = agreement_cut_number(place);
    frame->file = strcmp(place, "??") == 0 ? NULL : arena_copy(&a->arena, place, strlen(place));
}

static bool agreement_same(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static inline bool agreement_ends_with(const char *text, const char *end)
{
    size_t length = text ? strlen(text) : 0, end_length = strlen(end);
    return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

static bool agreement_table_has(struct agreement *a, const struct elf_file *file, const char *table_name, uint64_t rva,
                                const char *name)
{
    const struct elf_section *table = elf_file_find_section(file, table_name);
    struct elf_symbols symbols = {0};
    if (table)
        elf_symbols_load(&symbols, file, table, 0, SIZE_MAX);
    struct window names = {.bytes = table ? &file->sections.data[table->link].bytes : NULL, .step = 256};
    bool found = false;
    for (size_t i = 0; !found && i < symbols.count; i++) {
        struct elf_symbol symbol = elf_symbols_get(&symbols, i);
        const char *mangled = symbol.value - file->base == rva ? window_read_string(&names, symbol.name) : NULL;
        if (!mangled)
            continue;
        const char *base = arena_copy(&a->arena, mangled, strcspn(mangled, "@"));
        found = strcmp(demangle_function(base, &a->arena), name) == 0;
    }
    window_destroy(&names);
    elf_symbols_free(&symbols);
    return found;
}

/* Whether a symbol of this name starts here, in the file or its debug file. */
static inline bool agreement_symbol_at(struct agreement *a, uint64_t rva, const char *name)
{
    if (a->alias && rva == a->alias_rva && strcmp(name, a->alias) == 0)
        return true; /* the next address of one function */
    struct debug_files files;
    struct symbol_lib lib = {.kind = SYMBOL_LIB_ELF, .name = a->path, .path = a->path};
    debug_files_open(&files, &lib, NULL);
    bool found = agreement_table_has(a, &files.mapped, ".symtab", rva, name) ||
                 agreement_table_has(a, &files.mapped, ".dynsym", rva, name) ||
                 (files.has_separate && agreement_table_has(a, &files.separate, ".symtab", rva, name));
    debug_files_close(&files);
    a->alias = found ? name : NULL;
    a->alias_rva = rva;
    return found;
}

static void agreement_report(struct agreement *a, const struct agreement_with *with, size_t i,
                             const struct symbol_frame *ours, const struct other_frame *theirs, const char *what)
{
    if (a->wrong++ < AGREEMENT_REPORTED)
        print_error("%s 0x%llx: %s differs: %s %s:%u:%u, %s has %s %s:%u:%u\n", a->path,
                    (unsigned long long)(a->rvas[i] + a->base), what, ours->function ? ours->function : "??",
                    ours->file ? ours->file : "??", ours->line, ours->column, with->name,
                    theirs->function ? theirs->function : "??", theirs->file ? theirs->file : "??", theirs->line,
                    theirs->column);
}

/* Counts a reason; false if it does not apply. */
static bool agreement_explained(struct agreement *a, const char *reason)
{
    if (!reason)
        return false;
    a->explained++;
    size_t r = 0;
    while (r + 1 < AGREEMENT_REASONS && agreement_totals.reasons[r].text &&
           strcmp(agreement_totals.reasons[r].text, reason) != 0)
        r++;
    agreement_totals.reasons[r].text = reason;
    agreement_totals.reasons[r].count++;
    return true;
}

static void agreement_compare_frame(struct agreement *a, const struct agreement_with *with, size_t i,
                                    const struct symbol_frame *ours, const struct other_frame *theirs,
                                    bool is_outermost)
{
    a->frames++;
    if (!agreement_same(ours->function, theirs->function)) {
        const char *why = with->explain_name(a, i, ours, theirs, is_outermost);
        if (getenv("VERBOSE") && why)
            print_message("%s | %s | %s\n", why, ours->function, theirs->function);
        if (!agreement_explained(a, why))
            agreement_report(a, with, i, ours, theirs, "the name");
    }
    if (agreement_same(ours->file, theirs->file) && ours->line == theirs->line &&
        (!with->has_columns || ours->column == theirs->column))
        return;
    if (!agreement_explained(a, with->explain_line(a, i, ours, theirs, is_outermost)))
        agreement_report(a, with, i, ours, theirs, "the line");
}

static void agreement_compare_frames(struct agreement *a, const struct agreement_with *with, size_t i,
                                     const struct other_frame *theirs, size_t count)
{
    const struct symbol_answer *answer = &a->answers.answers[i];
    const struct symbol_frame nothing = {0};
    const struct symbol_frame *ours = answer->frame_count ? &a->answers.frames.data[answer->first_frame] : &nothing;
    size_t own_count = answer->frame_count ? answer->frame_count : 1;
    assert_true(count > 0);
    if (own_count == count) {
        for (size_t f = 0; f < count; f++)
            agreement_compare_frame(a, with, i, &ours[count - 1 - f], &theirs[f], f == count - 1);
        return;
    }
    const char *why =
        with->explain_count ? with->explain_count(a, i, &ours[own_count - 1], own_count, theirs, count) : NULL;
    if (!agreement_explained(a, why))
        agreement_report(a, with, i, &ours[own_count - 1], &theirs[0], "the number of frames");
}

static void agreement_compare(const char *path, const struct agreement_with *with)
{
    struct agreement a = {.path = path};
    agreement_pick(&a);
    agreement_ask_reader(&a, SYMBOL_READER_OWN, &a.answers);
    FILE *in = with->command ? agreement_ask(&a, with) : NULL;
    for (size_t i = 0; i < a.count; i++) {
        struct other_frame theirs[AGREEMENT_FRAMES];
        agreement_compare_frames(&a, with, i, theirs, with->read(&a, in, theirs, AGREEMENT_FRAMES));
    }
    if (in)
        pclose(in);
    print_message("%s: %zu addresses, %zu frames, %zu differences meant, %zu wrong\n", path, a.count, a.frames,
                  a.explained, a.wrong);
    symbol_answers_destroy(&a.answers);
    arena_destroy(&a.arena);
    free(a.rvas);
    symbol_answers_destroy(&a.by_libdw);
    agreement_totals.programs++;
    agreement_totals.addresses += a.count;
    agreement_totals.frames += a.frames;
    agreement_totals.explained += a.explained;
    agreement_totals.wrong += a.wrong;
    assert_int_equal(a.wrong, 0);
    assert_true(a.count > 0);
}

static inline int agreement_print_totals(void **unused)
{
    (void)unused;
    print_message("in all: %zu programs, %zu addresses, %zu frames, %zu differences meant, %zu wrong\n",
                  agreement_totals.programs, agreement_totals.addresses, agreement_totals.frames,
                  agreement_totals.explained, agreement_totals.wrong);
    for (size_t r = 0; r < AGREEMENT_REASONS && agreement_totals.reasons[r].text; r++)
        print_message("%8zu: %s\n", agreement_totals.reasons[r].count, agreement_totals.reasons[r].text);
    return 0;
}

/* Builds and compares one variant of a target; `compiler` is the first word of the command. */
static inline void agreement_build(const struct agreement_with *with, const char *compiler, const char *flags,
                                   const char *source)
{
    char directory[] = "/tmp/test_agreement_XXXXXX", command[4096], path[64];
    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof(path), "%s/program", directory);
    snprintf(command, sizeof(command), "cd %s && %s %s -o %s $OLDPWD/tests/targets/%s", directory, compiler, flags,
             path, source);
    print_message("%s\n", command);
    assert_int_equal(system(command), 0);
    agreement_compare(path, with);
    snprintf(command, sizeof(command), "rm -r %s", directory);
    assert_int_equal(system(command), 0);
}

/* ---- the programs ---- */

/* Which compilers, and which of their programs: in `make check` a few of each, in `make agreement` all. */
struct agreement_program {
    const char *compiler, *flags, *source;
    bool is_quick;
};

static const struct agreement_program agreement_programs[] = {
    {"gcc", "-g -O0", "names.c", true},
    {"gcc", "-g -O1", "names.c", false},
    {"gcc", "-g -O2", "names.c", true},
    {"gcc", "-g -O3", "names.c", true},
    {"gcc", "-g -O2 -gdwarf-4", "names.c", true},
    {"gcc", "-g -O0 -gdwarf-4", "names.c", false},
    {"gcc", "-g -O2 -gdwarf-3", "names.c", false},
    {"gcc", "-g -O2 -gdwarf-2", "names.c", true},
    {"gcc", "-g -O2 -ffunction-sections -Wl,--gc-sections", "names.c", false},
    {"gcc", "-g -O2 -gz", "names.c", true},
    {"gcc", "-g -O2 -no-pie", "names.c", false},
    {"gcc", "-g -Os -m64 -static", "names.c", false},
    {"gcc", "-g -O2 -flto", "names.c", true},
    {"g++", "-std=c++17 -g -O0", "names.cpp", true},
    {"g++", "-std=c++17 -g -O1", "names.cpp", false},
    {"g++", "-std=c++17 -g -O2", "names.cpp", true},
    {"g++", "-std=c++17 -g -O3", "names.cpp", true},
    {"g++", "-std=c++17 -g -O2 -gdwarf-4", "names.cpp", true},
    {"g++", "-std=c++17 -g -O0 -gdwarf-4", "names.cpp", false},
    {"g++", "-std=c++17 -g -O2 -gdwarf-3", "names.cpp", false},
    {"g++", "-std=c++17 -g -O2 -gdwarf-2", "names.cpp", false},
    {"g++", "-std=c++17 -g -O2 -gdwarf-2 -gstrict-dwarf", "names.cpp", true},
    {"g++", "-std=c++17 -g -O2 -ffunction-sections -Wl,--gc-sections", "names.cpp", false},
    {"g++", "-std=c++17 -g -O2 -gz", "names.cpp", false},
    {"g++", "-std=c++17 -g -O2 -no-pie", "names.cpp", false},
    {"g++", "-std=c++17 -g -Os -static", "names.cpp", false},
    {"g++", "-std=c++17 -g -O2 -flto", "names.cpp", true},
    {"g++", "-std=c++17 -g -O2 -gdwarf-4 -fdebug-types-section", "names.cpp", true},
    {"g++", "-std=c++17 -g -O2 -gdwarf64 -gdwarf-5", "names.cpp", true},
    {"gcc", "-g -O2 -gsplit-dwarf -gdwarf-5", "names.c", true},
    {"gcc", "-g -O2 -gsplit-dwarf -gdwarf-4", "names.c", false},
    {"g++", "-std=c++17 -g -O2 -gsplit-dwarf -gdwarf-5", "names.cpp", false},
    {"g++", "-std=c++17 -g -O3 -gsplit-dwarf -gdwarf-4", "names.cpp", true},
    {"clang", "-g -O0", "names.c", true},
    {"clang", "-g -O1", "names.c", false},
    {"clang", "-g -O2", "names.c", true},
    {"clang", "-g -O3", "names.c", false},
    {"clang", "-g -O2 -gdwarf-4", "names.c", true},
    {"clang", "-g -O2 -gdwarf-3", "names.c", false},
    {"clang", "-g -O2 -gdwarf-2", "names.c", true},
    {"clang", "-g -O2 -gz", "names.c", false},
    {"clang", "-g -O2 -no-pie", "names.c", false},
    {"clang++", "-std=c++17 -g -O0", "names.cpp", true},
    {"clang++", "-std=c++17 -g -O1", "names.cpp", false},
    {"clang++", "-std=c++17 -g -O2", "names.cpp", true},
    {"clang++", "-std=c++17 -g -O3", "names.cpp", false},
    {"clang++", "-std=c++17 -g -O2 -gdwarf-4", "names.cpp", true},
    {"clang++", "-std=c++17 -g -O0 -gdwarf-4", "names.cpp", false},
    {"clang++", "-std=c++17 -g -O2 -ffunction-sections -Wl,--gc-sections", "names.cpp", false},
    {"clang++", "-std=c++17 -g -O2 -no-pie", "names.cpp", false},
    {"clang++", "-std=c++17 -g -O2 -flto -fuse-ld=lld", "names.cpp", true},
    {"clang++", "-std=c++17 -g -O2 -flto=thin -fuse-ld=lld", "names.cpp", false},
    {"clang++", "-std=c++17 -g -O2 -fuse-ld=lld -Wl,--icf=all -ffunction-sections", "names.cpp", true},
    {"clang++", "-std=c++17 -g -O2 -gdwarf-aranges -gdwarf-4", "names.cpp", false},
    {"clang++", "-std=c++17 -g -O2 -gsplit-dwarf -gdwarf-5", "names.cpp", true},
    {"clang++", "-std=c++17 -g -O2 -gsplit-dwarf -gdwarf-4", "names.cpp", false},
    {"rustc", "-g -C opt-level=0", "busy.rs", true},
    {"rustc", "-g -C opt-level=1", "busy.rs", false},
    {"rustc", "-g -C opt-level=3", "busy.rs", true},
    {"rustc", "-g -C opt-level=3 -C lto=fat", "busy.rs", false},
    {"rustc", "-g -C opt-level=2 -C split-debuginfo=unpacked", "busy.rs", false},
    {"rustc", "-g -C opt-level=2 -C symbol-mangling-version=v0", "busy.rs", true},
    {"go", "build", "gobusy.go", true},
};

/* The programs of this compiler; skips the test if a tool is missing. */
static inline void agreement_build_all(const struct agreement_with *with, const char *compiler)
{
    if (!has_command(compiler) || (with->program && !has_command(with->program)))
        skip();
    for (size_t i = 0; i < sizeof(agreement_programs) / sizeof(agreement_programs[0]); i++) {
        const struct agreement_program *program = &agreement_programs[i];
        if (strcmp(program->compiler, compiler) == 0 && (program->is_quick || getenv("AGREEMENT_ADDRESSES")))
            agreement_build(with, program->compiler, program->flags, program->source);
    }
}

/* ---- the tests, with the symbolizer as their state ---- */

static inline void test_gcc_programs(void **with)
{
    agreement_build_all(*with, "gcc");
    agreement_build_all(*with, "g++");
}

static inline void test_clang_programs(void **with)
{
    agreement_build_all(*with, "clang");
    agreement_build_all(*with, "clang++");
}

static inline void test_rust_programs(void **with)
{
    agreement_build_all(*with, "rustc");
}

static inline void test_go_programs(void **with)
{
    agreement_build_all(*with, "go");
}

#define AGREEMENT_TEST(test, with) cmocka_unit_test_prestate(test, (void *)(with))
#define AGREEMENT_TESTS(with)                                                                                          \
    AGREEMENT_TEST(test_gcc_programs, with), AGREEMENT_TEST(test_clang_programs, with),                                \
        AGREEMENT_TEST(test_rust_programs, with), AGREEMENT_TEST(test_go_programs, with)

/* The arguments of the test program: files to compare, instead of all tests. */
static char **agreement_files;

static inline void test_files_of_user(void **with)
{
    for (char **file = agreement_files; *file; file++)
        agreement_compare(*file, *with);
}

static inline int agreement_compare_files(char **files, const struct agreement_with *with)
{
    const struct CMUnitTest tests[] = {AGREEMENT_TEST(test_files_of_user, with)};
    agreement_files = files;
    return cmocka_run_group_tests(tests, NULL, agreement_print_totals);
}
