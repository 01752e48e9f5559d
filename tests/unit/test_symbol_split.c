/*
 * Debug info in .dwo files, in packages and in compressed sections; and source text stored by the compiler. By gcc and
 * clang, in DWARF 4 and 5; missing tools are skipped by name.
 */
#include "support/symbol_directory.h"
#include "symbol/dwarf_split.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static const char program_source[] = "int other(int x);\n"
                                     "static inline int inner(int x)\n"
                                     "{\n"
                                     "    return x * 7 + 1;\n"
                                     "}\n"
                                     "__attribute__((noinline)) int middle(int x)\n"
                                     "{\n"
                                     "    return inner(x) ^ 5;\n"
                                     "}\n"
                                     "__attribute__((cold, noinline)) int rare(int x)\n"
                                     "{\n"
                                     "    return inner(x) + 3;\n"
                                     "}\n"
                                     "int main(int argc, char **argv)\n"
                                     "{\n"
                                     "    (void)argv;\n"
                                     "    return middle(argc) + (argc > 9 ? rare(argc) : other(argc));\n"
                                     "}\n";

static const char other_source[] = "static inline int hidden(int x)\n"
                                   "{\n"
                                   "    return x ^ 77;\n"
                                   "}\n"
                                   "__attribute__((noinline)) int other(int x)\n"
                                   "{\n"
                                   "    return hidden(x) * 3;\n"
                                   "}\n";

struct variant {
    const char *compiler, *version, *packer;
};

/* gcc's DWARF 5 has no packer: dwp of binutils 2.40 leaves it out, and llvm-dwp (14, 16, 19) does not end. */
static const struct variant variants[] = {
    {"gcc", "4", "dwp"}, {"gcc", "5", NULL}, {"clang", "4", "llvm-dwp"}, {"clang", "5", "llvm-dwp"}};

enum { VARIANTS = sizeof(variants) / sizeof(variants[0]) };

static int make_sources(void **unused)
{
    if (make_empty_directory(unused) != 0)
        return -1;
    write_text("program.c", program_source);
    write_text("other.c", other_source);
    return 0;
}

/* Builds directory/built/program, with its .dwo files in built/objects; false without the compiler. */
static bool build(const struct variant *variant)
{
    if (!has_command(variant->compiler)) {
        print_message("no %s here\n", variant->compiler);
        return false;
    }
    run("rm -rf built moved && mkdir -p built/objects && cd built && for unit in program other; do %s -O2 -gdwarf-%s "
        "-gsplit-dwarf -c -o objects/$unit.o ../$unit.c || exit 1; done && %s -o program objects/*.o -Wl,--build-id",
        variant->compiler, variant->version, variant->compiler);
    return true;
}

static void assert_two_frames(struct symbol_answers *answers, const char *outer, uint32_t outer_line, const char *inner,
                              uint32_t inner_line)
{
    assert_string_equal(answers->problem, "");
    assert_int_equal(answers->answers[0].frame_count, 2);
    assert_string_equal(answers->frames.data[0].function, outer);
    assert_int_equal(answers->frames.data[0].line, outer_line);
    assert_string_equal(answers->frames.data[1].function, inner);
    assert_int_equal(answers->frames.data[1].line, inner_line);
    symbol_answers_destroy(answers);
}

static void assert_all_is_found(const char *path)
{
    struct symbol_answers answers = lookup_file(path, address_of(path, "middle"));
    assert_two_frames(&answers, "middle", 8, "inner", 4);
    answers = lookup_file(path, address_of(path, "rare"));
    assert_two_frames(&answers, "rare", 12, "inner", 4);
    answers = lookup_file(path, address_of(path, "other"));
    assert_two_frames(&answers, "other", 7, "hidden", 3);
}

/* Lines, and the names of symbols, and a sentence with `problem` in it. */
static void assert_only_lines_are_found(const char *path, const char *problem)
{
    struct symbol_answers answers = lookup_file(path, address_of(path, "middle"));
    assert_non_null(strstr(answers.problem, problem));
    assert_int_equal(answers.answers[0].frame_count, 1);
    assert_string_equal(answers.frames.data[0].function, "middle");
    assert_int_equal(answers.frames.data[0].line, 4);
    symbol_answers_destroy(&answers);
}

static void test_dwo_files_are_found_where_they_were_built(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < VARIANTS; i++) {
        if (!build(&variants[i]))
            continue;
        assert_all_is_found(in_directory("built/program"));
        run("mkdir moved && mv built/program moved");
        assert_all_is_found(in_directory("moved/program"));
    }
}

