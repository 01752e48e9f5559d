/* The symbolizer on real programs that tests build, and on damaged and truncated copies. */
#include "support/symbol_directory.h"
#include "symbol/debug_file.h"

#include <elf.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

static int make_directory(void **unused)
{
    (void)unused;
    if (make_empty_directory(NULL) != 0)
        return -1;
    write_text("program.c", inlining_source);
    run("gcc -g -O2 -Wl,--build-id -o program program.c");
    return 0;
}

static void test_inlined_call_is_a_frame_of_its_own(void **unused)
{
    (void)unused;
    const char *path = in_directory("program");
    uint64_t middle = address_of(path, "middle");
    struct symbol_answers answers = lookup_file(path, middle);
    assert_true(answers.has_debug_info);
    assert_string_equal(answers.problem, "");
    assert_int_equal(answers.answers[0].frame_count, 2);
    const struct symbol_frame *outer = &answers.frames.data[0], *inner = &answers.frames.data[1];
    assert_string_equal(outer->function, "middle");
    assert_int_equal(outer->line, 7);
    assert_string_equal(inner->function, "inner");
    assert_int_equal(inner->line, 3);
    char source[300];
    snprintf(source, sizeof(source), "%s/program.c", directory);
    assert_string_equal(inner->file, source);
    assert_string_equal(answers.answers[0].symbol, "middle");
    assert_int_equal(answers.answers[0].symbol_address, middle);
    assert_true(answers.answers[0].symbol_size > 0);
    symbol_answers_destroy(&answers);
}

/* The line table goes on from the last row of a function to the next function. */
static void test_code_between_functions_has_no_line(void **unused)
{
    (void)unused;
    write_text("between.c", "int first(int x) { return x * 3 + 1; }\n"
                            "__asm__(\".text; .fill 256, 1, 0x90\");\n"
                            "int second(int x) { return x * 5 + 2; }\n"
                            "int main(int argc, char **argv) { (void)argv; return first(argc) + second(argc); }\n");
    run("gcc -g -O1 -fno-toplevel-reorder -o between between.c");
    const char *path = in_directory("between");
    uint64_t second = address_of(path, "second");
    struct symbol_answers answers = lookup_file(path, second - 100);
    assert_int_equal(answers.answers[0].frame_count, 0);
    assert_null(answers.answers[0].symbol);
    assert_int_equal(answers.missing_symbols, MISSING_SYMBOLS_NONE);
    symbol_answers_destroy(&answers);
    answers = lookup_file(path, second);
    assert_int_equal(answers.answers[0].frame_count, 1);
    assert_int_equal(answers.frames.data[0].line, 3);
    symbol_answers_destroy(&answers);
}

static void test_replaced_file_is_said_and_not_symbolized(void **unused)
{
    (void)unused;
    const char *path = in_directory("program");
    uint64_t middle = address_of(path, "middle");
    const unsigned char other[20] = {1, 2, 3};
    struct symbol_lib lib = {
        .kind = SYMBOL_LIB_ELF, .name = "program", .path = path, .build_id = other, .build_id_size = sizeof(other)};
    struct symbol_answers answers = lookup(&lib, &middle, 1);
    assert_non_null(strstr(answers.problem, "replaced after it was mapped"));
    assert_null(answers.answers[0].symbol);
    assert_int_equal(answers.answers[0].frame_count, 0);
    symbol_answers_destroy(&answers);
}

static void test_missing_file_is_said(void **unused)
{
    (void)unused;
    struct symbol_answers answers = lookup_file(in_directory("nothing"), 0x1000);
    assert_non_null(strstr(answers.problem, "does not exist"));
    assert_int_equal(answers.answers[0].frame_count, 0);
    symbol_answers_destroy(&answers);
    answers = lookup_file(in_directory("program.c"), 0x1000);
    assert_non_null(strstr(answers.problem, "not an ELF file"));
    symbol_answers_destroy(&answers);
}

static void assert_line_is_found(const char *path, uint64_t rva)
{
    struct symbol_answers answers = lookup_file(path, rva);
    assert_true(answers.has_debug_info);
    assert_int_equal(answers.answers[0].frame_count, 2);
    assert_int_equal(answers.frames.data[1].line, 3);
    symbol_answers_destroy(&answers);
}

