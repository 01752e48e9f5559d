/*
 * Reading ELF files: what libelf and we make of programs of both classes and byte orders is what the tools of LLVM say
 * of them, from a file and from memory; and of files that lie.
 */
#include "elf/elf_contents.h"
#include "elf/elf_note.h"
#include "elf/elf_table.h"
#include "support/directory.h"

#include <errno.h>
#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const targets[] = {"x86_64-linux-gnu", "i386-linux-gnu", "powerpc64-linux-musl", "mips-linux-gnu"};

static int make_programs(void **unused)
{
    (void)unused;
    if (make_empty_directory(unused) != 0)
        return -1;
    write_text("program.c",
               "extern int other(int); int data[9]; int (*pointer)(int) = other;\n"
               "int middle(int x) { return other(x) + data[x]; } int _start(void) { return middle(1); }\n");
    write_text("other.c", "int other(int x) { return x * 7; }\n");
    if (has_command("clang") && has_command("ld.lld"))
        for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++)
            run("for f in program other; do clang --target=%s -g -O1 -fPIC -c $f.c -o $f.o || exit; done && "
                "ld.lld -e _start --build-id=sha1 -o %s program.o other.o && llvm-objcopy "
                "--compress-debug-sections=zlib %s %s.z",
                targets[i], targets[i], targets[i], targets[i]);
    run("gcc -g -O1 -nostdlib -static -o program program.c other.c");
    return 0;
}

/* The first line of what a command prints. */
static const char *answer(const char *command, ...) __attribute__((format(printf, 1, 2)));

static const char *answer(const char *format, ...)
{
    static char line[256];
    char command[512];
    va_list args;
    int used = snprintf(command, sizeof(command), "cd %s && ", directory);
    va_start(args, format);
    vsnprintf(command + used, sizeof(command) - (size_t)used, format, args);
    va_end(args);
    FILE *in = popen(command, "r");
    line[0] = '\0';
    if (in && fgets(line, sizeof(line), in))
        line[strcspn(line, "\n")] = '\0';
    if (in)
        pclose(in);
    return line;
}

static void open_file(struct elf_file *file, const char *name)
{
    struct error err = {""};
    if (elf_file_open(file, in_directory(name), &err) != 0)
        fail_msg("%s", err.text);
}

static unsigned char *load(const char *name, size_t *size)
{
    struct stat info;
    int fd = open(in_directory(name), O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(fstat(fd, &info), 0);
    unsigned char *bytes = malloc((size_t)info.st_size); /* exactly: the sanitizer sees a read behind the end */
    assert_int_equal(read(fd, bytes, (size_t)info.st_size), info.st_size);
    close(fd);
    *size = (size_t)info.st_size;
    return bytes;
}

static uint64_t value_of(const struct elf_file *file, const char *name)
{
    const struct elf_section *table = elf_file_find_section(file, ".symtab");
    struct elf_symbols symbols;
    uint64_t value = 0;
    assert_non_null(table);
    assert_true(elf_symbols_load(&symbols, file, table, 0, SIZE_MAX));
    struct window names = {.bytes = &file->sections.data[table->link].bytes};
    for (size_t i = 0; i < symbols.count; i++) {
        struct elf_symbol symbol = elf_symbols_get(&symbols, i), same;
        struct elf_symbols alone;
        assert_true(elf_symbols_load(&alone, file, table, i, 1));
        assert_int_equal(alone.count, 1);
        same = elf_symbols_get(&alone, 0);
        assert_true(same.value == symbol.value && same.name == symbol.name && same.section == symbol.section);
        elf_symbols_free(&alone);
        if (strcmp(window_read_string(&names, symbol.name), name) == 0)
            value = symbol.value;
    }
    window_destroy(&names);
    elf_symbols_free(&symbols);
    return value;
}

/* ---- files of all kinds ---- */

static void assert_is_as_llvm_says(const struct elf_file *file, const char *name)
{
    char id[2 * ELF_BUILD_ID_MAX + 1] = "";
    for (size_t i = 0; i < file->build_id_size; i++)
        sprintf(id + 2 * i, "%02x", file->build_id[i]);
    assert_string_equal(id, answer("llvm-readelf -n %s | sed -n 's/.*Build ID: //p'", name));
    assert_int_equal(file->build_id_size, 20);
    assert_int_equal(file->sections.length,
                     atoi(answer("llvm-readelf -h %s | sed -n 's/.*Number of section headers: *//p'", name)));
    assert_int_equal(file->segments.length,
                     atoi(answer("llvm-readelf -h %s | sed -n 's/.*Number of program headers: *//p'", name)));
    assert_int_equal(file->entry, strtoull(answer("llvm-nm %s | sed -n 's/ T _start//p'", name), NULL, 16));
    assert_int_equal(value_of(file, "middle"),
                     strtoull(answer("llvm-nm %s | sed -n 's/ T middle//p'", name), NULL, 16));
    const struct elf_section *code = elf_file_find_section_at(file, file->entry);
    assert_non_null(code);
    assert_string_equal(code->name, ".text");
}

static void test_programs_of_both_classes_and_byte_orders_are_read(void **unused)
{
    (void)unused;
    if (!has_command("clang") || !has_command("ld.lld"))
        skip();
    for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++) {
        struct elf_file file;
        open_file(&file, targets[i]);
        assert_int_equal(file.is_64, strstr(targets[i], "64") != NULL);
        assert_int_equal(file.is_big_endian, targets[i][0] == 'p' || targets[i][0] == 'm');
        assert_is_as_llvm_says(&file, targets[i]);
        elf_file_close(&file);
    }
}