static void test_dwo_files_are_found_beside_the_program(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < VARIANTS; i++) {
        if (!build(&variants[i]))
            continue;
        run("mkdir moved && mv built/* moved");
        assert_all_is_found(in_directory("moved/program"));
        run("mv moved/objects/*.dwo moved");
        assert_all_is_found(in_directory("moved/program"));
    }
}

static void test_missing_dwo_file_is_said(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < VARIANTS; i++) {
        if (!build(&variants[i]))
            continue;
        run("rm built/objects/*.dwo");
        assert_only_lines_are_found(in_directory("built/program"), "prof did not find objects/program.dwo");
    }
}

/* Each function has one file: code that is inlined from a header has no line then, and no function of its own. */
static void test_without_a_dwo_file_a_function_has_one_file(void **unused)
{
    (void)unused;
    run("mkdir -p header && cat >header/mix.h <<'END'\n"
        "static inline __attribute__((always_inline)) unsigned mix(unsigned x)\n"
        "{\n"
        "    for (int i = 0; i < 50; i++) x = x * 31 + i;\n"
        "    return x;\n"
        "}\n"
        "END\n"
        "cat >header/main.c <<'END'\n"
        "#include \"mix.h\"\n"
        "volatile unsigned sum;\n"
        "__attribute__((noinline)) void hot(int n) { for (int i = 0; i < n; i++) sum += mix(i); }\n"
        "int main(int argc, char **argv) { (void)argv; hot(argc); return 0; }\n"
        "END");
    for (size_t i = 0; i < VARIANTS; i++) {
        if (!has_command(variants[i].compiler))
            continue;
        run("cd header && %s -O1 -g -gdwarf-%s -gsplit-dwarf %s -c main.c && %s main.o -o program && rm main.dwo",
            variants[i].compiler, variants[i].version,
            strcmp(variants[i].compiler, "clang") == 0 ? "-fno-split-dwarf-inlining" : "", variants[i].compiler);
        uint64_t start = address_of(in_directory("header/program"), "hot");
        size_t with_line = 0, without_line = 0;
        for (uint64_t rva = start; rva < start + 24; rva++) {
            struct symbol_answers answers = lookup_file(in_directory("header/program"), rva);
            assert_int_equal(answers.answers[0].frame_count, 1);
            assert_string_equal(answers.frames.data[0].function, "hot");
            assert_non_null(strstr(answers.frames.data[0].file, "main.c"));
            with_line += answers.frames.data[0].line != 0;
            without_line += answers.frames.data[0].line == 0;
            symbol_answers_destroy(&answers);
        }
        assert_true(with_line > 0 && without_line > 0);
    }
}

static void test_dwo_file_of_another_build_is_not_used(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < VARIANTS; i++) {
        if (!build(&variants[i]))
            continue;
        run("mkdir moved && mv built/program moved/program && mv program.c kept.c && sed s/7/9/ kept.c >program.c");
        run("mv moved kept");
        build(&variants[i]);
        run("mv kept moved && mv kept.c program.c");
        assert_only_lines_are_found(in_directory("moved/program"), "program.dwo does not belong to the program");
    }
}

static bool pack(const struct variant *variant, const char *output, const char *inputs)
{
    if (!variant->packer || !has_command(variant->packer)) {
        print_message("nothing here packs DWARF %s of %s\n", variant->version, variant->compiler);
        return false;
    }
    run("cd built && %s -o %s %s", variant->packer, output, inputs);
    return true;
}

static void test_package_beside_the_program_is_used(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < VARIANTS; i++) {
        if (!build(&variants[i]) || !pack(&variants[i], "program.dwp", "objects/program.dwo objects/other.dwo"))
            continue;
        run("rm -r built/objects && mkdir moved && mv built/program* moved");
        assert_all_is_found(in_directory("moved/program"));
        run("cd moved && mv program whole && mkdir .debug && objcopy --only-keep-debug whole .debug/program.debug && "
            "objcopy --strip-debug --add-gnu-debuglink=.debug/program.debug whole program");
        assert_all_is_found(in_directory("moved/program"));
    }
}