static void test_big_endian_file_has_symbols_and_lines(void **unused)
{
    (void)unused;
    if (!has_command("clang") || !has_command("ld.lld"))
        skip();
    run("clang --target=powerpc64-linux-gnu -mabi=elfv2 -g -O1 -c -o big.o program.c && ld.lld -e main -o big big.o");
    uint64_t middle = address_of(in_directory("big"), "middle");
    struct symbol_answers answers = lookup_file(in_directory("big"), middle);
    assert_string_equal(answers.answers[0].symbol, "middle");
    assert_string_equal(answers.problem, "");
    assert_int_equal(answers.from_libdw, 1);
    symbol_answers_destroy(&answers);
    assert_line_is_found(in_directory("big"), middle);
}

static void test_debug_link_leads_to_the_debug_file(void **unused)
{
    (void)unused;
    uint64_t middle = address_of(in_directory("program"), "middle");
    run("mkdir linked linked/.debug && objcopy --only-keep-debug program linked/.debug/program.debug");
    run("cd linked && objcopy --strip-all --add-gnu-debuglink=.debug/program.debug ../program program");
    assert_line_is_found(in_directory("linked/program"), middle);
    run("mv linked/.debug/program.debug linked");
    assert_line_is_found(in_directory("linked/program"), middle);
}

static void test_debug_link_without_build_id_is_held_against_its_checksum(void **unused)
{
    (void)unused;
    run("mkdir crc && gcc -g -O2 -Wl,--build-id=none -o crc/whole program.c");
    run("cd crc && objcopy --only-keep-debug whole whole.debug && objcopy --strip-all --add-gnu-debuglink=whole.debug "
        "whole cut");
    uint64_t middle = address_of(in_directory("crc/whole"), "middle");
    assert_line_is_found(in_directory("crc/cut"), middle);
    run("printf x >> crc/whole.debug");
    struct symbol_answers answers = lookup_file(in_directory("crc/cut"), middle);
    assert_false(answers.has_debug_info);
    assert_non_null(strstr(answers.problem, "does not belong"));
    symbol_answers_destroy(&answers);
}

static void test_debug_file_of_another_build_is_not_used(void **unused)
{
    (void)unused;
    run("mkdir other && sed 's/ 7 / 9 /' program.c >other/program.c && gcc -g -O2 -Wl,--build-id -o other/program "
        "other/program.c");
    run("cd other && objcopy --only-keep-debug program program.debug && objcopy --strip-all "
        "--add-gnu-debuglink=program.debug ../program cut");
    struct symbol_answers answers =
        lookup_file(in_directory("other/cut"), address_of(in_directory("program"), "middle"));
    assert_false(answers.has_debug_info);
    assert_non_null(strstr(answers.problem, "does not belong"));
    symbol_answers_destroy(&answers);
}

static void test_debug_file_is_found_by_build_id(void **unused)
{
    (void)unused;
    struct elf_file file;
    struct error err;
    assert_int_equal(elf_file_open(&file, in_directory("program"), &err), 0);
    char id[2 * ELF_BUILD_ID_MAX + 1] = "";
    for (size_t i = 0; i < file.build_id_size; i++)
        snprintf(id + 2 * i, 3, "%02x", file.build_id[i]);
    elf_file_close(&file);
    run("mkdir -p root/.build-id/%.2s && objcopy --only-keep-debug program root/.build-id/%.2s/%s.debug", id, id,
        id + 2);
    run("strip -o bare program");
    char path[300], root[300];
    snprintf(path, sizeof(path), "%s/bare", directory);
    snprintf(root, sizeof(root), "%s/root", directory);
    struct symbol_lib lib = {.kind = SYMBOL_LIB_ELF, .name = "bare", .path = path};
    struct debug_files files;
    debug_files_open(&files, &lib, &(struct debug_search){.root = root});
    assert_true(files.has_mapped && files.has_separate);
    assert_ptr_equal(debug_files_get_dwarf(&files), &files.separate);
    debug_files_close(&files);
}

static void test_symbols_of_debugdata_are_used(void **unused)
{
    (void)unused;
    uint64_t middle = address_of(in_directory("program"), "middle");
    run("mkdir mini && cd mini && objcopy --strip-debug ../program symbols && objcopy -S --keep-symbol=middle symbols "
        "&& xz symbols");
    run("cd mini && strip -o program ../program && objcopy --add-section .gnu_debugdata=symbols.xz program");
    struct symbol_answers answers = lookup_file(in_directory("mini/program"), middle + 1);
    assert_string_equal(answers.answers[0].symbol, "middle");
    assert_non_null(strstr(answers.problem, "no debug info"));
    symbol_answers_destroy(&answers);
}