static void test_an_image_in_memory_reads_like_its_file(void **unused)
{
    (void)unused;
    if (!has_command("clang") || !has_command("ld.lld"))
        skip();
    for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++) {
        struct elf_file file;
        struct error err = {""};
        size_t size;
        unsigned char *image = load(targets[i], &size);
        assert_int_equal(elf_file_open_image(&file, image, size, "image", &err), 0);
        assert_is_as_llvm_says(&file, targets[i]);
        elf_file_close(&file);
        free(image);
    }
}

static void test_the_vdso_is_read_from_memory(void **unused)
{
    (void)unused;
    const unsigned char *image = (const void *)(uintptr_t)getauxval(AT_SYSINFO_EHDR);
    struct elf_file file;
    struct error err = {""};
    assert_non_null(image);
    assert_int_equal(elf_file_open_image(&file, image, 4096, "[vdso]", &err), 0);
    assert_int_not_equal(file.build_id_size, 0);
    elf_file_close(&file);
}

static void test_the_build_id_is_found_without_sections(void **unused)
{
    (void)unused;
    struct elf_file with, without;
    open_file(&with, "program");
    size_t size;
    unsigned char *image = load("program", &size);
    struct error err = {""};
    memset(image + offsetof(Elf64_Ehdr, e_shoff), 0, 8);
    memset(image + offsetof(Elf64_Ehdr, e_shnum), 0, 2);
    assert_int_equal(elf_file_open_image(&without, image, size, "image", &err), 0);
    assert_int_equal(without.sections.length, 0);
    assert_false(without.is_truncated);
    assert_int_equal(without.build_id_size, with.build_id_size);
    assert_memory_equal(without.build_id, with.build_id, with.build_id_size);
    elf_file_close(&with);
    elf_file_close(&without);
    free(image);
}

static void test_more_sections_than_the_header_can_count(void **unused)
{
    (void)unused;
    run("{ for i in $(seq 70000); do echo \".section .s$i,\\\"a\\\"; .byte 1\"; done; } | as -o many.o -");
    struct elf_file file;
    open_file(&file, "many.o");
    assert_true(file.sections.length > 70000);
    const struct elf_section *last = elf_file_find_section(&file, ".s70000");
    assert_non_null(last);
    assert_int_equal(last->size, 1);
    elf_file_close(&file);
}

/* ---- contents ---- */

static void assert_same_contents(const char *name, const char *other)
{
    static const char *const names[] = {".debug_info", ".debug_line", ".debug_abbrev"};
    struct elf_file plain, packed;
    open_file(&plain, name);
    open_file(&packed, other);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        unsigned char *owned, *other_owned;
        struct error err = {""};
        struct bytes bytes = elf_file_load_contents(&plain, names[i], &owned, &err);
        struct bytes unpacked = elf_file_load_contents(&packed, names[i], &other_owned, &err);
        unsigned char *loaded = bytes_load(&bytes);
        assert_string_equal(err.text, "");
        assert_null(owned);
        assert_int_equal(bytes.size, unpacked.size);
        assert_int_not_equal(bytes.size, 0);
        assert_memory_equal(loaded, unpacked.memory ? unpacked.memory : loaded, bytes.size);
        free(loaded);
        free(other_owned);
    }
    elf_file_close(&plain);
    elf_file_close(&packed);
}