static void test_package_beside_the_debug_file_is_used(void **unused)
{
    (void)unused;
    static const char *const names[] = {"program.debug.dwp", "program.dwp"};
    for (size_t i = 0; i < VARIANTS; i++)
        for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++) {
            if (!build(&variants[i]) || !pack(&variants[i], "whole.dwp", "objects/program.dwo objects/other.dwo"))
                continue;
            run("rm -r built/objects && mkdir -p moved/.debug && cd moved && mv ../built/program whole && "
                "objcopy --only-keep-debug whole .debug/program.debug && "
                "objcopy --strip-debug --add-gnu-debuglink=.debug/program.debug whole program && rm whole");
            assert_only_lines_are_found(in_directory("moved/program"), "prof did not find objects/program.dwo");
            run("mv built/whole.dwp moved/.debug/%s", names[k]);
            assert_all_is_found(in_directory("moved/program"));
        }
}

/* All sections of the package, its index among them, are added to the debug file. */
static void test_package_inside_the_debug_file_is_used(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < VARIANTS; i++) {
        if (!build(&variants[i]) || !pack(&variants[i], "whole.dwp", "objects/program.dwo objects/other.dwo"))
            continue;
        run("rm -r built/objects && mkdir -p moved/.debug && cd moved && mv ../built/program whole && "
            "objcopy --only-keep-debug whole .debug/program.debug && "
            "objcopy --strip-debug --add-gnu-debuglink=.debug/program.debug whole program && rm whole");
        assert_only_lines_are_found(in_directory("moved/program"), "prof did not find objects/program.dwo");
        run("cd moved && for name in $(readelf -SW ../built/whole.dwp | grep -o '\\.debug_[a-z_.]*'); do "
            "objcopy -O binary --set-section-flags $name=alloc --only-section=$name ../built/whole.dwp section && "
            "objcopy --add-section $name=section .debug/program.debug || exit 1; done");
        assert_all_is_found(in_directory("moved/program"));
    }
}

static void test_unit_that_is_missing_in_a_package_is_looked_for_elsewhere(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < VARIANTS; i++) {
        if (!build(&variants[i]) || !pack(&variants[i], "program.dwp", "objects/other.dwo"))
            continue;
        assert_all_is_found(in_directory("built/program"));
        run("rm built/objects/*.dwo");
        assert_only_lines_are_found(in_directory("built/program"), "prof did not find objects/program.dwo");
    }
}

/* In `root` the program was compiled in /build; its files are not where the paths lead outside. */
static void test_split_files_of_a_container_are_found_in_its_root_directory(void **unused)
{
    (void)unused;
    if (!has_command("gcc"))
        skip();
    run("mkdir -p root/build root/bin && cd root/build && gcc -O2 -g -gsplit-dwarf -fdebug-prefix-map=$PWD=/build -c "
        "-o "
        "program.o ../../program.c && gcc -O2 -g -c -o other.o ../../other.c && gcc -o ../bin/program *.o");
    struct symbol_origin origin = {.root_fd = open(in_directory("root"), O_PATH | O_DIRECTORY | O_CLOEXEC)};
    assert_true(origin.root_fd >= 0);
    int program = open(in_directory("root/bin/program"), O_RDONLY | O_CLOEXEC);
    assert_true(file_identity_read(program, &origin.identity));
    close(program);
    struct symbol_lib lib = {.kind = SYMBOL_LIB_ELF, .name = "program", .path = "/bin/program", .origin = &origin};
    uint64_t middle = address_of(in_directory("root/bin/program"), "middle");
    struct symbol_answers answers = lookup(&lib, &middle, 1);
    assert_two_frames(&answers, "middle", 8, "inner", 4);
    close(origin.root_fd);
}

static struct symbol_answers lookup_with_directory(const char *path, const char *symbol_dir, uint64_t rva)
{
    struct error err = {""};
    struct symbol_answers answers;
    const struct debug_search search = {.directories = &symbol_dir, .directory_count = 1};
    struct symbolizer *symbolizer = symbolizer_new(&(struct symbolizer_options){.search = &search});
    assert_non_null(symbolizer);
    struct symbol_lib lib = {.kind = SYMBOL_LIB_ELF, .name = "program", .path = path};
    assert_int_equal(symbolizer_lookup(symbolizer, &lib, &rva, 1, &answers, &err), 0);
    symbolizer_free(symbolizer);
    return answers;
}