static void test_assembly_labels_reach_to_the_next_symbol(void **unused)
{
    (void)unused;
    write_text("code.s", ".text\n.globl first\nfirst: nop\nnop\n.Lhidden: nop\n"
                         ".globl second\n.globl __second\n.weak ___second\n.type second,@function\n"
                         "second:\n__second:\n___second: nop\nnop\n.size second,2\n"
                         ".byte 0\n.type sized,@function\nsized: nop\ninside: nop\nnop\n.size sized,3\n");
    run("gcc -shared -nostdlib -o code.so code.s");
    char path[300];
    snprintf(path, sizeof(path), "%s/code.so", directory);
    uint64_t first = address_of(path, "first");
    uint64_t rvas[] = {first, first + 2, first + 3, first + 4, first + 5, first + 6, first + 8};
    struct symbol_lib lib = {.kind = SYMBOL_LIB_ELF, .name = "code.so", .path = path};
    struct symbol_answers answers = lookup(&lib, rvas, 7);
    assert_string_equal(answers.answers[0].symbol, "first");
    assert_string_equal(answers.answers[1].symbol, "first");
    assert_int_equal(answers.answers[1].symbol_size, 3);
    assert_string_equal(answers.answers[2].symbol, "second");
    assert_string_equal(answers.answers[3].symbol, "second");
    assert_null(answers.answers[4].symbol); /* padding behind a function with a size */
    assert_string_equal(answers.answers[5].symbol, "sized");
    assert_string_equal(answers.answers[6].symbol, "sized"); /* and not the label inside */
    symbol_answers_destroy(&answers);
}

static void test_shared_debug_info_is_followed(void **unused)
{
    (void)unused;
    if (!has_command("dwz")) {
        print_message("no dwz here\n");
        skip();
    }
    run("mkdir dwz && gcc -g -O2 -Wl,--build-id -o dwz/a program.c && sed 's/ 7 / 8 /' program.c >dwz/b.c");
    run("cd dwz && gcc -g -O2 -Wl,--build-id -o b b.c && dwz -m common -M $PWD/common -L none -l none a b");
    const char *path = in_directory("dwz/a");
    struct symbol_answers answers = lookup_file(path, address_of(path, "middle"));
    assert_int_equal(answers.answers[0].frame_count, 2);
    assert_string_equal(answers.frames.data[0].function, "middle");
    assert_string_equal(answers.frames.data[1].function, "inner");
    assert_string_equal(answers.problem, "");
    symbol_answers_destroy(&answers);
    run("rm dwz/common");
    answers = lookup_file(path, address_of(path, "middle"));
    assert_non_null(strstr(answers.problem, "shared debug info"));
    symbol_answers_destroy(&answers);
    run("gcc -g -O2 -Wl,--build-id -o dwz/common dwz/b.c"); /* another file in its place */
    answers = lookup_file(path, address_of(path, "middle"));
    assert_non_null(strstr(answers.problem, "shared debug info"));
    symbol_answers_destroy(&answers);
}

/* Its build id is not part of a path in that directory. */
static void test_shared_debug_info_is_found_by_name_in_named_directories(void **unused)
{
    (void)unused;
    if (!has_command("dwz"))
        skip();
    run("mkdir dwz_named && gcc -g -O2 -Wl,--build-id -o dwz_named/a program.c && sed 's/ 7 / 8 /' program.c "
        ">dwz_named/b.c");
    run("cd dwz_named && gcc -g -O2 -Wl,--build-id -o b b.c && dwz -m common -M /gone/common -L none -l none a b && "
        "mkdir directory && mv common directory");
    char named[256];
    snprintf(named, sizeof(named), "%s", in_directory("dwz_named/directory"));
    const char *directories[] = {named}, *path = in_directory("dwz_named/a");
    struct debug_search search = {.directories = directories, .directory_count = 1};
    struct symbolizer *symbolizer = symbolizer_new(&(struct symbolizer_options){.search = &search});
    struct symbol_lib lib = {.kind = SYMBOL_LIB_ELF, .name = path, .path = path};
    uint64_t rva = address_of(path, "middle");
    struct symbol_answers answers;
    assert_non_null(symbolizer);
    assert_int_equal(symbolizer_lookup(symbolizer, &lib, &rva, 1, &answers, NULL), 0);
    assert_string_equal(answers.problem, "");
    assert_int_equal(answers.answers[0].frame_count, 2);
    assert_string_equal(answers.frames.data[1].function, "inner");
    symbol_answers_destroy(&answers);
    symbolizer_free(symbolizer);
}