static void test_compressed_sections_hold_what_they_held_before(void **unused)
{
    (void)unused;
    assert_int_equal(atoi(answer("readelf -SW program | grep -c ' .debug_info '")), 1);
    run("objcopy --compress-debug-sections=zlib-gabi program gabi && readelf -SW gabi | grep -q '.debug_info.* C '");
    run("objcopy --compress-debug-sections=zlib-gnu program gnu && readelf -SW gnu | grep -q zdebug_info");
    assert_same_contents("program", "gabi");
    assert_same_contents("program", "gnu");
    if (*answer("objcopy --compress-debug-sections=zstd program zstd 2>/dev/null && echo yes"))
        assert_same_contents("program", "zstd");
}

static void test_compressed_sections_of_both_classes_and_byte_orders_are_read(void **unused)
{
    (void)unused;
    if (!has_command("clang") || !has_command("ld.lld"))
        skip();
    for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++) {
        char packed[64];
        snprintf(packed, sizeof(packed), "%s.z", targets[i]);
        assert_same_contents(targets[i], packed);
    }
}

static void test_a_file_that_is_closed_is_opened_again_for_each_read(void **unused)
{
    (void)unused;
    run("cp program again");
    struct error err = {""};
    struct elf_file file;
    unsigned char *owned;
    struct file_source *source;
    int fd = open(in_directory("again"), O_RDONLY | O_CLOEXEC);
    assert_int_equal(file_source_new(&source, fd, -1, in_directory("again"), &err), 0);
    file_source_close(source);
    assert_int_equal(elf_file_open_source(&file, source, "again", &err), 0);
    struct bytes bytes = elf_file_load_contents(&file, ".debug_info", &owned, &err);
    unsigned char *loaded = bytes_load(&bytes);
    assert_non_null(loaded);
    free(loaded);
    run("rm again && cp program again"); /* another file of the same name and bytes */
    assert_null(bytes_load(&bytes));
    elf_file_close(&file);
    file_source_unref(source);
}

/* ---- files that lie ---- */

static void test_a_file_without_its_end_has_no_sections(void **unused)
{
    (void)unused;
    struct elf_file file;
    run("head -c 8192 program >cut");
    open_file(&file, "cut");
    assert_true(file.is_truncated);
    assert_int_equal(file.sections.length, 0);
    assert_int_equal(file.build_id_size, 20);
    elf_file_close(&file);
}

static void test_a_file_that_shrinks_is_read_short(void **unused)
{
    (void)unused;
    struct elf_file file;
    struct elf_symbols symbols;
    run("cp program shrinking");
    open_file(&file, "shrinking");
    assert_int_equal(truncate(in_directory("shrinking"), 512), 0); /* as a linker does that writes it anew */
    assert_false(elf_symbols_load(&symbols, &file, elf_file_find_section(&file, ".symtab"), 0, SIZE_MAX));
    assert_int_equal(symbols.count, 0);
    elf_file_close(&file);
}

/* A sparse file of 4 GiB with room for as many section headers as it claims: libelf would take 13 GB to open it. */
static void test_a_file_that_claims_a_hundred_million_sections_is_refused(void **unused)
{
    (void)unused;
    Elf64_Ehdr header = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
                         .e_type = ET_DYN,
                         .e_machine = EM_X86_64,
                         .e_version = EV_CURRENT,
                         .e_shoff = sizeof(header),
                         .e_ehsize = sizeof(header),
                         .e_shentsize = sizeof(Elf64_Shdr)};
    Elf64_Shdr first = {.sh_size = 60000000};
    int fd = open(in_directory("sparse"), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, &header, sizeof(header), 0), sizeof(header));
    assert_int_equal(pwrite(fd, &first, sizeof(first), sizeof(header)), sizeof(first));
    assert_int_equal(ftruncate(fd, INT64_C(1) << 32), 0);
    struct elf_file file;
    struct error err = {""};
    struct rusage before, after;
    getrusage(RUSAGE_SELF, &before);
    assert_int_equal(elf_file_open_fd(&file, fd, "sparse", &err), -22);
    getrusage(RUSAGE_SELF, &after);
    assert_non_null(strstr(err.text, "too many sections"));
    assert_true(after.ru_maxrss - before.ru_maxrss < 10000); /* KiB */
    run("rm sparse");
}