static void test_split_files_are_found_in_directories_that_the_user_names(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < VARIANTS; i++) {
        char path[300], named[300];
        if (!build(&variants[i]))
            continue;
        run("rm -rf named && mkdir moved named && mv built/program moved");
        bool is_packed = pack(&variants[i], "../named/program.dwp", "objects/program.dwo objects/other.dwo");
        run("mv built/objects/*.dwo named && %s", is_packed ? "mkdir named/only && mv named/*.dwp named/only" : "true");
        snprintf(path, sizeof(path), "%s/moved/program", directory);
        snprintf(named, sizeof(named), "%s/named", directory);
        uint64_t middle = address_of(path, "middle");
        struct symbol_answers answers = lookup_with_directory(path, named, middle);
        assert_two_frames(&answers, "middle", 8, "inner", 4);
        snprintf(named, sizeof(named), "%s/named/only", directory);
        answers = lookup_with_directory(path, named, middle);
        if (is_packed)
            assert_two_frames(&answers, "middle", 8, "inner", 4);
        else
            symbol_answers_destroy(&answers);
    }
}

/* ---- damage ---- */

static void write_bytes(const char *name, const unsigned char *bytes, size_t size)
{
    FILE *out = fopen(in_directory(name), "wb");
    assert_non_null(out);
    assert_int_equal(fwrite(bytes, 1, size, out), size);
    fclose(out);
}

/* Functions and lines of all of the program, whose debug info is there in part. */
static void lookup_everywhere(const char *path, uint64_t middle)
{
    enum { COUNT = 256 };
    uint64_t rvas[COUNT];
    for (size_t i = 0; i < COUNT; i++)
        rvas[i] = (middle & ~UINT64_C(0xff)) + i * 2;
    struct symbol_lib lib = {.kind = SYMBOL_LIB_ELF, .name = "damaged", .path = path};
    struct symbol_answers answers = lookup(&lib, rvas, COUNT);
    for (size_t i = 0; i < COUNT; i++)
        assert_true(answers.answers[i].first_frame + (size_t)answers.answers[i].frame_count <= answers.frames.length);
    symbol_answers_destroy(&answers);
}

static void cut_everywhere(const char *name)
{
    size_t size;
    char path[300];
    snprintf(path, sizeof(path), "%s/built/program", directory);
    uint64_t middle = address_of(path, "middle");
    unsigned char *whole = read_whole(in_directory(name), &size);
    for (size_t length = 0; length < size; length += 1 + size / 400) {
        write_bytes(name, whole, length);
        lookup_everywhere(path, middle);
    }
    write_bytes(name, whole, size);
    free(whole);
    assert_all_is_found(path);
}

static void damage_everywhere(const char *name)
{
    size_t size;
    char path[300];
    snprintf(path, sizeof(path), "%s/built/program", directory);
    uint64_t middle = address_of(path, "middle");
    unsigned char *whole = read_whole(in_directory(name), &size);
    srand48(11);
    for (unsigned round = 0; round < 400; round++) {
        unsigned char *copy = malloc(size);
        assert_non_null(copy);
        memcpy(copy, whole, size);
        for (unsigned i = 0; i < 1 + round % 7; i++)
            copy[(size_t)(drand48() * (double)size)] = (unsigned char)lrand48();
        write_bytes(name, copy, size);
        lookup_everywhere(path, middle);
        free(copy);
    }
    write_bytes(name, whole, size);
    free(whole);
}

/* The .dwo file of each variant, and its package. */
static void spoil_all(void (*spoil)(const char *name))
{
    for (size_t i = 0; i < VARIANTS; i++) {
        if (!build(&variants[i]))
            continue;
        spoil("built/objects/program.dwo");
        if (pack(&variants[i], "program.dwp", "objects/program.dwo objects/other.dwo"))
            spoil("built/program.dwp");
    }
}

static void test_every_truncation_has_a_clean_answer(void **unused)
{
    (void)unused;
    spoil_all(cut_everywhere);
}

static void test_damaged_files_have_clean_answers(void **unused)
{
    (void)unused;
    spoil_all(damage_everywhere);
}

/* ---- compression ---- */

/* Whether this machine's objcopy can do it. */
static bool compress(const char *kind, const char *from, const char *to)
{
    char command[1024];
    snprintf(command, sizeof(command), "cd %s && objcopy --compress-debug-sections=%s %s %s 2>/dev/null", directory,
             kind, from, to);
    if (system(command) == 0)
        return true;
    print_message("no objcopy for %s here\n", kind);
    return false;
}

static const char *const compressions[] = {"zlib-gabi", "zlib-gnu", "zstd"};

static void test_compressed_sections_are_read(void **unused)
{
    (void)unused;
    run("mkdir -p plain && gcc -g -O2 -o plain/program program.c other.c");
    for (size_t i = 0; i < sizeof(compressions) / sizeof(compressions[0]); i++)
        if (compress(compressions[i], "plain/program", "plain/compressed"))
            assert_all_is_found(in_directory("plain/compressed"));
}

