/*
 * Functions in several pieces (.cold, .part, .constprop, .isra; with link-time optimization, with a profile, by gcc and
 * clang) are one function of the profile, with a native symbol for each piece.
 */
#include "assemble/assemble.h"
#include "elf/elf_file.h"
#include "elf/elf_table.h"
#include "file/profile_file.h"
#include "spool/spool.h"
#include "symbol/demangle.h"
#include "symbol/symbol.h"
#include "support/flat_records.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

enum { PIECES_MAX = 4096, PLACES = 4 };

struct piece {
    char *symbol;   /* mangled, with its suffix */
    char *function; /* demangled, without */
    uint64_t rva, size;
    bool is_part;
};

struct program {
    char directory[32], path[48];
    struct piece pieces[PIECES_MAX];
    size_t count, parts;
    struct arena arena;
};

static bool run(const struct program *program, const char *format, const char *flags)
{
    char command[2048];
    snprintf(command, sizeof(command), format, flags, program->path, program->directory);
    print_message("%s\n", command);
    return system(command) == 0;
}

static void read_pieces(struct program *program)
{
    struct elf_file file;
    struct error err = {""};
    assert_int_equal(elf_file_open(&file, program->path, &err), 0);
    const struct elf_section *table = elf_file_find_section(&file, ".symtab");
    assert_non_null(table);
    struct elf_symbols symbols;
    assert_true(elf_symbols_load(&symbols, &file, table, 0, SIZE_MAX));
    struct window names = {.bytes = &file.sections.data[table->link].bytes, .step = 256};
    for (size_t i = 0; i < symbols.count; i++) {
        struct elf_symbol symbol = elf_symbols_get(&symbols, i);
        const char *name = window_read_string(&names, symbol.name);
        if (symbol.type != STT_FUNC || !symbol.size || program->count == PIECES_MAX)
            continue;
        struct piece *piece = &program->pieces[program->count++];
        piece->symbol = arena_copy(&program->arena, name, strlen(name));
        piece->function = (char *)demangle_function(name, &program->arena);
        piece->rva = symbol.value - file.base;
        piece->size = symbol.size;
        piece->is_part = name[measure_base_name(name)] != '\0';
        program->parts += piece->is_part;
    }
    window_destroy(&names);
    elf_symbols_free(&symbols);
    elf_file_close(&file);
}

static void build(struct program *program, const char *format, const char *flags)
{
    *program = (struct program){.directory = "/tmp/test_parts_XXXXXX"};
    assert_non_null(mkdtemp(program->directory));
    snprintf(program->path, sizeof(program->path), "%s/program", program->directory);
    assert_true(run(program, format, flags));
    read_pieces(program);
    assert_true(program->parts > 0);
}

static void destroy(struct program *program)
{
    char command[64];
    snprintf(command, sizeof(command), "rm -r %s", program->directory);
    assert_int_equal(system(command), 0);
    arena_destroy(&program->arena);
}

static const struct piece *piece_at(const struct program *program, uint64_t rva)
{
    const struct piece *found = NULL;
    for (size_t i = 0; i < program->count; i++)
        if (rva - program->pieces[i].rva < program->pieces[i].size && (!found || program->pieces[i].is_part))
            found = &program->pieces[i];
    return found;
}

static int ascending(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Places in each part and in what it is a part of. */
static size_t pick(const struct program *program, uint64_t *rvas)
{
    size_t used = 0, count = 0;
    for (size_t i = 0; i < program->count; i++) {
        bool has_parts = false;
        for (size_t p = 0; p < program->count; p++)
            has_parts |=
                program->pieces[p].is_part && strcmp(program->pieces[p].function, program->pieces[i].function) == 0;
        for (uint64_t k = 0; has_parts && k < PLACES; k++)
            rvas[used++] = program->pieces[i].rva + program->pieces[i].size * k / PLACES;
    }
    qsort(rvas, used, sizeof(*rvas), ascending);
    for (size_t i = 0; i < used; i++)
        if (count == 0 || rvas[i] != rvas[count - 1])
            rvas[count++] = rvas[i];
    return count;
}

static void assert_named_after_function(const struct program *program, uint64_t rva,
                                        const struct symbol_answers *answers, size_t i)
{
    const struct symbol_answer *answer = &answers->answers[i];
    const struct piece *piece = piece_at(program, rva);
    assert_true(answer->frame_count > 0);
    const char *function = answers->frames.data[answer->first_frame].function;
    if (strcmp(function, piece->function) != 0)
        print_error("0x%llx in %s: %s\n", (unsigned long long)rva, piece->symbol, function);
    assert_string_equal(function, piece->function);
    if (!piece->is_part)
        return;
    assert_int_equal(answer->symbol_address, piece->rva);
    assert_int_equal(answer->symbol_size, piece->size);
    assert_string_not_equal(answer->symbol, piece->function);
}

/* A recording of one thread, with a sample at each of these addresses. */
static void write_spool(const struct program *program, const char *path, const uint64_t *rvas, size_t count)
{
    enum { LOADED_AT = 0x10000000 };
    struct spool_writer *spool;
    assert_int_equal(spool_writer_new(&spool, path, NULL), 0);
    struct stat file;
    assert_int_equal(stat(program->path, &file), 0);
    struct spool_lib lib = {.path = program->path,
                            .device = file.st_dev,
                            .inode = file.st_ino,
                            .size = (uint64_t)file.st_size,
                            .mtime_ns = (uint64_t)file.st_mtim.tv_sec * 1000000000 + (uint64_t)file.st_mtim.tv_nsec};
    struct spool_event events[] = {
        {.kind = SPOOL_LIB, .lib = lib},
        {.kind = SPOOL_PROCESS, .parent = SPOOL_NO_NUMBER, .pid = 10, .time = 1, .name = "process"},
        {.kind = SPOOL_THREAD, .tid = 10, .time = 1, .name = "main"},
        {.kind = SPOOL_MAP, .time = 2, .start = LOADED_AT, .end = LOADED_AT + 0x1000000},
    };
    for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++)
        assert_int_equal(spool_writer_event(spool, &events[i], NULL), 0);
    for (size_t i = 0; i < count; i++) {
        uint64_t address = LOADED_AT + rvas[i];
        struct sample sample = {.time = 3 + i, .frame_count = 1, .frames = &address};
        assert_int_equal(spool_writer_sample(spool, &sample, NULL), 0);
    }
    assert_int_equal(spool_writer_close(spool, NULL), 0);
}

