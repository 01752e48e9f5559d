/*
 * Names, inline chains, files and lines are those of llvm-symbolizer: over addresses in all functions of programs built
 * by gcc, clang, rustc and go at several levels of optimisation and versions of DWARF, and of programs of this machine.
 *
 * A difference is no failure where we mean it (explain_name() and is_file_symbol() below say why); their number is
 * printed. Compilers that are not there are left out.
 */
#include "symbol/debug_file.h"
#include "symbol/demangle.h"
#include "symbol/elf_file.h"
#include "symbol/symbol.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

enum { ADDRESSES_MAX = 3000, LINE_LENGTH = 1 << 17, REPORTED_MAX = 10 };

struct comparison {
    const char *path;
    uint64_t rvas[ADDRESSES_MAX];
    size_t count;
    uint64_t base;
    struct symbol_answers answers;
    size_t frames, explained, wrong;
    const char *alias; /* found last by is_symbol_at() */
    uint64_t alias_rva;
    struct arena arena;
};

static int ascending(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* The first byte of every function, and places inside, as many as there is room for. */
static void pick_addresses(struct comparison *c)
{
    struct elf_file file;
    struct error err = {""};
    assert_int_equal(elf_file_open(&file, c->path, &err), 0);
    c->base = file.base;
    const struct elf_section *table = elf_file_section(&file, ".symtab");
    if (!table)
        table = elf_file_section(&file, ".dynsym");
    assert_non_null(table);
    unsigned char *raw = bytes_load(&table->bytes);
    assert_non_null(raw);
    size_t functions = table->size / elf_symbol_size(&file), places = ADDRESSES_MAX / (functions + 1) + 1;
    size_t used = 0, every = functions / ADDRESSES_MAX + 1, seen = 0;
    struct cursor at = cursor_of(raw, (size_t)table->bytes.size);
    while (cursor_left(&at) >= elf_symbol_size(&file)) {
        struct elf_symbol symbol = elf_symbol_read(&file, &at);
        if ((symbol.info & 0xf) != STT_FUNC || !symbol.size || symbol.section == SHN_UNDEF || seen++ % every)
            continue;
        for (size_t i = 0; i < places && used < ADDRESSES_MAX; i++)
            c->rvas[used++] = symbol.value - file.base + symbol.size * i / places;
    }
    qsort(c->rvas, used, sizeof(c->rvas[0]), ascending);
    c->count = 0;
    for (size_t i = 0; i < used; i++)
        if (c->count == 0 || c->rvas[i] != c->rvas[c->count - 1])
            c->rvas[c->count++] = c->rvas[i];
    free(raw);
    elf_file_close(&file);
}

static void ask_us(struct comparison *c)
{
    struct error err = {""};
    struct symbolizer *symbolizer = symbolizer_new(NULL, &err);
    assert_non_null(symbolizer);
    struct symbol_lib lib = {.kind = SYMBOL_LIB_ELF, .name = c->path, .path = c->path};
    assert_int_equal(symbolizer_lookup(symbolizer, &lib, c->rvas, c->count, &c->answers, &err), 0);
    symbolizer_free(symbolizer);
}

static FILE *ask_llvm(const struct comparison *c)
{
    char list[] = "/tmp/test_symbol_XXXXXX", command[4096];
    int fd = mkstemp(list);
    assert_true(fd >= 0);
    FILE *out = fdopen(fd, "w");
    for (size_t i = 0; i < c->count; i++)
        fprintf(out, "0x%llx\n", (unsigned long long)(c->rvas[i] + c->base));
    fclose(out);
    snprintf(command, sizeof(command), "llvm-symbolizer --no-demangle --obj='%s' <%s; rm %s", c->path, list, list);
    FILE *answers = popen(command, "r");
    assert_non_null(answers);
    return answers;
}

struct llvm_frame {
    const char *function; /* without the suffixes of parts, demangled by us: demangling is not what is compared */
    bool is_mangled;
    char *file; /* NULL: ?? */
    unsigned line, column;
};

static bool read_line(FILE *in, char *line)
{
    if (!fgets(line, LINE_LENGTH, in))
        return false;
    line[strcspn(line, "\n")] = '\0';
    return true;
}

/* The frames of one address, innermost first. */
static size_t read_llvm_frames(struct comparison *c, FILE *in, struct llvm_frame *frames, size_t max)
{
    static char line[LINE_LENGTH];
    size_t count = 0;
    while (read_line(in, line) && line[0]) {
        assert_true(count < max);
        struct llvm_frame *frame = &frames[count++];
        *frame = (struct llvm_frame){.is_mangled = strncmp(line, "_Z", 2) == 0 || strncmp(line, "_R", 2) == 0};
        char *name = arena_copy(&c->arena, line, demangle_base_length(line));
        frame->function = strcmp(name, "??") == 0 ? NULL : demangle(name, &c->arena);
        assert_true(read_line(in, line));
        char *column = strrchr(line, ':');
        *column = '\0';
        char *number = strrchr(line, ':');
        *number = '\0';
        frame->column = (unsigned)strtoul(column + 1, NULL, 10);
        frame->line = (unsigned)strtoul(number + 1, NULL, 10);
        frame->file = strcmp(line, "??") == 0 ? NULL : arena_copy(&c->arena, line, strlen(line));
    }
    return count;
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool table_has(struct comparison *c, const struct elf_file *file, const char *table_name, uint64_t rva,
                      const char *name)
{
    const struct elf_section *table = elf_file_section(file, table_name);
    unsigned char *raw = table ? bytes_load(&table->bytes) : NULL;
    struct cursor at = raw ? cursor_of(raw, (size_t)table->bytes.size) : (struct cursor){0};
    struct window names = {.bytes = table ? &file->sections.data[table->link].bytes : NULL, .step = 256};
    bool found = false;
    while (!found && cursor_left(&at) >= elf_symbol_size(file)) {
        struct elf_symbol symbol = elf_symbol_read(file, &at);
        if (symbol.value - file->base != rva)
            continue;
        const char *mangled = window_string(&names, symbol.name);
        char *base = arena_copy(&c->arena, mangled, strcspn(mangled, "@"));
        base[demangle_base_length(base)] = '\0';
        found = strcmp(demangle(base, &c->arena), name) == 0;
    }
    window_destroy(&names);
    free(raw);
    return found;
}

/* Whether a symbol of this name starts here, in the file or its debug file. */
static bool is_symbol_at(struct comparison *c, uint64_t rva, const char *name)
{
    if (c->alias && rva == c->alias_rva && strcmp(name, c->alias) == 0)
        return true; /* the next address of one function */
    struct debug_files files;
    struct symbol_lib lib = {.kind = SYMBOL_LIB_ELF, .name = c->path, .path = c->path};
    debug_files_open(&files, &lib, NULL);
    bool found = table_has(c, &files.mapped, ".symtab", rva, name) ||
                 table_has(c, &files.mapped, ".dynsym", rva, name) ||
                 (files.has_separate && table_has(c, &files.separate, ".symtab", rva, name));
    debug_files_close(&files);
    c->alias = found ? name : NULL;
    c->alias_rva = rva;
    return found;
}

/* Why the names may differ, or NULL. */
static const char *explain_name(struct comparison *c, const struct symbol_answer *answer,
                                const struct symbol_frame *ours, const struct llvm_frame *theirs, bool is_outermost)
{
    size_t length = ours->function ? strlen(ours->function) : 0;
    size_t short_length = theirs->function ? strlen(theirs->function) : 0;
    if (!theirs->is_mangled && length > short_length + 2 && theirs->function &&
        strcmp(ours->function + length - short_length, theirs->function) == 0 &&
        strncmp(ours->function + length - short_length - 2, "::", 2) == 0)
        return "we add the namespaces and classes to a DW_AT_name";
    if (!theirs->is_mangled && theirs->function && strncmp(theirs->function, "__GI_", 5) == 0)
        return "they take glibc's internal alias for the linkage name, we only take mangled ones";
    if (is_outermost && answer->symbol && theirs->function && is_symbol_at(c, answer->symbol_address, theirs->function))
        return "they take the last of several symbols with one address, we the name in the debug info or the best";
    if (is_outermost && !theirs->function)
        return "they find no symbol after a label without a size, we the function around it";
    return NULL;
}

static void report(struct comparison *c, size_t i, const struct symbol_frame *ours, const struct llvm_frame *theirs,
                   const char *what)
{
    if (c->wrong++ < REPORTED_MAX)
        print_error("%s 0x%llx: %s differs: %s %s:%u:%u, llvm-symbolizer has %s %s:%u:%u\n", c->path,
                    (unsigned long long)(c->rvas[i] + c->base), what, ours->function ? ours->function : "??",
                    ours->file ? ours->file : "??", ours->line, ours->column,
                    theirs->function ? theirs->function : "??", theirs->file ? theirs->file : "??", theirs->line,
                    theirs->column);
}

/* Without debug info they give the STT_FILE symbol before a static function, a name without a line, and without a
 * folder if it is not that of an object file. */
static bool is_file_symbol(const struct symbol_frame *ours, const struct llvm_frame *theirs)
{
    size_t length = theirs->file ? strlen(theirs->file) : 0;
    bool is_object = length > 2 && strcmp(theirs->file + length - 2, ".o") == 0;
    return !ours->file && ours->line == 0 && theirs->line == 0 && length && (is_object || !strchr(theirs->file, '/'));
}

static void compare_frame(struct comparison *c, size_t i, const struct symbol_frame *ours,
                          const struct llvm_frame *theirs, bool is_outermost)
{
    c->frames++;
    if (!same_text(ours->function, theirs->function)) {
        const char *why = explain_name(c, &c->answers.answers[i], ours, theirs, is_outermost);
        if (getenv("VERBOSE") && why)
            print_message("%s | %s | %s\n", why, ours->function, theirs->function);
        c->explained += why != NULL;
        if (!why)
            report(c, i, ours, theirs, "the name");
    }
    if (is_file_symbol(ours, theirs))
        c->explained++;
    else if (!same_text(ours->file, theirs->file))
        report(c, i, ours, theirs, "the file");
    else if (ours->line != theirs->line || ours->column != theirs->column)
        report(c, i, ours, theirs, "the line");
}

static void compare_address(struct comparison *c, size_t i, FILE *in)
{
    struct llvm_frame theirs[256];
    size_t count = read_llvm_frames(c, in, theirs, 256);
    const struct symbol_answer *answer = &c->answers.answers[i];
    const struct symbol_frame nothing = {0};
    const struct symbol_frame *ours = answer->frame_count ? &c->answers.frames.data[answer->first_frame] : &nothing;
    size_t own_count = answer->frame_count ? answer->frame_count : 1;
    if (own_count != count) {
        report(c, i, &ours[own_count - 1], &theirs[0], "the number of frames");
        return;
    }
    for (size_t f = 0; f < count; f++)
        compare_frame(c, i, &ours[count - 1 - f], &theirs[f], f == count - 1);
}

static void compare(const char *path)
{
    static struct comparison c;
    c = (struct comparison){.path = path};
    pick_addresses(&c);
    ask_us(&c);
    FILE *in = ask_llvm(&c);
    for (size_t i = 0; i < c.count; i++)
        compare_address(&c, i, in);
    pclose(in);
    print_message("%s: %zu addresses, %zu frames, %zu differences meant, %zu wrong\n", path, c.count, c.frames,
                  c.explained, c.wrong);
    symbol_answers_destroy(&c.answers);
    arena_destroy(&c.arena);
    assert_int_equal(c.wrong, 0);
    assert_true(c.count > 0);
}

static bool has_command(const char *name)
{
    char command[256];
    snprintf(command, sizeof(command), "command -v %s >/dev/null 2>&1", name);
    return system(command) == 0;
}

/* Builds and compares one variant of a target; `compiler` is the first word of the command. */
static void compare_build(const char *compiler, const char *flags, const char *source)
{
    char folder[] = "/tmp/test_symbol_XXXXXX", command[4096], path[64];
    if (!has_command(compiler) || !has_command("llvm-symbolizer")) {
        print_message("no %s here\n", has_command(compiler) ? "llvm-symbolizer" : compiler);
        return;
    }
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/program", folder);
    snprintf(command, sizeof(command), "%s %s -o %s tests/targets/%s", compiler, flags, path, source);
    print_message("%s\n", command);
    assert_int_equal(system(command), 0);
    compare(path);
    snprintf(command, sizeof(command), "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

static const char *const flags[] = {
    "-g -O0",           "-g -O1",           "-g -O2",
    "-g -O3",           "-g -O2 -gdwarf-4", "-g -O0 -gdwarf-4",
    "-g -O2 -gdwarf-3", "-g -O2 -gdwarf-2", "-g -O2 -ffunction-sections -Wl,--gc-sections",
    "-g -O2 -gz",       "-g -O2 -no-pie",   "-g -Os -m64 -static",
};

static void compare_all_flags(const char *compiler, const char *more, const char *source)
{
    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
        char all[256];
        snprintf(all, sizeof(all), "%s %s", flags[i], more);
        compare_build(compiler, all, source);
    }
}

static void test_gcc_c_programs(void **unused)
{
    (void)unused;
    compare_all_flags("gcc", "", "names.c");
    compare_build("gcc", "-g -O2 -flto", "names.c");
}

static void test_gcc_cpp_programs(void **unused)
{
    (void)unused;
    compare_all_flags("g++", "-std=c++17", "names.cpp");
    compare_build("g++", "-g -O2 -std=c++17 -flto", "names.cpp");
    compare_build("g++", "-g -O2 -std=c++17 -gdwarf-4 -fdebug-types-section", "names.cpp");
    compare_build("g++", "-g -O2 -std=c++17 -gdwarf64 -gdwarf-5", "names.cpp");
}

static void test_clang_c_programs(void **unused)
{
    (void)unused;
    compare_all_flags("clang", "-Wno-unused-command-line-argument", "names.c");
}

static void test_clang_cpp_programs(void **unused)
{
    (void)unused;
    compare_all_flags("clang++", "-std=c++17 -Wno-unused-command-line-argument", "names.cpp");
    compare_build("clang++", "-g -O2 -std=c++17 -flto -fuse-ld=lld", "names.cpp");
    compare_build("clang++", "-g -O2 -std=c++17 -gdwarf-aranges -gdwarf-4", "names.cpp");
}

static void test_rust_programs(void **unused)
{
    (void)unused;
    compare_build("rustc", "-g -C opt-level=0", "busy.rs");
    compare_build("rustc", "-g -C opt-level=3", "busy.rs");
    compare_build("rustc", "-g -C opt-level=2 -C symbol-mangling-version=v0", "busy.rs");
}

static void test_go_programs(void **unused)
{
    (void)unused;
    compare_build("go", "build", "gobusy.go");
}

static void test_programs_of_this_machine(void **unused)
{
    (void)unused;
    static const char *const paths[] = {"/usr/bin/python3", "/usr/bin/gdb", "/bin/bash",
                                        "/lib/x86_64-linux-gnu/libc.so.6", "/usr/lib/x86_64-linux-gnu/libstdc++.so.6"};
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
        if (access(paths[i], R_OK) == 0 && has_command("llvm-symbolizer"))
            compare(paths[i]);
}

static char **files_of_user;

static void test_files_of_user(void **unused)
{
    (void)unused;
    for (char **file = files_of_user; *file; file++)
        compare(*file);
}

/* With arguments: compares these files alone. */
int main(int argc, char **argv)
{
    const struct CMUnitTest with_files[] = {cmocka_unit_test(test_files_of_user)};
    files_of_user = argv + 1;
    if (argc > 1)
        return cmocka_run_group_tests(with_files, NULL, NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gcc_c_programs),
        cmocka_unit_test(test_gcc_cpp_programs),
        cmocka_unit_test(test_clang_c_programs),
        cmocka_unit_test(test_clang_cpp_programs),
        cmocka_unit_test(test_rust_programs),
        cmocka_unit_test(test_go_programs),
        cmocka_unit_test(test_programs_of_this_machine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