static void test_shared_debug_info_is_found_beside_the_file_that_names_it(void **unused)
{
    (void)unused;
    if (!has_command("dwz"))
        skip();
    run("mkdir dwz_beside && gcc -g -O2 -Wl,--build-id -o dwz_beside/a program.c && sed 's/ 7 / 8 /' program.c "
        ">dwz_beside/b.c");
    run("cd dwz_beside && gcc -g -O2 -Wl,--build-id -o b b.c && dwz -m common -M common -L none -l none a b");
    const char *path = in_directory("dwz_beside/a");
    struct symbol_answers answers = lookup_file(path, address_of(path, "middle"));
    assert_string_equal(answers.problem, "");
    assert_int_equal(answers.answers[0].frame_count, 2);
    assert_string_equal(answers.frames.data[1].function, "inner");
    symbol_answers_destroy(&answers);
}

/* Every kind of stub: lazy, with endbr64 in a section of its own, and without lazy binding. */
static void test_stubs_have_the_name_of_what_they_call(void **unused)
{
    (void)unused;
    static const char *const flags[] = {"-Wl,-z,lazy", "-fcf-protection=full -Wl,-z,lazy,-z,ibtplt", "-Wl,-z,now",
                                        "-no-pie -Wl,-z,lazy"};
    static const char *const sections[] = {".plt", ".plt.sec", ".plt", ".plt"};
    write_text("stub.cpp",
               "#include <cstdio>\n#include <string>\n"
               "int main(int c, char **v) { std::string s(v[0]); s += v[c - 1]; return puts(s.c_str()); }\n");
    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
        run("g++ -O0 -o stub %s stub.cpp", flags[i]);
        char path[300];
        snprintf(path, sizeof(path), "%s/stub", directory);
        struct elf_file file;
        struct error err = {""};
        assert_int_equal(elf_file_open(&file, path, &err), 0);
        const struct elf_section *section = elf_file_find_section(&file, sections[i]);
        assert_non_null(section);
        uint64_t rvas[256];
        size_t count = 0;
        for (uint64_t at = 0; at < section->size && count < 256; at += 2)
            rvas[count++] = section->address - file.base + at;
        struct symbol_lib lib = {.kind = SYMBOL_LIB_ELF, .name = "stub", .path = path};
        struct symbol_answers answers = lookup(&lib, rvas, count);
        size_t puts_seen = 0, demangled_seen = 0;
        for (size_t a = 0; a < count; a++) {
            const char *name = answers.answers[a].symbol;
            puts_seen += name && strcmp(name, "puts@plt") == 0 && answers.answers[a].symbol_size == 16;
            demangled_seen += name && strstr(name, "::operator+=(char const*)@plt");
        }
        assert_int_equal(puts_seen, 8); /* each second byte of 16 */
        assert_int_equal(demangled_seen, 8);
        symbol_answers_destroy(&answers);
        elf_file_close(&file);
    }
}

static void test_vdso_has_names(void **unused)
{
    (void)unused;
    const unsigned char *image = (const unsigned char *)getauxval(AT_SYSINFO_EHDR);
    if (!image)
        skip();
    struct symbol_lib lib = {.kind = SYMBOL_LIB_VDSO, .name = "[vdso]", .image = image, .image_size = 8192};
    uint64_t rvas[8192];
    for (size_t i = 0; i < 8192; i++)
        rvas[i] = i;
    struct symbol_answers answers = lookup(&lib, rvas, 8192);
    size_t found = 0;
    for (size_t i = 0; i < answers.count; i++)
        found += answers.answers[i].symbol && strstr(answers.answers[i].symbol, "clock_gettime");
    assert_true(found > 0);
    symbol_answers_destroy(&answers);
}