static void test_what_is_no_elf_file_is_refused_with_a_sentence(void **unused)
{
    (void)unused;
    struct elf_file file;
    struct error err = {""};
    run("printf '!<arch>\\n' >archive && head -c 63 program >short && : >empty && mkdir -p directory");
    static const char *const names[] = {"program.c", "archive", "short", "empty"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        assert_int_equal(elf_file_open(&file, in_directory(names[i]), &err), -ENOEXEC);
        assert_non_null(strstr(err.text, "is not an ELF file"));
    }
    assert_true(elf_file_open(&file, in_directory("directory"), &err) < 0);
    assert_int_equal(elf_file_open(&file, in_directory("nothing"), &err), -2);
    assert_non_null(strstr(err.text, "No such file"));
}

/* Each byte of the headers replaced by each of some others; each length. */
static void test_damaged_headers_harm_nothing(void **unused)
{
    (void)unused;
    static const unsigned char values[] = {0x00, 0x01, 0x7f, 0x80, 0xff};
    size_t size;
    unsigned char *image = load("program", &size);
    struct elf_file file;
    open_file(&file, "program");
    uint64_t sections = file.bytes.size - file.sections.length * sizeof(Elf64_Shdr);
    elf_file_close(&file);
    for (size_t i = 0; i < size; i += i == 1024 ? sections - 1024 : 1)
        for (size_t v = 0; v < sizeof(values); v++) {
            unsigned char was = image[i];
            image[i] = values[v];
            if (elf_file_open_image(&file, image, size, "image", NULL) == 0) {
                for (size_t s = 0; s < file.sections.length; s++) {
                    struct elf_symbols symbols;
                    if (elf_symbols_load(&symbols, &file, &file.sections.data[s], 0, SIZE_MAX) && symbols.count)
                        elf_symbols_get(&symbols, symbols.count - 1);
                    elf_symbols_free(&symbols);
                    struct elf_relocations relocations;
                    if (elf_relocations_load(&relocations, &file, &file.sections.data[s]) && relocations.count)
                        elf_relocations_get(&relocations, relocations.count - 1);
                    elf_relocations_free(&relocations);
                }
                elf_file_close(&file);
            }
            image[i] = was;
        }
    for (size_t cut = 0; cut < size; cut += cut < 1024 ? 1 : 61) {
        unsigned char *exact = malloc(cut ? cut : 1);
        memcpy(exact, image, cut);
        if (elf_file_open_image(&file, exact, cut, "image", NULL) == 0)
            elf_file_close(&file);
        free(exact);
    }
    free(image);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_programs_of_both_classes_and_byte_orders_are_read),
        cmocka_unit_test(test_an_image_in_memory_reads_like_its_file),
        cmocka_unit_test(test_the_vdso_is_read_from_memory),
        cmocka_unit_test(test_the_build_id_is_found_without_sections),
        cmocka_unit_test(test_more_sections_than_the_header_can_count),
        cmocka_unit_test(test_compressed_sections_hold_what_they_held_before),
        cmocka_unit_test(test_compressed_sections_of_both_classes_and_byte_orders_are_read),
        cmocka_unit_test(test_a_file_that_is_closed_is_opened_again_for_each_read),
        cmocka_unit_test(test_a_file_without_its_end_has_no_sections),
        cmocka_unit_test(test_a_file_that_shrinks_is_read_short),
        cmocka_unit_test(test_a_file_that_claims_a_hundred_million_sections_is_refused),
        cmocka_unit_test(test_what_is_no_elf_file_is_refused_with_a_sentence),
        cmocka_unit_test(test_damaged_headers_harm_nothing),
    };
    return cmocka_run_group_tests(tests, make_programs, remove_directory);
}