static void test_compressed_dwo_files_are_read(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < VARIANTS; i++)
        for (size_t k = 0; build(&variants[i]) && k < sizeof(compressions) / sizeof(compressions[0]); k++) {
            bool done = compress(compressions[k], "built/objects/program.dwo", "built/objects/program.dwo") &&
                        compress(compressions[k], "built/program", "built/program");
            if (done)
                assert_all_is_found(in_directory("built/program"));
        }
}

/* The size that a section claims to have is changed to 1 GiB. */
static void test_section_that_claims_to_be_huge_is_not_unpacked(void **unused)
{
    (void)unused;
    run("mkdir -p bomb && gcc -g -O2 -gz=zlib -o bomb/program program.c other.c");
    size_t size;
    unsigned char *bytes = read_whole(in_directory("bomb/program"), &size);
    struct elf_file file;
    struct error err = {""};
    assert_int_equal(elf_file_open(&file, in_directory("bomb/program"), &err), 0);
    const struct elf_section *section = elf_file_find_section(&file, ".debug_info");
    assert_true(section->flags & SHF_COMPRESSED);
    bytes[section->bytes.offset + 8 + 3] = 0x40; /* ch_size */
    elf_file_close(&file);
    write_bytes("bomb/bomb", bytes, size);
    free(bytes);
    uint64_t middle = address_of(in_directory("bomb/program"), "middle");
    struct symbol_answers answers = lookup_file(in_directory("bomb/bomb"), middle);
    assert_non_null(strstr(answers.problem, "implausible"));
    assert_string_equal(answers.answers[0].symbol, "middle");
    symbol_answers_destroy(&answers);
}

/* ---- embedded sources ---- */

static int embedded_source(const char *path, const char *file, char **text, size_t *length)
{
    struct error err = {""};
    struct symbolizer *symbolizer = symbolizer_new(NULL);
    assert_non_null(symbolizer);
    struct symbol_lib lib = {.kind = SYMBOL_LIB_ELF, .name = "program", .path = path};
    int result = symbolizer_load_embedded_source(symbolizer, &lib, address_of(path, "middle"), in_directory(file), text,
                                                 length, &err);
    symbolizer_free(symbolizer);
    return result;
}

static void test_embedded_source_is_read(void **unused)
{
    (void)unused;
    char *text, path[300];
    size_t length;
    if (!has_command("clang"))
        skip();
    run("mkdir -p embed && clang -gdwarf-5 -gembed-source -O2 -o embed/program program.c other.c");
    snprintf(path, sizeof(path), "%s/embed/program", directory);
    assert_int_equal(embedded_source(path, "program.c", &text, &length), 0);
    assert_int_equal(length, sizeof(program_source) - 1);
    assert_string_equal(text, program_source);
    free(text);
    assert_int_equal(embedded_source(path, "other.c", &text, &length), -ENOENT); /* of another unit */
    run("clang -gdwarf-5 -O2 -o embed/program program.c other.c");
    assert_int_equal(embedded_source(path, "program.c", &text, &length), -ENOENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dwo_files_are_found_where_they_were_built),
        cmocka_unit_test(test_dwo_files_are_found_beside_the_program),
        cmocka_unit_test(test_missing_dwo_file_is_said),
        cmocka_unit_test(test_without_a_dwo_file_a_function_has_one_file),
        cmocka_unit_test(test_dwo_file_of_another_build_is_not_used),
        cmocka_unit_test(test_package_beside_the_program_is_used),
        cmocka_unit_test(test_package_beside_the_debug_file_is_used),
        cmocka_unit_test(test_package_inside_the_debug_file_is_used),
        cmocka_unit_test(test_unit_that_is_missing_in_a_package_is_looked_for_elsewhere),
        cmocka_unit_test(test_split_files_of_a_container_are_found_in_its_root_directory),
        cmocka_unit_test(test_split_files_are_found_in_directories_that_the_user_names),
        cmocka_unit_test(test_every_truncation_has_a_clean_answer),
        cmocka_unit_test(test_damaged_files_have_clean_answers),
        cmocka_unit_test(test_compressed_sections_are_read),
        cmocka_unit_test(test_compressed_dwo_files_are_read),
        cmocka_unit_test(test_section_that_claims_to_be_huge_is_not_unpacked),
        cmocka_unit_test(test_embedded_source_is_read),
    };
    return cmocka_run_group_tests(tests, make_sources, remove_directory);
}