/* As a vDSO, so that no file has to be written. */
static void lookup_everywhere(const unsigned char *image, size_t size)
{
    enum { COUNT = 400 };
    uint64_t rvas[COUNT];
    for (size_t i = 0; i < COUNT; i++)
        rvas[i] = 0x1000 + i * 2;
    struct symbol_lib lib = {.kind = SYMBOL_LIB_VDSO, .name = "damaged", .image = image, .image_size = size};
    struct symbol_answers answers = lookup(&lib, rvas, COUNT);
    for (size_t i = 0; i < COUNT; i++)
        assert_true(answers.answers[i].first_frame + (size_t)answers.answers[i].frame_count <= answers.frames.length);
    symbol_answers_destroy(&answers);
}

static void test_every_truncation_has_a_clean_answer(void **unused)
{
    (void)unused;
    size_t size;
    unsigned char *whole = read_whole(in_directory("program"), &size);
    for (size_t length = 0; length < size; length += 1 + length / 200) {
        unsigned char *cut = malloc(length + 1); /* of its own, so that a read behind it is seen */
        memcpy(cut, whole, length);
        lookup_everywhere(cut, length);
        free(cut);
    }
    free(whole);
}

/* The section that holds the debug info the test is after, changed at random places, with a seed that is always the
 * same. */
static void damage(const char *program, unsigned rounds)
{
    size_t size;
    unsigned char *whole = read_whole(in_directory(program), &size), *copy = malloc(size);
    struct elf_file file;
    struct error err;
    assert_int_equal(elf_file_open(&file, in_directory(program), &err), 0);
    srand48(7);
    for (unsigned round = 0; round < rounds; round++) {
        memcpy(copy, whole, size);
        const struct elf_section *section = &file.sections.data[round % file.sections.length];
        for (unsigned i = 0; section->bytes.size && i < 1 + round % 5; i++)
            copy[section->bytes.offset + (uint64_t)(drand48() * (double)section->bytes.size)] =
                (unsigned char)lrand48();
        copy[0x20 + round % 32] ^= round % 16 == 0; /* now and then the ELF header too */
        lookup_everywhere(copy, size);
    }
    elf_file_close(&file);
    free(copy);
    free(whole);
}

static void test_damaged_files_have_clean_answers(void **unused)
{
    (void)unused;
    damage("program", 1500);
    run("gcc -g -gdwarf-4 -O2 -o program4 program.c");
    damage("program4", 1500);
    run("clang -g -O2 -o program_clang program.c || cp program program_clang");
    damage("program_clang", 1500);
}

static void test_a_file_that_shrinks_while_it_is_read_has_no_symbols(void **unused)
{
    (void)unused;
    uint64_t rva = address_of(in_directory("program"), "middle");
    struct elf_file file;
    struct symbol_matcher matcher;
    struct symbol_match match;
    struct error err = {""};
    run("cp program shrinking");
    assert_int_equal(elf_file_open(&file, in_directory("shrinking"), &err), 0);
    assert_int_equal(truncate(in_directory("shrinking"), 4096), 0); /* as a linker does that writes it anew */
    assert_int_equal(symbol_matcher_init(&matcher, &rva, 1, &err), 0);
    symbol_matcher_add(&matcher, &file, file.base);
    symbol_matcher_finish(&matcher, &match);
    assert_null(match.name);
    symbol_matcher_destroy(&matcher);
    elf_file_close(&file);
}

static void put(unsigned char *out, uint64_t value, size_t size)
{
    for (size_t i = 0; i < size; i++)
        out[i] = (unsigned char)(value >> 8 * i);
}

static void test_thousands_of_sections_with_the_same_large_notes_take_no_time(void **unused)
{
    (void)unused;
    enum { SECTIONS = 60000, HEADER = 64, SECTION_HEADER = 64, NOTES = 1 << 20, MOST_SECONDS = 20 };
    size_t notes = HEADER + SECTIONS * SECTION_HEADER, size = notes + NOTES;
    unsigned char *image = calloc(size, 1);
    assert_non_null(image);
    memcpy(image, ELFMAG "\2\1\1", SELFMAG + 3);
    put(image + 0x28, HEADER, 8); /* e_shoff, e_shentsize, e_shnum */
    put(image + 0x3a, SECTION_HEADER, 2);
    put(image + 0x3c, SECTIONS, 2);
    for (size_t i = 0; i < SECTIONS; i++) {
        unsigned char *section = image + HEADER + i * SECTION_HEADER;
        put(section + 0x04, SHT_NOTE, 4);
        put(section + 0x18, notes, 8);
        put(section + 0x20, NOTES, 8);
    }
    struct elf_file file;
    struct error err = {""};
    alarm(MOST_SECONDS);
    assert_int_equal(elf_file_open_image(&file, image, size, "notes", &err), 0);
    alarm(0);
    assert_int_equal(file.build_id_size, 0);
    elf_file_close(&file);
    free(image);
}