/* Every frame of a piece belongs to the one func of that name and file, and to the native symbol of its piece. */
static void assert_one_func(const struct program *program, const struct profile *profile)
{
    size_t shared = 0;
    for (size_t f = 0; f < profile->frames.length; f++) {
        const struct piece *piece = piece_at(program, (uint64_t)profile->frames.address[f]);
        if (!piece || profile->frames.inline_depth[f] > 0)
            continue;
        uint32_t func = profile->frames.func[f], symbol = profile->frames.native_symbol[f];
        assert_string_equal(strings_text(&profile->strings, profile->funcs.name[func]), piece->function);
        assert_int_equal(profile->native_symbols.data[symbol].address, piece->rva);
        for (size_t g = 0; g < f; g++) {
            uint32_t other = profile->frames.func[g];
            if (profile->frames.inline_depth[g] > 0 || profile->funcs.name[other] != profile->funcs.name[func] ||
                profile->funcs.source[other] != profile->funcs.source[func])
                continue;
            assert_int_equal(other, func);
            shared += profile->frames.native_symbol[g] != symbol;
        }
    }
    assert_true(shared > 0);
}

static void assemble(const struct program *program, const uint64_t *rvas, size_t count, struct profile *profile)
{
    struct assemble_options options = {.threads = 1};
    struct assemble_result result;
    struct error err = {""};
    char spool[64], output[64];
    snprintf(spool, sizeof(spool), "%s/spool", program->directory);
    snprintf(output, sizeof(output), "%s/profile.json", program->directory);
    write_spool(program, spool, rvas, count);
    assert_int_equal(assemble_recording(spool, output, &options, &result, &err), 0);
    assert_int_equal(result.unnamed, 0);
    assert_int_equal(profile_load(output, profile, &err), 0);
}

static void check_program(struct program *program)
{
    static uint64_t rvas[PIECES_MAX * PLACES];
    size_t count = pick(program, rvas);
    struct error err = {""};
    struct symbolizer *symbolizer = symbolizer_new(NULL);
    struct symbol_lib lib = {.kind = SYMBOL_LIB_ELF, .name = "program", .path = program->path};
    struct symbol_answers answers;
    assert_int_equal(symbolizer_lookup(symbolizer, &lib, rvas, count, &answers, &err), 0);
    for (size_t i = 0; i < count; i++)
        assert_named_after_function(program, rvas[i], &answers, i);
    symbol_answers_destroy(&answers);
    symbolizer_free(symbolizer);
    struct profile profile;
    assemble(program, rvas, count, &profile);
    assert_one_func(program, &profile);
    print_message("%zu parts, %zu addresses\n", program->parts, count);
    profile_destroy(&profile);
}

static void check_build(const char *format, const char *flags)
{
    static struct program program;
    build(&program, format, flags);
    check_program(&program);
    destroy(&program);
}

static bool has_part(const struct program *program, const char *suffix)
{
    for (size_t i = 0; i < program->count; i++)
        if (strstr(program->pieces[i].symbol, suffix))
            return true;
    return false;
}

static const char plain[] = "gcc %s -o %s tests/targets/parts.c";

static void test_parts_of_gcc_are_one_function(void **unused)
{
    (void)unused;
    static struct program program;
    build(&program, plain, "-g -O2");
    assert_true(has_part(&program, ".cold") && has_part(&program, ".part."));
    assert_true(has_part(&program, ".constprop.") && has_part(&program, ".isra."));
    check_program(&program);
    destroy(&program);
    check_build(plain, "-g -O3");
    check_build(plain, "-g -O2 -gdwarf-4");
    check_build("g++ -std=c++17 %s -o %s tests/targets/names.cpp", "-g -O2");
}

static void test_parts_are_one_function_without_debug_info_too(void **unused)
{
    (void)unused;
    check_build(plain, "-O2");
    check_build("g++ -std=c++17 %s -o %s tests/targets/names.cpp", "-O2");
}

static void test_parts_of_link_time_optimization_are_one_function(void **unused)
{
    (void)unused;
    check_build("g++ -std=c++17 %s -o %s tests/targets/names.cpp", "-g -O2 -flto");
}

static void test_parts_by_a_profile_are_one_function(void **unused)
{
    (void)unused;
    check_build("flags='%s' program=%s && cd %s && source=$OLDPWD/tests/targets/parts.c && "
                "gcc $flags -fprofile-generate -o program $source && ./program >/dev/null && "
                "gcc $flags -Wno-missing-profile -fprofile-use -fprofile-partial-training -o $program $source",
                "-g -O2 -dumpbase parts");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts_of_gcc_are_one_function),
        cmocka_unit_test(test_parts_are_one_function_without_debug_info_too),
        cmocka_unit_test(test_parts_of_link_time_optimization_are_one_function),
        cmocka_unit_test(test_parts_by_a_profile_are_one_function),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