static void test_libraries_are_looked_up_together(void **unused)
{
    (void)unused;
    char path[300];
    snprintf(path, sizeof(path), "%s/program", directory);
    uint64_t middle = address_of(path, "middle"), main_address = address_of(path, "main"), none = 1;
    struct symbol_job jobs[] = {
        {.lib = {.kind = SYMBOL_LIB_ELF, .name = "a", .path = path}, .rvas = &middle, .count = 1},
        {.lib = {.kind = SYMBOL_LIB_ELF, .name = "b", .path = "/nowhere/b"}, .rvas = &none, .count = 1},
        {.lib = {.kind = SYMBOL_LIB_ELF, .name = "c", .path = path}, .rvas = &main_address, .count = 1},
        {.lib = {.kind = SYMBOL_LIB_ELF, .name = "d", .path = path}, .count = 0},
    };
    struct error err = {""};
    struct symbolizer *symbolizer = symbolizer_new(NULL);
    assert_int_equal(symbolizer_lookup_all(symbolizer, jobs, 4, &err), 0);
    assert_string_equal(jobs[0].answers.answers[0].symbol, "middle");
    assert_non_null(strstr(jobs[1].answers.problem, "does not exist"));
    assert_string_equal(jobs[2].answers.answers[0].symbol, "main");
    assert_int_equal(jobs[3].answers.count, 0);
    for (size_t i = 0; i < 4; i++)
        symbol_answers_destroy(&jobs[i].answers);
    symbolizer_free(symbolizer);
}

static void test_names_alone_when_lines_are_not_wanted(void **unused)
{
    (void)unused;
    const char *path = in_directory("program");
    uint64_t middle = address_of(path, "middle");
    struct error err = {""};
    struct symbolizer *symbolizer = symbolizer_new(&(struct symbolizer_options){.skip_inlines_and_lines = true});
    struct symbol_lib lib = {.kind = SYMBOL_LIB_ELF, .name = "program", .path = path};
    struct symbol_answers answers;
    assert_int_equal(symbolizer_lookup(symbolizer, &lib, &middle, 1, &answers, &err), 0);
    assert_int_equal(answers.answers[0].frame_count, 1);
    assert_string_equal(answers.frames.data[0].function, "middle");
    assert_int_equal(answers.frames.data[0].line, 0);
    symbol_answers_destroy(&answers);
    symbolizer_free(symbolizer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_inlined_call_is_a_frame_of_its_own),
        cmocka_unit_test(test_code_between_functions_has_no_line),
        cmocka_unit_test(test_replaced_file_is_said_and_not_symbolized),
        cmocka_unit_test(test_missing_file_is_said),
        cmocka_unit_test(test_big_endian_file_has_symbols_and_lines),
        cmocka_unit_test(test_debug_link_leads_to_the_debug_file),
        cmocka_unit_test(test_debug_link_without_build_id_is_held_against_its_checksum),
        cmocka_unit_test(test_debug_file_of_another_build_is_not_used),
        cmocka_unit_test(test_debug_file_is_found_by_build_id),
        cmocka_unit_test(test_symbols_of_debugdata_are_used),
        cmocka_unit_test(test_assembly_labels_reach_to_the_next_symbol),
        cmocka_unit_test(test_shared_debug_info_is_followed),
        cmocka_unit_test(test_shared_debug_info_is_found_by_name_in_named_directories),
        cmocka_unit_test(test_shared_debug_info_is_found_beside_the_file_that_names_it),
        cmocka_unit_test(test_stubs_have_the_name_of_what_they_call),
        cmocka_unit_test(test_vdso_has_names),
        cmocka_unit_test(test_libraries_are_looked_up_together),
        cmocka_unit_test(test_names_alone_when_lines_are_not_wanted),
        cmocka_unit_test(test_every_truncation_has_a_clean_answer),
        cmocka_unit_test(test_damaged_files_have_clean_answers),
        cmocka_unit_test(test_a_file_that_shrinks_while_it_is_read_has_no_symbols),
        cmocka_unit_test(test_thousands_of_sections_with_the_same_large_notes_take_no_time),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
